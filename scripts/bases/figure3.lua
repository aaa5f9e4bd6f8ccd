-- BASES, figure 3: random stumps against AdaBoost on adult
--
--   scullery scripts/bases/figure3.lua [--quick] [--seeds 5] [--out out]
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 5, out = "out" }
local train, test
if args.quick then
  train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
else
  train, test = sc.data.load("adult"):parts()
end

local cells = {}
for _, K in ipairs(args.quick and { 10, 100 } or { 10, 30, 100, 300, 1000, 3000 }) do
  for seed = 1, args.quick and 2 or args.seeds do
    cells[#cells + 1] = { method = "random stumps", K = K, seed = seed }
  end
  cells[#cells + 1] = K <= 1000 and { method = "AdaBoost", K = K, seed = 1 } or nil
end

-- Thresholds uniform on [-a, a], a and lambda chosen on training rows.
local function random_stumps(K, seed)
  return sc.pipeline{ sc.standardize(),
    sc.features{ p = sc.sampler.threshold{ a = sc.choose{ 1, 2, 4 } },
      phi = sc.nonlinearity.sign(), T = K, seed = seed },
    sc.solver.ridge{ lambda = sc.choose.log{ 1e-6, 1e-2, count = 3 } },
  }:search(#train > 8000 and select(2, train:split{ test = 8000, seed = seed }) or train,
    { holdout = 0.25, seed = seed })
end

local exp = sc.experiment{
  name = "bases_figure3" .. (args.quick and "_quick" or ""), folder = args.out .. "/cells",
  data = { train = train, test = test }, cells = cells,
  run = function(cell)
    local p = cell.method == "AdaBoost" and sc.pipeline{ sc.solver.adaboost{ stumps = cell.K } }
      or random_stumps(cell.K, cell.seed)
    local begun = sc.clock()
    local percent = 100 * p:fit(train):error(test)
    return { percent = percent, seconds = sc.clock() - begun }
  end,
}

local function curves(x, y, x_label, y_label)
  local series = exp:series{ x = x, along = x ~= "K" and "K" or nil, value = y, series = "method" }
  return sc.plot.line{ series = series, x_log = true, y_log = y == "seconds", marks = true,
    x_label = x_label, y_label = y_label }
end
local K, percent, seconds = "stumps K", "test error, %", "seconds to train and test"
sc.publish(args.out .. "/bases/figure3", { experiment = exp,
  figures = { sc.plot.panels{ curves("K", "percent", K, percent),
    curves("K", "seconds", K, seconds), curves("seconds", "percent", seconds, percent),
    columns = 3, width = 1400, height = 420 } },
  tables = { exp:table{ rows = "K", columns = "method", value = "percent" },
    exp:table{ rows = "K", columns = "method", value = "seconds" } } })
