--- Values as a notebook shows them: a table of media types and texts.
local display = require "scullery.prompt.display"
local figures = require "scullery.plot.figure"
local html = require "scullery.notebook.html"
local options = require "scullery.base.options"
local valid = require("scullery.base.text").valid

local rich = {}

rich.WIDTH = 79 -- columns of a cell's output
local MOST_PICTURE, MOST_MESSAGE = 4000000, 10000 -- bytes

--- rich.utf8(text): the text for JSON: bytes that are not UTF-8 as U+FFFD, zero bytes as U+2400.
function rich.utf8(text)
  return (valid(text, "\u{FFFD}"):gsub("\0", "\u{2400}"))
end

--- rich.message(raised): the text of an error, cut if it is long, for JSON. Places in cells are
--- "cell 3, line 1".
function rich.message(raised)
  local ok, text = pcall(tostring, raised)
  if not ok then text = "an error that is a " .. type(raised) end
  if #text > MOST_MESSAGE then text = text:sub(1, MOST_MESSAGE) .. "..." end
  return rich.utf8((text:gsub("(%f[%w]cell %d+):(%d+):", "%1, line %2:")))
end

local letters = {}
for letter in ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"):gmatch(".") do
  letters[#letters + 1] = letter
end

--- rich.base64(bytes): the bytes as text of RFC 4648.
function rich.base64(bytes)
  local parts = {}
  for at = 1, #bytes, 3 do
    local a, b, c = bytes:byte(at, at + 2)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    parts[#parts + 1] = letters[(bits >> 18) + 1] .. letters[(bits >> 12 & 63) + 1]
      .. (b and letters[(bits >> 6 & 63) + 1] or "=") .. (c and letters[(bits & 63) + 1] or "=")
  end
  return table.concat(parts)
end

-- The picture as PNG in base64, nil where it cannot be drawn.
local function png_of(figure)
  local draw = require("scullery.plot.gnuplot").draw
  local ok, png = options.attempt(draw, figure, "small_png")
  return ok and #png <= MOST_PICTURE and rich.base64(png) or nil
end

--- rich.figure(figure): its picture in Unicode and, where there is gnuplot, as SVG and as PNG,
--- which is what a notebook that is not trusted shows.
function rich.figure(figure)
  local text, svg = figure:text{ width = rich.WIDTH }, figure:svg()
  if svg and #svg > MOST_PICTURE then svg = nil end
  return { ["text/plain"] = rich.utf8(text), ["image/svg+xml"] = svg and rich.utf8(svg) or nil,
    ["image/png"] = svg and png_of(figure) or nil }
end

--- rich.result(values): the output for a cell's values (from table.pack): the same text as at the
--- prompt, and as HTML where a table is in it; a single figure as its picture.
function rich.result(values)
  if values.n == 1 and figures.is(values[1]) then return rich.figure(values[1]) end
  local text, tables = html.with_tables(display.values, values, { width = rich.WIDTH })
  local page
  if values.n == 1 then page = html.of_value(values[1], text) or html.of_text(text, tables) end
  return { ["text/plain"] = rich.utf8(text), ["text/html"] = page and rich.utf8(page) or nil }
end

--- rich.on_show(f): makes figure:show() call f(figure).
function rich.on_show(f) figures.shown_by(f) end

return rich
