-- Features of features: the stage random_features beside sc.features, layers of a random network
-- beside kernel.network, and that kernel beside networks.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local path = os.tmpname()
local X = sc.randn{ 8, 3, seed = 1 }
local gaussian, relu, arccos = sc.sampler.gaussian, sc.nonlinearity.relu, sc.nonlinearity.arccos

local function staged(given, rows)
  return sc.pipeline{ sc.stage.random_features(given) }:fit(rows or X):transform(rows or X)
end

-- The largest distance of the mean of matrices from another, in standard errors; off_diagonal: the
-- diagonals are equal.
local function distance(list, exact, off_diagonal)
  local sum, square, n = list[1] * 0, list[1] * 0, #list
  for _, M in ipairs(list) do sum, square = sum + M, square + M:mul(M) end
  local most = 0
  for i = 1, sum:rows() do
    for j = 1, sum:cols() do
      local mean = sum:get(i, j) / n
      local stderr = math.sqrt(math.max(square:get(i, j) / n - mean ^ 2, 1e-24) / (n - 1))
      local gap = math.abs(mean - exact:get(i, j))
      if off_diagonal and i == j then lu.assertTrue(gap < 1e-12)
      else most = math.max(most, gap / stderr) end
    end
  end
  return most
end

-- Its inner products estimate the kernels that sc.features{} estimates, with a phase and in pairs.
function TestKernels()
  local exact = sc.kernel.gaussian{ gamma = 0.3 }:gram(X, X)
  for _, form in ipairs{ "phase", "pair" } do
    local list = {}
    for seed = 1, 40 do
      local Z = staged{ p = gaussian{ gamma = 0.3 }, phi = sc.nonlinearity.fourier{ form = form },
        T = 40, seed = seed }
      lu.assertEquals(Z:cols(), form == "pair" and 80 or 40)
      list[seed] = Z * Z:t()
    end
    lu.assertTrue(distance(list, exact, form == "pair") < 5)
  end
end

-- Two layers of rectifiers estimate the network kernel of depth 2: the first is so wide that the
-- bias of the second, of order 1/T, is below the standard error.
function TestLayersOfRectifiers()
  local exact, list = sc.kernel.network{ depth = 2 }:gram(X, X), {}
  for seed = 1, 20 do
    local p = sc.pipeline{ sc.features{ p = gaussian{}, phi = arccos(), T = 3000, seed = seed },
      sc.features{ p = gaussian{}, phi = arccos(), T = 30, seed = seed + 50 } }:fit(X)
    local Z = p:transform(X)
    list[seed] = Z * Z:t()
  end
  lu.assertTrue(distance(list, exact) < 5)
end

-- Lengths whose squares are beyond double precision, beside a row of length 1.
function TestLongAndShortRows()
  local U, V = sc.matrix{ { 1e170, 0 }, { 1e-170, 0 }, { 1, 0 } }, sc.matrix{ { 1e-170, 1e-170 } }
  local one = sc.kernel.arccos{ order = 1 }
  lu.assertTrue((sc.kernel.network{ depth = 1 }:gram(U, V) - one:gram(U, V)):abs():max() < 1e-15)
  for _, form in ipairs{ "nngp", "ntk" } do
    local K = sc.kernel.network{ form = form, depth = 3 }
    local want = K:gram(sc.matrix{ { 1, 0 } }, sc.matrix{ { 1, 1 } }):get(1, 1)
    lu.assertAlmostEquals(K:gram(U, V):get(1, 1), want, 1e-14)
    lu.assertAlmostEquals(K:gram(U, V):get(3, 1) * 1e170, want, 1e-14)
  end
end

