-- Parquet files of DuckDB, hyparquet-writer and parquet-wasm, whose cells follow from the row.
local source = os.getenv "SCULLERY_SOURCE" or "."
package.path = source .. "/tests/helpers/?.lua;" .. package.path
local bent_files = require "bent_files"
local core = require "scullery.core"
local lu = require "luaunit"
local predict = require "scullery.model.predict"
local sc = require "scullery"
local support = require "support"

local fails = support.fails
local folder = source .. "/tests/fuzz/seeds/read_parquet/"
local there = core.reader_of(folder .. "int96") ~= nil

local function read(name, select, more)
  local given = { target = false, quiet = true, select = select }
  for option, value in pairs(more or {}) do given[option] = value end
  return sc.data.read(folder .. name, given)
end

local DAY <const> = 86400
local N <const> = 12

-- What each column holds in row i, from 0; nil: missing.
local columns = {
  i = function(i) return i end,
  l = function(i) return i * 1234567891 end,
  d = function(i) return i * 0.1 end,
  f = function(i) return i * 0.25 end,
  n = function(i) if i % 4 ~= 1 then return i * 0.5 end end,
  b = function(i) return i % 2 == 0 and 1 or 0 end,
  day = function(i) return 18320 + i end, -- 2020-02-28
  ts = function(i) return 18262 + (i * 61 + 0.5) / DAY end,
  dec = function(i) return i / 100 end,
  dec38 = function(i) return -i * 100001 / 100 end,
}

local function check(ds, names)
  for j, name in ipairs(names) do
    for i = 0, N - 1 do
      local wanted = columns[name](i)
      if wanted then
        lu.assertAlmostEquals(ds.X:get(i + 1, j), wanted, 1e-10 * (1 + math.abs(wanted)), name)
      end
    end
  end
end

local files = { "duckdb_v1", "duckdb_v2", "hyparquet", "wasm_v1_lz4", "wasm_v2_gzip" }

function TestNumbersOfAllWriters()
  lu.skipIf(not there, "this build reads no Parquet")
  local names = { "l", "i", "d", "f", "b", "n" }
  for _, file in ipairs(files) do check(read(file, names), names) end
  local more = { "dec38", "day", "ts", "dec" }
  for _, file in ipairs{ "duckdb_v1", "duckdb_v2" } do check(read(file, more), more) end
end

function TestMissingAndTexts()
  lu.skipIf(not there, "this build reads no Parquet")
  for _, file in ipairs(files) do
    local ds = read(file, { "s", "n" })
    lu.assertEquals(ds.names, { "s=v0", "s=v1", "s=v2", "s=?", "n" })
    for i = 0, N - 1 do
      local place = i % 5 == 2 and 4 or i % 3 + 1
      for k = 1, 4 do lu.assertEquals(ds.X:get(i + 1, k), k == place and 1 or 0) end
    end
    lu.assertEquals(ds.X:get(2, 5), ds.X:get(6, 5)) -- the median stands for both
    local rows = read(file, { "n" }, { missing_values = "row" })
    lu.assertEquals(rows.X:rows(), N - 3)
  end
end

-- Numbers that accompany predictions are decimals, though they are read without.
function TestIds()
  lu.skipIf(not there, "this build reads no Parquet")
  local ds = read("hyparquet", { "i", "d" }, { target = "d" })
  local f = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(ds).fitted
  local path, format, handle = predict.open(folder .. "hyparquet", f, nil, { "l" })
  local _, ids = predict.rows(path, f, format, "l")()
  lu.assertEquals({ ids[1], ids[2], #ids, handle ~= nil }, { "0", "1234567891", N, true })
end

function TestStreamsAreTheSameRows()
  lu.skipIf(not there, "this build reads no Parquet")
  for _, file in ipairs(files) do
    local names = { "i", "d", "s" }
    local stream, whole = read(file, names, { stream = true }), read(file, names)
    local p = sc.pipeline{ sc.standardize() }
    lu.assertTrue(p:fit(stream):transform(stream) == p:fit(whole):transform(whole))
  end
end

function TestTimesInTwelveBytes()
  lu.skipIf(not there, "this build reads no Parquet")
  local ds = read("int96", { "when" })
  for i = 0, N - 1 do lu.assertAlmostEquals(ds.X:get(i + 1, 1), 18262 + i / 24, 1e-9) end
end

function TestRefused()
  lu.skipIf(not there, "this build reads no Parquet")
  fails({ "the column 'list' is nested", "'select'" }, read, "nested")
  lu.assertEquals(read("nested", { "i" }).X:rows(), N)
  fails({ "has no column 'x'; it has i, l" }, read, "hyparquet", { "x" })
  fails({ "asked for twice" }, read, "hyparquet", { "i", "i" })
end

-- The bytes `from` become `to`: as many in a page, any number in the footer, which says its size.
local function changed(bytes, from, to)
  local at, last = bytes:find(from, 1, true)
  local footer = string.unpack("<I4", bytes, #bytes - 7) + #to - #from
  bytes = bytes:sub(1, at - 1) .. to .. bytes:sub(last + 1)
  return bytes:sub(1, -9) .. string.pack("<I4", footer) .. "PAR1"
end

-- What a type or an encoding does not go with: floats as decimals are the floats, and times of
-- 12 bytes are no texts of other lengths.
function TestOddTypes()
  lu.skipIf(not there, "this build reads no Parquet")
  local path, bytes = support.memory_path(), support.read(folder .. "int96")
  local i, float_i = "\x15\x02\x25\0\x18\1i\0", "\x15\x08\x25\0\x18\1i\x25\x0A\0"
  support.write(path, changed(bytes, i, float_i))
  local ds = sc.data.read(path, { target = false, quiet = true, select = "i" })
  lu.assertEquals(ds.X:get(12, 1), 11 * 2.0 ^ -149)
  local plain = "\x15\x18\x15\0\x15\0\x15\0\0\0" .. ("\0"):rep(8) .. "\xE2\x84"
  local lengths = "\x15\x18\x15\x0C\x15\0\x15\0\0\0\8\1\x0C\0\0\0\0\0\xE2\x84"
  support.write(path, changed(bytes, plain, lengths))
  fails({ "column 'when', row 1", "damaged" }, sc.data.read, path, { select = "when" })
  os.remove(path)
end

function TestBentFiles()
  lu.skipIf(not there, "this build reads no Parquet")
  local paths = {}
  for i, name in ipairs(files) do paths[i] = folder .. name end
  bent_files(paths, 200, { target = false, quiet = true, select = { "i", "d" } })
end

os.exit(lu.LuaUnit.run())
