--- Texts in pictures: one line of valid UTF-8 without control characters, of a length that fits.
local texts = {}

local MOST = 200 -- characters of any text

-- A character that neither a terminal nor XML can take.
local function is_bad(code)
  return code < 0x20 or code >= 0x7f and code < 0xa0 or code >= 0xd800 and code < 0xe000
    or code & 0xfffe == 0xfffe or code == 0x2028 or code == 0x2029
    or code >= 0x200e and code <= 0x200f or code >= 0x202a and code <= 0x202e -- writing direction
    or code >= 0x2066 and code <= 0x2069
end

-- A text as a list of characters; bytes that are no UTF-8 come as U+FFFD.
local function characters(text, most)
  local list, place = {}, 1
  while place <= #text and #list < most do
    if utf8.len(text, place, place) then
      local code = utf8.codepoint(text, place)
      local next_place = utf8.offset(text, 2, place)
      list[#list + 1] = is_bad(code) and " " or text:sub(place, next_place - 1)
      place = next_place
    else
      list[#list + 1] = "\u{fffd}"
      place = place + 1
    end
  end
  return list, place <= #text
end

--- texts.cut(text, most): at most so many characters, with an ellipsis where it was longer.
function texts.cut(text, most)
  local list, more = characters(text, most)
  if more then list[most] = "…" end
  return table.concat(list)
end

--- texts.clean(text): one line without control characters, valid UTF-8, of at most 200 characters.
function texts.clean(text) return texts.cut(text, MOST) end

--- texts.length(text): its characters.
function texts.length(text) return utf8.len(text) or #text end

--- texts.of(value): a text, number or boolean as text; nil for anything else.
function texts.of(value)
  local kind = type(value)
  if kind == "string" then return texts.clean(value) end
  if kind == "number" then return ("%.6g"):format(value) end
  if kind == "boolean" then return tostring(value) end
end

return texts
