--- scullery bench: this machine's ceilings, and how close the engine comes, in one run. The rows on
--- real data are left out where the data are not here.
local core = require "scullery.core"
local sc = require "scullery"

local bench = {}

local function best_of(times, f)
  local best
  for _ = 1, times do
    collectgarbage()
    local began = core.now()
    f()
    local took = core.now() - began
    if not best or took < best then best = took end
  end
  return best
end

local function resident(field)
  for line in io.lines("/proc/self/status") do
    local kilobytes = line:match("^" .. field .. ":%s+(%d+)")
    if kilobytes then return tonumber(kilobytes) / 1e6 end
  end
  return 0
end

-- What --json prints at the end, instead of lines.
local document

local function say(text)
  if not document then print(text) end
end

-- facts: numbers that the note tells too, by name: floor_over_time, fits.
local function row(what, seconds, note, facts)
  say(("%-58s %9.3f s   %s"):format(what, seconds, note or ""))
  if not document then return end
  local one = { what = what, seconds = seconds, note = note }
  for name, value in pairs(facts or {}) do one[name] = value end
  document.rows[#document.rows + 1] = one
end

local function ceilings(n)
  local rates = {}
  for _, dtype in ipairs{ "float64", "float32" } do
    rates[dtype] = { gemm = core.ceiling("gemm", dtype, n), syrk = core.ceiling("syrk", dtype, n) }
    say(("ceiling, %s, %d threads: gemm %d^3 %.0f GFLOP/s, syrk %.0f"):format(dtype,
      core.threads(), n, rates[dtype].gemm, rates[dtype].syrk))
  end
  return rates
end

-- Seconds that projection, normal equations and factorisation take at the ceilings.
local function floor_seconds(rates, dtype, n, d, D)
  local r = rates[dtype]
  return (2 * n * d * D / r.gemm + n * D * D / r.syrk + D ^ 3 / 3 / rates.float64.gemm) * 1e-9
end

local function here(name)
  local ok, paths = pcall(sc.data.path, name)
  if ok and paths then return true end
  say(("%-58s left out: the set '%s' is not here (SCULLERY_DATA)"):format(name, name))
  return false
end

-- Thresholds under K: on numbers every feature is made.
local function weighting(dtype)
  return sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ width = 1 },
    p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }:features{ T = 1000,
    seed = 0, dtype = dtype }
end

local function dense_thresholds(rates, scale)
  local n = 32768 // scale
  local X = sc.randn{ n, 20, seed = 1 }
  for _, dtype in ipairs{ "float64", "float32" } do
    local one = best_of(5, function()
      sc.pipeline{ weighting(dtype), sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }:fit(X,
        X:column(1))
    end)
    local share = floor_seconds(rates, dtype, n, 0, 1000) / one
    row(("%d x 20 numbers, RKHS weighting 2, T = 1000, %s, one fit"):format(n, dtype), one,
      ("floor / time %.2f"):format(share), { floor_over_time = share })
  end
end

local function adult(rates)
  if not here("adult") then return end
  local train = sc.data.load("adult"):parts()
  for _, dtype in ipairs{ "float64", "float32" } do
    local function stages(lambda)
      return sc.pipeline{ sc.standardize(), sc.add_bias(), weighting(dtype),
        sc.solver.ridge{ lambda = lambda, penalty = "rkhs" } }
    end
    local one = best_of(5, function() stages(1e-7):fit(train) end)
    local share = floor_seconds(rates, dtype, #train, 0, 1000) / one
    row(("adult, RKHS weighting 2, T = 1000, %s, one fit"):format(dtype), one,
      ("floor / time %.2f; the authors' code: 1.17 s on 2 cores"):format(share),
      { floor_over_time = share })
    local search = best_of(2, function()
      stages(sc.choose{ 1e-7, 1e-6, 1e-5, 1e-4, 1e-3 }):search(train)
    end)
    row("  5 lambdas x 5 folds and the refit", search, ("%.2f fits"):format(search / one),
      { fits = search / one })
  end
end

local function mnist(rates)
  if not here("mnist") then return end
  local train, test = sc.data.load("mnist", { dtype = "float32" }):parts()
  collectgarbage()
  collectgarbage()
  local before = resident("VmRSS")
  core.memory(true)
  local model = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ gamma = 0.025 },
    phi = sc.nonlinearity.fourier(), T = 5000, seed = 1,
                                          dtype = "float32" }, sc.solver.ridge{ lambda = 1e-6 } }
  local took = best_of(1, function() model:fit(train) end)
  local _, peak = core.memory()
  local share = floor_seconds(rates, "float32", 60000, 784, 5000) / took
  row("MNIST 60,000 x 784, Fourier D = 5000, float32, 10 classes", took,
    ("floor / time %.2f; test error %.4f; engine's peak %.2f GB, data included; resident before \z
      %.2f GB"):format(
      share, model:error(test), peak / 1e9, before), { floor_over_time = share })
