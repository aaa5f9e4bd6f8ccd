-- What a map sees: the rows themselves and their random features, on two principal components each.
local sc = require "scullery"
local ds = sc.data.load("wdbc"):subset(1, 90)

local rows = sc.pipeline{ sc.standardize() }:fit(ds.X)
local features = sc.pipeline{ sc.standardize(),
  sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(), T = 500,
    seed = 1 } }:fit(ds.X)

local fig = sc.plot.panels{ sc.plot.embedding{ X = ds, through = rows, title = "Columns" },
  sc.plot.embedding{ X = ds, through = features, title = "Fourier features" }, width = 1200,
  height = 520, title = "wdbc: benign (B) and malignant (M)" }
fig:save(arg[1] or "embedding.svg")
return fig
