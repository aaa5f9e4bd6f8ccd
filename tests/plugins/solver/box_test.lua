-- Learning in a box |a_t| <= C/T: closed forms, optimality conditions and dual bounds formed from
-- the whole feature matrix.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local ds = sc.data.load("wdbc")
local train, test = ds:split{ test = 0.25, seed = 0 }
local losses = { "square", "hinge", "logistic", "exponential" }

local function sinks(T, dtype)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(),
    T = T or 120, seed = 1, dtype = dtype }
end
local function fit(given, T, dtype)
  return sc.pipeline{ sc.standardize(), sinks(T, dtype), sc.solver.box(given) }:fit(train)
end

local function clip(x, by) return math.max(-by, math.min(by, x)) end

local value = {
  square = function(f, y) return (f - y) ^ 2 / 2 end,
  hinge = function(f, y) return math.max(0, 1 - y * f) end,
  logistic = function(f, y)
    local m = y * f
    return m > 0 and math.log(1 + math.exp(-m)) or math.log(1 + math.exp(m)) - m
  end,
  exponential = function(f, y) return math.exp(-y * f) end,
  squared_hinge = function(f, y) return math.max(0, 1 - y * f) ^ 2 / 2 end,
  huber = function(f, y)
    local r = math.abs(f - y)
    return r <= 1 and r * r / 2 or r - 0.5
  end,
}
local slope = {
  square = function(f, y) return f - y end,
  squared_hinge = function(f, y) return -y * math.max(0, 1 - y * f) end,
  huber = function(f, y) return math.max(-1, math.min(1, f - y)) end,
  logistic = function(f, y) return -y / (1 + math.exp(y * f)) end,
  exponential = function(f, y) return -y * math.exp(-y * f) end,
}

local function objective(loss, x, y, a, b)
  local f, sum = x * a, 0
  for i = 1, x:rows() do sum = sum + value[loss](f:get(i, 1) + b, y:get(i, 1)) end
  return sum / x:rows()
end

-- For a differentiable loss: -gradient in the coefficients, and in the intercept.
local function descent(loss, x, y, a, b)
  local f, r, sum = x * a, {}, 0
  for i = 1, x:rows() do
    r[i] = -slope[loss](f:get(i, 1) + b, y:get(i, 1)) / x:rows()
    sum = sum + r[i]
  end
  return x:t() * sc.matrix(r), sum
end

function TestOrthogonalColumnsAreClipped()
  local x = sc.matrix{ { 1, 1, 1 }, { -1, 1, -1 }, { 1, -1, -1 }, { -1, -1, 1 } } -- x'x = 4 I
  local y = sc.matrix{ 5, 1, 2, -1 }
  local b = x:t() * y * (1 / 4)
  for _, C in ipairs{ 0.3, 3, 6, 30 } do -- no features: T is 3
    local a = sc.pipeline{ sc.solver.box{ C = C, tolerance = 1e-12 } }:fit(x, y):weights()
    for j = 1, 3 do lu.assertAlmostEquals(a:get(j, 1), clip(b:get(j, 1), C / 3), 1e-5) end
  end
end

function TestAWideBoxIsLeastSquares()
  local x = sc.randn{ 60, 5, seed = 1 }
  local y = x:column(2) * 3 + sc.randn{ 60, 1, seed = 2 }
  for _, intercept in ipairs{ false, true } do
    local ridge = sc.pipeline{ sc.solver.ridge{ lambda = 0, intercept = intercept } }:fit(x, y)
    local box = sc.pipeline{ sc.solver.box{ C = 1e6, tolerance = 1e-13,
      intercept = intercept } }:fit(x, y)
    lu.assertTrue((ridge:weights() - box:weights()):abs():max() < 1e-5)
    lu.assertAlmostEquals(ridge:intercept():get(1, 1), box:intercept():get(1, 1), 1e-5)
  end
end

function TestStaysInTheBox()
  for _, loss in ipairs(losses) do
    for _, C in ipairs{ 1, 30, 300 } do
      lu.assertTrue(fit({ C = C, loss = loss }, 300):weights():abs():max() <= C / 300 * (1 + 1e-15))
    end
  end
end

