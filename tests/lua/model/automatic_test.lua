-- Options that p:fit chooses: the width of the features and the regularisation.
local lu = require "luaunit"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local sc = require "scullery"
local trials = require "scullery.model.trials"

local function smooth(n, seed)
  local X = sc.randn{ n, 3, seed = seed }
  local y = X:column(1):map(math.sin) + X:column(2):mul(X:column(3)) * 0.3
    + sc.randn{ n, 1, seed = seed + 100 } * 0.1
  return sc.dataset{ X = X, y = y, task = "regression" }
end

local function plain(T)
  return sc.pipeline{ sc.standardize(),
    sc.features{ p = sc.sampler.gaussian{}, phi = sc.nonlinearity.fourier(), T = T or 100,
      seed = 1 },
    sc.solver.ridge{} }
end

function TestNoOptionsAreAsGoodAsASearch()
  local train, test = smooth(600, 1), smooth(600, 2)
  local p = plain(200):fit(train)
  local widths, lambdas = {}, {}
  for k = -4, 2 do widths[#widths + 1] = 0.4 * 2.0 ^ k end
  for k = -9, 0 do lambdas[#lambdas + 1] = 10.0 ^ k end
  local best = sc.pipeline{ sc.standardize(), sc.features{
    p = sc.sampler.gaussian{ sigma = sc.choose(widths) }, phi = sc.nonlinearity.fourier(), T = 200,
    seed = 1 }, sc.solver.ridge{ lambda = sc.choose(lambdas) } }:search(train, { folds = 5 })
  lu.assertTrue(p:error(test) <= 1.1 * best:error(test))
  lu.assertStrContains(tostring(p), "times the median rule")
  lu.assertStrContains(p:info().chosen, "lambda = ")
end

-- Both set the width; the one that was given is taken.
-- Each width makes one pass for its sums, and so does the fit; lambda for the chosen width, with as
-- many features on as many rows, takes the sums of that width.
function TestTheSumsOfTheChosenWidthServeForLambda()
  local X = sc.randn{ 1600, 3, seed = 1 }
  local y = X:column(1):map(math.sin) + sc.randn{ 1600, 1, seed = 2 } * 0.1
  local p = sc.pipeline{ sc.features{ T = 40 }, sc.solver.ridge{} }
  local report = sc.profile(p.fit, p, sc.dataset{ X = X, y = y, task = "regression" })
  local factor = tonumber(p:info().chosen:match "%(([%d%.]+) times the median rule%)")
  local tried = { [1 / 16] = 5, [1 / 8] = 5, [1 / 4] = 4, [1 / 2] = 3, [1] = 3, [2] = 4, [4] = 4 }
  local widths = tried[factor]
  for _, stage in ipairs(report.stages) do
    if stage.name == "normal equations" then
      lu.assertEquals({ stage.passes, stage.rows }, { widths + 1, 1600 * (widths + 1) })
    end
  end
end

-- With more rows than a sample has, all of them choose lambda, on the sums of the fit: one pass,
-- and one over the rows that judge. Half of the parameters judge, whose sums are parts of these.
-- The model is the one of that lambda to the bit.
function TestLambdaAloneIsChosenOnTheSumsOfTheFit()
  local X = sc.randn{ 6100, 2, seed = 1 }
  local y = X:column(1):map(math.sin) + sc.randn{ 6100, 1, seed = 2 } * 0.3
  local ds = sc.dataset{ X = X, y = y, task = "regression" }
  local function pipeline(lambda)
    return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.fourier(), T = 40, seed = 1 },
      sc.solver.ridge{ lambda = lambda } }
  end
  local p = pipeline("auto")
  local report = sc.profile(p.fit, p, ds)
  for _, stage in ipairs(report.stages) do
    if stage.name == "normal equations" then
      lu.assertEquals({ stage.passes, stage.rows }, { 2, 6100 + 1220 })
    end
  end
  lu.assertStrContains(p:info().chosen, "chosen on 6100 of 6100 rows")
  local lambda = p.fitted.solver.given.lambda
  lu.assertEquals(p:predict(X), pipeline(lambda):fit(ds):predict(X))
  local order = {}
  for i = 1, 6100 do order[i] = (i * 1201) % 6100 + 1 end
  lu.assertEquals(pipeline("auto"):fit(ds:select(order)).fitted.solver.given.lambda, lambda)
