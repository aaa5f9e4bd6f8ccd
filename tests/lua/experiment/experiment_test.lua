--- Experiments: which cells there are, what is recorded, failures, files, and sentences.
--- experiment_going_on_test.lua has what is kept and run again, experiment_workers_test.lua
--- workers, full disks and kills, experiment_results_test.lua what is made of the results.
-- luacheck: globals TestCells TestSet TestRecords TestFailures TestFiles
-- luacheck: ignore 212/self
local lu = require "luaunit"
local core = require "scullery.core"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local experiments = dofile("tests/helpers/experiments.lua")

local quote, fails = support.quote, support.fails
local experiment, file, lines, ran = experiments.run, experiments.file, experiments.lines,
  experiments.ran
local folder

local function set_up() folder = experiments.set_up() end

local function constant() return { error = 0.5 } end

-- ------------ cells

TestCells = { setUp = set_up, tearDown = experiments.tear_down }

function TestCells:test_a_grid_is_all_combinations_the_last_name_fastest()
  lu.assertEquals(ran{ cells = { b = { 1, 2 }, a = { "x", "y" }, c = true } },
    { "a=x b=1 c=true", "a=x b=2 c=true", "a=y b=1 c=true", "a=y b=2 c=true" })
end

function TestCells:test_a_list_of_tables_and_lists_as_values()
  lu.assertEquals(ran{ cells = { { T = 5 }, { layers = { 3, 4 } }, { T = 5, s = "x" } } },
    { "T=5", "layers=3+4", "T=5 s=x" })
  lu.assertEquals(ran{ name = "g", cells = { layers = { { 1, 2 }, { 3 } } } },
    { "layers=1+2", "layers=3" })
end

function TestCells:test_choices_give_their_values()
  lu.assertEquals(ran{ cells = { T = sc.choose.log{ 1, 100, count = 3 } } },
    { "T=1", "T=10", "T=100" })
end

function TestCells:test_the_order_of_names_and_the_kind_of_a_number_do_not_matter()
  lu.assertEquals(ran{ cells = { { a = 1, b = 2 }, { b = 3, a = 1 } } }, { "a=1 b=2", "a=1 b=3" })
  lu.assertEquals(ran{ cells = { { b = 2.0, a = 1.0 }, { a = 1, b = 3 } } }, {})
end

function TestCells:test_a_cell_is_a_copy()
  local cells = { { list = { 1, 2 } }, { list = { 3 } } }
  local exp = experiment{ cells = cells, run = function(cell)
    cell.list[1], cell.more = 99, 1
    return {}
  end }
  lu.assertEquals(exp.rows[1].cell, { list = { 1, 2 } })
  lu.assertEquals(cells[1].list, { 1, 2 })
end

function TestCells:test_infinity_is_a_value()
  local exp = experiment{ cells = { r = { 1, math.huge, -math.huge } } }
  lu.assertEquals(exp.rows[2].cell.r, math.huge)
  lu.assertEquals(sc.experiment.open("e", { folder = folder }).rows[1].cell.r, -math.huge)
end

function TestCells:test_what_is_refused()
  for words, cells in pairs{ ["cells.T holds 1 twice"] = { T = { 1, 1.0 } },
    ["cells[2] is the same as cells[1]"] = { { T = 1 }, { T = 1 } },
    ["cells.T[1] is nan"] = { T = { 0 / 0 } }, ["is empty"] = {},
    ["cells.T[2] is a function"] = { T = { 1, print } },
    ["cells.T is {}; a grid takes a list"] = { T = {} },
    ["cells[2] is 3; a cell is a table"] = { { T = 1 }, 3 },
    ["cells.T[1] is a text that is not UTF-8"] = { T = { "\xff" } },
    ["has the option 1"] = { [1] = { 1 }, [3] = { 2 } },
    ["more than 100000 cells"] = { a = sc.choose.range{ 1, 1000, count = 1000 },
      b = sc.choose.range{ 1, 1000, count = 1000 } },
    ["cells.T[1] is a 2 x 1 matrix"] = { T = { sc.ones(2, 1) } } } do
    fails({ "experiment: ", words }, experiment, { cells = cells })
  end
  fails({ "option 'cells' got 3; it takes a grid" }, experiment, { cells = 3 })
  local loop = {}
  loop[1] = loop
  fails({ "cells.T[1]" }, experiment, { cells = { T = { loop } } })
end

