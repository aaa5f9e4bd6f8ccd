-- Labels are compared by what they say, and columns by name, wherever a model meets data that it
-- has not seen.
local lu = require "luaunit"
local sc = require "scullery"

package.path = "tests/helpers/?.lua;" .. package.path
local support = require "support"

local fails, said = support.fails, support.stderr_of

-- Three clouds a, b, c at places that a plane tells apart.
local centres = { a = { 0, 0 }, b = { 9, 0 }, c = { 0, 9 }, d = { 9, 9 } }
local function rows_of(labels, seed)
  local noise, rows = sc.randn{ #labels, 2, seed = seed or 1 }, {}
  for i, label in ipairs(labels) do
    local at = centres[label]
    rows[i] = { at[1] + noise:get(i, 1), at[2] + noise:get(i, 2) }
  end
  return sc.matrix(rows)
end

local function repeated(list, times)
  local out = {}
  for i = 1, times do out[i] = list[(i - 1) % #list + 1] end
  return out
end

local function set_of(labels, seed, given)
  local fields = { X = rows_of(labels, seed), y = labels, names = { "u", "v" } }
  for k, v in pairs(given or {}) do fields[k] = v end
  return sc.dataset(fields)
end

local train = set_of(repeated({ "a", "b", "c" }, 90))
local function fitted(ds, given)
  given = given or {}
  return sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3, intercept = true },
    class_weights = given.class_weights }:fit(ds)
end
local model = fitted(train)

-- The rows of a data set as one that streams.
local function streamed(ds)
  local n, d = ds:size()
  local stream = sc.data.rows{ n = n, d = d, classes = ds.classes, task = ds.task,
    read = function(first, count)
      return ds.X:slice(first, first + count - 1), ds.y:slice(first, first + count - 1)
    end }
  stream.names = ds.names
  return stream
end

-- ------------ labels

TestLabels = {}

function TestLabels:test_a_set_with_fewer_classes_is_scored_by_label()
  local fewer = set_of(repeated({ "c", "b" }, 40), 2)
  lu.assertEquals(fewer.classes, { "b", "c" }) -- b is 1 here and 2 in the model
  for _, ds in ipairs{ fewer, streamed(fewer) } do
    lu.assertEquals(said(function()
      lu.assertEquals(model:score(ds), 1)
      lu.assertEquals(model:error(ds), 0)
    end), "")
  end
  lu.assertEquals(model:score(fewer.X, fewer:labels()), 1)
  lu.assertEquals(model:score(fewer.X, fewer.y), 1)
end

function TestLabels:test_another_order_of_classes_changes_nothing()
  local turned = set_of(repeated({ "a", "b", "c" }, 30), 3, { classes = { "c", "a", "b" } })
  lu.assertEquals(model:score(turned), 1)
  lu.assertEquals(model:score(streamed(turned)), 1)
  local two = set_of(repeated({ "a", "b" }, 30), 3)
  local m = fitted(two)
  lu.assertEquals(m:score(set_of(repeated({ "a", "b" }, 30), 4, { classes = { "b", "a" } })), 1)
  lu.assertEquals(m:score(streamed(set_of(repeated({ "a", "b" }, 30), 4,
    { classes = { "b", "a" } }))), 1)
end

-- Of two classes the unknown label is neither side, whatever the decision.
function TestLabels:test_a_label_never_seen_counts_as_wrong_and_is_told_once()
  for _, m in ipairs{ model, fitted(set_of(repeated({ "a", "b" }, 60))) } do
    local labels = repeated({ "a", "b", "d", "b" }, 40)
    for _, make in ipairs{ function(ds) return ds end, streamed } do
      local ds = make(set_of(labels, 5))
      local text = said(function()
        lu.assertEquals(m:score(ds), 0.75)
        lu.assertEquals(m:error(ds), 0.25)
      end)
      local _, times = text:gsub("scullery: 10 rows have a label that was never seen", "")
      lu.assertEquals({ text, times }, { text, 1 })
    end
    lu.assertStrContains(said(function() m:score(set_of(labels, 5)) end), '"d"')
    said(function() lu.assertEquals(m:score(rows_of(labels, 5), labels), 0.75) end)
  end
end

function TestLabels:test_numbers_are_themselves_and_equal_their_text()
  local function numbered(labels, seed)
    local number, y = { a = 10, b = 20, c = 30, d = 40 }, {}
    for i, label in ipairs(labels) do y[i] = number[label] end
    return sc.dataset{ X = rows_of(labels, seed), y = y, task = "classification" }
  end
  local m = fitted(numbered(repeated({ "a", "b", "c" }, 60)))
  local fewer = numbered(repeated({ "c", "b" }, 20), 2)
  lu.assertEquals(m:score(fewer), 1)
  lu.assertEquals(m:score(streamed(fewer)), 1)
  local texts = {}
  for i, label in ipairs(fewer:labels()) do texts[i] = tostring(label) end
  lu.assertEquals(m:score(sc.dataset{ X = fewer.X, y = texts }), 1)
  lu.assertEquals(m:score(sc.dataset{ X = fewer.X, y = fewer.y:copy() }), 1) -- as a regression's y
  said(function()
    lu.assertEquals(m:score(numbered(repeated({ "a", "d" }, 20), 2)), 0.5)
    lu.assertEquals(m:score(streamed(numbered(repeated({ "a", "d" }, 20), 2))), 0.5)
  end)