-- Of one hidden layer: the arc-cosine kernel; and, for f = m^-1/2 sum_j a_j sqrt2 (w_j'x + b_j)_+,
-- the mean of the products of derivatives by all a_j, w_j and b_j.
function TestTheTangentKernel()
  lu.assertTrue((sc.kernel.network{ depth = 1 }:gram(X, X) - sc.kernel.arccos{ order = 1 }
    :gram(X, X)):abs():max() < 1e-12)
  local list, m = {}, 400
  for seed = 1, 30 do
    local z = X * sc.randn{ 3, m, seed = seed }
    local a = sc.randn{ 1, m, seed = seed + 100 }
    local active = z:map(function(v) return v > 0 and math.sqrt(2) or 0 end)
    local by_a, by_w = active:mul(z), active:mul(sc.ones(8, 1) * a)
    list[seed] = (by_a * by_a:t() + (by_w * by_w:t()):mul(X * X:t())) * (1 / m)
  end
  lu.assertTrue(distance(list, sc.kernel.network{ form = "ntk", depth = 1 }:gram(X, X)) < 5)
  -- with biases, deeper: symmetric, positive semidefinite, zero rows included
  local Y = sc.vcat(X, sc.zeros(1, 3))
  for _, form in ipairs{ "nngp", "ntk" } do
    for _, bias in ipairs{ 0, 0.3 } do
      local G = sc.kernel.network{ form = form, depth = 4, bias = bias, weight = 1.5 }:gram(Y, Y)
      lu.assertTrue((G - G:t()):abs():max() < 1e-12)
      lu.assertTrue(G:eigvals():min() > -1e-9)
    end
  end
end

function TestInPipelines()
  local train, test = sc.data.load("wdbc"):split{ test = 0.3, seed = 0 }
  local p = sc.pipeline{ sc.standardize(),
    sc.features{ p = gaussian{ sigma = 0.2 }, phi = relu(), T = 100, seed = 1 },
    sc.features{ p = gaussian{ sigma = sc.choose{ 0.2, 1 } }, phi = sc.nonlinearity.fourier(),
      T = 100, seed = 2 }, sc.solver.ridge{ lambda = 1e-4 } }:search(train, { folds = 3 })
  lu.assertTrue(p:score(test) > 0.93)
  lu.assertStrContains(tostring(p), "random_features")
  p:save(path)
  lu.assertEquals(sc.load(path):predict(test.X), p:predict(test.X))
  lu.assertEquals(p:decision(test.X:slice(2, 2)), p:decision(test.X):slice(2, 2))
  local ntk = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.landmarks{},
    phi = sc.kernel.network{ form = "ntk" }, T = 60, seed = 1 }, sc.solver.ridge{ lambda = 1e-3 } }
    :fit(train)
  lu.assertTrue(ntk:score(test) > 0.93)
end

-- Layers without a seed are independent: none has the weights of another.
function TestLayersWithoutASeed()
  local function layer() return sc.features{ p = gaussian{}, phi = relu(), T = 3 } end
  local text = tostring(sc.pipeline{ layer(), layer(), layer() })
  local seeds = {}
  for seed in text:gmatch "random_features%b{}" do seeds[#seeds + 1] = seed end
  lu.assertEquals(#seeds, 2, text)
  lu.assertNotEquals(seeds[1], seeds[2])
end

function TestWhatTheyRefuse()
  local after = sc.features{ T = 5 }
  local function pipeline(first) return function() sc.pipeline{ first, after } end end
  fails({ "numbers, phi, T and seed alone" }, pipeline(sc.features{ p = gaussian{
    gamma = "median" }, phi = relu(), T = 5 }))
  fails({ "numbers, phi, T and seed alone" }, pipeline(sc.features{ p = gaussian{}, phi = relu(),
    T = 5 } + sc.features{ p = gaussian{}, phi = relu(), T = 5 }))
  fails({ "numbers, phi, T and seed alone" }, pipeline(sc.features{ p = gaussian{}, phi = relu(),
    T = 5, dtype = "float32" }))
  fails({ "before the solver" }, function()
    sc.pipeline{ after, sc.standardize(), sc.features{ T = 5 } }
  end)
  fails({ "does not draw plain dense parameters" }, staged, { p = sc.sampler.threshold{} })
  fails({ "does not take one number" }, staged, { phi = sc.nonlinearity.maxout{ q = 2 } })
  fails({ "depth" }, sc.kernel.network, { depth = 0 })
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status, true)
