--- Data sets: labels and their coding, streams, descriptions; and what can be given wrongly.
--- dataset_splits_test.lua has splits, folds and parts.
-- luacheck: globals TestLabels TestColumns TestCoercion TestStreams TestDescribing
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local dataset = require "scullery.data.dataset"

local fails = lu.assertErrorMsgContains

-- n rows whose only column is the row's number, with these labels.
local function numbered(labels, given)
  local rows = {}
  for i = 1, #labels do rows[i] = { i } end
  local all = { X = rows, y = labels }
  for k, v in pairs(given or {}) do all[k] = v end
  return sc.dataset(all)
end

-- ------------ labels

TestLabels = {}

function TestLabels:test_text_labels_become_places_in_the_sorted_classes()
  local ds = numbered{ "pear", "apple", "pear" }
  lu.assertEquals({ ds.classes, ds.task, ds.y:totable() }, { { "apple", "pear" }, "classification",
    { { 2 }, { 1 }, { 2 } } })
  lu.assertEquals(ds:labels(), { "pear", "apple", "pear" })
end

function TestLabels:test_true_and_false_are_the_texts_of_a_file()
  local ds = numbered{ true, false, true }
  lu.assertEquals({ ds.classes, ds.task, ds:labels() }, { { "false", "true" }, "classification",
    { "true", "false", "true" } })
  lu.assertEquals(numbered({ true, false }, { classes = { true, false } }).classes,
    { "true", "false" })
  lu.assertEquals(sc.metrics.accuracy(ds:labels(), { true, true, true }), 2 / 3)
end

function TestLabels:test_generated_rows_may_have_texts_or_truth_values()
  for k, y in ipairs{ { true, false, true }, { "yes", "no", "yes" } } do
    local ds = sc.data.rows{ n = 3, d = 1, read = function(first, count)
      return sc.ones(count, 1), table.move(y, first, first + count - 1, 1, {})
    end }
    lu.assertEquals(ds.classes, k == 1 and { "false", "true" } or { "no", "yes" })
    local p = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(ds)
    lu.assertAlmostEquals(p:score(ds), 2 / 3, 1e-12)
  end
end

function TestLabels:test_numeric_labels_stay_themselves()
  local ds = numbered({ 7, -1, 7 }, { task = "classification" })
  lu.assertEquals({ ds.classes, ds.y:totable() }, { { -1, 7 }, { { 7 }, { -1 }, { 7 } } })
  lu.assertEquals(math.type(ds.classes[2]), "integer")
  lu.assertEquals(ds:labels(), { 7, -1, 7 })
end

function TestLabels:test_task_is_regression_for_numbers_and_classification_for_texts_or_classes()
  lu.assertEquals(numbered({ 1, 2 }).task, "regression")
  lu.assertNil(numbered({ 1, 2 }).classes)
  lu.assertEquals(numbered({ "a", "b" }).task, "classification")
  lu.assertEquals(numbered({ 1, 2 }, { classes = { 1, 2 } }).task, "classification")
end

function TestLabels:test_given_classes_keep_their_order_which_decides_the_sign()
  local ds = numbered({ "no", "yes" }, { classes = { "yes", "no" } })
  lu.assertEquals(ds:targets():totable(), { { 1 }, { -1 } })
  lu.assertEquals(numbered({ "no", "yes" }):targets():totable(), { { -1 }, { 1 } })
end

function TestLabels:test_targets_of_three_classes_are_one_against_all()
  lu.assertEquals(numbered({ "b", "a", "c" }):targets():totable(),
    { { -1, 1, -1 }, { 1, -1, -1 }, { -1, -1, 1 } })
end

function TestLabels:test_targets_of_a_regression_are_y_with_all_its_columns()
  local ds = sc.dataset{ X = { { 1 }, { 2 } }, y = { { 1, 2 }, { 3, 4 } } }
  lu.assertEquals(ds:targets():totable(), { { 1, 2 }, { 3, 4 } })
end

