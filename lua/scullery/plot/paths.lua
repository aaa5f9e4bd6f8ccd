--- Paths of SVG in fewer bytes: coordinates with one digit behind the point become steps from the
--- point before. Sums of whole tenths are exact, so that every point stays where it is.
local paths = {}

-- Tenths of a number that has no more digits than one behind the point, as a whole number.
local function tenths(text)
  if not text:find("^%-?%d+%.?%d?$") then return nil end
  return math.tointeger(tonumber((("%.1f"):format(tonumber(text)):gsub("%.", "")))) -- "-0.5": -05
end

local function shown(count)
  local sign, size = count < 0 and "-" or "", math.abs(count)
  local whole, rest = size // 10, size % 10
  if rest == 0 then return ("%s%d"):format(sign, whole) end
  return ("%s%s.%d"):format(sign, whole == 0 and "" or whole, rest)
end

-- Numbers after each other: a minus sign parts two as well as a space does.
local function add(parts, ...)
  for i = 1, select("#", ...) do
    local text = shown((select(i, ...)))
    local last = parts[#parts]
    if not last:find("%a$") and text:sub(1, 1) ~= "-" then parts[#parts + 1] = " " end
    parts[#parts + 1] = text
  end
end

-- Appends a command's letter, unless it goes on with the one before.
local function command(parts, state, letter)
  if state.letter ~= letter then
    parts[#parts + 1] = letter
    state.letter = letter
  end
end

local function move(parts, state, x, y)
  state.letter = nil
  if state.x then
    command(parts, state, "m")
    add(parts, x - state.x, y - state.y)
  else
    command(parts, state, "M")
    add(parts, x, y)
  end
  state.x, state.y, state.first_x, state.first_y = x, y, x, y
  state.letter = nil
end

local function line(parts, state, x, y)
  local dx, dy = x - state.x, y - state.y
  if dy == 0 and state.letter ~= "l" then
    command(parts, state, "h")
    add(parts, dx)
  elseif dx == 0 and state.letter ~= "l" then
    command(parts, state, "v")
    add(parts, dy)
  else
    command(parts, state, "l")
    add(parts, dx, dy)
  end
  state.x, state.y = x, y
end

-- One command of the long form and its numbers; false where it is none that is known here.
local function take(parts, state, letter, numbers, text)
  if letter == "M" and #numbers >= 2 and #numbers % 2 == 0 then
    move(parts, state, numbers[1], numbers[2])
    for i = 3, #numbers, 2 do line(parts, state, numbers[i], numbers[i + 1]) end
  elseif letter == "H" and #numbers == 1 and state.x then
    line(parts, state, numbers[1], state.y)
  elseif letter == "V" and #numbers == 1 and state.x then
    line(parts, state, state.x, numbers[1])
  elseif letter == "z" and #numbers == 0 and state.x then
    parts[#parts + 1] = "z"
    state.x, state.y, state.letter = state.first_x, state.first_y, nil
  elseif letter == "h" and text == "0" and state.x then
    parts[#parts + 1] = "h0"
    state.letter = nil
  elseif letter == "l" and state.x then -- of a mark, which z closes
    parts[#parts + 1] = "l" .. text
    state.letter = "l"
  else
    return false
  end
  return true
end

--- paths.relative(d): the value of a path's attribute d in steps; as it is, where it has other
--- commands than M, H, V and z (l alone before z), or numbers of more digits.
function paths.relative(d)
  local parts, state = { "" }, {}
  for letter, text in d:gmatch("(%a)([^%a]*)") do
    local numbers = {}
    if state.marking and letter ~= "z" then return d end
    state.marking = letter == "l"
    for number in (letter == "l" and "" or text):gmatch("[^%s,]+") do
      numbers[#numbers + 1] = tenths(number)
      if not numbers[#numbers] then return d end
    end
    if not take(parts, state, letter, numbers, text) then return d end
  end
  local short = table.concat(parts)
  return #short < #d and short or d
end

return paths
