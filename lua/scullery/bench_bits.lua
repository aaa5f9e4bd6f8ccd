--- scullery bench bits: features that take two values, as bits and as numbers, in one run.
local core = require "scullery.core"
local sc = require "scullery"

local bench_bits = {}

-- Seconds by the clock, processor seconds, and the engine's peak in bytes.
local function timed(f)
  collectgarbage()
  collectgarbage()
  core.memory(true)
  local began, busy = core.now(), os.clock()
  local result = f()
  local _, peak = core.memory()
  return core.now() - began, os.clock() - busy, peak, result
end

local function fastest(times, f)
  local clock, busy, peak, result
  for _ = 1, times do
    local took, spent, most, made = timed(f)
    clock, busy = math.min(clock or took, took), math.min(busy or spent, spent)
    peak, result = most, made
  end
  return clock, busy, peak, result
end

local function grams(row, scale)
  local _, way = core.bits()
  for _, features in ipairs{ 1000, 2000, 5000 } do
    local rows = 32768 // scale
    local numbers, bits = core.ceiling_gram(rows, features)
    row(("Phi'Phi of %d x %d bits"):format(rows, features), bits,
      ("float32 numbers %.3f s, %.1f times as long; %.0f G products/s by %s"):format(numbers,
        numbers / bits, rows * features ^ 2 / 2 / bits * 1e-9, way))
  end
end

local function stumps(T)
  return { sc.standardize(), sc.features{ p = sc.sampler.threshold{ sigma = 1 },
    phi = sc.nonlinearity.sign(), T = T, seed = 1, dtype = "float32" } }
end

-- The same fit with bits and with numbers, processor seconds of each.
local function fits(row, what, train, T, solver, times)
  local stages = stumps(T)
  stages[3] = solver
  local p = sc.pipeline(stages)
  local took, busy, peak, model = fastest(times, function() return p:fit(train) end)
  core.bits(false)
  local ok, before, other, most = pcall(fastest, math.max(times - 1, 1), function()
    return p:fit(train)
  end)
  core.bits(true)
  row(what, took, ("%.2f s of processors, engine's peak %.2f GB; as float32 numbers %s; \z
    accuracy in training %.4f"):format(busy, peak / 1e9, ok and ("%.3f s, %.2f s of processors, \z
    %.2f GB"):format(before, other, most / 1e9) or tostring(before), model:score(train)))
end

--- bench_bits.run(row, here, quick): prints by row(what, seconds, note); here(name) says whether a
--- set of data is at hand. A minute or two.
function bench_bits.run(row, here, quick)
  grams(row, quick and 4 or 1)
  if quick then return end
  local ridge = sc.solver.ridge{ lambda = 1e-5 }
  if here("adult") then
    local train = sc.data.load("adult"):parts()
    fits(row, "adult, 1000 stumps, ridge", train, 1000, ridge, 3)
    fits(row, "adult, 1000 stumps, logistic", train, 1000, sc.solver.logistic{ lambda = 1e-5,
      max_iterations = 50 }, 2)
  end
  if here("kddcup10") then
    fits(row, "kddcup10, 2000 stumps, ridge", sc.data.load("kddcup10"), 2000, ridge, 1)
  end
  if here("skin") then
    fits(row, "skin, 5000 stumps, ridge", sc.data.load("skin"), 5000, ridge, 1)
  end
end

return bench_bits