function TestLabels:test_class_counts_follow_the_order_of_the_classes()
  lu.assertEquals(numbered({ "b", "a", "b" }):class_counts(), { 1, 2 })
  lu.assertEquals(numbered({ 5, 5 }, { classes = { 4, 5 } }):class_counts(), { 0, 2 })
  fails("a regression has no classes", function() numbered({ 1, 2 }):class_counts() end)
end

function TestLabels:test_relabel_joins_classes()
  local ds = numbered{ "cat", "rook", "dog", "cat" }
  local two = ds:relabel(function(label) return label == "rook" and "bird" or "mammal" end)
  lu.assertEquals({ two.classes, two:labels() },
    { { "bird", "mammal" }, { "mammal", "bird", "mammal", "mammal" } })
  lu.assertEquals(two:targets():totable(), { { 1 }, { -1 }, { 1 }, { 1 } })
  lu.assertEquals(two:class_counts(), { 1, 3 })
  lu.assertEquals(ds.classes, { "cat", "dog", "rook" })
  lu.assertEquals(ds:relabel{ cat = "mammal", dog = "mammal" }:labels(),
    { "mammal", "rook", "mammal", "mammal" })
  lu.assertEquals(numbered({ 3, 5, 7 }, { classes = { 3, 5, 7 } }):relabel(function(v)
    return v > 4 and "large" or "small"
  end):labels(), { "small", "large", "large" })
  lu.assertEquals(numbered({ 3, 5, 7 }, { classes = { 3, 5, 7 } }):relabel{ [7] = 3 }:labels(),
    { 3, 5, 3 })
end

function TestLabels:test_relabel_says_what_is_wrong()
  fails("a regression has no labels", function() numbered({ 1.5, 2 }):relabel{} end)
  fails("takes a function of a label or a table of labels, and got 3", function()
    numbered({ "a", "b" }):relabel(3)
  end)
  fails("dataset:relabel: the new labels: y holds a number in row 2 and a string in row 1",
    function() numbered({ "a", "b" }):relabel{ b = 1 } end)
  fails("the table has \"c\", and the data set has no such label", function()
    numbered({ "a", "b" }):relabel{ a = "b", c = "d" }
  end)
end

TestColumns = {}

