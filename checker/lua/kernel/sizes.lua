--- Tests of kernels at size, near the diagonal and far from 0, and with options far from usual.
local columns = require "scullery_checker.columns"
local core = require "scullery_checker.core"
local functions = require "scullery_checker.definition.functions"
local jumps = require "scullery_checker.jumps"
local parameters = require "scullery_checker.parameters"

-- The kernel of a component on dense rows; nil where it has none, or waits for a law.
local function dense_kernel(t, component)
  local kernel = t:instance(component)
  if not core.kernel_spaces(kernel).dense or t.subject.offers(component, "scullery.bind/1") then
    return nil
  end
  return kernel
end

local function gram(kernel, X, Y)
  local out = parameters.block(X:rows(), (Y or X):rows())
  core.kernel_gram(kernel, parameters.dense(X), parameters.dense(Y or X), out)
  return core.block_get(out)
end

local function diagonal(kernel, X)
  local out = { memory = core.guarded(X:rows(), "float64"), rows = X:rows(), cols = 1 }
  core.kernel_diagonal(kernel, parameters.dense(X), out.memory)
  return core.block_get(out)
end

-- Rows that the kernel takes: X, or |X|.
local function rows_of(t, kernel, X)
  return t.subject.rows(function(rows) gram(kernel, rows:slice(1, 1), rows) end, X)
end

local function size_of(G) return math.max(G:abs():max(), 1e-300) end

local function apart(A, B)
  local gap = (A - B):abs()
  return gap:sum() == gap:sum() and gap:max() or math.huge
end

-- ------------ many rows, many columns

-- K between n and m rows, and between few of them: { n, m, places of these }.
local many = {
  { 300, 600, { { 1, 20, 505, 530 }, { 250, 300, 1, 40 }, { 255, 258, 560, 600 } } },
  { 40, 40, { { 1, 7, 30, 40 }, { 30, 40, 1, 7 }, { 12, 13, 20, 28 } } }, -- of two sets
  { 10, 4500, { { 1, 10, 1020, 1030 }, { 3, 9, 2040, 2060 }, { 1, 2, 4090, 4500 } } },
}

