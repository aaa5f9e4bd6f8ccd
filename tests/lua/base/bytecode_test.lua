--- The library from bytecode: what runs is the source, with its names and lines.
-- luacheck: globals TestBytecode
-- luacheck: ignore 212/self
local lu = require "luaunit"
local support = dofile "tests/helpers/support.lua"

local source = os.getenv "SCULLERY_SOURCE" or "."

-- Runs code with the library that is in a folder: its output, and how many modules were bytecode.
local function run(folder, code)
  local status, out, err = support.scullery("-e " .. support.quote(([[
    local loaded, count = load, 0
    package.path = "%s/?.lua;%s/?/init.lua"
    function load(text, name, mode, ...)
      count = count + (mode == "b" and 1 or 0)
      return loaded(text, name, mode, ...)
    end
    require "scullery"
    %s
    print(count)]]):format(folder, folder, code)))
  lu.assertEquals({ status, err }, { 0, "" })
  local said, count = out:match "^(.-)(%d+)\n$"
  return said, tonumber(count)
end

TestBytecode = {}

function TestBytecode:test_is_the_source()
  support.in_folder(function(folder)
    lu.assertEquals(support.shell(("cp -r '%s/lua/scullery' '%s'"):format(source, folder)), 0)
    -- what an error and debug say of places, and a module that is changed
    local code = [[
      local range = require "scullery.base.range"
      print(debug.getinfo(range.list, "S").source, debug.getinfo(range.list, "S").linedefined)
      print(select(2, xpcall(range.list, debug.traceback, {}, {})))]]
    local plain, none = run(folder, code)
    lu.assertStrContains(plain, folder .. "/scullery/base/range.lua")
    lu.assertEquals(none, 0)
    lu.assertEquals(support.scullery(("'%s/scripts/bytecode.lua' '%s'"):format(source, folder)), 0)
    local same, all = run(folder, code)
    lu.assertEquals(same, plain)
    lu.assertTrue(all > 100, "the bytecode was not used")

    local path = folder .. "/scullery/base/range.lua"
    support.write(path, (support.read(path):gsub("local range = {}", "local range = { x = 1 }")))
    lu.assertEquals({ run(folder, 'print(require "scullery.base.range".x)') }, { "1\n", all - 1 })
    -- a file that is damaged in its index or its bytecode, cut off, of another version, or none
    local pack, half = support.read(folder .. "/scullery.luac"), 65536
    local first = pack:sub(1, half)
    for damaged, used in pairs{ [pack:gsub("scullery", "Scullery", 1)] = 0, [pack:sub(1, 99)] = 0,
      ["x" .. pack] = 0, [""] = 0, [first] = all - 2,
      [first .. pack:sub(half + 1):reverse()] = all - 2 } do
      support.write(folder .. "/scullery.luac", damaged)
      local said, count = run(folder, "")
      lu.assertEquals(said, "")
      lu.assertTrue(count <= used and (count > 0) == (used > 0), count)
    end
  end)
end

os.exit(lu.LuaUnit.run(), true)
