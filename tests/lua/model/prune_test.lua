-- Pruning of RKHS weightings: each rule of acceptance, the distance and the lasso behind it, formed
-- again from the Gram matrix of the parameters.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local component = require "scullery.compose.component"
local refused = dofile("tests/helpers/support.lua").fails

local n, d, T = 160, 3, 50
local X, signs, numbers, kinds = sc.randn{ n, d, seed = 1 }, {}, {}, {}
do
  local noise = sc.randn{ n, 1, seed = 2 }
  for i = 1, n do
    numbers[i] = math.max(-1, math.min(1, (X:get(i, 1) - X:get(i, 2) + 0.3 * noise:get(i, 1)) / 3))
    signs[i] = numbers[i] + 0.1 * noise:get(i, 1) > 0 and 1 or -1
    kinds[i] = (X:get(i, 1) > 0 and 1 or 0) + (X:get(i, 3) > 0 and 1 or 0)
  end
end
local binary = sc.dataset{ X = X, y = signs, classes = { -1, 1 } }
local regression = sc.dataset{ X = X, y = numbers, task = "regression" }
local several = sc.dataset{ X = X, y = kinds, classes = { 0, 1, 2 } }

-- Narrow enough that G is far from singular.
local function thresholds() return sc.instantiation{ W = sc.space.threshold(),
  K = sc.kernel.gaussian{ width = 0.05 }, p = sc.sampler.threshold{ sigma = 1 },
  phi = sc.nonlinearity.sign() }:features{ T = T, seed = 3 } end
local function dense(phi) return sc.instantiation{ K = sc.kernel.gaussian{ width = 1 },
  p = sc.sampler.gaussian{ sigma = 1 },
  phi = phi or sc.nonlinearity.sign() }:features{ T = T, seed = 3 } end

local s = sc.solver
local function rkhs(lambda) return s.ridge{ lambda = lambda or 1e-4, penalty = "rkhs" } end
local function model(features, solver, ds) return sc.pipeline{ features, solver }:fit(ds) end

local function apart(a, b) return (a - b):abs():max() end

-- The coefficients of a pruned model in the places of the full one, found by equal columns of the
-- features.
local function spread(full, small)
  local big, few, b = full:transform(X), small:transform(X), full:weights() * 0
  local a, at = small:weights(), 1
  for j = 1, big:cols() do
    if at <= few:cols() and apart(big:column(j), few:column(at)) <= 1e-14 * big:column(
      j):abs():max() then
      for k = 1, b:cols() do b:set(j, k, a:get(at, k)) end
      at = at + 1
    end
  end
  assert(at == few:cols() + 1, "the features kept are not among the features")
  return b
end

local function form(G, e) -- sum over targets of e'Ge
  local product, sum = G * e, 0
  for i = 1, e:rows() do for j = 1, e:cols() do sum = sum + e:get(i, j) * product:get(i, j) end end
  return math.max(0, sum)
end

local function risk(m, ds, b, phi)
  local f, y = b and phi * b or m:decision(ds.X), ds:targets()
  if b then
    for i = 1, f:rows() do
      for j = 1, f:cols() do f:set(i, j, f:get(i, j) + m:intercept():get(1, j)) end
    end
  end
  return (f - y):norm() ^ 2 / #ds
end
local function wrong(m, ds) return sc.metrics.error_rate(m:predict(ds.X), ds.y) end

local function constants(full, ds)
  local theta = core.map_constants(full.fitted.map).theta
  local B, c = full:norm(), full:weights():cols()
  local reach = ds.task == "classification" and 1 or ds:targets():abs():max()
  return theta, 2 * (B * theta + full:intercept():norm() + math.sqrt(c) * reach)
end

local delta = 0.1
local measure = {}
function measure.norm(c) return c.rho * c.theta * c.distance end
function measure.theorem8(c)
  local j = 0 -- of the smallest ||alpha|| 1.1^-j that is not below the distance
  while c.norm / 1.1 ^ (j + 1) >= c.distance do j = j + 1 end
  return c.after - c.before + c.rho * c.theta * c.norm / 1.1 ^ j / math.sqrt(n) * (
    2 + math.sqrt(2 * math.log((j + 1) * (j + 2) / delta)))
