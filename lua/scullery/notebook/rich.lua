--- Values as a notebook shows them: a table of media types and texts.
local figures = require "scullery.plot.figure"

local rich = {}

-- What a browser still shows at once, in bytes.
local MOST_TEXT, MOST_SVG = 1000000, 4000000

--- rich.utf8(text): the text as JSON takes it: bytes that are no UTF-8 as U+FFFD, zero bytes as
--- U+2400.
function rich.utf8(text)
  if utf8.len(text) and not text:find("\0", 1, true) then return text end
  local parts, from = {}, 1
  while from <= #text do
    local _, bad = utf8.len(text, from)
    parts[#parts + 1] = text:sub(from, (bad or #text + 1) - 1)
    if not bad then break end
    parts[#parts + 1] = "\u{FFFD}"
    from = bad + 1
  end
  return (table.concat(parts):gsub("\0", "\u{2400}"))
end

--- rich.message(raised): the text of an error.
function rich.message(raised)
  if type(raised) == "string" then return raised end
  local ok, text = pcall(tostring, raised)
  return ok and text or "an error that is a " .. type(raised)
end

-- A text that ends where a browser would stop to be of use.
local function limited(text)
  if #text <= MOST_TEXT then return text end
  return ("%s\n[%d more bytes are not shown]"):format(text:sub(1, MOST_TEXT), #text - MOST_TEXT)
end

--- rich.figure(figure): its picture, as SVG where there is gnuplot, and in Unicode.
function rich.figure(figure)
  local text, svg = figure:text{ colour = false }, figure:svg()
  if svg and #svg > MOST_SVG then svg = nil end
  return { ["text/plain"] = rich.utf8(text), ["image/svg+xml"] = svg and rich.utf8(svg) or nil }
end

--- rich.result(values): what a cell's values (table.pack'ed) print as: as at the prompt, and one
--- figure as its picture.
function rich.result(values)
  if values.n == 1 and figures.is(values[1]) then return rich.figure(values[1]) end
  local display, texts = require "scullery.display", {}
  for i = 1, values.n do texts[i] = display.text(values[i], { width = 100, colour = false }) end
  return { ["text/plain"] = rich.utf8(limited(table.concat(texts, "\t"))) }
end

--- rich.on_show(f): figure:show() calls f(figure) from now on.
function rich.on_show(f) figures.shown_by(f) end

return rich
