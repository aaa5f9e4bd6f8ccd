--- Blocks in guarded memory: how checks call slots. What lies between the numbers of a block stays
--- as it was, inputs can only be read, and behind the last number (or before the first) begins a
--- page that nobody may touch.
local core = require "scullery_checker.core"

local blocks = {}

--- blocks.layouts: ways to lay out a block; each is what blocks.new takes. The first is packed and
--- ends at a page, the second begins behind one, the others have gaps.
blocks.layouts = {
  { label = "a packed block before a guard page" },
  { label = "a packed block behind a guard page", at_start = true },
  { label = "a block whose row stride is its columns + 3", row_gap = 3 },
  { label = "a block with 5 numbers between its planes", plane_gap = 5 },
  { label = "a block with gaps between rows and planes", row_gap = 1, plane_gap = 2,
    at_start = true },
}

--- blocks.new(rows, cols, planes, dtype[, layout]): a block as core.block_put takes it, of NaN.
--- layout: row_gap and plane_gap, numbers behind each row and plane; offset, numbers before the
--- first; at_start, whether its memory begins behind a guard page instead of ending before one.
function blocks.new(rows, cols, planes, dtype, layout)
  layout = layout or {}
  local row_stride = cols + (layout.row_gap or 0)
  local plane_stride = rows * row_stride + (layout.plane_gap or 0)
  local offset, count = layout.offset or 0, layout.offset or 0
  if rows * cols * planes > 0 then
    count = offset + (rows - 1) * row_stride + (planes - 1) * plane_stride + cols
  end
  return { memory = core.guarded(count, dtype, layout.at_start), rows = rows, cols = cols,
    planes = planes, row_stride = row_stride, plane_stride = plane_stride, offset = offset,
    dtype = dtype }
end

--- blocks.from(matrix, planes, dtype[, layout]): the same with the numbers of a matrix, its planes
--- side by side, and closed for writing.
function blocks.from(matrix, planes, dtype, layout)
  local block = blocks.new(matrix:rows(), matrix:cols() // planes, planes, dtype, layout)
  core.block_put(block, matrix)
  core.guarded_lock(block.memory)
  return block
end

--- blocks.csr(X): X as sparse rows behind another one, so that their first start is over 0.
function blocks.csr(X)
  local before = core.zeros(1, X:cols()):map(function() return 7.5 end)
  return core.csr(core.vcat(before, X)):slice(2, X:rows() + 1)
end

--- blocks.expect_same(t, a, b, what): fails where two matrices are not the same, bit for bit:
--- "what: row 1, column 2 is 3, and should be 4" (a is what came).
function blocks.expect_same(t, a, b, what)
  local i, j = core.first_difference(a, b)
  t:expect(not i, "%s: row %d, column %d is %.17g, and should be %.17g", what, i or 0, j or 0,
    i and a:get(i, j) or 0, i and b:get(i, j) or 0)
end

--- blocks.expect_gaps(t, block, what): fails where something was written outside of the block.
function blocks.expect_gaps(t, block, what)
  local changed = core.block_gaps(block)
  t:expect(changed == 0, "%s: %d bytes outside of it were written", what, changed)
end

return blocks
