-- Probabilities of classes: Platt's sigmoids against another minimiser, calibration against known
-- P(y | x), folds against models fitted apart.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local fails = dofile("tests/helpers/support.lua").fails

local function sigmoid(x) return 1 / (1 + math.exp(-x)) end

-- ------------ Platt's sigmoid, against
-- Newton's method written from the objective

-- Sums that lose nothing: Neumaier's.
local function adder()
  local sum, lost = 0, 0
  return function(x)
    local next_sum = sum + x
    lost = lost + (math.abs(sum) >= math.abs(x) and (sum - next_sum) + x or (x - next_sum) + sum)
    sum = next_sum
    return sum + lost
  end
end

-- Weights of mean 1 over the rows that have any, and the targets of a uniform prior.
local function problem(scores, targets, weights)
  local n, sum, counted, plus, minus = #scores, 0, 0, 0, 0
  for i = 1, n do
    local w = weights and weights[i] or 1
    sum, counted = sum + w, counted + (w > 0 and 1 or 0)
  end
  local w, t = {}, {}
  for i = 1, n do
    w[i] = (weights and weights[i] or 1) * counted / sum
    if targets[i] > 0 then plus = plus + w[i] else minus = minus + w[i] end
  end
  for i = 1, n do t[i] = targets[i] > 0 and (plus + 1) / (plus + 2) or 1 / (minus + 2) end
  return w, t, plus, minus
end

-- Gradient of F in (A, B) and its Hessian, each a sum over the rows as they are.
local function derivatives(scores, w, t, A, B)
  local sums, out = {}, {}
  for k = 1, 5 do sums[k] = adder() end
  for i, f in ipairs(scores) do
    local p = sigmoid(-(A * f + B))
    local first, second = w[i] * (t[i] - p), w[i] * p * (1 - p)
    for k, term in ipairs{ f * first, first, f * f * second, f * second, second } do
      out[k] = sums[k](term)
    end
  end
  return out
end

-- Plain Newton steps from a point in whose neighbourhood they converge.
local function minimise(scores, w, t, A, B)
  for _ = 1, 60 do
    local g = derivatives(scores, w, t, A, B)
    local determinant = g[3] * g[5] - g[4] ^ 2
    A, B = A - (g[5] * g[1] - g[4] * g[2]) / determinant,
      B - (g[3] * g[2] - g[4] * g[1]) / determinant
  end
  return A, B
end

local function draws(n, seed, shift, scale)
  local x, u, scores, targets = sc.randn{ n, 1, seed = seed }, sc.rand{ n, 1, seed = seed + 1 }, {},
    {}
  for i = 1, n do
    targets[i] = u:get(i, 1) < sigmoid(1.5 * x:get(i, 1) - 0.7) and 1 or -1
    scores[i] = shift + scale * x:get(i, 1)
  end
  return scores, targets
end

function TestSigmoidMinimisesItsObjective()
  for _, case in ipairs{ { n = 40 }, { n = 500 }, { n = 500, shift = 100, scale = 3 },
    { n = 300, scale = 1e-6 }, { n = 300, scale = -1e6 },
                         { n = 200, weights = true } } do
    local scale = case.scale or 1
    local scores, targets = draws(case.n, 11, case.shift or 0, scale)
    local weights
    if case.weights then
      weights = {}
      for i = 1, case.n do weights[i] = (i * 7) % 5 end
    end
    local got = core.platt(sc.matrix(scores), sc.matrix(targets), weights and sc.matrix(weights))[1]
    local w, t, plus, minus = problem(scores, targets, weights)
    local g = derivatives(scores, w, t, got.slope, got.offset)
    local reach = math.abs(case.shift or 0) + math.abs(scale)
    lu.assertTrue(math.abs(g[1]) < 1e-10 * case.n * reach and math.abs(g[2]) < 1e-10 * case.n,
      "the gradient is zero")
    lu.assertAlmostEquals(got.positives, plus, 1e-9)
    lu.assertAlmostEquals(got.negatives, minus, 1e-9)
    lu.assertTrue(got.converged and got.residual <= got.tolerance)
    local A, B = minimise(scores, w, t, -1.2 / scale, 0.7 + 1.2 * (case.shift or 0) / scale)
    lu.assertAlmostEquals(got.slope * scale, A * scale, 1e-8)
    lu.assertAlmostEquals(got.offset, B, 1e-8 * (1 + reach / math.abs(scale)))
  end
