--- Multi-label targets: a row has any number of labels. y is n x c of 0 and 1, a column for each of
--- ds.classes. The model has a score for each label, learnt against -1 and +1, and predicts those
--- above 0 (binary relevance). Solvers that work on sums over the rows learn all labels at once, as
--- targets of a regression; the others one label after the other, on the same features.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local options = require "scullery.base.options"
local recipe = require "scullery.model.recipe"
local target_form = require "scullery.model.target_form"
local warn = require "scullery.base.warn"

local multilabel = {}

--- multilabel.apart(solver, ds): whether the solver learns the labels of ds one after the other.
function multilabel.apart(solver, ds)
  return (ds.task == "multilabel" or target_form.original(ds).task == "multilabel")
    and not core.solver_facts(component.instance(solver)).by_sums
end

--- multilabel.check_judged(solver, ds, o, criterion): raises an error where p:search or p:cv with
--- the options o judges by what a solver that learns one label after the other does not have.
function multilabel.check_judged(solver, ds, o, criterion)
  if not multilabel.apart(solver, ds) then return end
  local refused = o.estimate and ("folds = \"%s\": give folds = k"):format(o.folds)
    or criterion.name == "loss"
      and 'the loss: give score = "subset_accuracy", "hamming", "f1_macro" or the like'
    or o.checkpoint and "a checkpoint: leave that option out"
  if refused then
    error(("solver.%s learns labels one after the other, which are judged without %s"):format(
      solver.name, refused), 0)
  end
end

-- The data set of one label: a classification with the classes 0 and 1.
local function of_label(ds, j)
  return dataset.with(ds, { y = ds.y:column(j):copy(), task = "classification",
    classes = { 0, 1 } })
end

-- The labels in order of how near half of the rows have each, the nearest first; and the share of
-- each.
local function by_balance(ds)
  local order, share = {}, {}
  for j = 1, ds.y:cols() do order[j], share[j] = j, ds.y:column(j):mean() end
  table.sort(order, function(a, b)
    local x, y = math.abs(share[a] - 0.5), math.abs(share[b] - 0.5)
    return x < y or x == y and a < b
  end)
  return order, share
end

-- Raises an error for a pipeline that cannot learn one label after the other.
local function check(p, ds)
  if not ds.X then
    error(("pipeline:fit: solver.%s learns labels one after the other, from rows in memory, and \z
      this data set streams"):format(p.solver.name), 0)
  end
  if recipe.learns_from_targets(p) then
    error("pipeline:fit: a row stage learns from the targets, and labels that are learnt one \z
      after the other share the stages", 0)
  end
end

--- multilabel.of_choice(ds): the data set of the label by which options that are not given are
--- chosen: the one that the nearest to half of the rows have.
function multilabel.of_choice(ds)
  ds = target_form.original(ds)
  return of_label(ds, by_balance(ds)[1])
end

--- multilabel.fit(p, ds, fit): learns one label after the other. Width and regularisation that are
--- not given are chosen on one label (multilabel.of_choice), for all. fit(q,
--- ds): fits a pipeline without more ado.
function multilabel.fit(p, ds, fit)
  check(p, ds)
  local order, share = by_balance(ds)
  local first = order[1]
  if share[first] == 0 or share[first] == 1 then
    error("pipeline:fit: each label is in all rows or in none: there is nothing to tell apart", 0)
  end
  local q = fit(p:clone(), of_label(ds, first))
  if q.fitted.learnt then
    error(("pipeline:fit: solver.%s makes a model of its own, and multi-label targets take one \z
      that makes weights, such as ridge, logistic or hinge"):format(p.solver.name), 0)
  end
  local fixed = p:clone()
  fixed.features, fixed.solver = q.fitted.features, q.fitted.solver
  local weights, constants, constant = {}, {}, {}
  -- the log-odds of half a row among all; -1 or 1 where scores are no log-odds
  local known = core.own_probabilities(q.fitted:solver_instance(), core.zeros(1, 1))
  local size = known and math.log(2 * #ds + 1) or 1
  for _, j in ipairs(order) do
    local f = q.fitted
    if share[j] == 0 or share[j] == 1 then
      constant[#constant + 1] = tostring(ds.classes[j])
      weights[j], constants[j] = core.zeros(f.weights:rows(), 1),
        core.matrix{ (2 * share[j] - 1) * size }
    else
      if j ~= first then f = fit(fixed:clone(), of_label(ds, j)).fitted end
      weights[j], constants[j] = f.weights, f:constant()
    end
  end
  if #constant > 0 then
    warn(("pipeline:fit: labels that are in all rows or in none are predicted so: %s"):format(
      table.concat(constant, ", ")))
  end
  local f = q.fitted:changed{ weights = core.hcat(table.unpack(weights)),
    intercept = core.hcat(table.unpack(constants)), targets = #ds.classes, task = "multilabel",
    classes = ds.classes, form = target_form.of_labels(#ds.classes) }
  f.pilot = nil
  f.chosen = f.chosen and ("%s, by the label %s"):format(f.chosen, options.show(ds.classes[first]))
  p.fitted, p.data, p.classes, p.sums_kept = f, ds, ds.classes, nil
  return p
end

--- multilabel.probabilities(f, scores): n x c, the probability of each label by the solver's loss.
function multilabel.probabilities(f, scores)
  local columns, solver = {}, f:solver_instance()
  for j = 1, scores:cols() do
    local found = core.own_probabilities(solver, scores:column(j):copy())
    if not found then
      error(("the loss of solver.%s gives no probabilities of labels; that of logistic does")
        :format(f.solver.name), 0)
    end
    columns[j] = found:column(2)
  end
  return core.hcat(table.unpack(columns))
end

return multilabel
