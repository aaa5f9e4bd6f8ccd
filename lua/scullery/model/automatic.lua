--- The choice of options that were not given and depend on the data: the width of the features, and
--- the solver's regularisation. p:fit chooses them by the loss on held-out rows.
---
--- Width and regularisation are chosen together on a sample of at most ROWS distinct rows and at
--- most FEATURES parameters: the width that the "median" rule gives, times some of FACTORS, with
--- a few values of the regularisation, then the regularisation for that width. Where a solver takes
--- many values at once, all rows choose it instead if there are more than the sample has, or
--- LEAST_ROWS and the width was given: judged on one fold of up to JUDGES rows; the sums over the
--- rows are those of the fit.
---
--- Two rules guard the regularisation against rows far from all others, where a model with large
--- coefficients predicts values beyond any target. A few rows that judge may have none of them, so
--- in the sample each row judges once, in the fold that it is left out of, where the solver takes
--- many values at once. And of the values whose losses do not differ beyond chance the largest is
--- taken: the rule of one standard error (Breiman, Friedman, Olshen and Stone 1984, section 3.4.3),
--- for the differences of the losses row by row.
---
--- The sample is chosen by the contents of rows (core.distinct_rows), and rows are judged with
--- their weights. So the choice depends neither on the order of rows nor on whether equal rows come
--- as copies or as weights.
local candidates = require "scullery.model.candidates"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local growing = require "scullery.model.growing"
local growing_fits = require "scullery.model.growing_fits"
local instantiation = require "scullery.compose.instantiation"
local options = require "scullery.base.options"
local progress = require "scullery.base.progress"
local warn = require "scullery.base.warn"
local recipe = require "scullery.model.recipe"
local sample = require "scullery.model.sample"
local trials = require "scullery.model.trials"
local weights = require "scullery.model.weights"

-- chooses: false keeps the declared defaults, for tests of components with exactly these.
local automatic = { chooses = true }

local ROWS, KERNEL_ROWS = 4000, 1000
local JUDGES, MOST_NUMBERS = 16000, 2 ^ 22 -- rows whose first fold judges all others; their entries
local MEDIAN_ROWS = 500 -- the distances of all pairs of them have the median of the rule
local FACTORS, FIRST = { 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4 }, 4
local FEATURES, FEW_FEATURES, LEAST_FEATURES, MANY_ROWS = 500, 200, 200, 1500
local LAMBDA_FEATURES = 350 -- of a solver of a path, where no sums over the rows are ready
-- By the role of the option, the values of regularisation: all; few beside each width; and the
-- first. The value of a capacity (C) is the inverse of these.
local GRIDS = {
  regularisation = { all = { 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1 },
    few = { 1e-8, 1e-6, 1e-4, 1e-2 }, first = 1e-4 },
  capacity = { all = { 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100 }, few = { 1e-3, 0.1, 1, 10 },
    first = 1 },
}
local LEAST_ROWS = 2000 -- of a fit whose own sums choose its regularisation, where it alone is open
local WIDTH_FOLDS = 3
local FOLDS = sample.FOLDS

--- automatic.open(p): what p:fit chooses from the data: see trials.open.
function automatic.open(p) return automatic.chooses and trials.open(p) or nil end

-- The values of regularisation that are tried: see GRIDS.
local function grid_of(p) return GRIDS[candidates.regularisation(p.solver).role] end

-- A component whose width is a rule ("median", "scale"), with the width that the rule gives on the
-- first `most` rows of the sample.
local function settled_on_sample(p, part, few, folding, known, most)
  local made = recipe.learns_from_targets(p)
    and select(3, trials.part_without(p, few, folding.ids, 1, known))
    or trials.stages_on_sample(p, few, folding)
  local some = most and #few > most and sample.first(few, most) or few
  return component.settled(part, { core.widths(dataset.source_of_targets(some), made) })
end

-- The width by the "median" rule, in the option's own unit.
local function median_width(p, open, few, folding, known)
  local part = component.with(p.features.inst[open.part], open.width, "median")
  local settled = settled_on_sample(p, part, few, folding, known, MEDIAN_ROWS)
  return core.settings(settled.made)[open.width]
end

