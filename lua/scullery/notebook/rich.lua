--- Values as a notebook shows them: a table of media types and texts.
local display = require "scullery.prompt.display"
local figures = require "scullery.plot.figure"
local valid = require("scullery.base.text").valid

local rich = {}

local WIDTH = 100 -- columns of a cell's output
local MOST_SVG, MOST_MESSAGE = 4000000, 10000 -- bytes

--- rich.utf8(text): the text for JSON: bytes that are not UTF-8 as U+FFFD, zero bytes as U+2400.
function rich.utf8(text)
  return (valid(text, "\u{FFFD}"):gsub("\0", "\u{2400}"))
end

--- rich.message(raised): the text of an error, cut if it is long, for JSON.
function rich.message(raised)
  local ok, text = pcall(tostring, raised)
  if not ok then text = "an error that is a " .. type(raised) end
  if #text > MOST_MESSAGE then text = text:sub(1, MOST_MESSAGE) .. "..." end
  return rich.utf8(text)
end

--- rich.figure(figure): its picture, as SVG where there is gnuplot, and in Unicode.
function rich.figure(figure)
  local text, svg = figure:text{ width = WIDTH }, figure:svg()
  if svg and #svg > MOST_SVG then svg = nil end
  return { ["text/plain"] = rich.utf8(text), ["image/svg+xml"] = svg and rich.utf8(svg) or nil }
end

--- rich.result(values): the output for a cell's values (from table.pack): the same text as at the
--- prompt; a single figure as its picture.
function rich.result(values)
  if values.n == 1 and figures.is(values[1]) then return rich.figure(values[1]) end
  return { ["text/plain"] = rich.utf8(display.values(values, { width = WIDTH })) }
end

--- rich.on_show(f): makes figure:show() call f(figure).
function rich.on_show(f) figures.shown_by(f) end

return rich