end

function TestSeparatedScoresGiveAFiniteSigmoid()
  -- two values of the score: the sigmoid passes through both regularised targets
  local got = core.platt(sc.matrix{ -1, -1, -1, 2, 2 }, sc.matrix{ -1, -1, -1, 1, 1 })[1]
  lu.assertTrue(got.converged)
  lu.assertAlmostEquals(sigmoid(-(2 * got.slope + got.offset)), 3 / 4, 1e-10)
  lu.assertAlmostEquals(sigmoid(-(-got.slope + got.offset)), 1 / 5, 1e-10)
end

function TestEqualScoresGiveTheShareOfTheClass()
  local got = core.platt(sc.matrix{ 0.1, 0.1, 0.1, 0.1 }, sc.matrix{ -1, 1, 1, 1 })[1]
  lu.assertEquals(got.slope, 0)
  -- the mean of the regularised targets
  lu.assertAlmostEquals(sigmoid(-got.offset), (3 * 4 / 5 + 1 / 3) / 4, 1e-10)
end

function TestWeightsHaveNoUnitAndZeroLeavesARowOut()
  local scores, targets = draws(120, 5, 0, 1)
  local w, kept, kept_targets, kept_w = {}, {}, {}, {}
  for i = 1, 120 do
    w[i] = i % 4
    if w[i] > 0 then
      kept[#kept + 1], kept_targets[#kept + 1], kept_w[#kept + 1] = scores[i], targets[i], w[i]
    end
  end
  local f, y = sc.matrix(scores), sc.matrix(targets)
  local one, large = core.platt(f, y, sc.matrix(w))[1], core.platt(f, y, sc.matrix(w) * 1e6)[1]
  local without = core.platt(sc.matrix(kept), sc.matrix(kept_targets), sc.matrix(kept_w))[1]
  for _, other in ipairs{ large, without } do
    lu.assertAlmostEquals(one.slope, other.slope, 1e-9)
    lu.assertAlmostEquals(one.offset, other.offset, 1e-9)
  end
end

function TestExtremeScoresStayProbabilities()
  local function of(scores, sigmoids) return core.predict(scores, {}, "probabilities", sigmoids) end
  local P = of(sc.matrix{ 1e4, -1e4, 0 }, { { slope = -1, offset = 0 } })
  lu.assertEquals(P, sc.matrix{ { 0, 1 }, { 1, 0 }, { 0.5, 0.5 } })
  -- all sigmoids underflow, their ratio does not
  local far = of(sc.matrix{ { -2000, -2000 - math.log(3), -5000 } },
    { { slope = -1, offset = 0 }, { slope = -1, offset = 0 }, { slope = -1, offset = 0 } })
  lu.assertAlmostEquals(far:get(1, 1), 0.75, 1e-12)
  lu.assertAlmostEquals(far:get(1, 2), 0.25, 1e-12)
  lu.assertEquals(far:get(1, 3), 0)
end

-- ------------ rows whose P(y | x) is known

local function known(n, seed)
  local X, u, y = sc.randn{ n, 2, seed = seed }, sc.rand{ n, 1, seed = seed + 1 }, {}
  local function truth(i) return sigmoid(1.2 * X:get(i, 1) - 0.8 * X:get(i, 2) + 0.4) end
  for i = 1, n do y[i] = u:get(i, 1) < truth(i) and "yes" or "no" end
  return sc.dataset{ X = X, y = y }, truth
end
local data, truth_of_data = known(4000, 21)
local fresh, truth_of_fresh = known(4000, 31)

-- A linear score of least squares is A monotone of the true log odds but for its own error; so the
-- sigmoid is the truth up to estimation.
local function least_squares(given)
  given = given or {}
  return sc.pipeline{ sc.solver.ridge{ lambda = 1e-6, intercept = true },
    class_weights = given.class_weights }
end

-- |sum (y - p)| / sqrt(sum p (1 - p)) within groups of rows of like p
local function worst_group(P, ds, groups)
  local order, worst = {}, 0
  for i = 1, #ds do order[i] = i end
  table.sort(order, function(a, b) return P:get(a, 2) < P:get(b, 2) end)
  for g = 1, groups do
    local gap, variance = 0, 0
    for place = (g - 1) * #ds // groups + 1, g * #ds // groups do
      local p = P:get(order[place], 2)
      gap, variance = gap + ds.y:get(order[place], 1) - 1 - p, variance + p * (1 - p)
    end
    worst = math.max(worst, math.abs(gap) / math.sqrt(variance))
  end
  return worst
end

function TestProbabilitiesAreThoseOfTheRows()
  local solvers = { least_squares(), sc.pipeline{ sc.solver.logistic{ intercept = true } },
    sc.pipeline{ sc.solver.hinge{ lambda = 1e-3 } } }
  for _, p in ipairs(solvers) do
    local P = p:fit(data):probabilities(fresh)
    lu.assertEquals({ P:rows(), P:cols() }, { 4000, 2 })
    lu.assertTrue((P:sum(2) - 1):abs():max() < 1e-14)
    -- in standard errors; the sigmoid's own is a fraction of one
    lu.assertTrue(worst_group(P, fresh, 8) < 4.5, tostring(p.solver))
  end
end

-- x' M^-1 x for a positive definite M, a list of rows, by elimination of [M x; x' 0].
local function inverse_form(M, x)
  local rows = {}
  for a = 1, #x do
    rows[a] = table.move(M[a], 1, #x, 1, {})
    rows[a][#x + 1] = x[a]
  end
  rows[#x + 1] = table.move(x, 1, #x, 1, { [#x + 1] = 0 })
  for a = 1, #x do
    for b = a + 1, #x + 1 do
      local share = rows[b][a] / rows[a][a]
      for c = a, #x + 1 do rows[b][c] = rows[b][c] - share * rows[a][c] end
    end
  end
  return -rows[#x + 1][#x + 1]
end

function TestProbabilitiesAgreeWithTheTruthWithinTheirStandardError()
  local p = least_squares():fit(data)
  local P, f = p:probabilities(fresh), p:decision(fresh)
  -- Fisher information of the log odds, linear in (x1, x2, 1); no estimator does better, and least
  -- squares hardly worse
  local info, square = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, 0
  for i = 1, #data do
    local q, x = truth_of_data(i), { data.X:get(i, 1), data.X:get(i, 2), 1 }
    for a = 1, 3 do for b = 1, 3 do info[a][b] = info[a][b] + q * (1 - q) * x[a] * x[b] end end
  end
  for i = 1, 400 do
    local variance = inverse_form(info, { fresh.X:get(i, 1), fresh.X:get(i, 2), 1 })
    local got, want = math.log(P:get(i, 2) / P:get(i, 1)),
      math.log(truth_of_fresh(i) / (1 - truth_of_fresh(i)))
    square = square + (got - want) ^ 2 / variance / 400
    lu.assertAlmostEquals(got,
      -(p:info().calibration.slopes[1] * f:get(i, 1) + p:info().calibration.offsets[1]), 1e-9)
  end
  lu.assertTrue(square < 6, "mean squared error in squared standard errors (1 expected): "
    .. square)
end

function TestClassWeightsDoNotShiftProbabilities()
  local weighted = least_squares{ class_weights = { no = 20, yes = 1 } }:fit(data)
  -- the scores did shift
  lu.assertTrue(weighted:decision(fresh):mean() < least_squares():fit(data):decision(
    fresh):mean() - 0.5)
  lu.assertTrue(worst_group(weighted:probabilities(fresh), fresh, 8) < 4.5)
  local own = sc.pipeline{ sc.solver.logistic{ intercept = true },
    class_weights = { no = 20, yes = 1 } }:fit(data)
  lu.assertTrue(worst_group(own:probabilities(fresh), fresh, 8) < 4.5)
  lu.assertEquals(own:info().calibration.method, "platt")
end

function TestRowWeightsMakeThePopulation()
  -- rows of "yes" count three times: their share becomes 3 s / (3 s + 1 - s)
  local w, share = {}, 0
  for i = 1, #data do
    w[i] = data.y:get(i, 1) == 2 and 3 or 1
    share = share + (data.y:get(i, 1) == 2 and 1 / #data or 0)
  end
  local p = least_squares():fit(sc.dataset{ X = data.X, y = data:labels(), weights = w })
  local P, gap, variance = p:probabilities(data), 0, 0
  for i = 1, #data do
    gap, variance = gap + w[i] * (data.y:get(i, 1) - 1 - P:get(i, 2)),
      variance + w[i] ^ 2 * P:get(i, 1) * P:get(i, 2)
  end
  lu.assertTrue(math.abs(gap) < 4.5 * math.sqrt(variance))
  local mean = 0
  for i = 1, #data do mean = mean + w[i] * P:get(i, 2) / (#data * (1 + 2 * share)) end
  lu.assertAlmostEquals(mean, 3 * share / (1 + 2 * share), 0.03)
end

-- ------------ out of fold, against models
-- fitted apart

local function three_classes(n, seed)
  local X, y = sc.randn{ n, 4, seed = seed }, {}
  local noise = sc.randn{ n, 3, seed = seed + 1 }
  for i = 1, n do
    local best, most = 1, -math.huge
    for k = 1, 3 do
      local value = 2 * X:get(i, k) + noise:get(i, k)
      if value > most then best, most = k, value end
    end
    y[i] = ({ "a", "b", "c" })[best]
  end
  return sc.dataset{ X = X, y = y }
end
local three = three_classes(300, 41)

local function apart(stages, ds, k, seed)
  local folds = ds:fold_ids{ k = k, seed = seed }
  local scores
  for fold = 1, k do
    local inside, outside = {}, {}
    for i, at in ipairs(folds) do table.insert(at == fold and outside or inside, i) end
    local d = stages():fit(ds:select(inside)):decision(ds:select(outside))
    scores = scores or core.zeros(#ds, d:cols())
    for place, i in ipairs(outside) do
      for j = 1, d:cols() do scores:set(i, j, d:get(place, j)) end
    end
  end
  return core.platt(scores, ds:targets(), ds.weights)
end

function TestFoldsOfOnePassAreModelsFittedApart()
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.arccos{ order = 1 }, T = 30, seed = 2 }
  local w = {}
  for i = 1, 300 do w[i] = 1 + i % 3 end
  local weighted = sc.dataset{ X = three.X, y = three:labels(), weights = w }
  for name, stages in pairs{
    ridge = function()
      return sc.pipeline{ features, sc.solver.ridge{ lambda = 1e-2, intercept = true } }
    end,
    logistic = function()
      return sc.pipeline{ sc.solver.logistic{ lambda = 1e-2, tolerance = 1e-10 } }
    end,
    knn = function() return sc.pipeline{ sc.solver.knn{ k = 9 } } end,
  } do
    for _, ds in ipairs{ three, weighted } do
      local want = apart(stages, ds, 4, 7)
      local got = stages():fit(ds):calibrate{ folds = 4, seed = 7 }:info().calibration
      lu.assertEquals({ got.method, got.folds, got.seed, got.rows }, { "platt", 4, 7, 300 })
      for j = 1, 3 do
        lu.assertAlmostEquals(got.slopes[j], want[j].slope, 1e-5 * math.abs(want[j].slope), name)
        lu.assertAlmostEquals(got.offsets[j], want[j].offset, 1e-5 * (1 + math.abs(want[j].offset)),
          name)
      end
    end
  end
end

function TestModelsThatAreNotLinearAreCalibratedToo()
  local unseen = three_classes(400, 61)
  local solvers = { sc.solver.adaboost(),
    sc.solver.kernel_ridge{ kernel = sc.kernel.gaussian{ width = 2 }, lambda = 1e-2 },
    sc.solver.svm{ C = 1 } }
  for _, solver in ipairs(solvers) do
    local p = sc.pipeline{ solver }:fit(three)
    local P = p:probabilities(unseen)
    lu.assertEquals({ P:rows(), P:cols() }, { 400, 3 })
    lu.assertTrue((P:sum(2) - 1):abs():max() < 1e-12 and P:min() >= 0)
    lu.assertTrue(sc.metrics.log_loss(P, unseen.y, p.classes) < 0.8, tostring(solver))
  end
end

function TestStreamsAreCalibratedToo()
  -- the folds of a stream are drawn without its labels, so held-out rows are compared
  local function stream(ds)
    return sc.data.rows{ n = #ds, d = 2, classes = ds.classes, read = function(first, count)
      return ds.X:slice(first, first + count - 1), ds.y:slice(first, first + count - 1)
    end }
  end
  local p = least_squares():fit(stream(data))
  lu.assertTrue(worst_group(p:probabilities(fresh), fresh, 8) < 4.5)
  local streamed, held = p:calibrate{ data = stream(fresh) }:info().calibration,
    p:calibrate{ data = fresh }:info().calibration
  lu.assertAlmostEquals(streamed.slopes[1], held.slopes[1], 1e-10)
  lu.assertAlmostEquals(streamed.offsets[1], held.offsets[1], 1e-10)
  lu.assertTrue((p:probabilities(stream(fresh)) - p:probabilities(fresh)):abs():max() < 1e-12)
end

function TestHeldOutRowsAreScoredByTheModelItself()
  local p = least_squares():fit(data):calibrate{ data = fresh }
  local want = core.platt(p:decision(fresh), fresh:targets())[1]
  lu.assertAlmostEquals(p:info().calibration.slopes[1], want.slope, 1e-12)
  lu.assertEquals(p:info().calibration.rows, 4000)
  lu.assertStrContains(tostring(p:info().calibration), "held-out data (4000 rows)")
  lu.assertStrContains(tostring(p), "Platt's sigmoids on scores of held-out data")
end

-- ------------ many classes

function TestSoftmaxIsTheSolversOwn()
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 1e-3, intercept = true } }:fit(three)
  local P, f = p:probabilities(three.X), p:decision(three.X)
  lu.assertEquals(p:info().calibration.method, "loss")
  lu.assertEquals(p.classes, { "a", "b", "c" })
  for i = 1, 20 do
    local sum = 0
    for j = 1, 3 do sum = sum + math.exp(f:get(i, j)) end
    for j = 1, 3 do lu.assertAlmostEquals(P:get(i, j), math.exp(f:get(i, j)) / sum, 1e-12) end
  end
  lu.assertTrue((P:sum(2) - 1):abs():max() < 1e-12)
end

function TestSigmoidsOfManyClassesAreNormalised()
  local unseen = three_classes(600, 51)
  for _, solver in ipairs{ sc.solver.ridge{ lambda = 1e-3 }, sc.solver.knn{ k = 15 },
    sc.solver.hinge{ lambda = 1e-3 } } do
    local p = sc.pipeline{ sc.standardize(), solver }:fit(three)
    local P, f, c = p:probabilities(unseen), p:decision(unseen), p:info().calibration
    lu.assertEquals({ P:rows(), P:cols() }, { 600, 3 })
    lu.assertTrue((P:sum(2) - 1):abs():max() < 1e-12 and P:min() >= 0)
    for i = 1, 20 do
      local one, sum = {}, 0
      for j = 1, 3 do
        one[j] = sigmoid(-(c.slopes[j] * f:get(i, j) + c.offsets[j]))
        sum = sum + one[j]
      end
      for j = 1, 3 do lu.assertAlmostEquals(P:get(i, j), one[j] / sum, 1e-12) end
    end
    -- the log loss is well below that of saying the shares of the classes, log 3 here
    lu.assertTrue(sc.metrics.log_loss(P, unseen.y, p.classes) < 0.7, tostring(solver))
  end
end

function TestColumnsFollowTheClassesAsGiven()
  local turned = sc.dataset{ X = data.X, y = data:labels(), classes = { "yes", "no" } }
  local P, Q = least_squares():fit(data):probabilities(fresh),
    least_squares():fit(turned):probabilities(fresh)
  -- the folds differ: their order goes by class
  lu.assertTrue((P:column(1) - Q:column(2)):abs():max() < 1e-3)
  local p = least_squares():fit(turned)
  lu.assertEquals(p.classes, { "yes", "no" })
end

-- ------------ what does not matter, and what
-- is kept

function TestThreadsAndBlocksChangeNothing()
  local before, want = core.threads()
  for _, case in ipairs{ { 1 }, { 2 }, { 5 }, { 2, 17 } } do
    core.threads(case[1])
    local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.3 },
      phi = sc.nonlinearity.fourier(), T = 50, seed = 1 },
                           sc.solver.ridge{ lambda = 1e-3 }, block = case[2] }:fit(three)
    local P = p:probabilities(three)
    want = want or P
    if case[2] then lu.assertTrue((P - want):abs():max() < 1e-8) else lu.assertTrue(P == want) end
  end
  core.threads(before)
