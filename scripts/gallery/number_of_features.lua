-- How many features: the test error of random kitchen sinks against T, over ten seeds, beside that
-- of ridge regression with the kernel itself.
local sc = require "scullery"
local train, test = sc.data.load("wdbc"):split{ test = 0.5, seed = 0 }
local gamma, lambda = 0.01, 1e-3

local exact = sc.pipeline{ sc.standardize(),
  sc.solver.kernel_ridge{ kernel = sc.kernel.gaussian{ gamma = gamma }, lambda = lambda } }
  :fit(train):error(test)

local line = { x = { 10, 20, 50, 100, 200, 500, 1000 }, y = {}, error = {},
  label = "random features" }
for i, T in ipairs(line.x) do
  local sum, square, seeds = 0, 0, 10
  for seed = 1, seeds do
    local e = sc.pipeline{ sc.standardize(),
      sc.features{ p = sc.sampler.gaussian{ gamma = gamma }, phi = sc.nonlinearity.fourier(),
        T = T, seed = seed },
      sc.solver.ridge{ lambda = lambda } }:fit(train):error(test)
    sum, square = sum + e, square + e ^ 2
  end
  line.y[i] = sum / seeds
  line.error[i] = math.sqrt(math.max(square / seeds - line.y[i] ^ 2, 0) / (seeds - 1))
end

local fig = sc.plot.line{ series = { line }, x_log = true, marks = true,
  title = "wdbc; band: 1 standard error over 10 seeds",
  x_label = "number of features T", y_label = "test error",
  rules = { { y = exact, label = "the kernel itself" } } }
fig:save(arg[1] or "number_of_features.svg")
return fig
