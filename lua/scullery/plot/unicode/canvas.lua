--- A rectangle of character cells on which the pictures of this folder are drawn. A cell has three
--- layers: a character below (shades, bars, rules), 2 x 4 braille dots (lines, points), a character
--- above (marks, texts); it shows the topmost. Columns, rows and dots are counted from 0 at the top
--- left.
local core = require "scullery.core"
local ink = require "scullery.plot.unicode.ink"

local canvas = {}

local Canvas = {}
Canvas.__index = Canvas

--- canvas.new(columns, rows): an empty canvas. Its tables are indexed by row * columns + column:
--- characters, dots and background (paper) of cells, and their colours (_ink). written: the cells
--- that texts cover.
function canvas.new(columns, rows)
  return setmetatable({ columns = columns, rows = rows, dots = {}, dots_ink = {}, under = {},
    under_ink = {}, over = {}, over_ink = {}, paper = {}, written = {} }, Canvas)
end

-- The bit of dot (x & 1, y & 3) in the characters from U+2800 on, at (y & 3) * 2 + (x & 1).
local BITS = { [0] = 0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80 }

--- canvas:dot(x, y[, colour]): sets a dot, x in 0 .. 2 columns - 1, y in 0 .. 4 rows - 1. colour:
--- the code of a terminal of 256 colours, here and below.
function Canvas:dot(x, y, colour)
  local at = (y >> 2) * self.columns + (x >> 1)
  local dots = self.dots
  dots[at] = (dots[at] or 0) | BITS[(y & 3) << 1 | x & 1]
  self.dots_ink[at] = colour
end

--- canvas:segment(x0, y0, x1, y1[, colour, period]): sets the dots on the line between two dots,
--- both included, by Bresenham's algorithm. period: k sets each k-th dot only, for dashed lines.
function Canvas:segment(x0, y0, x1, y1, colour, period)
  local dx, dy = math.abs(x1 - x0), -math.abs(y1 - y0)
  local step_x, step_y = x0 < x1 and 1 or -1, y0 < y1 and 1 or -1
  local off, count, dots, inks, columns = dx + dy, 0, self.dots, self.dots_ink, self.columns
  period = period or 1
  while true do
    if count % period == 0 then -- as canvas:dot, without a call for each of millions
      local at = (y0 >> 2) * columns + (x0 >> 1)
      dots[at] = (dots[at] or 0) | BITS[(y0 & 3) << 1 | x0 & 1]
      inks[at] = colour
    end
    if x0 == x1 and y0 == y1 then return end
    local twice = 2 * off
    if twice >= dy then off, x0 = off + dy, x0 + step_x end
    if twice <= dx then off, y0 = off + dx, y0 + step_y end
    count = count + 1
  end
end

--- canvas:put_under(column, row, glyph[, colour, paper]): a character of one column below the dots.
--- paper: the colour of the cell's background.
function Canvas:put_under(column, row, glyph, colour, paper)
  local at = row * self.columns + column
  self.under[at], self.under_ink[at], self.paper[at] = glyph, colour, paper
end

--- canvas:put_over(column, row, glyph[, colour]): a character of one column above the dots.
function Canvas:put_over(column, row, glyph, colour)
  local at = row * self.columns + column
  self.over[at], self.over_ink[at] = glyph, colour
end

--- canvas:write(column, row, text[, colour]): writes a text above the dots and returns true; writes
--- nothing and returns false if it would leave the canvas or overlap a text written before.
function Canvas:write(column, row, text, colour)
  local pieces, widths = core.text_pieces(text)
  local columns = 0
  for _, width in ipairs(widths) do columns = columns + width end
  if column < 0 or column + columns > self.columns then return false end
  for c = column, column + columns - 1 do
    if self.written[row * self.columns + c] then return false end
  end
  for c = column, column + columns - 1 do self.written[row * self.columns + c] = true end
  for i, piece in ipairs(pieces) do
    self:put_over(column, row, piece, colour)
    for c = column + 1, column + widths[i] - 1 do self:put_over(c, row, "", colour) end
    column = column + widths[i]
  end
  return true
end

-- The visible character of a cell and its colour.
local function cell(self, at)
  if self.over[at] then return self.over[at], self.over_ink[at] end
  if self.dots[at] then return utf8.char(0x2800 + self.dots[at]), self.dots_ink[at] end
  return self.under[at] or " ", self.under_ink[at]
end

--- canvas:lines(): a list of { text =, width = columns }, one for each row, without the empty cells
--- at its end.
function Canvas:lines()
  local lines = {}
  for row = 0, self.rows - 1 do
    local spans, first, width = ink.spans(), row * self.columns, self.columns
    while width > 0 and not self.paper[first + width - 1]
      and cell(self, first + width - 1) == " " do width = width - 1 end
    for at = first, first + width - 1 do
      local glyph, colour = cell(self, at)
      spans:add(glyph, colour, self.paper[at])
    end
    lines[row + 1] = { text = spans:text(), width = width }
  end
  return lines
end

return canvas
