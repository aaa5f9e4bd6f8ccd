-- Stochastic descents of weight functions (sfgd, optimal_stepsize), against the algorithms of the
-- paper written out, with the same draws.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local stepwise = require "stepwise"

local wdbc = sc.data.load("wdbc")
local train, test = wdbc:split{ test = 0.25, seed = 0 }
local data_of, fit, sinks = stepwise.data_of, stepwise.fit, stepwise.sinks
local inst, s, g = stepwise.inst, stepwise.s, stepwise.g
local zeros, rows_of, total = stepwise.zeros, stepwise.rows_of, stepwise.total
local x4, numbers, labels = stepwise.x4, stepwise.numbers, stepwise.labels
local heavy, ones = stepwise.heavy, stepwise.ones

-- ------------ computations of their own

local function normal_cdf(v)
  if math.abs(v) > 6 then return v > 0 and 1 or 0 end
  local term, sum, k = v, v, 1
  while math.abs(term) > 1e-17 do
    k = k + 2
    term = term * v * v / k
    sum = sum + term
  end
  return 0.5 + sum * math.exp(-v * v / 2) / math.sqrt(2 * math.pi)
end

local MINIBATCH = 34 -- the stream that rows of minibatches are drawn from
local function drawn(seed, step, size, n)
  local list = {}
  for i = 1, size do
    list[i] = math.floor(normal_cdf(core.normal(seed, MINIBATCH, step, i - 1)) * n) + 1
  end
  return list
end

local function stumps(T)
  local list, feats = {}, inst:features{ T = T, seed = 5 }
  local rows = feats:fit(x4):parameters():totable()
  for t = 1, T do list[t] = { i = math.tointeger(rows[t][1]), t = rows[t][2] } end
  return list
end

local function K(u, v) return u.i == v.i and math.exp(-(u.t - v.t) ^ 2 / (2 * g * g)) or 0 end
local function phi(w, x) return x[w.i] >= w.t and 1 or -1 end
local function expected(w, x)
  local z, shrunk = s * g / math.sqrt(s * s + g * g), w.t * s * s / (s * s + g * g)
  local erf = 2 * normal_cdf((x[w.i] - shrunk) / z) - 1
  return z / (s * 4) * math.exp(-w.t ^ 2 / (2 * (s * s + g * g))) * erf
end

local slopes = {
  square = function(f, y) return f - y end,
  logistic = function(f, y) return -y / (1 + math.exp(y * f)) end,
  hinge = function(f, y) return y * f < 1 and -y or 0 end,
  huber = function(f, y) return math.max(-0.3, math.min(0.3, f - y)) end,
}

local function norm_of(ws, a)
  local sum = 0
  for j = 1, #ws do for k = 1, #ws do sum = sum + a[j] * a[k] * K(ws[j], ws[k]) end end
  return math.sqrt(sum)
end

local function score_of(ws, a, x)
  local sum = 0
  for k = 1, #ws do if a[k] ~= 0 then sum = sum + a[k] * expected(ws[k], x) end end
  return sum
end

-- Algorithm 1 as it is printed, the norm formed anew at each step.
local function plain_sfgd(o, w)
  local ws, a, mean, rows = stumps(o.T), zeros(o.T), zeros(o.T), rows_of(x4)
  local unit, touched = total(w) / 60, 0
  for t = 1, o.T do
    local b, list = 0, drawn(o.seed, t - 1, o.batch, 60)
    for _, i in ipairs(list) do
      b = b + w[i] / unit * slopes[o.loss](score_of(ws, a, rows[i]), labels[i]) * phi(ws[t],
        rows[i]) / o.batch
    end
    for k = 1, t do a[k] = a[k] * (1 - 1 / t) end
    a[t] = -b / (o.lambda * t)
    local norm = norm_of(ws, a)
    if norm > o.B then
      touched = touched + 1
      for k = 1, t do a[k] = a[k] * o.B / norm end
    end
    for k = 1, t do mean[k] = mean[k] + a[k] / (o.T + 1) end
  end
  return ws, mean, touched
end

