-- How far a fit is, as a script's function is told; stopping by it; early stopping by rows that are
-- held out; and the line on a terminal, whose clock starts with the work.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local component = require "scullery.compose.component"

local s = sc.solver
local n = 3000
local X = sc.randn{ n, 4, seed = 1 }
local y = {}
for i = 1, n do
  y[i] = X:get(i, 1) + X:get(i, 2) + 0.7 * math.cos(17 * i) > 0.3 and "yes" or "no"
end
local ds = sc.dataset{ X = X, y = y }
local function sinks(T) return sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
  phi = sc.nonlinearity.fourier(), T = T or 50, seed = 2 } end

-- All reports of a fit.
local function reports(p, ...)
  local list = {}
  p:fit(ds, { progress = function(r, ...)
    lu.assertEquals(select("#", ...), 0)
    list[#list + 1] = r
  end }, ...)
  return list
end
local function of_stage(list, stage)
  local some = {}
  for _, r in ipairs(list) do if r.stage == stage then some[#some + 1] = r end end
  return some
end

-- ------------ what is told

function TestAWalkTellsOfRows()
  local list = of_stage(reports(sc.pipeline{ sinks(), s.ridge{}, block = 500 }), "learning")
  lu.assertEquals(list[#list].done, n)
  local before = 0
  for _, r in ipairs(list) do
    lu.assertEquals({ r.total, r.rows, r.loss, r.iteration }, { n, r.done })
    lu.assertTrue(r.done > before and r.done - before <= 500 and r.seconds >= 0)
    before = r.done
  end
end

function TestASolverTellsOfIterationsAndLoss()
  local p = sc.pipeline{ sinks(), s.hinge{ lambda = 1e-2 } }
  local list = of_stage(reports(p), "solving")
  lu.assertEquals(#list, p:info().iterations)
  for i, r in ipairs(list) do
    lu.assertEquals({ r.iteration, r.total }, { i, 1 })
    lu.assertTrue(r.done >= 0 and r.done <= 1)
    lu.assertTrue(r.rows >= (i - 1) * n) -- each iteration is a walk at least
  end
  lu.assertTrue(list[#list].loss > 0 and list[#list].loss < 1)
end

function TestStochasticStepsTellOfTheirRows()
  local p = sc.pipeline{ sinks(), s.logistic{ method = "sgd", batch = 50, epochs = 2 } }
  local list = of_stage(reports(p), "descending")
  lu.assertEquals(#list, 2 * n / 50)
  for i, r in ipairs(list) do lu.assertEquals(r.rows, (i - 1) * 50) end
  lu.assertTrue(list[#list].loss < list[2].loss)
end

-- The time of a stage is that of its own work, however long ago the library was loaded or another
-- model fitted.
function TestTheClockStartsWithTheWork()
  local p = sc.pipeline{ sinks(), s.logistic{ method = "sgd", batch = 100 } }
  p:fit(ds)
  io.popen("sleep 0.3"):close()
  local began, list = core.now(), reports(p)
  local took = core.now() - began
  for _, r in ipairs(list) do lu.assertTrue(r.seconds <= took) end
end

function TestEveryFormOfFitTakesIt()
  local calls = 0
  local function count() calls = calls + 1 end
  local target = X:column(1)
  for _, fit in ipairs{
    function() return sc.pipeline{ s.ridge{} }:fit(X, target, { progress = count }) end,
    function()
      return sc.pipeline{ s.ridge{} }:fit(X, y, { task = "classification", progress = count })
    end,
    function() return sc.pipeline{ s.cg{} }:fit(sc.dataset{ X = X, y = target },
      { progress = count }) end,
    function()
      return sc.pipeline{ sinks(), sc.pca{ k = 2 } }:fit(X, { progress = count })
    end } do
    calls = 0
    lu.assertNotNil(fit().fitted)
    lu.assertTrue(calls > 0)
  end
  -- a model is the same with and without
  local plain = sc.pipeline{ sinks(), s.hinge{ lambda = 1e-2 } }:fit(ds)
  lu.assertTrue(plain:weights() == sc.pipeline{ sinks(), s.hinge{ lambda = 1e-2 } }:fit(ds,
    { progress = count }):weights())
end

-- ------------ stopping

function TestFalseStopsWithASentence()
  local p, calls = sc.pipeline{ sinks(), s.hinge{ lambda = 1e-6, tolerance = 1e-9 } }, 0
  local ok, message = pcall(p.fit, p, ds, { progress = function(r)
    calls = calls + 1
    if r.iteration == 3 then return false end
  end })
  lu.assertFalse(ok)
  lu.assertStrContains(message, "pipeline:fit: stopped: its progress function returned false")
  lu.assertNil(p.fitted)
  local told = calls
  p.solver = s.hinge{ lambda = 1 }
  p:fit(ds) -- nothing of it remains
  lu.assertEquals(calls, told)
end

function TestFalseAtTheVeryEndStopsToo()
  local p = sc.pipeline{ sinks(), s.ridge{} }:fit(ds)
  local before = p.fitted
  local ok = pcall(p.fit, p, ds, { progress = function(r) return r.stage ~= "solving" end })
  lu.assertFalse(ok)
  lu.assertTrue(p.fitted == before)
  p:fit(ds)
end

function TestAnErrorOfTheFunctionIsTheError()
  local p = sc.pipeline{ sinks(), s.ridge{} }
  lu.assertErrorMsgContains("my own mistake", p.fit, p, ds,
    { progress = function() error("my own mistake") end })
  local thrown = setmetatable({ message = "an object" }, { __tostring = function(o)
    return o.message
  end })
  local _, raised = pcall(p.fit, p, ds, { progress = function() error(thrown) end })
  lu.assertTrue(rawequal(raised, thrown))
  p:fit(ds)
end

function TestOtherValuesGoOn()
  for _, value in ipairs{ true, 0, "false" } do
    local calls, p = 0, sc.pipeline{ s.ridge{} }
    p:fit(ds, { progress = function()
      calls = calls + 1
      return value
    end })
    lu.assertTrue(calls > 1, tostring(value))
    lu.assertEquals(p:predict(X):rows(), n)
  end
end

function TestAFunctionMayUseTheLibraryButNotWatchAgain()
  local inside = sc.pipeline{ s.ridge{} }:fit(ds)
  local p, message = sc.pipeline{ sinks(), s.ridge{} }
  p:fit(ds, { progress = function()
    lu.assertEquals(inside:predict(X):rows(), n)
    message = select(2, pcall(inside.fit, inside, ds, { progress = print }))
  end })
  lu.assertStrContains(message, "a progress function is called already")
end

function TestAFitInsideACoroutineIsWatched()
  local seen
  coroutine.wrap(function()
    sc.pipeline{ s.ridge{} }:fit(ds, { progress = function(r) seen = r.stage end })
  end)()
  lu.assertNotNil(seen)
end

function TestWrongUseIsASentence()
  local p = sc.pipeline{ s.ridge{} }
  lu.assertErrorMsgContains("option 'progress' got 1; it takes a function", p.fit, p, ds,
    { progress = 1 })
  lu.assertErrorMsgContains("unknown option 'tasks'", p.fit, p, ds, { tasks = "regression" })
end

-- ------------ early stopping

local function weighting(T) return sc.instantiation{ K = sc.kernel.gaussian{ width = 1 },
  p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.sign() }:features{ T = T,
    seed = 3 } end

-- Noisy labels, and a solver that overfits them.
local rough = {}
for i = 1, 600 do rough[i] = (X:get(i, 1) + 2 * math.cos(31 * i) > 0) and 1 or -1 end
local noisy = sc.dataset{ X = X:slice(1, 600), y = rough, task = "classification" }

local function cases(given)
  local function with(t)
    for k, v in pairs(given) do t[k] = v end
    return t
  end
  return {
    { sinks(300), s.logistic(with{ method = "sgd", lambda = 1e-7, batch = 10, epochs = 60 }) },
    { weighting(300), s.sfgd(with{ lambda = 1e-4, batch = 30 }) },
    { weighting(300), s.sfgd(with{ lambda = 1e-4, batch = 30, loss = "logistic" }), "slow" },
    { weighting(300), s.optimal_stepsize(with{ lambda = 1e-5, batch = 30 }) } }
end

-- "stopped early after 40 of 300 steps; kept step 20, with the least mean loss, 0.6, on 61 rows"
local function account(p)
  local note = p:info().note
  local steps, most, kept, loss, rows = note:match(
    "after (%d+) of (%d+) steps; kept step (%d+), with the least mean loss, ([%d.e+-]+), on (%d+) \z
     rows held out")
  lu.assertNotNil(steps, note)
  return { early = note:find("stopped early", 1, true) == 1, steps = tonumber(steps),
    most = tonumber(most), kept = tonumber(kept), loss = tonumber(loss), rows = tonumber(rows) }
end

function TestItStopsWhereTheHeldOutLossNoLongerFalls()
  for _, case in ipairs(cases{ holdout = 0.2, patience = 3, seed = 1 }) do
    local p = sc.pipeline{ case[1], case[2] }:fit(noisy)
    local a = account(p)
    if case[3] ~= "slow" then -- these overfit in so many steps
      lu.assertTrue(a.early, tostring(case[2]))
      lu.assertTrue(a.kept < a.steps and a.steps < a.most)
    end
    lu.assertTrue(a.rows > 90 and a.rows < 150)
    lu.assertEquals({ p:info().status, p:info().iterations }, { "stopped", a.steps })
    -- the same again, and with another seed other rows
    lu.assertTrue(sc.pipeline{ case[1], case[2] }:fit(noisy):weights() == p:weights())
    local other = sc.pipeline{ case[1], component.with(case[2], "seed", 2) }
    lu.assertNotEquals(account(other:fit(noisy)).rows, a.rows)
  end
end

-- A number in [0, 1) for each row: a solver that holds a share of the rows out takes those whose
-- number is below it.
local function held_out_draws()
  local HOLDOUT <const> = 39 -- the stream of core/base/random.h
  local list = {}
  for i = 1, 600 do list[i] = core.uniform(0, HOLDOUT, i - 1, 0) end
  return list
end

-- The rows held out are those that the seed says; the loss that is told is that of the model on
-- them.
function TestTheLossIsThatOfTheKeptModelOnTheHeldOutRows()
  local solver = s.logistic{ method = "sgd", lambda = 1e-7, batch = 10, epochs = 20, holdout = 0.2,
    patience = 3 }
  local p = sc.pipeline{ sinks(100), solver }:fit(noisy)
  local a, f, held = account(p), p:decision(noisy.X), {}
  for i, u in ipairs(held_out_draws()) do if u < 0.2 then held[#held + 1] = i end end
  lu.assertEquals(#held, a.rows)
  local sum = 0
  for _, i in ipairs(held) do sum = sum + math.log(1 + math.exp(-rough[i] * f:get(i, 1))) end
  lu.assertAlmostEquals(sum / #held, a.loss, 1e-4)
end

-- The steps see none of the rows held out: their labels do not matter to a descent that is not
-- stopped by them.
function TestRowsHeldOutAreNotLearntFrom()
  local changed = {}
  for i, u in ipairs(held_out_draws()) do
    changed[i] = u < 0.2 and -rough[i] or rough[i]
  end
  for _, case in ipairs(cases{ holdout = 0.2, patience = 1000 }) do
    local function steps(labels)
      local losses, p = {}, sc.pipeline{ case[1], case[2] }
      p:fit(sc.dataset{ X = noisy.X, y = labels, task = "classification" }, { progress = function(r)
        if r.stage == "descending" then losses[#losses + 1] = r.loss end
      end })
      return losses, account(p)
    end
    local one, a = steps(rough)
    local other, b = steps(changed)
    lu.assertEquals(one, other)
    lu.assertNotEquals(a.loss, b.loss)
    lu.assertFalse(a.early)
    lu.assertEquals(a.steps, a.most)
  end
end

function TestAStreamHoldsOutTheSameRows()
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  for i = 1, 600 do
    for j = 1, 4 do file:write(("%.17g,"):format(X:get(i, j))) end
    file:write(rough[i], "\n")
  end
  file:close()
  local stream = sc.data.csv(path, { target = 5, stream = true, header = false,
    task = "classification" })
  for _, case in ipairs(cases{ holdout = 0.2, patience = 3 }) do
    local p = sc.pipeline{ sc.standardize(), case[1], case[2] }:fit(noisy)
    local q = sc.pipeline{ sc.standardize(), case[1], case[2] }:fit(stream)
    lu.assertEquals(account(q), account(p))
    lu.assertTrue((q:weights() - p:weights()):abs():max() <= 1e-9 * p:weights():abs():max())
  end
  local big = sc.pipeline{ s.logistic{ method = "sgd", batch = 10, holdout = 0.5 },
    allowance = 1000 }
  lu.assertErrorMsgContains("more than the allowance of 1000", big.fit, big, stream)
  os.remove(path)
end

function TestWeightsCountAmongRowsHeldOut()
  local w = {}
  for i, u in ipairs(held_out_draws()) do w[i] = u < 0.2 and i % 2 or 1 end
  local solver = s.logistic{ method = "sgd", lambda = 1e-7, batch = 10, epochs = 20, holdout = 0.2 }
  local p = sc.pipeline{ sinks(100), solver }:fit(sc.dataset{ X = noisy.X, y = rough,
    task = "classification", weights = w })
  local f, sum, total = p:decision(noisy.X), 0, 0
  for i, u in ipairs(held_out_draws()) do
    if u < 0.2 then
      sum = sum + w[i] * math.log(1 + math.exp(-rough[i] * f:get(i, 1)))
      total = total + w[i]
    end
  end
  lu.assertAlmostEquals(sum / total, account(p).loss, 1e-4)
end

function TestFoldsAndSeveralClassesStopEarlyToo()
  local three = {}
  for i = 1, 600 do three[i] = rough[i] == 1 and 1 or i % 2 + 2 end
  local ds3 = sc.dataset{ X = noisy.X, y = three, task = "classification" }
  for _, case in ipairs(cases{ holdout = 0.2, patience = 2 }) do
    if tostring(case[2]):find('"logistic"', 1, true) or case[2].name == "logistic" then
      account(sc.pipeline{ case[1], case[2] }:fit(ds3))
    end
  end
  local p = sc.pipeline{ sinks(50), s.logistic{ method = "sgd", batch = 10, holdout = 0.2,
    lambda = sc.choose{ 1e-6, 1e-2 } } }:search(noisy, { folds = 3, seed = 0 })
  account(p)
end

function TestWhatCannotBeHeldOutIsASentence()
  lu.assertErrorMsgContains("method", s.logistic, { holdout = 0.1 })
  for _, wrong in ipairs{ -0.1, 1, "some" } do
    lu.assertErrorMsgContains("holdout", s.logistic, { method = "sgd", holdout = wrong })
  end
  lu.assertErrorMsgContains("patience", s.sfgd, { patience = 0 })
  local p = sc.pipeline{ s.logistic{ method = "sgd", batch = 2, holdout = 1e-9 } }
  lu.assertErrorMsgContains("takes 0 of 600 rows", p.fit, p, noisy)
  local plain = sc.pipeline{ s.logistic{ method = "sgd", batch = 10, seed = 4 } }:fit(noisy)
  lu.assertNil(plain:info().note) -- nothing is said, nor held out, by default
end

-- ------------ the line on a terminal

-- A small fit long after another one is no long work: the line, which shows work of more than a
-- second, stays away.
function TestTheLineDoesNotCountTheTimeBefore()
  lu.skipIf(not os.execute("command -v script >/dev/null"),
    "script(1) is not installed: no terminal to test on")
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write([[
    local X = sc.randn{ 200, 2 }
    local function fit() sc.pipeline{ sc.solver.ridge{} }:fit(X, X:column(1)) end
    fit()
    io.popen("sleep 1.5"):close()
    for _ = 1, 3 do fit() end
    print("done")]])
  file:close()
  local binary = os.getenv("SCULLERY_BINARY") or arg[-1]
  local command = assert(io.popen(("script -qec \"'%s' '%s'\" /dev/null </dev/null"):format(binary,
    path)))
  local shown = command:read("a")
  command:close()
  os.remove(path)
  lu.assertStrContains(shown, "done")
  lu.assertNotStrContains(shown, "left")
end

function TestAFunctionThatYieldsIsToldSo()
  local rows = sc.dataset{ X = sc.randn{ 200, 3 }, y = sc.randn{ 200, 1 } }
  local _, message = coroutine.resume(coroutine.create(function()
    sc.pipeline{ sc.solver.ridge() }:fit(rows, { progress = function() coroutine.yield() end })
  end))
  lu.assertStrContains(message, "pipeline:fit: attempt to yield")
end

os.exit(lu.LuaUnit.run(), true)