end

-- From 2000 rows on that is so on a sample which has all rows; with fewer, folds of the sample
-- judge, each on sums of its own. At most 350 parameters judge.
function TestTheSumsOfTheFitChooseLambdaAloneFromTwoThousandRows()
  local passes = {}
  for _, n in ipairs{ 1990, 2000 } do
    local X = sc.randn{ n, 2, seed = 1 }
    local y = X:column(1):map(math.sin) + sc.randn{ n, 1, seed = 2 } * 0.3
    local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.fourier(), T = 800, seed = 1 }, sc.solver.ridge{} }
    local sizes, decompose = {}, core.training
    core.training = function(source, stages, map, given)
      local training = decompose(source, stages, map, given)
      if map then sizes[#sizes + 1] = core.map_info(map).features end
      return training
    end
    local report = sc.profile(p.fit, p, sc.dataset{ X = X, y = y, task = "regression" })
    core.training = decompose
    for _, stage in ipairs(report.stages) do
      if stage.name == "normal equations" then passes[n] = stage.rows end
    end
    table.sort(sizes)
    lu.assertEquals({ sizes[1], sizes[#sizes] }, { 350, 800 })
  end
  lu.assertEquals(passes, { [1990] = 2 * 1990, [2000] = 2000 + 400 })
end

-- The constant for features from which no means are subtracted.
local function constant_of(fit)
  local pilot = fit.pilot and (fit.pilot * fit.weights):get(1, 1) or 0
  return fit.intercept:get(1, 1) - pilot
end

-- A wide kernel: features far from 0 beside their deviation, from which means are subtracted.
function TestSumsOfHalfOfTheParametersAreParts()
  local X = sc.randn{ 300, 2, seed = 1 }
  local y = X:column(1):map(math.sin) + 10
  local ds, sides = sc.dataset{ X = X, y = y, task = "regression" }, {}
  local held, rest = {}, {}
  for i = 1, 300 do
    sides[i] = 1 + i % 2
    table.insert(i % 2 == 0 and held or rest, i)
  end
  local others, held_rows = ds:select(rest), ds:select(held)
  held_rows.weights = sc.ones(#held, 1)
  local all = { ds = ds, source = dataset.source_of_targets(ds),
    held = held_rows, sides = function() return sides end }
  for _, sigma in ipairs{ 1, 0.01 } do
    local function pipeline(T)
      return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = sigma },
        phi = sc.nonlinearity.fourier(), T = T, seed = 1 }, sc.solver.ridge{ lambda = 1e-3 } }
    end
    local p = pipeline(40)
    for _, whole in ipairs{ false, true } do
      local wanted = pipeline(20):fit(whole and others or ds).fitted
      local half, few = trials.half(all, p, trials.train(all, p, nil, nil, whole))
      lu.assertEquals({ half.features.T, few.whole }, { 20, whole })
      local fit = core.solve(few.training, component.instance(p.solver), 0)[1]
      lu.assertTrue((fit.weights - wanted.weights):abs():max() < 1e-8 * wanted.weights:abs():max())
      lu.assertAlmostEquals(constant_of(fit), constant_of(wanted), 1e-6)
      lu.assertEquals(fit.pilot ~= nil, sigma < 1)
    end
  end
end

function TestGammaInPlaceOfSigma()
  local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ gamma = 0.1 },
    phi = sc.nonlinearity.fourier(), T = 50, seed = 1 }, sc.solver.ridge{} }:fit(smooth(100, 1))
  lu.assertEquals(p.fitted.features.inst.p.given.gamma, 0.1)
  lu.assertNil(p.fitted.features.inst.p.given.sigma)
  lu.assertStrContains(p:info().chosen, "lambda = ")
end

local function choice_of(p)
  return { p.fitted.features.inst.p.given.sigma, p.fitted.solver.given.lambda }
end