end
function measure.risk(c) return c.after - c.before end
function measure.zero_one(c) return c.wrong_after - c.wrong_before end

-- All that info tells, formed again; returns the measures by rule.
local function check(full, small, info, ds, features)
  local G, a, b = features:fit(X):gram(), full:weights(), spread(full, small)
  local distance = math.sqrt(form(G, a - b))
  lu.assertAlmostEquals(info.distance, distance, 1e-6 * (1 + distance))
  lu.assertAlmostEquals(small:norm(), math.sqrt(form(G, b)), 1e-8 * full:norm())
  -- a lasso shrinks, so that rho of the full model serves both
  lu.assertTrue(small:norm() <= full:norm() * (1 + 1e-6))
  local theta, rho = constants(full, ds)
  local c = { theta = theta, rho = rho, distance = distance, norm = full:norm(),
    before = risk(full, ds), after = risk(small, ds) }
  lu.assertAlmostEquals(info.risk_before, c.before, 1e-9)
  lu.assertAlmostEquals(info.risk, c.after, 1e-9)
  if ds.task == "classification" then
    c.wrong_before, c.wrong_after = wrong(full, ds), wrong(small, ds)
    lu.assertAlmostEquals(info.error_before, c.wrong_before, 1e-12)
    lu.assertAlmostEquals(info.error, c.wrong_after, 1e-12)
  end
  return c, a, b, G
end

-- Duality gap of (1/2T)||Ua - Ub||^2 + l||b||_1 as a share of its value at b = 0, a column at a
-- time.
local function lasso_gap(G, a, b, l)
  local worst = 0
  for j = 1, a:cols() do
    local x, y = a:column(j), b:column(j)
    local e = x - y
    local shrink = math.min(1, l * T / (G * e):abs():max())
    local primal = form(G, e) / (2 * T) + l * y:abs():sum()
    local dual = (form(G, x) - form(G, x - e * shrink)) / (2 * T)
    worst = math.max(worst, (primal - dual) / (form(G, x) / (2 * T)))
  end
  return worst
end

local epsilons = { norm = { 1, 100 }, theorem8 = { 0.5, 20 }, risk = { 0.001, 0.05 },
  zero_one = { 0.01, 0.1 } }

function TestAcceptedModelsMeetTheirRule()
  for rule, list in pairs(epsilons) do
    for _, start in ipairs{ "tiny", "bound" } do
      for _, epsilon in ipairs(list) do
        local full = model(thresholds(), rkhs(), binary)
        local small, info = full:prune{ epsilon = epsilon, accept = rule, start = start,
          delta = delta }
        local c, a, b, G = check(full, small, info, binary, thresholds())
        local tag = ("%s, %s, %g"):format(rule, start, epsilon)
        local value = measure[rule](c)
        lu.assertTrue(value < epsilon, tag)
        lu.assertAlmostEquals(info.measure, value, 1e-5 * (1 + math.abs(value)), tag)
        lu.assertEquals({ info.accept, info.epsilon, info.T }, { rule, epsilon, T })
        if info.lambda > 0 then lu.assertTrue(lasso_gap(G, a, b, info.lambda) < 2e-6,
          tag) else lu.assertTrue(a == b, tag) end
      end
    end
  end
end

function TestTheNextLambdaIsRefused()
  for rule, list in pairs(epsilons) do
    local full = model(thresholds(), rkhs(), binary)
    local _, info = full:prune{ epsilon = list[1], accept = rule, delta = delta }
    lu.assertTrue(info.lambda > 0, rule)
    -- the fit is without log_scale here, so that weights are those of the engine
    local b, distance = core.prune_step(core.pruning(full.fitted.map, full.fitted.weights),
      component.instance(s.lasso{ lambda = 10 * info.lambda * math.exp(-full:info().log_scale) }))
    local theta, rho = constants(full, binary)
    local phi = full:transform(X)
    b = b * math.exp(-full:info().log_scale)
    local said = phi * b
    local misses = 0
    for i = 1, n do if (said:get(i, 1) >= 0) ~= (signs[i] > 0) then misses = misses + 1 end end
    local c = { theta = theta, rho = rho, distance = distance, norm = full:norm(),
      before = risk(full, binary), after = risk(full, binary, b, phi),
                wrong_before = wrong(full, binary), wrong_after = misses / n }
    lu.assertTrue(measure[rule](c) >= list[1], rule)
  end
