-- Principal components: the eigenvalue problem itself, before and after features.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local ds = sc.data.load("wdbc")

local function covariance(X)
  local centred = X - sc.ones(X:rows(), 1) * X:mean(1)
  return centred:t() * centred * (1 / X:rows()), centred
end

-- Scores Z of rows X: uncorrelated, variances the largest eigenvalues of the covariance,
-- descending.
local function check(Z, X, variances, tolerance)
  local k = Z:cols()
  local C, centred = covariance(X)
  local D = covariance(Z)
  local size = variances:get(1, 1)
  for i = 1, k do
    lu.assertTrue(math.abs(D:get(i, i) - variances:get(i, 1)) < tolerance * size)
    for j = 1, i - 1 do lu.assertTrue(math.abs(D:get(i, j)) < tolerance * size) end
    if i > 1 then lu.assertTrue(variances:get(i, 1) <= variances:get(i - 1, 1)) end
  end
  -- C V' = V' diag(s), with V' found from the scores: centred' Z / n = C V'
  local CV = centred:t() * Z * (1 / X:rows())
  local V = CV:copy()
  for j = 1, k do
    for i = 1, V:rows() do V:set(i, j, CV:get(i, j) / variances:get(j, 1)) end
  end
  lu.assertTrue((V:t() * V - sc.eye(k)):abs():max() < 100 * tolerance)
  lu.assertTrue((C * V - CV):abs():max() < 100 * tolerance * size)
  local top = C:eigvals()
  local all = top:totable()
  table.sort(all, function(a, b)
    return (type(a) == "table" and a[1] or a) > (type(b) == "table" and b[1] or b)
  end)
  for i = 1, k do
    local want = type(all[i]) == "table" and all[i][1] or all[i]
    lu.assertTrue(math.abs(want - variances:get(i, 1)) < tolerance * size)
  end
end

function TestComponentsOfRows()
  local scaled = sc.pipeline{ sc.standardize() }:fit(ds.X):transform(ds.X)
  local p = sc.pipeline{ sc.standardize(), sc.pca{ k = 4 } }:fit(ds.X)
  local info = p:info().components
  check(p:transform(ds.X), scaled, info.variances, 1e-10)
  lu.assertAlmostEquals(info.share, info.variances:sum() / covariance(scaled):eigvals():sum(), 1e-8)
  lu.assertEquals(sc.pipeline{ sc.pca{ k = 30 } }:fit(ds.X):transform(ds.X):cols(), 30)
end

function TestAllComponentsKeepDistances()
  local Z = sc.pipeline{ sc.standardize(), sc.pca{ k = 30 } }:fit(ds.X):transform(ds.X)
  local X = sc.pipeline{ sc.standardize() }:fit(ds.X):transform(ds.X)
  for i = 2, 6 do lu.assertAlmostEquals((Z[i] - Z[1]):norm(), (X[i] - X[1]):norm(), 1e-9) end
end

-- From the products of rows, or, where that gives no more than rounding, from the covariance.
function TestFewerRowsThanColumns()
  local X = sc.randn{ 20, 60, seed = 1 } * sc.randn{ 60, 60, seed = 2 } + sc.ones(20, 60) * 5
  for _, k in ipairs{ 1, 3, 19, 20 } do
    local p = sc.pipeline{ sc.pca{ k = k } }:fit(X)
    local Z, components = p:transform(X), p:info().components
    if k < 20 then check(Z, X, components.variances, 1e-10) end
    lu.assertAlmostEquals(components.share, components.variances:sum()
      / covariance(X):eigvals():max(2):sum(), 1e-8)
    if k >= 19 then
      for i = 2, 20 do
        lu.assertAlmostEquals((Z[i] - Z[1]):norm(), (X[i] - X[1]):norm(), 1e-8)
      end
    end
  end
end

function TestComponentsOfFeatures()
  for _, dtype in ipairs{ "float64", "float32" } do
    local features = sc.features{ p = sc.sampler.gaussian{ sigma = 0.1 },
      phi = sc.nonlinearity.fourier(), T = 40, seed = 2, dtype = dtype }
    local p = sc.pipeline{ sc.standardize(), features, sc.pca{ k = 3 } }:fit(ds.X)
    local Phi = sc.pipeline{ sc.standardize(), features }:fit(ds.X):transform(ds.X):astype(
      "float64")
    check(p:transform(ds.X):astype("float64"), Phi, p:info().components.variances,
      dtype == "float64" and 1e-10 or 1e-5)
  end
end

function TestLargeMeansLoseNothing()
  local X = sc.randn{ 200, 3, seed = 4 }
  local near, far = sc.pipeline{ sc.pca{ k = 3 } }:fit(X),
    sc.pipeline{ sc.pca{ k = 3 } }:fit(X + 1e6)
  lu.assertTrue(
    (near:info().components.variances - far:info().components.variances):abs():max() < 1e-8)
end

function TestComponentsBeforeASolver()
  local train, test = ds:split{ test = 0.25, seed = 0 }
  local p = sc.pipeline{ sc.standardize(), sc.pca{ k = 8 },
    sc.features{ p = sc.sampler.gaussian{ gamma = "scale" }, phi = sc.nonlinearity.fourier(),
      T = 200 },
                         sc.solver.ridge{ lambda = 1e-4 } }:fit(train)
  lu.assertTrue(p:score(test) > 0.9)
  lu.assertStrContains(tostring(p), "pca{k = 8}")
end

function TestBlocksAndThreadsChangeNothing()
  local want = sc.pipeline{ sc.standardize(), sc.pca{ k = 3 } }:fit(ds.X):transform(ds.X)
  local before = sc.threads()
  for _, threads in ipairs{ 1, 3 } do
    sc.threads(threads)
    local got = sc.pipeline{ sc.standardize(), sc.pca{ k = 3 }, block = 17 }:fit(ds.X):transform(
      ds.X)
    lu.assertTrue((got - want):abs():max() < 1e-10)
  end
  sc.threads(before)
end

function TestBadComponents()
  fails({ "pca", "'k'", "missing" }, sc.pca)
  fails({ "'k'", "0" }, sc.pca, { k = 0 })
  fails({ "'k'", "31", "1 to 30" }, function() sc.pipeline{ sc.pca{ k = 31 } }:fit(ds.X) end)
  fails({ "'k'", "5", "2 rows" }, function()
    sc.pipeline{ sc.pca{ k = 5 } }:fit(ds.X:slice(1, 2))
  end)
  fails({ "one-hot" }, function()
    sc.pipeline{ sc.features{ p = sc.sampler.grid{ gamma = 1 }, phi = sc.nonlinearity.bins(),
      T = 5 }, sc.pca{ k = 2 } }:fit(ds.X)
  end)
  fails({ "covariance", "scale" }, function()
    sc.pipeline{ sc.pca{ k = 1 } }:fit(sc.matrix{ { 1e200, 1 }, { 2e200, 3 }, { 0, 5 } })
  end)
  -- no variance at all
  lu.assertEquals(sc.pipeline{ sc.pca{ k = 2 } }:fit(sc.ones(9, 3)):transform(sc.ones(9, 3)):norm(),
    0)
end

os.exit(lu.LuaUnit.run(), true)
