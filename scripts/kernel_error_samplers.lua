-- Which sampler to draw Fourier features with, and how many: the error of each against the Gaussian
-- kernel exp(-gamma ||x - y||^2), as a table, and as a picture where a path is given: scullery
-- scripts/kernel_error_samplers.lua [COLUMNS [GAMMA [PICTURE]]]
local sc = require "scullery"

local d, gamma = tonumber(arg[1]) or 16, tonumber(arg[2])
local X = sc.randn{ 60, d, seed = 1 }
gamma = gamma or 0.5 / d -- values of the kernel near exp(-1): neither 0 nor 1

-- Those of the samplers that this installation has.
local registered = {}
for _, entry in ipairs(sc.plugin.list()) do
  if entry.kind == "sampler" then registered[entry.name] = true end
end
local samplers = {}
for _, name in ipairs{ "gaussian", "orthogonal", "qmc", "hadamard" } do
  if registered[name] then samplers[#samplers + 1] = sc.sampler[name]{ gamma = gamma } end
end

local function gaussian_kernel(A, B)
  local k = sc.zeros(A:rows(), B:rows())
  for i = 1, A:rows() do
    for j = 1, B:rows() do k:set(i, j, math.exp(-gamma * (A[i] - B[j]):norm() ^ 2)) end
  end
  return k
end

local result = sc.kernel_error{ samplers = samplers, phi = sc.nonlinearity.fourier{ form = "pair" },
  X = X, kernel = gaussian_kernel, T = { 64, 256, 1024, 4096 } }
print(result)
if arg[3] then result:plot():save(arg[3]) end
for _, curve in ipairs(result.curves) do
  print(("%s: an rms error of 0.005 takes T = %s"):format(curve.name,
    result:needed(0.005, curve.name) or "more than this sampler can give"))
end
