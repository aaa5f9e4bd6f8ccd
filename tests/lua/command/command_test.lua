-- The command: its forms, exit statuses and messages, Ctrl-C, the subcommands, help, and the prompt
-- through a pipe and on a terminal.
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")

local binary, quote = support.binary, support.quote
local shell, scullery = support.shell, support.scullery

-- A temporary file with that ending.
local function write(text, suffix)
  local name = os.tmpname()
  os.remove(name)
  return support.write(name .. (suffix or ""), text)
end

local function run_script(text, arguments)
  local path = write(text, ".lua")
  local status, out, err = scullery(quote(path) .. " " .. (arguments or ""))
  os.remove(path)
  return status, out, err, path
end

TestArguments = {}

function TestArguments:test_version_and_help_go_to_standard_output()
  local status, out = scullery("--version")
  lu.assertEquals(status, 0)
  lu.assertStrMatches(out, "scullery %d+%.%d+%.%d+, Lua 5%.4.*")
  local help_status, help = scullery("--help")
  lu.assertEquals(help_status, 0)
  for _, word in ipairs{ "usage: scullery", "plugin list", "data list", "bench", "-e CODE",
    "--set NAME", "SCULLERY_LOG" } do
    lu.assertStrContains(help, word)
  end
end

function TestArguments:test_script_gets_its_arguments_as_in_lua()
  local status, out, err, path = run_script("print(arg[0], arg[1], arg[2], #arg, ...)", "a 'b c'")
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertEquals(out, path .. "\ta\tb c\t2\ta\tb c\n")
end

function TestArguments:test_what_stands_before_the_script_has_negative_places()
  local path = write("print(arg[-1], arg[-2], arg[1])", ".lua")
  local _, out = scullery("-e 'print(arg[0] ~= nil, arg[1])' " .. path .. " x")
  os.remove(path)
  lu.assertEquals(out, "true\tx\nprint(arg[0] ~= nil, arg[1])\t-e\tx\n")
end

function TestArguments:test_code_runs_in_order_and_shares_globals()
  local status, out = scullery("-e 'x = 20' -e'x = x + 1' -e 'print(x * 2)'")
  lu.assertEquals({ status, out }, { 0, "42\n" })
end

function TestArguments:test_module_becomes_a_global()
  local status, out = scullery("-l scullery -l S=scullery -e 'print(scullery == S, S == sc)'")
  lu.assertEquals({ status, out }, { 0, "true\ttrue\n" })
end

function TestArguments:test_standard_input_is_a_script_after_a_dash()
  local status, out = scullery("- a", "local x = 1\nprint(x, arg[0], ...)\n")
  lu.assertEquals({ status, out }, { 0, "1\t-\ta\n" })
end

function TestArguments:test_two_dashes_end_the_options()
  local status, _, err = scullery("-- -e")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "cannot open the script '-e'")
end

function TestArguments:test_prompt_follows_the_script()
  local path = write("x = 5", ".lua")
  local status, out = scullery("-i " .. path, "x + 1\n")
  os.remove(path)
  lu.assertEquals({ status, out }, { 0, "6\n" })
end

function TestArguments:test_a_pipe_is_a_script()
  -- one chunk: locals go on, a statement may span lines, values of expressions are not printed
  local status, out, err = scullery("", "local x = 1\nlocal y = x +\n  1\nprint(x, y, ...)\n")
  lu.assertEquals({ status, out, err }, { 0, "1\t2\n", "" })
  lu.assertEquals({ scullery("", "") }, { 0, "", "" })
  lu.assertEquals({ scullery("", "os.exit(3)") }, { 3, "", "" })
end

function TestArguments:test_a_pipe_with_an_error_ends_with_status_1()
  local status, out, err = scullery("",
    "print('begun')\nerror('bad thing')\nprint('not reached')\n")
  lu.assertEquals({ status, out }, { 1, "begun\n" })
  lu.assertStrContains(err, "scullery: stdin:2: bad thing")
  status, out, err = scullery("", "print('not reached')\nx = = 1\n") -- nothing runs
  lu.assertEquals({ status, out }, { 1, "" })
  lu.assertStrContains(err, "stdin:2: unexpected symbol near '='")
  lu.assertEquals({ scullery("", "1 + 1\n") }, { 1, "",
    "scullery: stdin:1: unexpected symbol near '1'\n" })
end

function TestArguments:test_code_leaves_standard_input_alone()
  lu.assertEquals({ scullery("-e 'print(io.read())'", "error('not run')\n") },
    { 0, "error('not run')\n", "" })
end

