-- Components written in Lua give the same numbers as the built-in ones, in every path. What fails,
-- and how they live: define_scripts_test.lua.
-- luacheck: globals TestNonlinearities TestSamplers TestKernels TestSolvers
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")
local fails = support.fails

local X = sc.randn{ 60, 4, seed = 1 }
local y = (X * sc.matrix{ 1, -2, 0.5, 0 }):map(function(v) return math.sin(v) end)
local ds = sc.dataset{ X = X, y = y }
local labelled = sc.dataset{ X = X, y = y:map(function(v) return v > 0 and 1 or 0 end),
  task = "classification" }

local function gap(a, b) return (a - b):abs():max() end

local names = 0
-- A name that nothing has yet.
local function fresh()
  names = names + 1
  return "defined_" .. names
end

-- ------------ a rectifier with all it may say

local function distribution(x)
  -- the normal distribution function by its series (Marsaglia 2004, equation 3), |x| < 8
  if x < -8 then return 0 elseif x > 8 then return 1 end
  local sum, term, i = x, x, 3
  while sum + term ~= sum do
    term = term * x * x / i
    sum, i = sum + term, i + 2
  end
  return 0.5 + sum * math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
end
local function density(x) return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) end

local rectifier = sc.nonlinearity.define{ name = "lua_relu", summary = "max(0, z)",
  doc = "phi(z) = max(0, z), in Lua.", eval = function(z) return z > 0 and z or 0 end,
  smooth = function(m, v) return m * distribution(m / v) + v * density(m / v) end,
  dual = function(m)
    local size = math.sqrt(m.var_a * m.var_b)
    if m.mean_a ~= 0 or m.mean_b ~= 0 then return nil end
    if size == 0 then return 0 end
    local r = math.max(-1, math.min(1, m.covariance / size))
    local angle = math.acos(r)
    return size / (2 * math.pi) * (math.sin(angle) + (math.pi - angle) * r)
  end, lipschitz = 1, breaks = { 0 } }

local function features(phi, given)
  local all = { p = sc.sampler.gaussian{ sigma = 0.7 }, phi = phi, T = 24, seed = 3 }
  for name, value in pairs(given or {}) do all[name] = value end
  return sc.features(all)
end

TestFormulas = {}

function TestFormulas:test_they_are_the_functions_that_they_say()
  local soft = sc.nonlinearity.define("tanh(beta * z) + sign(z)",
    { beta = { default = 1, low = 0 } })
  local same = sc.nonlinearity.define{ name = "soft_by_hand", options = { beta = 1 },
    eval = function(z, o)
      local e = math.exp(2 * o.beta * z)
      return (e - 1) / (e + 1) + (z > 0 and 1 or z < 0 and -1 or 0)
    end }
  for _, beta in ipairs{ 0.3, 1, 4 } do
    local a = features(soft{ beta = beta }):fit(X):transform(X)
    local b = features(same{ beta = beta }):fit(X):transform(X)
    lu.assertTrue((a - b):abs():max() < 1e-12)
  end
  lu.assertStrContains(tostring(soft()), "nonlinearity.tanh_beta_z_sign_z_")
  local line = sc.nonlinearity.define("o * z + p", { o = 2, p = 3 }) -- o is a name like others
  local by_hand = sc.nonlinearity.define("2 * z + 3")
  lu.assertTrue(features(line()):fit(X):transform(X) == features(by_hand()):fit(X):transform(X))
  support.fails({ "'beta'", "-1" }, soft, { beta = -1 })
  local kernel = sc.kernel.define("exp(-squared_distance / (2 * width^2))",
    { width = 1, name = "gaussian_by_formula" })
  lu.assertTrue(rawequal(kernel, sc.kernel.gaussian_by_formula))
  local p, phi = sc.sampler.gaussian(), sc.nonlinearity.relu()
  local function matrix(K)
    return sc.instantiation{ p = sc.sampler.landmarks(), phi = K }:features{ T = 9, seed = 1 }
      :fit(X):transform(X)
  end
  lu.assertTrue((matrix(kernel{ width = 2 }) - matrix(sc.kernel.gaussian{ width = 2 })):abs():max()
    < 1e-12)
  local sampler = sc.sampler.define("scale * tan(pi * (u - 0.5))", { scale = 2 })
  local hand = sc.sampler.define{ name = "cauchy_by_hand", options = { scale = 2 },
    make = function(u, o) return o.scale * math.tan(math.pi * (u - 0.5)) end }
  lu.assertTrue(features(phi, { p = sampler() }):fit(X):transform(X)
    == features(phi, { p = hand() }):fit(X):transform(X))
  lu.assertFalse(features(phi, { p = p }):fit(X):transform(X)
    == features(phi, { p = hand() }):fit(X):transform(X))
