-- More features than rows: huber, trimmed, hinge and box go by systems of the rows' size. The same
-- solutions as by the features' own systems, and no memory of D x D numbers.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local ROWS, COLUMNS = 40, 90
local X = sc.randn{ ROWS, COLUMNS, seed = 1 } + 1
local noise = sc.randn{ ROWS, 2, seed = 3 }
local Y = X * sc.randn{ COLUMNS, 2, seed = 2 } * 0.3 + noise:mul(noise):mul(noise) + 3

-- Rows of weight 2 have no dual form: the primal solves the same problem.
local function both_forms(solver)
  local twos = {}
  for i = 1, ROWS do twos[i] = 2 end
  local dual = sc.pipeline{ solver }:fit(sc.dataset{ X = X, y = Y })
  local primal = sc.pipeline{ solver }:fit(sc.dataset{ X = X, y = Y, weights = twos })
  lu.assertEquals(dual:info().status, "converged")
  lu.assertEquals(primal:info().status, "converged")
  local other = sc.randn{ 30, COLUMNS, seed = 9 }
  local a, b = dual:decision(other), primal:decision(other)
  lu.assertTrue((a - b):abs():max() < 1e-8 * b:abs():max())
  lu.assertTrue((dual:weights() - primal:weights()):abs():max() < 1e-8)
  return dual
end

function TestHuberByTheDual()
  for _, intercept in ipairs{ false, true } do
    for _, lambda in ipairs{ 1e-2, 1, 30 } do
      for _, scale in ipairs{ "mad", "none" } do
        both_forms(sc.solver.huber{ lambda = lambda, scale = scale, tolerance = 1e-11,
          intercept = intercept })
      end
    end
  end
end

-- Many thresholds under a smooth K; the rows of wdbc in other orders, whose sums round otherwise.
local function thresholds_and_orders(T)
  local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  local orders = { train }
  for k = 2, 4 do
    local order, keys = {}, sc.rand{ #train, 1, seed = k }
    for i = 1, #train do order[i] = i end
    table.sort(order, function(i, j) return keys:get(i, 1) < keys:get(j, 1) end)
    orders[k] = train:select(order)
  end
  local features = sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ width = 1 },
    p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }:features{ T = T }
  return features, orders, test
end

-- The coefficients are hardly determined, but predictions are: they agree for other orders of the
-- rows where the status is "converged"; and a note says what rounding does where it is not.
function TestRidgeOfAnRkhsPenaltyConverges()
  local features, orders, test = thresholds_and_orders(500)
  for lambda, wanted in pairs{ [1e-3] = "converged", [1e-1] = "converged", [1e-12] = false } do
    local first
    for _, rows in ipairs(orders) do
      local p = sc.pipeline{ sc.standardize(), features,
        sc.solver.ridge{ lambda = lambda, penalty = "rkhs" } }:fit(rows)
      local info, values = p:info(), p:decision(test)
      first = first or values
      if wanted then
        lu.assertEquals(info.status, wanted)
        lu.assertTrue((values - first):abs():max() < 1e-4 * first:abs():max())
      elseif info.status ~= "converged" then
        lu.assertTrue(info.note:find("regularised by", 1, true) ~= nil
          or info.note:find("give fewer features", 1, true) ~= nil, info.note)
      end
    end
  end
end

-- Where lambda is so small that predictions are not determined either, the note has the size of it.
function TestRoundingOfAnRkhsPenaltyIsSaid()
  local features, orders, test = thresholds_and_orders(300)
  local seen = 0
  for _, lambda in ipairs{ 1e-9, 1e-8, 1e-7, 1e-6, 1e-5 } do
    local first, said
    for _, rows in ipairs(orders) do
      local p = sc.pipeline{ sc.standardize(), features,
        sc.solver.ridge{ lambda = lambda, penalty = "rkhs" } }:fit(rows)
      local share = (p:info().note or ""):match "by a share of ([^:]+):"
      share = tonumber(share)
      if p:info().jitter == 0 and share then
        local values = p:decision(test)
        if first then
          local apart = (values - first):abs():max() / first:abs():max()
          lu.assertTrue(apart < 30 * (share + said), ("%g: %g, said %g"):format(lambda, apart,
            share + said))
          seen = seen + 1
        end
        first, said = first or values, said or share
      end
    end
  end
  lu.assertTrue(seen > 0)
end

-- Rows far outside: their numbers in the dual are at the bound delta/(n lambda), which is the
-- optimality condition sum psi(r) x + n lambda a = 0.
function TestHuberWithOutliersIsStationary()
  local y = Y:column(1):copy()
  for i = 1, ROWS, 5 do y:set(i, 1, y:get(i, 1) + 200 * (-1) ^ i) end
  for _, intercept in ipairs{ false, true } do
    local m = sc.pipeline{ sc.solver.huber{ lambda = 5, scale = "none", delta = 0.5,
      tolerance = 1e-11, intercept = intercept } }:fit(X, y)
    lu.assertEquals(m:info().status, "converged")
    local psi = (m:decision(X) - y):map(function(r) return math.max(-0.5, math.min(0.5, r)) end)
    local left = X:t() * psi * (1 / ROWS) + m:weights() * 5
    lu.assertTrue(left:abs():max() < 1e-9)
    if intercept then lu.assertTrue(math.abs(psi:sum(1):get(1, 1)) < 1e-7) end
  end
