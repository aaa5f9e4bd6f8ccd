-- Boosted stumps, against AdaBoost written out: every threshold of every column is tried.
local lu = require "luaunit"
local sc = require "scullery"

local train = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }

local function fit(stages, data, y) return sc.pipeline(stages):fit(data, y) end
local function gap(a, b) return (a - b):abs():max() end

-- Weights from 1/2 to 5/2.
local function uneven(n)
  local w = sc.zeros(n, 1)
  for i = 1, n do w:set(i, 1, 0.5 + i % 3) end
  return w
end

local function heaviest(sums, classes)
  local best = 1
  for k = 2, classes do if sums[k] > sums[best] then best = k end end
  return sums[best], best
end

-- The stump of least weighted error over all columns and thresholds, by trying each; the first of
-- those within 1e-12.
local function best_stump(x, class, w, classes)
  local n, totals = x:rows(), {}
  for k = 1, classes do totals[k] = 0 end
  for i = 1, n do totals[class[i]] = totals[class[i]] + w[i] end
  local most, k = heaviest(totals, classes)
  local best = { error = 1 - most, column = 1, threshold = math.huge, left = k, right = k }
  for j = 1, x:cols() do
    local values = {}
    for i = 1, n do values[i] = x:get(i, j) end
    table.sort(values)
    for v = 1, n - 1 do
      if values[v] < values[v + 1] then
        local s, left, right = (values[v] + values[v + 1]) / 2, {}, {}
        for c = 1, classes do left[c], right[c] = 0, 0 end
        for i = 1, n do
          local side = x:get(i, j) <= s and left or right
          side[class[i]] = side[class[i]] + w[i]
        end
        local l, a = heaviest(left, classes)
        local r, b = heaviest(right, classes)
        if 1 - l - r < best.error - 1e-12 then
          best = { error = 1 - l - r, column = j, threshold = s, left = a, right = b }
        end
      end
    end
  end
  return best
end

-- Scores of `ask`, n x K (the second column alone says all of two classes).
local function boosted(x, class, weights, classes, rounds, ask)
  local n, w, total, f = x:rows(), {}, weights:sum(), sc.zeros(ask:rows(), classes)
  for i = 1, n do w[i] = weights:get(i, 1) / total end
  for _ = 1, rounds do
    local s = best_stump(x, class, w, classes)
    if s.error >= 1 - 1 / classes - 1e-12 then break end
    local alpha, sum = s.error <= 1e-15 and 1 or math.log((1 - s.error) / s.error) + math.log(
      classes - 1), 0
    for i = 1, ask:rows() do
      local said = ask:get(i, s.column) <= s.threshold and s.left or s.right
      for k = 1, classes do
        f:set(i, k, f:get(i, k) + (classes - 1) / classes * alpha * (k == said and classes - 1
          or -1))
      end
    end
    if s.error <= 1e-15 then break end
    for i = 1, n do
      local said = x:get(i, s.column) <= s.threshold and s.left or s.right
      if said ~= class[i] then w[i] = w[i] * math.exp(alpha) end
      sum = sum + w[i]
    end
    for i = 1, n do w[i] = w[i] / sum end
  end
  return f
end

-- Three columns: numbers, a few values, an indicator.
local function mixed_columns(n, classes)
  local x, class = sc.randn{ n, 3, seed = 8 }, {}
  local noise = sc.randn{ n, 1, seed = 9 }
  for i = 1, n do
    x:set(i, 2, math.floor(2 * x:get(i, 2)))
    x:set(i, 3, x:get(i, 3) > 0.5 and 1 or 0)
    class[i] =
      math.floor(math.abs(x:get(i, 1) + x:get(i, 2) + 0.5 * noise:get(i, 1)) * 2) % classes + 1
  end
  return x, class
end

-- Calls f(column, threshold, weights of the classes at most the threshold, and above it) for all
-- splits.
local function each_split(x, class, w, classes, f)
  for j = 1, x:cols() do
    local values = x:column(j):t():totable()[1]
    table.sort(values)
    for v = 1, #values - 1 do
      if values[v] < values[v + 1] then
        local s, sides = (values[v] + values[v + 1]) / 2, { {}, {} }
        for c = 1, classes do sides[1][c], sides[2][c] = 0, 0 end
        for i = 1, x:rows() do
          local side = sides[x:get(i, j) <= s and 1 or 2]
          side[class[i]] = side[class[i]] + w[i]
        end
        f(j, s, sides[1], sides[2])
      end
    end
  end
