--- Tests of samplers: shared rows, scales, structured products, states learnt from rows.
local core = require "scullery_checker.core"
local parameters = require "scullery_checker.parameters"

-- ------------ pools

local function pool_of(draw, first, count, fan_in, at_start)
  local out = { memory = core.guarded(count * fan_in, "int32", at_start), rows = count,
    cols = fan_in }
  core.sampler_pool(draw, first, count, fan_in, out.memory)
  return core.block_get(out)
end

local function check_different(t, made, rows)
  for i = 1, made:rows() do
    local seen = {}
    for j = 1, made:cols() do
      local row = made:get(i, j)
      t:expect(row >= 0 and row < rows, "place %d of the pool of parameter %d is row %d, of %d",
        j - 1, i - 1, row, rows)
      t:expect(not seen[row], "the pool of parameter %d has row %d twice", i - 1, row)
      seen[row] = true
    end
  end
end

local function check_pool(t, draw)
  if not core.sampler_tells(draw.sampler).pool then return false end
  for _, fan_in in ipairs{ 1, 2, 3, 7 } do
    local count = 90
    local rows = core.sampler_pool_rows(draw.sampler, count, fan_in)
    t:expect(rows >= fan_in, "%d rows are shared by parameters that read %d different ones", rows,
      fan_in)
    local asked = parameters.with(draw, { total = rows })
    local whole = pool_of(asked, 0, count, fan_in)
    check_different(t, whole, rows)
    for _, part in ipairs{ { 70, 20 }, { 5, 17 }, { 89, 1 }, { 0, 1 } } do
      local made = pool_of(asked, part[1], part[2], fan_in, true)
      t:expect(made == whole:slice(part[1] + 1, part[1] + part[2]), "fan_in = %d: the pools of %d \z
        parameters from %d on differ from the same of the whole", fan_in, part[2], part[1])
    end
    pool_of(asked, 3, 0, fan_in)
  end
  return true
end

-- ------------ scales

local function scales_of(draw, room, at_start)
  local out = { memory = core.guarded(room.count, "float64", at_start), rows = room.count,
    cols = 1 }
  core.sampler_scales(draw, room, out.memory)
  return core.block_get(out)
end

local function check_scales(t, draw, layout)
  if not parameters.offers(draw, "scullery.scales/1") then return false end
  local room = parameters.lock(parameters.drawn(draw, layout, 0, draw.total))
  local whole = scales_of(draw, room)
  for i = 1, draw.total do
    t:expect(whole:get(i, 1) >= 0, "the scale of parameter %d is %g", i - 1, whole:get(i, 1))
  end
  local middle = draw.total // 3
  for _, part in ipairs{ { 0, 1 }, { draw.total - 1, 1 }, { middle, draw.total - middle } } do
    local made = scales_of(draw, parameters.part(room, part[1], part[2]), true)
    t:expect(made == whole:slice(part[1] + 1, part[1] + part[2]), "the scales of %d parameters \z
      from \z
      %d on differ from the same of the whole", part[2], part[1])
  end
  return true
end

-- ------------ structured products

-- The first place where two matrices differ by more than `allowed`, or one of them is NaN alone.
local function expect_near(t, made, wanted, allowed, format, ...)
  for i = 1, wanted:rows() do
    for j = 1, wanted:cols() do
      local x, y = made:get(i, j), wanted:get(i, j)
      if not (x == y or math.abs(x - y) <= allowed) and not (x ~= x and y ~= y) then
        t:fail("%s: z of row %d and parameter %d is %.17g, and %.17g is right; %.2g is allowed",
          format:format(...), i - 1, j - 1, x, y, allowed)
      end
    end
  end
end

local function rows_for(t, draw, room)
  local X = t.subject.into(core.domain(draw.sampler), t:random(17, draw.dim))
  return t.subject.rows(function(rows) parameters.apply(draw, room, rows) end, X)
end

local function check_forms(t, draw, room, X, whole, allowed)
  for _, how in ipairs{ { gap = 3 }, { at_start = true } } do
    local made, z = parameters.apply(draw, room, X, how)
    t:expect(core.block_gaps(z) == 0, "apply writes between the rows of z")
    expect_near(t, made, whole, allowed, "rows of x and z with %d numbers between them",
      how.gap or 0)
  end
  for _, rows in ipairs{ { 1, 1 }, { 17, 17 }, { 4, 12 } } do
    expect_near(t, (parameters.apply(draw, room, X:slice(rows[1], rows[2]))),
      whole:slice(rows[1], rows[2]), allowed, "rows %d to %d alone", rows[1] - 1, rows[2] - 1)
  end
  parameters.apply(draw, room, core.zeros(0, draw.dim))
end

local function check_blocks_alone(t, draw, layout, room, X, whole, allowed)
  for from = 0, room.count - layout.block, layout.block do
    local part = parameters.part(room, from, layout.block)
    expect_near(t, (parameters.apply(draw, part, X)),
      whole:slice(1, 17, from + 1, from + layout.block), allowed, "the block of parameters that \z
      begins at %d alone", from)
  end
end

-- A row that is NaN or infinite is refused, or changes its own z.
local function check_bad_rows(t, draw, room, X, whole, allowed)
  for _, bad in ipairs{ 0 / 0, math.huge, 1e300, 5e-324 } do
    local Y = X:slice(1, 17)
    Y:set(6, 1, bad)
    local ok, made = pcall(parameters.apply, draw, room, Y)
    if ok then
      for _, rows in ipairs{ { 1, 5 }, { 7, 17 } } do
        expect_near(t, made:slice(rows[1], rows[2]), whole:slice(rows[1], rows[2]), allowed,
          "row 5 of x holds %g, and another row of z changes", bad)
      end
      if bad ~= bad and core.sampler_has_rows(draw.sampler) then
        for j = 1, made:cols() do
          t:expect(made:get(6, j) ~= made:get(6, j), "row 5 of x holds NaN, and its z of \z
            parameter \z
            %d is %g", j - 1, made:get(6, j))
        end
      end
    end
  end
end

-- What sums of products in float32 may differ by: 32 roundings of the longest row and parameter.
local function float32_slack(draw, room, X, size)
  if not core.sampler_has_rows(draw.sampler) then return 2e-5 * size * math.sqrt(draw.dim) end
  local function longest(A)
    local most = 0
    for i = 1, A:rows() do
      local row = A:slice(i, i)
      most = math.max(most, row:mul(row):sum())
    end
    return math.sqrt(most)
  end
  return 2e-6 * longest(X) * longest(parameters.rows(draw, room)) + 1e-30
end

-- A draw of whole blocks, its parameters and rows for them. Parameters that are one block of all,
-- and those that are learnt, are as many as there are.
local function whole_draw(t, draw, layout)
  local count = parameters.whole_blocks(layout, draw.total)
  if not draw.state and layout.block < draw.total then
    count = parameters.whole_blocks(layout, math.max(3 * layout.block, 20))
    draw = parameters.with(draw, { total = count })
  end
  local room = parameters.lock(parameters.drawn(draw, layout, 0, count))
  return draw, room, rows_for(t, draw, room)
end

local function check_apply(t, given, layout)
  if layout.space ~= "structured" then return false end
  local draw, room, X = whole_draw(t, given, layout)
  local whole = parameters.apply(draw, room, X)
  local size = math.max(whole:abs():max(), 1e-300)
  if core.sampler_has_rows(draw.sampler) then
    local W = parameters.rows(draw, room)
    local exact = X * W:t()
    size = math.max(size, X:abs():max() * W:abs():max() * draw.dim)
    expect_near(t, whole, exact, 1e-10 * size, "apply is not X W' of the slot rows")
    local block = parameters.part(room, 0, layout.block)
    expect_near(t, parameters.rows(draw, block), W:slice(1, layout.block), 0,
      "slot rows on the first block alone")
  end
  local rounded = X:astype("float32"):astype("float64")
  local single = parameters.apply(draw, room, rounded, { dtype = "float32" })
  expect_near(t, single, (parameters.apply(draw, room, rounded)),
    float32_slack(draw, room, rounded, size), "apply in float32")
  check_forms(t, draw, room, X, whole, 1e-12 * size)
  check_blocks_alone(t, draw, layout, room, X, whole, 1e-12 * size)
  check_bad_rows(t, draw, room, X, whole, 1e-12 * size)
  return true
end

-- One block of a thousand columns, whose transforms are longer than those of few.
local WIDE <const> = 1030

local function check_wide(t)
  for component in t:variants() do
    local draw, layout = parameters.draw(t, component, WIDE, 1)
    if draw and layout.space == "structured" and core.sampler_has_rows(draw.sampler)
      and layout.block < 4 * WIDE then
      draw = parameters.with(draw, { total = layout.block })
      local room = parameters.lock(parameters.drawn(draw, layout, 0, layout.block))
      local X, W = rows_for(t, draw, room):slice(1, 2), parameters.rows(draw, room)
      expect_near(t, (parameters.apply(draw, room, X)), X * W:t(), 1e-10 * X:abs():max()
        * W:abs():max() * WIDE, "%d columns: apply is not X W' of the slot rows", WIDE)
    end
  end
end

-- ------------ prepared work

-- The numbers of a product after slot `prepare` on all parameters are those without it, to the bit:
-- for each block alone, and for all from it on.
local function check_prepared(t, given, layout)
  if layout.space ~= "structured" or not parameters.offers(given, "scullery.prepare/1") then
    return false
  end
  local draw, room, X = whole_draw(t, given, layout)
  local count = room.count
  local step = math.min(layout.block, count)
  for _, dtype in ipairs{ "float64", "float32" } do
    for from = 0, count - 1, step do
      for _, size in ipairs{ step, count - from } do
        local part = parameters.part(room, from, size)
        local without = parameters.apply(draw, part, X, { dtype = dtype })
        local x = parameters.block_of(X, { dtype = dtype })
        local z = parameters.block(X:rows(), size, { dtype = dtype })
        if not core.sampler_apply(draw, part, x, z, room) then
          t:note("nothing is prepared for %d columns", draw.dim)
        end
        expect_near(t, core.block_get(z), without, 0, "%s: parameters %d to %d with the work of \z
          slot prepare on all %d, and without it", dtype, from, from + size - 1, count)
      end
    end
  end
  return true
end

-- ------------ columns

-- The weights of a column are those that the sampler draws row by row, to the bit, for any
-- parameters and in any plane.
local function check_columns(t, draw, layout)
  if layout.space ~= "dense" then return false end
  local draws = false
  for _, place in ipairs{ { 0, 1 }, { 2, 3 } } do
    local asked = parameters.with(draw, { plane = place[1], planes = place[2] })
    local rows = parameters.drawn(asked, layout, 0, draw.total)
    local W = core.block_get(rows.weights)
    for _, column in ipairs{ 0, draw.dim - 1, draw.dim // 2 } do
      for _, part in ipairs{ { 0, draw.total }, { draw.total // 3, 1 }, { draw.total - 1, 1 } } do
        local memory = core.guarded(part[2], "float64")
        if not core.sampler_column(asked, column, part[1], part[2], memory) then return false end
        draws = true
        local made = core.block_get{ memory = memory, rows = part[2], cols = 1 }
        for i = 1, part[2] do
          local got, wanted = made:get(i, 1), W:get(part[1] + i, column + 1)
          t:expect(got == wanted, "column %d of parameter %d, plane %d: %.17g by columns, %.17g \z
            by rows", column, part[1] + i - 1, place[1], got, wanted)
        end
      end
    end
  end
  return draws
end

-- ------------ learning

local function learn(t, sampler, X, T, seed, block)
  local kernel = t:instance(require("scullery").kernel.gaussian())
  return core.learn_state(core.source(X), {}, sampler, kernel, T, seed, block)
end

local function same_state(t, sampler, X)
  local wanted, T = learn(t, sampler, X, 10, t.seed)
  t:expect(T == 10, "T = 10 was asked for, and %s was learnt", tostring(T))
  local before = core.threads()
  for _, case in ipairs{ { nil, 1 }, { 1, 1 }, { 7, 4 }, { 59, 4 }, { nil, 4 } } do
    core.threads(case[2])
    local ok, made = pcall(learn, t, sampler, X, 10, t.seed, case[1])
    core.threads(before)
    t:expect(ok, "rows in blocks of %s on %d threads: %s", case[1] or "the host's size", case[2],
      tostring(made))
    t:expect(made == wanted, "the state depends on the blocks: in blocks of %s rows, on %d \z
      threads, \z
      it is another one", case[1] or "as many as the host takes", case[2])
  end
  return wanted
end

-- Rows that there are too few of, or that are hardly rows: a sentence, or parameters.
local function check_odd_rows(t, sampler, d)
  local X = t:random(40, d)
  for _, case in ipairs{ { "no rows", core.zeros(0, d) }, { "1 row", X:slice(1, 1) },
    { "3 rows", X:slice(1, 3) }, { "40 rows of zeros", core.zeros(40, d) },
    { "40 equal rows", core.zeros(40, d) + core.zeros(40, d):map(function() return 1.5 end) },
    { "rows of 1e300", X * 1e300 }, { "rows of 1e-310", X * 1e-310 } } do
    local ok, state, T = pcall(learn, t, sampler, case[2], 10, t.seed)
    t:expect(ok or #tostring(state) > 0, "%s are refused without a sentence", case[1])
    if ok then
      local draw = { sampler = sampler, dim = d, total = T, seed = t.seed, state = state }
      local layout
      ok, layout = pcall(core.layout, sampler, d, T)
      if ok then ok, layout = pcall(parameters.drawn, draw, layout, 0, T) end
      t:expect(ok, "%s: they were learnt from, and %d parameters cannot be drawn: %s", case[1], T,
        tostring(layout))
    end
  end
end

-- How often each of the different rows of X is among the parameters learnt from all of X, as many
-- as there are rows, a sorted list; nil where a parameter is no row of X, or they are fewer.
local function copies(t, sampler, X, seed)
  local n, d = X:rows(), X:cols()
  local ok, state, T = pcall(learn, t, sampler, X, n, seed)
  if not ok or T ~= n then return nil end
  local layout = core.layout(sampler, d, n)
  local W = parameters.matrix(parameters.drawn({ sampler = sampler, dim = d, total = n, seed = seed,
    state = state }, layout, 0, n))
  local seen, list = {}, {}
  local function key(A, i)
    local numbers = {}
    for j = 1, d do numbers[j] = ("%.6f"):format(A:get(i, j)) end
    return table.concat(numbers, " ")
  end
  for i = 1, n do seen[key(X, i)] = 0 end
  for i = 1, n do
    local row = W:cols() == d and key(W, i)
    if not seen[row] then return nil end
    seen[row] = seen[row] + 1
  end
  for _, count in pairs(seen) do list[#list + 1] = count end
  table.sort(list)
  return list
end

-- What takes each of different rows once takes each of equal rows so often as it is there.
local function check_equal_rows(t, sampler, d)
  local X, places = t:random(20, d, 3), {}
  for i = 1, 20 do places[i] = i % 5 + 1 end
  for seed = t.seed, t.seed + 2 do
    local once, equal = copies(t, sampler, X, seed), copies(t, sampler, X:select(places), seed)
    if not once or not equal or once[1] < 1 then return end
    t:expect(equal[1] == 4 and equal[5] == 4, "each of 20 different rows is taken once; of 20 \z
      rows of which each is there 4 times, one is taken %d times, and one %d times", equal[1],
      equal[5])
  end
end

-- Whether a row far out is among the rows that are learnt of 120.
local MANY <const> = 120

local function is_taken(t, sampler, place, seed)
  local X = t:random(MANY, 3, 9)
  for j = 1, 3 do X:set(place, j, 60 + j) end
  local ok, state = pcall(learn, t, sampler, X, 5, seed)
  for i = 1, ok and state:rows() or 0 do
    if state:get(i, 1) == 61 then return true end
  end
end

-- A row far out that is taken as the first one, whatever the seed, is taken somewhere in the second
-- half too: with numbers of rows that options may mean as well.
local function check_far_row(t, sampler, what)
  for seed = 1, 6 do
    if not is_taken(t, sampler, 1, seed) then return end
  end
  for place = MANY // 2, MANY do
    if is_taken(t, sampler, place, 1) then return end
  end
  t:warn("a row far out is learnt if it is the first of 120 rows, and nowhere in the second \z
    half%s", what)
end

local function check_far_rows(t)
  check_far_row(t, t:instance(t.subject:make{}), "")
  for _, option in ipairs(t.subject.info.options) do
    local ok, made = pcall(t.subject.make, t.subject, { [option.name] = 20 })
    if ok and option.takes_integer then
      check_far_row(t, t:instance(made), (" (%s = 20)"):format(option.name))
    end
  end
end

local function check_learn(t, component)
  local sampler, d = t:instance(component), 4
  if not core.learns(sampler) then return false end
  local state = same_state(t, sampler, t:random(60, d))
  for i = 1, state:rows() do
    for j = 1, state:cols() do
      local x = state:get(i, j)
      t:expect(x - x == 0, "number %d, %d of the state is %g", i - 1, j - 1, x)
    end
  end
  local layout = core.layout(sampler, d, 10)
  local draw = { sampler = sampler, dim = d, total = 10, seed = t.seed, state = state }
  local other = parameters.with(draw, { state = learn(t, sampler, t:random(60, d, 1), 10, t.seed) })
  t:expect(parameters.matrix(parameters.drawn(draw, layout, 0, 10))
    ~= parameters.matrix(parameters.drawn(other, layout, 0, 10)),
    "draws do not use the state: rows of another set give the same parameters")
  -- without a state, or beyond it: refused or drawn, and nothing is touched that is not there
  pcall(parameters.drawn, { sampler = sampler, dim = d, total = 10, seed = t.seed }, layout, 0, 10)
  pcall(parameters.drawn, draw, layout, state:rows(), 3)
  check_odd_rows(t, sampler, d)
  check_equal_rows(t, sampler, d)
  return true
end

-- ------------ hostile questions

local function try_gaps(t, what, draw, f)
  for _, x in ipairs{ 1e300, math.huge, 0 / 0, 5e-324 } do
    local gaps = core.zeros(1, draw.dim)
    gaps:set(1, 1, x)
    local out = { memory = core.guarded(1, "float64"), rows = 1, cols = 1 }
    local ok, said = pcall(f, draw, parameters.block_of(gaps), out.memory)
    if ok then
      local value = core.block_get(out):get(1, 1)
      t:expect(value >= -1 - 1e-12 and value <= 1 + 1e-12, "the %s at x - y = (%g, 0, ...) is %g",
        what, x, value)
    else
      t:expect(#tostring(said) > 0, "the %s at x - y = (%g, 0, ...) is refused without a sentence",
        what, x)
    end
  end
end

local function check_hostile(t, draw, layout)
  local tells = core.sampler_tells(draw.sampler)
  if tells.characteristic then
    try_gaps(t, "characteristic function", draw, core.sampler_characteristic)
  end
  if tells.collision then try_gaps(t, "collision probability", draw, core.sampler_collision) end
  if tells.distribution then core.sampler_distribution(draw, 1, 0 / 0) end
  -- the largest seeds and streams
  local far = parameters.with(draw, { seed = -1, stream = 1 << 40 })
  parameters.drawn(far, layout, 0, math.min(3, draw.total))
end

-- A test that calls f for each variant and number of columns, and is skipped where none had it;
-- then more(t).
local function test(name, about, missing, f, more)
  return { name = name, about = about, seconds = 60, run = function(t)
    local any = false
    parameters.each(t, { 1, 4, 9 }, 150, function(...) any = f(t, ...) or any end)
    if not any then t:skip(missing) end
    if more then more(t) end
  end }
end

return {
  test("pool", "shared rows are all there and all different, in any batch",
    "its parameters share no rows", check_pool),
  test("scales", "scales are the same in any batch", "it declares no scales", check_scales),
  test("apply", "apply agrees with x times `rows`, in both types and any blocks",
    "its rows are not structured", check_apply, check_wide),
  test("columns", "weights drawn by columns are those drawn by rows",
    "it does not draw by columns", check_columns),
  test("prepare", "apply gives the same numbers with what slot prepare made, and without it",
    "it prepares no work", check_prepared),
  { name = "learn", about = "the state is the same for any blocks and threads, and draws use it",
    seconds = 60,
    run = function(t)
      local any = false
      for component in t:variants() do any = check_learn(t, component) or any end
      if any then check_far_rows(t) end
      if not any then t:skip("it learns nothing from rows") end
    end },
  { name = "hostile", about = "huge and infinite arguments: a number in range, or a sentence",
    run = function(t) parameters.each(t, { 1, 4 }, 20, function(...) check_hostile(t,
      ...) end) end },
}
