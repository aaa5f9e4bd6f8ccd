--- Options that nobody gave and that depend on the data: the width of the features, and the
--- solver's regularisation. p:fit chooses them by the loss on rows held out.
---
--- Width and regularisation are chosen together on a sample of at most ROWS distinct rows and at
--- most FEATURES parameters: the width that the "median" rule gives, times each of FACTORS, with
--- each of LAMBDAS. With more rows than the sample has, the regularisation is then chosen again on
--- all rows, near the first choice, judged on a part of the sample; its sums over the rows are
--- those of the fit.
---
--- The sample is chosen by the contents of rows (core.distinct_rows), and rows are judged with
--- their weights. So the choice depends neither on the order of rows nor on whether equal rows come
--- as copies or as weights.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local folding = require "scullery.data.folds"
local instantiation = require "scullery.compose.instantiation"
local recipe = require "scullery.model.recipe"
local weights = require "scullery.model.weights"

local automatic = {}

local ROWS, KERNEL_ROWS = 4000, 1000
local FACTORS = { 1 / 8, 1 / 4, 1 / 2, 1, 2 }
local FEW_LAMBDAS, FEW_FEATURES = { 1e-8, 1e-6, 1e-4, 1e-2 }, 300 -- beside the widths
local LAMBDAS, FEATURES = { 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1 }, 500
local NEAR = { 10 ^ -2, 10 ^ -1.5, 10 ^ -1, 10 ^ -0.5, 1, 10 ^ 0.5 }
local FOLDS = 5

-- ---------------------------------------------------------------- what is to be chosen

-- The option of a component that takes a width from the data, if neither it nor another form of the
-- width was given.
local function open_width(part)
  local open
  for _, option in ipairs(core.plugin_info(part.kind, part.name).options) do
    if option.takes:find('"median"', 1, true) then
      if part.given[option.name] ~= nil then return nil end
      open = open or option.name
    end
  end
  return open
end

-- The part of the features whose width is to be chosen ("p" or "phi"), and its option. With a K two
-- widths belong together, and both keep their defaults.
local function width_of(features)
  if not features or features.inst.K then return nil end
  for _, name in ipairs{ "p", "phi" } do
    local part = features.inst[name]
    local option = part and open_width(part)
    if option then return name, option end
  end
end

-- The solver's option of regularisation, if it was not given.
local function open_lambda(solver)
  local name = component.role(solver, "regularisation")
  return name and solver.given[name] == nil and name or nil
end

--- automatic.open(p): what p:fit chooses from the data: { part =, width =, lambda = }, the names of
--- options; nil if there is nothing.
function automatic.open(p)
  if not p.solver or p.after then return nil end
  local part, width = width_of(p.features)
  local lambda = open_lambda(p.solver)
  if not (width or lambda) then return nil end
  return { part = part, width = width, lambda = lambda }
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
    if T and copy.features.T and copy.features.T > T then copy.features.T = T end
  end
  if open.lambda and chosen.lambda then
    copy.solver = component.with(p.solver, open.lambda, chosen.lambda)
  end
  return copy
end

-- ---------------------------------------------------------------- rows to choose by

-- At most `most` distinct rows as a data set in the order of their hashes; second: for each row of
-- ds the number of its distinct row, or 0.
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

-- The fold of each row of the sample: groups stay together; else the rows of each class, in the
-- order of their hashes, are dealt out in turn.
local function folds_of(few)
  if few.groups then
    local ok, ids = pcall(few.fold_ids, few, { k = FOLDS, seed = 0 })
    if ok then return ids end
  end
  local ids, dealt = {}, {}
  for i = 1, #few do
    local class = few.task == "classification" and few.y:get(i, 1) or 0
    ids[i] = (dealt[class] or 0) % FOLDS + 1
    dealt[class] = (dealt[class] or 0) + 1
  end
  return ids
end

-- ---------------------------------------------------------------- judging

-- The weighted sum over rows of the square loss of each candidate. decisions: n x (count c).
local function losses(decisions, targets, w, count)
  local list, n, c = {}, targets:rows(), targets:cols()
  for k = 1, count do
    local gap = decisions:slice(1, n, (k - 1) * c + 1, k * c) - targets
    local square = w:t() * gap:mul(gap)
    list[k] = square:sum()
  end
  return list
end

local MOST = 2 ^ 24 -- decisions in memory at once

