--- Tests of phi at size, at numbers that stand out, and with options far from their defaults.
local core = require "scullery_checker.core"
local blocks = require "scullery_checker.blocks"
local normal = require "scullery_checker.normal"
local phi = require "scullery_checker.nonlinearity.phi"

-- ------------ many rows and columns

local SHAPES <const> = { { 300, 33 }, { 3, 300 }, { 1, 9003 } }

local function columns_of(p, matrix) return matrix:cols() // p.fan_in end

-- A large block in each layout, and parts of it alone.
local function check_shape(t, p, dtype, matrix)
  local whole, cols = p:apply(matrix, dtype), columns_of(p, matrix)
  local what = ("%d x %d %s"):format(matrix:rows(), cols, dtype)
  for _, layout in ipairs{ blocks.layouts[4], blocks.layouts[5] } do
    local made, out = p:apply(matrix, dtype, layout)
    blocks.expect_gaps(t, out, what .. ", " .. layout.label)
    blocks.expect_same(t, made, whole, what .. ", " .. layout.label)
  end
  for _, first in ipairs{ 1, 127, 255, 511, 4095, cols - 8 } do
    local last = math.min(first + 8, cols)
    if first >= 1 and first <= cols then
      blocks.expect_same(t, phi.columns(whole, first, last, p.fan_out),
        p:apply(phi.columns(matrix, first, last, p.fan_in), dtype),
        ("%s: columns %d to %d, against these alone"):format(what, first, last))
    end
  end
  for _, row in ipairs{ 1, 2, 129, 257, matrix:rows() } do
    if row <= matrix:rows() then
      blocks.expect_same(t, whole:slice(row, row), p:apply(matrix:slice(row, row), dtype),
        ("%s: row %d, against the row alone"):format(what, row))
    end
  end
  if p.fan_in == 1 and p.fan_out == 1 then
    local z = blocks.new(matrix:rows(), cols, 1, dtype)
    core.block_put(z, matrix)
    core.phi_apply(p.instance, z, z)
    blocks.expect_same(t, core.block_get(z), whole, what .. ", out on z")
  end
end

local function codes_of(p, matrix)
  local z = blocks.from(matrix, p.fan_in, "float64")
  local words = core.phi_key(p.instance, p.fan_in)
  local out = blocks.new(z.rows, z.cols * words, 1, "int32")
  core.phi_categories(p.instance, z, out)
  return core.block_get(out), words
end

