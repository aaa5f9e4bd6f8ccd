--- :who: the variables of a session, with their types, shapes and memory.
local core = require "scullery.core"
local display = require "scullery.prompt.display"
local text = require "scullery.base.text"

local names = {}

local MOST_VISITED, MOST_COLUMNS = 1000000, 60

-- The size of one value in bytes without the values that it refers to; tables are added to
-- `waiting`.
local function own_bytes(value, seen, waiting)
  if type(value) == "string" then return 24 + #value end
  local is_matrix = core.is_matrix(value) or core.is_sparse(value)
  if not is_matrix and type(value) ~= "table" or seen[value] then return 0 end
  seen[value] = true
  if is_matrix then return value:bytes() end
  waiting[#waiting + 1] = value
  return 56
end

-- The approximate memory that a value keeps alive, in bytes: texts and tables as Lua stores them,
-- the storage of matrices. Functions, metatables and the library's modules do not count.
local function bytes_of(value, seen, room)
  local waiting = {}
  local total = own_bytes(value, seen, waiting)
  while #waiting > 0 and room > 0 do
    for key, inner in next, table.remove(waiting) do
      room = room - 1
      total = total + 24 + own_bytes(key, seen, waiting) + own_bytes(inner, seen, waiting)
    end
  end
  return total
end

--- names.bytes(value): the approximate memory that a value keeps alive, in bytes.
function names.bytes(value)
  return bytes_of(value, { [package.loaded.scullery or false] = true }, MOST_VISITED)
end

local function size_text(bytes)
  if bytes >= 1e9 then return ("%.3g GB"):format(bytes / 1e9) end
  if bytes >= 1e6 then return ("%.3g MB"):format(bytes / 1e6) end
  if bytes >= 1000 then return ("%.3g kB"):format(bytes / 1000) end
  return ("%d B"):format(bytes)
end

-- The type and shape, on one line.
local function about(value)
  local kind = type(value)
  if kind == "string" then return ("string, %d bytes"):format(#value) end
  if kind == "table" and not debug.getmetatable(value) then
    local count = 0
    for _ in next, value do count = count + 1 end
    return "table, " .. (count == 1 and "1 entry" or count .. " entries")
  end
  if kind == "number" or kind == "boolean" then return kind .. ", " .. tostring(value) end
  local shown = display.text({ value }, { width = 10000 }):match("^{ (.*) }$") or kind
  return text.shorten(shown:match("^[^\n]*"), MOST_COLUMNS)
end

--- names.list(session): a list of { name, about, bytes } of the variables that the session made.
function names.list(session)
  local list = {}
  for name, value in next, session.environment do
    local library = name == "_" or rawequal(value, package.loaded.scullery)
      or rawequal(value, package.loaded["scullery.help"])
    if type(name) == "string" and not library and not rawequal(session.known[name], value) then
      list[#list + 1] = { name = name, about = about(value), bytes = names.bytes(value) }
    end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

--- names.text(session): the list as lines.
function names.text(session)
  local list, widest = names.list(session), 4
  if #list == 0 then return "no variables yet" end
  for _, one in ipairs(list) do widest = math.max(widest, #one.name) end
  local lines = {}
  for i, one in ipairs(list) do
    lines[i] = ("%-" .. math.min(widest, 30) .. "s  %8s  %s"):format(one.name,
      size_text(one.bytes), one.about)
  end
  return table.concat(lines, "\n")
end

return names
