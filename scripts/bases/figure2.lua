-- BASES, figure 2: random bins on forest cover, error and training time against P
--
--   scullery scripts/bases/figure2.lua [--quick] [--seeds 5] [--forest covtype] [--out out]
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 5, forest = "covtype10k", out = "out" }
local ds = sc.data.load(args.quick and "wdbc" or args.forest)
if not args.quick then
  ds = ds:relabel(function(class) return class == 2 and "2" or "others" end)
end

local exp = sc.experiment{
  name = args.quick and "bases_figure2_quick" or "bases_figure2_" .. args.forest, data = ds,
  folder = args.out .. "/cells",
  cells = { P = args.quick and { 2, 10, 50 } or { 1, 2, 5, 10, 20, 30, 50, 100 },
    rows = args.quick and { 400 } or { 1000, 3000, #ds * 9 // 10 },
    seed = sc.range(1, args.quick and 2 or args.seeds) },
  run = function(cell)
    local train, test = ds:split{ test = 0.1, seed = cell.seed }
    if cell.rows < #train then
      train = select(2, train:split{ test = cell.rows, seed = cell.seed })
    end
    local p = sc.pipeline{ sc.minmax(),
      sc.features{ p = sc.sampler.grid{ gamma = sc.choose{ 0.3, 1, 3 } },
        phi = sc.nonlinearity.bins(), T = cell.P, seed = cell.seed },
      sc.solver.cg{ lambda = sc.choose.log{ 1e-5, 1e-3, count = 3 } } }
    local judged = #train > 10000 and select(2, train:split{ test = 10000, seed = 1 }) or train
    p = p:search(judged, { holdout = 0.25, seed = cell.seed })
    local begun = sc.clock()
    p:fit(train)
    return { percent = 100 * p:error(test), seconds = sc.clock() - begun }
  end,
}

local function curves(value, label)
  return sc.plot.line{ series = exp:series{ x = "P", value = value, series = "rows" },
    marks = true, x_label = "random grids P", y_label = label }
end
sc.publish(args.out .. "/bases/figure2", { experiment = exp,
  figures = { sc.plot.panels{ curves("percent", "test error, %"),
    curves("seconds", "training seconds"), width = 1100, height = 440 } },
  tables = { exp:table{ rows = "P", columns = "rows", value = "percent" },
    exp:table{ rows = "P", columns = "rows", value = "seconds" } } })
