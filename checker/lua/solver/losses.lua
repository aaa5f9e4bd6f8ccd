--- Tests of solvers that declare the loss and the penalty of their objective.
local core = require "scullery_checker.core"
local formulas = require "scullery_checker.formulas"
local problems = require "scullery_checker.solver.problems"

local function tanh(x)
  local e = math.exp(-2 * math.abs(x))
  return (x < 0 and -1 or 1) * (1 - e) / (1 + e)
end

local function row(instance, f, y) return core.solver_row(instance, f, y) end

-- Lists of c numbers: scores in [-reach, reach], and targets: +-1, or of regression.
local function scores(t, c, of, reach)
  local draws, list = t:random(c, 1, of), {}
  for j = 1, c do list[j] = reach * tanh(draws:get(j, 1)) end
  return list
end
local function labels(c, which)
  local list = {}
  for j = 1, c do list[j] = (c == 1 and which or j) % 2 == 1 and 1 or -1 end
  if c > 1 then
    for j = 1, c do list[j] = j == which % c + 1 and 1 or -1 end
  end
  return list
end
local function text(list)
  local parts = {}
  for i, x in ipairs(list) do parts[i] = ("%.6g"):format(x) end
  return "(" .. table.concat(parts, ", ") .. ")"
end

-- Points f, y with c columns: many, the same every time. positive: targets above 0.
local function points(t, c, reach, positive)
  local list = {}
  for k = 1, 60 do
    local y = labels(c, k)
    for j = 1, positive and c or 0 do y[j] = 0.6 + 0.4 * y[j] end
    list[k] = { scores(t, c, 100 + k, reach), y }
  end
  return list
end

-- ------------ slope

local function with(list, j, value)
  local copy = { table.unpack(list) }
  copy[j] = value
  return copy
end

