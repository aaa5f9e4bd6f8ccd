-- my_plugin against its formula: min(max(x, mean - reach s), mean + reach s).
-- @start@

sc.plugin.load(plugin_path())
local make = sc.stage.my_plugin
local X = sc.randn{ 200, 4, seed = 1 }
X:set(7, 2, 40) -- an outlier

local function gap(A, B) return (A - B):abs():max() end

local function fitted(...) return sc.pipeline{ ... }:fit(X) end

-- The formula, column by column.
local function formula(A, reach)
  local out = A:copy()
  for j = 1, A:cols() do
    local sum, square, low, high = 0, 0, math.huge, -math.huge
    for i = 1, X:rows() do
      sum = sum + X:get(i, j)
      low, high = math.min(low, X:get(i, j)), math.max(high, X:get(i, j))
    end
    local mean = sum / X:rows()
    for i = 1, X:rows() do square = square + (X:get(i, j) - mean) ^ 2 end
    local s = math.sqrt(square / X:rows())
    low, high = math.max(low, mean - reach * s), math.min(high, mean + reach * s)
    for i = 1, A:rows() do out:set(i, j, math.min(math.max(A:get(i, j), low), high)) end
  end
  return out
end

function TestFormula()
  local other = sc.randn{ 30, 4, seed = 2 } * 10
  for _, reach in ipairs{ 0.1, 1, 3, 100 } do
    local p = fitted(make{ reach = reach })
    lu.assertTrue(gap(p:transform(X), formula(X, reach)) < 1e-12)
    lu.assertTrue(gap(p:transform(other), formula(other, reach)) < 1e-12)
  end
end

function TestTheOutlierIsCut()
  lu.assertTrue(fitted(make{}):transform(X):get(7, 2) < 15)
end

function TestOptions()
  lu.assertErrorMsgContains("'reach'", make, { reach = 0 })
  lu.assertErrorMsgContains("did you mean 'reach'", make, { reech = 1 })
end

function TestSavedAndLoaded()
  local path = os.tmpname()
  local p = fitted(make{ reach = 2 })
  p:save(path)
  lu.assertTrue(sc.load(path):transform(X) == p:transform(X))
  os.remove(path)
end

function TestAfterFeatures()
  local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 0.2 },
    phi = sc.nonlinearity.relu(), T = 100, seed = 1 }
  local p = sc.pipeline{ sc.standardize(), features, make{ reach = 4 },
    sc.solver.ridge{ lambda = 1e-4 } }
  lu.assertTrue(p:fit(train):score(test) > 0.9)
end

os.exit(lu.LuaUnit.run())
