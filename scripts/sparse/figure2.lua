-- Figure 2: sparse Fourier features beside exact additive kernel ridge on the SALSA sets
--
--     scullery scripts/sparse/figure2.lua [--quick] [--seeds N] [--out DIR]
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 3, out = "out" }
local sets = args.quick and { "made" } or { "airfoil", "blog", "blog_comments", "ccpp",
  "forestfires", "galaxy", "housing", "insulin", "music", "propulsion", "skillcraft", "speech",
  "telemonitoring" }
local noise = { airfoil = 36, ccpp = 55 }

local function made(seed)
  local X = sc.randn{ 60, 6, seed = seed }
  return sc.dataset{ X = X, y = X:map(math.sin):sum(2) + X:column(1):mul(X:column(2)) }
end

local function with_noise(part, columns, seed)
  if not columns then return part end
  return sc.dataset{ X = sc.hcat(part.X, sc.randn{ #part.X, columns, seed = seed }), y = part.y }
end

local train, test, data = {}, {}, {}
for _, name in ipairs(sets) do
  if args.quick then train[name], test[name] = made(1), made(2)
  else train[name], test[name] = sc.data.load("salsa_" .. name):parts() end
  train[name] = with_noise(train[name], noise[name], 1)
  test[name] = with_noise(test[name], noise[name], 2)
  data[name .. " train"], data[name .. " test"] = train[name], test[name]
end

-- A fit with the penalty (and degree) of the least leave-one-out error, and its errors in units of
-- the variance of the training targets.
local function fit(name, features, solver)
  local model = sc.pipeline{ sc.standardize(), features, solver }:search(train[name],
    { folds = "loo" })
  local unit = train[name].y:std() ^ 2
  return model, model:error(test[name]) / unit, model:error(train[name]) / unit
end

-- Kernel ridge: with all rows as landmarks the features are those of the kernel.
local function exact(name, degree, normalise, lambda)
  local n = train[name].X:rows()
  local kernel = sc.kernel.additive{ degree = degree, normalise = normalise,
    base = sc.kernel.gaussian{ width = 20 * n ^ -0.2 } }
  return fit(name, sc.features{ p = sc.sampler.landmarks(), phi = kernel, T = n },
    sc.solver.ridge{ form = "dual", lambda = lambda })
end

-- 1e-4 to 1e2; twice, as features are sqrt(2) cos here.
local function five(m) return sc.choose.log{ 2e-4 / m, 2e2 / m, count = 5 } end

local kernels = sc.experiment{
  name = "sparse_figure2_exact" .. (args.quick and "_quick" or ""), folder = args.out .. "/cells",
  data = data, cells = { data = sets },
  run = function(cell)
    local l = train[cell.data].X:cols()
    local degrees = sc.choose(sc.range(1, math.min(l, l > 20 and 5 or 10)))
    local model, error, train_error = exact(cell.data, degrees, false,
      sc.choose.log{ 1e-4, 1e2, count = 13 })
    local degree = model.choice["kernel.degree"]
    local _, same, train_same = exact(cell.data, degree, true, five(1))
    return { degree = degree, exact = error, same = same, train_exact = train_error,
      train_same = train_same }
  end,
}
local found = {}
for _, row in ipairs(kernels.rows) do found[row.cell.data] = row.result end

local exp = sc.experiment{
  name = "sparse_figure2" .. (args.quick and "_quick" or ""), folder = args.out .. "/cells",
  data = data,
  cells = { data = sets, features = { "normalised", "raw" }, seed = sc.range(1, args.seeds) },
  run = function(cell)
    local n, l = train[cell.data].X:rows(), train[cell.data].X:cols()
    local degree, m = found[cell.data].degree, 300 * l
    local p = sc.sampler.sparse{ degree = degree, sigma = 0.05 * degree ^ 0.5 * n ^ 0.2,
      bias = "uniform" }
    local _, error, train_error = fit(cell.data,
      sc.features{ p = p, phi = sc.nonlinearity.fourier(), T = m, seed = cell.seed },
      sc.solver.ridge{ lambda = five(cell.features == "raw" and m or 1) })
    return { error = error, train_error = train_error, exact = found[cell.data].exact }
  end,
}
sc.publish(args.out .. "/sparse/figure2", { experiment = exp,
  tables = { kernels:table{ rows = "data" },
    exp:table{ rows = "data", columns = "features", value = "error" },
    exp:table{ rows = "data", columns = "features", value = "train_error" } },
  figures = { sc.plot.scatter{ x_log = true, y_log = true, rules = { { diagonal = true } },
    series = exp:series{ x = "exact", along = "data", value = "error", series = "features" },
    x_label = "test error of the exact kernel", y_label = "test error of sparse features" } } })
