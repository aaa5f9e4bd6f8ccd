--- Tests of closed forms: the smoothing, and the duals.
local core = require "scullery_checker.core"
local blocks = require "scullery_checker.blocks"
local functions = require "scullery_checker.definition.functions"
local jumps = require "scullery_checker.jumps"
local normal = require "scullery_checker.normal"
local phi = require "scullery_checker.nonlinearity.phi"

local SMOOTHING <const> = "scullery.smoothing/1"

-- f(phi) for each variant that has the ability.
local function each_with(t, id, f)
  local any = false
  phi.each(t, function(p)
    if not t.subject.offers(p.component, id) then return end
    any = true
    f(p)
  end)
  if not any then t:skip("it has no ability \"%s\"", id) end
end

-- ------------ smoothing

local spreads = {
  { label = "a spread for each number", row_stride = function(c) return c end, col_stride = 1 },
  { label = "a spread for each column", row_stride = function() return 0 end, col_stride = 1 },
  { label = "a spread for each row", row_stride = function() return 1 end, col_stride = 0 },
  { label = "one spread", row_stride = function() return 0 end, col_stride = 0 },
}

-- The spread of row i, column j of a block, so laid out, from a matrix rows x cols that is constant
-- where the layout says.
local function spread_of(matrix, dtype, how)
  local rows, cols = matrix:rows(), matrix:cols()
  local row_stride, col_stride = how.row_stride(cols), how.col_stride
  local memory = core.guarded((rows - 1) * row_stride + (cols - 1) * col_stride + 1, dtype)
  for i = 1, rows do
    for j = 1, cols do
      core.block_put({ memory = memory, rows = 1, cols = 1,
        offset = (i - 1) * row_stride + (j - 1) * col_stride }, matrix:slice(i, i, j, j))
    end
  end
  core.guarded_lock(memory)
  return { memory = memory, row_stride = row_stride, col_stride = col_stride }
end

-- S(m, v) of a matrix of means, planes side by side, and of spreads rows x cols.
local function smooth(p, m, v, dtype, how, layout)
  local block = blocks.from(m, p.fan_in, dtype, layout)
  local out = blocks.new(block.rows, block.cols, p.fan_out, dtype, layout)
  core.phi_smooth(p.instance, block, spread_of(v, dtype, how or spreads[1]), out)
  return core.block_get(out), out
end

-- How large phi is at numbers of the size of m and v: closed forms round to it where they cancel.
local function size_at(p, m, v)
  local sum, at = 0, math.abs(m) + v
  for _, list in ipairs(p:at{ at, p.is_positive and at or -at, m }) do
    for _, value in ipairs(list) do sum = sum + math.abs(value) end
  end
  return sum
end

-- What the quadrature, which ends at 13 spreads, may leave out of a phi that is about 1 there, or
-- as large as near 0.
local TAIL <const> = 1e-36

-- S(m, v) of a phi of one number, by two quadratures, for each output: values, and how sure.
local function expected(p, m, v, breaks)
  local values, sure, sums = {}, {}, {}
  local rounding = 1e-13 * size_at(p, m, v) + TAIL * (size_at(p, 0, 1) + size_at(p, 0, 0) + 1)
  for pass, width in ipairs{ 0.25, 0.15625 } do
    local z, w = normal.quadrature(m, v, breaks, width)
    for o, list in ipairs(p:at(z)) do
      local sum, size = 0, 0
      for i, weight in ipairs(w) do
        sum = sum + weight * list[i]
        size = size + weight * math.abs(list[i])
      end
      sums[o] = sums[o] or {}
      sums[o][pass] = sum
      values[o] = sum
      sure[o] = 1e-9 * size + 20 * math.abs(sum - sums[o][1]) + rounding
    end
  end
  return values, sure
end

local function check_by_quadrature(t, p)
  local breaks = core.facts(p.instance).breaks
  for _, v in ipairs{ 1e-6, 0.1, 0.5, 1, 2 } do
    local means = t:random(1, 9, math.floor(10 * v)) * 1.5
    means:set(1, 8, 30)
    means:set(1, 9, -30)
    means = p:take(means)
    local made = smooth(p, means, core.ones(1, 9) * v, "float64")
    for j = 1, 9 do
      local values, sure = expected(p, means:get(1, j), v, breaks)
      for o = 1, p.fan_out do
        local got = made:get(1, (o - 1) * 9 + j)
        t:expect(math.abs(got - values[o]) <= sure[o], "output %d: S(%.6g, %g) is %.15g; \z
          quadrature of phi gives %.15g, sure to %.2g", o, means:get(1, j), v, got, values[o],
          sure[o])
      end
    end
  end
end

