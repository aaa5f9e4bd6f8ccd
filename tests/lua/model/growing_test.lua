-- T = "auto": the number of parameters that a fit chooses by doubling.
local core = require "scullery.core"
local lu = require "luaunit"
local growing = require "scullery.model.growing"
local sample = require "scullery.model.sample"
local sc = require "scullery"

local function smooth(n, seed, noise)
  local X = sc.randn{ n, 3, seed = seed }
  local y = X:column(1):map(function(v) return math.sin(2 * v) end)
    + X:column(2):mul(X:column(3)) * 0.5 + sc.randn{ n, 1, seed = seed + 100 } * (noise or 0.3)
  return sc.dataset{ X = X, y = y, task = "regression" }
end

local function two_classes(n, seed)
  local X = sc.randn{ n, 3, seed = seed }
  local y = (X:column(1):mul(X:column(2)) + sc.randn{ n, 1, seed = seed + 100 } * 0.2)
    :map(function(v) return v > 0 and 1 or 0 end)
  return sc.dataset{ X = X, y = y, task = "classification" }
end

local function pipeline(T, solver, given)
  local o = { p = sc.sampler.gaussian{ sigma = 0.7 }, phi = sc.nonlinearity.fourier(), T = T,
    seed = 1 }
  for name, value in pairs(given or {}) do o[name] = value end
  return sc.pipeline{ sc.features(o), solver or sc.solver.ridge{ lambda = 1e-5 } }
end

-- ------------ the rule