function TestColumns:test_discretize_cuts_columns_at_quantiles()
  local ds = sc.dataset{ X = { { 1, 0 }, { 2, 1 }, { 3, 1 }, { 4, 0 }, { 5, 1 }, { 6, 1 } },
    y = { 1, 2, 1, 2, 1, 2 }, task = "classification", names = { "size", "wet" } }
  local cut = ds:discretize{ bins = 3 }
  lu.assertEquals(cut.names, { "size <= 2", "2 < size <= 4", "size > 4", "wet" })
  lu.assertEquals(cut.X:totable(), { { 1, 0, 0, 0 }, { 1, 0, 0, 1 }, { 0, 1, 0, 1 },
    { 0, 1, 0, 0 }, { 0, 0, 1, 1 }, { 0, 0, 1, 1 } })
  lu.assertEquals({ cut:labels(), ds.names }, { ds:labels(), { "size", "wet" } })
  local held = sc.pipeline{ sc.standardize(), sc.solver.ridge{} }:fit(cut)
  lu.assertEquals(#held:labels(cut), 6)
end

function TestColumns:test_quantiles_that_repeat_make_fewer_columns()
  local ds = sc.dataset{ X = { { 0 }, { 0 }, { 0 }, { 0 }, { 7 }, { 9 } },
    y = { 1, 2, 3, 4, 5, 6 } }
  lu.assertEquals(ds:discretize().names, { "x1 <= 0", "0 < x1 <= 7", "x1 > 7" })
  fails("dataset:discretize: option 'bins'", function() ds:discretize{ bins = 1 } end)
end

function TestColumns:test_intervals_have_names_of_their_own()
  local ds = sc.dataset{ X = { { 1000001 }, { 1000002 }, { 1000003 } }, y = { 1, 2, 3 } }
  lu.assertEquals(ds:discretize().names,
    { "x1 <= 1000001", "1000001 < x1 <= 1000002", "x1 > 1000002" })
end

function TestColumns:test_discretize_takes_finite_numbers()
  local ds = sc.dataset{ X = { { 1, 2 }, { 3, 0 / 0 }, { 5, 6 } }, y = { 1, 2, 3 } }
  fails("dataset:discretize: X has nan in row 2, column 2", function() ds:discretize() end)
end

function TestLabels:test_float32_labels_and_views_are_taken()
  local y = sc.matrix{ { 1, 9 }, { 2, 9 }, { 1, 9 } }
  lu.assertEquals(numbered({ 1, 2, 3 },
    { y = y:column(1), task = "classification" }):class_counts(), { 2, 1 })
  lu.assertEquals(numbered({ 1, 2, 3 }, { y = y:column(1):astype "float32",
    task = "classification" }):labels(), { 1, 2, 1 })
end

function TestLabels:test_what_cannot_be_fitted_can_still_be_held()
  lu.assertEquals(#sc.dataset{ X = sc.zeros(0, 3), y = sc.zeros(0, 1) }, 0)
  lu.assertEquals({ sc.dataset{ X = sc.zeros(2, 0), y = { 1, 2 } }:size() }, { 2, 0 })
  lu.assertEquals(numbered({ "a", "a" }).classes, { "a" })
  lu.assertEquals(#numbered({ "a", "b" }, { classes = { "a", "b", "c", "d" } }).classes, 4)
  lu.assertStrContains(tostring(sc.dataset{ X = { { 1 } } }), "no y")
end

function TestLabels:test_mistakes_are_sentences()
  fails("dataset: X and y have 2 and 3 rows", sc.dataset, { X = { { 1 }, { 2 } }, y = { 1, 2, 3 } })
  fails("y is an empty list", sc.dataset, { X = sc.zeros(0, 1), y = {} })
  fails("y is not finite in row 2, column 1", sc.dataset,
    { X = { { 1 }, { 2 } }, y = { 1, 0 / 0 } })
  fails("y holds a number in row 2 and a string in row 1", sc.dataset,
    { X = { { 1 }, { 2 } }, y = { "a", 1 } })
  fails("y holds a function in row 1; it takes numbers, texts, or true and false", sc.dataset,
    { X = { { 1 } }, y = { print } })
  fails('a list of true and false holds "true" in place 2', sc.dataset,
    { X = { { 1 }, { 2 } }, y = { true, "true" } })
  fails("y holds true and false, and a regression takes numbers", sc.dataset,
    { X = { { 1 } }, y = { true }, task = "regression" })
  fails("y takes a list of texts or numbers, or a matrix, and got \"a\"", sc.dataset,
    { X = { { 1 } }, y = "a" })
  fails("y holds texts, and a regression takes numbers", sc.dataset,
    { X = { { 1 } }, y = { "a" }, task = "regression" })
  fails("labels come as one column, and y has 2", sc.dataset, { X = { { 1 } }, y = { { 1, 2 } },
    task = "classification" })
  fails("row 2 has the label 3, which is not in classes", numbered, { 1, 3 },
    { classes = { 1, 2 } })
  fails("row 2 has the label \"c\", which is not in classes", numbered, { "a", "c" },
    { classes = { "a", "b" } })
  fails("classes are texts: y holds their places, 1 to 2", numbered, { 1, 3 },
    { classes = { "a", "b" } })
  fails("holds 1 twice", numbered, { 1, 1 }, { classes = { 1, 1 } })
  fails("holds a string in place 1 and a number in place 2", numbered, { "a" },
    { classes = { "a", 2 } })
  fails("option 'classes' takes a list of texts or numbers", numbered, { "a" }, { classes = {} })
  fails("a regression takes no classes", numbered, { 1 }, { classes = { 1 }, task = "regression" })
  fails("2 names for 1 columns", numbered, { 1 }, { names = { "a", "b" } })
  fails("option 'names' holds 7 in place 1", numbered, { 1 }, { names = { 7 } })
  fails("option 'X' is missing", sc.dataset, { y = { 1 } })
  fails("option 'X' got \"x\"; it takes a matrix, or a list of rows or of texts", sc.dataset,
    { X = "x" })
  fails("unknown option 'clases' (did you mean 'classes'?)", sc.dataset,
    { X = { { 1 } }, clases = {} })
  -- luacheck: ignore
  fails("takes one of", sc.dataset, { X = { { 1 } }, y = { 1 }, task = "ranking" })
end

-- ------------ X and y as fit takes them

TestCoercion = {}

function TestCoercion:test_y_of_a_data_set_remembers_its_classes()
  local ds = numbered{ "b", "a", "b" }
  local again = dataset.coerce(ds.X, ds.y)
  lu.assertEquals({ again.classes, again.task }, { { "a", "b" }, "classification" })
end

function TestCoercion:test_y_of_a_part_remembers_them_too()
  local train = numbered({ "b", "a", "b", "a" }):split{ test = 2 }
  lu.assertEquals(dataset.coerce(train.X, train.y).classes, { "a", "b" })
end

function TestCoercion:test_a_matrix_of_the_users_own_remembers_nothing()
  local X, y = sc.matrix{ { 1 }, { 2 } }, sc.matrix{ 1, 2 }
  lu.assertEquals(sc.dataset{ X = X, y = y, task = "classification" }.task, "classification")
  lu.assertEquals(dataset.coerce(X, y).task, "regression")
end

function TestCoercion:test_a_forgotten_y_is_collected()
  local before = 0
  collectgarbage()
  for _ in pairs(dataset.labels_of) do before = before + 1 end
  for _ = 1, 100 do numbered{ "a", "b" } end
  collectgarbage()
  collectgarbage()
  local after = 0
  for _ in pairs(dataset.labels_of) do after = after + 1 end
  lu.assertTrue(after <= before + 1, ("%d held before, %d after"):format(before, after))
end

function TestCoercion:test_wrong_arguments_are_sentences()
  fails("y is missing", dataset.coerce, sc.ones(2, 1))
  fails("not both", dataset.coerce, numbered{ 1, 2 }, { 1, 2 })
  fails("the data set has no y", dataset.coerce, sc.dataset{ X = { { 1 } } })
  fails("takes a data set, or a matrix X and y, and got 5", dataset.coerce, 5)
  fails("unknown option 'tsk' (did you mean 'task'?)", dataset.coerce, sc.ones(1), { 1 },
    { tsk = "regression" })
end

-- ------------ streams

TestStreams = {}

-- n rows (i, i^2); y = 0 or 1, in turn.
local function squares(n, given)
  local all = { n = n, d = 2, read = function(first, count)
    local X, y = sc.zeros(count, 2), sc.zeros(count, 1)
    for k = 1, count do
      X:set(k, 1, first + k - 1)
      X:set(k, 2, (first + k - 1) ^ 2)
      y:set(k, 1, (first + k) % 2)
    end
    return X, y
  end }
  for k, v in pairs(given or {}) do all[k] = v end
  return sc.data.rows(all)
end

function TestStreams:test_a_generator_is_a_data_set_of_its_size()
  local ds = squares(1000)
  lu.assertEquals({ #ds, ds.X, ds.task }, { 1000, nil, "classification" })
  lu.assertStrContains(tostring(ds), "streaming")
end

function TestStreams:test_what_needs_all_rows_says_so()
  local ds = squares(10, { classes = { 0, 1 } })
  for _, name in ipairs{ "targets", "labels", "class_counts", "split", "folds", "subset", "select",
    "filter", "describe", "parts" } do
    fails("dataset:" .. name .. ": this data set streams; load it in memory", ds[name], ds,
      function() end)
  end
end

function TestStreams:test_fold_ids_of_a_stream_are_balanced()
  local sizes = { 0, 0, 0 }
  for _, fold in ipairs(squares(10):fold_ids{ k = 3 }) do sizes[fold] = sizes[fold] + 1 end
  table.sort(sizes)
  lu.assertEquals(sizes, { 3, 3, 4 })
end

local function write(path, bytes)
  local f = assert(io.open(path, "wb"))
  f:write(bytes)
  f:close()
end

function TestStreams:test_idx_files_stream_to_the_model_of_reading_whole()
  local pixels, labels = {}, {}
  for i = 0, 199 do
    pixels[i + 1] = string.char(i * 37 % 251, i * 91 % 241, i * i % 239)
    labels[i + 1] = string.char(i * 37 % 251 > 120 and 1 or 0)
  end
  local images, classes = os.tmpname(), os.tmpname()
  write(images, "\0\0\8\2\0\0\0\200\0\0\0\3" .. table.concat(pixels))
  write(classes, "\0\0\8\1\0\0\0\200" .. table.concat(labels))
  local memory = sc.data.idx(images, classes, { scale = 1 / 255 })
  local stream = sc.data.idx(images, classes, { scale = 1 / 255, stream = true })
  lu.assertNil(stream.X)
  lu.assertEquals({ stream:size() }, { memory:size() })
  lu.assertEquals({ stream.classes, stream.names, stream.task },
    { memory.classes, memory.names, memory.task })
  local function score(ds)
    local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3 }, block = 16 }
    return p:fit(ds):score(memory)
  end
  lu.assertEquals(score(stream), score(memory))
  os.remove(images)
  os.remove(classes)
end

function TestStreams:test_a_csv_streams_with_the_same_shape_and_classes_as_in_memory()
  local path = sc.data.path("wdbc")[1]
  local memory, stream = sc.data.csv(path), sc.data.csv(path, { stream = true })
  lu.assertEquals({ stream:size() }, { memory:size() })
  lu.assertEquals({ stream.classes, stream.names, stream.task },
    { memory.classes, memory.names, memory.task })
  lu.assertNil(stream.X)
end

function TestStreams:test_mistakes_are_sentences()
  fails("data.rows: a classification needs option 'classes'", squares, 5,
    { task = "classification" })
  fails("data.rows: a regression takes no classes", squares, 5,
    { task = "regression", classes = { 0, 1 } })
  fails("data.rows: option 'n' got 0", squares, 0)
  fails("data.rows: option 'read' is missing", sc.data.rows, { n = 1, d = 1 })
  fails("one column of labels, and option 'targets' got 2", squares, 5,
    { classes = { 0, 1 }, targets = 2 })
  fails("data.csv: stream = true takes one path", sc.data.csv, { "a", "b" }, { stream = true })
  fails("data.npy: a streaming classification needs option 'y' or 'classes'", sc.data.npy, "a",
    { stream = true, task = "classification" })
end

-- ------------ describing

TestDescribing = {}

function TestDescribing:test_it_tells_sizes_classes_ranges_and_constant_columns()
  local ds = sc.dataset{ X = { { 1, 5 }, { 2, 5 }, { 6, 5 } }, y = { "a", "b", "b" },
    names = { "first", "second" } }
  local text = tostring(ds:describe())
  for _, part in ipairs{ "dataset 3 x 2, 2 classes", "class b", "66.7%%",
    "first +1 +1.5 +2 +4 +6 +3 +0 ",
    "second +5 +5 +5 +5 +5 +5 +0  constant", "1 constant column, no missing value" } do
    lu.assertStrMatches(text:gsub("\n", " ") .. "", ".*" .. part .. ".*")
  end
end

function TestDescribing:test_a_value_that_is_not_finite_is_told_with_its_place()
  lu.assertStrContains(tostring(sc.dataset{ X = { { 1, 2 }, { 3, 0 / 0 } } }:describe()),
    "not finite first in row 2, column 2")
  local long = tostring(sc.dataset{ X = { { 1 } }, names = { ("kind=x"):rep(300000) } }:describe())
  lu.assertTrue(#long < 1000)
end

function TestDescribing:test_a_regression_tells_the_range_of_its_target()
  lu.assertStrMatches(tostring(numbered({ 4, 6 }):describe()):gsub("\n", " ") .. "",
    ".*target y +4 +4.5 +5 +5.5 +6 +5.*")
end

local function mixed()
  local path = os.tmpname()
  local f = assert(io.open(path, "w"))
  f:write("when,city,temp,y\n2024-01-02,Rome,1,yes\n2024-01-03,,n/a,no\n2024-01-06,Bonn,3,yes\n")
  f:close()
  local ds = sc.data.csv(path, { quiet = true })
  os.remove(path)
  return ds
end

function TestDescribing:test_the_summary_is_a_list_of_columns_with_quartiles_and_missing_fields()
  local list = mixed():describe()
  lu.assertEquals({ #list, list[1].name, list[4].name, list[5].name },
    { 5, "when", "city=?", "temp" })
  lu.assertEquals({ list[5].min, list[5].q1, list[5].median, list[5].q3, list[5].max, list[5].mean,
    list[5].missing }, { 1, 1.5, 2, 2.5, 3, 2, 1 })
  lu.assertEquals({ list[1].missing, list[4].missing, list[4].mean }, { 0, 1, 1 / 3 })
  lu.assertStrMatches(tostring(list):gsub("\n", " ") .. "",
    ".*when +2024%-01%-02 +2024%-01%-02 +2024%-01%-03 +2024%-01%-04 +2024%-01%-06.*")
  lu.assertNil(mixed():subset(1, 2):describe()[5].missing) -- the schema counts the whole file
end

function TestDescribing:test_quartiles_are_those_of_sorted_numbers()
  local X = {}
  for i = 1, 1001 do X[i] = { (i * 37) % 1001, 5 } end
  local row = sc.dataset{ X = X }:describe()[1]
  lu.assertEquals({ row.min, row.q1, row.median, row.q3, row.max }, { 0, 250, 500, 750, 1000 })
end

function TestDescribing:test_head_shows_rows_as_the_file_has_them()
  local rows = mixed():head(2)
  lu.assertEquals(rows.names, { "when", "city", "temp", "y" })
  lu.assertEquals({ rows[1], rows[2] }, { { "2024-01-02", "Rome", 1, "yes" },
    { "2024-01-03", "?", 2, "no" } })
  lu.assertEquals({ #rows, rows.more, #mixed():head() }, { 2, 1, 3 })
  lu.assertStrContains(tostring(rows), "when        city  temp  y\n2024-01-02  Rome     1  yes")
  lu.assertErrorMsgContains("dataset:head: takes a number of rows, 1 or more, and got 0",
    function() mixed():head(0) end)
end

function TestDescribing:test_the_prompt_shows_names_kinds_and_first_values()
  local display = require "scullery.prompt.display"
  local text = display.text(mixed()):gsub(" +", " ")
  for _, part in ipairs{ "dataset 3 x 5, 2 classes", "when date 2024-01-02", "temp number 1 2 3",
    "city category of 3 Rome ? Bonn", "target y classification yes no yes" } do
    lu.assertStrContains(text, part)
  end
  lu.assertEquals(display.text{ mixed() }, "{ dataset 3 x 5, 2 classes ... }")
  local wide = sc.dataset{ X = sc.zeros(2, 30) }
  lu.assertStrContains(display.text(wide), "... 20 more")
  local stream = sc.data.rows{ n = 10, d = 2, task = "regression", read = function(_, count)
    return sc.zeros(count, 2), sc.zeros(count, 1)
  end }
  lu.assertStrContains(display.text(stream), "streaming")
end

function TestDescribing:test_empty_sets_are_described_too()
  lu.assertEquals(tostring(sc.dataset{ X = sc.zeros(0, 2) }:describe()), "dataset 0 x 2, no y")
  lu.assertStrContains(tostring(sc.dataset{ X = sc.zeros(2, 0) }:describe()), "dataset 2 x 0")
end

os.exit(lu.LuaUnit.run(), true)