end

function TestFormulas:test_what_is_wrong_is_a_sentence()
  local function refused(words, kind, ...)
    support.fails({ kind .. ".define", table.unpack(words) }, sc[kind].define, ...)
  end
  refused({ "does not have the option 'beta'" }, "nonlinearity", "tanh(bet * z)", { beta = 1 })
  refused({ "the name 'bet'", "is it 'beta'?" }, "nonlinearity", "bet + beta * z", { beta = 1 })
  refused({ "the name 'os'" }, "nonlinearity", "os.exit(z)")
  refused({ "is not Lua" }, "nonlinearity", "tanh(z")
  refused({ "gives true where a number belongs" }, "nonlinearity", "z > 0")
  refused({ "uses z, and got \"x\"" }, "nonlinearity", "x")
  refused({ "a table of its options, and got 3" }, "nonlinearity", "z", 3)
  refused({ "has both", "cosine and dot" }, "kernel", "dot + cosine")
  refused({ "a name that the formula can use" }, "nonlinearity", "tanh(z)", { tanh = 1 })
  refused({ "a name that the formula can use", "\"z\"" }, "nonlinearity", "tanh(z)", { z = 1 })
  refused({ "the options of a formula are numbers, and 'b' is \"a\"" }, "nonlinearity", "b * z",
    { b = "a" })
  refused({ "a solver has no formula" }, "solver", "z")
end

TestNonlinearities = {}

function TestNonlinearities:test_features_are_those_of_the_built_in_one()
  for _, dtype in ipairs{ "float64", "float32" } do
    local a = features(rectifier(), { dtype = dtype }):fit(X):transform(X)
    local b = features(sc.nonlinearity.relu(), { dtype = dtype }):fit(X):transform(X)
    lu.assertTrue(a == b, dtype)
  end
end

function TestNonlinearities:test_every_ridge_space()
  for _, p in ipairs{ sc.sampler.sparse{ bias = "uniform" }, sc.sampler.orthogonal{},
    sc.sampler.threshold{} } do
    local a = features(rectifier(), { p = p }):fit(X):transform(X)
    lu.assertTrue(a == features(sc.nonlinearity.relu(), { p = p }):fit(X):transform(X))
  end
end

function TestNonlinearities:test_smoothing_and_quadrature()
  local K = sc.kernel.gaussian{ width = 2 }
  local a = features(rectifier(), { K = K }):fit(X):transform(X)
  local b = features(sc.nonlinearity.relu(), { K = K }):fit(X):transform(X)
  lu.assertTrue(gap(a, b) < 1e-13)
  local plain = sc.nonlinearity.define{ name = fresh(), breaks = { 0 }, lipschitz = 1,
    eval = function(z) return math.max(z, 0) end }
  lu.assertTrue(gap(features(plain(), { K = K }):fit(X):transform(X), b) < 1e-8)
end

