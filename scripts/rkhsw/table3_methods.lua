-- The methods of table 3: methods(T) returns by name { the recipe, the solver }, and by recipe a
-- function of a seed and the number of training rows: the stages after the constant column, with
-- what the search chooses. Least squares and the lasso of one recipe share a search. The grids are
-- the authors'; their lambda of RKS is of sums over rows, of features that are +-1.
local sc = require "scullery"
local gaussian, threshold, sign = sc.kernel.gaussian, sc.sampler.threshold, sc.nonlinearity.sign()
local log, width = sc.choose.log, sc.choose{ 0.01, 0.1, 1 }
local lambda = log{ 1e-7, 1e-3, count = 5 }
local fits = sc.choose{ sc.solver.ridge{ lambda = lambda, penalty = "rkhs" },
  sc.solver.lasso{ lambda = lambda, intercept = false } }

return function(T)
  local function features(seed, p, K)
    return sc.features{ p = p, K = K, phi = sign, T = T, seed = seed }
  end
  return { ["LS I1"] = { "I1", "ridge" }, ["lasso I1"] = { "I1", "lasso" },
    ["LS I2"] = { "I2", "ridge" }, ["lasso I2"] = { "I2", "lasso" }, RKS = { "RKS", "ridge" },
    AdaBoost = { "AdaBoost", "adaboost" }, SVM = { "SVM", "svm" } }, {
    I1 = function(seed)
      return features(seed, sc.sampler.gaussian{ sigma = 1 },
        gaussian{ theta = sc.choose{ 0.1, 0.5, 0.9 } }), fits
    end,
    I2 = function(seed)
      return features(seed, threshold{ sigma = width }, gaussian{ width = width }), fits
    end,
    RKS = function(seed, n)
      return features(seed, threshold{ sigma = 1 }), sc.solver.ridge{ intercept = false,
        lambda = log{ 1e-7 / (n * T), 1e-3 / (n * T), count = 5 } }
    end,
    SVM = function() return sc.solver.svm{ C = log{ 0.01, 100, count = 5 }, gamma = "scale" } end,
    AdaBoost = function()
      return sc.solver.adaboost{ stumps = sc.choose{ 10, 25, 50, 100, 150, 200 } }
    end }
end
