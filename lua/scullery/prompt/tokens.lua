--- Tokens of a Lua text, which may be unfinished: for the prompt and completion.
local tokens = {}

local keywords = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat \z
  return then true until while"):gmatch("%a+") do
  keywords[word] = true
end

--- tokens.keywords: the set of Lua's keywords.
tokens.keywords = keywords

-- The end of a long bracket that begins at `first` ("[[", "[==["), and true if it is closed; nil if
-- none begins there.
local function long_bracket(text, first)
  local level = text:match("^%[(=*)%[", first)
  if not level then return nil end
  local _, last = text:find("]" .. level .. "]", first + #level + 2, true)
  return last or #text, last ~= nil
end

-- The end of a quoted string that begins at `first`, and true if it is closed on its line.
local function quoted(text, first)
  local quote, at = text:sub(first, first), first + 1
  while true do
    local stop = text:find("[\\\n" .. quote .. "]", at)
    if not stop then return #text, false end
    local c = text:sub(stop, stop)
    if c == quote then return stop, true end
    if c == "\n" then return stop - 1, false end
    if text:find("^\\z", stop) then
      at = select(2, text:find("^%s*", stop + 2)) + 1
    else
      at = stop + 2
    end
  end
end

-- kind, last position, and true if closed, of the token at a position that is not white space.
local function scan(text, first)
  local c = text:sub(first, first)
  if c:find("[%a_]") then
    local last = select(2, text:find("^[%w_]+", first))
    return keywords[text:sub(first, last)] and "keyword" or "name", last, true
  end
  if text:find("^%.?%d", first) then
    return "number", select(2, text:find("^%.?[%w_.]+", first)), true
  end
  if text:find("^%-%-", first) then
    local last, closed = long_bracket(text, first + 2)
    if last then return "comment", last, closed end
    return "comment", (text:find("\n", first, true) or #text + 1) - 1, true
  end
  if c == '"' or c == "'" then return "string", quoted(text, first) end
  local last, closed = long_bracket(text, first)
  if last then return "string", last, closed end
  local symbol = text:match("^%.%.%.?", first) or text:match("^[=~<>:/]=", first)
    or text:match("^::", first) or c
  return "symbol", first + #symbol - 1, true
end

--- tokens.list(text): a list of { kind, text, first, last, open }: kind is "name", "keyword",
--- "number", "string", "comment" or "symbol"; first and last: its positions in bytes; open: true
--- for a string or a comment that does not end.
function tokens.list(text)
  local list, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then return list end
    local kind, last, closed = scan(text, at)
    list[#list + 1] = { kind = kind, text = text:sub(at, last), first = at, last = last,
      open = not closed }
    at = last + 1
  end
end

local opening = { ["if"] = true, ["do"] = true, ["function"] = true, ["repeat"] = true,
  ["("] = true, ["{"] = true, ["["] = true }
local closing = { ["end"] = true, ["until"] = true, [")"] = true, ["}"] = true, ["]"] = true }

--- tokens.depth_after(token, depth): the number of open blocks and brackets after a token; depth:
--- the number before it.
function tokens.depth_after(token, depth)
  if token.kind ~= "keyword" and token.kind ~= "symbol" then return depth end
  if opening[token.text] then return depth + 1 end
  if closing[token.text] then return depth - 1 end
  return depth
end

--- tokens.code(text): the list without comments.
function tokens.code(text)
  local list = {}
  for _, token in ipairs(tokens.list(text)) do
    if token.kind ~= "comment" then list[#list + 1] = token end
  end
  return list
end

return tokens
