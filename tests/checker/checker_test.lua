-- The frame of the checker: how tests run, what they report, and what a run leaves behind: nothing.
-- broken_slow_test.lua has what the tests find; checker_nonlinearity_test.lua and its like that
-- built-in plugins pass them.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;tests/checker/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local frame = require "scullery_checker"
local specimen, support = require "specimen", require "support"
local faults = require "faults"

local good = support.build .. "/tests/broken/good_nonlinearity.so"
local quote = support.quote
local sanitized = (os.getenv "SCULLERY_SANITIZE" or "") ~= ""

local function check(arguments) return support.scullery("plugin check " .. arguments) end

-- ------------ the command

TestCommand = {}

function TestCommand:test_list_names_every_test_once_a_kind()
  local status, out = check("--list")
  lu.assertEquals(status, 0)
  for _, kind in ipairs(core.plugin_kinds()) do
    local seen = {}
    for _, one in ipairs(require("scullery_checker").tests(kind)) do
      lu.assertNil(seen[one.name], kind .. ": two tests " .. one.name)
      seen[one.name] = true
      lu.assertStrMatches(one.name, "[a-z][a-z0-9-]*")
      lu.assertNil(one.about:find("\n"), one.name)
      lu.assertStrContains(out, one.name)
      lu.assertStrContains(out, one.about)
    end
  end
  lu.assertStrContains(out, "load")
end

function TestCommand:test_passes_with_status_0()
  local status, out, err = check(good .. " --only guard-pages --seed 3")
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrContains(out, "nonlinearity.broken")
  lu.assertStrMatches(out,
    ".*pass +guard%-pages.*\n1 passed, 0 warned, 0 skipped, 0 failed; seed 3\n")
end

function TestCommand:test_fails_with_status_1_and_says_how_to_do_it_again()
  local file = faults.file "nonlinearity_bound"
  local status, out = check(file .. " --only bound --seed 3")
  lu.assertEquals(status, 1)
  lu.assertStrContains(out, "FAIL")
  lu.assertStrContains(out, "above its bound 1")
  local again = out:match("again, in one process: scullery (plugin check [^\n]+)")
  lu.assertStrContains(again, "--only bound --reproduce 3")
  local status_again, out_again = support.scullery(again)
  lu.assertEquals(status_again, 1)
  lu.assertEquals(out_again:match("FAIL[^\n]+"), out:match("FAIL[^\n]+"))
end

