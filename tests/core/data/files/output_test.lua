--- Files that are written: whole or not at all, whatever ends the writer; what is replaced, and
--- what cannot be.
-- luacheck: globals TestDeadWriters TestReplacing TestNames TestFull TestStandardOutput
-- luacheck: ignore 212/self
local lu = require "luaunit"
local core = require "scullery.core"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local quote, fails = support.quote, support.fails
local folder

local function path(name) return folder .. "/" .. name end

local function files(of)
  local list = {}
  for name in io.popen("ls -A " .. quote(of or folder)):lines() do list[#list + 1] = name end
  return table.concat(list, " ")
end

-- What `stat` says of a file, such as %a, its mode.
local function about(name, format)
  local pipe = io.popen(("stat -c %s %s"):format(quote(format), quote(path(name))))
  local text = pipe:read("l")
  pipe:close()
  return text
end

local function sh(line) lu.assertTrue(os.execute(line), line) end

local function set_up()
  folder = os.tmpname()
  os.remove(folder)
  sh("mkdir " .. quote(folder))
end

local function tear_down() sh("rm -r " .. quote(folder)) end

-- Run Lua code in a process of its own; `path` is the folder's path(name) there too.
local function run(code, after)
  local script = path(".script.lua")
  support.write(script, ("local function path(name) return %q .. '/' .. name end\n"):format(folder)
    .. code)
  local status, out, err = support.scullery(("%s %s"):format(quote(script), after or ""))
  os.remove(script)
  return status, out, err
end

-- ------------ whatever ends the writer

TestDeadWriters = { setUp = set_up, tearDown = tear_down }

-- A file that is being written when the process ends by that line.
local function write_and(line, name)
  return run(([[local core = require "scullery.core"
    local file = core.row_file(path(%q), { names = { "a" } })
    core.write_rows(file, sc.ones(100000, 1))
    %s]]):format(name or "x.csv", line))
end

-- The shell's parent is the process itself, which waits in close(): os.execute ignores SIGINT.
local function kill(signal) return ("io.popen('kill -%s $PPID'):close()"):format(signal) end

function TestDeadWriters:test_nothing_stays_where_the_process_can_still_act()
  for _, line in ipairs{ "os.exit(3)", "os.exit(3, true)", kill("TERM"), kill("HUP"),
    "error('no')", "core.interrupt() core.commit_rows(file)", kill("INT") } do
    local status = write_and(line)
    lu.assertEquals({ line, status ~= 0, files() }, { line, true, "" })
  end
end

function TestDeadWriters:test_signals_end_it_as_they_would()
  lu.assertEquals((write_and(kill("TERM"))), 128 + 15)
  lu.assertEquals((write_and(kill("HUP"))), 128 + 1)
end

function TestDeadWriters:test_a_second_interrupt_leaves_nothing()
  for _, pause in ipairs{ "0", "0.05", "0.3" } do
    local status = write_and(("io.popen('kill -INT $PPID; sleep %s; kill -INT $PPID'):close()")
      :format(pause))
    lu.assertEquals({ pause, files() }, { pause, "" })
    lu.assertTrue(status == 1 or status == 128 + 2, status) -- whether the first was reacted to
  end
end

function TestDeadWriters:test_ctrl_c_ends_every_writer_and_leaves_what_was_there()
  local X, p = sc.ones(3, 2), sc.pipeline{ sc.solver.ridge() }
  for name, write in pairs{ ["x.csv"] = function(at) X:save(at) end,
    ["x.npy"] = function(at) X:save(at) end,
    ["view.npy"] = function(at) X:slice(1, 3, 2, 2):save(at) end,
    ["codes"] = function(at) sc.codes(X):save(at) end,
    ["model"] = function(at) p:save(at) end,
    ["text"] = function(at) core.write_text(at, "new") end } do
    support.write(path(name), "as it was")
    core.interrupt()
    fails({ "interrupted!" }, write, path(name))
    lu.assertEquals(support.read(path(name)), "as it was")
    write(path(name)) -- and the next one works
    lu.assertNotEquals(support.read(path(name)), "as it was")
  end
  lu.assertNil(files():find("part"))
end

function TestDeadWriters:test_the_next_writer_removes_what_a_killed_one_left()
  for _ = 1, 3 do write_and(kill("KILL")) end
  lu.assertStrMatches(files(), "x%.csv%.%d+%-%d+%.part") -- of the last alone
  write_and(kill("KILL"), "other.csv")
  sc.ones(2, 1):save(path("x.csv"))
  lu.assertStrMatches(files(), "other%.csv%.%d+%-%d+%.part x%.csv")
end

function TestDeadWriters:test_what_a_living_writer_holds_stays()
  local file <close> = core.row_file(path("x.csv"), { names = { "a" } })
  lu.assertEquals(run("sc.ones(2, 1):save(path('x.csv'))"), 0)
  sc.ones(3, 1):save(path("x.csv"))
  lu.assertStrMatches(files(), "x%.csv x%.csv%.%d+%-%d+%.part")
  core.write_rows(file, sc.zeros(1, 1))
  core.commit_rows(file)
  lu.assertEquals({ files(), support.read(path("x.csv")) }, { "x.csv", "a\n0\n" })
end

function TestDeadWriters:test_files_that_are_named_alike_stay()
  local alike = { "x.csv.1-2.part.bak", "x.csv.1.part", "x.csv.a-1.part", "x.csv.part",
    "xx.csv.1-1.part" }
  for _, name in ipairs(alike) do support.write(path(name), "mine") end
  sh("mkdir " .. quote(path("x.csv.3-4.part")))
  sc.ones(2, 1):save(path("x.csv"))
  for _, name in ipairs(alike) do lu.assertEquals(support.read(path(name)), "mine") end
  lu.assertStrContains(files(), "x.csv.3-4.part")
end

-- ------------ what is replaced

TestReplacing = { setUp = set_up, tearDown = tear_down }

function TestReplacing:test_mode_stays()
  sh("umask 022; touch " .. quote(path("mask")))
  sc.ones(2, 1):save(path("new.csv"))
  lu.assertEquals(about("new.csv", "%a"), about("mask", "%a"))
  for _, mode in ipairs{ "600", "664", "755", "640" } do
    sh(("chmod %s %s"):format(mode, quote(path("new.csv"))))
    sc.zeros(2, 1):save(path("new.csv"))
    lu.assertEquals(about("new.csv", "%a"), mode)
  end
end

function TestReplacing:test_owner_and_group_stay_where_that_is_allowed()
  lu.skipIf(not os.execute("[ $(id -u) = 0 ]"), "not root")
  sc.ones(2, 1):save(path("x.csv"))
  sh(("chown 4321:1234 %s && chmod 660 %s"):format(quote(path("x.csv")), quote(path("x.csv"))))
  sc.zeros(2, 1):save(path("x.csv"))
  lu.assertEquals(about("x.csv", "%u:%g %a"), "4321:1234 660")
end

-- Run a line as a user who is not root.
local function as_another(line)
  lu.skipIf(not os.execute("[ $(id -u) = 0 ] && command -v setpriv >/dev/null"),
    "not root, or no setpriv")
  sh("chmod 777 " .. quote(folder))
  return support.shell(("SCULLERY_PLUGIN_PATH= setpriv --reuid=65534 --regid=65534 \z
    --clear-groups %s -e %s"):format(quote(support.binary), quote(line)))
end

function TestReplacing:test_a_group_that_cannot_stay_gives_its_rights_to_nobody()
  sc.ones(2, 1):save(path("x.csv"))
  sh(("chown 65534:1234 %s && chmod 660 %s"):format(quote(path("x.csv")), quote(path("x.csv"))))
  local status, _, err = as_another(("sc.ones(1, 1):save(%q)"):format(path("x.csv")))
  lu.assertEquals({ status, err, about("x.csv", "%u:%g %a") }, { 0, "", "65534:65534 600" })
end

function TestReplacing:test_a_file_that_may_not_be_written_is_not_replaced()
  support.write(path("x.csv"), "mine")
  local line = ("sc.ones(1, 1):save(%q)"):format(path("x.csv"))
  local status, _, err = as_another(line)
  lu.assertEquals({ status, support.read(path("x.csv")), files() }, { 1, "mine", "x.csv" })
  lu.assertStrContains(err, "x.csv: cannot be written: Permission denied")
end

function TestReplacing:test_a_folder_that_may_not_be_written()
  sh("mkdir -m 755 " .. quote(path("d")))
  local status, _, err = as_another(("sc.ones(1, 1):save(%q)"):format(path("d/x.csv")))
  lu.assertEquals({ status, files(path("d")) }, { 1, "" })
  lu.assertStrContains(err, "d/x.csv: cannot be written: Permission denied")
end

function TestReplacing:test_links_stay_and_their_targets_are_written()
  sh("mkdir " .. quote(path("d")))
  for name, target in pairs{ ["link.csv"] = "d/x.csv", ["d/up.csv"] = "../y.csv",
    ["far.csv"] = path("d/far.csv"), ["twice.csv"] = "link.csv" } do
    sh(("ln -s %s %s"):format(quote(target), quote(path(name))))
  end
  for _ = 1, 2 do -- targets that are not there, and that are
    for k, name in ipairs{ "link.csv", "d/up.csv", "far.csv", "twice.csv" } do
      sc.matrix{ { k } }:save(path(name))
      lu.assertEquals({ about(name, "%F"), support.read(path(name)) },
        { "symbolic link", k .. "\n" })
    end
  end
  lu.assertEquals({ files(), files(path("d")) },
    { "d far.csv link.csv twice.csv y.csv", "far.csv up.csv x.csv" })
end

function TestReplacing:test_links_that_never_end_are_refused()
  sh(("ln -s a.csv %s && ln -s b.csv %s"):format(quote(path("b.csv")), quote(path("a.csv"))))
  fails({ "a.csv: cannot be written: Too many levels" }, function()
    sc.ones(1, 1):save(path("a.csv"))
  end)
  lu.assertEquals(files(), "a.csv b.csv")
end

function TestReplacing:test_the_input_may_be_the_output()
  local X = sc.randn{ 3000, 2, seed = 1 }
  X:save(path("x.npy"))
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))
  p:save(path("p.model"))
  require("scullery.model.predict").run{ model = path("p.model"), data = path("x.npy"),
    output = path("x.npy") }
  lu.assertTrue(sc.data.npy(path("x.npy")) == p:predict(X))
end

-- ------------ names

TestNames = { setUp = set_up, tearDown = tear_down }

function TestNames:test_names_as_long_as_a_name_can_be()
  for _, letter in ipairs{ "x", "\u{e9}", "\u{20ac}" } do
    local name = letter:rep(251 // #letter) .. ".csv"
    sc.ones(1, 1):save(path(name))
    lu.assertEquals(files(), name)
    os.remove(path(name))
  end
  fails({ "cannot be written: File name too long" }, function()
    sc.ones(1, 1):save(path(("x"):rep(252) .. ".csv"))
  end)
  lu.assertEquals(files(), "")
end

function TestNames:test_places_where_no_file_can_be()
  sh("mkdir " .. quote(path("d.csv")) .. " && mkfifo " .. quote(path("fifo.csv")))
  for name, words in pairs{ ["d.csv"] = "d.csv: this is a folder", ["fifo.csv"] =
    "fifo.csv: this is a pipe or device", ["none/x.csv"] = "there is no such folder",
    ["fifo.csv/x.csv"] = "cannot be written: Not a directory" } do
    fails({ words }, function() sc.ones(1, 1):save(path(name)) end)
  end
  fails({ "the file name is empty" }, core.write_text, "", "x")
  lu.assertEquals(files(), "d.csv fifo.csv")
  support.fails({ "the path of a file is a text, and it got 5" }, core.read_npy, 5)
end

function TestNames:test_folders_are_made_with_their_parents()
  local make = require("scullery.base.folders").make
  make(path("a//b/c/"))
  make(path("a/b/c"))
  sc.ones(1, 1):save(path("a/b/c/x.csv"))
  support.write(path("plain"), "")
  fails({ "plain/b: the folder cannot be made: Not a directory" }, make, path("plain/b/c"))
  fails({ "/proc/none: the folder cannot be made" }, make, "/proc/none/of/these")
  lu.assertEquals(files(), "a plain")
end

-- What becomes a folder while it is written.
function TestNames:test_a_folder_is_not_replaced()
  local file <close> = core.row_file(path("x.csv"), { names = { "a" } })
  sh("mkdir " .. quote(path("x.csv")))
  fails({ "x.csv: not written, nothing was left behind" }, core.commit_rows, file)
  lu.assertEquals(files(), "x.csv")
end

function TestNames:test_a_zero_byte_ends_no_path()
  local p = sc.pipeline{ sc.solver.ridge() }
  local codes = sc.codes(sc.matrix{ { 1, 0 } }, 2)
  local function blocks(reader) return function(name) core[reader](name, 2) end end
  local takes = { core.read_text, core.sha256, core.make_folder, core.read_npy,
    core.saved_open, core.codes_read, core.plugin_load, sc.load, sc.plugin.load, sc.data.csv,
    sc.data.libsvm, sc.data.npy, sc.codes.load, blocks("npy_blocks"), blocks("libsvm_blocks"),
    function(name) sc.ones(1, 1):save(name .. ".csv") end,
    function(name) sc.ones(1, 1):save(name .. ".npy") end, function(name) p:save(name) end,
    function(name) codes:save(name) end, function(name) core.write_text(name, "x") end,
    function(name) core.fetch("http://127.0.0.1:1/", name) end,
    function(name) sc.data.csv(path("x.csv"), { like = name }) end,
    function(name) sc.data.csv_blocks(name, { like = { columns = {} } }) end,
    function(name) sc.data.idx(name) end,
    function(name) sc.data.npy(path("x.npy"), { y = name }) end,
    function(name) core.row_file(name, { names = { "a" } }) end,
    function(name) sc.data.csv(name, { stream = true }) end }
  sc.ones(3, 2):save(path("x.csv"))
  sc.ones(3, 2):save(path("x.npy"))
  local before = files()
  for k, take in ipairs(takes) do
    local ok, message = pcall(take, path("x.csv") .. "\0y")
    lu.assertEquals({ k, ok, files() }, { k, false, before })
    if not tostring(message):find("schema", 1, true) then
      lu.assertStrContains(tostring(message), "zero byte", k)
    end
  end
end

-- ------------ full disks

TestFull = { setUp = set_up, tearDown = tear_down }

-- Run the lines in a process group of their own, where the folder "disk" has 1 MB.
local function on_small_disk(lines)
  sh("mkdir " .. quote(path("disk")))
  local script = ("mount -t tmpfs -o size=1m tmpfs %s && cd %s && %s"):format(quote(path("disk")),
    quote(os.getenv("PWD") or "."), lines)
  local mounts = os.execute("unshare -m sh -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null")
  lu.skipIf(not mounts, "not root, or no mounts are allowed here")
  return support.shell("unshare -m sh -c " .. quote(script))
end

function TestFull:test_a_disk_that_fills_in_the_middle()
  sc.ones(200000, 2):save(path("big.npy"))
  local X = sc.randn{ 4000, 60, seed = 1 }
  sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))
    :save(path("p.model"))
  support.write(path("fill.lua"), [[local disk, model, big = table.unpack(arg)
    local core, X = require "scullery.core", sc.data.npy(big)
    local many = sc.randn{ 4000, 60, seed = 1 }
    local writers = {
      csv = function(name) X:save(name .. ".csv") end,
      npy = function(name) X:save(name .. ".npy") end,
      view = function(name) X:t():t():slice(2, 200000):save(name .. ".npy") end,
      text = function(name) core.write_text(name .. ".csv", ("x"):rep(3000000)) end,
      codes = function(name)
        sc.codes(sc.zeros(200000, 64), 2):save(name .. ".csv")
      end,
      model = function(name)
        sc.pipeline{ sc.solver.knn{ k = 1 } }:fit(many, many:column(1)):save(name .. ".csv")
      end,
      rows = function(name)
        local file <close> = core.row_file(name .. ".csv", { names = { "a", "b" } })
        for _ = 1, 10 do core.write_rows(file, X) end
        core.commit_rows(file)
      end,
    }
    core.write_text(disk .. "/fill", ("x"):rep(1 << 18))
    for kind, write in pairs(writers) do
      for _, old in ipairs{ false, true } do
        local ending = (kind == "npy" or kind == "view") and ".npy" or ".csv"
        if old then core.write_text(disk .. "/x" .. ending, "as it was") end
        local ok, message = pcall(write, disk .. "/x")
        local kept = old and core.read_text(disk .. "/x" .. ending) == "as it was"
        os.remove(disk .. "/x" .. ending)
        print(kind, old, ok, kept, (tostring(message):match("No space left.*")))
      end
    end
    print(io.popen("ls -A " .. disk):read("a"))]])
  local status, out, err = on_small_disk(("%s %s %s %s %s"):format(quote(support.binary),
    quote(path("fill.lua")), quote(path("disk")), quote(path("p.model")), quote(path("big.npy"))))
  lu.assertEquals({ status, err }, { 0, "" })
  local told = 0
  lu.assertStrMatches(out, ".*\nfill\n\n")
  for line in out:gmatch("[^\n]+\t[^\n]*") do
    lu.assertStrMatches(line, "%l+\t%l+\tfalse\t%l+\tNo space left on device")
    lu.assertEquals(line:match("\t(%l+)\tfalse"), line:match("\tfalse\t(%l+)"))
    told = told + 1
  end
  lu.assertEquals(told, 14)
