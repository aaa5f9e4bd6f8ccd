--- Small problems for solvers, and what solvers make of them: a problem is a table { X, Y =
--- matrices, classes = 0 | 2 | 3 ..., weights = n x 1, Z = rows to predict, T = features of a map
--- with a kernel K (absent: the rows are the features), dtype, block, allowance, cells = features
--- of sc.features with cells of a grid, csr = true: the rows are compressed sparse rows }.
local blocks = require "scullery_checker.blocks"
local core = require "scullery_checker.core"
local options = require "scullery.base.options"
local components = require "scullery.compose.component"
local instantiation = require "scullery.compose.instantiation"

local problems = {}

local function instance(component) return components.instance(component) end
problems.instance = instance

-- ------------ made

-- Labels +-1 of the largest column of the scores: one column for two classes.
local function labels(scores, classes)
  local Y = core.zeros(scores:rows(), classes == 2 and 1 or classes)
  for i = 1, scores:rows() do
    local best = 1
    for j = 2, classes do
      if scores:get(i, j) > scores:get(i, best) then best = j end
    end
    for j = 1, Y:cols() do Y:set(i, j, best == j and 1 or -1) end
  end
  return Y
end

-- d x columns standard normal numbers, each column divided by its length; of two classes the second
-- is the first times -1, as where both were alike noise alone would decide.
local function directions(t, d, columns, classes)
  local A = t:random(d, columns, 3)
  for j = 1, columns do
    local square = 0
    for i = 1, d do square = square + A:get(i, j)^2 end
    for i = 1, d do
      A:set(i, j, classes == 2 and j == 2 and -A:get(i, 1) or A:get(i, j) / math.sqrt(square))
    end
  end
  return A
end

--- problems.make(t, { n = 60, d = 5, targets = 1, classes = 0, positive = false, zeros = false, T =
--- }): standard normal rows; targets that are linear in them, plus 1 and noise of half their size,
--- or `positive` ones, whose logarithms are, with each fourth row 0 where there are `zeros`; of a
--- classification the largest of such scores.
function problems.make(t, given)
  local n, d, classes = given.n or 60, given.d or 5, given.classes or 0
  local columns = classes > 0 and classes or given.targets or 1
  local X, Z = t:random(n, d, 1), t:random(25, d, 2)
  local scores = X * directions(t, d, columns, classes) + t:random(n, columns, 4) * 0.5
  local Y = classes > 0 and labels(scores, classes) or scores + 1
  if given.positive then Y = scores:map(math.exp) end
  for i = 1, given.zeros and n or 0, 4 do
    for j = 1, columns do Y:set(i, j, 0) end
  end
  return { X = X, Y = Y, Z = Z, classes = classes, T = given.T, seed = t.seed,
    positive = given.positive, zeros = given.zeros }
end

--- problems.with(problem, changes): a copy with other fields.
function problems.with(problem, changes)
  local copy = {}
  for key, value in pairs(problem) do copy[key] = value end
  for key, value in pairs(changes) do copy[key] = value end
  return copy
end

-- ------------ solved

-- sign(<w, x> + b) under a Gaussian K: T features with a Gram matrix of their own; or without K.
local function map_of(problem, without)
  if problem.cells then return (instantiation.map(problem.cells, core.source(problem.X), {})) end
  if not problem.T then return nil end
  local sc = require "scullery"
  return core.map{ sampler = instance(sc.sampler.gaussian()),
    kernel = not without and instance(sc.kernel.gaussian{ width = 1 }) or nil,
    phi = instance(sc.nonlinearity.sign()), dim = problem.X:cols(), T = problem.T,
    seed = problem.seed, dtype = problem.dtype or "float64", samples = 1000 }
end

local function training_of(problem, map)
  local X = problem.csr and blocks.csr(problem.X) or problem.X
  return core.training(core.source(X, problem.Y), {}, map, { classes = problem.classes,
    dtype = problem.dtype, block = problem.block, weights = problem.weights or nil, quiet = true,
    allowance = problem.allowance })
end

