-- Baselines that are not linear in the features, on adult: 200 boosted stumps and 5 nearest neighbours. scripts/bench/peers.py baselines does
-- the same by scikit-learn; side_by_side.sh runs both. SCULLERY_DATA names the folder of the data.
local sc = require "scullery"
local core = require "scullery.core"

local train, test = sc.data.load("adult"):parts()

local function best_of(times, f)
  local best = math.huge
  for _ = 1, times do
    local began = core.now()
    f()
    best = math.min(best, core.now() - began)
  end
  return best
end

local function report(what, stages)
  local model, accuracy = sc.pipeline(stages), nil
  local fitting = best_of(3, function() model:fit(train) end)
  local scoring = best_of(3, function() accuracy = model:score(test) end)
  print(("adult, %s, Scullery: fit %.3f s, score %.3f s, accuracy %.4f"):format(what, fitting, scoring, accuracy))
end

report("AdaBoost, 200 stumps", { sc.solver.adaboost{ stumps = 200 } })
report("5 nearest neighbours", { sc.standardize(), sc.solver.knn{ k = 5 } })