function TestCells:test_names_are_folders_that_lead_nowhere_else()
  for _, name in ipairs{ "../x", "a/b", "", ".", "..", ".x", "-x", "a b", "a\0b", "\xc3\xa4",
    ("x"):rep(101), 3 } do
    fails({ "option 'name' takes up to 100 letters" }, experiment, { name = name })
    fails({ "option 'name' takes up to 100 letters" }, experiment, { name = name, args = {} })
  end
  fails({ "option 'name' is missing" }, sc.experiment, { cells = { 1 }, run = constant })
  fails({ "unknown option 'proceses'", "processes" }, experiment, { proceses = 2 })
  fails({ "option 'run' is missing" }, sc.experiment, { name = "e", cells = { T = 1 } })
end

-- ------------ --set

TestSet = { setUp = set_up, tearDown = experiments.tear_down }

local set_script = [[
local cells = ... == "list" and { { T = 1, s = "a" }, { T = 2, s = "b", more = true } }
  or { T = { 1, 2 }, s = { "a", "b" }, flag = false }
local list = {}
sc.experiment{ name = "e", folder = %q, cells = cells, run = function(cell)
  list[#list + 1] = ("%%s%%s%%s"):format(cell.T, cell.s, cell.flag)
  return {}
end }
print(table.concat(list, " "))
]]

-- What the cells of a fresh experiment are with these arguments.
local function set(arguments)
  os.execute("rm -rf " .. quote(folder .. "/e"))
  local script = support.write(file("set.lua"), set_script:format(folder))
  return support.scullery(("%s %s"):format(quote(script), arguments))
end

function TestSet:test_values_of_a_grid_are_replaced()
  for arguments, wanted in pairs{ ["--set T=7"] = "7afalse 7bfalse",
    ["--set T=1e1,3 --set s=c"] = "10.0cfalse 3cfalse",
    ["--set=flag=true --set T=1 --set s=a"] = "1atrue",
    ["x --set s=1,2 --set T=1 y"] = "11false 12false",
    ["--set T=5,5 --set s=a"] = "5afalse" } do
    local status, out, err = set(arguments)
    lu.assertEquals({ arguments, status, out, err }, { arguments, 0, wanted .. "\n", "" })
  end
end

function TestSet:test_values_of_a_list_are_replaced_and_cells_that_become_alike_are_one()
  lu.assertEquals(select(2, set "list --set s=c"), "1cnil 2cnil\n")
  lu.assertEquals(select(2, set "list --set s=c,d --set T=5"), "5cnil 5dnil 5cnil 5dnil\n")
end

function TestSet:test_of_a_list_it_takes_the_cells_with_a_value_that_is_there()
  lu.assertEquals(select(2, set "list --set s=b"), "2bnil\n")
  lu.assertEquals(select(2, set "list --set T=1,5"), "1anil 5anil 5bnil\n")
  lu.assertEquals(select(2, set "list --set more=true"), "1anil 2bnil\n")
end

function TestSet:test_values_that_hold_commas()
  local script = support.write(file("commas.lua"), ([=[
local sc = require "scullery"
local exp = sc.experiment{ name = "c", folder = %q, cells = { m = { "a, b", "a", "c" } },
  run = function() return {} end }
print(table.concat(exp:values "m", "; "))
]=]):format(folder))
  for given, taken in pairs{ ["a, b"] = "a, b", ["a"] = "a", ["c,a, b"] = "a, b; c" } do
    local status, out = support.scullery(("%s --set m=%s"):format(quote(script), quote(given)))
    lu.assertEquals({ status, out }, { 0, taken .. "\n" })
  end
end

-- A script of two experiments with options of their own.
function TestSet:test_options_of_other_experiments()
  local script = support.write(file("two.lua"), ([=[
local sc = require "scullery"
for _, one in ipairs{ { "a", "T", "m" }, { "b", "m", ... } } do
  local exp = sc.experiment{ name = one[1], folder = %q, cells = { [one[2]] = { 1, 2 } },
    run = function() return {} end, other_options = { one[3] } }
  print(#exp.rows)
end
]=]):format(folder))
  lu.assertEquals({ support.scullery(quote(script) .. " T --set T=1") }, { 0, "1\n2\n", "" })
  lu.assertEquals(select(2, support.scullery(quote(script) .. " T --set m=1")), "2\n1\n")
  local status, _, err = support.scullery(quote(script) .. " --set T=1")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "the cells have no option 'T'")
  fails({ "'other_options' got", "a list of names" }, experiment, { other_options = { 3 } })
end

function TestSet:test_what_is_refused()
  for arguments, words in pairs{ ["--set TT=3"] = "have no option 'TT' (did you mean 'T'?)",
    ["--set T=x"] = "the option 'T' is a number, and got 'x'", ["--set T"] = "name=value",
    ["--set"] = "nothing follows", ["--set T=1,,2"] = "a value is missing",
    ["--set T=nan"] = "the option 'T' is a number, and got 'nan'",
    ["--set T=1 --set T=2"] = "gives 'T' twice", ["--set flag=1"] = "is a boolean, and got '1'" } do
    local status, _, err = set(arguments)
    lu.assertEquals({ arguments, status }, { arguments, 1 })
    lu.assertStrContains(err, words)
  end
end

function TestSet:test_other_arguments_are_the_scripts()
  lu.assertEquals((set "--sett T=7 -x 3 -- --set T=8"), 0)
end

-- ------------ what is recorded

TestRecords = { setUp = set_up, tearDown = experiments.tear_down }

function TestRecords:test_a_row_says_what_it_took_and_what_it_was_run_with()
  local ds = sc.dataset{ X = sc.randn{ 20, 3, seed = 1 }, y = sc.randn{ 20, 1, seed = 2 } }
  local exp = experiment{ data = { train = ds }, run = function(_, context)
    sc.pipeline{ sc.solver.ridge() }:fit(ds)
    return { error = 0.25, count = 3, text = "a\n\"b\", \u{e4}", flag = true, seed = context.seed }
  end }
  local row, about = exp.rows[1], exp.rows[1].about
  lu.assertEquals({ row.status, row.message, row.cell }, { "done", nil, { T = 1 } })
  lu.assertEquals({ row.result.error, row.result.text, row.result.flag },
    { 0.25, "a\n\"b\", \u{e4}", true })
  lu.assertEquals(math.type(row.result.count), "integer")
  lu.assertTrue(row.seconds > 0 and row.processor_seconds > 0 and row.memory > 1e6)
  lu.assertEquals({ about.scullery, about.threads, about.instruction_set, about.seed },
    { core.version, core.threads(), core.instruction_set(), row.result.seed })
  lu.assertEquals(about.commit or "", core.commit)
  lu.assertEquals(about.data.train, { rows = 20, cols = 3, sha256 = core.fingerprint(ds.X, ds.y) })
  lu.assertStrMatches(about.time, "%d+%-%d%d%-%d%dT%d%d:%d%d:%d%dZ")
  lu.assertEquals(about.plugins["solver.ridge"], core.version)
  lu.assertEquals(about.script.sha256, core.sha256(about.script.path))
  lu.assertNotEquals(about.seed, exp.rows[2].about.seed)
end

function TestRecords:test_what_json_has_not_comes_back()
  experiment{ cells = { i = { 1 } }, run = function()
    return { a = 0 / 0, b = math.huge, c = -math.huge, d = 1e-310, e = 0.1, f = -0.0 }
  end }
  local result = sc.experiment.open("e", { folder = folder }).rows[1].result
  lu.assertTrue(result.a ~= result.a and 1 / result.f == -math.huge)
  lu.assertEquals({ result.b, result.c, result.d, result.e }, { math.huge, -math.huge, 1e-310,
    0.1 })
end

function TestRecords:test_each_result_is_on_the_disk_before_the_next_cell_begins()
  local seen = {}
  experiment{ cells = { i = { 1, 2, 3 } }, run = function(cell)
    seen[cell.i] = cell.i == 1 and 0 or #lines() - 1
    return {}
  end }
  lu.assertEquals(seen, { 0, 1, 2 })
end

function TestRecords:test_chance_is_that_of_the_cell_whatever_ran_before()
  local function run() return { x = math.random() } end
  local one = experiment{ cells = { i = { 1, 2, 3 } }, run = run }
  local other = experiment{ name = "f", cells = { i = { 3, 2 } }, run = run }
  lu.assertEquals(one.rows[3].result.x, other.rows[1].result.x)
  lu.assertNotEquals(one.rows[1].result.x, one.rows[2].result.x)
end

function TestRecords:test_the_context_of_a_cell()
  local seen = {}
  experiment{ run = function(_, context) seen[#seen + 1] = context return {} end }
  lu.assertEquals({ seen[2].name, seen[2].folder, seen[2].index, seen[2].count },
    { "e", folder .. "/e", 2, 2 })
  lu.assertEquals({ #seen[2].key, math.type(seen[2].seed) }, { 64, "integer" })
end

-- ------------ cells that fail

TestFailures = { setUp = set_up, tearDown = experiments.tear_down }

local function half(cell)
  if cell.T == 1 then error("no luck", 0) end
  return { error = cell.T }
end

function TestFailures:test_the_others_go_on_and_then_it_is_an_error()
  fails({ "experiment 'e': 1 of 2 cells failed; the first, {T = 1}: no luck", folder,
    "allow_failures = true" }, experiment, { run = half })
  local exp = sc.experiment.open("e", { folder = folder })
  lu.assertEquals({ exp.failed, exp.rows[1].message, exp.rows[2].result }, { 1, "no luck",
    { error = 2 } })
end

function TestFailures:test_they_are_allowed_where_one_says_so()
  local exp = experiment{ run = half, allow_failures = true }
  lu.assertEquals({ exp.failed, exp.rows[1].status, exp.rows[1].result }, { 1, "failed", {} })
  lu.assertStrContains(tostring(exp:table()), "1 cell failed and is not counted")
end

function TestFailures:test_they_run_again_unless_one_says_no()
  local count = 0
  local function run(cell)
    count = count + 1
    if cell.T == 1 and count < 4 then error "not yet" end
    return {}
  end
  experiment{ run = run, allow_failures = true }
  lu.assertEquals(experiment{ run = run, allow_failures = true, retry = false }.failed, 1)
  lu.assertEquals(count, 2)
  lu.assertEquals(experiment{ run = run, allow_failures = true }.failed, 1)
  lu.assertEquals(experiment{ run = run }.failed, 0)
  lu.assertEquals({ count, #lines() }, { 4, 1 + 4 })
end

function TestFailures:test_the_status_of_a_script_is_1()
  local script = support.write(file("s.lua"), ([[sc.experiment{ name = "e", folder = %q,
    cells = { T = { 1, 2 } }, run = function(c) return c.T == 1 and { x = 1 } end }]]):format(
    folder))
  local status, _, err = support.scullery(quote(script))
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "the first, {T = 2}: run returned false; it takes a table such as")
end

function TestFailures:test_results_that_are_no_flat_table()
  for words, result in pairs{ ["run returned nothing"] = false, ["run returned 3"] = 3,
    ["x = {1}; results are numbers"] = { x = { 1 } }, ["x = a function"] = { x = print },
    ["with the key 1"] = { 5 }, ["not UTF-8"] = { x = "\xff" }, ["at most 1000000"] =
    { x = ("x"):rep(1000001) } } do
    local exp = experiment{ name = "n" .. #words, allow_failures = true,
      run = function() return result or nil end }
    lu.assertEquals(exp.failed, 2)
    lu.assertStrContains(exp.rows[1].message, words)
  end
end

function TestFailures:test_whatever_is_raised_is_told()
  local raised = { setmetatable({}, { __tostring = function() return "in words" end }),
    { message = "a field" }, "bytes \xff \0 ", ("long"):rep(10000),
    setmetatable({}, { __tostring = function() error "no" end }), 7, false, {} }
  local exp = experiment{ cells = { i = { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, allow_failures = true,
    run = function(cell) error(raised[cell.i], 0) end }
  local said = {}
  for i, row in ipairs(exp.rows) do said[i] = row.message end
  lu.assertEquals({ said[1], said[2], said[3], #said[4] }, { "in words", "a field", "bytes ? ? ",
    2000 })
  lu.assertEquals({ said[5], said[6], said[7] }, { "an error that is a table", "7", "false" })
  lu.assertEquals({ said[8], said[9] }, { "an error that is a table", "an error that is nil" })
end

function TestFailures:test_a_cell_that_would_end_the_script()
  local exit = os.exit
  local exp = experiment{ allow_failures = true, run = function(cell)
    if cell.T == 1 then os.exit(0) end
    return {}
  end }
  lu.assertEquals(exp.rows[1].message, "the cell called os.exit")
  lu.assertEquals(exp.rows[2].status, "done")
  lu.assertIs(os.exit, exit)
end

function TestFailures:test_ctrl_c_is_no_failure_and_stops_all()
  local count = 0
  fails({ "interrupted!" }, experiment, { cells = { i = { 1, 2, 3 } }, run = function(cell)
    count = count + 1
    if cell.i == 2 then
      core.interrupt()
      sc.pipeline{ sc.solver.ridge() }:fit(sc.ones(100, 2), sc.ones(100, 1))
    end
    return {}
  end })
  lu.assertEquals({ count, #lines() }, { 2, 2 })
end

function TestFailures:test_a_sentence_about_an_interrupt_is_a_failure_as_any()
  local raised = { "text with interrupted! inside", { message = "it was interrupted! yes" } }
  local exp = experiment{ cells = { i = { 1, 2, 3 } }, allow_failures = true,
    run = function(cell)
      if raised[cell.i] then error(raised[cell.i], 0) end
      return {}
    end }
  lu.assertEquals({ exp.failed, exp.rows[1].message, exp.rows[2].message, exp.rows[3].status },
    { 2, "text with interrupted! inside", "it was interrupted! yes", "done" })
end

-- The error of a search carries the cells that it finished.
function TestFailures:test_ctrl_c_in_a_search_of_a_cell_stops_all()
  local X = sc.randn{ 60, 2, seed = 1 }
  local ds = sc.dataset{ X = X, y = X:column(1) }
  local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose{ 0.5, 1, 2 } },
    phi = sc.nonlinearity.fourier(), T = 5, seed = 1 }, sc.solver.ridge{ lambda = 1 } }
  local count, raised = 0, nil
  fails({ "interrupted!" }, experiment, { cells = { i = { 1, 2 } }, run = function()
    count = count + 1
    local ok
    ok, raised = pcall(p.search, p, ds, { folds = 3, progress = function(report)
      if report.stage == "search" and report.done == 1 then core.interrupt() end
    end })
    if not ok then error(raised, 0) end
    return {}
  end })
  lu.assertEquals({ count, type(raised), #lines() }, { 1, "table", 1 })
end

function TestFailures:test_an_experiment_within_its_own_cell()
  assert(os.execute("ln -s . " .. quote(folder .. "/link")))
  for _, other in ipairs{ "", "/", "/.", "//.//", "/link", "/e/.." } do
    local message
    experiment{ name = "e", cells = { other = { other } }, rerun = "never", run = function()
      message = select(2, pcall(sc.experiment, { name = "e", folder = folder .. other,
        cells = { other = { other } }, run = constant }))
      return {}
    end }
    lu.assertStrContains(message, "the experiment 'e' runs already: this is a cell of it")
  end
end

-- ------------ files

TestFiles = { setUp = set_up, tearDown = experiments.tear_down }

function TestFiles:test_folders_that_cannot_be_used()
  support.write(file("plain"), "x")
  fails({ "plain" }, experiment, { folder = file("plain") })
  fails({ "/proc/e" }, experiment, { folder = "/proc" })
  fails({ "there is no such experiment" }, sc.experiment.open, "nothing", { folder = folder })
  fails({ "it takes the path of a folder" }, experiment, { folder = "" })
  experiment{ folder = folder .. "/a/b/c///" }
  lu.assertEquals(#sc.experiment.open("e", { folder = folder .. "/a/b/c" }).rows, 2)
  os.execute("mkdir -p " .. quote(folder .. "/e/results.jsonl"))
  fails({ "results.jsonl: " }, experiment, {})
end

function TestFiles:test_results_that_are_a_pipe()
  os.execute(("mkdir %s && mkfifo %s"):format(quote(folder .. "/e"), quote(file())))
  fails({ "results.jsonl: this is not a plain file" }, experiment, {})
  fails({ "results.jsonl: this is not a plain file" }, sc.experiment.open, "e", { folder = folder })
end

function TestFiles:test_results_that_are_removed_while_it_runs()
  fails({ "results.jsonl: was removed or replaced while it was in use" }, experiment,
    { run = function() os.execute("rm -r " .. quote(folder .. "/e")) return {} end })
end

function TestFiles:test_csv()
  local exp = experiment{ name = "c", allow_failures = true,
    cells = { { T = 1, s = 'a "b", c', status = 2 }, { T = 2.5, list = { 1, 2 } }, { T = 3 } },
    run = function(cell)
      if cell.T == 3 then error("line\nbreak", 0) end
      return { T = cell.T * 0.1, x = cell.T == 1 and "text" or 0 / 0 }
    end }
  exp:save(file("c.csv"))
  local text = support.read(file("c.csv"))
  local first, second, third = text:match("([^\n]*)\n([^\n]*)\n([^\n]*)\n")
  lu.assertEquals(first, "T,list,s,cell.status,result.T,x,status,message,seconds,\z
    processor_seconds,memory,time")
  lu.assertStrContains(second, '1,,"a ""b"", c",2,0.10000000000000001,text,done,,')
  lu.assertStrContains(third, '2.5,"[1,2]",,,0.25,nan,done,,')
  lu.assertStrContains(text, '3,,,,,,failed,"line\nbreak",')
  fails({ "takes the path of a .csv file" }, exp.save, exp, "x.txt")
end

os.exit(lu.LuaUnit.run(), true)
