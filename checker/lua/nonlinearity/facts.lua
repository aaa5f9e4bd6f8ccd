--- Tests of the abilities facts and two-valued.
local core = require "scullery_checker.core"
local phi = require "scullery_checker.nonlinearity.phi"

local function facts_of(p) return core.facts(p.instance) end

-- f(p, facts) for each variant that has facts.
local function each_with_facts(t, each, f)
  local any = false
  each(t, function(p)
    if not t.subject.offers(p.component, "scullery.facts/1") then return end
    any = f(p, facts_of(p)) or any
  end, true)
  if not any then t:skip("it declares no such fact") end
end

-- ------------ bound

local function check_bound(t)
  each_with_facts(t, phi.each, function(p, facts)
    if facts.bound == math.huge then return false end
    t:expect(facts.bound >= 0, "the bound of |phi| is %g", facts.bound)
    local most = 0
    for i, scale in ipairs{ 0.01, 1, 5, 100, 1e6 } do
      local z = p:take(t:random(20, 50 * p.fan_in, i) * scale)
      local made = p:apply(z)
      most = math.max(most, made:abs():max())
      t:expect(most <= facts.bound * (1 + 1e-12), "|phi| is %.17g for numbers of size %g, above \z
        its bound %.17g", most, scale, facts.bound)
    end
    if most < 0.5 * facts.bound then
      t:warn("|phi| is %.6g at most, far below its bound %.6g", most, facts.bound)
    end
    return true
  end)
end

-- ------------ Lipschitz constant

-- Pairs of numbers, near and far, in all planes: matrices of 1 row, with the largest gap of each.
local function pairs_of(t, p, of)
  local cols = 400
  local a, gaps = p:take(t:random(1, cols * p.fan_in, of) * (of > 6 and 30 or 3)), {}
  local b = a:copy()
  local steps = t:random(1, cols * p.fan_in, of + 100)
  for j = 1, cols do
    local size, largest = j % 2 == 0 and 1e-3 or 2, 0
    for k = 0, p.fan_in - 1 do
      local at = k * cols + j
      -- the same step in all planes for each third pair: what a maximum changes by
      local step = steps:get(1, j % 3 == 0 and j or at) * size
      b:set(1, at, p.is_positive and math.abs(a:get(1, at) + step) or a:get(1, at) + step)
      largest = math.max(largest, math.abs(b:get(1, at) - a:get(1, at)))
    end
    gaps[j] = largest
  end
  return a, b, gaps
end

local function steepest(t, p, facts)
  local steep = 0
  for of = 1, 8 do
    local a, b, gaps = pairs_of(t, p, of)
    local from, to, cols, size = p:apply(a), p:apply(b), #gaps, a:abs():max()
    for j = 1, from:cols() do
      local gap = gaps[(j - 1) % cols + 1]
      local change = math.abs(to:get(1, j) - from:get(1, j))
      local rounding = 1e-14 * (math.abs(to:get(1, j)) + math.abs(from:get(1, j)))
        + 1e-15 * facts.lipschitz * size
      t:expect(change <= facts.lipschitz * gap * (1 + 1e-9) + rounding,
        "from z = %.9g to %.9g, at most %.3g apart, phi changes by %.6g: %.6g times, above its \z
        Lipschitz constant %.6g", a:get(1, (j - 1) % cols + 1), b:get(1, (j - 1) % cols + 1), gap,
        change, change / gap, facts.lipschitz)
      if gap > 1e-9 then steep = math.max(steep, change / gap) end
    end
  end
  return steep
end

local function check_lipschitz(t)
  each_with_facts(t, phi.each, function(p, facts)
    if facts.lipschitz == math.huge then return false end
    t:expect(facts.lipschitz >= 0, "the Lipschitz constant is %g", facts.lipschitz)
    local steep = steepest(t, p, facts)
    if steep < 0.5 * facts.lipschitz then
      t:warn("phi changes by %.6g times its input at most, far below its Lipschitz constant %.6g",
        steep, facts.lipschitz)
    end
    return true
  end)
end

-- ------------ breaks

local STEP <const> = 1e-3

-- |phi(z - h) - 2 phi(z) + phi(z + h)| at each of the numbers, the largest of all outputs.
local function bends(p, numbers, h)
  local all, count = {}, #numbers
  for j, z in ipairs(numbers) do
    all[j], all[count + j], all[2 * count + j] = z - h, z, z + h
  end
  local largest = {}
  for _, values in ipairs(p:at(all)) do
    for j = 1, count do
      local bend = math.abs(values[j] - 2 * values[count + j] + values[2 * count + j])
      largest[j] = math.max(largest[j] or 0, bend)
    end
  end
  return largest
end

-- The largest bend of step h within `reach` of z, and where.
local function largest_bend(p, z, reach, h)
  local numbers, most, at = {}, 0, z
  for j = -8, 8 do numbers[#numbers + 1] = z + reach * j / 8 end
  for j, bend in ipairs(bends(p, numbers, h)) do
    if bend > most then most, at = bend, numbers[j] end
  end
  return most, at
end

-- Whether phi has a kink or a jump near z, and where. Over a 64 times smaller step the bend falls
-- by 64^2 where phi is smooth, by 64 at a kink, and not at all at a jump.
local function break_near(p, z)
  local first, at = largest_bend(p, z, STEP, STEP)
  local last
  for level = 1, 3 do
    local step = STEP / 4 ^ level
    last, at = largest_bend(p, at, step, step)
  end
  return last > first / 400, at
end

local function is_listed(facts, z)
  for _, at in ipairs(facts.breaks) do
    if math.abs(z - at) <= 2 * STEP then return true end
  end
  return false
end

-- Whether the bend at place j stands out among those around it.
local function stands_out(list, j, size)
  local around = 0
  for k = 2, 4 do around = math.max(around, list[j - k] or 0, list[j + k] or 0) end
  return list[j] > 8 * around and list[j] > 1e-7 * size
end

local function check_breaks(t)
  each_with_facts(t, phi.each_function, function(p, facts)
    if p.is_bounded then return end -- the numbers below are not all in its domain
    for i = 2, #facts.breaks do
      t:expect(facts.breaks[i] > facts.breaks[i - 1], "the breaks are not ascending: %g after %g",
        facts.breaks[i], facts.breaks[i - 1])
    end
    local numbers = {}
    for j = 1, 16000 do numbers[j] = (p.is_positive and 0.01 or -8) + (j - 0.371) * STEP end
    local list, size = bends(p, numbers, STEP), 0
    for _, values in ipairs(p:at(numbers)) do
      for _, value in ipairs(values) do size = size + math.abs(value) / #numbers end
    end
    for j, z in ipairs(numbers) do
      if stands_out(list, j, size) and not is_listed(facts, z) then
        local is_break, at = break_near(p, z)
        t:expect(not is_break, "phi has a kink or a jump at z = %.5f, which is not among its \z
          breaks", at)
      end
    end
    return true
  end)
end

-- ------------ scale free, two values

local function check_scale(t)
  each_with_facts(t, phi.each, function(p, facts)
    if not facts.scale_free then return false end
    local z = p:numbers(10, 20)
    local want = p:apply(z)
    for _, scale in ipairs{ 1e-3, 0.3, 2, 1e3 } do
      local made = p:apply(z * scale)
      for j = 1, want:cols() do
        t:expect(math.abs(made:get(1, j) - want:get(1, j)) <= 1e-12 * math.abs(want:get(1, j)),
          "it says scale_free, and phi(%.6g) is %.9g but phi(%g times that) is %.9g",
          z:get(1, (j - 1) % 20 + 1), want:get(1, j), scale, made:get(1, j))
      end
    end
    return true
  end)
end

local function check_two_values(t)
  local any = false
  phi.each_function(t, function(p)
    local two = core.two_valued(p.instance)
    if not two then return end
    any = true
    local numbers = { -1e300, -2.5, -1e-300, -0.0, 0, 1e-300, 0.1, 3, 1e300 }
    for j, value in ipairs(p:at(numbers)[1]) do
      local z = numbers[j]
      local want = (z > 0 or z == 0 and two.zero_is_high) and two.high or two.low
      t:expect(value == want, "phi(%g) is %.17g, and two-valued says %.17g", z, value, want)
    end
  end)
  if not any then t:skip("it has no ability \"scullery.two-valued/1\"") end
end

return {
  { name = "bound", about = "|phi| is at most the bound that it declares", run = check_bound },
  { name = "lipschitz", about = "phi changes by at most its Lipschitz constant times its input",
    run = check_lipschitz },
  { name = "breaks", about = "every kink and jump is among the breaks that it declares",
    run = check_breaks },
  { name = "scale-free", about = "phi(s z) = phi(z) where it is declared", run = check_scale },
  { name = "two-valued", about = "phi takes the two values that it declares",
    run = check_two_values },
}
