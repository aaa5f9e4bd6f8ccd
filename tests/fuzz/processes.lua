--- Faults of processes that run one script (divided_work.lua): a process or the launcher is killed,
--- interrupted or stopped, ends, raises an error, or has no more memory or room for files; its
--- reader goes. All processes end, with one sentence that names the one that failed; nothing is
--- left, no process and no file; and where the run succeeds, it has the bits of one process.
---
---   scullery tests/fuzz/processes.lua [--seed S] [--seconds T] [--cases N] [--only FAULT]
---     [--launcher fork|openmpi|mpich] [--kind NAME] [--limit SECONDS]
---
--- --limit: seconds after which a run hangs. A line of each case: --verbose.
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;"
  .. (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local divided_work = require "divided_work"
local sc = require "scullery"
local support = require "support"
local clock = require("scullery.core").now

local o = attack.options(arg, { seed = "1", seconds = 60, cases = 1e9, only = "", launcher = "",
  kind = "", limit = 90, verbose = false })

local folder, random = attack.folder(), attack.random(attack.seed(o.seed))
local quote, counts = support.quote, { 2, 3, 7 }

local launchers = {
  fork = " --processes %d",
  openmpi = "mpirun.openmpi --oversubscribe --bind-to none -n %d ",
  mpich = "mpirun.mpich -n %d ",
}
-- A shell's line: the processes are children of what a launcher has started.
local below = { mpich = "for one in $all; do all=$(cat /proc/$one/task/$one/children); done" }
local environment = ("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \z
OMPI_MCA_btl_vader_backing_directory=%s TMPDIR=%s"):format(folder, folder)

-- ------------ faults

-- Faults from outside: the shell's line, at a random moment. $launcher, $victim and $all are
-- numbers of processes; %d is a random digit.
local sent = {
  kill_one = "kill -s KILL $victim",
  kill_all = "kill -s KILL $all",
  kill_launcher = "kill -s KILL $launcher",
  term_one = "kill -s TERM $victim",
  term_launcher = "kill -s TERM $launcher",
  term_group = "kill -s TERM -- -$launcher",
  hangup = "kill -s HUP $launcher",
  interrupt_one = "kill -s INT $victim",
  interrupt_launcher = "kill -s INT $launcher",
  interrupt_group = "kill -s INT -- -$launcher",
  interrupt_twice = "kill -s INT -- -$launcher; sleep 0.%d; kill -s INT -- -$launcher",
  stop_one = "kill -s STOP $victim; sleep 0.%d; kill -s CONT $victim",
  stop_launcher = "kill -s STOP $launcher; sleep 0.%d; kill -s CONT $launcher",
  stop_and_kill = "kill -s STOP $victim; sleep 0.0%d; kill -s KILL $other",
  stop_and_term = "kill -s STOP $victim; sleep 0.0%d; kill -s TERM $launcher",
}

-- What stands around the command from its start: before its name and behind it, the shell's lines
-- before and after it, and its folder; %d is a random number, and of memory the kilobytes.
local around = {
  memory_of_all = { before = "prlimit --as=%d000 " },
  file_limit = { before = "prlimit --fsize=%d00 " },
  full_output = { behind = ">/dev/full" },
  full_disk = { first = "mkdir disk; mount -t tmpfs -o size=%dk none disk", folder = "disk",
    last = "cp -a disk/. .; umount -l disk; rmdir disk" },
  closed_output = { behind = ">&-" },
  closed_pipe = { behind = ">pipe", first = "head -c 0 <pipe &" },
}

-- Faults of one process at one place (divided_work.lua).
local inside = { "exit", "close", "leave", "error", "assert", "object", "overflow",
  "coroutine_exit", "coroutine_error", "child", "other_work", "shell_kill", "stop", "memory",
  "file_size", "caught" }

local names = {}
for _, list in ipairs{ sent, around } do
  for name in pairs(list) do names[#names + 1] = name end
end
table.move(inside, 1, #inside, #names + 1, names)
table.sort(names)

-- These have no effect on the results.
local harmless = { stop_one = true, stop_launcher = true, stop = true, child = true }
-- A writer that is killed, as by MPICH's launcher after a signal, leaves an unfinished file, which
-- the next writer removes (kills.lua).
local kills = { kill_one = true, kill_all = true, kill_launcher = true, shell_kill = true,
  stop_and_kill = true, stop_and_term = true }
-- A process 0 that stops its work, and ends well, prints nothing.
local without_work = { leave = true, caught = true }
-- The user has ended it, or reads nothing of it: there may be no sentence.
local silent = { kill_launcher = true, kill_all = true, term_launcher = true, term_group = true,
  hangup = true, term_one = true, interrupt_launcher = true, interrupt_group = true,
  interrupt_twice = true, closed_pipe = true, stop_and_term = true }

-- ------------ one run

-- The state of each process of the session, by its number.
local function session(leader)
  local found, pipe = {}, assert(io.popen "cat /proc/[0-9]*/stat 2>/dev/null")
  for line in pipe:lines() do
    local pid, state, rest = line:match "^(%d+) %(.*%) (%a) (.*)"
    if pid and state ~= "Z" and rest:match "^%d+ %d+ (%d+)" == leader then
      found[#found + 1] = pid
    end
  end
  pipe:close()
  return found
end

-- Processes of the session that live five seconds after its leader has ended.
local function left_of(leader)
  local list
  for _ = 1, 50 do
    list = session(leader)
    if #list == 0 then return list end
    os.execute "sleep 0.1"
  end
  os.execute("kill -s KILL " .. table.concat(list, " ") .. " 2>/dev/null")
  return list
end

-- The command in a session of its own. It hangs where it is there after so many looks. One that was
-- stopped goes on after 15 seconds: where the others had ended well, nobody ends it.
local shell = [[
cd %s && rm -f late pipe && mkfifo pipe && export %s
%s
setsid env -C %s --default-signal=INT %s <empty %s 2>err &
launcher=$!
sleep %.3f
all=$(cat /proc/$launcher/task/$launcher/children)
%s
victim=$launcher other=$launcher at=0
for one in $all; do
  if [ $at = %d ]; then victim=$one; else other=$one; fi
  at=$((at + 1))
done
%s
looks=0
while read -r pid name state rest </proc/$launcher/stat && [ "$state" != Z ]; do
  looks=$((looks + 1))
  if [ $looks = 750 ]; then kill -s CONT $victim; fi
  if [ $looks -gt %d ]; then
    echo late >late
    kill -s KILL -- -$launcher
  fi
  sleep 0.02
done
wait $launcher
status=$?
%s
echo $launcher $status $at
]]

-- What one process prints, the kilobytes that it takes, and the seconds that `count` take.
local expected, peak, took = {}, {}, {}

-- Run a case; returns its status, output, errors, and what lives on.
local function run(case)
  local given = around[case.fault] or {}
  local number = case.number
  if case.fault == "memory_of_all" then
    number = math.floor(peak[case.kind] * (0.15 + 0.4 * number / 1000))
  elseif case.fault == "full_disk" then
    number = 4 * (1 + number % 3)
  end
  for _, name in ipairs{ "out", "err" } do support.write(folder .. name, "") end
  local binary = quote(attack.binary)
  local launcher, before = launchers[case.launcher]:format(case.count), (given.before or "")
    :format(number)
  local words = case.launcher == "fork" and before .. binary .. launcher
    or launcher .. before .. binary
  local line = shell:format(quote(folder), environment, (given.first or ""):format(number),
    given.folder or ".", words .. " " .. case.script, given.behind or ">out",
    case.moment, below[case.launcher] or "", case.rank,
    (sent[case.fault] or ":"):format(case.number % 10), o.limit * 50, given.last or "")
  local _, answer = support.shell("{ " .. line .. " } 2>/dev/null")
  local leader, status, children = answer:match "(%d+) (%d+) (%d+)"
  assert(leader, line)
  case.early = tonumber(children) < case.count
  -- MPICH's launcher reports on standard output.
  local out = support.read(folder .. "out"):gsub("%[mpiexec@[^\n]*\n", "")
    :gsub("Ctrl%-C caught[^\n]*\n", "")
  local own, told = out:match "^(.-)(\n=====.*)$"
  return tonumber(status), own or out, support.read(folder .. "err") .. (told or ""),
    left_of(leader)
end

local kinds = {}
for kind in pairs(divided_work.kinds) do kinds[#kinds + 1] = kind end
table.sort(kinds)
local work = quote(attack.source .. "/tests/fuzz/divided_work.lua")

local function learn(kind, launcher, count)
  if not expected[kind] then
    local status, out, errors = attack.scullery{ folder = folder,
      arguments = work .. " " .. kind .. " peak" }
    assert(status == 0, errors)
    expected[kind], peak[kind] = out, assert(tonumber(errors))
  end
  local key = kind .. launcher .. count
  if took[key] then return took[key] end
  local began = clock()
  local status, out, errors = run{ fault = "", launcher = launcher, count = count, moment = 0,
    rank = 0, number = 0, script = work .. " " .. kind }
  took[key] = clock() - began
  if status ~= 0 or out ~= expected[kind] then
    attack.finding("%s, %d processes, without a fault: status %d: %s", kind, count, status, errors)
  end
  return took[key]
end

-- ------------ checks

local ours = { ["shares.libsvm"] = true, ["shares.npy"] = true, ["shares.idx"] = true,
  ["labels.idx"] = true, out = true, err = true, empty = true, pipe = true }

local function check_files(case, finding)
  for _, name in ipairs(attack.files(folder)) do
    if name == "out.model" then
      local whole, p = pcall(sc.load, folder .. name)
      if not whole then finding("a torn model: %s", p)
      elseif divided_work.digest(p) ~= expected[case.kind] then finding "another model" end
    elseif not ours[name] then
      local unfinished = name:find "%.part$"
        and (kills[case.fault] or case.launcher == "mpich" and sent[case.fault])
      local of_mpi = name:find "^ompi" or name:find "^vader" or name:find "^pmix"
      if not unfinished and not (case.launcher ~= "fork" and of_mpi) then
        finding("%s is left", name)
      end
    end
    if not ours[name] then os.execute("rm -rf " .. quote(folder .. name)) end
  end
end

-- How many lines report a failure; those of the launcher, that a signal ended a process, apart.
local function reports(errors)
  local count, signals = 0, 0
  for line in errors:gmatch "[^\n]+" do
    if line:find "was ended by signal" then signals = signals + 1
    elseif line:find "^scullery: " and not line:find "did not end in time"
      and not line:find "rows/s" and not line:find "^scullery: [%a ]+ %d+%%" then
      count = count + 1
    end
  end
  return count, signals
end

-- The failure of one process is told by a sentence that names it.
local function check_sentence(case, status, errors, finding)
  local count, signals = reports(errors)
  local library = errors:find("libmpich", 1, true) -- without memory, before they have joined
  if (count > 1 or signals > 1) and not library then finding "more than one report" end
  local quiet = case.early or silent[case.fault] or case.fault == "close"
  if quiet or case.fault:find "exit" and case.rank == 0 then return end
  if errors == "" then finding("status %d without a sentence", status) end
  local named = errors:find(("process %d of %d"):format(case.rank, case.count), 1, true)
    or errors:find(("process %d ("):format(case.rank), 1, true)
  local one = case.fault:find "_one$" and not case.early or case.script:find(case.fault, 1, true)
  if one and case.rank > 0 and not named and case.launcher == "fork" then
    finding("no sentence names process %d", case.rank)
  end
  local by_rows = case.kind:find "rows" -- it tells no error objects
  local error_object = case.fault == "object" and not by_rows
  if case.fault:find "error" or case.fault == "assert" or error_object then
    if not errors:find("a fault of the script", 1, true) then finding "the sentence is lost" end
  end
end

local table_of = {}
local function check(case)
  local began = clock()
  local status, out, errors, left = run(case)
  local title = ("%s, %s on %s with %d processes, process %d, place %d, %.3f s, number %d")
    :format(case.fault, case.kind, case.launcher, case.count, case.rank, case.place, case.moment,
    case.number)
  local function finding(format, ...)
    attack.finding("%s: %s\nstatus %d: %s", title, format:format(...), status, errors)
  end
  if o.verbose then
    print(("%s: status %d after %.1f s: %s"):format(title, status, clock() - began,
      errors:gsub("\n.*", "")))
  end
  local row = table_of[case.fault] or { cases = 0, failed = 0 }
  table_of[case.fault] = row
  row.cases, row.failed = row.cases + 1, row.failed + (status ~= 0 and 1 or 0)
  if os.remove(folder .. "late") then finding "it hangs" end
  if #left > 0 then finding("%d processes are left", #left) end
  local fault = attack.fault(status, errors)
  if fault and case.fault ~= "memory_of_all" then finding("%s", fault) end
  local without = around[case.fault] and around[case.fault].behind
  -- MPICH's launcher may drop the output after SIGTERM, of any program, and yet report no failure.
  without = without or case.launcher == "mpich" and out == ""
    and errors:find("ended by a signal", 1, true)
  if status == 0 and not without and out ~= expected[case.kind]
    and not (without_work[case.fault] and case.rank == 0 and out == "") then
    finding "wrong results"
  end
  if status == 0 and without and case.fault ~= "closed_pipe"
    and case.launcher == "fork" then -- mpirun writes for its processes, and ends well
    finding "output is lost"
  end
  if status ~= 0 and out ~= "" and out ~= expected[case.kind] and not errors:find "libucs" then
    finding "other output" -- libucs, of MPICH, prints
  end
  if status ~= 0 and harmless[case.fault] then finding "a harmless fault" end
  if status ~= 0 then check_sentence(case, status, errors, finding) end
  check_files(case, finding)
end

-- ------------ all of them

support.write(folder .. "empty", "")
local lines = {}
for i = 1, 24000 do
  lines[i] = ("%.4f 1:%.6f 2:%.6f 3:%.6f 4:%.6f 5:%.6f\n"):format(math.sin(i), math.sin(2 * i),
    math.sin(3 * i), math.sin(5 * i), math.sin(7 * i), math.sin(11 * i))
end
support.write(folder .. "shares.libsvm", table.concat(lines))
support.write(folder .. "shares.npy", "\x93NUMPY\1\0" .. ("<s2"):pack(
  "{'descr': '<f4', 'fortran_order': False, 'shape': (60000, 5)}\n")
  .. ("<ffffffff"):pack(3, -1, 4, 1, -5, 9, 2, -6):rep(37500))
support.write(folder .. "shares.idx", (">I2BBI4I4"):pack(0, 8, 2, 150000, 5)
  .. ("\3\1\4\1\5\9\2\6"):rep(93750))
support.write(folder .. "labels.idx", (">I2BBI4"):pack(0, 14, 1, 150000)
  .. (">ddd"):pack(1, 2, 7):rep(50000))
-- Half of the cases by fork, where there are other launchers.
local usable = { "fork" }
for _, name in ipairs{ "openmpi", "mpich" } do
  if os.execute(("command -v mpirun.%s >/dev/null 2>&1"):format(name)) then
    usable[#usable + 1] = name
  end
end
local function draw_launcher()
  return random(2) == 1 and "fork" or usable[random(#usable)]
end
if not os.execute(("cd %s && mkdir disk && mount -t tmpfs none disk 2>/dev/null && umount disk; \z
    status=$?; rmdir disk; exit $status"):format(quote(folder))) then
  print "no file system can be mounted here: full_disk is left out"
  for i, name in ipairs(names) do
    if name == "full_disk" then table.remove(names, i) end
  end
end

local function draw()
  local case = { fault = names[random(#names)], kind = kinds[random(#kinds)],
    count = counts[random(#counts)], number = random(1000),
    place = random(random(2) == 1 and 7 or 60),
    launcher = draw_launcher() }
  if o.only ~= "" then case.fault = o.only end
  if o.launcher ~= "" then case.launcher = o.launcher end
  if o.kind ~= "" then case.kind = o.kind end
  -- Without memory, Open MPI's start itself may wait for ever.
  if case.fault == "memory_of_all" and case.launcher == "openmpi" then case.launcher = "fork" end
  case.rank = random(case.count) - 1
  local seconds = learn(case.kind, case.launcher, case.count)
  case.moment = sent[case.fault] and seconds * random(1100) / 1000 or 0
  case.script = work .. " " .. case.kind
  for _, name in ipairs(inside) do
    if name == case.fault then
      case.script = ("%s %s %d %d %d"):format(case.script, name, case.rank, case.place, case.number)
    end
  end
  return case
end

local began, tried = os.time(), 0
while os.difftime(os.time(), began) < o.seconds and tried < o.cases do
  check(draw())
  tried = tried + 1
end
attack.remove(folder)
for _, name in ipairs(names) do
  local row = table_of[name]
  if row and o.verbose then
    print(("%-20s %3d cases, %3d failed"):format(name, row.cases, row.failed))
  end
end
print(("%d faults, %d findings"):format(tried, attack.found))
os.exit(attack.found == 0)
