--- scullery bench: this machine's ceilings, and how close the engine comes, in one run. The rows on real data are left out where the data are not here.
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

local function row(what, seconds, note) print(("%-58s %9.3f s   %s"):format(what, seconds, note or "")) end

local function ceilings(n)
  local rates = {}
  for _, dtype in ipairs{ "float64", "float32" } do
    rates[dtype] = { gemm = core.ceiling("gemm", dtype, n), syrk = core.ceiling("syrk", dtype, n) }
    print(("ceiling, %s, %d threads: gemm %d^3 %.0f GFLOP/s, syrk %.0f"):format(dtype, core.threads(), n, rates[dtype].gemm, rates[dtype].syrk))
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
  print(("%-58s left out: the set '%s' is not here (SCULLERY_DATA)"):format(name, name))
  return false
end

local function adult(rates)
  if not here("adult") then return end
  local train = sc.data.load("adult"):parts()
  local inst = sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ gamma = 1 }, p = sc.sampler.threshold{ sigma = 1 },
                                 phi = sc.nonlinearity.sign() }
  for _, dtype in ipairs{ "float64", "float32" } do
    local function stages(lambda)
      return sc.pipeline{ sc.standardize(), sc.add_bias(), inst:features{ T = 1000, seed = 0, dtype = dtype },
                          sc.solver.ridge{ lambda = lambda, penalty = "rkhs" } }
    end
    local one = best_of(5, function() stages(1e-7):fit(train) end)
    row(("adult, RKHS weighting 2, T = 1000, %s, one fit"):format(dtype), one,
      ("floor / time %.2f; the authors' code: 1.17 s on 2 cores"):format(floor_seconds(rates, dtype, #train, 0, 1000) / one))
    local search = best_of(2, function() stages(sc.choose{ 1e-7, 1e-6, 1e-5, 1e-4, 1e-3 }):search(train) end)
    row("  5 lambdas x 5 folds and the refit", search, ("%.2f fits"):format(search / one))
  end
end

local function mnist(rates)
  if not here("mnist") then return end
  local train, test = sc.data.load("mnist", { dtype = "float32" }):parts()
  collectgarbage()
  collectgarbage()
  local before = resident("VmRSS")
  core.memory(true)
  local model = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ gamma = 0.025 }, phi = sc.nonlinearity.fourier(), T = 5000, seed = 1,
                                          dtype = "float32" }, sc.solver.ridge{ lambda = 1e-6 } }
  local took = best_of(1, function() model:fit(train) end)
  local _, peak = core.memory()
  row("MNIST 60,000 x 784, Fourier D = 5000, float32, 10 classes", took,
    ("floor / time %.2f; test error %.4f; engine's peak %.2f GB, data included; resident before %.2f GB"):format(
      floor_seconds(rates, "float32", 60000, 784, 5000) / took, model:error(test), peak / 1e9, before))
end

local function reading()
  if not here("kddcup10") then return end
  row("reading kddcup10 (494,021 rows, gzip, one-hot)", best_of(3, function() sc.data.load("kddcup10") end), "pandas.read_csv: scripts/bench/peers.py")
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
      sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.3 }, phi = sc.nonlinearity.fourier(), T = 500, dtype = "float32" },
                   sc.solver.ridge{ lambda = 1e-4 } }:fit(rows)
    end)
    local _, peak = core.memory()
    row(("generated rows, n = %d, d = 20, D = 500"):format(n), took, ("%.2f us a row; engine's peak %.0f MB"):format(took / n * 1e6, peak / 1e6))
    n = n * 10
  end
end

--- bench.run(arguments): "--quick" for small sizes.
function bench.run(arguments)
  local quick = false
  for _, word in ipairs(arguments or {}) do
    if word == "--quick" then quick = true else error("bench: unknown option '" .. word .. "'; it takes --quick", 0) end
  end
  print(("Scullery %s, %s, %d threads"):format(sc.version, core.instruction_set(), core.threads()))
  local rates = ceilings(quick and 1024 or 4096)
  adult(rates)
  if not quick then mnist(rates) end
  reading()
  linear(quick and 10000 or 1000000)
end

return bench
