--- Tests of solvers: what they do with the verbs of a problem, when these fail, when memory runs
--- out and when the user cancels.
local core = require "scullery_checker.core"
local problems = require "scullery_checker.solver.problems"

-- Calls 1 .. all, or `most` of them, the first and the last among them.
local function some(all, most)
  local list = {}
  for k = 1, math.min(all, most) do
    list[k] = all <= most and k or 1 + (k - 1) * (all - 1) // (most - 1)
  end
  return list
end

local function held()
  collectgarbage()
  collectgarbage()
  return (core.memory())
end

-- ------------ verbs that fail

local function fails(t, component, case, watch, what)
  local told = problems.solve(component, case.problem, watch)
  t:expect(not told.fault, "%s: %s", what, told.fault)
  if not told.failed then return end
  t:expect(told.status ~= "ok",
    "%s failed with status \"%s\", and the solver returned SCL_STATUS_OK", what, watch.status)
  t:expect(told.status == watch.status,
    "%s failed with status \"%s\", and the solver returned \"%s\": %s", what, watch.status,
    told.status, told.message)
  t:expect(told.message:find("the checker let", 1, true),
    "%s failed, and the solver put a sentence of its own in the place of its error: %s", what,
    told.message)
end

-- Each verb call of a solve, failing with this status. A solver may ask something else where one is
-- not supported, but these it passes on.
local function failing(t, statuses, verb)
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      local plain = problems.solve(one.hasty, case.problem)
      local all = verb and plain.calls[verb] or plain.all
      local before
      for _, at in ipairs(some(all, one.is_default and 30 or 6)) do
        for _, status in ipairs(statuses) do
          fails(t, one.hasty, case, { fail_at = at, verb = verb, status = status },
            ("%s: call %d of %s"):format(case.label, at, verb and "problem." .. verb or "a verb"))
          before = before or held()
        end
      end
      local grown = before and held() - before or 0
      t:expect(grown <= 0, "%s: %d bytes leak where verbs of the problem fail", case.label,
        grown)
    end
  end
end

local function failures(t) failing(t, { "no memory", "io" }) end

local function cancel(t)
  local told, passes = 0, 0
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      local calls = case.told.calls
      told = told + calls.progress
      passes = math.max(passes, case.told.all - calls.progress - calls.responses - calls.gram)
    end
  end
  failing(t, { "cancelled" })
  failing(t, { "cancelled" }, "progress")
  if told == 0 and passes >= 10 then
    t:warn("it asks %d verbs and never calls problem.progress, so that nobody sees how far it is",
      passes)
  end
end

-- ------------ memory

-- A solve where allocation number k + 1 fails; whether that one was reached.
local function starved(t, component, problem, k, what)
  core.fail_allocation_after(k)
  local ok, told = pcall(problems.solve, component, problem)
  core.fail_allocation_after(-1)
  if not ok then
    t:expect(tostring(told):find("memory", 1, true), "%s: %s", what, tostring(told))
    return true
  end
  if told.status == "ok" then return false end
  t:expect(told.status == "no memory", "%s: ends with status \"%s\": %s", what, told.status,
    told.message)
  return true
end

local function memory(t)
  for one in problems.variants(t) do
    for _, case in ipairs(one.is_default and one.cases or {}) do
      local before
      local k, quiet = 0, 0
      while k < 1500 and quiet < 8 do -- one that is not needed may fail and nothing follows
        local what = ("%s, with allocation %d failing"):format(case.label, k + 1)
        quiet = starved(t, one.hasty, case.problem, k, what) and 0 or quiet + 1
        before = before or held()
        k = k < 60 and k + 1 or k + 1 + k // 20
      end
      local grown = held() - before
      t:expect(grown <= 0, "%s: %d bytes leak where memory is short", case.label, grown)
    end
  end
end

-- Problems that many solvers refuse, or that have many solutions.
local function odd_problems(problem)
  local function with(f)
    local X = problem.X:copy()
    for i = 1, X:rows() do f(X, i) end
    return problems.with(problem, { X = X })
  end
  local Y = problem.Y * 0 + 1
  return { with(function(X, i) X:set(i, 2, X:get(i, 1)) end),
    with(function(X, i) X:set(i, 2, 0) end), problems.with(problem, { X = problem.X * 0 }),
    problems.with(problem, { Y = Y }), problems.with(problem, { Y = Y, X = problem.X * 0 }) }
