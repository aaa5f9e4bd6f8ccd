--- Solutions from sums alone: s:solve for any regularisation; s:search by the squared error on
--- folds that were summed separately, or by generalised cross-validation.
local automatic = require "scullery.model.automatic"
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local criteria = require "scullery.model.criteria"
local judging = require "scullery.model.judging"
local options = require "scullery.base.options"
local recipe = require "scullery.model.recipe"
local search_table = require "scullery.model.search_table"
local sums = require "scullery.model.sums"

local solving, Sums = {}, sums.class

local LAMBDAS = { 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1 } -- where none are given

-- ------------ values of the regularisation

-- The name of the solver's option of regularisation; raises an error for a solver without one.
local function role_of(solver)
  return component.role(solver, "regularisation")
    or error(("solver.%s has no regularisation"):format(solver.name), 0)
end

-- An unfitted copy of the recipe of the sums, with this regularisation (nil: the recipe's own).
-- Raises an error if an option is left that p:fit would choose from the rows.
local function with_value(self, value)
  local p = self.pipeline:clone()
  if value then p.solver = component.with(p.solver, role_of(p.solver), value) end
  local open = automatic.open(p)
  if open then
    error(("the solver's option '%s' is not given: s:solve{ lambda = ... }"):format(
      open.lambda or open.width), 0)
  end
  return p
end

-- The list; raises an error unless it holds finite numbers of at least 0.
local function check_values(list)
  for _, value in ipairs(list) do
    if type(value) ~= "number" or not (value >= 0 and value < math.huge) then
      error(("option 'lambda' has %s in its list; it takes numbers of at least 0"):format(
        options.show(value)), 0)
    end
  end
  if #list == 0 then error("option 'lambda' got a list without numbers", 0) end
  return list
end

-- A list of fits, one for each value of the regularisation, from sums over `rows` rows. A solver
-- whose path option is the regularisation computes all values in one call.
local function path(model, handle, rows, solver, values)
  local source <const> = core.absent_rows(rows, model.dim, model.targets)
  local training <close> = core.training(source, model.stages, model.map,
    { classes = model.classes and #model.classes or 0, sums = handle })
  local role, list = role_of(solver), {}
  if core.solver_facts(component.instance(solver)).path_option == role then
    return core.solve(training, component.instance(solver), 0, values)
  end
  for k, value in ipairs(values) do
    list[k] = core.solve(training, component.instance(component.with(solver, role, value)))[1]
  end
  return list
end

-- ------------ s:solve

local solve_rules = options.declare("sums:solve", { lambda = {
  test = function(v)
    return v == "gcv" or options.is_list(v) or type(v) == "number" and v >= 0 and v < math.huge
  end, takes = "a number of at least 0, a list of such, or \"gcv\"" } })

local function solve(self, given)
  local o = options.check("sums:solve", given or {}, solve_rules, 0)
  if o.lambda == "gcv" then return self:search{ folds = "gcv" } end
  if not options.is_list(o.lambda) then return sums.solved(self, with_value(self, o.lambda)) end
  local list = {}
  for k, value in ipairs(check_values(o.lambda)) do
    list[k] = sums.solved(self, with_value(self, value))
  end
  return list
end

--- s:solve([{ lambda = }]): a fitted pipeline, bit for bit that of one fit to all rows that were
--- summed; it keeps the sums. lambda: the solver's regularisation in place of the recipe's; a list
--- of values gives a list of pipelines; "gcv" is s:search{ folds = "gcv" }. Raises an error for a
--- solver that needs the rows, and if a value of lambda is neither given nor in the recipe.
function Sums:solve(given) return options.guard("sums:solve", 1, solve, self, given) end

-- ------------ s:search


-- A row { folds, mean, stderr, unconverged } of the table for each value: each fold is judged by
-- the solution without it.
local function by_folds(self, p, values, criterion)
  local rows = {}
  for k = 1, #values do rows[k] = { folds = {}, unconverged = 0 } end
  for f, count in ipairs(self.folds) do
    local fits = path(self.model, core.sums_without(self.handle, f), self.rows - count, p.solver,
      values)
    for k, fit in ipairs(fits) do
      local square, weight = core.sums_error(self.handle, f, self.model.map, fit.weights,
        fit.intercept, fit.pilot)
      rows[k].folds[f] = criterion.tally({ square = square, rows = weight }, self.model.targets)
      if fit.status == "iterations exhausted" then
        rows[k].unconverged = rows[k].unconverged + 1
      end
    end
  end
  for _, row in ipairs(rows) do row.mean, row.stderr = judging.mean(row.folds) end
  return rows
end

-- The same rows, without `folds` and `stderr`, by generalised cross-validation.
local function by_gcv(self, p, values)
  local estimate, rows = component.role(p.solver, "estimate"), {}
  if not estimate then
    error(("solver.%s does not estimate its risk: sum folds, as p:sums(ds, { folds = 5 }) does")
      :format(p.solver.name), 0)
  end
  local solver = component.with(p.solver, estimate, "gcv")
  local fits = path(self.model, sums.all_folds(self), self.rows, solver, values)
  for k, fit in ipairs(fits) do
    rows[k] = { mean = fit.score, unconverged = fit.status == "iterations exhausted" and 1 or 0 }
  end
  return rows
end

-- The criterion; raises an error for one that needs rows.
local function criterion_of(self, o)
  local criterion = criteria.of(o.score or "loss", self.model.task)
  if not criterion.tally or criterion.name == "error" or criterion.name == "accuracy" then
    error(("score = %s needs the rows: sums alone give the squared error, score = \"loss\"")
      :format(options.show(criterion.name)), 0)
  end
  if o.folds == "gcv" and criterion.name ~= "loss" then
    error("folds = \"gcv\" estimates the squared error: score = \"loss\"", 0)
  end
  return criterion
end

local search_rules = options.declare("sums:search", {
  lambda = { test = options.is_list, takes = "a list of numbers" },
  folds = { choices = { "gcv" } }, score = criteria.rule })

local function search(self, given)
  local o = options.check("sums:search", given or {}, search_rules, 0)
  if o.folds == "gcv" and recipe.learns_from_targets(self.pipeline) then
    error("folds = \"gcv\" is for stages that do not learn from the targets", 0)
  end
  if not self.folds and o.folds ~= "gcv" then
    error("these sums have no folds: p:sums(ds, { folds = 5 }) makes them; folds = \"gcv\" needs \z
      none", 0)
  end
  local criterion = criterion_of(self, o)
  local values = check_values(o.lambda or LAMBDAS)
  local p = self.pipeline:clone()
  local name = role_of(p.solver)
  sums.check_solver(component.with(p.solver, name, values[1]), "sums:search")
  local tried = self.pipeline:clone{ ["solver." .. name] = choose(values) }
  local cells = search_table.new({ { stages = {}, pipeline = tried } }, criterion)
  cells.rule, cells.place = "best", 1
  local rows = o.folds == "gcv" and by_gcv(self, p, values) or by_folds(self, p, values, criterion)
  cells.rows = o.folds == "gcv" and self.rows or nil
  for k, row in ipairs(rows) do
    row.choice, cells[k] = { ["solver." .. name] = values[k] }, row
  end
  local chosen = search_table.best_of(cells, cells)
  for k, row in ipairs(cells) do if row == chosen then cells.place = k end end
  search_table.find_edge(cells, cells.best)
  local best = sums.solved(self, with_value(self, values[cells.place]))
  best.choice, best.table = search_table.choice(cells.best.choice), cells
  local report, notes = best.fitted.report, cells:notes()
  if report.note then table.insert(notes, 1, report.note) end
  report.note = #notes > 0 and table.concat(notes, "; ") or nil
  return best
end

--- s:search([{ lambda = { ... }, folds = "gcv", score = "loss" }]): the fitted pipeline with the
--- best regularisation of a list (by default 1e-9 to 1), with .choice and .table as p:search gives
--- them. It is judged by the mean squared error on the folds of p:sums(ds, { folds = 5 }), each by
--- the solution without it; or, with folds = "gcv", by generalised cross-validation, for solvers
--- that compute it. Errors are weighted with the weights of the rows; those of transformed targets
--- are on the transformed scale. score: "loss", "mse" or "rmse"; other metrics need the rows.
function Sums:search(given) return options.guard("sums:search", 1, search, self, given) end

return solving
