-- Support vector machines, against plain computations of the same: a quadratic program, conditions
-- of optimality, the duality gap, two-class machines of each pair.
local component = require "scullery.compose.component"
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")

local function fit(stages, data, y) return sc.pipeline(stages):fit(data, y) end
local smooth = support.smooth_rows
local function gap(a, b) return (a - b):abs():max() end

-- The scores of a saved model.
local function decided(saved, instance, x)
  return core.predict(core.source(x), { learnt = core.model_load(instance, saved) }, "scores")
end

-- min (1/2) a'Qa + p'a, y'a = 0, 0 <= a_i <= C_i, by the pair that violates most, until none does
-- by 1e-9: a and f0. Q_ij = y_i y_j K_ij.
local function quadratic_program(K, y, p, C)
  local n, a, gradient = #y, {}, {}
  for i = 1, n do a[i], gradient[i] = 0, p[i] end
  for _ = 1, 1000000 do
    local up, down, most, least = nil, nil, -math.huge, math.huge
    for i = 1, n do
      local v = -y[i] * gradient[i]
      local grows, shrinks = a[i] < C[i], a[i] > 0
      if y[i] < 0 then grows, shrinks = shrinks, grows end
      if grows and v > most then up, most = i, v end
      if shrinks and v < least then down, least = i, v end
    end
    if most - least < 1e-9 then return a, (most + least) / 2 end
    local step = (most - least) / math.max(K(up, up) + K(down, down) - 2 * K(up, down), 1e-12)
    step = math.min(step, y[up] > 0 and C[up] - a[up] or a[up], y[down] > 0 and a[down]
      or C[down] - a[down])
    for i, sign in pairs{ [up] = 1, [down] = -1 } do
      a[i] = a[i] + sign * y[i] * step
      if a[i] < 1e-15 then a[i] = 0 elseif a[i] > C[i] * (1 - 1e-13) then a[i] = C[i] end
    end
    for i = 1, n do gradient[i] = gradient[i] + y[i] * step * (K(i, up) - K(i, down)) end
  end
  error("the reference did not converge")
end

local function rows_and_classes(n)
  local x, y = smooth(n)
  local middle, classes = y:sum() / n, {}
  for i = 1, n do classes[i] = y:get(i, 1) > middle and 1 or 0 end
  return x, classes
end

-- f of the rows themselves; C times weights[i] bounds the coefficient of row i
local function reference_classes(K, classes, C, weights)
  local y, p, bounds, b = {}, {}, {}, {}
  for i, class in ipairs(classes) do
    y[i], p[i], bounds[i] = 2 * class - 1, -1, C * weights[i]
  end
  local a, f0 = quadratic_program(function(i, j) return K:get(i, j) end, y, p, bounds)
  for i = 1, #a do b[i] = a[i] * y[i] end
  return K * sc.matrix(b) + f0
end

local function reference_regression(K, targets, C, epsilon, weights)
  local n, y, p, bounds, b = K:rows(), {}, {}, {}, {}
  for i = 1, n do
    y[i], y[n + i] = 1, -1
    p[i], p[n + i] = epsilon - targets:get(i, 1), epsilon + targets:get(i, 1)
    bounds[i] = C * (weights and weights[i] or 1)
    bounds[n + i] = bounds[i]
  end
  local a, f0 = quadratic_program(function(i, j)
    return K:get((i - 1) % n + 1, (j - 1) % n + 1)
  end, y, p, bounds)
  for i = 1, n do b[i] = a[i] - a[n + i] end
  return K * sc.matrix(b) + f0
end