function TestNonlinearities:test_duals()
  local function kernel(phi, p)
    return sc.instantiation{ p = p or sc.sampler.gaussian{ sigma = 1 }, phi = phi }:kernel(X)
  end
  lu.assertTrue(gap(kernel(rectifier()), kernel(sc.nonlinearity.relu())) < 1e-14)
  local step = sc.nonlinearity.define{ name = fresh(),
    eval = function(z) return z > 0 and 1 or 0 end,
    threshold_dual = function(a, b) return math.min(a, b) end, two_valued = { low = 0, high = 1 },
    scale_free = true, bound = 1, spaces = { "threshold" } }
  local p = sc.sampler.threshold{}
  lu.assertTrue(gap(kernel(step(), p), kernel(sc.nonlinearity.step(), p)) < 1e-14)
  fails({ "does not go with" }, kernel, step())
  local wave = sc.nonlinearity.define{ name = fresh(), harmonic = 1, phase = true,
    eval = function(z) return math.sqrt(2) * math.cos(z) end }
  lu.assertTrue(gap(kernel(wave()), kernel(sc.nonlinearity.fourier())) < 1e-14)
end

function TestNonlinearities:test_several_numbers_in_and_out()
  local largest = sc.nonlinearity.define{ name = fresh(), options = { q = { default = 3, low = 1,
    form = "integer" } }, fan_in = function(o) return o.q end,
    eval = function(...) return math.max(table.unpack({ ... }, 1, select("#", ...) - 1)) end }
  for _, q in ipairs{ 2, 3 } do
    local a = features(largest{ q = q }):fit(X):transform(X)
    lu.assertTrue(a == features(sc.nonlinearity.maxout{ q = q }):fit(X):transform(X))
  end
  local pair = sc.nonlinearity.define{ name = fresh(), fan_out = 2,
    eval = function(z) return math.cos(z), math.sin(z) end }
  local b = features(sc.nonlinearity.fourier{ form = "pair" }):fit(X):transform(X)
  lu.assertTrue(gap(features(pair()):fit(X):transform(X), b) < 1e-14)
end

function TestNonlinearities:test_learning_searching_and_judging()
  local leaky = sc.nonlinearity.define{ name = "lua_leaky", doc = "phi(z) = max(z, slope z)",
    options = { slope = { default = 0.1, low = 0, high = 1, help = "of the left half" } },
    eval = function(z, o) return z > 0 and z or o.slope * z end }
  local function recipe(phi)
    return sc.pipeline{ sc.standardize(), features(phi), sc.solver.ridge{ lambda = 1e-3 } }
  end
  local a, b = recipe(leaky{ slope = 0 }):fit(ds), recipe(sc.nonlinearity.relu()):fit(ds)
  lu.assertTrue(a:predict(X) == b:predict(X))
  lu.assertEquals(recipe(leaky{ slope = 0 }):cv(ds, { folds = 3 }).mean,
    recipe(sc.nonlinearity.relu()):cv(ds, { folds = 3 }).mean)
  local found = recipe(leaky{ slope = sc.choose{ 0, 0.3, 1 } })
  found = found:search(ds, { folds = 3 })
  lu.assertStrContains(tostring(found.table), "slope")
  local classes = sc.pipeline{ features(rectifier()),
    sc.solver.logistic{ lambda = 1e-6 } }:fit(labelled)
  lu.assertTrue(classes:score(labelled) > 0.8)
end

-- ------------ samplers

local normal = sc.sampler.define{ name = "lua_gaussian", normals = 1, bias = true,
  options = { sigma = { default = 1, above = 0, width = "frequency" } },
  make = function(n) return n end, moments = function(o) return 0, o.sigma end,
  family = "gaussian", factor = function(z) return math.exp(-z * z / 2) end }

TestSamplers = {}

local function instantiation(p, phi)
  return sc.instantiation{ p = p, phi = phi or sc.nonlinearity.fourier() }
end

