--- The contour line of a table of numbers at a level: straight pieces through the squares between
--- the middles of neighbouring cells (marching squares, with linear interpolation).
local contour = {}

-- The place, 0 .. 1, at which a side from value a to value b crosses the level; nil if it does not.
local function crossing(a, b, level)
  if (a < level) == (b < level) then return nil end
  return (level - a) / (b - a)
end

-- The points { x, y } at which the level crosses the sides of the square whose top left cell is row
-- i, column j, in order around it: none, two or four; none if a value is NaN.
local function crossings(rows, i, j, level)
  local a, b = rows[i][j], rows[i][j + 1]
  local c, d = rows[i + 1][j], rows[i + 1][j + 1]
  local list = {}
  if a ~= a or b ~= b or c ~= c or d ~= d then return list end
  local function add(at, x, y, dx, dy)
    if at then list[#list + 1] = { x + at * dx, y + at * dy } end
  end
  add(crossing(a, b, level), j, i, 1, 0)
  add(crossing(b, d, level), j + 1, i, 0, 1)
  add(crossing(c, d, level), j, i + 1, 1, 0)
  add(crossing(a, c, level), j, i, 0, 1)
  return list
end

-- Equal for the same point as computed from two neighbouring squares.
local function key_of(point) return ("%.9g %.9g"):format(point[1], point[2]) end

-- By key of a point, the list of the pieces { from, to } that end there.
local function pieces_at(pieces)
  local at = {}
  for _, piece in ipairs(pieces) do
    for k = 1, 2 do
      local key = key_of(piece[k])
      at[key] = at[key] or {}
      table.insert(at[key], piece)
    end
  end
  return at
end

-- The other end of an unused piece that ends at `point`, which is marked as used; nil if there is
-- none.
local function follow(at, point)
  local key = key_of(point)
  for _, piece in ipairs(at[key] or {}) do
    if not piece.used then
      piece.used = true
      return key_of(piece[1]) == key and piece[2] or piece[1]
    end
  end
end

--- contour.of(rows, level): { x, y }: lists of the points of lines, each line followed by NaN; x:
--- the column, y: the row, as numbers from 1.
function contour.of(rows, level)
  local pieces, x, y = {}, {}, {}
  for i = 1, #rows - 1 do
    for j = 1, #rows[1] - 1 do
      local list = crossings(rows, i, j, level)
      for k = 1, #list - 1, 2 do pieces[#pieces + 1] = { list[k], list[k + 1] } end
    end
  end
  local at = pieces_at(pieces)
  local function add(point) x[#x + 1], y[#y + 1] = point[1], point[2] end
  for _, piece in ipairs(pieces) do
    if not piece.used then
      piece.used = true
      local back, line = piece[1], { piece[2], piece[1] }
      repeat
        back = follow(at, back)
        line[#line + 1] = back
      until not back
      for k = #line, 1, -1 do add(line[k]) end
      local ahead = follow(at, piece[2])
      while ahead do
        add(ahead)
        ahead = follow(at, ahead)
      end
      add{ 0 / 0, 0 / 0 }
    end
  end
  return { x = x, y = y }
end

return contour
