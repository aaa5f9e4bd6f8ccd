-- Sessions: what the prompt and notebooks make of a text.
local lu = require "luaunit"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"
local session = require "scullery.prompt.session"
local sc = require "scullery"

local environment, s

local function start()
  environment = setmetatable({ sc = sc }, { __index = _G })
  s = session.new{ environment = environment, reseed = false }
end

-- The values of a text that must succeed.
local function values(text)
  local ok, list = s:run(text)
  lu.assertTrue(ok, text .. ": " .. tostring(list))
  return table.unpack(list, 1, list.n)
end

local function message(text)
  local ok, said = s:run(text)
  lu.assertFalse(ok, text)
  return said
end

-- What running a text prints with print and io.stdout.
local function printed(text)
  local path = os.tmpname()
  local file, before = assert(io.open(path, "w")), io.stdout
  local print_before = print
  io.stdout = file -- luacheck: ignore 122
  print = function(...) file:write(table.concat({ ... }, "\t"), "\n") end -- luacheck: ignore 121
  local ok, said = s:run(text)
  io.stdout, print = before, print_before -- luacheck: ignore 121 122
  file:close()
  local out = support.read(path)
  os.remove(path)
  lu.assertTrue(ok, tostring(said))
  return out
end

TestStatus = {}
function TestStatus:setUp() start() end

function TestStatus:test_an_open_block_is_unfinished_whatever_it_holds()
  for _, text in ipairs{ "function f()", "function f()\n  x", "y = 1\nif x then\n  local z = 1",
    "x = 1\nfor i = 1, 2 do f(i)", "t = { function()\n  g()" } do
    lu.assertEquals(s:status(text), "unfinished", text)
  end
  for _, text in ipairs{ "x", "y = 1\nx", "x.y, z", "function f()\n  x = 1\nend\nf" } do
    lu.assertEquals(s:status(text), "whole", text)
  end
end

function TestStatus:test_whole_unfinished_and_invalid()
  local cases = {
    whole = { "", "1", "x", "x = 1", "f()", "for i = 1, 2 do end", "-- comment", "= 3", "1;",
      "local x", "return 1", "x?", "?", "?x", "help x?", ":who", ":nosuch", ":time 1", "'a\\\nb'",
      "x = 1\nx", "::label::", "if x then y = 1 end z()", "[[a]]", "#'x'" },
    unfinished = { "for i = 1, 2 do", "x =", "x = 1 +", "f(", "{", "[[", "t = { 1,", "= 1 +",
      "function f()", "--[[", "if x then\ny()", ":time f(", ":profile for i = 1, 2 do",
      "x = 1\ny =", "local function f()", "repeat", "a.b =", "not", "'a\\z" },
    invalid = { ")", "1 +* 2", "x = = 1", "'abc", "for for", "x y", "end", ":time )", "1 = x",
      "goto nowhere" },
  }
  for status, texts in pairs(cases) do
    for _, text in ipairs(texts) do lu.assertEquals({ text, s:status(text) }, { text, status }) end
  end
end

TestRun = {}
function TestRun:setUp() start() end

function TestRun:test_expressions_give_values_and_statements_act()
  lu.assertEquals({ values "1, 'a', nil, 2" }, { 1, "a", nil, 2 })
  lu.assertEquals(select("#", values "1, nil"), 2)
  lu.assertEquals(select("#", values "x = 5"), 0)
  lu.assertEquals(values "x + 1", 6)
  lu.assertEquals(values "= x", 5)
  lu.assertEquals(values "=x", 5)
  lu.assertEquals(values "return x", 5)
  lu.assertEquals(values "x = 6; x + 1", 7)
  lu.assertEquals(values "local z = { ';' }; #z", 1)
  lu.assertEquals(select("#", values "-- nothing"), 0)
  lu.assertEquals(select("#", values ""), 0)
end

function TestRun:test_a_semicolon_silences()
  lu.assertEquals(select("#", values "1 + 1;"), 0)
  lu.assertEquals(values "_", 2)
  lu.assertEquals(select("#", values "'a' ; -- note"), 0)
  lu.assertEquals(values "'a;'", "a;")
  lu.assertEquals(values "1 -- ;", 1)
end

function TestRun:test_underscore_is_the_last_value()
  values "6 * 7"
  lu.assertEquals(values "_ + 1", 43)
  lu.assertEquals(values "_", 43)
  values "x = 1"
  values "nil"
  lu.assertEquals(values "_", 43)
  values "false"
  lu.assertEquals(values "_", false)
end

