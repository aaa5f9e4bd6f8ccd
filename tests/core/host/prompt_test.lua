-- The prompt on a terminal: editing, history, completion, colours, Ctrl-C.
local lu = require "luaunit"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"
local terminal = require "terminal"

local home

-- Steps on a terminal whose history is in a folder of its own; what is shown comes back without
-- escapes.
local function play(steps, given)
  given = given or {}
  given.environment = given.environment or {}
  given.environment.XDG_STATE_HOME = given.environment.XDG_STATE_HOME or home
  given.environment.PAGER = given.environment.PAGER or ""
  given.steps = { "wait > ", table.unpack(steps) }
  local status, shown, text = terminal.play(given)
  lu.assertEquals(status, 0, shown)
  return text, shown
end

local function history()
  local lines = {}
  for line in support.read(home .. "/scullery/history"):gmatch("[^\n]+") do
    lines[#lines + 1] = line
  end
  return lines
end

-- A statement without the spaces that Enter puts at the beginning of its lines, or not, where the
-- next keys came before.
local function flush_left(statement) return (statement:gsub("\\012 +", "\\012")) end

local function count(text, word)
  return select(2, text:gsub(word:gsub("%p", "%%%0"), ""))
end

TestPrompt = {}

function TestPrompt:setUp()
  lu.skipIf(not terminal.driver(), "tests/pty was not built: no terminal to test on")
  home = os.tmpname()
  os.remove(home)
end

function TestPrompt:tearDown()
  if home then os.execute("chmod -R u+w " .. home .. " 2>/dev/null; rm -rf " .. home) end
end

function TestPrompt:test_values_are_shown_and_ctrl_d_ends()
  local text = play{ [[type {1, 'a'}\r]], [[wait { 1, "a" }]], [[type _[2]\r]], [[wait "a"]],
    "wait >", [[type \x04]], "end" }
  lu.assertStrContains(text, "help() explains")
end

-- ------------ colours

function TestPrompt:test_words_and_brackets_have_colours_as_they_are_typed()
  local _, shown = play{ [[type f = { 12, (nil) }]], [[wait (nil) }]], [[wait f = { 12, (nil) }]],
    [[type \r]], [[wait > ]], [[type \x04]], "end" }
  lu.assertStrContains(shown, "\27[1;4m{\27[0m \27[36m12\27[0m, (\27[35mnil\27[0m)")
  _, shown = play({ [[type f = { 12, (nil) }]], [[wait (nil) }]], [[type \r]], [[wait > ]],
    [[type \x04]], "end" }, { environment = { NO_COLOR = "1" } })
  lu.assertNotStrContains(shown, "\27[36m")
end

function TestPrompt:test_the_prompt_begins_a_row_after_output_without_a_newline()
  local _, shown = play{ [[type !printf xyz\r]], [[wait xyz]], [[wait > ]], [[type 5 * 5\r]],
    [[wait 25]], [[wait > ]], [[type \x04]], "end" }
  lu.assertStrContains(shown, "xyz\27[?2004h" .. (" "):rep(79) .. "\r\27[K")
end

