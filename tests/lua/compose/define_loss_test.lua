-- sc.loss.define: formulas of a script as losses of sc.solver.erm.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local stepwise = require "stepwise"

local data_of, fit = stepwise.data_of, stepwise.fit
local numbers, labels = stepwise.numbers, stepwise.labels

local function weights_of(m)
  local a = { m:intercept():get(1, 1) }
  for j = 1, 4 do a[#a + 1] = m:weights():get(j, 1) end
  return a
end

local function expect_alike(one, other, task, tolerance)
  local y = task == "classification" and labels or numbers
  local function solved(loss)
    return fit(sc.solver.erm{ loss = loss, lambda = 0.02, tolerance = 1e-9 }, data_of(y, task))
  end
  local m, want = solved(one), weights_of(solved(other))
  for j, a in ipairs(weights_of(m)) do lu.assertAlmostEquals(a, want[j], tolerance) end
  return m
end

local function huber(f, y, o)
  local r = math.abs(f - y)
  return r <= o.delta and r * r / 2 or o.delta * r - o.delta ^ 2 / 2
end

local function huber_slope(f, y, o) return math.max(-o.delta, math.min(o.delta, f - y)) end

function TestValueAndSlope()
  local make = sc.loss.define{ name = "my_huber", value = huber, slope = huber_slope,
    options = { delta = { default = 1, above = 0 } }, lipschitz = function(o) return o.delta end,
    conjugate = function(s, y, o)
      return math.abs(s) <= o.delta and s * y + s * s / 2 or math.huge
    end }
  local m = expect_alike(make{ delta = 0.5 }, sc.loss.huber{ delta = 0.5 }, "regression", 1e-7)
  lu.assertTrue(m:info().gap < 1e-9)
  lu.assertStrContains(tostring(m), "my_huber{delta = 0.5}")
end

-- The slope comes from differences of the value.
function TestValueAlone()
  local make = sc.loss.define{ name = "only_value", value = huber, options = { delta = 0.5 } }
  expect_alike(make{}, sc.loss.huber{ delta = 0.5 }, "regression", 1e-5)
end

function TestKinksProximalStepsAndClasses()
  local function hinge(f, y) return math.max(0, 1 - y * f) end
  local function slope(f, y) return y * f < 1 and -y or 0 end
  sc.loss.define{ name = "my_hinge", value = hinge, slope = slope, kinks = true,
    targets = "classes", lipschitz = 1 }
  sc.loss.define{ name = "near_hinge", value = hinge, slope = slope, kinks = true,
    targets = "classes", lipschitz = 1, proximal = function(z, y, t)
      return y * z >= 1 and z or y * z + t <= 1 and z + t * y or y
    end }
  for _, name in ipairs{ "my_hinge", "near_hinge" } do
    expect_alike(sc.loss[name]{}, sc.loss.hinge{}, "classification", 1e-4)
  end
end

function TestProbabilitiesAndCurvature()
  local make = sc.loss.define{ name = "my_logistic", targets = "classes",
    value = function(f, y) return math.log(1 + math.exp(-y * f)) end,
    slope = function(f, y) return -y / (1 + math.exp(y * f)) end,
    curvature = function(f) return 1 / (2 + math.exp(f) + math.exp(-f)) end,
    probability = function(f) return 1 / (1 + math.exp(-f)) end }
  local m = expect_alike(make{}, sc.loss.logistic{}, "classification", 1e-8)
  local p, f = m:probabilities(stepwise.x4), m:decision(stepwise.x4)
  lu.assertAlmostEquals(p:get(3, 2), 1 / (1 + math.exp(-f:get(3, 1))), 1e-12)
  local odd = sc.loss.define{ name = "odd_logistic", targets = "classes", probability = function()
    return 1.5
  end, value = function(z, y) return math.log(1 + math.exp(-y * z)) end,
    slope = function(z, y) return -y / (1 + math.exp(y * z)) end }
  local other = fit(sc.solver.erm{ loss = odd{}, lambda = 0.1 }, data_of(labels, "classification"))
  lu.assertErrorMsgContains("loss.odd_logistic: a probability of 1.5, not between 0 and 1",
    other.probabilities, other, stepwise.x4)
end

function TestRangeOfTargets()
  local make = sc.loss.define{ name = "positive", low = 0, low_open = true,
    value = function(f, y) return y * math.exp(-f) + f end,
    slope = function(f, y) return 1 - y * math.exp(-f) end }
  lu.assertErrorMsgContains("loss.positive takes targets above 0, and row 1 has -2", fit,
    sc.solver.erm{ loss = make{} }, sc.dataset{ X = sc.randn{ 3, 1, seed = 1 }, y = { -2, 1, 2 },
      task = "regression" })
end

-- ------------ what is refused

function TestASlopeOfAnotherFunction()
  sc.loss.define{ name = "wrong", value = function(f, y) return (f - y) ^ 2 end,
    slope = function(f, y) return f - y end }
  lu.assertErrorMsgContains("the slope at f = -2.3, y = -2 is -0.3, and the value changes by -0.6",
    sc.loss.wrong, {})
end

function TestFields()
  lu.assertErrorMsgContains("needs the field 'value'", sc.loss.define, { name = "empty" })
  lu.assertErrorMsgContains("'targets'", sc.loss.define, { name = "none", targets = "rows",
    value = huber })
end

function TestErrorsOfTheScript()
  local make = sc.loss.define{ name = "fails", value = function() error("no value here") end }
  lu.assertErrorMsgContains("no value here", fit, sc.solver.erm{ loss = make{} },
    data_of(numbers, "regression"))
  local no_number = sc.loss.define{ name = "no_number", value = function() return "three" end }
  lu.assertErrorMsgContains("value", fit, sc.solver.erm{ loss = no_number{} },
    data_of(numbers, "regression"))
  local nan = sc.loss.define{ name = "not_a_number", value = function() return 0 / 0 end }
  lu.assertErrorMsgContains("loss.not_a_number: its value is", fit, sc.solver.erm{ loss = nan{} },
    data_of(numbers, "regression"))
end

os.exit(lu.LuaUnit.run(), true)
