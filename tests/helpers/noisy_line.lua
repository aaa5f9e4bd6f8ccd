--- A small problem for tests of guarantees: two classes by a noisy line, maps for it, and losses.
local sc = require "scullery"

local noisy_line = { d = 2, T = 40, width = 1.5, sigma = 0.8 }
local d = noisy_line.d

--- noisy_line.draw(rows, seed): y = +-1 by a noisy line.
function noisy_line.draw(rows, seed)
  local X, u, y = sc.randn{ rows, d, seed = seed }, sc.randn{ rows, 1, seed = seed + 500000 }, {}
  for i = 1, rows do y[i] = X:get(i, 1) - 0.5 * X:get(i, 2) + u:get(i, 1) / 2 > 0 and 1 or -1 end
  return sc.dataset{ X = X, y = y, classes = { -1, 1 } }
end

--- noisy_line.weighting([{ T, seed, phi }]): features with the Gaussian kernel as weights.
function noisy_line.weighting(given)
  given = given or {}
  return sc.instantiation{ K = sc.kernel.gaussian{ width = noisy_line.width },
    p = sc.sampler.gaussian{ sigma = noisy_line.sigma }, phi = given.phi or sc.nonlinearity.sign() }
    :features{ T = given.T or noisy_line.T, seed = given.seed or 2 }
end

--- noisy_line.losses: value at a margin, Lipschitz constant and largest value for |f| <= reach,
--- |y| = 1.
noisy_line.losses = {
  square = { function(m) return (1 - m) ^ 2 end, function(r) return 2 * (r + 1) end,
    function(r) return (r + 1) ^ 2 end },
  hinge = { function(m) return math.max(0, 1 - m) end, function() return 1 end,
    function(r) return 1 + r end },
  logistic = { function(m) return math.log(1 + math.exp(-m)) end,
    function(r) return 1 / (1 + math.exp(-r)) end,
    function(r) return math.log(1 + math.exp(r)) end },
}

--- noisy_line.mean_loss(kind, m, ds): the mean of that loss of a model on a data set.
function noisy_line.mean_loss(kind, m, ds)
  local f, y, sum = m:decision(ds.X), ds:targets(), 0
  for i = 1, #ds do sum = sum + noisy_line.losses[kind][1](f:get(i, 1) * y:get(i, 1)) end
  return sum / #ds
end

return noisy_line
