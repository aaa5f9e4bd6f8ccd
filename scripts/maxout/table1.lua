-- Table 1 of "Random Maxout Features" (Mroueh, Rennie and Goel 2015): test error in percent on
-- MNIST of regularised least squares on m maxout features of q projections each.
--
--   scullery scripts/maxout/table1.lua [--quick] [--seeds 5] [--most 10000] [--out out]
--
-- Protocol: pixels / 255, N(0, I) rows, targets +-1, no constant, lambda from 1e-7 to 0.1 (of the
-- mean loss) chosen on a hold-out of a tenth of the training rows, the largest of equally good
-- ones, then fitted to all of them.
--
-- The published errors are means of the errors of the ten classes (first table), and not shares of
-- digits mistaken (second). All cells but one are repeated; the published k nearest neighbours are
-- one neighbour. More in docs/seeds.md. A full run took two processor hours.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 5, most = 10000, out = "out" }
local sizes = {}
for _, m in ipairs{ 100, 500, 1000, 5000, 10000 } do
  if m <= (args.quick and 500 or args.most) then sizes[#sizes + 1] = m end
end
local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
if not args.quick then train, test = sc.data.load("mnist"):parts() end

-- The largest first: of lambdas that make the same decisions the most regular one is chosen.
local largest, smallest = 1e-1, 1e-7
local lambdas = { largest, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, smallest }

-- One search over m serves all of its cells.
local function search(group)
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = sc.choose(sizes),
    seed = group.draw_seed, phi = sc.nonlinearity.maxout{ q = group.q }, dtype = "float32" }
  local stages = { features, sc.solver.ridge{ intercept = false, lambda = sc.choose(lambdas) } }
  if args.quick then table.insert(stages, 1, sc.minmax()) end -- in [0, 1], as pixels are
  return sc.pipeline(stages):search(train, { holdout = 0.1, seed = group.draw_seed,
    score = "balanced_accuracy", each = "features.T" })
end

-- 1 if an end of the grid is strictly better on the hold-out than all other lambdas, else 0.
local function is_on_edge(tried, m)
  local score, best, ties = {}, -math.huge, 0
  for _, one in ipairs(tried) do
    if one.choice["features.T"] == m then
      score[one.choice["solver.lambda"]], best = one.mean, math.max(best, one.mean)
    end
  end
  for _, value in pairs(score) do ties = ties + (value == best and 1 or 0) end
  return ties == 1 and (score[largest] == best or score[smallest] == best) and 1 or 0
end

local exp = sc.experiment{ name = "maxout_table1", args = args, data = { train, test },
  cells = { draw_seed = sc.range(1, args.quick and 2 or args.seeds), q = { 1, 2, 4, 8, 16 },
    m = sizes },
  group = { "draw_seed", "q" }, prepare = search, rerun = "never",
  run = function(cell, context, best)
    local p = best.each[cell.m]
    local said = p:predict(test)
    return { balanced_error = 100 * (1 - sc.metrics.balanced_accuracy(said, test.y)),
      error = 100 * sc.metrics.error_rate(said, test.y), lambda = p.choice["solver.lambda"],
      on_edge = is_on_edge(best.table, cell.m), search_seconds = context.prepare_seconds }
  end }
local knn = { columns = { "k", "error" }, rows = {}, title = "k nearest neighbours" }
for i, k in ipairs{ 1, 3 } do
  knn.rows[i] = { k, 100 * sc.pipeline{ sc.solver.knn{ k = k } }:fit(train):error(test) }
end
sc.publish("maxout/table1", { args = args, experiment = exp,
  stand_in = args.quick and "wdbc, m up to 500",
  tables = { exp:compare{ published = arg[0]:gsub("lua$", "csv"), rows = "q", columns = "m",
    value = "balanced_error", digits = 2 }, exp:table{ rows = "q", columns = "m", value = "error" },
    exp:table{ rows = "q", columns = "m", value = "on_edge",
      title = "Share of draws whose lambda is an end of the grid" }, knn },
  figures = { sc.plot.line{ series = exp:series{ x = "m", value = "error", series = "q" },
    x_log = true, y_log = true, marks = true, x_label = "maxout features m",
    y_label = "test error, percent" } } })
