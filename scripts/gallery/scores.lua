-- How well two classes are told apart: the decisions on rows that were not learnt from.
local sc = require "scullery"
local train, test = sc.data.load("wdbc"):split{ test = 0.5, seed = 0 }

local p = sc.pipeline{
  sc.standardize(),
  sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(), T = 300,
    seed = 1 },
  sc.solver.ridge{ lambda = 1e-3 },
}:fit(train)

local decisions, series = p:decision(test), { { x = {}, label = "B" }, { x = {}, label = "M" } }
for i, label in ipairs(test:labels()) do
  local one = series[label == "B" and 1 or 2].x
  one[#one + 1] = decisions:get(i, 1)
end

local fig = sc.plot.hist{ series = series, bins = 20, title = "Decisions on 285 test rows, wdbc",
  x_label = "decision f(x), M above 0", y_label = "rows",
  rules = { { x = 0, label = "boundary" } } }
fig:save(arg[1] or "scores.svg")
return fig
