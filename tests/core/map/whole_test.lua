-- Features as whole numbers (dtype = "int16" and "int8"): what they stand for, with every kind of
-- map, solver, search and saved model; learnt ranges; rows that lie beyond them.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")
local fails = support.fails

local N, D = 600, 5
local X = sc.randn{ N, D, seed = 3 }
local y = (X:column(1) * 2):map(math.sin) + X:column(2)
local rows = sc.dataset{ X = X, y = y }
local labels, weights = {}, {}
for i = 1, N do
  labels[i] = X:get(i, 1) + X:get(i, 2) * X:get(i, 3) > 0 and "yes" or "no"
  weights[i] = 0.3 + i % 4
end
local classes = sc.dataset{ X = X, y = labels }
local most = { int16 = 2047, int8 = 127 }
local gaussian = sc.sampler.gaussian{ sigma = 0.4 }

-- Parts of features of every kind; the bound of a feature before its scale, where it is declared.
local kinds = {
  { "fourier", { p = gaussian, phi = sc.nonlinearity.fourier() } },
  { "pair", { p = gaussian, phi = sc.nonlinearity.fourier{ form = "pair" } } },
  { "relu", { p = gaussian, phi = sc.nonlinearity.relu() } },
  { "exp", { p = gaussian, phi = sc.nonlinearity.exp() } },
  { "tanh", { p = gaussian, phi = sc.nonlinearity.tanh() } },
  { "maxout", { p = gaussian, phi = sc.nonlinearity.maxout{ q = 3 } } },
  { "sparse", { p = sc.sampler.sparse{ degree = 2 }, phi = sc.nonlinearity.fourier() } },
  { "hadamard", { p = sc.sampler.hadamard{ sigma = 0.4 }, phi = sc.nonlinearity.fourier() } },
  { "orthogonal", { p = sc.sampler.orthogonal{ sigma = 0.4 }, phi = sc.nonlinearity.fourier() } },
  { "tensorsketch", { p = sc.sampler.tensorsketch{ degree = 2 },
    phi = sc.nonlinearity.identity() } },
  { "thresholds", { p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.erf() } },
  { "landmarks", { p = sc.sampler.landmarks{}, phi = sc.kernel.gaussian{ gamma = 0.2 } } },
  { "K, exact", { p = gaussian, phi = sc.nonlinearity.fourier(),
    K = sc.kernel.gaussian{ gamma = 0.5 } } },
  { "K, quadrature", { p = gaussian, phi = sc.nonlinearity.tanh(), method = "quadrature",
    K = sc.kernel.gaussian{ gamma = 0.5 } } },
  { "K, simulated", { p = gaussian, phi = sc.nonlinearity.fourier(), method = "monte-carlo",
    samples = 100, K = sc.kernel.gaussian{ gamma = 0.5 } } },
}

local function features(parts, dtype, T)
  local given = { T = T or 40, seed = 1, dtype = dtype }
  for name, part in pairs(parts) do given[name] = part end
  return sc.features(given)
end

