--- Tests of how phi reads and writes blocks.
local core = require "scullery_checker.core"
local blocks = require "scullery_checker.blocks"
local phi = require "scullery_checker.nonlinearity.phi"

local sizes = { { 1, 1 }, { 1, 17 }, { 17, 1 }, { 3, 33 }, { 40, 8 } }

local function block_text(rows, cols, dtype)
  return ("%d x %d block of %s"):format(rows, cols, dtype)
end

-- f(matrix, dtype) for blocks of all sizes.
local function each_block(p, f)
  for _, dtype in ipairs(p.dtypes) do
    for i, size in ipairs(sizes) do f(p:numbers(size[1], size[2], i), dtype) end
  end
end

local function cols_of(p, matrix) return matrix:cols() // p.fan_in end

-- The numbers that phi gets for row i, column j.
local function input_text(p, matrix, i, j)
  local list = {}
  for k = 1, p.fan_in do
    list[k] = ("%.6g"):format(matrix:get(i, (k - 1) * cols_of(p, matrix) + j))
  end
  return table.concat(list, ", ")
end

-- ------------ memory

local function check_guards(t)
  phi.each(t, function(p)
    each_block(p, function(matrix, dtype)
      for i = 1, 2 do -- an access outside ends the process
        local _, out = p:apply(matrix, dtype, blocks.layouts[i])
        blocks.expect_gaps(t, out, ("apply to a %s, %s"):format(
          block_text(matrix:rows(), cols_of(p, matrix), dtype), blocks.layouts[i].label))
      end
    end)
  end)
end

local function check_strides(t)
  phi.each(t, function(p)
    each_block(p, function(matrix, dtype)
      local packed = p:apply(matrix, dtype)
      for i = 3, #blocks.layouts do
        local layout = blocks.layouts[i]
        local made, out = p:apply(matrix, dtype, layout)
        local what = ("%s of %s"):format(layout.label, dtype)
        blocks.expect_gaps(t, out, what)
        blocks.expect_same(t, made, packed, what)
      end
      -- strides of the input and of the output that differ
      local made, out = p:apply(matrix, dtype, blocks.layouts[3], blocks.layouts[1])
      blocks.expect_gaps(t, out, "a packed output of a block with gaps")
      blocks.expect_same(t, made, packed, "a packed output of a block with gaps")
    end)
  end)
end

local function check_alignment(t)
  phi.each(t, function(p)
    for _, dtype in ipairs(p.dtypes) do
      local matrix = p:numbers(2, 19)
      local packed = p:apply(matrix, dtype)
      for offset = 0, 7 do
        for other = 0, 7, 7 do
          local made, out = p:apply(matrix, dtype, { offset = offset, at_start = true },
            { offset = other, at_start = true })
          local what = ("%s input at element %d and output at element %d of a page"):format(dtype,
            offset, other)
          blocks.expect_gaps(t, out, what)
          blocks.expect_same(t, made, packed, what)
        end
      end
    end
  end)
end

-- ------------ outputs

local function check_written(t)
  phi.each(t, function(p)
    each_block(p, function(matrix, dtype)
      local made, cols = p:apply(matrix, dtype), cols_of(p, matrix)
      for i = 1, made:rows() do
        for j = 1, made:cols() do
          local column, output = (j - 1) % cols + 1, (j - 1) // cols + 1
          t:expect(made:get(i, j) == made:get(i, j), "a %s: row %d, column %d of output %d was \z
            not written, or is NaN, for z = %s", block_text(made:rows(), cols, dtype), i, column,
            output, input_text(p, matrix, i, column))
        end
      end
    end)
    for _, size in ipairs{ { 0, 5 }, { 5, 0 }, { 0, 0 } } do
      local z = blocks.new(size[1], size[2], p.fan_in, "float64")
      local out = blocks.new(size[1], size[2], p.fan_out, "float64")
      core.phi_apply(p.instance, z, out)
      blocks.expect_gaps(t, out, block_text(size[1], size[2], "float64"))
    end
  end)
end

