-- Which sampler: the error of four against one Gaussian kernel.
local sc = require "scullery"
local gamma = 0.05

local result = sc.kernel_error{ phi = sc.nonlinearity.fourier{ form = "pair" },
  samplers = { sc.sampler.gaussian{ gamma = gamma }, sc.sampler.orthogonal{ gamma = gamma },
    sc.sampler.qmc{ gamma = gamma }, sc.sampler.hadamard{ gamma = gamma } },
  X = sc.randn{ 60, 8, seed = 1 }, T = { 32, 64, 128, 256, 512, 1024, 2048, 4096 }, seeds = 8 }
print(result)

local fig = result:plot{ title = "Error against the Gaussian kernel, 8 columns" }
fig:save(arg[1] or "samplers.svg")
return fig
