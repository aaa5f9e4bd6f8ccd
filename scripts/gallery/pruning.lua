-- How few parameters an RKHS weighting needs: the test error of models pruned more and more, with
-- 95 % intervals (Wilson).
local sc = require "scullery"
local train, test = sc.data.load("wdbc"):split{ test = 0.5, seed = 0 }

local inst = sc.instantiation{ K = sc.kernel.gaussian{ gamma = 1 },
  p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }
local whole = sc.pipeline{ sc.standardize(), sc.add_bias(), inst:features{ T = 300, seed = 0 },
  sc.solver.ridge{ lambda = 1e-5, penalty = "rkhs" } }:fit(train)

local function interval(share, n)
  local z2 = 1.96 ^ 2
  local centre = (share + z2 / (2 * n)) / (1 + z2 / n)
  local half = math.sqrt(z2 * share * (1 - share) / n + z2 ^ 2 / (4 * n ^ 2)) / (1 + z2 / n)
  return centre - half, centre + half
end

local line = { x = {}, y = {}, low = {}, high = {} }
for _, epsilon in ipairs{ 0.3, 0.1, 0.03, 0.01, 0.003, 0.001 } do
  local pruned, info = whole:prune{ epsilon = epsilon, accept = "risk" }
  if info.kept ~= line.x[#line.x] then
    local i, e = #line.x + 1, pruned:error(test)
    line.x[i], line.y[i] = info.kept, e
    line.low[i], line.high[i] = interval(e, #test)
  end
end

local fig = sc.plot.scatter{ x = line.x, y = line.y, low = line.low, high = line.high, x_log = true,
  title = "Pruning 300 stumps, wdbc; 95 % intervals (Wilson)", x_label = "parameters kept",
  y_label = "test error",
  rules = { { y = whole:error(test), label = "all 300" } } }
fig:save(arg[1] or "docs/gallery/pruning.svg")
return fig
