-- Minibatches of streamed rows: the same draws, so the same model as from rows in memory: to the
-- bit where features are steps of the products, else to rounding.
local lu = require "luaunit"
local core = require "scullery.core"
local sc = require "scullery"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"

local n, d = 700, 4
local X = sc.randn{ n, d, seed = 1 }
local y = X:column(1):map(function(v) return v > 0 and 1 or -1 end)

local walks

local function stream()
  walks = 0
  return sc.data.rows{ n = n, d = d, targets = 1, task = "classification", classes = { -1, 1 },
    read = function(first, count)
      if first == 1 then walks = walks + 1 end
      return X:slice(first, first + count - 1, 1, d), y:slice(first, first + count - 1, 1, 1)
    end }
end

local function in_memory() return sc.dataset{ X = X, y = y, task = "classification" } end

local s, K = sc.solver, sc.kernel.gaussian{ width = 2 }
local function features(K_or_nil, dtype)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 }, K = K_or_nil,
    phi = sc.nonlinearity.sign(), T = 60, seed = 3, dtype = dtype }
end

local solvers = {
  { "logistic", s.logistic{ lambda = 1e-3, method = "sgd", batch = 40, epochs = 3 } },
  { "sfgd", s.sfgd{ lambda = 1e-2, batch = 20 }, K },
  { "optimal_stepsize", s.optimal_stepsize{ lambda = 1e-2, batch = 20 }, K },
}

local function fit(solver, kernel, ds, more)
  local given = { sc.standardize(), features(kernel, more and more.dtype), solver }
  given.allowance = more and more.allowance
  return sc.pipeline(given):fit(ds)
end

local function same(a, b) return (a:weights() - b:weights()):abs():max() == 0 end

function TestStreamsGiveTheModelOfRowsInMemory()
  for _, one in ipairs(solvers) do
    for _, dtype in ipairs{ "float64", "float32" } do
      local memory = fit(one[2], one[3], in_memory(), { dtype = dtype })
      lu.assertTrue(memory:score(X, y) > 0.75, one[1])
      lu.assertTrue(same(memory, fit(one[2], one[3], stream(), { dtype = dtype })),
        one[1] .. " " .. dtype)
    end
  end
end

function TestKeptFeaturesGiveTheModelOfFeaturesMadeAnew()
  local descents = { s.sfgd{ lambda = 1e-2, batch = 40 },
    s.optimal_stepsize{ lambda = 1e-2, batch = 40 } }
  for _, solver in ipairs(descents) do -- 60 steps of 40 rows, half of the features: more than 700
    for _, dtype in ipairs{ "float64", "float32" } do
      local kept = fit(solver, K, in_memory(), { dtype = dtype })
      local anew = fit(solver, K, in_memory(), { dtype = dtype, allowance = 0 })
      local most = anew:weights():abs():max()
      lu.assertTrue((kept:weights() - anew:weights()):abs():max() < 1e-5 * most, solver.name)
    end
  end
end

function TestASmallAllowanceCostsWalksAndNoBits()
  for _, one in ipairs(solvers) do
    local memory = fit(one[2], one[3], in_memory())
    local wide = fit(one[2], one[3], stream())
    local few = walks
    local narrow = fit(one[2], one[3], stream(), { allowance = 20000 })
    lu.assertTrue(same(memory, wide) and same(memory, narrow), one[1])
    lu.assertTrue(few < 8 and walks > few, ("%s: %d walks, then %d"):format(one[1], few, walks))
  end
end

function TestFoldsOfAStreamAreDrawnWithoutTheirRows()
  local solver = component.instance(s.logistic{ lambda = 1e-3, method = "sgd", batch = 40,
    epochs = 2 })
  local folds = {}
  for i = 1, n do folds[i] = i % 3 + 1 end
  local function without(ds, fold)
    local training <close> = core.training(dataset.source_of_targets(ds), {}, nil,
      { classes = 2, dtype = "float64", folds = folds, allowance = 20000 })
    return core.solve(training, solver, fold)[1].weights
  end
  local all = without(in_memory(), 0)
  for fold = 1, 3 do
    local memory = without(in_memory(), fold)
    lu.assertTrue((memory - without(stream(), fold)):abs():max() == 0)
    lu.assertTrue((memory - all):abs():max() > 0)
  end
end

-- The bits of smooth features depend on how many rows are multiplied at once: each solve decides by
-- its own batches when it takes features that are kept.
function TestSolvesBesideEachOtherChangeNoBits()
  local wide = sc.dataset{ X = sc.randn{ n, 64, seed = 2 }, y = y, task = "classification" }
  local function pipeline(lambda)
    return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.1 }, T = 50,
      phi = sc.nonlinearity.fourier() },
      s.logistic{ lambda = lambda, method = "sgd", batch = 16, epochs = 3 } }
  end
  local threads = sc.threads()
  local function judged(count)
    sc.threads(count)
    return pipeline(1e-3):cv(wide, { folds = 4, score = "log_loss" }).folds
  end
  local alone = judged(1)
  for _ = 1, 3 do lu.assertEquals(judged(4), alone) end
  sc.threads(threads)
  local found = pipeline(sc.choose{ 1e-2, 1e-3 }):search(wide, { folds = 2 })
  local fresh = pipeline(found.choice["solver.lambda"]):fit(wide)
  lu.assertTrue(same(found, fresh))
  local tight = pipeline(found.choice["solver.lambda"])
  tight.allowance = 1000 -- keeps nothing
  lu.assertTrue((tight:fit(wide):weights() - fresh:weights()):abs():max() < 1e-10)
end

os.exit(lu.LuaUnit.run())
