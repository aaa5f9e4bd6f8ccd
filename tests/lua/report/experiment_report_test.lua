-- Reports of experiments: rows that differ in seeds are put together, pictures show what varies,
-- and the page holds everything, escaped, in one file.
local lu = require "luaunit"
local sc = require "scullery"
local browser = dofile("tests/helpers/browser.lua")
local groups = require "scullery.experiment.groups"
local pictures = require "scullery.pictures.experiment"
local report = require "scullery.report.experiment"
local shown = require "scullery.experiment.shown"
local support = dofile("tests/helpers/support.lua")

local function row(cell, result, more)
  local one = { cell = cell, result = result or {}, status = result and "done" or "failed" }
  for name, value in pairs(more or {}) do one[name] = value end
  return one
end

-- All combinations of T, lambda and seed, with error = 1 / T + seed / 1000.
local function grid(T, lambda, seeds)
  local rows = {}
  for _, t in ipairs(T) do
    for _, l in ipairs(lambda) do
      for seed = 1, seeds do
        rows[#rows + 1] = row({ T = t, lambda = l, seed = seed, data = "wdbc" },
          { error = 1 / t + seed / 1000 }, { seconds = t / 1000, memory = t * 1e6 })
      end
    end
  end
  return rows
end

local function names(options)
  local list = {}
  for i, one in ipairs(options) do list[i] = one.name end
  return list
end

-- ------------ groups

TestGroups = {}

function TestGroups:test_options_are_told_apart()
  local grouped = groups.of(grid({ 10, 100 }, { 0.1, 1 }, 3))
  lu.assertEquals(names(grouped.varying), { "T", "lambda" })
  lu.assertEquals(names(grouped.seeds), { "seed" })
  lu.assertEquals(names(grouped.fixed), { "data" })
  lu.assertEquals(grouped.results, { "error" })
  lu.assertTrue(grouped.varying[1].numeric)
end

