-- Intervals and label sets: against fits without each row and each fold, coverage with its standard
-- error, saved models, and sentences.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"
local fails = support.fails

local function features(T)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.7 }, phi = sc.nonlinearity.fourier(),
    T = T, seed = 1 }
end

local function rows(n, seed)
  local X = sc.randn{ n, 2, seed = seed }
  return X, (X:column(1) * 2):map(math.sin) + sc.randn{ n, 1, seed = seed + 1000 } * 0.3
end

local n = 40
local X, y = rows(n, 1)
local at = sc.randn{ 9, 2, seed = 7 }

-- The bounds of Barber et al. 2021 from predictions without each row (m x n) and residuals (n).
local function bounds(said, sizes, level)
  local rank, low, high = math.ceil(level * (#sizes + 1) - 1e-9), {}, {}
  for i = 1, said:rows() do
    local a, b = {}, {}
    for j, size in ipairs(sizes) do
      a[j], b[j] = said:get(i, j) - size, said:get(i, j) + size
    end
    table.sort(a)
    table.sort(b)
    low[i], high[i] = { a[#sizes + 1 - rank] }, { b[rank] }
  end
  return sc.matrix(low), sc.matrix(high)
end

local function close(a, b, what)
  lu.assertTrue((a - b):abs():max() < 1e-6, ("%s: %.3g"):format(what, (a - b):abs():max()))
end

-- Jackknife+ by the formula is that of n fits without each row, in the primal and the dual form, of
-- rows with and without weights.
function TestLeaveOneOut()
  local heavy = sc.rand{ n, 1, seed = 5 } * 2
  for kind = 1, 4 do
    local T, weights = kind % 2 == 0 and 20 or 100, kind > 2 and heavy
    for _, intercept in ipairs{ true, false } do
      local lambda = 1e-2
      local ds = sc.dataset{ X = X, y = y, weights = weights or nil }
      local W = weights and weights:sum() or n
      local p = sc.pipeline{ features(T), sc.solver.ridge{ lambda = lambda,
        intercept = intercept } }:fit(ds, { interval = "loo" })
      local columns, sizes = {}, {}
      for i = 1, n do
        local rest = {}
        for k = 1, n do if k ~= i then rest[#rest + 1] = k end end
        local without = W - (weights and weights:get(i, 1) or 1)
        local one = sc.pipeline{ features(T), sc.solver.ridge{ lambda = lambda * W / without,
          intercept = intercept } }:fit(ds:select(rest))
        columns[i] = one:predict(at)
        sizes[i] = math.abs(y:get(i, 1) - one:predict(X:slice(i, i)):get(1, 1))
      end
      for _, level in ipairs{ 0.5, 0.9 } do
        local low, high = p:interval(at, { level = level })
        local a, b = bounds(sc.hcat(table.unpack(columns)), sizes, level)
        close(low, a, "low")
        close(high, b, "high")
      end
    end
  end
end

-- CV+ is that of fits without each fold.
function TestFolds()
  local rare = sc.hcat(X, sc.rand{ n, 1, seed = 9 }:map(function(u) return u < 0.1 and 1 or 0 end))
  local new = sc.hcat(at, sc.ones(9, 1))
  local ids = sc.dataset{ X = X, y = y }:fold_ids{ k = 10, seed = 0 }
  local staged = sc.pipeline{ sc.standardize() }:fit(rare)
  for _, case in ipairs{ { X, at, X, at },
    { rare, new, staged:transform(rare), staged:transform(new), sc.standardize() } } do
    local A, B, own, other, stage = table.unpack(case, 1, 5)
    local function pipeline(first)
      local rest = { features(30), sc.solver.ridge{ lambda = 1e-2 } }
      return sc.pipeline(first and { first, table.unpack(rest) } or rest)
    end
    local p = pipeline(stage):fit(A, y, { interval = "folds" })
    local columns, sizes = {}, {}
    for fold = 1, 10 do
      local rest, out = {}, {}
      for i = 1, n do table.insert(ids[i] == fold and out or rest, i) end
      -- new rows: by the stages of the fit; rows of the fold: by stages without it
      local said = pipeline():fit(own:select(rest), y:select(rest)):predict(other)
      local apart = pipeline(stage):fit(A:select(rest), y:select(rest))
      for _, i in ipairs(out) do
        columns[i] = said
        sizes[i] = math.abs(y:get(i, 1) - apart:predict(A:slice(i, i)):get(1, 1))
      end
    end
    local low, high = p:interval(B, { level = 0.8 })
    local a, b = bounds(sc.hcat(table.unpack(columns)), sizes, 0.8)
    close(low, a, "low")
    close(high, b, "high")
  end
end

-- Coverage over data sets of their own: not below the level by more than four standard errors of
-- the mean, and not far above it.
function TestCoverage()
  local level, sets = 0.8, 40
  for _, method in ipairs{ "loo", "folds", "split" } do
    local sum, square = 0, 0
    for s = 1, sets do
      local A, b = rows(100, 10 * s)
      local B, c = rows(200, 10 * s + 5)
      local p = sc.pipeline{ features(50), sc.solver.ridge{ lambda = 1e-2 } }
        :fit(A, b, { interval = method })
      local low, high = p:interval(B, { level = level })
      local inside = 0
      for i = 1, 200 do
        if low:get(i, 1) <= c:get(i, 1) and c:get(i, 1) <= high:get(i, 1) then
          inside = inside + 1
        end
      end
      sum, square = sum + inside / 200, square + (inside / 200) ^ 2
    end
    local mean = sum / sets
    local stderr = math.sqrt((square / sets - mean ^ 2) / (sets - 1))
    lu.assertTrue(mean > level - 4 * stderr, ("%s: %.3f +- %.3f"):format(method, mean, stderr))
    lu.assertTrue(mean < level + 0.08, ("%s: %.3f"):format(method, mean))
  end
end

local function classes(count, seed)
  local A, labels = sc.randn{ count, 2, seed = seed }, {}
  local noise = sc.randn{ count, 1, seed = seed + 500 }
  for i = 1, count do
    local v = A:get(i, 1) + noise:get(i, 1) * 0.5
    labels[i] = v < -0.8 and "low" or v < 0.8 and "middle" or "high"
  end
  return sc.dataset{ X = A, y = labels }
end

function TestLabelSets()
  local solvers = { sc.solver.logistic{ lambda = 1e-3 }, sc.solver.ridge{ lambda = 1e-3 } }
  for _, solver in ipairs(solvers) do
    for _, method in ipairs{ "folds", "split" } do
      for _, by in ipairs{ false, "class" } do
        local right, total, size = { low = 0, middle = 0, high = 0 }, {}, 0
        for s = 1, 6 do
          local p = sc.pipeline{ features(40), solver }:fit(classes(300, s), { interval = method })
          local test = classes(300, s + 100)
          local sets = p:label_sets(test, { level = 0.85, by = by or nil })
          for i, label in ipairs(test:labels()) do
            total[label] = (total[label] or 0) + 1
            size = size + #sets[i]
            for _, one in ipairs(sets[i]) do
              if one == label then right[label] = right[label] + 1 end
            end
          end
        end
        local all = (right.low + right.middle + right.high) / 1800
        lu.assertTrue(all > 0.85 - 0.04 and all < 0.96, all)
        lu.assertTrue(size / 1800 < 2, size)
        for label, count in pairs(by and total or {}) do
          lu.assertTrue(right[label] / count > 0.85 - 0.07, label)
        end
      end
    end
  end
end

-- Rows that the model did not learn from, for every kind of model.
function TestCalibration()
  local more, values = rows(60, 3)
  local calibration = sc.dataset{ X = more, y = values }
  local p = sc.pipeline{ sc.solver.knn{ k = 5 } }:fit(X, y)
  local low, high = p:interval(at, { level = 0.9, calibration = calibration })
  local sizes = {}
  for i = 1, 60 do sizes[i] = math.abs(values:get(i, 1) - p:predict(more):get(i, 1)) end
  table.sort(sizes)
  close(high - low, sc.ones(9, 1) * (2 * sizes[55]), "width") -- ceil(.9 * 61)
  fails({ "no weights", "split" }, p.interval, p, at)
  local logs = sc.pipeline{ features(20), sc.solver.ridge{ lambda = 1e-2 }, target = "log" }
    :fit(X, y + 10, { interval = "loo" })
  low, high = logs:interval(at)
  lu.assertTrue(low:min() > 0 and (high - low):min() > 0)
end

-- What changes the weights of a model drops its intervals; a calibration does not change label
-- sets.
function TestOtherWeightsHaveNoIntervals()
  local ds = classes(100, 1)
  local c = sc.pipeline{ features(20), sc.solver.logistic{ lambda = 1e-2 } }
    :fit(ds, { interval = "folds" })
  local sets = c:label_sets(at, { level = 0.7 })
  lu.assertEquals(c:calibrate{ folds = 3 }:label_sets(at, { level = 0.7 }), sets)
  local p = sc.pipeline{ features(20), sc.solver.ridge{ lambda = 1e-2 } }
    :fit(X, y, { interval = "folds" })
  local drawn = p:draw{ seed = 1 }
  fails({ "keeps nothing" }, drawn.interval, drawn, at)
  local K = sc.features{ p = sc.sampler.gaussian{ sigma = 0.7 }, phi = sc.nonlinearity.fourier(),
    K = sc.kernel.gaussian{ width = 1 }, T = 30, seed = 1 }
  local pruned = sc.pipeline{ K, sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }
    :fit(X, y, { interval = "folds" }):prune{ epsilon = 0.5 }
  lu.assertTrue(pruned.fitted.weights:rows() < 30)
  lu.assertNil(pruned.fitted.interval)
  fails({ "pruned" }, pruned.predict, pruned, at, { std = true })
  support.in_folder(function(folder)
    local whole = sc.pipeline{ sc.features{ T = 20, dtype = "int16" },
      sc.solver.ridge{ lambda = 1e-2 } }
    whole:fit(sc.dataset{ X = X:slice(1, 30), y = y:slice(1, 30) }, { sums = true,
      interval = "folds" }):save(folder .. "/m.safetensors", { sums = true })
    local loaded = sc.load(folder .. "/m.safetensors")
    loaded:interval(at)
    loaded:update(sc.dataset{ X = X:slice(31, n), y = y:slice(31, n) })
    fails({ "keeps nothing" }, loaded.interval, loaded, at)
  end)
end

-- Of scores that are logarithms of means, residuals and bounds are those of the means.
function TestMeans()
  local counts = y:map(function(v) return math.floor(math.exp(v) + 0.5) end)
  local p = sc.pipeline{ features(10), sc.solver.erm{ loss = sc.loss.poisson{}, lambda = 1e-2 } }
  local whole = sc.dataset{ X = X, y = counts, task = "regression" }
  local part, rest = whole:split{ test = 0.25, seed = 0 }
  p:fit(whole, { interval = "split" })
  local sizes, said = {}, p:predict(rest)
  for i = 1, #rest do sizes[i] = math.abs(rest.y:get(i, 1) - said:get(i, 1)) end
  table.sort(sizes)
  local low, high = p:interval(at, { level = 0.8 })
  close(high - p:predict(at), sc.ones(9, 1) * sizes[9], "high") -- ceil(.8 * 11)
  close(p:predict(at) - low, sc.ones(9, 1) * sizes[9], "low")
  lu.assertEquals(p.fitted.n, #part)
end

function TestSavedIntervals()
  support.in_folder(function(folder)
    local path = folder .. "/m.safetensors"
    for _, method in ipairs{ "loo", "folds", "split" } do
      local p = sc.pipeline{ features(20), sc.solver.ridge{ lambda = 1e-2 } }
        :fit(X, y, { interval = method })
      p:save(path)
      local loaded = sc.load(path)
      local low, high = loaded:interval(at, { level = 0.7 })
      local a, b = p:interval(at, { level = 0.7 })
      lu.assertTrue(low == a and high == b, method)
      lu.assertStrContains(tostring(loaded), ('intervals by "%s"'):format(method))
    end
    local c = sc.pipeline{ features(20), sc.solver.logistic{ lambda = 1e-2 } }
      :fit(classes(100, 1), { interval = "folds" })
    c:save(path)
    lu.assertEquals(sc.load(path):label_sets(at), c:label_sets(at))
  end)
end

-- The command writes the numbers of the methods, in blocks.
function TestTheCommand()
  support.in_folder(function(folder)
    local path, csv = folder .. "/m.safetensors", folder .. "/rows.csv"
    local p = sc.pipeline{ features(20), sc.solver.ridge{ lambda = 1e-2 } }
      :fit(X, sc.hcat(y, y * 2), { interval = "loo" })
    p:save(path)
    at:save(csv)
    local function predict(given)
      local status, out, err = support.shell(("%s predict %s %s %s"):format(
        support.quote(support.binary), path, csv, given))
      return out, status, err
    end
    local low, high = p:interval(at, { level = 0.8 })
    local mean, std = p:predict(at, { std = true })
    for given, want in pairs{ ["--interval 0.8"] = sc.hcat(mean, low, high),
      ["--std"] = sc.hcat(mean, std),
      ["--interval 0.8 --std"] = sc.hcat(mean, std, low, high) } do
      local lines, out = {}, predict(given)
      for line in out:gmatch "[^\n]+" do lines[#lines + 1] = line end
      lu.assertEquals(lines[1], "prediction_1,prediction_2"
        .. (given:find "std" and ",std_1,std_2" or "")
        .. (given:find "interval" and ",low_1,low_2,high_1,high_2" or ""))
      for i = 1, 9 do
        local j = 0
        for word in lines[i + 1]:gmatch "[^,]+" do
          j = j + 1
          lu.assertEquals(tonumber(word), want:get(i, j))
        end
        lu.assertEquals(j, want:cols())
      end
    end
    for given, words in pairs{ ["--interval 2"] = "between 0 and 1",
      ["--std --scores"] = "--scores", ["--label-sets 0.9 --std"] = "give one of them",
      ["--interval 0.99"] = "at least 99 rows" } do
      local _, status, err = predict(given)
      lu.assertEquals(status, 1)
      lu.assertStrContains(err, words)
    end
    sc.pipeline{ features(20), sc.solver.ridge{ lambda = 1e-2 } }:fit(X, y):save(path)
    for given, words in pairs{ ["--interval 0.9"] = "keeps nothing", ["--std"] = "std = true" } do
      local _, status, err = predict(given)
      lu.assertEquals(status, 1)
      lu.assertStrContains(err, words)
    end
  end)
end

-- The sets of labels, a column for each class.
function TestTheCommandOfLabelSets()
  support.in_folder(function(folder)
    local path, csv, train = folder .. "/m.safetensors", folder .. "/rows.csv", {}
    for i = 1, X:rows() do train[i] = y:get(i, 1) > 0 and "up" or "down" end
    local p = sc.pipeline{ features(20), sc.solver.ridge{ lambda = 1e-2 } }
      :fit(X, train, { interval = "folds" })
    p:save(path)
    at:save(csv)
    local status, out = support.scullery(("predict %s %s --label-sets 0.8"):format(path, csv))
    local text = "down,up\n"
    for _, set in ipairs(p:label_sets(at, { level = 0.8 })) do
      local has = {}
      for _, label in ipairs(set) do has[label] = true end
      text = text .. ("%d,%d\n"):format(has.down and 1 or 0, has.up and 1 or 0)
    end
    lu.assertEquals({ status, out }, { 0, text })
    for given, words in pairs{ ["--label-sets 1"] = "between 0 and 1",
      ["--interval 0.9"] = "--label-sets", ["--label-sets 0.9 --proba"] = "--proba" } do
      local _, _, err = support.scullery(("predict %s %s %s"):format(path, csv, given))
      lu.assertStrContains(err, words)
    end
  end)
end

function TestSentences()
  local p = sc.pipeline{ features(20), sc.solver.ridge{ lambda = 1e-2 } }:fit(X, y,
    { interval = "split" })
  lu.assertEquals(p.fitted.n, 30)
  fails({ "level 0.95 takes at least 19 rows", "10" }, p.interval, p, at, { level = 0.95 })
  fails({ "level" }, p.interval, p, at, { level = 1 })
  fails({ "level" }, p.interval, p, at, { level = 0 })
  fails({ "p:interval" }, p.label_sets, p, at)
  fails({ "method or calibration" }, p.interval, p, at, { method = "folds",
    calibration = sc.dataset{ X = X, y = y } })
  local c = sc.pipeline{ features(20), sc.solver.logistic{ lambda = 1e-2 } }
  fails({ "loo", "regressions" }, c.fit, c, classes(60, 1), { interval = "loo" })
  c:fit(classes(60, 1))
  fails({ "p:label_sets" }, c.interval, c, at)
  fails({ "ridge" }, p.clone(p).fit, sc.pipeline{ features(9), sc.solver.lasso{ lambda = 1e-2 } },
    X, y, { interval = "loo" })
  local w = sc.pipeline{ features(20), sc.solver.ridge{ lambda = 1e-2 } }
  fails({ "interval", "folds" }, w.fit, w, X, y, { interval = "bootstrap" })
  -- before anything is learnt
  local stream = sc.data.rows{ n = n, d = 2, task = "regression", read = function(first, count)
    return X:slice(first, first + count - 1), y:slice(first, first + count - 1)
  end }
  w = sc.pipeline{ features(20), sc.solver.ridge{ lambda = 1e-2 } }
  fails({ "streams", "calibration" }, w.fit, w, stream, { interval = "folds" })
  lu.assertNil(w.fitted)
  w:fit(X, y)
  local held = sc.dataset{ X = X, y = y }
  for _, method in ipairs{ "interval", "predict" } do
    local function last(from)
      return select(2, w[method](w, at, method == "interval" and { calibration = from }
        or { std = true, noise = from }))
    end
    close(last(stream), last(held), "rows that stream: " .. method)
  end
  support.in_folder(function(folder)
    local path = folder .. "/m.safetensors"
    w:save(path)
    local loaded = sc.load(path)
    fails({ "keeps nothing", "calibration = ds" }, loaded.interval, loaded, at)
  end)
end

os.exit(lu.LuaUnit.run(), true)
