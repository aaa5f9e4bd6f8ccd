-- Positive features: unbiased for the Gaussian and the softmax kernel, above 0, and small where the
-- kernel is small.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local path = os.tmpname()
local X = sc.randn{ 12, 3, seed = 1 } * 0.25
local gaussian = sc.sampler.gaussian

local function features(kernel, T, seed, base)
  return sc.features{ p = sc.sampler.positive{ kernel = kernel, width = 0.8, base = base },
    phi = sc.nonlinearity.exp(), T = T, seed = seed }
end

-- The mean square error over pairs and `seeds` draws; and the largest distance of a mean from the
-- kernel, in its standard errors.
local function errors(kernel, exact, base)
  local seeds, sum, square = 60, nil, nil
  for seed = 1, seeds do
    local gap = features(kernel, 30, seed, base):fit(X):kernel(X, X) - exact
    sum, square = sum and sum + gap or gap, square and square + gap:mul(gap) or gap:mul(gap)
  end
  local most = 0
  for i = 1, 12 do
    for j = 1, 12 do
      local mean = sum:get(i, j) / seeds
      local stderr = math.sqrt((square:get(i, j) / seeds - mean ^ 2) / (seeds - 1))
      most = math.max(most, math.abs(mean) / stderr)
    end
  end
  return square:mean() / seeds, most
end

function TestUnbiased()
  for kernel, exact in pairs{ gaussian = sc.kernel.gaussian{ width = 0.8 },
    softmax = sc.kernel.exponential{ width = 0.8 } } do
    local G = exact:gram(X, X)
    local inst = sc.instantiation{ p = sc.sampler.positive{ kernel = kernel, width = 0.8 },
      phi = sc.nonlinearity.exp() }
    lu.assertTrue((inst:kernel(X, X) - G):abs():max() < 1e-12)
    local orthogonal, far = errors(kernel, G)
    local plain, far_plain = errors(kernel, G, gaussian{})
    lu.assertTrue(far < 5 and far_plain < 5)
    lu.assertTrue(orthogonal < plain)
  end
end

-- Of rows far apart, whose kernel is about exp(-18), cosines have an error of about T^-1/2.
function TestSmallKernels()
  local Y = sc.matrix{ { 1.5, 0, 0 }, { -1.5, 0, 0 } }
  local Z = features("gaussian", 200, 1):fit(Y):transform(Y)
  lu.assertTrue(Z:min() > 0)
  local exact = math.exp(-9 / (2 * 0.8 ^ 2))
  local function error_of(phi, p)
    local sum = 0
    for seed = 1, 5 do
      local k = sc.features{ p = p, phi = phi, T = 200, seed = seed }:fit(Y):kernel(Y, Y)
      sum = sum + math.abs(k:get(1, 2) - exact) / 5
    end
    return sum
  end
  lu.assertTrue(error_of(sc.nonlinearity.exp(), sc.sampler.positive{ width = 0.8 }) < 2 * exact)
  lu.assertTrue(error_of(sc.nonlinearity.fourier(), gaussian{ sigma = 1 / 0.8 }) > 10 * exact)
end

function TestFitSaveSearch()
  local train, test = sc.data.load("wdbc"):split{ test = 0.3, seed = 0 }
  local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.positive{
    width = sc.choose{ 6, 12 } }, phi = sc.nonlinearity.exp(), T = 200, seed = 1 },
    sc.solver.ridge{ lambda = 1e-4 } }:search(train, { folds = 3 })
  lu.assertTrue(p:score(test) > 0.93)
  p:save(path)
  lu.assertEquals(sc.load(path):predict(test.X), p:predict(test.X))
  lu.assertEquals(p:decision(test.X):slice(3, 3), p:decision(test.X:slice(3, 3)))
end

function TestWhatItRefuses()
  fails({ "takes rows of N(0, I)", "width" }, function()
    features("gaussian", 9, 1, gaussian{ sigma = 2 }):fit(X)
  end)
  fails({ "does not draw plain dense rows" }, function()
    features("gaussian", 9, 1, sc.sampler.threshold{}):fit(X)
  end)
  fails({ "positive" }, function()
    sc.features{ p = sc.sampler.positive{}, phi = sc.nonlinearity.sign(), T = 9 }:fit(X)
  end)
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status, true)