local function check_in_place(t)
  local any = false
  phi.each(t, function(p)
    if p.fan_in > 1 or p.fan_out > 1 then return end
    any = true
    each_block(p, function(matrix, dtype)
      for _, layout in ipairs(blocks.layouts) do
        local z = blocks.new(matrix:rows(), matrix:cols(), 1, dtype, layout)
        core.block_put(z, matrix)
        core.phi_apply(p.instance, z, z)
        blocks.expect_gaps(t, z, "out on z, " .. layout.label)
        blocks.expect_same(t, core.block_get(z), p:apply(matrix, dtype),
          ("out on z, %s of %s"):format(layout.label, dtype))
      end
    end)
  end)
  if not any then t:skip("out may be z itself only where one number gives one feature") end
end

-- ------------ each number by itself

local function reversed(matrix, planes)
  local parts, cols = {}, matrix:cols() // planes
  for k = 0, planes - 1 do
    for j = cols, 1, -1 do
      parts[#parts + 1] = matrix:slice(1, matrix:rows(), k * cols + j, k * cols + j)
    end
  end
  return require("scullery").hcat(table.unpack(parts))
end

local function expect_parts(t, p, matrix, whole, dtype, first, last)
  local cols = cols_of(p, matrix)
  local made = p:apply(phi.columns(matrix, first, last, p.fan_in), dtype)
  blocks.expect_same(t, phi.columns(whole, first, last, p.fan_out), made,
    ("columns %d to %d in a %s, against these columns alone"):format(first, last,
      block_text(matrix:rows(), cols, dtype)))
end

local function check_columns(t, p, dtype)
  local matrix = p:numbers(3, 37)
  local whole = p:apply(matrix, dtype)
  for j = 1, 37 do expect_parts(t, p, matrix, whole, dtype, j, j) end
  for _, first in ipairs{ 1, 2, 6, 20 } do
    for _, count in ipairs{ 2, 3, 4, 5, 7, 8, 9, 15, 16, 17 } do
      expect_parts(t, p, matrix, whole, dtype, first, first + count - 1)
    end
  end
  local turned = p:apply(reversed(matrix, p.fan_in), dtype)
  blocks.expect_same(t, reversed(turned, p.fan_out), whole, "a block whose columns are reversed, \z
    against the block itself")
  for i = 1, 3 do
    blocks.expect_same(t, p:apply(matrix:slice(i, i), dtype), whole:slice(i, i),
      ("row %d alone, against the row in a block of 3"):format(i))
  end
end

local function check_long_rows(t, p, dtype)
  local matrix = p:numbers(1, 1100)
  local whole = p:apply(matrix, dtype)
  for _, edge in ipairs{ 255, 256, 257, 512, 1024 } do
    expect_parts(t, p, matrix, whole, dtype, 1, edge)
    expect_parts(t, p, matrix, whole, dtype, edge + 1, 1100)
  end
end

local function check_independence(t)
  phi.each(t, function(p)
    for _, dtype in ipairs(p.dtypes) do
      check_columns(t, p, dtype)
      check_long_rows(t, p, dtype)
    end
  end)
end

local function check_threads(t)
  local before = core.threads()
  phi.each(t, function(p)
    local z = blocks.from(p:numbers(200, 40), p.fan_in, "float64")
    local want = blocks.new(200, 40, p.fan_out, "float64")
    core.phi_apply(p.instance, z, want)
    core.threads(4)
    for _ = 1, 5 do
      local out = blocks.new(200, 40, p.fan_out, "float64")
      core.phi_apply_at_once(p.instance, z, out)
      blocks.expect_same(t, core.block_get(out), core.block_get(want),
        "200 rows of 40 columns on 4 threads, against one call")
    end
    core.threads(before)
  end)
end

return {
  { name = "guard-pages", about = "nothing is read or written outside of z and out, nor into z",
    run = check_guards },
  { name = "strides", about = "strides of rows and planes are respected", run = check_strides },
  { name = "alignment", about = "data aligned only to its element size gives the same", run =
    check_alignment },
  { name = "outputs-written", about = "each output is written; empty blocks are fine",
    run = check_written },
  { name = "in-place", about = "out may be z itself where one number gives one feature",
    run = check_in_place },
  { name = "independence", about = "a feature depends on its own numbers, whatever their block",
    run = check_independence },
  { name = "threads", about = "many threads at once on one instance give the same bits",
    run = check_threads },
}
