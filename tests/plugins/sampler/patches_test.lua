-- sampler.patches: weights on rectangles of images, and the same rectangles moved.
local lu = require "luaunit"
local sc = require "scullery"

-- Parameter t as a map from pixels {row, column}, from 0, to weights; the rectangle it spans.
local function patch(w, t, width)
  local slots, pixels, box = w:cols() // 2, {}, { 1e9, -1, 1e9, -1 }
  for k = 1, slots do
    local column = math.tointeger(w:get(t, k))
    if column > 0 then
      local row, at = (column - 1) // width, (column - 1) % width
      pixels[row * 1000 + at] = w:get(t, slots + k)
      box = { math.min(box[1], row), math.max(box[2], row), math.min(box[3], at),
        math.max(box[4], at) }
    end
  end
  return pixels, box
end

local function count(list)
  local n = 0
  for _ in pairs(list) do n = n + 1 end
  return n
end

function TestPatchesAreRectangles()
  local T, x = 3000, sc.randn{ 2, 6 * 9, seed = 1 }
  local w = sc.features{ p = sc.sampler.patches{ image = { 6, 9 }, side = { 2, 4 }, sigma = 3 },
    phi = sc.nonlinearity.relu(), T = T, seed = 7 }:fit(x):parameters()
  local seen, square, corners = {}, 0, {}
  for t = 1, T do
    local pixels, box = patch(w, t, 9)
    local height, width = box[2] - box[1] + 1, box[4] - box[3] + 1
    lu.assertEquals(count(pixels), height * width)
    lu.assertTrue(height >= 2 and height <= 4 and width >= 2 and width <= 4)
    seen[height .. " x " .. width] = (seen[height .. " x " .. width] or 0) + 1
    if height == 4 and width == 4 then corners[box[1] .. " " .. box[3]] = true end
    for _, value in pairs(pixels) do square = square + value ^ 2 end
  end
  for sides, n in pairs(seen) do -- each with probability 1/9
    lu.assertTrue(math.abs(n - T / 9) < 5 * math.sqrt(T * 8 / 81), sides .. ": " .. n)
  end
  lu.assertEquals(count(corners), 3 * 6)
  lu.assertAlmostEquals(square / T, 9, 5 * 9 * math.sqrt(2 / (4 * T)))
end

-- Scalar k is the patch moved by k's offset: its weights stay, without those that fall off.
function TestShiftMovesThePatch()
  local T, q, x = 40, 9, sc.randn{ 3, 8 * 8, seed = 1 }
  local sampler = sc.sampler.patches{ side = { 2, 5 }, shift = 2 }
  local feats = sc.features{ p = sampler, phi = sc.nonlinearity.maxout{ q = q }, T = T, seed = 3 }
  local phi, w = feats:transform(x), feats:parameters()
  local offsets = { { 0, 0 }, { -1, 0 }, { 0, -1 }, { 0, 1 }, { 1, 0 }, { -1, -1 }, { -1, 1 },
    { 1, -1 }, { 1, 1 } }
  lu.assertEquals(w:rows(), T * q)
  for t = 1, T do
    local first = patch(w, t, 8)
    for k = 1, q do
      local expected = {}
      for place, value in pairs(first) do
        local row, column = place // 1000 + 2 * offsets[k][1], place % 1000 + 2 * offsets[k][2]
        if row >= 0 and row < 8 and column >= 0 and column < 8 then
          expected[row * 1000 + column] = value
        end
      end
      lu.assertEquals(patch(w, (k - 1) * T + t, 8), expected)
    end
    for i = 1, x:rows() do
      local largest = -math.huge
      for k = 1, q do
        local z = 0
        for place, value in pairs(patch(w, (k - 1) * T + t, 8)) do
          z = z + value * x:get(i, place // 1000 * 8 + place % 1000 + 1)
        end
        largest = math.max(largest, z)
      end
      lu.assertAlmostEquals(phi:get(i, t) * math.sqrt(T), largest, 1e-12)
    end
  end
end

function TestWithoutShiftScalarsAreIndependent()
  local feats = sc.features{ p = sc.sampler.patches(), phi = sc.nonlinearity.maxout{ q = 2 },
    T = 30, seed = 3 }:fit(sc.randn{ 3, 64, seed = 1 })
  local w, same = feats:parameters(), 0
  for t = 1, 30 do
    local _, a = patch(w, t, 8)
    local _, b = patch(w, 30 + t, 8)
    same = same + (table.concat(a, " ") == table.concat(b, " ") and 1 or 0)
  end
  lu.assertTrue(same < 10)
end

-- Blocks of different numbers of features, and threads, draw the same patches.
function TestMoreParametersBeginWithTheSame()
  local function of(T)
    return sc.features{ p = sc.sampler.patches(), phi = sc.nonlinearity.relu(), T = T,
      seed = 3 }:fit(sc.randn{ 3, 64, seed = 1 }):parameters()
  end
  lu.assertTrue(of(500):slice(1, 70) == of(70))
end

function TestWhatDoesNotFitIsSaid()
  local function fails(text, options, columns)
    local ok, message = pcall(function()
      sc.features{ p = sc.sampler.patches(options), phi = sc.nonlinearity.relu(), T = 3,
        seed = 1 }:fit(sc.randn{ 3, columns or 64, seed = 1 })
    end)
    lu.assertFalse(ok)
    lu.assertStrContains(tostring(message), text)
  end
  fails("the data have 65 columns, and images of 8 x 8 pixels have 64: give image =", {}, 65)
  fails("images of 4 x 5 pixels have 20", { image = { 4, 5 } })
  fails("asks for patches of 9 pixels, and images have 8 x 8", { side = 9 })
  fails("{low, high} with low <= high", { side = { 3, 2 } })
  fails("two whole numbers, {height, width}", { image = { 8 } })
  fails("two whole numbers, {height, width}", { image = { 8.5, 8 } })
end

os.exit(lu.LuaUnit.run(), true)