function TestRun:test_outermost_locals_are_kept()
  values "local a, b = 1, 2"
  values "local function f(x) return x + b end"
  values "local c"
  lu.assertEquals({ values "a, f(1), c" }, { 1, 3, nil })
  values "a = 5 local d = a + 1 do local e = 3 end"
  lu.assertEquals({ values "d, e" }, { 6, nil })
  values "for i = 1, 2 do local z = i end"
  lu.assertNil(values "z")
  lu.assertStrContains(message "local x <const> = 1; x = 2", "const variable")
  lu.assertEquals(values "local x <const> = 7; return x", 7)
  lu.assertEquals(values "'local y = 1'", "local y = 1")
  values "local g = function() local h = 4 return h end"
  lu.assertEquals({ values "g(), h" }, { 4, nil })
end

function TestRun:test_the_last_expression_of_several_lines_is_the_value()
  lu.assertEquals(values "x = 1\ny = 2\nx + y", 3)
  lu.assertEquals(values "local t = {}\nfor i = 1, 3 do\n  t[i] = i\nend\n#t -- length\n", 3)
  lu.assertEquals(values "local t = {}\nfor i = 1, 3 do\n  t[i] = i\nend\nselect(2,\n  t[3],\n  9)",
    9)
  -- what Lua reads as one call stays one
  values "f = function() return function() return 4 end end"
  values "a = f\n()"
  lu.assertEquals(values "a()", 4)
end

function TestRun:test_errors_are_messages_with_a_line()
  lu.assertEquals(message "error('mine')", "prompt:1: mine")
  lu.assertEquals(message "\n\nerror('mine')", "prompt:3: mine")
  lu.assertStrContains(message ")", "unexpected symbol")
  lu.assertEquals(message "error{ code = 3 }", "(error object: { code = 3 })")
  lu.assertEquals(message "error()", "(error object: nil)")
  lu.assertEquals(message "error(setmetatable({}, { __tostring = function() return 'text' end }))",
    "text")
  lu.assertStrContains(message "error(setmetatable({}, { __tostring = error }))",
    "(error object: a table, whose __tostring fails")
  local ok, said, trace = s:run "error('mine')"
  lu.assertFalse(ok)
  lu.assertStrContains(trace, said)
  lu.assertStrContains(trace, "stack traceback:")
  lu.assertStrContains(message "sc.nosuch", "sc has no 'nosuch'")
  lu.assertStrContains(message "string.rep('x', -1)()", "attempt to call")
  lu.assertStrContains(message "(function f() return f() end)", "expected")
  lu.assertStrContains(message "function f() return 1 + f() end f()", "stack overflow")
end

function TestRun:test_question_marks_ask_for_help()
  lu.assertStrContains(printed "sc.solver.ridge?", "sc.solver.ridge{...}")
  lu.assertStrContains(printed "?sc.solver.ridge", "sc.solver.ridge{...}")
  lu.assertStrContains(printed "?", "Scullery")
  values "p = sc.pipeline{ sc.solver.ridge{} }"
  lu.assertStrContains(printed "p:search?", "p:search(ds")
  lu.assertStrContains(printed "?p:search", "p:search(ds")
  lu.assertStrContains(printed "pipeline:search?", "p:search(ds") -- a name of help
  lu.assertStrContains(printed "ridge?", "sc.solver.ridge{...}") -- a name of help, no variable
  lu.assertStrContains(printed '? "ridge"', "sc.solver.ridge{...}")
  lu.assertStrContains(printed "? exact kernel ridge",
    "Topics whose texts have 'exact kernel ridge':\n  kernel_ridge ")
  -- a phrase comes before its words far apart
  lu.assertStrContains(printed "? leave-one-out",
    "Topics whose texts have 'leave-one-out':\n  ridge ")
  lu.assertStrContains(printed "sc.solver.rigde?", "did you mean")
  values "x = 3"
  lu.assertStrContains(printed "x?", "3, a number")
  lu.assertEquals(values "'what?'", "what?")
end

function TestRun:test_exit_ends_unless_it_is_a_name()
  values "1"
  lu.assertFalse(s.ended)
  values "exit"
  lu.assertTrue(s.ended)
  start()
  values "quit = 5"
  lu.assertEquals({ values "quit", s.ended }, { 5, false })
  values "exit()"
  lu.assertTrue(s.ended)
end

TestCommands = {}
function TestCommands:setUp() start() end

