-- Lasso and elastic net: closed forms, optimality conditions formed from the whole feature matrix,
-- paths, honest gaps.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local recipe = require "scullery.model.recipe"
local support = dofile("tests/helpers/support.lua")

local ds = sc.data.load("wdbc")
local train, test = ds:split{ test = 0.25, seed = 0 }

local function sinks(T, dtype)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(),
    T = T or 120, seed = 1, dtype = dtype }
end
local function fit(given, T, dtype)
  return sc.pipeline{ sc.standardize(), sinks(T, dtype), sc.solver.lasso(given) }:fit(train)
end

local function soft(x, by) return x > by and x - by or x < -by and x + by or 0 end
local function nonzeros(a) return a:map(function(v) return v ~= 0 and 1 or 0 end):sum() end

-- (1/2n) ||X a + b - y||^2 + lambda (ratio |a|_1 + (1 - ratio)/2 |a|^2)
local function objective(x, y, a, b, lambda, ratio)
  local r = x * a - y + (b or 0)
  return r:norm() ^ 2 / (2 * x:rows()) + lambda * (
    ratio * a:abs():sum() + (1 - ratio) / 2 * a:norm() ^ 2)
end

-- By how much the optimality conditions fail, as a share of the l1 weight: x'r/n - l2 a = l1
-- sign(a), or within l1 where a = 0.
local function violation(x, y, a, b, lambda, ratio)
  local l1, worst = lambda * ratio, 0
  local g = x:t() * (y - x * a - (b or 0)) * (1 / x:rows()) - a * (lambda * (1 - ratio))
  for j = 1, a:rows() do
    local v, w = g:get(j, 1), a:get(j, 1)
    worst = math.max(worst, w == 0 and math.abs(v) - l1 or math.abs(v - (w > 0 and l1 or -l1)))
  end
  return worst / l1
end

-- Plain coordinate descent, many sweeps: the reference for small problems.
local function reference(x, y, lambda, ratio, sweeps)
  local n, d, a, r = x:rows(), x:cols(), {}, {}
  for j = 1, d do a[j] = 0 end
  for i = 1, n do r[i] = y:get(i, 1) end
  local columns, squares = {}, {}
  for j = 1, d do
    columns[j], squares[j] = {}, 0
    for i = 1, n do
      columns[j][i] = x:get(i, j)
      squares[j] = squares[j] + x:get(i, j) ^ 2 / n
    end
  end
  for _ = 1, sweeps do
    for j = 1, d do
      local inner = squares[j] * a[j]
      for i = 1, n do inner = inner + columns[j][i] * r[i] / n end
      local new = soft(inner, lambda * ratio) / (squares[j] + lambda * (1 - ratio))
      for i = 1, n do r[i] = r[i] - columns[j][i] * (new - a[j]) end
      a[j] = new
    end
  end
  return sc.matrix(a)
end

function TestOrthogonalColumnsAreSoftThresholded()
  local x = sc.matrix{ { 1, 1, 1 }, { -1, 1, -1 }, { 1, -1, -1 }, { -1, -1, 1 } } -- x'x = 4 I
  local y = sc.matrix{ 5, 1, 2, -1 }
  local b = x:t() * y * (1 / 4)
  for _, ratio in ipairs{ 1, 0.5 } do
    for _, lambda in ipairs{ 0.01, 0.3, 1, 2 } do
      local a = sc.pipeline{ sc.solver.lasso{ lambda = lambda, l1_ratio = ratio,
        tolerance = 1e-14 } }:fit(x, y):weights()
      for j = 1, 3 do
        lu.assertAlmostEquals(a:get(j, 1),
          soft(b:get(j, 1), lambda * ratio) / (1 + lambda * (1 - ratio)), 1e-12)
      end
    end
  end
end

function TestMeetsTheOptimalityConditions()
  local y = train:targets()
  for _, T in ipairs{ 60, 300, 600 } do -- 600: more features than rows
    for _, case in ipairs{ { 1e-2, 1 }, { 1e-4, 1 }, { 1e-6, 1 }, { 1e-3, 0.3 }, { 1e-5, 0.9 } } do
      for _, intercept in ipairs{ false, true } do
        local m = fit({ lambda = case[1], l1_ratio = case[2], tolerance = 1e-10,
          intercept = intercept }, T)
        lu.assertEquals(m:info().status, "converged")
        local bad = violation(m:transform(train.X), y, m:weights(), m:intercept():get(1, 1),
          case[1], case[2])
        lu.assertTrue(bad < 1e-3, ("T %d, lambda %g, l1_ratio %g: %g"):format(T, case[1], case[2],
          bad))
      end
    end
  end
end

function TestAgreesWithPlainCoordinateDescent()
  local x = sc.randn{ 40, 8, seed = 3 }
  local y = x:column(1) * 2 - x:column(5) + sc.randn{ 40, 1, seed = 4 } * 0.5
  for _, case in ipairs{ { 0.3, 1 }, { 0.01, 1 }, { 0.1, 0.5 } } do
    local m = sc.pipeline{ sc.solver.lasso{ lambda = case[1], l1_ratio = case[2],
      tolerance = 1e-13, intercept = false } }:fit(x, y)
    lu.assertTrue((m:weights() - reference(x, y, case[1], case[2], 300)):abs():max() < 1e-7)
  end
