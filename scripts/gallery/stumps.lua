-- Decision stumps look at one column each: the sum of the coefficients tells which columns count.
local sc = require "scullery"
local train = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }

local p = sc.pipeline{
  sc.standardize(),
  sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(), T = 1000,
    seed = 1 },
  sc.solver.lasso{ lambda = 1e-3, l1_ratio = 0.9 },
}:fit(train)

local fig = p:plot("coefficients", { title = "Elastic net on 1000 random stumps, wdbc" })
fig:save(arg[1] or "stumps.svg")
return fig
