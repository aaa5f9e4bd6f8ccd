-- Fits, predictions, comparisons and files of sparse rows are those of the same rows with their
-- zeros: to the bit where features are made of them, to rounding where rows are multiplied as they
-- are.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile "tests/helpers/support.lua"

local state = 11
local function uniform(n)
  state = (state * 6364136223846793005 + 1442695040888963407)
  return (state >> 33) % n
end

-- n rows of d columns with about `numbers` numbers each, and classes that depend on the first ten.
local function rows_of(n, d, numbers)
  local starts, places, values, y = { 0 }, {}, {}, sc.zeros(n, 1)
  for i = 1, n do
    local row, sum = {}, 0
    for _ = 1, 2 + uniform(2 * numbers - 3) do row[uniform(d)] = (uniform(2001) - 700) / 500 end
    local columns = {}
    for j in pairs(row) do columns[#columns + 1] = j end
    table.sort(columns)
    for _, j in ipairs(columns) do
      places[#places + 1], values[#values + 1] = j, row[j]
      if j < 10 then sum = sum + row[j] * (j % 3 - 0.7) end
    end
    starts[i + 1] = #places
    y:set(i, 1, sum + (uniform(1000) - 500) / 800 > 0 and 1 or 0)
  end
  return sc.matrix.csr{ rows = n, columns = d, starts = starts, indices = places,
    values = values }, y
end

local n, d = 2600, 40
local S, y = rows_of(n, d, 7)
local X = S:dense()
local weights = sc.zeros(n, 1)
for i = 1, n do weights:set(i, 1, i % 4 / 2) end
local value = sc.zeros(n, 1)
for i = 1, n do value:set(i, 1, 3 + X:get(i, 1) - 2 * X:get(i, 2) + X:get(i, 3) ^ 2) end

local function data(rows, more)
  local given = { X = rows, y = y, task = "classification" }
  for key, one in pairs(more or {}) do given[key] = one end
  return sc.dataset(given)
end
local regression = { y = value, task = "regression" }

local function features(more)
  local given = { p = sc.sampler.gaussian{ gamma = 0.2 }, phi = sc.nonlinearity.fourier(), T = 60,
    seed = 3 }
  for key, one in pairs(more or {}) do given[key] = one end
  return sc.features(given)
end

local function close(a, b, tolerance)
  lu.assertTrue(a:rows() == b:rows() and a:cols() == b:cols())
  local gap = (a - b):abs():max()
  lu.assertTrue(gap <= tolerance * (1 + b:abs():max()), ("off by %g"):format(gap))
end

-- Scores of a pipeline that was fitted to sparse rows, on sparse and on dense ones, and of the same
-- fitted to dense rows.
local function scores(stages, more)
  local sparse, dense = data(S, more), data(X, more)
  local a = sc.pipeline(stages):fit(sparse)
  return a:decision(sparse), a:decision(dense), sc.pipeline(stages):fit(dense):decision(dense)
end

-- ------------ fits

function TestRowsWithoutFeaturesToRounding()
  local s = sc.solver
  for _, solver in ipairs{ s.ridge{ lambda = 1e-3 }, s.cg{ lambda = 1e-3, tolerance = 1e-12 },
    s.logistic{ lambda = 1e-3, tolerance = 1e-9 }, s.hinge{ lambda = 1e-2, tolerance = 1e-9 },
    s.lasso{ lambda = 1e-3, tolerance = 1e-10 } } do
    for _, more in ipairs{ {}, { weights = weights } } do
      local sparse, mixed, dense = scores({ solver }, more)
      close(sparse, mixed, 1e-12)
      close(sparse, dense, 1e-6)
    end
  end
  local sparse, mixed, dense = scores({ s.ridge{ lambda = 1e-3 } }, regression)
  close(sparse, mixed, 1e-12)
  close(sparse, dense, 1e-10)
end

function TestFeaturesToTheBit()
  local maps = { features(), features{ dtype = "float32" }, features{ dtype = "int16" },
    features{ phi = sc.nonlinearity.sign() }, features{ T = 4000 },
    features{ p = sc.sampler.gaussian{ gamma = "scale" } },
    sc.features{ p = sc.sampler.landmarks(), phi = sc.kernel.gaussian{ gamma = 0.2 }, T = 50,
      seed = 1 } }
  for k, map in ipairs(maps) do
    local sparse, mixed, dense = scores{ map, sc.solver.ridge{ lambda = 1e-3 } }
    lu.assertTrue(sparse == mixed, "map " .. k)
    if k ~= 6 then lu.assertTrue(sparse == dense, "map " .. k) end
    close(sparse, dense, 1e-9) -- a width of sparse moments is one to rounding
  end
  local sparse, mixed, dense = scores{ features(), sc.solver.logistic{ lambda = 1e-3 } }
  lu.assertTrue(sparse == mixed and sparse == dense)
end

-- One-hot features, and features that read one column each, which dense rows sum by their levels.
function TestCellsAndLevels()
  local cells = sc.features{ p = sc.sampler.grid{ gamma = 0.5 }, phi = sc.nonlinearity.bins(),
    T = 20, seed = 1 }
  local sparse, mixed, dense = scores{ cells, sc.solver.ridge{ lambda = 1e-3 } }
  lu.assertTrue(sparse == mixed)
  close(sparse, dense, 1e-9)
  local stumps = sc.features{ p = sc.sampler.threshold(), phi = sc.nonlinearity.step(), T = 80,
    seed = 1 }
  sparse, mixed, dense = scores{ stumps, sc.solver.ridge{ lambda = 1e-3 } }
  close(sparse, mixed, 1e-12)
  close(sparse, dense, 1e-9)
end

-- Row stages that keep zeros, and others, after which rows are dense.
function TestStages()
  local logistic = sc.solver.logistic{ lambda = 1e-3, tolerance = 1e-9 }
  for _, stages in ipairs{ { sc.normalize() }, { sc.standardize() }, { sc.pca{ k = 6 } },
    { sc.normalize(), sc.standardize() }, { sc.normalize(), sc.add_bias() } } do
    for _, last in ipairs{ { logistic }, { features(), sc.solver.ridge{ lambda = 1e-3 } } } do
      local list = table.move(last, 1, #last, #stages + 1, table.move(stages, 1, #stages, 1, {}))
      local sparse, mixed, dense = scores(list)
      close(sparse, mixed, 1e-11)
      close(sparse, dense, 1e-6)
    end
  end
end

function TestModelsThatReadRows()
  for _, solver in ipairs{ sc.solver.knn{ k = 5 }, sc.solver.svm(), sc.solver.adaboost() } do
    local sparse, dense = data(S), data(X)
    local a, b = sc.pipeline{ solver }:fit(sparse), sc.pipeline{ solver }:fit(dense)
    lu.assertTrue(a:predict(sparse) == b:predict(dense))
    lu.assertTrue(a:predict(S) == a:predict(X))
  end
end

function TestMinibatchesAndEarlyStopping()
  local solver = sc.solver.logistic{ lambda = 1e-3, method = "sgd", epochs = 3, holdout = 0.2 }
  local sparse, mixed, dense = scores{ solver }
  close(sparse, mixed, 1e-12)
  close(sparse, dense, 1e-9)
end

-- ------------ what else a pipeline does

function TestPredictionsOfMatrices()
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 1e-3 } }:fit(data(S))
  lu.assertTrue(p:predict(S) == p:predict(X))
  lu.assertTrue(p:predict(S:slice(3, 9)) == p:predict(X:slice(3, 9)))
  close(p:probabilities(S), p:probabilities(X), 1e-12)
  lu.assertAlmostEquals(p:error(data(S)), p:error(data(X)), 0)
  support.fails({ "39 columns" }, p.predict, p, S:slice(1, 5, 1, 39))
end

function TestFoldsAndSearches()
  local function values(rows)
    local ds, out = data(rows), {}
    local linear = sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-1, 1e2 } } }
    local mapped = sc.pipeline{ sc.normalize(), features(),
      sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 } } }
    for _, p in ipairs{ linear, mapped } do
      local found = p:search(ds, { folds = 3 })
      out[#out + 1] = found.table.best.mean
      out[#out + 1] = found:error(ds)
    end
    out[#out + 1] = sc.pipeline{ sc.solver.logistic{ lambda = 1e-2 } }:cv(ds, { folds = 4 }).mean
    out[#out + 1] = sc.pipeline{ features(), sc.solver.ridge() }:fit(ds):error(ds) -- chooses lambda
    return out
  end
  local sparse, dense = values(S), values(X)
  for k = 1, #dense do lu.assertAlmostEquals(sparse[k], dense[k], 1e-9, "value " .. k) end
end

function TestCalibrationAndImportance()
  local function made(rows)
    local p = sc.pipeline{ sc.solver.hinge{ lambda = 1e-2, tolerance = 1e-9 } }:fit(data(rows))
    p:calibrate{ folds = 3 }
    return p:probabilities(rows), p:importance(data(rows), { repeats = 1 })[1]
  end
  local a, first = made(S)
  local b, wanted = made(X)
  close(a, b, 1e-6)
  lu.assertEquals(first.name, wanted.name)
  lu.assertAlmostEquals(first.mean, wanted.mean, 1e-3)
end

-- Exact sums of whole-number features: rows may be taken out of them as sparse or dense ones.
function TestExactSums()
  local function sums(rows) return sc.pipeline{ features{ dtype = "int16" },
    sc.solver.ridge{ lambda = 1e-3 } }:fit(data(rows), { sums = true }) end
  local first, rest = y:slice(1, 100), y:slice(101, n)
  local wanted = sc.pipeline{ features{ dtype = "int16" }, sc.solver.ridge{ lambda = 1e-3 } }:fit(
    sc.dataset{ X = X:slice(101, n), y = rest, task = "classification" }):decision(X)
  for _, rows in ipairs{ S, X } do
    for _, taken in ipairs{ S, X } do
      local p = sums(rows)
      p:forget(sc.dataset{ X = taken:slice(1, 100), y = first, task = "classification" })
      lu.assertTrue(p:decision(S) == wanted)
    end
  end
end

-- ------------ threads and processes

local bits = [[
  local sc = require "scullery"
  local X, y = sc.zeros(5000, 30), sc.zeros(5000, 1)
  local state = 5
  local function uniform(n)
    state = (state * 6364136223846793005 + 1442695040888963407)
    return (state >> 33) % n
  end
  for i = 1, 5000 do
    for _ = 1, 6 do X:set(i, 1 + uniform(30), uniform(1000) / 300 - 1) end
    y:set(i, 1, X:get(i, 1) + X:get(i, 2) > 0 and 1 or 0)
  end
  local ds = sc.dataset{ X = sc.matrix.csr(X), y = y, task = "classification" }
  local map = sc.features{ p = sc.sampler.gaussian{ gamma = 0.2 }, phi = sc.nonlinearity.fourier(),
    T = 30, seed = 3 }
  for _, p in ipairs{ sc.pipeline{ sc.solver.logistic{ lambda = 1e-3 } },
    sc.pipeline{ sc.solver.cg{ lambda = 1e-3 } }, sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } },
    sc.pipeline{ map, sc.solver.ridge{ lambda = 1e-3 } } } do
    p:fit(ds)
    for i = 1, 5 do print(("%a"):format(p:decision(ds.X):get(i, 1))) end
    print(("%a"):format(p:cv(ds, { folds = 3 }).mean))
  end]]

function TestThreadsDoNotChangeABit()
  local found = {}
  local before = sc.threads()
  for k, threads in ipairs{ 1, 2, 5 } do
    sc.threads(threads)
    found[k] = scores{ sc.solver.logistic{ lambda = 1e-3 } }
  end
  sc.threads(before)
  lu.assertTrue(found[1] == found[2] and found[1] == found[3])
end

function TestProcessesDoNotChangeABit()
  local script = support.write(nil, bits)
  local function run(count)
    local status, out, err = support.shell(("timeout 200 %s --processes %d %s"):format(
      support.quote(support.binary), count, script))
    lu.assertEquals({ status, err }, { 0, "" })
    return out
  end
  local one = run(1)
  local _, lines = one:gsub("\n", "")
  lu.assertEquals(lines, 24)
  for _, count in ipairs{ 2, 3 } do lu.assertEquals(run(count), one) end
  os.remove(script)
end

-- ------------ wide rows

local wide_n, wide_d = 1500, 400000
local W, wide_y = rows_of(wide_n, wide_d, 12)

-- Dense, these rows would take 4.8 GB.
function TestWideRowsTakeTheMemoryOfTheirNumbers()
  local ds = sc.dataset{ X = W, y = wide_y, task = "classification" }
  local before = select(2, core.memory_left(true))
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 1e-3 } }:fit(ds)
  lu.assertTrue(p:error(ds) < 0.5)
  local after = select(2, core.memory_left(true))
  lu.assertTrue(after - before < 5e8, ("%g bytes"):format(after - before))
  lu.assertTrue(sc.pipeline{ sc.solver.logistic{ lambda = 1e-3 } }:plan(ds).more < 1e9)
