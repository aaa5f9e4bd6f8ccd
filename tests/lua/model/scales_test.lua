-- p:learn_scales: the error and its gradient against fits without each row and differences, and
-- what is learnt where one part of a union is of use.
local lu = require "luaunit"
local sc = require "scullery"
local scales = require "scullery.model.scales"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local fails = require("support").fails

local n = 60
local X = sc.randn{ n, 3, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + sc.randn{ n, 1, seed = 2 } * 0.1
local ds = sc.dataset{ X = X, y = y }

local function part(column, T, scale)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.fourier(), T = T,
    of = { column }, scale = scale }
end
local function pipeline(given)
  return sc.pipeline{ part(1, 20) + part(2, 30, 0.5) + part(3, 20), sc.solver.ridge(given) }
end

function TestGradient()
  for _, intercept in ipairs{ true, false } do
    for _, targets in ipairs{ y, sc.hcat(y, y * X:column(2):mean() + X:column(3)) } do
      local rows = sc.dataset{ X = X, y = targets, task = "regression" }
      local p = pipeline{ lambda = 1e-2, intercept = intercept }
      local sizes = scales.sizes(p, rows)
      lu.assertEquals(sizes, { 20, 30, 20 })
      local at = { 0.1, -0.4, 0.3, math.log(2e-2) }
      local loss, slopes, q = scales.evaluate(p, rows, at, sizes)
      for k = 1, 4 do
        local up, down, h = { table.unpack(at) }, { table.unpack(at) }, 1e-4
        up[k], down[k] = at[k] + h, at[k] - h
        local a, b = (scales.evaluate(p, rows, up, sizes)), (scales.evaluate(p, rows, down, sizes))
        lu.assertAlmostEquals(slopes[k], (a - b) / (2 * h), 1e-6 * (1 + math.abs(slopes[k])))
      end
      local sum = 0
      for i = 1, n do
        local rest = {}
        for j = 1, n do if j ~= i then rest[#rest + 1] = j end end
        local one = q:clone{ ["solver.lambda"] = 2e-2 * n / (n - 1) }:fit(rows:select(rest))
        local apart = one:predict(X:slice(i, i)) - targets:slice(i, i)
        sum = sum + apart:dot(apart)
      end
      lu.assertAlmostEquals(loss, sum / n, 1e-8)
    end
  end
end

function TestWhatIsLearnt()
  local p = pipeline{ lambda = 1e-2 }
  local q, found = p:learn_scales(ds)
  lu.assertTrue(found.loss < 0.7 * found.before, found.loss / found.before)
  lu.assertTrue(found[2] < 0.3 * found[1] and found[3] < 0.3 * found[1])
  lu.assertEquals(p.features.parts[2].scale, 0.5)
  local test = sc.randn{ 300, 3, seed = 9 }
  local truth = (test:column(1) * 2):map(math.sin)
  lu.assertTrue(q:fit(ds):error(test, truth) < 0.7 * p:fit(ds):error(test, truth))
  lu.assertEquals(q.features.parts[3].scale, found[3])
end

-- Widths that were far too small are learnt as well, those of "median" from what it gives.
function TestWidths()
  local function of(column, given)
    return sc.features{ p = sc.sampler.gaussian(given), phi = sc.nonlinearity.fourier(), T = 20,
      seed = column, of = { column } }
  end
  local p = sc.pipeline{ of(1, { sigma = 0.2 }) + of(2, { gamma = "median" }),
    sc.solver.ridge{ lambda = 1e-3 } }
  local _, without = p:learn_scales(ds, { steps = 15 })
  local q, found = p:learn_scales(ds, { steps = 15, widths = true })
  lu.assertTrue(found.loss < 0.7 * without.loss, found.loss / without.loss)
  lu.assertTrue(found.widths[1] > 0.4)
  lu.assertEquals(q.features.parts[1].inst.p.given.sigma, found.widths[1])
  lu.assertEquals(q.features.parts[2].inst.p.given.gamma, found.widths[2])
end

-- Targets that are learnt as logarithms are those of the error.
function TestForm()
  local log = sc.pipeline{ part(1, 20) + part(2, 30, 0.5) + part(3, 20),
    sc.solver.ridge{ lambda = 1e-2 }, target = "log" }
  local _, a = log:learn_scales(sc.dataset{ X = X, y = y:map(math.exp) }, { steps = 2 })
  local _, b = pipeline{ lambda = 1e-2 }:learn_scales(ds, { steps = 2 })
  lu.assertAlmostEquals(a.before, b.before, 1e-9)
  lu.assertAlmostEquals(a.loss, b.loss, 1e-9)
end

function TestSentences()
  local alone = sc.pipeline{ sc.features{ T = 5 }, sc.solver.ridge{} }
  fails({ "union" }, alone.learn_scales, alone, ds)
  local lasso = sc.pipeline{ part(1, 5) + part(2, 5), sc.solver.lasso{} }
  fails({ "ridge" }, lasso.learn_scales, lasso, ds)
  local p = pipeline{ lambda = 1 }
  fails({ "in memory" }, p.learn_scales, p, X)
  fails({ "steps" }, p.learn_scales, p, ds, { steps = 0 })
end

os.exit(lu.LuaUnit.run(), true)
