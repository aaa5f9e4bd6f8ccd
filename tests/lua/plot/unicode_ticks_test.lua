-- Ticks of pictures in Unicode: their texts say their values, shortly.
local lu = require "luaunit"
local scale = require "scullery.plot.unicode.scale"

-- What a tick's text says: in units, less an offset.
local function said(ticks, text)
  return tonumber(text) * (tonumber(ticks.times) or 1) + (tonumber(ticks.less) or 0)
end

function TestTicksSayTheirValues()
  for seed = 1, 2000 do
    math.randomseed(seed)
    local size = 10 ^ math.random(-300, 300)
    local axis = { low = (math.random() - 0.5) * size }
    axis.high = axis.low + size * 10 ^ -math.random(0, 9) * (0.1 + math.random())
    if seed % 3 == 0 then
      axis = { log = true, low = size,
        high = size * 10 ^ (0.3 + math.random() * math.random(0, 7)) }
    end
    local ticks, most = scale.ticks(axis, math.random(10)), 0
    local message = ("seed %d, %.17g .. %.17g"):format(seed, axis.low, axis.high)
    lu.assertTrue(#ticks >= 2, message)
    local span = axis.high - axis.low
    for i, tick in ipairs(ticks) do
      lu.assertTrue(tick.value >= axis.low - 1e-6 * span and tick.value <= axis.high + 1e-6 * span,
        message)
      lu.assertTrue(i == 1 or tick.value > ticks[i - 1].value, message)
      lu.assertTrue(math.abs(said(ticks, tick.text) - tick.value) <= 1e-6 * span, message
        .. ": " .. tick.text)
      most = math.max(most, #tick.text)
    end
    lu.assertTrue(most <= 10, message .. ": labels are short")
  end
end

os.exit(lu.LuaUnit.run())
