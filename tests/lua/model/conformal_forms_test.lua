-- Intervals by group, over the standard deviation and in time order: against fits without each row
-- and plain loops, coverage with its standard error, saved models, and sentences.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"
local fails = support.fails

local function pipeline(T, given)
  given = given or {}
  given.lambda = given.lambda or 1e-2
  return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.7 },
    phi = sc.nonlinearity.fourier(), T = T, seed = 1 }, sc.solver.ridge(given) }
end

-- Rows of two columns, the second a group from 1 to 3 in which the noise has its own size.
local function rows(n, seed)
  local X = sc.hcat(sc.randn{ n, 1, seed = seed }, sc.rand{ n, 1, seed = seed + 2000 }:map(
    function(u) return u * 3 // 1 + 1 end))
  local noise = sc.randn{ n, 1, seed = seed + 1000 }:mul(X:column(2) * 0.3)
  return X, (X:column(1) * 2):map(math.sin) + noise
end

local n = 45
local X, y = rows(n, 1)
local at = rows(12, 7)

local function ranked(list, rank)
  table.sort(list)
  return list[rank]
end

local function close(a, b) lu.assertAlmostEquals(a, b, 1e-6) end

-- Fits without each row: predictions for `at` (12 x n), sizes of the errors, and the standard
-- deviations of a row where the noise is 1.
local function without(T)
  local said, sizes, spread, lambda = {}, {}, {}, 1e-2 * n / (n - 1)
  for i = 1, n do
    local rest = {}
    for k = 1, n do if k ~= i then rest[#rest + 1] = k end end
    local one = pipeline(T, { lambda = lambda }):fit(X:select(rest), y:select(rest))
    said[i] = one:predict(at)
    local own, std = one:predict(X:slice(i, i), { std = "row", noise = 1 })
    sizes[i], spread[i] = math.abs(y:get(i, 1) - own:get(1, 1)), std:get(1, 1)
  end
  return sc.hcat(table.unpack(said)), sizes, spread
end

function TestGroupsAndSpreadOfLeaveOneOut()
  for _, T in ipairs{ 15, 80 } do -- the primal and the dual form
    local said, sizes, spread = without(T)
    for _, scale in ipairs{ false, "std" } do
      for _, by in ipairs{ false, 2 } do
        local p = pipeline(T):fit(X, y, { interval = { "loo", by = by or nil,
          scale = scale or nil } })
        local low, high = p:interval(at, { level = 0.7 })
        local _, std = p:predict(at, { std = "row", noise = 1 })
        for i = 1, at:rows() do
          local a, b, s = {}, {}, scale and std:get(i, 1) or 1
          for j = 1, n do
            if not by or X:get(j, 2) == at:get(i, 2) then
              local size = sizes[j] / (scale and spread[j] or 1) * s
              a[#a + 1], b[#b + 1] = said:get(i, j) - size, said:get(i, j) + size
            end
          end
          local rank = math.ceil(0.7 * (#a + 1) - 1e-9)
          close(low:get(i, 1), ranked(a, #a + 1 - rank))
          close(high:get(i, 1), ranked(b, rank))
        end
      end
    end
  end
end

-- The probability holds in each group, where without `by` it does not.
function TestCoverageInGroups()
  local groups = function(A)
    local texts = {}
    for i = 1, A:rows() do texts[i] = ({ "a", "b", "c" })[math.tointeger(A:get(i, 2))] end
    return texts
  end
  local inside, tries = {}, { { "split", 2 }, { "folds", "groups" }, { "split" } }
  for k, try in ipairs(tries) do
    inside[k] = { {}, {}, {} }
    for seed = 1, 6 do
      local A, b = rows(240, seed)
      local B, c = rows(300, seed + 100)
      local p = pipeline(20):fit(sc.dataset{ X = A, y = b,
        groups = try[2] == "groups" and groups(A) or nil },
        { interval = { try[1], by = try[2] } })
      local low, high = p:interval(sc.dataset{ X = B, y = c, groups = groups(B) },
        { level = 0.8 })
      for i = 1, 300 do
        table.insert(inside[k][math.tointeger(B:get(i, 2))],
          low:get(i, 1) <= c:get(i, 1) and c:get(i, 1) <= high:get(i, 1) and 1 or 0)
      end
    end
    for g, list in ipairs(inside[k]) do
      local sum = 0
      for _, one in ipairs(list) do sum = sum + one end
      inside[k][g] = sum / #list
      -- of the rows that judge, 20 of a group in each of six sets, and of the rows judged
      local stderr = math.sqrt(0.8 * 0.2 * (1 / 120 + 1 / #list))
      if k < 3 then lu.assertTrue(math.abs(sum / #list - 0.8) < 3.5 * stderr, sum / #list) end
    end
  end
  lu.assertTrue(inside[3][1] > 0.9 and inside[3][3] < 0.7)
end

-- Label sets by a column: each group by its own rows.
function TestGroupsOfLabelSets()
  local A, b = rows(300, 3)
  local B, c = rows(300, 4)
  local function classes(M, v)
    local list = {}
    for i = 1, v:rows() do list[i] = v:get(i, 1) > 0 and "up" or "down" end
    return sc.dataset{ X = M, y = list }
  end
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 1e-2 } }:fit(classes(A, b))
  local judges, test = classes(B, c), classes(rows(9, 5))
  local sets = p:label_sets(test.X, { level = 0.7, calibration = judges, by = 2 })
  for i = 1, 9 do
    local own = {}
    for j = 1, 300 do if B:get(j, 2) == test.X:get(i, 2) then own[#own + 1] = j end end
    lu.assertEquals({ sets[i] }, p:label_sets(test.X:slice(i, i), { level = 0.7,
      calibration = judges:select(own) }))
  end
end

-- The bounds of rolling windows, by a plain loop; and with `adapt` the share inside, which Gibbs
-- and Candes 2021 (proposition 4.1) bound for every sequence, here one that changes.
function TestRolling()
  local m, step = 400, 0.05
  local B, c = rows(m, 9)
  for i = m // 2, m do c:set(i, 1, c:get(i, 1) * 4) end
  local order = {}
  for i = 1, m do order[i] = (i * 7) % m + 1 end -- rows that are not in the order of their time
  local time = sc.zeros(m, 1)
  for t, i in ipairs(order) do time:set(i, 1, t) end
  local p = pipeline(20):fit(sc.dataset{ X = X, y = y }, { interval = { "split",
    rolling = true } })
  local ds = sc.dataset{ X = B, y = c, time = time }
  local low, high = p:interval(ds, { level = 0.8, rolling = 9 })
  local said, past = p:predict(B), {}
  local own = p:predict(X)
  for i = p.fitted.n + 1, n do past[#past + 1] = math.abs(y:get(i, 1) - own:get(i, 1)) end
  for _, i in ipairs(order) do
    local last = table.move(past, #past - 8, #past, 1, {})
    local width = ranked(last, 8) -- ceil(.8 * 10)
    close(low:get(i, 1), said:get(i, 1) - width)
    close(high:get(i, 1), said:get(i, 1) + width)
    past[#past + 1] = math.abs(c:get(i, 1) - said:get(i, 1))
  end
  low, high = p:interval(ds, { level = 0.8, rolling = true, adapt = step })
  local inside = 0
  for i = 1, m do
    if low:get(i, 1) <= c:get(i, 1) and c:get(i, 1) <= high:get(i, 1) then inside = inside + 1 end
  end
  lu.assertTrue(math.abs(inside / m - 0.8) <= (0.8 + step) / (step * m), inside / m)
end

-- Deviations of weighted rows are those of fits without each.
function TestSpreadOfWeights()
  local weights = (sc.rand{ n, 1, seed = 3 } * 3):map(function(w) return w // 1 + 0.5 end)
  local ds = sc.dataset{ X = X, y = y, weights = weights }
  local p = pipeline(15):fit(ds, { interval = { "folds", scale = "std" } })
  for _, i in ipairs{ 1, 8, 30 } do
    local rest, total = {}, weights:sum()
    for k = 1, n do if k ~= i then rest[#rest + 1] = k end end
    local one = pipeline(15, { lambda = 1e-2 * total / (total - weights:get(i, 1)) })
      :fit(ds:select(rest))
    local _, std = one:predict(X:slice(i, i), { std = "row", noise = 1 })
    close(p.fitted.interval.spread:get(i, 1), std:get(1, 1))
  end
end

-- What an interval is made from does not depend on earlier calls.
function TestEarlierCalls()
  local p, fresh = pipeline(15):fit(X, y), pipeline(15):fit(X, y)
  local grouped = p:interval(at, { level = 0.6, by = 2 })
  local low = p:interval(at, { level = 0.6 })
  lu.assertTrue(low == fresh:interval(at, { level = 0.6 }))
  lu.assertTrue(grouped == p:interval(at, { level = 0.6, by = 2 }) and grouped ~= low)
  local split = pipeline(15):fit(X, y, { interval = "split" })
  local before = split:interval(at)
  split:interval(at, { method = "folds" })
  lu.assertTrue(before == split:interval(at))
  local a, b = split:interval(at, { level = 1e-13 })
  lu.assertTrue((b - a):min() >= 0 and (b - a):max() < 0.2)
end

function TestSavedForms()
  support.in_folder(function(folder)
    local path, csv = folder .. "/m.safetensors", folder .. "/rows.csv"
    for _, method in ipairs{ "loo", "folds", "split" } do
      local A, b = rows(90, 5)
      local p = pipeline(20):fit(A, b, { interval = { method, by = 2, scale = "std" } })
      p:save(path)
      at:save(csv)
      local low, high = p:interval(at, { level = 0.6 })
      local loaded = sc.load(path)
      local a, b2 = loaded:interval(at, { level = 0.6 })
      lu.assertTrue(low == a and high == b2, method)
      lu.assertStrContains(tostring(loaded), "over the std, by 2")
      local _, out = support.shell(("%s predict --interval 0.6 %s %s"):format(
        support.quote(support.binary), path, csv))
      local words = {}
      for word in out:match("\n([^\n]+)"):gmatch "[^,]+" do words[#words + 1] = tonumber(word) end
      lu.assertEquals({ words[2], words[3] }, { low:get(1, 1), high:get(1, 1) })
    end
  end)
end

function TestSentences()
  local p = pipeline(20):fit(X, y, { interval = { "loo", by = 2 } })
  fails({ "group of row 1", "at least 49 rows" }, p.interval, p, at, { level = 0.98 })
  fails({ "group of row 1 (9)", "there are 0" }, p.interval, p, sc.matrix{ { 1, 9 } })
  fails({ "by", "columns 1 to 2" }, p.interval, p, at, { by = 3 })
  fails({ "column 'area'" }, p.interval, p, at, { by = "area" })
  fails({ "no", "groups" }, p.interval, p, at, { by = "groups" })
  fails({ "adapt goes with rolling" }, p.interval, p, at, { adapt = 0.1 })
  fails({ "data set with y" }, p.interval, p, at, { rolling = 5, adapt = 0.1 })
  fails({ "rolling or by" }, p.interval, p, at, { rolling = 5, by = 2 })
  fails({ "by groups (by = 2)" }, p.interval, p, at, { rolling = 5 })
  local plain = pipeline(20):fit(X, y, { interval = "loo" })
  fails({ "at least 9 rows", "are 5" }, plain.interval, plain, at, { rolling = 5 })
  -- rows of `calibration` judge by the groups of the fit
  local others = sc.dataset{ X = at, y = at:column(1), task = "regression" }
  local half = { level = 0.5, calibration = others }
  local low = p:interval(at, half)
  half.by = 2
  lu.assertTrue(low == p:interval(at, half) and low ~= plain:interval(at, { level = 0.5,
    calibration = others }))
  fails({ "goes with \"split\"" }, p.fit, p, X, y, { interval = { "loo", rolling = true } })
  fails({ "colour" }, p.fit, p, X, y, { interval = { "loo", colour = true } })
  fails({ "loo", "by, scale" }, p.fit, p, X, y, { interval = { "bootstrap" } })
  local k = sc.pipeline{ sc.solver.knn{ k = 3 } }
  fails({ "scale = \"std\"", "ridge" }, k.fit, k, X, y, { interval = { "split",
    scale = "std" } })
  support.in_folder(function(folder)
    local names = {}
    for f, list in pairs{ train = { "p", "q" }, new = { "q", "r" } } do
      names[f] = folder .. "/" .. f .. ".csv"
      local file <close> = io.open(names[f], "w")
      file:write("a,who,y\n")
      for i = 1, 40 do file:write(("%d,%s,%d.5\n"):format(i % 9, list[i % 2 + 1], i % 5)) end
    end
    local train = sc.data.csv(names.train, { target = "y", groups = "who" })
    local m = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(train,
      { interval = { "loo", by = "groups" } })
    m:interval(train)
    local texts = sc.dataset{ X = X, y = y, groups = (function()
      local list = {}
      for i = 1, n do list[i] = i < 4 and "few" or "many" end
      return list
    end)() }
    local t = pipeline(15):fit(texts, { interval = { "loo", by = "groups" } })
    fails({ "row 1 (few)", "are 3" }, t.interval, t, texts)
    local level = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(sc.data.csv(names.train,
      { target = "y" }), { interval = { "loo", by = "who" } })
    fails({ "(who=", "at least 99 rows" }, level.interval, level,
      sc.data.csv(names.train, { target = "y" }), { level = 0.99 })
    local new = sc.data.csv(names.new, { like = train })
    fails({ "numbered within it" }, m.interval, m, new)
  end)
end

os.exit(lu.LuaUnit.run(), true)