function TestSupportVectorsOfClassesAgainstPlainQuadraticProgram()
  local x, classes = rows_and_classes(60)
  local data = sc.dataset{ X = x, y = classes, task = "classification" }
  local rbf = sc.kernel.gaussian{ width = 1 / math.sqrt(2 * 0.3) }
  local function of_rows(weight)
    local weights = {}
    for i, class in ipairs(classes) do weights[i] = weight[class] end
    return weights
  end
  local cubic = sc.kernel.polynomial{ degree = 3, scale = 0.5 }
  for _, case in ipairs{ { { gamma = 0.3 }, rbf }, { { kernel = rbf }, rbf },
    { { kernel = sc.kernel.gaussian{ gamma = 0.3 } }, rbf },
    { { kernel = "linear" }, sc.kernel.linear{} }, { { kernel = sc.kernel.linear{ offset = 2 } },
      sc.kernel.linear{} }, { { kernel = cubic }, cubic },
    { { kernel = sc.kernel.matern{ nu = 1.5, width = 2 } },
      sc.kernel.matern{ nu = 1.5, width = 2 } } } do
    for _, weight in ipairs{ { [0] = 1, 1 }, { [0] = 0.25, 3 } } do
      local given = { C = 2, tolerance = 1e-5 }
      for name, value in pairs(case[1]) do given[name] = value end
      local m = fit({ sc.solver.svm(given), class_weights = weight }, data)
      lu.assertEquals(m:info().status, "converged")
      lu.assertTrue(gap(m:decision(x), reference_classes(case[2]:gram(x), classes, 2,
        of_rows(weight))) < 1e-4, tostring(case[2]))
    end
  end
end

function TestSupportVectorsOfNumbersAgainstPlainQuadraticProgram()
  local x, y = smooth(50, 2)
  local K = sc.kernel.gaussian{ width = 1 / math.sqrt(2 / 3) }:gram(x) -- gamma = 1/d
  local m = fit({ sc.solver.svm{ C = 3, epsilon = 0.2, tolerance = 1e-5 } }, x, y)
  lu.assertEquals(m:info().status, "converged")
  for j = 1, 2 do
    lu.assertTrue(gap(m:decision(x):column(j), reference_regression(K, y:column(j), 3, 0.2)) < 1e-4)
  end
  -- no row costs anything
  local flat = fit({ sc.solver.svm{ epsilon = 100 } }, x, y):decision(x):column(1)
  lu.assertEquals(gap(flat, sc.ones(50, 1) * flat:get(1, 1)), 0)
end

function TestSupportVectorsOfTwoRows()
  -- two rows at -1 and 1: f(x) = 2 min(C, 1/2) x
  local x = sc.matrix{ { -1 }, { 1 } }
  for _, C in ipairs{ 0.1, 10 } do
    local m = fit({ sc.solver.svm{ kernel = "linear", C = C } },
      sc.dataset{ X = x, y = { "a", "b" }, task = "classification" })
    for _, at in ipairs{ -2, 0.5 } do
      lu.assertAlmostEquals(m:decision(sc.matrix{ { at } }):get(1, 1), 2 * math.min(C, 0.5) * at,
        1e-6)
    end
  end
end

