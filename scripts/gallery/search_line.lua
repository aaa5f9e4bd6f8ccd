-- A search over one option: the error of each lambda, with its standard error over the folds.
local sc = require "scullery"
local train = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }

local best = sc.pipeline{
  sc.standardize(),
  sc.features{ p = sc.sampler.gaussian{ gamma = "median" }, phi = sc.nonlinearity.fourier(),
    T = 500, seed = 1 },
  sc.solver.ridge{ lambda = sc.choose.log{ 1e-6, 1e-1, count = 11 } },
}:search(train, { folds = 5, seed = 0 })

local fig = best.table:plot{ title = "Cross-validated error of ridge regression, wdbc" }
fig:save(arg[1] or "search_line.svg")
return fig