-- The choice depends on the rows, not on their order, nor on how equal rows are written down.
function TestTheChoiceDependsOnTheRowsAlone()
  local ds = smooth(300, 5)
  local wanted = choice_of(plain():fit(ds))
  local turned, twice, weights = {}, {}, {}
  for i = 1, 300 do
    turned[i], weights[i] = 301 - i, 1 + i % 2
    for _ = 1, weights[i] do twice[#twice + 1] = i end
  end
  local back = choice_of(plain():fit(ds:select(turned)))
  lu.assertAlmostEquals(back[1], wanted[1], 1e-9 * wanted[1])
  lu.assertEquals(back[2], wanted[2])
  local copies = choice_of(plain():fit(ds:select(twice)))
  local weighted = sc.dataset{ X = ds.X, y = ds.y, task = "regression", weights = weights }
  local as_weights = choice_of(plain():fit(weighted))
  lu.assertEquals(copies[2], as_weights[2])
  -- standardize does not see weights
  lu.assertAlmostEquals(copies[1], as_weights[1], 0.05 * copies[1])
end

-- However many copies there are, the sample has all rows, and no second choice on all rows follows.
function TestManyCopiesDoNotChangeTheChoice()
  local train, copies = sc.data.load "wdbc":split{ test = 0.25, seed = 0 }, {}
  for i = 1, #train do for _ = 1, 3 do copies[#copies + 1] = i end end
  local wanted, tripled = choice_of(plain(200):fit(train)),
    choice_of(plain(200):fit(train:select(copies)))
  lu.assertAlmostEquals(tripled[1], wanted[1], 1e-9 * wanted[1])
  lu.assertEquals(tripled[2], wanted[2])
end

function TestOnlyWhatIsNotGivenIsChosen()
  local ds = smooth(200, 7)
  local function fit(p, solver) return sc.pipeline{ sc.standardize(), sc.features{ p = p,
    phi = sc.nonlinearity.fourier(), T = 50, seed = 1 }, solver }:fit(ds) end
  local given = fit(sc.sampler.gaussian{ sigma = 0.3 }, sc.solver.ridge{ lambda = 1e-3 })
  lu.assertNil(given:info().chosen)
  local width = fit(sc.sampler.gaussian{}, sc.solver.ridge{ lambda = 1e-3 })
  lu.assertEquals(width.fitted.solver.given.lambda, 1e-3)
  lu.assertNotNil(width.fitted.features.inst.p.given.sigma)
  local lambda = fit(sc.sampler.gaussian{ sigma = 0.3 }, sc.solver.ridge{ lambda = "auto" })
  lu.assertEquals(lambda.fitted.features.inst.p.given.sigma, 0.3)
  lu.assertNotNil(lambda.fitted.solver.given.lambda)
end

-- More rows than the sample has, in memory and as a stream: the same choice.
function TestAStreamGetsTheSameChoice()
  local ds = smooth(7000, 9)
  local stream = sc.data.rows{ n = 7000, d = 3, task = "regression", read = function(first, count)
    return ds.X:slice(first, first + count - 1), ds.y:slice(first, first + count - 1)
  end }
  local a, b = plain(60):fit(ds), plain(60):fit(stream)
  lu.assertEquals(choice_of(a)[2], choice_of(b)[2])
  lu.assertAlmostEquals(choice_of(a)[1], choice_of(b)[1], 1e-9)
  lu.assertStrContains(a:info().chosen, "on 4000 of 7000 rows")
end

function TestASavedChoiceIsLoadedAndMadeAgain()
  local ds, path = smooth(200, 11), os.tmpname()
  local p = plain(50):fit(ds)
  p:save(path)
  local q = sc.load(path)
  os.remove(path)
  lu.assertEquals(q:predict(ds.X), p:predict(ds.X))
  lu.assertEquals(choice_of(q), choice_of(p))
  lu.assertEquals(q:info().chosen, p:info().chosen)
  local other = smooth(200, 12)
  lu.assertEquals(choice_of(q:fit(other)), choice_of(p:fit(other)))
end

function TestOtherSolversAreChosenForToo()
  local X = sc.randn{ 300, 2, seed = 3 }
  local y = X:column(1):mul(X:column(2)):map(function(v) return v > 0 and 1 or 0 end)
  local ds = sc.dataset{ X = X, y = y, task = "classification" }
  for _, solver in ipairs{ sc.solver.logistic{}, sc.solver.lasso{}, sc.solver.kernel_ridge{
    kernel = sc.kernel.gaussian{ gamma = 1 } } } do
    local stages = { sc.standardize(), solver }
    if solver.name ~= "kernel_ridge" then
      table.insert(stages, 2, sc.features{ p = sc.sampler.gaussian{}, T = 60, seed = 1,
        phi = sc.nonlinearity.fourier() })
    end
    local p = sc.pipeline(stages):fit(ds)
    lu.assertTrue(p:error(ds) < 0.2, solver.name)
    lu.assertStrContains(p:info().chosen, "lambda = ", solver.name)
  end
end

-- A width that another option gives is given.
function TestAWidthGivenByAnotherOptionIsKept()
  local ds = smooth(60, 13)
  for _, p in ipairs{ sc.sampler.gaussian{ gamma = 1 }, sc.sampler.gaussian{ gamma = "median" },
    sc.sampler.student{ length = 1 }, sc.sampler.orthogonal{ gamma = 2 } } do
    local fitted = sc.pipeline{ sc.features{ p = p, phi = sc.nonlinearity.fourier(), T = 20 },
      sc.solver.ridge{} }:fit(ds)
    lu.assertEquals(fitted.fitted.features.inst.p.given, p.given)
    lu.assertStrContains(fitted:info().chosen, "lambda = ")
  end
  local kernel = sc.kernel.gaussian{ gamma = 0.5 }
  local fitted = sc.pipeline{ sc.features{ p = sc.sampler.landmarks{}, phi = kernel, T = 20 },
    sc.solver.ridge{} }:fit(ds)
  lu.assertEquals(fitted.fitted.features.inst.phi.given, kernel.given)
end

-- Neighbours are counted: what is chosen for lambda is no number of them.
function TestANumberOfNeighboursKeepsItsDefault()
  local ds = smooth(60, 14)
  local p = sc.pipeline{ sc.solver.knn{} }:fit(ds)
  lu.assertNil(p:info().chosen)
  lu.assertErrorMsgContains("option 'k' got \"auto\"; it takes a whole number", function()
    sc.solver.knn{ k = "auto" }
  end)
end

-- C of a solver without lambda is a regularisation upside down: of a noisy line the smallest of the
-- equally good values is taken, and of a curve without noise a large one.
function TestACapacityIsChosenAsAnInverseRegularisation()
  local X, e = sc.randn{ 200, 1, seed = 41 }, sc.randn{ 200, 1, seed = 42 }
  local curve = sc.dataset{ X = X, y = X:map(function(v) return 10 * math.sin(2 * v) end),
    task = "regression" }
  local noise = sc.dataset{ X = X, y = e, task = "regression" }
  local function fit(solver, ds)
    local stages = { sc.standardize(), solver }
    if solver.name == "box" then
      table.insert(stages, 2, sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 60, seed = 1,
        phi = sc.nonlinearity.fourier() })
    end
    return sc.pipeline(stages):fit(ds)
  end
  for _, name in ipairs{ "svm", "box" } do
    local free, given = fit(sc.solver[name]{ C = "auto" }, curve), fit(sc.solver[name]{ C = 1 },
      curve)
    local C = free.fitted.solver.given.C
    lu.assertTrue(C >= 10, name)
    lu.assertTrue(free:error(curve) < 0.5 * given:error(curve), name)
    lu.assertStrContains(free:info().chosen, ("C = %.3g, chosen on 200 of 200 rows"):format(C))
    lu.assertTrue(fit(sc.solver[name]{}, noise).fitted.solver.given.C <= 0.1, name)
    local again = fit(sc.solver[name]{ C = C }, curve)
    lu.assertTrue(again:predict(curve) == free:predict(curve), name)
  end
