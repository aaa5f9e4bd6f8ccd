--- The indentation of statements of several lines, as they are typed.
local tokens = require "scullery.prompt.tokens"

local indentation = {}

local STEP = 2 -- spaces of a block or bracket

-- Words and brackets that stand as far left as the line that opened their block.
local closing = { ["end"] = true, ["until"] = true, ["else"] = true, ["elseif"] = true,
  ["}"] = true, [")"] = true, ["]"] = true }

-- Per line of the text: how many blocks and brackets are open at its end, and whether its first
-- token closes one. Second: whether the text ends inside a string or a comment.
local function lines_of(list, text)
  local starts, at = { 1 }, 0
  while true do
    at = text:find("\n", at + 1, true)
    if not at then break end
    starts[#starts + 1] = at + 1
  end
  local lines, place, depth = {}, 1, 0
  for i in ipairs(starts) do
    local stop, first = starts[i + 1] or #text + 1, nil
    while list[place] and list[place].first < stop do
      first = first or list[place].text
      depth = tokens.depth_after(list[place], depth)
      place = place + 1
    end
    lines[i] = { start = starts[i], depth = depth, closes = closing[first] == true }
  end
  return lines, list[#list] ~= nil and list[#list].open
end

-- The text, its last line moved to the left where it begins with what ends a block and is indented
-- as the lines of that block are; second: the spaces for a line behind it, nil inside of a string
-- or a comment.
local function settled(text)
  local list = tokens.list(text)
  local lines, within = lines_of(list, text)
  if within then return text, nil end
  local last, before = lines[#lines], lines[#lines - 1]
  local typed = #text:match("^ *", last.start)
  if before and last.closes and typed > 0 and typed == STEP * math.max(0, before.depth) then
    text = text:sub(1, last.start - 1) .. text:sub(last.start + STEP)
  end
  return text, STEP * math.max(0, last.depth)
end

--- indentation.next(text): the text before the cursor, and a new line behind it, with the spaces
--- that its open blocks and brackets ask for. A last line such as "end" moves to the left.
function indentation.next(text)
  local before, spaces = settled(text)
  return before .. "\n" .. (" "):rep(spaces or 0)
end

--- indentation.ended(text): the text of a whole statement, of which a last line such as "end" moves
--- to the left.
function indentation.ended(text) return (settled(text)) end

return indentation
