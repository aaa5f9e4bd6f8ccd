--- Experiments that are run again: what is kept, what is run once more, damaged and packed results,
--- other data, versions and functions.
-- luacheck: globals TestGoingOn
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local experiments = dofile("tests/helpers/experiments.lua")

local quote, fails = support.quote, support.fails
local experiment, file, lines, ran = experiments.run, experiments.file, experiments.lines,
  experiments.ran
local folder

local function set_up() folder = experiments.set_up() end

TestGoingOn = { setUp = set_up, tearDown = experiments.tear_down }

function TestGoingOn:test_what_is_done_is_kept_and_what_is_new_is_run()
  lu.assertEquals(ran{ cells = { i = { 1, 2 } } }, { "i=1", "i=2" })
  local list, exp, said = ran{ cells = { i = { 3, 2 } } }
  lu.assertEquals({ list, #exp.rows }, { { "i=3" }, 2 })
  lu.assertStrContains(said, "experiment e: 1 of 2 cells were done before")
  lu.assertEquals(#sc.experiment.open("e", { folder = folder }).rows, 3)
end

function TestGoingOn:test_a_line_that_was_cut_off_is_run_again()
  ran{ cells = { i = { 1, 2, 3 } } }
  local text = support.read(file())
  local last = text:match("[^\n]*\n$")
  for cut = 1, #last, 97 do
    support.write(file(), text:sub(1, -1 - cut))
    lu.assertEquals(ran{ cells = { i = { 1, 2, 3 } } }, { "i=3" }, cut)
    local _, count = support.read(file()):gsub("\n", "\n")
    lu.assertEquals(count, 4)
  end
end

function TestGoingOn:test_a_torn_line_is_passed_over_by_readers()
  ran{ cells = { i = { 1, 2 } } }
  support.write(file(), support.read(file()):sub(1, -20))
  lu.assertEquals(#sc.experiment.open("e", { folder = folder }).rows, 1)
end

function TestGoingOn:test_a_first_line_that_was_cut_off()
  ran{ cells = { i = { 1 } } }
  local first = support.read(file()):match("^[^\n]*")
  for _, length in ipairs{ 1, 30, #first } do
    support.write(file(), first:sub(1, length))
    fails({ "/e: there is no such experiment" }, sc.experiment.open, "e", { folder = folder })
    lu.assertEquals(ran{ cells = { i = { 1 } } }, { "i=1" })
  end
  support.write(file(), "another's line")
  fails({ "it has no whole line" }, sc.experiment.open, "e", { folder = folder })
  fails({ "it has no whole line" }, experiment)
  lu.assertEquals(support.read(file()), "another's line")
end

function TestGoingOn:test_damage_in_the_middle_is_refused_by_its_line()
  ran{ cells = { i = { 1, 2, 3 } } }
  local text = support.read(file())
  for pattern, by in pairs{ ['"i":2}'] = '"i":4}', ['"status":"done"'] = '"status":"odd"',
    ['{"cell":{"i":2}'] = "x{", ['"key":"%x%x%x'] = '"key":"xyz' } do
    local place = text:find('"i":2}', 1, true)
    local first, rest = text:sub(1, place - 12), text:sub(place - 11)
    local changed = first .. rest:gsub(pattern, by, 1)
    lu.assertNotEquals(changed, text)
    support.write(file(), changed)
    fails({ "results.jsonl: line 3 is damaged" }, sc.experiment.open, "e", { folder = folder })
    fails({ "results.jsonl: line 3 is damaged" }, experiment, { cells = { i = { 9 } } })
    lu.assertEquals(support.read(file()), changed)
  end
end

function TestGoingOn:test_packed_results_come_before_those_of_the_file()
  ran{ cells = { i = { 1, 2 } } }
  local text = support.read(file())
  os.execute("gzip -n " .. quote(file()))
  lu.assertEquals(#sc.experiment.open("e", { folder = folder }).rows, 2)
  lu.assertEquals(ran{ cells = { i = { 1, 2, 3 } } }, { "i=3" })
  lu.assertEquals(#lines(), 2) -- the first line, and the new result
  local all = sc.experiment.open("e", { folder = folder }).rows
  lu.assertEquals({ #all, all[1].cell.i, all[3].cell.i }, { 3, 1, 3 })
  os.remove(file())
  os.execute("gunzip " .. quote(file() .. ".gz"))
  lu.assertEquals(support.read(file()), text)
  support.write(file(), (text:gsub('"status":"done"', '"status":"odd"', 1)))
  os.execute("gzip -n " .. quote(file()))
  fails({ "results.jsonl.gz: line 2 is damaged" }, sc.experiment.open, "e", { folder = folder })
  support.write(file() .. ".gz", "\31\139\8\0cut")
  fails({ "results.jsonl.gz: " }, sc.experiment.open, "e", { folder = folder })
end

function TestGoingOn:test_what_the_packing_script_leaves_out_follows_from_the_cell()
  ran{ cells = { i = { 1, 2 } } }
  local function records()
    local list = require("scullery.experiment.store").read(folder .. "/e").records
    return lu.prettystr(list, false)
  end
  local before = records()
  for _ = 1, 2 do -- what is packed can be packed again
    local status, out, err = support.scullery("scripts/pack.lua " .. quote(folder .. "/e"))
    lu.assertEquals({ status, err }, { 0, "" }, out)
    local _, packed = support.shell("gzip -dc " .. quote(file() .. ".gz"))
    lu.assertStrContains(packed, '"cell":{"i":1}')
    for _, name in ipairs{ "key", "checksum" } do
      lu.assertNotStrContains(packed, '"' .. name .. '"')
    end
    lu.assertNil((io.open(file())))
    local function plain(text) -- seconds and memory are rounded
      return (text:gsub("seconds=[%d.e+-]+", "seconds"):gsub("memory=%d+", "memory"))
    end
    lu.assertEquals(plain(records()), plain(before))
    lu.assertStrMatches(packed, '.*"memory":%d%d0000+,.*')
  end
  lu.assertEquals(ran{ cells = { i = { 1, 2, 3 } } }, { "i=3" })
  lu.assertEquals(#lines(), 2)
end

function TestGoingOn:test_files_of_others()
  os.execute("mkdir " .. quote(folder .. "/e"))
  for text, words in pairs{ ["hello\n"] = "line 1 is damaged", ['{"a":1}\n'] = "its first line is",
    ['{"format":"scullery experiment","version":2,"name":"e"}\n'] = "it has version 2" } do
    support.write(file(), text)
    fails({ words }, experiment, {})
    fails({ words }, sc.experiment.open, "e", { folder = folder })
    lu.assertEquals(support.read(file()), text)
  end
end

function TestGoingOn:test_other_data_are_refused()
  local a = sc.dataset{ X = sc.ones(4, 2), y = sc.ones(4, 1) }
  local b = sc.dataset{ X = sc.zeros(4, 2), y = sc.ones(4, 1) }
  experiment{ data = a }
  experiment{ data = { a } } -- the same
  for _, data in ipairs{ b, { a, b }, { test = a }, false } do
    fails({ "has results of other data (1: 4 x 2, ", "Use another name" }, experiment,
      { data = data or nil })
  end
  fails({ "has results of other data" }, experiment, { data = b, cells = { T = { 7 } } })
  experiment{ name = "unlabelled", data = sc.dataset{ X = sc.ones(4, 2) } }
  fails({ "option 'data' takes a data set" }, experiment, { data = { 3 } })
end

function TestGoingOn:test_other_data_of_a_run_at_the_same_time_are_refused()
  experiment{ name = "other", data = sc.dataset{ X = sc.ones(4, 2), y = sc.ones(4, 1) },
    cells = { T = { 9 } } }
  fails({ "has results of other data (1: 4 x 2, ", "than the script now has (no data)" },
    experiment, { cells = { T = { 1, 2, 3 } }, run = function()
      local line = support.read(file("other/results.jsonl")):match("\n([^\n]*\n)$")
      local out = io.open(file(), "a")
      out:write(line)
      out:close()
      return {}
    end })
end

function TestGoingOn:test_other_versions_scripts_and_columns_are_told()
  local function alter(pattern, by)
    local text, count = support.read(file()):gsub(pattern, by)
    lu.assertTrue(count > 0)
    support.write(file(), (text:gsub(',"checksum":"%x*"', "")))
  end
  experiment()
  lu.assertEquals(select(2, experiment()), "")
  alter('"scullery":"[^"]*"', '"scullery":"0.0.7"')
  lu.assertStrContains(select(2, experiment()), "some cells were run by Scullery 0.0.7")
  alter('"sha256":"%x*"', '"sha256":"00"')
  lu.assertStrContains(select(2, experiment()), "the script has changed")
  local _, said = experiment{ cells = { T = { 1, 2, 3 } }, rerun = "never",
    run = function() return { b = 1 } end }
  lu.assertStrContains(said, "results have the columns b, where earlier ones have error")
  lu.assertNotStrContains(said, "the script has changed")
end

-- A function of a cell, from its text: comments and lines are the text's own.
local function written(text) return assert(load(text))() end

function TestGoingOn:test_results_of_another_function_are_refused_kept_or_run_again()
  local first = written "local f = 2 return function(cell) return { y = f * cell.T } end"
  local same = written "local f = 2\n\nreturn function(cell) -- y\n return { y = f * cell.T } end"
  local other = written "local f = 3 return function(cell) return { y = f * cell.T } end"
  experiment{ run = first }
  lu.assertEquals(select(2, experiment{ run = same }), "")
  fails({ "has results of another function 'run'", 'rerun = "changed"', 'rerun = "never"' },
    experiment, { run = other })
  fails({ "has results of another function 'run'" }, experiment,
    { run = other, cells = { T = { 1, 2, 3 } } })
  lu.assertEquals(#lines(), 3)
  local kept, said = experiment{ run = other, rerun = "never" }
  lu.assertEquals(kept.rows[2].result.y, 4)
  lu.assertStrContains(said, "2 cells are of another function 'run'; they are kept")
  local again, told = experiment{ run = other, rerun = "changed", cells = { T = { 1, 2, 3 } } }
  lu.assertEquals({ again.rows[1].result.y, again.rows[2].result.y, again.rows[3].result.y },
    { 3, 6, 9 })
  lu.assertStrContains(told, "2 cells are of another function 'run'; they run again")
  lu.assertEquals(#lines(), 6)
  experiment{ run = other, cells = { T = { 1, 2, 3 } } } -- all cells are of one function now
  experiment{ run = other, rerun = "changed", cells = { T = { 1, 2, 3 } } }
  lu.assertEquals(#lines(), 6)
  fails({ "experiment: option 'rerun' got", "one of changed, never" }, experiment,
    { rerun = "change" })
end

function TestGoingOn:test_what_counts_as_another_function()
  local digest = require("scullery.experiment.code").digest
  local function differ(a, b) return digest(written(a)) ~= digest(written(b)) end
  local function both(text, a, b) return differ(text:format(a), text:format(b)) end
  lu.assertTrue(both("return function() return { a = %s } end", 1, 2))
  lu.assertTrue(both("local s = %q return function() return { a = s } end", "x", "y"))
  lu.assertTrue(both("local function h() return %s end return function() return h() end", 1, 2))
  lu.assertTrue(both("local b = %s return function() return function() return b end end", "true",
    "false"))
  lu.assertTrue(both("return function() return { %q } end", ("x"):rep(50), ("x"):rep(49) .. "y"))
  -- a counter that the function or one within it assigns, and a table
  lu.assertFalse(both("local n = %d return function() n = n + 1 return {} end", 1, 2))
  lu.assertFalse(both("local n = %d return function() return function() n = n + 1 end end", 1, 2))
  lu.assertFalse(both("local t = { %d } return function() return { a = t[1] } end", 1, 2))
  lu.assertFalse(differ("return function() return 1.5 end",
    "\n\nreturn function()\nreturn 1.5\nend"))
  local placed = "%s local n = 7 return function() return { n } end"
  lu.assertFalse(both(placed, "", "local before"))
  lu.assertNotEquals(digest(written(placed:format ""), true),
    digest(written(placed:format "local before"), true)) -- the rule before
  local loop = "local f, g function f() return g() end function g() return f() + %d end return f"
  lu.assertTrue(both(loop, 1, 2))
end

function TestGoingOn:test_cells_of_one_run_may_have_different_columns()
  local _, said = experiment{ run = function(cell)
    return cell.T == 1 and { a = 1 } or { a = 1, b = 2 }
  end }
  lu.assertEquals(said, "")
end

function TestGoingOn:test_nothing_is_written_where_all_is_done()
  experiment()
  local exp = sc.experiment.open("e", { folder = folder })
  assert(os.execute("chmod -R a-w " .. quote(folder .. "/e")))
  local status, again = pcall(experiment)
  assert(os.execute("chmod -R u+w " .. quote(folder .. "/e")))
  lu.assertTrue(status)
  lu.assertEquals(again.rows, exp.rows)
end

os.exit(lu.LuaUnit.run(), true)
