--- Tests of conjugates, proximal steps and probabilities by what defines them.
local formulas = require "scullery_checker.formulas"
local loss = require "scullery_checker.loss.function"

-- ------------ conjugates

-- At a slope s = l'(f) the conjugate is s f - l(f); at every s it is at least that, for all f.
local function expect_conjugate(t, one, y, scores)
  local values, slopes = one:all("value", scores, y), one:all("slope", scores, y)
  local random = t:random(1, #scores, 3)
  for i, f in ipairs(scores) do
    if loss.is_finite(values[i]) and math.abs(slopes[i]) < 1e100 then
      local got = one:at("conjugate", slopes[i], y)
      local terms = { slopes[i] * f, values[i] }
      local want = terms[1] - terms[2]
      local slack = 1e-9 * (math.abs(terms[1]) + math.abs(terms[2]) + 1e-3)
      t:expect(math.abs(got - want) <= slack, "the conjugate of %.9g, the slope at %s, is %.9g, \z
        and should be %.9g", slopes[i], loss.shown(f, y), got, want)
    end
  end
  local steepest = math.max(math.abs(slopes[1]), math.abs(slopes[#slopes]))
  for k = 1, steepest < 1e100 and 2 * #scores + 8 or #scores do
    local s = 2 * random:get(1, (k - 1) % #scores + 1)
    -- at the size of the slopes, and beside the steepest ones
    if k > #scores then s = s * steepest end
    if k > 2 * #scores then
      s = slopes[k % 2 == 0 and 1 or #scores] * (1 + ({ 0.02, 0.5, 3, 40 })[(k + 1) // 2 % 4 + 1])
    end
    local got = one:at("conjugate", s, y)
    for i, f in ipairs(scores) do
      local least = s * f - values[i]
      t:expect(not loss.is_finite(values[i]) or got >= least - 1e-9 * (math.abs(s * f)
        + math.abs(values[i]) + 1e-3), "the conjugate of %.9g for y = %.6g is %.9g, and \z
        s f - l(f) is more at f = %.6g: %.9g", s, y, got, f, least)
    end
  end
end

local function check_conjugate(t)
  loss.each_far(t, function(one)
    for of, y in ipairs(one.targets) do
      local scores = one:scores(y, of + 60)
      for _, far in ipairs{ -1e4, -1e3, 1e3, 1e4 } do scores[#scores + 1] = far end
      expect_conjugate(t, one, y, scores)
    end
  end, "conjugate")
end

-- ------------ proximal steps

-- At the proximal point p the slopes around it enclose (z - p)/t.
local function check_proximal(t)
  loss.each_far(t, function(one)
    for of, y in ipairs(one.targets) do
      local random = t:random(1, 50, of + 80)
      local scores = one:scores(y, of + 70)
      for i, z in ipairs(scores) do
        local step = math.exp(4 * random:get(1, (i - 1) % 50 + 1))
        local p = one:at("proximal", z, y, step)
        local h = 1e-9 * (math.abs(p) + math.abs(z) + math.abs(y) + step)
        local s = one:call("slope", { p - h, p + h }, { y, y })
        local pull = (z - p) / step
        local slack = 1e-7 * (math.abs(pull) + math.abs(s[1]) + math.abs(s[2])) + 4 * h / step
        t:expect(s[1] - slack <= pull and pull <= s[2] + slack, "the proximal point of z = %.9g, \z
          y = %.6g and t = %.6g is %.9g: (z - p)/t is %.9g, and the slopes there are %.9g to %.9g",
          z, y, step, p, pull, s[1], s[2])
      end
    end
  end, "proximal")
end

-- ------------ probabilities

-- The score that minimises q l(f, a) + (1 - q) l(f, b), by bisection of its slope.
local function best_score(one, q, a, b)
  local low, high = -60, 60
  for _ = 1, 80 do
    local f = (low + high) / 2
    local s = one:call("slope", { f, f }, { a, b })
    if q * s[1] + (1 - q) * s[2] > 0 then high = f else low = f end
  end
  return (low + high) / 2
end

local function check_probability(t)
  loss.each(t, function(one)
    t:expect(one.facts.classes, "it has probabilities, and takes no classes")
    local before = 0
    for f = -80, 80 do
      local p = one:call("probability", { f / 2 })[1]
      t:expect(p >= before, "the probability falls to %.9g at f = %.6g", p, f / 2)
      before = p
    end
    for _, q in ipairs{ 0.01, 0.2, 0.5, 0.77, 0.99 } do
      local f = best_score(one, q, 1, -1)
      local p = one:call("probability", { f })[1]
      t:expect(math.abs(p - q) < 1e-6, "where the class 1 has probability %.2f the loss is least \z
        at f = %.6g, whose probability is %.6g", q, f, p)
    end
    for f = -80, 80 do -- the mean slope is 0 at the best score
      local p = one:call("probability", { f / 2 })[1]
      local s = one:call("slope", { f / 2, f / 2 }, { 1, -1 })
      local want = s[2] / (s[2] - s[1])
      local is_right = math.abs(p - want) <= 1e-6 * want + 1e-12 -- it may be cut at 1e-15
      t:expect(one.facts.kinks or not (s[1] < 0 and s[2] > 0) or is_right, "the probability at \z
        f = %.6g is %.9g, and by the slopes of both classes %.9g", f / 2, p, want)
    end
  end, "probability")
end

-- Of two targets the loss is least at the score whose mean is theirs.
local function check_mean(t)
  loss.each(t, function(one)
    t:expect(one.facts.numbers, "it has means, and takes no numbers as targets")
    local before, text = -math.huge, formulas.of(one.instance)
    for f = -40, 40 do
      local mean = one:call("mean", { f / 2 })[1]
      local found = text and formulas.values(text, 1, { f = f / 2 })
      if found then formulas.expect(t, found[1], mean, ("the mean at f = %.6g"):format(f / 2)) end
      t:expect(mean >= before, "the mean falls to %.9g at f = %.6g", mean, f / 2)
      before = mean
    end
    local y = one.targets
    for i = 2, #y do
      for _, q in ipairs{ 0.2, 0.5, 0.9 } do
        local f, want = best_score(one, q, y[i], y[1]), q * y[i] + (1 - q) * y[1]
        local mean = one:call("mean", { f })[1]
        t:expect(math.abs(f) > 59 or math.abs(mean - want) <= 1e-6 * (math.abs(want) + 1e-3),
          "where the target is %.6g with probability %.1f, and %.6g, the loss is least at \z
          f = %.6g, whose mean is %.9g in place of %.9g", y[i], q, y[1], f, mean, want)
      end
    end
    for f = -120, 120, 7 do -- the slope of the mean as the target is 0
      local mean = one:call("mean", { f })[1]
      local low, high = mean - 1e-6 * math.abs(mean), mean + 1e-6 * math.abs(mean)
      if low < high and one:takes(low) and one:takes(high) then
        local s = one:call("slope", { f, f }, { low, high })
        t:expect(s[1] >= 0 and s[2] <= 0, "the mean at f = %d is %.9g, and slopes for targets \z
          1e-6 of it below and above are %.6g and %.6g, both of one sign", f, mean, s[1], s[2])
      end
    end
  end, "mean")
end

return {
  { name = "conjugate", about = "s f - l(f) is at most l*(s), with equality at the slope",
    run = check_conjugate },
  { name = "proximal", about = "a proximal step is where the slope is (z - p)/t",
    run = check_proximal },
  { name = "probability", about = "the probability at the score that is best for it",
    run = check_probability },
  { name = "mean", about = "the mean at the score that is best for some targets is theirs",
    run = check_mean },
}
