--- The choice of options that were not given and depend on the data: the width of the features, and
--- the solver's regularisation. p:fit chooses them by the loss on held-out rows.
---
--- Width and regularisation are chosen together on a sample of at most ROWS distinct rows and at
--- most FEATURES parameters: the width that the "median" rule gives, times each of FACTORS, with
--- values of GRIDS. With more rows than the sample has, the regularisation is then chosen again on
--- all rows, from the first choice on, judged on one fold of up to JUDGES rows; its sums over the
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
local instantiation = require "scullery.compose.instantiation"
local options = require "scullery.base.options"
local warn = require "scullery.base.warn"
local folds = require "scullery.data.folds"
local recipe = require "scullery.model.recipe"
local targets = require "scullery.data.targets"
local weights = require "scullery.model.weights"

-- chooses: false keeps the declared defaults, for tests of components with exactly these.
local automatic = { chooses = true }

local ROWS, KERNEL_ROWS = 4000, 1000
local JUDGES, MOST_NUMBERS = 16000, 2 ^ 22 -- rows whose first fold judges all others; their entries
local FACTORS, BELOW, ABOVE = { 1 / 8, 1 / 4, 1 / 2, 1, 2 }, 1 / 16, 4
local FEATURES, FEW_FEATURES, MANY_ROWS = 500, 300, 1500
-- By the role of the option, the values of regularisation: all; many and few beside each width, for
-- solvers of a path and others; and the first of solvers that solve for one value at a time. The
-- value of a capacity (C) is the inverse of these.
local GRIDS = {
  regularisation = { all = { 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1 },
    many = { 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2 }, few = { 1e-8, 1e-6, 1e-4, 1e-2 },
    first = 1e-4 },
  capacity = { all = { 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100 },
    many = { 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100 }, few = { 1e-3, 0.1, 1, 10 }, first = 1 },
}
local WIDTH_FOLDS = 3
local STEP, MOST_STEPS = 10, 5 -- on all rows: from the value of the sample, both ways
local FOLDS = 5

-- ---------------------------------------------------------------- what is to be chosen

-- The name of the option for the width of a component, if it may be "median" and no width was
-- given; else nil. A width may also have been given by another option (gamma for sigma, theta for
-- width): the component refuses two, which the trial instance shows.
local function open_width(part)
  local name
  for _, option in ipairs(core.plugin_info(part.kind, part.name).options) do
    if option.takes:find('"median"', 1, true) then
      if part.given[option.name] ~= nil then return nil end
      name = name or option.name
    end
  end
  return name and pcall(component.instance, component.with(part, name, 1)) and name or nil
end

-- The part of the features whose width is to be chosen ("p" or "phi"), and the name of the option;
-- nil if there is none. With a K there are two widths that depend on each other: both keep their
-- defaults.
local function width_of(features)
  if not features or features.inst.K then return nil end
  for _, name in ipairs{ "p", "phi" } do
    local part = features.inst[name]
    local option = part and open_width(part)
    if option then return name, option end
  end
end

-- The solver's option of regularisation (a row of core.plugin_info), if it was not given; or nil.
local function open_lambda(solver)
  local option = candidates.regularisation(solver)
  return option and solver.given[option.name] == nil and option or nil
end

-- The values of regularisation that are tried: see GRIDS.
local function grid_of(p) return GRIDS[candidates.regularisation(p.solver).role] end

-- The pipeline's solver with that much regularisation, by its open option.
local function solver_with(p, regularisation)
  local option = candidates.regularisation(p.solver)
  return component.with(p.solver, option.name, candidates.value(option, regularisation))
end