function TestSmoothLossesMeetTheOptimalityConditions()
  -- inside the gradient is 0, at a bound it pushes outwards: all of it in one sum, sum_j C/T |v_j|
  -- - v_j a_j
  local y = train:targets()
  for _, loss in ipairs{ "square", "logistic", "exponential", "squared_hinge", "huber" } do
    for _, case in ipairs{ { 60, 30 }, { 300, 300 }, { 600, 100 } } do
      local T, C = case[1], case[2]
      for _, intercept in ipairs{ false, true } do
        local m = fit({ C = C, loss = loss, tolerance = 1e-10, intercept = intercept }, T)
        lu.assertEquals(m:info().status, "converged")
        local a = m:weights()
        local v, free = descent(loss, m:transform(train.X), y, a, m:intercept():get(1, 1))
        local left, size = v:abs():sum() * C / T - v:dot(a), v:abs():max()
        -- part of the gap, which is at most `tolerance` of about 1 a row
        lu.assertTrue(left < 1e-10 * #train, ("%s, T %d, C %g: %g"):format(loss, T, C, left))
        if intercept then lu.assertTrue(math.abs(free) < 1e-5) end
        for j = 1, T do
          if math.abs(v:get(j, 1)) > 1e-3 * size then
            lu.assertTrue(v:get(j, 1) * a:get(j, 1) > 0)
            lu.assertAlmostEquals(math.abs(a:get(j, 1)), C / T, 1e-4 * C / T)
          end
        end
      end
    end
  end
end

-- The least mean hinge loss of one feature and a constant in a box: it is piecewise linear, so its
-- minimum is at a corner, where two of the lines y (a x + b) = 1 and a = +-c meet (b = any line's,
-- for a at a bound).
local function hinge_corners(x, y, c, with_intercept)
  local n, best = x:rows(), math.huge
  local function try(a, b)
    if math.abs(a) <= c * (1 + 1e-12) then
      best = math.min(best, objective("hinge", x, y, sc.matrix{ a }, b))
    end
  end
  for i = 1, n do
    local xi, yi = x:get(i, 1), y:get(i, 1)
    if not with_intercept then
      try(yi / xi, 0)
    else
      try(c, yi - c * xi)
      try(-c, yi + c * xi)
      for k = 1, i - 1 do
        local xk, yk = x:get(k, 1), y:get(k, 1)
        local a = (yi - yk) / (xi - xk)
        try(a, yi - a * xi)
      end
    end
  end
  if not with_intercept then
    try(c, 0)
    try(-c, 0)
  end
  return best
end

function TestHingeAgainstEveryCorner()
  -- and the same rows many times: other methods, the same mean
  local x, noise, y = sc.randn{ 25, 1, seed = 3 } + 0.5, sc.randn{ 25, 1, seed = 4 }, {}
  for i = 1, 25 do y[i] = x:get(i, 1) + noise:get(i, 1) > 0.8 and 1 or -1 end
  local many, labels = {}, {}
  for i = 0, 1499 do many[i + 1], labels[i + 1] = { x:get(i % 25 + 1, 1) }, y[i % 25 + 1] end
  y, many, labels = sc.matrix(y), sc.matrix(many), sc.matrix(labels)
  for _, c in ipairs{ 0.1, 0.7, 50 } do
    for _, intercept in ipairs{ false, true } do
      local least = hinge_corners(x, y, c, intercept)
      for _, rows in ipairs{ { x, y }, { many, labels } } do
        local m = sc.pipeline{ sc.solver.box{ C = c, loss = "hinge", tolerance = 1e-9,
          intercept = intercept } }
        m:fit(rows[1], rows[2], { task = "classification" })
        lu.assertEquals(m:info().status, "converged")
        lu.assertAlmostEquals(objective("hinge", x, y, m:weights(), m:intercept():get(1, 1)),
          least, 1e-8)
      end
    end
  end
end

function TestHingeMeetsItsDualBound()
  -- any alpha in [0, 1/n] bounds the optimum from below by sum alpha - C/T |x'(y alpha)|_1.
  -- Complementarity tells it from the solution but for the rows on the margin; those solve a least
  -- squares problem for the gradient's free part.
  local y, T, C = train:targets(), 60, 60
  local m = fit({ C = C, loss = "hinge", tolerance = 1e-11 }, T)
  local x, a = m:transform(train.X), m:weights()
  local n, f = x:rows(), x * a
  local inside, margin, alpha = {}, {}, {}
  for j = 1, T do
    if math.abs(a:get(j, 1)) < C / T * (1 - 1e-4) then inside[#inside + 1] = j end
  end
  for i = 1, n do
    local left = 1 - y:get(i, 1) * f:get(i, 1)
    alpha[i] = left > 1e-5 and 1 / n or 0
    if math.abs(left) <= 1e-5 then margin[#margin + 1] = i end
  end
  lu.assertTrue(#margin >= #inside and #inside > 0)
  local signed = sc.matrix(alpha):mul(y)
  local g, rows = x:t() * signed, {}
  for k, j in ipairs(inside) do
    rows[k] = {}
    for l, i in ipairs(margin) do rows[k][l] = x:get(i, j) * y:get(i, 1) end
  end
  local right = {}
  for k, j in ipairs(inside) do right[k] = -g:get(j, 1) end
  local free = sc.pipeline{ sc.solver.ridge{ lambda = 0, intercept = false } }:fit(
    sc.matrix(rows), sc.matrix(right)):weights()
  for l, i in ipairs(margin) do
    alpha[i] = clip(free:get(l, 1) - 1 / (2 * n), 1 / (2 * n)) + 1 / (2 * n)
  end
  local bound = sc.matrix(alpha):sum() - C / T * (x:t() * sc.matrix(alpha):mul(y)):abs():sum()
  lu.assertTrue(objective("hinge", x, y, a, 0) - bound < 1e-5)
end

function TestGapIsHonest()
  local y = train:targets()
  for _, loss in ipairs(losses) do
    local least = value[loss](0, 1)
    local tight = fit{ C = 120, loss = loss, tolerance = 1e-10 }
    local x = tight:transform(train.X)
    local optimum = objective(loss, x, y, tight:weights(), 0)
    for _, tolerance in ipairs{ 0.3, 1e-2, 1e-4 } do
      local m = fit{ C = 120, loss = loss, tolerance = tolerance }
      local info = m:info()
      lu.assertTrue(info.gap <= info.tolerance and info.tolerance == tolerance)
      lu.assertTrue(objective(loss, x, y, m:weights(), 0) - optimum <= (info.gap + 1e-10) * least)
    end
  end
end

-- From where the box holds every weight to where it holds none, on columns that depend on each
-- other. Weights of rows are repetitions.
function TestEveryWidthOfTheBox()
  local x, y, w, rows, labels = sc.randn{ 1100, 4, seed = 6 }, {}, {}, {}, {}
  for i = 1, 1100 do
    y[i] = x:get(i, 1) + x:get(i, 2) ^ 2 > 1.2 and 1 or 0
    w[i] = i % 4
    for _ = 1, w[i] do
      rows[#rows + 1] = { x:get(i, 1), x:get(i, 2), x:get(i, 3), x:get(i, 4) }
      labels[#labels + 1] = y[i]
    end
  end
  local weighted = sc.dataset{ X = x, y = y, weights = w, task = "classification" }
  local repeated = sc.dataset{ X = sc.matrix(rows), y = labels, task = "classification" }
  local steps = sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(),
    T = 80, seed = 1 }
  for _, loss in ipairs{ "hinge", "logistic", "exponential", "squared_hinge", "huber" } do
    for _, C in ipairs{ 0.1, 10, 1e3, 1e6 } do
      for _, intercept in ipairs{ false, true } do
        local function solve(data)
          local m = sc.pipeline{ steps, sc.solver.box{ C = C, loss = loss, intercept = intercept,
            tolerance = 1e-7 } }:fit(data)
          lu.assertEquals(m:info().status, "converged")
          return objective(loss, m:transform(repeated.X), repeated:targets(), m:weights(),
            m:intercept():get(1, 1))
        end
        lu.assertAlmostEquals(solve(weighted), solve(repeated), 2e-7)
      end
    end
  end
end

function TestSmallerBoxesAreNoBetter()
  for _, loss in ipairs(losses) do
    local before = math.huge
    for _, C in ipairs{ 1, 10, 100, 1000 } do
      local m = fit{ C = C, loss = loss, intercept = true }
      lu.assertEquals(m:info().status, "converged")
      local now = objective(loss, m:transform(train.X), train:targets(), m:weights(),
        m:intercept():get(1, 1))
      lu.assertTrue(now <= before + 1e-6)
      before = now
    end
    lu.assertTrue(fit{ C = 300, loss = loss }:score(test) > 0.93)
  end
end

function TestExhaustedIterationsAreSaid()
  for _, loss in ipairs(losses) do
    local m = fit{ C = 300, loss = loss, max_iterations = 2 }
    lu.assertEquals(m:info().status, "iterations exhausted")
    lu.assertTrue(m:info().gap > m:info().tolerance)
    lu.assertEquals(m:info().iterations, 2)
    lu.assertStrContains(m:info().note, "max_iterations")
  end
end

function TestConstantTargetsAreTheIntercept()
  local x = sc.randn{ 40, 3, seed = 1 }
  for _, constant in ipairs{ 3, 0.1, 1e-6 / 7 } do
    local m = sc.pipeline{ sc.solver.box{ intercept = true } }:fit(x, sc.ones(40, 1) * constant)
    lu.assertEquals({ m:info().status, m:info().gap, m:weights():norm() }, { "converged", 0, 0 })
    lu.assertAlmostEquals(m:intercept():get(1, 1) / constant, 1, 1e-14)
  end
end

function TestClassesAreSolvedApart()
  local x, y = sc.randn{ 200, 2, seed = 5 }, {}
  for i = 1, 200 do y[i] = (x:get(i, 1) > 0 and 1 or 0) + (x:get(i, 2) > 0 and 2 or 0) end
  local four = sc.dataset{ X = x, y = y, task = "classification" }
  for _, loss in ipairs(losses) do
    local function solve(data, task)
      local features = sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
        phi = sc.nonlinearity.fourier(), T = 40, seed = 2 }
      return sc.pipeline{ features, sc.solver.box{ C = 400, loss = loss, intercept = true } }:fit(
        data, task)
    end
    local m = solve(four)
    lu.assertEquals(m:info().status, "converged")
    lu.assertTrue(m:score(four) > 0.8)
    lu.assertEquals(m:weights():cols(), 4)
    local second = {}
    for i = 1, 200 do second[i] = y[i] == 1 and 1 or 0 end
    local alone = solve(sc.dataset{ X = x, y = second, task = "classification" })
    lu.assertTrue((m:decision(x):column(2) - alone:decision(x)):abs():max() < 1e-9)
  end
end

function TestDependentColumns()
  local x = sc.randn{ 50, 3, seed = 8 }
  local wide = sc.hcat(x, x, sc.ones(50, 1), sc.zeros(50, 1))
  local y = x:column(1):map(function(v) return v > 0.2 and 1 or -1 end)
  for _, loss in ipairs(losses) do
    for _, intercept in ipairs{ false, true } do
      local m = sc.pipeline{ sc.solver.box{ C = 5, loss = loss, intercept = intercept } }:fit(wide,
        y, { task = "classification" })
      lu.assertEquals(m:info().status, "converged")
    end
  end
end

function TestEqualColumnsShareABound()
  -- columns that stand there three times have C/(3 d) each: the same problem, its Hessian singular
  local y, X = train:targets(), sc.pipeline{ sc.standardize(), sc.solver.ridge() }:fit(train)
    :transform(train.X)
  for _, loss in ipairs{ "square", "logistic", "exponential", "hinge", "squared_hinge",
    "huber" } do
    for _, C in ipairs{ 1, 30, 300 } do
      local means = {}
      for k, columns in ipairs{ X, sc.hcat(X, X, X) } do
        local m = sc.pipeline{ sc.solver.box{ C = C, loss = loss, tolerance = 1e-9 } }:fit(
          columns, y, { task = "classification" })
        lu.assertEquals(m:info().status, "converged")
        local f, sum = m:decision(columns), 0
        for i = 1, f:rows() do sum = sum + value[loss](f:get(i, 1), y:get(i, 1)) end
        means[k] = sum / f:rows()
      end
      lu.assertAlmostEquals(means[1], means[2], 2e-9)
    end
  end
end

function TestBlocksAndThreadsChangeNothing()
  for _, loss in ipairs(losses) do -- the gap leaves the flat directions this much
    support.check_blocks({ { nil, 1 }, { nil, 3 }, { 17, 4 } }, function(block)
      return sc.pipeline{ sc.standardize(), sinks(60), sc.solver.box{ C = 60, loss = loss,
        tolerance = 1e-9 }, block = block }:fit(train)
    end, test, 1e-3)
  end
end

function TestFloat32StatesItsLoss()
  for _, loss in ipairs(losses) do
    local m = fit({ C = 120, loss = loss, tolerance = 1e-4 }, nil, "float32")
    lu.assertEquals(m:info().status, "converged")
    local wide = fit({ C = 120, loss = loss, tolerance = 1e-4 })
    local x, y = wide:transform(train.X), train:targets()
    lu.assertAlmostEquals(objective(loss, x, y, m:weights(), 0),
      objective(loss, x, y, wide:weights(), 0), 1e-3)
  end
end

function TestBadInput()
  lu.assertErrorMsgContains("C", sc.solver.box, { C = 0 })
  lu.assertErrorMsgContains("loss", sc.solver.box, { loss = "absolute" })
  lu.assertErrorMsgContains("tolerance", sc.solver.box, { tolerance = -1 })
  local regression = sc.pipeline{ sc.solver.box{ loss = "hinge" } }
  lu.assertErrorMsgContains("is for classification", regression.fit, regression, sc.randn{ 9, 2 },
    sc.randn{ 9, 1 })
end

os.exit(lu.LuaUnit.run(), true)
