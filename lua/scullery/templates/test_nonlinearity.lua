-- my_plugin against its formulas: phi(z) = max(0, z) + slope min(0, z).
-- @start@

sc.plugin.load(plugin_path())
local make = sc.nonlinearity.my_plugin

local function phi(z, slope) return z > 0 and z or slope * z end

local function gap(A, B) return (A - B):abs():max() end

-- The features phi(<w_t, x>)/sqrt(T) of some rows, and the numbers <w_t, x>.
local function features(slope, dtype)
  local X = sc.randn{ 50, 4, seed = 1 }
  local feats = sc.features{ p = sc.sampler.gaussian{ sigma = 2 }, phi = make{ slope = slope },
    T = 16, seed = 2, dtype = dtype }:fit(X)
  return feats:transform(X), X * feats:parameters():t()
end

function TestFormula()
  for _, slope in ipairs{ -1, 0, 0.01, 0.3, 1 } do
    local got, z = features(slope)
    local want = z:map(function(v) return phi(v, slope) / 4 end)
    lu.assertTrue(gap(got, want) < 1e-14 * z:abs():max())
  end
end

function TestFloat32()
  local single, double = features(0.3, "float32"), features(0.3, "float64")
  lu.assertEquals(single:dtype(), "float32")
  lu.assertTrue(gap(single, double) < 1e-6 * double:abs():max())
end

function TestOptions()
  lu.assertErrorMsgContains("'slope'", make, { slope = 1.5 })
  lu.assertErrorMsgContains("did you mean 'slope'", make, { slop = 0.5 })
  lu.assertErrorMsgContains("'slope'", make, { slope = 0 / 0 })
end

-- Smoothing: E phi(N(m, v^2)) in closed form is what quadrature finds.
function TestSmoothing()
  local X = sc.randn{ 9, 4, seed = 3 }
  for _, slope in ipairs{ -1, 0, 0.3 } do
    local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 0.8 },
      K = sc.kernel.gaussian{ width = 1.2 }, phi = make{ slope = slope } }
    local U = inst:sample{ T = 5, seed = 4, d = 4 }
    local exact, how = inst:expectation(U, X)
    lu.assertEquals(how.method, "exact")
    local quadrature = inst:expectation(U, X, { method = "quadrature" })
    lu.assertTrue(gap(exact, quadrature) < 1e-9 * exact:abs():max())
  end
end

-- Dual: features of Gaussian rows estimate the kernel that the closed form says, within 5 standard
-- errors over 40 seeds.
function TestDual()
  local X, runs = sc.randn{ 6, 4, seed = 5 }, 40
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 }, phi = make{ slope = 0.3 } }
  local want, sum, square = inst:kernel(X, X), sc.zeros(6, 6), sc.zeros(6, 6)
  for seed = 1, runs do
    local estimate = inst:features{ T = 500, seed = seed }:fit(X):kernel(X, X)
    sum, square = sum + estimate, square + estimate:mul(estimate)
  end
  local mean = sum * (1 / runs)
  local variance = (square * (1 / runs) - mean:mul(mean)):abs() * (1 / (runs - 1))
  lu.assertTrue((mean - want):abs():div(variance:map(math.sqrt) + 1e-300):max() < 5)
end

function TestPipeline()
  local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  local p = sc.pipeline{ sc.standardize(),
    sc.features{ p = sc.sampler.gaussian{ gamma = "scale" }, phi = make{ slope = 0.1 }, T = 300,
      seed = 1 },
    sc.solver.ridge{ lambda = 1e-4 } }
  lu.assertTrue(p:fit(train):score(test) > 0.93)
end

os.exit(lu.LuaUnit.run())
