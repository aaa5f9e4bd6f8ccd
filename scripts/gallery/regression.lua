-- A regression on generated rows: residuals, and observed against predicted values.
local sc = require "scullery"

local function waves(n, seed)
  local X, noise = sc.randn{ n, 3, seed = seed }, sc.randn{ n, 1, seed = seed + 1 }
  local y = sc.zeros(n)
  for i = 1, n do
    y:set(i, 1, math.sin(2 * X:get(i, 1)) + X:get(i, 2) ^ 2 / 2 + 0.2 * noise:get(i, 1))
  end
  return sc.dataset{ X = X, y = y }
end

local p = sc.pipeline{
  sc.features{ p = sc.sampler.gaussian{ sigma = 0.7 }, phi = sc.nonlinearity.fourier(), T = 300,
    seed = 1 },
  sc.solver.ridge{ lambda = 1e-3 },
}:fit(waves(600, 1))

local fig = p:plot("residuals", waves(100, 3))
fig:save(arg[1] or "regression.svg")
return fig
