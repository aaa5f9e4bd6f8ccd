-- Whitened rows: their covariance is I, before features and after them. The checker compares them
-- with the stage's definition.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

-- Correlated rows of different sizes.
local function rows(n, seed)
  return sc.randn{ n, 4, seed = seed } * sc.matrix{ { 3, 0.5, 0, 1 }, { 0, 1, 0.2, 0 },
    { 0, 0, 0.01, 0 }, { 1, 0, 0, 2 } }
end
local X = rows(500, 1)

local function covariance(Z)
  local centred = Z - sc.ones(Z:rows(), 1) * Z:mean(1)
  return centred:t() * centred * (1 / Z:rows())
end

local function gap(A, B) return (A - B):abs():max() end

local function fitted(...) return sc.pipeline{ ... }:fit(X) end

function TestCovarianceIsTheIdentity()
  for _, method in ipairs{ "pca", "zca" } do
    local Z = fitted(sc.stage.whiten{ method = method }):transform(X)
    lu.assertTrue(gap(covariance(Z), sc.eye(4)) < 1e-10)
    lu.assertTrue(Z:mean(1):abs():max() < 1e-12)
  end
end

function TestComponents()
  local p = fitted(sc.stage.whiten{ k = 2 })
  local Z = p:transform(X)
  lu.assertEquals({ Z:rows(), Z:cols() }, { 500, 2 })
  lu.assertTrue(gap(covariance(Z), sc.eye(2)) < 1e-10)
  local info, all = p:info().components, sc.pipeline{ sc.pca{ k = 4 } }:fit(X):info().components
  for k = 1, 2 do
    lu.assertAlmostEquals(info.variances:get(k, 1), all.variances:get(k, 1), 1e-10)
  end
end

function TestDirectionsOfRoundingAreLeftOut()
  local twice = sc.hcat(X, X:slice(1, 500, 1, 1))
  local Z = sc.pipeline{ sc.stage.whiten() }:fit(twice):transform(twice)
  lu.assertEquals(Z:cols(), 4)
  lu.assertTrue(gap(covariance(Z), sc.eye(4)) < 1e-8)
  fails({ "4 of the directions of 5 columns vary", "and 'k' asks for more" },
    function() sc.pipeline{ sc.stage.whiten{ k = 5 } }:fit(twice) end)
  fails({ "there is nothing to whiten" }, function()
    sc.pipeline{ sc.stage.whiten() }:fit(sc.ones(9, 3))
  end)
  fails({ "too large for float64" }, function() sc.pipeline{ sc.stage.whiten() }:fit(X * 1e300) end)
  fails({ "option 'k' is for method = \"pca\"" }, sc.stage.whiten, { method = "zca", k = 2 })
end

function TestAfterFeatures()
  local y = {}
  for i = 1, 500 do y[i] = X:get(i, 1) > 0 and "a" or "b" end
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 0.3 },
    phi = sc.nonlinearity.fourier(), T = 20, seed = 1 }
  local p = sc.pipeline{ sc.standardize(), features, sc.stage.whiten{ k = 12 },
    sc.solver.ridge{ lambda = 1e-3 } }
  p:fit(sc.dataset{ X = X, y = y })
  local Z = p:transform(X)
  lu.assertTrue(gap(covariance(Z), sc.eye(12)) < 1e-8)
  local found = p:info().components
  local of_features = sc.pipeline{ sc.standardize(), features, sc.pca{ k = 12 } }:fit(X)
  lu.assertTrue(gap(found.variances, of_features:info().components.variances) < 1e-10)
  local path = os.tmpname()
  p:save(path)
  lu.assertTrue(sc.load(path):transform(X) == Z)
  os.remove(path)
end

os.exit(lu.LuaUnit.run(), true)
