-- Features learnt from the rows beside features drawn without them: the test error of ridge
-- regression on Nystrom features (landmarks chosen in four ways) and on Fourier features of one
-- Gaussian kernel, against the number of features, as a table and as a picture
-- (docs/nystrom_fourier.svg or the path given). It takes a quarter of an hour on two cores; a run
-- that was stopped goes on where it was (experiments/).
local sc = require "scullery"

local landmarks, fourier = sc.sampler.landmarks, sc.nonlinearity.fourier{ form = "pair" }
local methods = { ["Nystrom, uniform"] = "uniform", ["Nystrom, kmeans"] = "kmeans",
  ["Nystrom, leverage"] = "leverage", ["Nystrom, pivoted"] = "pivoted" }
local families = { "Fourier", "orthogonal Fourier", "Nystrom, uniform", "Nystrom, kmeans",
  "Nystrom, leverage", "Nystrom, pivoted" }
local sizes = { 64, 128, 256, 512, 1024, 2048 }

-- A family's features of D numbers for exp(-gamma ||x - y||^2).
local function features(family, gamma, D, seed)
  if methods[family] then
    return sc.features{ p = landmarks{ method = methods[family] },
      phi = sc.kernel.gaussian{ gamma = gamma }, T = D, seed = seed }
  end
  local sampler = family == "Fourier" and sc.sampler.gaussian or sc.sampler.orthogonal
  return sc.features{ p = sampler{ gamma = gamma }, phi = fourier, T = D // 2, seed = seed }
end

local function run(set)
  return sc.experiment{ name = "families_" .. set.name, data = { train = set.train,
      test = set.test },
    cells = { D = sizes, family = families, seed = set.seeds },
    run = function(cell)
      local stages, begun = { table.unpack(set.stages) }, os.clock()
      stages[#stages + 1] = features(cell.family, set.gamma, cell.D, cell.seed)
      stages[#stages + 1] = sc.solver.ridge{ lambda = 1e-6, intercept = true,
        penalty = methods[cell.family] and "rkhs" or "l2" }
      local error = 1 - sc.pipeline(stages):fit(set.train):score(set.test)
      return { error = error, processor_seconds = os.clock() - begun }
    end }
end

-- Mean, standard error and mean seconds of the rows of one family and size.
local function mean_of(rows, family, D)
  local n, sum, square, seconds = 0, 0, 0, 0
  for _, row in ipairs(rows) do
    if row.cell.family == family and row.cell.D == D then
      n, sum, square = n + 1, sum + row.result.error, square + row.result.error ^ 2
      seconds = seconds + row.result.processor_seconds
    end
  end
  local mean = sum / n
  return mean, math.sqrt(math.max(square / n - mean ^ 2, 0) / (n - 1)), seconds / n
end

-- The error of each family against the number of features: printed, and as a picture.
local function compare(set)
  local rows, series = run(set).rows, {}
  print(("\n%s: %s\n%-20s %s"):format(set.title, set.label, "number of features",
    table.concat(sizes, "   ") .. "   processor time of a fit and test with the most"))
  for k, family in ipairs(families) do
    local one, cells, seconds = { x = sizes, y = {}, error = {}, label = family }, {}, 0
    for i, D in ipairs(sizes) do
      one.y[i], one.error[i], seconds = mean_of(rows, family, D)
      cells[i] = ("%.4f"):format(one.y[i])
    end
    print(("%-20s %s   %.1f s"):format(family, table.concat(cells, " "), seconds))
    series[k] = one
  end
  return sc.plot.line{ series = series, x_log = true, y_log = true, marks = true,
    title = ("%s, bands: 1 standard error over %d seeds"):format(set.title, #set.seeds),
    x_label = "number of features", y_label = set.label }
end

local train, test = sc.data.load("cpu_act"):split{ test = 0.25, seed = 0 }
local cpu_act = compare{ name = "cpu_act", title = "cpu_act", train = train, test = test,
  label = "share of variance unexplained", stages = { sc.standardize() }, gamma = 0.01,
  seeds = { 1, 2, 3, 4, 5 } }
local mnist = compare{ name = "mnist", title = "MNIST", train = sc.data.load("mnist", "train"),
  test = sc.data.load("mnist", "test"), label = "share of test digits mistaken", stages = {},
  gamma = 0.02, seeds = { 1, 2 } }

local fig = sc.plot.panels{ cpu_act, mnist, width = 1200, height = 480,
  title = "Features learnt from the rows, and features drawn without them" }
fig:save(arg[1] or "docs/nystrom_fourier.svg")
