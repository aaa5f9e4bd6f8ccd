-- sc.optimize: the least value of a function by Thompson sampling.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local square = { { -1, 2 }, { -2, 1 } }
local function bowl(x) return (x[1] - 0.3) ^ 2 + 2 * (x[2] + 0.4) ^ 2 + 1 end

-- Better than random search on the mean of some seeds, and near the minimum.
function TestNearTheMinimum()
  local sums = { thompson = 0, random = 0 }
  for seed = 1, 3 do
    for method in pairs(sums) do
      local found = sc.optimize{ f = bowl, box = square, rounds = 15, seed = seed,
        method = method, T = 100 }
      sums[method] = sums[method] + found.value - 1
      lu.assertEquals(found.value, bowl(found.x))
    end
  end
  lu.assertTrue(sums.thompson < 0.06)
  lu.assertTrue(sums.thompson < 0.5 * sums.random)
end

-- The trace has every call in its order; the best so far never grows.
function TestTraceAndRepeat()
  local calls = {}
  local function f(x)
    calls[#calls + 1] = x
    return bowl(x)
  end
  local given = { f = f, box = square, rounds = 9, seed = 2, T = 50 }
  local found = sc.optimize(given)
  lu.assertEquals({ #calls, #found.trace, found.rounds }, { 9, 9, 9 })
  local best = math.huge
  for i, step in ipairs(found.trace) do
    lu.assertEquals(step.x, calls[i])
    best = math.min(best, step.value)
    lu.assertEquals(step.best, best)
    for j, side in ipairs(square) do
      lu.assertTrue(step.x[j] >= side[1] and step.x[j] <= side[2])
    end
  end
  lu.assertEquals(found.value, best)
  lu.assertEquals(sc.optimize(given).trace, found.trace)
  lu.assertStrContains(tostring(found), "9 values of the function, by Thompson sampling")
end

-- Named sides, logarithms, whole numbers, and the greatest value.
function TestSides()
  local found = sc.optimize{ f = function(x)
    lu.assertEquals(math.type(x.depth), "integer")
    return -math.log(x.rate / 1e-3, 10) ^ 2 - (x.depth - 3) ^ 2
  end, box = { rate = { 1e-6, 1, log = true }, depth = { 1.0, 8, integer = true } }, rounds = 20,
    maximize = true, T = 100 }
  lu.assertEquals(found.x.depth, 3)
  lu.assertTrue(found.value > -0.3 and found.value <= 0)
  lu.assertEquals(found.trace[20].best, found.value)
end

-- A function that is constant, noisy, or of the largest numbers.
function TestConstantAndNoise()
  lu.assertEquals(sc.optimize{ f = function(x) return x[1] > 0 and 1.7e308 or -1.7e308 end,
    box = square, rounds = 6, T = 20 }.value, -1.7e308)
  lu.assertEquals(sc.optimize{ f = function() return 7 end, box = square, rounds = 6,
    T = 20 }.value, 7)
  local noise, i = sc.randn{ 20, 1, seed = 1 }, 0
  local found = sc.optimize{ f = function(x)
    i = i + 1
    return bowl(x) + 0.05 * noise:get(i, 1)
  end, box = square, rounds = 20, T = 100 }
  lu.assertTrue(bowl(found.x) < 1.3)
end

function TestWhatItRefuses()
  local function optimize(given)
    given.f, given.rounds = given.f or bowl, given.rounds or 3
    return function() sc.optimize(given) end
  end
  fails({ "optimize", "'f' is missing" }, sc.optimize, { box = square, rounds = 3 })
  fails({ "side 1", "takes { low, high }" }, optimize{ box = { 1, 2 } })
  fails({ "side 2", "from 1 to 1" }, optimize{ box = { { 0, 1 }, { 1, 1 } } })
  fails({ "side a", "above 0" }, optimize{ box = { a = { 0, 1, log = true } } })
  fails({ "side a", "not whole numbers" }, optimize{ box = { a = { 0.5, 1, integer = true } } })
  fails({ "side a", "'lg'" }, optimize{ box = { a = { 0.5, 1, lg = true } } })
  fails({ "with and without names" }, optimize{ box = { { 0, 1 }, a = { 0, 1 } } })
  fails({ "no sides" }, optimize{ box = {} })
  fails({ "must give a finite number", "nan" }, optimize{ box = square,
    f = function() return 0 / 0 end })
  fails({ "rounds" }, optimize{ box = square, rounds = 0 })
  fails({ "my own error" }, optimize{ box = square, f = function() error "my own error" end })
end

os.exit(lu.LuaUnit.run(), true)
