-- Isotonic calibration: pool adjacent violators against the min-max formula, the curve between its
-- knots, models of two and three classes, saved files.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")
local fails = support.fails

local function column(list)
  local m = core.zeros(#list, 1)
  for i, v in ipairs(list) do m:set(i, 1, v) end
  return m
end

-- The probability of the second class at these scores, by a curve.
local function at(curve, scores)
  return core.predict(column(scores), {}, "probabilities", { curve }):column(2)
end

-- The nondecreasing function of least weighted squares, from its closed form (Robertson, Wright and
-- Dykstra 1988, section 1.4): v_i = max over a <= i of min over b >= i of the mean of a to b, over
-- distinct scores. O(m^2) for each score. Returns scores and values.
local function min_max(scores, targets, weights)
  local of, list = {}, {}
  for i, f in ipairs(scores) do
    local w = weights and weights[i] or 1
    if w > 0 then
      if not of[f] then
        of[f] = { f = f, w = 0, t = 0 }
        list[#list + 1] = of[f]
      end
      of[f].w, of[f].t = of[f].w + w, of[f].t + (targets[i] > 0 and w or 0)
    end
  end
  table.sort(list, function(a, b) return a.f < b.f end)
  local W, T = { [0] = 0 }, { [0] = 0 }
  for k, one in ipairs(list) do W[k], T[k] = W[k - 1] + one.w, T[k - 1] + one.t end
  local fs, values = {}, {}
  for i, one in ipairs(list) do
    local most = -math.huge
    for a = 1, i do
      local least = math.huge
      for b = i, #list do least = math.min(least, (T[b] - T[a - 1]) / (W[b] - W[a - 1])) end
      most = math.max(most, least)
    end
    fs[i], values[i] = one.f, most
  end
  return fs, values
end

function TestCurvesAreTheMinMaxFormula()
  for seed = 1, 40 do
    local n, u = 5 + 3 * seed, sc.rand{ 200, 3, seed = seed }
    local scores, targets, weights = {}, {}, seed % 2 == 0 and {} or nil
    for i = 1, n do
      scores[i] = seed % 3 == 0 and u:get(i, 1) or math.floor(10 * u:get(i, 1)) / 10 -- with ties
      targets[i] = u:get(i, 2) < scores[i] and 1 or -1
      if weights then weights[i] = i % 5 == 0 and 0 or math.floor(4 * u:get(i, 3)) + 0.5 end
    end
    local curve = core.isotonic(column(scores), column(targets), weights and column(weights))[1]
    local fs, values = min_max(scores, targets, weights)
    local got = at(curve, fs)
    for i, value in ipairs(values) do
      lu.assertAlmostEquals(got:get(i, 1), value, 1e-12, ("seed %d, row %d"):format(seed, i))
    end
  end
end

function TestBetweenAndOutsideOfKnots()
  local curve = core.isotonic(column{ 0, 0, 1, 3, 3, 5 }, column{ -1, -1, 1, -1, 1, 1 })[1]
  lu.assertEquals(curve.scores, { 0, 1, 3, 5 })
  lu.assertEquals({ curve.shares[1], curve.shares[4] }, { 0, 1 })
  lu.assertAlmostEquals(curve.shares[2], 2 / 3, 1e-15)
  lu.assertEquals(curve.shares[2], curve.shares[3])
  local got = at(curve, { -7, 0.25, 2, 4, 9 })
  for i, value in ipairs{ 0, 1 / 6, 2 / 3, 5 / 6, 1 } do
    lu.assertAlmostEquals(got:get(i, 1), value, 1e-15)
  end
  lu.assertEquals({ curve.positives, curve.negatives }, { 3, 3 })
  local far = core.isotonic(column{ -1e308, 1e308 }, column{ -1, 1 })[1]
  lu.assertEquals(at(far, { 0 }):get(1, 1), 0.5)
end

function TestWeightsAreCopiesAndTheirUnitDoesNotMatter()
  local scores, targets = { 0.3, 0.1, 0.2, 0.4, 0.2 }, { -1, 1, -1, 1, 1 }
  local weights, f, y = { 2, 1, 3, 1, 2 }, {}, {}
  for i, w in ipairs(weights) do
    for _ = 1, w do f[#f + 1], y[#y + 1] = scores[i], targets[i] end
  end
  local wanted = core.isotonic(column(f), column(y))[1]
  for _, unit in ipairs{ 1, 1e-6, 1e6 } do
    local got = core.isotonic(column(scores), column(targets), column(weights) * unit)[1]
    lu.assertEquals(got.scores, wanted.scores)
    for k, share in ipairs(wanted.shares) do
      lu.assertAlmostEquals(got.shares[k], share, 1e-14)
    end
  end
end

function TestBadArguments()
  fails({ "the score of row 2 is not finite" }, core.isotonic, column{ 1, 0 / 0 }, column{ 1, -1 })
  fails({ "no rows of positive weight" }, core.isotonic, column{ 1, 2 }, column{ 1, -1 },
    column{ 0, 0 })
  fails({ "does not ascend" }, at, { scores = { 1, 0 }, shares = { 0, 1 } }, { 0 })
  fails({ "does not ascend" }, at, { scores = { 0, 1 }, shares = { 0.5, 0.2 } }, { 0 })
  fails({ "does not ascend" }, at, { scores = {}, shares = {} }, { 0 })
  local ds = sc.data.load("wdbc")
  fails({ "pipeline:calibrate", "'method'", "one of platt, isotonic" }, function()
    sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(ds):calibrate{ method = "isotone" }
  end)
end

-- ------------ models

-- P(second class | x) = g(x1), not a sigmoid of the score: flat, then steep.
local function chance(x) return x < 0 and 0.3 or 0.9 end

local function flat_then_steep(n, seed)
  local X, u, y = sc.randn{ n, 2, seed = seed }, sc.rand{ n, 1, seed = seed + 1 }, {}
  for i = 1, n do y[i] = u:get(i, 1) < chance(X:get(i, 1)) and "yes" or "no" end
  return sc.dataset{ X = X, y = y }
end

-- Mean squared distance of the probabilities from the true ones.
local function distance(p, ds)
  local P, sum = p:probabilities(ds.X), 0
  for i = 1, #ds do sum = sum + (P:get(i, 2) - chance(ds.X:get(i, 1))) ^ 2 end
  return sum / #ds
end

function TestACurveFollowsWhatASigmoidCannot()
  local train, test = flat_then_steep(4000, 1), flat_then_steep(4000, 11)
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-4, intercept = true } }:fit(train)
  local sigmoid = distance(p:calibrate{ folds = 5 }, test)
  local curve = distance(p:calibrate{ folds = 5, method = "isotonic" }, test)
  lu.assertTrue(curve < 0.7 * sigmoid, curve .. " and " .. sigmoid)
  lu.assertStrContains(tostring(p),
    "isotonic regression on out-of-fold scores of 5 folds, seed 0 (4000 rows)")
  lu.assertNil(p:info().calibration.note)
end

local function three_classes(n, seed)
  local X, y = sc.randn{ n, 2, seed = seed }, {}
  for i = 1, n do
    y[i] = X:get(i, 1) > 0.5 and "a" or X:get(i, 2) > 0 and "b" or "c"
  end
  return sc.dataset{ X = X, y = y }
end

-- Each column of scores by its own curve, divided by their sum; rows that no curve gives a share
-- have equal probabilities.
function TestSeveralClassesAreNormalised()
  local ds, fresh = three_classes(300, 3), three_classes(400, 4)
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3, intercept = true } }:fit(ds)
  p:calibrate{ data = fresh, method = "isotonic" }
  local P, scores = p:probabilities(ds.X), p:decision(ds.X)
  local curves = core.isotonic(p:decision(fresh.X), fresh:targets())
  for i = 1, #ds do
    local values, sum = {}, 0
    for k = 1, 3 do
      values[k] = at(curves[k], { scores:get(i, k) }):get(1, 1)
      sum = sum + values[k]
    end
    for k = 1, 3 do
      lu.assertAlmostEquals(P:get(i, k), sum > 0 and values[k] / sum or 1 / 3, 1e-14)
    end
  end
  local zero = { scores = { 0 }, shares = { 0 } }
  lu.assertEquals(core.predict(core.zeros(1, 2), {}, "probabilities", { zero, zero }),
    sc.matrix{ { 0.5, 0.5 } })
  lu.assertStrContains(p:info().calibration.note, "with less than 1000 rows")