end

-- SAMME.R as it is printed (Zhu, Zou, Rosset and Hastie 2009), on stumps of the least impurity.
local function really_boosted(x, class, classes, rounds, ask)
  local n, w, f = x:rows(), {}, sc.zeros(ask:rows(), classes)
  for i = 1, n do w[i] = 1 / n end
  local function shares(side)
    local total, squares, h, mean = 0, 0, {}, 0
    for c = 1, classes do total, squares = total + side[c], squares + side[c] ^ 2 end
    for c = 1, classes do
      h[c] = math.log(math.max(side[c] / total, 2 ^ -52))
      mean = mean + h[c] / classes
    end
    for c = 1, classes do h[c] = (classes - 1) * (h[c] - mean) end
    return total - squares / total, h
  end
  for _ = 1, rounds do
    local best = { impurity = math.huge }
    each_split(x, class, w, classes, function(j, s, left, right)
      local a, low = shares(left)
      local b, high = shares(right)
      if a + b < best.impurity - 1e-12 then
        best = { impurity = a + b, column = j, threshold = s, low = low, high = high }
      end
    end)
    local function h(rows, i)
      return rows:get(i, best.column) <= best.threshold and best.low or best.high
    end
    for i = 1, ask:rows() do
      for c = 1, classes do f:set(i, c, f:get(i, c) + h(ask, i)[c]) end
    end
    local sum = 0
    for i = 1, n do
      local inner = 0 -- <y, h>/K, y = 1 at the class and -1/(K - 1) elsewhere
      for c = 1, classes do
        inner = inner + (c == class[i] and 1 or -1 / (classes - 1)) * h(x, i)[c] / classes
      end
      w[i] = w[i] * math.exp(-inner)
      sum = sum + w[i]
    end
    for i = 1, n do w[i] = w[i] / sum end
  end
  return f
end

function TestRealBoostingAgainstItsFormulas()
  for _, classes in ipairs{ 2, 4 } do
    local x, class = mixed_columns(60, classes)
    local data = sc.dataset{ X = x, y = class, task = "classification" }
    local m = fit({ sc.solver.adaboost{ stumps = 12, form = "real" } }, data)
    local ask = sc.randn{ 50, 3, seed = 3 }
    local want = really_boosted(x, class, classes, 12, ask)
    if classes == 2 then want = want:column(2) end
    lu.assertTrue(gap(m:decision(ask), want) < 1e-9)
    local path, loss = os.tmpname(), 0
    m:save(path)
    lu.assertEquals(gap(sc.load(path):decision(ask), m:decision(ask)), 0)
    os.remove(path)
    local f = really_boosted(x, class, classes, 12, x)
    for i = 1, 60 do -- <y, f>/K = f/(K - 1) of the row's class
      loss = loss + math.exp(-f:get(i, class[i]) / (classes - 1)) / 60
    end
    lu.assertAlmostEquals(tonumber(m:info().note:match("loss (.*)")), loss, 1e-3 * loss)
  end
end

function TestBoostedStumpsAgainstPlainAdaBoost()
  for _, classes in ipairs{ 2, 4 } do
    local x, class = mixed_columns(80, classes)
    for _, weights in ipairs{ sc.ones(80, 1), uneven(80) } do
      local data = sc.dataset{ X = x, y = class, weights = weights, task = "classification" }
      local m = fit({ sc.solver.adaboost{ stumps = 25 } }, data)
      local ask = sc.randn{ 50, 3, seed = 3 }
      local want = boosted(x, class, weights, classes, 25, ask)
      if classes == 2 then want = want:column(2) end
      lu.assertEquals(m:info().iterations, 25)
      lu.assertTrue(gap(m:decision(ask), want) < 1e-9)
    end
  end
end

-- A column's largest bin is first, last or in the middle: the same stumps as without knowing.
function TestStumpsOnColumnsWithOneLargeBin()
  local x, class = sc.zeros(40, 4), {}
  for i = 1, 40 do
    if i % 5 == 0 then x:set(i, 1, 1) end
    if i % 7 == 0 then x:set(i, 2, -1) end
    x:set(i, 3, i % 9 == 0 and -i or i % 4 == 0 and i or 0)
    class[i] = (i % 5 == 0 or i % 9 == 0 or i % 11 == 3) and 2 or 1
  end
  local m = fit({ sc.solver.adaboost{ stumps = 10 } },
    sc.dataset{ X = x, y = class, task = "classification" })
  lu.assertTrue(gap(m:decision(x), boosted(x, class, sc.ones(40, 1), 2, 10, x):column(2)) < 1e-9)