end

function TestStagesThatMakeWideRowsDenseSayIt()
  local many = sc.dataset{ X = sc.vcat(W, W, W, W, W, W), y = sc.vcat(wide_y, wide_y, wide_y,
    wide_y, wide_y, wide_y), task = "classification" }
  local solver = sc.solver.logistic{ lambda = 1e-3 }
  local dense = 8.0 * #many * wide_d
  if core.memory_left() < dense then
    support.fails({ "standardize makes sparse rows dense" }, function()
      sc.pipeline{ sc.standardize(), solver }:fit(many)
    end)
    local automatic = sc.pipeline{ sc.standardize(), sc.solver.hinge{} } -- lambda = "auto"
    support.fails({ "standardize makes sparse rows dense" }, automatic.fit, automatic, many)
  end
  local p = sc.pipeline{ sc.standardize(), solver }:fit(data(S))
  lu.assertStrContains(p:info().note,
    "sc.standardize makes sparse rows dense: 2600 x 40 numbers, 832 kB")
end

-- Labels are noise, so that the largest lambda is best. The classes are separable: for all small
-- ones the losses are equal but for rounding, which must not end the choice there.
function TestAChoiceCrossesAPlateau()
  local some = sc.randn{ 60, 310, seed = 5 }:map(function(v)
    return math.abs(v) > 1.8 and v or 0
  end)
  local labels = sc.randn{ 60, 1, seed = 105 }:map(function(v) return v > 0 and 1 or -1 end)
  for _, rows in ipairs{ some, sc.matrix.csr(some) } do
    local p = sc.pipeline{ sc.solver.hinge{ lambda = "auto" } }:fit(sc.dataset{ X = rows,
      y = labels, task = "classification" })
    lu.assertStrContains(p:info().chosen, "lambda = 1,")
  end
end

-- ------------ files

function TestSavedModelsOfSparseRows()
  local path = support.free_path(".safetensors")
  local ds = sc.dataset{ X = W, y = wide_y, task = "classification" }
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 1e-2 } }:fit(ds)
  p:save(path)
  local loaded = sc.load(path)
  lu.assertTrue(loaded:weights() == p:weights())
  lu.assertTrue(loaded:predict(W) == p:predict(W))
  -- of 400,000 weights only those of columns with numbers are not 0
  local size = #support.read(path)
  lu.assertTrue(size < 400000, size)
  lu.assertStrContains(support.read(path), "solver.weights.places")
  local mapped = sc.pipeline{ sc.normalize(), features(), sc.solver.ridge{ lambda = 1e-3 } }:fit(
    data(S))
  mapped:save(path)
  lu.assertTrue(sc.load(path):predict(S) == mapped:predict(S))
  os.remove(path)
end

os.exit(lu.LuaUnit.run())
