--- Tests of solvers: small problems of every form are solved, and one problem has one solution.
local core = require "scullery_checker.core"
local problems = require "scullery_checker.solver.problems"

-- Rows i of A for which keep(i), those with copies(i) = 2 twice.
local function repeated(A, copies)
  local places = {}
  for i = 1, A:rows() do
    for _ = 1, copies(i) do places[#places + 1] = i end
  end
  local out = core.zeros(#places, A:cols())
  for k, i in ipairs(places) do
    for j = 1, A:cols() do out:set(k, j, A:get(i, j)) end
  end
  return out
end

-- n x 1 of f(i).
local function column(n, f)
  local out = core.zeros(n, 1)
  for i = 1, n do out:set(i, 1, f(i)) end
  return out
end

local function finite(t, A, what)
  local i, j = core.find_nonfinite(A)
  t:expect(not i, "%s: %s (row %s, column %s)", what, i and A:get(i, j), i, j)
end

-- ------------ solved at all

-- How near it is said to be is compared with what was asked for.
local function check_tolerance(t, fit, component, what)
  local option = problems.option(t, "role", "tolerance")
  local asked = option and core.settings(t:instance(component))[option.name]
  if type(asked) ~= "number" or not (fit.gap or fit.residual) then return end
  if fit.status ~= "converged" and not fit.tolerance then return end
  t:expect(fit.tolerance == asked, "%s: its tolerance is %g, and it reports %s beside its %s", what,
    asked, fit.tolerance and ("%g"):format(fit.tolerance) or "none", fit.gap and "gap"
    or "residual")
end

local function check_fit(t, fit, what, component)
  if component then check_tolerance(t, fit, component, what) end
  finite(t, fit.predictions, what .. ": a prediction is not finite")
  if fit.weights then finite(t, fit.weights, what .. ": a coefficient is not finite") end
  if fit.intercept then finite(t, fit.intercept, what .. ": an intercept is not finite") end
  if fit.status ~= "converged" then return end
  for _, name in ipairs{ "gap", "residual" } do
    local told = fit[name]
    t:expect(not told or told <= (fit.tolerance or math.huge),
      "%s: says converged with a %s of %g, above its tolerance %g", what, name, told, fit.tolerance)
  end
end

local function solves(t)
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      for _, component in ipairs{ one.component, one.exact } do
        check_fit(t, problems.solved(t, component, case.problem, case.label), case.label, component)
      end
    end
  end
end

-- Problems that lie at the edge: what differs from a common one.
local function shapes(t)
  local function make(given) return problems.make(t, given) end
  local flat = make{ n = 120 }
  flat.X = core.zeros(120, 5)
  local constant, twice, zero = make{ n = 120 }, make{ n = 120 }, make{ n = 120 }
  for i = 1, 120 do
    constant.X:set(i, 2, 3)
    twice.X:set(i, 2, twice.X:get(i, 1))
    zero.X:set(i, 2, 0)
  end
  local one_value = make{ n = 120 }
  for i = 1, 120 do one_value.Y:set(i, 1, 1) end
  return { { "more columns than rows", make{ n = 30, d = 50 } },
    { "one column", make{ n = 120, d = 1 } }, { "two rows", make{ n = 2, d = 3 } },
    { "one row", make{ n = 1, d = 3 } }, { "a constant column", constant },
    { "two equal columns", twice }, { "a column of zeros", zero }, { "zeros alone", flat },
    { "equal targets", one_value } }
end

-- Their targets for the task of a case.
local function as_task(problem, case)
  local changed = { classes = case.problem.classes, T = case.problem.T }
  if changed.classes == 2 then
    changed.Y = column(problem.X:rows(), function(i)
      return problem.Y:get(i, 1) > 1 and 1 or -1
    end)
  end
  return problems.with(problem, changed)
end

local function edge(t, one, case, name, problem)
  local told = problems.solve(one.hasty, as_task(problem, case))
  local what = case.label .. ", " .. name
  local overflowed = name:find("1e150", 1, true) and (told.fault or ""):find("handed NaN", 1, true)
  t:expect(not told.fault or overflowed, "%s: %s", what, told.fault)
  if told.status == "ok" then return check_fit(t, told.fits[1], what) end
  t:expect(not told.message:find("is not finite", 1, true) or name:find("size", 1, true), "%s: %s",
    what, told.message)
  t:expect(problems.refused(told) or told.status == "numeric"
    or t.subject.in_lua and told.status == "internal", "%s: ends with status \"%s\": %s",
    what, told.status, told.message)
end

local function edges(t)
  local list = shapes(t)
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      for _, shape in ipairs(list) do edge(t, one, case, shape[1], shape[2]) end
    end
  end
end

local function scales(t)
  local base = problems.make(t, { n = 120 })
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      for _, power in ipairs{ -150, -8, 8, 150 } do
        edge(t, one, case, ("columns of size 1e%d"):format(power),
          problems.with(base, { X = base.X * 10.0 ^ power, Z = base.Z * 10.0 ^ power }))
        if case.problem.classes == 0 then
          edge(t, one, case, ("targets of size 1e%d"):format(power),
            problems.with(base, { Y = base.Y * 10.0 ^ power }))
        end
      end
    end
  end
end

-- ------------ row weights

-- Other rows where the weight is 0: they must not change the solution. A method that stops after a
-- number of steps may use their features, for the size of its steps, but not their targets.
local function with_other_rows(problem, fit)
  local other = problems.with(problem, { X = problem.X:copy(), Y = problem.Y:copy() })
  for i = 1, problem.X:rows() do
    if problem.weights:get(i, 1) == 0 then
      other.Y:set(i, 1, -other.Y:get(i, 1))
      for j = 1, fit.status == "stopped" and 0 or problem.X:cols() do
        other.X:set(i, j, 1 - other.X:get(i, j))
      end
    end
  end
  return other
end

-- Row weights of i: 0, 1 and 3, whose mean is not 1, so that sums over rows must be divided by the
-- sum of weights. Models (k nearest rows) may count rows.
local function weight_rule(models)
  return function(i) return i % 3 == 0 and 0 or models and 1 or i % 3 == 1 and 1 or 3 end
end

-- Weight 0 is a row left out, and weight 3 a row three times.
local function check_copies(t, component, problem, fit, weight, what)
  local plain = problems.solved(t, component, problems.with(problem, {
    X = repeated(problem.X, weight), Y = repeated(problem.Y, weight) }), what .. ", rows copied")
  problems.same(t, fit.predictions, plain.predictions, problems.slack(fit, plain),
    "%s: rows with weights, or as many copies of them", what)
end

-- A solver that regularises a mean (and not a sum) gives the same for all rows four times: to it,
-- weights times a constant change nothing.
local function check_multiples(t, component, problem, weighted, fit, what)
  local once = problems.solved(t, component, problem, what)
  local four = problems.solved(t, component, problems.with(problem, {
    X = repeated(problem.X, function() return 4 end),
    Y = repeated(problem.Y, function() return 4 end) }), what)
  if problems.apart(once.predictions, four.predictions) > problems.slack(once, four) / 3 then
    return
  end
  for _, factor in ipairs{ 2.5, 4 } do
    local scaled = problems.solved(t, component, problems.with(weighted, {
      weights = weighted.weights * factor }), what)
    problems.same(t, fit.predictions, scaled.predictions, problems.slack(fit, scaled),
      "%s, and all weights times %g", what, factor)
  end
end

local function weigh(t, one, case)
  local problem, models = case.problem, problems.facts(one.exact).models
  local weight = weight_rule(models)
  local weighted = problems.with(problem, { weights = column(problem.X:rows(), weight) })
  local told = problems.solve(one.exact, weighted)
  if problems.refused(told) then return false end
  local what = case.label .. (models and ", weights 0 and 1" or ", weights 0, 1 and 3")
  local fit = problems.solved(t, one.exact, weighted, what)
  local other = problems.solved(t, one.exact, with_other_rows(weighted, fit), what)
  problems.same(t, fit.predictions, other.predictions, problems.slack(fit),
    "%s: other targets in rows of weight 0", case.label)
  if fit.status ~= "stopped" then check_copies(t, one.exact, problem, fit, weight, what) end
  check_multiples(t, one.exact, problem, weighted, fit, what)
  return true
end

local function weights(t)
  local taken = false
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do taken = weigh(t, one, case) or taken end
  end
  if not taken then t:skip("it refuses row weights") end
end

-- ------------ columns of targets

-- The first of the cases that is of this task.
local function of_task(one, classification)
  for _, case in ipairs(one.cases) do
    if (case.problem.classes > 0) == classification then return case end
  end
end

-- The columns of Y in another order give the predictions in that order.
local function in_any_order(t, component, problem, what)
  local fit = problems.solved(t, component, problem, what)
  if fit.status == "stopped" then return end
  local turned = problems.solved(t, component, problems.with(problem, {
    Y = problems.columns(problem.Y, { 3, 1, 2 }) }), what .. " in another order")
  problems.same(t, problems.columns(fit.predictions, { 3, 1, 2 }), turned.predictions,
    problems.slack(fit, turned), "%s in another order", what)
end

-- A penalty of both targets together, of the length of their coefficients, is that of one times the
-- square root of 2.
local function same_twice(t, one, problem)
  local function solved(component, places, what)
    return problems.solved(t, component, problems.with(problem, {
      Y = problems.columns(problem.Y, places) }), what)
  end
  local alone = solved(one.exact, { 2 }, "the second target alone")
  if alone.status == "stopped" then return end
  local twice = solved(one.exact, { 2, 2 }, "the second target twice")
  local slack, option = problems.slack(alone, twice), problems.option(t, "role", "regularisation")
  local function is_twice(fit)
    local want = problems.columns(fit.predictions, { 1, 1 })
    return problems.apart(want, twice.predictions) <= slack, want
  end
  local same, want = is_twice(alone)
  for _, power in ipairs(not same and option and option.takes_number and { -0.5, 0.5 } or {}) do
    local other = problems.with(one.given, { [option.name] = 2 ^ power * one.given[option.name] })
    if is_twice(solved(t.subject:make(other), { 2 }, "the same, another penalty")) then return end
  end
  problems.same(t, want, twice.predictions, slack, "one target, and the same one twice")
end

local function targets(t)
  local tried
  for one in problems.variants(t) do
    local case = of_task(one, false)
    if case then
      tried = true
      local problem = problems.make(t, { n = 120, targets = 3, T = case.problem.T,
        positive = case.problem.positive })
      in_any_order(t, one.exact, problem, "3 targets")
      same_twice(t, one, problem)
    end
  end
  if not tried then t:skip("it takes no regression") end
end

local function classes(t)
  local tried
  for one in problems.variants(t) do
    local case = of_task(one, true)
    if case then
      tried = true
      local two = case.problem
      local fit = problems.solved(t, one.exact, two, "2 classes")
      if problems.facts(one.exact).penalty ~= "signs" then
        local other = problems.solved(t, one.exact, problems.with(two, { Y = two.Y * -1 }),
          "2 classes the other way round")
        problems.same(t, fit.predictions, other.predictions * -1, problems.slack(fit, other),
          "2 classes the other way round")
      end
      in_any_order(t, one.exact, problems.make(t, { n = 120, classes = 3, T = two.T }), "3 classes")
    end
  end
  if not tried then t:skip("it takes no classification") end
end

-- ------------ a constant

-- Whether two fits have the same objective, each on its own problem: losses with kinks may have
-- several best constants.
local function equally_good(component, problem, fit, other_problem, other)
  if not problems.facts(component).objective or fit.status ~= "converged"
    or other.status ~= "converged" then
    return false
  end
  local here = problems.objective(component, problem)(fit.weights, fit.intercept)
  local there = problems.objective(component, other_problem)(other.weights, other.intercept)
  return math.abs(here - there) <= 1e-9 * math.abs(here)
end

-- Moved columns and moved targets, by these numbers: the solution moves with them.
local function moves(t, component, case, offsets)
  local problem = case.problem
  local fit = problems.solved(t, component, problem, case.label)
  if fit.status == "stopped" then return end -- another path, of which it claims nothing
  local function move(what, changes, by)
    local changed = problems.with(problem, changes)
    local moved = problems.solved(t, component, changed, case.label .. ", " .. what)
    if equally_good(component, problem, fit, changed, moved) then return end
    local ended = fit.status == "converged" and moved.status == "converged"
    problems.same(t, fit.predictions + by, moved.predictions,
      ended and math.max(1e-6, 0.03 * problems.slack(fit, moved)) or
        math.max(0.03, problems.unfinished(fit, moved)), "%s, with a constant: %s", case.label,
      what)
  end
  if not problem.T then move("all columns + 2", { X = problem.X + 2, Z = problem.Z + 2 }, 0) end
  for _, by in ipairs(problem.classes == 0 and offsets or {}) do
    move(("targets + %g"):format(by), { Y = problem.Y + by }, by)
  end
end

local function intercept(t)
  local option = problems.option(t, "role", "intercept")
  if not option then t:skip("it has no option for a constant (SCL_ROLE_INTERCEPT)") end
  -- far in the first variant alone: small steps take all iterations to get there
  local offsets = { 5, 1000.25 }
  for one in problems.variants(t) do
    local component = t.subject:make(problems.with(one.given, { [option.name] = true }))
    for _, case in ipairs(one.cases) do
      local told = problems.solve(component, case.problem)
      -- nothing is added to targets above 0: scores may be their logarithms
      local added = case.problem.positive and {} or offsets
      if not problems.refused(told) then moves(t, component, case, added) end
    end
    offsets = { 5 }
  end
end

return {
  { name = "solves", about = "small problems are solved; all numbers finite, all claims consistent",
    run = solves },
  { name = "edges", about = "few rows, many, equal and empty columns: solved, or refused",
    run = edges },
  { name = "scales", about = "tiny and huge columns and targets: solved, or refused", run = scales,
    seconds = 60 },
  { name = "weights", run = weights,
    about = "weight 3 is a row three times, 0 a row left out; a factor changes nothing" },
  { name = "targets", about = "several targets in any order; one twice is the same twice",
    run = targets },
  { name = "classes", about = "2 and 3 classes in any order give the same predictions",
    run = classes },
  { name = "intercept", about = "a constant is not penalised: what is added moves nothing else",
    run = intercept },
}
