-- Figure 2: sparse Fourier features beside exact additive kernel ridge on the SALSA sets
--
--     scullery scripts/sparse/figure2.lua [--quick] [--seeds N] [--out DIR]
--
-- Errors are mean squared, over the variance of the training targets. Exact: a sum over products of
-- Gaussian kernels; penalty and in-degree by leave-one-out. Sparse: 300 l features sqrt(2) cos of
-- that in-degree; "normalised": over sqrt(300 l), as the paper prints them; "raw": without that
-- factor; "standardised": centred and scaled, as the author's code of figure 3 does. The first do
-- far worse than the exact kernel on some sets, by their penalties and not by the approximation;
-- the others slightly worse on most, as the paper says. More in docs/seeds.md.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 2, out = "out" }
local sets = args.quick and { "made" } or { "airfoil", "blog", "blog_comments", "ccpp",
  "forestfires", "galaxy", "housing", "insulin", "music", "propulsion", "skillcraft", "speech",
  "telemonitoring" }
local forms, here = { "standardised", "normalised", "raw" }, arg[0]:match("^(.*/)") or ""
local data = dofile(here .. "salsa.lua")(sets)
-- A fit by leave-one-out, and its errors in units of the variance of the training targets.
local function fit(name, ...)
  local train, test = data[name .. 1], data[name .. 2]
  local model = sc.pipeline{ sc.standardize(), ... }:search(train, { folds = "loo" })
  local unit = train.y:std() ^ 2
  return { error = model:error(test) / unit, train_error = model:error(train) / unit,
    degree = model.choice["kernel.degree"] }
end

-- Kernel ridge: with all rows as landmarks the features are those of the kernel itself.
local function exact(name, degree, normalise, lambda)
  local n = data[name .. 1].X:rows()
  local kernel = sc.kernel.additive{ degree = degree, normalise = normalise,
    base = sc.kernel.gaussian{ width = 20 * n ^ -0.2 } }
  return fit(name, sc.features{ p = sc.sampler.landmarks(), phi = kernel, T = n },
    sc.solver.ridge{ form = "dual", lambda = lambda })
end

-- Five penalties, 1e-4 to 1e2 over m, times a factor: 2, as features are sqrt(2) cos here.
local function five(m, factor)
  return sc.choose.log{ factor * 1e-4 / m, factor * 1e2 / m, count = 5 }
end
local function experiment(name, cells, run)
  return sc.experiment{ name = name, args = args, data = data, cells = cells, run = run,
    other_options = { "features", "seed" } }
end
local kernels = experiment("sparse_figure2_exact", { data = sets }, function(cell)
  local l = data[cell.data .. 1].X:cols()
  local degrees = sc.choose(sc.range(1, math.min(l, l > 20 and 5 or 10)))
  local free = exact(cell.data, degrees, false, sc.choose.log{ 1e-4, 1e2, count = 13 })
  local same = exact(cell.data, sc.choose{ free.degree }, true, five(1, 2))
  return { degree = free.degree, error = free.error, train_error = free.train_error,
    error_same = same.error, train_error_same = same.train_error }
end)
local found = {}
for _, row in ipairs(kernels.rows) do found[row.cell.data] = row.result end
local exp = experiment("sparse_figure2", { data = sets, features = forms,
  seed = sc.range(1, args.seeds) }, function(cell)
  local n, l = data[cell.data .. 1].X:rows(), data[cell.data .. 1].X:cols()
  local degree, m = found[cell.data].degree, 300 * l
  local features = sc.features{ phi = sc.nonlinearity.fourier(), T = m, seed = cell.seed,
    p = sc.sampler.sparse{ degree = degree, sigma = 0.05 * degree ^ 0.5 * n ^ 0.2,
      bias = "uniform" } }
  local result
  if cell.features == "standardised" then
    result = fit(cell.data, features, sc.standardize(), sc.solver.ridge{ lambda = five(1, 1) })
  else
    result = fit(cell.data, features,
      sc.solver.ridge{ lambda = five(cell.features == "raw" and m or 1, 2) })
  end
  result.exact = found[cell.data].error
  return result
end)
sc.publish("sparse/figure2", { args = args,
  experiment = { exp, kernels }, stand_in = args.quick and "a made data set of 60 rows",
  tables = { kernels:table{ rows = "data" },
    exp:table{ rows = "data", columns = "features", value = "error" },
    exp:table{ rows = "data", columns = "features", value = "train_error" } },
  figures = { sc.plot.scatter{ x_log = true, y_log = true, rules = { { diagonal = true } },
    series = exp:series{ x = "exact", along = "data", value = "error", series = "features" },
    x_label = "test error of the exact kernel", y_label = "test error of sparse features" } } })