-- The values of regularisation for which the open option is in its range.
local function allowed(p, values)
  local option, list = open_lambda(p.solver), {}
  for _, regularisation in ipairs(values) do
    local value = candidates.value(option, regularisation)
    local inside = value > option.low or value == option.low and not option.low_open
    local below = value < option.high or value == option.high and not option.high_open
    if inside and below then list[#list + 1] = regularisation end
  end
  return list
end

--- automatic.open(p): what p:fit chooses from the data: { part =, width =, lambda = }, the names of
--- options; nil if there is nothing.
function automatic.open(p)
  if not automatic.chooses or not p.solver then return nil end
  local part, width = width_of(p.features)
  local lambda = open_lambda(p.solver)
  if not (width or lambda) then return nil end
  return { part = part, width = width, lambda = lambda and lambda.name }
end

-- True if a stage after the features names some of them, so that their number cannot change.
local function names_features(p)
  for _, stage in ipairs(p.after) do if stage.kind == "select" then return true end end
  return false
end

-- A copy of the pipeline with the width and the regularisation filled in, and at most T parameters.
local function filled(p, open, chosen, T)
  local copy = setmetatable({}, recipe.class)
  for key, value in pairs(p) do copy[key] = value end
  copy.fitted, copy.data = nil, nil
  if p.features then
    copy.features = instantiation.resolved(p.features, {})
    if open.width and chosen.width then
      copy.features.inst[open.part] = component.with(copy.features.inst[open.part], open.width,
        chosen.width)
    end
    if T and copy.features.T and copy.features.T > T and not names_features(p) then
      copy.features.T = T
    end
  end
  if open.lambda and chosen.lambda then
    copy.solver = solver_with(p, chosen.lambda)
  end
  return copy
end

-- ---------------------------------------------------------------- rows to choose by

-- At most `most` distinct rows as a data set in the order of their hashes, so that the first rows
-- are a smaller sample; second: for each row of ds the number of its distinct row, or 0.
local function sample_of(p, ds, most)
  local source = ds.X and core.source(ds.X, ds.y) or ds.source
  if ds.places then source = core.source_columns(source, ds.places) end
  local found = core.distinct_rows(source, {}, most, weights.of(ds, p.class_weights))
  local few = dataset.with(ds, { X = found.X, y = found.y, weights = found.weights,
    groups = ds.groups and ds.groups:select(found.rows),
    time = ds.time and ds.time:select(found.rows) })
  few.source, few.places, few.part_rows = nil, nil, nil
  return few, found.of
end

-- The rows of each class (of all rows in a regression), in the order of the sample.
local function strata_of(few)
  local lists, place = {}, few.task == "classification" and targets.places(few.classes)
  for k = 1, place and #few.classes or 1 do lists[k] = {} end
  for i = 1, #few do
    local k = place and place[few.y:get(i, 1)] or 1
    lists[k][#lists[k] + 1] = i
  end
  return lists
end

-- The fold of each row of the sample. With two groups or more, groups stay together. Else the rows
-- of each class, in the order of their hashes, are assigned to the folds in turn; a class with
-- fewer rows than folds continues where the last small class ended. Second: whether groups stay
-- together.
local function folds_of(few)
  local seen, k = {}, 0
  for i = 1, few.groups and #few or 0 do
    local value = few.groups:get(i, 1)
    if not seen[value] then seen[value], k = true, math.min(k + 1, FOLDS) end
  end
  if k >= 2 then return folds.of(few, { folds = k, seed = 0, quiet = true }), true end
  local ids, next_fold = {}, 0
  for _, rows in ipairs(strata_of(few)) do
    local first = #rows < FOLDS and next_fold or 0
    for at, i in ipairs(rows) do ids[i] = (first + at - 1) % FOLDS + 1 end
    if #rows < FOLDS then next_fold = next_fold + #rows end
  end
  return ids, false
end

-- The folds that can be judged: those that leave rows of at least two classes to learn from.
local function judged_folds(few, ids)
  local held, strata, list = {}, strata_of(few), {}
  for k, rows in ipairs(strata) do
    held[k] = {}
    for _, i in ipairs(rows) do held[k][ids[i]] = (held[k][ids[i]] or 0) + 1 end
  end
  for f = 1, folds.number(ids) do
    local left, inside = 0, false
    for k, rows in ipairs(strata) do
      local count = held[k][f] or 0
      inside = inside or count > 0
      if count < #rows then left = left + 1 end
    end
    if inside and left >= math.min(#strata, 2) then list[#list + 1] = f end
  end
  return list
end

-- Fits of a training without a fold, one for each value of the regularisation (nil: one of the
-- solver as it is).
local function fits_of(p, training, without, lambda, values)
  local solver = component.instance(p.solver)
  if not values or core.solver_facts(solver).path_option == lambda then
    return core.solve(training, solver, without, values)
  end
  local fits = {}
  for k, value in ipairs(values) do
    fits[k] = core.solve(training, component.instance(solver_with(p, value)), without)[1]
  end
  return fits
end

-- ---------------------------------------------------------------- choosing

-- The rows of the sample without fold f, and the row stages fitted to them, which `known` stores.
local function part_without(p, few, ids, f, known)
  local inside = folds.rows(ids, f)
  local part = few:select(inside)
  local source = dataset.source_of_targets(part)
  known[f] = known[f] or recipe.fit_stages(p, source)
  return part, source, known[f]
end

-- The width by the "median" rule, in the option's own unit.
local function median_width(p, open, few, ids, known)
  local source = dataset.source_of_targets(few)
  local made = recipe.learns_from_targets(p) and select(3, part_without(p, few, ids, 1, known))
    or recipe.fit_stages(p, source)
  local part = component.with(p.features.inst[open.part], open.width, "median")
  local settled = component.settled(part, { core.widths(source, made) })
  return core.settings(settled.made)[open.width]
end

-- The judgement of on_sample below, for row stages that learn from the targets: they are fitted
-- again without each fold.
local function try_apart(p, few, folding, open, values, most, known)
  local parts = {}
  for k = 1, math.min(most, #folding.judged) do
    local f = folding.judged[k]
    local part, source, made = part_without(p, few, folding.ids, f, known)
    local prepared = recipe.prepare(p, source, nil, made)
    local training <close> = core.training(source, made, prepared.map,
      { classes = part.task == "classification" and #part.classes or 0, dtype = p.dtype,
        block = p.block, allowance = p.allowance, weights = part.weights, quiet = true })
    local fits = fits_of(p, training, 0, open.lambda, values)
    local _, outside = folds.rows(folding.ids, f)
    parts[k] = candidates.judge(p, prepared, fits, few:select(outside))
  end
  return candidates.below(parts)
end

-- Calls use(judged), where judged(values) is the judgement of the rows of the first `most` of the
-- judged folds on each value of the regularisation (nil: on the pipeline as it is). Returns what it
-- returns. known: fitted row stages of each fold.
local function on_sample(p, few, folding, open, most, known, use)
  if recipe.learns_from_targets(p) then
    return use(function(values) return try_apart(p, few, folding, open, values, most, known) end)
  end
  local source, judged = dataset.source_of_targets(few), folding.judged
  local prepared = recipe.prepare(p, source)
  local training <close> = core.training(source, prepared.stages, prepared.map,
    { classes = few.task == "classification" and #few.classes or 0, dtype = p.dtype,
      folds = folding.ids, block = p.block, allowance = p.allowance, weights = few.weights,
      quiet = true })
  return use(function(values)
    local parts = {}
    for place = 1, math.min(most, #judged) do
      local f = judged[place]
      local _, rows = folds.rows(folding.ids, f)
      parts[place] = candidates.judge(p, prepared, fits_of(p, training, f, open.lambda, values),
        few:select(rows))
    end
    return candidates.below(parts)
  end)
end

-- The place of a minimum of loss_of(1 .. count): a walk from place `at` upwards while the loss
-- falls; downwards if the first step up did not lower it. nil if no loss is finite. Second: the
-- loss.
local function walk(count, at, loss_of)
  local best, least = nil, math.huge
  local function falls(place)
    local loss = place >= 1 and place <= count and loss_of(place) or math.huge
    local less = loss < least
    if less then best, least = place, loss end
    return less
  end
  falls(at)
  local up, down = at + 1, at - 1
  while falls(up) do up = up + 1 end
  while (best or at) <= at and falls(down) do down = down - 1 end
  return best, least
end

-- The place of the value that is nearest to this one, in orders of magnitude.
local function nearest(values, wanted)
  local gaps = {}
  for k, value in ipairs(values) do gaps[k] = math.abs(math.log(value / wanted)) end
  return candidates.least_of(gaps)
end

-- The best value of the regularisation, the least loss, and the value that has it. A solver of a
-- path gets all values at once, others one after the other from the one nearest to `first` on.
-- values: nil where none is to be chosen.
local function best_value(open, values, first, judged)
  if not values then return nil, (candidates.means(judged())[1]) end
  local tried, seen = values
  if open.path then
    seen = judged(values)
  else
    local parts = {}
    tried = {}
    walk(#values, nearest(values, first), function(k)
      tried[#tried + 1], parts[#parts + 1] = values[k], judged{ values[k] }
      return candidates.means(parts[#parts])[1]
    end)
    seen = candidates.beside(parts)
  end
  local place, least, best = candidates.largest_of_best(seen, tried)
  return tried[place], least, tried[best]
end

-- The values within a factor 100 of this one: with half steps between for a solver of a path.
local function near(p, open, wanted)
  local list = {}
  if open.path then
    for k = -4, 4 do list[#list + 1] = wanted * 10 ^ (k / 2) end
    return list
  end
  for _, value in ipairs(grid_of(p).all) do
    if math.abs(math.log(value / wanted, 10)) < 2.1 then list[#list + 1] = value end
  end
  return list
end

-- The solver for candidates: with a tolerance a thousand times larger, at most 0.01, if it has one.
-- The losses of candidates differ by more than the error that this makes.
local function rough(solver)
  local name, value = component.role(solver, "tolerance"), component.role_value(solver, "tolerance")
  if not name then return solver end
  return component.with(solver, name, math.max(value, math.min(1000 * value, 0.01)))
end

-- The width on the sample, with few values of the regularisation for each. For a solver of a path
-- more folds judge, with the features of the choice that follows, where there are many rows: with
-- few it would take many times as long as the fit. In all other cases fewer features and folds do.
-- Where the first or last factor is the best, one further is tried.
local function choose_width(p, open, few, folding, known)
  local median, many = median_width(p, open, few, folding.ids, known), #few > MANY_ROWS
  local thorough = open.path and many
  local most = thorough and WIDTH_FOLDS or many and 1 or 2
  local features = thorough and FEATURES or FEW_FEATURES
  local grid = open.lambda and grid_of(p)
  local lambdas = grid and allowed(p, thorough and grid.many or grid.few)
  local least, chosen, nearby = math.huge, {}, grid and grid.first
  local function try(factor)
    local tried = filled(p, open, { width = median * factor }, features)
    local _, loss, lambda = on_sample(tried, few, folding, open, most, known, function(judged)
      return best_value(open, lambdas, nearby, judged)
    end)
    nearby = lambda or nearby
    if loss and loss < least then
      least, chosen = loss, { width = median * factor, factor = factor, lambda = lambda }
    end
  end
  for _, factor in ipairs(FACTORS) do try(factor) end
  if chosen.factor == FACTORS[1] then try(BELOW)
  elseif chosen.factor == FACTORS[#FACTORS] then try(ABOVE) end
  return chosen
end

-- Width and regularisation on the sample: the width, then the regularisation for it. Sums over the
-- rows make folds cheap for a solver of a path: all of them judge.
local function choose_on_sample(p, open, few, folding)
  local known = {}
  p = filled(p, {}, {})
  p.solver = rough(p.solver)
  local chosen = open.width and choose_width(p, open, few, folding, known) or {}
  if not open.lambda or open.width and not chosen.width then return chosen end
  local values = allowed(p, chosen.lambda and near(p, open, chosen.lambda) or grid_of(p).all)
  local tried = filled(p, { part = open.part, width = open.width }, chosen, FEATURES)
  local most = not open.path and #few > MANY_ROWS and 2 or FOLDS
  chosen.lambda = on_sample(tried, few, folding, open, most, known, function(judged)
    return best_value(open, values, chosen.lambda or grid_of(p).first, judged)
  end)
  return chosen
end

-- 1 for each row of the data set that is among these rows of the judges, or in a group of theirs if
-- groups stay together; 2 for all others.
local function sides_of(ds, judges, rows, of, together)
  local sides, inside, groups = {}, {}, {}
  for _, i in ipairs(rows) do
    inside[i] = true
    if together then groups[judges.groups:get(i, 1)] = true end
  end
  for i = 1, #ds do
    sides[i] = (inside[math.tointeger(of:get(i, 1))] or together and groups[ds.groups:get(i, 1)])
      and 1 or 2
  end
  return sides
end

-- The best value of the regularisation: STEP times less, this value, STEP times more, and on from
-- the last one as long as it is the best; nil if no loss is finite.
local function walk_on_all(p, middle, judged)
  local values = allowed(p, { middle / STEP, middle, middle * STEP })
  local seen = judged(values)
  for _, factor in ipairs{ 1 / STEP, STEP } do
    for _ = 2, MOST_STEPS do
      local _, _, best = candidates.largest_of_best(seen, values)
      local last = (factor < 1 and math.min or math.max)(table.unpack(values))
      local more = allowed(p, { last * factor })
      if values[best] ~= last or not more[1] then break end
      seen, values[#values + 1] = candidates.beside{ seen, judged(more) }, more[1]
    end
  end
  return values[candidates.largest_of_best(seen, values)]
end

-- The result of make(), a table, which is kept in a checkpoint if there is one.
local function kept_in(stored, key, make)
  if stored then return stored:result(key, make) end
  return make()
end

-- The part of a checkpoint in which the regularisation is chosen on all rows.
local PART_ON_ALL = 2

-- The regularisation again, on all rows but those of the judges' first fold, which judge. Second:
-- stages, map and training of all rows.
local function choose_on_all(p, opened, open, ds, judges, of, chosen, stored)
  local source, ids, together = dataset.source_of_targets(ds), folds_of(judges)
  local _, rows = folds.rows(ids, judged_folds(judges, ids)[1] or 0)
  if #rows == 0 then return chosen.lambda end
  local prepared, held = recipe.prepare(p, source), judges:select(rows)
  local given = recipe.training_options(p, ds, sides_of(ds, judges, rows, of, together))
  given.checkpoint = stored and stored:begin(PART_ON_ALL)
  local training = core.training(source, prepared.stages, prepared.map, given)
  local best = kept_in(stored, "regularisation on all rows", function()
    return { value = walk_on_all(opened, chosen.lambda, function(values)
      return candidates.judge(p, prepared, fits_of(p, training, 1, open.lambda, values), held)
    end) }
  end).value
  return best or chosen.lambda, { prepared = prepared, training = training }
end

-- The first n rows.
local function first_rows(ds, n)
  local rows = {}
  for i = 1, n do rows[i] = i end
  return ds:select(rows)
end

-- The sentence of p:info().chosen.
local function about(p, open, chosen, few, n)
  local said = {}
  if open.width then
    said[1] = ("%s = %.4g (%g times the median rule)"):format(open.width, chosen.width,
      chosen.factor)
  end
  if open.lambda then
    said[#said + 1] = ("%s = %.3g"):format(open.lambda,
      candidates.value(candidates.regularisation(p.solver), chosen.lambda))
  end
  return ("%s, chosen on %d of %d rows"):format(table.concat(said, ", "), #few, n)
end

-- The choice { width, factor, lambda } on a sample, the sample, the rows that judge beside all rows
-- if these are to choose (`all`; the sample is the first of them), and for each row of ds the
-- number of its distinct row among these, or 0. nil if there are too few rows, or no candidate had
-- a finite loss; nil and a sentence if no fold leaves two classes to learn from.
local function find(p, open, ds, all, stored)
  local path = core.solver_facts(component.instance(p.solver)).path_option
  open.path = path ~= nil and path == open.lambda -- takes many values at once
  local most, _, d = p.features and ROWS or KERNEL_ROWS, ds:size()
  local more = all and open.path and p.features and math.min(JUDGES, MOST_NUMBERS // d) or 0
  local judges, of = sample_of(p, ds, math.max(most, more))
  local few = #judges > most and first_rows(judges, most) or judges
  if #few < 2 * FOLDS then return nil end
  local folding = {}
  folding.ids, folding.together = folds_of(few)
  folding.judged = judged_folds(few, folding.ids)
  if #folding.judged == 0 then
    return nil, ("no part of the %d rows of the sample leaves rows of two classes to learn \z
      from"):format(#few)
  end
  local chosen = kept_in(stored, "choice on a sample", function()
    return choose_on_sample(p, open, few, folding)
  end)
  if not chosen.lambda and open.lambda or not chosen.width and open.width then return nil end
  return chosen, few, judges, of
end

-- find(), which returns nil and the message if it raised an error about rows. Such a message would
-- mislead: rows of the sample have other numbers than those of the data. The fit with the declared
-- defaults that follows either raises its own error or is reported to have these defaults. All
-- other errors are raised.
local function try_to_find(p, open, ds, all, stored)
  local found = table.pack(options.attempt(find, p, open, ds, all, stored))
  if found[1] then return table.unpack(found, 2, found.n) end
  local message = options.plain(found[2])
  if not message:find "%f[%a]rows?%f[%A]" then error(found[2], 0) end
  return nil, message
end

-- Warns that options keep their defaults because no value could be chosen.
local function warn_of_defaults(open, message)
  local names = {}
  names[1] = open.width
  names[#names + 1] = open.lambda
  warn(("%s could not be chosen, and the declared default is used: %s"):format(
    table.concat(names, " and "), message))
end

--- automatic.fill(p, ds[, stored]): for a search: the pipeline with the options that p:fit would
--- choose, with the first value of each searched one, and the searched ones as they are. Second: a
--- sentence about the choice, or nil. stored: a checkpoint (checkpoint.lua).
function automatic.fill(p, ds, stored)
  local open = automatic.open(p)
  if not open then return p, nil end
  local chosen, few = try_to_find(filled(p, {}, {}), open, ds, false, stored)
  if not chosen then return p, nil end
  local copy = setmetatable({}, recipe.class)
  for key, value in pairs(p) do copy[key] = value end
  if open.width then
    copy.features = instantiation.with_part(p.features, open.part,
      component.with(p.features.inst[open.part], open.width, chosen.width))
  end
  if open.lambda then copy.solver = solver_with(p, chosen.lambda) end
  return copy, about(p, open, chosen, few, #ds)
end

--- automatic.choose(p, ds[, stored]): the pipeline with the open options filled in, to be fitted to
--- ds. Second: a sentence about the choice. Third: stages, map and training of all rows, if they
--- were made. Fourth: a function to call after the fit, or nil: it warns that nothing could be
--- chosen. stored: a checkpoint (checkpoint.lua).
function automatic.choose(p, ds, stored)
  local open = automatic.open(p)
  local n, chosen, few, judges, of = #ds, try_to_find(p, open, ds, true, stored)
  if not chosen then -- few is then a message, or nil
    return filled(p, {}, {}), nil, nil, few and function() warn_of_defaults(open, few) end
  end
  local ready
  if open.path and p.features and n > 1.5 * #few then
    local opened = filled(p, open, chosen)
    chosen.lambda, ready = choose_on_all(opened, p, open, ds, judges, of, chosen, stored)
  end
  return filled(p, open, chosen), about(p, open, chosen, few, n), ready
end

--- automatic.as_fitted(p): the recipe with the options that its fit chose.
function automatic.as_fitted(p)
  local f = p.fitted
  if not (f and f.open) then return p end
  local copy = filled(p, {}, {})
  copy.features, copy.solver = f.features, f.solver
  return copy
end

--- automatic.reopened(p, open): the recipe in which these options are to be chosen again by a fit.
function automatic.reopened(p, open)
  local copy = filled(p, {}, {})
  if open.part and open.width and copy.features then
    local inst = copy.features.inst
    inst[open.part] = component.with(inst[open.part], open.width, nil)
  end
  if open.lambda and copy.solver then
    copy.solver = component.with(copy.solver, open.lambda, nil)
  end
  return copy
end

return automatic
