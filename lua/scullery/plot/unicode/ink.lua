--- Colours of a terminal of 256: those of series, shades from low to high, and texts in them.
local ink = {}

-- Okabe and Ito's colours, as near as the 6 x 6 x 6 cube has them and light enough for a dark
-- terminal: blue, orange, green, vermilion, purple, sky blue, yellow, grey for their black.
local SERIES = { 32, 214, 36, 166, 175, 117, 227, 246 }

-- From low to high, as viridis: lightness rises all the way, so that it reads without hue too.
local RAMP = { 53, 60, 24, 30, 36, 35, 71, 113, 149, 227 }
local DARK = 5 -- the first so many want light texts on them
local LIGHT_TEXT, DARK_TEXT = 231, 16

--- ink.series(colour): the code of series 1, 2, ...
function ink.series(colour) return SERIES[(colour - 1) % #SERIES + 1] end

--- ink.ramp(share): the code of a value at a share of its range, in [0, 1], and that of text on it.
function ink.ramp(share)
  local place = math.min(#RAMP, 1 + math.floor(share * #RAMP))
  return RAMP[place], place <= DARK and LIGHT_TEXT or DARK_TEXT
end

local Spans = {}
Spans.__index = Spans

--- ink.spans(): a line in the making: spans:add(text[, colour[, paper]]), spans:text().
function ink.spans() return setmetatable({ parts = {} }, Spans) end

function Spans:add(text, colour, paper)
  if text == " " then colour = nil end
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