end

local function reading()
  if not here("kddcup10") then return end
  row("reading kddcup10 (494,021 rows, gzip, one-hot)", best_of(3, function()
    sc.data.load("kddcup10")
  end), "pandas.read_csv: scripts/bench/peers.py")
end

-- Generated rows: cost linear in n, memory flat.
local function linear(most)
  local n = 10000
  while n <= most do
    local rows = sc.data.rows{ n = n, d = 20, read = function(first, count)
      local X = sc.randn{ count, 20, seed = first }
      return X, X:column(1):copy()
    end }
    collectgarbage()
    collectgarbage()
    core.memory(true)
    local took = best_of(1, function()
      sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.3 },
        phi = sc.nonlinearity.fourier(), T = 500, dtype = "float32" },
                   sc.solver.ridge{ lambda = 1e-4 } }:fit(rows)
    end)
    local _, peak = core.memory()
    row(("generated rows, n = %d, d = 20, D = 500"):format(n), took,
      ("%.2f us a row; engine's peak %.0f MB"):format(took / n * 1e6, peak / 1e6))
    n = n * 10
  end
end

-- Seconds to make all features of X block by block, keeping none; the map is made before.
local function map_seconds(inst, X, T, dtype, times)
  local feats = inst:features{ T = T, seed = 1, dtype = dtype }:fit(X)
  local source = core.source(X)
  return best_of(times or 3, function() core.walk(source, {}, feats.fitted) end)
end

local function ridge_map(p, phi, bias)
  local given = { sigma = 0.1, bias = bias }
  return sc.instantiation{ p = sc.sampler[p](given), phi = phi }
end

