-- RKS, figure 1: random kitchen sinks against AdaBoost on decision stumps.
--
--   scullery scripts/rks/figure1.lua [--quick] [--seeds 5] [--out out]
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 5, out = "out" }
local names = args.quick and { "wdbc" } or { "adult", "adult, numbers", "kddcup10" }
local sizes = args.quick and { 4, 16, 64 } or { 4, 16, 64, 256, 1024, 4096 }
local threshold, gaussian = sc.sampler.threshold{ sigma = 1 }, sc.sampler.gaussian{ sigma = 0.1 }
local sign, least_squares = sc.nonlinearity.sign(), sc.solver.ridge{ lambda = 1e-6 }
local function hinge(T) -- |alpha_t| <= 1: features are phi/sqrt(T)
  return sc.solver.box{ loss = "hinge", C = T ^ 1.5, tolerance = 1e-2, intercept = true }
end
local methods = { -- of each: name, largest T, sampler, nonlinearity, solver
  { "stumps", 4096, threshold, sign, least_squares },
  { "stumps, hinge", 1024, threshold, sign },
  { "Fourier", 1024, gaussian, sc.nonlinearity.fourier(), least_squares },
  { "sigmoids", 1024, gaussian, sc.nonlinearity.logistic(), least_squares },
  { "AdaBoost", 1024 },
}

local cells, method_of = {}, {}
for _, method in ipairs(methods) do method_of[method[1]] = method end
for _, name in ipairs(names) do
  for seed = 1, args.seeds do
    for _, method in ipairs(methods) do
      for _, T in ipairs(sizes) do
        if T <= method[2] then
          cells[#cells + 1] = { data = name, method = method[1], T = T, seed = seed }
        end
      end
    end
  end
end

-- Training and test part.
local function load(name, seed)
  if name == "adult" then return sc.data.load("adult"):discretize{ bins = 5 }:parts() end
  if name == "adult, numbers" then return sc.data.load("adult"):parts() end
  if name == "wdbc" then return sc.data.load("wdbc"):split{ seed = seed } end
  local train, rest = sc.data.load("kddcup10"):relabel(function(label)
    return label == "normal." and "normal" or "attack"
  end):split{ test = 494021 - 50000, seed = seed }
  return train, (rest:split{ test = #rest - 150000, seed = seed })
end

local train, test, loaded
local exp = sc.experiment{
  name = "rks_figure1" .. (args.quick and "_quick" or ""), folder = args.out .. "/cells",
  cells = cells,
  run = function(cell)
    if loaded ~= cell.data .. cell.seed then
      train, test = load(cell.data, cell.seed)
      loaded = cell.data .. cell.seed
    end
    local _, _, p, phi, solver = table.unpack(method_of[cell.method])
    local model = sc.pipeline(p and { sc.standardize(), sc.features{ p = p, phi = phi, T = cell.T,
      seed = cell.seed, dtype = "float32" }, solver or hinge(cell.T) }
      or { sc.solver.adaboost{ stumps = cell.T } })
    local begun, processor = sc.clock(), os.clock()
    local error = model:fit(train):error(test)
    return { error = error, seconds = sc.clock() - begun, processor = os.clock() - processor }
  end,
}

-- Of each method the fastest cell with an error as small as that of AdaBoost with T stumps.
local reached = { rows = {}, title = "To AdaBoost's error: T, seconds, how many times sooner",
  columns = { "data", "AdaBoost's T", "error", "seconds" } }
for k = 1, #methods - 1 do reached.columns[4 + k] = methods[k][1] end

local figures = {}
for _, name in ipairs(names) do
  local where, means = { data = name }, {}
  for _, method in ipairs(methods) do means[method[1]] = {} end
  for _, row in ipairs(exp:table{ value = { "error", "processor" }, where = where,
    rows = { "method", "T" } }.rows) do
    table.insert(means[row.labels[1]], { row.labels[2], row.means[1], row.means[2] })
  end
  for _, goal in ipairs(means.AdaBoost) do
    local line = { name, goal[1], ("%.4f"):format(goal[2]), ("%.3f"):format(goal[3]) }
    for k = 1, #methods - 1 do
      local best = { 0, 0, math.huge }
      for _, one in ipairs(means[methods[k][1]]) do
        if one[2] <= goal[2] and one[3] < best[3] then best = one end
      end
      line[4 + k] = best[1] == 0 and "-" or ("%d, %.3f s, %.2g"):format(best[1], best[3],
        goal[3] / best[3])
    end
    table.insert(reached.rows, line)
  end
  local function panel(x, y, along)
    return sc.plot.line{ series = exp:series{ x = x, value = y, along = along, series = "method",
      where = where }, x_log = x == "T", y_log = true, marks = true, x_label = x,
      y_label = y == "processor" and "processor seconds" or y }
  end
  figures[#figures + 1] = sc.plot.panels{ panel("T", "error"), panel("T", "processor"),
    panel("error", "processor", "T"), columns = 3, width = 1500, height = 420, title = name }
end

sc.publish(args.out .. "/rks/figure1", { tables = { reached }, figures = figures,
  experiment = exp })
