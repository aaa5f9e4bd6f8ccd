-- Features learnt from the rows beside features drawn without them: the test error of ridge
-- regression on Nystrom features (landmarks chosen in four ways) and on Fourier features of one
-- Gaussian kernel, against the number of features, as a table and as a picture
-- (docs/nystrom_fourier.svg or the path given). It takes a quarter of an hour on two cores.
local sc = require "scullery"

local landmarks, fourier = sc.sampler.landmarks, sc.nonlinearity.fourier{ form = "pair" }
local families = { -- name, features of D numbers for exp(-gamma ||x - y||^2)
  { "Fourier", function(gamma, D, seed)
    return sc.features{ p = sc.sampler.gaussian{ gamma = gamma }, phi = fourier, T = D // 2,
      seed = seed }
  end },
  { "orthogonal Fourier", function(gamma, D, seed)
    return sc.features{ p = sc.sampler.orthogonal{ gamma = gamma }, phi = fourier, T = D // 2,
      seed = seed }
  end },
}
for _, method in ipairs{ "uniform", "kmeans", "leverage", "pivoted" } do
  families[#families + 1] = { "Nystrom, " .. method, function(gamma, D, seed)
    return sc.features{ p = landmarks{ method = method }, phi = sc.kernel.gaussian{
      gamma = gamma }, T = D, seed = seed }
  end }
end

local function cpu_act()
  local train, test = sc.data.load("cpu_act"):split{ test = 0.25, seed = 0 }
  return { title = "cpu_act", label = "share of variance unexplained", train = train, test = test,
    stages = { sc.standardize() }, gamma = 0.01, lambda = 1e-6, seeds = 5 }
end

local function mnist()
  return { title = "MNIST", label = "share of test digits mistaken",
    train = sc.data.load("mnist", "train"), test = sc.data.load("mnist", "test"), stages = {},
    gamma = 0.02, lambda = 1e-6, seeds = 2 }
end

local sizes = { 64, 128, 256, 512, 1024, 2048 }

-- Mean over seeds of the test error, its standard error, and the seconds of processors that a fit
-- and its test take.
local function measure(set, family, D)
  local errors, sum, square, begun = {}, 0, 0, os.clock()
  for seed = 1, set.seeds do
    local stages = { table.unpack(set.stages) }
    stages[#stages + 1] = family[2](set.gamma, D, seed)
    local nystrom = family[1]:find("Nystrom", 1, true)
    stages[#stages + 1] = sc.solver.ridge{ lambda = set.lambda, intercept = true,
      penalty = nystrom and "rkhs" or "l2" }
    errors[seed] = 1 - sc.pipeline(stages):fit(set.train):score(set.test)
    sum = sum + errors[seed]
  end
  local seconds, mean = (os.clock() - begun) / set.seeds, sum / set.seeds
  for _, e in ipairs(errors) do square = square + (e - mean) ^ 2 end
  return mean, math.sqrt(square / (set.seeds - 1) / set.seeds), seconds
end

-- The error of each family against the number of features: printed, and as a picture.
local function compare(set)
  print(("\n%s: %s\n%-20s %s"):format(set.title, set.label, "number of features",
    table.concat(sizes, "   ") .. "   processor time of a fit and test with the most"))
  local series = {}
  for k, family in ipairs(families) do
    local one, cells, seconds = { x = sizes, y = {}, error = {}, label = family[1] }, {}, 0
    for i, D in ipairs(sizes) do
      one.y[i], one.error[i], seconds = measure(set, family, D)
      cells[i] = ("%.4f"):format(one.y[i])
    end
    print(("%-20s %s   %.1f s"):format(family[1], table.concat(cells, " "), seconds))
    series[k] = one
  end
  return sc.plot.line{ series = series, x_log = true, y_log = true, marks = true,
    title = ("%s, bands: 1 standard error over %d seeds"):format(set.title, set.seeds),
    x_label = "number of features", y_label = set.label }
end

local fig = sc.plot.panels{ compare(cpu_act()), compare(mnist()), width = 1200, height = 480,
  title = "Features learnt from the rows, and features drawn without them" }
local path = arg[1] or "docs/nystrom_fourier.svg"
fig:save(path)
fig:data((path:gsub("%.%w+$", ".csv")))
return fig
