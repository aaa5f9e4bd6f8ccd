-- sc.relevance(): the scale of each column, learnt from the targets.
local lu = require "luaunit"
local sc = require "scullery"

local path = os.tmpname()

local function friedman(n, d, seed)
  local ds = sc.data.friedman1{ rows = n, cols = d, noise = 0, seed = seed }
  return ds.X, ds.y, ds.y + sc.randn{ n, 1, seed = seed + 1000 }
end

local function regression(X, y) return sc.dataset{ X = X, y = y, task = "regression" } end

local function fourier(stage, T, gamma)
  return sc.pipeline{ stage,
    sc.features{ p = sc.sampler.gaussian{ gamma = gamma or "median" },
      phi = sc.nonlinearity.fourier(), T = T, seed = 1 },
    sc.solver.ridge{ lambda = 1e-4, intercept = true } }
end

local function distance(p, X, truth)
  local gap = p:predict(X) - truth
  return math.sqrt(gap:mul(gap):mean())
end

local function fails(texts, f, ...)
  local ok, message = pcall(f, ...)
  lu.assertFalse(ok)
  for _, text in ipairs(texts) do lu.assertStrContains(message, text) end
end

-- Friedman's function of 5 columns with 45 idle ones.
function TestFewOfManyColumns()
  local X, _, y = friedman(2000, 50, 0)
  local test, truth = friedman(2000, 50, 5)
  local right = fourier(sc.standardize(), 500):fit(regression(X:slice(1, 2000, 1, 5), y))
  local p = fourier(sc.relevance(), 500):fit(regression(X, y))
  local error = distance(p, test, truth)
  lu.assertTrue(error <= 1.2 * distance(right, test:slice(1, 2000, 1, 5), truth))
  local list, idle = p:info().relevance, 0
  lu.assertEquals(#list, 50)
  lu.assertEquals(list[1].relevance, 1)
  local first = {}
  for k, one in ipairs(list) do
    if k <= 5 then first[k] = one.column end
    if one.relevance == 0 then idle = idle + 1 end
  end
  table.sort(first)
  lu.assertEquals(first, { "x1", "x2", "x3", "x4", "x5" })
  lu.assertTrue(idle >= 40)
  lu.assertStrContains(tostring(p), ("%d of 50 columns have none"):format(idle))
  -- a column without relevance does not change a prediction
  local changed = test:slice(1, 5, 1, 50):copy()
  for i = 1, 5 do changed:set(i, tonumber(list[50].column:sub(2)), 7) end
  lu.assertEquals(p:predict(changed), p:predict(test:slice(1, 5, 1, 50)))
  p:save(path)
  local loaded = sc.load(path)
  lu.assertEquals(loaded:predict(test), p:predict(test))
  lu.assertEquals(loaded:info().relevance, list)
  lu.assertEquals(tostring(loaded), tostring(p))
end

local function small(n, seed)
  local X = sc.randn{ n, 6, seed = seed }
  return regression(X, X:column(2):map(math.sin) + sc.randn{ n, 1, seed = seed + 50 } * 0.3)
end

-- No fold takes part in what is learnt before it is judged.
function TestFoldsAreLeftOut()
  local ds = small(90, 1)
  local p = fourier(sc.relevance(), 20, 0.5)
  local cv = p:cv(ds, { folds = 3, seed = 4 })
  local ids = ds:fold_ids{ folds = 3, seed = 4 }
  for f = 1, 3 do
    local inside, outside = {}, {}
    for i, fold in ipairs(ids) do table.insert(fold == f and outside or inside, i) end
    local test = ds:select(outside)
    lu.assertAlmostEquals(cv.folds[f],
      fourier(sc.relevance(), 20, 0.5):fit(ds:select(inside)):score(test), 1e-9)
  end
  local best = sc.pipeline{ sc.choose{ sc.standardize(), sc.relevance() }, p.features,
    sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 }, intercept = true } }
  for _, cell in ipairs(best:search(ds, { folds = 3, seed = 4, score = "r2" }).table) do
    if tostring(cell.choice["stage 1"]):find("relevance", 1, true)
      and cell.choice["solver.lambda"] == 1e-4 then
      lu.assertAlmostEquals(cell.mean, cv.mean, 1e-9)
    end
  end
  fails({ "loo", "sc.relevance", "folds = k" }, best.search, best, ds, { folds = "loo" })
end

function TestOptionsAreChosen()
  local ds, test = small(200, 2), small(200, 3)
  local p = sc.pipeline{ sc.relevance(), sc.features{ p = sc.sampler.gaussian{},
    phi = sc.nonlinearity.fourier(), T = 100, seed = 1 }, sc.solver.ridge{} }:fit(ds)
  lu.assertStrContains(p:info().chosen, "times the median rule")
  lu.assertTrue(p:score(test) > 0.7)
end

