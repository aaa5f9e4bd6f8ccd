--- Shorter SVG paths: absolute coordinates with at most one decimal become steps from the previous
--- point. Steps are added as whole tenths, so that no point moves by rounding.
local paths = {}

-- A number with at most one decimal as a whole number of tenths; nil for other numbers.
local function tenths(text)
  if not text:find("^%-?%d+%.?%d?$") then return nil end
  return math.tointeger(tonumber((("%.1f"):format(tonumber(text)):gsub("%.", "")))) -- "-0.5": -05
end

-- A whole number of tenths as the shortest text: 5 as ".5", -12 as "-1.2".
local function shown(count)
  local sign, size = count < 0 and "-" or "", math.abs(count)
  local whole, rest = size // 10, size % 10
  if rest == 0 then return ("%s%d"):format(sign, whole) end
  return ("%s%s.%d"):format(sign, whole == 0 and "" or whole, rest)
end

-- Appends numbers; a minus sign separates two numbers without a space.
local function add(parts, ...)
  for i = 1, select("#", ...) do
    local text = shown((select(i, ...)))
    local last = parts[#parts]
    if not last:find("%a$") and text:sub(1, 1) ~= "-" then parts[#parts + 1] = " " end
    parts[#parts + 1] = text
  end
end

-- Appends the letter of a command, unless it repeats the previous command.
local function command(parts, state, letter)
  if state.letter ~= letter then
    parts[#parts + 1] = letter
    state.letter = letter
  end
end

-- Appends a move to a point. state: the letter of the last command (nil where it must be repeated),
-- the current point x, y, and the first point of the subpath, to which z returns; in tenths.
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

-- Appends a line to a point: as h or v if it is horizontal or vertical, unless an l can go on.
local function line(parts, state, x, y)
  local dx, dy = x - state.x, y - state.y
  if state.whole and dx == 0 and dy == 0 then return end
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

-- Appends one absolute command with its numbers as steps; returns false if the command is not
-- known.
local function take(parts, state, letter, numbers)
  if letter == "M" and #numbers >= 2 and #numbers % 2 == 0 then
    move(parts, state, numbers[1], numbers[2])
    for i = 3, #numbers, 2 do line(parts, state, numbers[i], numbers[i + 1]) end
  elseif letter == "H" and #numbers == 1 and state.x then
    line(parts, state, numbers[1], state.y)
  elseif letter == "V" and #numbers == 1 and state.x then
    line(parts, state, state.x, numbers[1])
  elseif letter:lower() == "z" and #numbers == 0 and state.x then
    parts[#parts + 1] = "z"
    state.x, state.y, state.letter = state.first_x, state.first_y, nil
  else
    return false
  end
  return true
end

--- paths.relative(d, whole): the attribute d of a path with relative coordinates, in whole pixels
--- if asked for; unchanged if that is not shorter, or if it has commands other than M, H, V and z
--- or more than one decimal.
function paths.relative(d, whole)
  local parts, state = { "" }, { whole = whole }
  for letter, text in d:gmatch("(%a)([^%a]*)") do
    local numbers = {}
    for number in text:gmatch("[^%s,]+") do
      local count = tenths(number)
      if not count then return d end
      numbers[#numbers + 1] = whole and (count + 5) // 10 * 10 or count
    end
    if not take(parts, state, letter, numbers) then return d end
  end
  local short = table.concat(parts)
  return #short < #d and short or d
end

return paths
