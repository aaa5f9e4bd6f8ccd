-- BASES, table I: least squares on random bases against exact kernel methods
--
--   scullery scripts/bases/table1.lua [--quick] [--seeds 5] [--forest covtype] [--out out]
--
-- Percent of test rows that are wrong, or for regressions rms error over rms of the truth; seconds
-- of one fit. D Fourier features, P grids of bins as in the paper; columns scaled to [0, 1]; the
-- rate gamma, lambda and C are chosen by 3-fold cross-validation on 3,000 training rows. "exact":
-- support vector machines, and for regressions kernel ridge, on at most 10,000 training rows.
-- "linear": ridge on the columns. house_16h stands in for census-house, which is not public, and
-- covtype10k (9,000 training rows) for forest cover; --forest covtype takes all of it. More in
-- docs/seeds.md.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 5, forest = "covtype10k", out = "out" }
local function random_split(name, test)
  return function(seed) return sc.data.load(name):split{ test = test, seed = seed } end
end

-- Each data set: its training and test rows by a seed, and the paper's D and P.
local sets = args.quick and { wdbc = { D = 100, P = 20, split = random_split("wdbc", 0.25) } } or {
  cpu_act = { D = 300, P = 350, split = random_split("cpu_act", 0.2) },
  ["cpu_act, aligned"] = { D = 300, P = 350, split = function(seed) -- column 21 is freeswap
    local ds = sc.data.load("cpu_act"):filter(function(_, row) return row:get(1, 21) >= 1000 end)
    return ds:split{ test = 0.2, seed = seed }
  end },
  house_16h = { D = 500, P = 30, split = random_split("house_16h", 0.2) },
  adult = { D = 500, P = 30, split = function()
    return sc.data.load("adult"):discretize{ bins = 5 }:parts() end },
  [args.forest] = { D = 5000, P = 50, split = function(seed)
    local ds = sc.data.load(args.forest)
    ds = ds:relabel(function(class) return class == 2 and "2" or "others" end)
    return ds:split{ test = 0.1, seed = seed }
  end },
}
local log = sc.choose.log
local models = { -- the stages of each method, with what the search chooses
  linear = function() return { sc.solver.ridge{ lambda = log{ 1e-9, 1e-3, count = 4 } } } end,
  Fourier = function(set, seed)
    return { sc.features{ p = sc.sampler.gaussian{ gamma = log{ 0.01, 10, count = 4 } },
      phi = sc.nonlinearity.fourier(), T = set.D, seed = seed },
      sc.solver.ridge{ lambda = log{ 1e-9, 1e-3, count = 4 } } }
  end,
  bins = function(set, seed)
    return { sc.features{ p = sc.sampler.grid{ gamma = log{ 0.1, 3, count = 4 } },
      phi = sc.nonlinearity.bins(), T = set.P, seed = seed },
      sc.solver.cg{ lambda = log{ 1e-5, 1e-3, count = 3 } } }
  end,
  exact = function(_, _, task)
    local gamma = log{ 0.01, 10, count = 4 }
    return { task == "regression" and sc.solver.kernel_ridge{ intercept = true,
      kernel = sc.kernel.gaussian{ gamma = gamma }, lambda = log{ 1e-9, 1e-3, count = 4 } }
      or sc.solver.svm{ gamma = gamma, C = log{ 1, 100, count = 3 } } }
  end,
}
local names = {}
for name in pairs(sets) do names[#names + 1] = name end
local exp = sc.experiment{ name = "bases_table1", args = args,
  cells = { data = names, method = { "linear", "Fourier", "bins", "exact" },
    seed = sc.range(1, args.quick and 2 or args.seeds) },
  run = function(cell)
    local set, seed = sets[cell.data], cell.seed
    local train, test = set.split(seed)
    if cell.method == "exact" then train = train:sample{ rows = 10000, seed = seed } end
    local p = sc.pipeline{ sc.minmax(), table.unpack(models[cell.method](set, seed, train.task)) }
      :search(train:sample{ rows = 3000, seed = seed }, { folds = 3, seed = seed })
    local begun = os.clock()
    p:fit(train)
    local result = { seconds = os.clock() - begun, lambda = p.choice["solver.lambda"] }
    result.percent = 100 * (train.task == "regression"
      and sc.metrics.nrmse(p:predict(test), test.y) or p:error(test))
    return result
  end }
sc.publish("bases/table1", { args = args, experiment = exp,
  stand_in = args.quick and "wdbc", tables = {
    exp:compare{ rows = "data", columns = "method", value = "percent", digits = 1,
      published = arg[0]:gsub("lua$", "csv") },
    not args.quick and { title = "Published, of other data: census-house, and forest cover by \z
      522,000 training rows", columns = { "data", "Fourier", "bins", "exact" },
      rows = { { "census-house", 5, 7.5, 9 }, { "forest cover", 11.6, 2.2, 2.2 } } } } })
