-- Gradient boosting of solvers: against rounds that are made one by one, against the closed form of
-- linear smoothers, with row weights, classes, other losses, saved models and mistakes.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local N = 60
local X = sc.randn{ N, 3, seed = 1 }
local y = X:column(1):map(math.sin) + X:column(2) * 0.3 + sc.randn{ N, 1, seed = 2 } * 0.1

local function rows(targets, weights)
  return sc.dataset{ X = X, y = targets, task = "regression", weights = weights }
end

local function fitted(solver, ds) return sc.pipeline{ solver }:fit(ds) end

local function kernel_ridge()
  return sc.solver.kernel_ridge{ kernel = sc.kernel.gaussian{ width = 1 }, lambda = 0.05 }
end
local bases = { knn = function() return sc.solver.knn{ k = 7 } end, kernel_ridge = kernel_ridge,
  ridge = function() return sc.solver.ridge{ lambda = 0.1 } end,
  lasso = function() return sc.solver.lasso{ lambda = 0.01 } end }

-- Rounds one by one: each fits the residuals of those before it.
function TestRoundsOneByOne()
  for name, base in pairs(bases) do
    local F = sc.zeros(N, 1) + y:mean()
    for _ = 1, 6 do F = F + fitted(base(), rows(y - F)):predict(X) * 0.5 end
    local p = fitted(sc.solver.boosting{ solver = base(), rounds = 6, rate = 0.5 }, rows(y))
    lu.assertTrue((p:predict(X) - F):abs():max() < (name == "lasso" and 1e-5 or 1e-8), name)
    lu.assertEquals(p:info().status, "stopped")
    lu.assertEquals(p:info().iterations, 6)
  end
end

-- Kernel ridge regression without a constant is the smoother S = K (K + n lambda I)^-1; residuals
-- after M rounds are (I - rate S)^M (y - mean y).
function TestClosedForm()
  local K, M, rate, lambda = sc.kernel.gaussian{ width = 1 }:gram(X, X), 9, 0.3, 0.05
  -- (K + n lambda I) h = K r by Richardson iteration, which converges as K is at most n
  local function smooth(r)
    local wanted, h, shift = K * r, sc.zeros(N, 1), N * lambda
    local step = 1 / (N + shift)
    for _ = 1, 3000 do h = h + (wanted - K * h - h * shift) * step end
    return h
  end
  local r = y - y:mean()
  for _ = 1, M do r = r - smooth(r) * rate end
  local p = fitted(sc.solver.boosting{ solver = kernel_ridge(), rounds = M, rate = rate }, rows(y))
  lu.assertTrue((y - p:predict(X) - r):abs():max() < 1e-9)
end

