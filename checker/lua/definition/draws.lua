--- The test of definitions of samplers by their draws: the numbers of parameters, what they make of
--- rows, and what is learnt from rows, given the random numbers of their addresses.
local core = require "scullery_checker.core"
local definition = require "scullery_checker.definition"
local parameters = require "scullery_checker.parameters"

local draws = {}

--- draws.told(seed, stream, r): r with functions of addresses (stream from that of the draw on,
--- index, place): uniform, normal, bits; below(s, t, k, n), a whole number from 0 to n - 1 by bits;
--- chi(s, t, n), the length of n normal numbers by rejection (Marsaglia and Tsang 2000);
--- subset(s, t, n, q), q different whole numbers below n: each in order with the chance that is
--- left, or of few ones drawn until they differ.
function draws.told(seed, stream, r)
  function r.uniform(s, t, k) return core.uniform(seed, stream + s, t, k) end
  function r.normal(s, t, k) return core.normal(seed, stream + s, t, k) end
  function r.bits(s, t, k) return core.random_bits(seed, stream + s, t, k) end
  function r.below(s, t, k, n)
    local bits = r.bits(s, t, k)
    return (bits >> 32) * n + ((bits & 0xffffffff) * n >> 32) >> 32
  end
  function r.chi(s, t, n)
    if n == 1 then return math.abs(r.normal(s, t, 0)) end
    local d = n / 2 - 1 / 3
    local c = 1 / math.sqrt(9 * d)
    for k = 0, math.huge, 2 do
      local x, u = r.normal(s, t, k), r.uniform(s, t, k + 1)
      local v = (1 + c * x) ^ 3
      if v > 0 and (u < 1 - 0.0331 * x ^ 4 or math.log(u) < x * x / 2 + d * (1 - v + math.log(v)))
      then return math.sqrt(2 * d * v) end
    end
  end
  local function selected(s, t, n, q)
    local list, j = {}, 0
    while #list < q do
      if r.below(s, t, j, n - j) < q - #list then list[#list + 1] = j end
      j = j + 1
    end
    return list
  end
  local function collected(s, t, n, q)
    local list, k, seen = {}, 0, {}
    while #list < q do
      for _ = #list + 1, q do seen[r.below(s, t, k, n)], k = true, k + 1 end
      list = {}
      for x in pairs(seen) do list[#list + 1] = x end
    end
    table.sort(list)
    return list
  end
  function r.subset(s, t, n, q)
    return (q >= n // 16 and selected or collected)(s, t, n // 1 | 0, q // 1 | 0)
  end
  return r
end

-- { dim, T, first parameter, plane of 4 }
local CASES <const> = { { 3, 7, 0, 0 }, { 16, 20, 0, 3 }, { 1, 9, 0, 0 }, { 70, 11, 0, 0 },
  { 8, 1 << 18, (1 << 17) + 320, 1 }, { 2, 1030, 0, 0 } }

-- f(draw, layout, room, told) for the case, if the sampler takes it; whether it does.
local function at_case(t, component, f, dim, T, first, plane)
  local draw, layout = parameters.draw(t, component, dim, T)
  if not draw or first > 0 and (draw.total ~= T or layout.block >= 100) then return false end
  first = first // layout.block * layout.block
  draw = parameters.with(draw, { plane = plane, planes = 4, stream = 3 * plane })
  local count = math.min(parameters.whole_blocks(layout, math.min(draw.total, 3)), T > 2000
    and 16 * layout.block or math.huge)
  if layout.space == "structured" or T < 2000 then
    count = parameters.whole_blocks(layout, math.min(draw.total, 20))
  end
  local room = parameters.room(layout, dim, first, count)
  core.sampler_draw(draw, room)
  f(draw, layout, room, draws.told(t.seed, draw.stream + (plane << 32), { dim = dim,
    total = draw.total, plane = plane, block = layout.block }))
  return true
end

-- The same for each case; where none is taken, as of images of a given size, in the dimensions that
-- are.
local function each_case(left, t, component, f)
  if t.subject.learns(component) then return end
  local any = false
  for _, case in ipairs(CASES) do
    any = left() and at_case(t, component, f, table.unpack(case)) or any
  end
  for dim = 1, any and 0 or 64 do
    if left() then at_case(t, component, f, dim, 20, 0, dim % 4) end
  end
end

local function numbers_of(room)
  return parameters.matrix(parameters.with(room, { bias = false })):totable()
end

local function expect_list(t, got, wanted, slack, format, ...)
  t:expect(#got == #wanted, "%s: %d numbers, and %d by its definition", format:format(...), #got,
    #wanted)
  for k, want in ipairs(wanted) do
    definition.expect(t, got[k], want, 1e-8 * math.abs(want) + slack, "%s, number %d",
      format:format(...), k)
  end
end

-- The numbers of a parameter as they are kept: columns from 0 first, then weights.
function draws.draw(left, t, component, draw_of)
  each_case(left, t, component, function(draw, _, room, told)
    for i, got in ipairs(numbers_of(room)) do
      local wanted = left() and draw_of(room.first + i - 1, told)
      if wanted then
        expect_list(t, got, wanted, 1e-300, "%d columns: parameter %d of %d, plane %d", draw.dim,
          room.first + i - 1, draw.total, draw.plane)
      end
    end
  end)
end

-- What structured parameters make of a row: the numbers of all of them.
function draws.z(left, t, component, z)
  each_case(left, t, component, function(draw, layout, room, told)
    if layout.space ~= "structured" then return end
    local X = t.subject.into(core.domain(draw.sampler), t:random(3, draw.dim))
    local made, W = parameters.apply(draw, room, X):totable(), numbers_of(room)
    for i, x in ipairs(X:totable()) do
      local wanted = left() and z(x, W, told, room.first)
      if wanted then
        local size = 0
        for _, y in ipairs(wanted) do size = math.max(size, math.abs(y)) end
        expect_list(t, made[i], wanted, 1e-10 * size, "%d columns, T = %d: z of a row", draw.dim,
          draw.total)
      end
    end
  end)
end

-- The factor of the feature of a parameter.
function draws.scale(left, t, component, scale)
  each_case(left, t, component, function(draw, layout, room, told)
    if not parameters.offers(draw, "scullery.scales/1") then return end
    local out = parameters.block(room.count, 1)
    core.sampler_scales(draw, parameters.lock(room), out.memory)
    for i, w in ipairs(numbers_of(room)) do
      local wanted = scale(w, told, room.first + i - 1)
      definition.expect(t, core.block_get(out):get(i, 1), wanted, 1e-9 * math.abs(wanted),
        "T = %d, blocks of %d: the scale of parameter %d", draw.total, layout.block, i - 1)
    end
  end)
end

-- The probability that rows at a difference share a cell.
function draws.collision(_, t, component, collision)
  for d = 1, 3 do
    local draw = parameters.draw(t, component, d, 4)
    if not draw or not core.sampler_tells(draw.sampler).collision then return end
    for _, size in ipairs{ 0.05, 0.6, 3 } do
      local X, out = t:random(5, d, d) * size, parameters.block(5, 1)
      core.sampler_collision(draw, parameters.block_of(X), out.memory)
      for i, x in ipairs(X:totable()) do
        local wanted, slack = definition.number(collision, x)
        definition.expect(t, core.block_get(out):get(i, 1), wanted, slack + 1e-12,
          "the collision probability at a difference of size %g", size)
      end
    end
  end
end

-- The probability of an in-degree of parameters of d columns.
function draws.chance(_, t, component, chance)
  for _, d in ipairs{ 3, 8, 40 } do
    local ok, law = pcall(core.law, t:instance(component), d)
    for s = 0, ok and law.degree and d or -1 do
      local wanted = chance(d, s)
      definition.expect(t, law.degree[s + 1], wanted, 1e-9 * math.abs(wanted) + 1e-15,
        "%d columns: the probability of in-degree %d", d, s)
    end
  end
end

-- The rows that a parameter of so many scalars reads.
function draws.pool(_, t, component, pool)
  local draw = parameters.draw(t, component, 3, 9)
  if not draw or not core.sampler_tells(draw.sampler).pool then return end
  for _, fan_in in ipairs{ 1, 2, 5 } do
    local rows = core.sampler_pool_rows(draw.sampler, 9, fan_in)
    local out = { memory = core.guarded(9 * fan_in, "int32"), rows = 9, cols = fan_in }
    local ok = pcall(core.sampler_pool, parameters.with(draw, { total = rows }), 5, 9, fan_in,
      out.memory)
    for i, got in ipairs(ok and core.block_get(out):totable() or {}) do
      local wanted = pool(4 + i, fan_in, draws.told(t.seed, 0, { dim = 3, total = rows }))
      if wanted then expect_list(t, got, wanted, 0, "the pool of parameter %d", 4 + i) end
    end
  end
end

-- What is learnt from rows, in which some are equal.
function draws.state(left, t, component, state)
  local sampler = t:instance(component)
  if not core.learns(sampler) then return end
  for of, case in ipairs{ { 14, 3, 5 }, { 23, 2, 8 }, { 30, 1, 1 }, { 9, 2, 9 }, { 300, 2, 60 },
    { 30, 1, 8 } } do
    local n, d, T = table.unpack(case)
    local X = t:random(n, d, of)
    for j = 1, d do X:set(n, j, X:get(2, j)) end
    local kernel = require("scullery").kernel.gaussian()
    local ok, made = pcall(core.learn_state, core.source(X), {}, sampler, t:instance(kernel), T,
      t.seed)
    local told = draws.told(t.seed, 0, { dim = d, total = T, K = definition.of(kernel).K })
    local wanted = ok and left() and state(X:totable(), told)
    for i, got in ipairs(wanted and made:totable() or {}) do
      expect_list(t, got, wanted[i] or {}, 1e-9, "%d rows of %d columns, T = %d: row %d that is \z
        learnt", n, d, T, i - 1)
    end
  end
end

return draws