function TestCommand:test_json()
  local status, out = check(good .. " --only shape --seed 3 --json")
  lu.assertEquals(status, 0)
  local all = core.json_decode(out, "the output")
  lu.assertEquals({ all.seed, all.passed, all.failed, #all.results }, { 3, 1, 0, 1 })
  local result = all.results[1]
  lu.assertEquals({ result.component, result.name, result.outcome },
    { "nonlinearity.broken", "shape", "pass" })
end

function TestCommand:test_a_crash_in_one_process_names_the_slot()
  lu.skipIf(sanitized, "a sanitizer reports the crash itself")
  local status, _, err = check(faults.file "nonlinearity_reads_past"
    .. " --only guard-pages --in-process")
  lu.assertNotEquals(status, 0)
  lu.assertStrContains(err, "in nonlinearity.broken, slot loop")
end

function TestCommand:test_mistakes()
  for arguments, sentence in pairs{
    [""] = "takes FILE.so, or the name of a plugin",
    [good .. " --only nosuchtest"] = "there is no such test",
    [good .. " --only definite"] = "a test of kernels, and " .. good:match "^'?(.-)'?$"
      .. " is none",
    [good .. " --only ''"] = "takes the name of a test, and got an empty text",
    [good .. " --seed words"] = "'--seed' takes a whole number from 0 on, and got 'words'",
    [good .. " --seconds inf"] = "'--seconds' takes a number above 0, and got 'inf'",
    ["--list --only nosuchtest"] = "no test has 'nosuchtest' in its name",
    ["nosuchsource.c"] = "nosuchsource.c is a source; it takes the shared object",
    ["."] = ". is a folder; it takes FILE.so",
    ["nosuchplugin"] = "no plugin 'nosuchplugin'",
  } do
    local status, _, err = check(arguments)
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, sentence)
  end
end

-- ------------ the function

TestFunction = {}

function TestFunction:test_results()
  local told = {}
  local all = sc.plugin.check(good, { only = "s", seed = 5,
    report = function(result) told[#told + 1] = result.name end })
  lu.assertEquals(all.failed + all.warned, 0)
  lu.assertEquals(#all.results, all.passed + all.skipped)
  lu.assertEquals(#told, #all.results)
  for i, result in ipairs(all.results) do
    lu.assertEquals(told[i], result.name)
    lu.assertStrContains(result.name, "s")
    lu.assertTrue(result.seconds >= 0)
  end
end

function TestFunction:test_by_name_and_by_kind_and_name()
  for _, name in ipairs{ "relu", "nonlinearity.relu" } do
    local all = sc.plugin.check(name, { only = "bound", seed = 1 })
    lu.assertEquals(all.results[1].component, "nonlinearity.relu")
  end
end

function TestFunction:test_in_one_process_finds_the_same()
  local file = faults.file "nonlinearity_lipschitz"
  local apart = sc.plugin.check(file, { only = "lipschitz", seed = 9 }).results[1]
  local here = sc.plugin.check(file, { only = "lipschitz", seed = 9, in_process = true }).results[1]
  lu.assertEquals({ here.outcome, here.text }, { apart.outcome, apart.text })
end

function TestFunction:test_a_fresh_seed_is_told()
  local one = sc.plugin.check(good, { only = "shape" })
  lu.assertEquals(math.type(one.seed), "integer")
end

-- The results of a plugin that never returns, from the first timeout on.
local function hang(given)
  local all = sc.plugin.check(faults.file "plugin_hangs", given)
  local list, from = {}, nil
  for i, result in ipairs(all.results) do
    from = from or result.outcome == "timeout" and i
    if from then list[#list + 1] = result end
  end
  return list
end

function TestFunction:test_two_tests_that_do_not_end_are_the_last()
  lu.skipIf(sanitized, "the time to wait for is another one")
  local patience, short = frame.patience, frame.short_patience
  frame.patience, frame.short_patience = 5, 2
  local ok, list = pcall(hang, { seed = 1 })
  frame.patience, frame.short_patience = patience, short
  lu.assertTrue(ok, tostring(list))
  lu.assertStrContains(list[1].text, "did not end in 5 s")
  local timeouts = 0
  for _, result in ipairs(list) do
    if timeouts == 2 then
      lu.assertEquals({ result.outcome, result.text },
        { "skip", "not run after 2 tests that did not end" })
    elseif result.outcome == "timeout" then
      timeouts = timeouts + 1
      lu.assertStrContains(result.text, ("did not end in %d s"):format(timeouts == 1 and 5 or 2))
    end
  end
  lu.assertEquals(timeouts, 2)
end

function TestFunction:test_mistakes()
  support.fails({ "plugin.check", "'seconds'" }, sc.plugin.check, good, { seconds = 0 })
  support.fails({ "plugin.check", "'olny'", "'only'" }, sc.plugin.check, good, { olny = "x" })
  support.fails({ "plugin.check: takes the path" }, sc.plugin.check, 3)
end

-- ------------ loading

TestLoading = {}

local function load_only(file) return sc.plugin.check(file, { seed = 1, seconds = 10 }) end

function TestLoading:test_what_is_no_plugin_is_one_result()
  local text = support.write(nil, "no shared object")
  for file, sentence in pairs{
    ["/nowhere/x.so"] = "no such file",
    [text] = "it is not an ELF file",
    [support.build .. "/tests/plugins/no_symbol.so"] = "no symbol 'scullery_plugin'",
  } do
    local all = load_only(file)
    lu.assertEquals({ #all.results, all.failed }, { 1, 1 }, file)
    local result = all.results[1]
    lu.assertEquals({ result.name, result.outcome, result.component }, { "load", "fail", file })
    lu.assertStrContains(result.text, sentence)
  end
  os.remove(text)
end

-- What happens in a constructor happens in another process.
function TestLoading:test_a_constructor_does_not_end_the_checker()
  lu.skipIf(sanitized, "a sanitizer reports the end of the process itself")
  local all = load_only(faults.file "plugin_ends_at_loading")
  lu.assertEquals({ #all.results, all.results[1].outcome }, { 1, "crash" })
end

-- ------------ what a run leaves behind

TestBehind = {}

-- Commands whose arguments have the path, the first one first: a list of process numbers.
local function processes_of(path)
  local _, out = support.shell("ls /proc")
  local list = {}
  for pid in out:gmatch("%d+") do
    local file = io.open("/proc/" .. pid .. "/cmdline", "rb")
    local line = file and file:read("a"):gsub("\0", " ") or ""
    if file then file:close() end
    if line:find(path, 1, true) and line:find("^%S*scullery plugin") then
      list[#list + 1] = math.tointeger(pid)
    end
  end
  table.sort(list)
  return list
end

-- They, once there are so many, or after long.
local function wait_for(count, path)
  local list
  for _ = 1, 200 do
    list = processes_of(path)
    if #list == count then break end
    support.shell("sleep 0.05")
  end
  return list
end

function TestBehind:test_no_files()
  support.in_folder(function(folder)
    local status = support.shell(("command=$(realpath %s) file=$(realpath %s) && cd %s && \z
      TMPDIR=. HOME=. $command plugin check $file --only s"):format(quote(support.binary),
      quote(good), quote(folder)))
    lu.assertEquals(status, 0)
    local _, out = support.shell("ls -A " .. quote(folder))
    lu.assertEquals(out, "")
  end)
end

-- A process that the plugin started ends with the one of the test.
function TestBehind:test_no_processes()
  lu.skipIf(sanitized, "a sanitizer has processes of its own")
  support.in_folder(function(folder)
    local file = folder .. "/forks.so"
    support.shell(("cp %s %s"):format(quote(faults.file "plugin_child"), quote(file)))
    local result = sc.plugin.check(file, { only = "surroundings", seed = 1 }).results[1]
    lu.assertEquals(result.outcome, "fail", result.text)
    lu.assertEquals(wait_for(0, file), {})
  end)
end

local function check_stopped_by(signal, expected)
  support.in_folder(function(folder)
    local file = folder .. "/hangs.so"
    support.shell(("cp %s %s"):format(quote(faults.file "plugin_hangs"), quote(file)))
    support.shell(("{ %s plugin check %s --only surroundings; echo status $?; } >%s/out 2>&1 & \z
      true"):format(quote(support.binary), quote(file), folder))
    local list = wait_for(2, file) -- it, and the process of the test
    lu.assertEquals(#list, 2)
    support.shell(("kill -%s %d"):format(signal, list[1]))
    lu.assertEquals(wait_for(0, file), {})
    for _ = 1, 100 do -- the shell writes after them
      if support.read(folder .. "/out"):find "status %d" then break end
      support.shell "sleep 0.05"
    end
    lu.assertStrContains(support.read(folder .. "/out"), expected)
  end)
end

function TestBehind:test_ctrl_c_ends_the_check_and_its_process()
  lu.skipIf(sanitized, "the time to wait for is another one")
  check_stopped_by("INT", "interrupted!")
end

function TestBehind:test_a_killed_check_ends_its_process()
  lu.skipIf(sanitized, "the time to wait for is another one")
  check_stopped_by("KILL", "status 137")
end

-- plugin check --watch compiles and checks at once and after a change, until Ctrl-C.
TestWatching = {}

function TestWatching:test_a_source_is_checked_at_each_change()
  lu.skipIf(sanitized, "the compiled object would need the sanitizer's runtime")
  local source = support.read((os.getenv "SCULLERY_SOURCE" or ".")
    .. "/lua/scullery/templates/nonlinearity.c")
  support.in_folder(function(folder)
    local path, out = folder .. "/watched.c", folder .. "/out"
    local function await(words)
      for _ = 1, 600 do
        if support.read(out):find(words, 1, true) then return end
        os.execute "sleep 0.1"
      end
      lu.fail(("after a minute there is no '%s' in: %s"):format(words, support.read(out)))
    end
    support.write(path, source)
    support.write(out, "")
    local pipe = assert(io.popen(("XDG_CACHE_HOME='%s/cache' %s plugin check --watch %s --only \z
      gaussian-dual >%s 2>&1 & echo $!"):format(folder, support.quote(support.binary),
      support.quote(path), support.quote(out))))
    local process = pipe:read("l")
    pipe:close()
    await ": 1 passed, 0 warned, 0 skipped, 0 failed"
    support.write(path, (source:gsub("%? z%[j%]", "? 2 * z[j]")))
    await "FAIL     gaussian-dual"
    support.write(path, (source:gsub("const leaky", "konst leaky")))
    await "unknown type name"
    os.execute("kill -INT " .. process)
    await "interrupted!"
  end)
  support.fails({ "plugin check: --watch takes a source", "x.so" }, function()
    require("scullery_checker.command").run{ target = { "x.so" }, watch = true }
  end)
  support.fails({ "plugin check: there is no file '/none/x.c'" }, function()
    require("scullery_checker.command").run{ target = { "/none/x.c" }, watch = true }
  end)
  support.fails({ "plugin check: --watch takes one source, and got 2" }, function()
    require("scullery_checker.command").run{ target = { "x.c", "y.c" }, watch = true }
  end)
end

-- sc.metrics gives weights and classes to all metrics.
function TestOptionsOfMetrics()
  for name, outcome in pairs{ weights = "fail", weighting = "pass" } do
    sc.metric.define{ name = "with_" .. name, needs = "values", better = "smaller", low = 0,
      doc = "the mean of |f - y|^power over all rows", version = "1", options = { [name] = 1 },
      row = function(f, y) return math.abs(f - y) end }
    local result = frame.run("with_" .. name, { only = "descriptor", in_process = true, seed = 1 })
      .results[1]
    lu.assertEquals(result.outcome, outcome, result.text)
  end
end

local status = lu.LuaUnit.run()
specimen.clear()
os.exit(status)
