-- Uncertainty: a regression with a gap in the data, with twice the standard deviation of the
-- function, functions drawn from the posterior, and bounds for new rows.
local sc = require "scullery"
local n = 60
local X = sc.zeros(n, 1)
for i = 1, n do
  local u = sc.rand{ 1, 1, seed = i }[1]
  X:set(i, 1, u < 0.5 and -3 + 4 * u or 2 * u)
end
local y = (X * 2):map(math.sin) + sc.randn{ n, 1, seed = 2 } * 0.15

local p = sc.pipeline{
  sc.features{ p = sc.sampler.gaussian{ gamma = 1 }, phi = sc.nonlinearity.fourier{ form = "pair" },
    T = 1000, seed = 1 },
  sc.solver.ridge{ lambda = 0.15 ^ 2 / n, intercept = false },
}:fit(X, y, { interval = "loo" })

local at = {}
for i = 1, 46 do at[i] = -3.2 + (i - 1) * 0.12 end
local rows = sc.matrix(at)
local mean, std = p:predict(rows, { std = true, noise = "prior" })
local low, high = p:interval(rows, { level = 0.9 })
local series = {
  { label = "90 % of new rows", x = at, y = (low + high) / 2, low = low, high = high },
  { label = "mean, two deviations", x = at, y = mean, error = std * 2 } }
for i, f in ipairs(p:draw{ seed = 5, count = 2, noise = "prior" }) do
  series[#series + 1] = { label = "drawn function " .. i, x = at, y = f:predict(rows) }
end
local fig = sc.plot.line{ series = series, title = "What the data leave open", x_label = "x",
  y_label = "y" }
fig:save(arg[1] or "uncertainty.svg")
return fig
