--- The characters of pictures, and the ASCII characters that replace them.
local core = require "scullery.core"

local glyphs = {}

glyphs.line, glyphs.rule, glyphs.band = "──", "╌", "░"
glyphs.rule_across, glyphs.rule_down = "╌", "╎"
glyphs.whisker = { top = "┬", middle = "│", bottom = "┴" }
glyphs.whisker_flat = { first = "├", middle = "─", last = "┤", value = "┼" }
glyphs.missing = "·"

--- glyphs.from_below, glyphs.from_left: a cell filled from below or from the left, by 1 to 8
--- eighths.
glyphs.from_below = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }
glyphs.from_left = { "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" }
glyphs.upper_half = "▀"

--- glyphs.shades: the shades of a heatmap from its lowest value to its highest.
glyphs.shades = { " ", "░", "▒", "▓", "█" }

local SHAPES = { "●", "■", "▲", "◆", "○", "□", "△", "◇" }
local BANDS = { "░", "∙", "▒", ":" }
local FILLS = { "█", "▒", "░", "▓" }

--- glyphs.mark(colour): the mark of series 1, 2, ...: eight shapes, then the letters a to z and A
--- to Z, then the shapes again.
function glyphs.mark(colour)
  local place = (colour - 1) % (#SHAPES + 52)
  if place < #SHAPES then return SHAPES[place + 1] end
  place = place - #SHAPES
  return string.char(place < 26 and 97 + place or 65 + place - 26)
end

--- glyphs.shading(place): the shade of the 1st, 2nd, ... error band of a panel.
function glyphs.shading(place) return BANDS[(place - 1) % #BANDS + 1] end

--- glyphs.fill(place): the character that fills the bars of the 1st, 2nd, ... series of a panel.
function glyphs.fill(place) return FILLS[(place - 1) % #FILLS + 1] end

-- ------------ ASCII

local ascii = { ["…"] = "~", ["×"] = "x", ["·"] = "?", ["∙"] = ",", ["─"] = "-", ["╌"] = "-",
  ["│"] = "|", ["╎"] = ":", ["┤"] = "+", ["├"] = "+", ["┬"] = "+", ["┴"] = "+", ["└"] = "+",
  ["┼"] = "X",
  ["●"] = "*", ["■"] = "#", ["▲"] = "^", ["◆"] = "@", ["○"] = "o", ["□"] = "%", ["△"] = "&",
  ["◇"] = "$", ["░"] = ".", ["▒"] = "=", ["▓"] = "%", ["█"] = "#", ["▀"] = "\"" }
for i, c in ipairs(glyphs.from_below) do ascii[c] = i < 3 and "_" or i < 6 and "=" or "#" end
for i, c in ipairs(glyphs.from_left) do ascii[c] = i < 5 and "|" or "#" end

--- glyphs.ascii(text): a picture in ASCII, for terminals without UTF-8. Characters that have no
--- replacement become "?" in each of their columns.
function glyphs.ascii(text)
  return (text:gsub("[\xC2-\xF4][\x80-\xBF]+", function(character)
    local code = utf8.codepoint(character)
    if ascii[character] then return ascii[character] end
    if code >= 0x2800 and code < 0x2900 then -- braille dots: in the first row, the last, both
      local first, last = code & 0x09 ~= 0, code & 0xC0 ~= 0
      return first and last and ":" or first and "'" or last and "_" or "-"
    end
    return ("?"):rep(core.text_width("a" .. character) - 1) -- some combine with what is before
  end))
end

return glyphs
