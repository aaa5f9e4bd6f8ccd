-- Figure 1: error and training time of four algorithms against T (MNIST, 1 against 7)
--
--     scullery scripts/rkhsw/figure1.lua [--quick] [--seeds N] [--out DIR]
--
-- Instantiation 1 with sigma = 1 and theta = 0.5, learnt by algorithms 1 (sfgd), 2
-- (optimal_stepsize), 3 (ridge) and 4 (lasso); minibatches of 50, B = 1000, lambda by 5-fold cross-
-- validation over 1e-7 to 1e-3. As in the published code, a quarter of the training digits is held
-- out; here another one for each seed. Six sizes have ten draws, the four others one. Bands are
-- standard errors (in the paper: standard deviations). Processor seconds are those of cells of the
-- first draw: a fit and its errors, and with the first algorithm ("ridge") the search of all four,
-- which makes the features once.
--
-- As in the paper, least squares and the lasso are ahead at every T, then the optimal stepsize,
-- then SFGD, whose errors still fall at T = 4000.
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 10, out = "out" }
local ds = args.quick and sc.data.load("wdbc") or sc.data.load("mnist17", "train")
local sizes = args.quick and { 10, 30 } or { 100, 200, 400, 800, 1200, 1600, 2000, 2600, 3200,
  4000 }

local lambda = sc.choose.log{ 1e-7, 1e-3, count = 5 }
local algorithms = { "ridge", "lasso", "optimal_stepsize", "sfgd" }
local function solvers(seed) -- the authors' SFGD has twice the gradient of ours: half of lambda
  return sc.choose{ sc.solver.lasso{ lambda = lambda, intercept = false },
    sc.solver.ridge{ lambda = lambda, penalty = "rkhs" },
    sc.solver.optimal_stepsize{ lambda = lambda, batch = 50, seed = seed },
    sc.solver.sfgd{ lambda = sc.choose.log{ 5e-8, 5e-4, count = 5 }, batch = 50, B = 1000,
      seed = seed } }
end

local function train_and_test(seed)
  return ds:split{ test = 0.25, seed = seed, stratify = false }
end
local function search(group) -- of all four algorithms
  return sc.pipeline{ sc.standardize(), sc.add_bias(),
    sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, K = sc.kernel.gaussian{ theta = 0.5 },
      phi = sc.nonlinearity.sign(), T = group.T, seed = group.seed }, solvers(group.seed)
  }:search(train_and_test(group.seed), { folds = 5, seed = group.seed, each = "solver" })
end
local function run(cell, _, best)
  local train, test = train_and_test(cell.seed)
  local p, start = best.each[cell.algorithm], sc.clock()
  p:fit(train)
  return { seconds = sc.clock() - start, error = p:error(test), train_error = p:error(train) }
end

local cells, of_one_draw = {}, { [1200] = true, [2000] = true, [2600] = true, [4000] = true }
for _, seed in ipairs(sc.range(1, args.quick and 2 or args.seeds)) do
  for _, T in ipairs(sizes) do
    for _, algorithm in ipairs(seed > 1 and of_one_draw[T] and {} or algorithms) do
      cells[#cells + 1] = { T = T, seed = seed, algorithm = algorithm }
    end
  end
end
local exp = sc.experiment{ name = "rkhsw_figure1", args = args, data = ds, cells = cells,
  group = { "T", "seed" }, prepare = search, run = run,
  rerun = "never" } -- an earlier form of the script ran some recorded cells

local first = { seed = exp:values("seed")[1] }
local function picture(value, label, where)
  return sc.plot.line{ series = exp:series{ x = "T", value = value, series = "algorithm",
    where = where }, y_log = where ~= nil,
    x_log = true, marks = true, x_label = "sampled parameters T", y_label = label,
    title = label .. (where and ", first draw" or ", bands: 1 standard error") }
end
sc.publish("rkhsw/figure1", { args = args, experiment = exp,
  stand_in = args.quick and "wdbc, T up to 30",
  tables = { exp:table{ rows = "T", columns = "algorithm", value = "error" },
    exp:table{ rows = "T", columns = "algorithm", where = first,
      value = "processor_seconds", title = "Processor seconds of a cell of the first draw" } },
  figures = { picture("train_error", "training error"), picture("error", "test error"),
    picture("processor_seconds", "processor seconds of a cell", first) } })
