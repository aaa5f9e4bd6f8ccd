-- How a solver converges: the loss that it tells a progress function.
local sc = require "scullery"
local train = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }

local series = {}
for i, lambda in ipairs{ 1e-1, 1e-2, 1e-3 } do
  local one = { x = {}, y = {}, label = ("lambda = %g"):format(lambda) }
  sc.pipeline{
    sc.standardize(),
    sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(),
      T = 300, seed = 1 },
    sc.solver.logistic{ lambda = lambda },
  }:fit(train, { progress = function(at)
    if at.iteration and at.loss then
      one.x[#one.x + 1], one.y[#one.y + 1] = at.iteration, at.loss
    end
  end })
  series[i] = one
end

local fig = sc.plot.line{ series = series, x_log = true, title = "Logistic regression, wdbc",
  x_label = "iteration", y_label = "regularised loss" }
fig:save(arg[1] or "loss.svg")
return fig
