-- my_plugin against its formula: (1 + ||x - y||^2/(2 alpha width^2))^(-alpha).
-- @start@

sc.plugin.load(plugin_path())
local make = sc.kernel.my_plugin
local X, Y = sc.randn{ 23, 4, seed = 1 }, sc.randn{ 17, 4, seed = 2 }

local function gap(A, B) return (A - B):abs():max() end

-- The formula, pair by pair.
local function formula(A, B, alpha, width)
  local K = sc.zeros(A:rows(), B:rows())
  for i = 1, A:rows() do
    for j = 1, B:rows() do
      local r = (A:row(i) - B:row(j)):norm() ^ 2
      K:set(i, j, (1 + r / (2 * alpha * width ^ 2)) ^ -alpha)
    end
  end
  return K
end

function TestFormula()
  for _, alpha in ipairs{ 0.1, 1, 2.5, 30 } do
    for _, width in ipairs{ 0.3, 1, 4 } do
      local got = make{ alpha = alpha, width = width }:gram(X, Y)
      lu.assertTrue(gap(got, formula(X, Y, alpha, width)) < 1e-12)
    end
  end
end

function TestSymmetricWithOnesOnTheDiagonal()
  local G = make{}:gram(X)
  lu.assertTrue(G == G:t())
  for i = 1, #X do lu.assertEquals(G:get(i, i), 1) end
end

function TestPositiveDefinite()
  for _, alpha in ipairs{ 0.1, 1, 30 } do
    lu.assertTrue(make{ alpha = alpha, width = 0.5 }:gram(X):eigvals():min() > -1e-12)
  end
end

-- K is between the Gaussian kernel g and g (1 + r^2/(8 alpha)) as alpha grows, r the squared
-- distance over width^2.
function TestTendsToTheGaussianKernel()
  local gaussian = sc.kernel.gaussian{ width = 1.5 }:gram(X, Y)
  lu.assertTrue(gap(make{ alpha = 1e12, width = 1.5 }:gram(X, Y), gaussian) < 1e-10)
end

function TestOptions()
  lu.assertErrorMsgContains("'alpha'", make, { alpha = 0 })
  lu.assertErrorMsgContains("'width' = 1e-310 is too small", make, { width = 1e-310 })
  lu.assertErrorMsgContains("did you mean 'alpha'", make, { alfa = 1 })
end

-- On parameters: of the same support by the formula, else 0.
function TestThresholds()
  local inst = sc.instantiation{ p = sc.sampler.threshold(), phi = sc.nonlinearity.sign(),
    K = make{ alpha = 2 } }
  local U = inst:sample{ T = 12, seed = 3, d = 3 } -- rows (column, threshold)
  local G = inst:gram(U, U)
  for i = 1, 12 do
    for j = 1, 12 do
      local r = (U:get(i, 2) - U:get(j, 2)) ^ 2
      local want = U:get(i, 1) == U:get(j, 1) and (1 + r / 4) ^ -2 or 0
      lu.assertAlmostEquals(G:get(i, j), want, 1e-14)
    end
  end
end

local function landmarks(dtype)
  return sc.features{ p = sc.sampler.landmarks(), phi = make{ width = "median" }, T = 100, seed = 1,
    dtype = dtype }
end

function TestFloat32()
  local single, double = landmarks "float32", landmarks "float64"
  local data = sc.randn{ 200, 4, seed = 4 }
  local got, want = single:fit(data):transform(data), double:fit(data):transform(data)
  lu.assertEquals(got:dtype(), "float32")
  lu.assertTrue(gap(got, want) < 1e-5)
end

function TestPipeline()
  local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  local p = sc.pipeline{ sc.standardize(), landmarks(), sc.solver.ridge{ lambda = 1e-4 } }
  lu.assertTrue(p:fit(train):score(test) > 0.93)
end

os.exit(lu.LuaUnit.run())