-- A slope lies between the differences on both sides, whatever their order: the loss may have
-- breaks.
local function check_slope(t, instance, f, y)
  local value, slope = row(instance, f, y)
  t:expect(value == value and value >= 0 and value < math.huge, "the loss at f = %s, y = %s is %g",
    text(f), text(y), value)
  for j = 1, #f do
    local h = 1e-5 * (1 + math.abs(f[j]))
    local right = (row(instance, with(f, j, f[j] + h), y) - value) / h
    local left = (value - row(instance, with(f, j, f[j] - h), y)) / h
    local low, high = math.min(left, right), math.max(left, right)
    local slack = 1e-4 * (1 + math.max(math.abs(low), math.abs(high)))
    t:expect(slope[j] >= low - slack and slope[j] <= high + slack,
      "the slope at f = %s, y = %s along column %d is %.9g; differences of the loss give %.9g \z
      and %.9g", text(f), text(y), j, slope[j], left, right)
  end
end

local function bounds(t, instance, reach, positive)
  local told = core.loss(instance, reach)
  for _, point in ipairs(points(t, 1, reach, positive)) do
    local f = point[1]
    local target = tanh(2 * point[1][1] / reach * point[2][1])
    if positive then target = 0.01 + 0.9 * math.abs(target) end
    for _, y in ipairs{ point[2], { target } } do
      local value = row(instance, f, y)
      t:expect(value <= told.bound * (1 + 1e-12) + 1e-12,
        "the loss at f = %g, y = %g is %.9g, above its bound %.9g for |f| <= %g", f[1], y[1], value,
        told.bound, reach)
      for _, other in ipairs{ 0.0, reach, -reach, f[1] * 0.9 } do
        local apart = math.abs(value - row(instance, { other }, y))
        t:expect(apart <= told.lipschitz * math.abs(f[1] - other) * (1 + 1e-9) + 1e-12,
          "the loss at f = %g and %g, y = %g differs by %.9g, more than its Lipschitz constant \z
          %.9g times %.6g", f[1], other, y[1], apart, told.lipschitz, math.abs(f[1] - other))
      end
    end
  end
end

-- ------------ probabilities

local function check_probabilities(t, instance, f)
  local _, _, p = core.solver_row(instance, f, labels(#f, 1))
  if not p then return false end
  local sum = 0
  for i, x in ipairs(p) do
    t:expect(x >= 0 and x <= 1, "scores %s: the probability of class %d is %.9g", text(f), i, x)
    sum = sum + x
  end
  t:expect(math.abs(sum - 1) <= 1e-9, "scores %s: probabilities %s sum to %.12g", text(f), text(p),
    sum)
  local order = #f == 1 and { -f[1], f[1] } or f -- above 0: the second class
  for i = 1, #order do
    for j = 1, #order do
      t:expect(order[i] <= order[j] or p[i] >= p[j] - 1e-12,
        "scores %s: probabilities %s have another order", text(f), text(p))
    end
  end
  return true
end

-- How far the loss is from -log of the probability of the class at these points; nil where there
-- are none.
local function off_logarithm(t, instance, c)
  local worst
  for _, point in ipairs(points(t, c, 3)) do
    local f, y = table.unpack(point)
    local value, _, p = row(instance, f, y)
    local class = c == 1 and (y[1] > 0 and 2 or 1)
    for j = 1, c do class = class or y[j] > 0 and j end
    if not p then return nil end
    worst = math.max(worst or 0, math.abs(value + math.log(p[class])))
  end
  return worst
end

-- Whether the loss of three classes is the sum of those of each against all others.
local function is_by_column(t, instance)
  for _, point in ipairs(points(t, 3, 3)) do
    local f, y = table.unpack(point)
    local value, sum = row(instance, f, y), 0
    for j = 1, 3 do sum = sum + row(instance, { f[j] }, { y[j] }) end
    if math.abs(value - sum) > 1e-9 * (1 + sum) then return false end
  end
  return true
end

-- What the loss is of two classes, -log of the probability, it is of three.
local function check_logarithms(t, instance)
  local two = off_logarithm(t, instance, 1)
  local three = two and two < 1e-9 and not is_by_column(t, instance)
    and off_logarithm(t, instance, 3)
  t:expect(not three or three < 1e-9, "the loss of two classes is -log of the probability, and \z
    that of three differs from it by up to %.3g", three or 0)
end

local function check_loss(t, component, positive)
  local instance = problems.instance(component)
  for _, c in ipairs{ 1, 3 } do
    for _, point in ipairs(points(t, c, 3, positive)) do
      check_slope(t, instance, point[1], point[2])
      check_probabilities(t, instance, point[1])
    end
  end
  for _, reach in ipairs{ 0.5, 3, 20 } do bounds(t, instance, reach, positive) end
  check_logarithms(t, instance)
end

-- Of the variants, and of numbers of options on both sides of their defaults.
local function loss(t)
  local tried, positive
  for one in problems.variants(t) do
    if problems.facts(one.component).loss then
      tried, positive = true, one.cases[1].problem.positive
      check_loss(t, one.component, positive)
    end
  end
  for _, one in ipairs(tried and t.subject:far_variants{ 0.2, 1.8 } or {}) do
    t.label = one.label
    if problems.facts(one.component).loss then check_loss(t, one.component, positive) end
  end
  t.label = nil
  if not tried then t:skip("it declares no loss (SCL_ABILITY_LOSS)") end
end

-- ------------ predictions of numbers

-- The score whose mean is y; nil where no score between -60 and 60 has it.
local function score_of(mean, y)
  local low, high = -60, 60
  if not (mean(low) <= y and mean(high) >= y) then return nil end
  for _ = 1, 80 do
    local f = (low + high) / 2
    if mean(f) < y then low = f else high = f end
  end
  return high
end

-- Of one target no score has a smaller loss than the one whose prediction is the target.
local function check_least(t, instance, mean, y)
  local best = score_of(mean, y)
  if not best then return end
  local here = row(instance, { best }, { y })
  for k = -120, 120 do
    for _, f in ipairs{ k / 2, best + k / 100 } do
      local other = row(instance, { f }, { y })
      t:expect(other >= here - 1e-9 * (1 + math.abs(here)), "the loss of y = %.6g is %.9g at the \z
        score %.6g, and %.9g at %.6g, whose prediction is y", y, other, f, here, best)
    end
  end
end

local function check_means(t, one, positive)
  local instance = problems.instance(one.component)
  local formula = formulas.of(instance)
  local function mean(f)
    local list = core.solver_means(instance, { f })
    return list and list[1] or f
  end
  for k = -12, 12 do
    local f = k / 4
    local found = formula and formulas.values(formula, 1, { f = f })
    if found then formulas.expect(t, found[1], mean(f), ("the mean at f = %.6g"):format(f)) end
  end
  for _, y in ipairs(positive and { 0.02, 0.7, 1, 3.5, 40 } or { -30, -2.5, 0, 0.4, 1, 17 }) do
    check_least(t, instance, mean, y)
  end
end

local function means(t)
  local tried
  for one in problems.variants(t) do
    local case = one.cases[1]
    local instance = problems.instance(one.component)
    if case.problem.classes == 0 and problems.facts(one.component).loss
      and pcall(row, instance, { 1 }, { 1 }) then
      tried = true
      check_means(t, one, case.problem.positive)
    end
  end
  if not tried then t:skip("it declares no loss of numbers (SCL_ABILITY_LOSS)") end
end

-- ------------ the objective is loss + penalty

-- The numbers that the objective is a combination of, at coefficients a and intercept b.
local function parts(one, problem, facts, a, b)
  local scores_of = problem.X * a
  local instance, sum, ones, squares = problems.instance(one.exact), 0, 0, 0
  for i = 1, problem.X:rows() do
    local f, y = {}, {}
    for j = 1, a:cols() do
      f[j] = scores_of:get(i, j) + (b and b:get(1, j) or 0)
      y[j] = problem.Y:get(i, j)
    end
    sum = sum + row(instance, f, y)
  end
  for i = 1, a:rows() do
    for j = 1, a:cols() do
      ones, squares = ones + math.abs(a:get(i, j)), squares + a:get(i, j) ^ 2
    end
  end
  local list = { sum / problem.X:rows() }
  local both = facts.penalty == "l1" or facts.penalty == "signs"
  if both or facts.penalty == "l2" then list[#list + 1] = squares end
  if both then list[#list + 1] = ones end
  return list
end

-- Least squares of values (a list) in rows (lists of equal length), by Gram-Schmidt: the largest
-- error that is left, and the share of the first column.
local function left_over(rows, values)
  local n, k = #rows, #rows[1]
  local columns, rest = {}, { table.unpack(values) }
  local function along(u, v)
    local sum = 0
    for i = 1, n do sum = sum + u[i] * v[i] end
    return sum
  end
  local share
  for j = k, 1, -1 do -- the first column last: what is left of it is its own
    local column = {}
    for i = 1, n do column[i] = rows[i][j] end
    for _, other in ipairs(columns) do
      local c = along(column, other)
      for i = 1, n do column[i] = column[i] - c * other[i] end
    end
    local length = math.sqrt(along(column, column))
    if length > 1e-12 then
      for i = 1, n do column[i] = column[i] / length end
      columns[#columns + 1] = column
      local c = along(rest, column)
      share = c / length
      for i = 1, n do rest[i] = rest[i] - c * column[i] end
    end
  end
  local largest = 0
  for i = 1, n do largest = math.max(largest, math.abs(rest[i])) end
  return largest, share
end

-- At random points between 0 and the solution (a box around 0 holds them) the objective is
-- alpha mean loss + beta penalty, with the same alpha > 0 and beta everywhere. Where signs are
-- bound, the points have those of the solution.
local function composed(t, one, case, facts)
  local problem = case.problem
  local fit = problems.solved(t, one.exact, problem, case.label)
  local value = problems.objective(one.exact, problem)
  local rows, values, largest = {}, {}, 0
  for k = 1, 12 do
    local a, draws = fit.weights:copy(), t:random(fit.weights:rows(), fit.weights:cols(), 200 + k)
    for i = 1, a:rows() do
      for j = 1, a:cols() do
        local share = tanh(draws:get(i, j))
        a:set(i, j, a:get(i, j) * (facts.penalty == "signs" and math.abs(share) or share))
      end
    end
    local b = facts.intercept and t:random(1, a:cols(), 220 + k) or nil
    rows[k], values[k] = parts(one, problem, facts, a, b), value(a, b)
    largest = math.max(largest, math.abs(values[k]))
  end
  local rest, share = left_over(rows, values)
  t:expect(rest <= 1e-7 * largest,
    "%s: the objective is no combination of the mean loss (%s) and its penalty (%s): at 12 points \z
    it is off by up to %.3g, where it is up to %.6g", case.label,
    facts.loss and "as it tells it" or "squares, for it tells none", facts.penalty, rest, largest)
  t:expect(share and share > 0, "%s: the objective falls where the loss rises", case.label)
end

local function objective(t)
  local tried
  for one in problems.variants(t) do
    local facts = problems.facts(one.exact)
    for _, case in ipairs(facts.objective and facts.penalty ~= "rkhs"
      and facts.penalty ~= "other" and one.cases or {}) do
      if not case.problem.T then
        tried = true
        composed(t, one, case, facts)
      end
    end
  end
  if not tried then t:skip("it declares no objective (SCL_ABILITY_OBJECTIVE) on rows") end
end

return {
  { name = "loss", about = "slope, bound, Lipschitz constant and probabilities of its loss",
    run = loss },
  { name = "means", about = "the score whose prediction is the target has the least loss",
    run = means },
  { name = "objective", about = "the objective is the mean loss and the penalty that it declares",
    run = objective },
}
