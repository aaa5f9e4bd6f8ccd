-- my_plugin against the equations that it solves: (Phi'W Phi/N + lambda I) a = Phi'W y/N.
-- @start@

sc.plugin.load(plugin_path())
local make = sc.solver.my_plugin
local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }

local function pipeline(solver, dtype)
  return sc.pipeline{ sc.standardize(),
    sc.features{ p = sc.sampler.gaussian{ gamma = "scale" }, phi = sc.nonlinearity.fourier(),
      T = 100, seed = 1, dtype = dtype }, solver }
end

local function gap(A, B) return (A - B):abs():max() end

-- ||Phi'(Phi a - y)/n + lambda a||/||Phi'y/n|| of a target, computed here.
local function residual(p, X, y, lambda, target)
  local phi, a = p:transform(X), p:weights():column(target)
  local right = phi:t() * y:column(target) * (1 / #X)
  return (phi:t() * (phi * a) * (1 / #X) + a * lambda - right):norm() / right:norm()
end

function TestResidual()
  for _, lambda in ipairs{ 1e-6, 1e-3, 1 } do
    local p = pipeline(make{ lambda = lambda, tolerance = 1e-10, intercept = false }):fit(train)
    lu.assertEquals(p:info().status, "converged")
    lu.assertTrue(residual(p, train, train:targets(), lambda, 1) < 2e-10)
  end
end

-- Row weights count as repeated rows do, and the intercept is not penalised: both as in ridge,
-- which solves the same equations by a factorisation.
function TestAgreesWithRidge()
  local weights = {}
  for i = 1, #train do weights[i] = i % 3 + 0.5 end
  local weighted = sc.dataset{ X = train.X, y = train.y, classes = train.classes,
    weights = weights }
  for _, ds in ipairs{ train, weighted } do
    for _, intercept in ipairs{ true, false } do
      local ours = pipeline(make{ lambda = 1e-3, tolerance = 1e-12, intercept = intercept }):fit(ds)
      local ridge = pipeline(sc.solver.ridge{ lambda = 1e-3, intercept = intercept }):fit(ds)
      lu.assertTrue(gap(ours:weights(), ridge:weights()) < 1e-8 * ridge:weights():abs():max())
      lu.assertTrue(gap(ours:intercept(), ridge:intercept()) < 1e-8)
    end
  end
end

-- Targets of different size: each is solved to the tolerance.
function TestSeveralTargets()
  local X = sc.randn{ 300, 5, seed = 2 }
  local y = sc.hcat(X:column(1) * 1e6, X:column(2):mul(X:column(3)), X:column(4) * 1e-6)
  local p = pipeline(make{ lambda = 1e-5, tolerance = 1e-6, intercept = false }):fit(X, y)
  lu.assertEquals(p:info().status, "converged")
  for target = 1, 3 do lu.assertTrue(residual(p, X, y, 1e-5, target) < 1.1e-6) end
end

function TestSaysWhereItDidNotConverge()
  local p = pipeline(make{ lambda = 1e-6, max_iterations = 2, intercept = false }):fit(train)
  local info = p:info()
  lu.assertEquals({ info.status, info.iterations }, { "iterations exhausted", 2 })
  lu.assertTrue(info.residual > 1e-8)
  lu.assertAlmostEquals(residual(p, train, train:targets(), 1e-6, 1) / info.residual, 1, 1e-6)
end

-- Rounding leaves a residual of some 1e-16: it ends all the same.
function TestEndsWhereTheToleranceIsBelowRounding()
  local p = pipeline(make{ lambda = 1e-6, tolerance = 1e-20, max_iterations = 1000000000 })
  local info = p:fit(train):info()
  lu.assertEquals(info.status, "iterations exhausted")
  lu.assertTrue(info.iterations < 10000)
  lu.assertTrue(info.residual < 1e-10)
  lu.assertStrContains(info.note, "the residual is ")
end

function TestOptions()
  lu.assertErrorMsgContains("'lambda'", make, { lambda = -1 })
  lu.assertErrorMsgContains("'tolerance'", make, { tolerance = 0 })
  lu.assertErrorMsgContains("did you mean 'max_iterations'", make, { max_iteration = 1 })
end

function TestFloat32()
  local single = pipeline(make{ lambda = 1e-3 }, "float32"):fit(train)
  local double = pipeline(make{ lambda = 1e-3 }):fit(train)
  lu.assertTrue(gap(single:weights(), double:weights()) < 1e-3 * double:weights():abs():max())
end

function TestSearch()
  local best = pipeline(make{ lambda = sc.choose.log{ 1e-6, 1e-2, count = 3 } }):search(train,
    { folds = 5, seed = 0 })
  lu.assertTrue(best:score(test) > 0.93)
end

os.exit(lu.LuaUnit.run())
