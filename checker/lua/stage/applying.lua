--- Tests of the rows that a fitted stage makes: whatever the block, and each from its own row.
local blocks = require "scullery_checker.blocks"
local core = require "scullery_checker.core"
local rows = require "scullery_checker.stage.rows"

-- The slot `apply` on the rows of X in a block of this layout.
local function apply(t, fitted, X, width, layout)
  local from = blocks.from(X, 1, "float64", layout)
  local to = blocks.new(X:rows(), width, 1, "float64", layout)
  core.stage_apply(fitted, from, to)
  blocks.expect_gaps(t, to, (layout or blocks.layouts[1]).label)
  return core.block_get(to)
end

-- f(fitted, X, want, width) for each variant.
local function each_fitted(t, f)
  local X, y = rows.random(t, 80, 5)
  for stage in t:variants() do
    local fitted = rows.fit(t, stage, X, y)
    local width = core.stage_info(fitted).cols_out
    f(fitted, X, apply(t, fitted, X, width), width)
  end
end

local function check_blocks(t)
  each_fitted(t, function(fitted, X, want, width)
    for i = 1, want:rows() do
      for j = 1, width do
        local x = want:get(i, j)
        t:expect(x == x, "row %d, column %d is left unwritten, or is NaN", i, j)
      end
    end
    for _, layout in ipairs(blocks.layouts) do
      blocks.expect_same(t, apply(t, fitted, X, width, layout), want, layout.label)
    end
    for _, part in ipairs{ { 1, 1 }, { 7, 3 }, { 20, 17 }, { 80, 1 }, { 3, 64 } } do
      local first, count = part[1], part[2]
      blocks.expect_same(t, apply(t, fitted, X:slice(first, first + count - 1):copy(), width),
        want:slice(first, first + count - 1):copy(),
        ("%d rows from row %d on, against the same rows of 80"):format(count, first))
    end
    apply(t, fitted, core.zeros(0, 5), width)
  end)
end

local function check_alone(t)
  each_fitted(t, function(fitted, X, want, width)
    for _, bad in ipairs{ 1e300, -1e160, 1e9, 5e-324 } do
      local other = X:copy()
      for j = 1, 5 do other:set(33, j, bad) end
      local made = rows.try(t, "a row of huge numbers", function()
        return apply(t, fitted, other, width)
      end)
      for i = 1, made and 80 or 0 do
        for j = 1, i == 33 and 0 or width do
          t:expect(made:get(i, j) == want:get(i, j), "row 33 becomes %g, and row %d, column %d \z
            changes from %.17g to %.17g", bad, i, j, want:get(i, j), made:get(i, j))
        end
      end
    end
    -- rows in another order
    local back, turned = X:copy(), want:copy()
    for i = 1, 80 do
      for j = 1, 5 do back:set(i, j, X:get(81 - i, j)) end
      for j = 1, width do turned:set(i, j, want:get(81 - i, j)) end
    end
    blocks.expect_same(t, apply(t, fitted, back, width), turned, "rows in reverse order")
  end)
end

return {
  { name = "blocks", about = "a row has the same bits in any block, and nothing else is touched",
    run = check_blocks },
  { name = "rows-alone", about = "a row depends on its own numbers alone", run = check_alone },
}
