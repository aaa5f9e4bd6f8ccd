--- Tests of how the functions of a loss are called: batches, memory, huge numbers, the facts.
local loss = require "scullery_checker.loss.function"

local names = { "value", "slope", "curvature", "conjugate", "proximal", "probability", "mean" }
local of_scores = { probability = true, mean = true } -- functions of f alone

-- The lists for a call of a function: `count` of each.
local function lists(one, name, count, of)
  local first, y, t = {}, not of_scores[name] and {} or nil, name == "proximal" and {} or nil
  local random = one.t:random(1, count + 1, of)
  for i = 1, count do
    local target = one.targets[i % #one.targets + 1]
    first[i] = 3 * random:get(1, i)
    if y then y[i] = target end
    if name == "conjugate" then first[i] = one:at("slope", first[i], target) end
    if t then t[i] = math.exp(random:get(1, i + 1)) end
  end
  return first, y, t
end

local function each_function(t, f)
  loss.each(t, function(one)
    for _, name in ipairs(names) do
      if name == "value" or name == "slope" or one.facts[name] then f(one, name) end
    end
  end)
end

-- ------------ batches

local COUNTS <const> = { 0, 1, 2, 3, 7, 64, 257, 10001 }
local MOST_OF_OTHERS <const> = 1203 -- of functions other than the value and the slope
local function part_of(list, i) return list and { list[i] } end

local function check_batches(t)
  each_function(t, function(one, name)
    for of, count in ipairs(COUNTS) do
      if name ~= "value" and name ~= "slope" then count = math.min(count, MOST_OF_OTHERS) end
      local first, y, steps = lists(one, name, count, of)
      local all = one:call(name, first, y, steps)
      for i = 1, count, count > 300 and count // 60 or 1 do
        local alone = one:call(name, part_of(first, i), part_of(y, i), part_of(steps, i))[1]
        t:expect(alone == all[i], "%s of number %d of %d is %.17g, and alone %.17g", name, i, count,
          all[i], alone)
      end
      local again = one:call(name, first, y, steps)
      for i = 1, count do
        t:expect(again[i] == all[i], "%s of number %d of %d is %.17g in a second call, and was \z
          %.17g", name, i, count, again[i], all[i])
      end
    end
  end)
end

-- ------------ memory

local function check_pages(t)
  each_function(t, function(one, name)
    for of, count in ipairs{ 1, 2, 5, 17, 512 } do
      local first, y, steps = lists(one, name, count, of)
      local all = one:call(name, first, y, steps)
      for _, layout in ipairs{ { true, false }, { false, true }, { true, true } } do
        local other = one:call(name, first, y, steps, layout[1], layout[2])
        for i = 1, count do
          t:expect(other[i] == all[i], "%s of number %d of %d is %.17g %s, and %.17g otherwise",
            name, i, count, other[i], layout[2] and "in place of its input"
            or "in memory that begins behind a page", all[i])
        end
      end
    end
  end)
end

-- ------------ huge and tiny numbers

local odd = { 0, -0.0, 5e-324, 1e-300, -1e-300, 1e-8, 700, -700, 800, -800, 1e10, -1e10, 1e154,
  -1e154, 1e300, -1e300, 1.7e308, -1.7e308 }

-- At an end of the range that belongs to it the value is finite at ordinary scores. It may overflow
-- at large targets.
local function expect_finite(t, one, y)
  local is_end = y == one.facts.low or y == one.facts.high
  for _, f in ipairs(is_end and { -3, -1, 0, 0.5, 3 } or {}) do
    local value, slope = one:at("value", f, y), one:at("slope", f, y)
    t:expect(loss.is_finite(value) and loss.is_finite(slope), "the value at %s, a target that it \z
      takes, is %g, and the slope %g", loss.shown(f, y), value, slope)
  end
end

local function check_huge(t)
  loss.each_far(t, function(one)
    for _, y in ipairs(one.targets) do
      expect_finite(t, one, y)
      for _, f in ipairs(odd) do
        for _, name in ipairs{ "value", "slope", one.facts.curvature and "curvature" or nil } do
          local got, sentence = loss.try(function() return one:at(name, f, y) end)
          t:expect(got, "%s at %s: %s", name, loss.shown(f, y), sentence or "")
          t:expect(name ~= "curvature" or got >= 0, "the curvature at %s is %g", loss.shown(f, y),
            got)
        end
      end
    end
  end)
end

-- ------------ facts

-- The bounds are about reached: larger ones are right, and make steps shorter than they need be.
local LOOSE <const> = 1.8

local function check_tight(t)
  local one, scores, slope, bend = loss.new(t, t.subject:make{}), {}, 0, 0
  for k = -160, 160 do scores[#scores + 1] = k / 20 end
  for _, y in ipairs(one:small_targets()) do
    local slopes = one:all("slope", scores, y)
    for i, x in ipairs(slopes) do
      slope = math.max(slope, math.abs(x))
      bend = math.max(bend, i > 1 and (x - slopes[i - 1]) * 20 or 0)
    end
  end
  for what, pair in pairs{ ["Lipschitz constant"] = { one.facts.lipschitz, slope },
    ["largest curvature"] = { one.facts.largest_curvature, bend } } do
    local said, seen = pair[1], pair[2]
    if said < math.huge and said > LOOSE * seen then
      t:warn("its %s is said to be %.6g, and the largest one that was seen is %.6g", what, said,
        seen)
    end
  end
end

local function check_facts(t)
  check_tight(t)
  loss.each_far(t, function(one)
    local facts = one.facts
    for of, y in ipairs(one.targets) do
      local scores = one:scores(y, of)
      local slopes = one:all("slope", scores, y)
      for i, slope in ipairs(slopes) do
        t:expect(facts.lipschitz == 0 or math.abs(slope) <= facts.lipschitz * (1 + 1e-12),
          "the slope at %s is %.6g, and its Lipschitz constant is said to be %.6g",
          loss.shown(scores[i], y), slope, facts.lipschitz)
        local by = i > 1 and scores[i] - scores[i - 1] or 0
        local change = i > 1 and slope - slopes[i - 1] or 0
        t:expect(i == 1 or facts.largest_curvature == 0 or facts.largest_curvature == math.huge
          or not loss.is_finite(change) or change <= facts.largest_curvature * by * (1 + 1e-9)
          + 1e-13 * (math.abs(slope) + facts.largest_curvature * math.abs(scores[i])),
          "the slope changes by %.6g from f = %.6g to %.6g, y = %.6g, and its largest curvature \z
          is said to be %.6g", change, scores[i] - by, scores[i], y, facts.largest_curvature)
      end
    end
  end)
end

return {
  { name = "batches", about = "each number depends on itself alone, in any batch, and each time",
    run = check_batches },
  { name = "pages", about = "nothing outside of the arrays is read or written; in place too",
    run = check_pages },
  { name = "huge", about = "no function is NaN at finite scores, however large",
    run = check_huge },
  { name = "facts", about = "slopes are within the Lipschitz constant and the largest curvature",
    run = check_facts },
}
