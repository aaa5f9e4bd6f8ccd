--- Tests of solvers at size, with options far from usual, and of what they say of how they ended.
local core = require "scullery_checker.core"
local choices = require "scullery_checker.choices"
local option_values = require "scullery_checker.values"
local process = require "scullery_checker.process"
local problems = require "scullery_checker.solver.problems"

local function backwards(n)
  local places = {}
  for i = 1, n do places[i] = n + 1 - i end
  return places
end

-- Predictions of a problem that the solver takes and solves; nil where it does not.
local function predictions(component, problem)
  local told = problems.solve(component, problem)
  local fit = told.status == "ok" and told.fits[1]
  return fit and (fit.status == "converged" or fit.model) and fit.predictions or nil, fit, told
end

-- How far two such lie apart; nil where one of them is not there.
local function distance(component, problem, changes)
  local a, fit = predictions(component, problem)
  local b = a and predictions(component, problems.with(problem, changes))
  if not b then return nil end
  return (problems.apart(a, b)), fit, a, b
end

-- The first case of a solver and the component that solves it exactly.
local function first_case(t)
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      if not case.problem.T then return one, case end
    end
  end
  t:skip("it takes features of a map alone")
end

-- ------------ what holds for small problems

-- Rules: what changes of a problem must not change predictions. What a solver does not keep on 60
-- rows is not asked for on many.
local rules = {
  { "rows in another order", function(p)
    local places = backwards(p.X:rows())
    return { X = p.X:select(places), Y = p.Y:select(places) }
  end },
  { "columns in another order", function(p)
    local places = backwards(p.X:cols())
    return { X = problems.columns(p.X, places), Z = problems.columns(p.Z, places) }
  end },
}

local sizes = { { n = 6000, d = 3 }, { n = 90, d = 40 }, { n = 40, d = 70 }, { n = 300, d = 300 } }

-- Whether a model of 500 rows takes long.
local function is_slow(t, one, classes)
  local began = os.clock() -- of the processor, whatever else runs
  predictions(one.exact, problems.make(t, { n = 500, d = 3, classes = classes }))
  return os.clock() - began > 0.02
end

-- Fails unless it holds; a method that makes models may take a sample of many rows, and warns.
local function expect_at_size(t, models, holds, ...)
  if not holds then t[models and "warn" or "fail"](t, ...) end
end

