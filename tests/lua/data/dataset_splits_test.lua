--- Data sets: splits, folds and parts; and what can be given wrongly.
-- luacheck: globals TestSplits TestParts
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"

local fails = lu.assertErrorMsgContains

-- n rows whose only column is the row's number, with these labels.
local function numbered(labels, given)
  local rows = {}
  for i = 1, #labels do rows[i] = { i } end
  local all = { X = rows, y = labels }
  for k, v in pairs(given or {}) do all[k] = v end
  return sc.dataset(all)
end

-- counts[k] rows of class k.
local function of_sizes(counts)
  local labels = {}
  for k, count in ipairs(counts) do
    for _ = 1, count do labels[#labels + 1] = k end
  end
  return numbered(labels, { task = "classification" })
end

-- The row numbers that a data set made by numbered() holds.
local function rows_of(ds)
  local list = {}
  for i = 1, #ds do list[i] = math.tointeger(ds.X:get(i, 1)) end
  return list
end

local function sorted_rows(...)
  local list = {}
  for _, ds in ipairs{ ... } do
    for _, row in ipairs(rows_of(ds)) do list[#list + 1] = row end
  end
  table.sort(list)
  return list
end

local function count_to(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

-- ------------ splits and folds

TestSplits = {}

function TestSplits:test_every_row_is_in_exactly_one_part()
  for _, stratify in ipairs{ true, false } do
    local ds = of_sizes{ 13, 5, 1 }
    local train, test = ds:split{ test = 0.3, stratify = stratify }
    lu.assertEquals(sorted_rows(train, test), count_to(19))
  end
end

function TestSplits:test_rows_and_labels_stay_together_and_in_order()
  local train, test = of_sizes({ 30, 20 }):split{}
  for _, part in ipairs{ train, test } do
    local rows = rows_of(part)
    for i, row in ipairs(rows) do
      lu.assertEquals(part.y[i], row <= 30 and 1 or 2)
      lu.assertTrue(i == 1 or rows[i - 1] < row)
    end
  end
end

function TestSplits:test_the_size_is_the_share_rounded_up_or_the_count()
  for _, stratify in ipairs{ true, false } do
    local ds = of_sizes{ 37, 11, 53 }
    for share, size in pairs{ [0.25] = 26, [0.01] = 2, [0.5] = 51, [0.999] = 100, [40] = 40,
      [1] = 1, [100] = 100 } do
      local train, test = ds:split{ test = share, stratify = stratify }
      lu.assertEquals({ #train, #test }, { 101 - size, size })
    end
  end
end

function TestSplits:test_a_quarter_of_wdbc_is_143_rows()
  local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  lu.assertEquals({ #train, #test }, { 426, 143 })
  lu.assertEquals(test:class_counts(), { 90, 53 }) -- of 357 and 212
end

function TestSplits:test_classes_are_in_proportion_to_within_a_row()
  local counts = { 100, 60, 41, 7 }
  local _, test = of_sizes(counts):split{ test = 0.25 }
  for k, count in ipairs(test:class_counts()) do
    lu.assertTrue(math.abs(count - 52 * counts[k] / 208) < 1, k)
  end
end

function TestSplits:test_a_class_of_two_rows_or_more_is_on_both_sides_where_the_sizes_allow()
  for seed = 1, 20 do
    local train, test = of_sizes({ 500, 2, 3, 2 }):split{ test = 0.01, seed = seed }
    lu.assertEquals(#test, 6)
    for k = 1, 4 do lu.assertTrue(train:class_counts()[k] > 0 and test:class_counts()[k] > 0) end
  end
end

function TestSplits:test_a_count_smaller_than_the_number_of_classes_is_kept_to()
  local _, test = of_sizes({ 10, 10, 10, 10 }):split{ test = 2 }
  lu.assertEquals(#test, 2)
end

function TestSplits:test_a_sample_is_of_the_classes_in_proportion_and_in_order()
  local ds = of_sizes({ 30, 20 })
  local sample = ds:sample{ rows = 10, seed = 1 }
  lu.assertEquals(sample:class_counts(), { 6, 4 })
  local rows = rows_of(sample)
  for i = 2, #rows do lu.assertTrue(rows[i - 1] < rows[i]) end
  lu.assertEquals(rows_of(ds:sample{ rows = 10, seed = 1 }), rows)
  lu.assertNotEquals(rows_of(ds:sample{ rows = 10, seed = 2 }), rows)
  lu.assertIs(ds:sample{ rows = 50 }, ds)
  fails("dataset:sample: option 'rows' is missing", ds.sample, ds, {})
end

function TestSplits:test_only_singletons_split_as_well()
  local train, test = of_sizes({ 1, 1, 1, 1 }):split{ test = 0.5 }
  lu.assertEquals({ #train, #test }, { 2, 2 })
end

function TestSplits:test_the_same_seed_gives_the_same_rows_and_another_seed_others()
  local ds = of_sizes{ 50, 50 }
  local function test_rows(seed) return rows_of((select(2, ds:split{ seed = seed }))) end
  lu.assertEquals(test_rows(3), test_rows(3))
  lu.assertNotEquals(test_rows(3), test_rows(4))
end

-- Written down once: any machine, thread count and later version must draw the same.
function TestSplits:test_the_rows_of_a_seed_are_fixed_for_ever()
  local _, test = of_sizes({ 6, 6 }):split{ test = 4, seed = 0 }
  lu.assertEquals(rows_of(test), { 3, 4, 10, 11 })
  lu.assertEquals(of_sizes({ 4, 4 }):fold_ids{ k = 2, seed = 0 }, { 2, 1, 1, 2, 1, 1, 2, 2 })
end

function TestSplits:test_parts_keep_names_classes_and_task()
  local train, test = numbered({ "a", "b", "a", "b" }, { names = { "one" } }):split{ test = 0.5 }
  for _, part in ipairs{ train, test } do
    lu.assertEquals({ part.names, part.classes, part.task },
      { { "one" }, { "a", "b" }, "classification" })
  end
end

function TestSplits:test_fold_ids_are_balanced_over_all_and_in_each_class()
  local ds = of_sizes{ 23, 14, 6 }
  local ids, sizes, by_class = ds:fold_ids{ k = 5, seed = 1 }, {}, {}
  lu.assertEquals(#ids, 43)
  for i, fold in ipairs(ids) do
    local key = ds.y[i] .. "/" .. fold
    sizes[fold] = (sizes[fold] or 0) + 1
    by_class[key] = (by_class[key] or 0) + 1
  end
  for fold = 1, 5 do
    lu.assertTrue(sizes[fold] == 8 or sizes[fold] == 9)
    for class, count in ipairs{ 23, 14, 6 } do
      local here = by_class[("%.1f/%d"):format(class, fold)]
      lu.assertTrue(here == count // 5 or here == count // 5 + 1)
    end
  end
end

function TestSplits:test_folds_test_every_row_once_and_train_on_the_others()
  local ds = of_sizes{ 10, 7 }
  local folds, tests = ds:folds{ k = 4, seed = 2 }, {}
  lu.assertEquals(#folds, 4)
  for k, fold in ipairs(folds) do
    lu.assertEquals(sorted_rows(fold[1], fold[2]), count_to(17))
    tests[k] = fold[2]
  end
  lu.assertEquals(sorted_rows(table.unpack(tests)), count_to(17))
end

function TestSplits:test_folds_are_those_of_fold_ids()
  local ds = of_sizes{ 9, 8 }
  local ids = ds:fold_ids{ k = 3, seed = 5 }
  for f, fold in ipairs(ds:folds{ k = 3, seed = 5 }) do
    for _, row in ipairs(rows_of(fold[2])) do lu.assertEquals(ids[row], f) end
  end
end

function TestSplits:test_mistakes_are_sentences()
  local ds = of_sizes{ 5, 5 }
  fails("dataset:split: unknown option 'tset' (did you mean 'test'?); it takes groups, rows, \z
    seed, shuffle, stratify, test", ds.split, ds, { tset = 1 })
  for _, bad in ipairs{ 0, -1, 1.5, 0 / 0, "half" } do
    fails("option 'test' got", ds.split, ds, { test = bad })
  end
  fails("option 'test' got 10 of 10 rows", ds.split, ds, { test = 10 })
  fails("a data set of 1 row cannot be split", function() numbered({ 1 }):split{} end)
  fails("stratify = true is for a classification", function()
    numbered({ 1, 2 }):split{ stratify = true }
  end)
  fails("option 'seed' got 1.5; it takes a whole number", ds.split, ds, { seed = 1.5 })
  fails("option 'k' got 1; it takes a whole number of at least 2", ds.fold_ids, ds, { k = 1 })
  fails("dataset:folds: option 'k' got 1", ds.folds, ds, { k = 1 })
  fails("dataset:folds: 11 folds of 10 rows", ds.folds, ds, { k = 11 })
end

-- ------------ parts by hand

TestParts = {}

function TestParts:test_subset_is_a_view_of_both_ends_included()
  local ds = numbered{ "a", "b", "c", "d" }
  local part = ds:subset(2, 3)
  lu.assertEquals({ rows_of(part), part:labels() }, { { 2, 3 }, { "b", "c" } })
  part.X:set(1, 1, 20)
  lu.assertEquals(ds.X:get(2, 1), 20)
end

function TestParts:test_select_takes_rows_in_the_order_given()
  lu.assertEquals(rows_of(numbered({ 1, 2, 3 }):select{ 3, 1, 3 }), { 3, 1, 3 })
  lu.assertEquals(#numbered({ 1, 2, 3 }):select{}, 0)
end

function TestParts:test_filter_sees_row_number_row_and_label()
  local ds = numbered{ "a", "b", "a", "c" }
  lu.assertEquals(rows_of(ds:filter(function(_, _, y) return y == "a" end)), { 1, 3 })
  lu.assertEquals(rows_of(ds:filter(function(i) return i > 2 end)), { 3, 4 })
  lu.assertEquals(ds:filter(function(_, _, y) return y == "a" end).classes, { "a", "b", "c" })
  local wide = sc.dataset{ X = { { 1, 5 }, { 2, 6 } }, y = { 1.5, 2 } }
  lu.assertEquals(wide:filter(function(_, x, y)
    return x:get(1, 2) == 6 and y == 2
  end).X:totable(), { { 2, 6 } })
end

function TestParts:test_an_error_in_the_filter_is_the_users_own()
  fails("mine", function() numbered({ 1, 2 }):filter(function() error("mine") end) end)
end

function TestParts:test_mistakes_are_sentences()
  local ds = numbered{ 1, 2, 3 }
  fails("dataset:subset: rows 2 to 9 of a data set with 3 rows", ds.subset, ds, 2, 9)
  fails("dataset:subset: rows 3 to 2 of a data set with 3 rows", ds.subset, ds, 3, 2)
  fails("dataset:subset: takes two row numbers, and got \"a\" and nil", ds.subset, ds, "a")
  fails("dataset:select: ", ds.select, ds, { 4 })
  fails("dataset:filter: takes a function(i, x, y), and got nil", ds.filter, ds)
  fails("dataset:parts: this data set has no official parts", ds.parts, ds)
end

os.exit(lu.LuaUnit.run(), true)
