-- my_plugin against its formulas: w = sigma n_1 n_2 with normal n_1 and n_2.
-- @start@

sc.plugin.load(plugin_path())
local make = sc.sampler.my_plugin

local function instantiation(options)
  return sc.instantiation{ p = make(options), phi = sc.nonlinearity.fourier() }
end

-- T parameters w_t in R^3, one a row. The last column is the bias, which fourier asks for.
local function draw(options, T, seed)
  return instantiation(options):sample{ T = T, seed = seed, d = 3 }:slice(1, T, 1, 3)
end

local function gap(A, B) return (A - B):abs():max() end

-- The mean of the numbers of a matrix and the standard error of that mean.
local function mean_of(values)
  local n = values:rows() * values:cols()
  local mean = values:sum() / n
  local spread = values:map(function(v) return (v - mean) ^ 2 end):sum() / (n - 1)
  return mean, math.sqrt(spread / n)
end

local function assert_mean(values, want, what)
  local mean, stderr = mean_of(values)
  lu.assertTrue(math.abs(mean - want) < 5 * stderr,
    ("%s: %g +- %g, and should be %g"):format(what, mean, stderr, want))
end

function TestMoments()
  local w = draw({ sigma = 1.7 }, 50000, 1)
  for power, want in ipairs{ 0, 1, 0, 9 } do
    assert_mean(w:map(function(v) return (v / 1.7) ^ power end), want, "moment " .. power)
  end
  assert_mean(w:slice(1, #w, 1, 1):mul(w:slice(1, #w, 2, 2)), 0, "columns are uncorrelated")
end

-- E cos(z w) = 1/sqrt(1 + sigma^2 z^2): the whole law.
function TestCharacteristicFunction()
  local w = draw({ sigma = 1.7 }, 50000, 2)
  for _, z in ipairs{ 0.1, 0.5, 1, 2, 5 } do
    assert_mean(w:map(function(v) return math.cos(z * v) end), 1 / math.sqrt(1 + (1.7 * z) ^ 2),
      "E cos(" .. z .. " w)")
  end
end

-- Parameter t depends on the seed and t alone.
function TestPlaces()
  local few, many = draw({}, 10, 3), draw({}, 1000, 3)
  lu.assertTrue(few == many:slice(1, 10))
  lu.assertFalse(few == draw({}, 10, 4))
end

-- The kernel of Fourier features, in closed form and as they estimate it: 5 standard errors over 40
-- seeds.
function TestKernel()
  local X, runs = sc.randn{ 6, 3, seed = 5 }, 40
  local inst = instantiation{ sigma = 0.6 }
  local want, sum, square = sc.zeros(6, 6), sc.zeros(6, 6), sc.zeros(6, 6)
  for i = 1, 6 do
    for j = 1, 6 do
      local k = 1
      for c = 1, 3 do k = k / math.sqrt(1 + 0.36 * (X:get(i, c) - X:get(j, c)) ^ 2) end
      want:set(i, j, k)
    end
  end
  lu.assertTrue(gap(inst:kernel(X, X), want) < 1e-14)
  for seed = 1, runs do
    local estimate = inst:features{ T = 500, seed = seed }:fit(X):kernel(X, X)
    sum, square = sum + estimate, square + estimate:mul(estimate)
  end
  local mean = sum * (1 / runs)
  local variance = (square * (1 / runs) - mean:mul(mean)):abs() * (1 / (runs - 1))
  lu.assertTrue((mean - want):abs():div(variance:map(math.sqrt) + 1e-300):max() < 5)
end

function TestOptions()
  lu.assertErrorMsgContains("'sigma'", make, { sigma = 0 })
  lu.assertErrorMsgContains("did you mean 'sigma'", make, { sigme = 1 })
  lu.assertTrue(gap(draw({ sigma = 2 }, 9, 6), draw({}, 9, 6) * 2) == 0)
end

function TestFloat32()
  local X = sc.randn{ 20, 3, seed = 7 }
  local function features(dtype)
    return instantiation{}:features{ T = 50, seed = 8, dtype = dtype }:fit(X):transform(X)
  end
  lu.assertEquals(features("float32"):dtype(), "float32")
  lu.assertTrue(gap(features "float32", features "float64") < 1e-5)
end

function TestPipeline()
  local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  local p = sc.pipeline{ sc.standardize(),
    sc.features{ p = make{ sigma = "median" }, phi = sc.nonlinearity.fourier(), T = 300, seed = 1 },
    sc.solver.ridge{ lambda = 1e-4 } }
  lu.assertTrue(p:fit(train):score(test) > 0.93)
end

os.exit(lu.LuaUnit.run())
