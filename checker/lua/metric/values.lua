--- Tests of what metrics give: their values on rows whose order, weights and truth are known.
local cases = require "scullery_checker.metric.cases"
local core = require "scullery_checker.core"

local value, each = cases.value, cases.each

local function is_near(a, b, share)
  return a == b or math.abs(a - b) <= (share or 1e-9) * (1 + math.max(math.abs(a), math.abs(b)))
end

-- ------------ direction

local SHUFFLES <const> = 20

-- Predictions that are the truth.
local function perfect(case, facts)
  if facts.needs == "values" or facts.needs == "labels" then return case.y end
  local p = core.zeros(case.p:rows(), case.p:cols())
  for i = 1, p:rows() do
    local k = case.y:get(i, 1)
    if p:cols() == 1 then p:set(i, 1, k == 1 and 1 or -1)
    else p:set(i, math.tointeger(k) + 1, 1) end
  end
  return p
end

local function check_better(t)
  each(t, function(component, case, facts)
    local right = { p = perfect(case, facts), y = case.y, w = case.w, classes = case.classes }
    local best, sum = value(component, right), 0
    for k = 1, SHUFFLES do
      local order = core.permutation(right.p:rows(), t.seed + k, 0)
      local v = value(component, { p = right.p:select(order), y = case.y, w = case.w,
        classes = case.classes })
      sum = sum + v / SHUFFLES
    end
    local apart = facts.better == "larger" and best - sum or sum - best
    t:expect(apart > 0, "%s is better, and predictions that are the truth have %g, those of other \z
      rows %g", facts.better, best, sum)
  end)
end

-- ------------ order, weights, copies

local function check_order(t)
  each(t, function(component, case)
    local order = core.permutation(case.p:rows(), t.seed, 1)
    case.w = core.rand{ case.p:rows(), 1, seed = t.seed }
    local a, b = value(component, case), value(component, cases.rows(case, order))
    t:expect(is_near(a, b), "rows in another order change it from %.17g to %.17g", a, b)
  end)
end

local function with_weights(case, w)
  return { p = case.p, y = case.y, w = w, classes = case.classes }
end

-- 1, 1, 2, 2, ..., n, n
local function rows_twice(n)
  local list = {}
  for i = 1, n do list[2 * i - 1], list[2 * i] = i, i end
  return list
end

local function check_weights(t)
  each(t, function(component, case)
    local n, rows = case.p:rows(), {}
    local u, w = core.rand{ n, 1, seed = t.seed }, core.zeros(n, 1)
    for i = 1, n do
      local count = math.floor(u:get(i, 1) * 4)
      w:set(i, 1, count)
      for _ = 1, count do rows[#rows + 1] = i end
    end
    local weighted, copied = value(component, with_weights(case, w)),
      value(component, cases.rows(case, rows))
    t:expect(is_near(weighted, copied), "with weights 0 to 3 it is %.17g, and with as many copies \z
      of the rows %.17g", weighted, copied)
    for _, factor in ipairs{ 8, 1e6, 1e-6 } do
      local scaled = value(component, with_weights(case, w * factor))
      -- a denominator may have a tiny number more
      t:expect(is_near(weighted, scaled, factor == 8 and 1e-9 or 1e-6), "weights that are %g \z
        times as large change it from %.17g to %.17g", factor, weighted, scaled)
    end
    -- each row in two of the weights u and 3 - u, in place of one of 3; all sums of them are exact,
    -- so that a weighted median is the same
    local twice = cases.rows(case, rows_twice(n))
    for i = 1, n do
      local part = math.floor(u:get(i, 1) * 2 ^ 30) / 2 ^ 30
      twice.w:set(2 * i - 1, 1, part)
      twice.w:set(2 * i, 1, 3 - part)
    end
    local whole, parts = value(component, case), value(component, twice)
    t:expect(is_near(whole, parts, 1e-11), "each row twice, with weights of the sum 3, has %.17g, \z
      and once %.17g: weights lose digits", parts, whole)
    local order, p = core.permutation(n, t.seed, 2), case.p
    for i = 1, n do if w:get(i, 1) > 0 then order[i] = i end end
    local other = value(component, { p = p:select(order), y = case.y, w = w,
      classes = case.classes })
    t:expect(is_near(weighted, other), "the prediction of a row of weight 0 changes it from %.17g \z
      to %.17g", weighted, other)
  end, 120)
end

-- Counters of 16 bits overflow.
local COPIES <const> = 1000

-- Copies of 100 rows: fewer of a metric that takes far longer for eight times as many rows.
local function copies_of(component, case)
  local function seconds(copies)
    local rows, began = {}, os.clock()
    for i = 1, 100 * copies do rows[i] = (i - 1) % 100 + 1 end
    value(component, cases.rows(case, rows))
    return os.clock() - began
  end
  local few, more = seconds(10), seconds(80)
  return more > 0.1 and more > 20 * few and 20 or COPIES
end

local function check_large(t)
  each(t, function(component, case)
    local rows, copies = {}, copies_of(component, case)
    for c = 0, copies - 1 do
      for i = 1, case.p:rows() do rows[c * case.p:rows() + i] = i end
    end
    local few, many = value(component, case), value(component, cases.rows(case, rows))
    t:expect(is_near(few, many), "%d rows have %.17g, and %d copies of each %.17g", case.p:rows(),
      few, copies, many)
  end, 100)
end

local function check_targets(t)
  local any = false
  each(t, function(component, case, facts)
    for j = 1, facts.needs == "values" and case.p:cols() or 0 do
      any = true
      local p = case.p + 0
      for i = 1, p:rows() do p:set(i, j, case.y:get(i, j) + 100) end
      local a, b = value(component, case), value(component, { p = p, y = case.y, w = case.w,
        classes = 0 })
      t:expect(a ~= b, "target %d of %d does not count: it is %.17g whatever is predicted", j,
        p:cols(), a)
    end
  end)
  each(t, function(component, case, facts)
    -- what is said of the rows of a class counts, but for metrics of another class, as a recall
    for k = 0, facts.needs ~= "values" and case.classes - 1 or -1 do
      any = true
      local right, wrong = case.p + 0, case.p + 0
      for i = 1, right:rows() do
        if case.y:get(i, 1) == k then
          for _, one in ipairs{ { right, k }, { wrong, (k + 1) % case.classes } } do
            if facts.needs == "labels" then one[1]:set(i, 1, one[2]) end
            for j = 1, facts.needs ~= "labels" and right:cols() or 0 do
              one[1]:set(i, j, right:cols() == 1 and 2 * one[2] - 1 or j - 1 == one[2] and 1 or 0)
            end
          end
        end
      end
      local a, b = value(component, { p = right, y = case.y, w = case.w, classes = case.classes }),
        value(component, { p = wrong, y = case.y, w = case.w, classes = case.classes })
      if a == b then
        t:warn("class %d of %d does not count: it is %.17g whatever is predicted for its rows",
          k + 1, case.classes, a)
      end
    end
  end)
  if not any then t:skip("there is nothing to count") end
end

-- ------------ hard rows

-- Cases in which something is equal everywhere, or of which there is one row.
local function hard(t, facts, count)
  local case = cases.new(facts.needs, 60, count, t.seed)
  local first = {}
  for i = 1, 60 do first[i] = 1 end
  local one_row, w = cases.rows(case, { 1 }), core.zeros(60, 1)
  w:set(7, 1, 1e-300)
  return {
    { "one row", one_row }, { "one row of weight 1e-300", with_weights(case, w) },
    { "one truth in all rows", { p = case.p, y = case.y:select(first), w = case.w,
      classes = case.classes } },
    { "one prediction in all rows", { p = case.p:select(first), y = case.y, w = case.w,
      classes = case.classes } },
    { "60 times the same row", cases.rows(case, first) },
    { "predictions that are the truth", { p = perfect(case, facts), y = case.y, w = case.w,
      classes = case.classes } },
    { "weights of 1e300", with_weights(case, core.ones(60, 1) * 1e300) },
  }
end

-- What the host says where the metric should have said something itself.
local faults = { "is NaN for", "counts NaN", "no sentence", "returned status" }

local function each_hard(t, f)
  for component in t:variants() do
    local facts = cases.facts(component)
    for _, count in ipairs(cases.counts(facts)) do
      for _, one in ipairs(hard(t, facts, count)) do
        local ok, result = pcall(value, component, one[2])
        f(one[1], ok, tostring(result))
      end
    end
  end
end

local function check_edges(t)
  each_hard(t, function(what, ok, text)
    for _, fault in ipairs(ok and {} or faults) do
      t:expect(not text:find(fault, 1, true), "%s: %s", what, text)
    end
  end)
end

local function check_range(t)
  local limited = false
  local function look(what, ok, text)
    t:expect(ok or not text:find("says that it is within", 1, true), "%s: %s", what, text)
  end
  each(t, function(component, case, facts)
    limited = limited or facts.low > -math.huge or facts.high < math.huge
    for noise = 0, 2 do
      local ok, text = pcall(value, component, noise == 0 and case or cases.new(facts.needs, 30,
        math.max(case.classes, 1), t.seed + noise, 10 ^ noise))
      look("random rows", ok, tostring(text))
    end
  end)
  if not limited then t:skip("it says no limits") end
  each_hard(t, look)
end

return {
  { name = "better", about = "the truth is better than predictions of other rows",
    run = check_better },
  { name = "order", about = "the order of the rows does not change it", run = check_order },
  { name = "weights", about = "a row of weight 2 counts as two rows, one of weight 0 as none",
    run = check_weights },
  { name = "large", about = "1000 copies of each row do not change it", run = check_large },
  { name = "targets", about = "every target and every class counts", run = check_targets },
  { name = "edges", about = "one row, one class, equal predictions: a number or a sentence",
    run = check_edges },
  { name = "range", about = "every value is within low and high", run = check_range },
}