-- Algorithm 2 with the shrink of equation (44), its root by halving.
local function plain_optimal(o, w)
  local ws, a, rows = stumps(o.T), zeros(o.T), rows_of(x4)
  local unit = total(w) / 60
  for t = 1, o.T do
    local list, f, own, at = drawn(o.seed, t - 1, o.batch, 60), {}, {}, 0
    for k, i in ipairs(list) do
      f[k], own[k] = (1 - o.lambda) * score_of(ws, a, rows[i]), expected(ws[t], rows[i])
    end
    for k = 1, t - 1 do at = at + a[k] * K(ws[k], ws[t]) end
    local function derivative(eta)
      local sum = o.lambda * ((1 - o.lambda) * at + eta * K(ws[t], ws[t]))
      for k, i in ipairs(list) do
        sum = sum + w[i] / unit / o.batch * slopes[o.loss](f[k] + eta * own[k], labels[i]) * own[k]
      end
      return sum
    end
    local low, high = -1e6, 1e6
    for _ = 1, 200 do
      local middle = (low + high) / 2
      if derivative(middle) < 0 then low = middle else high = middle end
    end
    for k = 1, t - 1 do a[k] = a[k] * (1 - o.lambda) end
    a[t] = (low + high) / 2
  end
  return ws, a
end

local function same_function(m, ws, a, what)
  local f, rows, most, worst = m:decision(x4), rows_of(x4), 0, 0
  for i = 1, 60 do
    local want = score_of(ws, a, rows[i])
    most, worst = math.max(most, math.abs(want)), math.max(worst, math.abs(want - f:get(i, 1)))
  end
  lu.assertTrue(most > 0 and worst < 1e-7 * most, ("%s: off by %g of %g"):format(what, worst, most))
  lu.assertAlmostEquals(m:norm() / norm_of(ws, a), 1, 1e-7)
end

-- ------------ properties

function TestSfgdIsAlgorithm1()
  for _, w in ipairs{ ones, heavy } do
    for _, loss in ipairs{ "square", "logistic", "hinge", "huber" } do
      for _, B in ipairs{ 1000, 0.2 } do
        local o = { lambda = 0.05, B = B, batch = 15, seed = 9, loss = loss, T = 25 }
        local m = fit(sc.solver.sfgd{ lambda = 0.05, B = B, batch = 15, seed = 9, loss = loss,
          delta = 0.3 }, data_of(labels, "classification", w),
          { inst:features{ T = 25, seed = 5 } })
        lu.assertEquals(m:info().status, "stopped")
        local ws, a, touched = plain_sfgd(o, w)
        lu.assertTrue((touched > 0) == (B == 0.2))
        same_function(m, ws, a, "sfgd, " .. loss)
        lu.assertTrue(m:norm() <= B)
      end
    end
  end
end

function TestAutomaticLambdaIsThatOfEquation75()
  -- sqrt(8 rho^2/(B^2 m)), rho the steepest slope where |f| <= B theta, and |y| = 1; all thresholds
  -- agree far out, so that theta^2 = E K = (1 + 2 s^2/g^2)^(-1/2)/4 of four columns
  local theta = math.sqrt((1 + 2 * s * s / (g * g)) ^ -0.5 / 4)
  for _, B in ipairs{ 0.5, 20 } do
    local steepest = { square = B * theta + 1, logistic = 1 / (1 + math.exp(-B * theta)),
      hinge = 1, huber = math.min(0.3, B * theta + 1) }
    for loss, rho in pairs(steepest) do
      local function descent(lambda)
        return fit(sc.solver.sfgd{ lambda = lambda, B = B, batch = 15, loss = loss, delta = 0.3 },
          data_of(labels, "classification"), { inst:features{ T = 25, seed = 5 } })
      end
      local wanted, m = math.sqrt(8 * rho ^ 2 / (B ^ 2 * 60)), descent "auto"
      local other = descent(wanted):decision(x4)
      lu.assertTrue((m:decision(x4) - other):abs():max() <= 1e-9 * other:abs():max(), loss)
      lu.assertStrContains(m:info().note, ("lambda = %.6g;"):format(wanted))
      lu.assertAlmostEquals(m:bound{ theorem = "rkhsw11" }.lambda / wanted, 1, 1e-9)
    end
  end
end