-- A weight of 2 is a row twice.
function TestWeights()
  local weights, again, targets = {}, {}, {}
  for i = 1, N do
    weights[i] = i % 3 == 0 and 2 or 1
    for _ = 1, weights[i] do again[#again + 1] = i end
  end
  for i, row in ipairs(again) do targets[i] = y:get(row, 1) end
  for name, base in pairs{ ridge = bases.ridge, kernel_ridge = kernel_ridge } do
    local function boosted()
      return sc.solver.boosting{ solver = base(), rounds = 5, rate = 0.5 }
    end
    local one = fitted(boosted(), rows(y, weights))
    local other = fitted(boosted(), sc.dataset{ X = X:select(again), y = targets,
      task = "regression" })
    lu.assertTrue((one:predict(X) - other:predict(X)):abs():max() < 1e-7, name)
  end
end

-- Classes: the loss on the training rows falls with the rounds, three classes are told apart, and
-- probabilities are those of the loss.
function TestClasses()
  for _, count in ipairs{ 2, 3 } do
    local labels = {}
    for i = 1, N do
      labels[i] = (X:get(i, 1) > 0.5 and count == 3) and "c" or X:get(i, 2) > 0 and "a" or "b"
    end
    local ds, before = sc.dataset{ X = X, y = labels, task = "classification" }, math.huge
    for _, rounds in ipairs{ 1, 4, 16, 64 } do
      local p = fitted(sc.solver.boosting{ solver = bases.kernel_ridge(), rounds = rounds,
        loss = sc.loss.logistic{}, rate = 0.5 }, ds)
      local P, loss = p:probabilities(X), 0
      for i = 1, N do
        lu.assertAlmostEquals(P:slice(i, i):sum(), 1, 1e-12)
        for k, class in ipairs(p.classes) do
          if class == labels[i] then loss = loss - math.log(P:get(i, k)) end
        end
      end
      lu.assertTrue(loss < before, ("%g after %d rounds, %g before"):format(loss, rounds, before))
      before = loss
      lu.assertTrue(rounds < 64 or p:score(ds) > 0.95)
    end
  end
end

-- Means of counts, and the quantile loss, whose training loss falls as well.
function TestLosses()
  local counts = X:column(1):map(function(x) return math.floor(math.exp(x) * 3) end)
  local p = fitted(sc.solver.boosting{ solver = bases.knn(), loss = sc.loss.poisson{},
    rounds = 30 }, rows(counts))
  lu.assertTrue(p:predict(X) == p:decision(X):map(math.exp))
  lu.assertTrue(p:score(rows(counts)) > 0.6)
  local high = fitted(sc.solver.boosting{ solver = bases.ridge(), loss = sc.loss.quantile{
    tau = 0.9 }, rounds = 200 }, rows(y))
  local above = 0
  for i = 1, N do above = above + (y:get(i, 1) > high:predict(X):get(i, 1) and 1 or 0) end
  lu.assertTrue(above / N < 0.25)
end

-- After features, from a stream, on several threads, and loaded from a file.
function TestPipelines()
  local path, saved = support.free_path ".csv", os.tmpname()
  local lines = { "a,b,c,y" }
  for i = 1, N do
    lines[i + 1] = ("%.17g,%.17g,%.17g,%.17g"):format(X:get(i, 1), X:get(i, 2), X:get(i, 3),
      y:get(i, 1))
  end
  support.write(path, table.concat(lines, "\n") .. "\n")
  local given = { target = "y", task = "regression" }
  for name, base in pairs(bases) do
    local function new()
      return sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
        phi = sc.nonlinearity.fourier(), T = 30, seed = 1 },
        sc.solver.boosting{ solver = base(), rounds = 4 } }
    end
    local ds = sc.data.csv(path, given)
    local p = new():fit(ds)
    given.stream = true
    lu.assertTrue((new():fit(sc.data.csv(path, given)):predict(X) - p:predict(X)):abs():max()
      < 1e-9, name)
    given.stream = nil
    p:save(saved)
    lu.assertTrue(sc.load(saved):predict(X) == p:predict(X), name)
    lu.assertTrue(p:plan(ds).bytes > 0)
  end
  os.remove(path)
  os.remove(saved)
end

-- Boosting of boosting, saved with names within names.
function TestNested()
  local inner = sc.solver.boosting{ solver = bases.ridge(), rounds = 2 }
  local p = fitted(sc.solver.boosting{ solver = inner, rounds = 3 }, rows(y))
  local saved = os.tmpname()
  p:save(saved)
  lu.assertTrue(sc.load(saved):predict(X) == p:predict(X))
  os.remove(saved)
end

function TestMistakes()
  local function message(solver, ds)
    local ok, said = pcall(fitted, solver, ds or rows(y))
    lu.assertFalse(ok)
    return said
  end
  local boosting = sc.solver.boosting
  lu.assertStrContains(message(boosting{ solver = sc.solver.logistic{} }),
    "solver.boosting: solver.logistic: the logistic loss is for classification")
  lu.assertStrContains(message(boosting{ loss = sc.loss.logistic{} }),
    "loss.logistic takes classes")
  lu.assertStrContains(message(boosting{ loss = sc.loss.gamma{} }),
    "loss.gamma takes targets above")
  lu.assertErrorMsgContains("rounds", boosting, { rounds = 0 })
  lu.assertErrorMsgContains("solver", boosting, { solver = sc.kernel.gaussian{} })
end

-- Of constants that are equally good the middle one: targets times -1 give predictions times -1.
function TestTargetsOfTheOtherSign()
  for _, loss in ipairs{ sc.loss.quantile{ tau = 0.5 }, sc.loss.huber(), sc.loss.square() } do
    local solver = sc.solver.boosting{ loss = loss, rounds = 10, solver = sc.solver.knn{ k = 7 } }
    local there = fitted(solver, rows(y * 30)):decision(X)
    local back = fitted(solver, rows(y * -30)):decision(X)
    lu.assertTrue((there + back):abs():max() < 1e-9 * there:abs():max(), tostring(loss))
  end
end

os.exit(lu.LuaUnit.run(), true)
