--- Candidates for options that a fit chooses, judged by rows that they did not learn from.
---
--- A judgement is { losses = n x count, weights = n x 1, groups = n x 1 or nil }: the loss of each
--- row by each candidate.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"

local candidates = {}

--- candidates.regularisation(solver): the option by which p:fit may choose how simple the solver's
--- models are (a row of core.plugin_info), or nil: its regularisation, or its capacity, whose value
--- is the inverse of a regularisation.
function candidates.regularisation(solver)
  local list = core.plugin_info("solver", solver.name).options
  for _, option in ipairs(list) do
    local simplifies = option.role == "regularisation" or option.role == "capacity"
    if simplifies and component.is_chosen(option, list) then return option end
  end
end

--- candidates.value(option, regularisation): the value of that option.
function candidates.value(option, regularisation)
  return option.role == "capacity" and 1 / regularisation or regularisation
end

--- candidates.solver_with(p, regularisation): the pipeline's solver with that much regularisation,
--- by the option above.
function candidates.solver_with(p, regularisation)
  local option = candidates.regularisation(p.solver)
  return component.with_settled(p.solver, option.name, candidates.value(option, regularisation))
end

-- For each row: 1 if its label is wrong, plus at most 1e-4, which grows with the square loss. The
-- second term adds up to less than half a label in 4000 rows, and decides only between candidates
-- with equally many wrong labels.
local function wrong_labels(decisions, wanted, squares)
  local wrong
  if wanted:cols() == 1 then
    wrong = decisions:mul(wanted):map(function(v) return v > 0 and 0 or 1 end)
  else
    wrong = (decisions:argmax(2) - wanted:argmax(2)):map(function(v) return v == 0 and 0 or 1 end)
  end
  return wrong + squares:map(function(v) return 1e-4 * v / (1 + v) end)
end

-- The square losses of scores of classes, cut off at -1 and 1: beyond its own class's value a score
-- is no worse, and a wrong one is one wrong label, however large (Steinwart and Christmann 2008,
-- section 2.2).
local function clipped_squares(decisions, wanted)
  local gap = ((decisions + 1):abs() - (decisions - 1):abs()) * 0.5 - wanted
  return gap:mul(gap):sum(2)
end

-- The losses of rows (n x 1): the solver's own loss where it declares one, because its scores may
-- be margins (hinge loss), log-odds (log loss), quantiles or logarithms of means, which the square
-- loss would take for wrong predictions. Else the square loss; of a classification, where it is
-- what solvers that regularise minimise, clipped. Models of other solvers (votes, counts, margins
-- of a support vector machine) have scores of any size: their wrong labels count.
local function losses_of_rows(p, solver, decisions, wanted, task)
  local gap = decisions - wanted
  local squares, facts = gap:mul(gap):sum(2), core.solver_facts(solver)
  if facts.has_loss then return core.losses(solver, decisions, wanted) end
  if task ~= "classification" then return squares end
  local option = candidates.regularisation(p.solver)
  local votes = facts.makes_models and not (option and option.role == "regularisation")
  return votes and wrong_labels(decisions, wanted, squares) or clipped_squares(decisions, wanted)
end