function TestOptimalStepsizeIsAlgorithm2()
  for _, w in ipairs{ ones, heavy } do
    for _, loss in ipairs{ "square", "logistic", "hinge", "huber" } do
      local o = { lambda = 1e-3, batch = 15, seed = 9, loss = loss, T = 25 }
      local m = fit(sc.solver.optimal_stepsize{ lambda = 1e-3, batch = 15, seed = 9, loss = loss,
        delta = 0.3 }, data_of(labels, "classification", w),
        { inst:features{ T = 25, seed = 5 } })
      lu.assertEquals(m:info().status, "stopped")
      local ws, a = plain_optimal(o, w)
      same_function(m, ws, a, "optimal_stepsize, " .. loss)
    end
  end
end

function TestWithoutKItIsDoublyStochasticGradients()
  -- Features and minibatches are drawn apart from the function, so that the mean over draws is
  -- gradient descent with the exact kernel (sign features: 1 - 2 angle/pi, k(x, x) = 1), which ends
  -- at kernel ridge regression: of two targets at once.
  local n, lambda, draws, gram, last = 30, 0.02, 100, {}, math.huge
  local X = sc.randn{ n, 3, seed = 3 }
  local y = sc.hcat(X:column(1):map(math.sin) + X:column(2) * 0.5, X:column(3))
  for i = 1, n do
    gram[i] = {}
    for j = 1, n do
      local r = X:row(i):dot(X:row(j)) / (X:row(i):norm() * X:row(j):norm())
      gram[i][j] = 1 - 2 * math.acos(math.max(-1, math.min(1, r))) / math.pi
    end
  end
  gram = sc.matrix(gram)
  local exact = y * 0
  for _ = 1, 1000 do exact = exact - (gram * (exact - y) / n + exact * lambda) * 0.9 end
  for _, T in ipairs{ 30, 240 } do
    local F, wanted, sum, squares, off = y * 0, y * 0, y * 0, y * 0, 0
    for t = 1, T do
      local eta = 1 / (lambda * t + 2)
      F = F * (1 - lambda * eta) - gram * (F - y) * (eta / n)
      wanted = wanted + F / (T + 1)
    end
    for r = 1, draws do
      local p = sc.pipeline{ sc.features{ phi = sc.nonlinearity.sign(), T = T, seed = r,
        p = sc.sampler.gaussian{ sigma = 1 } },
        sc.solver.sfgd{ lambda = lambda, batch = 15, seed = r } }
      local f = p:fit(X, y):predict(X)
      sum, squares = sum + f, squares + f:mul(f)
      off = off + (f - exact):mul(f - exact):mean() / draws
    end
    local mean, worst = sum / draws, 0
    for i = 1, n do
      for j = 1, 2 do
        local variance = (squares:get(i, j) / draws - mean:get(i, j) ^ 2) / (draws - 1)
        worst = math.max(worst,
          math.abs(mean:get(i, j) - wanted:get(i, j)) / math.sqrt(variance))
      end
    end
    lu.assertTrue(worst < 5, ("T = %d: %g standard errors off"):format(T, worst))
    lu.assertTrue(off < last / 4, ("T = %d: %g from the exact solution"):format(T, off))
    last = off
  end
end

function TestSeveralColumns()
  -- square: classes and targets do not meet, but for the bound of sfgd
  local y = {}
  for i = 1, 60 do y[i] = i % 3 end
  for name, given in pairs{ sfgd = { batch = 20, seed = 1, lambda = 1e-2 },
    optimal_stepsize = { batch = 20, seed = 1, lambda = 1e-2 } } do
    local m = fit(sc.solver[name](given), data_of(y, "classification"),
      { inst:features{ T = 30, seed = 5 } })
    lu.assertEquals(m:weights():cols(), 3)
    for c = 0, 2 do
      local one = {}
      for i = 1, 60 do one[i] = y[i] == c and 1 or -1 end
      local alone = fit(sc.solver[name](given), data_of(one, "classification"),
        { inst:features{ T = 30, seed = 5 } })
      lu.assertTrue(
        (m:decision(x4):column(c + 1) - alone:decision(x4)):abs():max() < 1e-8 * alone:decision(
          x4):abs():max(), name)
    end
  end
  local joint = fit(sc.solver.sfgd{ B = 0.5, lambda = 1e-3, loss = "logistic", batch = 20 },
    data_of(y, "classification"), { inst:features{ T = 30, seed = 5 } })
  lu.assertTrue(joint:norm() <= 0.5 and joint:norm() > 0)
end

