-- HDF5: the example of the reader, which has a table X and lists y and z.
local source = os.getenv "SCULLERY_SOURCE" or "."
package.path = source .. "/tests/helpers/?.lua;" .. package.path
local core = require "scullery.core"
local lu = require "luaunit"
local sc = require "scullery"
local support = require "support"

local there = pcall(core.plugin_info, "reader", "hdf5")
local path = support.memory_path()

function TestTablesAndLists()
  lu.skipIf(not there, "this build reads no HDF5")
  local reader = core.instance("reader", "hdf5", {})
  lu.assertTrue(require("scullery.checker").reader_example(reader, path))
  local ds = sc.data.read(path, { target = false, quiet = true })
  lu.assertEquals(ds.names, { "X1", "X2", "y", "z" })
  lu.assertEquals(ds.X, sc.matrix{ { 0.5, 1, 1, 0 }, { 2, -3, 0, 2 ^ 63 }, { 4, 1e6, 1, 2 ^ 64 } })
  lu.assertEquals(sc.data.read(path, { target = false, quiet = true, dataset = "y" }).X,
    sc.matrix{ { 1 }, { 0 }, { 1 } })
  lu.assertEquals(sc.data.read(path, { target = false, quiet = true, select = "X2" }).X,
    sc.matrix{ { 1 }, { -3 }, { 1e6 } })
  local function read(given) return sc.data.read(path, given) end
  support.fails({ "it has no dataset 'Z'" }, read, { dataset = "Z" })
  support.fails({ "names with commas" }, read, { dataset = ",y" })
  support.fails({ "has no column 'X3'; it has X1, X2, y" }, read, { select = "X3" })
  os.remove(path)
end

-- Unsigned numbers beyond int64, truth values as NumPy has them, float32, and texts, which are
-- passed over.
function TestTypes()
  lu.skipIf(not there, "this build reads no HDF5")
  local file = source .. "/tests/plugins/reader/numbers.h5"
  local ds = sc.data.read(file, { target = false, quiet = true })
  lu.assertEquals(ds.names, { "h", "u", "yes" })
  lu.assertEquals(ds.X, sc.matrix{ { 0.5, 1, 1 }, { -1, 2.0 ^ 63, 0 }, { 2, 2.0 ^ 64 - 2048, 1 } })
  support.fails({ "dataset 'words' is neither a list nor a table of numbers" }, sc.data.read, file,
    { dataset = "words" })
end

os.exit(lu.LuaUnit.run())