end

function TestTrimmedByTheDual()
  for _, intercept in ipairs{ false, true } do
    for _, lambda in ipairs{ 1e-3, 1, 30 } do
      local m = both_forms(sc.solver.trimmed{ lambda = lambda, fraction = 0.2,
        intercept = intercept })
      lu.assertStrContains(m:info().note, "8 of 40 rows are left out")
    end
  end
end

-- Equal rows with different targets and no penalty have no exact fit, so that the fit cannot be as
-- asked to the last digit; one with a tiny penalty can.
function TestTrimmedSaysWhatItSolved()
  local twin = sc.vcat(X:slice(1, 3), X:slice(1, 3))
  local y = Y:slice(1, 6):column(1)
  local m = sc.pipeline{ sc.solver.trimmed{ lambda = 0, fraction = 0, intercept = false } }:fit(
    twin, y)
  lu.assertEquals(m:info().status, "iterations exhausted")
  lu.assertStrContains(m:info().note, "regularised by ")
  lu.assertStrContains(m:info().note, ", asked 0.0e+00")
  lu.assertTrue(m:info().jitter > 0)
  local fine = sc.pipeline{ sc.solver.trimmed{ lambda = 1e-6, fraction = 0, intercept = false } }
    :fit(twin, y)
  lu.assertEquals(fine:info().status, "converged")
  lu.assertEquals(fine:info().jitter, 0)
end

-- Three times as many rows, each three times, are the same problem, and not a wide one.
function TestBoxOfManyFeatures()
  local y = Y:column(1)
  local classes = y:map(function(v) return v > 3 and 1 or -1 end)
  for _, loss in ipairs{ "square", "logistic", "hinge", "squared_hinge", "huber" } do
    local numeric = loss == "square" or loss == "huber"
    local t = numeric and y or classes
    for _, intercept in ipairs{ false, true } do
      for _, C in ipairs{ 0.5, 5, 500 } do
        local solver = sc.solver.box{ C = C, loss = loss, tolerance = 1e-7,
          intercept = intercept }
        local options = { task = numeric and "regression" or "classification" }
        local wide = sc.pipeline{ solver }:fit(X, t, options)
        local tall = sc.pipeline{ solver }:fit(sc.vcat(X, X, X), sc.vcat(t, t, t), options)
        lu.assertEquals(wide:info().status, "converged")
        lu.assertTrue(wide:weights():abs():max() <= C / COLUMNS)
        local means = {}
        for k, m in ipairs{ wide, tall } do
          local f, sum = m:decision(X), 0
          for i = 1, ROWS do
            local s, v = f:get(i, 1), t:get(i, 1)
            local u = math.max(0, 1 - v * s)
            local r = math.abs(s - v)
            sum = sum + (loss == "square" and r * r / 2 or loss == "hinge" and u
              or loss == "squared_hinge" and u * u / 2
              or loss == "huber" and (r <= 1 and r * r / 2 or r - 0.5)
              or math.log(1 + math.exp(-v * s)))
          end
          means[k] = sum / ROWS
        end
        lu.assertAlmostEquals(means[1], means[2], 1e-7 * (numeric and 10 or 1))
      end
    end
  end
end

function TestHingeIsTheMachineOfItsKernel()
  local y = Y:column(2):map(function(v) return v > 3 and 1 or -1 end)
  local options = { task = "classification" }
  for _, lambda in ipairs{ 0.1, 3 } do
    local hinge = sc.pipeline{ sc.solver.hinge{ lambda = lambda, tolerance = 1e-9 } }:fit(X, y,
      options)
    local svm = sc.pipeline{ sc.solver.svm{ kernel = sc.kernel.linear(), C = 1 / (lambda * ROWS),
      tolerance = 1e-9 } }:fit(X, y, options)
    lu.assertEquals(hinge:info().status, "converged")
    lu.assertTrue((hinge:decision(X) - svm:decision(X)):abs():max() < 1e-3)
  end
end

-- A D x D matrix would take 0.6 GB.
function TestNoMatrixOfAllFeatures()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "", "a sanitizer needs terabytes")
  local path = support.write(nil, [[
local X = sc.randn{ 40, 12000, seed = 1 }
local y = X:column(1) + X:column(2)
local classes = y:map(function(v) return v > 0 and 1 or -1 end)
for _, name in ipairs{ "huber", "trimmed", "box", "ridge" } do
  local solver = sc.solver[name](name ~= "box" and { lambda = 1e-6 } or nil)
  assert(sc.pipeline{ solver }:fit(X, y):info().status == "converged")
end
for _, solver in ipairs{ sc.solver.hinge{ lambda = 1e-4 }, sc.solver.logistic{ lambda = 1e-6 },
  sc.solver.box{ loss = "hinge" } } do
  assert(sc.pipeline{ solver }:fit(X, classes, { task = "classification" }))
end
]])
  local status, _, said = support.shell(("prlimit --as=560000000 %s %s"):format(
    support.quote(support.binary), support.quote(path)))
  os.remove(path)
  lu.assertEquals({ status, said }, { 0, "" })
end

os.exit(lu.LuaUnit.run(), true)
