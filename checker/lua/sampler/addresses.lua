--- Tests of samplers: parameters and addresses (seed, stream, number) one by one, and at size.
local core = require "scullery_checker.core"
local parameters = require "scullery_checker.parameters"
local components = require "scullery.compose.component"

-- ------------ parameters that come again

local FEW <const> = 256 -- parameters that are compared with as many others
-- Numbers of a parameter that a type or a mask may cut.
local LAGS <const> = { 64, 128, 256, 512, 1000, 1024, 4096, 8192, 1 << 15, 1 << 16, 1 << 20,
  1 << 24, 1 << 31, 1 << 32 }

local BLOCKS <const> = 64 * 157 -- no multiple of these, and a whole number of blocks of 64

-- FEW parameters from `first` on; nil where the sampler has not as many.
local function from(draw, first)
  local ok, room = pcall(function()
    local layout = core.layout(draw.sampler, draw.dim, FEW)
    return parameters.drawn(parameters.with(draw, { total = first + FEW }), layout, first, FEW)
  end)
  return ok and room or nil
end

-- f(what, block, column) for each number of a parameter; weights and bias apart.
local function each_column(room, f)
  for j = 0, room.weights.cols - 1 do f(("weight %d"):format(j), "weights", j) end
  if room.bias then f("the bias", "bias", 0) end
end

local function block_of(room, name)
  return name == "weights" and room.weights
    or { memory = room.bias, rows = room.count, cols = 1 }
end

-- The squared lengths of parameters, where these are rows, of whole blocks.
local function lengths_of(draw, room)
  local ok, W = pcall(parameters.rows, draw, room)
  local list = {}
  for i = 1, ok and W and W:rows() or 0 do
    list[i] = 0
    for j = 1, W:cols() do list[i] = list[i] + W:get(i, j) ^ 2 end
  end
  return list
end

-- The share of numbers that are those of another list, but for rounding.
local function share_of_equal(list, other)
  if #list == 0 or #other == 0 then return nil end
  local count = 0
  for i, x in ipairs(list) do
    if math.abs(x - other[i]) <= 1e-9 * x then count = count + 1 end
  end
  return count / #list
end

