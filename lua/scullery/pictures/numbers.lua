--- Numbers behind the pictures of the library's objects: intervals, spacing, samples.
local core = require "scullery.core"
local streams = require "scullery.base.streams"

local numbers = {}

--- numbers.known_rows(about): the numbers of the rows whose label the model knows, and a list of
--- these labels. about: the result of pictures.model.judged. Raises an error if there are none.
function numbers.known_rows(about)
  local rows, labels = {}, {}
  for row = 1, about.n do
    local place = about.truth[row]
    if place then rows[#rows + 1], labels[#labels + 1] = row, about.classes[place] end
  end
  if #rows == 0 then error("no row has a label that was seen in training", 0) end
  return rows, labels
end

local Z = 1.959963984540054 -- the normal distribution's 97.5 % point

--- numbers.wilson(hits, n): low and high of Wilson's 95 % interval (1927) for a share of hits / n.
function numbers.wilson(hits, n)
  local p, z2 = hits / n, Z * Z
  local centre = (p + z2 / (2 * n)) / (1 + z2 / n)
  local half = Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
  -- there the formula gives 0 and 1 only up to rounding
  return hits <= 0 and 0.0 or centre - half, hits >= n and 1.0 or centre + half
end

--- numbers.log_spaced(values): true if ascending numbers are more evenly spaced on a log axis than
--- on a linear one.
function numbers.log_spaced(values)
  local n = #values
  if n < 2 or values[1] <= 0 then return false end
  if n == 2 then return values[2] >= 10 * values[1] end
  local function unevenness(f)
    local step, sum = (f(values[n]) - f(values[1])) / (n - 1), 0
    for i = 2, n do sum = sum + ((f(values[i]) - f(values[i - 1])) / step - 1) ^ 2 end
    return sum
  end
  return unevenness(math.log) < unevenness(function(v) return v end)
end

--- numbers.wide(values): true if positive numbers span so many magnitudes that they need a log
--- axis.
function numbers.wide(values)
  local low, high = math.huge, -math.huge
  for _, value in ipairs(values) do
    if value == value and math.abs(value) < math.huge then
      low, high = math.min(low, value), math.max(high, value)
    end
  end
  return low > 0 and low < math.huge and high / low > 50
end

local MOST_POINTS = 2000 -- more make a picture's file large without showing more

--- numbers.sample(n, seed): the numbers of the rows that a picture draws, ascending: all n, or 2000
--- at random; the second result is a note about the sample, or nil.
function numbers.sample(n, seed)
  local rows = {}
  if n <= MOST_POINTS then
    for i = 1, n do rows[i] = i end
    return rows
  end
  rows = table.move(core.permutation(n, seed, streams.points), 1, MOST_POINTS, 1, {})
  table.sort(rows)
  return rows, ("%d of %d rows are drawn, chosen at random (seed %d)"):format(MOST_POINTS, n, seed)
end

--- numbers.column(X, j[, rows]): column j of a matrix as a list, or its entries in these rows.
function numbers.column(X, j, rows)
  local list = {}
  if rows then
    for i, row in ipairs(rows) do list[i] = X:get(row, j) end
    return list
  end
  for i = 1, X:rows() do list[i] = X:get(i, j) end
  return list
end

return numbers
