--- The digest of a cell's function: it tells whether results come from the same computation.
--- It covers the function's code without line numbers and comments, the code of the Lua functions
--- that it captures as local variables (and of those that these capture), and the numbers, texts
--- and booleans that it captures and does not assign itself. It does not cover globals, tables,
--- objects and modules, nor where among the local variables around it those that it captures stand.
local core = require "scullery.core"

local code = {}

-- The form of string.dump in Lua 5.4: a header of 31 bytes and the number of upvalues, then the
-- function. Whole numbers have 7 bits a byte, the highest first; the last byte has bit 8 set.
local HEADER = 32
local SET_UPVALUE = 10 -- the instruction that assigns upvalue B
local SIZES = { [0x00] = 0, [0x01] = 0, [0x11] = 0, [0x03] = 8, [0x13] = 8 } -- of constants

local function read_count(dump, at)
  local count = 0
  while true do
    local byte = dump:byte(at)
    count, at = count << 7 | byte & 0x7f, at + 1
    if byte & 0x80 ~= 0 then return count, at end
  end
end

-- A text is preceded by its length plus 1.
local function after_text(dump, at)
  local length
  length, at = read_count(dump, at)
  return at + math.max(0, length - 1)
end

local function after_constants(dump, at)
  local count
  count, at = read_count(dump, at)
  for _ = 1, count do
    local size = SIZES[dump:byte(at)]
    at = size and at + 1 + size or after_text(dump, at + 1)
  end
  return at
end

-- The upvalues that these instructions assign, as a set of numbers from 0.
local function assigned_by(dump, from, count)
  local set = {}
  for i = 0, count - 1 do
    local instruction = string.unpack("=I4", dump, from + 4 * i)
    if instruction & 0x7f == SET_UPVALUE then set[instruction >> 16 & 0xff] = true end
  end
  return set
end

-- Adds to `parts` a function that begins at `at`, without its name and line numbers; returns where
-- it ends and the set of its upvalues that it or a function within it assigns. placed: with the
-- places of its upvalues in the function around it.
local function add_function(parts, dump, at, placed)
  at = after_text(dump, at)
  for _ = 1, 2 do at = select(2, read_count(dump, at)) end -- first and last line
  local from = at
  local count
  count, at = read_count(dump, at + 3)
  local assigned = assigned_by(dump, at, count)
  at = after_constants(dump, at + 4 * count)
  count, at = read_count(dump, at)
  local upvalues = at
  at = at + 3 * count
  local after = at
  count, at = read_count(dump, at)
  parts[#parts + 1] = dump:sub(from, (placed and after or upvalues) - 1) .. dump:sub(after, at - 1)
  for _ = 1, count do
    local inner
    at, inner = add_function(parts, dump, at, true)
    for place in pairs(inner.assigned) do
      local in_stack, outer = dump:byte(inner.upvalues + 3 * place, inner.upvalues + 3 * place + 1)
      if in_stack == 0 then assigned[outer] = true end
    end
  end
  for _ = 1, 4 do at = select(2, read_count(dump, at)) end -- empty: names and lines
  return at, { assigned = assigned, upvalues = upvalues }
end

local function is_scalar(value)
  local kind = type(value)
  return kind == "number" or kind == "string" or kind == "boolean"
end

-- Adds f and what it captures to `parts`. seen: the functions that `parts` has, with their places;
-- seen.placed: see add_function.
local function add(parts, f, seen)
  if seen[f] then
    parts[#parts + 1] = "seen " .. seen[f]
    return
  end
  seen.count = seen.count + 1
  seen[f] = seen.count
  if debug.getinfo(f, "S").what == "C" then return end
  local _, made = add_function(parts, string.dump(f, true), HEADER + 1, seen.placed)
  for i = 1, 255 do
    local name, value = debug.getupvalue(f, i)
    if not name then return end
    if type(value) == "function" then
      add(parts, value, seen)
    elseif is_scalar(value) and not made.assigned[i - 1] then
      parts[#parts + 1] = ("%q"):format(value)
    end
  end
end

--- code.digest(f, placed): the SHA-256 of what identifies the function. placed: as earlier builds
--- computed it, with the places of what it captures.
function code.digest(f, placed)
  local parts = {}
  add(parts, f, { count = 0, placed = placed })
  for i, part in ipairs(parts) do parts[i] = string.pack("s", part) end
  return core.digest(table.concat(parts))
end

return code
