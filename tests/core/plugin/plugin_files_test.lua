--- Files of plugins: what is no whole shared object of this machine, what others may write, and
--- where the search looks. All of it is refused by a sentence before anything of the file runs.
local lu = require "luaunit"
local core = require "scullery.core"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local quote, fails = support.quote, support.fails
local good = support.build .. "/tests/plugins/softplus.so"
local bytes = support.read(good)
local folder

local function sh(line) lu.assertTrue(os.execute(line), line) end
local function path(name) return folder .. "/" .. name end

-- Another inode each time: a file that was opened is not overwritten.
local function write(name, text)
  os.remove(path(name))
  return support.write(path(name), text)
end

local function set_up()
  folder = os.tmpname()
  os.remove(folder)
  sh("mkdir -m 755 " .. quote(folder))
end

local function tear_down() sh("rm -r " .. quote(folder)) end

local function refused(text, ...)
  return fails({ path("x.so"), "not a loadable shared object", ... }, core.plugin_load,
    write("x.so", text))
end

-- ------------ what the file holds

TestContents = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestContents

function TestContents.test_a_file_that_is_cut_off_anywhere_is_refused()
  refused("", "it is empty")
  for size = 1, #bytes - 1, 61 do refused(bytes:sub(1, size), "it is cut off or damaged") end
  refused(bytes:sub(1, -2), "its section headers lie at")
end

function TestContents.test_other_files_are_refused()
  refused("this is no shared object\n", "it is not an ELF file")
  refused(("\0"):rep(100000), "it is not an ELF file")
  refused("\127ELF", "bytes of its header lie at 0 to 64")
end

