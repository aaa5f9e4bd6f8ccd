-- Drift: the error on rows before they are learnt, of a model that keeps all rows and of one that
-- forgets.
local sc = require "scullery"
local n, noise = 12000, sc.randn{ 12000, 1, seed = 2 } * 0.2
local X = sc.randn{ n, 4, seed = 1 }
local y = X:column(2) * 0.3 + noise
for i = 1, n do y:set(i, 1, y:get(i, 1) + math.sin(2 * X:get(i, 1) + math.pi * i / 6000)) end
local rows = sc.dataset{ X = X, y = y }

local function drift(window)
  local model = sc.pipeline{
    sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 }, phi = sc.nonlinearity.fourier(),
      T = 200, seed = 1, dtype = "int16" },
    sc.solver.ridge{ lambda = 1e-4 },
  }:fit(rows:subset(1, 500), { sums = true })
  return model:update(rows:subset(501, n), { every = 500, window = window }).drift
end

local fig = drift():plot{ with = { drift(2000) } }
fig:save(arg[1] or "drift.svg")
return fig
