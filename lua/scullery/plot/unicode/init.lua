--- Pictures in characters, for a terminal or a text file. This is one of the two back ends of plot/
--- (the other writes scripts for gnuplot): it draws the description of a figure that plot.figure
--- makes.
local glyphs = require "scullery.plot.unicode.glyphs"
local text = require "scullery.base.text"
local core = require "scullery.core"

local unicode = {}

local WIDTH, HEIGHT = 80, 20            -- columns and lines of a picture by default
local LEAST_WIDTH, LEAST_HEIGHT = 20, 8
local MOST_WIDTH = 10000
local PANEL_WIDTH = 36 -- least columns of panels that are drawn side by side
local GAP = 3          -- columns between them

-- The name of the module that draws a panel: "heatmap"; "bars" if all layers are bars by name; else
-- "xy".
local function drawer_of(panel)
  local count = {}
  for _, layer in ipairs(panel.layers) do count[layer.kind] = (count[layer.kind] or 0) + 1 end
  if count.cells then return "heatmap" end
  local alone = count.bars and not count.line and not count.points
  return alone and panel.x.categories and "bars" or "xy"
end

-- The panel without faint lines, because characters are too coarse for them.
local function without_faint(panel)
  local kept, count = {}, 0
  for _, layer in ipairs(panel.layers) do
    if layer.faint then count = count + 1 else kept[#kept + 1] = layer end
  end
  if count == 0 then return panel end
  return setmetatable({ layers = kept, legend = panel.legend and #kept > 1 }, { __index = panel })
end

-- The picture of one panel, as a list of lines (see frame.assemble).
local function block_of(panel, o)
  panel = without_faint(panel)
  return require("scullery.plot.unicode." .. drawer_of(panel)).block(panel, o)
end

-- The pictures of panels first .. last, which will be side by side. Canvases whose height is free
-- are drawn again with the height of the lowest, and get empty lines above so that they begin
-- together.
local function row_of(panels, first, last, o)
  local blocks, rows, head = {}, math.huge, 0
  for k = first, last do
    local block = block_of(panels[k], o)
    blocks[#blocks + 1] = block
    rows, head = math.min(rows, block.rows or rows), math.max(head, block.head)
  end
  for k, block in ipairs(blocks) do
    if block.rows and block.rows > rows then
      block = block_of(panels[first + k - 1], { width = o.width, colour = o.colour, rows = rows })
      blocks[k] = block
    end
    for _ = block.head + 1, head do
      table.insert(block, block.title + 1, { text = "", width = 0 })
    end
  end
  return blocks
end

-- Appends blocks side by side, each `width` columns wide, as lines of text.
local function beside(blocks, width, lines)
  local most = 0
  for _, block in ipairs(blocks) do most = math.max(most, #block) end
  for i = 1, most do
    local parts, used = {}, 0
    for k, block in ipairs(blocks) do
      local line, start = block[i], (k - 1) * (width + GAP)
      if line and line.text ~= "" then
        parts[#parts + 1] = (" "):rep(start - used) .. line.text
        used = start + line.width
      end
    end
    lines[#lines + 1] = table.concat(parts)
  end
end

--- unicode.must_be_ascii(): true if standard output is a terminal in a locale without UTF-8. Files
--- and pipes get UTF-8 in any locale.
function unicode.must_be_ascii() return core.terminal().output and not core.locale_is_utf8() end

--- unicode.text(figure[, { width = 80, height = 20, colour = false, ascii = false }]): the picture
--- of a figure as a text, with lines of at most `width` columns (20 or more). height: the lines of
--- each row of panels; a panel without room for its data is higher. colour: true adds escape
--- sequences for terminals of 256 colours. ascii: true for ASCII characters only.
function unicode.text(figure, o)
  o = o or {}
  local width = math.max(LEAST_WIDTH, math.min(o.width or WIDTH, MOST_WIDTH))
  local panels, lines = figure.panels, {}
  local across = math.max(1, math.min(#panels, figure.columns or #panels,
    (width + GAP) // (PANEL_WIDTH + GAP)))
  local each = { width = (width - GAP * (across - 1)) // across, colour = o.colour,
    height = math.max(LEAST_HEIGHT, math.min(o.height or HEIGHT, MOST_WIDTH)) }
  for _, line in ipairs(text.wrap(figure.title or "", width)) do
    lines[#lines + 1] = (text.pad(line, width, "centre"):gsub(" +$", ""))
  end
  for first = 1, #panels, across do
    if #lines > 0 then lines[#lines + 1] = "" end
    local last = math.min(first + across - 1, #panels)
    beside(row_of(panels, first, last, each), each.width, lines)
  end
  local picture = table.concat(lines, "\n")
  return o.ascii and glyphs.ascii(picture) or picture
end

return unicode
