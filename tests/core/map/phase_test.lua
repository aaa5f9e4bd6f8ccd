-- Cosines with a phase under a K: the functions, the kernel and the norm of the pairs (cos, sin).
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local fails = support.fails

-- With phases, K compares (w, b) by 2 cos(b - b') K(w, w').
function TestKBetweenParametersWithAPhase()
  local function gram(phi, ...)
    return sc.instantiation{ p = sc.sampler.gaussian(), K = sc.kernel.gaussian{ width = 2 },
      phi = phi }:gram(...)
  end
  local u, v = sc.randn{ 4, 4, seed = 1 }, sc.randn{ 5, 4, seed = 2 }
  local with = gram(sc.nonlinearity.fourier(), u, v)
  local alone = gram(sc.nonlinearity.sign(), u:slice(1, 4, 1, 3), v:slice(1, 5, 1, 3))
  for i = 1, 4 do
    for j = 1, 5 do
      lu.assertAlmostEquals(with:get(i, j),
        2 * math.cos(u:get(i, 4) - v:get(j, 4)) * alone:get(i, j), 1e-14)
    end
  end
end

-- Cosines without a phase are even functions of x: y = x_1 is learnt with a phase or in pairs.
function TestFourierWithKLearnsOddFunctions()
  local rows = sc.rand{ 300, 3, seed = 4 } * 2 - 1
  for _, method in ipairs{ "exact", "quadrature", "monte-carlo" } do
    for _, solver in ipairs{ sc.solver.ridge{ lambda = 1e-5 },
      sc.solver.ridge{ lambda = 1e-5, penalty = "rkhs" } } do
      local p = sc.pipeline{ sc.features{ K = sc.kernel.gaussian(), p = sc.sampler.gaussian(),
        phi = sc.nonlinearity.fourier(), T = 100, method = method }, solver }
      lu.assertTrue(p:fit(rows, rows:column(1)):score(rows, rows:column(1)) > 0.99)
    end
  end
end

-- Phases make the RKHS of the pair (cos, sin) with its norm: k(x, y) = E E K phi(u, x) phi(w, y) is
-- the same, each estimated from two independent draws of T parameters with their standard errors.
function TestPhasesAndPairsHaveOneKernel()
  local n, d = 1000, 3
  local x = sc.randn{ 4, d, seed = 8 } * 0.7
  local function estimate(form)
    local plain = { p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier{ form = form } }
    local planes = form == "pair" and 2 or 1
    return support.mean_over(40, function(seed)
      local u = sc.instantiation(plain):features{ T = n, seed = 2 * seed }:fit(x)
      local w = sc.instantiation(plain):features{ T = n, seed = 2 * seed + 1 }:fit(x)
      local K = sc.instantiation{ p = plain.p, phi = plain.phi, K = sc.kernel.gaussian() }:gram(
        u:parameters(), w:parameters())
      local sum, left, right = sc.zeros(4, 4), u:transform(x), w:transform(x)
      for k = 0, planes - 1 do
        sum = sum + left:slice(1, 4, k * n + 1, k * n + n) * K
          * right:slice(1, 4, k * n + 1, k * n + n):t() * (1 / n)
      end
      return sum
    end)
  end
  local phase, phase_error = estimate "phase"
  local pair, pair_error = estimate "pair"
  for i = 1, 4 do
    for j = 1, 4 do
      local stderr = math.sqrt(phase_error:get(i, j) ^ 2 + pair_error:get(i, j) ^ 2)
      lu.assertTrue(math.abs(phase:get(i, j) - pair:get(i, j)) < 5 * stderr)
    end
  end
  -- and theta, the largest root of its diagonal, which for the pair is sought on a grid down to
  -- radii of e^-10
  local function theta(form)
    return (sc.instantiation{ p = sc.sampler.gaussian(), K = sc.kernel.gaussian(),
      phi = sc.nonlinearity.fourier{ form = form } }:theta(d))
  end
  lu.assertAlmostEquals(theta "phase", theta "pair", 1e-8)
end

function TestPhasesStayWithPrunedAndSavedParameters()
  local rows, path = sc.rand{ 100, 3, seed = 4 } * 2 - 1, os.tmpname()
  local p = sc.pipeline{ sc.features{ K = sc.kernel.gaussian(), p = sc.sampler.gaussian(),
    phi = sc.nonlinearity.fourier(), T = 60 }, sc.solver.lasso{ lambda = 1e-4 } }
  local few = p:fit(rows, rows:column(1)):prune{ accept = "norm" }
  lu.assertTrue(few:info().features < 60)
  lu.assertTrue(few:score(rows, rows:column(1)) > 0.9)
  few:save(path)
  lu.assertTrue(sc.load(path):predict(rows) == few:predict(rows))
  os.remove(path)
end

-- Another function than a cosine is not what the mean over phases leaves as it is.
function TestAPhaseWithKIsForCosines()
  sc.nonlinearity.define{ name = "corner", phase = true, eval = function(z)
    return z % (2 * math.pi) < 1 and 1 or -1
  end }
  fails({ "nonlinearity.corner takes a uniform phase", "with a K only a cosine" }, function()
    sc.features{ p = sc.sampler.gaussian(), K = sc.kernel.gaussian(), T = 4,
      phi = sc.nonlinearity.corner() }:fit(sc.randn{ 12, 5, seed = 11 })
  end)
end

os.exit(lu.LuaUnit.run())