end

function TestGapIsHonest()
  -- no point is better by more than the gap says; the tight solution stands in for the optimum, its
  -- own gap added
  local y = train:targets()
  for _, lambda in ipairs{ 1e-2, 1e-3, 1e-4 } do
    local tight = fit{ lambda = lambda, tolerance = 1e-12 }
    local x = tight:transform(train.X)
    local least = y:norm() ^ 2 / (2 * y:rows())
    local optimum = objective(x, y, tight:weights(), 0, lambda, 1)
    for _, tolerance in ipairs{ 0.1, 1e-3, 1e-6 } do
      local m = fit{ lambda = lambda, tolerance = tolerance }
      local info = m:info()
      lu.assertTrue(info.gap <= info.tolerance)
      lu.assertTrue(objective(x, y, m:weights(), 0, lambda, 1) - optimum <= (
        info.gap + 1e-12) * least)
    end
  end
end

function TestExhaustedIterationsAreSaid()
  local m = fit{ lambda = 1e-5, max_iterations = 1, tolerance = 1e-9 }
  lu.assertEquals(m:info().status, "iterations exhausted")
  lu.assertTrue(m:info().gap > m:info().tolerance)
end

-- Of several targets the note is that of the worst one, wherever it stands.
function TestTheNoteIsOfTheWorstTarget()
  local easy, hard = sc.zeros(200, 1), sc.randn{ 200, 1, seed = 2 }
  local rows = sc.randn{ 200, 30, seed = 1 }
  for _, targets in ipairs{ sc.hcat(hard, easy), sc.hcat(easy, hard) } do
    local m = sc.pipeline{ sc.solver.lasso{ lambda = 1e-6, max_iterations = 1 } }
      :fit(rows, targets, { task = "regression" })
    lu.assertStrContains(m:info().note, "give more max_iterations")
  end
end

function TestPathIsTheSingleSolutions()
  local p = sc.pipeline{ sc.standardize(), sinks(), sc.solver.lasso{ tolerance = 1e-12 } }
  local prepared = recipe.prepare(p, dataset.source_of_targets(train))
  local training = core.training(dataset.source_of_targets(train), prepared.stages, prepared.map,
    recipe.training_options(p, train))
  local values = { 1e-3, 1e-2, 3e-5, 1, 1e-4 } -- in no order
  local fits = core.solve(training, component.instance(p.solver), nil, values)
  for k, lambda in ipairs(values) do
    local single = fit{ lambda = lambda, tolerance = 1e-12 }
    lu.assertEquals(fits[k].status, "converged")
    lu.assertEquals(nonzeros(fits[k].weights), nonzeros(single:weights()))
    lu.assertTrue((fits[k].weights - single:weights()):abs():max() < 1e-6)
  end
end

function TestSearchGoesDownThePath()
  local p = sc.pipeline{ sc.standardize(), sinks(),
    sc.solver.lasso{ lambda = sc.choose{ 1e-5, 1e-4, 1e-3, 1e-2 } } }
  local best = p:search(train, { folds = 3, seed = 0 })
  lu.assertTrue(best:score(test) > 0.93)
end

function TestTheLargestLambdaThatMatters()
  local x = sc.randn{ 50, 6, seed = 1 }
  local y = sc.randn{ 50, 1, seed = 2 }
  local top = (x:t() * y):abs():max() / 50
  local function count(lambda)
    return nonzeros(sc.pipeline{ sc.solver.lasso{ lambda = lambda, intercept = false } }:fit(x,
      y):weights())
  end
  lu.assertEquals(count(top * 1.0001), 0)
  lu.assertEquals(count(top * 0.98), 1)
end

function TestElasticNetEndsInRidge()
  local ridge = sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-3 } }:fit(
    train):weights()
  local net = fit{ lambda = 1e-3, l1_ratio = 0, tolerance = 1e-14 }:weights()
  lu.assertTrue((ridge - net):abs():max() < 1e-8)
end

function TestInterceptIsUnpenalised()
  local x = sc.randn{ 80, 3, seed = 1 }
  local y = x:column(1) * 2 - x:column(2)
  local function solve(shift)
    return sc.pipeline{ sc.solver.lasso{ lambda = 0.1, intercept = true, tolerance = 1e-13 } }:fit(
      x, y + shift)
  end
  local plain, moved = solve(0), solve(1000)
  lu.assertTrue((plain:weights() - moved:weights()):abs():max() < 1e-9)
  lu.assertAlmostEquals(moved:intercept():get(1, 1) - plain:intercept():get(1, 1), 1000, 1e-8)
end

function TestTargetsAreSolvedApart()
  local x = sc.randn{ 60, 10, seed = 5 }
  local y = x:slice(1, 60, 1, 3) * 2 + sc.randn{ 60, 3, seed = 6 }
  local function weights(targets)
    return sc.pipeline{ sc.solver.lasso{ lambda = 0.2, tolerance = 1e-13 } }:fit(x,
      targets):weights()
  end
  local all = weights(y)
  for k = 1, 3 do
    lu.assertTrue((all:column(k) - weights(y:column(k):copy())):abs():max() < 1e-10)
  end
