--- The data behind a figure as comma-separated text, one row for each point.
local csv_text = require "scullery.base.csv_text"

local csv = {}

local PER_POINT = { "x", "y", "low", "high", "text", "value" } -- lists of a series
local COLUMNS = { "panel", "series", "x", "y", "low", "high", "width", "text", "value" }

-- A value as a field: a float with the fewest digits, 15 or 17, that read back as the same number.
local function cell(value)
  if math.type(value) == "float" then
    if value ~= value then return "nan" end
    local short = ("%.15g"):format(value)
    return tonumber(short) == value and short or ("%.17g"):format(value)
  end
  return csv_text.field(value)
end

-- The names of the columns that are not empty for all series of the figure, in the order of
-- COLUMNS.
local function columns_of(figure)
  local used, columns = { panel = true, series = true }, {}
  for _, panel in ipairs(figure.panels) do
    for _, one in ipairs(panel.data) do for name in pairs(one) do used[name] = true end end
  end
  for _, name in ipairs(COLUMNS) do if used[name] then columns[#columns + 1] = name end end
  return columns
end

-- Appends a row for each point of a series. same: column -> the cell that is the same for all
-- points.
local function add_series(lines, columns, one, same)
  local cells, own = {}, {}
  for j, name in ipairs(columns) do
    cells[j] = same[name] or ""
    for _, list in ipairs(PER_POINT) do if list == name then own[j] = one[name] end end
  end
  for i = 1, #one.x do
    for j, list in pairs(own) do cells[j] = cell(list[i]) end
    lines[#lines + 1] = table.concat(cells, ",")
  end
end

--- csv.of(figure): the text. Panels are named by their titles, series by their labels; by number if
--- they have none or share it.
function csv.of(figure)
  local columns, seen = columns_of(figure), {}
  local lines = { table.concat(columns, ",") }
  for i, panel in ipairs(figure.panels) do
    local title = panel.title
    local name = title and (seen[title] and ("%s (%d)"):format(title, i) or title) or tostring(i)
    seen[name] = true
    for place, one in ipairs(panel.data) do
      add_series(lines, columns, one, { panel = cell(name),
        series = cell(one.label or tostring(place)), width = one.width and cell(one.width) })
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return csv