function TestArguments:test_library_and_help_are_globals_everywhere()
  local text = "print(sc == require 'scullery', help == require 'scullery.help')"
  lu.assertEquals(select(2, run_script(text)), "true\ttrue\n")
  for arguments, input in pairs{ [""] = text, ["-"] = text, ["-i"] = text,
    ["-e " .. quote(text)] = "" } do
    lu.assertEquals({ arguments, scullery(arguments, input) }, { arguments, 0, "true\ttrue\n", "" })
  end
  -- loaded when first named
  lu.assertEquals(select(2, run_script("print(rawget(_G, 'sc'), package.loaded.scullery)")),
    "nil\tnil\n")
end

function TestArguments:test_library_is_there_in_code()
  local status,
    out = scullery([[-e 'local sc = sc; print(sc == require "scullery", type(sc.version))']])
  lu.assertEquals({ status, out }, { 0, "true\tstring\n" })
end

TestErrors = {}

function TestErrors:test_bad_usage_is_a_sentence_and_status_1()
  for arguments, message in pairs{
    ["--frobnicate"] = "unknown option '--frobnicate'; scullery --help lists the options",
    ["-e"] = "a value is missing after '-e'",
    ["-l"] = "a value is missing after '-l'",
      ["nosuch.lua"] = "cannot open the script 'nosuch.lua': No such file",
    ["plugins"] = "nor is it a subcommand", ["/"] = "cannot open the script '/': Is a directory",
    ["-l nosuchmodule"] = "module 'nosuchmodule' not found" } do
    local status, out, err = scullery(arguments)
    lu.assertEquals({ arguments, status, out }, { arguments, 1, "" })
    lu.assertStrContains(err, message)
  end
end

function TestErrors:test_error_has_a_readable_traceback()
  local status, _, err,
    path = run_script(
      "local function inner() error('bad thing') end\nlocal function outer() inner() \z
        end\nouter()\n")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "scullery: ")
  lu.assertStrContains(err, path:match("[^/]+$") .. ":1: bad thing\nstack traceback:\n")
  lu.assertStrContains(err, "in local 'outer'")
  lu.assertNotStrContains(err, "[C]: in")
end

function TestErrors:test_any_value_can_be_raised()
  for code, message in pairs{ ["error()"] = "nil", ["error({})"] = "table value",
    ["error(setmetatable({}, {__tostring = function() return \"mine\" end}))"] = "mine",
    ["error(setmetatable({}, {__tostring = function() return 1 end}))"] = "table value" } do
    local status, _, err = scullery("-e " .. quote(code))
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, message)
  end
end

function TestErrors:test_syntax_errors_and_binary_chunks_are_refused()
  local status, _, err = run_script("local x = = 1")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "unexpected symbol near '='")
  local binary_status, _, binary_err = run_script(string.dump(function() return 1 end))
  lu.assertEquals(binary_status, 1)
  lu.assertStrContains(binary_err, "binary chunk")
end

function TestErrors:test_exit_status_is_the_scripts()
  lu.assertEquals((run_script("os.exit(7)")), 7)
  lu.assertEquals((run_script("os.exit(true)")), 0)
end

function TestErrors:test_output_that_cannot_be_written_is_an_error()
  local full = io.open("/dev/full", "w")
  lu.skipIf(full == nil, "there is no /dev/full")
  full:close()
  local status, _, err = shell(quote(binary) .. " -e 'print(1)' >/dev/full")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "not all of the output could be written")
end

TestInterrupt = {}

-- The thread sanitizer delivers a signal when the program calls its runtime next, which a loop that
-- allocates nothing never does.
local forever = (os.getenv("SCULLERY_SANITIZE") or ""):find("thread")
  and "while true do local _ = {} end" or "while true do end"

function TestInterrupt:test_ctrl_c_stops_pure_lua_once_and_can_be_caught()
  local status, out, err = run_script([[
    local function stop() io.popen("kill -INT $PPID"):close() ]] .. forever .. [[ end
    local ok, message = pcall(stop)
    for _ = 1, 1000 do end
    print(ok, message)]])
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrMatches(out, "false\t.*interrupted!\n")
end

function TestInterrupt:test_ctrl_c_that_nobody_catches_ends_with_status_1()
  local status, out, err = run_script('io.popen("kill -INT $PPID"):close() ' .. forever)
  lu.assertEquals({ status, out }, { 1, "" })
  lu.assertStrContains(err, "interrupted!")
end

