-- MNIST: two hundred handwritten digits on the first two principal components of their features.
local sc = require "scullery"
local digits = sc.data.load("mnist", "test"):subset(1, 200)

local features = sc.pipeline{
  sc.features{ p = sc.sampler.gaussian{ gamma = 0.01 }, phi = sc.nonlinearity.fourier(), T = 1000,
    seed = 1 } }:fit(digits.X)

local fig = sc.plot.embedding{ X = digits, through = features, text = true,
  title = "MNIST, Fourier features", width = 760, height = 680 }
fig:save(arg[1] or "digits.svg")
return fig
