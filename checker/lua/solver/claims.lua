--- Tests of solvers: what they say of their results: converged, out of iterations, the value that
--- they minimise, their own estimates of the risk.
local core = require "scullery_checker.core"
local problems = require "scullery_checker.solver.problems"

-- Fits that say "converged", and those that say so of nothing.
local function converged(t, component, case, what)
  local fit = problems.solved(t, component, case.problem, what)
  return fit.status == "converged" and fit or nil
end

-- ------------ nothing near is lower

-- The lowest value that steps of single numbers, down the slope, and along random lines find, and
-- by which step.
local function lowest_near(t, value, a, b)
  local size, lowest, how = math.max(a:abs():max(), 1e-3), value(a, b), "none"
  local rows, cols = a:rows(), a:cols()
  local function try(line, step, what, ...)
    local found = value(a + line[1] * step, b and b + line[2] * step)
    if found < lowest then lowest, how = found, what:format(...) end
    return found
  end
  local function along(line, what)
    local length = math.max(line[1]:abs():max(), line[2]:abs():max(), 1e-300)
    for power = 0, 12 do
      for _, sign in ipairs{ 1, -1 } do try(line, sign * size / length / 4 ^ power, what) end
    end
  end
  local function zeros() return { core.zeros(rows, cols), core.zeros(1, cols) } end
  local slope, names = zeros(), { "coefficient", "intercept" }
  for k = 1, b and 2 or 1 do
    for i = 1, slope[k]:rows() do
      for j = 1, cols do
        local line, last = zeros(), nil
        line[k]:set(i, j, 1)
        for _, step in ipairs{ 0.1, -0.1, 0.01, -0.01, 1e-3, -1e-3, 1e-5, -1e-5 } do
          local found = try(line, step * size, "a step of %.3g in %s (%d, %d)", step * size,
            names[k], i, j)
          slope[k]:set(i, j, last and (found - last) / (2 * step * size) or 0)
          last = found
        end
      end
    end
  end
  along(slope, "a step down the slope")
  for k = 1, 6 do
    local line = { t:random(rows, cols, 70 + k), t:random(1, cols, 80 + k) }
    along(line, "a step along a random line")
  end
  return lowest, how
end