local function check_rows(t, kernel, n, m, places)
  local X, Y = rows_of(t, kernel, t:random(n, 6)), rows_of(t, kernel, t:random(m, 6, 2))
  local G, D = gram(kernel, X, Y), diagonal(kernel, Y)
  local allowed = 1e-12 * size_of(G)
  for _, part in ipairs(places) do
    local i, k, j, l = table.unpack(part)
    local alone = gram(kernel, X:slice(i, k), Y:slice(j, l))
    local gap = apart(G:slice(i, k, j, l), alone)
    t:expect(gap <= allowed, "K between %d and %d rows: rows %d to %d and %d to %d differ by \z
      %.3g from these alone", n, m, i - 1, k - 1, j - 1, l - 1, gap)
  end
  for i = 1, m, m // 16 do
    local own = gram(kernel, Y:slice(i, i)):get(1, 1)
    t:expect(math.abs(D:get(i, 1) - own) <= 1e-12 * math.abs(own), "diagonal of %d rows: row %d \z
      has %.17g, and %.17g alone", m, i - 1, D:get(i, 1), own)
  end
end

-- u and v of two strides.
local function check_strides(t, kernel)
  local X = rows_of(t, kernel, t:random(9, 5))
  local G, out = gram(kernel, X), parameters.block(9, 9)
  core.kernel_gram(kernel, parameters.dense(X, { gap = 2 }), parameters.dense(X, { gap = 7 }), out)
  t:expect(apart(core.block_get(out), G) <= 1e-12 * size_of(G),
    "K depends on the strides: rows of u 2 numbers apart, and those of v 7")
end

-- What holds for 3 and 4 columns holds for many: another order of columns, and a column of zeros
-- more, leave K, where they leave it at all. Some kernels go by the number of columns halved.
local function check_columns(t, kernel)
  local function rules(d)
    local order, zeros = 0, 0
    for _, scale in ipairs{ 1, 0.1 } do -- it may be 0 between rows that are far apart
      local X = rows_of(t, kernel, t:random(7, d) * (scale * math.sqrt(4 / d)))
      local G = gram(kernel, X)
      local with_zeros = gram(kernel, core.hcat(X, core.zeros(7, 1)))
      order = math.max(order, apart(gram(kernel, columns.reversed(X)), G) / size_of(G))
      zeros = math.max(zeros, apart(with_zeros, G) / size_of(G))
    end
    return order, zeros
  end
  local ok, order, zeros = pcall(rules, 4)
  local odd, order_of_3, zeros_of_3 = pcall(rules, 3)
  if not (ok and odd) then return end
  order, zeros = math.max(order, order_of_3), math.max(zeros, zeros_of_3)
  for _, d in ipairs{ 1, 2, 40, 400 } do
    local taken, order_now, zeros_now = pcall(rules, d)
    if taken then
      t:expect(order < 1e-12 or order > 1e-5, "4 columns in another order change K by %.3g: sums \z
        lose digits", order)
      t:expect(order > 1e-13 or order_now <= 1e-11, "%d columns in another order change K by %.3g \z
        of its size, and 4 columns do not", d, order_now)
      t:expect(zeros > 1e-13 or zeros_now <= 1e-11, "a column of zeros beside %d columns changes \z
        K \z
        by %.3g of its size, and beside 4 it does not", d, zeros_now)
    end
  end
end

-- K(-u, -v) = K(u, v) of rows near 0 holds for those far out; and where K has settled between rows
-- that grow along their rays, it stays there: squares that overflow in between are no reason.
local function check_rays(t, kernel)
  local U, V = t:random(4, 3, 31), t:random(4, 3, 32)
  local function between(X, Y)
    local ok, G = pcall(gram, kernel, X, Y)
    return ok and not core.find_nonfinite(G) and G or nil
  end
  local function mirrored(scale)
    local a, b = between(U * scale, V * scale), between(U * -scale, V * -scale)
    return a and b and apart(a, b) / size_of(a)
  end
  local near = mirrored(0.2)
  for _, scale in ipairs(near and near < 1e-13 and { 1, 5, 100 } or {}) do
    local off = mirrored(scale)
    t:expect(not off or off < 1e-9, "between rows of size 0.2 K(-u, -v) is K(u, v), and between \z
      rows of size %g they differ by %.3g", scale, off or 0)
  end
  local before, settled
  for power = 6, 250, 4 do
    local G = between(U * 10.0 ^ power, V * 10.0 ^ power)
    if not G then return end
    local gap = before and apart(before, G) / size_of(before)
    t:expect(not settled or gap < 1e-6, "K between rows of size 1e%d is that of smaller ones, \z
      and of size 1e%d another one, by %.3g", power - 4, power, gap or 0)
    settled = gap and gap < 1e-9 and size_of(G) > 1e-300
    before = G
  end
end

local function check_sizes(t)
  local kernel = dense_kernel(t, t.subject:variants()[1].component)
  if not kernel then t:skip("it is not defined on dense rows") end
  check_strides(t, kernel)
  for _, size in ipairs(many) do check_rows(t, kernel, table.unpack(size)) end
  check_columns(t, kernel)
  for component in t:variants() do
    kernel = dense_kernel(t, component)
    if kernel then check_rays(t, kernel) end
  end
end

-- ------------ near the diagonal, far from 0

-- K(u, v)^2 <= K(u, u) K(v, v), and no NaN, between rows that are nearly equal, near 0 and far.
-- The doc of a kernel that is not positive semidefinite everywhere says where it is.
local function check_pairs(t, kernel, scale)
  local is_definite = not t.subject.info.doc:lower():find("definite", 1, true)
  for _, offset in ipairs{ 0, 1, 1000 } do
    for _, step in ipairs{ 0, 1e-12, 1e-8, 1e-5, 1e-3 } do
      local X = rows_of(t, kernel, (t:random(12, 4) + offset) * scale)
      local Y = rows_of(t, kernel, X + t:random(12, 4, 1) * (step * scale))
      local ok, G = pcall(gram, kernel, X, Y)
      local a, b = ok and diagonal(kernel, X), ok and diagonal(kernel, Y)
      for i = 1, ok and 12 or 0 do
        local value, most = G:get(i, i), math.sqrt(a:get(i, 1)) * math.sqrt(b:get(i, 1))
        t:expect(value == value, "K(u, v) is NaN where u and v are %g apart, at a distance of %g \z
          from 0", step * scale, offset * scale)
        t:expect(not (is_definite and math.abs(value) > most * (1 + 1e-9)) or most == math.huge,
          "K(u, v) of rows \z
          %g apart, at a distance of %g from 0, is %.12g, above the root of K(u, u) K(v, v), %.12g",
          step * scale, offset * scale, value, most)
      end
    end
  end
end

-- The rows as they are and moved by what they hold exactly, for a K that says what that changes.
local function check_shift(t, kernel)
  local word = core.kernel_shift(kernel)
  if word == "changes" then return end
  local X = rows_of(t, kernel, t:random(12, 4)):map(function(x)
    return math.floor(x * 1024) / 1024
  end)
  for _, p in ipairs{ 2, 1 << 17 } do
    local change = gram(kernel, X + p) - gram(kernel, X)
    if word == "centres" then -- but for g(x) + g(y)
      local row = change:sum(1) * (1 / 12)
      change = change - core.ones(12, 1) * row
      change = change - (change:sum(2) * (1 / 12)) * core.ones(1, 12)
    end
    local size = math.max(size_of(gram(kernel, X)), word == "centres" and p * p or 0)
    t:expect(change:abs():max() <= 1e-9 * size, "it says that K %s under shifts, and rows + %d \z
      change it by %.3g, where its size is %.3g", word == "keeps" and "keeps its value"
      or "changes by g(x) + g(y)", p, change:abs():max(), size)
  end
end

-- No NaN, and symmetric, between rows of any size.
local function check_far(t, kernel)
  local is_definite = not t.subject.info.doc:lower():find("definite", 1, true)
  for _, scale in ipairs{ 1e-3, 1, 8, 60, 1000 } do
    local X = rows_of(t, kernel, core.vcat(t:random(20, 4) * scale, core.zeros(1, 4)))
    local ok, G = pcall(gram, kernel, X)
    if ok and is_definite and scale >= 1 and scale <= 8 and not core.find_nonfinite(G) then
      local least = ((G + G:t()) * 0.5):eigvals():min()
      t:expect(least > -1e-8 * size_of(G), "the least eigenvalue of G between 20 rows of size %g \z
        and one of zeros is %.3g, and the largest entry %.3g", scale, least, size_of(G))
    end
    for i = 1, ok and 21 or 0 do
      for j = 1, i do
        local x, y = G:get(i, j), G:get(j, i)
        t:expect(x == x, "K is NaN between rows of size %g", scale)
        -- an exponential of a difference of squares loses what they lose
        local share = math.max(1e-11, 1e-15 * scale * scale)
        t:expect(x == y or math.abs(x - y) <= share * math.max(math.abs(x), math.abs(y)), "\z
          between rows of size %g K(u, w) is %.15g and K(w, u) is %.15g", scale, x, y)
      end
    end
  end
end

-- Along a line from a row K does not jump: where it falls most from one place to the next, they are
-- brought together until nothing is between them. A K that is a step is told by its doc.
local function check_jumps(t, kernel)
  if t.subject.info.doc:lower():find("indicator", 1, true) then return end
  for k = 1, 3 do
    local X = rows_of(t, kernel, t:random(2, 4, 20 + k):abs())
    local from, along = X:slice(1, 1), X:slice(2, 2)
    local function at(step) return gram(kernel, from, from + along * step):get(1, 1) end
    local size, most, low, high = math.abs(at(0)), 0, nil, nil
    for i = -20, 60 do
      local a, b = 10.0 ^ (i / 20), 10.0 ^ ((i + 1) / 20)
      local ok, change = pcall(function() return math.abs(at(a) - at(b)) end)
      if not ok or change ~= change or change == math.huge then return end
      -- falls to 0 count for more: a K that is cut where it is small
      if at(b) == 0 and at(a) ~= 0 then change = change * 1e9 end
      if change > most then most, low, high = change, a, b end
    end
    for _ = 1, low and 45 or 0 do
      local middle = (low + high) / 2
      local here = at(middle)
      if math.abs(here - at(low)) > math.abs(at(high) - here) then high = middle
      else low = middle end
    end
    local jump = low and math.abs(at(low) - at(high)) or 0
    if jump > 1e-9 * size and high - low < 1e-12 * high and at(high) == 0 then
      t:warn("K falls from %.6g to 0 at once, %.9g along a line from a row: it is cut", at(low),
        low)
    end
  end
end

-- A kernel of differences that is continuous where they are 0 is so everywhere. Others may jump,
-- but not by a little.
local function check_small_jumps(t, kernel)
  if t.subject.info.doc:lower():find("indicator", 1, true) then return end
  local X = rows_of(t, kernel, t:random(2, 4, 40):abs())
  local from, along = X:slice(1, 1), X:slice(2, 2)
  local function of_all(list)
    local G = gram(kernel, from, core.vcat(table.unpack(functions.map(list, function(x)
      return from + along * x
    end))))
    return functions.map(list, function(_, i) return G:get(1, i) end)
  end
  local ok, place, jump = pcall(jumps.find, function(x) return of_all{ x }[1] end, of_all)
  if not ok or not place then return end
  local start = of_all{ 0, 1e-9 }
  local tells = "K jumps by %.3g of its size %.9g along a line from a row"
  if core.kernel_shift(kernel) == "keeps" and math.abs(start[1] - start[2]) < 1e-3 * jump then
    t:fail(tells .. ", and is continuous at the row", jump, place)
  end
  if jump < 1e-2 then t:warn(tells, jump, place) end
end

-- A kernel of other kernels says other things of a shift with other parts: with linear ones.
local function check_shift_of_parts(t)
  local linear = require("scullery").kernel.linear()
  for _, option in ipairs(t.subject.info.options) do
    if option.words[1] == "kernel" then
      for _, parts in ipairs{ linear, { linear, linear } } do
        local ok, made = pcall(t.subject.make, t.subject, { [option.name] = parts })
        ok = ok and pcall(t.instance, t, made)
        local kernel = ok and dense_kernel(t, made)
        if kernel then check_shift(t, kernel) end
      end
    end
  end
end

local function check_near(t)
  check_shift_of_parts(t)
  local any
  for component in t:variants() do
    local kernel = dense_kernel(t, component)
    if kernel then
      any = true
      check_pairs(t, kernel, 1)
      check_far(t, kernel)
      check_shift(t, kernel)
      check_jumps(t, kernel)
      check_small_jumps(t, kernel)
    end
  end
  if not any then t:skip("it is not defined on dense rows") end
end

-- ------------ options far from usual

local function check_far_options(t)
  local any
  for _, one in ipairs(t.subject:far_variants()) do
    t.label = one.label
    local kernel = dense_kernel(t, one.component)
    if kernel and pcall(rows_of, t, kernel, t:random(2, 4)) then
      any = true
      for _, scale in ipairs{ 1e-3, 1, 1e3 } do check_pairs(t, kernel, scale) end
    end
  end
  t.label = nil
  if not any then t:skip("no option of it takes numbers far from usual") end
end

return {
  { name = "sizes", about = "many rows and columns at once are those of small blocks",
    run = check_sizes },
  { name = "near", about = "no NaN near the diagonal and far from 0; K(u, v)^2 <= K(u, u) K(v, v)",
    run = check_near },
  { name = "far-options", about = "K holds where options are 1000 times smaller or larger",
    run = check_far_options },
}
