--- Colours as codes of a terminal of 256 colours, and texts with escape sequences.
local colours = require "scullery.plot.colours"

local ink = {}

local LIGHT_TEXT, DARK_TEXT = 231, 16
local BLACK = 246 -- grey in place of black, which a dark terminal does not show
local LIGHTER = 1.15 -- lines are thin: on a dark terminal the series' own colours are too dark

-- Levels of the 6 x 6 x 6 cube from code 16 on.
local LEVELS = { 0, 95, 135, 175, 215, 255 }

-- The number, from 0, of the level nearest to a value.
local function nearest_level(value)
  local best = 1
  for i, level in ipairs(LEVELS) do
    if math.abs(level - value) < math.abs(LEVELS[best] - value) then best = i end
  end
  return best - 1
end

-- The code of the cube's colour nearest to this one, red, green and blue in 0 .. 255.
local function code_of(red, green, blue)
  return 16 + 36 * nearest_level(red) + 6 * nearest_level(green) + nearest_level(blue)
end

--- ink.series(colour): the code of the colour of series 1, 2, ...
function ink.series(colour)
  local red, green, blue = colours.rgb(colour)
  local code = code_of(LIGHTER * red, LIGHTER * green, LIGHTER * blue)
  return code == 16 and BLACK or code
end

--- ink.ramp(share): the code of the heatmap's colour at a share of its range, in [0, 1], and the
--- code of a readable text on it.
function ink.ramp(share)
  local red, green, blue = colours.at(share)
  return code_of(red, green, blue), colours.is_dark(red, green, blue) and LIGHT_TEXT or DARK_TEXT
end

local Spans = {}
Spans.__index = Spans

--- ink.spans(): builds a line: spans:add(text[, colour[, paper]]) appends a text in a colour on a
--- background, spans:text() returns the line. An escape sequence is written only at a change.
function ink.spans() return setmetatable({ parts = {} }, Spans) end

function Spans:add(text, colour, paper)
  if text == " " or not colour then colour = nil end
  if colour ~= self.colour or paper ~= self.paper then
    local codes = {}
    if self.colour or self.paper then codes[1] = "0" end
    if colour then codes[#codes + 1] = "38;5;" .. colour end
    if paper then codes[#codes + 1] = "48;5;" .. paper end
    self.parts[#self.parts + 1] = "\27[" .. table.concat(codes, ";") .. "m"
    self.colour, self.paper = colour, paper
  end
  self.parts[#self.parts + 1] = text
end

function Spans:text()
  self:add("")
  return table.concat(self.parts)
end

return ink