-- Seeks the minimum of loss_of(1 .. count): a walk from place `at` upwards while the loss falls;
-- downwards if that led to no lower one. loss_of returns the loss, and whether the walk goes on
-- all the same.
local function walk(count, at, loss_of)
  local best, least = at, math.huge
  local function falls(place)
    if place < 1 or place > count then return false end
    local loss, on = loss_of(place)
    local less = loss < least
    if less then best, least = place, loss end
    return less or on
  end
  falls(at)
  local up, down = at + 1, at - 1
  while falls(up) do up = up + 1 end
  while best <= at and falls(down) do down = down - 1 end
end

-- A value of the regularisation near `first`, the least loss and the judgement on the value: for a
-- width the value of least loss, else the largest of the best. A solver of a path gets several
-- values at once, in steps of a factor; others get one of `values` after the other, as long as the
-- loss falls.
local function best_value(p, open, first, judged, o)
  if not open.lambda then
    local seen = judged()
    return nil, candidates.means(seen)[1], seen
  end
  if open.path then
    local value, seen, least = trials.walk(p, first, judged, o)
    return value, least, seen
  end
  local tried, parts, gaps = {}, {}, {}
  for k, value in ipairs(o.values) do gaps[k] = math.abs(math.log(value / first)) end
  -- Losses of fits to a tolerance are off by about that: such a difference does not end the walk.
  local from, so_far = candidates.least_of(gaps), math.huge
  local noise = component.role_value(p.solver, "tolerance") or 0
  walk(#o.values, from, function(k)
    tried[#tried + 1], parts[#parts + 1] = o.values[k], judged{ o.values[k] }
    local loss = candidates.means(parts[#parts])[1]
    so_far = math.min(so_far, loss)
    return loss, k > from and loss - so_far <= noise * math.abs(so_far)
  end)
  local place, least, best = candidates.largest_of_best(candidates.beside(parts), tried)
  place = o.least and best or place
  return tried[place], least, parts[place]
end

-- The values within a factor 100 of this one.
local function near(values, wanted)
  local list = {}
  for _, value in ipairs(values) do
    if math.abs(math.log(value / wanted, 10)) < 2.1 then list[#list + 1] = value end
  end
  return list
end

-- The number of parameters of candidates: at most half of those of the fit, but for LEAST_FEATURES.
local function features_of(p, most)
  local T = p.features and math.type(p.features.T) == "integer" and p.features.T or math.huge
  return math.min(most, math.max(T // 2, LEAST_FEATURES))
end

-- Whether the losses of one judgement are at most a standard error larger than those of another, of
-- the same rows.
local function alike(one, other)
  local mean, error = candidates.difference(candidates.beside{ one, other }, 1, 2)
  return mean <= error
end

-- As best_value, for one width and a solver of a path, with fewer fits: the first fold finds the
-- regularisation; the others judge it and ten times it, because the first may have no row far from
-- all others. nil if the width is worse beyond chance on the first fold than `best`, a judgement by
-- all folds. This is enough to compare widths; the regularisation is chosen afterwards.
local function best_by_turns(p, first, judged, o, best)
  local value, seen, _, tried = trials.walk(p, first, function(values)
    return judged(values, 1, 1)
  end, o)
  if not seen or best and not alike(seen, best.first) then return nil end
  local values, parts = {}, {}
  for k, other in ipairs(tried.values) do
    if other > value / 2 and other < 20 * value then
      values[#values + 1], parts[#parts + 1] = other, candidates.only(tried.seen, k)
    end
  end
  local one = candidates.beside(parts)
  local rest = judged(values, 2)
  local all = rest and candidates.below{ one, rest } or one
  local place, loss = candidates.least_of(candidates.means(all))
  if not place then return nil end
  local chosen = candidates.only(all, place)
  chosen.first = candidates.only(one, place)
  return values[place], loss, chosen
end

-- The width on the sample, upwards or downwards from FIRST on until the loss is worse beyond
-- chance, with few values of the regularisation for each. For a solver of a path more folds judge,
-- with the features of the choice that follows, where there are many rows: with few it would take
-- many times as long as the fit. In all other cases fewer features and folds do. Second: what was
-- made with that width (trials.sampled), if it serves that choice too, or nil.
local function choose_width(p, open, few, folding, known)
  local median, many = median_width(p, open, few, folding, known), #few > MANY_ROWS
  local thorough = open.path and many
  local most = thorough and WIDTH_FOLDS or many and 1 or 2
  local features = features_of(p, thorough and FEATURES or FEW_FEATURES)
  local grid = open.lambda and grid_of(p)
  local steps = grid and { values = trials.allowed(p, grid.few), low = grid.all[1],
    high = grid.all[#grid.all], least = true, from = -2 }
  local least, chosen, nearby, kept = math.huge, {}, grid and grid.first, nil
  walk(#FACTORS, FIRST, function(place)
    local factor = FACTORS[place]
    local tried = trials.filled(p, open, { width = median * factor }, features)
    -- A kernel half as wide takes about ten times the regularisation.
    if chosen.lambda and open.path then
      steps.from = -1
      nearby = math.max(steps.low, math.min(steps.high,
        chosen.lambda * (factor / chosen.factor) ^ math.log(10, 2)))
    end
    local function value_of(judged)
      if open.path and open.lambda then
        return best_by_turns(p, nearby, judged, steps, chosen.seen)
      end
      return best_value(p, open, nearby, judged, steps)
    end
    local made = trials.sampled(tried, few, folding)
    local lambda, loss, seen =
      trials.on_sample(tried, few, folding, open, most, known, value_of, made)
    nearby = lambda or nearby
    local better = loss and loss < least
    local on = loss and not better and chosen.seen and alike(seen, chosen.seen)
    if better then
      least = loss
      chosen = { width = median * factor, factor = factor, lambda = lambda, seen = seen }
    end
    if better and thorough then kept, made = made, kept end
    local _ <close> = made and made.training
    return loss or math.huge, on
  end)
  chosen.seen = nil
  return chosen, kept
end

-- Width and regularisation on the sample: the width, then the regularisation for it. Sums over the
-- rows make folds cheap for a solver of a path: all of them judge. again: all rows choose the
-- regularisation after this, which is then the one found beside the width, or the first.
local function choose_on_sample(p, open, few, folding, again)
  local known = {}
  p = trials.filled(p, {}, {})
  if not p.features and component.waiting(p.solver) then
    p.solver = settled_on_sample(p, p.solver, few, folding, known)
  end
  p.solver = trials.rough(p.solver)
  local chosen, ready = {}, nil
  if open.width then chosen, ready = choose_width(p, open, few, folding, known) end
  local _ <close> = ready and ready.training
  if not open.lambda or open.width and not chosen.width then return chosen end
  local grid, first, many = grid_of(p), chosen.lambda or grid_of(p).first, #few > MANY_ROWS
  if again then
    chosen.lambda = first
    return chosen
  end
  local steps = { values = trials.allowed(p, grid.all), from = -2, high = grid.all[#grid.all] }
  if chosen.lambda then
    steps.values = near(steps.values, first)
    steps.from, steps.to, steps.step = -1, 3, 10 ^ 0.5
  end
  local most_features = FEATURES
  if open.path and not ready then most_features = many and LAMBDA_FEATURES or LEAST_FEATURES end
  local tried = trials.filled(p, { part = open.part, width = open.width }, chosen,
    features_of(p, most_features))
  local most = not open.path and many and 2 or FOLDS
  chosen.lambda = trials.on_sample(tried, few, folding, open, most, known, function(judged)
    return best_value(tried, open, first, judged, steps)
  end, ready)
  return chosen
end

-- The regularisation again, on all rows: by models of the first half of the parameters where that
-- needs no other sums, each an eighth of the work of a fit. Second: stages, map and training of all
-- rows.
local function choose_on_all(p, opened, open, all, chosen, stored)
  local _ <close> = progress.level{ name = "choosing " .. open.lambda, total = 1 }
  local ready = trials.train(all, p, nil, stored and stored:begin(trials.PART_ON_ALL), true)
  local best = trials.kept_in(stored, "regularisation on all rows", function()
    local half, few = trials.half(all, p, ready)
    local _ <close> = few and few.training
    local judged = trials.judge_of(all, half or p, open, few or ready)
    local steps = open.width and {} or { from = -2, high = 1 }
    return { value = trials.walk(opened, chosen.lambda, judged, steps) }
  end).value
  return best or chosen.lambda, ready
end

-- The sentence of p:info().chosen. rows: how many of the n rows chose.
local function about(p, open, chosen, rows, n, growth)
  local said = {}
  if open.width then
    said[1] = ("%s = %.4g (%g times the median rule)"):format(open.width, chosen.width,
      chosen.factor)
  end
  if open.lambda then
    said[#said + 1] = ("%s = %.3g"):format(open.lambda,
      candidates.value(candidates.regularisation(p.solver), chosen.lambda))
  end
  if growth then
    said[#said + 1] = ("T = %d (%d to %d tried: %s)"):format(chosen.T, growth[1].T,
      growth[#growth].T, growth.ended)
  end
  return ("%s, chosen on %d of %d rows"):format(table.concat(said, ", "), rows, n)
end

-- Whether the rows of the sample, with all their copies, have less than two thirds of the weight of
-- all rows.
local function beyond_sample(p, ds, few)
  local all = weights.of(ds, p.class_weights)
  return (all and all:sum() or #ds) > 1.5 * few.weights:sum()
end

-- Whether the sums of the fit pay for the choice of the regularisation alone, on a sample that has
-- all rows: where a fifth of them can judge, and the fit goes by sums over its rows.
local function sums_pay(p, few)
  return #few >= LEAST_ROWS and trials.has_half(p) and #few > 1.2 * p.features.T
end

-- { chosen = { width, factor, lambda }, the choice on a sample; few = the sample; folding = its
-- folds; judges = the rows that judge beside all rows if these are to choose (`all`; the sample is
-- the first of them); of = for each row of ds the number of its distinct row among these, or 0 }.
-- nil if there are too few rows, or no candidate had a finite loss; nil and a sentence if no fold
-- leaves two classes to learn from.
local function find(p, open, ds, all, stored)
  local path = core.solver_facts(component.instance(p.solver)).path_option
  open.path = path ~= nil and path == open.lambda -- takes many values at once
  local most, _, d = p.features and ROWS or KERNEL_ROWS, ds:size()
  local again = all and p.features and (open.path or open.T)
  local more = again and math.min(JUDGES, MOST_NUMBERS // d) or 0
  local judges, of = sample.of(p, ds, math.max(most, more))
  local few = #judges > most and sample.first(judges, most) or judges
  if #few < 2 * FOLDS then return nil end
  local folding = {}
  folding.ids, folding.together = sample.folds(few)
  folding.judged = sample.judged(few, folding.ids)
  if #folding.judged == 0 then
    return nil, ("no part of the %d rows of the sample leaves rows of two classes to learn \z
      from"):format(#few)
  end
  local beyond = beyond_sample(p, ds, few)
  local rows = again and open.path and not open.T
    and (beyond or not open.width and sums_pay(p, few))
    and trials.all_rows(ds, judges, of, beyond and FEATURES or LAMBDA_FEATURES) or nil
  local chosen = trials.kept_in(stored, "choice on a sample", function()
    return choose_on_sample(p, open, few, folding, rows)
  end)
  if not chosen.lambda and open.lambda or not chosen.width and open.width then return nil end
  return { chosen = chosen, few = few, folding = folding, judges = judges, of = of, all = rows }
end

-- find(), which returns nil and the message if it raised an error about rows. Such a message would
-- mislead: rows of the sample have other numbers than those of the data. The fit with the declared
-- defaults that follows either raises its own error or is reported to have these defaults. All
-- other errors are raised. T = "auto" takes as many landmarks as there are rows in a fold.
local function try_to_find(p, open, ds, all, stored)
  local found = table.pack(options.attempt(find, p, open, ds, all, stored))
  if found[1] then return table.unpack(found, 2, found.n) end
  local message = options.plain(found[2])
  local most = open.T and growing.rows_for(message)
  if most then return try_to_find(trials.filled(p, {}, { T = most }), open, ds, all, stored) end
  if not message:find "%f[%a]rows?%f[%A]" then error(found[2], 0) end
  return nil, message
end

-- Warns that options keep their defaults because no value could be chosen.
local function warn_of_defaults(open, message)
  local names = {}
  names[1] = open.width
  names[#names + 1] = open.lambda
  names[#names + 1] = open.T and "T"
  warn(("%s could not be chosen, and the declared default is used: %s"):format(
    table.concat(names, " and "), message))
end

--- automatic.fill(p, ds[, stored]): for a search: the pipeline with the options that p:fit would
--- choose, with the first value of each searched one, and the searched ones as they are. Second:
--- what was chosen, as automatic.choose returns it, or nil. stored: a checkpoint (checkpoint.lua).
function automatic.fill(p, ds, stored)
  local open, began = automatic.open(p), { growing.now() }
  if not open then return p, nil end
  if open.T then growing_fits.check(p, ds) end
  local first = trials.filled(p, {}, {})
  local found = try_to_find(first, open, ds, open.T, stored)
  if not found and not open.T then return p, nil end
  local copy, growth = setmetatable({}, recipe.class), nil
  for key, value in pairs(p) do copy[key] = value end
  local chosen = found and found.chosen or { T = growing.first(trials.least_T(p)) }
  if found and open.T then
    growth = growing_fits.run(first, open, ds, found, { began = began, stored = stored })
  end
  if open.T or open.width then
    local part = open.part or "p"
    local inside = p.features.inst[part]
    copy.features = instantiation.with_part(p.features, part,
      chosen.width and component.with(inside, open.width, chosen.width) or inside)
    if open.T then copy.features.T = chosen.T end
  end
  if open.lambda and found then
    copy.solver = candidates.solver_with(p, chosen.lambda)
  end
  return copy, found and { about = about(p, open, chosen, #found.few, #ds, growth),
    growth = growth }
end

--- automatic.choose(p, ds[, stored, budget]): the pipeline with the open options filled in, to be
--- fitted to ds. Second: what was chosen, { about = a sentence, growth = that of T, or nil }.
--- Third: stages, map and training of all rows, if they were made. Fourth: a function to call after
--- the fit, or nil: it warns that nothing could be chosen. stored: a checkpoint (checkpoint.lua).
--- budget: of T = "auto" (growing.rule).
function automatic.choose(p, ds, stored, budget)
  local open, began = automatic.open(p), { growing.now() }
  if open.T then growing_fits.check(p, ds) end
  local n, found, message = #ds, try_to_find(p, open, ds, true, stored)
  if not found then
    return trials.filled(p, {}, { T = growing.first(trials.least_T(p)) }), nil, nil,
      message and function() warn_of_defaults(open, message) end
  end
  local chosen, growth, ready = found.chosen, nil, nil
  if open.T then
    growth, ready = growing_fits.run(p, open, ds, found,
      { budget = budget, began = began, stored = stored, resumed = stored ~= nil })
  elseif found.all then
    local opened = trials.filled(p, open, chosen)
    chosen.lambda, ready = choose_on_all(opened, p, open, found.all, chosen, stored)
  end
  local rows = found.all and not open.width and n or #found.few
  local said = about(p, open, chosen, rows, n, growth)
  if ready and recipe.learns_from_targets(p) then -- its stages know nothing of the rows that judged
    local _ <close> = ready.training
    ready = nil
  end
  return trials.filled(p, open, chosen), { about = said, growth = growth }, ready
end

--- automatic.as_fitted(p): the recipe with the options that its fit chose.
function automatic.as_fitted(p)
  local f = p.fitted
  if not (f and f.open) then return p end
  local copy = trials.filled(p, {}, {})
  copy.features, copy.solver = f.features, f.solver
  return copy
end

--- automatic.reopened(p, open): the recipe in which these options are to be chosen again by a fit.
function automatic.reopened(p, open)
  local copy = trials.filled(p, {}, {})
  if open.part and open.width and copy.features then
    local inst = copy.features.inst
    inst[open.part] = component.with(inst[open.part], open.width, nil)
  end
  if open.lambda and copy.solver then
    copy.solver = component.with(copy.solver, open.lambda, nil)
  end
  if open.T and copy.features then copy.features.T = "auto" end
  return copy
end

return automatic
