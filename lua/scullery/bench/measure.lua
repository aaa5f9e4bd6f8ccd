--- Shared by the parts of scullery bench: clocks, memory, the rates of this machine, and floors. A
--- floor is a lower bound on the seconds of a piece of work at these rates.
local core = require "scullery.core"

local measure = {}

-- ------------ time and memory

-- Resident memory of this process in gigabytes, as Linux reports it; 0 on other systems. field:
-- "VmRSS" (now) or "VmHWM" (the peak since forget_peak).
local function resident(field)
  local file = io.open "/proc/self/status"
  if not file then return 0 end
  local text = file:read "a"
  file:close()
  return (tonumber(text:match(field .. ":%s+(%d+)")) or 0) / 1e6
end

-- Writing 5 to clear_refs sets VmHWM back to VmRSS.
local function forget_peak()
  local file = io.open("/proc/self/clear_refs", "w")
  if file then
    file:write "5"
    file:close()
  end
end

--- measure.once(f): run f once. Returns { seconds = elapsed time, processors = processor seconds of
--- all threads, result = the first result of f, peak = the engine's peak allocation, resident = the
--- peak of the whole process, resident_before = its memory before f }, memory in gigabytes.
function measure.once(f)
  collectgarbage()
  collectgarbage() -- the second round frees objects whose finalizers ran in the first
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

--- measure.best(times, f): as measure.once, over several runs: the minimum of seconds and of
--- processors, the other fields of the last run, and first = the seconds of the first run.
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

--- measure.seconds(times, f): the minimum of the elapsed seconds over several runs.
function measure.seconds(times, f) return measure.best(times, f).seconds end

--- measure.without(switches, f): the result of f() with engine switches (core.bits, core.levels)
--- off; they are on again afterwards, also where f raises an error.
function measure.without(switches, f)
  for _, switch in ipairs(switches) do switch(false) end
  local ok, result = pcall(f)
  for _, switch in ipairs(switches) do switch(true) end
  return ok and result or error(result, 0)
end

-- ------------ rates

local known, size, unshared = {}, 3072, false

--- measure.forget(n[, processors]): discard the measured rates; the next ones are measured with
--- matrices of order n. processors = true: divide each rate by the share of the processors' time
--- that this process got, which estimates the rate of an idle machine.
function measure.forget(n, processors)
  known, size, unshared = {}, n, processors or false
end

-- The share of the processors' time that f(...) got (1 unless the rates are for an idle machine),
-- then up to three results of f.
local function shared(f, ...)
  local began, busy = core.now(), os.clock()
  local a, b, c = f(...)
  local share = (os.clock() - busy) / core.threads() / (core.now() - began)
  return unshared and math.min(share, 1) or 1, a, b, c
end

--- measure.rate(name): a rate of this machine per second, with OpenBLAS on all threads, measured at
--- the first call. gemm_float64, gemm_float32, syrk_float64, syrk_float32, potrf: floating-point
--- operations, where a multiplication and an addition are two and syrk of n rows and n columns
--- counts n^3. memory: bytes read. counts: products of two bits.
function measure.rate(name)
  if known[name] then return known[name] end
  local kind, dtype = name:match "^(%a+)_(float%d+)$"
  if kind then
    local share, rate = shared(core.ceiling, kind, dtype, size)
    known[name] = rate * 1e9 / share
  else -- one call measures the three others
    local share, potrf, memory, counts = shared(core.ceiling_rates, math.min(size, 2048))
    known.potrf, known.memory, known.counts = potrf / share, memory / share, counts / share
  end
  return known[name]
end

--- measure.rates(): all rates by name, in 1e9 per second: GFLOP/s, GB/s and billions of bit
--- products.
function measure.rates()
  local list = {}
  for _, name in ipairs{ "gemm_float64", "gemm_float32", "syrk_float64", "syrk_float32", "potrf",
    "memory", "counts" } do list[name] = measure.rate(name) * 1e-9 end
  return list
end

-- ------------ floors

--- measure.floor: each function returns a lower bound in seconds at the rates of this machine, for
--- n rows, d columns, D features and, where a dtype is given, numbers of that type.
local floor = {}
measure.floor = floor

--- floor.project(dtype, n, d, D): the projection X W, n x d times d x D: 2 n d D operations.
function floor.project(dtype, n, d, D) return 2 * n * d * D / measure.rate("gemm_" .. dtype) end

--- floor.sums(dtype, n, D): Phi'Phi of n x D features: n D^2 operations, by symmetry.
function floor.sums(dtype, n, D) return n * D ^ 2 / measure.rate("syrk_" .. dtype) end

--- floor.counts(n, D): Phi'Phi of features that are single bits: n D^2 / 2 bit products.
function floor.counts(n, D) return n * D ^ 2 / 2 / measure.rate "counts" end

--- floor.factors(D[, times]): Cholesky factorisations of D x D matrices: D^3 / 3 operations each.
function floor.factors(D, times) return (times or 1) * D ^ 3 / 3 / measure.rate "potrf" end

--- floor.read(bytes): one pass over this many bytes of memory.
function floor.read(bytes) return bytes / measure.rate "memory" end

--- floor.sweep(dtype, n, D, c[, bytes]): Phi A and Phi'R for n x D features and c targets, 4 n D c
--- operations, or reading the features where that takes longer. bytes: the size of a stored
--- feature; nil where features are computed again.
function floor.sweep(dtype, n, D, c, bytes)
  return math.max(4 * n * D * c / measure.rate("gemm_" .. dtype),
    bytes and floor.read(bytes * n * D) or 0)
end

--- floor.ridge(dtype, n, d, D): ridge on dense features: projection, Phi'Phi, one factorisation.
function floor.ridge(dtype, n, d, D)
  return (d > 0 and floor.project(dtype, n, d, D) or 0) + floor.sums(dtype, n, D)
    + floor.factors(D)
end

return measure
