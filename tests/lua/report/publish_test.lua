-- What scripts that reproduce a table use: options of the command line, lists of numbers, means
-- beside published numbers, and the files that sc.publish writes.
-- luacheck: globals TestArguments TestRange TestComparison TestPublish
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local quote, fails = support.quote, support.fails

-- ------------ sc.arguments

TestArguments = {}

-- Exit status, output and errors of a script that prints its options.
local function options_of(words)
  local path = support.write(support.free_path(".lua"), [[
-- What the script is for.
--
--     scullery script.lua [--quick]
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 10, rate = 0.5, out = "out", two_words = 1 }
print(args.quick, args.seeds, args.rate, args.out, args.two_words, math.type(args.seeds))
]])
  local status, out, err = support.scullery(quote(path) .. " " .. words)
  os.remove(path)
  return status, out, err
end

function TestArguments:test_defaults_and_values()
  lu.assertEquals(select(2, options_of "")
    , "false\t10\t0.5\tout\t1\tinteger\n")
  lu.assertEquals(select(2, options_of "--quick --seeds 3 --rate=2 --out 'a b' --two-words=7"),
    "true\t3\t2.0\ta b\t7\tinteger\n")
end

function TestArguments:test_settings_of_experiments_are_left_to_them()
  lu.assertEquals(select(2, options_of "--set T=1,2 --seeds 4 --set=seed=9"),
    "false\t4\t0.5\tout\t1\tinteger\n")
end

function TestArguments:test_help_is_the_comment_of_the_script()
  local status, out = options_of "--help"
  lu.assertEquals(status, 0)
  lu.assertStrContains(out, "What the script is for.\n")
  lu.assertStrContains(out, "    scullery script.lua [--quick]\n")
  lu.assertStrContains(out, "--seeds a whole number, 10 unless given")
end

-- sc.experiment and sc.publish know them: the folder --out, and names of short runs.
function TestArguments:test_args_of_experiments_and_pages()
  local path, out = support.write(support.free_path(".lua"), [[
local sc = require "scullery"
local args = sc.arguments{ quick = false, out = "out" }
local exp = sc.experiment{ name = "e", args = args, cells = { T = { 1 } },
  run = function() return { x = 1 } end }
sc.publish("paper/e", { args = args, experiment = exp })
]]), support.free_path("")
  local status, _, err = support.scullery(("%s --out %s --quick"):format(quote(path), quote(out)))
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrContains(support.read(out .. "/paper/e_quick.md"), "e_quick: 1 cell done")
  lu.assertStrContains(support.read(out .. "/cells/e_quick/results.jsonl"), '"x":1')
  os.execute("rm -r " .. quote(out))
  os.remove(path)
  fails({ "option 'args'", "what sc.arguments returned" }, sc.publish, "e", { args = { out = 1 } })
end

function TestArguments:test_long_comments_are_no_header()
  local path = support.write(os.tmpname(), "--[[ one\ntwo ]]\n-- three\n")
  lu.assertEquals(require("scullery.base.script_header").lines(path), {})
  os.remove(path)
end

function TestArguments:test_what_is_refused()
  for words, sentence in pairs{ ["--sead 3"] = "no option '--sead' (did you mean '--seeds'?)",
    ["--seeds"] = "--seeds takes a whole number, and nothing follows",
    ["--seeds 1.5"] = "--seeds takes a whole number, and got '1.5'",
    ["--rate=x"] = "--rate takes a number, and got 'x'", ["--quick=1"] = "--quick takes no value",
    ["--out --quick"] = "--out takes a text, and the option '--quick' follows",
    ["stray"] = "there is no option 'stray'" } do
    local status, _, err = options_of(words)
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, sentence)
  end
  fails({ "arguments: ", "takes a table" }, sc.arguments, 3)
  fails({ "option 'a': its default takes false, a number or a text, and got {}" }, sc.arguments,
    { a = {} })
  fails({ "option 'a'", "false by default" }, sc.arguments, { a = true })
  fails({ "'--set'" }, sc.arguments, { set = 1 })
  fails({ "names of options" }, sc.arguments, { 1 })
end

-- ------------ sc.range, sc.clock

TestRange = {}

