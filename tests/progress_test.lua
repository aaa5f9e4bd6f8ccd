-- How far a fit is, as a script's function is told; stopping by it; early stopping by a part of the
-- rows that is held out; and the line on a terminal, whose clock starts with the work.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

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

-- ---------------------------------------------------------------- what is told

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
  local wait = core.now() + 0.3
  while core.now() < wait do end
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

-- ---------------------------------------------------------------- stopping

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
    sc.pipeline{ s.ridge{} }:fit(ds, { progress = function() return value end })
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

-- ---------------------------------------------------------------- the line on a terminal

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
    local core = require "scullery.core"
    local wait = core.now() + 1.5
    while core.now() < wait do end
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

os.exit(lu.LuaUnit.run(), true)
