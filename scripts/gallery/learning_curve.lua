-- How many rows a model wants: the error on rows that it has learnt from, and on others.
local sc = require "scullery"

local p = sc.pipeline{
  sc.standardize(),
  sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(), T = 300,
    seed = 1 },
  sc.solver.ridge{ lambda = 1e-3 },
}

local fig, curve = sc.plot.learning_curve{ pipeline = p, data = sc.data.load("wdbc"), folds = 10,
  seed = 0, title = "Learning curve of ridge regression, wdbc" }
print(curve)
fig:save(arg[1] or "learning_curve.svg")
return fig
