-- A search over two options: the width of the kernel and the regularisation.
local sc = require "scullery"
local train = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }

local best = sc.pipeline{
  sc.standardize(),
  sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose{ 0.02, 0.05, 0.1, 0.2, 0.5, 1 } },
    phi = sc.nonlinearity.fourier(), T = 300, seed = 1 },
  sc.solver.ridge{ lambda = sc.choose.log{ 1e-6, 1e-1, count = 6 } },
}:search(train, { folds = 5, seed = 0 })

local fig = best.table:plot{ title = "Cross-validated error, wdbc" }
fig:save(arg[1] or "search_heatmap.svg")
return fig
