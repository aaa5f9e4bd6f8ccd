-- Figure 1: sparse random features learn a sum of sines from badly spread samples
--
--     scullery scripts/sparse/figure1.lua [--quick] [--seeds N] [--out DIR]
--
-- The paper shows one picture: the surface that sparse features of in-degree 1 learn of a sum of
-- sines of two columns, from samples that lie badly. It prints neither the function nor the
-- samples. Here y = sin(3 x_1) + sin(3 x_2) + noise (0.1) on [-1, 1]^2, and 100 samples lie beside
-- the two lines x_2 = -0.8 and x_1 = -0.8 (standard deviation 0.05), or evenly over the square. 500
-- features sqrt 2 cos(<w, x> + b) of in-degree 1 and of dense normal rows, E |w|^2 = 9; ridge
-- regression, lambda by leave-one-out. R2 against the truth on a grid over the square, most of
-- which is far from the samples.
--
-- As the paper's picture shows it: additive features learn each sine on its own line, and know the
-- whole square (R2 0.994). Dense features know only the lines (-0.2). On even samples both do.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 20, out = "out" }
if args.quick then args.seeds = 2 end
local n, T = 100, 500

local function truth(X) return X:map(function(v) return math.sin(3 * v) end) * sc.ones(2, 1) end
local square = {}
for a = -1, 1, 0.1 do
  for b = -1, 1, 0.1 do square[#square + 1] = { a, b } end
end
local grid = sc.matrix(square)

-- The samples: on the two lines in turn, or anywhere.
local function samples(where, seed)
  local X = 2 * sc.rand{ n, 2, seed = seed } - 1
  local off = sc.randn{ n, 1, seed = seed + 1000 } * 0.05
  if where == "two lines" then
    for i = 1, n do X:set(i, 1 + i % 2, off:get(i, 1) - 0.8) end
  end
  return X, truth(X) + 0.1 * sc.randn{ n, 1, seed = seed + 2000 }
end
local samplers = { ["in-degree 1"] = sc.sampler.sparse{ degree = 1, sigma = 3 },
  dense = sc.sampler.gaussian{ sigma = 3 / math.sqrt(2) } }

local function learn(where, features, seed)
  local X, y = samples(where, seed)
  return sc.pipeline{ sc.features{ p = samplers[features], phi = sc.nonlinearity.fourier(), T = T,
    seed = seed }, sc.solver.ridge{ lambda = sc.choose.log{ 1e-8, 1, count = 17 } } }:search(
    sc.dataset{ X = X, y = y }, { folds = "loo" })
end

local exp = sc.experiment{ name = "sparse_figure1", args = args,
  cells = { features = { "in-degree 1", "dense" },
    samples = { "two lines", "even" }, seed = sc.range(1, args.seeds) },
  run = function(cell)
    local y = truth(grid)
    local left = (learn(cell.samples, cell.features, cell.seed):decision(grid) - y):norm() ^ 2
    return { R2 = 1 - left / y:norm() ^ 2 } -- the mean of y is 0
  end }

local panels = {}
for _, features in ipairs{ "in-degree 1", "dense" } do
  local model = learn("two lines", features, 1)
  local values, scores = sc.zeros(11, 11), model:decision(grid) -- every second point
  for a = 1, 11 do
    for b = 1, 11 do values:set(12 - b, a, scores:get(42 * (a - 1) + 2 * b - 1, 1)) end
  end
  panels[#panels + 1] = sc.plot.heatmap{ values = values, title = features, range = { -2, 2 } }
end
sc.publish("sparse/figure1", { args = args, experiment = exp,
  stand_in = args.quick and "2 draws", figures = { sc.plot.panels(panels) },
  tables = { exp:table{ rows = "features", columns = "samples", value = "R2" } } })
