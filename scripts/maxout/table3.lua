-- Table 3 of "Random Maxout Features" (Mroueh, Rennie and Goel 2015): maxout features of q = 4 that
-- share projections, in multinomial logistic regression by stochastic gradients.
--
--   scullery scripts/maxout/table3.lua [--quick] [--seeds 5] [--unit 1250] [--most 5000]
--       [--sigma 0.5] [--frames X.npy --labels y.npy --test-frames X.npy --test-labels y.npy]
--
-- The paper's data are frames of TIMIT, under a licence. The run here is on the stand-in of
-- table2.lua, the letters of Statlog, at a twelfth of the paper's sizes: its 15,000 projections
-- are --unit, here 1250, and m at most --most. On frames (--frames and so on) the paper's own
-- sizes are --unit 15000 --most 400000. Beside the shared pools: pools with projections of their
-- own, and Fourier features of one projection each, of weights of standard deviation --sigma.
--
-- As in the paper, sharing costs nothing that can be seen: four times the features of the same
-- projections do as well as four times the projections. The standard errors are those of five
-- draws and orders of the rows that all maps have in common; differences vary less.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 5, unit = 1250, most = 5000, epochs = 30,
  sigma = 0.5, frames = "", labels = "", test_frames = "", test_labels = "", out = "out" }

local name, train, test = "maxout_table3"
if args.quick then
  args.seeds, args.epochs, args.unit, args.most = 2, 10, 30, 120
  train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
elseif args.frames ~= "" then
  name = name .. "_frames"
  local function read(X, y) return sc.data.npy(X, { y = y, task = "classification" }) end
  train, test = read(args.frames, args.labels), read(args.test_frames, args.test_labels)
else
  train, test = sc.data.load("letter"):split{ test = 0.25, seed = 0 }
end

-- Features and projections in units, and the paper's phone error rate on TIMIT. Without a number of
-- projections: 4 of its own for each feature.
local lines = { { 1, 1, 23.1 }, { 4, 1, 22.7 }, { 4, 4, 22.8 }, { 80 / 3, 1, 22.4 },
  { 20, 20, 22.1 }, { 1 }, { 4 } }

local cells, published = {}, {}
for _, line in ipairs(lines) do
  local m, projections = line[1] * args.unit // 1, (line[2] or 4 * line[1]) * args.unit // 1
  local map = line[2] and "shared pools" or "own pools"
  for seed = 1, m <= args.most and args.seeds or 0 do
    cells[#cells + 1] = { map = map, m = m, projections = projections, seed = seed }
  end
  published[#published + 1] = line[3] and { map, line[1] * 15000 // 1, line[2] * 15000 // 1,
    line[3] }
end
for seed = 1, args.seeds do
  local m = math.min(80 * args.unit // 3, args.most) -- the paper's 400,000 in its unit
  cells[#cells + 1] = { map = "Fourier", m = m, projections = m, seed = seed, sigma = args.sigma }
end
published[#published + 1] = { "Fourier", 400000, 400000, 21.3 }

local gaussian, maxout = sc.sampler.gaussian{ sigma = 1 }, sc.nonlinearity.maxout{ q = 4 }
local exp = sc.experiment{ name = name, args = args, data = { train, test },
  cells = cells,
  run = function(cell)
    local features = { p = gaussian, phi = maxout, T = cell.m, seed = cell.seed }
    if cell.map == "shared pools" then
      features.p = sc.sampler.pooled{ base = gaussian, projections = cell.projections }
    elseif cell.map == "Fourier" then
      features.p = sc.sampler.gaussian{ sigma = cell.sigma }
      features.phi = sc.nonlinearity.fourier()
    end
    local begun = os.clock()
    local p = sc.pipeline{ sc.standardize(), sc.features(features), sc.solver.logistic{
      method = "sgd", batch = 20, epochs = args.epochs, seed = cell.seed } }:fit(train)
    return { error = 100 * (1 - p:score(test)), seconds = os.clock() - begun }
  end }

local names = { "map", "m", "projections" }
for _, option in ipairs(exp.options) do -- of Fourier features alone, which --set may leave out
  if option == "sigma" then names[4] = option end
end
sc.publish((name:gsub("_", "/", 1)), { args = args, experiment = exp,
  stand_in = args.quick and "wdbc, m up to 120",
  tables = { exp:table{ rows = names }, not args.quick and { rows = published,
    title = "Published: phone error rate on TIMIT, percent",
    columns = { "map", "m", "projections", "published" } } } })