-- Numbers that come again by chance: what parameters an odd number apart share.
local function check_periods(t, draw)
  local base, odd = from(draw, 0), from(draw, 10007)
  if not base or not odd then return false end
  local lengths = lengths_of(draw, base)
  local usual_lengths = share_of_equal(lengths, lengths_of(draw, from(draw, BLOCKS) or odd)) or 1
  local chance = {}
  each_column(base, function(what, name, j)
    chance[what] = { core.equal_share(block_of(base, name), block_of(odd, name), j) }
  end)
  for _, lag in ipairs(LAGS) do
    local later = from(draw, lag)
    local again = later and usual_lengths < 0.5 and share_of_equal(lengths,
      lengths_of(draw, later)) or 0
    if again > (1 + usual_lengths) / 2 then
      t:warn("parameters t and t + %d have one length, %d of %d times", lag, math.floor(again * FEW
        + 0.5), FEW)
    end
    each_column(later and base or { weights = { cols = 0 } }, function(what, name, j)
      local same, turned = core.equal_share(block_of(base, name), block_of(later, name), j)
      local usual = chance[what]
      t:expect(usual[1] > 0.8 or same <= (1 + usual[1]) / 2, "%s of parameter t + %d is that of \z
        parameter t, for %d of %d: its number is cut, or goes round", what, lag,
        math.floor(same * FEW + 0.5), FEW)
      t:expect(usual[2] > 0.4 or turned <= (1 + usual[2]) / 2, "%s of parameter t + %d is that of \z
        parameter t with the other sign, for %d of %d", what, lag,
        math.floor(turned * FEW + 0.5), FEW)
    end)
  end
  -- neighbours far away, where a number in float32 or an int has no room
  for _, first in ipairs{ (1 << 25) + 1, (1 << 31) - 8, (1 << 33) + 1 } do
    local a, b = from(draw, first), from(draw, first + 1)
    each_column(a and b and base or { weights = { cols = 0 } }, function(what, name, j)
      local same = core.equal_share(block_of(a, name), block_of(b, name), j)
      t:expect(same < 0.4 + chance[what][1], "%s of parameters %d and later is that of the \z
        parameter before: large numbers lose their last bits", what, first)
    end)
  end
  return true
end

-- ------------ addresses

local SEEDS <const> = { 0, 1, 2, 16, 1 << 32, 1 << 33, 1 << 62 }
local STREAMS <const> = { 0, 16, 32, 256, 1 << 16, 1 << 40 }
local PLANES <const> = { 1, 2, 4, 8 }

local function addresses(draw)
  local list = {}
  for _, seed in ipairs(SEEDS) do
    for k, stream in ipairs(STREAMS) do
      if seed < 32 or k <= 2 then
        list[#list + 1] = { seed = draw.seed + seed, stream = stream, plane = 0, planes = 1,
          text = ("seed %d, stream %d"):format(draw.seed + seed, stream) }
      end
    end
  end
  for _, seed in ipairs{ 0, 1, 2 } do
    for _, plane in ipairs(PLANES) do
      list[#list + 1] = { seed = draw.seed + seed, stream = 0, plane = plane, planes = 9,
        text = ("seed %d, scalar %d of a feature"):format(draw.seed + seed, plane) }
    end
  end
  return list
end

local TWICE <const> = "%d numbers with %s are also numbers with %s"

-- Numbers that come twice among all that addresses give, where numbers of one do not repeat: {
-- number = where it was }. The scalars of a feature may share them by an option: it is a fault
-- where they do with every choice of options.
local function check_twice(t, draw, layout)
  local seen, count, here = {}, math.min(24, draw.total), {} -- here: whether scalars are apart
  for k, address in ipairs(addresses(draw)) do
    local room = parameters.drawn(parameters.with(draw, address), layout, 0, count)
    local made, told, twice, other = core.block_get(room.weights), 0, 0, nil
    for i = 1, made:rows() do
      for j = 1, math.min(made:cols(), 4) do
        local x = math.abs(made:get(i, j))
        local was = seen[x]
        if x % 1 ~= 0 then told = told + 1 end
        if was and x % 1 ~= 0 then twice, other = twice + 1, other or was end
        seen[x] = was or address.text
      end
    end
    if k == 1 and twice > 0 then return false end -- a law of few numbers
    if address.plane == 0 then
      t:expect(twice < 20, TWICE, twice, address.text, other)
    elseif twice >= 20 then
      here[address.plane] = false
      local shared = t.shared or {}
      t.shared, shared[address.plane] = shared, { t.label, twice, address.text, other }
    elseif told >= 20 and here[address.plane] == nil then
      here[address.plane] = true
    end
  end
  t.apart = t.apart or {}
  for plane, is in pairs(here) do t.apart[plane] = t.apart[plane] or is end
  return true
end

-- A sampler of other samplers draws them too; one whose bias the host draws leaves it its stream.
local function check_streams(t, draw, layout, component)
  local has_bias = components.role(component, "bias") ~= nil
  for _, address in ipairs{ { stream = 0 }, { stream = 32 }, { stream = 1 << 16 },
    { seed = draw.seed + (1 << 40) } } do
    local room = parameters.room(layout, draw.dim, 0, math.min(8, draw.total))
    local beyond, seed, stream = core.streams(parameters.with(draw, address), room)
    t:expect(not beyond or stream == 1 and not has_bias, "a draw with seed %d takes random \z
      numbers from seed %s, and stream %+d of \z
      those from its own on: a component has its seed, and streams 0 and 2 to 15 (1 is the bias)",
      address.seed or draw.seed, seed, stream or 0)
  end
end

local function check_scalars(t)
  for plane, said in pairs(t.shared or {}) do
    t.label = said[1]
    t:expect(t.apart[plane], TWICE, table.unpack(said, 2))
  end
end

local function check_addresses(t, draw, layout, component)
  if draw.state or core.layout(draw.sampler, draw.dim).count > 0 then return false end
  check_streams(t, draw, layout, component)
  if parameters.is_independent(draw, layout) and layout.reals > 0 then
    check_twice(t, draw, layout)
  end
  return true
end

-- ------------ many columns, many parameters

local function same(t, a, b, first, format, ...)
  local i, j = core.first_difference(a, b)
  t:expect(not i, "%s: number %d of parameter %d is another one", format:format(...), (j or 1) - 1,
    first + (i or 1) - 1)
end

-- A long batch, and the same in parts.
local function check_long(t, draw, layout, count)
  local room = parameters.drawn(draw, layout, 0, count, { gap = 5 })
  local whole = parameters.matrix(room)
  t:expect(parameters.gaps(room) == 0, "%d parameters at once: draw writes between the rows", count)
  for _, part in ipairs{ { 0, 7 }, { 250, 20 }, { 1000, 30 }, { count // 2, 64 },
    { count - 33, 33 } } do
    local first, size = part[1], part[2]
    if first >= 0 and first + size <= count then
      local alone = parameters.drawn(draw, layout, first, size)
      same(t, whole:slice(first + 1, first + size), parameters.matrix(alone), first,
        "%d parameters from %d on, of %d at once", size, first, count)
    end
  end
  local found = core.find_nonfinite(whole)
  t:expect(not found, "%d parameters at once: a weight of parameter %d is not finite", count,
    (found or 1) - 1)
end

-- Each number of a parameter of many columns is written.
local function check_filled(t, draw, layout)
  local over = parameters.room(layout, draw.dim, 0, 3)
  parameters.fill(over, 77777)
  core.sampler_draw(draw, over)
  same(t, parameters.matrix(over), parameters.matrix(parameters.drawn(draw, layout, 0, 3)), 0,
    "a number is left as it was")
end

-- ------------ learning at size

-- Whether rows from `first` on, and columns from `from` on, change what is learnt.
local function learnt(t, sampler, X)
  local kernel = t:instance(require("scullery").kernel.gaussian())
  return (core.learn_state(core.source(X), {}, sampler, kernel, 40, t.seed))
end

local function moved(X, first, from_column)
  local Y = X:copy()
  for i = first, Y:rows() do
    for j = from_column, Y:cols() do Y:set(i, j, Y:get(i, j) * 1.5 + 1) end
  end
  return Y
end

local function check_learning(t, component)
  local sampler = t:instance(component)
  if not core.learns(sampler) then return false end
  for _, case in ipairs{ { 6000, 3, 1001, 1, "rows from 1000 on, of 6000," },
    { 200, 80, 1, 65, "columns from 64 on, of 80," } } do
    local X = t:random(case[1], case[2])
    local ok, state = pcall(learnt, t, sampler, X)
    if ok and learnt(t, sampler, moved(X, case[3], case[4])) == state then
      t:warn("%s change nothing that is learnt", case[5])
    end
  end
  return true
end

-- Many rows at once, by a product with structured parameters, and each block of them alone.
local function check_rows(t, draw, layout)
  if layout.space ~= "structured" then return end
  local count = parameters.whole_blocks(layout, 16)
  draw = parameters.with(draw, { total = count })
  local room = parameters.drawn(draw, core.layout(draw.sampler, draw.dim, count), 0, count)
  local X = t:random(300, draw.dim):abs()
  local whole = parameters.apply(draw, room, X)
  local size = whole:abs():max()
  if core.sampler_has_rows(draw.sampler) then
    local gap = (whole - X * parameters.rows(draw, room):t()):abs():max()
    t:expect(gap <= 1e-9 * (size + draw.dim), "apply to 300 rows is not X W' of the slot rows: \z
      they \z
      differ by %.3g", gap)
  end
  for _, rows in ipairs{ { 1, 3 }, { 255, 260 }, { 299, 300 } } do
    local alone = parameters.apply(draw, room, X:slice(rows[1], rows[2]))
    local gap = (whole:slice(rows[1], rows[2]) - alone):abs():max()
    t:expect(gap <= 1e-12 * size, "apply to 300 rows: rows %d to %d differ by %.3g from these \z
      alone", rows[1] - 1, rows[2] - 1, gap)
  end
end

-- Columns that many supports leave out.
local function check_columns(t, draw, layout)
  if layout.space ~= "sparse" and layout.space ~= "threshold" or draw.dim < 100 then return end
  if core.layout(draw.sampler, draw.dim).count > 0 or draw.state then return end
  local total = 20 * draw.dim
  draw = parameters.with(draw, { total = total })
  local support = core.block_get(parameters.drawn(draw, core.layout(draw.sampler, draw.dim, total),
    0, total).support)
  local seen, missing = {}, nil
  for i = 1, support:rows() do
    for j = 1, support:cols() do seen[math.tointeger(support:get(i, j))] = true end
  end
  for column = draw.dim - 1, 0, -1 do missing = not seen[column] and column or missing end
  if missing then
    t:warn("none of %d parameters reads column %d of %d", total, missing, draw.dim)
  end
end

local function check_sizes(t)
  local component, any = t.subject:variants()[1].component, false
  for _, case in ipairs{ { 4, 10000 }, { 40, 3000 }, { 400, 1100 } } do
    local draw, layout = parameters.draw(t, component, case[1], case[2])
    if draw and draw.total >= 8 then
      t.label, any = ("%d columns"):format(case[1]), true
      check_long(t, draw, layout, draw.total)
      check_filled(t, draw, layout)
      check_rows(t, draw, layout)
      check_columns(t, draw, layout)
    end
  end
  t.label = nil
  any = check_learning(t, component) or any
  if not any then t:skip("it takes none of 4, 40, 400 columns") end
end

local test = parameters.test

return {
  test("periods", "no parameter comes again, at any distance", { 4 },
    "its parameters are few, or learnt", check_periods),
  test("addresses", "seeds, streams and scalars of a feature share no number", { 4 },
    "its parameters are fixed by the columns, or learnt from rows", check_addresses,
    check_scalars),
  { name = "sizes", about = "many columns and many parameters at once are those of small batches",
    run = check_sizes },
}
