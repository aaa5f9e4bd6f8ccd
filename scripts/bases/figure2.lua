-- BASES, figure 2: random bins on forest cover, error and training time against P
--
--   scullery scripts/bases/figure2.lua [--quick] [--seeds 5] [--forest covtype] [--out out]
--
-- Least squares on P random grids: columns scaled to [0, 1], the rate gamma of the grids and lambda
-- chosen on a hold-out of at most 10,000 training rows, 10 % of the rows for the test, 5 seeds.
-- "class 2" tells it from the other six, the problem of the SVM literature on this set.
--
-- The paper has 522,000 training rows. By default we have 9,000, of the first 10,000 rows of the
-- file, in which the classes are about equally frequent; `scullery data get covtype` and --forest
-- covtype take all.
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 5, forest = "covtype10k", out = "out" }
local ds = sc.data.load(args.quick and "wdbc" or args.forest)
local problems = { ["all classes"] = ds }
if not args.quick then
  problems["class 2"] = ds:relabel(function(class) return class == 2 and "2" or "others" end)
end

local names = args.quick and { "all classes" } or { "class 2", "all classes" }
local exp = sc.experiment{
  name = args.quick and "bases_figure2" or "bases_figure2_" .. args.forest, args = args, data = ds,
  cells = { problem = names, P = args.quick and { 2, 10, 50 } or { 1, 2, 5, 10, 20, 30, 50 },
    rows = args.quick and { 400 } or { 1000, 3000, #ds * 9 // 10 },
    seed = sc.range(1, args.quick and 2 or args.seeds) },
  run = function(cell)
    local train, test = problems[cell.problem]:split{ test = 0.1, seed = cell.seed }
    local function at_most(count)
      return count < #train and select(2, train:split{ test = count, seed = cell.seed }) or train
    end
    train = at_most(cell.rows)
    local p = sc.pipeline{ sc.minmax(),
      sc.features{ p = sc.sampler.grid{ gamma = sc.choose{ 0.3, 1, 3 } },
        phi = sc.nonlinearity.bins(), T = cell.P, seed = cell.seed },
      sc.solver.cg{ lambda = sc.choose.log{ 1e-5, 1e-3, count = 3 } },
    }:search(at_most(10000), { holdout = 0.25, seed = cell.seed })
    local begun = os.clock()
    p:fit(train)
    local seconds = os.clock() - begun
    return { percent = 100 * p:error(test), seconds = seconds,
      lambda = p.choice["solver.lambda"] }
  end,
}

local figures, tables, shown = {}, {}, {}
for _, name in ipairs(names) do -- in this order, without what --set leaves out
  if #exp:values("P", { problem = name }) > 0 then shown[#shown + 1] = name end
end
local labels = { percent = "test error, %", seconds = "training seconds" }
for _, value in ipairs{ "percent", "seconds" } do
  for _, name in ipairs(shown) do
    local where = { problem = name }
    tables[#tables + 1] = exp:table{ rows = "P", columns = "rows", value = value, where = where,
      title = name .. ": " .. labels[value] .. ", by training rows" }
    figures[#figures + 1] = sc.plot.line{ marks = true, title = name, x_label = "random grids P",
      y_label = labels[value],
      series = exp:series{ x = "P", value = value, series = "rows", where = where } }
  end
end
sc.publish("bases/figure2", { args = args, experiment = exp,
  stand_in = args.quick and "wdbc", tables = tables,
  figures = { sc.plot.panels{ columns = #shown, width = 1100, height = 840,
    table.unpack(figures) } } })