function TestSamplers:test_independent_coordinates()
  for _, bias in ipairs{ "none", "uniform", "gaussian" } do
    local given = { sigma = 1.3, bias = bias }
    local function made(p)
      return features(sc.nonlinearity.relu(), { p = p(given), T = 40 }):fit(X):transform(X)
    end
    lu.assertTrue(made(normal) == made(sc.sampler.gaussian), bias)
  end
  local own, built_in = instantiation(normal{ sigma = 2 }),
    instantiation(sc.sampler.gaussian{ sigma = 2 })
  lu.assertTrue(gap(own:kernel(X), built_in:kernel(X)) < 1e-14)
  own = instantiation(normal{ sigma = 2 }, sc.nonlinearity.relu())
  built_in = instantiation(sc.sampler.gaussian{ sigma = 2 }, sc.nonlinearity.relu())
  lu.assertTrue(gap(own:kernel(X), built_in:kernel(X)) < 1e-14)
  local waiting = features(sc.nonlinearity.fourier(), { p = normal{ sigma = "median" } }):fit(X)
  lu.assertTrue(waiting:transform(X) == features(sc.nonlinearity.fourier(),
    { p = sc.sampler.gaussian{ sigma = "median" } }):fit(X):transform(X))
end

function TestSamplers:test_uniform_numbers()
  local uniform = sc.sampler.define{ name = fresh(), family = "uniform", moments = { 0, 1 },
    make = function(u) return 2 * u - 1 end,
    factor = function(z) return z == 0 and 1 or math.sin(z) / z end }
  local p = sc.sampler.uniform{ low = -1, high = 1 }
  lu.assertTrue(gap(instantiation(uniform()):kernel(X), instantiation(p):kernel(X)) < 1e-13)
end

