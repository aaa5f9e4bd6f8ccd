--- Leaves out points of a layer if there are more than a picture can show.
local thin = {}

local STRETCHES = 1000 -- parts of a line, from left to right
local COLUMNS, ROWS = 160, 120 -- cells of a scatter

--- thin.MOST: a series with at most this many points is drawn unchanged.
thin.MOST = 5000

-- The layer's lists at these places only.
local function keep(layer, places)
  for _, name in ipairs{ "x", "y", "low", "high", "text" } do
    local list = layer[name]
    if list then
      local kept = {}
      for i, place in ipairs(places) do kept[i] = list[place] end
      layer[name] = kept
    end
  end
end

local function is_ascending(list)
  for i = 2, #list do
    local ascends = list[i] >= list[i - 1] -- false for NaN
    if not ascends then return false end
  end
  return true
end

-- Appends the places of the first, the lowest, the highest and the last point of a stretch, in
-- order: they determine its picture. If all are NaN, the ends stand for the gap.
local function stretch_places(y, first, last, places)
  local low, high
  for i = first, last do
    if y[i] == y[i] then
      if not low or y[i] < y[low] then low = i end
      if not high or y[i] > y[high] then high = i end
    end
  end
  local chosen = { first, low or first, high or first, last }
  table.sort(chosen)
  for _, place in ipairs(chosen) do
    if place ~= places[#places] then places[#places + 1] = place end
  end
end

-- The places of the points of a line to draw: a few of each stretch if x ascends, else every n-th.
local function line_places(layer)
  local x, y, places = layer.x, layer.y, {}
  local count = #x
  if not is_ascending(x) then
    local every = math.ceil(count / thin.MOST)
    for i = 1, count, every do places[#places + 1] = i end
    return places
  end
  for stretch = 0, STRETCHES - 1 do
    local first, last = stretch * count // STRETCHES + 1, (stretch + 1) * count // STRETCHES
    if first <= last then stretch_places(y, first, last, places) end
  end
  return places
end

-- A function from a value to the number, from 0, of the one of `count` equal parts of the axis in
-- which it lies. Values are divided by count first, because high - low may overflow.
local function cell_of(axis, count)
  local function scaled(value) return axis.log and math.log(value) or value / count end
  local low, high = scaled(axis.low), scaled(axis.high)
  return function(value) return math.floor((scaled(value) - low) / (high - low) * count) end
end

-- One point in each cell of a fine grid; points that are NaN or outside are left out.
local function point_places(layer, panel)
  local column, row = cell_of(panel.x, COLUMNS), cell_of(panel.y, ROWS)
  local seen, places = {}, {}
  for i, x in ipairs(layer.x) do
    local y = layer.y[i]
    if x >= panel.x.low and x <= panel.x.high and y >= panel.y.low and y <= panel.y.high then
      local cell = row(y) * (COLUMNS + 1) + column(x)
      if not seen[cell] then
        seen[cell] = true
        places[#places + 1] = i
      end
    end
  end
  return places
end

--- thin.panel(panel): thins layers with too many points, and adds a note.
function thin.panel(panel)
  for _, layer in ipairs(panel.layers) do
    local many = layer.x and #layer.x > thin.MOST and layer.kind
    local count = layer.x and #layer.x
    if many == "line" then
      keep(layer, line_places(layer))
    elseif many == "points" then
      keep(layer, point_places(layer, panel))
    end
    if many == "line" or many == "points" then
      panel.notes[#panel.notes + 1] = ("%sof %d points, %d are drawn%s"):format(
        layer.label and layer.label .. ": " or "", count, #layer.x,
        many == "points" and ": one at each place" or "")
    end
  end
end

return thin
