--- Solvers against their definitions: objective(rows, a, b), what coefficients a (a list) and the
--- constant b minimise on rows { x =, y =, w =, f = <x, a> + b }; gap(rows, a, b), the duality gap
--- that it reports there, of several targets the largest; score(rows), a function that gives the
--- scores of a row x. Of solvers that take features of a map alone, rows are alike: x are the
--- features, base those without K, and rows.gram is the Gram matrix of K.
local core = require "scullery_checker.core"
local definition = require "scullery_checker.definition"
local problems = require "scullery_checker.solver.problems"

local solvers = {}

-- lambda: of the penalty, so that it counts; outliers: rows whose targets lie far off; whole: rows
-- of whole numbers, of which some are equal; through: without a constant.
local SHAPES <const> = { { n = 21, d = 3, lambda = 0.05 },
  { n = 15, d = 2, lambda = 0.02, through = true }, { n = 7, d = 9, lambda = 0.7 },
  { n = 40, d = 2, lambda = 1e-3, outliers = true }, { n = 24, d = 2, lambda = 0.1, whole = true } }
local TASKS <const> = { { classes = 0 }, { classes = 2 }, { classes = 3 },
  { classes = 0, targets = 3 }, { classes = 0, positive = true },
  { classes = 0, positive = true, zeros = true } }

local list_of, rows_of = problems.row, problems.rows

-- The problem of rows that are all its first one.
local function alike_of(problem)
  local first = {}
  for i = 1, 120 do first[i] = 1 end
  return problems.with(problem, { X = problem.X:select(first), Y = problem.Y:select(first),
    weights = problem.weights and problem.weights:select(first) })
end

-- The same with a map, and with features as rows.
local function with_features(problem)
  local alike = problems.with(alike_of(problem), { T = 6 })
  return alike, problems.with(alike, problems.features(alike))
end

-- How many scores it has of each target.
local function scores_of(component)
  return require("scullery.core").solver_facts(problems.instance(component)).outputs
end

-- The columns of targets, each once for each of its scores.
local function places_of(targets, each)
  local list = {}
  for k = 0, targets * each - 1 do list[k + 1] = k // each + 1 end
  return list
end

-- f(problem, component, fit, its definition) for each small problem that the solver takes: with row
-- weights too. most: iterations; nil: as many as it takes. alike: of rows that are all alike,
-- where the definition has an objective too, and the solver draws rows.
local function each_problem(left, t, component, f, most, alike)
  for of, shape in ipairs(SHAPES) do
    local made = problems.settled(t, component, shape.lambda)
    local given = problems.with(made.given, { max_iterations = most })
    if problems.option(t, "name", "holdout") then given.holdout = 0 end -- rows that are drawn
    local constant = shape.through and problems.option(t, "role", "intercept")
    if constant then given[constant.name] = false end
    made = t.subject:make(given)
    local declared = definition.of(made)
    local is_alike = alike and declared.objective and problems.option(t, "name", "seed")
    local began = os.clock() -- of the processor: what is slow is solved less often
    for _, task in ipairs(TASKS) do
      local problem = problems.make(t, problems.with(task, shape))
      problem.constant = problems.facts(made).intercept
      for i = 1, shape.outliers and task.classes == 0 and shape.n or 0, 4 do
        problem.Y:set(i, 1, problem.Y:get(i, 1) * 6)
      end
      problem.Y = problems.columns(problem.Y, places_of(problem.Y:cols(), scores_of(made)))
      if shape.whole then
        problem.X, problem.Z = problem.X:map(math.floor), problem.Z:map(math.floor)
      end
      local weights = t:random(shape.n, 1, 30 + of):map(math.exp)
      for _, one in ipairs{ problem, problems.with(problem, { weights = weights }) } do
        if is_alike then one = alike_of(one) end
        local told = left() and os.clock() - began < 0.1 and problems.solve(made, one)
        local seen = one
        if told and told.status == "unsupported" and declared.score then
          one, seen = with_features(one)
          told = problems.solve(made, one)
        end
        if told and told.status == "ok" then
          f(seen, made, told.fits[1], declared)
        end
      end
    end
  end
end

-- ------------ coefficients

