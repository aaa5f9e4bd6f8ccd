-- What a classification is worth on rows that it has not seen: its mistakes, and whether its
-- probabilities come true.
local sc = require "scullery"
local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }

local p = sc.pipeline{
  sc.standardize(),
  sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(), T = 300,
    seed = 1 },
  sc.solver.ridge{ lambda = 1e-3 },
}:fit(train):calibrate{ folds = 5, seed = 0 }

local fig = p:plot(test)
fig:save(arg[1] or "classification.svg")
return fig
