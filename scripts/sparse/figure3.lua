-- Figure 3: test error and chosen penalty against n, for four in-degrees
--
--     scullery scripts/sparse/figure3.lua [--quick] [--seeds N] [--out DIR]
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 20, out = "out" }
local l, m, noise, alpha = 16, args.quick and 300 or 4800, 0.05, 0.05
local sizes = args.quick and { 50, 200 } or { 50, 100, 150, 200, 250, 300, 350, 400, 500, 700, 1000 }

-- The truth of one seed: a function from rows to values.
local function truth(seed)
  local slopes, weights = sc.randn{ l, 1, seed = seed }, sc.randn{ 3, 1, seed = seed + 1 }
  local order = sc.rand{ 3, l, seed = seed + 2 }
  local function linear(X) return X * slopes end
  local function cubic(X)
    local sum = 0
    for t = 1, 3 do
      local columns = sc.range(1, l)
      table.sort(columns, function(i, j) return order:get(t, i) < order:get(t, j) end)
      local i, j, k = table.unpack(columns)
      sum = sum + weights[t] * X:column(i):mul(X:column(j)):mul(X:column(k))
    end
    return sum
  end
  local many = sc.rand{ 10000, l, seed = seed + 3 }
  local norm = math.sqrt(alpha ^ 2 + (1 - alpha) ^ 2)
  local c1 = (1 - alpha) / norm / linear(many):std()
  local c2 = alpha / norm / cubic(many):std()
  return function(X) return c1 * linear(X) + c2 * cubic(X) end
end

local function rows(f, n, seed)
  local X = sc.rand{ n, l, seed = seed }
  return sc.dataset{ X = X, y = f(X) + noise * sc.randn{ n, 1, seed = seed + 1 } }
end

local exp = sc.experiment{
  name = "sparse_figure3" .. (args.quick and "_quick" or ""), folder = args.out .. "/cells",
  cells = { degree = { 1, 3, 10, 16 }, n = sizes, seed = sc.range(1, args.seeds) },
  run = function(cell)
    local f, lambdas = truth(10 * cell.seed), {}
    for k = 1, 7 do lambdas[k] = 10.0 ^ (k - 5) / cell.n end
    local model = sc.pipeline{
      sc.features{ p = sc.sampler.sparse{ degree = cell.degree },
        phi = sc.nonlinearity.fourier{ form = "pair" }, T = m, seed = cell.seed },
      sc.solver.ridge{ lambda = sc.choose(lambdas) },
    }:search(rows(f, cell.n, 10 * cell.seed + 4), { folds = "loo" })
    return { error = model:error(rows(f, 2000, 10 * cell.seed + 6)),
      log_penalty = math.log(model.choice["solver.lambda"] * cell.n, 10) }
  end,
}
print(exp:table{columns="degree", value="error"})
print(exp:table{columns="degree", value="log_penalty"})
