-- Packed codes: what is packed comes back, distances and neighbours are those of the plain
-- definition, on every way of counting.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")

local function numbers(n, T, levels, seed)
  return sc.rand{ n, T, seed = seed or 1 }:map(function(v) return math.floor(levels * v) end)
end

-- The definition, number by number.
local function plain_distance(A, i, B, j)
  local differ = 0
  for t = 1, A:cols() do if A:get(i, t) ~= B:get(j, t) then differ = differ + 1 end end
  return differ / A:cols()
end

-- f() with each way of counting that the machine has, and on 1 and 3 threads; then all is as
-- before.
local function on_every_way(f)
  local ways, threads = core.codes_ways(), sc.threads()
  for _, way in ipairs(ways) do
    core.codes_ways(way)
    for _, count in ipairs{ 1, 3 } do
      sc.threads(count)
      f(("%s, %d threads"):format(way, count))
    end
  end
  sc.threads(threads)
  core.codes_ways(ways[#ways])
end

local function refusal(f, ...)
  local ok, message = pcall(f, ...)
  lu.assertFalse(ok)
  return message
end

-- ------------ packing

function TestUnpackGivesBackWhatWasPacked()
  for _, levels in ipairs{ 1, 2, 3, 4, 5, 16, 300, 65536 } do
    for _, n in ipairs{ 0, 1, 7, 8, 9, 33 } do
      for _, T in ipairs{ 1, 63, 64, 65, 130 } do
        local M = numbers(n, T, levels, n + T)
        local codes = sc.codes(M, levels)
        lu.assertTrue(codes:unpack() == M, ("%d x %d, %d levels"):format(n, T, levels))
        lu.assertEquals({ #codes, codes:rows(), codes:cols(), codes.levels }, { n, n, T, levels })
      end
    end
  end
end

function TestPacksAnyViewAndDtype()
  local M = numbers(70, 40, 4)
  lu.assertTrue(sc.codes(M:t(), 4):unpack() == M:t())
  lu.assertTrue(sc.codes(M:slice(3, 20, 5, 30), 4):unpack() == M:slice(3, 20, 5, 30))
  lu.assertTrue(sc.codes(M:astype("float32"), 4):unpack() == M)
  lu.assertTrue(sc.codes({ { 0, 1 }, { 3, 2 } }):unpack() == sc.matrix{ { 0, 1 }, { 3, 2 } })
end

function TestLevelsComeFromTheNumbersUnlessGiven()
  lu.assertEquals(sc.codes(sc.matrix{ { 0, 4, 2 } }).levels, 5)
  lu.assertEquals(sc.codes(sc.zeros(3, 3)).levels, 2)
  lu.assertEquals(sc.codes(sc.zeros(3, 3), 7).levels, 7)
end

function TestMemoryIsBitsOverEight()
  for _, case in ipairs{ { 2, 1 }, { 3, 2 }, { 4, 2 }, { 5, 3 }, { 16, 4 }, { 17, 5 } } do
    local codes = sc.codes(sc.zeros(1000, 256), case[1])
    lu.assertEquals(codes:bits(), 256 * case[2])
    lu.assertEquals(codes:bytes(), 1000 * 256 * case[2] // 8)
  end
end

-- ------------ distances

function TestHammingIsTheShareOfNumbersThatDiffer()
  for _, levels in ipairs{ 2, 4, 5, 300 } do
    local A, B = numbers(19, 130, levels, 2), numbers(37, 130, levels, 3)
    on_every_way(function(way)
      local H, K = sc.codes(A, levels):hamming(sc.codes(B, levels)),
        sc.codes(A, levels):kernel(sc.codes(B, levels))
      for i = 1, 19 do
        for j = 1, 37 do
          lu.assertEquals(H:get(i, j), plain_distance(A, i, B, j), way)
          lu.assertAlmostEquals(K:get(i, j), 1 - H:get(i, j), 1e-15)
        end
      end
    end)
  end
end

function TestHammingIsAMetric()
  local codes = sc.codes(numbers(30, 50, 4), 4)
  local H = codes:hamming()
  lu.assertTrue(H == H:t())
  for i = 1, 30 do
    lu.assertEquals(H:get(i, i), 0)
    for j = 1, 30 do
      for k = 1, 30 do lu.assertTrue(H:get(i, k) <= H:get(i, j) + H:get(j, k) + 1e-15) end
    end
  end
end

-- Every row in one tile, and rows that span many: the ends of tiles, pieces and spans.
function TestDistancesDoNotDependOnWhereARowStands()
  local M = numbers(100, 64, 2)
  local codes, places = sc.codes(M, 2), {}
  for i = 1, 40000 do places[i] = (i * 37) % 100 + 1 end
  local many, H = codes:select(sc.matrix(places)), codes:hamming()
  on_every_way(function(way)
    local wide = codes:slice(1, 3):hamming(many)
    for i = 1, 3 do
      for j = 1, 40000, 7 do lu.assertEquals(wide:get(i, j), H:get(i, places[j]), way) end
    end
  end)
end

-- q = 2: the mean distance estimates angle/pi; orthogonal vectors agree by chance, once in q.
function TestHammingEstimatesTheCollisionProbability()
  local T, d = 20000, 4
  local X = sc.matrix{ { 1, 0, 0, 0 }, { 0.8, 0.6, 0, 0 }, { 0, 0, 1, 0 }, { -0.28, 0.96, 0, 0 } }
  for _, q in ipairs{ 2, 3, 4 } do
    local best, place
    for j = 1, q do
      local Z = X * sc.randn{ T, d, seed = 50 * q + j }:t()
      if not best then
        best, place = Z, sc.zeros(4, T)
      else
        for i = 1, 4 do
          for t = 1, T do
            if Z:get(i, t) > best:get(i, t) then
              best:set(i, t, Z:get(i, t)) place:set(i, t, j - 1)
            end
          end
        end
      end
    end
    local K = sc.codes(place, q):kernel()
    local function check(i, j, kappa)
      local stderr = math.sqrt(kappa * (1 - kappa) / T)
      local off = math.abs(K:get(i, j) - kappa) / stderr
      lu.assertTrue(off < 5,
        ("q = %d, rows %d and %d: %.4f, expected %.4f, %.1f standard errors"):format(q, i, j,
          K:get(i, j), kappa, off))
    end
    check(1, 3, 1 / q)
    if q == 2 then
      check(1, 2, 1 - math.acos(0.8) / math.pi)
      check(1, 4, 1 - math.acos(-0.28) / math.pi)
    end
  end
end

-- ------------ nearest

local function plain_nearest(H, i, k)
  local list = {}
  for j = 1, H:cols() do list[j] = { H:get(i, j), j } end
  table.sort(list, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  return table.move(list, 1, k, 1, {})
end

local function assert_nearest(codes, queries, k, way)
  local index, distance = codes:nearest(queries, k)
  local H = queries:hamming(codes)
  lu.assertEquals({ index:rows(), index:cols(), distance:rows(), distance:cols() },
    { #queries, k, #queries, k })
  for i = 1, #queries do
    for place, wanted in ipairs(plain_nearest(H, i, k)) do
      lu.assertEquals({ distance:get(i, place), index:get(i, place) }, wanted, way)
    end
  end
end

function TestNearestIsTheSortedScan()
  for _, T in ipairs{ 3, 100 } do -- 3: nearly all are tied
    local codes, queries = sc.codes(numbers(500, T, 3), 3), sc.codes(numbers(40, T, 3, 9), 3)
    on_every_way(function(way)
      for _, k in ipairs{ 1, 2, 17, 500 } do assert_nearest(codes, queries, k, way) end
    end)
  end
end

function TestNearestOverManyPartsOfTheRows()
  local codes = sc.codes(numbers(70001, 12, 2), 2)
  local queries = codes:select{ 1, 70001, 40000 }
  on_every_way(function(way) assert_nearest(codes, queries, 25, way) end)
end

function TestTheNearestOfARowIsItself()
  local codes = sc.codes(numbers(300, 256, 4), 4)
  local index, distance = codes:nearest(codes)
  for i = 1, 300 do lu.assertEquals({ index[i], distance[i] }, { i, 0 }) end
end

function TestNoQueriesGiveNoRows()
  local codes = sc.codes(numbers(9, 5, 2), 2)
  local none = codes:select{}
  local index, distance = codes:nearest(none, 3)
  lu.assertEquals({ index:rows(), index:cols(), distance:rows() }, { 0, 3, 0 })
  lu.assertEquals({ none:hamming(codes):rows(), codes:hamming(none):cols() }, { 0, 0 })
end

-- ------------ rows

function TestSelectAndSliceTakeRows()
  local M = numbers(50, 70, 6)
  local codes = sc.codes(M, 6)
  lu.assertTrue(codes:select{ 50, 1, 1, 20 }:unpack() == M:select{ 50, 1, 1, 20 })
  lu.assertTrue(codes:select(sc.matrix{ 3, 9 }):unpack() == M:select{ 3, 9 })
  lu.assertTrue(codes:slice(9, 31):unpack() == M:slice(9, 31))
  lu.assertTrue(codes:slice(9, 31) == codes:slice(9, 31))
  lu.assertFalse(codes:slice(9, 31) == codes:slice(10, 32))
  lu.assertEquals(tostring(codes), "codes 50 x 70, 6 levels, 210 bits each")
end

-- ------------ files

local function with_file(f)
  local path = os.tmpname()
  local ok, message = pcall(f, path)
  os.remove(path)
  if not ok then error(message, 0) end
end

function TestASavedFileLoadsTheSame()
  with_file(function(path)
    for _, case in ipairs{ { 1, 1, 2 }, { 21, 130, 5 }, { 0, 3, 2 } } do
      local codes = sc.codes(numbers(case[1], case[2], case[3]), case[3])
      codes:save(path)
      lu.assertTrue(sc.codes.load(path) == codes)
    end
  end)
end

function TestADamagedFileIsRefused()
  with_file(function(path)
    sc.codes(numbers(3, 70, 5), 5):save(path)
    local whole = support.read(path)
    for length = 0, #whole - 1 do
      support.write(path, whole:sub(1, length))
      lu.assertStrContains(refusal(sc.codes.load, path), length < 8 and "codes" or "cut short")
    end
    support.write(path, "SCLCODE9" .. whole:sub(9))
    lu.assertStrContains(refusal(sc.codes.load, path), "this is not a file of codes")
    support.write(path, whole:sub(1, 16) .. ("\255"):rep(8) .. whole:sub(25))
    lu.assertStrContains(refusal(sc.codes.load, path), "damaged")
    support.write(path, whole:sub(1, 32) .. ("\255"):rep(#whole - 32))
    lu.assertStrContains(refusal(sc.codes.load, path), "numbers outside its 5 levels")
    support.write(path, whole .. "\0")
    lu.assertStrContains(refusal(sc.codes.load, path), "goes on after the last code")
    lu.assertStrContains(refusal(sc.codes.load, path .. ".missing"), path .. ".missing")
  end)
end

-- ------------ bad input

function TestBadInputIsRefusedWithASentence()
  local M = numbers(5, 6, 4)
  local codes = sc.codes(M, 4)
  local cases = {
    { "codes: row 2, column 1 is 4; a code is a whole number from 0 to 3", sc.codes,
      sc.matrix{ { 0 }, { 4 } }, 4 },
    { "row 1, column 2 is 0.5; a code is a whole number", sc.codes, sc.matrix{ { 0, 0.5 } } },
    { "row 1, column 2 is -1; a code is a whole number from 0 to 1", sc.codes,
      sc.matrix{ { 0, -1 } }, 2 },
    { "row 1, column 1 is NaN", sc.codes, sc.matrix{ { 0 / 0 } } },
    { "row 1, column 1 is inf", sc.codes, sc.matrix{ { 1 / 0 } }, 3 },
    { "'levels' got 0; it takes a whole number from 1 to 65536", sc.codes, M, 0 },
    { "'levels' got \"4\"", sc.codes, M, "4" },
    { "the matrix has no columns", sc.codes, sc.zeros(3, 0) },
    { "takes an n x T matrix of whole numbers, and got nil", sc.codes },
    { "codes of 6 and of 5 numbers cannot be compared", codes.hamming, codes,
      sc.codes(M:slice(1, 5, 1, 5), 4) },
    { "codes of 4 and of 5 levels cannot be compared", codes.kernel, codes, sc.codes(M, 5) },
    { "codes of 4 and of 5 levels cannot be compared", codes.nearest, codes, sc.codes(M, 5) },
    { "takes codes, as sc.codes(matrix) or feats:codes(X) makes them, and got a 5 x 6 matrix",
      codes.hamming, codes, M },
    { "'k' got 0; it takes a whole number from 1 to 5", codes.nearest, codes, codes, 0 },
    { "'k' got 6; it takes a whole number from 1 to 5", codes.nearest, codes, codes, 6 },
    { "'k' got \"2\"", codes.nearest, codes, codes, "2" },
    { "there are no codes to look among", codes.nearest, codes:select{}, codes, 1 },
    { "row 6 is outside", codes.select, codes, { 6 } },
    { "row 1.5", codes.select, codes, { 1.5 } },
    { "takes a list or an n x 1 matrix", codes.select, codes, M },
    { "takes a list or an n x 1 matrix", codes.select, codes },
    { "whole numbers from 1 to 5, and got 6", codes.slice, codes, 2, 6 },
    { "whole numbers from 1 to 5, and got \"nothing\"", codes.slice, codes, 2 },
    { "the end lies before the beginning", codes.slice, codes, 3, 2 },
    { "codes:rows: call it with a colon", codes.rows, 7 },
    { "takes the path of a file", codes.save, codes },
  }
  for _, case in ipairs(cases) do lu.assertStrContains(refusal(table.unpack(case, 2)), case[1]) end
end

function TestEveryAllocationMayFail()
  local M = numbers(40, 70, 5)
  local codes = sc.codes(M, 5)
  local function round()
    local made = sc.codes(M, 5)
    made:nearest(codes, 3)
    return made:select{ 1, 2 }:hamming(codes)
  end
  local wanted = round()
  collectgarbage()
  for count = 0, 100 do
    core.fail_allocation_after(count)
    local ok, result = pcall(round)
    core.fail_allocation_after(-1)
    if ok then
      lu.assertTrue(result == wanted)
      if count > 12 then return end
    else
      lu.assertStrContains(result, "not enough memory")
    end
  end
  lu.fail("an allocation fails for ever")
end

function TestMemoryGoesWithTheCodes()
  local M = sc.zeros(1000, 640)
  collectgarbage() collectgarbage()
  local before = core.memory()
  local codes = sc.codes(M, 2)
  lu.assertTrue(core.memory() - before >= codes:bytes())
  codes = nil -- luacheck: ignore
  collectgarbage() collectgarbage()
  lu.assertTrue(core.memory() <= before)
end

-- Lua sees a few bytes of each; told of the rest, it collects in time.
function TestGarbageDoesNotPileUp()
  local codes = sc.codes(sc.zeros(2000, 2048), 2)
  local places, most = sc.zeros(2000, 1) + 1, 0
  collectgarbage() collectgarbage()
  local before = core.memory()
  for _ = 1, 400 do -- half a megabyte each time
    codes:select(places)
    most = math.max(most, core.memory() - before)
  end
  lu.assertTrue(most < 100e6, ("%.0f MB held"):format(most / 1e6))
end

function TestCtrlCStopsASearch()
  local codes = sc.codes(numbers(200, 64, 2), 2)
  core.interrupt()
  lu.assertStrContains(refusal(codes.nearest, codes, codes, 3), "interrupted")
  core.interrupt()
  lu.assertStrContains(refusal(codes.hamming, codes), "interrupted")
  assert_nearest(codes, codes, 3, "after")
end

os.exit(lu.LuaUnit.run(), true)