-- Header fields by their place: ELF of 64 bits.
local function with(at, text) return bytes:sub(1, at) .. text .. bytes:sub(at + #text + 1) end

function TestContents.test_other_machines_and_types_are_refused()
  lu.skipIf(bytes:byte(5) ~= 2, "no ELF of 64 bits")
  refused(with(4, "\1"), "it is for another machine")
  refused(with(5, string.char(3 - bytes:byte(6))), "it is for another machine")
  refused(with(18, "\xff\xf0"), "it is for another machine")
  local little = bytes:byte(6) == 1 and "<" or ">"
  refused(with(16, (little .. "I2"):pack(1)), "it is an object file: link it with -shared")
  refused(with(16, (little .. "I2"):pack(2)), "it is a program or a core file")
  refused(with(16, (little .. "I2"):pack(4)), "it is a program or a core file")
  refused(with(56, "\0\0"), "it has no program headers")
end

-- Segments that say more than the file has, lie over each other, or over what is mapped already.
function TestContents.test_headers_that_contradict_each_other_are_refused()
  lu.skipIf(bytes:byte(5) ~= 2, "no ELF of 64 bits")
  local little = bytes:byte(6) == 1 and "<" or ">"
  local at, entry, count = (little .. "I8"):unpack(bytes, 33), 56,
    (little .. "I2"):unpack(bytes, 57)
  local altered = 0
  for i = 0, count - 1 do
    local segment = at + i * entry
    if (little .. "I4"):unpack(bytes, segment + 1) == 1 then -- mapped
      for place, value in pairs{ [8] = 1 << 40, [16] = 1 << 50, [32] = #bytes + 1,
        [40] = 1 << 45 } do -- offset, address, bytes in the file, bytes in memory
        refused(with(segment + place, (little .. "I8"):pack(value)))
        altered = altered + 1
      end
    end
  end
  lu.assertTrue(altered >= 8)
end

function TestContents.test_what_is_no_plain_file_is_refused()
  sh("mkfifo " .. quote(path("fifo.so")) .. " && mkdir " .. quote(path("d.so")))
  fails({ "fifo.so: this is not a plain file" }, sc.plugin.load, path("fifo.so"))
  fails({ "d.so: this is a folder" }, sc.plugin.load, path("d.so"))
  fails({ "/dev/zero: this is not a plain file" }, sc.plugin.load, "/dev/zero")
end

-- ------------ who may write it

TestWriters = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestWriters

-- Where the plugin lies on the search path, with these modes of file and folder.
local function place(file, of_folder)
  sh(("mkdir -m 755 -p %s && cp %s %s"):format(quote(path("p/nonlinearity")), quote(good),
    quote(path("p/nonlinearity/softplus.so"))))
  sh(("chmod %s %s && chmod %s %s"):format(file, quote(path("p/nonlinearity/softplus.so")),
    of_folder, quote(path("p/nonlinearity"))))
end

local function run(code, search)
  return support.shell(("SCULLERY_PLUGIN_PATH=%s %s %s"):format(quote(search or path("p")),
    quote(support.binary), code))
end

local by_search = "-e 'print(sc.nonlinearity.softplus())'"
local function by_path()
  return "-e " .. quote(("sc.plugin.load(%q) print(sc.nonlinearity.softplus())"):format(
    path("p/nonlinearity/softplus.so")))
end

function TestWriters.test_the_search_takes_what_root_and_the_user_alone_may_write()
  for _, case in ipairs{ { "755", "755", nil, nil }, { "644", "700", nil, nil },
    { "775", "755", "a group may write this file (chmod g-w", nil },
    { "755", "775", "a group may write its folder", nil },
    { "755", "1777", "every user may write to its folder", nil },
    { "755", "777", "every user may write its folder", "every user may write its folder" },
    { "757", "755", "every user may write this file (chmod o-w",
      "every user may write this file (chmod o-w" },
    { "777", "1777", "every user may write this file", "every user may write this file" } } do
    place(case[1], case[2])
    for k, code in ipairs{ by_search, by_path() } do
      local status, out, err = run(code)
      local said = case[2 + k]
      lu.assertEquals({ case[1], case[2], k, status }, { case[1], case[2], k, said and 1 or 0 })
      lu.assertStrContains(said and err or out, said or "softplus")
      if said then lu.assertStrContains(err, path("p/nonlinearity/softplus.so")) end
    end
  end
end

function TestWriters.test_the_list_says_what_is_refused()
  place("775", "755")
  local status, out = run("plugin list")
  lu.assertEquals(status, 0)
  lu.assertStrMatches(out, ".*nonlinearity +softplus +%- +refused: [^\n]*a group may write.*")
end

function TestWriters.test_the_list_says_that_a_pipe_is_no_file()
  place("755", "755")
  sh("mkfifo " .. quote(path("p/f.so")))
  local status, out = run("plugin list")
  lu.assertEquals(status, 0)
  lu.assertStrMatches(out, ".*%- +f +%- +refused: plugin [^\n]*f.so: this is not a plain file.*")
end

function TestWriters.test_files_of_another_user_are_refused()
  lu.skipIf(not os.execute("[ $(id -u) = 0 ]"), "not root")
  place("755", "755")
  sh("chown 4321 " .. quote(path("p/nonlinearity/softplus.so")))
  for _, code in ipairs{ by_search, by_path() } do
    local status, _, err = run(code)
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, "belongs to another user (uid 4321)")
  end
end

-- ------------ where the search looks

TestSearchPath = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestSearchPath

function TestSearchPath.test_entries_that_are_empty_or_begin_at_the_working_folder_are_told()
  place("755", "755")
  for search, said in pairs{ ["."] = "names \".\", a path relative to the working folder",
    ["tests:/tmp"] = "names \"tests\", a path relative", [path("p") .. ":"] = "has an empty entry",
    [path("p") .. "::/tmp"] = "has an empty entry", [":"] = "has an empty entry" } do
    local status, out, err = run("-e 'print(sc.kernel.gaussian())'", search)
    lu.assertEquals({ search, status }, { search, 0 })
    lu.assertStrMatches(err, "scullery: SCULLERY_PLUGIN_PATH [^\n]*\n", nil, nil, search)
    lu.assertStrContains(err, said)
    lu.assertStrContains(out, "gaussian")
  end
  local status, _, err = run(by_search, path("p") .. ":/tmp")
  lu.assertEquals({ status, err }, { 0, "" })
end

os.exit(lu.LuaUnit.run(), true)