-- Dense maps beside gemm and one pass of the nonlinearity.
local function dense_maps(scale)
  local phis = { { "cos", sc.nonlinearity.fourier(), "uniform", "cos" },
    { "relu", sc.nonlinearity.relu(), nil, "copy" },
                 { "sign", sc.nonlinearity.sign(), nil, "copy" },
                   { "maxout 4", sc.nonlinearity.maxout{ q = 4 }, nil, "copy", 4 } }
  for _, size in ipairs{ { 784, 8192 }, { 20, 32768 } } do
    local d, n, T = size[1], size[2] // scale, 4096
    for _, dtype in ipairs{ "float64", "float32" } do
      local X = sc.randn{ n, d, seed = 1, dtype = dtype }
      for _, one in ipairs(phis) do
        local q = one[5] or 1
        local took = map_seconds(ridge_map("gaussian", one[2], one[3]), X, T // q, dtype)
        local product = core.ceiling_features(dtype, n // 2048, 2048, d, T, "none")
        local floor = core.ceiling_features(dtype, n // 2048, 2048, d, T, one[4])
        row(("map %s, d = %d, %d projections, %s"):format(one[1], d, T, dtype), took,
          ("gemm / time %.2f; gemm and a pass / time %.2f; %.2f ns a projection"):format(
            product / took, floor / took, took / n / T * 1e9))
      end
    end
  end
end

-- Structured rows against dense ones.
local function hadamard(scale)
  for _, d in ipairs{ 128, 1024 } do
    local n, T = 2048 // scale, 16384
    for _, dtype in ipairs{ "float64", "float32" } do
      local X = sc.randn{ n, d, seed = 1, dtype = dtype }
      local dense = map_seconds(ridge_map("gaussian", sc.nonlinearity.fourier(), "uniform"), X, T,
        dtype)
      local fast = map_seconds(ridge_map("hadamard", sc.nonlinearity.fourier(), "uniform"), X, T,
        dtype)
      row(("map hadamard fourier, d = %d, T = %d, %s"):format(d, T, dtype), fast,
        ("dense gaussian / hadamard %.1f"):format(dense / fast))
    end
  end
end

-- Sparse rows and thresholds: what they cost does not grow with d.
local function sparse(scale)
  local n, T = 16384 // scale, 4096
  for _, d in ipairs{ 100, 1000, 10000 } do
    local X = sc.randn{ math.min(n, 160000000 // d // 8), d, seed = 1, dtype = "float32" }
    local inst = sc.instantiation{ p = sc.sampler.sparse{ degree = 3 },
      phi = sc.nonlinearity.sign() }
    local source = core.source(X)
    -- less the reading of d columns
    local took = map_seconds(inst, X, T, "float32") - best_of(3, function()
      core.walk(source, {}, nil)
    end)
    row(("map sparse sign, in-degree 3, d = %d, T = %d, float32"):format(d, T), took,
      ("%.3f ns an output"):format(took / #X / T * 1e9))
  end
  local X = sc.randn{ n, 100, seed = 1, dtype = "float32" }
  local took = map_seconds(sc.instantiation{ p = sc.sampler.threshold{ sigma = 1 },
    phi = sc.nonlinearity.sign() }, X, T, "float32")
  local pass = core.ceiling_features("float32", n // 2048, 2048, 1, T,
    "copy") - core.ceiling_features("float32", n // 2048, 2048, 1, T, "none")
  row(("map stumps, d = 100, T = %d, float32"):format(T), took,
    ("one pass over the output %.3f s: time / pass %.2f"):format(pass, took / pass))
end

-- Binning features: cells of 50 grids over rows like Forest Cover's, 10 numbers and 44 indicators.
local function bins(n)
  local X = sc.zeros(n, 54)
  local numbers, kind = sc.rand{ n, 10, seed = 1 }, sc.rand{ n, 2, seed = 2 }
  for i = 1, n do
    for j = 1, 10 do X:set(i, j, numbers:get(i, j)) end
    X:set(i, 11 + math.floor(4 * kind:get(i, 1)), 1)
    X:set(i, 15 + math.floor(40 * kind:get(i, 2)), 1)
  end
  for _, gamma in ipairs{ 0.1, 1 } do
    local inst = sc.instantiation{ p = sc.sampler.grid{ gamma = gamma },
      phi = sc.nonlinearity.bins() }
    collectgarbage()
    local before = core.memory(true)
    local feats
    local took = best_of(1, function() feats = inst:features{ T = 50, seed = 1 }:fit(X) end)
    local after = core.memory()
    local cells = feats:info().features
    local again = best_of(1, function() core.walk(core.source(X), {}, feats.fitted) end)
    row(("bins, %d x 54, 50 grids, gamma = %g: learning the cells"):format(n, gamma), took,
      ("%d cells, %.0f bytes a cell; finding them again %.2f s"):format(cells,
        (after - before) / cells, again))
  end
end

-- Predicting rows of a file, less its reading, beside p:decision on rows in memory.
local function predicting(scale)
  local predict, n, d = require "scullery.predict", 400000 // scale, 20
  local X, name = sc.randn{ n, d, seed = 1 }, os.tmpname()
  local out, few = name .. ".csv", X:slice(1, 2000)
  X:save(name .. ".npy")
  for _, T in ipairs{ 100, 1000 } do
    local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.2 },
      phi = sc.nonlinearity.fourier(), T = T, seed = 1 }, sc.solver.ridge{ lambda = 1e-3 } }:fit(
      sc.dataset{ X = few, y = few:column(1):map(function(v) return v > 0 and 1 or 0 end),
        task = "classification" })
    p:save(name)
    local memory, blocks, file = math.huge, math.huge, math.huge
    for _ = 1, 5 do -- in turns, as the machine's rate changes
      memory = math.min(memory, best_of(1, function() p:decision(X) end))
      blocks = math.min(blocks, best_of(1, function()
        for _ in predict.rows(name .. ".npy", p.fitted, "npy") do end
      end))
      file = math.min(file, best_of(1, function()
        predict.run{ model = name, data = name .. ".npy", output = out }
      end))
    end
    row(("predict, %d x %d, %d features: .npy to CSV"):format(n, d, T), file,
      ("%.0f rows/s; reading %.3f s; rate without it / rate of p:decision %.2f"):format(n / file,
        blocks, memory / (file - blocks)))
  end
  for _, path in ipairs{ name, name .. ".npy", out } do os.remove(path) end
end

--- bench.parts: what can be measured; without a choice all but solvers.
bench.parts = { "maps", "bits", "data", "predict", "solvers" }

--- bench.run{ parts = { "maps" }, quick = false, json = false }: these parts (an empty list: all
--- but solvers), quick: at small sizes, json: as one JSON document at the end.
function bench.run(given)
  local quick, wanted = given.quick, {}
  for _, part in ipairs(given.parts) do wanted[part] = true end
  if not next(wanted) then wanted = { maps = true, bits = true, data = true, predict = true } end
  document = given.json and { version = sc.version, instruction_set = core.instruction_set(),
    threads = core.threads(), rows = {} } or nil
  say(("Scullery %s, %s, %d threads"):format(sc.version, core.instruction_set(), core.threads()))
  local rates = ceilings(quick and 1024 or 4096)
  if document then document.gflops = rates end
  local scale = quick and 4 or 1
  if wanted.maps then
    dense_maps(scale)
    hadamard(scale)
    sparse(scale)
    bins(quick and 20000 or 500000)
  end
  if wanted.bits then require("scullery.bench_bits").run(row, here, quick) end
  if wanted.data then
    dense_thresholds(rates, scale)
    adult(rates)
    if not quick then mnist(rates) end
    reading()
    linear(quick and 10000 or 1000000)
  end
  if wanted.predict then predicting(scale) end
  if wanted.solvers then require("scullery.bench_solvers").run(row, here) end
  if document then print(core.json_encode(document)) end
end

return bench
