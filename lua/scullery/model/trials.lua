--- Pipelines that a fit tries while it chooses options: which options are open, copies with values
--- filled in, and their judgement by rows that they did not learn from, on a sample or on all rows.
local candidates = require "scullery.model.candidates"
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local feature_maps = require "scullery.compose.features"
local folds = require "scullery.data.folds"
local instantiation = require "scullery.compose.instantiation"
local recipe = require "scullery.model.recipe"
local sample = require "scullery.model.sample"

local trials = {}

-- The step of the regularisation, and rounds of two more values, either way: a round makes the
-- features of the rows that judge again, which costs as much as a value or two.
local STEP, MOST_ROUNDS = 10, 2

-- ------------ what is to be chosen

-- The part of the features whose width is to be chosen ("p" or "phi"), and the name of the option;
-- nil if there is none. With a K there are two widths that depend on each other: both keep their
-- defaults.
local function width_of(features)
  if not features or features.parts or features.inst.K then return nil end
  for _, name in ipairs{ "p", "phi" } do
    local part = features.inst[name]
    local option = part and component.open_width(part)
    if option then return name, option end
  end
end

-- The solver's option of regularisation (a row of core.plugin_info), if it was not given; or nil.
local function open_lambda(solver)
  local option = candidates.regularisation(solver)
  return option and solver.given[option.name] == nil and option or nil
end