function TestGroups:test_means_and_standard_errors_over_seeds()
  local grouped = groups.of(grid({ 100, 10 }, { 1 }, 3))
  lu.assertEquals(#grouped.list, 2)
  lu.assertEquals(grouped.list[1].cell, { T = 10 })
  local one = grouped.list[1].results.error
  lu.assertAlmostEquals(one.mean, 0.1 + 0.002, 1e-12)
  lu.assertAlmostEquals(one.error, 0.001 / math.sqrt(3), 1e-12) -- of 1, 2, 3 the deviation is 1
  lu.assertEquals(one.count, 3)
  lu.assertAlmostEquals(grouped.list[2].seconds.mean, 0.1, 1e-12)
  lu.assertEquals(grouped.list[2].memory, 100e6)
end

function TestGroups:test_a_cell_of_its_own_has_no_error()
  local grouped = groups.of(grid({ 10 }, { 1, 2 }, 1))
  lu.assertNil(grouped.list[1].results.error.error)
  lu.assertEquals(names(grouped.fixed), { "T", "data", "seed" })
end

function TestGroups:test_failed_cells_are_counted_and_not_averaged()
  local rows = grid({ 10 }, { 1, 2 }, 2)
  rows[#rows + 1] = row({ T = 10, lambda = 1, seed = 3, data = "wdbc" })
  local grouped = groups.of(rows)
  lu.assertEquals({ #grouped.list[1].done, grouped.list[1].failed }, { 2, 1 })
  lu.assertEquals(grouped.list[1].results.error.count, 2)
end

function TestGroups:test_lists_absent_options_and_texts()
  local grouped = groups.of{ row({ widths = { 1, 2 } }, { note = "a" }),
    row({ widths = { 1, 3 } }, { note = 1 }), row({}, { e = 1 }) }
  lu.assertEquals(names(grouped.varying), { "widths" })
  lu.assertFalse(grouped.varying[1].numeric)
  lu.assertEquals({ grouped.results, grouped.others }, { { "e" }, { "note" } })
  lu.assertNil(grouped.list[1].cell.widths) -- what is absent comes first
  lu.assertEquals(groups.label(grouped.list[2].cell, grouped.varying), "widths = {1, 2}")
end

function TestGroups:test_values_that_look_alike_are_told_apart()
  local grouped = groups.of{ row({ x = 1 }, { e = 1 }), row({ x = 1.0, seed = 2 }, { e = 3 }),
    row({ x = "1" }, { e = 1 }), row({ x = 1 + 2 ^ -52 }, { e = 1 }), row({ x = true }, { e = 1 }),
    row({ x = "true" }, { e = 1 }) }
  lu.assertEquals(#grouped.list, 5)
  lu.assertEquals(grouped.list[1].results.e.mean, 2)
end

-- ------------ numbers

function TestNumbersWithErrors()
  for _, case in ipairs{
    { 0.035212, 0.0037123, "0.0352 ± 0.0037" }, { 1234.5, 12.3, "1234 ± 12" },
    { 1234567, 1234, "1.23457e+06 ± 1.2e+03" }, { 2, nil, "2" }, { 0.5, 0, "0.5 ± 0" },
    { 0.1, 1e-18, "0.1 ± 0" }, { 0, 1e-20, "0 ± 1e-20" }, { 0 / 0, 0 / 0, "nan" },
    { 1, math.huge, "1" }, { 0.00000442, 5.6e-7, "4.42e-06 ± 5.6e-07" },
  } do
    local text = shown.with_error(case[1], case[2], "±"):gsub("^%-nan", "nan")
    lu.assertEquals(text, case[3])
  end
end

-- ------------ pictures

TestPictures = {}

local function drawn(rows) return pictures.figures(groups.of(rows)) end

function TestPictures:test_results_without_a_finite_number_have_no_picture()
  for _, value in ipairs{ 0 / 0, 1 / 0, -1 / 0 } do
    for _, options in ipairs{ { 1, 2, 3 }, { "a", "b", "c" }, { 1, 10, 1 / 0 } } do
      local rows = {}
      for i, option in ipairs(options) do
        rows[i] = row({ T = option }, { bad = value, good = i })
      end
      local list = drawn(rows)
      lu.assertEquals({ #list, list[1].result }, { 1, "good" })
    end
  end
end

function TestPictures:test_each_result_against_each_number()
  local list = drawn(grid({ 10, 100, 1000 }, { 0.1, 1, 10 }, 3))
  lu.assertEquals(#list, 4)
  lu.assertEquals({ list[1].option, list[2].option }, { "T", "lambda" })
  lu.assertEquals({ list[3].result, list[3].option }, { "seconds", "T" })
  local panel = list[1].figure.panels[1]
  lu.assertTrue(panel.x.log)
  lu.assertEquals(#panel.layers, 3)
  lu.assertEquals({ panel.layers[2].label, panel.legend_title }, { "1", "lambda" })
  lu.assertEquals(panel.layers[2].x, { 10, 100, 1000 })
  lu.assertAlmostEquals(panel.layers[2].y[3], 0.003, 1e-12)
  lu.assertAlmostEquals(panel.layers[2].high[3], 0.003 + 0.001 / math.sqrt(3), 1e-12)
end

function TestPictures:test_a_linear_axis_for_evenly_spaced_numbers()
  local panel = drawn(grid({ 10, 20, 30 }, { 1 }, 1))[1].figure.panels[1]
  lu.assertFalse(panel.x.log)
  lu.assertNil(panel.layers[1].label)
  lu.assertNil(panel.layers[1].low)
end

function TestPictures:test_too_many_lines_are_averaged_and_it_is_told()
  local rows = {}
  for _, t in ipairs{ 1, 2, 3 } do
    for _, a in ipairs{ "x", "y" } do
      for b = 1, 5 do rows[#rows + 1] = row({ T = t, a = a, b = "b" .. b }, { e = t }) end
    end
  end
  local panel = drawn(rows)[1].figure.panels[1]
  lu.assertEquals(#panel.layers, 5)
  lu.assertEquals(panel.notes, { "means over all values of a" })
  lu.assertNil(panel.layers[1].low, "values of a are no repetitions: their spread is no error")
end

function TestPictures:test_a_single_seed_has_no_band_beside_those_of_several()
  local rows = grid({ 10, 100 }, { 1 }, 3)
  rows[#rows + 1] = row({ T = 1000, lambda = 1, seed = 1, data = "wdbc" }, { error = 0.002 })
  local layer = drawn(rows)[1].figure.panels[1].layers[1]
  lu.assertTrue(layer.low[2] < layer.y[2] and layer.y[2] < layer.high[2])
  lu.assertEquals(layer.y[3], 0.002)
  lu.assertNotEquals(layer.low[3], layer.low[3], "an unknown error is a gap, not 0")
end

function TestPictures:test_bars_where_no_option_is_a_number()
  local list = drawn{ row({ p = "a", seed = 1 }, { e = 1 }), row({ p = "a", seed = 2 }, { e = 3 }),
    row({ p = "b", seed = 1 }, { e = 4 }), row{ p = "c", seed = 1 } }
  lu.assertEquals(#list, 1)
  local panel = list[1].figure.panels[1]
  lu.assertEquals(panel.x.categories, { "a", "b" })
  lu.assertEquals(panel.layers[1].y, { 2, 4 })
  lu.assertEquals(panel.layers[1].high[1], 3)
  lu.assertNotEquals(panel.layers[1].high[2], panel.layers[1].high[2], "of one seed none")
end

-- Two data sets, two methods, three seeds; method b is better on one of them.
local function sets()
  local rows, base = {}, { wdbc = { a = 10, b = 12 }, iris = { a = 30, b = 20 } }
  for _, data in ipairs{ "iris", "wdbc" } do
    for method, start in pairs(base[data]) do
      for seed = 1, 3 do
        rows[#rows + 1] = row({ data = data, method = method, seed = seed },
          { test_error = start + seed ^ 2 + (method == "a" and seed / 10 or 0) }, { seconds = 1 })
      end
    end
  end
  return rows
end

function TestPictures:test_each_data_set_has_a_panel()
  local list = drawn(sets())
  lu.assertEquals({ #list, list[1].result, list[2].result }, { 2, "test_error", "seconds" })
  local panels = list[1].figure.panels
  lu.assertEquals({ #panels, panels[1].title, panels[2].title }, { 2, "iris", "wdbc" })
  lu.assertEquals(panels[2].x.categories, { "a", "b" })
  local rows = {}
  for _, one in ipairs(sets()) do
    for _, T in ipairs{ 10, 20 } do
      local cell = { T = T }
      for name, value in pairs(one.cell) do cell[name] = value end
      -- the first data set has method b alone
      if cell.data == "wdbc" or cell.method == "b" then rows[#rows + 1] = row(cell, one.result) end
    end
  end
  local lines = drawn(rows)[1].figure.panels
  lu.assertEquals({ #lines[1].layers, #lines[2].layers }, { 1, 2 })
end

function TestPictures:test_bars_of_two_options_are_grouped()
  local rows = {}
  for _, p in ipairs{ "a", "b", "c" } do
    for _, q in ipairs{ "x", "y" } do rows[#rows + 1] = row({ p = p, q = q }, { e = #rows + 1 }) end
  end
  local panel = drawn(rows)[1].figure.panels[1]
  lu.assertEquals(panel.x.categories, { "a", "b", "c" })
  lu.assertEquals({ #panel.layers, panel.layers[2].label, panel.layers[2].y[3] }, { 2, "y", 6 })
  lu.assertEquals(panel.legend_title, "q")
end

function TestPictures:test_numbers_that_cannot_be_drawn()
  local list = drawn{ row({ T = 1, seed = 1 }, { e = 0 / 0 }), row({ T = 1, seed = 2 }, { e = 1 }),
    row({ T = 2, seed = 1 }, { e = math.huge }), row({ T = 3, seed = 1 }, { e = 1 }),
    row({ T = 3, seed = 2 }, { e = 2 }) }
  lu.assertStrContains(tostring(list[1].figure), "not")
  lu.assertEquals(drawn{ row({ T = 1 }, { e = 1 }) }, {})
  lu.assertEquals(drawn{ row{ T = 1 }, row{ T = 2 } }, {})
end

-- ------------ pages

TestPages = {}

function TestPages:test_the_best_of_each_data_set_is_marked_and_others_are_compared_with_it()
  local page = report.page({ name = "e", rows = sets(), options = {}, columns = {} })
  local text = table.concat(page.parts, "\n")
  lu.assertStrContains(text, "<h3>data = iris</h3>")
  local _, marked = text:gsub('class="number best"', "")
  lu.assertEquals(marked, 2)
  lu.assertStrContains(text, "Marked: smallest test_error.")
  -- iris: a less b is 10 + seed / 10: 10.2 with a standard error of 0.1 / sqrt(3)
  lu.assertStrContains(text, "10.200 ± 0.058")
  lu.assertStrContains(text, "test_error: best is method = b.")
  lu.assertStrContains(text, "1.800 ± 0.058") -- wdbc: b less a is 2 - seed / 10
end

function TestPages:test_what_is_better_follows_from_the_name()
  local paired = require "scullery.experiment.paired"
  for name, larger in pairs{ accuracy = true, test_error = false, auc_mean = true, seconds = false,
    balanced_accuracy = true, rmse = false } do
    lu.assertEquals(paired.larger(name), larger, name)
  end
  lu.assertNil(paired.larger("features"))
end

local hostile = "<script>alert('x')</script> & \"more\""

local function example()
  local rows = grid({ 10, 100 }, { 0.1, 1 }, 3)
  rows[#rows + 1] = row({ T = 100, lambda = 1, seed = 4, data = "wdbc" }, nil,
    { message = "no luck: " .. hostile, seconds = 0.25 })
  for _, one in ipairs(rows) do
    one.about = { scullery = "0.1.0", time = "2026-01-02T03:04:05Z", machine = "box", threads = 2,
      plugins = { ["sampler.gaussian"] = "1.0" }, script = { path = "a b.lua", sha256 = "abcdef" },
      data = { train = { rows = 5, cols = 2, sha256 = "fedcba9876543210aaaa" } } }
  end
  return { name = "widths " .. hostile, rows = rows, missing = 2, folder = "experiments/widths" }
end

local function page_of(experiment) return report.page(experiment):text() end

function TestPages:test_everything_is_there()
  local text = page_of(example())
  for _, words in ipairs{ "12 cells done, 1 failed, 2 still to run", "3, 1 failed",
    "over the cells that differ in seed alone", "0.10200 ± 0.00058", "no luck: &lt;script&gt;",
    "T = 100, lambda = 1, seed = 4", "scullery &#39;a b.lua&#39;", "data = wdbc",
    "train: 5 x 2, SHA-256 fedcba9876543210", "sampler.gaussian 1.0", "box",
    "2026-01-02T03:04:05Z", "experiments/widths/results.jsonl", "100 MB" } do
    lu.assertNotNil(text:find(words, 1, true), words)
  end
end

function TestPages:test_nothing_of_a_text_is_markup()
  local text = page_of(example())
  lu.assertNotStrContains(text, "<script")
  lu.assertNotStrContains(text, "alert('x')")
end

function TestPages:test_the_page_is_well_formed()
  lu.skipIf(support.shell("python3 -c 'import xml.etree'") ~= 0, "there is no Python")
  local path = support.write(nil, page_of(example()))
  local status, _, err = support.shell(("python3 -c 'import sys, xml.etree.ElementTree as e; \z
    e.parse(sys.argv[1])' %s"):format(path))
  os.remove(path)
  lu.assertEquals(status, 0, err)
end

function TestPages:test_few_and_many_rows()
  lu.assertStrContains(page_of{ name = "none", rows = {} }, "No cell has run yet")
  lu.assertStrContains(page_of{ name = "one", rows = { row({ T = 1 }, { e = 1 }) } }, "1 cell done")
  local failed = page_of{ name = "failed", rows = { row({ T = 1 }, nil, { message = "no" }) } }
  lu.assertStrContains(failed, "0 cells done, 1 failed")
  local rows = {}
  for i = 1, 600 do rows[i] = row({ T = i }, { note = "n" .. i }) end
  local text = page_of{ name = "many", rows = rows }
  lu.assertStrContains(text, "100 more rows are left out")
  lu.assertStrContains(text, "n500<")
  lu.assertNotStrContains(text, "n501<")
end

-- ------------ files

TestFiles = {}

function TestFiles:test_an_experiment_writes_its_report()
  support.in_folder(function(folder)
    local exp = sc.experiment{ name = "squares", folder = folder, allow_failures = true,
      cells = { x = { 1, 2, 3, 4 }, seed = { 1, 2 } }, run = function(cell)
        if cell.x == 4 then error("four is <too much>", 0) end
        return { square = cell.x ^ 2 + cell.seed / 10 }
      end }
    local path = folder .. "/r.html"
    exp:report(path)
    local text = support.read(path)
    lu.assertStrContains(text, "4.150 ± 0.050")
    lu.assertStrContains(text, "four is &lt;too much&gt;")
    lu.assertStrContains(text, "6 cells done, 2 failed")
    for _, given in ipairs{ folder .. "/r.pdf", 5, folder .. "/none/r.html" } do
      support.fails({ "experiment:report" }, exp.report, exp, given)
    end
    local _, listed = support.shell("ls " .. folder)
    lu.assertEquals(listed, "r.html\nsquares\n")
  end)
end

function TestFiles:test_a_browser_shows_it_without_network()
  lu.skipIf(not browser.name(), "there is no chromium")
  support.in_folder(function(folder)
    local path = folder .. "/r.html"
    report.save(example(), path)
    local written, dom = support.read(path), browser.dom(path)
    local function count(text, words) return select(2, text:gsub(words, "")) end
    for _, tag in ipairs{ "<svg", "<pre", "<table", "<tr", "<h2" } do
      lu.assertEquals(count(dom, tag), count(written, tag), tag)
    end
    lu.assertEquals(count(dom, "<figure>"), 4)
    lu.assertEquals(count(dom, "<script"), 0)
    lu.assertStrContains(dom, "widths &lt;script&gt;alert('x')&lt;/script&gt; &amp; \"more\"</h1>")
    for _, words in ipairs{ "%ssrc=", "https?://[^w]", "@import", "url%([^#]" } do
      lu.assertNil(written:find(words), words)
    end
  end)
end

os.exit(lu.LuaUnit.run())