function TestRange:test_lists_of_numbers()
  lu.assertEquals(sc.range(1, 3), { 1, 2, 3 })
  lu.assertEquals(math.type(sc.range(1, 3)[2]), "integer")
  lu.assertEquals(sc.range(5, 1, -2), { 5, 3, 1 })
  lu.assertEquals(sc.range(2, 1), {})
  local tenths = sc.range(0, 1, 0.1) -- ten steps of a number that binary fractions only come near
  lu.assertEquals(#tenths, 11)
  lu.assertAlmostEquals(tenths[11], 1, 1e-15)
  fails({ "range: ", "'step' takes a number other than 0" }, sc.range, 1, 2, 0)
  fails({ "'last' takes a finite number, and got nil" }, sc.range, 1)
  fails({ "numbers are more than" }, sc.range, 1, 1e12)
  fails({ "numbers are more than" }, sc.range, math.mininteger, math.maxinteger)
  lu.assertEquals(sc.range(math.maxinteger, math.mininteger), {})
  lu.assertEquals(#sc.range(math.maxinteger - 2, math.maxinteger), 3)
end

function TestRange:test_the_clock_goes_on()
  local first = sc.clock()
  while sc.clock() == first do local _ = {} end
  lu.assertTrue(sc.clock() > first)
end

-- ------------ exp:compare

local folder

local function set_up()
  folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. quote(folder)))
end

local function tear_down() assert(os.execute("rm -r " .. quote(folder))) end

-- The result of T and seed 1, 2, 3 is T + 0.01 (seed - 2), so that its mean is T and its standard
-- error 0.01 / sqrt(3).
local function experiment(given)
  return sc.experiment{ name = "e", folder = folder,
    cells = given or { T = { 1, 2 }, method = { "a", "b" }, seed = { 1, 2, 3 } },
    run = function(cell)
      return { error = cell.T + 0.01 * ((cell.seed or 2) - 2), seconds = cell.T / 8 }
    end }
end

TestComparison = { setUp = set_up, tearDown = tear_down }

local published = { [1] = { a = 1.0, b = { 1.5, 0.1 } }, [2] = { a = 2.1 } }

