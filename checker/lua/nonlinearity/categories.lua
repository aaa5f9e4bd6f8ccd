--- Tests of categories: the ability of that name, and code-dual.
local core = require "scullery_checker.core"
local blocks = require "scullery_checker.blocks"
local normal = require "scullery_checker.normal"
local phi = require "scullery_checker.nonlinearity.phi"

local function has_categories(t, component)
  return t.subject.offers(component, "scullery.categories/1")
end

-- f(phi) for each variant that has the ability.
local function each_coded(t, f)
  local any = false
  for component in t:variants() do
    if has_categories(t, component) then
      any = true
      f(phi.new(t, component))
    end
  end
  if not any then t:skip("it has no ability \"scullery.categories/1\"") end
end

-- Numbers as its spaces give them: cells are whole.
local function numbers(p, rows, cols, of)
  local made = p:numbers(rows, cols, of)
  return p.shape.spaces.grid and made:map(math.floor) or made
end

-- Codes of the numbers, words side by side, and the block they lie in.
local function codes_of(p, matrix, layout)
  local z = blocks.from(matrix, p.fan_in, "float64", layout)
  local words = core.phi_key(p.instance, p.fan_in)
  local out = blocks.new(z.rows, z.cols * words, 1, "int32", layout)
  core.phi_categories(p.instance, z, out)
  return core.block_get(out), out, words
end

