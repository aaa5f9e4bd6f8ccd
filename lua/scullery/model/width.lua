--- A check whether the kernel width fits the data: a kernel that is 0, or constant, between nearly
--- all rows of a sample cannot distinguish them.
local core = require "scullery.core"
local instantiation = require "scullery.compose.instantiation"
local options = require "scullery.base.options"

local width = {}

-- FEW rows are examined first, and ROWS only if these are suspicious. A verdict needs a share of at
-- least NEARLY_ALL of the pairs of rows. CLOSE is relative to the diagonal of the kernel matrix.
local ROWS, FEW, SEED, CLOSE, NEARLY_ALL = 50, 6, 0, 1e-6, 0.95
-- The rows of the sample are dense: at most so many numbers. Data of millions of columns are not
-- examined.
local NUMBERS = 5000000

-- Two shares of the pairs of distinct rows of X: those for which the kernel matrix G is within
-- CLOSE of 0, and those for which it is within CLOSE of its diagonal. nil if all rows are equal.
local function shares(G, X)
  local pairs_seen, zeros, same = 0, 0, 0
  for i = 2, X:rows() do
    for j = 1, i - 1 do
      if X:row(i) ~= X:row(j) then
        local a, b, k = math.abs(G:get(i, i)), math.abs(G:get(j, j)), G:get(i, j)
        local size = math.sqrt(a * b)
        pairs_seen = pairs_seen + 1
        if math.abs(k) <= CLOSE * size then zeros = zeros + 1 end
        if math.abs(k - a) <= CLOSE * a and math.abs(k - b) <= CLOSE * b then same = same + 1 end
      end
    end
  end
  if pairs_seen == 0 then return nil end
  return zeros / pairs_seen, same / pairs_seen
end

-- The kernel between rows in closed form if there is one; otherwise the inner products of their
-- features, whose noise about 0 hides a kernel of 0. Returns the matrix, and whether it is exact.
local function between(map, X)
  local ok, G = options.attempt(core.map_induced, map, X, X)
  if ok then return G, true end
  local Phi = core.transform(core.source(X), {}, map)
  return Phi * Phi:t(), false
end

-- "zero" if the kernel is about 0 between nearly all rows of X, "same" if it is about k(x, x), else
-- nil.
local function verdict(map, X)
  local G, exact = between(map, X)
  local zeros, same = shares(G, X)
  if not zeros then return nil end
  if exact and zeros >= NEARLY_ALL then return "zero" end
  return same >= NEARLY_ALL and "same" or nil
end

-- The rows with their distances multiplied by `factor`, about their mean if centred, else about 0.
local function spread(X, factor, centred)
  if not centred then return X * factor end
  local moved = X:copy()
  for j = 1, X:cols() do
    local mean = X:column(j):mean()
    for i = 1, X:rows() do moved:set(i, j, (X:get(i, j) - mean) * factor) end
  end
  return moved
end

-- True if the width causes the verdict `said`. Orthogonal rows, or features with two values, have
-- the same verdict at any width. Otherwise the verdict changes when the rows are scaled by 10^3 to
-- 10^9, which has the effect of another width.
local function depends_on_width(map, X, said)
  for _, power in ipairs{ 3, 6, 9 } do
    if said == "zero" and verdict(map, spread(X, 10 ^ -power)) ~= said then return true end
    if said == "same" and (verdict(map, spread(X, 10 ^ power)) ~= said
      or verdict(map, spread(X, 10 ^ power, true)) ~= said) then return true end
  end
  return false
end

-- `sigma = "median"` and the like, for options of the features that can be set from the data.
local function remedies(features)
  local list, parts, seen = {}, {}, {}
  for _, one in ipairs(instantiation.parts(features)) do
    parts[#parts + 1], parts[#parts + 2] = one.inst.p, one.inst.phi
  end
  for _, part in ipairs(parts) do
    local name = part.kind .. "." .. part.name
    for _, option in ipairs(seen[name] and {} or core.plugin_info(part.kind, part.name).options) do
      if option.takes:find('"median"', 1, true) then
        list[#list + 1] = ('%s = "median" of %s'):format(option.name, name)
        break
      end
    end
    seen[name] = true
  end
  list[#list + 1] = #list > 0 and "sc.standardize() before the features"
    or 'sc.standardize() before the features, or a component with a width of "median"'
  return table.concat(list, ", or ")
end

local said_as = {
  zero = "within 1e-6 of 0: each row is like itself alone",
  same = "within 1e-6 of k(x, x): all rows look alike",
}

--- width.note(source, stages, map, features): a sentence if the width of the features does not fit
--- the rows, else nil. It examines a few rows, and if the result is suspicious 50 (fewer where
--- there are many columns; a seeded sample; for a stream from its first 2048 rows).
function width.note(source, stages, map, features)
  if not map or core.map_info(map).entries > 0 then return nil end
  local rows = math.min(ROWS, NUMBERS // core.map_info(map).dim)
  if rows < FEW then return nil end
  local X = core.sample(source, stages, rows, SEED)
  local few = {}
  for i = 1, X:rows(), math.max(1, X:rows() // FEW) do few[#few + 1] = i end
  few = X:select(few)
  local said = verdict(map, few)
  if not said or verdict(map, X) ~= said or not depends_on_width(map, few, said) then return nil end
  return ("the kernel of the features is, between nearly all rows of a sample, %s. The width does \z
    not fit the data; to fix it: %s"):format(said_as[said], remedies(features))
end

return width
