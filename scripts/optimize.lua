-- Bayesian optimisation by functions drawn from a posterior, beside random search, on two functions
-- whose minima are known: Branin's (two columns) and Hartmann's (six).
--
--   scullery scripts/optimize.lua [--quick] [--seeds 10] [--out out]
--
-- The regret is the least value so far minus the minimum: the table and the picture have the mean
-- over seeds of its decimal logarithm (-3: a thousandth), with processor seconds of a run.
-- Constants: Dixon and Szegoe 1978, The global optimization problem: an introduction.
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 10, out = "out" }
local functions = {
  branin = { box = { { -5, 10 }, { 0, 15 } }, least = 0.39788735772973816 },
  hartmann6 = { box = {}, least = -3.322368011391339 },
}
for j = 1, 6 do functions.hartmann6.box[j] = { 0, 1 } end

function functions.branin.f(x)
  local a, b = x[1], x[2]
  return (b - 5.1 / (4 * math.pi ^ 2) * a ^ 2 + 5 / math.pi * a - 6) ^ 2
    + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10
end

local A = { { 10, 3, 17, 3.5, 1.7, 8 }, { 0.05, 10, 17, 0.1, 8, 14 },
  { 3, 3.5, 1.7, 10, 17, 8 }, { 17, 8, 0.05, 10, 0.1, 14 } }
local P = { { 0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886 },
  { 0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991 },
  { 0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650 },
  { 0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381 } }
local height = { 1, 1.2, 3, 3.2 }
function functions.hartmann6.f(x)
  local sum = 0
  for i = 1, 4 do
    local square = 0
    for j = 1, 6 do square = square + A[i][j] * (x[j] - P[i][j]) ^ 2 end
    sum = sum - height[i] * math.exp(-square)
  end
  return sum
end

local cells = {}
for seed = 1, args.quick and 2 or args.seeds do
  for _, name in ipairs{ "branin", "hartmann6" } do
    for _, method in ipairs{ "thompson", "random" } do
      for _, rounds in ipairs(args.quick and { 5, 10 } or { 10, 20, 40, 80 }) do
        cells[#cells + 1] = { problem = name, method = method, rounds = rounds, seed = seed }
      end
    end
  end
end

local exp = sc.experiment{
  name = "optimize" .. (args.quick and "_quick" or ""), folder = args.out .. "/cells",
  cells = cells,
  run = function(cell)
    local problem, began = functions[cell.problem], os.clock()
    local found = sc.optimize{ f = problem.f, box = problem.box, method = cell.method,
      rounds = cell.rounds, seed = cell.seed }
    return { regret = math.log(math.max(found.value - problem.least, 1e-12), 10),
      processor = os.clock() - began }
  end,
}

local panels = { width = 1100, height = 420 }
for _, name in ipairs(exp:values("problem")) do
  panels[#panels + 1] = sc.plot.line{ series = exp:series{ x = "rounds", value = "regret",
    series = "method", where = { problem = name } }, marks = true, title = name, x_log = true,
    x_label = "values of the function", y_label = "log10 of the regret" }
end
sc.publish(args.out .. "/optimize" .. (args.quick and "_quick" or ""), {
  tables = { exp:table{ rows = { "problem", "method", "rounds" },
    value = { "regret", "processor" } } },
  figures = { sc.plot.panels(panels) }, experiment = exp })