end

function TestASavedModelKeepsItsCurves()
  local path = support.memory_path()
  for _, ds in ipairs{ flat_then_steep(300, 5), three_classes(300, 6) } do
    local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
    p:save(path)
    lu.assertStrContains(support.read(path), [[\"version\":1]])
    p:calibrate{ folds = 3, method = "isotonic" }:save(path)
    lu.assertStrContains(support.read(path), [[\"version\":4]]) -- older versions do not know curves
    local again = sc.load(path)
    lu.assertEquals(again:probabilities(ds.X), p:probabilities(ds.X))
    lu.assertEquals(tostring(again:info().calibration), tostring(p:info().calibration))
    lu.assertEquals(again:info().calibration.curves, p:info().calibration.curves)
    local shares = p.fitted.calibration.curves[1].shares
    for damage, said in pairs{ [2] = "does not ascend from 0 to 1", [-1] = "does not ascend",
      ["x"] = "'shares' of a curve is not a list of numbers" } do
      local kept = shares[#shares]
      shares[#shares] = damage
      p:save(path)
      fails({ said }, sc.load, path)
      shares[#shares] = kept
    end
  end
end

function TestTheCommandPrintsTheProbabilities()
  local model, csv = os.tmpname(), os.tmpname()
  local ds = flat_then_steep(50, 7)
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
  p:calibrate{ folds = 3, method = "isotonic" }:save(model)
  local lines = { "x1,x2" }
  for i = 1, 5 do lines[i + 1] = ("%.17g,%.17g"):format(ds.X:get(i, 1), ds.X:get(i, 2)) end
  support.write(csv, table.concat(lines, "\n") .. "\n")
  local run <close> = io.popen(("%s predict %s %s --proba 2>&1"):format(arg[-1], model, csv))
  local text, P, i = run:read("a"), p:probabilities(ds.X), 0
  os.remove(model)
  os.remove(csv)
  for line in text:gmatch("[^\n]+") do
    local said = tonumber(line:match("([^,]+)$"))
    if said then
      i = i + 1
      lu.assertAlmostEquals(said, P:get(i, 2), 1e-5)
    end
  end
  lu.assertEquals(i, 5, text)
end

os.exit(lu.LuaUnit.run())
