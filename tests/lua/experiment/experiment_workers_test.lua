--- Experiments on several processes, runs at once, kills, Ctrl-C, full disks and cells that print
--- without end. tests/fuzz/experiments.lua kills a thousand times.
-- luacheck: globals TestWorkers TestEnds TestTogether TestDisks TestOutput
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local quote = support.quote
local function absolute(name)
  return name:sub(1, 1) == "/" and name or io.popen("pwd"):read("l") .. "/" .. name
end
local binary = quote(absolute(support.binary))
local sanitized = (os.getenv "SCULLERY_SANITIZE" or "") ~= ""
local folder

local function path(name) return folder .. "/" .. name end

local function set_up()
  folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. quote(folder)))
end

local function tear_down() assert(os.execute("rm -rf " .. quote(folder))) end

-- A script of one experiment "e" in the folder: `body` is what its function does.
local function script(body, more)
  support.write(path("s.lua"), ([[
local folder = %q
local function note(text)
  local file = io.open(folder .. "/notes", "a")
  file:setvbuf("no")
  file:write(text .. "\n")
  file:close()
end
local exp = sc.experiment{ name = "e", folder = folder, cells = { i = { 1, 2, 3, 4, 5, 6 } }, %s,
  run = function(cell, context)
    %s
    return { i = cell.i }
  end }
print(exp)
]]):format(folder, more or "processes = 2", body))
end

-- Run the script; a shell line may stand in front.
local function run(before, after)
  return support.shell(("cd %s; %s timeout -k 5 100 %s s.lua %s"):format(quote(folder),
    before or "", binary, after or ""))
end

local function open() return sc.experiment.open("e", { folder = folder }) end

