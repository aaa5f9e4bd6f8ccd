--- Tests of a loss in the solver that takes any: what it finds is a minimum.
local core = require "scullery_checker.core"
local loss = require "scullery_checker.loss.function"

local ROWS <const>, COLUMNS <const>, LAMBDA <const> = 80, 3, 0.05

-- Random rows and targets that the loss takes: a list and the task.
local function data_of(one, task)
  local X, noise, y = one.t:random(ROWS, COLUMNS, 1), one.t:random(1, ROWS, 2), {}
  for i = 1, ROWS do
    local f = X:get(i, 1) - X:get(i, 2) / 2 + noise:get(1, i)
    if task == "classification" then
      y[i] = f > 0 and 1 or -1
    else
      y[i] = one:takes(f) and f or one:takes(math.abs(f)) and math.abs(f)
        or one.targets[i % #one.targets + 1]
    end
  end
  return X, y
end

-- The objective at coefficients a and the constant b, by the value alone.
local function objective(one, X, y, a, b)
  local scores, sum = {}, 0
  for i = 1, ROWS do
    scores[i] = b
    for j = 1, COLUMNS do scores[i] = scores[i] + X:get(i, j) * a[j] end
  end
  for _, value in ipairs(one:call("value", scores, y)) do sum = sum + value / ROWS end
  for j = 1, COLUMNS do sum = sum + LAMBDA / 2 * a[j] ^ 2 end
  return sum
end

-- The fit by one method: { a, b, value, gap }.
local function fit(one, X, y, task, method)
  local sc = require "scullery"
  local solver = sc.solver.erm{ loss = one.component, lambda = LAMBDA, method = method,
    intercept = true }
  local m = sc.pipeline{ solver }:fit(sc.dataset{ X = X, y = y, task = task })
  local info, a = m:info(), {}
  for j = 1, COLUMNS do a[j] = m:weights():get(j, 1) end
  local made = { a = a, b = m:intercept():get(1, 1), gap = info.gap }
  made.value = objective(one, X, y, made.a, made.b)
  one.t:expect(info.status == "converged", "sc.solver.erm{method = %q} did not converge: %s",
    method,
    info.note or info.status)
  return made
end

-- Nearby points have no smaller value, and none is below the value less the gap.
local function expect_least(one, X, y, found, method)
  local random = one.t:random(30, COLUMNS + 1, 5)
  for k = 1, 30 do
    local by = 10 ^ -(k % 4)
    local a = {}
    for j = 1, COLUMNS do a[j] = found.a[j] + by * random:get(k, j) end
    local other = objective(one, X, y, a, found.b + by * random:get(k, COLUMNS + 1))
    one.t:expect(other >= found.value - 1e-5 * (1 + math.abs(found.value)), "sc.solver.erm{method \z
      = %q} ends at an objective of %.9g, and nearby it is %.9g", method, found.value, other)
  end
end

local function check_fit(t)
  loss.each(t, function(one)
    for _, task in ipairs{ "regression", "classification" } do
      if one.facts[task == "regression" and "numbers" or "classes"] then
        local X, y = data_of(one, task)
        local first = fit(one, X, y, task, "lbfgs")
        expect_least(one, X, y, first, "lbfgs")
        if one.facts.curvature or one.facts.kinks then
          local second = fit(one, X, y, task, "newton")
          t:expect(math.abs(first.value - second.value) <= 1e-5 * (1 + math.abs(first.value)),
            "the objective is %.9g by L-BFGS, and %.9g by Newton's method", first.value,
            second.value)
        end
        t:expect(not one.facts.conjugate or first.gap and first.gap <= 1e-3 * (1
          + math.abs(first.value)), "the duality gap of a solution is %s, at an objective of %.9g",
          first.gap, first.value)
      end
    end
  end)
end

-- ------------ targets

local function check_targets(t)
  local sc = require "scullery"
  loss.each(t, function(one)
    local X = core.randn{ 8, 2, seed = 1 }
    local function refused(y, task)
      return not loss.try(function()
        return sc.pipeline{ sc.solver.erm{ loss = one.component, lambda = 1 } }:fit(sc.dataset{
          X = X, y = y, task = task })
      end)
    end
    local classes = { 1, -1, 1, -1, 1, -1, -1, 1 }
    t:expect(one.facts.classes or refused(classes, "classification"),
      "classes are not refused, and its targets are numbers")
    for _, bound in ipairs{ "low", "high" } do
      local outside = one.facts[bound] + (bound == "low" and -1 or 1)
      local y = {}
      for i = 1, 8 do y[i] = one.targets[i % #one.targets + 1] end
      y[5] = outside
      t:expect(not one.facts.numbers or not loss.is_finite(outside) or refused(y, "regression"),
        "the target %.6g is not refused, and its range is from %.6g to %.6g", outside,
        one.facts.low, one.facts.high)
    end
  end)
end

return {
  { name = "fit", about = "what sc.solver.erm finds with it is a minimum, by each method",
    run = check_fit },
  { name = "targets", about = "targets outside of what it takes are refused",
    run = check_targets },
}