--- trials.allowed(p, values): those values of regularisation for which the open option is in its
--- range.
function trials.allowed(p, values)
  local option, list = open_lambda(p.solver), {}
  for _, regularisation in ipairs(values) do
    local value = candidates.value(option, regularisation)
    local inside = value > option.low or value == option.low and not option.low_open
    local below = value < option.high or value == option.high and not option.high_open
    if inside and below then list[#list + 1] = regularisation end
  end
  return list
end

--- trials.open(p): what p:fit chooses from the data: { part =, width =, lambda = }, the names of
--- options, and T = true for the number of parameters; nil if there is nothing.
function trials.open(p)
  if not p.solver then return nil end
  local part, width = width_of(p.features)
  local lambda, T = open_lambda(p.solver), p.features and p.features.T == "auto" or nil
  if not (width or lambda or T) then return nil end
  return { part = part, width = width, lambda = lambda and lambda.name, T = T }
end

--- trials.least_T(p): the fewest parameters of which the stages after the features can be made: the
--- largest k of one that takes k directions, math.huge where one names features, else 1.
function trials.least_T(p)
  local least = 1
  for _, stage in ipairs(p.after) do
    local k = stage.given.k
    for _, value in ipairs(choose.is(k) and k.values or { k }) do least = math.max(least, value) end
    if stage.kind == "select" then least = math.huge end
  end
  return least
end

-- The number of parameters of a copy of which `given` is asked: the chosen one, or at most T, if T
-- is given.
local function number_of(p, given, chosen, T)
  if given == "auto" then return chosen.T or T and math.max(T, trials.least_T(p)) or given end
  return T and given and math.min(given, math.max(T, trials.least_T(p))) or given
end

--- trials.filled(p, open, chosen, T): a copy of the pipeline with the chosen options filled in, and
--- at most T parameters.
function trials.filled(p, open, chosen, T)
  local copy = setmetatable({}, recipe.class)
  for key, value in pairs(p) do copy[key] = value end
  copy.fitted, copy.data = nil, nil
  if p.features then
    copy.features = instantiation.resolved(p.features, {})
    if open.width and chosen.width then
      copy.features.inst[open.part] = component.with(copy.features.inst[open.part], open.width,
        chosen.width)
    end
    copy.features.T = number_of(p, copy.features.T, chosen, T)
  end
  if open.lambda and chosen.lambda then
    copy.solver = candidates.solver_with(p, chosen.lambda)
  end
  return copy
end

--- trials.rough(solver): the solver for candidates: with a tolerance a hundred times larger, at
--- most 1e-3, if it has one. A larger one deceives: it ends a descent early, which regularises, so
--- that a candidate with too small a lambda has a lower loss than the model that it stands for.
function trials.rough(solver)
  local name, value = component.role(solver, "tolerance"), component.role_value(solver, "tolerance")
  if not name then return solver end
  return component.with_settled(solver, name, math.max(value, math.min(100 * value, 1e-3)))
end

-- ------------ judgements

--- trials.part_without(p, few, ids, f, known): the rows of the sample without fold f, their source,
--- and the row stages fitted to them, which `known` stores.
function trials.part_without(p, few, ids, f, known)
  local inside = folds.rows(ids, f)
  local part = few:select(inside)
  local source = dataset.source_of_targets(part)
  known[f] = known[f] or recipe.fit_stages(p, source, part.weights)
  return part, source, known[f]
end

-- The rows of the sample that fold f holds out. All candidates share them.
local function held_out(few, folding, f)
  folding.held = folding.held or {}
  if not folding.held[f] then
    local _, outside = folds.rows(folding.ids, f)
    folding.held[f] = few:select(outside)
  end
  return folding.held[f]
end

-- The judgement of trials.on_sample, for row stages that learn from the targets: they are fitted
-- again without each fold.
local function try_apart(p, few, folding, open, values, places, known)
  local parts = {}
  for k, place in ipairs(places) do
    local f = folding.judged[place]
    local part, source, made = trials.part_without(p, few, folding.ids, f, known)
    local prepared = recipe.prepare(p, source, nil, nil, made)
    local training <close> = core.training(source, made, prepared.map,
      { classes = part.task == "classification" and #part.classes or 0, dtype = p.dtype,
        block = p.block, allowance = p.allowance, weights = part.weights, quiet = true })
    local fits = candidates.fits(p, training, 0, open.lambda, values)
    parts[k] = candidates.judge(p, prepared, fits, held_out(few, folding, f))
  end
  return candidates.below(parts)
end

--- trials.stages_on_sample(p, few, folding): the row stages on the sample, which all candidates
--- share.
function trials.stages_on_sample(p, few, folding)
  folding.made = folding.made or recipe.fit_stages(p, dataset.source_of_targets(few))
  return folding.made
end

--- trials.sampled(p, few, folding): { prepared, training } on the sample, the training to be closed
--- by the caller; nil if row stages learn from the targets, so that each fold has its own.
function trials.sampled(p, few, folding)
  if recipe.learns_from_targets(p) then return nil end
  local source = dataset.source_of_targets(few)
  local prepared = recipe.prepare(p, source, nil, nil, trials.stages_on_sample(p, few, folding))
  return { prepared = prepared, training = core.training(source, prepared.stages, prepared.map,
    { classes = few.task == "classification" and #few.classes or 0, dtype = p.dtype,
      folds = folding.ids, block = p.block, allowance = p.allowance, weights = few.weights,
      quiet = true }) }
end

-- The places of the judged folds from `first` to `last`, as many as there are.
local function places_of(folding, first, last)
  local places = {}
  for place = first, math.min(last, #folding.judged) do places[#places + 1] = place end
  return places
end

--- trials.on_sample(p, few, folding, open, most, known, use, ready): calls use(judged), where
--- judged(values[, first, last]) is the judgement of the rows of the judged folds `first` to `last`
--- (1 to `most`) on each value of the regularisation (nil: on the pipeline as it is); nil where
--- there is no such fold. Returns what it returns. known: fitted row stages of each fold. ready:
--- trials.sampled of this pipeline, or nil.
function trials.on_sample(p, few, folding, open, most, known, use, ready)
  if recipe.learns_from_targets(p) then
    return use(function(values, first, last)
      local places = places_of(folding, first or 1, last or most)
      return #places > 0 and try_apart(p, few, folding, open, values, places, known) or nil
    end)
  end
  local made = ready or trials.sampled(p, few, folding)
  local prepared, training, _ <close> = made.prepared, made.training, not ready and made.training
  return use(function(values, first, last)
    local parts = {}
    for k, place in ipairs(places_of(folding, first or 1, last or most)) do
      local f = folding.judged[place]
      local fits = candidates.fits(p, training, f, open.lambda, values)
      parts[k] = candidates.judge(p, prepared, fits, held_out(few, folding, f))
    end
    return parts[1] and candidates.below(parts) or nil
  end)
end

--- trials.walk(p, middle, judged, { from =, to =, step =, low =, high =, least = }): a value of the
--- regularisation: the middle times `step` to the powers `from` to `to`, and on downwards from the
--- least one as long as it is the best, upwards from the largest one as long as it would be taken.
--- That is the largest of the best (candidates.lua), with `least` the one of least loss; nil if no
--- loss is finite. Second: its judgement. Third: the least loss. Fourth: all that were tried, {
--- values =, seen = their judgement }. By default powers of 10 from -1 to 1. low and high: the
--- least and the largest value.
function trials.walk(p, middle, judged, o)
  local step, first = o.step or STEP, {}
  for k = o.from or -1, o.to or 1 do first[#first + 1] = middle * step ^ k end
  local function inside(list)
    local kept = {}
    for _, value in ipairs(trials.allowed(p, list)) do
      local within = value > (o.low or 0) / 1.1 and value < (o.high or math.huge) * 1.1
      if within then kept[#kept + 1] = value end
    end
    return kept
  end
  local values = inside(first)
  local seen = judged(values)
  local function places()
    local place, least, best = candidates.largest_of_best(seen, values)
    return o.least and best or place, best, least
  end
  for _, factor in ipairs{ 1 / step, step } do
    for _ = 1, MOST_ROUNDS do
      local place, best = places()
      local last = (factor < 1 and math.min or math.max)(table.unpack(values))
      local more = inside{ last * factor, last * factor ^ 2 }
      if values[factor < 1 and best or place] ~= last or not more[1] then break end
      seen = candidates.beside{ seen, judged(more) }
      table.move(more, 1, #more, #values + 1, values)
    end
  end
  local place, _, least = places()
  return values[place], place and candidates.only(seen, place), least,
    { values = values, seen = seen }
end

--- trials.all_rows(ds, judges, of, most): all rows, but those of the judges' first fold, which
--- judge: { ds, source, held, sides = a function that returns the side of each row, together =
--- groups stay together, most = that of trials.half }; nil if this fold is empty. of: the number of
--- each row's distinct row among the judges.
function trials.all_rows(ds, judges, of, most)
  local ids, together = sample.folds(judges)
  local held, rows, sides = sample.judged(judges, ids)[1], {}, nil
  for i, fold in ipairs(ids) do
    if fold == held then rows[#rows + 1] = i end
  end
  return #rows > 0 and { ds = ds, source = dataset.source_of_targets(ds), together = together,
    most = most, held = judges:select(rows), sides = function()
      sides = sides or sample.sides(ds, judges, rows, of, together)
      return sides
    end } or nil
end

--- trials.PART_ON_ALL: the part of a checkpoint in which all rows choose; parts and sums of T =
--- "auto" have numbers above it.
trials.PART_ON_ALL = 2

--- trials.kept_in(stored, key, make): the result of make(), a table, which is kept in a checkpoint
--- if there is one.
function trials.kept_in(stored, key, make)
  if stored then return stored:result(key, make) end
  return make()
end

-- The row weights for stages that learn from the targets: 0 for the rows that judge.
local function weights_apart(all, p)
  local w = recipe.row_weights(p, all.ds)
  w = w and w:astype("float64"):copy() or core.ones(#all.ds, 1)
  for i, side in ipairs(all.sides()) do if side == 1 then w:set(i, 1, 0) end end
  return w
end

--- trials.has_half(p): whether the sums of half of the parameters are parts of those of all: not
--- those of landmarks.
function trials.has_half(p)
  local T = p.features and p.features.T
  return math.type(T) == "integer" and T // 2 >= trials.least_T(p)
    and not feature_maps.learns(p.features, {}) and not recipe.learns_from_targets(p)
end

--- trials.train(all, p, made, handle, whole): a training on all rows that a later fit can use, {
--- prepared, training, whole }. Row stages that learn from the targets are fitted without the rows
--- that judge; a fit to all rows fits its own. made: fitted row stages, or nil; handle: the
--- engine's checkpoint, or nil. whole: the rows that judge are not summed by themselves where
--- trials.half needs no such sums; sums of blocks are then, to the bit, those of a fit with a given
--- regularisation, and serve one problem.
function trials.train(all, p, made, handle, whole)
  local apart = not made and recipe.learns_from_targets(p) and weights_apart(all, p) or nil
  local prepared = recipe.prepare(p, all.source, apart, nil, made)
  whole = whole and trials.has_half(p) and not all.together
    and core.solver_facts(component.instance(p.solver)).by_sums
    and core.map_exact(prepared.map) == "blocks"
  local given = recipe.training_options(p, all.ds, not whole and all.sides() or nil)
  given.checkpoint, given.once = handle, whole
  return { prepared = prepared, whole = whole,
    training = core.training(all.source, prepared.stages, prepared.map, given) }
end

-- As `few`, with sums that leave out the rows that judge, which are summed by themselves.
local function without_judges(all, p, few, constant)
  local made, held = few.prepared, all.held
  local given, total = recipe.training_options(p, held), core.sums_take(few.training, constant)
  local plain = held.weights:min() == 1 and held.weights:max() == 1
  given.weights = not plain and held.weights or nil -- copies and weights of classes are in them
  given.by_sums, given.like, given.quiet = true, total, true
  local training <close> = core.training(dataset.source_of_targets(held), made.stages, made.map,
    given)
  core.sums_join(total, core.sums_take(training, constant), true)
  return { prepared = made, whole = true, training = core.training(all.source, made.stages,
    made.map, { classes = given.classes, dtype = p.dtype, sums = total }) }
end

--- trials.half(all, p, ready): a copy of the pipeline with the first half of its parameters, at
--- most all.most, and what trials.train would return for it, its sums being parts of those of
--- `ready`; nil where they are not, as for landmarks. The caller closes the training.
function trials.half(all, p, ready)
  if not trials.has_half(p) then return nil end
  local tried = trials.filled(p, {}, {}, math.min(p.features.T // 2, all.most or math.huge))
  local few = trials.train(all, tried, ready.prepared.stages, nil, ready.whole)
  local constant = core.solver_facts(component.instance(p.solver)).wants_intercept
  core.training_sum(ready.training, constant)
  core.training_take_sums(few.training, ready.training)
  local taken = core.training_has_sums(few.training)
  if taken and not ready.whole then return tried, few end
  local _ <close> = few.training
  if taken then return tried, without_judges(all, tried, few, constant) end
  if ready.whole then return tried, trials.train(all, tried, ready.prepared.stages) end
end

--- trials.judge_of(all, p, open, ready): the judgement of the held rows on values of the
--- regularisation, as a function.
function trials.judge_of(all, p, open, ready)
  return function(values)
    local fits = candidates.fits(p, ready.training, ready.whole and 0 or 1, open.lambda,
      values)
    return candidates.judge(p, ready.prepared, fits, all.held)
  end
end

return trials