-- Steps with these losses of rows, a list for each T = 50, 100, ...: what growing.grow is given.
local function growth_of(losses, rows, more)
  local weights = sc.ones(#losses[1], 1)
  local function at(T)
    local k = math.tointeger(math.log(T / 50, 2) + 1)
    local column = sc.zeros(#losses[1], 1)
    for i, loss in ipairs(losses[k]) do column:set(i, 1, loss) end
    return growing.step(T, nil, { losses = column, weights = weights }, { growing.now() })
  end
  local o = { rows = rows, at = at, began = { growing.now() }, first = function(list)
    local steps = {}
    for k, T in ipairs(list) do steps[k] = at(T) end
    return steps
  end }
  for name, value in pairs(more or {}) do o[name] = value end
  local step, report = growing.grow(o)
  return step and step.T, report
end

local function mean(list)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + value end
  return sum / #list
end

-- True if the losses a are above the losses b by at most a standard error and 1 %.
local function close(a, b)
  local gaps, squares = {}, 0
  for i = 1, #a do gaps[i] = a[i] - b[i] end
  local gain = mean(gaps)
  for i = 1, #a do squares = squares + (gaps[i] - gain) ^ 2 end
  return gain <= math.sqrt(squares) / #a and gain <= 0.01 * mean(b)
end

-- The losses of rows for T = 50 2^(k - 1) are 1 + c / T, with noise of their own.
local function random_losses(seed, count, n)
  local noise, list = sc.randn{ n, count, seed = seed }, {}
  local c, spread = 10 * (1 + seed % 7), 0.02 * (1 + seed % 5)
  for k = 1, count do
    list[k] = {}
    for i = 1, n do list[k][i] = 1 + c / (50 * 2 ^ (k - 1)) + spread * noise:get(i, k) end
  end
  return list
end

function TestTheRuleAgainstAnIndependentComputation()
  local lasts = {}
  for seed = 1, 60 do
    local losses = random_losses(seed, 8, 50)
    local T, report = growth_of(losses, 100000)
    local last = 4 -- the first four are always compared
    while last < 8 and not close(losses[last - 1], losses[last]) do last = last + 1 end
    local best = 1
    for k = 2, last do if mean(losses[k]) < mean(losses[best]) then best = k end end
    local place = 1
    while place < best and not close(losses[place], losses[best]) do place = place + 1 end
    lu.assertEquals(#report, last)
    lu.assertEquals(T, 50 * 2 ^ (place - 1))
    for k, one in ipairs(report) do lu.assertAlmostEquals(one.loss, mean(losses[k]), 1e-12) end
    lasts[last] = true
  end
  lu.assertTrue(lasts[4] and lasts[5] and lasts[6])
end

-- ------------ where the growth ends

local function falling(count)
  local list = {}
  for k = 1, count do list[k] = { 2 ^ -k, 2 ^ -k, 2 ^ -k } end
  return list
end

function TestTheEnds()
  local T, report = growth_of(falling(12), 900)
  lu.assertEquals({ T, report.ended }, { 1600, "there are 900 rows to learn from" })
  T, report = growth_of(falling(12), 1e6)
  lu.assertEquals({ T, report.ended }, { 6400,
    "T = 6400 is the largest that is tried without a budget" })
  T, report = growth_of(falling(12), 50)
  lu.assertEquals({ T, #report }, { 50, 1 })
  T, report = growth_of(falling(12), 1e6, { budget = { seconds = 1e-9 } })
  lu.assertEquals({ T, report.ended }, { 400, "T = 800 would exceed the budget of 1e-09 seconds" })
end

function TestALossThatIsNotFinite()
  local T, report = growth_of({ { 0 / 0 }, { 0 / 0 }, { 0 / 0 }, { 0 / 0 }, { 0 / 0 } }, 300)
  lu.assertNil(T)
  lu.assertEquals(#report, 4)
end

function TestNoMemoryForTheNextStep()
  local o = { rows = 1e6, began = { growing.now() }, at = function()
    error("not enough memory for 8 TB of normal equations", 0)
  end }
  o.first = function(list)
    local steps = {}
    for k, T in ipairs(list) do
      steps[k] = growing.step(T, nil, { losses = sc.ones(3, 1) * (1 / k),
        weights = sc.ones(3, 1) }, o.began)
    end
    return steps
  end
  local step, report = growing.grow(o)
  lu.assertEquals({ step.T, report.ended }, { 400, "there is not enough memory for T = 800" })
  o.at = function() error("interrupted!", 0) end
  lu.assertErrorMsgEquals("interrupted!", growing.grow, o)
end

function TestBudgetsOfAFit()
  local ds, given = smooth(1500, 3, 0.01), { p = sc.sampler.gaussian{ sigma = 2 } }
  local p = pipeline("auto", nil, given):fit(ds, { budget = { seconds = 1e-6 } })
  lu.assertEquals(p:info().growth.ended, "T = 800 would exceed the budget of 1e-06 seconds")
  lu.assertEquals(#p:info().growth, 4)
  p = pipeline("auto", nil, given):fit(ds, { budget = { bytes = 1e5 } })
  lu.assertEquals(p:info().growth.ended, "T = 800 would exceed the budget of 100000 bytes")
  lu.assertStrContains(p:info().chosen, "would exceed the budget of 100000 bytes")
end

-- ------------ fits

-- The fit with what was chosen given.
local function given_of(p, solver, given)
  return pipeline(p:info().T, solver, given)
end

function TestTheBitsOfAFitWithThisT()
  for _, dtype in ipairs{ "float64", "float32", "int16" } do
    local ds = smooth(600, 5)
    local p = pipeline("auto", nil, { dtype = dtype }):fit(ds)
    lu.assertTrue(p:info().T < 800)
    local q = given_of(p, nil, { dtype = dtype }):fit(ds)
    lu.assertEquals(p:predict(ds.X), q:predict(ds.X))
    lu.assertEquals(p:info().T, p.fitted.map_info.T)
  end
  local ds = two_classes(400, 6)
  for _, solver in ipairs{ sc.solver.cg{ lambda = 1e-3 }, sc.solver.logistic{ lambda = 1e-4 },
    sc.solver.hinge{ lambda = 1e-3 } } do
    local p = pipeline("auto", solver):fit(ds)
    lu.assertEquals(p:decision(ds.X), given_of(p, solver):fit(ds):decision(ds.X))
  end
end

-- With more rows than the sample has, the sums of the candidate are those of the fit.
function TestSumsOfTheGrowthAreThoseOfTheFit()
  local ds = smooth(7000, 7)
  local p = pipeline("auto", nil, { dtype = "int16" }):fit(ds)
  lu.assertEquals(p:predict(ds.X), given_of(p, nil, { dtype = "int16" }):fit(ds):predict(ds.X))
  p = pipeline("auto"):fit(ds)
  local q = given_of(p):fit(ds)
  lu.assertTrue((p:predict(ds.X) - q:predict(ds.X)):norm() < 1e-9 * q:predict(ds.X):norm())
end

-- The mean squared error of the rows of the sample, each by the fit without its fold.
-- Whole-number features: a step sums only the products that the step before does not have.
function TestSumsOfTheStepBeforeAreUsed()
  local sums, calls = core.training_know_sums, 0
  local X = sc.randn{ 7000, 6, seed = 4 }
  local y = (X:column(1) * 3):map(math.sin) + X:column(2):mul(X:column(3)) * 0.5
    + sc.randn{ 7000, 1, seed = 5 } * 0.6
  local function growth(dtype, weights, used)
    local ds = sc.dataset{ X = X, y = y, weights = weights and X:column(1):map(math.exp) }
    core.training_know_sums = function(...)
      calls = calls + 1
      return used and sums(...)
    end
    local p = pipeline("auto", nil, { dtype = dtype }):fit(ds)
    core.training_know_sums = sums
    local seen = { p:weights():norm() }
    for k, step in ipairs(p:info().growth) do seen[k + 1] = step.loss end
    return seen
  end
  for _, one in ipairs{ { "int16" }, { "int8" }, { "int16", true } } do
    lu.assertEquals(growth(one[1], one[2], true), growth(one[1], one[2], false))
  end
  lu.assertTrue(calls >= 6)
end

function TestLossesAreThoseOfFitsWithoutEachFold()
  local ds = smooth(500, 9)
  local p = pipeline("auto"):fit(ds)
  local few = sample.of(p, ds, 4000)
  local ids = sample.folds(few)
  for _, one in ipairs(p:info().growth) do
    local squares = 0
    for f = 1, sample.FOLDS do
      local inside, outside = {}, {}
      for i, fold in ipairs(ids) do table.insert(fold == f and outside or inside, i) end
      local test = few:select(outside)
      local gaps = pipeline(one.T):fit(few:select(inside)):predict(test.X) - test.y
      squares = squares + gaps:mul(gaps):sum()
    end
    lu.assertAlmostEquals(one.loss, squares / 500, 1e-6 * squares / 500)
  end
end

-- Up to 400 parameters the sums are parts of those of 400: sums of numbers, of whole numbers and of
-- bits.
function TestLossesOfPartsOfSums()
  local ds = smooth(6500, 11)
  local judges, of = sample.of(pipeline(50), ds, 16000)
  local ids, inside, outside = sample.folds(judges), {}, {}
  for i = 1, #ds do
    local judged = ids[math.tointeger(of:get(i, 1))] == 1
    table.insert(judged and outside or inside, i)
  end
  local test = ds:select(outside)
  for _, given in ipairs{ {}, { dtype = "int16" }, { phi = sc.nonlinearity.sign() } } do
    local growth = pipeline("auto", nil, given):fit(ds):info().growth
    for k = 1, 4 do
      local found = pipeline(growth[k].T, nil, given):fit(ds:select(inside)):error(test)
      lu.assertAlmostEquals(growth[k].loss, found, 1e-6 * found)
    end
  end
end

function TestTheChoiceDependsOnTheRowsAlone()
  local ds, turned, twice, weights = smooth(300, 13), {}, {}, {}
  for i = 1, 300 do
    turned[i], weights[i] = 301 - i, 1 + i % 2
    for _ = 1, weights[i] do twice[#twice + 1] = i end
  end
  local function losses(rows)
    local list = {}
    for k, one in ipairs(pipeline("auto"):fit(rows):info().growth) do list[k] = one.loss end
    return list
  end
  local function assert_alike(a, b)
    lu.assertEquals(#a, #b)
    for k = 1, #a do lu.assertAlmostEquals(a[k], b[k], 1e-6 * a[k]) end
  end
  assert_alike(losses(ds), losses(ds:select(turned)))
  assert_alike(losses(ds:select(twice)), losses(sc.dataset{ X = ds.X, y = ds.y,
    task = "regression", weights = weights }))
end

function TestTheRegularisationIsChosenWithIt()
  local ds = smooth(400, 15)
  local p = sc.pipeline{ sc.standardize(), sc.features{ T = "auto" }, sc.solver.ridge{} }:fit(ds)
  local T = p:info().T
  for _, one in ipairs(p:info().growth) do
    if one.T == T then lu.assertEquals(p.fitted.solver.given.lambda, one.lambda) end
  end
  lu.assertStrContains(p:info().chosen, "lambda = ")
  lu.assertStrContains(p:info().chosen, ("T = %d (50 to "):format(T))
  lu.assertStrContains(tostring(p), ("T = %d, seed"):format(T))
  lu.assertStrContains(tostring(p:clone()), 'T = "auto", seed')
  local test = smooth(1000, 16)
  local most = sc.pipeline{ sc.standardize(), sc.features{ T = 400 }, sc.solver.ridge{} }:fit(ds)
  lu.assertTrue(p:error(test) < 1.1 * most:error(test))
end

function TestAStreamGetsTheSameChoice()
  local ds = smooth(6500, 17)
  local stream = sc.data.rows{ n = 6500, d = 3, task = "regression", read = function(first, count)
    return ds.X:slice(first, first + count - 1), ds.y:slice(first, first + count - 1)
  end }
  local a, b = pipeline("auto"):fit(ds), pipeline("auto"):fit(stream)
  lu.assertEquals(b:info().T, a:info().T)
  lu.assertEquals(b:predict(ds.X), a:predict(ds.X))
end

-- Kernel sections of landmarks, a kernel K on parameters, parameters that are not the first of more
-- (orthogonal blocks), row stages that learn from the targets.
function TestAllKindsOfFeatures()
  local ds = smooth(300, 19)
  local lambda = { lambda = 1e-5 }
  for _, stages in ipairs{
    { sc.features{ p = sc.sampler.landmarks{}, phi = sc.kernel.gaussian{ width = 2 }, T = "auto" },
      sc.solver.ridge(lambda) },
    { sc.instantiation{ K = sc.kernel.gaussian{ width = 2 }, p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.sign() }:features{ T = "auto" },
      sc.solver.ridge{ lambda = 1e-5, penalty = "rkhs" } },
    { sc.features{ p = sc.sampler.orthogonal{ sigma = 0.7 }, phi = sc.nonlinearity.fourier(),
      T = "auto" }, sc.solver.ridge(lambda) },
    { sc.relevance(), sc.features{ T = "auto" }, sc.solver.ridge{} },
  } do
    local p = sc.pipeline(stages):fit(ds)
    lu.assertTrue(p:info().T >= 50 and p:info().T <= 400)
    lu.assertStrContains(p:info().chosen, "tried: ")
  end
end

function TestClassesGroupsAndWeights()
  local ds, groups = two_classes(400, 21), {}
  for i = 1, 400 do groups[i] = (i - 1) // 4 end
  local grouped = sc.dataset{ X = ds.X, y = ds.y, task = "classification", groups = groups }
  local function fit(T)
    return sc.pipeline{ sc.features{ T = T }, sc.solver.ridge{}, class_weights = "balanced" }
      :fit(grouped)
  end
  local p, test = fit("auto"), two_classes(1000, 22)
  lu.assertTrue(p:score(test) > fit(400):score(test) - 3 * math.sqrt(0.2 * 0.8 / 1000))
  lu.assertStrContains(p:info().chosen, "T = ")
end

function TestSearchesAndCrossValidation()
  local ds = smooth(300, 23)
  local p = pipeline("auto", sc.solver.ridge{ lambda = sc.choose{ 1e-5, 1e-1 } }):search(ds)
  lu.assertEquals(p.choice["solver.lambda"], 1e-5)
  lu.assertEquals(math.type(p.features.T), "integer")
  lu.assertStrContains(p:info().chosen, "T = ")
  lu.assertEquals(pipeline("auto"):fit(ds):info().T, p:info().T)
  local result = pipeline("auto"):cv(ds)
  lu.assertTrue(result.mean > 0.5 and #result.folds == 5)
end

function TestASavedChoiceIsLoadedAndMadeAgain()
  local ds, path = smooth(200, 25), os.tmpname()
  local p = pipeline("auto"):fit(ds)
  p:save(path)
  local q = sc.load(path)
  os.remove(path)
  lu.assertEquals(q:predict(ds.X), p:predict(ds.X))
  lu.assertEquals(q:info().growth, p:info().growth)
  lu.assertEquals(q.features.T, "auto")
  local other = smooth(600, 26, 0.01)
  lu.assertEquals(q:fit(other):info().T, p:fit(other):info().T)
end

function TestSumsAreOfTheChosenT()
  local ds, more = smooth(300, 27), smooth(50, 28)
  local given = { dtype = "int16" }
  local p = pipeline("auto", nil, given):fit(ds, { sums = true })
  local q = given_of(p, nil, given):fit(ds, { sums = true })
  local T = p:info().T
  lu.assertEquals(p:update(more):predict(ds.X), q:update(more):predict(ds.X))
  lu.assertEquals(p:info().T, T)
  lu.assertNotNil(p:info().growth)
end

-- A fit that is stopped again and again goes on from its checkpoint, with the bits of one that is
-- not, on a sample and on all rows, where the chosen sums are or are not those of the last steps.
function TestACheckpoint()
  for _, case in ipairs{ { n = 600, sigma = 0.7 }, { n = 6500, sigma = 0.3 },
    { n = 6500, sigma = 1.5 } } do
    local ds, path = smooth(case.n, 33), os.tmpname()
    os.remove(path)
    local given = { p = sc.sampler.gaussian{ sigma = case.sigma } }
    local function fit(o) return pipeline("auto", sc.solver.ridge{}, given):fit(ds, o) end
    local stops, p, step = 0, nil, growing.step
    while not p do
      local left = stops + 1
      growing.step = function(...)
        left = left - 1
        if left < 0 then error("stopped here", 0) end
        return step(...)
      end
      local ok, made = pcall(fit, { checkpoint = path })
      growing.step = step
      if ok then p = made
      else
        lu.assertStrContains(made, "stopped here")
        stops = stops + 1
      end
    end
    for _, ending in ipairs{ "", ".sums", ".passes", ".state" } do os.remove(path .. ending) end
    local whole = fit()
    lu.assertTrue(stops > 1)
    lu.assertEquals(p:info().T, whole:info().T)
    lu.assertEquals(p:predict(ds.X), whole:predict(ds.X))
    for k, one in ipairs(whole:info().growth) do
      lu.assertEquals(p:info().growth[k].loss, one.loss)
    end
  end
end

function TestFewRows()
  local p = pipeline("auto"):fit(smooth(8, 29))
  lu.assertEquals(p:info().T, 50)
end

-- ------------ sentences

function TestSentences()
  local ds = smooth(60, 31)
  local function says(text, f) lu.assertErrorMsgContains(text, f) end
  local takes = "it takes a whole number of at least 1, or \"auto\""
  says("features: option 'T' got \"many\"; " .. takes, function() sc.features{ T = "many" } end)
  says("features: option 'T' got 0; " .. takes, function() sc.features{ T = 0 } end)
  says("features: option 'T' got 1.5; " .. takes, function() sc.features{ T = 1.5 } end)
  says("features: option 'T' got \"auto\" in an sc.choose", function()
    sc.features{ T = sc.choose{ 50, "auto" } }
  end)
  local chosen_by_fit = "T = \"auto\" is chosen by p:fit of a pipeline with a solver"
  says(chosen_by_fit, function() sc.features{ T = "auto" }:fit(ds.X) end)
  says(chosen_by_fit, function() sc.pipeline{ sc.features{ T = "auto" } }:fit(ds) end)
  says("pipeline:sums: T = \"auto\" is chosen by p:fit", function() pipeline("auto"):sums(ds) end)
  says("sampler.columns determines the number of parameters: leave T out", function()
    pipeline("auto", nil, { p = sc.sampler.columns(), phi = sc.nonlinearity.chi_square() })
      :fit(sc.dataset{ X = ds.X:abs(), y = ds.y, task = "regression" })
  end)
  says("a stage after the features names some of them", function()
    sc.pipeline{ sc.features{ T = "auto" }, sc.select{ columns = { 1, 2 } }, sc.solver.ridge{} }
      :fit(ds)
  end)
  for _, budget in ipairs{ {}, { seconds = -1 }, { bytes = "all" }, { second = 1 } } do
    says("pipeline:fit: option 'budget' got ", function()
      pipeline("auto"):fit(ds, { budget = budget })
    end)
  end
  says("it takes { seconds =, bytes = }", function() pipeline("auto"):fit(ds, { budget = 3 }) end)
  says("option 'budget' is for features with T = \"auto\"", function()
    pipeline(50):fit(ds, { budget = { seconds = 1 } })
  end)
end

-- Landmarks are rows: there are no more of them than a fold learns from.
function TestLandmarksAreNoMoreThanTheRows()
  for _, ds in ipairs{ smooth(48, 1), smooth(90, 1), smooth(150, 1), two_classes(150, 1) } do
    local solver = ds.classes and sc.solver.logistic{} or sc.solver.ridge{}
    local p = pipeline("auto", solver, { p = sc.sampler.landmarks{}, phi = sc.kernel.gaussian{} })
    lu.assertTrue(p:plan(ds).T >= 50)
    local info = p:fit(ds):info()
    lu.assertStrContains(info.chosen, " tried")
    lu.assertTrue(info.growth[#info.growth].T <= #ds, info.chosen)
  end
end

function TestSearchesArePlannedWithNumbersThatAreTried()
  local ds = smooth(20000, 1)
  local planned = pipeline("auto", sc.solver.ridge{ lambda = sc.choose{ 1e-3, 1e-4 } }):plan(ds)
  lu.assertStrContains(tostring(planned), " 6400\n")
end

os.exit(lu.LuaUnit.run())