local function predict(problem, map, fit)
  local source = core.source(problem.Z)
  return core.predict(source, { map = map, learnt = fit.model, weights = fit.weights,
    intercept = fit.intercept, pilot = fit.pilot, dtype = problem.dtype }, "scores")
end

-- The intercept for rows as they are, not less the pilot means.
local function without_pilot(fit)
  if fit.pilot then fit.intercept = fit.intercept - fit.pilot * fit.weights end
  fit.pilot = nil
end

--- problems.solve(component, problem[, watch[, values]]): what core.watched_solve tells, and of
--- each fit its predictions of problem.Z.
function problems.solve(component, problem, watch, values)
  local map = map_of(problem)
  local training <close> = training_of(problem, map)
  local told = core.watched_solve(training, instance(component), values, watch or {})
  for _, fit in ipairs(told.fits or {}) do
    local ok, made = pcall(predict, problem, map, fit)
    if not ok then
      if not tostring(made):find("is not finite", 1, true) then error(made, 0) end
      told.status, told.message, told.fits = "numeric", options.plain(tostring(made)), nil
      break
    end
    fit.predictions = made
    without_pilot(fit)
  end
  return told
end

--- problems.predict(problem, fit): the predictions of problem.Z.
function problems.predict(problem, fit) return predict(problem, map_of(problem), fit) end

-- Features of the rows Z, as coefficients multiply them.
local function features(problem, Z, map)
  return predict(problems.with(problem, { Z = Z }), map, { weights = core.eye(problem.T),
    intercept = core.zeros(1, problem.T) })
end

--- problems.features(problem): { X, Z = features of the rows by the map of the problem, base =
--- those of X without K, times sqrt(T), gram = the Gram matrix of K as a list of rows }.
function problems.features(problem)
  local map, gram = map_of(problem), {}
  local G = core.map_gram(map)
  for i = 1, problem.T do
    gram[i] = {}
    for j = 1, problem.T do gram[i][j] = G:get(i, j) end
  end
  return { X = features(problem, problem.X, map), Z = features(problem, problem.Z, map),
    base = features(problem, problem.X, map_of(problem, true)) * math.sqrt(problem.T),
    gram = gram }
end

--- problems.objective(component, problem): a function (weights, intercept or nil) of what the
--- solver minimises.
function problems.objective(component, problem)
  local training = training_of(problem, map_of(problem))
  return function(weights, intercept)
    return core.objective(training, instance(component), weights, intercept)
  end
end

--- problems.facts(component): what core.solver_facts tells of it.
function problems.facts(component) return core.solver_facts(instance(component)) end

-- ------------ what a solver takes

-- The status of a refusal that says: not for such problems.
local refusals = { unsupported = true, ["bad option"] = true, ["bad data"] = true }

--- problems.refused(told): whether a problem was refused with a sentence of the solver's.
function problems.refused(told) return refusals[told.status] == true end

-- The last ones only for solvers that take none of those before.
local tasks = { { label = "regression", classes = 0 }, { label = "2 classes", classes = 2 },
  { label = "regression of numbers from 0 on", classes = 0, positive = true, zeros = true },
  { label = "regression of numbers above 0", classes = 0, positive = true } }

