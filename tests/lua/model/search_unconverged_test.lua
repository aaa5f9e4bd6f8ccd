-- Searches among fits of which some did not converge: these win only by more than noise.
local lu = require "luaunit"
local sc = require "scullery"

local function sinks()
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(),
    T = 25, seed = 1 }
end

-- Early ends of an iteration against converged fits: the expected choice is made from the scores of
-- the folds.
function TestFitsThatDidNotConvergeMustStandOut()
  local points, seen, kinds = sc.randn{ 150, 5, seed = 1 }, {}, 0
  local sides = (points:column(1) + sc.randn{ 150, 1, seed = 2 }):map(function(v)
    return v > 0 and 1 or 0
  end)
  local noisy = sc.dataset{ X = points, y = sides, task = "classification" }
  for _, lambda in ipairs{ 1e-4, 1e-3, 3e-2 } do
    for _, early in ipairs{ 2, 4, 8 } do
      local p = sc.pipeline{ sinks(), sc.solver.logistic{ lambda = lambda,
        max_iterations = sc.choose{ early, 2000 } } }
      local found = p:search(noisy, { folds = 5, score = "log_loss" })
      local a, b, sum, square = found.table[1], found.table[2], 0, 0
      lu.assertTrue(a.unconverged > 0 and b.unconverged == 0)
      for f = 1, 5 do
        local gap = b.folds[f] - a.folds[f]
        sum, square = sum + gap / 5, square + gap ^ 2 / 5
      end
      local noise = math.sqrt((square - sum ^ 2) / 4)
      local kind = sum > noise and "stands out" or sum > 0 and "noise" or "worse"
      lu.assertEquals(found.choice["solver.max_iterations"], kind == "stands out" and early or 2000)
      lu.assertEquals(tostring(found.table):find("was not chosen: %d of its fits did") ~= nil,
        kind == "noise")
      kinds, seen[kind] = kinds + (seen[kind] and 0 or 1), true
    end
  end
  lu.assertEquals(kinds, 3) -- each case occurs
end

-- Of r2 the noise of one score is a share of what it lacks to 1: it chooses as the loss does.
function TestOneScoreOfFitsThatDidNotConverge()
  local points = sc.randn{ 250, 3, seed = 1 }
  local targets = points:column(1):map(math.sin) + points:column(2):mul(points:column(3)) * 0.3
    + sc.randn{ 250, 1, seed = 2 } * 0.02
  for _, score in ipairs{ "r2", "loss" } do
    local found = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 100, seed = 3,
      phi = sc.nonlinearity.fourier() }, sc.solver.lasso{ lambda = sc.choose{ 1e-5, 3e-3 },
      max_iterations = 20 } }:search(sc.dataset{ X = points, y = targets, task = "regression" },
      { holdout = 0.2, score = score })
    lu.assertEquals({ found.table[1].unconverged, found.table[2].unconverged }, { 1, 0 })
    lu.assertEquals(found.choice["solver.lambda"], 1e-5, score)
  end
end

os.exit(lu.LuaUnit.run())