end

-- A limit on the size of files is a signal that would end the process.
function TestFull:test_a_limit_on_the_size_of_files()
  for _, line in ipairs{ "sc.ones(200000, 2):save(path('x.csv'))",
    "sc.ones(200000, 2):save(path('x.npy'))", [[local core = require "scullery.core"
    local file = core.row_file(path("x.npy"), { names = { "a" }, npy = true })
    core.write_rows(file, sc.ones(40000, 1))
    core.commit_rows(file)]] } do
    local script = support.write(path("script.lua"),
      ("local function path(name) return %q .. '/' .. name end\n"):format(folder) .. line)
    local status, _, err = support.shell(("ulimit -f 128; %s %s"):format(quote(support.binary),
      quote(script)))
    lu.assertEquals({ line, status, files() }, { line, 1, "script.lua" })
    lu.assertStrContains(err, "not written, nothing was left behind: File too large")
  end
end

function TestFull:test_a_disk_that_is_read_only()
  local status, out, err = on_small_disk(([[mount -o remount,ro %s
    %s -e 'sc.ones(2, 1):save(%q)'; echo $?; ls -A %s]]):format(path("disk"),
    quote(support.binary), path("disk/x.csv"), path("disk")))
  lu.assertEquals({ status, out }, { 0, "1\n" })
  lu.assertStrContains(err, "disk/x.csv: cannot be written: Read-only file system")
