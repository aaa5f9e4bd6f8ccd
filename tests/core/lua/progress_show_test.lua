-- Where progress is shown: levels of Lua loops, the line on a terminal, plain lines in a pipe, JSON
-- lines, and the progress functions of search, cv, predict, kernel_error and calibrate.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local progress = require "scullery.base.progress"
local support = dofile "tests/helpers/support.lua"
local quote, shell = support.quote, support.shell

local X = sc.randn{ 400, 3, seed = 1 }
local y = {}
for i = 1, 400 do y[i] = X:get(i, 1) + 0.5 * X:get(i, 2) > 0 and "yes" or "no" end
local ds = sc.dataset{ X = X, y = y }
local function recipe(sigma) return sc.pipeline{ sc.standardize(),
  sc.features{ p = sc.sampler.gaussian{ sigma = sigma or 1 }, phi = sc.nonlinearity.fourier(),
    T = 20, seed = 1 }, sc.solver.ridge{ lambda = 1e-3 } } end

-- "search 1/3 > learning 200/400"
local function path_of(report)
  local parts = {}
  for i, level in ipairs(report.levels) do
    parts[i] = level.name .. (level.total and (" %d/%d"):format(level.done, level.total) or "")
  end
  return table.concat(parts, " > ")
end

-- The levels of all reports while run(f) works.
local function paths(run)
  local list = {}
  run(function(report)
    list[#list + 1] = path_of(report)
    lu.assertEquals(report.levels[#report.levels].name, report.stage)
  end)
  return list, "\n" .. table.concat(list, "\n") .. "\n"
end

-- ------------ levels of Lua code

TestLevels = {}

local function watched(f)
  local seen = {}
  core.watch(function(report) seen[#seen + 1] = path_of(report) end)
  local ok, message = pcall(f)
  core.unwatch()
  return seen, ok, message
end

function TestLevels.test_they_nest_and_end_with_their_block()
  local seen = watched(function()
    local outer <close> = progress.level{ name = "outer", total = 2 }
    for _ = 1, 2 do
      local inner <close> = progress.level{ name = "inner", total = 3 }
      inner:step(2)
      outer:step()
    end
  end)
  lu.assertEquals(seen, { "outer 0/2 > inner 2/3", "outer 1/2 > inner 2/3",
    "outer 1/2 > inner 2/3", "outer 2/2 > inner 2/3" })
  lu.assertEquals(watched(function()
    local alone <close> = progress.level{ name = "alone" }
    alone:step(7, 0.5)
  end), { "alone" })
end

function TestLevels.test_they_print_as_what_they_are()
  local level <close> = progress.level{ name = "fold", total = 5 }
  level:step()
  lu.assertEquals(tostring(level), "level fold, 1 of 5 done")
  level:close()
  lu.assertEquals(tostring(level), "a level of progress that is closed")
end

function TestLevels.test_an_error_ends_them()
  local function fail()
    local outer <close> = progress.level{ name = "outer", total = 2 }
    progress.level{ name = "never closed" }
    outer:step()
    error "mine"
  end
  local _, ok, message = watched(fail)
  lu.assertFalse(ok)
  lu.assertStrContains(message, "mine")
  lu.assertEquals(watched(function()
    local next <close> = progress.level{ name = "next", total = 1 }
    next:step()
  end), { "next 1/1" })
end

function TestLevels.test_a_coroutine_that_is_dropped_takes_its_levels_with_it()
  local co = coroutine.create(function()
    local _ <close> = progress.level{ name = "dropped", total = 1 }
    coroutine.yield()
  end)
  coroutine.resume(co)
  local kept <close> = progress.level{ name = "kept", total = 1 }
  co = nil -- luacheck: ignore 311
  collectgarbage()
  collectgarbage()
  lu.assertEquals(watched(function() kept:step() end), { "kept 1/1" })
end

function TestLevels.test_steps_after_the_end_do_nothing()
  local outer, inner = progress.level{ name = "outer" }, progress.level{ name = "inner" }
  outer:close()
  lu.assertEquals(watched(function()
    inner:step()
    outer:step()
    inner:close()
    outer:close()
  end), {})
end

function TestLevels.test_more_than_can_be_shown_are_left_out()
  local outer <close> = progress.level{ name = "outer" }
  local list = {}
  for i = 1, 100 do list[i] = progress.level{ name = "level " .. i } end
  lu.assertEquals(#watched(function()
    outer:step()
    list[31]:step()
    list[32]:step()
  end), 2)
end

function TestLevels.test_false_and_errors_of_the_function_stop_at_a_step()
  local level, steps = progress.level{ name = "loop", total = 3 }, 0
  local function loop()
    for _ = 1, 3 do
      level:step()
      steps = steps + 1
    end
  end
  lu.assertErrorMsgContains("title: stopped: its progress function returned false",
    progress.watched, "title", function() return false end, loop)
  lu.assertErrorMsgContains("mine", progress.watched, "title", function() error "mine" end, loop)
  lu.assertEquals(steps, 0)
  loop()
  level:close()
end

function TestLevels.test_wrong_use_is_a_sentence()
  lu.assertErrorMsgContains("option 'name'", progress.level, {})
  lu.assertErrorMsgContains("option 'total' got -1", progress.level, { name = "x", total = -1 })
  lu.assertErrorMsgContains("unknown option 'totals'", progress.level, { name = "x", totals = 1 })
end

-- ------------ functions of scripts

TestFunctions = {}

-- On several threads others may have solved all folds before this one takes one.
function TestFunctions.setUp()
  TestFunctions.before = core.threads()
  core.threads(1)
end
function TestFunctions.tearDown() core.threads(TestFunctions.before) end

function TestFunctions.test_a_search_tells_runs_and_folds()
  local p = recipe(sc.choose{ 0.5, 1, 2 })
  local list, all, _ = paths(function(f) p:search(ds, { folds = 3, progress = f }) end)
  lu.assertStrContains(all, "\nsearch 0/3 > learning 400/400\n") -- all folds at once
  lu.assertStrContains(all, "\nsearch 1/3 > fold 0/3 > solving 0/1\n")
  for run = 1, 3 do lu.assertStrContains(all, ("\nsearch %d/3\n"):format(run)) end
  lu.assertStrContains(list[#list], "fit") -- the chosen cell on all rows
  _, all = paths(function(f) p:search(ds, { folds = 3, stages = "fold", progress = f }) end)
  lu.assertStrContains(all, "\nsearch 2/3 > fold 1/3 > solving 0/1 > learning 267/267\n")
  _, all = paths(function(f) p:search(ds, { folds = 3, outer = 2, progress = f }) end)
  lu.assertStrContains(all, "\nouter fold 1/2 > search 3/3\n")
end

function TestFunctions.test_others_take_one_too()
  local p = recipe():fit(ds)
  local _, all = paths(function(f) p:cv(ds, { folds = 3, repeats = 2, progress = f }) end)
  lu.assertStrContains(all, "\ncross-validation 1/2 > fold 0/3 > solving 0/1\n")
  lu.assertStrContains(all, "\ncross-validation 2/2\n")
  for _, name in ipairs{ "predict", "decision", "labels", "probabilities" } do
    _, all = paths(function(f) p[name](p, X, { progress = f }) end)
    lu.assertStrContains(all, "\npredict > predicting 400/400\n", name)
  end
  _, all = paths(function(f) p:calibrate{ folds = 3, progress = f } end)
  lu.assertStrContains(all, "\ncalibration > fold 0/3 > solving 0/1\n")
  _, all = paths(function(f)
    sc.kernel_error{ X = X, p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(),
      T = { 4, 8 }, seeds = 3, progress = f }
  end)
  for k = 1, 6 do lu.assertStrContains(all, ("\nmap %d/6\n"):format(k)) end
end

function TestFunctions.test_a_search_that_is_stopped_keeps_what_was_finished()
  local p = recipe(sc.choose{ 0.5, 1, 2 })
  local ok, raised = pcall(p.search, p, ds, { folds = 3, progress = function(report)
    return not (report.stage == "search" and report.done == 2)
  end })
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(raised),
    "pipeline:search: stopped: its progress function returned false")
  lu.assertEquals(#raised.table, 2)
  lu.assertStrContains(tostring(raised), "2 of 3 cells were finished")
  lu.assertErrorMsgContains("mine", p.search, p, ds, { progress = function() error "mine" end })
  lu.assertNotNil(p:search(ds, { folds = 3 }).fitted)
end

function TestFunctions.test_what_is_no_function_is_refused()
  local p = recipe(sc.choose{ 0.5, 1 })
  lu.assertErrorMsgContains("option 'progress' got 1; it takes a function", p.search, p, ds,
    { progress = 1 })
  local q = recipe():fit(ds)
  lu.assertErrorMsgContains("option 'progress' got 1; it takes a function", q.predict, q, X,
    { progress = 1 })
  lu.assertErrorMsgContains("unknown option 'progres'", q.predict, q, X, { progres = print })
end

function TestFunctions.test_time_left_is_that_of_the_outermost_level()
  local began = core.now()
  local outer <close> = progress.level{ name = "outer", total = 1000001 }
  while core.now() < began + 0.1 do end
  local left
  core.watch(function(report) left = report.left end)
  outer:step()
  lu.assertTrue(left > 0.09 * 1e6 and left <= 1e6 * (core.now() - began), left)
  local inner <close> = progress.level{ name = "inner", total = 2 }
  inner:step()
  core.unwatch()
  lu.assertTrue(left > 0.09 * 1e6 - 100, left) -- of the million, not of the two
end

-- ------------ where it is shown

TestShown = {}

-- Two levels, for about so many seconds; then a fit.
local script = support.write(nil, [[
  local sc = require "scullery"
  local progress = require "scullery.base.progress"
  local seconds = tonumber(arg[1])
  do
    local outer <close> = progress.level{ name = "a search", total = 10 }
    for i = 1, 10 do
      local inner <close> = progress.level{ name = "of\27[31m\n f\u{f6}lds", total = 5 }
      for _ = 1, 5 do
        io.popen("sleep " .. seconds / 50):close() -- which takes no processor
        inner:step(nil, 0.25)
      end
      outer:step()
    end
  end
  print "done"]])
local command = ("%s %s"):format(quote(support.binary), quote(script))

function TestShown.test_short_work_says_nothing_in_a_pipe()
  local status, out, err = shell(command .. " 0.1")
  lu.assertEquals({ status, out, err }, { 0, "done\n", "" })
end

function TestShown.test_a_pipe_gets_plain_lines()
  local began = core.now()
  local status, out, err = shell("SCULLERY_PROGRESS=0.05 " .. command .. " 1")
  local took = core.now() - began
  lu.assertEquals({ status, out }, { 0, "done\n" })
  local lines = 0
  for line in err:gmatch "([^\n]*)\n" do
    lines = lines + 1
    lu.assertStrMatches(line, "scullery: a search %d+ of 10.*")
    if line:find("search 1 of", 1, true) then lu.assertNotStrContains(line, " left") end
    lu.assertNotStrContains(line, "\27")
    lu.assertNotStrContains(line, "\r")
  end
  lu.assertTrue(lines >= 2 and lines <= took / 0.05, err)
  lu.assertStrContains(err, " left > of [31m  f\u{f6}lds ")
  lu.assertStrContains(err, ", loss 0.25\n")
  lu.assertEquals({ shell("SCULLERY_PROGRESS=0 " .. command .. " 1") }, { 0, "done\n", "" })
end

-- A piece of work without a share, and a walk in it: that of the solver, or of the choice of its
-- lambda.
function TestShown.test_the_time_of_a_walk_names_it()
  local path = support.write(nil, [[
    local sc = require "scullery"
    local X = sc.randn{ 10000, 20, seed = 1 }
    sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.fourier(),
      T = 600 }, sc.solver.ridge{ lambda = tonumber(arg[1]) } }:fit(X, X:column(1))]])
  local function shown(lambda)
    return (select(3, shell(("SCULLERY_PROGRESS=0.02 SCULLERY_THREADS=1 %s %s %s"):format(
      quote(support.binary), quote(path), lambda))))
  end
  local err, choice = shown "1e-3", shown ""
  os.remove(path)
  lu.assertStrContains(err, " s left in learning, ")
  lu.assertNil(err:match "learning %d+%%, %d+ s left, ")
  lu.assertStrContains(choice, "choosing lambda 1 of 1")
  lu.assertNil(choice:match "learning %d+%%, %d+ s left, ")
  lu.assertNotStrContains(err, "scullery: , ")
end

function TestShown.test_a_wrong_interval_is_refused()
  for _, wrong in ipairs{ "x", "-1", "1s", "nan" } do
    local status, _, err = shell(("SCULLERY_PROGRESS=%s %s 0"):format(wrong, command))
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, "SCULLERY_PROGRESS got \"" .. wrong .. "\"")
  end
end

-- What a terminal of so many columns gets.
local function on_terminal(columns, line, kind)
  lu.skipIf(not os.execute "command -v script >/dev/null",
    "script(1) is not installed: no terminal to test on")
  local inside = ("stty cols %d; TERM=%s %s"):format(columns, kind or "xterm", line)
  local _, shown = shell(("script -qec %s /dev/null"):format(quote(inside)))
  return shown
end

function TestShown.test_a_terminal_has_one_line_that_goes()
  local shown = on_terminal(100, command .. " 3")
  local lines = 0
  for line in shown:gmatch "\r(a search[^\r]*)\27%[K" do
    lines = lines + 1
    lu.assertTrue(utf8.len(line) < 100)
  end
  lu.assertTrue(lines >= 2, shown)
  lu.assertStrMatches(shown, ".*\r\27%[Kdone\r\n")
  lu.assertNotStrContains(shown:gsub("done\r\n", ""), "\n")
end

function TestShown.test_twenty_columns_are_enough()
  local shown = on_terminal(20, command .. " 3")
  local lines = 0
  for line in shown:gmatch "\r(a search[^\r]*)\27%[K" do
    lines = lines + 1
    lu.assertTrue(utf8.len(line) <= 19)
  end
  lu.assertTrue(lines >= 1, shown)
end

function TestShown.test_a_dumb_terminal_gets_plain_lines()
  local shown = on_terminal(80, "SCULLERY_PROGRESS=0.4 " .. command .. " 1", "dumb")
  lu.assertNotStrContains(shown, "\27")
  lu.assertStrContains(shown, "scullery: a search ")
end

function TestShown.test_what_a_script_prints_stands_on_a_line_of_its_own()
  local path = support.write(nil, [[
    local progress = require "scullery.base.progress"
    local level <close> = progress.level{ name = "cell", total = 3 }
    for i = 1, 3 do
      io.popen("sleep 0.7"):close()
      level:step()
      print("printed " .. i)
    end]])
  local shown = on_terminal(80, quote(support.binary) .. " " .. quote(path))
  os.remove(path)
  lu.assertStrContains(shown, "\r\27[Kprinted 2\r\n")
end

function TestShown.test_an_interrupt_takes_the_line_away()
  local shown = on_terminal(80, ("timeout -s INT 3 %s 10"):format(command))
  lu.assertStrContains(shown, "a search")
  lu.assertStrMatches(shown, ".*\r\27%[K[^\r]*interrupted!\r\n.*")
end

-- ------------ JSON lines

TestLog = {}

local function lines_of(text)
  local list = {}
  for line in text:gmatch "([^\n]*)\n" do list[#list + 1] = core.json_decode(line, "a line") end
  return list
end

function TestLog.test_levels_begin_step_and_end()
  local path = support.write(nil, "")
  local line = ("SCULLERY_LOG=%s %s 0.2"):format(quote(path), command)
  local status, _, err = shell(line)
  lu.assertEquals({ status, err }, { 0, "" })
  local list = lines_of(support.read(path))
  lu.assertEquals(#list, 2 + 10 * 2 + 10 * 5 + 10)
  local first, second, last = list[1], list[2], list[#list]
  lu.assertEquals({ first.event, first.stage, first.total, #first.levels },
    { "begin", "a search", 10, 1 })
  lu.assertEquals({ second.event, #second.levels, second.levels[2].name },
    { "begin", 2, "of [31m  f\u{f6}lds" })
  lu.assertEquals({ last.event, last.stage, last.done }, { "end", "a search", 10 })
  lu.assertTrue(last.seconds >= 0.2)
  local time = 0
  for _, one in ipairs(list) do
    lu.assertTrue(one.time >= time and math.abs(one.time - os.time()) < 100)
    time = one.time
  end
  lu.assertEquals(list[3].loss, 0.25)
  -- appended
  shell(line)
  lu.assertEquals(#lines_of(support.read(path)), 2 * #list)
  os.remove(path)
end

function TestLog.test_a_dash_is_standard_error()
  local _, _, err = shell("SCULLERY_PROGRESS=0.1 SCULLERY_LOG=- " .. command .. " 0.5")
  lu.assertEquals(#lines_of(err), 82) -- and no plain line
end

function TestLog.test_what_cannot_be_written_is_told_once()
  local folder = os.tmpname()
  for _, case in ipairs{ { "/dev/full", "No space left on device" },
    { folder .. "/x/log", "Not a directory" }, { "/", "Is a directory" } } do
    local status, out, err = shell(("SCULLERY_LOG=%s %s 0.1"):format(case[1], command))
    lu.assertEquals({ status, out }, { 0, "done\n" })
    lu.assertEquals(err, ("scullery: SCULLERY_LOG: cannot write to '%s': %s; the work goes on\n")
      :format(case[1], case[2]))
  end
  os.remove(folder)
end

function TestLog.test_a_limit_on_the_size_of_files_ends_no_work()
  local path = support.write(nil, ("x"):rep(512))
  local status, out, err = shell(("ulimit -f 1; SCULLERY_LOG=%s %s 0.1 | cat"):format(quote(path),
    command)) -- of 512 bytes
  lu.assertEquals({ status, out }, { 0, "done\n" })
  lu.assertStrContains(err, "cannot write to '" .. path .. "': File too large")
  os.remove(path)
end

function TestLog.test_a_reader_that_goes_ends_no_work()
  local pipe = os.tmpname()
  os.remove(pipe)
  assert(os.execute("mkfifo " .. quote(pipe)))
  -- nobody reads
  local status, out, err = shell(("SCULLERY_LOG=%s %s 0.1"):format(quote(pipe), command))
  lu.assertEquals({ status, out }, { 0, "done\n" })
  lu.assertStrContains(err, "cannot write to")
  -- somebody reads one line
  status, out, err = shell(("head -n 1 <%s >/dev/null & sleep 1; SCULLERY_LOG=%s %s 0.5"):format(
    quote(pipe), quote(pipe), command))
  os.remove(pipe)
  lu.assertEquals({ status, out }, { 0, "done\n" })
  lu.assertStrContains(err, "Broken pipe")
end

local status = lu.LuaUnit.run()
os.remove(script)
os.exit(status, true)
