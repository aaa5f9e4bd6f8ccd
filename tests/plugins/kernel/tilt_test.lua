-- Kernels tilted by a sampler: expectations and masses against Monte Carlo, constants, widths.
local lu = require "luaunit"
local sc = require "scullery"

local k = sc.kernel
local X = sc.randn{ 23, 4, seed = 1 }

local tilted = {
  { k.gaussian{ width = 1.1 }, sc.sampler.gaussian{ sigma = { 0.5, 0.8, 0.3, 0.6 },
    mean = { 0.3, -0.2, 0, 0.5 } } },
  { k.gaussian{ width = 1.1 }, sc.sampler.threshold{ sigma = 0.8 } },
  { k.gaussian{ width = 1.1 }, sc.sampler.sparse{ degree = 2, sigma = 1.2 } },
  { k.gaussian{ width = 1.1 }, sc.sampler.sparse{ degree = { table = { 0, 0.4, 0.3, 0.3 } },
    sigma = 1.2 } },
  { k.exponential{ width = 1.6 }, sc.sampler.gaussian{ sigma = { 0.5, 0.6, 0.3, 0.6 },
    mean = { 0.3, -0.2, 0, 0.5 } } },
  { k.exponential{ width = 1.6 }, sc.sampler.threshold{ sigma = 0.7 } },
  { k.exponential{ width = 1.6 }, sc.sampler.sparse{ degree = 2, sigma = 1 } },
  { k.exponential{ width = 1.6 }, sc.sampler.sparse{ degree = { table = { 0, 0.4, 0.3, 0.3 } },
    sigma = 0.7 } },
  { k.indicator{}, sc.sampler.gaussian{ sigma = 0.5, mean = 0.2 } },
  { k.indicator{}, sc.sampler.threshold{ sigma = 0.7 } },
  { k.indicator{}, sc.sampler.sparse{ degree = 2, sigma = 1 } },
  { k.product{ factors = { k.indicator{}, k.gaussian{ width = 1.1 } } },
    sc.sampler.threshold{ sigma = 0.7 } },
  { k.product{ factors = { k.gaussian{ width = 1.1 } } },
    sc.sampler.sparse{ degree = 2, sigma = 1 } },
}

function TestExactExpectationIsMonteCarlo()
  for _, case in ipairs(tilted) do
    for _, phi in ipairs{ sc.nonlinearity.sign(), sc.nonlinearity.fourier{ form = "pair" } } do
      local inst = sc.instantiation{ p = case[2], K = case[1], phi = phi }
      local U = inst:sample{ T = 6, seed = 3, d = 4 }
      local exact, how = inst:expectation(U, X)
      local measured, info = inst:expectation(U, X, { method = "monte-carlo", tolerance = 2e-3,
        samples = 1 << 17 })
      local name = ("%s, %s, %s"):format(case[1], case[2], phi)
      lu.assertEquals(how.method, "exact", name)
      local worst = (exact - measured):map(math.abs):max()
      lu.assertTrue(worst < 5 * info.stderr, ("%s: off by %.4g, standard error %.4g"):format(name,
        worst, info.stderr))
    end
  end
end

-- E K(w,w) and E E K(u,w): for |phi| <= 1 kappa^2 and the square of the paper's bound on theta.
function TestMassesAreMonteCarlo()
  for _, case in ipairs(tilted) do
    local inst = sc.instantiation{ p = case[2], K = case[1], phi = sc.nonlinearity.sign() }
    local n, d = 1500, 4
    local U, V = inst:sample{ T = n, seed = 4, d = d }, inst:sample{ T = n, seed = 5, d = d }
    local rows = inst:gram(U, V):mean(2)
    local _, paper = inst:theta(d)
    local mean, error = rows:mean(), rows:std() / math.sqrt(n) * math.sqrt(2) -- rows share the v
    local name = ("%s, %s"):format(case[1], case[2])
    lu.assertTrue(math.abs(mean - paper ^ 2) < 5 * error + 1e-12,
      ("%s: E E K = %.5g, measured %.5g +- %.2g"):format(name, paper ^ 2, mean, error))
    local own, diagonal = inst:gram(U, U), sc.zeros(n, 1)
    for i = 1, n do diagonal:set(i, 1, own:get(i, i)) end
    mean, error = diagonal:mean(), diagonal:std() / math.sqrt(n)
    local kappa = inst:kappa(d)
    lu.assertTrue(math.abs(mean - kappa ^ 2) < 5 * error + 1e-12,
      ("%s: E K(w,w) = %.5g, measured %.5g +- %.2g"):format(name, kappa ^ 2, mean, error))
  end
end

function TestExponentialConstants()
  local s, g, d = 0.4, 1.3, 6
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = s },
    K = k.exponential{ width = g }, phi = sc.nonlinearity.sign() }
  local q = s * s / (g * g)
  local theta, paper, exact = inst:theta(d)
  lu.assertAlmostEquals(inst:kappa(d), (1 - 2 * q) ^ (-d / 4), 1e-12)
  lu.assertAlmostEquals(paper, (1 - q * q) ^ (-d / 4), 1e-12)
  lu.assertTrue(exact)
  -- (u, w) have correlation q under K p p
  lu.assertAlmostEquals(theta, paper * math.sqrt(2 / math.pi * math.asin(q)), 1e-12)
  -- theta itself: E E K(u,w) sign<u,x> sign<w,x>, the same for every x
  local n, x = 2000, sc.randn{ d, 1, seed = 6 }
  local U, V = inst:sample{ T = n, seed = 7, d = d }, inst:sample{ T = n, seed = 8, d = d }
  local function sign(v) return v >= 0 and 1 or -1 end
  local rows = (inst:gram(U, V) * (V * x):map(sign)):mul((U * x):map(sign)) * (1 / n)
  local mean, error = rows:mean(), rows:std() / math.sqrt(n) * math.sqrt(2)
  lu.assertTrue(math.abs(mean - theta ^ 2) < 5 * error,
    ("theta^2 = %.5g, measured %.5g +- %.2g"):format(theta ^ 2, mean, error))
end

function TestGaussianWidthsThroughTheLaw()
  local sign = sc.nonlinearity.sign()
  for _, p in ipairs{ sc.sampler.gaussian{ sigma = { 1, 2, 0.5, 1 } },
    sc.sampler.threshold{ sigma = 2 }, sc.sampler.sparse{ degree = 2, sigma = 3 },
                      sc.sampler.sparse{ degree = { table = { 0, 0.5, 0.2, 0.3 } } } } do
    local inst = sc.instantiation{ p = p, K = k.gaussian{ theta = 0.05 }, phi = sign }
    local _, paper = inst:theta(4)
    lu.assertAlmostEquals(paper, 0.05, 1e-12)
  end
  -- coefficient: (1 + s^2/(2 g^2))^(-2/2) = 0.3 for in-degree 2 with variance s^2/2 each
  local inst = sc.instantiation{ p = sc.sampler.sparse{ degree = 2, sigma = 3 },
    K = k.gaussian{ coefficient = 0.3 }, phi = sign }
  local U = sc.matrix{ { 1, 2, 0, 0 }, { 1, 2, 0.4, 0.2 } }
  local g2 = 4.5 / (1 / 0.3 - 1)
  inst:features{ T = 2, seed = 0 }:fit(X)
  lu.assertAlmostEquals(inst:gram(U, U):get(1, 2), math.exp(-0.2 / (2 * g2)), 1e-12)
end

os.exit(lu.LuaUnit.run(), true)
