--- Compares what a page prints with what its code printed: texts must agree, numbers to the digits
--- printed, seconds not at all.
local compare = {}

local RELATIVE = 1e-6 -- of numbers with many digits: the last ones differ between machines

-- A text as a list of words, numbers and "..." ; spaces and ends of lines count alike.
local function tokens(text)
  local list, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then return list end
    local last = select(2, text:find("^%.%.%.", at))
      or select(2, text:find("^[%a_\x80-\xff][%w_\x80-\xff]*", at))
    local number = not last and (text:match("^[-+]?0x%x+%.?%x*p[-+]?%d+", at)
      or text:match("^[-+]?%d+%.?%d*[eE][-+]?%d+", at)
      or text:match("^[-+]?%d+%.?%d*", at))
    last = last or number and at + #number - 1 or at
    list[#list + 1] = text:sub(at, last)
    at = last + 1
  end
end

local units = { s = true, ms = true, seconds = true, milliseconds = true, microseconds = true,
  us = true, minutes = true, min = true, h = true }

-- Numbers before a unit of time become "#", so that they are equal.
local function masked(list)
  for i = 1, #list - 1 do
    if units[list[i + 1]] and tonumber(list[i]) then list[i] = "#" end
  end
  return list
end

-- What one unit of the last printed digit is worth.
local function unit(text)
  if text:find "0x" then return 0 end
  local decimals = text:match("%.(%d+)")
  local exponent = tonumber(text:match("[eE]([-+]?%d+)")) or 0
  return 10.0 ^ (exponent - (decimals and #decimals or 0))
end

local function is_whole(text) return text:find("^[-+]?%d+$") ~= nil end

local function agree(want, got, tolerance)
  if want == got then return true end
  local a, b = tonumber(want), tonumber(got)
  if not a or not b then return false end
  local off = math.abs(a - b)
  if tolerance then return off <= tolerance * math.max(math.abs(a), math.abs(b)) end
  if is_whole(want) and is_whole(got) then return false end
  return off <= 1.01 * math.min(unit(want), unit(got)) or off <= RELATIVE * math.abs(a)
end

--- compare.texts(want, got[, tolerance]): nil where they agree, else a sentence about the first
--- place where they do not. "..." in want stands for anything, tolerance is relative.
function compare.texts(want, got, tolerance)
  local a, b = masked(tokens(want)), masked(tokens(got))
  local i, j, star, resume, farthest = 1, 1, nil, nil, { 1, 1 }
  while j <= #b or i <= #a do
    if a[i] == "..." then
      star, resume, i = i, j, i + 1
    elseif i <= #a and j <= #b and agree(a[i], b[j], tolerance) then
      i, j = i + 1, j + 1
      if j > farthest[2] then farthest = { i, j } end
    elseif star and resume <= #b then
      resume = resume + 1
      i, j = star + 1, resume
    else
      local k, l = table.unpack(farthest)
      return ("the page has '%s', the code printed '%s'"):format(
        table.concat(a, " ", k, math.min(k + 7, #a)), table.concat(b, " ", l, math.min(l + 7, #b)))
    end
  end
end

return compare
