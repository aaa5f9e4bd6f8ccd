local sc = require "scullery"
local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
local features = sc.features{ p = sc.sampler.gaussian{ sigma = 0.2 },
  phi = sc.nonlinearity.fourier(), T = 100, seed = 1 }
local p = sc.pipeline{ sc.stage.my_plugin{ reach = sc.choose{ 2, 3, 5 } }, sc.standardize(),
  features, sc.solver.ridge{ lambda = 1e-4 } }
print(p:search(train, { folds = 5 }):score(test))