end

function TestTheBoundStartsWhereItSays()
  -- equation (62), which by (61) promises rho theta ||alpha - beta|| < epsilon at the first step
  local full = model(thresholds(), rkhs(), binary)
  local theta, rho = constants(full, binary)
  local a = full:weights()
  for _, epsilon in ipairs{ 0.01, 1 } do
    local first = epsilon ^ 2 / (12 * T * rho ^ 2 * theta ^ 2 * a:abs():sum())
    local _, info = full:prune{ epsilon = epsilon, accept = "norm", start = "bound" }
    local tens = math.log(info.lambda / first, 10)
    lu.assertTrue(info.lambda >= first * (1 - 1e-9)
      and math.abs(tens - math.floor(tens + 0.5)) < 1e-9)
    lu.assertTrue(info.measure < epsilon)
    lu.assertEquals(info.steps, math.floor(tens + 0.5) + 2) -- one more, which is refused
  end
end

function TestRulesAreMoreAndMoreLenient() -- as the paper orders them, at equal epsilon
  local full = model(thresholds(), rkhs(), binary)
  local before = T + 1
  for _, rule in ipairs{ "norm", "theorem8", "risk" } do
    local _, info = full:prune{ epsilon = 0.05, accept = rule }
    lu.assertTrue(info.kept <= before, rule)
    before = info.kept
  end
end