function TestClasses()
  local X, y = sc.randn{ 400, 8, seed = 3 }, {}
  for i = 1, 400 do
    y[i] = X:get(i, 3) ^ 2 + X:get(i, 7) ^ 2 < 1.4 and "in" or X:get(i, 3) > 0 and "right" or "left"
  end
  local p = fourier(sc.relevance(), 50):fit(sc.dataset{ X = X, y = y })
  local list = p:info().relevance
  local two = { list[1].column, list[2].column }
  table.sort(two)
  lu.assertEquals(two, { "x3", "x7" })
  lu.assertTrue(list[2].relevance > 3 * list[3].relevance)
end

-- Neither the order of rows nor copies of all rows change what is learnt.
function TestTheRowsAlone()
  local ds, turned, twice = small(100, 5), {}, {}
  for i = 1, 100 do turned[i] = 101 - i end
  for i = 1, 200 do twice[i] = (i - 1) % 100 + 1 end
  local function learnt(rows)
    return sc.pipeline{ sc.relevance() }:fit(rows):info().relevance
  end
  local wanted = learnt(ds)
  for _, rows in ipairs{ ds:select(turned), ds:select(twice) } do
    for k, one in ipairs(learnt(rows)) do
      lu.assertEquals(one.column, wanted[k].column)
      lu.assertAlmostEquals(one.relevance, wanted[k].relevance, 1e-6)
    end
  end
end

-- A row of weight 2 counts as two rows, one of weight 0 as none, and a factor changes nothing.
function TestWeights()
  local ds, repeated, weights = small(150, 6), {}, {}
  for i = 1, 150 do
    weights[i] = 0.375 * (i % 3)
    for _ = 1, i % 3 do repeated[#repeated + 1] = i end
    if i % 3 == 0 then -- another function of other columns, of another scale
      ds.X:set(i, 5, 10 * ds.X:get(i, 5))
      ds.y:set(i, 1, 100 * math.cos(ds.X:get(i, 4)))
    end
  end
  local many = regression(ds.X:select(repeated), ds.y:select(repeated))
  local weighted = sc.dataset{ X = ds.X, y = ds.y, weights = weights, task = "regression" }
  local chooses = sc.pipeline{ sc.relevance(), sc.features{ T = 20 }, sc.solver.ridge{} }
  for _, p in ipairs{ sc.pipeline{ sc.relevance() }, chooses } do
    p:fit(many)
    local relevance, rows, chosen = p:info().relevance, p:transform(ds.X), p:info().chosen
    p:fit(weighted)
    for j, one in ipairs(p:info().relevance) do
      lu.assertEquals(one.column, relevance[j].column)
      lu.assertAlmostEquals(one.relevance, relevance[j].relevance, 1e-9)
    end
    lu.assertTrue((p:transform(ds.X) - rows):abs():max() < 1e-9)
    lu.assertEquals(p:info().chosen and p:info().chosen:gsub(" of %d+ rows", ""),
      chosen and chosen:gsub(" of %d+ rows", ""))
  end
  local list = chooses:info().relevance
  lu.assertEquals(list[1].column, "x2")
  lu.assertTrue(list[2].relevance < 0.5)
end

-- Weights of classes are weights of their rows.
function TestClassWeights()
  local X, y, weights = sc.randn{ 200, 4, seed = 8 }, {}, {}
  for i = 1, 200 do
    y[i] = X:get(i, 1) > 1 and "few" or "many"
    weights[i] = y[i] == "few" and 5 or 1
  end
  local function learnt(given, by_class)
    return sc.pipeline{ sc.relevance(), sc.solver.ridge{ lambda = 1e-3 },
      class_weights = by_class }:fit(sc.dataset{ X = X, y = y, weights = given }):transform(X)
  end
  local wanted = learnt(weights)
  lu.assertEquals(learnt(nil, { few = 5 }), wanted)
  lu.assertTrue((learnt(nil) - wanted):abs():max() > 1e-3)
end

function TestWhatItRefuses()
  local p = fourier(sc.relevance(), 20)
  fails({ "relevance", "at least 10 distinct rows", "got 5" }, p.fit, p, small(5, 1))
  local wide = regression(sc.randn{ 20, 1001, seed = 1 }, sc.randn{ 20, 1, seed = 2 })
  fails({ "relevance", "up to 1000 columns", "1001", "sc.pca" }, p.fit, p, wide)
  local alone = sc.pipeline{ sc.relevance() }
  fails({ "relevance", "learns from targets" }, alone.fit, alone, sc.randn{ 20, 2, seed = 1 })
  fails({ "relevance", "seed" }, sc.relevance, { seeds = 1 })
end

-- Columns and targets that do not vary.
function TestConstants()
  local X = sc.hcat(sc.ones(30, 1) * 3, sc.randn{ 30, 2, seed = 1 })
  local p = fourier(sc.relevance(), 20, 1):fit(regression(X, X:column(2):copy()))
  for _, one in ipairs(p:info().relevance) do
    if one.column == "x1" then lu.assertEquals(one.relevance, 0) end
  end
  local flat = fourier(sc.relevance(), 20, 1):fit(regression(X, sc.ones(30, 1)))
  lu.assertAlmostEquals(flat:predict(X):get(1, 1), 1, 1e-6)
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status, true)
