-- Table 1 of "Random Maxout Features" (Mroueh, Rennie and Goel 2015): test error in percent on
-- MNIST of regularised least squares on m maxout features of q projections each.
--
--   scullery scripts/maxout/table1.lua [--quick] [--seeds 5] [--out out]
--
-- Protocol: pixels / 255, N(0, I) rows, targets +-1, no constant, lambda from 1e-6 to 1e-2 (of the
-- mean loss) chosen on a hold-out of a tenth of the training rows, then fitted to all of them.
--
-- The published errors are matched by the mean of the errors of the ten classes (the first table),
-- and not by the share of digits mistaken (the second), which is lower where errors are large: at
-- q = 1, m = 100 by 0.37. The mean over classes is what GURLS, the library that the paper took,
-- judges by unless told otherwise (perf_macroavg); lambda is chosen by it here, too. The published
-- k nearest neighbours are one neighbour, 3.09 to the digit; three neighbours have 2.95.
--
-- q = 16, m = 10,000: 2.23 where 2.58 is published, which breaks the fall of its row; no cause is
-- known. A lambda of 1e-3 in place of the 1e-5 that is chosen costs 0.6 on the hold-out. Of the 24
-- others four differ by 2.1 to 2.4 standard errors where one is expected; m of one q share draws.
--
-- One search serves all m of a draw: features of a smaller m are the first of a larger one, and so
-- are the entries of Z'Z. The five searches of a draw take 10.4 minutes on two cores
-- with AVX-512, so that five draws take 52. The floor is 34 at 200 GFLOP/s in float32: 15 for the
-- projections, 13 for Z'Z, 6 for the factors of five lambdas and the refit.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 5, out = "out" }

local published, deviation = { [1] = { 17.68, 14.76, 14.64, 15.02, 15.12 },
  [2] = { 16.95, 7.98, 5.62, 2.86, 2.35 }, [4] = { 18.24, 7.70, 5.50, 2.78, 2.23 },
  [8] = { 18.9, 7.98, 5.59, 2.81, 2.32 }, [16] = { 20.57, 8.19, 5.66, 2.87, 2.58 } },
  { [1] = { 0.28, 0.23, 0.08, 0.64, 0.58 }, [2] = { 0.53, 0.22, 0.18, 0.11, 0.04 },
    [4] = { 0.39, 0.24, 0.16, 0.07, 0.07 }, [8] = { 0.28, 0.47, 0.19, 0.10, 0.09 },
    [16] = { 0.76, 0.21, 0.15, 0.12, 0.04 } }
local sizes = args.quick and { 100, 500 } or { 100, 500, 1000, 5000, 10000 }
for q, row in pairs(published) do -- { mean, its standard error over five draws }
  local cells = {}
  for i, m in ipairs(sizes) do cells[m] = { row[i], deviation[q][i] / math.sqrt(5) } end
  published[q] = cells
end

local name = "maxout_table1" .. (args.quick and "_quick" or "")
local train, test
if args.quick then
  train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
else
  train, test = sc.data.load("mnist"):parts()
end

local cells = {} -- in an order in which one search over m serves all of its cells
for draw = 1, args.quick and 2 or args.seeds do
  for _, q in ipairs{ 1, 2, 4, 8, 16 } do
    for _, m in ipairs(sizes) do cells[#cells + 1] = { draw_seed = draw, q = q, m = m } end
  end
end
local last = {}
local exp = sc.experiment{ name = name, folder = args.out .. "/cells", data = { train, test },
  cells = cells, run = function(cell)
    local key, begun = cell.draw_seed .. " " .. cell.q, sc.clock()
    if last.key ~= key then
      local features = sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = sc.choose(sizes),
        seed = cell.draw_seed, phi = sc.nonlinearity.maxout{ q = cell.q }, dtype = "float32" }
      local stages = { features, sc.solver.ridge{ intercept = false,
        lambda = sc.choose.log{ 1e-6, 1e-2, count = 5 } } }
      if args.quick then table.insert(stages, 1, sc.minmax()) end -- in [0, 1], as pixels are
      last = { key = key, each = sc.pipeline(stages):search(train, { holdout = 0.1,
        seed = cell.draw_seed, score = "balanced_accuracy", each = "features.T" }).each }
      last.seconds = sc.clock() - begun
    end
    local p = last.each[cell.m]
    local said = p:predict(test)
    return { balanced_error = 100 * (1 - sc.metrics.balanced_accuracy(said, test.y)),
      error = 100 * sc.metrics.error_rate(said, test.y), lambda = p.choice["solver.lambda"],
      search_seconds = last.seconds }
  end }

local knn = { columns = { "k", args.quick and "" or "published", "error" }, rows = {},
  title = "k nearest neighbours" }
for i, k in ipairs{ 1, 3 } do
  local said = sc.pipeline{ sc.solver.knn{ k = k } }:fit(train):predict(test)
  knn.rows[i] = { k, k == 1 and not args.quick and "3.09, an optimal k" or "",
    100 * sc.metrics.error_rate(said, test.y) }
end

sc.publish(args.out .. "/maxout/" .. name:gsub("^maxout_", ""), { experiment = exp,
  stand_in = args.quick and "wdbc, m up to 500",
  tables = { exp:compare{ published = published, rows = "q", columns = "m",
    value = "balanced_error", digits = 2 }, exp:table{ rows = "q", columns = "m", value = "error" },
    exp:table{ rows = "q", value = "search_seconds", where = { m = sizes[#sizes],
      draw_seed = args.quick and 2 or args.seeds }, title = "Seconds of a search over all m" },
    knn },
  figures = { sc.plot.line{ series = exp:series{ x = "m", value = "error", series = "q" },
    x_log = true, y_log = true, marks = true, x_label = "maxout features m",
    y_label = "test error, percent" } } })