-- The same by random draws, where phi takes several numbers.
local function check_by_draws(t, p)
  local draws = 50000
  for case, v in ipairs{ 0.3, 1, 2, 0.01 } do
    local means = p:take(t:random(1, p.fan_in, case) * (v < 0.1 and v or 1.5))
    local made = smooth(p, means, core.ones(1, 1) * v, "float64")
    local z = t:random(1, draws * p.fan_in, 50 + case) * v
    for k = 0, p.fan_in - 1 do
      for j = 1, draws do
        z:set(1, k * draws + j, z:get(1, k * draws + j) + means:get(1, k + 1))
      end
    end
    local values = p:apply(p:take(z))
    for o = 1, p.fan_out do
      local one = values:slice(1, 1, (o - 1) * draws + 1, o * draws)
      local mean = one:mean()
      local stderr = math.sqrt(math.max(one:mul(one):mean() - mean * mean, 0) / (draws - 1))
      normal.expect_mean(t, made:get(1, o), mean, stderr,
        ("output %d: S(m, %g), m[1] = %.6g,"):format(o, v, means:get(1, 1)))
    end
  end
end

-- S(m, v) has no jump, whatever phi is, as v is above 0.
local function expect_no_jump(t, p)
  for k = 1, 3 do
    for o = 1, p.fan_out do
      local function of_all(list)
        local n = #list
        local m, v = core.ones(1, n) * (k == 2 and -0.7 or 0.7), core.ones(1, n) * 0.6
        for i, x in ipairs(list) do
          if k == 3 then v:set(1, i, x) else m:set(1, i, m:get(1, i) * x) end
        end
        local made = smooth(p, m, v, "float64")
        return functions.map(list, function(_, i) return made:get(1, (o - 1) * n + i) end)
      end
      local place, jump = jumps.find(function(x) return of_all{ x }[1] end, of_all)
      t:expect(not place, "S(m, v) jumps by %.3g of its size %s at %s %.9g", jump, k == 3
        and "with m = 0.7" or "with v = 0.6", k == 3 and "v =" or "|m| = 0.7 times", place)
    end
  end
end

local function check_smoothing(t)
  each_with(t, SMOOTHING, function(p)
    if p.fan_in == 1 and not p.is_positive and not p.is_bounded then expect_no_jump(t, p) end
    if p.fan_in == 1 then check_by_quadrature(t, p) else check_by_draws(t, p) end
  end)
end

-- v = 0 gives phi(m).
local function check_still(t, p, dtype)
  local m = p:numbers(3, 20)
  local made = smooth(p, m, core.zeros(3, 20), dtype)
  local want = p:apply(m, dtype)
  for i = 1, 3 do
    for j = 1, want:cols() do
      local gap = math.abs(made:get(i, j) - want:get(i, j))
      t:expect(gap <= (dtype == "float64" and 1e-12 or 1e-5) * (1 + math.abs(want:get(i, j))),
        "%s: S(%.6g, 0) is %.9g, and phi of it is %.9g", dtype, m:get(i, (j - 1) % 20 + 1),
        made:get(i, j), want:get(i, j))
    end
  end
end

local function check_layouts(t, p, dtype)
  local m = p:numbers(4, 21, 3)
  for s, how in ipairs(spreads) do
    local v = core.ones(4, 21)
    for i = 1, 4 do
      for j = 1, 21 do
        v:set(i, j, 0.25 + (how.row_stride(21) > 0 and 0.5 * i or 0)
          + (how.col_stride > 0 and j % 4 or 0))
      end
    end
    local want = smooth(p, m, v, dtype)
    for _, layout in ipairs(blocks.layouts) do
      local made, out = smooth(p, m, v, dtype, how, layout)
      local what = ("smoothing, %s, %s of %s"):format(how.label, layout.label, dtype)
      blocks.expect_gaps(t, out, what)
      blocks.expect_same(t, made, want, what)
    end
    for j = 1, s == 1 and 21 or 0 do
      local made = smooth(p, phi.columns(m, j, j, p.fan_in), v:slice(1, 4, j, j), dtype)
      blocks.expect_same(t, phi.columns(want, j, j, p.fan_out), made,
        ("smoothing, column %d of 21, against the column alone"):format(j))
    end
    for i = 1, s == 1 and 4 or 0 do
      blocks.expect_same(t, want:slice(i, i), smooth(p, m:slice(i, i), v:slice(i, i), dtype),
        ("smoothing, row %d of 4, against the row alone"):format(i))
    end
  end
end

-- Many numbers of a row at once, in parts: those of each part alone.
local function check_smooth_wide(t, p, dtype)
  local m, N <const> = p:numbers(1, 1301, 7), 1301
  local all = smooth(p, m, core.ones(1, N) * 0.5, dtype)
  for _, part in ipairs{ { 1, 100 }, { 200, 330 }, { 1000, N } } do
    local from, to = part[1], part[2]
    blocks.expect_same(t, phi.columns(all, from, to, p.fan_out), smooth(p, phi.columns(m, from, to,
      p.fan_in), core.ones(1, to - from + 1) * 0.5, dtype),
      ("smoothing, columns %d to %d of %d, against these alone"):format(from, to, N))
  end