end

function TestLabels:test_a_regression_refuses_labels_that_are_texts()
  local m = sc.pipeline{ sc.solver.ridge{} }:fit(train.X, train.X:column(1) * 2)
  fails({ "pipeline:score", "regression", "texts" }, m.score, m, train)
end

function TestLabels:test_a_stream_to_learn_from_has_no_strangers()
  local ds = streamed(train)
  ds.classes = { "a", "b" }
  fails({ "none of the 2 classes" }, fitted, ds)
end

function TestLabels:test_predicted_labels_are_texts_or_numbers()
  lu.assertEquals(model:labels(rows_of{ "b", "c", "a" }), { "b", "c", "a" })
  local m = sc.pipeline{ sc.solver.ridge{} }:fit(train.X, train.X:column(1))
  fails({ "pipeline:labels", "regression" }, m.labels, m, train)
end

function TestLabels:test_metrics_of_predictions_go_by_label()
  local m = sc.metrics
  local fewer = set_of(repeated({ "c", "b" }, 40), 2)
  lu.assertEquals(m.accuracy(model:predict(fewer), fewer.y), 1)
  lu.assertEquals(m.accuracy(model:predict(fewer), fewer:labels()), 1)
  local confusion = m.confusion(model:predict(fewer), fewer.y, model.classes)
  lu.assertEquals(confusion.classes, { "a", "b", "c" })
  lu.assertEquals(confusion.counts:totable(), { { 0, 0, 0 }, { 0, 20, 0 }, { 0, 0, 20 } })
  local strange = set_of(repeated({ "b", "d" }, 10), 2)
  confusion = m.confusion(model:predict(strange), strange.y, model.classes)
  lu.assertEquals(confusion.classes, { "a", "b", "c", "d" })
  lu.assertEquals(confusion.counts:row(4):sum(), 5) -- a row of its own, and none of it right
  lu.assertEquals(confusion.counts:get(4, 4), 0)
  lu.assertEquals(m.accuracy(model:predict(strange), strange.y), 0.5)
end

function TestLabels:test_probabilities_and_their_loss_go_by_label()
  local fewer = set_of(repeated({ "c", "b" }, 40), 2)
  local p = model:probabilities(fewer)
  local sum = 0
  for i, label in ipairs(fewer:labels()) do
    sum = sum - math.log(p:get(i, label == "b" and 2 or 3))
  end
  lu.assertAlmostEquals(sc.metrics.log_loss(p, fewer.y, model.classes), sum / 40, 1e-12)
end

function TestLabels:test_calibration_on_other_data_goes_by_label()
  local labels = repeated({ "a", "b", "c" }, 60)
  local function slopes(ds) return model:calibrate{ data = ds }:info().calibration end
  local want = slopes(set_of(labels, 7))
  local turned = slopes(set_of(labels, 7, { classes = { "b", "c", "a" } }))
  lu.assertEquals(turned.slopes, want.slopes)
  lu.assertEquals(turned.offsets, want.offsets)
  -- rows of a class that the model does not know are left out
  local more = repeated({ "a", "b", "c" }, 60)
  for i = 61, 70 do more[i] = "d" end
  for _, make in ipairs{ function(ds) return ds end, streamed } do
    local ds, left = make(set_of(more, 7)), nil
    lu.assertStrContains(said(function() left = slopes(ds) end), "10 rows have a label")
    lu.assertEquals(left.rows, 60)
    local known = {}
    for i = 1, 60 do known[i] = i end
    local bare = slopes(set_of(more, 7):select(known))
    for j = 1, 3 do lu.assertAlmostEquals(left.slopes[j], bare.slopes[j], 1e-6) end
  end
end

function TestLabels:test_pruning_on_other_data_goes_by_label()
  local m = sc.pipeline{ sc.instantiation{ p = sc.sampler.threshold{},
    K = sc.kernel.gaussian{ width = 5 }, phi = sc.nonlinearity.step() }:features{ T = 30,
    seed = 1 }, sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }:fit(train)
  local labels = repeated({ "a", "b", "c" }, 60)
  local _, want = m:prune{ data = set_of(labels, 7), epsilon = 0.1 }
  local _, turned = m:prune{ data = set_of(labels, 7, { classes = { "c", "b", "a" } }),
    epsilon = 0.1 }
  lu.assertEquals(turned.risk, want.risk)
  lu.assertEquals(turned.error, want.error)
end

