-- BASES, table I: least squares on random bases against exact kernel methods
--
--   scullery scripts/bases/table1.lua [--quick] [--seeds 5] [--forest covtype] [--out out]
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 5, forest = "covtype10k", out = "out" }

-- Splits of a named set at random, after some change to it.
local function random_split(name, share, change)
  local ds
  return function(seed)
    ds = ds or (change or function(all) return all end)(sc.data.load(name))
    return ds:split{ test = share, seed = seed }
  end
end

local function aligned(ds) -- column 21 is freeswap
  return ds:filter(function(_, row) return row:get(1, 21) >= 1000 end)
end

local function second_class(ds)
  return ds:relabel(function(class) return class == 2 and "2" or "others" end)
end

local function adult() return sc.data.load("adult"):discretize{ bins = 5 }:parts() end

local sets = args.quick and { wdbc = { split = random_split("wdbc", 0.25), D = 100, P = 20 } } or {
  cpu_act = { split = random_split("cpu_act", 0.2), D = 300, P = 350 },
  ["cpu_act, aligned"] = { split = random_split("cpu_act", 0.2, aligned), D = 300, P = 350 },
  house_16h = { split = random_split("house_16h", 0.2), D = 500, P = 30 },
  adult = { split = adult, D = 500, P = 30 },
  [args.forest] = { split = random_split(args.forest, 0.1, second_class), D = 5000, P = 50 },
}

local log = sc.choose.log
local models = { -- the stages of each, with what the search chooses
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

local function at_most(count, ds, seed)
  return #ds > count and select(2, ds:split{ test = count, seed = seed }) or ds
end

local names = {}
for name in pairs(sets) do names[#names + 1] = name end
local exp = sc.experiment{
  name = "bases_table1" .. (args.quick and "_quick" or ""), folder = args.out .. "/cells",
  cells = { data = names, method = { "linear", "Fourier", "bins", "exact" },
    seed = sc.range(1, args.quick and 2 or args.seeds) },
  run = function(cell)
    local set, begun = sets[cell.data], sc.clock()
    local train, test = set.split(cell.seed)
    if cell.method == "exact" then train = at_most(10000, train, cell.seed) end
    local p = sc.pipeline{ sc.minmax(),
      table.unpack(models[cell.method](set, cell.seed, train.task)) }
      :search(at_most(3000, train, cell.seed), { folds = 3, seed = cell.seed })
    local searched = sc.clock()
    p:fit(train)
    local seconds = sc.clock() - searched
    local error = train.task == "regression" and sc.metrics.nrmse(p:predict(test), test.y)
      or p:error(test)
    local chosen = {}
    for option, value in pairs(p.choice) do chosen[#chosen + 1] = ("%s %g"):format(option, value) end
    table.sort(chosen)
    return { percent = 100 * error, seconds = seconds, search_seconds = searched - begun,
      chosen = table.concat(chosen, ", ") }
  end,
}

local cpu, forest = { Fourier = 3.6, bins = 5.3, exact = 11 },
  { Fourier = 11.6, bins = 2.2, exact = 2.2 }
sc.publish(args.out .. "/bases/table1", { experiment = exp, tables = {
  exp:compare{ rows = "data", columns = "method", value = "percent", digits = 1, published = {
    cpu_act = cpu, ["cpu_act, aligned"] = cpu, [args.forest] = forest,
    adult = { Fourier = 14.9, bins = 15.3, exact = 15.1 },
    house_16h = { Fourier = 5, bins = 7.5, exact = 9 } } },
  exp:table{ rows = "data", columns = "method", value = "seconds" } } })