function TestCommands:test_time_tells_seconds_and_gives_the_value()
  lu.assertStrMatches(printed ":time 1 + 1", "[%d.e-]+ [mu]?s\n")
  lu.assertEquals(values "_", 2)
  printed ":time 3, 4"
  lu.assertEquals(values "_", 3)
  lu.assertStrContains(message ":time error('mine')", "mine")
  lu.assertStrContains(message ":time", ":time takes EXPR")
end

function TestCommands:test_bench_runs_it_again_and_again()
  values "count = 0"
  values "f = function() count = count + 1 return count end"
  local said = printed ":bench f()"
  local runs = tonumber(said:match("^(%d+) runs"))
  lu.assertEquals(values "count", runs + 1)
  lu.assertStrMatches(said,
    ".*median [^,]+, half of them between .+ and .+, all between .+ and .+\n")
end

function TestCommands:test_profile_tells_the_stages_and_keeps_the_values()
  local said = printed ":profile sc.pipeline{ sc.solver.ridge{} }:fit(sc.ones(9, 2), sc.ones(9, 1))"
  lu.assertStrContains(said, "normal equations")
  lu.assertStrContains(said, "outside these stages")
  lu.assertEquals({ values ":profile 1 + 1, nil, 3" }, { 2, nil, 3 })
end

function TestCommands:test_who_lists_what_the_user_made()
  lu.assertEquals(printed ":who", "no variables yet\n")
  values "X = sc.zeros(100, 30)"
  values "a, b, f = 1, 'text', function(x) end"
  values "t = { 1, 2, 3, X }"
  values "solver = sc.solver.ridge{}"
  values "p = sc.pipeline{ solver }"
  values "q = p:clone():fit(X, X:column(1))"
  local lines = {}
  for line in printed(":who"):gmatch("[^\n]+") do
    lines[line:match("^%S+")] = line
  end
  lu.assertStrContains(lines.X, "matrix 100 x 30 float64")
  lu.assertStrContains(lines.X, "24 kB")
  lu.assertStrContains(lines.t, "24.2 kB")
  lu.assertStrContains(lines.a, "number, 1")
  lu.assertStrContains(lines.b, "string, 4 bytes")
  lu.assertStrContains(lines.f, "function(x)")
  lu.assertStrMatches(lines.solver, ".* B  solver%.ridge{lambda = .*…")
  lu.assertStrContains(lines.p, " B  pipeline, solver.ridge, not fitted")
  lu.assertStrContains(lines.q, "kB  pipeline, solver.ridge, fitted on 100 x 30")
  for _, other in ipairs{ "_", "sc", "print" } do lu.assertNil(lines[other]) end
end

function TestCommands:test_load_runs_a_file_in_the_session()
  local path = support.write(nil, "loaded = (loaded or 0) + 1\nlocal inner = 1\n")
  values(":load " .. path)
  lu.assertEquals({ values "loaded, inner" }, { 1, nil })
  support.write(path, "x = = 1")
  lu.assertStrContains(message(":load " .. path), "unexpected symbol")
  lu.assertStrContains(message ":load /nosuch/file.lua", "No such file")
  os.remove(path)
end

function TestCommands:test_unknown_commands_get_the_nearest()
  lu.assertStrContains(message ":whoo", "did you mean :who?")
  lu.assertStrContains(message ":xyzzy", ":help lists them")
  lu.assertEquals({ message ":", message " : " }, { ":help lists the commands",
    ":help lists the commands" })
  lu.assertStrContains(message ":who now", ":who takes nothing")
  local text = printed ":help"
  for _, name in ipairs{ "time", "profile", "load", "save", "who", "bench", "help", "quit" } do
    lu.assertStrContains(text, ":" .. name)
  end
  values ":quit"
  lu.assertTrue(s.ended)
end

-- ------------ the session as a script

TestScript = {}
function TestScript:setUp() start() end

