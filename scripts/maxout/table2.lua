-- Table 2 of "Random Maxout Features" (Mroueh, Rennie and Goel 2015): error of multinomial logistic
-- regression by stochastic gradients on m maxout features of q projections each.
--
--   scullery scripts/maxout/table2.lua [--quick] [--seeds 5] [--most 5000] [--epochs 30]
--       [--frames X.npy --labels y.npy --test-frames X.npy --test-labels y.npy] [--out out]
--
-- The paper's data, frames of TIMIT, are under a licence; its error is that of phones after Viterbi
-- decoding, in percent. The run here is on a public stand-in, the letters of Statlog (10,500 rows,
-- 16 columns, 26 classes, a quarter held back for the test), in percent of letters mistaken: what
-- can be compared is how the error goes with m and q, and with that of the inputs themselves.
-- --frames and so on take NumPy files of frames and their states instead, and give the error of
-- frames. --most is the largest m that is run; the paper's 10,000 and 20,000 take hours.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 5, most = 5000, epochs = 30, frames = "",
  labels = "", test_frames = "", test_labels = "", out = "out" }

local name, train, test = "maxout_table2"
if args.quick then
  args.seeds, args.epochs, args.most = 2, 10, 100
  train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
elseif args.frames ~= "" then
  name = name .. "_frames"
  local function read(X, y) return sc.data.npy(X, { y = y, task = "classification" }) end
  train, test = read(args.frames, args.labels), read(args.test_frames, args.test_labels)
else
  train, test = sc.data.load("letter"):split{ test = 0.25, seed = 0 }
end

local sizes = {}
for _, m in ipairs(args.quick and { 50, 100 } or { 1250, 2500, 5000, 10000, 20000 }) do
  if m <= args.most then sizes[#sizes + 1] = m end
end
local published = { title = "Published: phone error rate on TIMIT, percent; of the inputs 33.1",
  columns = { "m", "q = 2", "q = 4", "q = 8", "q = 16" }, rows = {
    { 1250, "24.7 +- 0.2", "24.4 +- 0.2", "25.6 +- 0.2", "26.0 +- 0.2" },
    { 2500, "24.0 +- 0.2", "23.3 +- 0.3", "24.7 +- 0.3", "25.3 +- 0.3" },
    { 5000, "23.5 +- 0.1", "22.9 +- 0.2", "24.7 +- 0.2", "24.7 +- 0.4" },
    { 10000, "23.2 +- 0.1", "22.5 +- 0.2", "24.5 +- 0.2", "24.7 +- 0.4" },
    { 20000, "23.1 +- 0.1", "22.3 +- 0.2", "24.3 +- 0.2", "24.5 +- 0.2" } } }

-- The error in percent of a pipeline that ends in the solver, and the seconds that it took.
local function judge(stages, seed)
  local begun = os.clock()
  stages[#stages + 1] = sc.solver.logistic{ method = "sgd", batch = 20, epochs = args.epochs,
    seed = seed }
  local p = sc.pipeline(stages):fit(train)
  return { error = 100 * (1 - p:score(test)), seconds = os.clock() - begun }
end

local exp = sc.experiment{ name = name, args = args, data = { train, test },
  other_options = { "seed" },
  cells = { draw_seed = sc.range(1, args.seeds), epochs = { args.epochs }, m = sizes,
    q = { 2, 4, 8, 16 } },
  run = function(cell)
    return judge({ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = cell.m,
      phi = sc.nonlinearity.maxout{ q = cell.q }, seed = cell.draw_seed } }, cell.draw_seed)
  end }
local inputs = sc.experiment{ name = name .. "_inputs", args = args,
  other_options = { "draw_seed", "m", "q" }, data = { train, test },
  cells = { seed = sc.range(1, args.seeds), epochs = { args.epochs } },
  run = function(cell) return judge({ sc.standardize() }, cell.seed) end }

sc.publish((name:gsub("_", "/", 1)), { args = args, experiment = { exp, inputs },
  stand_in = args.quick and "wdbc, m up to 100",
  tables = { exp:table{ rows = "m", columns = "q", value = "error" }, not args.quick and published,
    exp:table{ rows = "m", columns = "q", value = "seconds" }, inputs:table{} },
  figures = { sc.plot.line{ series = exp:series{ x = "m", value = "error", series = "q" },
    x_log = true, marks = true, x_label = "maxout features m",
    y_label = "test error, percent" } } })
