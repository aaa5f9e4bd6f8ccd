-- MNIST as a whole: the test error of each family of features against the seconds of a fit.
--
--     scullery scripts/mnist/error_against_seconds.lua [--quick] [--seeds N] [--out DIR]
--
-- Official split, 60,000 and 10,000 digits, pixels / 255. Seconds of wall clock on two cores, of
-- features and fit.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 1, out = "out" }
local name = "error_against_seconds"

local train, test, image, gamma
if args.quick then -- 30 columns as if they were images of 5 x 6 pixels
  train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  image, gamma = { 5, 6 }, 1e-6
else
  train, test = sc.data.load("mnist", { dtype = "float32" }):parts()
  image, gamma = { 28, 28 }, 0.02
end

local fourier, kernel = sc.nonlinearity.fourier(), sc.kernel.gaussian{ gamma = gamma }
local ridge, cg = sc.solver.ridge, sc.solver.cg

-- Sampler, nonlinearity (or kernel) and solver of each family; the sizes T.
local families = {
  ["Fourier, ridge"] = { sc.sampler.gaussian{ gamma = gamma }, fourier, ridge{ lambda = 1e-7 },
    sizes = { 1000, 2000, 4000, 8000 } },
  ["Hadamard Fourier, cg"] = { sc.sampler.hadamard{ gamma = gamma }, fourier,
    cg{ lambda = 1e-6, tolerance = 1e-2 }, sizes = { 5000, 10000, 20000, 40000, 80000 } },
  ["Nystrom, ridge"] = { sc.sampler.landmarks(), kernel, ridge{ lambda = 1e-7, penalty = "rkhs",
    intercept = true }, sizes = { 1000, 2000, 4000, 8000 } },
  ["Nystrom, cg"] = { sc.sampler.landmarks(), kernel, cg{ lambda = 1e-7, penalty = "rkhs",
    intercept = true, tolerance = 1e-2 }, sizes = { 4000, 8000, 16000 } },
  ["maxout of 4, ridge"] = { sc.sampler.gaussian(), sc.nonlinearity.maxout{ q = 4 },
    ridge{ lambda = 1e-6 }, sizes = { 1000, 2000, 4000, 8000 } },
  ["bins, cg"] = { sc.sampler.grid{ gamma = gamma }, sc.nonlinearity.bins(),
    cg{ lambda = 1e-6, tolerance = 1e-2 }, sizes = { 50, 100, 200, 400 } },
  ["patches, ridge"] = { sc.sampler.patches{ image = image, shift = 2,
    side = not args.quick and { 5, 10 } or nil }, sc.nonlinearity.maxout{ q = 25 },
    ridge{ lambda = 1e-7 }, sizes = { 1000, 2000, 4000, 8000 } },
}

local cells = {}
for family, parts in pairs(families) do
  for _, T in ipairs(parts.sizes) do
    for seed = 1, args.seeds do
      cells[#cells + 1] = { family = family, T = args.quick and T // 50 or T, seed = seed }
    end
  end
end

local exp = sc.experiment{ name = "mnist_" .. name .. (args.quick and "_quick" or ""),
  folder = args.out .. "/cells", data = { train = train, test = test }, cells = cells,
  run = function(cell)
    local p, phi, solver = table.unpack(families[cell.family])
    local begun, processors = sc.clock(), os.clock()
    local model = sc.pipeline{ sc.features{ p = p, phi = phi, T = cell.T, seed = cell.seed,
      dtype = "float32" }, solver, allowance = 4e9 }:fit(train)
    local seconds = sc.clock() - begun
    return { seconds = seconds, processor_seconds = os.clock() - processors,
      error = model:error(test) }
  end }

local fig = sc.plot.line{ series = exp:series{ x = "seconds", along = "T", value = "error",
    series = "family" }, x_log = true, y_log = true, marks = true,
  title = "MNIST: test error against the time of a fit", x_label = "seconds, two cores",
  y_label = "share of the test digits mistaken" }
sc.publish(args.out .. "/mnist/" .. name, { title = "MNIST: error against seconds",
  tables = { exp:table{ rows = { "family", "T" }, value = { "error", "seconds",
    "processor_seconds" } } }, figures = { fig }, experiment = exp })
