--- Columns of numbers as indicator columns.
local core = require "scullery.core"
local options = require "scullery.base.options"

-- The distinct values at the quantiles 1/bins, 2/bins, ... of a column, without its largest value.
local function edges_of(column, bins)
  local sorted, edges, n = {}, {}, column:rows()
  for i = 1, n do sorted[i] = column[i] end
  table.sort(sorted)
  for k = 1, bins - 1 do
    local edge = sorted[math.max(math.ceil(k * n / bins), 1)]
    if edge ~= edges[#edges] and edge < sorted[n] then edges[#edges + 1] = edge end
  end
  return edges
end

-- The edges as texts, with the fewest digits from six on that make neighbours different.
local function texts_of(edges)
  for digits = 6, 17 do
    local texts, apart = {}, true
    for k, edge in ipairs(edges) do
      texts[k] = ("%%.%dg"):format(digits):format(edge)
      apart = apart and texts[k] ~= texts[k - 1]
    end
    if apart then return texts end
  end
end

-- A list of indicator columns, one for each interval (low, high] between edges; appends their
-- names, such as "age > 35", to `names`.
local function indicators(column, name, edges, names)
  local columns, texts = {}, texts_of(edges)
  for k = 1, #edges + 1 do
    local low, high = edges[k - 1] or -math.huge, edges[k] or math.huge
    columns[k] = column:map(function(v) return v > low and v <= high and 1 or 0 end)
    names[#names + 1] = k == 1 and ("%s <= %s"):format(name, texts[k] or "inf")
      or k > #edges and ("%s > %s"):format(name, texts[k - 1])
      or ("%s < %s <= %s"):format(texts[k - 1], name, texts[k])
  end
  return columns
end

local discretize_rules = options.declare("dataset:discretize", {
  bins = { type = "integer", low = 2, default = 5 } })

--- discretize(ds, options): see Dataset:discretize. Returns the new columns and their names.
return function(self, given)
  local o = options.check("dataset:discretize", given, discretize_rules, 0)
  local n, d = self:size()
  if n == 0 or d == 0 then error("the data set has no rows or no columns", 0) end
  local finite, row, place = self.X:isfinite()
  if not finite then
    error(("X has %s in row %d, column %d: every number must be finite"):format(
      options.show(self.X:get(row, place)), row, place), 0)
  end
  local first = self.part_rows and not self.part_first and self.part_rows[1] or n
  local parts, names = {}, {}
  for j = 1, d do
    local column, name = self.X:column(j), self.names and self.names[j] or "x" .. j
    -- with two values, every entry is the smallest or the largest
    if (column - column:min()):mul(column - column:max()):abs():max() == 0 then
      parts[#parts + 1], names[#names + 1] = column, name
    else
      local edges = edges_of(column:slice(1, first), o.bins)
      table.move(indicators(column, name, edges, names), 1, #edges + 1, #parts + 1, parts)
    end
  end
  return core.hcat(table.unpack(parts)), names
end