local function expect_codes(t, codes, levels)
  if levels == 0 then return end
  for i = 1, codes:rows() do
    for j = 1, codes:cols() do
      local code = codes:get(i, j)
      t:expect(code >= 0 and code < levels, "row %d, column %d has code %d, and key says %d \z
        levels", i, j, code, levels)
    end
  end
end

local function check_categories(t)
  each_coded(t, function(p)
    local words, levels = core.phi_key(p.instance, p.fan_in)
    t:expect(levels == 0 or words == 1, "key says %d levels, which are of one word, and %d words",
      levels, words)
    for i, size in ipairs{ { 1, 1 }, { 5, 33 }, { 0, 4 }, { 4, 0 } } do
      local matrix = numbers(p, size[1], size[2], i)
      local codes = codes_of(p, matrix)
      expect_codes(t, codes, levels)
      for _, layout in ipairs(blocks.layouts) do
        local again, out = codes_of(p, matrix, layout)
        blocks.expect_gaps(t, out, "codes of " .. layout.label)
        blocks.expect_same(t, again, codes, "codes of " .. layout.label)
      end
      for j = 1, size[1] > 0 and size[2] or 0 do
        local alone = codes_of(p, phi.columns(matrix, j, j, p.fan_in))
        blocks.expect_same(t, codes:slice(1, size[1], (j - 1) * words + 1, j * words), alone,
          ("column %d of %d, against the column alone"):format(j, size[2]))
      end
    end
  end)
end

-- The first coordinate of a cell, of every so many, whose number does not change the category: by
-- none of a few steps, as a hash may give two cells one category; wide: times which they are.
local function idle_coordinate(p, base, every, wide)
  local before = codes_of(p, base) + 0
  for k = 1, p.fan_in, every do
    local differs = false
    for _, step in ipairs{ 1, 2, 3, 5 } do
      local other = base + 0
      other:set(1, k, base:get(1, k) + step * (wide or 1))
      differs = differs or core.first_difference(codes_of(p, other) + 0, before) ~= nil
      if differs then break end
    end
    if not differs then return k end
  end
end

-- Whether each of 3 coordinates of usual size counts, as it does not where a category is a sign, or
-- which of them is largest.
local function each_counts(p)
  p.fan_in = 3
  for of = 1, 8 do
    if idle_coordinate(p, numbers(p, 1, 1, of), 1) then return false end
  end
  return true
end

-- Cells next to each other near 0 are categories of their own where each coordinate counts.
local function check_near_zero(t, p)
  local seen, base = {}, numbers(p, 1, 1) * 0
  for cell = -4, 4 do
    base:set(1, 2, cell)
    local codes, words = codes_of(p, base), {}
    for w = 1, codes:cols() do words[w] = codes:get(1, w) end
    local key = table.concat(words, " ")
    if seen[key] then
      t:warn("cells %d and %d of coordinate 2 are one category", seen[key], cell)
      return
    end
    seen[key] = cell
  end
end

-- Cells that are powers of two apart are categories of their own, where there are as many as cells.
local function check_wide(t, p)
  for power = 8, 28, 4 do
    local k = idle_coordinate(p, numbers(p, 1, 1), 1, 2.0 ^ power)
    if k then
      t:warn("cells that are 2^%d apart in coordinate %d, and 2, 3 and 5 times as far, are one \z
        category", power, k)
      return
    end
  end
end

-- Of one that takes all planes of a space: where another number in each of few coordinates is
-- another category, it is so in each of many, and far out.
local function check_planes(t)
  local any = false
  each_coded(t, function(p)
    if p.shape.one_hot and p.takes_all and each_counts(p) then
      any = true
      local _, levels = core.phi_key(p.instance, p.fan_in)
      if levels == 0 then
        check_near_zero(t, p)
        check_wide(t, p)
      end
      for _, planes in ipairs{ 3, 40, 300 } do
        p.fan_in = planes
        for _, size in ipairs{ 1, 1000, 40000, 1e7, -1e7 } do
          local base = numbers(p, 1, 1) * size
          local k = idle_coordinate(p, base, planes > 50 and 7 or 1)
          if k then
            t:warn("cells whose coordinate %d of %d is %.9g, or more by 1 to 5, are one category",
              k, planes, base:get(1, k))
          end
        end
      end
    end
  end)
  if not any then t:skip("a cell has few coordinates, or not each of them counts") end
end

-- Codes may come out as -1, which is what fills the memory before: a second way to look.
local function check_code_words(t)
  each_coded(t, function(p)
    local matrix = numbers(p, 6, 9)
    local codes = codes_of(p, matrix)
    local z = blocks.from(matrix, p.fan_in, "float64")
    local words = core.phi_key(p.instance, p.fan_in)
    local out = blocks.new(6, 9 * words, 1, "int32")
    core.block_put(out, core.ones(6, 9 * words) * 77)
    core.phi_categories(p.instance, z, out)
    blocks.expect_same(t, core.block_get(out), codes, "codes over 77, against codes over -1 (a \z
      word that is not written keeps what was there)")
  end)
end

-- The share of columns of two rows whose codes are the same.
local function agreement(p, a, b)
  local of_a, _, words = codes_of(p, a)
  local of_b, agree, n = codes_of(p, b), 0, a:cols() // p.fan_in
  for j = 1, n do
    local same = true
    for w = (j - 1) * words + 1, j * words do same = same and of_a:get(1, w) == of_b:get(1, w) end
    agree = agree + (same and 1 or 0)
  end
  return agree / n, n
end

local function check_code_dual(t)
  local any = false
  for component in t:variants() do
    if t.subject.offers(component, "scullery.code-dual/1") then
      any = true
      local p = phi.new(t, component)
      normal.each_moments(t, p, function(moments, a, b)
        local told = core.phi_code_dual(p.instance, table.unpack(moments))
        if told ~= told then return end -- no closed form
        local mean, n = agreement(p, a, b)
        normal.expect_mean(t, told, mean, math.sqrt(math.max(mean * (1 - mean), 1 / n) / n),
          "P(category(a) = category(b)) " .. normal.moments_text(moments))
      end)
    end
  end
  if not any then t:skip("it has no ability \"scullery.code-dual/1\"") end
end

return {
  { name = "categories", about = "codes are below the levels, and depend on their own numbers",
    run = check_categories },
  { name = "planes", about = "another cell in any coordinate is another category",
    run = check_planes },
  { name = "code-words", about = "each word of a category is written", run = check_code_words },
  { name = "code-dual", about = "the probability that codes agree, against random pairs",
    run = check_code_dual },
}
