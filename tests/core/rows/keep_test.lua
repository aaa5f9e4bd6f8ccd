-- Blocks of features kept between passes: less work, the same numbers to the bit, and memory that
-- comes back.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")

local n, d, T = 400, 5, 64
local X, numbers, signs, kinds, weights = sc.randn{ n, d, seed = 1 }, {}, {}, {}, {}
for i = 1, n do
  numbers[i] = X:get(i, 1) - X:get(i, 2) * X:get(i, 3)
  signs[i] = numbers[i] > 0.1 and 1 or -1
  kinds[i] = (X:get(i, 1) > 0 and 1 or 0) + (X:get(i, 2) > 0 and 1 or 0)
  weights[i] = i % 3 + 0.5
end
local regression = sc.dataset{ X = X, y = numbers, task = "regression" }
local binary = sc.dataset{ X = X, y = signs, classes = { -1, 1 } }
local several = sc.dataset{ X = X, y = kinds, classes = { 0, 1, 2 }, weights = weights }

local function sinks(dtype)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 }, phi = sc.nonlinearity.fourier(),
    T = T, seed = 3, dtype = dtype }
end
local function bins()
  return sc.features{ p = sc.sampler.grid{ gamma = 0.2 }, phi = sc.nonlinearity.bins(), T = 20,
    seed = 3 }
end

local s = sc.solver
local solvers = {
  { "logistic", binary, s.logistic{ lambda = 1e-3 } },
  { "logistic, three classes", several, s.logistic{ lambda = 1e-3, intercept = true } },
  { "logistic by minibatches", binary, s.logistic{ lambda = 1e-3, method = "sgd", epochs = 2 } },
  { "hinge", binary, s.hinge{ lambda = 1e-3 } },
  { "hinge, three classes", several, s.hinge{ lambda = 1e-2 } },
  { "cg", regression, s.cg{ lambda = 1e-4, tolerance = 1e-8 } },
  { "cg with intercept", several, s.cg{ lambda = 1e-4, tolerance = 1e-8, intercept = true } },
  { "box hinge", binary, s.box{ C = 60, loss = "hinge" } },
  { "box logistic", binary, s.box{ C = 60, loss = "logistic", intercept = true } },
  { "huber", regression, s.huber{ lambda = 1e-3 } },
  { "trimmed", regression, s.trimmed{ lambda = 1e-3 } },
  { "lasso", regression, s.lasso{ lambda = 1e-3 } },
}

local function with_threads(count, f, ...)
  local before = core.threads()
  core.threads(count)
  local result = table.pack(pcall(f, ...))
  core.threads(before)
  assert(result[1], result[2])
  return table.unpack(result, 2, result.n)
end

local function learn(features, case, allowance, block)
  local p = sc.pipeline{ features, case[3], allowance = allowance, block = block }:fit(case[2])
  return p:weights(), p:intercept()
end

-- nothing is kept; too little for all rows, so nothing either; all of it; no bound
local allowances = { 0, 1000, n * T * 4, 1e9, math.huge }
local fewest_threads, dtypes = 1, { "float64", "float32" }
if support.looks_for_races then
  allowances, fewest_threads, dtypes = { 0, n * T * 4, 1e9 }, 2, { "float32" }
end

function TestKeepingChangesNoBit()
  for _, dtype in ipairs(dtypes) do
    for _, case in ipairs(solvers) do
      local want, want_b = with_threads(1, learn, sinks(dtype), case, 0, 64)
      for _, allowance in ipairs(allowances) do
        for threads = fewest_threads, 2 do
          local got, got_b = with_threads(threads, learn, sinks(dtype), case, allowance, 64)
          local tag = ("%s, %s, allowance %g, %d threads"):format(case[1], dtype, allowance,
            threads)
          lu.assertTrue(got == want and got_b == want_b, tag)
        end
      end
    end
  end
end

function TestKeepingSparseRowsChangesNoBit()
  for _, case in ipairs{ solvers[1], solvers[4], solvers[6], solvers[8] } do
    local want = with_threads(1, learn, bins(), case, 0, 64)
    for _, allowance in ipairs(allowances) do
      lu.assertTrue(with_threads(2, learn, bins(), case, allowance, 64) == want,
        ("%s, allowance %g"):format(case[1], allowance))
    end
  end
end

function TestKeepingRowsWithoutAMapChangesNoBit()
  for _, case in ipairs(solvers) do
    if not case[1]:find("box", 1, true) then -- a box of five columns is another problem
      local function fit(allowance)
        return sc.pipeline{ sc.standardize(), case[3], allowance = allowance, block = 64 }:fit(
          case[2]):weights()
      end
      lu.assertTrue(fit(0) == fit(1e9), case[1])
    end
  end
end

function TestBlocksChangeNothingBeyondRounding()
  for _, case in ipairs{ { "cg", regression, s.cg{ lambda = 1e-2, tolerance = 1e-13 } },
    { "logistic", binary, s.logistic{ lambda = 1e-2, tolerance = 1e-10 } } } do
    local want = learn(sinks(), case, 0)
    for _, block in ipairs{ 1, 37, 400, 4000 } do
      for _, allowance in ipairs{ 0, 1e9 } do
        lu.assertTrue((learn(sinks(), case, allowance, block) - want):abs():max() < 1e-8,
          ("%s, block %d"):format(case[1], block))
      end
    end
  end
end