local function notes()
  local list = {}
  local file = io.open(path("notes"))
  if not file then return list end
  for line in file:lines() do list[#list + 1] = line end
  file:close()
  table.sort(list)
  return list
end

-- Every cell is done exactly once.
local function check_whole()
  local seen = {}
  for line in io.lines(path("e/results.jsonl")) do
    local i = line:find('"status":"done"', 1, true) and line:match('"i":(%d)')
    if i then
      lu.assertNil(seen[i], "cell " .. i .. " is there twice")
      seen[i] = true
    end
  end
  for i = 1, 6 do lu.assertTrue(seen[tostring(i)], "cell " .. i .. " is lost") end
end

-- Lines of shell that wait until the file is there (10 s at most).
local function wait_for(name)
  return ("for k in $(seq 500); do [ -e %s ] && break; sleep 0.02; done;"):format(quote(path(name)))
end

-- ------------ workers

TestWorkers = { setUp = set_up, tearDown = tear_down }

function TestWorkers:test_all_cells_are_done_once_and_the_script_goes_on()
  script [[note(cell.i .. " " .. os.getenv "SCULLERY_THREADS")]]
  local status, out, err = run("SCULLERY_THREADS=4")
  lu.assertEquals({ status, out, err }, { 0, ("experiment e: 6 cells done, 0 failed, in %s/e\n")
    :format(folder), "" })
  check_whole()
  lu.assertEquals(notes(), { "1 2", "2 2", "3 2", "4 2", "5 2", "6 2" })
  lu.assertEquals(open().rows[1].about.threads, 2)
end

function TestWorkers:test_results_are_those_of_one_process()
  local body = "note(tostring(context.seed)) if cell.i == 3 then error 'three' end"
  script(body, "allow_failures = true")
  run()
  local alone, seeds = open().rows, notes()
  os.execute("rm -r " .. quote(path("e")) .. " " .. quote(path("notes")))
  script(body, "processes = 3, allow_failures = true")
  run()
  lu.assertEquals(notes(), seeds)
  for i, row in ipairs(open().rows) do
    lu.assertEquals({ row.cell, row.result, row.status, row.message }, { alone[i].cell,
      alone[i].result, alone[i].status, alone[i].message })
  end
end

function TestWorkers:test_what_cells_print_goes_to_their_logs()
  script [[if cell.i < 3 then
    print("out " .. cell.i)
    io.stderr:write("err " .. cell.i .. "\n")
  end]]
  local status, out, err = run()
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrMatches(out, "experiment e: 6 cells done[^\n]*\n")
  local text = {}
  for name in io.popen("ls " .. quote(path("e/logs"))):lines() do
    text[#text + 1] = support.read(path("e/logs/" .. name))
  end
  table.sort(text)
  lu.assertEquals(#text, 2)
  for i = 1, 2 do
    lu.assertStrContains(text[i], "out " .. i)
    lu.assertStrContains(text[i], "err " .. i)
  end
end

function TestWorkers:test_two_experiments_in_a_script()
  support.write(path("s.lua"), ([[
for _, name in ipairs{ "a", "e" } do
  local exp = sc.experiment{ name = name, folder = %q, cells = { i = { 1, 2, 3, 4, 5, 6 } },
    processes = 2, run = function(cell) return { i = cell.i, of = name } end }
  print(#exp.rows, exp.rows[6].result.of)
end]]):format(folder))
  local status, out, err = run()
  lu.assertEquals({ status, out, err }, { 0, "6\ta\n6\te\n", "" })
  check_whole()
end

function TestWorkers:test_the_example_that_ships()
  local example = quote(absolute(os.getenv("SCULLERY_SOURCE") or ".")
    .. "/scripts/experiment.lua")
  local status, out, err = support.shell(("cd %s; timeout 300 %s %s --set T=5,20 --set seed=1,2")
    :format(quote(folder), binary, example))
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrContains(out, "smallest error: 0.0")
  lu.assertStrContains(out, "random features T")
  lu.assertEquals(#sc.experiment.open("sinks", { folder = path("experiments") }).rows, 12)
end

function TestWorkers:test_a_stock_interpreter()
  lu.skipIf(sanitized or not os.execute "command -v lua5.4 >/dev/null", "no lua5.4 here")
  script ""
  support.write(path("s.lua"), "sc = require 'scullery'\n" .. support.read(path("s.lua")))
  local build = absolute(support.build)
  local status, out, err = support.shell(("cd %s; LUA_PATH='%s/share/lua/5.4/?.lua;\z
%s/share/lua/5.4/?/init.lua' LUA_CPATH='%s/lib/lua/5.4/?.so' timeout 180 lua5.4 s.lua"):format(
    quote(folder), build, build, build))
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrContains(out, "6 cells done")
  check_whole()
end

function TestWorkers:test_where_there_is_no_script_to_run_again()
  local code = ("sc.experiment{ name = 'e', folder = %q, cells = { i = 1 }, processes = 2, \z
    run = print }"):format(folder)
  for _, how in ipairs{ "-e " .. quote(code), "-", "-i" } do
    local _, _, err = support.scullery(how, how ~= "-" and how ~= "-i" and "" or code)
    lu.assertStrContains(err, "processes of more than 1 run the script again, and there is none")
  end
end

function TestWorkers:test_a_script_that_is_not_the_same_when_it_runs_again()
  script("", "processes = 2, data = error and nil")
  local text = support.read(path("s.lua"))
  support.write(path("s.lua"), (text:gsub("{ 1, 2, 3, 4, 5, 6 }", "{ os.time() + os.clock() }")))
  local status, _, err = run()
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "do they depend on time or chance?")
  support.write(path("s.lua"), "if os.getenv 'SCULLERY_WORKER' then error 'other here' end "
    .. text)
  status, _, err = run()
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "a worker ended before it reached the experiment: its process ended \z
    with exit status 1. It printed last: ")
  lu.assertStrContains(err, "other here")
end

function TestWorkers:test_a_worker_has_no_workers()
  script([[if cell.i == 1 then
      local status = io.popen(arg[-1] .. " inner.lua 2>&1"):read("a")
      note(status)
    end]])
  support.write(path("inner.lua"), ([[sc.experiment{ name = "inner", folder = %q, processes = 50,
    cells = { i = { 1, 2 } }, run = function() return { s = tostring(sc.threads()) } end }
    print "inner is done"]]):format(folder))
  lu.assertEquals((run()), 0)
  lu.assertEquals(notes()[#notes()], "inner is done")
end

function TestWorkers:test_cells_without_a_standard_output()
  script "if io.stdout then io.stdout:close() end io.stdout = nil"
  support.write(path("s.lua"), (support.read(path("s.lua")):gsub("print%(exp%)", "")))
  local status, _, err = run()
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertEquals(#open().rows, 6)
end

function TestWorkers:test_a_cell_that_runs_its_own_experiment()
  script [[
    local _, message = pcall(sc.experiment, { name = "e", folder = folder,
      cells = { i = { 1, 2, 3, 4, 5, 6 } }, run = function() return {} end })
    note(message)]]
  lu.assertEquals((run()), 0)
  for _, line in ipairs(notes()) do
    lu.assertStrContains(line, "the experiment 'e' runs already: this is a cell of it")
  end
end

function TestWorkers:test_a_cell_of_one_process_has_no_workers()
  script([[
    sc.experiment{ name = "inner" .. cell.i, folder = folder, cells = { j = { 1, 2 } },
      processes = 2, run = function() return {} end }]], "processes = 1")
  local status, _, err = run()
  lu.assertEquals({ status, err }, { 0, "" })
end

-- ------------ ends

TestEnds = { setUp = set_up, tearDown = tear_down }

function TestEnds:test_a_worker_that_is_killed_is_a_failure_of_its_cell_and_the_others_go_on()
  for word, line in pairs{ ["signal 9 (SIGKILL, Killed): by hand, or by the system"] =
    "io.popen('kill -KILL $PPID'):close()", ["signal 15 (SIGTERM"] =
    "io.popen('kill -TERM $PPID'):close() os.execute 'sleep 5'", ["exit status 3"] = "os.exit(3)" }
  do
    script(("if cell.i == 2 then %s end"):format(line))
    local status, _, err = run()
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, "1 of 6 cells failed; the first, {i = 2}: its process ")
    lu.assertStrContains(err, word)
    lu.assertEquals({ open().failed, #open().rows }, { 1, 6 })
    script ""
    local refused, _, why = run() -- five cells are done, by the function before it was corrected
    lu.assertEquals(refused, 1)
    lu.assertStrContains(why, "has results of another function 'run'")
    script("", 'processes = 2, rerun = "never"')
    lu.assertEquals((run()), 0)
    check_whole()
    script("", 'processes = 2, rerun = "changed"')
    lu.assertEquals((run()), 0)
    script ""
    lu.assertEquals((run()), 0)
    os.execute("rm -r " .. quote(path("e")))
  end
end

function TestEnds:test_what_a_cell_started_ends_with_its_worker()
  script("if cell.i == 2 then os.execute('yes & sleep 0.1; kill -KILL $PPID; sleep 60') end")
  local status = run()
  lu.assertEquals({ status, open().failed }, { 1, 1 })
end

-- The working folders of workers that still run.
local left = "pgrep -f '^[^ ]*scullery s.lua' | while read q; do readlink /proc/$q/cwd; done"

function TestEnds:test_workers_end_with_their_run()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or ""):find("thread"),
    "the thread sanitizer holds signals back during system()")
  script([[note("begins " .. cell.i) os.execute "sleep 30"]])
  local _, out = support.shell(("cd %s; %s s.lua & p=$!; %s sleep 0.2; kill -9 $p; wait $p; \z
    for i in $(seq 40); do sleep 0.25; %s | grep -q -x -F \"$PWD\" || break; done; %s")
    :format(quote(folder), binary, wait_for("notes"), left, left))
  lu.assertNil(out:find(folder, 1, true), out)
  script ""
  lu.assertEquals((run()), 0)
  check_whole()
end

function TestEnds:test_ctrl_c_stops_all()
  for _, more in ipairs{ "processes = 1", "processes = 2" } do
    script([[note("begins " .. cell.i)
      while cell.i > 1 do sc.ones(10, 10):sum() end]], more)
    local began = os.time()
    local status, _, err = support.shell(([[cd %s; setsid sh -c 'trap - INT; exec %s s.lua' & p=$!
      %s sleep 0.3; kill -INT $p; wait $p]]):format(quote(folder), binary, wait_for("notes")))
    lu.assertEquals({ more, status }, { more, 1 }, err)
    lu.assertStrContains(err, "interrupted!")
    lu.assertTrue(os.difftime(os.time(), began) < 60)
    for _, row in ipairs(open().rows) do
      lu.assertEquals({ row.status, row.cell.i }, { "done", 1 })
    end
    os.remove(path("notes"))
    os.execute("rm -r " .. quote(path("e")))
  end
end

function TestEnds:test_kills_at_any_time()
  lu.skipIf(sanitized, "kills by the clock need a build of normal speed")
  local status, out = support.scullery("tests/fuzz/experiments.lua --seed tree --kills 30")
  lu.assertEquals(status, 0, out)
  lu.assertStrContains(out, "0 cells lost, 0 doubled, 0 wrong")
end

-- ------------ runs at once

TestTogether = { setUp = set_up, tearDown = tear_down }

function TestTogether:test_runs_at_once_share_the_cells()
  for _, more in ipairs{ "processes = 1", "processes = 2" } do
    script([[note(cell.i) os.execute "sleep 0.1"]], more)
    local _, out, err = support.shell(("cd %s; for k in 1 2 3; do %s s.lua & done; wait"):format(
      quote(folder), binary))
    local _, ends = out:gsub("experiment e: 6 cells done, 0 failed", "")
    lu.assertEquals({ more, ends }, { more, 3 }, err)
    check_whole()
    lu.assertEquals(notes(), { "1", "2", "3", "4", "5", "6" })
    os.execute("rm -r " .. quote(path("e")) .. " " .. quote(path("notes")))
  end
end

function TestTogether:test_a_run_takes_over_what_a_killed_one_had_begun()
  for _, more in ipairs{ "processes = 1", "processes = 2" } do
    script([[note(cell.i) if #arg > 0 then os.execute "sleep 30" end]], more)
    local status, out, err = support.shell(([[cd %s; %s s.lua slow & p=$!; %s
      (sleep 1; kill -9 $p) & %s s.lua; r=$?; wait; exit $r]]):format(quote(folder), binary,
      wait_for("notes"), binary))
    lu.assertEquals({ more, status }, { more, 0 }, err)
    lu.assertStrContains(err, "that another run works on")
    lu.assertStrContains(out, "6 cells done")
    check_whole()
    os.execute("rm -r " .. quote(path("e")) .. " " .. quote(path("notes")))
  end
end

function TestTogether:test_a_fit_of_a_cell_goes_on_after_a_kill()
  -- the first run is killed in the tenth report of the fit of cell 3
  script([[local reports, first = 0, #arg > 0
    local p = sc.pipeline{ sc.standardize(), sc.features{ T = 40, seed = 1,
      p = sc.sampler.gaussian{ sigma = 0.2 }, phi = sc.nonlinearity.fourier() },
      sc.solver.cg{ lambda = 1e-9, preconditioner = "none" } }
    p:fit(sc.data.load "wdbc", { checkpoint = context.checkpoint, progress = function()
      reports = reports + 1
      if first and cell.i == 3 and reports == 10 then os.execute "kill -9 $PPID" end
    end })
    note(("%d %a"):format(cell.i, p:weights():get(7, 1)))]], "processes = 1")
  run("", "kill")
  lu.assertEquals(#notes(), 2)
  local kept = require("scullery.core").folder(path("e/checkpoints"))
  lu.assertEquals(#kept, 2, "the journal and the passes of cell 3")
  local status, _, err = run()
  lu.assertEquals(status, 0, err)
  local list = notes()
  lu.assertEquals(#list, 6)
  for i = 2, 6 do lu.assertEquals(list[i]:match " .*", list[1]:match " .*") end
  lu.assertNil(require("scullery.core").folder(path("e/checkpoints")))
end

function TestTogether:test_a_cell_that_failed_runs_once_in_runs_at_once()
  -- the first fails once the other run has begun the second
  script([[note(cell.i)
    while cell.i == 1 and not io.open(folder .. "/notes"):read("a"):find("2") do
      os.execute "sleep 0.02"
    end
    error "no"]], "allow_failures = true")
  support.shell(("cd %s; timeout 180 %s s.lua & timeout 180 %s s.lua & wait"):format(quote(folder),
    binary, binary))
  lu.assertEquals(notes(), { "1", "2", "3", "4", "5", "6" })
end

-- ------------ full disks

TestDisks = { setUp = set_up, tearDown = tear_down }

function TestDisks:test_logs_that_cannot_be_written_are_told_once()
  script([[print("printed", cell.i) do return { i = cell.i } end]], "processes = 2")
  os.execute("mkdir " .. quote(path("e")))
  support.write(path("e/logs"), "") -- a file, where a folder should be
  local status, out, err = run()
  lu.assertEquals(status, 0, err)
  lu.assertStrContains(out, "6 cells done")
  lu.assertEquals(select(2, err:gsub("what cells print is not kept: [^\n]*/logs/", "")), 1, err)
  lu.assertStrContains(err, "the work goes on")
end

-- The first cells are done, and the run ends with a sentence; with room it goes on.
local function check_full(status, err, words)
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "results.jsonl: nothing could be added, and what was there is kept: "
    .. words)
  local exp = open()
  lu.assertTrue(#exp.rows > 0 and #exp.rows < 6, #exp.rows)
  lu.assertEquals(support.read(path("e/results.jsonl")):sub(-1), "\n")
end

function TestDisks:test_a_limit_on_the_size_of_files_in_the_middle()
  for _, more in ipairs{ "processes = 1", "processes = 2" } do
    script([[note(cell.i) do return { i = cell.i, text = ("x"):rep(1500) } end]], more)
    local status, _, err = run("ulimit -f 10;") -- of 512 bytes
    check_full(status, err, "File too large")
    lu.assertEquals((run()), 0)
    check_whole()
    os.execute("rm -r " .. quote(path("e")))
  end
end

function TestDisks:test_a_limit_on_the_size_of_files_cuts_off_what_a_cell_prints()
  script [[if cell.i == 2 then print(("x"):rep(200000)) end]]
  local status, _, err = run("ulimit -f 100;")
  lu.assertEquals(status, 0)
  lu.assertStrMatches(err, "scullery: what cells print is not kept: %S*%.log: File too large; \z
    the work goes on\n")
  check_whole()
end

function TestDisks:test_a_full_disk_in_the_middle()
  lu.skipIf(not os.execute("unshare -m sh -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null"),
    "not root, or no mounts are allowed here")
  script [[do return { i = cell.i, text = ("x"):rep(30000) } end]]
  local disk = quote(path("e"))
  local status, _, err = support.shell("unshare -m sh -c " .. quote(([[mkdir %s
    mount -t tmpfs -o size=128k tmpfs %s && cd %s || exit 77; timeout 180 %s s.lua; s=$?
    cp -r e kept; exit $s]]):format(disk, disk, quote(folder), binary)))
  assert(os.execute(("cd %s && rmdir e && mv kept e"):format(quote(folder))))
  check_full(status, err, "No space left on device")
  lu.assertEquals((run()), 0)
  check_whole()
end

-- ------------ output without end

TestOutput = { setUp = set_up, tearDown = tear_down }

function TestOutput:test_a_cell_that_prints_a_gigabyte()
  local pieces = sanitized and 200 or 1000
  script(([[if cell.i == 2 then
      local million = ("x"):rep(999999) .. "\n"
      print "the beginning"
      for _ = 1, %d do io.write(million) end
      print "the end"
    end]]):format(pieces))
  local status, out, err = run()
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertTrue(#out < 1000)
  check_whole()
  local name = io.popen("ls " .. quote(path("e/logs"))):read("a")
  local text = support.read(path("e/logs/" .. name:match("[^\n]+")))
  lu.assertTrue(#text < 1e6, #text)
  lu.assertStrMatches(text, "the beginning\n.*\nthe end\n")
  local left_out = text:match("\n%.%.%. (%d+) bytes that were printed here are left out %.%.%.\n")
  lu.assertEquals(#text + tonumber(left_out)
    - #("\n... %s bytes that were printed here are left out ...\n"):format(left_out),
    pieces * 1000000 + #"the beginning\n" + #"the end\n")
end

os.exit(lu.LuaUnit.run(), true)
