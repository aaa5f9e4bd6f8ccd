-- Sums over rows: parts in any order, rows added and taken out, saved and loaded, streams, folds:
-- always the bits of one fit to the rows that are there, and a sentence for what does not belong.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local core = require "scullery.core"
local support = require "support"

local n, d = 1500, 4
local X = sc.randn{ n, d, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + X:column(2) + sc.randn{ n, 1, seed = 2 } * 0.3
local data = sc.dataset{ X = X, y = y }

-- A data set of k classes named by texts.
local function classes(k, rows)
  local labels = {}
  for i = 1, rows or n do
    labels[i] = ("class %d"):format(math.floor(math.abs(X:get(i, 1) + X:get(i, 2)) * 1.7) % k)
  end
  return sc.dataset{ X = X:slice(1, rows or n), y = labels }
end

local function pipeline(given)
  given = given or {}
  local stages = given.stages or {}
  stages[#stages + 1] = sc.features{ p = sc.sampler.gaussian{ sigma = given.sigma or 0.5 },
    phi = given.phi or sc.nonlinearity.fourier(), T = given.T or 60, seed = 1,
    dtype = given.dtype or "int16" }
  stages[#stages + 1] = given.solver or sc.solver.ridge{ lambda = 1e-4 }
  stages.class_weights, stages.target = given.class_weights, given.target
  return sc.pipeline(stages)
end

-- The sums of the parts 1 .. count.
local function parts(p, ds, count)
  local list = {}
  for i = 1, count do list[i] = p:sums(ds, { part = { i, count } }) end
  return list
end

local function shuffled(list)
  local out = {}
  for i = #list, 1, -1 do table.insert(out, i % 2 + 1 <= #out and i % 2 + 1 or 1, list[i]) end
  return out
end

local fails = support.fails

-- ------------ parts

local recipes = {
  { "cosines", {} },
  { "signs", { phi = sc.nonlinearity.sign() } },
  { "8 bits", { dtype = "int8" } },
  { "learnt ranges", { phi = sc.nonlinearity.relu() } },
  { "row stages", { stages = { sc.standardize(), sc.normalize() } } },
  { "transformed targets", { target = "standardize" } },
  { "lasso", { solver = sc.solver.lasso{ lambda = 1e-3 } } },
  { "box", { solver = sc.solver.box{ C = 30 } } },
  { "signs as floats", { phi = sc.nonlinearity.sign(), dtype = "float64" } },
}

function TestPartsInAnyOrderAreOneFit()
  for _, one in ipairs(recipes) do
    local name, given = one[1], one[2]
    local function fresh()
      local copy = {}
      for key, value in pairs(given) do copy[key] = value end
      copy.stages = given.stages and table.move(given.stages, 1, #given.stages, 1, {})
      return pipeline(copy)
    end
    local want = fresh():fit(data, { sums = true }):predict(X)
    local joined = sc.merge(shuffled(parts(fresh(), data, 4)))
    lu.assertEquals(joined.rows, n)
    lu.assertTrue(joined:solve():predict(X) == want, name)
  end
end

-- Float features: the same bits for parts that are cut at blocks, also where means are subtracted.
function TestPartsOfFloatFeatures()
  local rows = 4200
  local Z = sc.randn{ rows, 3, seed = 4 }
  for _, offset in ipairs{ 0, 1e5 } do
    local ds = sc.dataset{ X = Z, y = (Z:column(1) * 2):map(math.sin) + Z:column(2) + offset }
    for _, dtype in ipairs{ "float64", "float32" } do
      for _, phi in ipairs{ sc.nonlinearity.fourier(), sc.nonlinearity.relu() } do
        local p = pipeline{ dtype = dtype, phi = phi }
        local want = p:clone():fit(ds, { sums = true })
        lu.assertEquals(want:info().exact, "blocks")
        lu.assertTrue(sc.merge(shuffled(parts(p, ds, 2))):solve():predict(Z) == want:predict(Z))
        local m = p:clone():fit(ds:subset(1, 4096), { sums = true })
        lu.assertTrue(m:update(ds:subset(4097, rows)):predict(Z) == want:predict(Z))
        local folded = p:sums(ds, { folds = 3 }):search{ lambda = { 1e-5, 1e-2 } }
        local searched = pipeline{ dtype = dtype, phi = phi, solver = sc.solver.ridge{
          lambda = sc.choose{ 1e-5, 1e-2 } } }:search(ds, { folds = 3 })
        for k, row in ipairs(folded.table) do
          lu.assertAlmostEquals(row.mean, searched.table[k].mean, 1e-4 * row.mean)
        end
      end
    end
  end
  local p = pipeline{ dtype = "float64" }
  fails({ "rows 2 to 4000", "int16" }, p.sums, p, sc.dataset{ X = Z, y = Z:column(1) },
    { rows = { 2, 4000 } })
end

-- Updates of float features continue the block that is not full: the bits of one fit, whatever the
-- sizes of the updates, also after saving, merging and streams, with weights and classes.
function TestUpdatesOfFloatFeaturesContinueTheBlock()
  local rows = 7000
  local Z = sc.randn{ rows, 3, seed = 5 }
  local label, weights = {}, {}
  for i = 1, rows do
    label[i] = ("class %d"):format((math.floor(Z:get(i, 1) * 3) + i % 2) % 3)
    weights[i] = 0.5 + i % 7
  end
  local cases = { sc.dataset{ X = Z, y = Z:column(1) + 1e4, weights = weights },
    sc.dataset{ X = Z, y = label } }
  support.in_folder(function(folder)
    local path = folder .. "/model.safetensors"
    for _, ds in ipairs(cases) do
      for _, dtype in ipairs{ "float64", "float32" } do
        local p = pipeline{ dtype = dtype, class_weights = ds.classes and { ["class 1"] = 3 } }
        local want = p:clone():fit(ds, { sums = true }):decision(Z)
        local m = p:clone():fit(ds:subset(1, 2500), { sums = true })
        lu.assertStrContains(tostring(m.sums_kept), "452 of them kept")
        m:update(ds:subset(2501, 2503)):update(ds:subset(2504, 4096))
        m:save(path, { sums = true })
        m = sc.load(path):update(ds:subset(4097, 4100))
        m:save(path, { sums = true })
        m = sc.load(path):update(ds:subset(4101, rows), { every = 997 })
        lu.assertTrue(m:decision(Z) == want)
        -- the last rows leave at a block, and come again
        m:forget(ds:subset(6145, rows))
        lu.assertTrue(m:decision(Z)
          == p:clone():fit(ds:subset(1, 6144), { sums = true }):decision(Z))
        lu.assertTrue(m:update(ds:subset(6145, rows)):decision(Z) == want)
        -- blocks in the middle leave
        local rest = {}
        for i = 1, rows do if i <= 2048 or i > 4096 then rest[#rest + 1] = i end end
        lu.assertTrue(p:clone():fit(ds, { sums = true }):forget(ds:subset(2049, 4096)):decision(Z)
          == p:clone():fit(ds:select(rest), { sums = true }):decision(Z))
        -- parts of which the last has the open block
        local some = ds:subset(1, 5000)
        local joined = sc.merge{ p:sums(some, { rows = { 2049, 5000 } }),
          p:sums(some, { rows = { 1, 2048 } }) }:solve()
        lu.assertTrue(joined:update(ds:subset(5001, rows)):decision(Z) == want)
        fails({ "NaN", "row 2," }, m.update, m, sc.dataset{ X = Z:slice(1, 2):copy():set(2, 2,
          0 / 0), y = ds.classes and { "class 1", "class 0" } or ds.y:slice(1, 2),
          task = ds.task })
        lu.assertTrue(m:decision(Z) == want)
      end
    end
    local csv, lines = folder .. "/rows.csv", {}
    for i = 1, rows do
      lines[i] = ("%.17g,%.17g,%.17g,%s"):format(Z:get(i, 1), Z:get(i, 2), Z:get(i, 3), label[i])
    end
    local function write(name, first, last)
      support.write(name, "a,b,c,label\n" .. table.concat(lines, "\n", first, last) .. "\n")
      return sc.data.csv(name, { stream = true, quiet = true })
    end
    local want = pipeline{ dtype = "float64" }:fit(write(csv, 1, rows), { sums = true })
    local m = pipeline{ dtype = "float64" }:fit(write(csv, 1, 2900), { sums = true })
    m:update(write(folder .. "/more.csv", 2901, rows))
    lu.assertTrue(m:decision(Z) == want:decision(Z))
  end)
end

function TestClassesAndWeightsOfClasses()
  for _, k in ipairs{ 2, 5 } do
    local ds = classes(k)
    for _, weights in ipairs{ false, { ["class 1"] = 3, ["class 0"] = 0.7 } } do
      local p = pipeline{ class_weights = weights or nil, solver = sc.solver.ridge{ lambda = 1e-3,
        intercept = k == 2 } }
      local want = p:clone():fit(ds, { sums = true })
      local got = sc.merge(shuffled(parts(p, ds, 4))):solve()
      lu.assertTrue(got:decision(X) == want:decision(X))
      lu.assertEquals(got:labels(X), want:labels(X))
      lu.assertEquals(got.classes, ds.classes)
    end
  end
end

function TestSumsOfOtherDataJoin()
  local a, b = data:subset(1, 700), data:subset(701, n)
  local got = sc.merge{ pipeline():sums(b), sc.merge(parts(pipeline(), a, 2)) }
  lu.assertTrue(got:solve():predict(X) == pipeline():fit(data, { sums = true }):predict(X))
  lu.assertEquals(#got.parts, 2)
  -- rows that came before, in another data set
  local few = pipeline():sums(a:select{ 9, 4, 9 })
  lu.assertEquals(sc.merge{ got, few }.rows, n + 3) -- row 9 is there once only
  fails({ "all 2 rows of element 2", "again = true" }, sc.merge,
    { got, pipeline():sums(a:select{ 9, 4 }) })
  lu.assertEquals(sc.merge({ got, pipeline():sums(a:select{ 9, 4 }) }, { again = true }).rows,
    n + 2)
end

function TestPartsAreChecked()
  local p = pipeline()
  local one, two, three = table.unpack(parts(p, data, 3))
  fails({ "come twice", "element 1", "element 2" }, sc.merge, { one, one })
  fails({ "differ in the number type: int16 and int8" }, sc.merge,
    { one, pipeline{ dtype = "int8" }:sums(data, { part = { 1, 3 } }) })
  fails({ "rows 501 to 1000 of 1500 are missing", "partial = true" }, sc.merge, { one, three })
  fails({ "rows 400 to 500 of 1500 come twice" }, sc.merge,
    { p:sums(data, { rows = { 1, 500 } }), p:sums(data, { rows = { 400, n } }) })
  local partial = sc.merge({ one, three }, { partial = true })
  lu.assertEquals({ partial.rows, partial.partial }, { 1000, true })
  lu.assertStrContains(tostring(partial), "parts of the data are missing")
  local whole = sc.merge{ partial, two }
  lu.assertEquals({ whole.rows, whole.partial, #whole.parts }, { n, nil, 1 })
  fails({ "takes part or rows" }, p.sums, p, data, { part = { 1, 2 }, rows = { 1, 2 } })
  fails({ "part i of n" }, p.sums, p, data, { part = { 3, 2 } })
  fails({ "part i of n" }, p.sums, p, data, { part = 3 })
  fails({ "has no rows" }, p.sums, p, data:subset(1, 3), { part = { 1, 5 } })
  fails({ "1501" }, p.sums, p, data, { rows = { 2, 1501 } })
  fails({ "takes a list" }, sc.merge, {})
  fails({ "element 1", "7" }, sc.merge, { 7 })
end

function TestOtherSumsAreRefused()
  local one = pipeline():sums(data, { rows = { 1, 700 } })
  local rest = { rows = { 701, n } }
  local function differs(word, other) fails({ "differ in", word }, sc.merge, { one, other }) end
  differs("number type: int16 and int8", pipeline{ dtype = "int8" }:sums(data, rest))
  differs("the features", pipeline{ T = 61 }:sums(data, rest))
  differs("the features", pipeline{ sigma = 0.6 }:sums(data, rest))
  differs("the features", pipeline{ phi = sc.nonlinearity.sign() }:sums(data, rest))
  differs("row stages", pipeline{ stages = { sc.standardize() } }:sums(data, rest))
  differs("the task", pipeline():sums(classes(2), rest))
  differs("number of targets", pipeline():sums(sc.dataset{ X = X, y = sc.hcat(y, y) }, rest))
  differs("number of columns", pipeline():sums(sc.dataset{ X = X:slice(1, n, 1, 3), y = y }, rest))
  differs("transformed", pipeline{ target = "standardize" }:sums(data, rest))
  local two, three = pipeline():sums(classes(2), rest), pipeline():sums(classes(3), rest)
  fails({ "the classes: class 0, class 1, and class 0, class 1, class 2" }, sc.merge,
    { two, three })
  local named = sc.dataset{ X = X, y = y, names = { "a", "b", "c", "d" } }
  differs("names of the columns", pipeline():sums(named, rest))
  -- ranges and stages that other rows have taught
  local relu = pipeline{ phi = sc.nonlinearity.relu() }
  fails({ "ranges of the features" }, sc.merge, { relu:sums(data:subset(1, 700)),
    relu:sums(data:subset(701, n)) })
  local scaled = pipeline{ stages = { sc.standardize() } }
  fails({ "learnt from their rows" }, sc.merge, { scaled:sums(data:subset(1, 700)),
    scaled:sums(data:subset(701, n)) })
end

function TestWhatCannotBeSummed()
  local function refused(words, p, ds)
    fails(words, p.sums, p, ds or data)
    fails(words, p.fit, p, ds or data, { sums = true })
  end
  refused({ "cg", "needs the rows", "ridge" }, pipeline{ solver = sc.solver.cg{ lambda = 1 } })
  refused({ "needs the rows" }, pipeline{ solver = sc.solver.ridge{ form = "dual" } })
  refused({ "sc.choose" }, pipeline{ solver = sc.solver.ridge{ lambda = sc.choose{ 1, 2 } } })
  refused({ "balanced" }, pipeline{ class_weights = "balanced" }, classes(2))
  refused({ "no solver" }, sc.pipeline{ sc.standardize() })
  refused({ "sums need features" }, sc.pipeline{ sc.solver.ridge{ lambda = 1 } })
  local floats = pipeline{ dtype = "float64" }
  if floats:fit(data):info().exact == nil then refused({ "not exact" }, floats) end
end

-- ------------ rows added and taken out

-- Rows of the data set but every third of those up to `last`, and these.
local function thirds(last)
  local kept, out = {}, {}
  for i = 1, n do table.insert(i <= last and i % 3 == 0 and out or kept, i) end
  return kept, out
end

function TestUpdatesAndForgettingInAnyOrder()
  local kept, out = thirds(900)
  for _, given in ipairs{ {}, { phi = sc.nonlinearity.sign() }, { dtype = "int8" },
    { solver = sc.solver.lasso{ lambda = 1e-3 } } } do
    for _, ds in ipairs{ data, classes(2), classes(4) } do
      local want = pipeline(given):fit(ds:select(kept), { sums = true }):decision(X)
      local p = pipeline(given):fit(ds:subset(1, 1000), { sums = true })
      p:update(ds:subset(1001, 1001)):forget(ds:select(out)):update(ds:subset(1002, n))
      lu.assertTrue(p:decision(X) == want)
      p:update(ds:select(out))
      lu.assertTrue(p:decision(X) == pipeline(given):fit(ds, { sums = true }):decision(X))
      lu.assertEquals({ p.fitted.n, p.sums_kept.rows, p.sums_kept.forgotten }, { n, n, #out })
    end
  end
end

function TestRefusedChangesLeaveTheModelAsItWas()
  local ds = classes(3)
  local p = pipeline():fit(ds:subset(1, 1000), { sums = true })
  local before, text = p:decision(X), tostring(p.sums_kept)
  local function refused(words, f, ...)
    fails(words, f, p, ...)
    lu.assertTrue(p:decision(X) == before)
    lu.assertEquals(tostring(p.sums_kept), text)
  end
  refused({ "2 of the 3 rows are not among" }, p.forget, ds:select{ 7, 1001, 1002 })
  refused({ "1 of the 2 rows are not" }, p.forget, ds:select{ 7, 7 })
  refused({ "none would be left" }, p.forget, ds:subset(1, 1000))
  refused({ "all 10 rows are in the model already", "again" }, p.update, ds:subset(11, 20))
  refused({ "1 row has a class", "strange" }, p.update, sc.dataset{ X = X:slice(1, 2),
    y = { "class 0", "strange" } })
  refused({ "a data set for a regression" }, p.update, data)
  refused({ "3 columns" }, p.update, sc.dataset{ X = X:slice(1, n, 1, 3), y = ds:labels() })
  local bad = X:slice(1, 3):copy()
  bad:set(2, 2, 0 / 0)
  refused({ "NaN", "row 2" }, p.update, sc.dataset{ X = bad, y = { "class 0", "class 1",
    "class 0" } })
  refused({ "unknown option 'agian'" }, p.update, ds, { agian = true })
  p:update(ds:subset(11, 20), { again = true })
  lu.assertEquals(p.fitted.n, 1010)
  local again = p:decision(X)
  lu.assertFalse(again == before)
  lu.assertTrue(p:forget(ds:subset(11, 20)):decision(X) == before)
  fails({ "keeps no sums" }, pipeline().update, pipeline():fit(ds), ds)
  fails({ "not fitted" }, pipeline().forget, pipeline(), ds)
end

-- What cannot be read again is not saved: the sum of squares of the targets has to be a number.
function TestTotalsNearOverflow()
  local words = { "the sum of squares of target 1 is too large" }
  local first, rest = data:subset(1, 1000), data:subset(1001, n)
  for _, dtype in ipairs{ "float64", "int16", "int8" } do
    local p = pipeline{ dtype = dtype }
    local function times(ds, c) return sc.dataset{ X = ds.X, y = ds.y * c } end
    fails(words, p.fit, p, times(data, 1e160))
    -- 0.9 of what a double holds: the rows before fit, and no others do
    local largest = math.sqrt(0.9) * 0x1p512 / math.sqrt((first.y:t() * first.y):get(1, 1))
    p:fit(times(first, largest), { sums = true })
    local before = p:decision(X)
    fails(words, p.update, p, times(rest, largest))
    lu.assertTrue(p:decision(X) == before)
    p:save("near.safetensors", { sums = true })
    lu.assertTrue(sc.load "near.safetensors":decision(X) == before)
    os.remove "near.safetensors"
  end
end

function TestEqualRowsAndWeights()
  local ds = classes(2, 300)
  local twice, weights = {}, {}
  for i = 1, 300 do
    weights[i] = 1 + i % 3
    for _ = 1, weights[i] do twice[#twice + 1] = i end
  end
  local p = pipeline():fit(ds:select(twice), { sums = true })
  local weighted = sc.dataset{ X = ds.X, y = ds:labels(), weights = weights }
  lu.assertTrue(p:decision(X) == pipeline():fit(weighted, { sums = true }):decision(X))
  p:forget(ds) -- one copy of each row
  local rest = {}
  for i = 1, 300 do for _ = 2, weights[i] do rest[#rest + 1] = i end end
  lu.assertTrue(p:decision(X) == pipeline():fit(ds:select(rest), { sums = true }):decision(X))
  fails({ "100 of the 299 rows" }, p.forget, p, ds:subset(2, 300))
  for i = 1, 300 do weights[i] = 0.1 + (i * 37 % 11) / 7 end
  local other = sc.dataset{ X = ds.X, y = ds:labels(), weights = weights }
  fails({ "are not among those" }, p.forget, p, other:subset(1, 10)) -- of other weights
end

function TestWithoutFingerprints()
  local p = pipeline():fit(data:subset(1, 1000), { sums = true, fingerprints = false })
  lu.assertStrContains(tostring(p), "without fingerprints")
  local want = pipeline():fit(data:subset(11, n), { sums = true }):predict(X)
  fails({ "are in the model already" }, p.update, p, data:subset(1, 1000)) -- its ranges are known
  lu.assertTrue(p:update(data:subset(1001, n)):forget(data:subset(1, 10)):predict(X) == want)
end

-- ------------ the pipeline around it

function TestTheModelAroundTheSums()
  local ds = classes(2)
  local p = pipeline():fit(ds:subset(1, 1000), { sums = true }):calibrate{ folds = 3 }
  lu.assertNotNil(p:info().calibration)
  p:update(ds:subset(1001, n))
  lu.assertNil(p:info().calibration) -- it was of another model
  lu.assertStrContains(tostring(p), "keeps the sums over 1500 rows")
  p:forget(ds:subset(1, 5))
  lu.assertStrContains(tostring(p), "keeps the sums over 1495 rows, 5 forgotten")
  local copy = p:clone()
  lu.assertNil(rawget(copy, "sums_kept"))
  lu.assertEquals(p:info().n, 1495)
  lu.assertTrue(p:score(ds) > 0.6)
  p:fit(ds)
  lu.assertNil(rawget(p, "sums_kept"))
  local best = pipeline{ solver = sc.solver.ridge{ lambda = sc.choose{ 1e-3, 1e-5 } } }:search(ds)
  best:fit(ds, { sums = true })
  lu.assertTrue(best:decision(X) == sc.merge(parts(best:clone(), ds, 4)):solve():decision(X))
end

function TestSavedSums()
  support.in_folder(function(folder)
    local p, files = pipeline{ stages = { sc.standardize() } }, {}
    for i = 1, 3 do
      files[i] = ("%s/%d.sums"):format(folder, i)
      local made = p:sums(data, { part = { i, 3 }, save = files[i] })
      lu.assertEquals(tostring(sc.load(files[i])), tostring(made))
    end
    local want = p:clone():fit(data, { sums = true })
    lu.assertTrue(sc.merge{ files[2], files[3], files[1] }:solve():predict(X) == want:predict(X))
    lu.assertTrue(sc.merge{ folder .. "/*.sums" }:solve():predict(X) == want:predict(X))
    fails({ "/*.none: no file has such a path" }, sc.merge, { folder .. "/*.none" })
    fails({ files[1], "come twice" }, sc.merge, { files[1], files[2], files[1] })
    local nowhere = folder .. "/nowhere"
    fails({ ("merge: %s: no such file"):format(nowhere) }, sc.merge, { nowhere })
    local path = folder .. "/model.safetensors"
    want:save(path)
    fails({ path, "does not hold sums" }, sc.merge, { path })
    fails({ "keeps no sums" }, p.update, sc.load(path), data)
    p:fit(data:subset(1, 1000))
    fails({ "keeps its sums" }, p.save, p, path, { sums = true })
    -- a model that learns on: its stages stay as they were
    local first = p:clone():fit(data:subset(1, 1000), { sums = true })
    first:save(path, { sums = true })
    local loaded = sc.load(path):update(data:subset(1001, n)):forget(data:subset(1, 3))
    first:update(data:subset(1001, n)):forget(data:subset(1, 3))
    lu.assertTrue(loaded:predict(X) == first:predict(X))
    lu.assertEquals(tostring(loaded.sums_kept), tostring(first.sums_kept))
    loaded:save(path, { sums = true })
    lu.assertTrue(sc.merge{ path }:solve():predict(X) == first:predict(X))
    local open = sc.pipeline{ sc.features{ T = 40, dtype = "int16" }, sc.solver.ridge() }
    open:fit(data, { sums = true }):save(path, { sums = true })
    lu.assertTrue(sc.merge{ path }:solve():predict(X) == open:predict(X))
    local again = sc.load(path):update(data:subset(1, 9), { again = true })
    lu.assertTrue(again:forget(data:subset(1, 9)):predict(X) == open:predict(X))
    local folded = p:sums(data, { folds = 3, save = path })
    lu.assertTrue(sc.load(path):search():predict(X) == folded:search():predict(X))
  end)
end

-- Features of two instruction sets may differ in their last bits: their sums do not join.
function TestInstructionSets()
  support.in_folder(function(folder)
    local script = folder .. "/part.lua"
    support.write(script, [[
local sc = require "scullery"
local X = sc.randn{ 600, 3, seed = 1 }
local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
  phi = sc.nonlinearity.fourier(), T = 10, dtype = "int16" }, sc.solver.ridge{ lambda = 1e-3 } }
p:sums(sc.dataset{ X = X, y = X:column(1), task = "regression" },
  { part = { tonumber(arg[2]), 2 }, save = arg[1] })
]])
    local files = { folder .. "/1.sums", folder .. "/2.sums" }
    for i, isa in ipairs{ "plain", core.instruction_set() } do
      support.shell(("SCULLERY_ISA=%s %s %s %s %d"):format(isa, os.getenv "SCULLERY_BINARY"
        or "build/scullery", script, files[i], i))
    end
    if core.instruction_set() == "plain" then
      lu.assertEquals(sc.merge(files).rows, 600)
    else
      fails({ "plain", core.instruction_set(), "SCULLERY_ISA" }, sc.merge, files)
    end
  end)
end

-- ------------ streams

function TestPartsOfStreams()
  support.in_folder(function(folder)
    local csv, npy = folder .. "/rows.csv", folder .. "/rows.npy"
    local lines = { "a,b,c,d,y" }
    for i = 1, n do
      local row = {}
      for j = 1, d do row[j] = ("%.17g"):format(X:get(i, j)) end
      row[d + 1] = ("%.17g"):format(y:get(i, 1))
      lines[i + 1] = table.concat(row, ",")
    end
    support.write(csv, table.concat(lines, "\n") .. "\n")
    X:save(npy)
    y:save(folder .. "/y.npy")
    local function open_csv() return sc.data.csv(csv, { stream = true, quiet = true }) end
    local function open_npy() return sc.data.npy(npy, { y = folder .. "/y.npy", stream = true }) end
    local function open_rows()
      return sc.data.rows{ n = n, d = d, task = "regression", read = function(first, count)
        return X:slice(first, first + count - 1), y:slice(first, first + count - 1)
      end }
    end
    local want = pipeline():fit(data, { sums = true }):predict(X)
    for _, open in ipairs{ open_csv, open_npy, open_rows } do
      local list = {}
      for i = 1, 3 do list[i] = pipeline():sums(open(), { part = { i, 3 } }) end
      lu.assertTrue(sc.merge{ list[2], list[1], list[3] }:solve():predict(X) == want)
      fails({ "come twice" }, sc.merge, { list[1], pipeline():sums(open(), { part = { 1, 3 } }) })
      fails({ "are missing" }, sc.merge, { list[1], list[3] })
      local p = pipeline():fit(data:subset(1, 3), { sums = true })
      p:update(open()):forget(data:subset(1, 3))
      lu.assertTrue(p:predict(X) == want)
    end
  end)
end

function TestLabelsOfStreams()
  support.in_folder(function(folder)
    local path, ds = folder .. "/rows.csv", classes(3)
    local function write(labels, from)
      local lines = { "a,b,c,d,class" }
      for i, label in ipairs(labels) do
        local row = {}
        for j = 1, d do row[j] = ("%.17g"):format(X:get(from + i, j)) end
        row[d + 1] = label
        lines[i + 1] = table.concat(row, ",")
      end
      support.write(path, table.concat(lines, "\n") .. "\n")
      return sc.data.csv(path, { stream = true, quiet = true })
    end
    local all = {}
    for i, label in ipairs(ds:labels()) do all[i] = label end
    local named = sc.dataset{ X = X, y = ds:labels(), names = { "a", "b", "c", "d" } }
    local want = pipeline():fit(named, { sums = true }):decision(X)
    local p = pipeline():fit(named:subset(1, 900), { sums = true })
    local before = p:decision(X)
    local strange = table.move(all, 901, n, 1, {})
    strange[7] = "strange"
    fails({ "classes that the model does not know", "strange" }, p.update, p, write(strange, 900))
    lu.assertTrue(p:decision(X) == before)
    lu.assertTrue(p:update(write(table.move(all, 901, n, 1, {}), 900)):decision(X) == want)
  end)
end

-- ------------ any regularisation, folds

local LAMBDAS = { 1e-7, 1e-5, 1e-3, 1e-1 }

function TestAnyRegularisation()
  local sums = pipeline():sums(data)
  for k, p in ipairs(sums:solve{ lambda = LAMBDAS }) do
    local want = pipeline{ solver = sc.solver.ridge{ lambda = LAMBDAS[k] } }:fit(data,
      { sums = true })
    lu.assertTrue(p:predict(X) == want:predict(X))
    lu.assertTrue(sums:solve{ lambda = LAMBDAS[k] }:predict(X) == want:predict(X))
  end
  local open = pipeline{ solver = sc.solver.ridge() }:sums(data)
  fails({ "'lambda' is not given" }, open.solve, open)
  lu.assertNotNil(open:solve{ lambda = 1 }:predict(X))
  fails({ "lambda", "-1" }, sums.solve, sums, { lambda = -1 })
  fails({ "lambda", "x" }, sums.solve, sums, { lambda = { "x" } })
  -- what is solved keeps sums of its own
  local p = sums:solve():forget(data:subset(1, 10))
  lu.assertEquals({ sums.rows, p.sums_kept.rows }, { n, n - 10 })
  lu.assertTrue(sums:solve():predict(X) == pipeline():fit(data, { sums = true }):predict(X))
end

-- The scores of p:search for the same folds, seen by a solver that has the rows.
local function searched(ds, folds)
  return pipeline{ solver = sc.solver.ridge{ lambda = sc.choose(LAMBDAS) } }:search(ds,
    { folds = folds, score = "loss" })
end

function TestFoldsThatWereSummedApart()
  for _, ds in ipairs{ data, classes(2), classes(4) } do
    local want = searched(ds, 5)
    local list = {}
    for i = 1, 3 do list[i] = pipeline():sums(ds, { part = { i, 3 }, folds = 5 }) end
    local joined = sc.merge{ list[3], list[1], list[2] }
    local got = joined:search{ lambda = LAMBDAS }
    for k, row in ipairs(got.table) do
      local other = want.table[k]
      lu.assertAlmostEquals(row.mean, other.mean, 1e-9 * other.mean)
      lu.assertAlmostEquals(row.stderr, other.stderr, 1e-7 * other.stderr)
    end
    lu.assertEquals(got.choice["solver.lambda"], want.choice["solver.lambda"])
    lu.assertTrue(got:decision(X) == joined:solve{ lambda = got.solver.given.lambda }:decision(X))
    lu.assertTrue(joined:solve():decision(X) == pipeline():fit(ds, { sums = true }):decision(X))
  end
  local sums = pipeline():sums(data, { folds = 5 })
  lu.assertStrContains(tostring(sums), "5 folds apart")
  fails({ "mae", "needs the rows" }, sums.search, sums, { score = "mae" })
  local labels = pipeline():sums(classes(2), { folds = 5 })
  for _, score in ipairs{ "auc", "error", "f1" } do
    fails({ score, "needs the rows" }, labels.search, labels, { score = score })
  end
  fails({ "folds", "5 and 4" }, sc.merge, { pipeline():sums(data, { folds = 5,
    rows = { 1, 700 } }), pipeline():sums(data, { folds = 4, rows = { 701, n } }) })
  local path = os.tmpname()
  local other = pipeline():sums(data, { folds = 5, rows = { 1, 700 }, seed = 3, save = path })
  for _, one in ipairs{ other, path } do
    fails({ "by seed 3", "by seed 0", "same seed for all parts" }, sc.merge, { one,
      pipeline():sums(data, { folds = 5, rows = { 701, n } }) })
  end
  os.remove(path)
  fails({ "these sums have no folds" }, sums.search, pipeline():sums(data))
end

function TestGeneralisedCrossValidation()
  local want = searched(data, "gcv")
  local sums = pipeline():sums(data)
  local got = sums:search{ lambda = LAMBDAS, folds = "gcv" }
  for k, row in ipairs(got.table) do
    lu.assertAlmostEquals(row.mean, want.table[k].mean, 1e-9 * row.mean)
  end
  lu.assertEquals(got.choice, want.choice)
  lu.assertEquals(sums:solve{ lambda = "gcv" }:info().status, "converged")
  local lasso = pipeline{ solver = sc.solver.lasso{ lambda = 1e-3 } }:sums(data)
  fails({ "does not estimate" }, lasso.solve, lasso, { lambda = "gcv" })
end

os.exit(lu.LuaUnit.run(), true)