function TestSoftmaxStepsAreStationary()
  -- one step from 0: the gradient in all three etas vanishes
  local y, lambda = {}, 0.01
  for i = 1, 60 do y[i] = i % 3 end
  local m = fit(sc.solver.optimal_stepsize{ lambda = lambda, batch = 20, seed = 4,
    loss = "logistic", iterations = 1 }, data_of(y, "classification"),
    { inst:features{ T = 3, seed = 5 } })
  local w, rows, f, gradient = stumps(3)[1], rows_of(x4), m:decision(x4), { 0, 0, 0 }
  for _, i in ipairs(drawn(4, 0, 20, 60)) do
    local all = 0
    for c = 1, 3 do all = all + math.exp(f:get(i, c)) end
    for c = 1, 3 do
      gradient[c] = gradient[c] + (math.exp(f:get(i, c)) / all - (y[i] == c - 1 and 1
        or 0)) * expected(w, rows[i]) / 20
    end
  end
  for c = 1, 3 do
    local eta = f:get(1, c) / expected(w, rows[1])
    lu.assertAlmostEquals(gradient[c] + lambda * eta * K(w, w), 0, 1e-9)
  end
  lu.assertEquals(m:weights():row(2):norm() + m:weights():row(3):norm(), 0)
end

function TestDescentsLowerTheRisk()
  for name, given in pairs{ sfgd = { lambda = 1e-3, batch = 50 },
    optimal_stepsize = { batch = 50 } } do
    local function error_of(T)
      return fit(sc.solver[name](given), train,
        { sc.standardize(), inst:features{ T = T, seed = 1 } }):error(test)
    end
    lu.assertTrue(error_of(400) < 0.1)
    lu.assertTrue(error_of(400) <= error_of(3))
  end
end

function TestDescentsRefuse()
  local function tries(solver, feats, y, task)
    local p = sc.pipeline{ feats or inst:features{ T = 20, seed = 5 }, solver }
    return function() p:fit(data_of(y or labels, task or "classification")) end
  end
  for _, name in ipairs{ "sfgd", "optimal_stepsize" } do
    local make = sc.solver[name]
    lu.assertErrorMsgContains("batch = 61", tries(make{ batch = 61 }))
    lu.assertErrorMsgContains("iterations = 21", tries(make{ iterations = 21, batch = 10 }))
    lu.assertErrorMsgContains("is for classification", tries(make{ batch = 10, loss = "logistic" },
      nil, numbers, "regression"))
    lu.assertErrorMsgContains("option 'lambda' got 0; it takes a number above 0", make,
      { lambda = 0 })
    lu.assertErrorMsgContains("option 'loss' got \"absolute\"", make, { loss = "absolute" })
    local pair = sc.instantiation{ W = sc.space.dense(), K = sc.kernel.gaussian{ width = 1 },
      p = sc.sampler.gaussian{ sigma = 1 },
                                   phi = sc.nonlinearity.fourier{ form = "pair" } }
    lu.assertErrorMsgContains("one feature for each parameter",
      tries(make{ batch = 10 }, pair:features{ T = 10 }))
  end
  lu.assertErrorMsgContains("these features have no K",
    tries(sc.solver.optimal_stepsize{ batch = 10 }, sinks(20)))
  lu.assertErrorMsgContains("put sc.features", function()
    sc.pipeline{ sc.solver.sfgd{ batch = 10 } }:fit(data_of(numbers, "regression"))
  end)
  lu.assertErrorMsgContains("give lambda a number",
    tries(sc.solver.sfgd{ lambda = "auto", batch = 10 }, sinks(20)))
  local unbounded = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.relu{}, K = sc.kernel.gaussian{ width = 1 } }
  lu.assertErrorMsgContains("a loss whose slope has a bound",
    tries(sc.solver.sfgd{ lambda = "auto", batch = 10 }, unbounded:features{ T = 20 }))
  lu.assertErrorMsgContains("option 'B' got 0;", sc.solver.sfgd, { B = 0 })
  lu.assertErrorMsgContains("option 'B' got -1;", sc.solver.sfgd, { B = -1 })
  lu.assertErrorMsgContains("option 'lambda' got 1; it takes a number above 0 and below 1",
    sc.solver.optimal_stepsize, { lambda = 1 })
  lu.assertErrorMsgContains("batch = 61", tries(sc.solver.logistic{ method = "sgd", batch = 61 },
    sinks(20)))
end

os.exit(lu.LuaUnit.run(), true)