-- Globals of a script as the stock of values that display can show.
local function run_script(path, names)
  local code = ("dofile(%q) local d = require('scullery.prompt.display') \z
    for _, n in ipairs{%s} do io.write(n, ' ', d.text(rawget(_G, n)), '\\n') end")
    :format(path, names)
  local status, out, err = support.scullery("-e " .. support.quote(code))
  lu.assertEquals({ status, err }, { 0, "" })
  return out
end

function TestScript:test_a_saved_session_reproduces_its_values()
  s = session.new{ environment = environment }
  local file = support.write(nil, "from_file = 11\n")
  for _, text in ipairs{ "local train, test = sc.data.load('wdbc'):split{ seed = 3 }",
    "local p = sc.pipeline{\n  sc.standardize(),\n  sc.solver.ridge{ lambda = 1e-3 },\n}",
    "p:fit(train);", "p:score(test)", "score = _", "3", "(function() called = true end)()",
    "random = math.random()", "= 5 -- five", "five = _", "nil", "1, 2;", "x = 1\ny = 2\nx + y",
    "sum = _", "return 8", "eight = _", "local k <const> = 3; kept = k", "print;", "-- only words",
    "for i = 1, 3 do\n  loop = i\nend", "goto done; skipped = 1 ::done::", "::done:: again = 1",
    ":load " .. file, ":time timed = 4", "text = [[a\nb]]", "?ridge", "sc.ones(2) * 2", "M = _" } do
    printed(text)
  end
  message "failed = 1 error('no')"
  message "x = = 1"
  local path = os.tmpname()
  lu.assertStrContains(printed(":save " .. path), "without the 1 that failed")
  local names = { "score", "called", "random", "five", "sum", "eight", "kept", "loop", "again",
    "skipped", "from_file", "timed", "text", "M", "x", "k" }
  local want, display = {}, require "scullery.prompt.display"
  for i, name in ipairs(names) do
    want[i] = name .. " " .. display.text(rawget(environment, name)) .. "\n"
  end
  lu.assertEquals(run_script(path, "'" .. table.concat(names, "', '") .. "'"), table.concat(want))
  lu.assertNil(support.read(path):find("failed", 1, true))
  lu.assertStrContains(support.read(path), "\np = sc.pipeline{\n  sc.standardize()")
  os.remove(path)
  os.remove(file)
end

function TestScript:test_it_is_written_whole_or_not_at_all()
  values "x = 1"
  local said = message ":save /nosuch/folder/s.lua"
  lu.assertStrMatches(said, ":save: /nosuch/folder/s%.lua: .+") -- and no place in a file of ours
end

-- ------------ what people type elsewhere

TestHabits = {}
function TestHabits:setUp() start() end

function TestHabits:test_commands_of_the_shell()
  local path = os.tmpname()
  values("!echo one two > " .. path)
  lu.assertEquals(support.read(path), "one two\n")
  values("  ! true")
  values("!echo one \\\n three > " .. path)
  lu.assertEquals(support.read(path), "one three\n")
  os.remove(path)
  lu.assertEquals(message("!exit 3"), "!exit 3: exit status 3")
  lu.assertStrContains(message("!"), "such as !ls")
  lu.assertStrContains(message("!true\nx = 1"), "! takes one line")
  lu.assertEquals(s:status("!ls ("), "whole")
end

function TestHabits:test_pasted_prompts_and_output_are_left_out()
  lu.assertEquals(values("> 40 + 2"), 42)
  lu.assertEquals(values(">> 40 + 2"), 42)
  local text = "> x = 1\n> for i = 1, 2 do\n  x = x + i\nend\n>\n> t = {\n>> x,\n>> 5 }\n"
    .. "> x > 1\ntrue\nany output\n> x + #t"
  lu.assertEquals(printed(text .. ";"), "true\n")
  lu.assertEquals(values("x"), 4)
  lu.assertEquals(values("> x = 1\n> x + 1\n2"), 2)
  lu.assertEquals(s:status("> for i = 1, 2 do"), "unfinished")
  lu.assertEquals(s:status("> x = 1\n> x"), "whole")
  lu.assertStrContains(message("> x = 7\n> error('mine', 0)\n> x = 8"), "mine")
  lu.assertEquals(values("x"), 7)
end

function TestHabits:test_a_name_without_a_value_is_told_with_the_nearest()
  values("dataset_of_mine = 1")
  lu.assertEquals(printed("dataset_of_mien"),
    "'dataset_of_mien' is not set (did you mean 'dataset_of_mine'?)\n")
  lu.assertEquals(printed("standardize"),
    "'standardize' is not set (did you mean 'sc.standardize'?)\n")
  lu.assertEquals(printed("ridge"), "'ridge' is not set (did you mean 'sc.solver.ridge'?)\n")
  lu.assertEquals(printed("q"), "'q' is not set\n")
  lu.assertStrContains(message("1 + dataset_of_mien"),
    "(global 'dataset_of_mien'): 'dataset_of_mien' is not set (did you mean 'dataset_of_mine'?)")
  lu.assertStrContains(message("ridge{}"), "did you mean 'sc.solver.ridge'?")
  lu.assertNotStrContains(message("do local x = nil; x.y = 1 end"), "is not set")
end

os.exit(lu.LuaUnit.run(), true)