function TestComparison:test_differences_in_standard_errors()
  local c = experiment():compare{ published = published, rows = "T", columns = "method",
    value = "error" }
  local own = 0.01 / math.sqrt(3)
  lu.assertEquals(#c.rows, 4)
  lu.assertEquals(c.rows[1].labels, { "1", "a" })
  lu.assertEquals(c.rows[1].ratio, 0)
  lu.assertAlmostEquals(c.rows[2].difference, -0.5, 1e-12)
  lu.assertAlmostEquals(c.rows[2].ratio, 0.5 / math.sqrt(own ^ 2 + 0.1 ^ 2), 1e-9)
  lu.assertAlmostEquals(c.rows[3].ratio, 0.1 / own, 1e-9)
  lu.assertEquals(c.rows[3].seconds, 0.25)
  lu.assertNil(c.rows[4].published)
  lu.assertEquals(#c:differs(), 2)
  lu.assertEquals(#c:differs(10), 1)
end

function TestComparison:test_rounding_of_the_published_number_is_no_difference()
  local exp = experiment()
  local function ratio(number, digits)
    return exp:compare{ published = { [1] = number }, rows = "T", value = "error",
      where = { method = "a" }, digits = digits }.rows[1].ratio
  end
  lu.assertEquals(ratio(1.04, 1), 0)
  lu.assertAlmostEquals(ratio(1.07, 1), 0.02 / (0.01 / math.sqrt(3)), 1e-6)
  lu.assertAlmostEquals(ratio(1.07), 0.07 / (0.01 / math.sqrt(3)), 1e-6)
end

function TestComparison:test_equal_results_but_for_rounding_have_no_standard_error()
  local c = sc.experiment{ name = "r", folder = folder,
    cells = { T = { 1 }, seed = { 1, 2, 3 } },
    run = function(cell) return { a = 1 + (cell.seed == 1 and 2.0 ^ -52 or 0) } end,
  }:compare{ published = { [1] = 7 }, rows = "T", value = "a" }
  lu.assertEquals(c.rows[1].ratio, math.huge)
end

function TestComparison:test_a_single_cell_has_no_standard_error()
  local c = experiment{ T = { 1 } }:compare{ published = { [1] = 3 }, rows = "T",
    value = "error" }
  lu.assertNil(c.rows[1].ratio)
  lu.assertEquals(#c:differs(), 0)
end

function TestComparison:test_published_numbers_of_one_run_have_the_spread_of_ours()
  local exp, given = experiment(), { published = published, rows = "T", columns = "method",
    value = "error", runs = 1 }
  local c, own = exp:compare(given), 0.01 / math.sqrt(3)
  lu.assertAlmostEquals(c.rows[3].published_error, 0.01, 1e-12)
  lu.assertAlmostEquals(c.rows[3].ratio, 0.1 / math.sqrt(own ^ 2 + 0.01 ^ 2), 1e-9)
  lu.assertEquals(c.rows[2].published_error, 0.1)
  lu.assertStrContains(tostring(c), "of 1 run, are from the spread of ours")
  given.runs = 3
  lu.assertAlmostEquals(exp:compare(given).rows[3].published_error, own, 1e-12)
end

function TestComparison:test_it_prints_and_tells_what_has_no_cell()
  local text = tostring(experiment():compare{ published = { [1] = { a = 1 }, [7] = { a = 2 } },
    rows = "T", columns = "method", value = "error", digits = 2 })
  lu.assertStrContains(text, "T  method  published             ours  difference")
  lu.assertStrContains(text, "1.000 +- 0.0058")
  lu.assertStrContains(text, "1 published number without a cell of ours: 7, a")
end

function TestComparison:test_names_of_several_lines_stay_apart()
  local exp = sc.experiment{ name = "lines", folder = folder, cells = { a = { "x\ny", "x" },
    b = { "z", "y\nz" } }, run = function() return { error = 0 / 0 } end }
  for _, digits in ipairs{ false, 2 } do
    local c = exp:compare{ rows = { "a", "b" }, value = "error", digits = digits or nil,
      published = { ["x\ny"] = { z = 1 }, x = { ["y\nz"] = 2 } } }
    lu.assertEquals({ c.rows[1].published, c.rows[4].published }, { 2, 1 })
    lu.assertNotStrContains(tostring(c), "-nan")
  end
end

function TestComparison:test_it_is_saved()
  local c = experiment():compare{ published = published, rows = "T", columns = "method",
    value = "error" }
  c:save(folder .. "/c.csv")
  lu.assertStrContains(support.read(folder .. "/c.csv"),
    "T,method,published,published_error,mean,error,count,difference,ratio,seconds\n1,a,1,,1,")
end

function TestComparison:test_what_is_refused()
  local exp = experiment()
  local function refused(words, given)
    given.value = given.value or "error"
    fails(words, exp.compare, exp, given)
  end
  refused({ "option 'published'", "has 3 for 1" }, { published = { [1] = 3 }, rows = "T",
    columns = "method" })
  refused({ "takes numbers or { number, standard error }" },
    { published = { [1] = "x" }, rows = "T", where = { method = "a" } })
  refused({ "two numbers for 1" }, { published = { [1] = 3, ["1"] = 4 }, rows = "T",
    where = { method = "a" } })
  refused({ "the option 'method' varies" }, { published = { [1] = 3 }, rows = "T" })
  refused({ "there is no option 'U'" }, { published = { [1] = 3 }, rows = "U" })
  refused({ "there is no result 'eror'", "error" }, { published = {}, rows = "T",
    value = "eror" })
end

function TestComparison:test_a_curve_against_a_result()
  local list = experiment():series{ x = "seconds", along = "T", value = "error",
    series = "method" }
  lu.assertEquals(list[1].x, { 0.125, 0.25 })
  lu.assertEquals(list[2].y, { 1, 2 })
  local exp = experiment()
  fails({ "'seconds' is a result", "along" }, exp.series, exp, { x = "seconds", value = "error",
    series = "method" })
end

-- ------------ sc.publish

TestPublish = { setUp = set_up, tearDown = tear_down }

local plain = { columns = { "name", "value" }, rows = { { "a|b", 1.5 }, { "<c>", 2 } },
  title = "Two rows", notes = { "A note." } }

-- What f prints; its result is the second.
local function printed(f)
  local lines, before, result = {}, print, nil
  print = function(text) lines[#lines + 1] = tostring(text) end -- luacheck: ignore 121
  local ok, message = pcall(function() result = f() end)
  print = before -- luacheck: ignore 121
  if not ok then error(message, 0) end
  return table.concat(lines, "\n"), result
end

function TestPublish:test_numbers_have_four_digits_and_tables_of_results_a_caption()
  local numbers = { columns = { "seconds" }, rows = { { 4.14797 }, { 1234.56 }, { 2e-5 } } }
  local exp = sc.experiment{ name = "caption", folder = folder,
    cells = { T = { 1, 2 }, seed = { 1, 2 } }, run = function(cell)
      return { error = cell.T + 0.01 * cell.seed }
    end }
  local stem = folder .. "/numbers"
  printed(function()
    return sc.publish(stem, { title = "N", tables = { numbers, exp:table() } })
  end)
  local markdown = support.read(stem .. ".md")
  lu.assertStrContains(markdown, "| 4.148 |\n| 1235 |\n| 2e-05 |\n")
  lu.assertStrContains(markdown, "error, means over seed\n\n| T | error |")
end

function TestPublish:test_files_of_tables_and_figures()
  local fig = sc.plot.line{ x = { 1, 2 }, y = { 1, 2 }, title = "A line" }
  local stem = folder .. "/deep/er/table1"
  local said, paths = printed(function()
    return sc.publish(stem, { title = "Rows", tables = { plain, plain }, figures = { fig, fig } })
  end)
  lu.assertStrContains(said, "a|b     1.5")
  for _, path in ipairs(paths) do lu.assertTrue(#support.read(path) > 0) end
  local markdown = support.read(stem .. ".md")
  lu.assertStrContains(markdown, "### Rows\n")
  lu.assertStrContains(markdown, "| a\\|b | 1.5 |")
  lu.assertStrContains(markdown, "|---|---:|")
  lu.assertStrContains(support.read(stem .. ".html"), "&lt;c&gt;")
  lu.assertEquals(support.read(stem .. "_2.csv"), "name,value\na|b,1.5\n<c>,2\n")
  if fig:svg() then
    lu.assertStrContains(markdown, "![A line](table1.svg)\n\n*A line*\n")
    lu.assertStrContains(support.read(stem .. "_2.svg"), "<svg")
  end
end

function TestPublish:test_strange_names_and_cells()
  local stem = folder .. "/a (b)"
  local odd = { title = "T", columns = { "n", "text" }, rows = { { 0 / 0, "x\ny <b>" }, { 1.5 } } }
  local fig = sc.plot.line{ x = { 1, 2 }, y = { 1, 2 }, title = "A line" }
  printed(function()
    return sc.publish(stem, { title = "One\ntitle", tables = { odd }, figures = { fig } })
  end)
  local markdown = support.read(stem .. ".md")
  lu.assertStrContains(markdown, "### One title\n")
  lu.assertStrContains(markdown, "|---:|---|\n| nan | x y &lt;b> |\n| 1.5 |  |\n")
  if fig:svg() then lu.assertStrContains(markdown, "(a%20%28b%29.svg)") end
  lu.assertEquals(support.read(stem .. ".csv"):match("\n(%a+),"), "nan")
end

function TestPublish:test_without_gnuplot_pictures_are_text()
  local path = support.write(folder .. "/s.lua", ([[
-- A title.
--
-- Words of a paragraph
-- on two lines.
--
--     scullery s.lua
--
-- Reasons:
-- - one, which
--   goes on
-- - two
local sc = require "scullery"
sc.publish(%q, { figures = { sc.plot.line{ x = { 1, 2 }, y = { 1, 2 } } } })
]]):format(folder .. "/t"))
  local status, out = support.shell("PATH=/nowhere " .. quote(support.binary) .. " " .. quote(path))
  lu.assertEquals(status, 0)
  lu.assertStrContains(out, folder .. "/t.txt")
  local markdown = support.read(folder .. "/t.md")
  lu.assertStrContains(markdown, "### A title\n\nWords of a paragraph on two lines.\n\n```text\n\z
    scullery s.lua\n```\n\nReasons:\n- one, which goes on\n- two\n")
  lu.assertStrContains(support.read(folder .. "/t.html"), "<li>one, which goes on</li>")
end

function TestPublish:test_an_experiment_with_its_costs()
  local exp = experiment()
  local stem = folder .. "/e1"
  printed(function()
    return sc.publish(stem, { experiment = exp, tables = {
      exp:table{ value = "error", title = "All errors" },
      exp:compare{ published = published, rows = "T", columns = "method", value = "error" } } })
  end)
  lu.assertStrContains(support.read(stem .. ".csv"), "method,seed,error")
  lu.assertStrContains(support.read(stem .. ".md"), "12 cells done; ")
  lu.assertStrContains(support.read(stem .. ".md"), "All errors\n")
  lu.assertStrContains(support.read(stem .. ".md"), "| 1.50 ± 0.10 |")
  lu.assertStrContains(support.read(stem .. ".html"), "How to reproduce")
end

-- Cells of versions without a commit are of an unknown build; unlike builds are counted.
function TestPublish:test_the_page_names_the_builds_of_its_cells()
  local function line(seed, about)
    return ('{"cell":{"seed":%d},"result":{"x":1},"status":"done","seconds":1%s}\n'):format(seed,
      about)
  end
  local old = ',"scullery":"0.1.0","instruction_set":"avx512","threads":2'
  local new = ',"scullery":"0.2.0","commit":"0123456789ab","instruction_set":"avx2","threads":1'
  os.execute("mkdir -p " .. quote(folder .. "/b"))
  support.write(folder .. "/b/results.jsonl", '{"format":"scullery experiment","version":1,\z
    "name":"b","created":"2026-01-01T00:00:00Z"}\n' .. line(1, old) .. line(2, old) .. line(3, new))
  local stem, exp = folder .. "/page", sc.experiment.open("b", { folder = folder })
  printed(function() return sc.publish(stem, { experiment = { exp, exp } }) end)
  local said = "b: 3 cells done; 3 s in all; by an unknown build of Scullery 0.1.0, avx512, \z
    2 threads (2 cells); by Scullery 0.2.0, commit 0123456789ab, avx2, 1 thread (1 cells).\n"
  lu.assertStrContains(support.read(stem .. ".md"), said .. "\n" .. said)
  lu.assertStrContains(support.read(stem .. ".html"), "0123456789ab")
  printed(function() return sc.publish(stem, { tables = { plain } }) end)
  lu.assertStrContains(support.read(stem .. ".md"), "Computed with this page by " ..
    require("scullery.experiment.builds").now() .. ".\n")
end

-- A run on stand-ins: neither the script's conclusions nor published numbers; formulas stay.
function TestPublish:test_a_stand_in_is_compared_with_nothing()
  local path = support.write(folder .. "/s.lua", ([[
-- A title.
--
--     scullery s.lua
--
-- We differ by 93 standard errors.
local sc = require "scullery"
local exp = sc.experiment{ name = "s", folder = %q, cells = { T = { 1, 2 } },
  run = function(cell) return { error = cell.T } end }
local function compare(label)
  return exp:compare{ published = { [1] = 17.25, [2] = 2.5 }, rows = "T", value = "error",
    label = label }
end
sc.publish(%q, { experiment = exp, stand_in = arg[1] == "quick" and "two rows",
  tables = { compare(), compare "formula", false } })
]]):format(folder, folder .. "/t"))
  local function page(arguments)
    local status, out = support.scullery(quote(path) .. " " .. arguments)
    lu.assertEquals(status, 0)
    return support.read(folder .. "/t.md"), out
  end
  local full, short = page "", page "quick"
  lu.assertStrContains(full, "93 standard errors")
  lu.assertStrContains(full, "| T | published | ours | difference | standard errors |")
  for _, words in ipairs{ "93 standard", "published |" } do
    lu.assertNotStrContains(short, words)
  end
  lu.assertStrContains(short, "### A title (short run)\n\n```text\nscullery s.lua\n```\n\n\z
    A short run, on two rows,")
  lu.assertStrContains(short, "| T | ours | seconds |")
  lu.assertStrContains(short, "| T | formula | ours | difference |")
  local _, out = page "quick"
  lu.assertEquals(select(2, out:gsub("17.25", "")), 1)
  lu.assertStrContains((page "x --set T=2"), "Run with --set, T = 2: the numbers are of these")
  fails({ "'stand_in' got 3; it takes a text or false" }, sc.publish, folder .. "/x",
    { tables = { plain }, stand_in = 3 })
end

function TestPublish:test_what_is_refused()
  fails({ "publish: takes a path without an ending" }, sc.publish, "x/")
  fails({ "publish: takes a path without an ending" }, sc.publish, 3)
  fails({ "option 'tables': number 1 is 3" }, sc.publish, folder .. "/x", { tables = { 3 } })
  for name, wrong in pairs{ columns = { {} }, rows = { { 1, 2 } }, title = {}, notes = "n" } do
    local one = { columns = { "a" }, rows = { { 1 } } }
    one[name] = wrong
    fails({ "option 'tables': '" .. name .. "' of table 1 takes" }, sc.publish, folder .. "/x",
      { tables = { one } })
  end
  fails({ "option 'tables' got 3" }, sc.publish, folder .. "/x", { tables = 3 })
  fails({ "option 'figures': number 1 is {}" }, sc.publish, folder .. "/x", { figures = { {} } })
  fails({ "option 'experiment'" }, sc.publish, folder .. "/x", { experiment = {} })
  fails({ "there is nothing to publish" }, sc.publish, folder .. "/x", { title = "t" })
  lu.assertNil(io.open(folder .. "/x.md"))
end

os.exit(lu.LuaUnit.run())