end

-- The mean of exp(-y f) is what info() says, and more stumps make it less.
function TestBoostingDescendsTheExponentialLoss()
  local y, last = train:targets(), math.huge
  for _, stumps in ipairs{ 1, 5, 20 } do
    local m = fit({ sc.solver.adaboost{ stumps = stumps } }, train)
    local f, loss = m:decision(train), 0
    for i = 1, #train do loss = loss + math.exp(-y:get(i, 1) * f:get(i, 1)) / #train end
    lu.assertTrue(loss < last)
    lu.assertAlmostEquals(tonumber(m:info().note:match("loss (.*)")), loss, 1e-3 * loss)
    last = loss
  end
end

function TestBoostingEnds()
  local x = sc.matrix{ { 0 }, { 1 }, { 2 }, { 3 } }
  local apart = fit({ sc.solver.adaboost{} }, sc.dataset{ X = x, y = { 1, 1, 2, 2 },
    task = "classification" })
  lu.assertEquals(apart:info().iterations, 1) -- one stump is without error
  lu.assertEquals(apart:info().status, "converged")
  lu.assertEquals(apart:decision(sc.matrix{ { 1.4 }, { 1.6 } }):get(1, 1), -0.5)
  local constant = fit({ sc.solver.adaboost{} }, sc.dataset{ X = sc.ones(3, 1), y = { 1, 1, 2 },
    task = "classification" })
  lu.assertEquals(constant:predict(sc.matrix{ { 7 } }):get(1, 1), 1) -- the heaviest class, once
  lu.assertEquals(constant:info().iterations, 1)
  local real = fit({ sc.solver.adaboost{ form = "real" } }, sc.dataset{ X = x, y = { 1, 1, 2, 2 },
    task = "classification" })
  lu.assertEquals({ real:info().iterations, real:info().status, real:error(x, { 1, 1, 2, 2 }) },
    { 1, "converged", 0 })
end

-- Two classes of one weight on a side, whose sums differ by rounding: the first is taken, in any
-- order of the rows.
function TestEqualClassesDoNotDependOnTheOrderOfRows()
  for seed = 1, 20 do
    local w = sc.rand{ 6, 1, seed = seed }
    w:set(4, 1, w:get(1, 1) + w:get(2, 1) + w:get(3, 1))
    w:set(5, 1, 4)
    w:set(6, 1, 4)
    local x = sc.matrix{ { 0 }, { 0 }, { 0 }, { 0 }, { 1 }, { 1 } }
    local y, scores = { 2, 2, 2, 1, 3, 3 }, {}
    for _, order in ipairs{ { 1, 2, 3, 4, 5, 6 }, { 6, 3, 5, 2, 4, 1 } } do
      local class = {}
      for k, i in ipairs(order) do class[k] = y[i] end
      local data = sc.dataset{ X = x:select(order), y = class, weights = w:select(order),
        task = "classification" }
      scores[#scores + 1] = fit({ sc.solver.adaboost{ stumps = 1 } }, data):decision(x)
    end
    lu.assertTrue(gap(scores[1], scores[2]) < 1e-9)
  end
end

function TestBoostingRefuses()
  local function refuses(text, f, ...)
    local ok, message = pcall(f, ...)
    lu.assertFalse(ok)
    lu.assertStrContains(tostring(message), text)
  end
  local square = sc.matrix{ { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } }
  refuses("option 'stumps' got 0", sc.solver.adaboost, { stumps = 0 })
  refuses("better than guessing", fit, { sc.solver.adaboost{} },
    sc.dataset{ X = square, y = { 1, 2, 2, 1 }, task = "classification" })
  refuses("are for classification", fit, { sc.solver.adaboost{} },
    sc.randn{ 20, 3, seed = 4 }, sc.randn{ 20, 1, seed = 5 })
  refuses("one class", fit, { sc.solver.adaboost{} }, sc.dataset{ X = square, y = { 1, 1, 1, 1 },
    task = "classification" })
end

os.exit(lu.LuaUnit.run(), true)