end

function TestSeveralClasses()
  local x, y = sc.randn{ 300, 2, seed = 5 }, {}
  for i = 1, 300 do y[i] = (x:get(i, 1) > 0 and 1 or 0) + (x:get(i, 2) > 0 and 2 or 0) end
  local four = sc.dataset{ X = x, y = y, task = "classification" }
  local m = sc.pipeline{ sinks(), sc.solver.lasso{ lambda = 1e-4, intercept = true } }
  lu.assertTrue(m:fit(four):score(four) > 0.8)
  lu.assertEquals(m:weights():cols(), 4)
end

function TestDependentAndConstantColumns()
  -- twins, a sum of others, a constant and zeros: many solutions, one objective
  local x = sc.randn{ 50, 3, seed = 8 }
  local wide = sc.hcat(x, x, x:column(1) + x:column(2), sc.ones(50, 1) * 3, sc.zeros(50, 1))
  local y = x:column(1) - x:column(3) * 0.5 + sc.randn{ 50, 1, seed = 9 } * 0.1
  for _, intercept in ipairs{ false, true } do
    local m = sc.pipeline{ sc.solver.lasso{ lambda = 1e-3, tolerance = 1e-12,
      intercept = intercept } }:fit(wide, y)
    lu.assertEquals(m:info().status, "converged")
    local bad = violation(wide, y, m:weights(), m:intercept():get(1, 1), 1e-3, 1)
    lu.assertTrue(bad < 1e-3, bad)
  end
end

function TestConstantTargets()
  local x = sc.randn{ 20, 3, seed = 8 }
  local m = sc.pipeline{ sc.solver.lasso{ lambda = 1e-3, intercept = true } }:fit(x,
    sc.ones(20, 1) * 4)
  lu.assertTrue(m:weights():abs():max() < 1e-12)
  lu.assertAlmostEquals(m:intercept():get(1, 1), 4, 1e-12)
  m = sc.pipeline{ sc.solver.lasso{ lambda = 1e-3 } }:fit(x, sc.zeros(20, 1))
  lu.assertEquals(m:info().status, "converged")
  lu.assertEquals(m:weights():abs():max(), 0.0)
end

function TestStreamingInBlocksAndThreadsChangeNothing()
  support.check_blocks({ { nil, 1 }, { nil, 3 }, { 17, 4 }, { 100, 2 } }, function(block)
    return sc.pipeline{ sc.standardize(), sinks(), sc.solver.lasso{ lambda = 1e-4 },
      block = block }:fit(train)
  end, test, 1e-8)
end

function TestStreamedRows()
  local streamed = sc.pipeline{ sc.standardize(), sinks(), sc.solver.lasso{ lambda = 1e-4 },
    block = 50 }:fit(support.streamed(train))
  lu.assertTrue(
    (streamed:decision(test.X) - fit{ lambda = 1e-4 }:decision(test)):abs():max() < 1e-8)
end

function TestFloat32StatesItsLoss()
  local wide, narrow = fit{ lambda = 1e-3 }, fit({ lambda = 1e-3 }, nil, "float32")
  lu.assertEquals(narrow:info().status, "converged")
  lu.assertTrue((wide:decision(test) - narrow:decision(test)):abs():max() < 1e-3)
end

function TestBadOptions()
  lu.assertErrorMsgContains("lambda", sc.solver.lasso, { lambda = 0 })
  lu.assertErrorMsgContains("lambda", sc.solver.lasso, { lambda = -1 })
  lu.assertErrorMsgContains("l1_ratio", sc.solver.lasso, { l1_ratio = 1.5 })
  lu.assertErrorMsgContains("tolerance", sc.solver.lasso, { tolerance = 0 })
  lu.assertErrorMsgContains("max_iterations", sc.solver.lasso, { max_iterations = 0 })
end

-- Rounded to float32, the sums of features of low rank are those of no rows: the least that lambda
-- must hold up against.
function TestALambdaBelowTheRoundingOfTheSumsIsSaid()
  local x, y = sc.randn{ 40, 3, seed = 1 }, {}
  for i = 1, 40 do
    y[i] = x:get(i, 1) + 0.5 * x:get(i, 2)
    x:set(i, 2, 5)
  end
  local function fit_in(dtype)
    return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
      phi = sc.nonlinearity.fourier(), T = 20, seed = 1, dtype = dtype },
                        sc.solver.lasso{ lambda = 1e-10 } }:fit(x, sc.matrix(y))
  end
  local lost, found = fit_in("float32"), fit_in("float64")
  lu.assertEquals({ lost:info().status, found:info().status },
    { "iterations exhausted", "converged" })
  lu.assertStrContains(lost:info().note, "float64 features")
  lu.assertTrue(found:decision(x):abs():max() < 5)
end

os.exit(lu.LuaUnit.run(), true)