-- Every feature is within half a unit of the float64 one (and float32's rounding), where nothing
-- was clipped; the unit is the range of the feature over the whole numbers.
function TestFeaturesAreRounded()
  for _, kind in ipairs(kinds) do
    local exact = features(kind[2], "float64"):fit(X):transform(X)
    for _, dtype in ipairs{ "int16", "int8" } do
      local f = features(kind[2], dtype):fit(X)
      local found, largest = f:transform(X), 0
      for j = 1, exact:cols() do
        local column = exact:column(j)
        local range = math.max(column:max(), -column:min())
        largest = math.max(largest, range)
      end
      local worst = (found:astype("float64") - exact):abs():max()
      -- a learnt range is at most 1.25 times the one of its rows, a declared one that of phi: with
      -- a K its mean, which is smaller
      lu.assertTrue(worst <= (kind[2].K and 6 or 1.3) * largest / most[dtype],
        ("%s, %s: %.2g of %.2g"):format(kind[1], dtype, worst, largest))
      lu.assertEquals(core.map_info(f.fitted).dtype, dtype)
      lu.assertEquals(core.map_exact(f.fitted), "rows")
      lu.assertEquals(core.map_info(f.fitted).clipped, 0)
    end
  end
end

-- A pipeline with them is near the one with float64, is saved and loaded, and predicts the same
-- from the file.
function TestPipelines()
  for _, kind in ipairs(kinds) do
    for _, dtype in ipairs{ "int16", "int8" } do
      local function fit(type)
        return sc.pipeline{ features(kind[2], type), sc.solver.ridge{ lambda = 1e-2,
          intercept = true } }:fit(rows)
      end
      local p, exact = fit(dtype), fit("float64")
      local gap = (p:predict(X) - exact:predict(X)):abs():max()
      lu.assertTrue(gap < (dtype == "int16" and 0.03 or 0.4), ("%s, %s: %.2g"):format(kind[1],
        dtype, gap))
      lu.assertTrue(gap > 0, kind[1])
      local path = os.tmpname()
      p:save(path)
      lu.assertTrue(sc.load(path):predict(X) == p:predict(X), kind[1])
      os.remove(path)
    end
  end
end

function TestTwoValuedFeaturesStayBits()
  local function fit(dtype)
    return sc.pipeline{ features({ p = gaussian, phi = sc.nonlinearity.sign() }, dtype),
      sc.solver.ridge{ lambda = 1e-3 } }:fit(rows):predict(X)
  end
  lu.assertTrue(fit("int8") == fit("float32"))
  lu.assertTrue(fit("int16") == fit("float32"))
end

local solvers = {
  { "ridge", { lambda = 1e-3 } }, { "cg", { lambda = 1e-3 } }, { "lasso", { lambda = 1e-3 } },
  { "huber", { lambda = 1e-3 } }, { "logistic", { lambda = 1e-3 }, classes },
  { "hinge", { lambda = 1e-3 }, classes }, { "svm", {}, classes },
  { "kernel_ridge", { lambda = 1e-3 } }, { "knn", {}, classes },
}

function TestSolvers()
  for _, one in ipairs(solvers) do
    local name, ds = one[1], one[3] or rows
    local function fit(dtype, data)
      return sc.pipeline{ features(kinds[1][2], dtype), sc.solver[name](one[2]) }:fit(data)
    end
    local exact = fit("float64", ds)
    for _, dtype in ipairs{ "int16", "int8" } do
      local p = fit(dtype, ds)
      local a, b = p:score(ds), exact:score(ds)
      lu.assertTrue(math.abs(a - b) < (dtype == "int16" and 0.01 or 0.03),
        ("%s, %s: %.4f and %.4f"):format(name, dtype, a, b))
    end
  end
end

function TestWeights()
  local function fit(dtype)
    local ds = sc.dataset{ X = X, y = y, weights = weights }
    return sc.pipeline{ features(kinds[1][2], dtype), sc.solver.ridge{ lambda = 1e-3,
      intercept = true } }:fit(ds):predict(X)
  end
  lu.assertTrue((fit("int16") - fit("float64")):abs():max() < 0.02)
end

-- Columns of few values, whose float features are summed and scored by tables of the values.
function TestColumnsOfFewValues()
  local coarse = (X * 2):map(math.floor)
  local parts = { p = sc.sampler.threshold{ sigma = 2 }, phi = sc.nonlinearity.sign(),
    K = sc.kernel.gaussian{ width = 1 } }
  local function fit(dtype)
    return sc.pipeline{ features(parts, dtype, 100), sc.solver.ridge{ lambda = 1e-3 } }
      :fit(sc.dataset{ X = coarse, y = y })
  end
  local p, exact = fit("int16"), fit("float64")
  local P = p:predict(coarse)
  lu.assertTrue((P - exact:predict(coarse)):abs():max() < 0.02)
  lu.assertTrue(p:predict(coarse:slice(1, 100)) == P:slice(1, 100))
end

-- A search over folds, number types and numbers of parameters; sums of more parameters serve fewer.
function TestSearch()
  local function best(dtype)
    local p = sc.pipeline{ features(kinds[1][2], dtype, sc.choose{ 10, 20, 40 }),
      sc.solver.ridge{ lambda = sc.choose{ 1e-5, 1e-3, 1e-1 } } }:search(rows, { folds = 4 })
    return p.table.best.mean, p.choice["features.T"], p.choice["solver.lambda"]
  end
  local a, T, lambda = best("float64")
  local b, T2, lambda2 = best("int16")
  lu.assertAlmostEquals(a, b, 1e-3)
  lu.assertEquals({ T2, lambda2 }, { T, lambda })
  local p = sc.pipeline{ features(kinds[1][2], sc.choose{ "int8", "int16", "float64" }),
    sc.solver.ridge{ lambda = 1e-3 } }:search(rows, { folds = 4 })
  lu.assertEquals(#p.table, 3)
  -- sums of one type never serve another, nor those of ranges that differ
  for _, kind in ipairs{ kinds[1], kinds[3] } do
    local both = sc.pipeline{ features(kind[2], sc.choose{ "int8", "int16" }, sc.choose{ 20, 40 }),
      sc.solver.ridge{ lambda = 1e-3 } }:search(rows, { folds = 4 })
    for _, row in ipairs(both.table) do
      local one = sc.pipeline{ features(kind[2], row.choice["features.dtype"],
        row.choice["features.T"]), sc.solver.ridge{ lambda = 1e-3 } }:cv(rows, { folds = 4,
        score = "loss" })
      lu.assertAlmostEquals(row.mean, one.mean, 1e-9 * one.mean)
    end
  end
  local f = features(kinds[1][2], "int8")
  local cv = sc.pipeline{ f, sc.solver.ridge{ lambda = 1e-3 } }:cv(classes, { folds = 4 })
  local same = sc.pipeline{ features(kinds[1][2], "float64"), sc.solver.ridge{ lambda = 1e-3 } }
    :cv(classes, { folds = 4 })
  lu.assertAlmostEquals(cv.mean, same.mean, 0.02)
end

-- Row stages after the features come before the rounding, so that the range of each is learnt.
function TestStagesAfter()
  local stages = { sc.standardize(), sc.normalize(), sc.select{ columns = { 1, 3, 5, 7 } } }
  for _, stage in ipairs(stages) do
    local function fit(dtype)
      return sc.pipeline{ features(kinds[1][2], dtype), stage, sc.solver.ridge{ lambda = 1e-3,
        intercept = true } }:fit(rows)
    end
    local p, exact = fit("int16"), fit("float64")
    lu.assertTrue((p:predict(X) - exact:predict(X)):abs():max() < 0.03, tostring(stage))
    local path = os.tmpname()
    p:save(path)
    lu.assertTrue(sc.load(path):predict(X) == p:predict(X), tostring(stage))
    os.remove(path)
  end
end

-- Rows far beyond the first ones are clipped, counted, and told on stderr.
function TestClippedRowsAreTold()
  local wide = X:copy()
  for i = 300, N do for j = 1, D do wide:set(i, j, 30 * X:get(i, j)) end end
  local ds = sc.dataset{ X = sc.vcat(sc.randn{ 2048, D, seed = 4 }, wide),
    y = sc.randn{ 2048 + N, 1, seed = 5 } }
  local p
  local said = support.stderr_of(function()
    p = sc.pipeline{ features(kinds[3][2], "int16"), sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
  end)
  lu.assertStrContains(said, "lay beyond the range that the first 2048 rows have")
  lu.assertTrue(p:info().clipped > 0.01)
end

-- A feature that is the same on all rows, and a feature of zeros.
function TestConstantFeatures()
  local Z = sc.zeros(50, 2)
  local f = features({ p = gaussian, phi = sc.nonlinearity.relu() }, "int16"):fit(Z)
  lu.assertEquals(f:transform(Z):abs():max(), 0)
  local cosine = features({ p = gaussian, phi = sc.nonlinearity.exp() }, "int8"):fit(Z)
  local exact = features({ p = gaussian, phi = sc.nonlinearity.exp() }, "float64"):fit(Z)
  lu.assertTrue((cosine:transform(Z):astype("float64") - exact:transform(Z)):abs():max() < 1e-7)
end

function TestBadNumbersAreNamed()
  fails({ "dtype", "int12", "int16" }, function()
    return features({ p = gaussian, phi = sc.nonlinearity.relu() }, "int12")
  end)
  local p = sc.pipeline{ features({ p = gaussian, phi = sc.nonlinearity.exp() }, "int16"),
    sc.solver.ridge{ lambda = 1 } }
  lu.assertErrorMsgContains("finite", p.fit, p, sc.dataset{ X = X * 1e30, y = y })
end

os.exit(lu.LuaUnit.run())
