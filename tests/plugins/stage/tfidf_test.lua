--- Row stage tfidf: against the formula on dense numbers, sparse rows as dense ones, any order of
--- the rows; bad input.
local lu = require "luaunit"
local sc = require "scullery"

local function counts_of(n, d, seed)
  local u, X = sc.rand{ n, d, seed = seed }, sc.zeros(n, d)
  for i = 1, n do
    for j = 1, d do
      -- columns from frequent to none; some rows are empty
      if i % 7 ~= 0 and u:get(i, j) < 0.8 * (1 - (j - 1) / (d - 1)) then
        X:set(i, j, math.floor(u:get(i, j) * 20) + 1)
      end
    end
  end
  return X
end

local function sparse(X)
  local starts, indices, values = { 0 }, {}, {}
  for i = 1, X:rows() do
    for j = 1, X:cols() do
      if X:get(i, j) ~= 0 then
        indices[#indices + 1], values[#values + 1] = j - 1, X:get(i, j)
      end
    end
    starts[i + 1] = #indices
  end
  return sc.matrix.csr{ rows = X:rows(), columns = X:cols(), starts = starts, indices = indices,
    values = values }
end

-- The formula, number by number.
local function expected(fit, X, o)
  local n, out = fit:rows(), sc.zeros(X:rows(), X:cols())
  for i = 1, X:rows() do
    local square = 0
    for j = 1, X:cols() do
      local with = 0
      for k = 1, n do if fit:get(k, j) ~= 0 then with = with + 1 end end
      local c = X:get(i, j)
      local tf = o.sublinear and c > 0 and 1 + math.log(c) or c
      local value = o.idf == false and tf or tf * (math.log((1 + n) / (1 + with)) + 1)
      out:set(i, j, value)
      square = square + value * value
    end
    for j = 1, X:cols() do
      if o.normalize ~= false and square > 0 then
        out:set(i, j, out:get(i, j) / math.sqrt(square))
      end
    end
  end
  return out
end

function TestEachFormIsItsFormula()
  local fit, X = counts_of(40, 9, 1), counts_of(20, 9, 2)
  for _, o in ipairs{ {}, { sublinear = true }, { idf = false }, { normalize = false },
    { idf = false, sublinear = true, normalize = false } } do
    local stage = sc.stage.tfidf(o)
    local p = sc.pipeline{ stage }:fit(fit)
    local gap = (p:transform(X) - expected(fit, X, o)):abs():max()
    lu.assertTrue(gap < 1e-14, tostring(stage) .. " " .. gap)
  end
end

function TestSparseRowsGiveTheBitsOfDenseOnes()
  local fit, X = counts_of(40, 9, 3), counts_of(20, 9, 4)
  for _, o in ipairs{ {}, { sublinear = true, normalize = false } } do
    local dense = sc.pipeline{ sc.stage.tfidf(o) }:fit(fit):transform(X)
    local made = sc.pipeline{ sc.stage.tfidf(o) }:fit(sparse(fit)):transform(sparse(X))
    lu.assertTrue(dense == made)
  end
end

function TestRowsWhoseSquaresOverflowOrVanish()
  local X = sc.matrix{ { 3e200, 4e200 }, { 3e-200, 4e-200 }, { 3, 4 } }
  local made = sc.pipeline{ sc.stage.tfidf{ idf = false } }:fit(X):transform(X)
  for i = 1, 3 do lu.assertTrue((made:row(i) - sc.matrix{ { 0.6, 0.8 } }):abs():max() < 1e-15) end
end

function TestTheOrderOfRowsDoesNotMatter()
  local fit, X, order = counts_of(60, 9, 5), counts_of(10, 9, 6), {}
  for i = 1, 60 do order[i] = (i * 37) % 60 + 1 end
  local one = sc.pipeline{ sc.stage.tfidf() }:fit(fit):transform(X)
  lu.assertTrue(one == sc.pipeline{ sc.stage.tfidf() }:fit(fit:select(order)):transform(X))
end

function TestNegativeCountsAreRefusedWhereTheyHaveNoLogarithm()
  local X = sc.matrix{ { 1, 2 }, { 0, -3 } }
  local p = sc.pipeline{ sc.stage.tfidf{ sublinear = true } }:fit(X)
  for _, rows in ipairs{ X, sparse(X) } do
    lu.assertErrorMsgContains("sublinear is for counts of at least 0, and there is -3",
      p.transform, p, rows)
  end
  lu.assertErrorMsgContains("option 'idf'", sc.stage.tfidf, { idf = 3 })
end

os.exit(lu.LuaUnit.run())
