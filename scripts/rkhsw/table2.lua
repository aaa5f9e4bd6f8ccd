-- Table 2: pruning of what four algorithms learn (MNIST, 1 against 7, instantiation 1)
--
--     scullery scripts/rkhsw/table2.lua [--quick] [--seeds N] [--out DIR]
--
-- Instantiation 1 with sigma = 1, theta = 0.5 and T = 1000; lambda by 5-fold cross-validation over
-- 1e-7 to 1e-3; minibatches of 50 and B = 1000. All but the lasso are pruned by algorithm 5, as
-- long as the share of training rows mistaken grows by less than 0.01, by ten steps at most.
--
-- The paper describes the 2163 test digits, but its published code holds out a quarter of the
-- 13,007 training digits for this table and figure 1. So does this script, with another split for
-- each seed: one split serves all runs of the authors. The same code leaves SFGD at its default,
-- the logistic loss; the paper says the square loss in every case.
--
-- One of 24 numbers is more than two standard errors off, as by chance: 58.9 per cent for 59.9.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 10, out = "out" }
local T = args.quick and 50 or 1000
local ds = args.quick and sc.data.load("wdbc") or sc.data.load("mnist17", "train")

local lambda = sc.choose.log{ 1e-7, 1e-3, count = 5 }
local algorithms = { "lasso", "least squares", "optimal stepsize", "SFGD" }
local solvers = {
  lasso = function() return sc.solver.lasso{ lambda = lambda, intercept = false } end,
  ["least squares"] = function() return sc.solver.ridge{ lambda = lambda, penalty = "rkhs" } end,
  ["optimal stepsize"] = function(seed)
    return sc.solver.optimal_stepsize{ lambda = lambda, batch = 50, seed = seed }
  end,
  SFGD = function(seed)
    return sc.solver.sfgd{ lambda = lambda, batch = 50, B = 1000, loss = "logistic", seed = seed }
  end,
}

local exp = sc.experiment{
  name = "rkhsw_table2", args = args,
  data = ds, cells = { algorithm = algorithms, seed = sc.range(1, args.quick and 2 or args.seeds) },
  run = function(cell)
    local train, test = ds:split{ test = 0.25, seed = cell.seed, stratify = false }
    local p = sc.pipeline{ sc.standardize(), sc.add_bias(),
      sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, K = sc.kernel.gaussian{ theta = 0.5 },
        phi = sc.nonlinearity.sign(), T = T, seed = cell.seed },
      solvers[cell.algorithm](cell.seed) }:search(train, { folds = 5, seed = cell.seed })
    local small, kept = p, p:info().nonzeros
    if cell.algorithm ~= "lasso" then
      local info
      small, info = p:prune{ epsilon = 0.01, accept = "zero_one" }
      kept = info.kept
    end
    return { train_error = p:error(train), error = p:error(test), pruned = 100 * (1 - kept / T),
      pruned_train_error = small:error(train), pruned_error = small:error(test),
      norm = small:norm(), lambda = p.choice["solver.lambda"] }
  end,
}
-- Mean and standard deviation of ten runs of each algorithm (tables 2 and 4).
local published = {
  { "train_error", 3, "Training error", 0.006, 0.001, 0.007, 0.001, 0.018, 0.002, 0.025, 0.003 },
  { "error", 3, "Test error", 0.009, 0.001, 0.007, 0.001, 0.019, 0.002, 0.027, 0.004 },
  { "pruned", 1, "Parameters pruned, per cent", 64, 13.66, 59.9, 0.91, 51.4, 1.88, 73.4, 3.37 },
  { "pruned_train_error", 3, "Training error after pruning", 0.006, 0.001, 0.007, 0.001, 0.022,
    0.003, 0.027, 0.005 },
  { "pruned_error", 3, "Test error after pruning", 0.009, 0.001, 0.009, 0.001, 0.024, 0.002, 0.029,
    0.005 },
  { "norm", 0, "Norm after pruning", 1054, 264.9, 248, 3.05, 534, 9.74, 311, 57.3 },
}
local tables, bars, names = {}, {}, {}
for i, one in ipairs(published) do
  local numbers = {}
  for j, name in ipairs(algorithms) do
    numbers[name] = { one[2 + 2 * j], one[3 + 2 * j] / math.sqrt(10) }
  end
  tables[i] = exp:compare{ published = numbers, rows = "algorithm", value = one[1], digits = one[2],
    title = one[3] }
  bars[i] = { label = one[3], values = {}, error = {} }
  for k, row in ipairs(tables[i].rows) do
    names[k], bars[i].values[k], bars[i].error[k] = row.labels[1], row.mean, row.error or 0
  end
end
sc.publish("rkhsw/table2", { args = args,
  tables = tables, experiment = exp, stand_in = args.quick and "wdbc, T = 50", figures = {
  sc.plot.bars{ names = names, series = { bars[2], bars[5] }, y_label = "error" } } })
