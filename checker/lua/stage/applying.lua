--- Tests of the rows that a fitted stage makes: whatever the block, and each from its own row.
local blocks = require "scullery_checker.blocks"
local core = require "scullery_checker.core"
local formulas = require "scullery_checker.formulas"
local parts = require "scullery.model.export.parts"
local rows = require "scullery_checker.stage.rows"
local settings = require "scullery_checker.settings"

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

-- Where 5 columns in reverse order become the same ones in reverse order, 1200 do so.
local function check_turned(t, stage)
  local function off(n, d)
    local X, y = rows.random(t, n, d)
    local order = {}
    for j = 1, d do order[j] = d + 1 - j end
    local function turned(M)
      local out = core.zeros(n, d)
      for j = 1, d do
        for i = 1, n do out:set(i, j, M:get(i, order[j])) end
      end
      return out
    end
    X = X:abs()
    local made = rows.through(rows.fit(t, stage, X, y), X)
    if made:cols() ~= d then return 1 end
    local other = rows.through(rows.fit(t, stage, turned(X), y), turned(X))
    return (turned(other) - made):abs():max() / rows.spread(made)
  end
  local ok, few = pcall(off, 20, 5)
  if not ok or few > 1e-12 then return end
  local taken, many = pcall(off, 20, 1200)
  t:expect(not taken or many <= 1e-9, "1200 columns in reverse order change the result by %.3g \z
    of the largest, and 5 do not", taken and many or 0)
end

-- 700 rows in one block, and rows of 300 columns, against parts of 50 rows.
local function check_sizes(t)
  for _, size in ipairs{ { 700, 5 }, { 100, 300 } } do
    local X, y = rows.random(t, size[1], size[2])
    for stage in t:variants() do
      local fitted = rows.try(t, ("%d columns"):format(size[2]), function()
        return rows.fit(t, stage, X, y)
      end)
      local width = fitted and core.stage_info(fitted).cols_out
      local all = fitted and apply(t, fitted, X, width)
      for first = 1, all and size[1] or 0, 50 do
        local part = X:slice(first, first + 49):copy()
        blocks.expect_same(t, apply(t, fitted, part, width), all:slice(first, first + 49):copy(),
          ("rows %d to %d of %d, %d columns"):format(first, first + 49, size[1], size[2]))
      end
    end
  end
  for stage in t:variants() do
    local instance = t:instance(stage)
    if core.stage_flags(instance).by_column or core.stage_keeps_zeros(instance) then
      check_turned(t, stage)
    end
  end
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

-- ------------ sparse rows

-- Numbers of which most are 0, whole and not; row 5 has none, row 6 is full. signed: every fourth
-- is below 0.
local function sparse_rows(t, rows_, cols, signed)
  local X = t:random(rows_, cols)
  for i = 1, rows_ do
    for j = 1, cols do
      local zero = i == 5 or i ~= 6 and (7 * i + 3 * j) % 5 > 1
      if zero then X:set(i, j, 0)
      else
        local x = (i + j) % 3 == 0 and 2 or math.abs(X:get(i, j))
        X:set(i, j, signed and (i + j) % 4 == 0 and -x or x)
      end
    end
  end
  return X
end

-- The variants, and where options are lists of whole numbers those with some, in another order.
local function with_lists(t)
  local list = {}
  for _, one in ipairs(t.subject:variants()) do list[#list + 1] = one.component end
  for _, option in ipairs(t.subject.info.options) do
    local ok, made = pcall(t.subject.make, t.subject, { [option.name] = { 2, 5, 1, 4 } })
    if ok and option.takes_list then list[#list + 1] = made end
  end
  return list
end

-- Columns past 2^16: rows with a number in few of them.
local WIDE <const> = 70000

local function check_wide(t, stage)
  local X, y = core.zeros(3, WIDE), t:random(3, 1)
  for i = 1, 3 do
    for k, j in ipairs{ 1, 9, 4096, 4097, 65535, 65536, 65537, 65545, WIDE } do
      if (i + k) % 2 == 0 then X:set(i, j, i + k / 8) end
    end
  end
  local fitted = rows.try(t, "70000 columns", function() return rows.fit(t, stage, X, y) end)
  if not fitted then return end
  local width = core.stage_info(fitted).cols_out
  local want, made = apply(t, fitted, X, width), core.stage_apply_csr(fitted, X, 0, 3, "float64")
  for i = 1, 3 do
    for j = 1, made and width or 0 do
      local got, wanted = made:get(i, j), want:get(i, j)
      t:expect(math.abs(got - wanted) <= 1e-12 * math.max(1, math.abs(wanted)), "row %d of 70000 \z
        columns, column %d: %.17g of sparse rows, %.17g of dense ones", i, j, got, wanted)
    end
  end
end

-- The rows of `apply_csr` are those of `apply`, for any part of the rows and both types.
local function check_sparse(t)
  local any, keeping = false, {}
  for _, case in ipairs{ { 1 }, { 5 }, { 5, true }, { 300 }, { 5, false, 1e-13 } } do
    local cols, signed, scale = case[1], case[2], case[3] or 1
    local X, y = sparse_rows(t, 80, cols, signed) * scale, select(2, rows.random(t, 80, cols))
    for _, stage in ipairs(with_lists(t)) do
      local fitted = rows.try(t, "rows of which most numbers are 0", function()
        return rows.fit(t, stage, X, y)
      end)
      local width = fitted and core.stage_info(fitted).cols_out
      for _, dtype in ipairs(fitted and { "float64", "float32" } or {}) do
        local of = X:astype(dtype):astype("float64")
        local want = rows.try(t, "rows below 0", function()
          return apply(t, fitted, of, width)
        end)
        for _, part in ipairs{ { 0, 80 }, { 4, 1 }, { 5, 1 }, { 17, 40 }, { 79, 1 }, { 3, 0 } } do
          local made = want and core.stage_apply_csr(fitted, of, part[1], part[2], dtype)
          if not made then goto continue end
          keeping[stage] = true
          any = true
          for i = 1, part[2] do
            for j = 1, width do
              local got, wanted = made:get(i, j), want:get(part[1] + i, j)
              local allowed = 1e-12 * math.max(scale, math.abs(wanted))
              t:expect(math.abs(got - wanted) <= allowed, "row %d of %d, column %d: %.17g of \z
                sparse rows, %.17g of dense ones", part[1] + i, cols, j, got, wanted)
            end
          end
        end
      end
      ::continue::
    end
  end
  if not any then t:skip("it takes no sparse rows") end
  for stage in pairs(keeping) do check_wide(t, stage) end
end

-- ------------ the formula in C

-- The variables of a formula: the float64 arrays of the state, row after row, and sizes.
local function variables_of(fitted)
  local info = core.stage_info(fitted)
  local v = { cols = info.cols_in, width = info.cols_out }
  for _, array in ipairs(parts.arrays(core.stage_save(fitted))) do
    local list, matrix = {}, array.matrix
    for i = 1, matrix:rows() do
      for j = 1, matrix:cols() do list[(i - 1) * matrix:cols() + j - 1] = matrix:get(i, j) end
    end
    v[array.name], v[array.name .. "_rows"], v[array.name .. "_cols"] = list, matrix:rows(),
      matrix:cols()
  end
  return v
end

local function check_formula(t)
  local any = false
  local X, y = rows.random(t, 600, 4)
  local Z = core.vcat(X, X * 4) -- beyond the rows of the fit too
  for _, one in ipairs(settings.list(t)) do
    t.label = one.label
    local fitted = rows.try(t, "random rows", function()
      return rows.fit(t, one.component, X, y)
    end)
    local width, text = fitted and core.stage_info(fitted).cols_out, fitted and formulas.of(fitted)
    local want = text and apply(t, fitted, Z, width)
    for _, i in ipairs(text and { 1, 2, 5, 300, 511, 600, 605, 800, 1111, 1200 } or {}) do
      local v, x = variables_of(fitted), {}
      for j = 1, X:cols() do x[j - 1] = Z:get(i, j) end
      v.x = x
      for j, value in ipairs(formulas.values(text, width, v) or {}) do
        any = true
        formulas.expect(t, value, want:get(i, j), ("row %d, column %d"):format(i, j))
      end
    end
  end
  t.label = nil
  if not any then t:skip("it gives no formula in C") end
end

-- ------------ wide results

-- The largest numbers for options that say how wide the result is, as far as they are taken: no
-- two columns of it are equal, unless they are constant.
local function check_width(t)
  local X, y = rows.random(t, 40, 9)
  for _, option in ipairs(t.subject.info.options) do
    local ok, stage = pcall(t.subject.make, t.subject, { [option.name] = 200 })
    local wide = ok and option.takes_integer and option.name ~= "seed"
      and rows.try(t, "200 columns", function()
        local fitted = rows.fit(t, stage, X, y)
        return apply(t, fitted, X, core.stage_info(fitted).cols_out)
      end)
    local seen = {}
    for j = 1, wide and wide:cols() > 100 and wide:cols() <= 1000 and wide:cols() or 0 do
      local column, varies = {}, false
      for i = 1, 40 do
        column[i] = ("%a"):format(wide:get(i, j))
        varies = varies or column[i] ~= column[1]
      end
      local key = table.concat(column, " ")
      if varies and seen[key] then
        t:warn("%s = 200: columns %d and %d of the result are the same", option.name, seen[key], j)
      end
      seen[key] = j
    end
  end
end

return {
  { name = "width", about = "columns of a wide result are not the same", run = check_width },
  { name = "formula", about = "the formula in C gives the rows of apply", run = check_formula },
  { name = "sparse-rows", about = "apply_csr gives the rows of apply", run = check_sparse },
  { name = "blocks", about = "a row has the same bits in any block, and nothing else is touched",
    run = check_blocks },
  { name = "sizes", about = "a row has the same bits in a block of 700, and with 300 columns",
    run = check_sizes },
  { name = "rows-alone", about = "a row depends on its own numbers alone", run = check_alone },
}