local function check_codes(t, p)
  for _, size in ipairs{ { 2, 700 }, { 300, 9 } } do
    local matrix = p:numbers(size[1], size[2])
    if p.shape.spaces.grid then matrix = matrix:map(math.floor) end
    local whole, words = codes_of(p, matrix)
    for _, at in ipairs{ 1, size[2] // 2, size[2] } do
      blocks.expect_same(t, whole:slice(1, size[1], (at - 1) * words + 1, at * words),
        (codes_of(p, phi.columns(matrix, at, at, p.fan_in))),
        ("codes of column %d of %d, against the column alone"):format(at, size[2]))
    end
    blocks.expect_same(t, whole:slice(size[1], size[1]),
      (codes_of(p, matrix:slice(size[1], size[1]))),
      ("codes of row %d, against the row alone"):format(size[1]))
  end
end

local function check_sizes(t)
  local component = t.subject:variants()[1].component
  local p = phi.new(t, component)
  if t.subject.offers(component, "scullery.categories/1") then check_codes(t, p) end
  if p.shape.one_hot then return end
  for _, dtype in ipairs(p.dtypes) do
    for i, shape in ipairs(SHAPES) do
      check_shape(t, p, dtype, p:numbers(shape[1], shape[2], i))
    end
  end
end

-- ------------ numbers that stand out

-- Whole numbers, halves, powers of ten down to 1e-300, and what lies beside them.
local function special()
  local list = { 0.0, -0.0 }
  for k = 1, 12 do
    for _, sign in ipairs{ 1, -1 } do
      list[#list + 1] = sign * k / 2
      list[#list + 1] = sign * k * math.pi / 4
    end
  end
  for _, power in ipairs{ -300, -160, -40, -20, -12, -10, -8, -7, -6, -5, -4, -3, -2, 2 } do
    list[#list + 1], list[#list + 2] = 1.5 * 10.0 ^ power, -1.5 * 10.0 ^ power
  end
  return list
end

-- float32 gives what float64 gives: rounding of inputs and outputs.
local function check_single(t, p)
  local matrix = p:take(require("scullery").matrix{ special() }):astype("float32")
    :astype("float64")
  local want, made = p:apply(matrix), p:apply(matrix, "float32")
  local up, down = p:apply(matrix * (1 + 3e-7)), p:apply(matrix * (1 - 3e-7))
  local size = math.min(1, want:abs():mean())
  for j = 1, want:cols() do
    local value = want:get(1, j)
    local spread = math.max(math.abs(up:get(1, j) - value), math.abs(down:get(1, j) - value))
    if math.abs(value) < 1e30 then
      t:expect(math.abs(made:get(1,
        j) - value) <= 1e-5 * math.abs(value) + 2e-6 * size + 4 * spread,
        "phi(%.9g) is %.9g in float32, and %.9g in float64",
        matrix:get(1, (j - 1) % matrix:cols() + 1), made:get(1, j), value)
    end
  end
end

-- phi of one number, in both types, is a number; near it phi is near, by its Lipschitz constant.
local function check_special(t, p)
  local list, facts = special(), core.facts(p.instance)
  local matrix = p:take(require("scullery").matrix{ list })
  local made = p:apply(matrix)
  local single = p.shape.float32 and p:apply(matrix, "float32")
  local near = facts.lipschitz < math.huge
    and { p:apply(matrix:map(function(z) return z + 1e-9 end)),
      p:apply(matrix:map(function(z) return z + 1e-3 end)) } or {}
  for j = 1, made:cols() do
    local z, value = matrix:get(1, (j - 1) % #list + 1), made:get(1, j)
    t:expect(value == value, "phi(%.17g) is NaN", z)
    t:expect(not single or single:get(1, j) == single:get(1, j), "phi(%.9g) is NaN in float32", z)
    for k, step in ipairs{ 1e-9, 1e-3 } do
      local change = near[k] and math.abs(near[k]:get(1, j) - value) or 0
      t:expect(change <= facts.lipschitz * (step * (1 + 1e-6) + 2e-16 * math.abs(z))
        + 1e-14 * math.abs(value), "from z = %.9g to a number %g above phi changes by %.6g, and \z
          its \z
        Lipschitz constant is %.6g", z, step, change, facts.lipschitz)
    end
  end
end

-- The steepest of steps over a grid.
local function check_steps(t, p)
  local facts = core.facts(p.instance)
  if facts.lipschitz == math.huge or p.is_bounded then return end
  local list = {}
  for j = 1, 16001 do list[j] = (p.is_positive and 0 or -8) + (j - 1) * 1e-3 end
  for _, values in ipairs(p:at(list)) do
    for j = 2, #list do
      local change = math.abs(values[j] - values[j - 1])
      t:expect(change <= facts.lipschitz * 1e-3 * (1 + 1e-9) + 1e-14 * math.abs(values[j]),
        "from z = %.4f to %.4f phi changes by %.6g: %.6g times, above its Lipschitz constant %.6g",
        list[j - 1], list[j], change, change * 1e3, facts.lipschitz)
    end
  end
end

local function check_numbers(t)
  phi.each_function(t, function(p)
    check_special(t, p)
    if p.shape.float32 then check_single(t, p) end
    check_steps(t, p)
  end)
end

-- ------------ options far from their defaults

local function smoothed(p, m, v)
  local block = blocks.from(m, 1, "float64")
  local out = blocks.new(block.rows, block.cols, p.fan_out, "float64")
  local memory = core.guarded(1, "float64")
  core.block_put({ memory = memory, rows = 1, cols = 1 }, core.ones(1, 1) * v)
  core.phi_smooth(p.instance, block, { memory = memory, row_stride = 0, col_stride = 0 }, out)
  return core.block_get(out)
end

-- E f(N(m, v^2)) for f smooth over v, for each output, and how sure.
local function expectation(f, m, v, breaks)
  local made, sure = {}, {}
  for pass, width in ipairs{ 0.25, 0.15625, 0.11 } do
    local z, w = normal.quadrature(m, v, breaks, width)
    for o, list in ipairs(f(z)) do
      local sum, size = 0, 0
      for i, weight in ipairs(w) do
        sum, size = sum + weight * list[i], size + weight * math.abs(list[i])
      end
      sure[o] = math.max(sure[o] or 0, 1e-9 * size + 1e-300,
        pass > 1 and 30 * math.abs(sum - made[o]) or 0)
      made[o] = sum
    end
  end
  return made, sure
end

local function lists_of(matrix, fan_out)
  local lists, n = {}, matrix:cols() // fan_out
  for o = 1, fan_out do
    lists[o] = {}
    for j = 1, n do lists[o][j] = matrix:get(1, (o - 1) * n + j) end
  end
  return lists
end

local function expect_smooth(t, p, m, v, f, from, how)
  local made, sure = expectation(f, m, from, how == "phi" and core.facts(p.instance).breaks or {})
  local got = smoothed(p, require("scullery").matrix{ { m } }, v)
  for o = 1, p.fan_out do
    -- what the rule does not resolve says nothing
    if made[o] - made[o] == 0 and sure[o] <= 1e-5 * (math.abs(made[o]) + 1) then
      t:expect(math.abs(got:get(1, o) - made[o]) <= sure[o] + 1e-11 * math.abs(made[o])
        + 1e-14 * core.facts(p.instance).bound,
        "output %d: S(%.6g, %.6g) is %.15g; quadrature of %s gives %.15g, sure to %.2g", o, m, v,
        got:get(1, o), how, made[o], sure[o])
    end
  end
end

-- Small spreads by quadrature of phi, large ones by S(m, v sqrt2) = E S(N(m, v^2), v).
local function check_spreads(t, p)
  if not t.subject.offers(p.component, "scullery.smoothing/1") or p.fan_in > 1 then return end
  if core.facts(p.instance).bound == math.huge or p.is_bounded then return end
  for _, m in ipairs{ 0, 0.3, -1.7, 4 } do
    m = p.is_positive and math.abs(m) or m
    for _, v in ipairs{ 1e-8, 1e-5, 1e-3, 0.03, 0.3 } do
      expect_smooth(t, p, m, v, function(z) return p:at(z) end, v, "phi")
    end
    for k = p.is_positive and 20 or 0, 14 do
      local v = 2.0 ^ (k / 2)
      expect_smooth(t, p, m * v, v * math.sqrt(2), function(z)
        return lists_of(smoothed(p, require("scullery").matrix{ z }, v), p.fan_out)
      end, v, "S itself")
    end
  end
end

local function check_smooth_long(t, p)
  if not t.subject.offers(p.component, "scullery.smoothing/1") or p.fan_in > 1 then return end
  local m, v = p:numbers(1, 1357), t:random(1, 1357, 8):abs()
  for _, dtype in ipairs(p.dtypes) do
    local function smooth(first, last) -- each number with a spread of its own
      local block = blocks.from(m:slice(1, 1, first, last), 1, dtype)
      local out = blocks.new(1, block.cols, p.fan_out, dtype)
      local spread = blocks.from(v:slice(1, 1, first, last), 1, dtype)
      core.phi_smooth(p.instance, block, { memory = spread.memory, row_stride = block.cols,
        col_stride = 1 }, out)
      return core.block_get(out)
    end
    local whole = smooth(1, 1357)
    for _, first in ipairs{ 1, 60, 250, 1010, 1348 } do
      blocks.expect_same(t, phi.columns(whole, first, first + 9, p.fan_out),
        smooth(first, first + 9), ("smoothing of columns %d to %d of 1357 in %s, against these \z
          alone"):format(first, first + 9, dtype))
    end
  end
end

-- Pairs of numbers whose moments are far apart, equal, or opposite: { var_a, var_b, correlation }.
local FAR <const> = { { 1, 1, 1 }, { 1, 1, -1 }, { 1, 1, -0.5 }, { 30, 30, 1 }, { 200, 200, 0.999 },
  { 1e4, 1e4, 1 }, { 1e-6, 1e-6, 0.5 }, { 5000, 0.5, 0.4 }, { 0.5, 5000, -0.4 }, { 100, 60, 0.6 },
  { 0, 2, 0 }, { 2, 0, 0 }, { 0, 0, 0 } }

-- A closed form of numbers about 0 has no gaps, and obeys Cauchy and Schwarz. share: of codes.
local function check_far_moments(t, p, tell, mean_product)
  local function told(a, b, r) return tell(0, 0, a, b, r * math.sqrt(a * b)) end
  local usual = told(1, 1, 0.3)
  if usual ~= usual then return end
  for k, one in ipairs(FAR) do
    local a, b, r = table.unpack(one)
    local value = told(a, b, r)
    local what = ("at means 0, variances %g, %g, correlation %g"):format(a, b, r)
    -- methods of their own may end where variances are very large
    if value ~= value and math.max(a, b) > 200 then return end
    t:expect(value == value, "%s it tells NaN, and %.6g at variances 1, 1, correlation 0.3", what,
      usual)
    if mean_product then
      local x, y = t:random(1, 40000, 2 * k), t:random(1, 40000, 2 * k + 1)
      local mean, stderr = mean_product(x * math.sqrt(a),
        (x * r + y * math.sqrt(math.max(0, 1 - r * r))) * math.sqrt(b))
      -- what 40000 draws may not meet at all, twice the bound squared, 3e-4 of the time
      local rare = 6e-4 / normal.STANDARD_ERRORS * core.facts(p.instance).bound ^ 2
      normal.expect_mean(t, value, mean, stderr + rare, what)
    end
  end
end

local function check_duals(t, p)
  if p.fan_in > 1 or p.is_positive then return end
  if t.subject.offers(p.component, "scullery.gaussian-dual/1")
    and core.facts(p.instance).bound < math.huge then
    check_far_moments(t, p, function(...) return core.phi_dual(p.instance, ...) end,
      function(a, b) return normal.mean_product(p, a, b) end)
  end
  if t.subject.offers(p.component, "scullery.code-dual/1") then
    check_far_moments(t, p, function(...) return core.phi_code_dual(p.instance, ...) end)
  end
end

-- Two phi whose option differs by a factor of 2 differ, at numbers of some size (0 has no other).
local function expect_other(t, p, other, name, number)
  if p.shape.one_hot or number == 0 then return end
  for _, scale in ipairs{ 1e-6, 1e-4, 1e-2, 1, 1e2, 1e4 } do
    local matrix = p:numbers(2, 20) * scale
    local ok, a = pcall(p.apply, p, matrix)
    local taken, b = pcall(other.apply, other, matrix)
    if not ok or not taken or core.first_difference(a, b) then return end
  end
  t:warn("%s = %g gives the same as %s = %g: the option is cut", name, number, name, number / 2)
end

-- What is right whatever the options are.
local function check_far(t)
  local any = false
  local function check(component)
    local p = phi.new(t, component)
    if p.shape.one_hot then return end
    any = true
    if p.fan_in == 1 then check_special(t, p) end
    check_spreads(t, p)
    check_duals(t, p)
  end
  local first = t.subject:variants()[1].component
  check(first)
  local p = phi.new(t, first)
  if not p.shape.one_hot then check_smooth_long(t, p) end
  for _, one in ipairs(t.subject:far_variants()) do
    t.label = one.label
    check(one.component)
    -- an option is not cut: half as far away it gives something else
    for name, number in pairs(one.given) do
      local ok, other = pcall(t.subject.make, t.subject, { [name] = number * 0.5 })
      if ok then expect_other(t, phi.new(t, one.component), phi.new(t, other), name, number) end
    end
  end
  t.label = nil
  if not any then t:skip("its outputs are categories") end
end

return {
  { name = "sizes", about = "many rows and columns at once are those of small blocks",
    run = check_sizes },
  { name = "special-numbers", about = "zeros, whole and tiny numbers give numbers, and no steps",
    run = check_numbers },
  { name = "far-options", about = "closed forms hold, options and moments far from usual",
    run = check_far },
}
