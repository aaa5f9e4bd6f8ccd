-- my_plugin against its formula, scale^2 log cosh((f - y)/scale), and what sc.solver.erm finds with
-- it.
-- @start@

sc.plugin.load(plugin_path())
local make = sc.loss.my_plugin

-- 60 rows, 2 columns, targets with outliers.
local X, noise = sc.randn{ 60, 2, seed = 1 }, sc.randn{ 60, 1, seed = 2 }
local y = {}
for i = 1, 60 do y[i] = 1 + X:get(i, 1) + noise:get(i, 1) + (i % 10 == 0 and 20 or 0) end
local data = sc.dataset{ X = X, y = y, task = "regression" }
local LAMBDA <const> = 0.01

-- The objective at coefficients a1, a2 and the constant b, by the formula.
local function objective(scale, a1, a2, b)
  local sum = 0
  for i = 1, 60 do
    local r = math.abs((X:get(i, 1) * a1 + X:get(i, 2) * a2 + b - y[i]) / scale)
    sum = sum + scale ^ 2 * (r + math.log((1 + math.exp(-2 * r)) / 2)) / 60
  end
  return sum + LAMBDA / 2 * (a1 ^ 2 + a2 ^ 2)
end

local function fit(options, method)
  local m = sc.pipeline{ sc.solver.erm{ loss = make(options), lambda = LAMBDA, method = method,
    tolerance = 1e-9 } }:fit(data)
  return m, m:weights():get(1, 1), m:weights():get(2, 1), m:intercept():get(1, 1)
end

function TestTheFitIsTheMinimumOfTheFormula()
  for _, scale in ipairs{ 0.2, 1, 5 } do
    local _, a1, a2, b = fit{ scale = scale }
    local least = objective(scale, a1, a2, b)
    for _, by in ipairs{ { 1e-3, 0, 0 }, { 0, 1e-3, 0 }, { 0, 0, 1e-3 } } do
      for _, sign in ipairs{ -1, 1 } do
        lu.assertTrue(objective(scale, a1 + sign * by[1], a2 + sign * by[2], b + sign * by[3])
          > least)
      end
    end
  end
end

function TestMethodsAgree()
  local _, a1, a2, b = fit({}, "newton")
  local _, c1, c2, d = fit({}, "lbfgs")
  lu.assertAlmostEquals(a1, c1, 1e-6)
  lu.assertAlmostEquals(a2, c2, 1e-6)
  lu.assertAlmostEquals(b, d, 1e-6)
end

-- The gap bounds how far the objective is from its least: it needs the conjugate.
function TestTheGapIsSmall()
  local info = fit{}:info()
  lu.assertEquals(info.status, "converged")
  lu.assertTrue(info.gap < 1e-9)
end

-- As the scale grows it tends to the squared error.
function TestTendsToTheSquaredError()
  local _, a1 = fit{ scale = 1e5 }
  local square = sc.pipeline{ sc.solver.ridge{ lambda = LAMBDA } }:fit(data)
  lu.assertAlmostEquals(a1, square:weights():get(1, 1), 1e-6)
end

function TestOptions()
  lu.assertErrorMsgContains("'scale'", make, { scale = 0 })
  lu.assertErrorMsgContains("did you mean 'scale'", make, { scal = 1 })
end

os.exit(lu.LuaUnit.run())