-- Appends the loss of each row by each candidate (n x 1) to a list. decisions: n x (count c).
local function add_losses(list, p, decisions, wanted, task, count)
  local n, c, solver = wanted:rows(), wanted:cols(), component.instance(p.solver)
  for k = 1, count do
    local some = decisions:slice(1, n, (k - 1) * c + 1, k * c)
    list[#list + 1] = losses_of_rows(p, solver, some, wanted, task)
  end
end

--- candidates.fits(p, training, without, lambda, values): fits of a training without a fold, one
--- for each value of the solver's option `lambda` (values = nil: one of the solver as it is).
function candidates.fits(p, training, without, lambda, values)
  local solver = component.instance(p.solver)
  if not values or core.solver_facts(solver).sparse_path_option == lambda then
    return core.solve(training, solver, without, values)
  end
  local fits = {}
  for k, value in ipairs(values) do
    fits[k] = core.solve(training, component.instance(candidates.solver_with(p, value)),
      without)[1]
  end
  return fits
end

local MOST = 2 ^ 24 -- decisions in memory at once

--- candidates.judge(p, prepared, fits, ds): what the rows of a data set with weights say of fits,
--- after stages and map: a judgement.
function candidates.judge(p, prepared, fits, ds)
  local walk <close> = core.training(dataset.source_of_targets(ds), prepared.stages, prepared.map,
    { classes = ds.task == "classification" and #ds.classes or 0, dtype = p.dtype,
      block = p.block, quiet = true })
  local list, at = {}, 1
  local columns = ds.task == "classification" and #ds.classes > 2 and #ds.classes or ds.y:cols()
  local together = math.max(1, MOST // (#ds * columns))
  while at <= #fits do
    local some = table.move(fits, at, math.min(#fits, at + together - 1), 1, {})
    local decisions, wanted = core.decisions_apart(walk, { some })
    add_losses(list, p, decisions, wanted, ds.task, #some)
    at = at + #some
  end
  return { losses = core.hcat(table.unpack(list)), weights = ds.weights, groups = ds.groups }
end

--- candidates.below(list): judgements of the same candidates by different rows as one.
function candidates.below(parts)
  local losses, weights_of, groups = {}, {}, {}
  for k, part in ipairs(parts) do
    losses[k], weights_of[k], groups[k] = part.losses, part.weights, part.groups
  end
  return { losses = core.vcat(table.unpack(losses)), weights = core.vcat(table.unpack(weights_of)),
    groups = groups[1] and core.vcat(table.unpack(groups)) }
end

--- candidates.beside(list): judgements of different candidates by the same rows as one.
function candidates.beside(parts)
  local losses = {}
  for k, part in ipairs(parts) do losses[k] = part.losses end
  return { losses = core.hcat(table.unpack(losses)), weights = parts[1].weights,
    groups = parts[1].groups }
end

--- candidates.only(judged, k): the judgement on candidate k alone.
function candidates.only(judged, k)
  return { losses = judged.losses:column(k), weights = judged.weights, groups = judged.groups }
end

--- candidates.means(judged): the weighted mean loss of each candidate, a list.
function candidates.means(judged)
  local sums, list = judged.weights:t() * judged.losses, {}
  for k = 1, sums:cols() do list[k] = sums:get(1, k) / judged.weights:sum() end
  return list
end

-- The sum of the squares of numbers (n x 1): of their sums in each group, where there are groups.
local function sum_of_squares(numbers, groups)
  local place, sums, total = {}, {}, 0
  for i = 1, groups and numbers:rows() or 0 do
    local group = groups:get(i, 1)
    place[group] = place[group] or #sums + 1
    sums[place[group]] = (sums[place[group]] or 0) + numbers:get(i, 1)
  end
  if #sums < 2 then return numbers:mul(numbers):sum() end
  for _, sum in ipairs(sums) do total = total + sum * sum end
  return total
end

--- candidates.difference(judged, k, best): the mean loss of candidate k less the one of candidate
--- `best`; second: the standard error of this difference, which is taken row by row:
---
---   d_i = loss_k(i) - loss_best(i),  m = sum w_i d_i / W,  se = sqrt(sum (w_i (d_i - m))^2) / W
---
--- Rows of a group are not independent: there the square is that of the sum over the group (Liang
--- and Zeger 1986). Rows are distinct, so copies and weights give the same.
function candidates.difference(judged, k, best)
  local gaps, total = judged.losses:column(k) - judged.losses:column(best), judged.weights:sum()
  local mean = (judged.weights:t() * gaps):sum() / total
  local squares = sum_of_squares((gaps - mean):mul(judged.weights), judged.groups)
  return mean, math.sqrt(squares) / total
end

--- candidates.least_of(list): the place of the least number, and the number; nil if none is finite.
function candidates.least_of(list)
  local best, least = nil, math.huge
  for k, value in ipairs(list) do
    if value < least then best, least = k, value end
  end
  return best, least
end

--- candidates.largest_of_best(judged, values): the place of the largest of the values whose loss is
--- at most a standard error above the least; nil if no loss is finite. Second: the least loss.
--- Third: its place.
function candidates.largest_of_best(judged, values)
  local best, least = candidates.least_of(candidates.means(judged))
  local chosen = best
  for k, value in ipairs(best and values or {}) do
    if value > values[chosen] then
      local mean, error = candidates.difference(judged, k, best)
      if mean <= error then chosen = k end
    end
  end
  return chosen, least, best
end

return candidates