--- problems.cases(t, component): the first small problems, one a task, that the solver takes, a
--- list of { label, problem, told }: on rows, or on features with a K where it refuses these. It
--- takes at least one of them.
function problems.cases(t, component)
  local list, refusal = {}, nil
  for _, task in ipairs(tasks) do
    for _, T in ipairs(task.positive and #list > 0 and {} or { false, 24 }) do
      local problem = problems.make(t, { n = 120, classes = task.classes, T = T or nil,
        positive = task.positive, zeros = task.zeros })
      local told = problems.solve(component, problem)
      if told.status == "ok" then
        list[#list + 1] = { label = task.label .. (T and " on features with a K" or ""),
          problem = problem, told = told }
        break
      end
      if not problems.refused(told) then
        t:fail("%s, 120 rows, 5 columns: %s", task.label, told.message)
      end
      refusal = told.message
    end
  end
  t:expect(#list > 0, "it takes neither a regression nor a classification: %s", refusal)
  return list
end

-- ------------ settings

local function option_of(t, key, value)
  for _, option in ipairs(t.subject.info.options) do
    if option[key] == value then return option end
  end
end
problems.option = option_of

-- The component with the first of these values that it takes.
local function set_first(t, given, name, values)
  for _, value in ipairs(values) do
    local tried = problems.with(given, { [name] = value })
    if pcall(t.subject.make, t.subject, tried) then return tried end
  end
  return given
end

--- problems.exact(t, given[, tolerance, iterations]): options on top of these with which solutions
--- are determined and found: a small tolerance, many iterations, regularisation of 0.1 where that
--- is a number.
function problems.exact(t, given, tolerance, iterations)
  if option_of(t, "name", "tolerance") then
    given = set_first(t, given, "tolerance", { tolerance or 1e-9, 1e-7, 1e-5 })
  end
  if option_of(t, "name", "max_iterations") then
    given = set_first(t, given, "max_iterations", { iterations or 10000, 1000, 100 })
  end
  local regularisation = option_of(t, "role", "regularisation")
  if regularisation and regularisation.takes:find("a number", 1, true) then
    given = set_first(t, given, regularisation.name, { 0.1 })
  end
  return given
end

--- problems.row(A, i): row i of a matrix as a list.
function problems.row(A, i)
  local list = {}
  for j = 1, A:cols() do list[j] = A:get(i, j) end
  return list
end

--- problems.rows(problem[, a, b]): its rows for a definition, with their scores at a and b; numbers
--- for one target.
function problems.rows(problem, a, b)
  local list = {}
  for i = 1, problem.X:rows() do
    local x, y, f = problems.row(problem.X, i), problems.row(problem.Y, i), b or 0
    for j, w in ipairs(a or {}) do f = f + w * x[j] end
    list[i] = { x = x, y = #y == 1 and y[1] or y, f = f,
      w = problem.weights and problem.weights:get(i, 1) or 1 }
  end
  list.classes, list.targets = problem.classes, problem.of or problem.Y:cols()
  list.gram, list.constant = problem.gram, problem.constant
  for i, row in ipairs(problem.gram and list or {}) do row.base = problems.row(problem.base, i) end
  return list
end

--- problems.settled(t, component, lambda): it with that regularisation, and many steps to a small
--- tolerance.
function problems.settled(t, component, lambda)
  local given, penalty = component.given, option_of(t, "role", "regularisation")
  if penalty and penalty.takes_number then
    given = problems.with(given, { [penalty.name] = lambda })
  end
  for name, values in pairs{ tolerance = { 1e-7, 1e-5 }, max_iterations = { 1000, 100 },
    epochs = { 10 } } do
    for _, value in ipairs(option_of(t, "name", name) and values or {}) do
      local tried = problems.with(given, { [name] = value })
      if pcall(t.subject.make, t.subject, tried) then
        given = tried
        break
      end
    end
  end
  return t.subject:make(given)
end

--- problems.variants(t): an iterator over { component, exact, hasty = components, given, cases,
--- is_default }: the solver with its defaults, then with the words of its options. Sentences begin
--- with its label. exact: as problems.exact sets it, by `given`; hasty: as subject:hasty sets it,
--- by which the cases were solved.
function problems.variants(t)
  local list, i = t.subject:variants(), 0
  return function()
    i = i + 1
    local one = list[i]
    t.label = one and #list > 1 and one.label or nil
    if not one then return nil end
    local given = problems.exact(t, one.given)
    local hasty = t.subject:make(t.subject:hasty(one.given))
    one.cases = one.cases or problems.cases(t, hasty) -- once for all tests of a process
    return { component = one.component, given = given, exact = t.subject:make(given),
      hasty = hasty, is_default = i == 1, cases = one.cases }
  end
end

-- The case with three targets, or classes, of unlike sizes and with row weights, or without where
-- the solver refuses these; nil where it takes neither.
local function wider(t, component, case)
  local p = case.problem
  local classes = p.classes > 0 and 3 or 0
  local problem = problems.make(t, { n = 120, classes = classes, targets = 3, T = p.T,
    positive = p.positive, zeros = p.zeros })
  for i = 1, classes == 0 and 120 or 0 do problem.Y:set(i, 2, problem.Y:get(i, 2) * 20) end
  local weights = t:random(120, 1, 17):map(math.exp) -- no sums are equal: one best constant
  for _, one in ipairs{ problems.with(problem, { weights = weights }), problem } do
    if problems.solve(component, one).status == "ok" then
      return { problem = one, label = (classes > 0 and "3 classes" or "3 targets")
        .. (one.weights and ", weights" or "") .. (p.T and " on features with a K" or "") }
    end
  end
end

--- problems.all_cases(t, one): the cases of a variant, and those of its defaults with three targets
--- or classes and weights.
function problems.all_cases(t, one)
  local list = table.move(one.cases, 1, #one.cases, 1, {})
  for _, case in ipairs(one.is_default and one.cases or {}) do
    list[#list + 1] = wider(t, one.hasty, case)
  end
  return list
end

--- problems.solved(t, component, problem, what): its fit of a problem that it must take.
function problems.solved(t, component, problem, what, watch)
  local told = problems.solve(component, problem, watch)
  t:expect(told.status == "ok", "%s: %s", what, told.message)
  t:expect(not told.fault, "%s: %s", what, told.fault)
  return told.fits[1], told
end

-- ------------ compared

--- problems.slack(fit, ...): how far predictions of two such fits of one problem may lie apart, as
--- a share of the largest: the square root of their tolerances, where they converged to one.
function problems.slack(...)
  local slack = 1e-7
  for _, fit in ipairs{ ... } do
    if fit.tolerance then slack = math.max(slack, 30 * math.sqrt(fit.tolerance)) end
  end
  return math.min(slack, 0.1)
end

--- problems.columns(A, places): a copy of these columns, in this order.
function problems.columns(A, places)
  local out = core.zeros(A:rows(), #places)
  for k, j in ipairs(places) do
    for i = 1, A:rows() do out:set(i, k, A:get(i, j)) end
  end
  return out
end

--- problems.unfinished(fit, ...): as a share of the largest prediction, how far those of fits that
--- say how far they are from their tolerance may lie off. Where their residual r is of the
--- objective F relative to F(0), ||a - a*|| <= sqrt(2 r F(0)/lambda), F being lambda-strongly
--- convex: at lambda = 0.1 at most 4.5 sqrt(r), a* being near 1. Over the built-in solvers and 10
--- seeds predictions in float32 lay at most 0.75 sqrt(r) off: four times that is allowed.
function problems.unfinished(...)
  local most = 0
  for _, fit in ipairs{ ... } do
    local r = fit.status ~= "converged" and fit.residual or 0
    most = math.max(most, math.min(0.1, math.max(100 * r, 3 * math.sqrt(r))))
  end
  return most
end

--- problems.apart(A, B[, least]): the largest difference of two matrices as a share of the largest
--- number (at least `least`), and a text of its place.
function problems.apart(A, B, least)
  local largest, apart, text = least or 0, -1, ""
  for i = 1, A:rows() do
    for j = 1, A:cols() do
      local a, b = A:get(i, j), B:get(i, j)
      largest = math.max(largest, math.abs(a), math.abs(b))
      local gap = math.abs(a - b)
      if gap > apart or gap ~= gap then
        apart, text = gap, ("row %d, column %d: %.12g and %.12g"):format(i, j, a, b)
      end
    end
  end
  return apart == 0 and 0 or apart / largest, text
end

--- problems.same(t, A, B, share, format, ...): fail where predictions A and B lie further apart
--- than this share of the largest.
function problems.same(t, A, B, share, format, ...)
  local apart, text = problems.apart(A, B)
  t:expect(apart <= share, "%s: the predictions differ by %.3g of the largest, where %.3g is \z
    allowed (%s)", format:format(...), apart, share, text)
end

return problems
