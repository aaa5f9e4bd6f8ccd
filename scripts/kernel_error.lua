-- How fast random features find their kernel: rms error against T, as a table and as a picture
-- (docs/kernel_error.svg or the path given).
local sc = require "scullery"

local function errors(p, phi)
  return sc.kernel_error{ p = p, phi = phi, X = sc.randn{ 40, 5, seed = 11 }, seeds = 8,
    T = { 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384 } }
end

local fourier = errors(sc.sampler.gaussian{ gamma = 0.3 }, sc.nonlinearity.fourier())
local sign = errors(sc.sampler.gaussian{ sigma = 1 }, sc.nonlinearity.sign())
local stumps = errors(sc.sampler.threshold{ sigma = 1 }, sc.nonlinearity.sign())
print(fourier)
print(sign)
print(stumps)

local fig = fourier:plot{ with = { sign, stumps },
  labels = { "Fourier, Gaussian kernel", "sign, angle kernel", "stumps, threshold kernel" } }
fig:save(arg[1] or "docs/kernel_error.svg")
return fig
