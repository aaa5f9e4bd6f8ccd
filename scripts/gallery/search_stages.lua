-- A search over stages: five nonlinearities for the same number of features, each with its best
-- lambda.
local sc = require "scullery"
local train = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
local phi = sc.nonlinearity

local best = sc.pipeline{
  sc.standardize(),
  sc.features{ p = sc.sampler.gaussian{ sigma = 0.2 }, T = 100, seed = 1,
    phi = sc.choose{ phi.fourier(), phi.relu(), phi.sign(), phi.tanh(), phi.erf() } },
  sc.solver.ridge{ lambda = sc.choose.log{ 1e-5, 1e-1, count = 5 } },
}:search(train, { folds = 10, seed = 0 })

local fig = best.table:plot{ options = "stage 2", title = "Nonlinearities on wdbc, T = 100" }
fig:save(arg[1] or "search_stages.svg")
return fig
