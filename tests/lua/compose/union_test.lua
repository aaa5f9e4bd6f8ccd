-- Unions of features, against their parts made apart: the same numbers side by side, the kernel a
-- sum of kernels, in every number type, from dense and sparse rows, saved and in other programs.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
package.path = (os.getenv "SCULLERY_SOURCE" or ".") .. "/tests/helpers/?.lua;" .. package.path
local alone, predictors, support = require "alone", require "predictors", require "support"
local fails = support.fails
local path = support.memory_path()

local n = 240
local X = sc.randn{ n, 5, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + X:column(4) + sc.randn{ n, 1, seed = 2 } * 0.1
local names = { "a", "b", "c", "d", "e" }
local ds = sc.dataset{ X = X, y = y, names = names }
local fourier = sc.nonlinearity.fourier{ form = "pair" }

-- One part of each sort; of: whether the parts are of some columns.
local function list(dtype, of)
  return {
    sc.features{ p = sc.sampler.gaussian{ gamma = 0.5 }, phi = fourier, T = 9, dtype = dtype,
      of = of and { "d", "a" } },
    sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(), T = 7,
      dtype = dtype, seed = 5 },
    sc.features{ p = sc.sampler.gaussian{ gamma = 0.3 }, phi = sc.nonlinearity.relu(), T = 6,
      dtype = dtype, of = of and { 2, 3 } },
    sc.features{ p = sc.sampler.grid{ gamma = 0.3 }, phi = sc.nonlinearity.bins(), T = 3,
      dtype = dtype },
    sc.features{ p = sc.sampler.landmarks(), phi = sc.kernel.gaussian{ gamma = 0.2 }, T = 8,
      dtype = dtype, of = of and { 5, "b" } },
    sc.features{ p = sc.sampler.gaussian{ gamma = 0.5 }, phi = sc.nonlinearity.sign(), T = 6,
      K = sc.kernel.gaussian{ width = 2 }, dtype = dtype },
  }
end

local scales = { 1, 2, 0.5, 1.5, 1, 3 }
local function union(dtype, of)
  local sum
  for i, part in ipairs(list(dtype, of)) do sum = sum and sum + scales[i] * part or part end
  return sum
end

local function ridge(features) return sc.pipeline{ features, sc.solver.ridge{ lambda = 1e-2 } } end

local columns = { { 1, 4 }, nil, { 2, 3 }, nil, { 2, 5 }, nil }

-- Each part with its own seed, fitted to its own columns by itself.
local function by_hand(i, dtype)
  local part = list(dtype)[i]
  local rows = columns[i] and X:t():select(columns[i]):t():copy() or X
  local again = ridge(part):clone{ ["features.seed"] = union(dtype).parts[i].seed }.features
  again:fit(rows)
  local map = core.map_info(again.fitted).section and core.map_whitened(again.fitted, true)
    or again.fitted
  return core.transform(core.source(rows), {}, map) * scales[i]
end

function TestThePartsSideBySide()
  for _, dtype in ipairs{ "float64", "float32" } do
    local all, at = union(dtype, true):fit(ds):transform(ds), 0
    for i = 1, #scales do
      local own = by_hand(i, dtype)
      local gap = (all:slice(1, n, at + 1, at + own:cols()) - own):map(math.abs):max()
      lu.assertTrue(gap <= (dtype == "float64" and 1e-14 or 1e-6), ("part %d: %g"):format(i, gap))
      at = at + own:cols()
    end
    lu.assertEquals(all:cols(), at)
  end
end

-- The mean over seeds of the estimates of a union is the sum of the kernels of its parts, within
-- four standard errors; and so is the closed form.
function TestTheKernelIsASum()
  local A, count = X:slice(1, 6), 200
  local function k(gamma, i, j, from, to)
    local square = 0
    for c = from, to do square = square + (A:get(i, c) - A:get(j, c)) ^ 2 end
    return math.exp(-gamma * square)
  end
  local sum, square = sc.zeros(6, 6), sc.zeros(6, 6)
  local feats
  for seed = 1, count do
    feats = 2 * sc.features{ p = sc.sampler.gaussian{ gamma = 0.1 }, phi = fourier, T = 20,
      seed = 2 * seed } + sc.features{ p = sc.sampler.gaussian{ gamma = 0.7 }, phi = fourier,
      T = 10, seed = 2 * seed + 1, of = { 2, 3 } }
    local found = feats:fit(A):kernel(A)
    sum, square = sum + found, square + found:mul(found)
  end
  local closed = core.map_induced(feats.fitted, A, A)
  for i = 1, 6 do
    for j = 1, 6 do
      local want = 4 * k(0.1, i, j, 1, 5) + k(0.7, i, j, 2, 3)
      local mean = sum:get(i, j) / count
      local error = math.sqrt(math.max(square:get(i, j) / count - mean ^ 2, 0) / count)
      lu.assertTrue(math.abs(mean - want) < 4 * error + 1e-12, ("%g, not %g"):format(mean, want))
      lu.assertAlmostEquals(closed:get(i, j), want, 1e-12)
    end
  end
