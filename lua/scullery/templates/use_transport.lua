-- scullery --transport 'my_plugin{processes = 2}' use.lua
local sc = require "scullery"
local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
local features = sc.features{ p = sc.sampler.gaussian{ gamma = "scale" },
  phi = sc.nonlinearity.fourier(), T = 300, seed = 1 }
local p = sc.pipeline{ sc.standardize(), features, sc.solver.ridge{ lambda = 1e-4 } }
print(p:fit(train):score(test))
