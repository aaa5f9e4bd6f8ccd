--- Solvers against their definitions: objective(rows, a, b), what coefficients a (a list) and the
--- constant b minimise on rows { x =, y =, w =, f = <x, a> + b }; score(rows), a function that
--- gives the scores of a row x, of solvers that make models.
local core = require "scullery_checker.core"
local definition = require "scullery_checker.definition"
local problems = require "scullery_checker.solver.problems"

local solvers = {}

-- lambda: of the penalty, so that it counts; outliers: rows whose targets lie far off.
local SHAPES <const> = { { n = 21, d = 3, lambda = 0.05 }, { n = 7, d = 9, lambda = 0.7 },
  { n = 40, d = 2, lambda = 1e-3, outliers = true } }
local TASKS <const> = { { classes = 0 }, { classes = 2 }, { classes = 3 },
  { classes = 0, positive = true } }

-- The component with its options, and many steps to a small tolerance.
local function exact(t, component, lambda)
  local given, penalty = component.given, problems.option(t, "role", "regularisation")
  if penalty and penalty.takes_number then
    given = problems.with(given, { [penalty.name] = lambda })
  end
  for name, values in pairs{ tolerance = { 1e-7, 1e-5 }, max_iterations = { 1000, 100 },
    epochs = { 10 } } do
    for _, value in ipairs(problems.option(t, "name", name) and values or {}) do
      local tried = problems.with(given, { [name] = value })
      if pcall(t.subject.make, t.subject, tried) then
        given = tried
        break
      end
    end
  end
  return t.subject:make(given)
end

local function list_of(A, i)
  local list = {}
  for j = 1, A:cols() do list[j] = A:get(i, j) end
  return list
end

-- Rows of a problem with their scores at a and b; numbers for one target.
local function rows_of(problem, a, b)
  local list = {}
  for i = 1, problem.X:rows() do
    local x, y, f = list_of(problem.X, i), list_of(problem.Y, i), b or 0
    for j, w in ipairs(a or {}) do f = f + w * x[j] end
    list[i] = { x = x, y = #y == 1 and y[1] or y, f = f,
      w = problem.weights and problem.weights:get(i, 1) or 1 }
  end
  list.classes = problem.classes
  return list
end

-- f(problem, component, fit, its definition) for each small problem that the solver takes: with row
-- weights too.
local function each_problem(left, t, component, f)
  for of, shape in ipairs(SHAPES) do
    local made = exact(t, component, shape.lambda)
    local declared = definition.of(made)
    local began = os.clock() -- of the processor: what is slow is solved less often
    for _, task in ipairs(TASKS) do
      local problem = problems.make(t, problems.with(task, shape))
      for i = 1, shape.outliers and task.classes == 0 and shape.n or 0, 4 do
        problem.Y:set(i, 1, problem.Y:get(i, 1) * 6)
      end
      local weights = t:random(shape.n, 1, 30 + of):map(math.exp)
      for _, one in ipairs{ problem, problems.with(problem, { weights = weights }) } do
        local told = left() and os.clock() - began < 0.1 and problems.solve(made, one)
        if told and told.status == "ok" then
          f(one, made, told.fits[1], declared)
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

function solvers.objective(left, t, component, _, far)
  if far and far > 40 then return end
  each_problem(left, t, component, function(problem, made, fit, declared)
    if not fit.weights or fit.weights:cols() > 1 or problem.classes > 2 then return end
    local facts = problems.facts(made)
    local a, b = list_of(fit.weights:t(), 1), facts.intercept and fit.intercept:get(1, 1) or nil
    local function value(at, constant)
      local found = declared.objective(rows_of(problem, at, constant), at, constant) or nil
      if found and type(found) ~= "number" then
        error("its definition gives " .. type(found) .. " in place of a number", 0)
      end
      return found
    end
    local here, zero = value(a, b), value(list_of(core.zeros(1, #a), 1), b and 0)
    if not here or here ~= here then return end
    t.compared = (t.compared or 0) + 1
    if facts.objective then
      local own = problems.objective(made, problem)(fit.weights, facts.intercept and fit.intercept
        or nil)
      t:expect(math.abs(own - here) <= 1e-6 * math.max(math.abs(here), math.abs(zero)), "its \z
        objective is %.12g, and %.12g by its definition", own, here)
    end
    if fit.status ~= "converged" then return end
    for _, point in ipairs(near(t, a, b)) do
      local other = left() and value(table.unpack(point)) or math.huge
      local allowed = math.max(1e-7, 10 * (fit.tolerance or 0)) * math.abs(zero) + 1e-12
      t:expect(other ~= other or other >= here - allowed, "%d rows of %d columns, %d classes%s: \z
        it says converged, and near its coefficients the objective of its definition is %.12g in \z
        place of %.12g; at 0 it is %.6g", problem.X:rows(), #a, problem.classes, problem.weights
        and ", with weights" or "", other, here, zero)
    end
  end)
end

-- ------------ models

function solvers.score(left, t, component, _, far)
  if far and far > 40 then return end
  each_problem(left, t, component, function(problem, _, fit, declared)
    local define = declared.score(rows_of(problem))
    for i = 1, define and left() and 5 or 0 do
      local wanted, slack = definition.values(define, list_of(problem.Z, i))
      for j, want in ipairs(wanted) do
        definition.expect(t, fit.predictions:get(i, j), want, slack[j] + 1e-6 * math.abs(want)
          + 1e-9, "%d rows of %d columns, %d classes%s: score %d of row %d", problem.X:rows(),
          problem.X:cols(), problem.classes, problem.weights and ", with weights" or "", j, i)
      end
    end
  end)
end

return solvers