function TestInterrupt:test_ctrl_c_stops_a_fit_and_raises_once()
  local status, out, err = run_script([[
    local sc = require "scullery"
    local X = sc.randn{ 4000, 10 }
    local feats = sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
                               phi = sc.nonlinearity.fourier(), T = 400 }
    local model = sc.pipeline{ feats, sc.solver.ridge{ lambda = 1 } }
    local sender = io.popen("sleep 0.2; kill -INT $PPID")
    local ok, message
    repeat ok, message = pcall(function() model:fit(X, X:column(1)) end) until not ok
    for _ = 1, 1000 do end
    sender:close()
    model:fit(X, X:column(1))
    print(message)]])
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrContains(out, "interrupted!")
end

-- The bisection of lambda factors a matrix of order 4000 thirty times.
function TestInterrupt:test_ctrl_c_stops_the_choice_of_lambda_of_leverage_scores()
  local status, out, err = run_script([[
    local sc = require "scullery"
    local p = sc.sampler.landmarks{ method = "leverage", sample = 4000 }
    local features = sc.features{ p = p, phi = sc.kernel.gaussian{}, T = 20 }
    local X, sender = sc.randn{ 4000, 5 }, io.popen("sleep 1; kill -INT $PPID")
    print(pcall(features.fit, features, X))
    sender:close()]])
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrContains(out, "interrupted!")
end

-- The hook reaches the coroutine that runs, however deep, made by create or wrap, or closing.
function TestInterrupt:test_ctrl_c_stops_a_coroutine()
  local loop = "function() io.popen('kill -INT $PPID'):close() " .. forever .. " end"
  for _, script in ipairs{
    "coroutine.wrap(" .. loop .. ")()",
    "print(coroutine.resume(coroutine.create(" .. loop .. ")))",
    "coroutine.wrap(function() coroutine.wrap(" .. loop .. ")() end)()",
    "local f = coroutine.wrap(function() coroutine.yield(1) local g = " .. loop
      .. " g() end) f() f()",
    "local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = " .. loop
      .. " }) coroutine.yield() end) coroutine.resume(co) print(coroutine.close(co))",
  } do
    local status, out, err = shell("timeout 60 " .. quote(binary) .. " -e " .. quote(script))
    lu.assertTrue(status == 0 or status == 1, script)
    lu.assertStrContains(out .. err, "interrupted!", false, script)
  end
end

-- Coroutines do what those of Lua do.
function TestInterrupt:test_coroutines_are_as_ever()
  local status, out, err = run_script([[
    local f = coroutine.wrap(function(...) print(...) print(coroutine.yield(1, nil)) return 2 end)
    print(f("a", nil, "b"))
    print(f("c"))
    print(pcall(f))
    print(pcall(coroutine.wrap(function() error { 1 } end)))
    print(select(2, pcall(coroutine.wrap(function() error "x" end))))
    local co = coroutine.create(function() error "y" end)
    print(coroutine.resume(co))
    print(coroutine.close(co), coroutine.resume(co))
    print((pcall(coroutine.resume, 1)))
    print(coroutine.close(coroutine.create(print)))
    local n = 0
    local function nest() n = n + 1 return coroutine.wrap(nest)() end
    print((pcall(nest)), n > 150)]])
  lu.assertEquals({ status, err }, { 0, "" })
  out = out:gsub("0x%x+", "ADDRESS"):gsub("[^%s]*/lua_%w+%.lua", "FILE")
  lu.assertEquals(out, [[
a	nil	b
1	nil
c
2
false	cannot resume dead coroutine
false	table: ADDRESS
FILE:6: x
false	FILE:7: y
false	false	cannot resume dead coroutine
false
true
false	true
]])
end

-- Where the first press may come late, two may come as one.
local function skip_where_signals_wait()
  lu.skipIf((os.getenv("SCULLERY_SANITIZE") or ""):find("thread", 1, true) ~= nil,
    "the thread sanitizer delivers signals late")
end

-- Whoever catches every error is ended by the second press.
function TestInterrupt:test_second_ctrl_c_ends_a_script_that_catches_errors()
  skip_where_signals_wait()
  local status, out = shell(("timeout 180 sh -c %s"):format(quote(quote(binary) .. " -e "
    .. quote([[io.popen("sleep 0.5; kill -INT $PPID; sleep 0.3; kill -INT $PPID")
    local function loop() ]] .. forever .. [[ end
    while true do pcall(loop) end]]) .. "; echo status $?")))
  lu.assertEquals({ status, out }, { 0, "status 130\n" })
end