end

function TestAFitForgetsTheCalibrationAndASearchCanBeCalibrated()
  local p = least_squares():fit(data)
  lu.assertNil(p:info().calibration)
  lu.assertIs(p:calibrate(), p)
  lu.assertEquals(p:info().calibration.folds, 5)
  p:fit(data)
  lu.assertNil(p:info().calibration)
  local q = sc.pipeline{ sc.standardize(),
    sc.solver.ridge{ lambda = sc.choose{ 1e-6, 1e-2 } } }:search(three, { folds = 3 })
  lu.assertTrue((q:probabilities(three):sum(2) - 1):abs():max() < 1e-12)
  local own = sc.pipeline{ sc.solver.logistic() }:fit(three):calibrate{ folds = 3 }
  own:probabilities(three)
  -- asked for, so it takes the place of the loss
  lu.assertEquals(own:info().calibration.method, "platt")
end

function TestPrunedModelsAreCalibratedOnHeldOutRows()
  local inst = sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ width = 1 },
    p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }
  local full = sc.pipeline{ inst:features{ T = 40, seed = 0 },
    sc.solver.ridge{ lambda = 1e-4, penalty = "rkhs" } }:fit(data):calibrate()
  local small = full:prune{ epsilon = 0.01 }
  lu.assertNil(small:info().calibration)
  fails({ "pipeline:probabilities", "a pruned model is calibrated on held-out rows" },
    small.probabilities, small, fresh)
  lu.assertTrue(worst_group(small:calibrate{ data = data }:probabilities(fresh), fresh, 4) < 8)