function TestPrompt:test_ctrl_c_also_clears_the_lines_below_the_cursor()
  local _, shown = play{ [[type do\r]], [[type local x = 1]], [[type \x1b[A\x1b[A]], [[wait = 1]],
    [[type \x03]], [[wait > ]], [[type 7 * 8\r]], [[wait 56]], [[wait > ]], [[type \x04]],
    "end" }
  lu.assertStrContains(shown, "\n\27[J")
end

-- ------------ lines

function TestPrompt:test_enter_goes_on_until_the_statement_is_whole()
  play{ [[type for i = 7, 8 do\r]], [[type print(i * 11)\r]], [[type end\r]], [[wait 77]],
    [[wait 88]], [[type exit\r]], "end" }
  lu.assertEquals(flush_left(history()[2]), [[for i = 7, 8 do\012print(i * 11)\012end]])
end

function TestPrompt:test_lines_are_indented_by_their_blocks()
  local steps = {}
  for _, line in ipairs{ { "for i = 7, 8 do", [[\n  ]] }, { "if i > 7 then", [[\n    ]] },
    { "print(i * 11)", [[\n    ]] }, { "end", [[\n  ]] }, { "end", "88" } } do
    -- Enter is typed when the line has come, so that no more keys wait behind it
    for _, step in ipairs{ "type " .. line[1], "wait " .. line[1], [[type \r]],
      "wait " .. line[2] } do
      steps[#steps + 1] = step
    end
  end
  steps[#steps + 1] = [[type exit\r]]
  steps[#steps + 1] = "end"
  play(steps)
  lu.assertEquals(history()[2],
    [[for i = 7, 8 do\012  if i > 7 then\012    print(i * 11)\012  end\012end]])
end

function TestPrompt:test_a_statement_of_several_lines_is_edited_as_one()
  play{ [[type t = {\r1,\r2 }\r]], [[type #t\r]], "wait 2\r",
    -- back to the statement, up to its second line, whose end is changed
    [[type \e[A\e[A]], [[wait 2 }]], [[type \e[A\x05 5,\r]], [[type #t\r]], "wait 3\r",
    [[type exit\r]], "end" }
  lu.assertEquals(flush_left(history()[4]), [[t = {\0121, 5,\0122 }]])
end

function TestPrompt:test_pasted_lines_run_one_by_one_or_in_brackets_as_one()
  play{ [[type x = 40\nx = x + 1\nx + 1\n]], "wait 42", [[type exit\r]], "end" }
  lu.assertEquals(#history(), 5)
  local text = play{ [[type \e[200~y = 50\ny = y + 1\n\ty + 1\n\e[201~]], "wait y + 1",
    [[type \r]], "wait 52", [[type exit\r]], "end" }
  lu.assertEquals(count(text, "51"), 0)
  lu.assertEquals(history()[6], "y = 50\\012y = y + 1\\012\ty + 1")
end

function TestPrompt:test_a_paste_taller_than_the_terminal()
  local lines = { "t = {" }
  for i = 1, 200 do lines[#lines + 1] = ("  %d,"):format(i) end
  lines[#lines + 1] = "}\\n#t"
  play({ [[type \e[200~]] .. table.concat(lines, "\\n") .. [[\e[201~]], "wait #t", [[type \r]],
    "wait 200", [[type exit\r]], "end" }, { rows = 10, columns = 40 })
end

-- ------------ history

function TestPrompt:test_history_is_found_by_the_next_session()
  play{ [[type first = 'marker' .. 1\r]], [[type first\r]], "wait marker1", [[type exit\r]], "end" }
  play{ [[type \e[A\e[A\e[A]], "wait = 'marker' .. 1", [[type ; print(first)\r]], "wait marker1",
    [[type exit\r]], "end" }
end

function TestPrompt:test_up_finds_what_begins_as_typed()
  play{ [[type apple = 11\r]], [[type beta = 2\r]], [[type apply = 33\r]], [[type gamma = 4\r]],
    [[type app\e[A]], "wait app", [[type \e[A + 100\r]], -- apple
    [[type apple\r]], "wait 111\r", [[type be\e[A * 50\r]], [[type beta\r]], "wait 100\r",
    -- down again: what was typed
    [[type ga\e[A\e[Bmma + 3\r]], "wait 7\r",
    -- nothing begins so: what was typed stays
    [[type 60 + 6\e[A\r]], "wait 66\r",
    -- without a beginning: the statement before
    [[type \e[A\e[A\e[B\r]], "wait 66\r", [[type exit\r]], "end" }
end

function TestPrompt:test_ctrl_r_searches()
  play{ [[type alpha = 11 + 1\r]], [[type beta = 2\r]], [[type exit\r]], "end" }
  play{ [[type \x12alp]], "wait alpha = 11 + 1", [[type \r]], [[type alpha\r]], "wait 12\r",
    [[type exit\r]], "end" }
end

function TestPrompt:test_sessions_at_once_lose_nothing()
  local started = {}
  for i = 1, 4 do
    local steps = { "wait > " }
    for j = 1, 20 do steps[#steps + 1] = ("type s%d_%d = %d\\r"):format(i, j, j) end
    for _, step in ipairs{ [[type 'do' .. 'ne'\r]], 'wait "done"', [[type exit\r]], "end" } do
      steps[#steps + 1] = step
    end
    local path = support.write(nil, table.concat(steps, "\n") .. "\n")
    started[i] = { path = path, pipe = io.popen(("TERM=xterm XDG_STATE_HOME=%s timeout 300 %s 80 \z
      24 %s <%s"):format(home, support.quote(terminal.driver()), support.quote(support.binary),
      path)) }
  end
  for _, one in ipairs(started) do
    one.pipe:read("a")
    lu.assertTrue(one.pipe:close())
    os.remove(one.path)
  end
  local seen = {}
  for _, line in ipairs(history()) do seen[line] = true end
  for i = 1, 4 do
    for j = 1, 20 do lu.assertTrue(seen[("s%d_%d = %d"):format(i, j, j)]) end
  end
  lu.assertEquals(#history(), 1 + 4 * 22)
end

function TestPrompt:test_a_file_that_libedit_wrote_is_read()
  os.execute("mkdir -p " .. home .. "/scullery")
  support.write(home .. "/scullery/history", "_HiStOrY_V2_\nx\\040=\\040'gr\\M-C\\M-6\\134\\134'\n")
  play{ [[type \e[A]], [[wait x = 'gr\xc3\xb6\\\\']], [[type \r]], [[type #x\r]], "wait 5",
    [[type exit\r]], "end" }
end

function TestPrompt:test_a_torn_line_of_the_history_spoils_no_other()
  os.execute("mkdir -p " .. home .. "/scullery")
  support.write(home .. "/scullery/history", "_HiStOrY_V2_\nx = 1\ny = ")
  play{ [[type z = 3\r]], [[type exit\r]], "end" }
  lu.assertEquals(history(), { "_HiStOrY_V2_", "x = 1", "y = ", "z = 3", "exit" })
end

function TestPrompt:test_a_long_history_is_cut()
  os.execute("mkdir -p " .. home .. "/scullery")
  local lines = { "_HiStOrY_V2_" }
  for i = 1, 10001 do lines[#lines + 1] = "x = " .. i end
  support.write(home .. "/scullery/history", table.concat(lines, "\n") .. "\n")
  play{ [[type exit\r]], "end" }
  local kept = history()
  lu.assertEquals({ #kept, kept[2], kept[5001], kept[5002] },
    { 5002, "x = 5002", "x = 10001", "exit" })
  local _, mode = support.shell("stat -c %a " .. home .. "/scullery/history")
  lu.assertEquals(mode, "600\n") -- nobody else reads it
end

function TestPrompt:test_a_home_that_cannot_be_written_is_told_once()
  support.write(home, "") -- a file, where a folder should be
  local text = play{ [[type 1 + 1\r]], "wait 2\r", [[type \e[A]], "wait 1 + 1", [[type \r]],
    "wait 2\r", [[type exit\r]], "end" }
  lu.assertEquals(count(text, "The history is not kept: "), 1)
  text = play({ [[type 1 + 1\r]], "wait 2\r", [[type exit\r]], "end" },
    { environment = { XDG_STATE_HOME = "", HOME = "" } })
  lu.assertEquals(count(text, "The history is not kept: neither HOME"), 1)
  text = play({ [[type exit\r]], "end" }, { environment = { XDG_STATE_HOME = "/proc/nosuch" } })
  lu.assertEquals(count(text, "The history is not kept: /proc/nosuch/scullery/history: "), 1)
  text = play({ [[type exit\r]], "end" }, { environment = { XDG_STATE_HOME = "/sys/nosuch" } })
  lu.assertEquals(count(text, "The history is not kept: /sys/nosuch/scullery/history: "), 1)
  lu.assertEquals(count(text, "No such file"), 0) -- but why the folder could not be made
end

-- A file of no more than 64 blocks, of 512 bytes or 1024 as the shell counts, is a full disk.
function TestPrompt:test_a_full_disk_leaves_the_history_whole_and_is_told_once()
  local _, unit = support.shell("ulimit -f 64; head -c 100000 /dev/zero 2>/dev/null > " .. home
    .. "; stat -c %s " .. home)
  os.remove(home)
  os.execute("mkdir -p " .. home .. "/scullery")
  local full = math.tointeger(tonumber(unit))
  local before = "_HiStOrY_V2_\nx = 1\n"
  before = before .. ("-- %s\n"):format(("."):rep(full - #before - 12)) -- room for 8 bytes
  support.write(home .. "/scullery/history", before)
  local text = play({ [[type 1 + 111111\r]], "wait 111112", [[type 2 + 222222\r]], "wait 222224",
    [[type y = 3\r]], [[type 3\r]], "wait 3", [[type exit\r]], "end" }, { limit = 64 })
  lu.assertEquals(count(text, "The history is not kept: " .. home .. "/scullery/history: "), 1)
  lu.assertEquals(support.read(home .. "/scullery/history"), before .. "y = 3\n" .. "3\n")
end

function TestPrompt:test_a_history_that_is_no_plain_file()
  os.execute(("mkdir -p %s/scullery && mkfifo %s/scullery/history"):format(home, home))
  local text = play{ [[type 1 + 1\r]], "wait 2\r", [[type exit\r]], "end" }
  lu.assertEquals(count(text, "The history is not kept: " .. home), 1)
  lu.assertStrContains(text, "this is not a plain file")
end

-- ------------ completion

function TestPrompt:test_tab_completes_and_lists()
  local text = play{ [[type #math.hu\t, 'mar'..'ker'\x01\x1b[3~print(\x05)\r]], "wait marker",
    [[type sc.solver.rid\t{ \t]], "wait lambda", "wait regularisation of the mean loss",
    [[type pen\t= "\t]], "wait rkhs", [[type rk\t" }\r]], "wait solver.ridge{",
    [[type sc.data.load("wd\t")\r]], "wait dataset 569 x 30", [[type exit\r]], "end" }
  lu.assertStrContains(text, "inf\tmarker")
end

-- ------------ characters and colours

function TestPrompt:test_any_character_in_any_locale()
  for _, locale in ipairs{ "C", "POSIX", "C.UTF-8", "nosuch" } do
    play({ [[type s = 'größe ✓ 漢字'\r]], [[type #s\r]], "wait 18", [[type s\r]],
      [[wait "größe ✓ 漢字"]], [[type ('%.1f'):format(0.5)\r]], [[wait "0.5"]],
      [[type \e[A\e[A\e[A\e[A]], "wait s = ", [[type \e[D\x7f語\r]], [[type s\r]],
      [[wait "größe ✓ 漢語"]], [[type exit\r]], "end" }, { environment = { LC_ALL = locale } })
  end
end

function TestPrompt:test_colours_where_the_terminal_has_them()
  local steps = { [[type { key = 1 }\r]], "wait }\r", [[type error('mine')\r]], "wait mine",
    [[type ridge?\r]], "wait Options:", [[type exit\r]], "end" }
  local _, shown = play(steps)
  lu.assertStrContains(shown, "\27[32m>\27[0m ")
  lu.assertStrContains(shown, "\27[36mkey\27[0m = 1")
  lu.assertStrContains(shown, "\27[31mprompt:1: mine")
  lu.assertStrContains(shown, "\27[1mOptions:\27[0m")
  for _, environment in ipairs{ { NO_COLOR = "1" }, { TERM = "dumb" }, { TERM = "" } } do
    _, shown = play(steps, { environment = environment })
    lu.assertNil(shown:match("\27%[[%d;]*m"))
  end
end

function TestPrompt:test_a_dumb_terminal_reads_plain_lines()
  local text, shown = play({ [[type for i = 7, 8 do\n]], "wait >> ", [[type print(i * 11)\n]],
    "wait >> ", [[type end\n]], "wait 88", "wait > ", [[type x = \n]], "wait >> ",
    [[type \x03]], "wait > ", [[type 5 + 6\n]], "wait 11", [[type exit\n]], "end" },
    { environment = { TERM = "dumb" } })
  lu.assertStrContains(text, "77")
  lu.assertNil(shown:find("\27", 1, true))
end

function TestPrompt:test_twenty_columns()
  local text = play({ [[type { alpha = 1, beta = { 1, 2, 3 }, gamma = 'a text' }\r]],
    "wait   gamma = ", [[type sc.solver.\t]], "wait trimmed", [[type ridge{}\r]],
    "wait solver.ridge", [[type exit\r]], "end" }, { columns = 20 })
  lu.assertStrContains(text, "  alpha = 1,\n")
  lu.assertStrContains(text, "adaboost\nboosting\nbox\ncg\n")
end

function TestPrompt:test_errors_are_broken_between_words()
  local text = play({ [[type error(("word "):rep(30), 0)\r]], "wait word word", "wait > ",
    [[type exit\r]], "end" }, { columns = 40 })
  lu.assertStrContains(text, "\n" .. ("word "):rep(7) .. "word\nword")
end

function TestPrompt:test_long_help_goes_through_the_pager()
  local steps = { [[type sc.data.csv?\r]], "wait unpacked", "wait > ", [[type ridge?\r]],
    "wait Options:", "wait > ", [[type exit\r]], "end" }
  local environment = { PAGER = "sed s/^/#/" }
  local text = play(steps, { environment = environment, rows = 60 })
  lu.assertStrContains(text, "\n#  separator")
  lu.assertNotStrContains(text, "\n#  lambda")
  environment.PAGER = ""
  lu.assertNotStrContains(play(steps, { environment = environment }), "\n#  separator")
  environment.PAGER = "nosuchprogram"
  lu.assertStrContains(play(steps, { environment = environment }), "\n  separator")
end

-- ------------ Ctrl-C

local fit = [[type p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, ]]
  .. [[phi = sc.nonlinearity.fourier(), T = 1000 }, sc.solver.ridge{} }\r]]

function TestPrompt:test_ctrl_c_stops_a_fit_and_the_session_stays_whole()
  play{ [[type X, y = sc.randn{ 300000, 50 }, sc.randn{ 300000, 1, seed = 1 }\r]], fit,
    [[type before = { sum = X:sum() }\r]], [[type 'rea' .. 'dy'\r]], 'wait "ready"',
    [[type p:fit(X, y, { progress = function() if not told then told = 1 print('go' .. 'es') end ]]
      .. [[end })\r]], "wait goes", [[type \x03]],
    "wait prompt:1: pipeline:fit: ", "wait interrupted!",
    -- variables, data and threads are as they were
    [[type X:sum() == before.sum, sc.threads() > 0\r]], "wait true\ttrue",
    [[type p:fit(X:slice(1, 5000), y:slice(1, 5000));\r]],
    [[type p:predict(X:slice(1, 2)):rows()\r]], "wait 2\r", [[type exit\r]], "end" }
end

function TestPrompt:test_ctrl_c_clears_what_is_typed()
  play{ [[type x = {\r1,\r]], "wait 1,", [[type \x03]], "wait > ", [[type 3 + 4\r]], "wait 7\r",
    [[type print('go' .. 'es') while true do local t = {} end\r]], "wait goes", [[type \x03]],
    "wait interrupted!", [[type 5 + 6\r]], "wait 11\r", [[type exit\r]], "end" }
end

-- A press within 0.02 seconds of another counts as the same.
function TestPrompt:test_a_second_ctrl_c_stops_what_catches_the_first()
  local text = play{ [[type function wait() local t = os.clock() ]]
    .. [[while os.clock() - t < 0.1 do local u = {} end print('go' .. 'es') end\r]],
    [[type while true do pcall(function() wait() while true do local t = {} end end) end\r]],
    "wait goes", [[type \x03]], "wait goes", [[type \x03]], "wait interrupted!",
    [[type 5 + 6\r]], "wait 11\r", [[type exit\r]], "end" }
  lu.assertStrContains(text, "^Cinterrupted!\n")
  lu.assertNil(text:find("session.lua", 1, true))
end

-- ------------ the file that is run first

function TestPrompt:test_startup_file()
  local path = support.write(nil, "started = 'yes' .. '!' print('hel' .. 'lo')")
  local environment = { SCULLERY_STARTUP = path }
  local text = play({ [[type started\r]], [[wait "yes!"]], [[type exit\r]], "end" },
    { environment = environment })
  lu.assertEquals(count(text, "hello"), 1)
  local status, out = support.shell(("SCULLERY_STARTUP=%s %s -i"):format(path,
    support.quote(support.binary)), "started\n")
  lu.assertEquals({ status, out }, { 0, 'hello\n"yes!"\n' })
  -- scripts are left alone
  status, out = support.shell(("SCULLERY_STARTUP=%s %s -e 'print(started)'"):format(path,
    support.quote(support.binary)))
  lu.assertEquals({ status, out }, { 0, "nil\n" })
  for code, words in pairs{ ["error('mine')"] = "SCULLERY_STARTUP: " .. path .. ":1: mine",
    ["x = = 1"] = "unexpected symbol" } do
    support.write(path, code)
    text = play({ [[type 1 + 1\r]], "wait 2\r", [[type exit\r]], "end" },
      { environment = { SCULLERY_STARTUP = path } })
    lu.assertEquals(count(text, words), 1)
  end
  text = play({ [[type 1 + 1\r]], "wait 2\r", [[type exit\r]], "end" },
    { environment = { SCULLERY_STARTUP = "/nosuch/start.lua" } })
  lu.assertEquals(count(text, "SCULLERY_STARTUP: cannot open /nosuch/start.lua"), 1)
  os.remove(path)
end

os.exit(lu.LuaUnit.run(), true)