-- The gap of a fit bounds how far its objective is from the least, F(a) - F(a*) <= gap: itself, or
-- as a share of F(0) or F(a).
local function expect_bound(t, fit, here, least, zero, what)
  local scale = math.max(1, math.abs(zero), math.abs(here))
  t:expect(not fit.gap or here - least <= fit.gap * scale * (1 + 1e-6) + 1e-9 * scale, "%s: says \z
    a duality gap of %.6g after %d iterations, with an objective of %.12g, of which the least is \z
    %.12g", what, fit.gap, fit.iterations, here, least)
end

local function optimal(t)
  local tried
  for one in problems.variants(t) do
    local facts = problems.facts(one.exact)
    for _, case in ipairs(facts.objective and one.cases or {}) do
      local fit = converged(t, one.exact, case, case.label)
      if fit then
        tried = true
        local value = problems.objective(one.exact, case.problem)
        local b = facts.intercept and fit.intercept or nil
        local zero = value(fit.weights * 0, b and b * 0)
        local here = value(fit.weights, b)
        local lowest, how = lowest_near(t, value, fit.weights, b)
        local allowed = math.max(1e-7, 10 * (fit.tolerance or 0)) * math.abs(zero) + 1e-12
        t:expect(here - lowest <= allowed,
          "%s: says converged, with an objective of %.12g; %s gives %.12g (at 0 it is %.6g)",
          case.label, here, how, lowest, zero)
        if fit.gap and problems.option(t, "name", "max_iterations") then
          local few = t.subject:make(problems.with(one.given, { max_iterations = 3 }))
          local early = problems.solved(t, few, case.problem, case.label)
          expect_bound(t, early, value(early.weights, facts.intercept and early.intercept or nil),
            lowest, zero, case.label)
        end
      end
    end
  end
  if tried then return end
  t:skip("it declares no objective (SCL_ABILITY_OBJECTIVE), or states no optimality")
end

-- ------------ it has learnt something

-- The mean loss of predictions, by the solver's own loss, else squares.
local function mean_loss(component, predictions, Y)
  local instance, sum = problems.instance(component), 0
  for i = 1, Y:rows() do
    local f, y = {}, {}
    for j = 1, Y:cols() do f[j], y[j] = predictions:get(i, j), Y:get(i, j) end
    sum = sum + core.solver_row(instance, f, y)
  end
  return sum / Y:rows()
end
local function training_loss(t, component, problem, what)
  local fit = problems.solved(t, component, problems.with(problem, { Z = problem.X }), what)
  return mean_loss(component, fit.predictions, problem.Y), fit
end

-- The share of rows of two classes on the wrong side.
local function wrong_share(predictions, Y)
  local wrong = 0
  for i = 1, Y:rows() do
    if (predictions:get(i, 1) > 0) ~= (Y:get(i, 1) > 0) then wrong = wrong + 1 end
  end
  return wrong / Y:rows()
end

-- The loss on the training rows is well below that of zeros, and most rows are on their side: the
-- targets are those of a linear function, with noise of half its size.
local function learns(t)
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      local problem = problems.with(case.problem, { Z = case.problem.X })
      local fit = problems.solved(t, one.component, problem, case.label)
      if problem.classes == 2 then
        local wrong = wrong_share(fit.predictions, problem.Y)
        t:expect(wrong <= 0.4, "%s: says %s, and %.3g of the training rows are on the wrong side",
          case.label, fit.status, wrong)
      end
      if problem.classes == 0 or problems.facts(one.component).loss then
        local found = mean_loss(one.component, fit.predictions, problem.Y)
        local zero = mean_loss(one.component, problem.Y * 0, problem.Y)
        t:expect(found < (fit.status == "converged" and 0.99 or 1) * zero,
          "%s: says %s, and the mean loss on the training rows is %.6g; that of predictions of 0 \z
          is %.6g", case.label, fit.status, found, zero)
      end
    end
  end
end

-- ------------ tolerance and iterations

-- Columns of other sizes, 4 to 1/4: where all are alike, a first step is near the solution.
local function with_other_scales(problem)
  local X = problem.X:copy()
  for i = 1, X:rows() do
    for j = 1, X:cols() do X:set(i, j, X:get(i, j) * 2^(3 - j)) end
  end
  return problems.with(problem, { X = X })
end

local function tolerance(t)
  local option = problems.option(t, "name", "tolerance")
  if not option then t:skip("it has no option 'tolerance'") end
  local tried
  for one in problems.variants(t) do
    for _, given in ipairs(one.cases) do
      local case = problems.with(given, { problem = with_other_scales(given.problem) })
      local fit = converged(t, one.exact, case, case.label)
      if fit then
        tried = true
        local loose = problems.exact(t, one.given, 1e-4)
        local other = problems.solved(t, t.subject:make(loose), case.problem,
          case.label .. ", tolerance 1e-4")
        if other.status == "converged" then
          problems.same(t, fit.predictions, other.predictions, problems.slack{ tolerance = 1e-4 },
            "%s: says converged with tolerance %g and with 1e-4", case.label, one.given.tolerance)
        end
      end
    end
  end
  if not tried then t:skip("it states no optimality") end
end

-- Wherever it ends, what it says is consistent: the host refuses what says that it converged, above
-- its tolerance.
local function check_ends(t, one, case)
  local option = problems.option(t, "name", "tolerance")
  for most = 2, 40 do
    local ok, few = pcall(t.subject.make, t.subject, problems.with(one.given,
      { max_iterations = most // 2, tolerance = option and 10.0 ^ -(3 + 3 * (most % 2)) or nil }))
    local told = ok and problems.solve(few, case.problem) or { status = "ok" }
    t:expect(told.status == "ok" and not told.fault or problems.refused(told), "%s, \z
      max_iterations = %d: %s", case.label, most // 2, told.message or told.fault)
  end
end

local function limit(t)
  local option = problems.option(t, "name", "max_iterations")
  if not option then t:skip("it has no option 'max_iterations'") end
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      local few = t.subject:make(problems.with(one.given, { max_iterations = 1 }))
      local fit = problems.solved(t, few, case.problem, case.label .. ", max_iterations = 1")
      local exact = problems.solved(t, one.exact, case.problem, case.label)
      t:expect(exact.status ~= "converged" or fit.iterations <= exact.iterations,
        "%s, max_iterations = 1: tells %d iterations, and %d where it may have as many as it wants",
        case.label, fit.iterations, exact.iterations)
      if fit.status == "converged" then
        problems.same(t, exact.predictions, fit.predictions, problems.slack(fit, exact),
          "%s, max_iterations = 1: says converged; against %d iterations", case.label,
          exact.iterations)
      end
      check_ends(t, one, case)
    end
  end
end

-- ------------ many values at once

local function path(t)
  local option = problems.facts(t.subject:make()).path
  if not option then t:skip("it solves for no path of values (SCL_ABILITY_PATH)") end
  local orders = { { 0.3, 0.01, 0.1 }, { 0.01, 0.1, 0.3 }, { 0.1 }, { 0.1, 0.1 } }
  for one in problems.variants(t) do
    for _, case in ipairs(problems.all_cases(t, one)) do
      for _, values in ipairs(orders) do
        local told = problems.solve(one.exact, case.problem, nil, values)
        local what = ("%s, path of %s = %s"):format(case.label, option, table.concat(values, ", "))
        t:expect(told.status == "ok", "%s: %s", what, told.message)
        t:expect(not told.fault, "%s: %s", what, told.fault)
        for k, value in ipairs(values) do
          local alone = problems.solved(t, t.subject:make(problems.with(one.given,
            { [option] = value })), case.problem, what)
          problems.same(t, alone.predictions, told.fits[k].predictions,
            problems.slack(alone, told.fits[k]), "%s: value %g, alone and on the path", what, value)
        end
      end
    end
  end
end

-- ------------ more regularisation

local function norm(A, power)
  local sum = 0
  for i = 1, A:rows() do
    for j = 1, A:cols() do sum = sum + math.abs(A:get(i, j)) ^ power end
  end
  return sum
end

-- Two values of the option of that role, the simpler model first, or nothing.
local function two_values(t)
  for role, values in pairs{ regularisation = { 0.5, 0.01 }, capacity = { 0.05, 5 } } do
    local option = problems.option(t, "role", role)
    if option and option.takes:find("a number", 1, true) then return option.name, values end
  end
end

-- The simpler of two models has the smaller penalty; where that is not known, another loss. Where
-- all coefficients are 0, as bounds on their signs may leave them, the rows are negated.
local function compare(t, one, case, name, values, negated)
  local losses, norms, status, largest = {}, {}, nil, negated and 1 or 0
  for k, value in ipairs(values) do
    local component = t.subject:make(problems.with(one.given, { [name] = value }))
    local loss, fit = training_loss(t, component, case.problem,
      ("%s, %s = %g"):format(case.label, name, value))
    local power = ({ l2 = 2, l1 = 1 })[problems.facts(component).penalty]
    losses[k], status = loss, fit.status
    norms[k] = fit.weights and power and norm(fit.weights, power)
    largest = math.max(largest, fit.weights and fit.weights:abs():max() or 1)
  end
  if status ~= "converged" then return false end
  if largest == 0 then
    local problem = problems.with(case.problem, { X = case.problem.X * -1 })
    return compare(t, one, problems.with(case, { problem = problem }), name, values, true)
  end
  local what = ("%s, %s = %g and %g"):format(case.label, name, values[1], values[2])
  if norms[1] then
    t:expect(norms[1] <= norms[2] * (1 + 1e-4),
      "%s: the simpler model has the larger penalty, %.9g and %.9g", what, norms[1], norms[2])
    t:expect(norms[1] ~= norms[2], "%s: the penalties are the same, %.9g: the option does nothing",
      what, norms[1])
  end
  t:expect(losses[1] ~= losses[2],
    "%s: the mean losses are the same, %.9g: the option does nothing", what, losses[1])
  return true
end

local function simpler(t)
  local name, values = two_values(t)
  if not name then
    t:skip("it has no option of numbers that regularises (SCL_ROLE_REGULARISATION)")
  end
  local tried = false
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do tried = compare(t, one, case, name, values) or tried end
  end
  if not tried then t:skip("it states no optimality") end
end

-- ------------ estimates of the risk

-- The squared error of scores f of row i of targets, and whether the class is wrong.
local function judge(f, Y, i)
  local square, best, is = 0, 1, 1
  for j = 1, Y:cols() do
    square = square + (f:get(1, j) - Y:get(i, j)) ^ 2
    if f:get(1, j) > f:get(1, best) then best = j end
    if Y:get(i, j) > 0 then is = j end
  end
  if Y:cols() == 1 then return square, (f:get(1, 1) > 0) ~= (Y:get(i, 1) > 0) end
  return square, best ~= is
end

-- Leave-one-out by brute force: n fits, with the penalty of all rows. name: of the option that
-- regularises the mean loss.
local function left_out(t, given, problem, name, estimates)
  local n, weights = problem.X:rows(), problem.weights or core.ones(problem.X:rows(), 1)
  local square, wrong = 0, 0
  for i = 1, n do
    local places = {}
    for k = 1, n do
      if k ~= i then places[#places + 1] = k end
    end
    local component = t.subject:make(problems.with(given, { [estimates] = "none",
      [name] = given[name] * weights:sum() / (weights:sum() - weights:get(i, 1)) }))
    local fit = problems.solved(t, component, problems.with(problem, {
      X = problem.X:select(places), Y = problem.Y:select(places), Z = problem.X:select{ i },
      weights = problem.weights and weights:select(places) }), "a row left out")
    local error, missed = judge(fit.predictions, problem.Y, i)
    square, wrong = square + error, wrong + (missed and 1 or 0)
  end
  return { loo = square / n, loo_error = wrong / n }
end

-- Generalised cross-validation: the mean squared error of the rows of the fit, over (1 - tr S/n)^2,
-- S the matrix from targets to fitted values, by a fit to all unit targets; nil where the fitted
-- values are not linear in the targets.
local function generalised(t, given, problem, estimates)
  local n, component = problem.X:rows(), t.subject:make(problems.with(given,
    { [estimates] = "none" }))
  local fitted = problems.with(problem, { Z = problem.X, classes = 0 })
  local fit = problems.solved(t, component, fitted, "the rows of the fit")
  local S = problems.solved(t, component, problems.with(fitted, { Y = core.eye(n) }),
    "unit targets").predictions
  if problems.apart(S * problem.Y, fit.predictions) > 1e-6 then return nil end
  local weights, off = problem.weights or core.ones(n, 1), fit.predictions - problem.Y
  local trace, sum = 0, 0
  for i = 1, n do
    trace, sum = trace + S:get(i, i), sum + weights:get(i, 1) * off:slice(i, i):norm() ^ 2
  end
  return sum / weights:sum() / (1 - trace / n) ^ 2
end

-- What the word of the option `estimates` gives on a small problem.
local function check_estimate(t, estimates, word, classes, n, d, weighted)
  local given = problems.with(problems.exact(t, {}), { [estimates] = word })
  local problem = problems.make(t, { n = n, d = d, classes = classes })
  problem.weights = weighted and t:random(n, 1, 33):map(math.exp)
  local what = ("%d rows, %d columns, %d classes%s, %s = \"%s\""):format(n, d, classes, weighted
    and ", with weights" or "", estimates, word)
  local told = problems.solve(t.subject:make(given), problem)
  if told.status ~= "ok" then
    t:expect(problems.refused(told), "%s: %s", what, told.message)
    return
  end
  local score = told.fits[1].score
  if word == "none" then
    t:expect(not score, "%s: reports a score of %s", what, score)
    return
  end
  t:expect(score, "%s: reports no score (scl_solution.score)", what)
  t:expect(score >= 0 and score < math.huge, "%s: reports a score of %g", what, score)
  local regularisation = problems.option(t, "role", "regularisation")
  if not regularisation or not given[regularisation.name] then return end
  local want = word == "gcv" and generalised(t, given, problem, estimates)
    or left_out(t, given, problem, regularisation.name, estimates)[word]
  t:expect(not want or math.abs(score - want) <= 1e-6 * math.max(want, 1e-3),
    "%s: tells %.9g; %s %.9g", what, score, word == "gcv" and "by its definition it is"
    or "fits without a row each give", want)
end

local function estimate(t)
  local option = problems.option(t, "role", "estimate")
  if not option then t:skip("it estimates no risk of its own (SCL_ROLE_ESTIMATE)") end
  for _, word in ipairs(option.words) do
    for _, classes in ipairs{ 0, 2, 3 } do
      check_estimate(t, option.name, word, classes, 25, 4)
      check_estimate(t, option.name, word, classes, 8, 12)
      check_estimate(t, option.name, word, classes, 15, 3, true)
    end
  end
end

return {
  { name = "optimal", about = "where it reports converged, no step lowers its objective",
    run = optimal, seconds = 60 },
  { name = "learns", about = "the loss on the training rows is below that of zeros", run = learns },
  { name = "tolerance", about = "a smaller tolerance changes no more than it should",
    run = tolerance },
  { name = "limit", about = "after one iteration it reports the limit, or has converged",
    run = limit },
  { name = "path", about = "a path gives what one solve for each value gives", run = path },
  { name = "simpler", about = "more regularisation gives a smaller penalty", run = simpler },
  { name = "estimate", about = "leave-one-out is what leaving out each row gives", run = estimate },
}