end

-- ------------ what is refused

function TestBadInputIsASentence()
  local fresh_model = least_squares()
  fails({ "pipeline:probabilities", "not fitted yet" }, fresh_model.probabilities, fresh_model,
    data)
  fails({ "pipeline:calibrate", "not fitted yet" }, fresh_model.calibrate, fresh_model)
  local values = least_squares():fit(data.X, data.X:column(1):copy())
  fails({ "pipeline:probabilities", "regression" }, values.probabilities, values, data.X)
  fails({ "pipeline:calibrate", "regression" }, values.calibrate, values)
  local bare = sc.pipeline{ sc.standardize() }:fit(data)
  fails({ "pipeline:probabilities", "no solver" }, bare.probabilities, bare, data)
  local p = least_squares():fit(data)
  fails({ "X has 4 columns where the pipeline was fitted on 2" }, p.probabilities, p, three)
  fails({ "pipeline:probabilities", "takes a matrix or a data set" }, p.probabilities, p, 3)
  lu.assertNil(p:info().calibration) -- none was made for it
  fails({ "pipeline:calibrate", "4001 folds of 4000 rows" }, p.calibrate, p, { folds = 4001 })
  fails({ "option 'folds' got 1" }, p.calibrate, p, { folds = 1 })
  fails({ "unknown option 'fold'", "did you mean 'folds'" }, p.calibrate, p, { fold = 3 })
  fails({ "option 'data' got 3; it takes a data set" }, p.calibrate, p, { data = 3 })
  fails({ "folds and seed, or data, not both" }, p.calibrate, p, { data = fresh, folds = 3 })
  fails({ "X has 4 columns where the pipeline was fitted on 2" }, p.calibrate, p, { data = three })
  fails({ "takes rows with classes" }, p.calibrate, p,
    { data = sc.dataset{ X = data.X, y = data.X:column(1):copy() } })
  -- classes in another order are the same classes
  local slope = p:calibrate{ data = data }:info().calibration.slopes[1]
  p:calibrate{ data = sc.dataset{ X = data.X, y = data:labels(), classes = { "yes", "no" } } }
  lu.assertEquals(p:info().calibration.slopes[1], slope)
  local only = fresh:filter(function(_, _, label) return label == "no" end)
  fails({ "no row of the class \"yes\"" }, p.calibrate, p, { data = only })
