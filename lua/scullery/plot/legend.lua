--- Where gnuplot puts the legend of a panel: below where it is one row or the panel is narrow, on
--- the right elsewhere, or nowhere where it would take most of the room.
local text = require "scullery.base.text"

local legend = {}

--- legend.LABEL_MOST: columns of text of an entry.
legend.LABEL_MOST = 32
--- legend.PIXELS: of a column of text in the font of the picture.
legend.PIXELS = 8.5

local SAMPLE, ROW = 50, 18   -- pixels of an entry's line or marker, and of its height
local RIGHT_FROM = 480       -- pixels of a panel that may have its legend on the right
local MOST_WIDTH, MOST_HEIGHT = 0.6, 0.4 -- shares of the panel

local function entries(panel)
  local count, longest = 0, 0
  for _, layer in ipairs(panel.layers) do
    if layer.label then
      count, longest = count + 1, math.max(longest, text.width(layer.label))
    end
  end
  return count, SAMPLE + math.min(longest, legend.LABEL_MOST) * legend.PIXELS
end

--- legend.of(panel, size): gnuplot's command; the pixels that it takes on the right, 0 below; and a
--- note where there should be one and no room is. size = { width =, height = }: of the panel, in
--- pixels.
function legend.of(panel, size)
  if not panel.legend then return "unset key", 0 end
  local count, width = entries(panel)
  local style = "Left reverse samplen 2.5"
  local one_row = count * width <= size.width - 100 and not panel.equal
  if size.width >= RIGHT_FROM and not one_row then
    width = width * math.ceil(count / math.max(1, (size.height - 60) // ROW))
    if width <= MOST_WIDTH * size.width then
      return "set key outside right top vertical " .. style, width
    end
  elseif math.ceil(count / math.max(1, size.width // width)) * ROW <= MOST_HEIGHT * size.height then
    return "set key outside bottom center horizontal " .. style, 0
  end
  return "unset key", 0, ("there is no room for the legend of %d entries"):format(count)
end

return legend
