--- scullery bench maps: the cost of computing features, beside that of the matrix products alone.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local instantiation = require "scullery.compose.instantiation"
local measure = require "scullery.bench.measure"

local samplers = component.group "sampler"
local nonlinearities = component.group "nonlinearity"

local floor = measure.floor

-- Seconds to compute T features of all rows of X block by block, storing none. The map itself is
-- drawn before the clock starts.
local function map_seconds(inst, X, T, dtype)
  local feats = inst:features{ T = T, seed = 1, dtype = dtype }:fit(X)
  local source = core.source(X)
  return measure.seconds(3, function() core.walk(source, {}, feats.fitted) end)
end

local function ridge_map(p, phi, bias)
  return instantiation.new{ p = samplers[p]{ sigma = 0.1, bias = bias }, phi = phi }
end

local phis = { cos = { nonlinearities.fourier(), "cos", bias = "uniform" },
  relu = { nonlinearities.relu(), "copy" }, sign = { nonlinearities.sign(), "copy" },
  maxout = { nonlinearities.maxout{ q = 4 }, "copy", q = 4 } }

-- A map with Gaussian rows and the nonlinearity case.phi, on case.rows rows of case.d columns:
-- beside the product (gemm) alone, and beside the product and one pass of the nonlinearity over its
-- output.
local function dense(report, case, quick)
  local name, d, T, n = case.phi, case.d, 4096, case.rows // (quick and 4 or 1)
  local one = phis[name]
  for _, dtype in ipairs{ "float64", "float32" } do
    local X = core.randn{ n, d, seed = 1, dtype = dtype }
    local took = map_seconds(ridge_map("gaussian", one[1], one.bias), X, T // (one.q or 1), dtype)
    local pass = core.ceiling_features(dtype, n // 2048, 2048, d, T, one[2])
    report:row{ id = case.id .. "_" .. dtype, seconds = took, floor = floor.project(dtype, n, d, T),
      what = ("map %s, d = %d, %d projections, %s"):format(name, d, T, dtype),
      pass_over_time = pass / took,
      note = ("gemm and a pass / time %.2f; %.2f ns a projection"):format(pass / took,
        took / n / T * 1e9) }
  end
end

-- Structured (Hadamard) rows against dense Gaussian rows for case.d columns.
local function hadamard(report, case, quick)
  local n, d, T = 2048 // (quick and 4 or 1), case.d, 16384
  for _, dtype in ipairs{ "float64", "float32" } do
    local X = core.randn{ n, d, seed = 1, dtype = dtype }
    local function seconds(p)
      return map_seconds(ridge_map(p, nonlinearities.fourier(), "uniform"), X, T, dtype)
    end
    local plain, fast = seconds "gaussian", seconds "hadamard"
    report:row{ id = case.id .. "_" .. dtype, seconds = fast, speedup = plain / fast,
      what = ("map hadamard fourier, d = %d, T = %d, %s"):format(d, T, dtype),
      note = ("dense gaussian / hadamard %.1f"):format(plain / fast) }
  end
end

-- Sparse rows of in-degree 3: the cost should not grow with the number of columns, case.d. The time
-- of reading the rows is subtracted.
local function sparse(report, case, quick)
  local n, d, T = 16384 // (quick and 4 or 1), case.d, 4096
  local X = core.randn{ math.min(n, 160000000 // d // 8), d, seed = 1, dtype = "float32" }
  local inst = instantiation.new{ p = samplers.sparse{ degree = 3 },
    phi = nonlinearities.sign() }
  local source = core.source(X)
  local reading = measure.seconds(3, function() core.walk(source, {}, nil) end)
  local took = map_seconds(inst, X, T, "float32") - reading
  report:row{ id = case.id, seconds = took,
    what = ("map sparse sign, in-degree 3, d = %d, T = %d, float32"):format(d, T),
    note = ("%.3f ns an output"):format(took / #X / T * 1e9) }
end

-- Threshold features beside one pass that copies the output.
local function stumps(report, case, quick)
  local n, T = 16384 // (quick and 4 or 1), 4096
  local X = core.randn{ n, 100, seed = 1, dtype = "float32" }
  local took = map_seconds(instantiation.new{ p = samplers.threshold{ sigma = 1 },
    phi = nonlinearities.sign() }, X, T, "float32")
  local function blocks(pass)
    return core.ceiling_features("float32", n // 2048, 2048, 1, T, pass)
  end
  local pass = blocks "copy" - blocks "none"
  report:row{ id = case.id, seconds = took,
    what = ("map stumps, d = 100, T = %d, float32"):format(T),
    note = ("one pass over the output %.3f s: time / pass %.2f"):format(pass, took / pass) }
end

-- Rows like those of the Forest Cover data: 10 numbers, then one of 4 and one of 40 indicators set.
local function forest(n)
  local X = core.zeros(n, 54)
  local numbers, kind = core.rand{ n, 10, seed = 1 }, core.rand{ n, 2, seed = 2 }
  for i = 1, n do
    for j = 1, 10 do X:set(i, j, numbers:get(i, j)) end
    X:set(i, 11 + math.floor(4 * kind:get(i, 1)), 1)
    X:set(i, 15 + math.floor(40 * kind:get(i, 2)), 1)
  end
  return X
end

-- Random binning features of 50 grids: the time and the memory of finding the occupied cells, and
-- the time of looking them up again.
local function bins(report, case, quick)
  local n = quick and 20000 or 500000
  local X = forest(n)
  for _, gamma in ipairs{ 0.1, 1 } do
    local inst = instantiation.new{ p = samplers.grid{ gamma = gamma },
      phi = nonlinearities.bins() }
    collectgarbage()
    local before = core.memory(true)
    local one = measure.once(function() return inst:features{ T = 50, seed = 1 }:fit(X) end)
    local cells, held = one.result:info().features, core.memory() - before
    local again = measure.seconds(1, function()
      core.walk(core.source(X), {}, one.result.fitted)
    end)
    report:row{ id = ("%s_%g"):format(case.id, gamma), seconds = one.seconds,
      processors = one.processors, cells = cells,
      what = ("bins, %d x 54, 50 grids, gamma = %g: learning the cells"):format(n, gamma),
      note = ("%d cells, %.0f bytes a cell; finding them again %.2f s"):format(cells, held / cells,
        again) }
  end
end

local cases = {}
for _, size in ipairs{ { 784, 8192 }, { 20, 32768 } } do
  for _, name in ipairs{ "cos", "relu", "sign", "maxout" } do
    cases[#cases + 1] = { id = ("map_%s_%d"):format(name, size[1]),
      run = dense,
      phi = name, d = size[1], rows = size[2] }
  end
end
for _, d in ipairs{ 128, 1024 } do
  cases[#cases + 1] = { id = ("map_hadamard_%d"):format(d), run = hadamard,
    d = d }
end
for _, d in ipairs{ 100, 1000, 10000 } do
  cases[#cases + 1] = { id = ("map_sparse_%d"):format(d), run = sparse, d = d }
end
cases[#cases + 1] = { id = "map_stumps", run = stumps }
cases[#cases + 1] = { id = "bins", run = bins }
return { cases = cases }
