--- What the parts of scullery bench share: clocks, memory, the rates of this machine, and floors:
--- the seconds that work cannot go below at these rates.
local core = require "scullery.core"

local measure = {}

-- ---------------------------------------------------------------- time and memory

local function settle()
  collectgarbage()
  collectgarbage()
end

-- Gigabytes of this process by the system: VmRSS (now), VmHWM (the most since forget_peak).
local function resident(field)
  local file = io.open "/proc/self/status"
  if not file then return 0 end
  local text = file:read "a"
  file:close()
  return (tonumber(text:match(field .. ":%s+(%d+)")) or 0) / 1e6
end

local function forget_peak()
  local file = io.open("/proc/self/clear_refs", "w")
  if file then
    file:write "5"
    file:close()
  end
end

--- measure.once(f): runs it once: { seconds, processors (seconds of all threads), result, peak (of
--- the engine, gigabytes), resident (the most of the process) and resident_before }.
function measure.once(f)
  settle()
  forget_peak()
  local before = resident "VmRSS"
  core.memory(true)
  local began, busy = core.now(), os.clock()
  local result = f()
  local seconds, processors = core.now() - began, os.clock() - busy
  local _, peak = core.memory()
  return { seconds = seconds, processors = processors, result = result, peak = peak / 1e9,
    resident = resident "VmHWM", resident_before = before }
end

--- measure.best(times, f): the same of several runs: the least seconds of each kind, the last
--- result, and first: the seconds of the first run.
function measure.best(times, f)
  local best
  for _ = 1, times do
    if best then best.result = nil end
    local one = measure.once(f)
    if best then
      one.seconds = math.min(one.seconds, best.seconds)
      one.processors = math.min(one.processors, best.processors)
    end
    one.first = best and best.first or one.seconds
    best = one
  end
  return best
end

--- measure.seconds(times, f): the least seconds by the clock.
function measure.seconds(times, f) return measure.best(times, f).seconds end

-- ---------------------------------------------------------------- rates

local known, size, unshared = {}, 3072, false

--- measure.forget(n[, processors]): the rates are measured anew, with matrices of order n.
--- processors: they are told for a machine that does nothing else, by the share of the processors'
--- time that this process got.
function measure.forget(n, processors)
  known, size, unshared = {}, n, processors or false
end

-- The results of f, and the share of the processors that it had.
local function shared(f, ...)
  local began, busy = core.now(), os.clock()
  local a, b, c = f(...)
  local share = (os.clock() - busy) / core.threads() / (core.now() - began)
  return unshared and math.min(share, 1) or 1, a, b, c
end

local function product(kind, dtype)
  local name = kind .. "_" .. dtype
  if not known[name] then
    local share, rate = shared(core.ceiling, kind, dtype, size)
    known[name] = rate * 1e9 / share
  end
  return known[name]
end

local function other(name)
  if not known[name] then
    local share, potrf, memory, counts = shared(core.ceiling_rates, math.min(size, 2048))
    known.potrf, known.memory, known.counts = potrf / share, memory / share, counts / share
  end
  return known[name]
end

--- measure.rate(name): operations a second of gemm_float64, gemm_float32, syrk_..., potrf (a
--- multiplication and an addition are two; syrk: n^3 for n rows and columns), memory (bytes read),
--- counts (products of two bits): OpenBLAS on all threads, measured when first asked for.
function measure.rate(name)
  local kind, dtype = name:match "^(%a+)_(float%d+)$"
  return kind and product(kind, dtype) or other(name)
end

--- measure.rates(): all of them, by name, those of products in GFLOP/s, memory and counts in
--- giga a second.
function measure.rates()
  local list = {}
  for _, name in ipairs{ "gemm_float64", "gemm_float32", "syrk_float64", "syrk_float32", "potrf",
    "memory", "counts" } do list[name] = measure.rate(name) * 1e-9 end
  return list
end

-- ---------------------------------------------------------------- floors

--- Each of these returns seconds at the rates of this machine.
local floor = {}
measure.floor = floor

--- n x d rows times D weights.
function floor.project(dtype, n, d, D) return 2 * n * d * D / measure.rate("gemm_" .. dtype) end

--- Phi'Phi of n x D features.
function floor.sums(dtype, n, D) return n * D ^ 2 / measure.rate("syrk_" .. dtype) end

--- The same, of bits.
function floor.counts(n, D) return n * D ^ 2 / 2 / measure.rate "counts" end

--- `times` factorisations of D x D matrices.
function floor.factors(D, times) return (times or 1) * D ^ 3 / 3 / measure.rate "potrf" end

--- So many bytes read from memory.
function floor.read(bytes) return bytes / measure.rate "memory" end

--- Phi a and Phi'r of n x D features and c columns: the products, or reading features that are kept
--- in so many bytes each (nil: they are not).
function floor.sweep(dtype, n, D, c, bytes)
  return math.max(4 * n * D * c / measure.rate("gemm_" .. dtype),
    bytes and floor.read(bytes * n * D) or 0)
end

--- Ridge on dense features: projection, Phi'Phi, one factorisation.
function floor.ridge(dtype, n, d, D)
  return (d > 0 and floor.project(dtype, n, d, D) or 0) + floor.sums(dtype, n, D)
    + floor.factors(D)
end

return measure
