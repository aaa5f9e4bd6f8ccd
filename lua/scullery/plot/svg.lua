--- What gnuplot's SVG lacks: fonts to fall back on, the picture's title, and ids that are unique on
--- a page with several pictures; and what it has too much of.
local compact = require "scullery.plot.compact"

local svg = {}

local FONTS = "'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif"
local escapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

-- A name made of the text: another for another text.
local function name_of(text)
  local hash = 0xcbf29ce484222325 -- FNV-1a, 64 bits
  for i = 1, #text do hash = (hash ~ text:byte(i)) * 0x100000001b3 end
  return ("s%016x"):format(hash)
end

-- The tag with ids that belong to the picture of this name, and fonts to fall back on.
local function finish_tag(tag, name)
  tag = tag:gsub(" id=(['\"])([^'\"]+)%1", ' id="' .. name .. '_%2"')
  tag = tag:gsub("href=(['\"])#([^'\"]+)%1", 'href="#' .. name .. '_%2"')
  tag = tag:gsub("url%(#([^)]+)%)", "url(#" .. name .. "_%1)")
  return (tag:gsub('font%-family="DejaVu Sans"', 'font-family="' .. FONTS .. '"'))
end

--- svg.finish(text, figure): gnuplot's SVG, made fit for any page. gnuplot escapes "<" and "&" of
--- texts alone: "]]>" within one is no XML, so ">" is escaped here.
function svg.finish(text, figure)
  local name = name_of(text)
  local title = (figure.title or figure.panels[1].title or "figure"):gsub('[&<>"]', escapes)
  text = text:gsub("<title>[^<]*</title>", function()
    return "<title>" .. title .. "</title>"
  end, 1)
  text = text:gsub("\n<desc>[^<]*</desc>", "", 1)
  text = text:gsub("\xef\xbf[\xbe\xbf]", "\u{fffd}") -- XML takes no U+FFFE and U+FFFF
  return compact.svg((text:gsub("(<[^<>]*>)([^<]*)", function(tag, shown)
    return finish_tag(tag, name) .. shown:gsub(">", "&gt;")
  end)))
end

--- svg.inline(text): the element alone, without what stands before it in a file.
function svg.inline(text) return (text:sub(text:find("<svg", 1, true) or 1)) end

return svg