function TestSamplers:test_draw_depends_on_the_place_alone()
  local seen = {}
  local drawn = sc.sampler.define{ name = fresh(), draw = function(t, d, random)
    seen[t] = (seen[t] or 0) + 1
    return random:normal(d)
  end, law = function() return { family = "gaussian" } end,
    characteristic = function(delta)
      local sum = 0
      for _, v in ipairs(delta) do sum = sum + v * v end
      return math.exp(-sum / 2)
    end }
  local p = sc.sampler.gaussian{ sigma = 1 }
  local function made(one) return features(sc.nonlinearity.relu(), { p = one, T = 200 }):fit(X) end
  lu.assertTrue(made(drawn()):transform(X) == made(p):transform(X))
  lu.assertEquals(#seen, 200)
  lu.assertTrue(gap(instantiation(drawn()):kernel(X), instantiation(p):kernel(X)) < 1e-14)
end

function TestSamplers:test_thresholds_and_supports()
  local stump = sc.sampler.define{ name = fresh(), space = "threshold",
    draw = function(t, d, random) return (t - 1) % d + 1, 2 * random:uniform() - 1 end,
    distribution = function(_, x) return math.max(0, math.min(1, (x + 1) / 2)) end }
  local inst = instantiation(stump(), sc.nonlinearity.step())
  local exact, T = inst:kernel(X), 4000
  local Phi = inst:features{ T = T, seed = 1 }:fit(X):transform(X)
  local gram = Phi * Phi:t()
  lu.assertTrue(gap(gram, exact) < 5 * 0.5 / math.sqrt(T)) -- a feature's variance is at most 1/4
  local some = sc.sampler.define{ name = fresh(), space = "sparse", degree = 2,
    draw = function(t, d, random)
      local first = (t - 1) % (d - 1) + 1
      return { first, first + 1 }, random:normal(2)
    end }
  local F = features(sc.nonlinearity.identity(), { p = some(), T = 3 }):fit(X)
  local W = F:parameters()
  for t = 1, 3 do
    lu.assertEquals({ W:get(t, 1), W:get(t, 2) }, { t, t + 1 }) -- columns, then weights
  end
end

function TestSamplers:test_learning_from_rows()
  local asked
  local landmarks = sc.sampler.define{ name = fresh(), dependent = true,
    learn = function(rows, T, random)
      asked = { rows.rows, rows.columns, T }
      local total, blocks = 0, 0
      rows:walk(function(block)
        total, blocks = total + block.count, blocks + 1
        lu.assertEquals(block.X:rows(), block.count)
      end)
      lu.assertEquals(total, rows.rows)
      local first = 1 + math.floor(random:uniform() * (rows.rows - T))
      local places = sc.range(first, first + T - 1)
      lu.assertTrue(rows:select(places) == rows:all():slice(first, first + T - 1))
      return rows:select(places)
    end,
    draw = function(t, _, _, _, state) return state[t]:totable()[1] end }
  local k = sc.kernel.gaussian{ width = 2 }
  local F = features(k, { p = landmarks(), T = 7 }):fit(X)
  lu.assertEquals(asked, { 60, 4, 7 })
  local W = F:parameters()
  for t = 1, 7 do
    local found = false
    for i = 1, 60 do found = found or gap(X:slice(i, i), W:slice(t, t)) == 0 end
    lu.assertTrue(found)
  end
  local p = sc.pipeline{ F, sc.solver.ridge{} }:fit(ds)
  local path = os.tmpname()
  p:save(path)
  lu.assertTrue(sc.load(path):predict(X) == p:predict(X))
  os.remove(path)
end

-- ------------ kernels

TestKernels = {}

function TestKernels:test_simple_form()
  local own = sc.kernel.define{ name = fresh(), pair = "squared_distance",
    options = { width = { default = 1, above = 0, width = "length" } },
    scale = function(o) return 1 / o.width end,
    finish = function(number) return math.exp(-number / 2) end }
  for _, width in ipairs{ 0.5, 2, "median" } do
    lu.assertTrue(gap(own{ width = width }:gram(X), sc.kernel.gaussian{ width = width }:gram(X))
      < 1e-14)
  end
  local angle = sc.kernel.define{ name = fresh(), pair = "angle",
    finish = function(theta, _, u, v)
      return u * v * (math.sin(theta) + (math.pi - theta) * math.cos(theta)) / math.pi
    end }
  lu.assertTrue(gap(angle():gram(X), sc.kernel.arccos{ order = 1 }:gram(X)) < 1e-13)
  local cubes = sc.kernel.define{ name = fresh(), pair = "dot",
    move = function(x) return x ^ 3 end }
  local Y = X:map(function(v) return v ^ 3 end)
  lu.assertTrue(gap(cubes():gram(X), Y * Y:t()) < 1e-12 * gap(Y * Y:t(), 0 * X * X:t()))
end

function TestKernels:test_general_form()
  local own = sc.kernel.define{ name = "lua_kernel", options = { width = 1 },
    eval = function(u, v, o)
      local sum = 0
      for j = 1, #u do sum = sum + (u[j] - v[j]) ^ 2 end
      return math.exp(-sum / (2 * o.width ^ 2))
    end }
  local a, b = own{ width = 2 }, sc.kernel.gaussian{ width = 2 }
  lu.assertTrue(gap(a:gram(X), b:gram(X)) < 1e-14)
  local function learnt(k)
    return sc.pipeline{ sc.solver.kernel_ridge{ kernel = k, lambda = 1e-3 } }:fit(ds):predict(X)
  end
  lu.assertTrue(gap(learnt(a), learnt(b)) < 1e-9)
  local function sections(k)
    return features(k, { p = sc.sampler.landmarks{}, T = 9 }):fit(X):transform(X)
  end
  lu.assertTrue(gap(sections(a), sections(b)) < 1e-14)
  local function simulated(K)
    return features(sc.nonlinearity.relu(), { K = K, samples = 64 }):fit(X):transform(X)
  end
  lu.assertEquals(simulated(a):rows(), 60)
end

-- ------------ solvers

local ridge = sc.solver.define{ name = "lua_ridge", penalty = "l2",
  options = { lambda = { default = 1e-6, low = 0, role = "regularisation" },
    intercept = { role = "intercept", default = "auto" } },
  solve = function(problem, o)
    local sums = problem:normal()
    local A = sums.moment + sc.eye(problem.features) * (problem.rows * o.lambda)
    return { coefficients = problem:solve(A, sums.right), outcome = "converged", iterations = 1 }
  end,
  objective = function(problem, a, _, o)
    local targets = problem:responses()
    local r = problem:product(a) - targets
    return r:mul(r):sum() / (2 * problem.rows) + o.lambda / 2 * a:mul(a):sum()
  end }

TestSolvers = {}

local function with(solver)
  return sc.pipeline{ features(sc.nonlinearity.relu()), solver }
end

function TestSolvers:test_normal_equations()
  local a = with(ridge{ lambda = 1e-3 }):fit(ds)
  local b = with(sc.solver.ridge{ lambda = 1e-3 }):fit(ds)
  lu.assertTrue(gap(a:weights(), b:weights()) < 1e-10)
  lu.assertTrue(gap(a:predict(X), b:predict(X)) < 1e-10)
  lu.assertEquals(a:info().status, "converged")
  local function cv(solver) return with(solver):cv(ds, { folds = 3 }).mean end
  lu.assertAlmostEquals(cv(ridge{ lambda = 1e-3 }), cv(sc.solver.ridge{ lambda = 1e-3 }), 1e-10)
  local search = with(ridge{ lambda = sc.choose{ 1e-6, 1e-2, 1 } })
  search:search(ds, { folds = 3 })
  local other = with(sc.solver.ridge{ lambda = sc.choose{ 1e-6, 1e-2, 1 } })
  other:search(ds, { folds = 3 })
  lu.assertEquals(search.choice, other.choice)
  local three = sc.dataset{ X = X, task = "classification",
    y = y:map(function(v) return v < -0.3 and 1 or v > 0.3 and 3 or 2 end) }
  lu.assertTrue(gap(with(ridge{ lambda = 1e-3 }):fit(three):weights(),
    with(sc.solver.ridge{ lambda = 1e-3 }):fit(three):weights()) < 1e-10)
end

-- Every verb says the same of one problem.
function TestSolvers:test_the_verbs_agree()
  local checked = 0
  local probe = sc.solver.define{ name = fresh(), solve = function(problem)
    lu.assertEquals({ problem.rows, problem.features, problem.targets, problem.task,
      problem.has_kernel, problem.start }, { 60, 24, 1, "regression", false })
    local Phi, targets, seen = sc.zeros(60, 24), sc.zeros(60, 1), 0
    problem:walk(function(block)
      for i = 1, block.count do
        Phi[block.first + i - 1] = block.X:slice(i, i)
        targets[block.first + i - 1] = block.y:slice(i, i)
        lu.assertEquals(block.places[i], block.first + i - 1)
      end
      seen = seen + block.count
    end)
    lu.assertEquals(seen, 60)
    local sums, a = problem:normal(), sc.randn{ 24, 2, seed = 5 }
    lu.assertTrue(gap(sums.moment, Phi:t() * Phi) < 1e-12)
    lu.assertTrue(gap(sums.right, Phi:t() * targets) < 1e-12)
    lu.assertAlmostEquals(sums.square[1], targets:mul(targets):sum(), 1e-12)
    lu.assertEquals(sums.total, 60)
    local outer, centred = problem:dual()
    lu.assertTrue(gap(outer, Phi * Phi:t()) < 1e-12)
    lu.assertTrue(gap(centred, targets) < 1e-15)
    local told, weights = problem:responses()
    lu.assertTrue(told == targets and weights:min() == 1 and weights:max() == 1)
    lu.assertTrue(gap(problem:product(a), Phi * a) < 1e-12)
    lu.assertTrue(gap(problem:adjoint(targets), Phi:t() * targets) < 1e-12)
    local swept = problem:sweep(sc.ones(24, 1), function(scores, block)
      return scores - block.y
    end)
    lu.assertTrue(gap(swept, Phi:t() * (Phi * sc.ones(24, 1) - targets)) < 1e-12)
    local doubled = problem:reweighted(2 * sc.ones(60, 1))
    lu.assertTrue(gap(doubled.moment, 2 * sums.moment) < 1e-12)
    local rows = 0
    problem:minibatch({ seed = 1, step = 0, size = 8, first = 3, count = 5 }, function(block)
      rows = rows + block.count
      lu.assertEquals(block.X:cols(), 5)
      for i = 1, block.count do
        lu.assertTrue(gap(block.X:slice(i, i), Phi:slice(block.places[i], block.places[i], 3, 7))
          < 1e-12)
      end
    end)
    lu.assertEquals(rows, 8)
    problem:progress("probing", 0.5, 1)
    fails({ "takes a matrix of 24 rows, and got one of 3" }, problem.product, problem,
      sc.ones(3, 1))
    fails({ "no kernel" }, problem.gram, problem)
    fails({ "a problem has no \"feature\"" }, function() return problem.feature end)
    fails({ "colon" }, problem.normal)
    fails({ "not in a visit" }, problem.walk, problem, function() error("not in a visit") end)
    fails({ "from inside a visit" }, problem.walk, problem, function() problem:product(a) end)
    fails({ "from inside a visit" }, problem.walk, problem, function() problem:total(a) end)
    local numbers = sc.matrix{ { 1, 2 }, { 1e-30, 1e300 }, { -1, -1e300 } }
    lu.assertEquals(problem:total(numbers):totable(), { { 1e-30, 2 } })
    checked = checked + 1
    return { coefficients = sc.zeros(24, 1), outcome = "stopped", iterations = 3, note = "probed" }
  end }
  local p = with(probe()):fit(ds)
  lu.assertEquals(checked, 1)
  local info = p:info()
  lu.assertEquals({ info.status, info.iterations, info.note:match "^probed" },
    { "stopped", 3, "probed" }) -- the fit adds that the model is no better than a constant
end

-- The sums of folds, which are kept, come again after sums with other weights, and hold no memory.
function TestSolvers:test_sums_again_after_other_weights()
  local asked = 0
  local probe = sc.solver.define{ name = fresh(), solve = function(problem)
    local sums = problem:normal()
    problem:reweighted(2 * sc.ones(problem.rows, 1))
    local again = problem:normal()
    lu.assertEquals({ gap(again.moment, sums.moment), gap(again.right, sums.right) }, { 0, 0 })
    asked = asked + 1
    return { coefficients = sc.zeros(problem.features, 1), outcome = "stopped" }
  end }
  local function used()
    with(probe()):cv(ds, { folds = 3 })
    for _ = 1, 2 do collectgarbage() end
    return (core.memory())
  end
  used()
  local before = used()
  lu.assertTrue(used() - before < 24 * 24 * 4, "a moment was not released")
  lu.assertEquals(asked, 9)
end

function TestSolvers:test_a_problem_ends_with_its_solve()
  local kept
  local keeper = sc.solver.define{ name = fresh(), solve = function(problem)
    kept = problem
    return { coefficients = sc.zeros(24, 1), outcome = "stopped" }
  end }
  with(keeper()):fit(ds)
  fails({ "of a call that has ended" }, function() kept:normal() end)
  fails({ "of a call that has ended" }, function() return kept.rows end)
end

function TestSolvers:test_kernels_and_losses()
  local rkhs = sc.solver.define{ name = fresh(), penalty = "rkhs", options = { lambda = 1e-3 },
    solve = function(problem, o)
      local sums = problem:normal()
      local A = sums.moment + problem:gram() * (problem.rows * o.lambda)
      return { coefficients = problem:solve(A, sums.right), outcome = "converged" }
    end }
  local K = sc.kernel.gaussian{ width = 2 }
  local function learnt(solver)
    return sc.pipeline{ features(sc.nonlinearity.relu(), { K = K }), solver }:fit(ds):predict(X)
  end
  lu.assertTrue(gap(learnt(rkhs()), learnt(sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" }))
    < 1e-7)
  for _, word in ipairs{ "signs", "other" } do -- each is declared
    local one = sc.solver.define{ name = fresh(), penalty = word, solve = function() end }
    local instance = require("scullery.compose.component").instance(one())
    lu.assertEquals(require("scullery.checker").solver_facts(instance).penalty, word)
  end
  -- least squares without a penalty: the constant takes what is added to all targets
  local least = sc.solver.define{ name = fresh(), penalty = "none",
    options = { intercept = { role = "intercept", default = "auto" } },
    solve = function(problem)
      local sums = problem:normal()
      return { coefficients = problem:solve(sums.moment, sums.right), outcome = "converged" }
    end }
  local far = sc.pipeline{ least() }:fit(X, y + 1000):predict(X)
  lu.assertTrue(gap(far, sc.pipeline{ least() }:fit(X, y):predict(X) + 1000) < 1e-6)
  local square = sc.solver.define{ name = fresh(), solve = function(problem)
      return { coefficients = sc.zeros(problem.features, 1), outcome = "stopped" }
    end,
    loss = { value = function(f, t) return (f - t) ^ 2 end,
      slope = function(f, t) return 2 * (f - t) end,
      bound = function(reach) return (reach + 1) ^ 2 end,
      lipschitz = function(reach) return 2 * (reach + 1) end } }
  lu.assertNotNil(with(square()):fit(ds))
end

function TestSolvers:test_objective()
  local p = with(ridge{ lambda = 1e-2, intercept = false }):fit(ds)
  local component = require "scullery.compose.component"
  local map = p.fitted.map
  local training = core.training(core.source(X, y), {}, map, {})
  local instance = component.instance(ridge{ lambda = 1e-2, intercept = false })
  local best = core.objective(training, instance, p:weights())
  for k = 1, 3 do
    local away = p:weights() + 0.01 * sc.randn{ 24, 1, seed = k }
    lu.assertTrue(core.objective(training, instance, away) > best)
  end
end

-- ------------ the page

-- docs/plugins_in_lua.md has one nonlinearity in both languages.
function TestNonlinearities:test_the_page_turns_it_into_c()
  local source = os.getenv "SCULLERY_SOURCE" or "."
  local compiler = os.getenv "CC" or "cc"
  lu.skipIf(support.shell(compiler .. " --version") ~= 0, "there is no C compiler")
  local text = support.read(source .. "/docs/plugins_in_lua.md")
  local written, code = text:match("```lua\n(local leaky.-)```"), text:match("```c\n(.-)```")
  local base = support.write(nil, "")
  support.write(base .. ".c", code)
  local status, _, said = support.shell(("%s -std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -fPIC \z
    -shared -fvisibility=hidden -I'%s/core/include' -o %s.so %s.c -lm"):format(compiler, source,
    base, base))
  lu.assertEquals(status, 0, said)
  assert(load("local sc = ...\n" .. written:gsub("print%b()", "")))(sc)
  local function found()
    local phi = sc.nonlinearity.leaky{ slope = 0.3 }
    return features(phi):fit(X):transform(X),
      sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 }, phi = phi }:kernel(X),
      sc.plugin.info("leaky").options[1]
  end
  local Phi, kernel, option = found()
  sc.plugin.load(base .. ".so")
  local own_Phi, own_kernel, own_option = found()
  lu.assertTrue(Phi == own_Phi)
  lu.assertTrue(gap(kernel, own_kernel) < 1e-14)
  lu.assertEquals(option, own_option)
  for _, ending in ipairs{ "", ".c", ".so" } do os.remove(base .. ending) end
end

os.exit(lu.LuaUnit.run())
