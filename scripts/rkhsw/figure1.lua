-- Figure 1: error and training time of four algorithms against T (MNIST, 1 against 7)
--
--     scullery scripts/rkhsw/figure1.lua [--quick] [--seeds N] [--out DIR]
--
-- Instantiation 1 with sigma = 1 and theta = 0.5, learnt by algorithms 1 (sfgd), 2
-- (optimal_stepsize), 3 (ridge) and 4 (lasso); minibatches of 50, B = 1000, lambda by 5-fold cross-
-- validation over 1e-7 to 1e-3; T to 3200 (in the paper to 4000). As in the published code, a
-- quarter of the training digits is held out; here another one for each seed. Bands are standard
-- errors (in the paper: standard deviations). All four solvers share one search, which makes the
-- features once; the seconds are those of a fit alone.
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 10, out = "out" }
local ds = args.quick and sc.data.load("wdbc") or sc.data.load("mnist17", "train")
local sizes = args.quick and { 10, 30 } or { 100, 200, 400, 800, 1600, 3200 }

local lambda = sc.choose.log{ 1e-7, 1e-3, count = 5 }
local algorithms = { "ridge", "lasso", "optimal_stepsize", "sfgd" }
local function solvers(seed) -- the authors' SFGD has twice the gradient of ours: half of lambda
  return sc.choose{ sc.solver.lasso{ lambda = lambda, intercept = false },
    sc.solver.ridge{ lambda = lambda, penalty = "rkhs" },
    sc.solver.optimal_stepsize{ lambda = lambda, batch = 50, seed = seed },
    sc.solver.sfgd{ lambda = sc.choose.log{ 5e-8, 5e-4, count = 5 }, batch = 50, B = 1000,
      seed = seed } }
end

local last = {} -- one search of all four serves four cells
local function run(cell)
  local train, test = ds:split{ test = 0.25, seed = cell.seed, stratify = false }
  local key = cell.T .. " " .. cell.seed
  if last.key ~= key then
    last = { key = key, each = sc.pipeline{ sc.standardize(), sc.add_bias(),
      sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, K = sc.kernel.gaussian{ theta = 0.5 },
        phi = sc.nonlinearity.sign(), T = cell.T, seed = cell.seed },
      solvers(cell.seed) }:search(train, { folds = 5, seed = cell.seed, each = "solver" }).each }
  end
  local p, start = last.each[cell.algorithm], os.clock()
  p:fit(train)
  return { seconds = os.clock() - start, error = p:error(test), train_error = p:error(train),
    lambda = p.choice["solver.lambda"] }
end

local cells = {}
for _, seed in ipairs(sc.range(1, args.quick and 2 or args.seeds)) do
  for _, T in ipairs(sizes) do
    for _, algorithm in ipairs(algorithms) do
      cells[#cells + 1] = { T = T, seed = seed, algorithm = algorithm }
    end
  end
end
local exp = sc.experiment{ name = "rkhsw_figure1", args = args,
  data = ds, cells = cells, run = run }

local function picture(value, label, y_log)
  return sc.plot.line{ series = exp:series{ x = "T", value = value, series = "algorithm" },
    x_log = true, y_log = y_log, marks = true, x_label = "sampled parameters T", y_label = label,
    title = label .. ", bands: 1 standard error" }
end
sc.publish("rkhsw/figure1", { args = args, experiment = exp,
  stand_in = args.quick and "wdbc, T up to 30",
  tables = { exp:table{ rows = "T", columns = "algorithm", value = "error" },
    exp:table{ rows = "T", columns = "algorithm", value = "seconds" } },
  figures = { picture("train_error", "training error"), picture("error", "test error"),
    picture("seconds", "seconds of a fit", true) } })