end

-- The capacity of a solver that has a lambda keeps its default, and so does a number of rounds.
function TestOtherCapacitiesKeepTheirDefaults()
  lu.assertErrorMsgContains("option 'B' got \"auto\"", function() sc.solver.sfgd{ B = "auto" } end)
  lu.assertErrorMsgContains("option 'stumps' got \"auto\"", function()
    sc.solver.adaboost{ stumps = "auto" }
  end)
  local help = require "scullery.help"
  local said = "p:fit chooses one that is not given (else 1)"
  lu.assertStrContains(help.plugin("solver", "svm"), "C            a number above 0; " .. said)
  lu.assertNotStrContains(help.plugin("solver", "knn"), "p:fit chooses")
  local _, count = help.plugin("solver", "sfgd"):gsub("p:fit chooses", "")
  lu.assertEquals(count, 1)
end

-- The width of a solver's own kernel is not chosen.
function TestAutoInASolversKernel()
  for _, kernel in ipairs{ sc.kernel.gaussian{ width = "auto" }, sc.choose{ sc.kernel.gaussian(),
    sc.kernel.gaussian{ gamma = "auto" } } } do
    lu.assertErrorMsgContains("option 'kernel' has", sc.solver.kernel_ridge, { kernel = kernel })
  end
  local fitted = sc.pipeline{ sc.features{ p = sc.sampler.landmarks{}, T = 20,
    phi = sc.kernel.gaussian{ width = "auto" } }, sc.solver.ridge{} }:fit(smooth(60, 13))
  lu.assertStrContains(fitted:info().chosen, "width = ")