local function check_rules(t, one, classes)
  local models = problems.facts(one.exact).models -- whose columns may tie, and whose work is n^3
  for k = 1, models and 1 or #rules do
    local rule = rules[k]
    local small = problems.make(t, { n = 60, d = 4, classes = classes })
    local kept = distance(one.exact, small, rule[2](small))
    t:expect(not kept or kept < 1e-6 or kept > 0.02 or k > 1
      or t.subject.offers(one.exact, "scullery.ordered-rows/1"), "60 rows in another order change \z
      predictions by %.3g of the largest", kept)
    for _, size in ipairs(kept and kept < 1e-7 and sizes or {}) do
      local function change_at(n)
        local problem = problems.make(t, { n = n, d = size.d, classes = classes })
        problem.Z = problem.Z:slice(1, 9)
        local apart, fit = distance(one.exact, problem, rule[2](problem))
        return apart or 0, apart and apart > math.max(1e-6, 0.03 * problems.slack(fit))
      end
      local n = models and size.n > 1000 and is_slow(t, one, classes) and 1000 or size.n
      local apart, differs = change_at(n)
      if models and n > 1000 and differs then -- 1000 rows are not so many that it takes a sample
        local of_fewer, as_well = change_at(1000)
        if as_well then n, apart = 1000, of_fewer end
      end
      expect_at_size(t, models and n > 1000, not differs, "%d rows, %d columns: %s change \z
        predictions by %.3g of the largest, and those of 60 rows by %.3g", n, size.d, rule[1],
        apart, kept)
    end
  end
end

-- Problems whose solution is that of a small one, so that it is known at any size: columns of zeros
-- beside its own, and each row several times.
local embeddings = {
  { "%d columns of zeros more", 2, { 36, 120, 300 }, function(p, count)
    local function wider(A) return core.hcat(A, core.zeros(A:rows(), count)) end
    return { X = wider(p.X), Z = wider(p.Z) }
  end },
  { "each row %d times", 2, { 17, 100 }, function(p, count)
    local places = {}
    for i = 0, count * p.X:rows() - 1 do places[i + 1] = i % p.X:rows() + 1 end
    return { X = p.X:select(places), Y = p.Y:select(places) }
  end },
}

embeddings[3] = { "each row 5 times, and %d columns of zeros more,", 2, { 120 }, function(p, count)
  local copied = problems.with(p, embeddings[2][4](p, 5))
  return problems.with(copied, embeddings[1][4](copied, count))
end }

-- What few more columns or rows of this kind leave, many leave: targets, each of three apart.
local function check_embedded(t, one, classes)
  local facts = problems.facts(one.exact)
  local models, skips = facts.models, facts.penalty == "other"
  local problem = problems.make(t, { n = 60, d = 4, classes = classes,
    targets = classes == 0 and 3 or nil })
  for k, embedding in ipairs(embeddings) do
    local label, few, many, changes = table.unpack(embedding)
    local kept = not (skips and k ~= 2) and distance(one.exact, problem, changes(problem, few))
    for _, count in ipairs(kept and kept < 1e-7 and many or {}) do
      local apart, fit = distance(one.exact, problem, changes(problem, count))
      local allowed = fit and math.max(1e-6, 0.03 * problems.slack(fit)) or 0
      expect_at_size(t, models, not apart or apart <= allowed, "%s change predictions by %.3g of \z
        the largest, and %s by %.3g", label:format(count), apart or 0, label:format(few), kept)
    end
  end
end

-- What a fit says of two targets, of which one is easier, is not that of the last. Methods with a
-- seed may take other steps for the second target than for the first. easy: the second.
local function check_told(t, one, case, easy)
  if case.problem.classes > 0 or not problems.option(t, "name", "max_iterations")
    or problems.option(t, "name", "seed") then return end
  local problem, simple = problems.make(t, { n = 120, targets = 2 }), {}
  for i = 1, 120 do
    problem.Y:set(i, 1, problem.Y:get(i, 1) ^ 3)
    problem.Y:set(i, 2, easy(problem.X:get(i, 1)))
  end
  simple.Y = problems.columns(problem.Y, { 2, 1 })
  for _, limit in ipairs{ 1, 2, 3, 5 } do
    local ok, made = pcall(t.subject.make, t.subject,
      problems.with(one.given, { max_iterations = limit }))
    local a = ok and problems.solve(made, problem)
    local b = ok and problems.solve(made, problems.with(problem, simple))
    if not ok or a.status ~= "ok" or b.status ~= "ok" then return end
    local first, last = a.fits[1], b.fits[1]
    t:expect(first.status == last.status, "max_iterations = %d, two targets: it says %s, and in \z
      the other order %s", limit, first.status, last.status)
    for _, name in ipairs{ "gap", "residual" } do
      local x, y = first[name], last[name]
      t:expect(not x or not y or math.max(x, y) <= math.max(4 * math.min(x, y),
        first.tolerance or 0), "max_iterations = %d, two targets: it says a %s of %.6g, and in \z
        the other order %.6g", limit, name, x or 0, y or 0)
    end
  end
end

-- Weights that differ matter, unless they are refused; in one of several problems, as a solution
-- may lie at its bounds whatever the weights are.
local function check_row_weights(t, one, case)
  local classes, tried = case.problem.classes, false
  for _, problem in ipairs{ case.problem, problems.make(t, { n = 150, d = 3, classes = classes }),
    problems.make(t, { n = 300, d = 8, classes = classes }) } do
    local a = predictions(one.exact, problem)
    local weights = t:random(problem.X:rows(), 1, 15):map(math.exp)
    local b = a and predictions(one.exact, problems.with(problem, { weights = weights }))
    if b and problems.apart(a, b) > 0 then return end
    tried = tried or b
  end
  if tried then t:warn("%s: row weights change nothing", case.label) end
end

-- Each of several targets, or classes, is that of another place where they change places.
local function check_targets(t, one, case)
  local is_class, places = case.problem.classes > 0, {}
  local count = (not is_class or problems.facts(one.exact).models) and 12 or 5
  for k = 1, count do places[k] = k * 5 % count + 1 end
  if count == 5 then places = { 5, 1, 4, 2, 3 } end
  local given = is_class and { n = 200, classes = count } or { n = 120, targets = count }
  local problem = problems.make(t, given)
  local a = predictions(one.exact, problem)
  local b = a and predictions(one.exact, problems.with(problem,
    { Y = problems.columns(problem.Y, places) }))
  if b then
    problems.same(t, problems.columns(a, places), b, 1e-3, "%d %s in another order",
      count, is_class and "classes" or "targets")
  end
end

-- Predictions that grow with the targets, or stay where columns are scaled with the penalty, do so
-- for tiny and huge ones: with the penalty as it is, and with one too small to count.
local function check_scales(t, one, case, small)
  if case.problem.classes > 0 then return end
  local option = problems.option(t, "role", "regularisation")
  local function off(factor)
    local ok, made = pcall(t.subject.make, t.subject, problems.with(one.given,
      small and { [option.name] = 1e-10 * math.min(factor, 1 / factor) } or {}))
    local a = ok and predictions(made, case.problem)
    local b = a and predictions(made, problems.with(case.problem, { Y = case.problem.Y * factor }))
    return b and (problems.apart(a, b * (1 / factor)))
  end
  local usual = off(4)
  local factors = small and { 1e-12, 1e11 } or { 1e-12, 1e-7, 1e6, 1e11 }
  for _, factor in ipairs(usual and usual < 1e-9 and factors or {}) do
    local now = off(factor)
    t:expect(not now or now < 0.05, "targets times %g: predictions over %g are off by %.3g, and \z
      by %.3g where the factor is 4", factor, factor, now or 0, usual)
  end
  if not small and option and tonumber(one.given[option.name]) then
    check_scales(t, one, case, true)
  end
end

-- Columns times a factor, with the penalty that goes with them.
local function check_column_scales(t, one, case)
  local option = problems.option(t, "role", "regularisation")
  local lambda = option and tonumber(one.given[option.name])
  if not lambda or problems.facts(one.exact).penalty == "other" then return end
  local function off(factor)
    local ok, scaled = pcall(t.subject.make, t.subject,
      problems.with(one.given, { [option.name] = lambda * factor * factor }))
    local p = case.problem
    local a = ok and predictions(one.exact, p)
    local b = a and predictions(scaled, problems.with(p, { X = p.X * factor, Z = p.Z * factor }))
    return b and (problems.apart(a, b))
  end
  local usual = off(4)
  for _, factor in ipairs(usual and usual < 1e-8 and { 1e-7, 1e4 } or {}) do
    local now = off(factor)
    t:expect(not now or now < 0.05, "columns times %g, %s times %g: predictions differ by %.3g, \z
      and by %.3g where the factor is 4", factor, option.name, factor * factor, now or 0, usual)
  end
end

local function check_sizes(t)
  local one, case = first_case(t)
  t.label = nil
  check_rules(t, one, case.problem.classes)
  check_embedded(t, one, case.problem.classes)
  for _, easy in ipairs{ function(x) return x + 1 end, function() return 0 end } do
    check_told(t, one, case, easy)
  end
  check_row_weights(t, one, case)
  check_targets(t, one, case)
  check_scales(t, one, case)
  check_column_scales(t, one, case)
  for _, other in ipairs(one.cases) do
    if other ~= case and not other.problem.T then check_targets(t, one, other) end
  end
end

-- ------------ a long path

local function check_path(t)
  local option = problems.facts(t.subject:make()).path
  if not option then t:skip("it solves for no path of values (SCL_ABILITY_PATH)") end
  local one, case = first_case(t)
  local values = {}
  for k = 1, 20 do values[k] = 0.5 * 0.8 ^ (k * 7 % 20) end
  local told = problems.solve(one.exact, case.problem, nil, values)
  t:expect(told.status == "ok" and not told.fault, "a path of 20 values: %s",
    told.message or told.fault)
  for _, k in ipairs{ 1, 4, 11, 17, 18, 20 } do
    local alone = problems.solved(t, t.subject:make(problems.with(one.given,
      { [option] = values[k] })), case.problem, case.label)
    problems.same(t, alone.predictions, told.fits[k].predictions,
      math.max(1e-6, 0.03 * problems.slack(alone, told.fits[k])),
      "value %d of a path of 20, %g, alone and on the path", k, values[k])
  end
end

-- ------------ options

-- What a fit says of itself, as one text: what an option may change.
local function tale_of(component, problem)
  local told = problems.solve(component, problem)
  local fit = told.status == "ok" and told.fits[1]
  if not fit then return told.status ~= "unsupported" and told.status or nil end
  local parts = { fit.status, fit.iterations, tostring(fit.residual), tostring(fit.gap),
    tostring(fit.score), tostring(fit.jitter), told.all }
  for i = 1, fit.predictions:rows() do
    for j = 1, fit.predictions:cols() do
      parts[#parts + 1] = ("%a"):format(fit.predictions:get(i, j))
    end
  end
  return table.concat(parts, " ")
end

-- Words, truth values or numbers to try for an option of a solver.
local function values_for(t, option)
  if not option_values.is_numeric(option) then return choices.alternatives(option) end
  if not option.takes_number then
    return { option.low, option.low + 1, 2, 3, 10, 30, 1000 }
  end
  local list, default = {}, tonumber(option.default)
  for _, u in ipairs(choices.draws(2, t.seed, 50)) do
    list[#list + 1] = choices.number(t.kind, option, u)
  end
  for _, factor in ipairs{ 1e-6, 1e-3, 0.1, 0.5, 20, 1e3, 1e6 } do
    list[#list + 1] = (default and default ~= 0 and default or 1) * factor
  end
  return list
end

-- Whether another value of it, beside these options, changes anything; nil where none is taken.
local function changes(t, option, given, problem)
  local ok, made = pcall(t.subject.make, t.subject, given)
  local base, said = ok and pcall(problems.instance, made) and tale_of(made, problem) or nil, nil
  for _, value in ipairs(base and values_for(t, option) or {}) do
    local other = problems.with(given, {})
    other[option.name] = value
    ok, made = pcall(t.subject.make, t.subject, other)
    ok = ok and pcall(problems.instance, made)
    local tale = ok and tale_of(made, problem)
    if tale and tale ~= base then return true end
    if tale then said = false end
  end
  return said
end

local SETTINGS <const> = 60 -- of the other options, drawn

-- Whether it changes anything, in any variant and case; then beside other options, and on more
-- rows, as a share of them may be set aside, and what is left may be less than a minibatch: until
-- core.clock() is `ends`, as an option without effect is no reason to run out of time.
local function has_effect(t, option, ends)
  local said, variants = nil, {}
  for one in problems.variants(t) do
    local given = option.name == "max_iterations" and one.given or t.subject:hasty(one.given)
    for _, case in ipairs(one.cases) do
      local streamed = problems.with(case.problem, { block = 16, allowance = 0 })
      -- bounds on signs may leave all coefficients of one of these 0
      local negated = problems.with(case.problem, { X = case.problem.X * -1 })
      for _, problem in ipairs{ case.problem, streamed, negated } do
        local found = changes(t, option, given, problem)
        if found then return true end
        if found == false then said = false end
      end
    end
    local first = one.cases[1].problem
    variants[#variants + 1] = { given = one.given, few = first, many = problems.make(t, { n = 500,
      classes = first.classes, T = first.T, positive = first.positive }) }
  end
  if said == nil then return true end
  local others = choices.numeric(t.subject.info)
  local draws = t:random(SETTINGS, #others, 5)
  for k = 1, SETTINGS do
    if core.clock() > ends then break end
    for _, one in ipairs(variants) do
      local given = problems.with(one.given, {})
      for i, other in ipairs(others) do
        local u = other ~= option and draws:get(k, i) or 0
        if u > 0.7 then given[other.name] = 50 end
        if u < -0.7 then given[other.name] = other.takes_number and 0.3 or 1 end
      end
      if changes(t, option, given, k % 2 == 0 and one.many or one.few) then return true end
    end
  end
  return false
end

local function check_effects(t)
  local any, ends = nil, core.clock() + 0.75 * (process.seconds or 60)
  local list = choices.numeric(t.subject.info)
  for _, option in ipairs(choices.named(t.subject.info)) do list[#list + 1] = option end
  for _, option in ipairs(list) do
    any = true
    -- what memory is for shows in time alone
    local for_memory = option.help:lower():find("memory") or option.help:lower():find("cache")
    if not for_memory and not has_effect(t, option, ends) then
      t:warn("option '%s' changes nothing, whatever it is given", option.name)
    end
  end
  t.label = nil
  if not any then t:skip("no option takes numbers, words or truth values") end
end

local function largest(A) return A and A:abs():max() or 0 end

-- Solutions for an option 1000 times apart are two, unless both are 0.
local function check_far_options(t)
  local option = problems.option(t, "role", "regularisation")
  local default = option and option.takes_number and tonumber(option.default)
  if not default or default == 0 then t:skip("it has no number that regularises") end
  local one, case = first_case(t)
  t.label = nil
  for _, pair in ipairs{ { 1e-5, 1e-3 }, { 1e-3, 1e-2 }, { 1e3, 1e4 }, { 1e5, 1e6 } } do
    local fits = {}
    for k, factor in ipairs(pair) do
      local ok, made = pcall(t.subject.make, t.subject,
        problems.with(one.given, { [option.name] = default * factor }))
      local told = ok and problems.solve(made, case.problem)
      t:expect(not told or told.status == "ok" or problems.refused(told)
        or told.status == "numeric", "%s = %g: %s", option.name, default * factor,
        told and told.message)
      fits[k] = told and told.status == "ok" and told.fits[1] or nil
    end
    if fits[1] and fits[2] and fits[1].weights and largest(fits[1].weights) > 0
      and fits[1].status == "converged" and fits[2].status == "converged"
      and not core.first_difference(fits[1].weights, fits[2].weights) then
      t:warn("%s = %g and %g have the same solution: the option is cut", option.name,
        default * pair[1], default * pair[2])
    end
  end
end

-- ------------ how it ended

-- After one iteration, and after as many as it wants. Of two the first may be that of a value of a
-- path which leads to the solution, each with a limit of its own.
local function check_limit(t, one, case, exact)
  local few = t.subject:make(problems.with(one.given, { max_iterations = 1 }))
  local fit = problems.solved(t, few, case.problem, case.label .. ", max_iterations = 1")
  t:expect(fit.status ~= "iterations exhausted" or fit.iterations > 0, "%s, max_iterations = 1: \z
    says that the \z
    limit ended it, after no iteration", case.label)
  if exact.status ~= "converged" then return end
  local needs_more = exact.iterations > 2
  t:expect(fit.status ~= "converged" or not needs_more, "%s: says converged after 1 iteration \z
    where max_iterations is 1, and after %d where it is not", case.label, exact.iterations)
  if fit.weights and needs_more and largest(fit.weights) > 0 then
    t:expect(core.first_difference(fit.weights, exact.weights), "%s: the solution after 1 \z
      iteration is that after %d: max_iterations is not used", case.label, exact.iterations)
  end
  if fit.status ~= "iterations exhausted" then return end
  for _, name in ipairs{ "gap", "residual" } do
    local told = fit[name]
    t:expect(not told or not fit.tolerance or told > fit.tolerance, "%s, max_iterations = 1: says \z
      that the limit ended it, with a %s of %g, which is within its tolerance %g", case.label, name,
      told, fit.tolerance)
  end
end

-- The objective is not above what fewer iterations give, and the gap is not below what is left.
local function check_descent(t, one, case, exact)
  local facts = problems.facts(one.exact)
  if not facts.objective or exact.status ~= "converged" then return end
  local value = problems.objective(one.exact, case.problem)
  local function at(fit) return value(fit.weights, facts.intercept and fit.intercept or nil) end
  local best, zero = at(exact), value(exact.weights * 0, facts.intercept
    and exact.intercept and exact.intercept * 0 or nil)
  for _, limit in ipairs{ 1, 2, 3, 5 } do
    local made = t.subject:make(problems.with(one.given, { max_iterations = limit }))
    local fit = problems.solved(t, made, case.problem, case.label)
    local here = at(fit)
    if limit == 1 and fit.status == "iterations exhausted" and exact.iterations > 1 then
      if here >= zero * (1 - 1e-12) and best < 0.99 * zero then
        t:warn("%s: after 1 iteration the objective is %.9g, that of 0 is %.9g", case.label, here,
          zero)
      end
    end
    local excess = (here - best) / math.abs(zero)
    t:expect(not fit.gap or excess <= 1.01 * fit.gap + 1e-9, "%s, max_iterations = %d: reports a \z
      gap \z
      of %.3g, and its objective is %.3g above the least, as a share of that at 0", case.label,
      limit, fit.gap, excess)
  end
end

local function check_endings(t)
  local any
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      local exact = problems.solved(t, one.exact, case.problem, case.label)
      if problems.option(t, "name", "max_iterations") then
        any = true
        check_limit(t, one, case, exact)
        if exact.weights then check_descent(t, one, case, exact) end
      end
    end
  end
  if not any then t:skip("it has no option 'max_iterations'") end
end

-- ------------ weights in the objective

-- problems.variants, and with a constant where it has the option.
local function with_constants(t)
  local list = {}
  local option = problems.option(t, "role", "intercept")
  for one in problems.variants(t) do
    list[#list + 1] = one
    local given = option and problems.with(one.given, { [option.name] = true })
    local ok, made = pcall(t.subject.make, t.subject, given or one.given)
    ok = ok and given and pcall(problems.instance, made)
    if ok then list[#list + 1] = { exact = made, given = given, cases = one.cases } end
  end
  local i = 0
  return function()
    i = i + 1
    return list[i]
  end
end

-- The objective with row weights is that with as many copies of each row.
local function check_weighted(t)
  local tried
  for one in with_constants(t) do
    local facts = problems.facts(one.exact)
    for _, case in ipairs(facts.objective and one.cases or {}) do
      local problem, places = case.problem, {}
      local weights = core.zeros(problem.X:rows(), 1)
      for i = 1, problem.X:rows() do
        local copies = i % 3 == 0 and 0 or i % 3 == 1 and 1 or 3
        weights:set(i, 1, copies)
        for _ = 1, copies do places[#places + 1] = i end
      end
      local fit = problems.solved(t, one.exact, problem, case.label)
      local weighted = problems.with(problem, { weights = weights })
      if fit.weights and not problems.refused(problems.solve(one.exact, weighted)) then
        tried = true
        local copied = problems.with(problem, { X = problem.X:select(places),
          Y = problem.Y:select(places) })
        local b = facts.intercept and fit.intercept and fit.intercept + 0.5 or nil
        local with, of_copies = problems.objective(one.exact, weighted)(fit.weights, b),
          problems.objective(one.exact, copied)(fit.weights, b)
        t:expect(math.abs(with - of_copies) <= 1e-7 * math.abs(of_copies), "%s: the objective of \z
          rows with weights 0, 1 and 3 is %.12g, and that of as many copies %.12g", case.label,
          with, of_copies)
        if b then
          local other = problems.objective(one.exact, copied)(fit.weights, b + 3)
          t:expect(other ~= of_copies, "%s: the objective does not depend on the constant",
            case.label)
        end
      end
    end
  end
  if not tried then t:skip("it declares no objective, or refuses row weights") end
end

return {
  { name = "sizes", about = "many rows, columns and targets: what holds for few holds for many",
    run = check_sizes, seconds = 60 },
  { name = "long-path", about = "20 values in any order give what each gives alone",
    run = check_path },
  { name = "effects", about = "each option changes what is computed",
    run = check_effects, seconds = 60 },
  { name = "far-options", about = "more and less regularisation, by far, give other solutions",
    run = check_far_options },
  { name = "endings", about = "limits, gaps and what it says of its end are consistent",
    run = check_endings },
  { name = "weighted-objective", about = "the objective counts row weights as copies of rows",
    run = check_weighted },
}
