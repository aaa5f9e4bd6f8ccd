-- Distinct rows by their contents: core.distinct_rows(source, stages, most, weights).
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

local function rows_of(m)
  local list = {}
  for i = 1, m:rows() do
    local row = {}
    for j = 1, m:cols() do row[j] = ("%.17g"):format(m:get(i, j)) end
    list[i] = table.concat(row, " ")
  end
  return list
end

local X = core.matrix{ { 1, 2 }, { 3, 4 }, { 1, 2 }, { 0, 5 }, { -0.0, 5 }, { 3, 4 }, { 1, 2 } }
local y = core.matrix{ 1, 2, 1, 3, 3, 9, 1 }

function TestCopiesAreOneRowAndTheirWeightsAreAdded()
  local found = core.distinct_rows(core.source(X, y), {}, 100)
  lu.assertEquals(found.X:rows(), 4) -- 3 4 comes with two targets; 0 and -0 are one number
  local weight = {}
  for k, row in ipairs(rows_of(found.X)) do
    weight[row .. " " .. found.y:get(k, 1)] = found.weights:get(k, 1)
    lu.assertEquals(rows_of(X:select{ found.rows[k] })[1]:gsub("%-0", "0"), (row:gsub("%-0", "0")))
  end
  lu.assertEquals(weight["1 2 1.0"], 3.0)
  lu.assertEquals(weight["3 4 2.0"], 1.0)
  lu.assertEquals(weight["3 4 9.0"], 1.0)
  for i = 1, 7 do
    local k = math.tointeger(found.of:get(i, 1))
    lu.assertEquals(found.y:get(k, 1), y:get(i, 1))
  end
end

-- Rows of few and of many columns, dense or sparse, are chosen alike.
function TestSparseRowsAreChosenAsDenseOnes()
  for _, columns in ipairs{ 4096, 4097 } do
    local dense, U = core.zeros(60, columns), sc.rand{ 60, 3, seed = 5 }
    for i = 1, 60 do
      for k = 1, 3 do dense:set(i, 1 + math.floor(U:get(i, k) * (columns - 1)), k - 2) end
    end
    local one = core.distinct_rows(core.source(dense), {}, 10)
    local other = core.distinct_rows(core.source(core.csr(dense)), {}, 10)
    lu.assertEquals(other.rows, one.rows)
  end
end

function TestRowsOfWeightZeroDoNotCount()
  local w = core.matrix{ 0, 1, 0, 0, 0, 0.5, 0 }
  local found = core.distinct_rows(core.source(X, y), {}, 100, w)
  lu.assertEquals(found.X:rows(), 2)
  lu.assertEquals(found.of:get(1, 1), 0.0)
  lu.assertAlmostEquals(found.weights:sum(), 1.5, 1e-15)
  lu.assertErrorMsgContains("row weights are 2 x 1 where there are 7 rows", core.distinct_rows,
    core.source(X, y), {}, 100, core.matrix{ 1, 2 })
end

-- The order of the rows changes neither which are chosen nor their order.
function TestTheChoiceIsByContents()
  local many = sc.randn{ 500, 3, seed = 1 }
  local back = {}
  for i = 1, 500 do back[i] = 501 - i end
  local a = core.distinct_rows(core.source(many), {}, 60)
  local b = core.distinct_rows(core.source(many:select(back)), {}, 60)
  lu.assertNil(a.y)
  lu.assertEquals(rows_of(a.X), rows_of(b.X))
  lu.assertEquals(#a.rows, 60)
  for k = 1, 60 do lu.assertEquals(b.rows[k], 501 - a.rows[k]) end
end

-- Wherever memory ends, there is a sentence, and nothing is lost (the sanitizer sees it).
function TestFailingAllocations()
  if not core.fail_allocation_after then lu.skip("the engine counts no allocations here") end
  local source, failed = core.source(X, y), 0
  for n = 0, 1000 do
    core.fail_allocation_after(n)
    local ok, message = pcall(core.distinct_rows, source, {}, 100)
    core.fail_allocation_after(-1)
    if ok then break end
    failed = failed + 1
    lu.assertStrContains(tostring(message), "memory")
  end
  lu.assertTrue(failed > 3)
end

os.exit(lu.LuaUnit.run())
