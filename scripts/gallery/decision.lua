-- What kitchen sinks learn: the decision function of two spirals over the plane.
local sc = require "scullery"

local function spirals(n, seed)
  local noise, X, y = sc.randn{ n, 2, seed = seed }, sc.zeros(n, 2), {}
  for i = 1, n do
    local r, side = math.sqrt(i / n), i % 2
    local angle = 9 * r + math.pi * side
    X:set(i, 1, r * math.cos(angle) + 0.03 * noise:get(i, 1))
    X:set(i, 2, r * math.sin(angle) + 0.03 * noise:get(i, 2))
    y[i] = side == 0 and "a" or "b"
  end
  return sc.dataset{ X = X, y = y }
end

local ds = spirals(180, 1)
local p = sc.pipeline{
  sc.features{ p = sc.sampler.gaussian{ gamma = 10 }, phi = sc.nonlinearity.fourier(), T = 500,
    seed = 1 },
  sc.solver.ridge{ lambda = 1e-4 },
}:fit(ds)

local side, plane, across, down = 11, {}, {}, {}
for i = 1, side do
  across[i], down[i] = ("%.1f"):format(0.2 * (i - 6)), ("%.1f"):format(0.2 * (6 - i))
  for j = 1, side do plane[#plane + 1] = { 0.2 * (j - 6), 0.2 * (6 - i) } end
end
local f, values = p:decision(sc.matrix(plane)), {}
for i = 1, side do
  values[i] = {}
  for j = 1, side do values[i][j] = f:get((i - 1) * side + j, 1) end
end

local x, y = {}, {}
for i = 1, #ds do x[i], y[i] = ds.X:get(i, 1), ds.X:get(i, 2) end
local fig = sc.plot.panels{
  sc.plot.scatter{ x = x, y = y, class = ds:labels(), equal = true, title = "180 rows",
    x_label = "x1", y_label = "x2" },
  sc.plot.heatmap{ values = values, x = across, y = down, range = { -1.2, 1.2 }, equal = true,
    contour = 0, title = "Decision function; the line: 0", x_label = "x1", y_label = "x2",
    label = "f(x); b above 0" },
  title = "Ridge regression on 500 Fourier features", width = 1080, height = 480 }
fig:save(arg[1] or "decision.svg")
return fig
