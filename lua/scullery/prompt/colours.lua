--- The colours of a statement that is being typed: keywords, numbers, strings and comments, and the
--- pair of the bracket at the cursor.
local tokens = require "scullery.prompt.tokens"

local colours = {}

-- SGR parameters by kind of token, and of brackets.
local STYLES = { keyword = "35", number = "36", string = "32", comment = "90" }
local PAIR, WRONG = "1;4", "31"
local CLOSED_BY = { ["("] = ")", ["{"] = "}", ["["] = "]" }
local OPENED_BY = { [")"] = "(", ["}"] = "{", ["]"] = "[" }

-- The place of the partner of each bracket; false for a closing one without a partner.
local function partners(list)
  local open, found = {}, {}
  for place, token in ipairs(list) do
    if token.kind == "symbol" and CLOSED_BY[token.text] then
      open[#open + 1] = place
    elseif token.kind == "symbol" and OPENED_BY[token.text] then
      local other = open[#open]
      if other and CLOSED_BY[list[other].text] == token.text then
        open[#open] = nil
        found[place], found[other] = other, place
      else
        found[place] = false
      end
    end
  end
  return found
end

-- Gives styles to the bracket before the cursor, or else the one behind it, and to its partner.
local function mark_pair(list, found, styles, cursor)
  local at
  for place, token in ipairs(list) do
    local bracket = token.kind == "symbol" and (CLOSED_BY[token.text] or OPENED_BY[token.text])
    if bracket and token.first == cursor then at = place end
    if bracket and token.first == cursor + 1 then at = at or place end
  end
  if at and found[at] then styles[at], styles[found[at]] = PAIR, PAIR end
end

--- colours.of(text, cursor): the text with escapes of colour; cursor: the number of bytes before
--- the cursor, nil for none. A command of the shell has no colours.
function colours.of(text, cursor)
  if text:find("^%s*!") then return text end
  local list, styles, parts, at = tokens.list(text), {}, {}, 1
  local found = partners(list)
  for place, token in ipairs(list) do
    styles[place] = found[place] == false and WRONG or STYLES[token.kind]
  end
  if cursor then mark_pair(list, found, styles, cursor) end
  for place, token in ipairs(list) do
    parts[#parts + 1] = text:sub(at, token.first - 1)
    parts[#parts + 1] = styles[place] and ("\27[%sm%s\27[0m"):format(styles[place], token.text)
      or token.text
    at = token.last + 1
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts)
end

return colours
