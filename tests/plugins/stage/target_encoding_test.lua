-- Target encoding: against its formula; smoothing that shows no more than the categories do;
-- weights, classes, categories that were not seen; and cross-validation that is not fooled by an
-- identifier.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local function dataset(categories, y, more)
  local X = sc.zeros(#y, 1 + (more and more:cols() or 0))
  for i = 1, #y do
    X:set(i, 1, categories[i])
    for j = 2, X:cols() do X:set(i, j, more:get(i, j - 1)) end
  end
  return sc.dataset{ X = X, y = y, task = "regression" }
end

local function encode(given, ds, X)
  local p = sc.pipeline{ sc.stage.target_encoding(given), sc.solver.ridge() }:fit(ds)
  return p:transform(X or ds.X)
end

function TestFormula()
  local ds = dataset({ 7, 7, -2, 7, -2, 0.5 }, { 1, 3, 10, 2, 20, 6 })
  local m = 42 / 6
  local Z = encode({ smoothing = 2 }, ds, sc.matrix{ { 7 }, { -2 }, { 0.5 }, { 9 } })
  local want = { (6 + 2 * m) / 5, (30 + 2 * m) / 4, (6 + 2 * m) / 3, m }
  for i = 1, 4 do lu.assertAlmostEquals(Z:get(i, 1), want[i], 1e-14) end
  lu.assertAlmostEquals(encode({ smoothing = 0 }, ds):get(3, 1), 15, 1e-14)
end

-- auto: s = within/between, both by one-way analysis of variance of unequal groups.
function TestAutomaticSmoothing()
  local categories, y, sums = {}, {}, {}
  local noise = sc.randn{ 300, 1, seed = 1 }
  for i = 1, 300 do
    local v = i % 7 < 3 and 1 or i % 7
    categories[i], y[i] = v, 0.3 * v + noise:get(i, 1)
    sums[v] = sums[v] or { 0, 0, 0 }
    local s = sums[v]
    s[1], s[2], s[3] = s[1] + 1, s[2] + y[i], s[3] + y[i] ^ 2
  end
  local N, k, total, squares, within, between = 300, 0, 0, 0, 0, 0
  for _, s in pairs(sums) do total, k, squares = total + s[2], k + 1, squares + s[1] ^ 2 end
  local mean = total / N
  for _, s in pairs(sums) do
    within = within + s[3] - s[2] ^ 2 / s[1]
    between = between + s[1] * (s[2] / s[1] - mean) ^ 2
  end
  within = within / (N - k)
  between = (between - (k - 1) * within) / (N - squares / N)
  local s = within / between
  lu.assertTrue(s > 0 and s < 1e6)
  local Z = encode({}, dataset(categories, y))
  for i = 1, 300 do
    local of = sums[categories[i]]
    lu.assertAlmostEquals(Z:get(i, 1), (of[2] + s * mean) / (of[1] + s), 1e-10)
  end
end

-- A large mean of the targets costs no digits of the smoothing.
function TestFarTargets()
  local noise, categories, y, far = sc.randn{ 300, 1, seed = 9 }, {}, {}, {}
  for i = 1, 300 do
    categories[i] = i % 8
    y[i] = math.floor(1024 * (noise:get(i, 1) + 0.1 * categories[i])) / 1024
    far[i] = y[i] + 2^30
  end
  local near, apart = encode({}, dataset(categories, y)), encode({}, dataset(categories, far))
  lu.assertTrue((apart - 2^30 - near):abs():max() < 2^-20)
  lu.assertTrue((near:max() - near:min()) > 0.1)
end

-- The components of variance are right in the mean over draws: effects of variance 1/4, noise of
-- variance 1, so that s is near 4.
function TestSmoothingIsTheRatioOfVariances()
  local R, n, k = 40, 1200, 60
  local sum, square = 0, 0
  for r = 1, R do
    local effects, noise = sc.randn{ k, 1, seed = 2 * r }, sc.randn{ n, 1, seed = 2 * r + 1 }
    local categories, y = {}, {}
    for i = 1, n do
      categories[i] = i % k + 1
      y[i] = 0.5 * effects:get(categories[i], 1) + noise:get(i, 1)
    end
    local ds = dataset(categories, y)
    local Z, raw = encode({}, ds, sc.matrix{ { 1 }, { 2 } }), encode({ smoothing = 0 }, ds,
      sc.matrix{ { 1 }, { 2 } })
    -- the difference of two codes of n/k rows each is that of the means times (n/k)/(n/k + s)
    local share = (Z:get(1, 1) - Z:get(2, 1)) / (raw:get(1, 1) - raw:get(2, 1))
    local per = n / k
    sum, square = sum + share, square + share * share
    lu.assertTrue(share > 0 and share <= 1)
    if r == R then
      local mean = sum / R
      local stderr = math.sqrt((square / R - mean * mean) / R)
      -- the ratio of estimates is right up to a bias of order 1/k
      lu.assertTrue(math.abs(mean - per / (per + 4)) < 4 * stderr + 1 / k, mean)
    end
  end
end

-- A column with another value in each row, and categories that are noise, show nothing.
function TestTargetsDoNotLeak()
  local y, ids, pairs_of, noise = {}, {}, {}, sc.randn{ 400, 1, seed = 5 }
  for i = 1, 400 do y[i], ids[i], pairs_of[i] = noise:get(i, 1), i, i // 2 end
  local Z = encode({}, dataset(ids, y))
  lu.assertTrue((Z - sc.ones(400, 1) * Z:mean(1)):abs():max() < 1e-12)
  local spread = encode({}, dataset(pairs_of, y))
  local mean = spread:sum() / 400
  local covariance = 0
  for i = 1, 400 do covariance = covariance + (spread:get(i, 1) - mean) * y[i] / 400 end
  -- without smoothing it would be about 1/2
  local plain, raw = encode({ smoothing = 0 }, dataset(pairs_of, y)), 0
  for i = 1, 400 do raw = raw + plain:get(i, 1) * y[i] / 400 end
  lu.assertTrue(raw > 0.35)
  lu.assertTrue(covariance < 0.15, covariance)
  -- the folds of p:cv are not seen by what they judge
  local p = sc.pipeline{ sc.stage.target_encoding{ smoothing = 0 },
    sc.solver.ridge{ lambda = 1e-6 } }
  lu.assertTrue(p:cv(dataset(pairs_of, y), { folds = 5 }).mean < 0.1)
end

-- n rows of noise, each identifier twice.
local function noise_in_pairs(n)
  local noise, ids = sc.randn{ n, 1, seed = 15 }, sc.zeros(n, 1)
  for i = 1, n do ids:set(i, 1, i // 2) end
  return ids, noise
end

local function unsmoothed(...)
  return sc.pipeline{ sc.stage.target_encoding{ smoothing = 0 }, ... }
end

-- Out-of-fold scores of noise tell nothing, while codes of all rows would: their log loss is below
-- 0.4.
function TestCalibrationIsWithoutEachFold()
  local ids, noise = noise_in_pairs(1000)
  local weights = sc.rand{ 1000, 1, seed = 3 } + 0.5
  local ds = sc.dataset{ X = ids, y = noise:map(function(v) return v > 0 and 1 or 0 end),
    weights = weights, task = "classification" }
  local p = unsmoothed(sc.solver.ridge{ lambda = 1e-3 }):fit(ds)
  local got = p:calibrate{ folds = 4, seed = 2 }:info().calibration
  lu.assertTrue(p:score(ds, { metric = "log_loss" }) > 0.6)
  -- by hand: models of the rows of other folds
  local folds, scores, targets = ds:fold_ids{ k = 4, seed = 2 }, sc.zeros(1000, 1), ds:targets()
  for f = 1, 4 do
    local inside, outside = {}, {}
    for i, fold in ipairs(folds) do table.insert(fold == f and outside or inside, i) end
    local s = unsmoothed(sc.solver.ridge{ lambda = 1e-3 }):fit(ds:select(inside))
      :decision(ids:select(outside))
    for j, i in ipairs(outside) do scores:set(i, 1, s:get(j, 1)) end
  end
  local want = require("scullery.core").platt(scores, targets, weights)[1]
  lu.assertAlmostEquals(got.slopes[1], want.slope, 1e-6)
  lu.assertAlmostEquals(got.offsets[1], want.offset, 1e-6)
end

-- With more rows than the sample has, lambda and T are chosen on all rows; the rows that judge are
-- noise to codes that are made without them, so that no model is better than the mean: loss 1.
function TestChoicesOnAllRowsDoNotLeak()
  local ids, noise = noise_in_pairs(9000)
  local features = { p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.fourier(), T = 20,
    seed = 1 }
  local ds = sc.dataset{ X = ids, y = noise, task = "regression" }
  local p = unsmoothed(sc.features(features), sc.solver.ridge()):fit(ds)
  lu.assertTrue(tonumber(p:info().chosen:match "lambda = ([%d.e+-]+)") >= 1, p:info().chosen)
  -- the fit is to stages of all rows
  lu.assertTrue(p:transform(ids) == unsmoothed(sc.features(features), sc.solver.ridge{ lambda = 1 })
    :fit(ds):transform(ids))
  features.T = "auto"
  local growing = unsmoothed(sc.features(features), sc.solver.ridge{ lambda = 1e-3 }):fit(ds)
  lu.assertTrue(growing:info().growth[1].loss > 0.9)
end

function TestAnEstimateOfTheSolverHasANote()
  local ids, noise = noise_in_pairs(100)
  local p = unsmoothed(sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.fourier(), T = 5, seed = 1 },
    sc.solver.ridge{ lambda = 1, estimate = "loo" }):fit(ids, noise)
  lu.assertStrContains(p:info().note, "a row stage learnt from the targets")
end

function TestSumsWithFoldsAreRefused()
  local ids, noise = noise_in_pairs(100)
  local ds = sc.dataset{ X = ids, y = noise, task = "regression" }
  local p = unsmoothed(sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.fourier(), T = 5, seed = 1 }, sc.solver.ridge{ lambda = 1 })
  fails({ "pipeline:sums", "learns from the targets", "p:search" }, p.sums, p, ds, { folds = 5 })
  local s = p:sums(ds)
  fails({ "folds = \"gcv\" is for stages that do not learn" }, s.search, s, { folds = "gcv" })
