-- Table 1: regression on inputs with sparse spikes
--
--     scullery scripts/sparse/table1.lua [--quick] [--seeds N] [--out DIR]
--
-- The truth is y = <x, beta>, x and beta standard normal. What is seen of x is spiked: each entry
-- is replaced by noise with probability p = 0.03. R2 on spiked test rows of least squares, kernel
-- ridge without penalty on 1 - ||x - x'||_1/l (the kernel of sparse sign features of in-degree 1),
-- least squares after entries beyond 3 are set to 0, and Huber's regression. Published are single
-- runs; their spread is taken from ours.
--
-- n and l are not printed. For least squares with v = 1 - R2 of the best linear predictor,
-- training rows have 1 - R2 = v (1 - l/n) and test rows v/(1 - l/n): the published numbers say l/n
-- = 0.5 (0.48 linear, 0.52 Huber) and v = 0.28. n = 800 as in figure 4.
--
-- v also follows from the noise: N(0, 6^2), as printed, has v = 0.54, whatever n and l. No linear
-- fit can then have both 0.854 and 0.453. Uniform noise on [-6, 6] has v = 0.29, and gives the
-- published numbers of linear, kernel and Huber, in training and test: it seems to be what was
-- run. The kernel does as well under either noise; linear and Huber are far worse under the
-- printed one.
--
-- Trimmed differs: the paper does not say how it trims. Entries beyond 3 set to 0 give 0.949 in
-- training and 0.79 in test (published 0.945 and 0.686).
--
-- With an intercept the fit of 1 - ||x - x'||_1/L is the same for every L; L = 6 l keeps the
-- kernel positive on rows with spikes.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 20, out = "out" }
local n, l = args.quick and 100 or 800, args.quick and 50 or 400
local p, sigma = 0.03, 6

local published = {
  train = { linear = 0.854, kernel = 1.000, trimmed = 0.945, huber = 0.858 },
  test = { linear = 0.453, kernel = 0.607, trimmed = 0.686, huber = 0.392 },
}
local solvers = {
  linear = sc.solver.ridge{ lambda = 1e-9 },
  kernel = sc.solver.kernel_ridge{ kernel = sc.kernel.hat{ length = 6 * l }, lambda = 1e-9,
    intercept = true },
  trimmed = sc.solver.ridge{ lambda = 1e-9 },
  huber = sc.solver.huber{ lambda = 1e-6 },
}
local function trim(x) return math.abs(x) > 3 and 0 or x end

local function rows(cell, beta, part)
  local seed = 100 * cell.seed + 10 * part
  local X = sc.randn{ n, l, seed = seed + 1 }
  local W = sc.data.spiked(X, { p = p, sigma = sigma, law = cell.spikes, seed = seed // 2 + 1 })
  return sc.dataset{ X = cell.model == "trimmed" and W:map(trim) or W, y = X * beta }
end

local exp = sc.experiment{
  name = "sparse_table1", args = args,
  cells = { model = { "linear", "kernel", "trimmed", "huber" }, spikes = { "normal", "uniform" },
    seed = sc.range(1, args.seeds) },
  run = function(cell)
    local beta = sc.randn{ l, 1, seed = 100 * cell.seed }
    local train, test = rows(cell, beta, 1), rows(cell, beta, 2)
    local begun = os.clock()
    local model = sc.pipeline{ solvers[cell.model] }:fit(train)
    return { seconds = os.clock() - begun, train = model:score(train), test = model:score(test) }
  end,
}

local function compare(part)
  return exp:compare{ value = part, rows = "spikes", columns = "model", digits = 3, runs = 1,
    title = part .. " R2", published = { normal = published[part], uniform = published[part] } }
end

sc.publish("sparse/table1", { args = args, tables = { compare("test"), compare("train") },
  experiment = exp,
  stand_in = args.quick and "100 rows of 50 columns" })
