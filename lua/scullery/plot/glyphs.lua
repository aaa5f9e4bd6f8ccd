--- Characters that gnuplot can draw with any font: those of DejaVu Sans. For other characters
--- gnuplot's cairo terminals draw black patches over the whole picture.
local glyphs = {}

-- First and last code points of the blocks of DejaVu Sans from which labels are likely to come.
local ranges = { { 0x20, 0x2e9 }, { 0x300, 0x34f }, { 0x384, 0x38a }, { 0x38e, 0x3a1 },
  { 0x3a3, 0x525 }, { 0x531, 0x556 }, { 0x561, 0x587 }, { 0x5d0, 0x5ea }, { 0x621, 0x63a },
  { 0x640, 0x655 }, { 0x10d0, 0x10fc }, { 0x1e00, 0x1efb }, { 0x2000, 0x2064 }, { 0x2070, 0x2071 },
  { 0x2074, 0x208e }, { 0x2090, 0x209c }, { 0x20a0, 0x20b5 }, { 0x2100, 0x2109 },
  { 0x210b, 0x2149 }, { 0x2150, 0x2185 }, { 0x2190, 0x2311 }, { 0x2500, 0x269c },
  { 0x270c, 0x2727 }, { 0x27f0, 0x28ff }, { 0xfffd, 0xfffd } }

--- glyphs.drawable(text): the text with "□" in place of characters that may lack a glyph.
function glyphs.drawable(text)
  return (text:gsub(utf8.charpattern, function(character)
    if #character == 1 then return nil end
    local code = utf8.codepoint(character)
    for _, range in ipairs(ranges) do
      if code >= range[1] and code <= range[2] then return nil end
    end
    return "□"
  end))
end

return glyphs
