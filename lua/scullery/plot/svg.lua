--- Changes to gnuplot's SVG: it gets fallback fonts, the picture's title, and ids that are unique
--- on a page with several pictures, and loses the declaration of XML, which says the defaults;
--- compact.lua makes it smaller.
local compact = require "scullery.plot.compact"

local svg = {}

local FONTS = "'DejaVu Sans', Verdana, sans-serif"
local escapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

-- A name for a picture: a hash of its text.
local function name_of(text)
  local hash = 0xcbf29ce484222325 -- FNV-1a, 64 bits
  for i = 1, #text do hash = (hash ~ text:byte(i)) * 0x100000001b3 end
  return ("s%016x"):format(hash)
end

-- A tag with the picture's name before each id and each reference to one, and with fallback fonts.
local function finish_tag(tag, name)
  tag = tag:gsub(" id=(['\"])([^'\"]+)%1", ' id="' .. name .. '_%2"')
  tag = tag:gsub("href=(['\"])#([^'\"]+)%1", 'href="#' .. name .. '_%2"')
  tag = tag:gsub("url%(#([^)]+)%)", "url(#" .. name .. "_%1)")
  return (tag:gsub('font%-family="DejaVu Sans"', 'font-family="' .. FONTS .. '"'))
end

--- svg.finish(text, figure): gnuplot's SVG, changed so that it can be put on any page. gnuplot
--- escapes only "<" and "&" in texts, but "]]>" in a text is not valid XML, so ">" is escaped here.
function svg.finish(text, figure)
  local name = name_of(text)
  local title = (figure.title or figure.panels[1].title or "figure"):gsub('[&<>"]', escapes)
  text = text:gsub("<title>[^<]*</title>", function()
    return "<title>" .. title .. "</title>"
  end, 1)
  text = text:gsub("^<%?xml.-%?>%s*", "")
  text = text:gsub("\n<desc>[^<]*</desc>", "", 1)
  text = text:gsub("\xef\xbf[\xbe\xbf]", "\u{fffd}") -- U+FFFE and U+FFFF are not allowed in XML
  return compact.svg((text:gsub("(<[^<>]*>)([^<]*)", function(tag, shown)
    return finish_tag(tag, name) .. shown:gsub(">", "&gt;")
  end)))
end

--- svg.inline(text): the element <svg> alone, without the declarations before it in a file.
function svg.inline(text) return (text:sub(text:find("<svg", 1, true) or 1)) end

return svg