end

-- A class so rare that the sample does not have it: the defaults stay, and a line says so.
-- While lambda or C is chosen, a width by a rule is that of the sample, not the default.
function TestWidthsOfASolversKernelByARule()
  local train = sc.data.load("wdbc"):subset(1, 200)
  local X = sc.pipeline{ sc.standardize() }:fit(train):transform(train)
  local ds = sc.dataset{ X = X, y = train.y, classes = train.classes }
  local _, median = core.widths(core.source(X), {})
  local function chosen(solver) return sc.pipeline{ solver }:fit(ds):info().chosen end
  local function kernel_ridge(gamma)
    return chosen(sc.solver.kernel_ridge{ kernel = sc.kernel.gaussian{ gamma = gamma } })
  end
  lu.assertEquals(kernel_ridge "median", kernel_ridge(median))
  lu.assertNotEquals(kernel_ridge "median", kernel_ridge(1))
  local svm = sc.solver.svm
  lu.assertEquals(chosen(svm{ gamma = "median" }), chosen(svm{ gamma = median }))
end

function TestASampleOfOneClass()
  local script, n = os.tmpname(), 9000
  local file <close> = io.open(script, "w")
  file:write(([[
local sc = require "scullery"
local X, y = sc.randn{ %d, 1, seed = 3 }, {}
for i = 1, %d do y[i] = "common" end
y[tonumber(arg[1])] = "rare"
local p = sc.pipeline{ sc.solver.ridge{} }:fit(sc.dataset{ X = X, y = y })
print(p:info().chosen == nil)
]]):format(n, n))
  file:flush()
  local silent, said = 0, 0
  for row = 1, 4 do
    local run <close> = io.popen(("%s %s %d 2>&1"):format(arg[-1], script, row))
    local text = run:read("a")
    local told = text:find("lambda could not be chosen, and the declared default is used: no part \z
      of the 1000 rows of the sample leaves rows of two classes to learn from", 1, true)
    lu.assertEquals(text:find("true", 1, true) ~= nil, told ~= nil, text)
    if told then said = said + 1 else silent = silent + 1 end
  end
  os.remove(script)
  lu.assertTrue(said > 0, silent)
end

-- Candidates lie where the option takes them.
function TestOnlyValuesThatTheOptionTakesAreTried()
  local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{}, phi = sc.nonlinearity.fourier(),
    K = sc.kernel.gaussian{}, T = 20 }, sc.solver.optimal_stepsize{ iterations = 5 } }
  local lambda = p:fit(smooth(200, 15)).fitted.solver.given.lambda
  lu.assertTrue(lambda > 0 and lambda < 1)
end

-- One row of a class cannot be held out by solvers that need two classes.
function TestAClassOfOneRow()
  local labels = {}
  for i = 1, 40 do labels[i] = i == 7 and "rare" or "common" end
  local ds = sc.dataset{ X = sc.randn{ 40, 2, seed = 16 }, y = labels }
  for _, solver in ipairs{ sc.solver.svm{}, sc.solver.adaboost{}, sc.solver.ridge{} } do
    local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{}, T = 20,
      phi = sc.nonlinearity.fourier() }, solver }:fit(ds)
    lu.assertStrContains(p:info().chosen, "times the median rule", solver.name)
  end
end