-- A function written in C that does not look up: all that is left is to end the process.
function TestInterrupt:test_second_ctrl_c_ends_what_does_not_react()
  skip_where_signals_wait()
  local status, out = shell(("timeout 180 sh -c %s"):format(quote(quote(binary) .. " -e "
    .. quote([[io.popen("sleep 0.5; kill -INT $PPID; sleep 0.3; kill -INT $PPID")
    local text = ("a"):rep(100000) text:find((".-"):rep(6) .. "b")]]) .. "; echo status $?")))
  lu.assertEquals({ status, out }, { 0, "status 130\n" })
end

-- At the prompt the session stays whole.
function TestInterrupt:test_second_ctrl_c_at_the_prompt_leaves_the_session()
  skip_where_signals_wait()
  local status, out, err = shell("timeout 60 " .. quote(binary) .. " -i", [[
before = 12
io.popen("sleep 0.5; kill -INT $PPID; sleep 0.3; kill -INT $PPID")
do local function loop() ]] .. forever .. [[ end while true do pcall(loop) end end
print(before + 1)
]])
  lu.assertEquals(status, 0)
  lu.assertStrContains(err, "interrupted!")
  lu.assertStrContains(out, "13\n")
end

TestSubcommands = {}

function TestSubcommands:test_each_prints_its_help()
  for words, said in pairs{ plugin = "list", data = "fetch a set", predict = "--proba",
    bench = "--json", notebook = "uninstall", ["plugin list"] = "every plugin",
    ["plugin info"] = "KIND.NAME", ["plugin new"] = "--kind KIND",
    ["data list"] = "every named set",
    ["data get"] = "the set's name", ["notebook install"] = "--python PATH",
    ["notebook uninstall"] = "--prefix DIR" } do
    for _, option in ipairs{ "--help", "-h" } do
      local status, out, err = scullery(words .. " " .. option)
      lu.assertEquals({ words, status, err }, { words, 0, "" })
      lu.assertStrContains(out, "Usage: scullery " .. words)
      lu.assertStrContains(out, said)
      for line in out:gmatch("[^\n]+") do lu.assertTrue(#line <= 80, line) end
    end
  end
end

function TestSubcommands:test_plugin_list_is_a_table()
  local status, out = scullery("plugin list")
  lu.assertEquals(status, 0)
  lu.assertStrMatches(out, "kind +name +version +summary +from +path\n.*")
  lu.assertStrMatches(out, ".*\nsolver +ridge +%S+ .* built in +/%S*/solver/ridge%.so\n.*")
end

function TestSubcommands:test_plugin_info_says_what_help_says_and_more()
  local status, all = scullery("plugin info ridge")
  lu.assertEquals(status, 0)
  lu.assertStrContains(all, "lambda")
  lu.assertEquals(select(2, scullery("plugin info solver.ridge")), all)
  local _, out = scullery([[-e 'help "ridge"']])
  lu.assertEquals(all:sub(1, #out), out)
  lu.assertEquals(select(2, scullery("-e 'help(sc.solver.ridge)'")), out)
  lu.assertEquals(select(2, scullery("-e 'help(sc.solver.ridge{})'")), out)
end

function TestSubcommands:test_mistakes_are_sentences_without_a_traceback()
  for arguments, message in pairs{ ["plugin info rigde"] = "did you mean 'ridge'",
    ["plugin"] = "command is required", ["plugin frob"] = "unknown command 'frob'",
    ["plugin info"] = "missing argument 'target'", ["data get adlut"] = "did you mean 'adult'",
    ["data get"] = "missing argument 'name'", ["bench --nosuch"] = "unknown option '--nosuch'",
    ["bench map"] = "must be one of 'maps', 'bits', 'data', 'solvers', 'predict', 'large'",
    ["plugin list more"] = "too many arguments" } do
    local status, out, err = scullery(arguments)
    lu.assertEquals({ arguments, status, out }, { arguments, 1, "" })
    lu.assertStrContains(err, message)
    lu.assertStrContains(err, "scullery: ")
    lu.assertNotStrContains(err, "traceback")
  end
end

function TestSubcommands:test_data_list_tells_the_shipped_set_from_one_that_is_nowhere()
  local status, out = shell("SCULLERY_DATA= XDG_CACHE_HOME=/nonexistent " .. quote(binary)
    .. " data list")
  lu.assertEquals(status, 0)
  lu.assertStrMatches(out, ".*wdbc +569 x 31 +classification +%S.*")
  lu.assertNil(out:match "wdbc +569 x 31 +classification +not here")
  lu.assertStrMatches(out, ".*adult +48842 x 15 +classification +not here.*")
end

TestHelp = {}

local function help(what) return select(2, scullery("-e " .. quote("help(" .. what .. ")"))) end

function TestHelp:test_overview_and_module_list_what_there_is()
  lu.assertStrContains(help "", "sc.pipeline")
  lu.assertStrContains(help "sc", "standardize")
  lu.assertStrContains(help "sc.data", "csv")
  lu.assertStrMatches(help "sc.sampler", ".*gaussian .*threshold .*")
end

function TestHelp:test_functions_show_the_comment_above_them()
  lu.assertStrContains(help "sc.data.csv", "sc.data.csv(path")
  lu.assertEquals(help '"sc.data.csv"', help "sc.data.csv")
  lu.assertEquals(help '"data.csv"', help "sc.data.csv")
  lu.assertStrContains(help "sc.standardize", "standard deviation")
  lu.assertEquals(help "sc.standardize()", help "sc.standardize")
  lu.assertStrContains(help '"pipeline:fit"', "p:fit(ds)")
end

function TestHelp:test_functions_in_c_have_texts()
  lu.assertStrContains(help "sc.matrix", "sc.matrix{{1, 2}, {3, 4}")
  lu.assertStrContains(help '"matrix:slice"', "X:slice(")
  lu.assertStrContains(help "sc.ones(2).slice", "X:slice(")
  lu.assertStrContains(help "sc.ones(2)", "Methods:")
end

function TestHelp:test_objects_list_their_methods()
  lu.assertStrContains(help "sc.pipeline{ sc.standardize() }", "predict")
  lu.assertStrContains(help "sc.dataset{ X = sc.ones(2), y = { 1.5, 2.5 } }", "split")
end

function TestHelp:test_one_name_of_two_plugins_shows_both()
  local text = help '"gaussian"'
  lu.assertStrContains(text, "sc.sampler.gaussian{")
  lu.assertStrContains(text, "sc.kernel.gaussian{")
end

function TestHelp:test_unknown_topics_get_the_nearest_name()
  lu.assertStrContains(help '"rigde"', "did you mean 'ridge'?")
  lu.assertStrContains(help "nil", "spelt")
  for _, odd in ipairs{ "3", "{}", "io.stdout", "print", '""', "'%'", "function() end",
    "setmetatable({}, { __index = error })" } do
    local status, out, err = scullery("-e " .. quote("help(" .. odd .. ")"))
    lu.assertEquals({ odd, status, err }, { odd, 0, "" })
    lu.assertNotEquals(out, "")
  end
end

TestPrompt = {}

local function prompt(input) return scullery("-i", input) end

function TestPrompt:test_expressions_print_all_their_values()
  local status, out, err = prompt("1 + 1\nnil, 'a'\n= 3\nx = 4\nx\n-- nothing\n\n")
  lu.assertEquals({ status, out, err }, { 0, '2\nnil\t"a"\n3\n4\n', "" })
end

function TestPrompt:test_statements_and_expressions_go_on_over_lines()
  local _, out,
    err = prompt("for i = 1, 2 do\nprint(i)\nend\n{1,\n2} == nil\n(2 +\n3)\nt = [[a\nb]]\n#t\n")
  lu.assertEquals({ out, err }, { "1\n2\nfalse\n5\n3\n", "" })
end

function TestPrompt:test_errors_do_not_leave_the_prompt()
  local status, out,
    err = prompt("error('first')\n)\nsc.nosuch()\nlocal x <const> = 1; x = 2\nprint('still')\n")
  lu.assertEquals({ status, out }, { 0, "still\n" })
  lu.assertStrContains(err, "first")
  lu.assertStrContains(err, "unexpected symbol near ')'")
  lu.assertStrContains(err, "attempt to assign to const variable")
end

function TestPrompt:test_input_that_ends_early_is_said()
  local status, _, err = prompt("for i = 1, 2 do")
  lu.assertEquals(status, 0)
  lu.assertStrContains(err, "'end' expected")
end

function TestPrompt:test_exit_leaves_unless_it_is_a_name()
  lu.assertEquals(select(2, prompt("1\nexit\n2\n")), "1\n")
  lu.assertEquals(select(2, prompt("1\nquit()\n2\n")), "1\n")
  lu.assertEquals(select(2, prompt("exit = 5\nexit\n2\n")), "5\n2\n")
end

function TestPrompt:test_library_and_help_are_globals()
  local _, out, err = prompt("sc.version == require('scullery').version\nhelp('ridge')\nhelp\n")
  lu.assertEquals(err, "")
  lu.assertStrMatches(out, "true\nsc%.solver%.ridge.*help%(%) gives an overview.*")
end

os.exit(lu.LuaUnit.run(), true)
