--- Tests of the slope and the curvature against the value, and of convexity.
local loss = require "scullery_checker.loss.function"

local EPSILON <const> = 2.2e-16

-- ------------ slopes

-- A convex function changes from f - h to f + h by a rate between the slopes at both ends, also
-- around a kink.
local function expect_rate(t, one, f, y, step)
  local h = step * math.max(1, math.abs(f))
  local below, above = f - h, f + h
  local values = one:call("value", { below, above }, { y, y })
  local slopes = one:call("slope", { below, above }, { y, y })
  local rate = (values[2] - values[1]) / (above - below)
  if not loss.is_finite(rate) then return end
  local size = math.max(math.abs(values[1]), math.abs(values[2]))
  local slack = 1e-9 * (math.abs(slopes[1]) + math.abs(slopes[2]))
    + 32 * EPSILON * (size + 1e-6) / h
  t:expect(slopes[1] - slack <= rate and rate <= slopes[2] + slack, "around %s the value changes \z
    by %.9g for each unit, and the slopes there are %.9g to %.9g", loss.shown(f, y), rate,
    slopes[1], slopes[2])
end

local function check_slope(t)
  loss.each_far(t, function(one)
    for of, y in ipairs(one.targets) do
      for _, f in ipairs(one:scores(y, of)) do
        expect_rate(t, one, f, y, 1e-5)
        expect_rate(t, one, f, y, 1e-8)
      end
    end
  end)
end

local function check_convex(t)
  loss.each_far(t, function(one)
    for of, y in ipairs(one.targets) do
      local scores = one:scores(y, of + 20)
      local slopes = one:all("slope", scores, y)
      for i = 2, #scores do
        local slack = 1e-12 * (math.abs(slopes[i]) + math.abs(slopes[i - 1]))
        t:expect(slopes[i] >= slopes[i - 1] - slack or slopes[i] == math.huge,
          "the slope falls from %.9g at %s to %.9g at f = %.6g: it is not convex", slopes[i - 1],
          loss.shown(scores[i - 1], y), slopes[i], scores[i])
      end
    end
  end)
end

-- ------------ kinks

-- The largest jump of the slope in an interval that is cut in two until it is short.
local function jump_in(one, low, high, y)
  local a, b = one:at("slope", low, y), one:at("slope", high, y)
  while high - low > 1e-9 * math.max(1, math.abs(low), math.abs(high)) do
    local middle = (low + high) / 2
    local m = one:at("slope", middle, y)
    if m - a > b - m then high, b = middle, m else low, a = middle, m end
  end
  return b - a, low
end

local SUSPECTS <const> = 4 -- intervals in which the slope changes most

local function check_kinks(t)
  loss.each(t, function(one)
    for _, y in ipairs(one.facts.kinks and {} or one:small_targets()) do
      local scores, places = {}, {}
      for step = -60, 60 do scores[#scores + 1] = y + step * step * step * 1e-4 + 0.013 end
      local slopes = one:all("slope", scores, y)
      local change = {}
      for i = 2, #scores do
        places[i - 1], change[i] = i, slopes[i] - slopes[i - 1]
        if change[i] ~= change[i] then change[i] = 0 end -- both infinite
      end
      table.sort(places, function(i, j)
        return change[i] > change[j] or change[i] == change[j] and i < j
      end)
      for k = 1, SUSPECTS do
        local i = places[k]
        local jump, at = jump_in(one, scores[i - 1], scores[i], y)
        local size = math.abs(slopes[i]) + math.abs(slopes[i - 1])
        t:expect(jump ~= jump or jump <= 1e-5 * size, "the slope jumps by %.6g at %s, and \z
          SCL_LOSS_KINKS is not among its flags", jump, loss.shown(at, y))
      end
    end
  end)
end

-- ------------ curvatures

-- Whether the slope changes around f, over a step, by a rate between the curvatures there; or the
-- rate and the curvature.
local function has_curvature(t, one, f, y, step)
  local h = step * math.max(1, math.abs(f))
  local at = { f - h, f, f + h }
  local c, s = one:all("curvature", at, y), one:all("slope", at, y)
  local rate, size = (s[3] - s[1]) / (at[3] - at[1]), math.abs(s[1]) + math.abs(s[3])
  local low, high = math.min(c[1], c[2], c[3]), math.max(c[1], c[2], c[3])
  local slack = 1e-6 * (math.abs(rate) + high) + 64 * EPSILON * (size + 1e-6) / h
  t:expect(low >= 0, "the curvature at %s is %.6g", loss.shown(f, y), low)
  return not loss.is_finite(rate) or rate >= low - slack and rate <= high + slack, rate, c[2]
end

local function check_curvature(t)
  loss.each_far(t, function(one)
    for of, y in ipairs(one:small_targets()) do
      for _, f in ipairs(one:scores(y, of + 40)) do
        local holds, rate, curvature = has_curvature(t, one, f, y, 1e-5)
        -- a round corner may be narrower than a step
        t:expect(holds or has_curvature(t, one, f, y, 1e-8), "around %s the slope changes by %.9g \z
          for each unit, and the curvature there is %.9g", loss.shown(f, y), rate, curvature)
      end
    end
  end, "curvature")
end

return {
  { name = "slope", about = "the slope is the derivative of the value", run = check_slope },
  { name = "convex", about = "slopes rise with the score: the loss is convex", run = check_convex },
  { name = "kinks", about = "the slope jumps nowhere, unless SCL_LOSS_KINKS says so",
    run = check_kinks },
  { name = "curvature", about = "the curvature is the derivative of the slope, not below 0",
    run = check_curvature },
}