end

function TestEveryNumberType()
  for _, dtype in ipairs{ "float64", "float32", "int16", "int8" } do
    local p = ridge(union(dtype, true)):fit(ds)
    local wide = ridge(union("float64", true)):fit(ds)
    local whole = dtype == "int16" or dtype == "int8"
    lu.assertEquals(p:info().exact, whole and "rows" or "blocks")
    lu.assertTrue(math.abs(p:error(ds) - wide:error(ds)) < (dtype == "int8" and 0.02 or 2e-3))
    alone.check(dtype, function(rows) return p:decision(rows) end, X)
    p:save(path)
    local q = sc.load(path)
    lu.assertTrue(q:predict(ds) == p:predict(ds))
    lu.assertEquals(tostring(q.features), tostring(p.features))
    q:save(path) -- a loaded union has all that a file needs
    local loaded <close> = predictors.load(path)
    lu.assertTrue(predictors.run(loaded, "scores", X) == p:decision(X))
  end
end

-- Whole-number sums of parts of the rows are those of all rows, to the bit.
function TestWholeSums()
  local whole = sc.features{ T = 12, dtype = "int16", p = sc.sampler.gaussian{ gamma = 0.3 },
    phi = fourier } + sc.features{ p = sc.sampler.threshold{ sigma = 1 }, T = 9,
    phi = sc.nonlinearity.step(), dtype = "int16", of = { "a" } }
  local all = ridge(whole):fit(ds)
  local reverse = {}
  for i = 1, n do reverse[i] = n + 1 - i end
  lu.assertTrue(ridge(whole):fit(ds:select(reverse)):weights() == all:weights())
  local half = {}
  for i = 1, n // 2 do half[i] = i end
  local first, second = ds:select(half), ds:select(table.move(reverse, 1, n // 2, 1, {}))
  local joined = sc.merge{ ridge(whole):sums(first), ridge(whole):sums(second) }
  lu.assertTrue(joined:solve{ lambda = 1e-2 }:weights() == all:weights())
end

function TestSparseRows()
  local starts, places, values = { 0 }, {}, {}
  for i = 1, n do
    for j = 1, 5 do
      if (i * j) % 3 == 0 then places[#places + 1], values[#values + 1] = j - 1, X:get(i, j) end
    end
    starts[i + 1] = #places
  end
  local S = sc.matrix.csr{ rows = n, columns = 5, starts = starts, indices = places,
    values = values }
  for _, dtype in ipairs{ "float64", "int8" } do
    local function fitted(rows)
      return ridge(union(dtype, true)):fit(sc.dataset{ X = rows, y = y, names = names })
    end
    local dense, sparse = fitted(S:dense()), fitted(S)
    local gap = (dense:predict(S:dense()) - sparse:predict(S)):map(math.abs):max()
    lu.assertTrue(gap < 1e-10, gap)
  end
end

function TestStagesAndNames()
  local p = sc.pipeline{ sc.standardize(), union("float64", true), sc.standardize(),
    sc.solver.ridge{ lambda = 1e-2 } }:fit(ds)
  p:save(path)
  lu.assertTrue(sc.load(path):predict(ds) == p:predict(ds))
  -- a column is found by its name after stages that choose columns
  local width = { p = sc.sampler.gaussian{ gamma = 0.5 }, phi = fourier, T = 20, of = { "a" } }
  local chosen = sc.pipeline{ sc.select{ columns = { 3, 1 } }, sc.features(width),
    sc.solver.ridge{ lambda = 1e-2 } }
  lu.assertTrue(chosen:fit(ds):predict(ds) == ridge(sc.features(width)):fit(ds):predict(ds))
end

-- What the kernel sections of a union leave out of the kernel is theirs alone.
function TestTheRestOfSections()
  local u = 2 * sc.features{ p = sc.sampler.landmarks{}, phi = sc.kernel.gaussian{ gamma = 0.5 },
    T = 20, of = { 1, 2 } } + sc.features{ p = sc.sampler.gaussian{ gamma = 0.5 }, phi = fourier,
    T = 30 }
  local p = sc.pipeline{ u, sc.solver.ridge{ lambda = 0.01 / n, intercept = false } }:fit(X, y)
  local far = sc.matrix{ { 100, 100, 0, 0, 0 } }
  local _, whole = p:predict(far, { std = true, noise = "prior" })
  local _, part = p:predict(far, { std = true, noise = "prior", residual = false })
  -- 2^2 k(x, x), which no feature of the sections has
  lu.assertAlmostEquals(whole:get(1, 1) ^ 2 - part:get(1, 1) ^ 2, 4, 1e-6)
end

function TestSearchOfScales()
  local p = ridge(sc.choose{ 0.1, 1, 10 } * sc.features{ T = 10, of = { "a" } }
    + sc.features{ T = sc.choose{ 5, 10 }, of = { "b" } })
  local found = p:search(ds, { folds = 3 })
  lu.assertEquals(#found.table, 6)
  local scale, T = found.choice["1.features.scale"], found.choice["2.features.T"]
  local again = p:clone{ ["1.features.scale"] = scale, ["2.features.T"] = T }:fit(ds)
  lu.assertTrue((again:weights() - found:weights()):norm() < 1e-9)
  local scaled = (3 * union()).parts
  for i = 1, #scales do lu.assertEquals(scaled[i].scale, 3 * scales[i]) end
end

function TestSeedsAndWidths()
  local u = sc.features{ T = 3 } + (sc.features{ T = 4, seed = 9 } + sc.features{ T = 5 })
  local seeds = {}
  for i, part in ipairs(u.parts) do seeds[i] = part.seed end
  lu.assertEquals(seeds, { 1, 9, 3 })
  lu.assertStrContains(tostring(u), 'sigma = "median"')
end

function TestRefusals()
  local part = sc.features{ T = 3 }
  local narrow = sc.features{ T = 3, dtype = "int8" }
  local function of(some) return function() ridge(sc.features{ T = 3, of = some }):fit(ds) end end
  fails({ "features: + takes features on both sides, and got 3" }, function() return part + 3 end)
  fails({ "+ takes features on both sides: a row stage" },
    function() return sc.relevance() + part end)
  fails({ "have one number type" }, function() return part + narrow end)
  fails({ "takes a number above 0" }, function() return -1 * part end)
  fails({ "takes a number above 0" }, function() return sc.choose{ 1, 2 } * (part + part) end)
  fails({ "a list of different columns" }, of{ "a", "a" })
  fails({ "'of' has column 1 twice" }, of{ "a", 1 })
  fails({ "have none of that name (did you mean 'a'?)" }, of{ "aa" })
  fails({ "'of' names column 7, and 5 columns arrive" }, of{ 7 })
  fails({ "have no names: give their numbers" }, function()
    ridge(sc.features{ T = 3, of = { "a" } }):fit(X, y)
  end)
  fails({ 'T = "auto" is chosen for features alone' }, function()
    return part + sc.features{ T = "auto" }
  end)
  fails({ "its parts have them" }, function() (part + part):fit(X):parameters() end)
  fails({ "a union has no codes" }, function() (part + part):codes(X) end)
  fails({ "with 'of' or 'scale' have no codes" }, function() (2 * part):codes(X) end)
  local solver = sc.solver.ridge{ lambda = 1, intercept = false }
  for what, features in pairs{ ["a union"] = part + part, ["of some columns"] = 2 * part } do
    local p = sc.pipeline{ features, solver }:fit(X, y * 0)
    fails({ "the bounds are for", what }, function() p:bound() end)
    fails({ "pruning is for", what }, function() p:prune() end)
  end
  fails({ "these are a union" }, function()
    sc.pipeline{ part + part, sc.solver.ridge{ penalty = "rkhs", lambda = 1 } }:fit(ds)
  end)
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status)