-- Scores of a logistic regression are log-odds: judged by their distance from -1 and +1, the
-- largest lambda would win.
function TestLogOddsAreJudgedByTheirProbabilities()
  local n = 1200
  local X, chance = sc.randn{ n, 2, seed = 20 }, sc.rand{ n, 1, seed = 21 }
  local labels = {}
  for i = 1, n do
    labels[i] = chance:get(i, 1) < 1 / (1 + math.exp(-5 * X:get(i, 1))) and "yes" or "no"
  end
  local ds = sc.dataset{ X = X, y = labels }
  local chosen = sc.pipeline{ sc.solver.logistic{} }:fit(ds)
  local free = sc.pipeline{ sc.solver.logistic{ lambda = 1e-6 } }:fit(ds)
  lu.assertTrue(chosen.fitted.solver.given.lambda <= 1e-3)
  lu.assertAlmostEquals(chosen.fitted.weights:get(1, 1), free.fitted.weights:get(1, 1), 0.5)
end

-- Scores of a hinge are margins: judged by their distance from -1 and +1, the largest lambda would
-- win. The lambda that is chosen has a hinge loss on fresh rows near the least of all.
function TestMarginsAreJudgedByTheHingeLoss()
  local train, test = sc.data.load("wdbc"):split{ test = 0.5, seed = 1 }
  local function fit(lambda)
    local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.1 },
      phi = sc.nonlinearity.fourier(), T = 200, seed = 1 },
      sc.solver.hinge{ lambda = lambda, tolerance = 1e-3 } }:fit(train)
    local margins = p:decision(test.X):mul(test:targets())
    return margins:map(function(m) return math.max(0, 1 - m) end):mean(), p
  end
  local least = math.huge
  for _, lambda in ipairs{ 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1 } do
    least = math.min(least, (fit(lambda)))
  end
  local loss, p = fit(nil)
  lu.assertTrue(loss < 1.25 * least, loss .. " and " .. least)
  lu.assertStrContains(p:info().chosen, "lambda = ")
end

-- Sums of votes have no size: their labels judge.
function TestVotesAreJudgedByTheirLabels()
  local train, test = sc.data.load("wdbc"):split{ test = 0.5, seed = 1 }
  local function fit(p) return sc.pipeline{ sc.standardize(), sc.features{ p = p, T = 100,
    phi = sc.nonlinearity.fourier(), seed = 1 }, sc.solver.adaboost{} }:fit(train) end
  local median = fit(sc.sampler.gaussian{ gamma = "median" })
  lu.assertTrue(fit(sc.sampler.gaussian{}):error(test) <= median:error(test) + 0.01)
end

function TestTheLossOfEachRow()
  local scores, wanted = sc.matrix{ { 0.5, -2 }, { 3, 0 } }, sc.matrix{ { 1, -1 }, { -1, 1 } }
  local function losses(solver)
    return core.losses(component.instance(solver), scores, wanted):column(1)
  end
  lu.assertEquals(losses(sc.solver.hinge{}), sc.matrix{ { 0.5 }, { 4 + 1 } })
  lu.assertEquals(losses(sc.solver.ridge{}), sc.matrix{ { 0.25 + 1 }, { 16 + 1 } })
  local log = losses(sc.solver.logistic{})
  lu.assertAlmostEquals(log:get(1, 1), math.log(1 + math.exp(-2.5)), 1e-12)
  lu.assertAlmostEquals(log:get(2, 1), math.log(1 + math.exp(3)), 1e-12)
  lu.assertErrorMsgContains("decisions are 2 x 2 and targets 2 x 1", core.losses,
    component.instance(sc.solver.hinge{}), scores, wanted:column(1))
end