function TestWorksAfterEverySolver()
  local cases = {
    { binary, s.ridge{ lambda = 1e-3 } },
      { binary, s.ridge{ lambda = 1e-3, penalty = "rkhs", intercept = true } },
        { binary, s.lasso{ lambda = 1e-3 } },
    { binary, s.hinge{ lambda = 1e-3 } }, { binary, s.logistic{ lambda = 1e-3, intercept = true } },
      { binary, s.box{ C = 100 } },
    { binary, s.sfgd{ lambda = 1e-2, B = 100, batch = 30, iterations = T, seed = 4 } },
    { binary, s.optimal_stepsize{ lambda = 1e-4, batch = 30, iterations = T, seed = 4 } },
    { regression, rkhs() }, { several, rkhs() },
      { several, s.logistic{ lambda = 1e-3, intercept = true } },
  }
  local fewer = 0
  for _, case in ipairs(cases) do
    for _, features in ipairs{ thresholds, dense } do
      local full = model(features(), case[2], case[1])
      local small, info = full:prune{ epsilon = 0.02, accept = "risk" }
      local tag = tostring(case[2])
      local c, a, b, G = check(full, small, info, case[1], features())
      lu.assertTrue(measure.risk(c) < 0.02, tag)
      fewer = fewer + (info.kept < T and 1 or 0)
      lu.assertTrue(lasso_gap(G, a, b, info.lambda) < 2e-6, tag)
      lu.assertTrue(small:intercept() == full:intercept(), tag)
      lu.assertStrContains(small:info().note, ("%d of %d"):format(info.kept, T))
      lu.assertNil(small:info().loss) -- that of the full model is not its own
    end
  end
  -- of twice as many; where all coefficients count there is nothing to prune
  lu.assertTrue(fewer > #cases)
end

function TestTheNormRuleCountsInterceptsAndTargets()
  -- Lemma 7 itself: no row's loss, whatever its target in reach, differs on average by more than
  -- rho theta ||alpha - beta||
  for _, case in ipairs{ { binary, s.ridge{ lambda = 1e-3, penalty = "rkhs", intercept = true } },
    { regression, rkhs() }, { several, rkhs() } } do
    local full = model(thresholds(), case[2], case[1])
    local small, info = full:prune{ epsilon = 5, accept = "norm" }
    local c = check(full, small, info, case[1], thresholds())
    lu.assertAlmostEquals(info.measure, measure.norm(c), 1e-5 * (1 + info.measure))
    lu.assertTrue(math.abs(c.after - c.before) <= info.measure)
  end
end

function TestSeveralOutputsOfAParameterGoTogether()
  local full = model(dense(sc.nonlinearity.fourier{ form = "pair" }), rkhs(), binary)
  local small, info = full:prune{ epsilon = 0.02, accept = "risk" }
  lu.assertTrue(info.kept < T)
  lu.assertEquals(small:weights():rows(), 2 * info.kept)
  local c = check(full, small, info, binary, dense(sc.nonlinearity.fourier{ form = "pair" }))
  lu.assertTrue(measure.risk(c) < 0.02)
end

function TestHugeEpsilonLeavesOneTermOfWeightZero()
  local full = model(thresholds(), rkhs(), binary)
  local small, info = full:prune{ epsilon = 1e9, accept = "norm" }
  lu.assertEquals(info.kept, 1)
  lu.assertTrue(small:decision(X):abs():max() == 0)
  lu.assertAlmostEquals(info.distance, full:norm(), 1e-6 * full:norm())
end

function TestTinyEpsilonPrunesNothingThatCounts()
  local full = model(thresholds(), rkhs(), binary)
  local small, info = full:prune{ epsilon = 1e-9, accept = "norm" }
  lu.assertTrue(info.measure < 1e-9)
  lu.assertTrue(apart(small:decision(X), full:decision(X)) < 1e-8)
end

function TestAModelOfZerosStaysOne()
  local zero = sc.dataset{ X = X, y = sc.zeros(n, 1), task = "regression" }
  for _, start in ipairs{ "tiny", "bound" } do
    local small = model(thresholds(), rkhs(), zero):prune{ epsilon = 0.1, start = start }
    lu.assertTrue(small:decision(X):abs():max() == 0)
  end
end

function TestAPrunedModelIsAModel()
  local full = model(thresholds(), rkhs(), binary)
  local small, info = full:prune{ epsilon = 0.02, accept = "risk" }
  lu.assertAlmostEquals(apart(small:decision(X), small:transform(X) * small:weights()), 0, 1e-10)
  lu.assertEquals(small:bound().theta, full:bound().theta)
  lu.assertTrue(small:bound().B <= full:bound().B * (1 + 1e-9))
  lu.assertAlmostEquals(small:bound().empirical, info.risk, 1e-9)
  local smaller, again = small:prune{ epsilon = 0.05, accept = "risk" }
  lu.assertEquals(again.T, info.kept)
  lu.assertTrue(again.kept <= info.kept)
  lu.assertAlmostEquals(risk(smaller, binary), again.risk, 1e-9)
  lu.assertEquals(full:weights():rows(), T) -- the full one is as it was
end

function TestOtherRowsMayJudge()
  local train, test = binary:split{ test = 0.4, seed = 1 }
  local full = sc.pipeline{ thresholds(), rkhs() }:fit(train)
  local small, info = full:prune{ epsilon = 0.02, accept = "risk", data = test }
  lu.assertAlmostEquals(info.risk, (small:decision(test.X) - test:targets()):norm() ^ 2 / #test,
    1e-9)
  lu.assertAlmostEquals(info.risk_before,
    (full:decision(test.X) - test:targets()):norm() ^ 2 / #test, 1e-9)
end

function TestStandardizedRowsAndSmallFactors()
  -- in many dimensions c(w) is tiny and the engine keeps a common factor apart: lambda and distance
  -- are of the true scale all the same
  local wide = sc.randn{ n, 60, seed = 5 }
  local ds = sc.dataset{ X = wide, y = signs, classes = { -1, 1 } }
  local features = sc.instantiation{ K = sc.kernel.gaussian{ coefficient = 1e-3 },
    p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.sign() }
  local full = sc.pipeline{ sc.standardize(), features:features{ T = T, seed = 3 },
    rkhs(1e-8) }:fit(ds)
  local _, info = full:prune{ epsilon = 0.02, accept = "risk" }
  lu.assertTrue(info.distance > 0 and info.distance <= full:norm() * (1 + 1e-9))
  lu.assertTrue(info.risk - info.risk_before < 0.02)
end

function TestRunningOutOfMemoryLosesNothing()
  local full = model(thresholds(), rkhs(), binary)
  local _, want = full:prune{ epsilon = 0.02, accept = "risk" }
  local finished = 0
  for count = 0, 1200, 13 do
    collectgarbage()
    collectgarbage()
    local before = core.memory()
    core.fail_allocation_after(count)
    local ok, small, info = pcall(full.prune, full, { epsilon = 0.02, accept = "risk" })
    core.fail_allocation_after(-1)
    if ok then
      finished = finished + 1
      lu.assertEquals(info.kept, want.kept)
    else
      lu.assertStrContains(tostring(small), "memory")
    end
    ok, small, info = nil, nil, nil -- luacheck: ignore 311
    collectgarbage()
    collectgarbage()
    lu.assertTrue(core.memory() <= before, "after " .. count)
  end
  lu.assertTrue(finished > 0)
end

function TestOnlySolversOfNormalEquationsCanPrune()
  local full = model(thresholds(), rkhs(), binary)
  local pruning = core.pruning(full.fitted.map, full.fitted.weights)
  for _, solver in ipairs{ s.cg{}, s.trimmed{}, s.huber{} } do
    local ok, message = pcall(core.prune_step, pruning, component.instance(solver))
    lu.assertFalse(ok)
    lu.assertStrContains(message, "it needs rows")
  end
  -- a ridge can: (G + lambda T I) b = G a, with two features a parameter too, where D > T
  for _, features in ipairs{ thresholds(), dense(sc.nonlinearity.fourier{ form = "pair" }) } do
    local m, lambda = model(features, rkhs(), binary), 1e-2
    local b = core.prune_step(core.pruning(m.fitted.map, m.fitted.weights),
      component.instance(s.ridge{ lambda = lambda }))
    local G, a = features:fit(X):gram() * math.exp(-2 * m:info().log_scale), m.fitted.weights
    lu.assertTrue(apart(G * b + b * (lambda * T), G * a) < 1e-6 * (G * a):abs():max())
  end
end

function TestExtremeEpsilonsPruneNothingOrEverything()
  local full = model(thresholds(), rkhs(), binary)
  local _, nothing = full:prune{ epsilon = 1e-300, accept = "norm", start = "bound" }
  lu.assertEquals({ nothing.kept, nothing.distance }, { nothing.T, 0 })
  local _, everything = full:prune{ epsilon = 1e300, accept = "norm", start = "bound" }
  lu.assertEquals({ everything.kept, everything.distance > 0 }, { 1, true })
end

function TestWrongUseIsASentence()
  local full = model(thresholds(), rkhs(), binary)
  local function prune(m, given) return m:prune(given) end
  for _, epsilon in ipairs{ 0, -1, 0 / 0, "small" } do
    refused({ "epsilon" }, prune, full, { epsilon = epsilon })
  end
  for _, wrong_delta in ipairs{ 0, 1, 2 } do
    refused({ "delta", "between 0 and 1" }, prune, full, { delta = wrong_delta })
  end
  refused({ "accept", "zero_one" }, prune, full, { accept = "error" })
  refused({ "start", "tiny" }, prune, full, { start = "zero" })
  refused({ "data", "data set" }, prune, full, { data = X })
  refused({ "1 column ", "fitted on " .. X:cols() }, prune, full,
    { data = sc.dataset{ X = sc.randn{ 4, 1 }, y = { "a", "b", "a", "b" } } })
  refused({ "no row has a label that was seen in training" }, prune, full,
    { data = sc.dataset{ X = X:select{ 1, 2, 3 }, y = { "p", "q", "r" } } })
  refused({ "regression", "classification" }, prune, full, { data = regression })
  refused({ "targets" }, prune, model(thresholds(), rkhs(), regression),
    { data = sc.dataset{ X = X, y = sc.hcat(regression.y, regression.y) } })
  refused({ "not fitted" }, prune, sc.pipeline{ thresholds(), rkhs() }, {})
  refused({ "zero_one", "classification" }, prune, model(thresholds(), rkhs(), regression),
    { accept = "zero_one" })
  refused({ "theorem8", "one target" }, prune, model(thresholds(), rkhs(), several),
    { accept = "theorem8" })
  local plain = sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.fourier(),
    T = 10, seed = 1 }
  refused({ "with K" }, prune, model(plain, s.ridge{}, binary), {})
  refused({ "with K" }, prune, sc.pipeline{ s.ridge{} }:fit(binary), {})
  refused({ "not linear" }, prune, sc.pipeline{ s.knn{} }:fit(binary), {})
  refused({ "bounded" }, prune, model(dense(sc.nonlinearity.relu()), rkhs(), binary),
    { start = "bound" })
end

os.exit(lu.LuaUnit.run(), true)
