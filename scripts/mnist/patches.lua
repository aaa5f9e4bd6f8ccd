-- MNIST: patches and lambda chosen on training digits, and the test error over draws
--
--     scullery scripts/mnist/patches.lua [--quick] [--choice N] [--seeds N] [--out DIR]
--
-- Features are the largest responses of random patches, `side` pixels wide and high, at q places
-- `shift` pixels apart; ridge regression on T of them. No choice sees a test digit: `choice` draws
-- of each map with T = 1000, and the two of the least mean error on 10,000 training digits held out
-- go on; `seeds` draws of each with T = 4000, and the test error of the better one on the digits
-- held out is the result. Each draw takes lambda by these digits, the largest of equally good ones,
-- and learns from all 60,000. Standard errors are over draws; all share the 10,000 test digits, and
-- an error of 0.011 on other 10,000 deviates by 0.001.
local sc = require "scullery"
local args = sc.arguments{ quick = false, choice = 3, seeds = 10, out = "out" }
local quick, maps, train, test, held_out, widths, extra = args.quick
if quick then -- 30 columns as if they were images of 5 x 6 pixels
  train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  maps = { { q = 9, shift = 1, side = "2" }, { q = 4, shift = 1, side = "3" } }
  held_out, widths, extra = 100, { 20, 80 }, { image = { 5, 6 } }
else
  train, test = sc.data.load("mnist", { dtype = "float32" }):parts()
  maps = { { q = 9, shift = 2, side = "5 to 10" }, { q = 25, shift = 2, side = "5 to 10" },
    { q = 37, shift = 2, side = "5 to 10" }, { q = 49, shift = 1, side = "5 to 10" },
    { q = 25, shift = 2, side = "4 to 8" } }
  held_out, widths, extra = 10000, { 1000, 4000 }, {}
end
local sides = { ["5 to 10"] = { 5, 10 }, ["4 to 8"] = { 4, 8 }, ["2"] = 2, ["3"] = 3 }
local dtype, lambda = quick and "float64" or "float32", -- of equally good ones the first is chosen
  sc.choose{ 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10 }

local function run(cell, context)
  local p = sc.sampler.patches{ side = sides[cell.side], shift = cell.shift, image = extra.image }
  local chain = { sc.features{ p = p, phi = sc.nonlinearity.maxout{ q = cell.q }, T = cell.T,
    seed = cell.seed, dtype = dtype }, sc.solver.ridge{ lambda = lambda }, allowance = 2e9 }
  if quick then table.insert(chain, 1, sc.standardize()) end
  local model = sc.pipeline(chain):search(train, { holdout = held_out })
  local result = { held_out = model.table.best.mean, lambda = model.choice["solver.lambda"] }
  if context.name:find "draws" then result.test = model:error(test) end
  return result
end
-- The results of these maps with T features, for each seed.
local function experiment(name, list, T, seeds)
  local cells = {}
  for seed = 1, seeds do
    for _, map in ipairs(list) do
      cells[#cells + 1] = { q = map.q, shift = map.shift, side = map.side, T = T, seed = seed }
    end
  end
  return sc.experiment{ name = name, args = args,
    data = { train = train, test = test }, cells = cells, run = run }
end
local choice = experiment("mnist_choice", maps, widths[1], quick and 2 or args.choice)
local means, ranked = {}, {} -- of the maps that --set leaves
for i, map in ipairs(maps) do
  local any = { held_out = math.huge }
  means[i] = choice:best{ value = "held_out", where = map, most = any } or false
  ranked[#ranked + 1] = means[i] or nil
end
table.sort(ranked, function(a, b) return a.mean < b.mean end)
local draws = experiment("mnist_draws", { ranked[1].cell, ranked[2] and ranked[2].cell },
  widths[2], quick and 2 or args.seeds)

local bars = { names = {}, values = {}, error = {}, y_label = "share mistaken",
  title = ("%d features: error on digits held out"):format(widths[1]) }
for i, map in ipairs(maps) do
  local one, k = means[i], #bars.names + 1
  bars.names[k] = one and ("%s, shift %d, q = %d"):format(map.side, map.shift, map.q) or nil
  bars.values[k], bars.error[k] = one and one.mean or nil, one and (one.error or 0) or nil
end
print(draws:best{ value = "held_out" })
sc.publish("mnist/patches", { args = args,
  experiment = { draws, choice }, stand_in = quick and "wdbc, T up to 80",
  tables = {
    choice:table{ rows = { "side", "shift", "q" }, title = "First round, T = " .. widths[1],
      value = { "held_out", "processor_seconds" } },
    draws:table{ rows = { "side", "shift", "q" }, title = "Second round, T = " .. widths[2],
      value = { "held_out", "test", "processor_seconds" } },
    draws:table{ rows = { "side", "shift", "q", "seed" }, value = { "lambda", "held_out", "test" },
      title = "Draws of the second round" } },
  figures = { sc.plot.bars(bars) } })