end

local function check_odd_leaks(t, one, case)
  for _, problem in ipairs(case.problem.T and {} or odd_problems(case.problem)) do
    local before
    for k = 1, 4 do
      problems.solve(one.hasty, problem)
      if k == 1 then before = held() end
    end
    local grown = held() - before
    t:expect(grown <= 0, "%s, with equal, empty or constant columns or targets: 3 solves more \z
      hold \z
      %d bytes more", case.label, grown)
  end
end

local function leaks(t)
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      local before
      for k = 1, 6 do
        problems.solved(t, one.hasty, case.problem, case.label)
        if k == 2 then before = held() end
      end
      local grown = held() - before
      t:expect(grown <= 0, "%s: 4 solves more hold %d bytes more", case.label, grown)
      check_odd_leaks(t, one, case)
    end
  end
end

-- ------------ checkpoints

local function resume(t, component, case, at, told)
  local what = ("%s, stopped in call %d of %d of problem.keep and gone on"):format(
    case.label, at, told.calls.keep)
  local stopped = problems.solve(component, case.problem,
    { fail_at = at, verb = "keep", status = "cancelled" })
  local whole, fit = told.fits[1],
    problems.solved(t, component, case.problem, what, { state = stopped.state })
  problems.same(t, whole.predictions, fit.predictions, 0, what)
  t:expect(whole.iterations == fit.iterations, "%s: %d iterations, and %d without the stop", what,
    fit.iterations, whole.iterations)
end

-- These options with rows held out and a small bound, where it takes them.
local function bounded(t, given)
  local bound = problems.option(t, "role", "capacity") or { name = "capacity" }
  for name, value in pairs{ holdout = 0.2, [bound.name] = 0.05 } do
    local tried = problems.with(given, { [name] = value })
    if pcall(t.subject.make, t.subject, tried) then given = tried end
  end
  return given
end

local function resumed(t)
  local kept = false
  for one in problems.variants(t) do
    local given = t.subject:hasty(one.given)
    local other = bounded(t, given)
    for _, case in ipairs(problems.all_cases(t, one)) do
      for _, component in ipairs{ one.hasty, other ~= given and t.subject:make(other) or nil } do
        local told = component == one.hasty and case.told or problems.solve(component, case.problem)
        local all = told.status == "ok" and told.calls.keep or 0
        for at = all // 2 + 1, all, math.max(1, all - all // 2 - 1) do
          resume(t, component, case, at, told)
          kept = true
        end
      end
    end
  end
  if not kept then t:skip("it never calls problem.keep") end
end

-- ------------ rows are not the solver's

local function untouched(t)
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      local problem = problems.with(case.problem, { weights = core.zeros(120, 1) + 1 })
      local X, Y, w = problem.X:copy(), problem.Y:copy(), problem.weights:copy()
      local told = problems.solve(one.hasty, problem)
      t:expect(not told.fault, "%s: %s", case.label, told.fault)
      for name, pair in pairs{ rows = { X, problem.X }, targets = { Y, problem.Y },
        ["row weights"] = { w, problem.weights } } do
        local apart, place = problems.apart(pair[1], pair[2])
        t:expect(apart == 0, "%s: the %s are not as they were (%s)", case.label, name, place)
      end
      problems.solve(one.hasty, problems.with(problem, { allowance = 0, block = 17 }))
    end
  end
end

return {
  { name = "rows", about = "rows, targets and weights stay as they are; no verbs inside visits",
    run = untouched },
  { name = "failures", about = "the error of a verb that fails is passed on; nothing leaks",
    run = failures, seconds = 60,
    in_c = true },
  { name = "cancelled", about = "it ends when the user cancels", run = cancel, seconds = 60,
    in_c = true },
  { name = "short-memory", about = "short memory ends it with a sentence, and nothing leaks",
    run = memory, seconds = 60, in_c = true },
  { name = "resumed", about = "a fit that stops and goes on has the bits of one that does not",
    run = resumed },
  { name = "no-growth", about = "solving again and again takes no more memory", run = leaks },
}