end

function TestAClassThatAFoldWouldTakeAwayIsNamed()
  local labels = three:labels()
  for i = 1, 300 do if labels[i] == "c" then labels[i] = "a" end end
  labels[17] = "c"
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.dataset{ X = three.X,
    y = labels })
  fails({ "pipeline:probabilities", "the class \"c\" has 1 row that counts" }, p.probabilities, p,
    three)
  labels[18] = "c"
  local two = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.dataset{ X = three.X,
    y = labels })
  lu.assertEquals(two:probabilities(three):cols(), 3)
  local w = {}
  for i = 1, 300 do w[i] = i == 18 and 0 or 1 end
  local weighted = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.dataset{ X = three.X,
    y = labels, weights = w })
  fails({ "the class \"c\" has 1 row that counts" }, weighted.probabilities, weighted, three)
end

function TestAStreamIsAskedTheSame()
  local X, y = three.X, core.ones(300, 1)
  for i = 1, 300 do y:set(i, 1, i == 17 and 3 or 1 + i % 2) end
  local function fit(classes)
    return sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.data.rows{ n = 300, d = 4,
      classes = classes, read = function(first, count)
      return X:slice(first, first + count - 1), y:slice(first, first + count - 1)
    end })
  end
  local p = fit{ 1, 2, 3 }
  fails({ "pipeline:calibrate", "the class 3 has 1 row that counts" }, p.calibrate, p)
  for i = 1, 300 do y:set(i, 1, i == 17 and 2 or 1) end
  p = fit{ 1, 2 }
  fails({ "pipeline:calibrate", "the class 2 has 1 row that counts" }, p.calibrate, p)
end

function TestScoresThatAreNoNumbersAreRefused()
  fails({ "the score of row 2 is not finite" }, core.platt, sc.matrix{ 1, 0 / 0, 2 },
    sc.matrix{ 1, -1, 1 })
  fails({ "scores are 3 x 1 and targets 2 x 1" }, core.platt, sc.matrix{ 1, 2, 3 },
    sc.matrix{ 1, -1 })
end

os.exit(lu.LuaUnit.run(), true)