end

local function check_smooth_float32(t, p)
  local m = p:numbers(4, 20, 5):astype("float32"):astype("float64")
  local v = core.ones(4, 20) * 0.5
  local want, made = smooth(p, m, v, "float64"), smooth(p, m, v, "float32")
  local size = math.max(want:abs():mean(), 1e-10)
  for i = 1, 4 do
    for j = 1, want:cols() do
      local gap = math.abs(made:get(i, j) - want:get(i, j))
      t:expect(gap <= 2e-5 * (size + math.abs(want:get(i, j))),
        "S(%.9g, 0.5): float32 gives %.9g and float64 %.9g", m:get(i, (j - 1) % 20 + 1),
        made:get(i, j), want:get(i, j))
    end
  end
end

local function check_smooth_blocks(t)
  each_with(t, SMOOTHING, function(p)
    for _, dtype in ipairs(p.dtypes) do
      check_still(t, p, dtype)
      check_layouts(t, p, dtype)
      check_smooth_wide(t, p, dtype)
    end
    if p.shape.float32 then check_smooth_float32(t, p) end
  end)
end

-- ------------ duals

-- Where one of the pair is a function of the other, or both are constant: by quadrature.
local function exact_product(p, m)
  if p.fan_in > 1 then return nil end
  local sd_a, sd_b = math.sqrt(m[3]), math.sqrt(m[4])
  local r = sd_a * sd_b > 0 and m[5] / (sd_a * sd_b) or 0
  if sd_a * sd_b > 0 and math.abs(r) < 1 then return nil end
  local breaks = {}
  for _, at in ipairs(core.facts(p.instance).breaks) do
    if sd_a > 0 then breaks[#breaks + 1] = (at - m[1]) / sd_a end
    if sd_b > 0 then breaks[#breaks + 1] = (at - m[2]) / (r < 0 and -sd_b or sd_b) end
  end
  local value, sure
  for _, width in ipairs{ 0.25, 0.15625 } do
    local x, w = normal.quadrature(0, 1, breaks, width)
    local a, b = {}, {}
    for i, one in ipairs(x) do
      a[i] = m[1] + sd_a * one
      b[i] = m[2] + (r < 0 and -sd_b or sd_b) * one
    end
    local of_a, of_b, sum, size = p:at(a), p:at(b), 0, 0
    for o = 1, p.fan_out do
      for i, weight in ipairs(w) do
        sum = sum + weight * of_a[o][i] * of_b[o][i]
        size = size + weight * math.abs(of_a[o][i] * of_b[o][i])
      end
    end
    sure = 1e-8 * size + 20 * math.abs(sum - (value or sum))
    value = sum
  end
  return value, sure
end

-- The same by quadrature over a of phi(a) S(mean of b at a, spread of b at a), where it smooths.
local function smoothed_product(t, p, m)
  local rest = m[4] - m[5] * m[5] / math.max(m[3], 1e-300)
  if p.fan_in > 1 or m[3] == 0 or rest <= 0
    or not t.subject.offers(p.component, SMOOTHING) then
    return nil
  end
  local sd, breaks, value, sure = math.sqrt(m[3]), {}, nil, nil
  for k, at in ipairs(core.facts(p.instance).breaks) do breaks[k] = (at - m[1]) / sd end
  for _, width in ipairs{ 0.25, 0.15625 } do
    local x, w = normal.quadrature(0, 1, breaks, width)
    local a, b, n, sum, size = {}, core.zeros(1, #x), #x, 0, 0
    for i, one in ipairs(x) do
      a[i] = m[1] + sd * one
      b:set(1, i, m[2] + m[5] / sd * one)
    end
    local of_a, of_b = p:at(a), smooth(p, b, core.ones(1, n) * math.sqrt(rest), "float64")
    for o = 1, p.fan_out do
      for i, weight in ipairs(w) do
        local product = weight * of_a[o][i] * of_b:get(1, (o - 1) * n + i)
        sum, size = sum + product, size + math.abs(product)
      end
    end
    sure = 1e-8 * size + 20 * math.abs(sum - (value or sum))
    value = sum
  end
  return sure < 1e-6 and value or nil, sure
end

-- The dual has no jump where the two are not functions of each other.
local function expect_no_jump_of_dual(t, p)
  for k = 1, 3 do
    local function at(x)
      local r = k == 1 and 1 - 0.199 * x or k == 2 and -1 + 0.199 * x or 0.4
      local size = k == 3 and x or 1
      return core.phi_dual(p.instance, 0, 0, size, 1, r * math.sqrt(size))
    end
    local place, jump = jumps.find(at, function(list) return functions.map(list, at) end)
    t:expect(not place, "E phi(a) phi(b) jumps by %.3g of its size, of means 0 and variances %s",
      jump, place and (k == 3 and ("%.9g and 1"):format(place) or ("1, at the covariance \z
      %.9g"):format(k == 1 and 1 - 0.199 * place or 0.199 * place - 1)))
  end
end

local function check_gaussian_dual(t)
  each_with(t, "scullery.gaussian-dual/1", function(p)
    if not p.is_positive and not p.is_bounded then expect_no_jump_of_dual(t, p) end
    local told_any = false
    normal.each_moments(t, p, function(m, a, b)
      local told = core.phi_dual(p.instance, table.unpack(m))
      if told ~= told then return end -- no closed form
      told_any = true
      local what = "E phi(a) phi(b) " .. normal.moments_text(m)
      local value, sure = exact_product(p, m)
      if not value then value, sure = smoothed_product(t, p, m) end
      if value then
        t:expect(math.abs(told - value) <= sure, "%s is told as %.12g; quadrature of phi gives \z
          %.12g, sure to %.2g", what, told, value, sure)
      else
        local mean, stderr = normal.mean_product(p, a, b)
        normal.expect_mean(t, told, mean, stderr, what)
      end
      local swapped = core.phi_dual(p.instance, m[2], m[1], m[4], m[3], m[5])
      t:expect(math.abs(swapped - told) <= 1e-9 * (math.abs(told) + 1e-300), "%s is %.12g, and \z
        with a and b exchanged %.12g", what, told, swapped)
    end)
    if not told_any then t:warn("gaussian-dual tells NaN for all moments that were tried") end
  end)
end

-- E_t phi(a - t) phi(b - t) for thresholds uniform on [0, 1]: over their middles.
local function check_threshold_dual(t)
  each_with(t, "scullery.threshold-dual/1", function(p)
    local count = 20000
    for _, at in ipairs{ { 0.2, 0.7 }, { 0.7, 0.2 }, { 0.5, 0.5 }, { 0, 1 }, { 1, 1 }, { 0, 0 },
      { 0.97, 0.995 }, { 0.02, 0.004 }, { 0.999, 0.01 } } do
      local a, b = {}, {}
      for i = 1, count do
        a[i], b[i] = at[1] - (i - 0.5) / count, at[2] - (i - 0.5) / count
      end
      local of_a, of_b, sum, size = p:at(a), p:at(b), 0, 0
      for o = 1, p.fan_out do
        for i = 1, count do
          sum = sum + of_a[o][i] * of_b[o][i] / count
          size = math.max(size, math.abs(of_a[o][i] * of_b[o][i]))
        end
      end
      local told = core.phi_threshold_dual(p.instance, at[1], at[2])
      t:expect(told ~= told or math.abs(told - sum) <= 8 / count * size, "E phi(a - t) phi(b - t) \z
        is told as %.8g for F(a) = %g, F(b) = %g; over uniform thresholds it is %.8g", told, at[1],
        at[2], sum)
    end
  end)
end

-- Over a phase that is uniform on [0, 2 pi] the product of features is amplitude cos(a - b).
local function check_harmonic(t)
  each_with(t, "scullery.harmonic/1", function(p)
    if p.fan_in > 1 then return end
    local amplitude, count = core.phi_amplitude(p.instance), 2048
    for _, gap in ipairs{ 0, 0.3, 1, 2.5, 7, 300 } do
      local a, b = {}, {}
      for i = 1, count do
        a[i] = gap + 0.4 + 2 * math.pi * i / count
        b[i] = a[i] + gap
      end
      local of_a, of_b, sum = p:at(a), p:at(b), 0
      for o = 1, p.fan_out do
        for i = 1, count do sum = sum + of_a[o][i] * of_b[o][i] / count end
      end
      t:expect(math.abs(sum - amplitude * math.cos(gap)) <= 1e-9 * math.max(1, math.abs(amplitude)),
        "over a uniform phase the features of z and z + %g have the product %.12g; its amplitude \z
        says %.12g", gap, sum, amplitude * math.cos(gap))
    end
  end)
end

return {
  { name = "smoothing", about = "S(m, v) = E phi(N(m, v^2))", run = check_smoothing },
  { name = "smoothing-blocks", about = "S in blocks of all layouts, in float32, and at v = 0",
    run = check_smooth_blocks },
  { name = "gaussian-dual", about = "E phi(a) phi(b) of normal pairs, against draws and quadrature",
    run = check_gaussian_dual },
  { name = "threshold-dual", about = "E phi(a - t) phi(b - t) over thresholds",
    run = check_threshold_dual },
  { name = "harmonic", about = "products of features over a uniform phase are amplitude cos(a - b)",
    run = check_harmonic },
}