-- Candidates are solved less exactly than the model, where the solver says which option does that.
function TestCandidatesHaveALargerTolerance()
  local seen = {}
  local solver = sc.solver.define{ name = "tolerant", doc = "Counts the tolerances it is given.",
    options = { lambda = { default = 1e-3, above = 0, role = "regularisation" },
      exact = { default = 1e-6, above = 0, role = "tolerance" } },
    solve = function(problem, o)
      seen[#seen + 1] = o.exact
      return { coefficients = sc.zeros(problem.features, problem.targets), outcome = "stopped" }
    end }
  sc.pipeline{ solver{} }:fit(smooth(60, 1))
  lu.assertAlmostEquals(seen[1], 1e-4, 1e-12)
  lu.assertEquals(seen[#seen], 1e-6)
  seen = {}
  sc.pipeline{ solver{ exact = 0.5 } }:fit(smooth(60, 1))
  lu.assertEquals(seen[1], 0.5)
end

-- A descent that ends early has less of the loss of a small lambda, which the model then has.
function TestProbabilitiesAreNotOverconfident()
  local train, test = sc.data.load("wdbc"):split{ test = 143, seed = 3 }
  local function loss(solver)
    return sc.pipeline{ sc.standardize(), sc.features{ T = 500, seed = 3 }, solver }
      :fit(train):score(test, { metric = "log_loss" })
  end
  lu.assertTrue(loss(sc.solver.logistic{}) < 1.2 * loss(sc.solver.logistic{ lambda = 1e-4 }))
end

-- Ctrl-C while the rows of the sample are read ends the fit: it is not an error about rows.
function TestAnInterruptWhileChoosing()
  local calls = 0
  local ds = sc.data.rows{ n = 1000, d = 2, task = "regression", read = function()
    calls = calls + 1
    error("interrupted!", 0)
  end }
  lu.assertErrorMsgContains("interrupted!", function() plain(20):fit(ds) end)
  lu.assertEquals(calls, 1)
end

-- Nor do rows whose targets are looked at keep their error for later.
function TestAnInterruptWhileTargetsAreGuessed()
  lu.assertErrorMsgContains("interrupted!", sc.data.rows, { n = 1000, d = 2,
    read = function() error("interrupted!", 0) end })
end

-- Rows of a group are nearly equal: a choice that is judged on rows of its own groups learns noise.
function TestGroupsAreJudgedWhole()
  local groups, n, each = {}, 9000, 60
  local X, values = sc.zeros(n, 3), sc.zeros(n, 1)
  local centres, noise = sc.randn{ n // each, 3, seed = 17 }, sc.randn{ n // each, 1, seed = 18 }
  local shift = sc.randn{ n, 3, seed = 19 } * 0.01
  for i = 1, n do
    local g = (i - 1) // each + 1
    groups[i] = g
    for j = 1, 3 do X:set(i, j, centres:get(g, j) + shift:get(i, j)) end
    values:set(i, 1, math.sin(centres:get(g, 1)) + 2 * noise:get(g, 1))
  end
  local lambdas = {}
  for _, of in ipairs{ "whole", "cut" } do
    local ds = sc.dataset{ X = X, y = values, task = "regression",
      groups = of == "whole" and groups or nil }
    local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 100, seed = 1,
      phi = sc.nonlinearity.fourier() }, sc.solver.ridge{} }:fit(ds)
    lambdas[of] = p.fitted.solver.given.lambda
  end
  lu.assertTrue(lambdas.whole > 0.1) -- 0.01 where rows of the judging groups are learnt from
  lu.assertTrue(lambdas.cut < 1e-4)
  local one = {}
  for i = 1, n do one[i] = 1 end
  lu.assertNotNil(plain(20):fit(sc.dataset{ X = X, y = values, task = "regression",
    groups = one }):info().chosen)
end

-- Of the values whose losses do not differ beyond chance the largest is taken: here 1, though the
-- loss of 0.1 is less.
function TestTheLargestOfEqualValuesIsTaken()
  local X = sc.randn{ 400, 3, seed = 6 }
  local y = X:column(1) * 0.05 + sc.randn{ 400, 1, seed = 106 }
  local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 100, seed = 6,
    phi = sc.nonlinearity.fourier() }, sc.solver.ridge{} }
    :fit(sc.dataset{ X = X, y = y, task = "regression" })
  lu.assertEquals(p.fitted.solver.given.lambda, 1)
end

-- A few test rows far from all others: 1 - R2 was 0.16 where the lambda of least loss was taken, on
-- one fold; a search over 119 candidates has 0.035.
function TestRowsFarFromAllOthers()
  lu.skipIf(not sc.data.path("salsa_telemonitoring"), "the set is not on this machine")
  local train, test = sc.data.load("salsa_telemonitoring"):split{ test = 0.25, seed = 2 }
  local p = sc.pipeline{ sc.standardize(), sc.features{ seed = 2 }, sc.solver.ridge{} }:fit(train)
  lu.assertTrue(1 - p:score(test) < 0.06)
end

os.exit(lu.LuaUnit.run())