function TestLabels:test_weights_of_classes_go_by_label()
  local heavy = { c = 5 }
  local want = fitted(train, { class_weights = heavy }):decision(train.X)
  local turned = fitted(set_of(repeated({ "a", "b", "c" }, 90), 1, { classes = { "c", "a", "b" } }),
    { class_weights = heavy }):decision(train.X)
  for k, j in ipairs{ 2, 3, 1 } do
    lu.assertTrue((turned:column(j) - want:column(k)):abs():max() < 1e-9)
  end
end

-- ------------ columns

TestColumns = {}

local function with_columns(ds, places, names)
  return sc.dataset{ X = ds.X:t():select(places):t():copy(), y = ds.y, names = names }
end

function TestColumns:test_another_order_is_put_in_order()
  local labels = repeated({ "a", "b", "c" }, 30)
  local test = set_of(labels, 9)
  local turned = with_columns(test, { 2, 1 }, { "v", "u" })
  for _, ds in ipairs{ turned, streamed(turned) } do
    lu.assertTrue(model:predict(ds) == model:predict(test))
    lu.assertTrue(model:decision(ds) == model:decision(test))
    lu.assertTrue(model:transform(ds) == model:transform(test))
    lu.assertEquals(model:score(ds), 1)
    lu.assertTrue(model:probabilities(ds) == model:probabilities(test))
  end
end

function TestColumns:test_missing_columns_are_refused_by_name()
  local test = set_of(repeated({ "a", "b" }, 6), 9)
  local other = sc.dataset{ X = test.X, y = test.y, names = { "u", "w" } }
  for _, name in ipairs{ "predict", "score", "error", "decision", "transform", "probabilities",
    "labels" } do
    fails({ "pipeline:" .. name, '"v"', "like = train" }, model[name], model, other)
  end
  fails({ "pipeline:calibrate", '"v"' }, model.calibrate, model, { data = other })
end

function TestColumns:test_extra_columns_are_dropped_and_told()
  local test = set_of(repeated({ "a", "b", "c" }, 30), 9)
  local wide = sc.dataset{ X = sc.hcat(sc.ones(30, 1), test.X, sc.ones(30, 1)), y = test.y,
    names = { "note", "u", "v", "day" } }
  local text = said(function()
    lu.assertTrue(model:predict(wide) == model:predict(test))
    lu.assertEquals(model:score(wide), 1)
    lu.assertEquals(model:score(streamed(wide)), 1)
  end)
  lu.assertStrContains(text, '2 columns that the model does not know are left out: "note", "day"')
end

function TestColumns:test_without_names_columns_go_by_position()
  local test = set_of(repeated({ "a", "b", "c" }, 30), 9)
  local bare = sc.dataset{ X = test.X, y = test.y }
  lu.assertEquals(model:score(bare), 1)
  lu.assertEquals(fitted(bare):score(test), 1)
  fails({ "X has 3 columns where the pipeline was fitted on 2" }, model.predict, model,
    sc.hcat(test.X, sc.ones(30, 1)))
end

function TestColumns:test_stages_alone_know_their_columns_too()
  local p = sc.pipeline{ sc.standardize() }:fit(train)
  local turned = with_columns(train, { 2, 1 }, { "v", "u" })
  lu.assertTrue(p:transform(turned) == p:transform(train))
end

-- ------------ one class

-- n rows as a stream that declares the classes 1, 2 and 3, all of class 2 but row `other`.
local function stream_of_one_class(n, other)
  return sc.data.rows{ n = n, d = 1, classes = { 1, 2, 3 }, read = function(first, count)
    local x, y = {}, {}
    for i = 1, count do
      x[i], y[i] = { first + i }, { first + i - 1 == other and 3 or 2 }
    end
    return sc.matrix(x), sc.matrix(y)
  end }
end

TestOneClass = {}

function TestOneClass:test_rows_in_memory_and_in_streams_are_refused_with_one_sentence()
  local memory = sc.dataset{ X = sc.ones(300, 1), y = sc.ones(300, 1), classes = { 1, 2, 3 } }
  for _, solver in ipairs{ sc.solver.ridge{}, sc.solver.logistic{}, sc.solver.cg{},
    sc.solver.hinge and sc.solver.hinge{} or nil } do
    for _, ds in ipairs{ memory, stream_of_one_class(300) } do
      fails({ "pipeline:fit: all rows have one class: there is nothing to tell apart" },
        function() sc.pipeline{ solver }:fit(ds) end)
    end
  end
end

function TestOneClass:test_one_row_of_another_class_is_enough()
  for _, other in ipairs{ 1, 150, 300 } do
    local p
    said(function()
      p = sc.pipeline{ sc.solver.ridge{}, block = 16 }:fit(stream_of_one_class(300, other))
    end)
    lu.assertEquals(#p.classes, 3)
  end
end

function TestOneClass:test_folds_and_searches_of_such_a_stream_are_refused_too()
  local ds = stream_of_one_class(300)
  fails({ "all rows have one class" }, function() sc.pipeline{ sc.solver.ridge{} }:cv(ds) end)
  fails({ "all rows have one class" }, function()
    sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 0.1, 1 } } }:search(ds, { folds = 3 })
  end)
end

os.exit(lu.LuaUnit.run(), true)