-- losses of fits on the rows of a data set with weights, after stages and map.
local function judge(p, prepared, fits, ds)
  local walk <close> = core.training(dataset.source_of_targets(ds), prepared.stages, prepared.map,
    { classes = ds.task == "classification" and #ds.classes or 0, dtype = p.dtype,
      block = p.block, quiet = true })
  local list, at = {}, 1
  local columns = ds.task == "classification" and #ds.classes > 2 and #ds.classes or ds.y:cols()
  local together = math.max(1, MOST // (#ds * columns))
  while at <= #fits do
    local some = table.move(fits, at, math.min(#fits, at + together - 1), 1, {})
    local decisions, targets = core.decisions_apart(walk, { some })
    table.move(losses(decisions, targets, ds.weights, #some), 1, #some, #list + 1, list)
    at = at + #some
  end
  return list
end

-- Fits of a training without a fold, one for each value of the regularisation.
local function fits_of(p, training, without, lambda, values)
  local name = core.solver_facts(component.instance(p.solver)).path_option
  if name == lambda then
    return core.solve(training, component.instance(p.solver), without, values)
  end
  local fits = {}
  for k, value in ipairs(values) do
    fits[k] = core.solve(training, component.instance(component.with(p.solver, lambda, value)),
      without)[1]
  end
  return fits
end

-- ---------------------------------------------------------------- choosing

-- The rows of the sample without fold f, and the row stages fitted to them, which `known` stores.
local function part_without(p, few, ids, f, known)
  local inside = folding.rows(ids, f)
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

local function add(sums, losses_of_fold)
  for k, loss in ipairs(losses_of_fold) do sums[k] = (sums[k] or 0) + loss end
end

-- The same as `try` below, with row stages that learn from the targets: fitted without each fold.
local function try_apart(p, few, ids, open, values, judged, known)
  local sums = {}
  for f = 1, judged do
    local part, source, made = part_without(p, few, ids, f, known)
    local prepared = recipe.prepare(p, source, nil, made)
    local training <close> = core.training(source, made, prepared.map,
      { classes = part.task == "classification" and #part.classes or 0, dtype = p.dtype,
        block = p.block, allowance = p.allowance, weights = part.weights, quiet = true })
    local fits = open.lambda and fits_of(p, training, 0, open.lambda, values)
      or { core.solve(training, component.instance(p.solver), 0)[1] }
    local _, outside = folding.rows(ids, f)
    add(sums, judge(p, prepared, fits, few:select(outside)))
  end
  return sums
end

-- The sum of the losses on folds 1 to `judged` for each value of the regularisation. known: fitted
-- row stages of each fold.
local function try(p, few, ids, open, values, judged, known)
  if recipe.learns_from_targets(p) then
    return try_apart(p, few, ids, open, values, judged, known)
  end
  local source = dataset.source_of_targets(few)
  local prepared = recipe.prepare(p, source)
  local training <close> = core.training(source, prepared.stages, prepared.map,
    { classes = few.task == "classification" and #few.classes or 0, dtype = p.dtype, folds = ids,
      block = p.block, allowance = p.allowance, weights = few.weights, quiet = true })
  local sums = {}
  for f = 1, judged do
    local rows = {}
    for i, fold in ipairs(ids) do if fold == f then rows[#rows + 1] = i end end
    local fits = open.lambda and fits_of(p, training, f, open.lambda, values)
      or { core.solve(training, component.instance(p.solver), f)[1] }
    add(sums, judge(p, prepared, fits, few:select(rows)))
  end
  return sums
end

-- Width and regularisation on the sample: the width with few values of the regularisation, then the
-- regularisation for that width. Fewer folds are judged where there are many rows.
local function choose_on_sample(p, open, few, ids)
  local chosen, least, many, known = {}, math.huge, #few > 1500, {}
  if open.width then
    local median = median_width(p, open, few, ids, known)
    for _, factor in ipairs(FACTORS) do
      local tried = filled(p, open, { width = median * factor }, FEW_FEATURES)
      for _, loss in ipairs(try(tried, few, ids, open, FEW_LAMBDAS, many and 1 or 2,
        known)) do
        if loss < least then least, chosen.width, chosen.factor = loss, median * factor, factor end
      end
    end
  end
  if not open.lambda then return chosen end
  least = math.huge
  local tried = filled(p, open, chosen, FEATURES)
  for k, loss in ipairs(try(tried, few, ids, open, LAMBDAS, many and 2 or FOLDS, known)) do
    if loss < least then least, chosen.lambda = loss, LAMBDAS[k] end
  end
  return chosen
end

-- The regularisation again, on all rows but those of the sample's first fold, which judge.
local function choose_on_all(p, open, ds, few, ids, of, chosen)
  local source = dataset.source_of_targets(ds)
  local folds, rows, values = {}, {}, {}
  for i, fold in ipairs(ids) do if fold == 1 then rows[#rows + 1] = i end end
  for i = 1, #ds do
    local k = math.tointeger(of:get(i, 1))
    folds[i] = k > 0 and ids[k] == 1 and 1 or 2
  end
  for k, near in ipairs(NEAR) do values[k] = chosen.lambda * near end
  local prepared = recipe.prepare(p, source)
  local training = core.training(source, prepared.stages, prepared.map,
    recipe.training_options(p, ds, folds))
  local best, least = nil, math.huge
  local sums = judge(p, prepared, fits_of(p, training, 1, open.lambda, values), few:select(rows))
  for k, loss in ipairs(sums) do
    if loss < least then best, least = values[k], loss end
  end
  return best or chosen.lambda, { prepared = prepared, training = training }
end

local function about(open, chosen, few, n)
  local said = {}
  if open.width then
    said[1] = ("%s = %.4g (%g times the median rule)"):format(open.width, chosen.width,
      chosen.factor)
  end
  if open.lambda then said[#said + 1] = ("%s = %.3g"):format(open.lambda, chosen.lambda) end
  return ("%s, chosen on %d of %d rows"):format(table.concat(said, ", "), #few, n)
end

--- automatic.choose(p, ds): the pipeline with the open options filled in, to be fitted to ds.
--- Second: a sentence about the choice. Third: stages, map and training of all rows, if they were
--- made.
function automatic.choose(p, ds)
  local open = automatic.open(p)
  local few, of = sample_of(p, ds, p.features and ROWS or KERNEL_ROWS)
  local n = #ds
  if #few < 2 * FOLDS then return filled(p, {}, {}), nil end
  local ids = folds_of(few)
  local chosen = choose_on_sample(p, open, few, ids)
  if not chosen.lambda and open.lambda or not chosen.width and open.width then
    return filled(p, {}, {}), nil -- no candidate was finite
  end
  local ready
  if open.lambda and p.features and n > 1.5 * #few and
    core.solver_facts(component.instance(p.solver)).path_option == open.lambda then
    chosen.lambda, ready = choose_on_all(filled(p, open, chosen), open, ds, few, ids, of, chosen)
  end
  return filled(p, open, chosen), about(open, chosen, few, n), ready
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
