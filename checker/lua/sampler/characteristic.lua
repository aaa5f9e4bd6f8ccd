--- Tests of samplers: draws against the characteristic function and the collision probability that
--- they declare.
local core = require "scullery_checker.core"
local functions = require "scullery_checker.definition.functions"
local jumps = require "scullery_checker.jumps"
local phi = require "scullery_checker.nonlinearity.phi"
local parameters = require "scullery_checker.parameters"
local statistics = require "scullery_checker.statistics"

local slack_of = parameters.slack_of

-- Differences x - y: none, then of these sizes in random directions, the last along column 0. unit:
-- the length that a direction (1 x d) has size 1 at.
local SIZES = { 0, 0.5, 1, 1.5, 2, 3, 4, 60, 1.5 }

local function gaps_of(t, d, unit)
  local gaps = t:random(#SIZES, d, 1)
  for j = 1, d do gaps:set(#SIZES, j, j == 1 and 1 or 0) end
  for i, size in ipairs(SIZES) do
    local row = gaps:slice(i, i)
    local norm = math.sqrt(row:mul(row):sum())
    local factor = size * unit(row * (1 / norm)) / norm
    for j = 1, d do gaps:set(i, j, gaps:get(i, j) * factor) end
  end
  return gaps
end

local function median(values)
  table.sort(values)
  return values[#values // 2 + 1]
end

-- 1/s of a direction u, where <w, u> is as wide as N(0, s^2): the median of |<w, u>| that are not 0
-- is 0.6745 s.
local function unit_of_rows(rows)
  return function(u)
    local products, sizes = rows * u:t(), {}
    for i = 1, products:rows() do
      local size = math.abs(products:get(i, 1))
      if size > 0 then sizes[#sizes + 1] = size end
    end
    return #sizes > 0 and 0.6745 / median(sizes) or 1
  end
end

local RUNS = 256

-- Mean and standard error, over seeds, of what f makes of `count` parameters (or a block).
local function over_seeds(draw, layout, count, f)
  local T = parameters.whole_blocks(layout, count)
  return statistics.over_runs(RUNS, function(run)
    local one = parameters.with(draw, { total = T, seed = draw.seed * 1000 + run })
    return f(one, parameters.drawn(one, core.layout(draw.sampler, draw.dim, T), 0, T))
  end)
end

local function at_gaps(draw, gaps, f, how)
  local out = { memory = core.guarded(gaps:rows(), "float64", how and how.at_start),
    rows = gaps:rows(), cols = 1 }
  f(draw, parameters.block_of(gaps, how), out.memory)
  return core.block_get(out)
end

-- The same whatever the strides, and each row alone.
local function check_gap_blocks(t, what, draw, gaps, f)
  local wanted = at_gaps(draw, gaps, f)
  for _, how in ipairs{ { gap = 2 }, { at_start = true } } do
    local made = at_gaps(draw, gaps, f, how)
    t:expect(made == wanted, "%s depends on the stride or the place of its rows", what)
  end
  for i = 1, gaps:rows() do
    local one = at_gaps(draw, gaps:slice(i, i), f):get(1, 1)
    t:expect(math.abs(one - wanted:get(i, 1)) <= 1e-14, "%s of row %d is %.17g, and %.17g where \z
      it \z
      is asked for alone", what, i - 1, wanted:get(i, 1), one)
  end
  return wanted
end

local function check_against(t, what, exact, mean, stderr, slack, gaps)
  local limit = statistics.limit(6 * exact:rows())
  for i = 1, exact:rows() do
    local off = math.abs(exact:get(i, 1) - mean:get(1, i))
    local list = {}
    for j = 1, gaps:cols() do list[j] = ("%.3g"):format(gaps:get(i, j)) end
    t:expect(off <= limit * stderr:get(1, i) + slack + 1e-12, "%s at x - y = (%s) is %.6g, and \z
      draws give %.6g +- %.2g: %.1f standard errors", what, table.concat(list, ", "),
      exact:get(i, 1), mean:get(1, i), stderr:get(1, i), off / (stderr:get(1, i) + 1e-300))
  end
end

-- A characteristic function is continuous, whatever the law.
local function expect_no_jump(t, draw, unit)
  for of = 1, 2 do
    local along = t:random(1, draw.dim, 50 + of)
    along = along * (unit(along * (1 / along:norm())) / along:norm())
    local function of_all(list)
      local out = at_gaps(draw, core.vcat(table.unpack(functions.map(list, function(x)
        return along * x
      end))), core.sampler_characteristic)
      return functions.map(list, function(_, i) return out:get(i, 1) end)
    end
    local place, jump = jumps.find(function(x) return of_all{ x }[1] end, of_all)
    t:expect(not place, "the characteristic function jumps by %.3g at a difference of %.9g \z
      over the width", jump, place)
  end
end

local function check_characteristic(t, draw, layout, component)
  if not core.sampler_tells(draw.sampler).characteristic or draw.state then return false end
  local some = parameters.many(draw, layout, 1024)
  local unit = unit_of_rows(parameters.rows(draw, some))
  local gaps = gaps_of(t, draw.dim, unit)
  expect_no_jump(t, draw, unit)
  local exact = check_gap_blocks(t, "the characteristic function", draw, gaps,
    core.sampler_characteristic)
  local many_gaps = {}
  for k = 1, 13 do many_gaps[k] = gaps * (1 + k / 64) end
  check_gap_blocks(t, "the characteristic function", draw, core.vcat(table.unpack(many_gaps)),
    core.sampler_characteristic)
  local known = parameters.but_for_bias(t, component, draw.dim, exact)
  if known then
    t:expect(exact == known, "the characteristic function depends on the bias")
    return true
  end
  local cosine = phi.new(t, require("scullery").nonlinearity.fourier{ form = "phase" })
  -- one column is where a wrong width shows: 2^19 draws tell 2 % of it
  local count = draw.dim == 1 and slack_of(layout) == 0 and 2048 or 64
  local mean, stderr = over_seeds(draw, layout, count, function(one, room)
    return cosine:apply(gaps * parameters.rows(one, room):t()):mean(2):t() * math.sqrt(0.5)
  end)
  check_against(t, "the characteristic function", exact, mean, stderr, slack_of(layout), gaps)
  return true
end

local function check_collision(t, draw, layout)
  if not core.sampler_tells(draw.sampler).collision then return false end
  local d, some = draw.dim, core.block_get(parameters.many(draw, layout, 1024).weights)
  local half_pitch = median(parameters.numbers_of(some, 1, 0, 2))
  local gaps = gaps_of(t, d, function() return half_pitch end)
  local exact = check_gap_blocks(t, "the collision probability", draw, gaps, core.sampler_collision)
  local drawn = 0
  local mean, stderr = over_seeds(draw, layout, 64, function(_, room)
    local weights, shares = core.block_get(room.weights), core.zeros(1, gaps:rows())
    drawn = drawn + room.count
    for i = 1, gaps:rows() do
      local together = 0
      for k = 1, room.count do
        local same = true
        for j = 1, d do
          local pitch, shift = weights:get(k, j), weights:get(k, d + j)
          same = same and (0.3 - shift) // pitch == (0.3 - gaps:get(i, j) - shift) // pitch
        end
        together = together + (same and 1 or 0)
      end
      shares:set(1, i, together / room.count)
    end
    return shares
  end)
  -- what is so rare that none of the draws has it has no standard error: exp(-10) is its chance
  check_against(t, "the collision probability", exact, mean, stderr, 10 / drawn, gaps)
  return true
end

local test = parameters.test

local characteristic = test("characteristic", "the characteristic function is that of the draws",
  { 1, 4, 40 }, "it declares no characteristic function", check_characteristic)
local of_variants = characteristic.run

-- With words that take numbers too.
function characteristic.run(t)
  for _, one in ipairs(t.subject:named_variants()) do
    for _, d in ipairs{ 1, 4 } do
      local draw, layout = parameters.draw(t, one.component, d, 150)
      t.label = one.label
      if draw then check_characteristic(t, draw, layout, one.component) end
    end
  end
  t.label, t.but_for_bias = nil, nil
  of_variants(t)
end

return {
  characteristic,
  test("collision", "two rows share a cell as often as is declared", { 1, 4 },
    "it declares no collision probability", check_collision),
}