function TestFoldsOfKeptBlocksAreTheSame()
  for _, solver in ipairs{ s.cg{ lambda = sc.choose{ 1e-4, 1e-2 } },
    s.hinge{ lambda = sc.choose{ 1e-3, 1e-2 } }, s.logistic{ lambda = sc.choose{ 1e-3, 1e-2 } } } do
    local want
    for _, allowance in ipairs{ 0, 1e9 } do
      for threads = 1, 2 do
        local found = with_threads(threads, function()
          return sc.pipeline{ sinks(), solver, allowance = allowance, block = 64 }:search(several,
            { folds = 3, seed = 2 })
        end)
        local cells = {}
        for k, row in ipairs(found.table) do cells[k] = row.mean end
        want = want or { cells, found:weights() }
        lu.assertEquals(cells, want[1])
        lu.assertTrue(found:weights() == want[2])
      end
    end
  end
end

-- A fit has a minibatch a step, and each makes its features anew until as many were made as all
-- rows have; folds share those that are kept if they draw enough between them. What the search says
-- is that of fits without the folds.
function TestFoldsMakeTheFeaturesOfMinibatchesOnce()
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.sign(),
    K = sc.kernel.gaussian{ theta = 0.5 }, T = T, seed = 3 }
  for _, batch in ipairs{ 1, 50 } do
    local solver = s.optimal_stepsize{ lambda = 1e-3, batch = batch, seed = 4 }
    local report, cv = with_threads(1, sc.profile, function() -- a profile is of one thread
      return sc.pipeline{ features, solver }:cv(binary, { folds = 3, seed = 2 })
    end)
    local passes = 0
    for _, stage in ipairs(report.stages) do
      if stage.name == "features" then passes = stage.passes end
    end
    local all = 3 * batch * T ^ 2 / 2 >= #binary * T
    lu.assertEquals(all, batch == 50)
    lu.assertEquals(passes < T, all, ("%d passes, batch %d"):format(passes, batch))
    local one = sc.pipeline{ features, solver, allowance = 0 }:cv(binary, { folds = 3, seed = 2 })
    lu.assertAlmostEquals(cv.mean, one.mean, 1e-12)
  end
end

-- Bytes of the engine: what a fit adds at its height, and what stays when it is over.
local function measure(allowance)
  collectgarbage()
  collectgarbage()
  local before = core.memory(true)
  local p = sc.pipeline{ sinks(), s.cg{ lambda = 1e-4, rank = 0 }, allowance = allowance,
    block = 16 }:fit(regression)
  collectgarbage() -- what the fit predicted to compare it with a constant
  collectgarbage()
  local now, peak = core.memory()
  return peak - before, now - before, p:info().memory - before, p
end

function TestAllowanceIsWhatIsKept()
  local features = n * T * 8
  local streamed, kept = measure(0), measure(1e9)
  lu.assertTrue(kept - streamed >= features, ("%d and %d bytes"):format(streamed, kept))
  lu.assertTrue(kept - streamed <= 1.2 * features + 1e5)
  -- not quite enough: not kept at all
  lu.assertTrue(math.abs(measure(features - 1) - streamed) < 0.1 * features)
end

function TestAFitGivesItsMemoryBack()
  local _, after, told, p = measure(1e9)
  lu.assertEquals(told, after)
  -- the map (weights, biases, supports), coefficients and intercept remain; blocks and sums do not
  lu.assertTrue(after < T * (d + 8) * 8 * 4, tostring(after))
  lu.assertNotNil(p:weights())
  local big = sc.randn{ 4000, d, seed = 2 }
  local y = big:column(1) * 2
  core.memory(true)
  local peaks = {}
  for i = 1, 6 do
    sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
      phi = sc.nonlinearity.fourier(), T = 300, seed = i }, s.cg{ lambda = 1e-3 } }:fit(big, y)
    peaks[i] = select(2, core.memory())
  end
  lu.assertTrue(peaks[6] < 1.5 * peaks[1], "fits pile up what they kept")
end

function TestMemoryComesBackFromAFitThatFails()
  collectgarbage()
  collectgarbage()
  local before = core.memory()
  local reads = 0
  local rows = sc.data.rows{ n = n, d = d, task = "regression", read = function(first, count)
    reads = reads + 1
    if reads > 12 then error("the disk is gone") end
    return X:slice(first, first + count - 1), sc.matrix(numbers):slice(first, first + count - 1)
  end }
  local ok, message = pcall(function()
    return sc.pipeline{ sinks(), s.cg{ lambda = 1e-4 }, allowance = 0, block = 64 }:fit(rows)
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(message, "the disk is gone")
  reads = 0 -- kept: one walk is enough, and then there are no more reads to fail
  lu.assertTrue(pcall(function()
    return sc.pipeline{ sinks(), s.cg{ lambda = 1e-4, rank = 0 }, allowance = 1e9, block = 64 }:fit(
      rows)
  end))
  rows = nil -- luacheck: ignore 311
  collectgarbage()
  collectgarbage()
  lu.assertTrue(core.memory() - before < 1e5)
end

function TestRunningOutOfMemoryKeepsNothingAndGoesOn()
  -- an allocation that fails while blocks are kept: either the fit goes on from the rows with the
  -- same bits, or it says so
  local want = learn(sinks(), solvers[6], 0, 64)
  local went_on = 0
  for count = 0, 400, 3 do
    local features = sinks()
    core.fail_allocation_after(count)
    local ok, got = pcall(learn, features, solvers[6], 1e9, 64)
    core.fail_allocation_after(-1)
    if ok then
      went_on = went_on + 1
      lu.assertTrue(got == want, "after " .. count)
    else
      lu.assertStrContains(tostring(got), "memory")
    end
  end
  lu.assertTrue(went_on > 0)
end

function TestWrongAllowancesAreSentences()
  for _, wrong in ipairs{ -1, 0 / 0, "all" } do
    local ok, message = pcall(sc.pipeline, { s.cg{}, allowance = wrong })
    lu.assertFalse(ok)
    lu.assertStrContains(message, "allowance")
    lu.assertStrContains(message, "bytes")
  end
end

os.exit(lu.LuaUnit.run(), true)