-- One against one: the votes of two-class machines, each fitted on its own rows.
function TestSeveralClassesVoteInPairs()
  local x, y, where = sc.randn{ 160, 2, seed = 5 }, {}, { {}, {}, {}, {} }
  for i = 1, 160 do
    y[i] = (x:get(i, 1) > 0 and 1 or 0) + (x:get(i, 2) > 0.3 and 2 or 0) + 1
    table.insert(where[y[i]], i)
  end
  local data, solver = sc.dataset{ X = x, y = y, task = "classification" },
    sc.solver.svm{ C = 1, tolerance = 1e-5 }
  local m = fit({ solver }, data)
  local votes, sums = sc.zeros(160, 4), sc.zeros(160, 4)
  for i = 1, 4 do
    for j = i + 1, 4 do
      local rows, labels = {}, {}
      for k = 1, 160 do
        if y[k] == i or y[k] == j then
          rows[#rows + 1], labels[#labels + 1] = { x:get(k, 1), x:get(k, 2) }, y[k] == j and 1 or 0
        end
      end
      local f = fit({ solver }, sc.dataset{ X = sc.matrix(rows), y = labels,
        task = "classification" }):decision(x)
      for k = 1, 160 do
        local to, v = f:get(k, 1) > 0 and j or i, f:get(k, 1)
        votes:set(k, to, votes:get(k, to) + 1)
        sums:set(k, j, sums:get(k, j) + v)
        sums:set(k, i, sums:get(k, i) - v)
      end
    end
  end
  lu.assertTrue(gap(m:decision(x), votes + sums:map(function(s)
    return s / (3 * (math.abs(s) + 1))
  end)) < 1e-4)
  lu.assertTrue(m:score(data) > 0.9)
  local instance = component.instance(solver)
  local saved = core.model_save(m.fitted.learnt)
  lu.assertEquals(gap(decided(saved, instance, x), m:decision(x)), 0)
  for name, array in pairs(saved.arrays) do -- single bytes replaced: a sentence or a model
    for at = 1, #array.bytes, math.max(1, #array.bytes // 200) do
      local arrays = {}
      for key, value in pairs(saved.arrays) do arrays[key] = value end
      arrays[name] = { dtype = array.dtype, shape = array.shape,
        bytes = array.bytes:sub(1, at - 1) .. "\127" .. array.bytes:sub(at + 1) }
      pcall(decided, { arrays = arrays, features = saved.features, targets = saved.targets,
        dtype = saved.dtype }, instance, x:slice(1, 3))
    end
  end
end

function TestSupportVectorsRefuse()
  local x, classes = rows_and_classes(20)
  local function refuses(text, f, ...)
    local ok, message = pcall(f, ...)
    lu.assertFalse(ok)
    lu.assertStrContains(tostring(message), text)
  end
  refuses("option 'C' got 0", sc.solver.svm, { C = 0 })
  refuses("option 'C' got -1", sc.solver.svm, { C = -1 })
  refuses("gamma and kernel both set the kernel", sc.solver.svm, { kernel = "linear", gamma = 1 })
  refuses("no kernel 'rbf'", sc.solver.svm, { kernel = "rbf" })
  refuses("too large for single precision: scale the rows", fit,
    { sc.solver.svm{ kernel = "linear" } }, sc.dataset{ X = x * 1e150, y = classes,
      task = "classification" })
  refuses("scale the rows", fit, { sc.solver.svm{} }, sc.dataset{ X = x * 1e200, y = classes,
    task = "classification" })
  refuses("one class", fit, { sc.solver.svm{} }, sc.dataset{ X = x, y = sc.ones(20, 1),
    task = "classification" })
end

-- ------------ row weights

function TestRowWeightsBoundCoefficients()
  local x, classes = rows_and_classes(60)
  local _, y, w = smooth(60)
  local kernel, weights = sc.kernel.gaussian{ gamma = 0.3 }, {}
  for i = 1, 60 do weights[i] = w:get(i, 1) end
  local m = fit({ sc.solver.svm{ gamma = 0.3, C = 0.7, tolerance = 1e-5 } },
    sc.dataset{ X = x, y = classes, weights = w, task = "classification" })
  lu.assertTrue(gap(m:decision(x), reference_classes(kernel:gram(x), classes, 0.7, weights)) < 1e-4)
  local numbers = fit({ sc.solver.svm{ gamma = 0.3, C = 0.7, tolerance = 1e-5 } },
    sc.dataset{ X = x, y = y, weights = w, task = "regression" })
  lu.assertTrue(gap(numbers:decision(x), reference_regression(kernel:gram(x), y, 0.7, 0.1,
    weights)) < 1e-4)
end

-- ------------ many rows

-- More rows than the working set, and labels of which a tenth are wrong.
local function many(n)
  local x, y, chance = sc.randn{ n, 4, seed = 6 }, {}, sc.rand{ n, 1, seed = 7 }
  for i = 1, n do
    local above = x:get(i, 1) + math.sin(2 * x:get(i, 2)) > 0
    y[i] = (above ~= (chance:get(i, 1) < 0.1)) and 1 or 0
  end
  return x, y
end

local function array(saved, name)
  local a = saved.arrays[name]
  local m = sc.zeros(a.shape[1], a.shape[2] or 1)
  for i = 1, m:rows() do
    for j = 1, m:cols() do
      m:set(i, j, (string.unpack("<d", a.bytes, 8 * ((i - 1) * m:cols() + j) - 7)))
    end
  end
  return m
end

-- What the model costs less what its dual promises, over the dual: nothing but the kernel's values,
-- the coefficients and the constant enter. P = 1/2 b'Kb + C sum max(0, 1 - y (f + f0)),
-- D = sum |b| - 1/2 b'Kb.
local function duality_gap(m, kernel, x, y, C)
  local saved = core.model_save(m.fitted.learnt)
  local rows, b = array(saved, "rows"), array(saved, "coefficients")
  local square, loss, sum, total = 0, 0, 0, 0
  local inside, scores = kernel:gram(rows) * b, m:decision(x)
  for i = 1, b:rows() do
    square = square + inside:get(i, 1) * b:get(i, 1)
    sum, total = sum + math.abs(b:get(i, 1)), total + b:get(i, 1)
    lu.assertTrue(math.abs(b:get(i, 1)) <= C)
  end
  lu.assertAlmostEquals(total, 0, 1e-9 * sum)
  for i = 1, #y do loss = loss + math.max(0, 1 - (2 * y[i] - 1) * scores:get(i, 1)) end
  local dual = sum - square / 2
  return (square / 2 + C * loss - dual) / dual, dual
end

function TestManyRowsHaveNoDualityGap()
  local x, y = many(3000)
  local data = sc.dataset{ X = x, y = y, task = "classification" }
  for _, case in ipairs{ { 1, 0.25 }, { 100, 0.25 }, { 1, 4 } } do
    local C, gamma = case[1], case[2]
    local kernel, duals = sc.kernel.gaussian{ gamma = gamma }, {}
    -- the cache: of all rows; of so few that they are made again
    for i, cache in ipairs{ 200, 0.01 } do
      local m = fit({ sc.solver.svm{ gamma = gamma, C = C, tolerance = 1e-5,
        cache = cache } }, data)
      lu.assertEquals(m:info().status, "converged")
      lu.assertTrue(m:info().residual <= 1e-5)
      local relative
      relative, duals[i] = duality_gap(m, kernel, x, y, C)
      lu.assertTrue(relative >= 0 and relative < 1e-4, ("%g"):format(relative))
    end
    lu.assertAlmostEquals(duals[1], duals[2], 1e-6 * duals[1])
  end
end

-- Eight pairs of classes at most are learnt at once, whatever the threads, and their memory is what
-- eight pairs take.
function TestThreadsDoNotMultiplyTheCache()
  local classes, each = 6, 400
  local x = sc.randn{ classes * each, 3, seed = 11 }
  local y = sc.zeros(classes * each, 1)
  for i = 1, y:rows() do y:set(i, 1, (i - 1) % classes) end
  local function peak(rows, threads)
    local places = {}
    for i = 1, y:rows() do
      if y:get(i, 1) < rows then places[#places + 1] = i end
    end
    local data = sc.dataset{ X = x:select(places), y = y:select(places), task = "classification" }
    local before = core.threads()
    core.threads(threads)
    collectgarbage()
    collectgarbage()
    local held = core.memory(true)
    fit({ sc.solver.svm{ C = 1, gamma = 0.5 } }, data)
    local _, most = core.memory()
    core.threads(before)
    return most - held
  end
  local pair, all = peak(2, 1), peak(classes, 16)
  lu.assertTrue(all < 9 * pair, ("%g of %g"):format(all, pair))
end

-- Single precision of the cache is no limit: f is computed anew in double precision.
function TestSmallTolerancesAreMet()
  local x, y = many(1200)
  for _, kernel in ipairs{ sc.kernel.gaussian{ gamma = 0.5 }, sc.kernel.linear{},
    sc.kernel.polynomial{ degree = 3 } } do
    local m = fit({ sc.solver.svm{ kernel = kernel, C = 0.1, tolerance = 1e-8 } },
      sc.dataset{ X = x, y = y, task = "classification" })
    lu.assertEquals(m:info().status, "converged", tostring(kernel))
    lu.assertTrue(m:info().residual <= 1e-8)
  end
end

-- Rows of one place, and a kernel of rank 1: steps that no curvature bounds.
function TestDegenerateKernels()
  local x, y = sc.zeros(1500, 1), {}
  for i = 1, 1500 do
    x:set(i, 1, i % 5)
    y[i] = (i % 5 > 2) ~= (i % 7 == 0) and 1 or 0
  end
  for _, kernel in ipairs{ sc.kernel.gaussian{ gamma = 1 }, sc.kernel.linear{} } do
    local m = fit({ sc.solver.svm{ kernel = kernel, C = 3 } },
      sc.dataset{ X = x, y = y, task = "classification" })
    lu.assertEquals(m:info().status, "converged")
    local relative = duality_gap(m, kernel, x, y, 3)
    lu.assertTrue(relative < 1e-3, ("%g"):format(relative))
  end
end

-- Numbers: v = y - f - f0 says where the coefficient is.
function TestManyNumbersAreOptimal()
  local x, y = smooth(1500)
  local m = fit({ sc.solver.svm{ C = 2, epsilon = 0.05, tolerance = 1e-4 } }, x, y)
  local saved, at = core.model_save(m.fitted.learnt), {}
  local rows, b, scores = array(saved, "rows"), array(saved, "coefficients"), m:decision(x)
  for i = 1, b:rows() do
    at[("%a %a %a"):format(rows:get(i, 1), rows:get(i, 2), rows:get(i, 3))] = b:get(i, 1)
  end
  for i = 1, 1500 do
    local beta = at[("%a %a %a"):format(x:get(i, 1), x:get(i, 2), x:get(i, 3))] or 0
    local v = y:get(i, 1) - scores:get(i, 1)
    if beta < 2 then lu.assertTrue(v <= (beta < 0 and -0.05 or 0.05) + 1e-4) end
    if beta > -2 then lu.assertTrue(v >= (beta > 0 and 0.05 or -0.05) - 1e-4) end
  end
end

-- ------------ threads, files

function TestThreadsChangeNothing()
  local n = support.looks_for_races and 1500 or 2500
  local x, y = many(n)
  local pairs_of, before, want = {}, core.threads()
  for i = 1, n do pairs_of[i] = y[i] + 2 * (i % 3) end
  for _, threads in ipairs(support.looks_for_races and { 2, 5 } or { 1, 2, 5 }) do
    core.threads(threads)
    local got = { fit({ sc.solver.svm{} }, sc.dataset{ X = x, y = y, task = "classification" })
      :decision(x), fit({ sc.solver.svm{} },
        sc.dataset{ X = x, y = pairs_of, task = "classification" }):decision(x) }
    want = want or got
    for i = 1, 2 do lu.assertEquals(gap(got[i], want[i]), 0) end
  end
  core.threads(before)
end

-- The arrays of a file, whoever wrote it: classes 2 against 0, 0 against 1, 1 against 2.
function TestArraysOfAFileAreTheModel()
  local function numbers(...) return string.pack("<" .. ("d"):rep(select("#", ...)), ...) end
  local saved = { features = 1, targets = 3, dtype = "float64", arrays = {
    rows = { dtype = "float64", shape = { 2, 1 }, bytes = numbers(-1, 2) },
    coefficients = { dtype = "float64", shape = { 2, 3 }, bytes = numbers(1, 2, 3, -4, -5, 6) },
    intercept = { dtype = "float64", shape = { 3 }, bytes = numbers(0.5, -0.25, 1) },
    votes = { dtype = "int32", shape = { 1 }, bytes = string.pack("<i4", 1) },
    pairs = { dtype = "int32", shape = { 3, 2 }, bytes = string.pack("<i4i4i4i4i4i4", 2, 0, 0, 1, 1,
      2) } } }
  local solver = sc.solver.svm{ gamma = 0.5 }
  local got = decided(saved, component.instance(solver), sc.matrix{ { 0.5 } })
  local near = math.exp(-0.5 * 1.5 ^ 2)
  local f = { near * (1 - 4) + 0.5, near * (2 - 5) - 0.25, near * (3 + 6) + 1 }
  local sums, votes = { f[2] - f[1], f[3] - f[2], f[1] - f[3] }, { 0, 0, 0 }
  for p, pair in ipairs{ { 3, 1 }, { 1, 2 }, { 2, 3 } } do
    local winner = f[p] > 0 and pair[1] or pair[2]
    votes[winner] = votes[winner] + 1
  end
  for j = 1, 3 do
    lu.assertAlmostEquals(got:get(1, j), votes[j] + sums[j] / (3 * (math.abs(sums[j]) + 1)), 1e-12)
  end
end

os.exit(lu.LuaUnit.run(), true)