end

function TestFull:test_commands_on_a_full_disk_end_with_status_1()
  local X = sc.randn{ 200000, 2, seed = 1 }
  X:save(path("x.npy"))
  sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1)):save(path("p.model"))
  local disk, binary = path("disk"), quote(support.binary)
  local status, out = on_small_disk(([[
    %s predict %s %s -o %s/out.csv; echo $?
    head -c 2000000 /dev/zero >%s/full 2>/dev/null
    %s scripts/kernel_error.lua %s/k.svg >/dev/null; echo $?
    %s scripts/kernel_error.lua %s/k.svg >%s/k.txt; echo $?
    rm %s/k.txt
    ls -A %s]]):format(binary, path("p.model"), path("x.npy"), disk, disk, binary, disk, binary,
    disk, disk, disk, disk))
  lu.assertEquals({ status, out }, { 0, "1\n1\n1\nfull\n" })
end

TestStandardOutput = { setUp = set_up, tearDown = tear_down }

function TestStandardOutput:test_what_cannot_be_written_is_an_error()
  lu.skipIf(not io.open("/dev/full", "w"), "no /dev/full")
  for _, arguments in ipairs{ "-e 'print(1)'", "-e 'print(1) os.exit(0)'",
    "-e 'print(1) os.exit(true, true)'", "-e 'io.write(1)'", "--help", "--version",
    "plugin list", "plugin info ridge", "data list", "-e 'help()'", "predict --help" } do
    local status, _, err = support.scullery(arguments .. " >/dev/full")
    lu.assertEquals({ arguments, status }, { arguments, 1 })
    lu.assertStrContains(err, "not all of the output could be written")
  end
end

-- A closed stream is no place for output, nor for the next file that is opened.
function TestStandardOutput:test_closed_streams_are_told_and_never_written_into()
  lu.assertEquals((support.scullery("-e 'print(1)' >&-")), 1)
  lu.assertEquals((support.scullery("-e 'local x = 1' >&-")), 0)
  lu.assertEquals((support.scullery("- <&-")), 1)
  for _, closed in ipairs{ ">&-", ">&- 2>&-", "<&- >&- 2>&-" } do
    local status = run([[local core = require "scullery.core"
      local file = core.row_file(path("x.csv"), { names = { "a" } })
      print("this is none of the file")
      io.stdout:flush()
      io.stderr:write("nor is this")
      core.write_rows(file, sc.ones(2, 1))
      core.commit_rows(file)]], closed)
    lu.assertEquals({ closed, status, support.read(path("x.csv")) }, { closed, 1, "a\n1\n1\n" })
  end
end

function TestStandardOutput:test_a_script_keeps_its_own_status()
  for _, status in ipairs{ 0, 1, 3 } do
    lu.assertEquals((support.scullery(("-e 'print(1) os.exit(%d)'"):format(status))), status)
  end
end

os.exit(lu.LuaUnit.run(), true)