end

function TestWeightsAndClasses()
  local X = sc.matrix{ { 1, 5 }, { 1, 6 }, { 2, 7 }, { 2, 8 }, { 3, 9 }, { 3, 1 } }
  local ds = sc.dataset{ X = X, y = { "a", "b", "c", "a", "b", "c" },
    weights = { 1, 3, 1, 1, 2, 0 } }
  local p = sc.pipeline{ sc.stage.target_encoding{ columns = { 1 }, smoothing = 0 },
    sc.solver.ridge() }:fit(ds)
  local Z = p:transform(X)
  lu.assertEquals(Z:cols(), 4) -- three classes, and the second column
  local t = ds:targets()
  for class = 1, 3 do
    lu.assertAlmostEquals(Z:get(1, class), (t:get(1, class) + 3 * t:get(2, class)) / 4, 1e-14)
    lu.assertAlmostEquals(Z:get(5, class), t:get(5, class), 1e-14)
  end
  lu.assertEquals(Z:get(4, 4), 8)
  local path = os.tmpname()
  p:save(path)
  lu.assertTrue(sc.load(path):transform(X) == Z)
  os.remove(path)
end

function TestRefusals()
  local y = {}
  for i = 1, 40 do y[i] = i % 4 + i / 100 end
  local groups = sc.zeros(40, 1)
  for i = 1, 40 do groups:set(i, 1, i % 4) end
  local shares = sc.dataset{ X = groups, y = y, weights = sc.ones(40, 1) / 40, task = "regression" }
  fails({ "the weights of 40 rows add up to 1, and column 1 has 4 categories", "a mean of 1" },
    function() encode({}, shares) end)
  lu.assertTrue(encode({ smoothing = 0 }, shares):max() > 3)
  local ds = dataset({ 1, 2, 3 }, { 1, 2, 3 })
  fails({ "option 'columns' has column 2, and columns 1 to 1 arrive" }, function()
    encode({ columns = { 2 } }, ds)
  end)
  fails({ "more than 2 different values" }, function() encode({ most = 2 }, ds) end)
  fails({ "learns from targets, and these rows have none" }, function()
    sc.pipeline{ sc.stage.target_encoding() }:fit(ds.X)
  end)
  fails({ "comes after the features" }, function()
    sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.relu(), T = 3 },
      sc.stage.target_encoding(), sc.solver.ridge() }
  end)
end

os.exit(lu.LuaUnit.run(), true)
