-- Arrow files and streams of apache-arrow, whose cells follow from the row.
local source = os.getenv "SCULLERY_SOURCE" or "."
package.path = source .. "/tests/helpers/?.lua;" .. package.path
local bent_files = require "bent_files"
local core = require "scullery.core"
local lu = require "luaunit"
local sc = require "scullery"
local support = require "support"

local folder = source .. "/tests/fuzz/seeds/read_arrow/"
local there = core.reader_of(folder .. "stream") ~= nil

local function read(name, select, more)
  local given = { target = false, quiet = true, select = select }
  for option, value in pairs(more or {}) do given[option] = value end
  return sc.data.read(folder .. name, given)
end

function TestFilesAndStreams()
  lu.skipIf(not there, "this build reads no Arrow")
  for _, name in ipairs{ "file", "stream" } do
    local ds = read(name, { "l", "d", "f", "b", "n", "s" })
    lu.assertEquals(ds.names, { "l", "d", "f", "b", "n", "s=v0", "s=v1", "s=v2", "s=?" })
    for i = 0, 11 do
      local wanted = { i * 1234567891, i * 0.1, i * 0.25, (i + 1) % 2, i * 0.5 }
      for k = 1, 4 do wanted[5 + k] = k == (i % 5 == 2 and 4 or i % 3 + 1) and 1 or 0 end
      for j, value in ipairs(wanted) do
        if j ~= 5 or i % 4 ~= 1 then lu.assertEquals(ds.X:get(i + 1, j), value) end
      end
    end
    local stream = read(name, { "d", "s" }, { stream = true })
    local p, whole = sc.pipeline{ sc.standardize() }, read(name, { "d", "s" })
    lu.assertTrue(p:fit(stream):transform(stream) == p:fit(whole):transform(whole))
  end
end

-- Compressed buffers; dictionaries, float16, days and milliseconds.
function TestCompressed()
  lu.skipIf(not there, "this build reads no Arrow")
  for _, name in ipairs{ "zstd", "lz4" } do
    local ds = read(name, { "ts", "day", "h", "i", "s" })
    for row = 1, 96 do
      local i = (row - 1) // 8
      lu.assertAlmostEquals(ds.X:get(row, 1), i / 24, 1e-9)
      for j, value in ipairs{ i, i * 0.5, i } do lu.assertEquals(ds.X:get(row, j + 1), value) end
      for k = 1, 4 do
        lu.assertEquals(ds.X:get(row, 4 + k), k == (i % 5 == 2 and 4 or i % 3 + 1) and 1 or 0)
      end
    end
  end
end

-- A file's dictionary may stand behind the batch: messages of 208 bytes and of 1056.
function TestDictionaryBehindItsBatch()
  lu.skipIf(not there, "this build reads no Arrow")
  local bytes, path = support.read(folder .. "file"), support.memory_path()
  support.write(path, bytes:sub(1, 8) .. bytes:sub(217, 1272) .. bytes:sub(9, 216)
    .. bytes:sub(1273))
  local given = { target = false, quiet = true, select = { "s", "i" } }
  lu.assertEquals(sc.data.read(path, given).X, read("file", { "s", "i" }).X)
  os.remove(path)
end

-- A loaded reader that takes every file, and whose name comes behind "arrow".
function TestLoadedReadersAreAskedFirst()
  lu.skipIf(not there or support.sanitized, "this build reads no Arrow, or no plugin by its path")
  local any = os.getenv "SCULLERY_BUILD" .. "/tests/broken/reader_any_file.so"
  local code = ("sc.plugin.load(%q) sc.data.read(%q)"):format(any, folder .. "stream")
  local _, _, said = support.scullery("-e " .. support.quote(code))
  lu.assertStrContains(said, "reader.broken")
end

function TestRefused()
  lu.skipIf(not there, "this build reads no Arrow")
  support.fails({ "the column 'l' is nested" }, read, "nested")
  local ds = read("nested", { "z", "a", "k" })
  lu.assertEquals(ds.names, { "z=end", "z=?", "a", "k" })
  lu.assertEquals(ds.X, sc.matrix{ { 1, 0, 1, 1 }, { 0, 1, 2, 0 } })
  local path = support.memory_path()
  support.write(path, support.read(folder .. "file"):sub(1, -20))
  support.fails({ path, "cut off" }, sc.data.read, path)
  os.remove(path)
end

function TestBentFiles()
  lu.skipIf(not there, "this build reads no Arrow")
  local paths = {}
  for i, name in ipairs{ "file", "stream", "zstd", "lz4" } do paths[i] = folder .. name end
  bent_files(paths, 200, { target = false, quiet = true, select = { "i", "s" } })
end

os.exit(lu.LuaUnit.run())
