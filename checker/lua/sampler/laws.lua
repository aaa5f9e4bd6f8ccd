--- Tests of samplers: draws against the law and the distribution function that they declare.
local core = require "scullery_checker.core"
local parameters = require "scullery_checker.parameters"
local statistics = require "scullery_checker.statistics"
local components = require "scullery.compose.component"

-- Draws that a law is compared with.
local N = 1 << 14

local slack_of, but_for_bias, numbers_of = parameters.slack_of, parameters.but_for_bias,
  parameters.numbers_of

local function many(draw, layout) return parameters.many(draw, layout, N) end

-- ------------ the law

-- The numbers (w_j - mean_j)/scale_j of one coordinate, or of all that share a law.
local function check_numbers(t, what, law, values, looks, slack)
  local cdf, spread = statistics.cdf(law), statistics.spreads[law.family]
  if spread then statistics.check_moments(t, what, values, spread, looks, slack) end
  if law.family == "rademacher" then
    for i, e in ipairs(values) do
      t:expect(math.abs(math.abs(e) - 1) < 1e-12, "%s: (w - mean)/scale of parameter %d is %g; a \z
        rademacher one is 1 or -1", what, i - 1, e)
    end
  elseif cdf then
    statistics.check_distribution(t, what, values, cdf, looks, slack)
  end
end

-- Directions w/|w| are uniform: E u_j^4 = 3/(d (d + 2)).
local function check_directions(t, columns)
  local d, fourths = #columns, {}
  for i = 1, #columns[1] do
    local square, fourth = 0, 0
    for j = 1, d do square, fourth = square + columns[j][i] ^ 2, fourth + columns[j][i] ^ 4 end
    fourths[i] = fourth / square ^ 2 / d
  end
  local wanted, mean, stderr = 3 / (d * (d + 2)), statistics.mean(fourths)
  t:expect(math.abs(mean - wanted) <= statistics.limit() * stderr + 1e-12,
    "E (w_j/|w|)^4 is %.5f, where uniform directions have %.5f: %.1f standard errors", mean, wanted,
    math.abs(mean - wanted) / (stderr + 1e-300))
end

-- Lengths do not depend on directions: nor on the sign of w_1, nor on its share.
local function check_lengths(t, columns)
  local lengths, shares, signs = {}, {}, {}
  for i = 1, #columns[1] do
    local square = 0
    for j = 1, #columns do square = square + columns[j][i] ^ 2 end
    lengths[i], signs[i] = square, columns[1][i]
    shares[i] = columns[1][i] ^ 2 / square
  end
  local function from_median(list)
    local sorted = table.move(list, 1, #list, 1, {})
    table.sort(sorted)
    local middle = sorted[(#list + 1) // 2]
    for i, x in ipairs(list) do list[i] = x - middle end
    return sorted[#list] - sorted[1] > 1e-9 * middle
  end
  if not from_median(lengths) then return end -- all are alike
  from_median(shares)
  statistics.check_signs(t, "length and weight 0", lengths, signs, 10)
  statistics.check_signs(t, "length and share of weight 0", lengths, shares, 10)
end

-- Lengths of structured rows of normal numbers: where they differ, the variance of their squares is
-- 2 d, up to what a block shares. Means are over blocks.
local LONG <const> = 64

local function check_structured_lengths(t, component)
  local draw, layout = parameters.draw(t, component, LONG, 1 << 13)
  local law = draw and core.law(draw.sampler, LONG, draw.state)
  if not law or law.family ~= "gaussian" or draw.state or not core.sampler_has_rows(draw.sampler)
    or core.layout(draw.sampler, LONG).count > 0 then return end
  local rows = parameters.rows(draw, parameters.many(draw, layout, 1 << 13))
  local blocks, differs = {}, false
  for i = 1, rows:rows() do
    local square = 0
    for j = 1, LONG do square = square + ((rows:get(i, j) - law.mean[j]) / law.scale[j]) ^ 2 end
    differs = differs or math.abs(square - LONG) > 1e-6 * LONG
    local b = (i - 1) // layout.block + 1
    blocks[b] = (blocks[b] or 0) + (square - LONG) ^ 2 / layout.block
  end
  if not differs or #blocks < 30 then return end
  local mean, stderr = statistics.mean(blocks)
  t:expect(math.abs(mean - 2 * LONG) <= statistics.limit() * stderr + 0.2 * LONG, "the variance \z
    of ||(w - mean)/scale||^2 is %.4g +- %.2g, where rows of %d normal numbers have %d", mean,
    stderr, LONG, 2 * LONG)
end

-- Shares of very many numbers up to quantiles of the law, where it has no moments to look at.
local SHARES <const> = { 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5 }
local DOUBT <const> = 3

local function quantile(cdf, share)
  local low, high = 0, 1e15
  for _ = 1, 120 do
    local middle = low < 1 and (low + high) / 2 or math.sqrt(low * high)
    if cdf(-middle) > share then low = middle else high = middle end
  end
  return high
end

-- How many standard errors the worst share of so many numbers of one column is off.
local function check_shares(t, draw, law, places, total, stage)
  local wide = parameters.with(draw, { total = total })
  local weights = core.block_get(parameters.drawn(wide, core.layout(draw.sampler, 1, total), 0,
    total).weights)
  local counts, worst, below = {}, 0, 0
  for _, w in ipairs(weights:t():totable()[1]) do
    local e, k = math.abs(w - law.mean[1]), #places + 1 -- most are near the last place
    while k > 1 and e >= places[k - 1] do k = k - 1 end
    counts[k] = (counts[k] or 0) + 1
  end
  for k, place in ipairs(places) do
    below = below + (counts[k] or 0)
    local p = 2 * SHARES[k]
    local off = math.abs(below - total * p) / math.sqrt(total * p * (1 - p) + 1e-9)
    t:expect(off <= statistics.stage_limit(stage, 200), "%d of %d numbers are %.4g or more from \z
      the mean, where its distribution function gives %.1f: %.1f standard errors", below, total,
      place, total * p, off)
    worst = math.max(worst, off)
  end
  return worst
end

local function check_quantiles(t, component)
  local draw, layout = parameters.draw(t, component, 1, 64)
  local law = draw and layout.space == "dense" and not draw.state and layout.block == 1
    and core.law(draw.sampler, 1)
  local cdf = law and not statistics.spreads[law.family] and statistics.cdf(law)
  if not cdf or core.layout(draw.sampler, 1).count > 0 then return end
  local places = {}
  for k = 1, #SHARES - 1 do places[k] = quantile(cdf, SHARES[k]) * law.scale[1] end
  for stage = 1, 2 do
    if check_shares(t, draw, law, places, 1 << 16 + 2 * stage, stage) < DOUBT then return end
  end
end

local function check_rows(t, draw, layout, law, room)
  local rows = parameters.rows(draw, room)
  if not rows then return end
  local columns, slack, d = {}, slack_of(layout), draw.dim
  local known = statistics.cdf(law) or statistics.spreads[law.family]
  for j = 1, d do
    columns[j] = numbers_of(rows, j, law.mean[j], law.scale[j])
    check_numbers(t, ("column %d"):format(j - 1), law, columns[j], d, slack)
  end
  for j = 1, known and d or 0 do
    for k = j + 1, d do
      statistics.check_signs(t, ("columns %d and %d"):format(j - 1, k - 1), columns[j], columns[k],
        d * d, slack)
    end
  end
  if law.family == "spherical" and d > 1 then check_directions(t, columns) end
  local isotropic = law.family == "spherical" or law.family == "student"
  if isotropic and d > 1 and slack == 0 then check_lengths(t, columns) end
end

local function check_supports(t, draw, _, law, room)
  local support, weights = core.block_get(room.support), core.block_get(room.weights)
  local d, degrees, places, numbers, sum = draw.dim, {}, {}, {}, 0
  for i = 1, room.count do
    local s = 0
    while s < support:cols() and support:get(i, s + 1) >= 0 do
      s = s + 1
      local column = math.tointeger(support:get(i, s))
      places[column] = (places[column] or 0) + 1
    end
    degrees[s], sum = (degrees[s] or 0) + 1, sum + s
    for slot = 1, s do
      local column = math.tointeger(support:get(i, slot)) + 1
      numbers[#numbers + 1] = (weights:get(i, slot) - law.mean[column])
        / (law.scale[column] * law.degree_scale[s + 1])
    end
  end
  local probabilities = {}
  for s = 0, d do probabilities[s] = law.degree[s + 1] > 0 and law.degree[s + 1] or nil end
  statistics.check_frequencies(t, "in-degree", degrees, probabilities, room.count, 2)
  -- columns of one support differ, so that these vary less than independent ones
  local limit = statistics.limit(d) * math.sqrt(sum / d)
  for column = 0, d - 1 do
    t:expect(math.abs((places[column] or 0) - sum / d) <= limit + 1e-9,
      "column %d is in %d of %d supports, where each of %d columns is in %.1f +- %.1f", column,
      places[column] or 0, room.count, d, sum / d, math.sqrt(sum / d))
  end
  if #numbers > 0 then check_numbers(t, "weights", law, numbers, 1) end
end

local function check_thresholds(t, draw, _, law, room)
  local support, weights = core.block_get(room.support), core.block_get(room.weights)
  local seen, each, values = {}, {}, {}
  for i = 1, room.count do
    local column = math.tointeger(support:get(i, 1))
    seen[column] = (seen[column] or 0) + 1
    values[i] = (weights:get(i, 1) - law.mean[column + 1]) / law.scale[column + 1]
  end
  for column = 0, draw.dim - 1 do each[column] = 1 / draw.dim end
  statistics.check_frequencies(t, "column", seen, each, room.count, 1)
  check_numbers(t, "thresholds", law, values, 1)
end

-- Pitches, of which the law has mean and standard deviation, then shifts, uniform up to the pitch.
local function check_grids(t, draw, _, law, room)
  local weights, d = core.block_get(room.weights), draw.dim
  for j = 1, d do
    local shares = {}
    for i = 1, room.count do shares[i] = weights:get(i, d + j) / weights:get(i, j) end
    if law.scale[j] > 0 then
      statistics.check_moments(t, ("pitch %d"):format(j - 1),
        numbers_of(weights, j, law.mean[j], law.scale[j]), 1, d)
    else -- a fixed pitch
      for i = 1, room.count do
        t:expect(weights:get(i, j) == law.mean[j], "pitch %d of parameter %d is %g, and the law \z
          says %g for all", j - 1, i - 1, weights:get(i, j), law.mean[j])
      end
    end
    statistics.check_distribution(t, ("shift over pitch %d"):format(j - 1), shares,
      function(x) return math.min(1, math.max(0, x)) end, d)
  end
end

local biases = {
  uniform = function(b) return math.min(1, math.max(0, b)) end,
  gaussian = statistics.normal_cdf,
}

local function check_own_bias(t, law, room)
  if not room.bias then
    t:expect(law.bias == "none", "the law has a bias, and the layout has none")
    return
  end
  local numbers = core.block_get{ memory = room.bias, rows = room.count, cols = 1 }
  t:expect(law.bias ~= "none", "parameters have a bias, and the law says that there is none")
  local scale = law.bias == "uniform" and law.bias_b - law.bias_a or law.bias_b
  statistics.check_distribution(t, "bias", numbers_of(numbers, 1, law.bias_a, scale),
    biases[law.bias], 1)
end

-- ------------ many draws

-- E e^4 of e = (w - mean)/scale, where the eighth moment is finite.
local fourths = { gaussian = 3, uniform = 1 / 5, rademacher = 1, laplace = 24 }
-- Numbers of parameters, and columns that are looked at together.
local MANY = { [1] = 1 << 17, [4] = 1 << 17, [40] = 1 << 14, [400] = 1 << 12 }
local GROUPS = { { 0, 8 }, { 8, 24 }, { 32, 224 }, { 256, 144 } }
local ROW_LAGS, COLUMN_LAGS = { 1, 2, 64, 256, 1000, 1024, 4096 }, { 1, 8, 16, 32, 64, 128, 256 }

-- Mean, variance and fourth moment of some columns, at a stage of a sequential test; how many
-- standard errors the worst of them is off.
local function check_powers(t, law, block, slack, what, stage)
  local spread, fourth = statistics.spreads[law.family], fourths[law.family]
  local worst, limit = 0, statistics.stage_limit(stage, 200)
  local function expect_moment(text, found, wanted, stderr, allowed)
    local off = math.max(math.abs(found - wanted) - allowed - 1e-9, 0) / (stderr + 1e-300)
    t:expect(off <= limit, "%s is %.6g, where the law has %.6g: %.1f standard errors", text, found,
      wanted, off)
    worst = math.max(worst, off)
  end
  for _, group in ipairs(GROUPS) do
    local count = math.min(group[2], block.cols - group[1])
    local sums, odd = {}, 0
    if count > 0 then
      sums, odd = core.powers(block, law.mean, law.scale, group[1], count)
    end
    local n = count * block.rows
    t:expect(odd == 0, "%s: %d of %d numbers are not finite", what, odd, n)
    if spread and n > 0 then
      local text = ("%s, columns %d to %d: the mean of (w - mean)/scale"):format(what, group[1],
        group[1] + count - 1)
      local second = sums[2] / n
      expect_moment(text, sums[1] / n, 0, spread / math.sqrt(n), slack * spread)
      expect_moment(text .. ", squared,", second, spread ^ 2,
        math.sqrt(math.max(sums[4] / n - second ^ 2, 0) / n), 0.3 * slack * spread ^ 2)
      local power = sums[4] / n
      if fourth and slack == 0 then
        expect_moment(text .. ", to the fourth power,", power, fourth,
          math.sqrt(math.max(sums[8] / n - power ^ 2, 0) / n), 0)
      end
    end
  end
  return worst
end

local function check_signs(t, law, block, lags, by_rows, slack)
  if not (statistics.cdf(law) or statistics.spreads[law.family]) then return end
  for _, lag in ipairs(lags) do
    if lag < (by_rows and block.rows or block.cols) then
      local sum, n = core.signs(block, law.mean, by_rows and lag or 0, by_rows and 0 or lag)
      t:expect(math.abs(sum) <= statistics.limit(200) * math.sqrt(n) + slack * n,
        "the signs of numbers %d %s apart have the mean product %.4f over %d pairs, %.1f standard \z
        errors from 0: they are not independent", lag, by_rows and "parameters" or "columns",
        sum / n, n, math.abs(sum) / math.sqrt(n))
    end
  end
end

-- More draws of a law of dense rows, as long as they leave a doubt.
local function check_further(t, draw, law, total)
  local most = total * 4 ^ (statistics.stages - 1)
  for stage = 2, statistics.stages do
    total = total * 4
    local larger = parameters.with(draw, { total = most })
    local room = parameters.drawn(larger, core.layout(draw.sampler, draw.dim, most), 0, total)
    local worst = check_powers(t, law, room.weights, 0, ("%d parameters"):format(total), stage)
    if worst <= statistics.doubt then return end
  end
end

-- The first draws of a law of dense rows: 5 % of the variance, and 2 % of the standard deviation in
-- the mean, are 10 standard errors and more; of 1 %, and of 0.7 %, further draws leave no doubt.
local function check_many(t, draw, layout, component, few)
  local law = core.law(draw.sampler, draw.dim, draw.state)
  if not law or layout.space ~= "dense" and layout.space ~= "structured" then return false end
  if draw.state or core.layout(draw.sampler, draw.dim).count > 0 then return false end
  if but_for_bias(t, component, draw.dim, true) then return true end
  local total = few or MANY[draw.dim]
  if layout.space == "structured" then total = math.min(total, 1 << 13) end
  total = parameters.whole_blocks(layout, total)
  draw = parameters.with(draw, { total = total })
  local ok, room = pcall(function()
    return parameters.drawn(draw, core.layout(draw.sampler, draw.dim, total), 0, total)
  end)
  if not ok then return false end
  local block, slack = room.weights, slack_of(layout)
  if layout.space == "structured" then
    if not core.sampler_has_rows(draw.sampler) then return false end
    block = parameters.block_of(parameters.rows(draw, room))
  end
  local worst = check_powers(t, law, block, slack, ("%d parameters"):format(room.count), 1)
  if worst > statistics.doubt and slack == 0 and not few and draw.dim <= 4 then
    check_further(t, draw, law, total)
  end
  if slack == 0 and not few then
    check_signs(t, law, block, COLUMN_LAGS, false, slack)
    if parameters.is_independent(draw, layout) then
      check_signs(t, law, block, ROW_LAGS, true, slack)
    end
  end
  return true
end

-- In-degrees that an option calls binomial have the ratios of its probabilities, as far as they
-- have any.
local function check_binomial(t, law, given)
  local p
  for _, value in pairs(given or {}) do
    p = type(value) == "table" and tonumber(value.binomial) or p
  end
  local d = #law.degree - 1
  for s = 0, p and p < 1 and d - 1 or -1 do
    local here, next = law.degree[s + 1], law.degree[s + 2]
    local wanted = (d - s) / (s + 1) * p / (1 - p)
    t:expect(not (here > 0 and next > 0) or math.abs(next / here / wanted - 1) < 1e-6, "in-degree \z
      %d is %.6g times as likely as %d, and %.6g times by a binomial law of %d columns", s + 1,
      next / here, s, wanted, d)
  end
end

-- Each option that takes numbers, a thousand times smaller and larger than its default; and with
-- less power for dense rows, nearer to it, and in its other forms.
local function check_far_options(t)
  local any = false
  for _, one in ipairs(t.subject:far_variants()) do
    local ok, draw, layout = pcall(parameters.draw, t, one.component, 4, 64)
    t.label, t.but_for_bias = one.label, nil
    any = ok and draw and check_many(t, draw, layout, one.component, 1 << 13) or any
  end
  local others = t.subject:far_variants{ 0.1, 0.35, 4 }
  for _, one in ipairs(t.subject:named_variants()) do others[#others + 1] = one end
  for _, one in ipairs(others) do
    local ok, draw, layout = pcall(parameters.draw, t, one.component, 4, 64)
    local space = ok and draw and layout.space
    local law = (space == "dense" or space == "sparse") and core.law(draw.sampler, 4, draw.state)
    t.label = one.label
    if law and space == "sparse" then
      any = true
      check_supports(t, draw, layout, law, many(draw, layout))
      check_binomial(t, law, one.given)
    elseif law and (statistics.cdf(law) or statistics.spreads[law.family]) then
      any = true
      check_rows(t, draw, layout, law, many(draw, layout))
      check_quantiles(t, one.component)
    end
  end
  t.label = nil
  if not any then t:skip("it declares no law of dense rows, or has no numbers") end
end

local check_of_space = { dense = check_rows, structured = check_rows, sparse = check_supports,
  threshold = check_thresholds, grid = check_grids }

local function check_law(t, draw, layout, component)
  local law = core.law(draw.sampler, draw.dim, draw.state)
  if not law then return false end
  local room = many(draw, layout)
  if not but_for_bias(t, component, draw.dim, true) then
    check_of_space[layout.space](t, draw, layout, law, room)
    if draw.dim == 1 then check_quantiles(t, component) end
    if layout.space == "structured" and draw.dim > 1 then check_structured_lengths(t, component) end
  end
  check_own_bias(t, law, room)
  return true
end

-- ------------ the bias that the host draws

-- Biases that an option can ask for, and the distribution function of each.
local asked = {
  { "uniform", function(b) return (b + math.pi) / (2 * math.pi) end },
  { "gaussian", statistics.normal_cdf },
  { { -0.5, 2 }, function(b) return (b + 0.5) / 2.5 end },
  { { gaussian = 0.7 }, function(b) return statistics.normal_cdf(b / 0.7) end },
  { { gaussian = { -1, 0.2 } }, function(b) return statistics.normal_cdf((b + 1) / 0.2) end },
}

local function drawn_with(t, component, bias, dim)
  local draw, layout = parameters.draw(t, components.with(component, "bias", bias), dim, N)
  return draw, draw and parameters.drawn(draw, layout, 0, parameters.whole_blocks(layout,
    draw.total))
end

local function check_bias(t, component, dim)
  local _, plain = drawn_with(t, component, "none", dim)
  if not plain then return false end
  if but_for_bias(t, component, dim, true) then return true end
  local weights = core.block_get(plain.weights)
  for _, case in ipairs(asked) do
    local draw, room = drawn_with(t, component, case[1], dim)
    local shown = require("scullery.base.options").show(case[1])
    t:expect(room.bias ~= nil, "bias = %s: the layout has no bias", shown)
    t:expect(core.block_get(room.weights) == weights, "bias = %s changes the weights", shown)
    local numbers = core.block_get{ memory = room.bias, rows = room.count, cols = 1 }
    statistics.check_distribution(t, ("bias = %s"):format(shown), numbers_of(numbers, 1, 0, 1),
      function(b) return math.min(1, math.max(0, case[2](b))) end, #asked)
    local law = core.law(draw.sampler, dim, draw.state)
    local word = type(case[1]) == "string" and case[1] or case[1].gaussian and "gaussian"
      or "uniform"
    t:expect(not law or law.bias == word, "bias = %s: the law says %s", shown, law and law.bias)
  end
  return true
end

-- Of an option that takes a sampler: one with a bias is refused, or where the weights are those of
-- that sampler the bias is too. Whether the option takes samplers.
local function check_part_bias(t, option)
  if option.words[1] ~= "sampler" then return false end
  local part = require("scullery").sampler.gaussian{ bias = "uniform" }
  local _, draw, layout = pcall(function()
    return parameters.draw(t, t.subject:make{ [option.name] = part }, 4, 320)
  end)
  if not layout or not layout.space then return true end
  local own, own_layout = parameters.draw(t, part, 4, draw.total)
  local room = parameters.drawn(draw, layout, 0, draw.total)
  local plain = parameters.drawn(own, own_layout, 0, draw.total)
  local law = core.law(draw.sampler, 4, draw.state)
  t.label = ("%s = %s"):format(option.name, part)
  if law then check_own_bias(t, law, room) end
  t:expect(core.block_get(room.weights) ~= core.block_get(plain.weights)
    or parameters.matrix(room) == parameters.matrix(plain), "the weights are those of this \z
    sampler, and the bias is not")
  t.label = nil
  return true
end

local function run_bias(t)
  local any = false
  for _, option in ipairs(t.subject.info.options) do any = check_part_bias(t, option) or any end
  parameters.each(t, { 4 }, 150, function(draw, _, component)
    any = components.role(component, "bias") ~= nil and check_bias(t, component, draw.dim) or any
  end)
  if not any then t:skip("it has no option for a bias or a sampler") end
end

-- ------------ independence

-- Signs about the mean of numbers that a law says are symmetric: of neighbouring parameters, and of
-- the two scalars of a feature.
local function check_independence(t, draw, layout, component)
  local law = core.law(draw.sampler, draw.dim, draw.state)
  if not law or not parameters.is_independent(draw, layout) or layout.space == "grid" then
    return false
  end
  if not (statistics.cdf(law) or statistics.spreads[law.family]) then return false end
  if but_for_bias(t, component, draw.dim, true) then return true end
  local columns = {}
  for plane = 0, 1 do
    local room = many(parameters.with(draw, { plane = plane, planes = 2 }), layout)
    local weights = core.block_get(room.weights)
    for j = 1, math.min(2, weights:cols()) do
      local mean = layout.space == "dense" and law.mean[j] or law.mean[1]
      columns[#columns + 1] = numbers_of(weights, j, mean, 1)
    end
  end
  local half = #columns // 2
  for j = 1, half do
    for _, lag in ipairs{ 1, 2, 64 } do
      local later = table.move(columns[j], 1 + lag, #columns[j], 1, {})
      statistics.check_signs(t, ("parameters t and t + %d, weight %d"):format(lag, j - 1),
        table.move(columns[j], 1, #columns[j] - lag, 1, {}), later, 8)
    end
    statistics.check_signs(t, ("scalars 0 and 1 of a feature, weight %d"):format(j - 1), columns[j],
      columns[half + j], 8)
  end
  return true
end

-- ------------ distribution function

local function check_distribution(t, draw, layout)
  if not core.sampler_tells(draw.sampler).distribution then return false end
  local room = many(draw, layout)
  local support, weights = core.block_get(room.support), core.block_get(room.weights)
  for column = 1, draw.dim do
    local values = {}
    for i = 1, room.count do
      if support:get(i, 1) == column - 1 then values[#values + 1] = weights:get(i, 1) end
    end
    local function cdf(x) return core.sampler_distribution(draw, column, x) end
    local before = -1
    for _, x in ipairs{ -math.huge, -1e300, -3, -1, -0.2, 0, 0.2, 1, 3, 1e300, math.huge } do
      local here = cdf(x)
      t:expect(here >= 0 and here <= 1 and here >= before, "the distribution function of column \z
        %d \z
        is %g at %g, after %g", column - 1, here, x, before)
      before = here
    end
    t:expect(cdf(-math.huge) == 0 and before == 1, "the distribution function of column %d goes \z
      from %g to %g", column - 1, cdf(-math.huge), before)
    statistics.check_distribution(t, ("column %d"):format(column - 1), values, cdf, draw.dim)
  end
  return true
end

local test = parameters.test

return {
  test("law", "draws have the law that is declared", { 1, 4 }, "it declares no law", check_law),
  test("moments", "many draws have the moments that are declared, in all of 400 columns",
    { 1, 4, 40, 400 }, "it declares no law of dense rows", check_many),
  { name = "far-options", about = "the law holds where options are 1000 times smaller or larger",
    seconds = 60, run = check_far_options },
  { name = "bias", about = "a bias has the law that its option asks for, and leaves the weights; \z
    that of a part is passed on", seconds = 60, run = run_bias },
  test("independence", "parameters are independent, and so are the scalars of a feature", { 4 },
    "its parameters depend on each other, or have no law", check_independence),
  test("distribution", "the distribution function is that of the thresholds", { 1, 4 },
    "it declares no distribution function", check_distribution),
}
