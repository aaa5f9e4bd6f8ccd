--- The open block of sums over floating-point features. Such sums are exact but for one rounding of
--- each block of rows (p:info().exact is "blocks"), so rows that come later have to continue the
--- last block where it is not full. Its rows, fewer than a block, are kept with the sums. An update
--- adds the sum of these rows and the new ones, and takes out that of these rows alone: the bits
--- are those of one fit to all rows in the order in which they came.
---
--- s.open is { rows = k, X =, Y =, weights = }, the last k rows as the engine reads them (targets
--- coded); k = 0: the rows end at a block. nil: not known, and an update begins blocks of its own.
local core = require "scullery.core"

local open_block = {}

local BLOCKS = 64 -- of new rows that are copied at one time

-- Rows of a block; nil where sums do not depend on blocks.
local function size_of(f)
  if core.map_exact(f.map) ~= "blocks" then return nil end
  return core.block_rows(core.source(core.zeros(1, f.dim)), f.stages, f.map)
end

-- Rows first .. last of a source, with their weights.
local function read(source, weights, first, last)
  if last < first then return { rows = 0 } end
  local X, Y = core.read_rows(source, first, last - first + 1)
  return { rows = last - first + 1, X = X, Y = Y,
    weights = weights and weights:slice(first, last):copy() }
end

--- open_block.after(f, source, weights, last): the open block of sums over the rows of a source up
--- to row `last`. f: the model; weights: of all rows, or nil.
function open_block.after(f, source, weights, last)
  local size = size_of(f)
  return size and read(source, weights, last // size * size + 1, last)
end

-- The rows a, then those of b.
local function joined(a, b)
  if a.rows == 0 then return b end
  return { rows = a.rows + b.rows, X = core.vcat(a.X, b.X), Y = core.vcat(a.Y, b.Y),
    weights = (a.weights or b.weights) and core.vcat(a.weights or core.ones(a.rows, 1),
      b.weights or core.ones(b.rows, 1)) }
end

--- open_block.continue(s, source, weights, sum): the engine's sums over all rows of a source, as
--- rows that continue the open block of the sums s; second: the open block after them. sum(source,
--- weights): the engine's sums over rows that begin with a block.
function open_block.continue(self, source, weights, sum)
  local size, n = size_of(self.model), core.source_size(source)
  local open, total = self.open, nil
  for first = 1, n, BLOCKS * size do
    local rows = joined(open, read(source, weights, first,
      math.min(first + BLOCKS * size - 1, n)))
    local handle = sum(core.source(rows.X, rows.Y), rows.weights)
    if open.rows > 0 then
      local old <close> = sum(core.source(open.X, open.Y), open.weights)
      core.sums_join(handle, old, true)
    end
    if total then
      local _ <close> = handle
      core.sums_join(total, handle, false)
    else
      total = handle
    end
    open = read(core.source(rows.X, rows.Y), rows.weights, rows.rows // size * size + 1, rows.rows)
  end
  return total, open
end

--- open_block.without(open, source): the open block after all rows of a source were taken out: if
--- these end with its rows, the rows end at a block now.
function open_block.without(open, source)
  local n = core.source_size(source)
  if not open or open.rows == 0 or n < open.rows then return open end
  local X, Y = core.read_rows(source, n - open.rows + 1, open.rows)
  return X == open.X and Y == open.Y and { rows = 0 } or open
end

--- open_block.valid(open, f): whether a value from a file is the open block of sums of the model f.
function open_block.valid(open, f)
  if open == nil then return true end
  local size = size_of(f)
  local function shaped(matrix, cols)
    return core.is_matrix(matrix) and matrix:rows() == open.rows and matrix:cols() == cols
      and not core.find_nonfinite(matrix)
  end
  if not size or type(open) ~= "table" or math.type(open.rows) ~= "integer" or open.rows < 0
    or open.rows >= size then
    return false
  end
  return open.rows == 0 or shaped(open.X, f.dim) and shaped(open.Y, f.targets)
    and (open.weights == nil or shaped(open.weights, 1) and open.weights:min() >= 0)
end

return open_block
