-- Images as rows: sc.data.rotate.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local square = sc.matrix{ { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, { 0, 0, 1, 0, 0, 0, 0, 0, 0 } }

local function close(A, B) lu.assertAlmostEquals((A - B):abs():max(), 0, 1e-12) end

function TestQuarterTurnsMovePixels()
  close(sc.data.rotate(square, 90), sc.matrix{ { 3, 6, 9, 2, 5, 8, 1, 4, 7 },
    { 1, 0, 0, 0, 0, 0, 0, 0, 0 } })
  close(sc.data.rotate(square, { 180, -90 }), sc.matrix{ { 9, 8, 7, 6, 5, 4, 3, 2, 1 },
    { 0, 0, 0, 0, 0, 0, 0, 0, 1 } })
  close(sc.data.rotate(sc.matrix{ { 1, 2, 3, 4, 5, 6 } }, 180, { height = 2 }),
    sc.matrix{ { 6, 5, 4, 3, 2, 1 } })
end

-- A linear picture stays linear inside, which bilinear interpolation gives without error.
function TestBetweenPixels()
  local pixels, expected, angle = {}, {}, math.rad(25)
  local c, s = math.cos(angle), math.sin(angle)
  for i = -10, 10 do
    for j = -10, 10 do
      pixels[#pixels + 1] = 100 + 3 * i - 2 * j
      expected[#expected + 1] = 100 + 3 * (c * i + s * j) - 2 * (c * j - s * i)
    end
  end
  local turned = sc.data.rotate(sc.matrix{ pixels }, 25)
  for i = 6, 16 do
    for j = 6, 16 do
      local at = (i - 1) * 21 + j
      lu.assertAlmostEquals(turned:get(1, at), expected[at], 1e-9)
    end
  end
  lu.assertEquals(turned:get(1, 1), 0) -- from outside
end

function TestOneImageAtSeveralAngles()
  local turned = sc.data.rotate(square[1]:astype("float32"), sc.range(0, 180, 90))
  lu.assertEquals({ turned:rows(), turned:dtype() }, { 3, "float32" })
  close(turned[1], square[1])
  close(turned[3], sc.data.rotate(square[1], 180))
end

function TestWhatRotateRefuses()
  fails({ "9 columns", "2 x 4", "'height'" }, sc.data.rotate, square, 5, { height = 2 })
  fails({ "6 columns", "are not an image" }, sc.data.rotate, sc.ones(1, 6), 5)
  fails({ "3 angles", "2 rows" }, sc.data.rotate, square, { 1, 2, 3 })
  fails({ "2 angles", "0 rows" }, sc.data.rotate, sc.zeros(0, 9), { 1, 2 })
  fails({ "degrees", '"x"' }, sc.data.rotate, square, "x")
  fails({ "degrees" }, sc.data.rotate, square, 0 / 0)
  fails({ "data.rotate", "'size'" }, sc.data.rotate, square, 5, { size = 3 })
end

os.exit(lu.LuaUnit.run(), true)