-- Points near a and b, each { a, b }: each number moved alone, and along random lines.
local function near(t, a, b)
  local size, list, d = 1e-3, {}, #a
  for _, x in ipairs(a) do size = math.max(size, math.abs(x)) end
  local lines = {}
  for j = 1, b and d + 1 or d do lines[j] = { [j] = 1 } end
  for k = 1, 4 do
    local line, random = {}, t:random(1, d + 1, 40 + k)
    for j = 1, b and d + 1 or d do line[j] = random:get(1, j) end
    lines[#lines + 1] = line
  end
  for _, line in ipairs(lines) do
    for _, step in ipairs{ 1e-2, -1e-2, 1e-3, -1e-3 } do
      local other = {}
      for j = 1, d do other[j] = a[j] + step * size * (line[j] or 0) end
      list[#list + 1] = { other, b and b + step * size * (line[d + 1] or 0) }
    end
  end
  return list
end

-- The target of column j, or that class against all others, with its coefficients and constant. And
-- the definition of the column: those of a target are those of the numbers of a list.
local function column(problem, fit, intercept, j, made, declared)
  local each = scores_of(made)
  local one = problems.with(problem, { Y = problems.columns(problem.Y, { j }),
    of = problem.Y:cols(), classes = problem.classes > 0 and 2 or 0 })
  return one, list_of(fit.weights:t(), j), intercept and fit.intercept:get(1, j) or nil, each > 1
    and definition.of(made, { (j - 1) % each + 1, each }) or declared
end

-- f(a, b): the objective of the definition; nil where it says nothing.
local function value_of(declared, problem)
  return function(a, b)
    local found = declared.objective(rows_of(problem, a, b), a, b) or nil
    if found and type(found) ~= "number" then
      error("its definition gives " .. type(found) .. " in place of a number", 0)
    end
    return found
  end
end

local function expect_least(left, t, problem, value, a, b, fit)
  local here, zero = value(a, b), value(list_of(core.zeros(1, #a), 1), b and 0)
  local allowed = math.max(1e-7, 10 * (fit.tolerance or 0)) * math.abs(zero) + 1e-12
  for _, point in ipairs(near(t, a, b)) do
    local other = left() and value(table.unpack(point)) or math.huge
    t:expect(other ~= other or other >= here - allowed, "%d rows of %d columns, %d classes%s: it \z
      says converged, and near its coefficients the objective of its definition is %.12g in place \z
      of %.12g; at 0 it is %.6g", problem.X:rows(), #a, problem.classes, problem.weights
      and ", with weights" or "", other, here, zero)
  end
end

function solvers.objective(left, t, component, _, far)
  if far and far > 40 then return end
  each_problem(left, t, component, function(problem, made, fit, declared)
    if not fit.weights then return end
    local facts, sum, scale = problems.facts(made), 0, 0
    local columns = fit.weights:cols()
    for j = 1, columns do
      local one, a, b, its = column(problem, fit, facts.intercept, j, made, declared)
      local value = value_of(its, one)
      local here = value(a, b)
      if not here or here ~= here then return end
      sum = sum + here
      scale = scale + math.max(math.abs(here), math.abs(value(list_of(core.zeros(1, #a), 1),
        b and 0)))
    end
    t.compared = (t.compared or 0) + 1
    local own = facts.objective and problems.objective(made, problem)(fit.weights, facts.intercept
      and fit.intercept or nil)
    local agrees = not own or math.abs(own - sum) <= 1e-6 * scale
    if columns == 1 then
      t:expect(agrees, "its objective is %.12g, and %.12g by its definition", own, sum)
    end
    -- classes may not be apart
    if fit.status ~= "converged" or problem.classes > 2 and not (own and agrees) then return end
    for j = 1, columns do
      local one, a, b, its = column(problem, fit, facts.intercept, j, made, declared)
      expect_least(left, t, one, value_of(its, one), a, b, fit)
    end
  end)
end

function solvers.gap(left, t, component, _, far)
  if far and far > 40 or not problems.option(t, "name", "max_iterations") then return end
  each_problem(left, t, component, function(problem, made, fit, declared)
    if not fit.weights or not fit.gap or fit.gap ~= fit.gap or problem.classes > 2 then return end
    -- of several columns solved together it may be of their sums
    if declared.start and fit.weights:cols() > 1 then return end
    local want = 0
    for j = 1, fit.weights:cols() do
      local one, a, b, its = column(problem, fit, problems.facts(made).intercept, j, made,
        declared)
      local here = its.gap(rows_of(one, a, b), a, b)
      if not here then return end
      want = math.max(want, here)
    end
    definition.expect(t, fit.gap, want, 1e-6 * want + 1e-8, "%d rows of %d columns%s: after %d \z
      iterations, its duality gap", problem.X:rows(), problem.X:cols(), problem.weights
      and ", with weights" or "", fit.iterations)
  end, 1)
end

-- ------------ models

-- How much score j of row i by the definition changes where the rows and their weights change by
-- rounding: a method that chooses rows may be between two choices.
local function unsteady(t, problem, declared, i, j, want)
  local most, n, d = 0, problem.X:rows(), problem.X:cols()
  for of = 1, 3 do
    local noise = t:random(n, d + 1, 60 + of) * 1e-9 + 1
    local w = noise:column(d + 1):copy()
    local define = declared.score(rows_of(problems.with(problem, {
      X = problem.X:mul(noise:slice(1, n, 1, d)),
      weights = problem.weights and w:mul(problem.weights) or w })))
    local other = define and define(list_of(problem.Z, i))
    other = type(other) == "table" and other[j] or other or want
    most = math.max(most, math.abs(other - want))
  end
  return most
end

function solvers.score(left, t, component, _, far)
  if far and far > 40 then return end
  each_problem(left, t, component, function(problem, _, fit, declared)
    local define = left() and declared.score(rows_of(problem))
    local allowed = math.max(1e-6, 10 * (fit.tolerance or 0)) * fit.predictions:abs():max() + 1e-9
    for i = 1, define and 5 or 0 do
      local wanted, slack = definition.values(define, list_of(problem.Z, i))
      for j, want in ipairs(wanted) do
        local got, off = fit.predictions:get(i, j), slack[j] + allowed
        if math.abs(got - want) > off then
          off = off + 100 * unsteady(t, problem, declared, i, j, want)
        end
        definition.expect(t, got, want, off,
          "%d rows of %d columns, %d classes%s: score %d of row %d", problem.X:rows(),
          problem.X:cols(), problem.classes, problem.weights and ", with weights" or "", j, i)
      end
    end
  end, nil, true)
end

return solvers
