--- sc.compare: pipelines cross-validated on the same folds, and their paired differences.
local automatic = require "scullery.model.automatic"
local criteria = require "scullery.model.criteria"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local fitting = require "scullery.model.fitting"
local folding = require "scullery.data.folds"
local judging = require "scullery.model.judging"
local keys = require "scullery.base.keys"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local paired = require "scullery.metrics.paired"
local progress = require "scullery.base.progress"
local recipe = require "scullery.model.recipe"
local search = require "scullery.model.search"
local target_form = require "scullery.model.target_form"

local comparing = {}


local rules = options.declare("compare", {
  on = { test = dataset.is, takes = "a data set", required = true },
  folds = { test = folding.rule.test, takes = folding.rule.takes, default = 5 },
  count = folding.count_rule, gap = folding.gap_rule, horizon = folding.horizon_rule,
  groups = folding.groups_rule, shuffle = { type = "boolean" },
  repeats = { type = "integer", low = 1, default = 1 },
  score = criteria.rule, seed = { type = "integer", default = 0 },
  stages = { choices = { "shared", "fold" }, default = "shared" },
  to = { choices = { "best", "first" }, default = "best" },
  progress = progress.rule,
})

-- ------------ the pipelines

-- "ridge, gaussian/fourier": the solver and the features.
local function label_of(p, with_options)
  local features = p.features and ", " .. p.features:label(with_options) or ""
  return p.solver:label(with_options) .. features
end

-- Names pipelines without a key by their place and label, with options if two labels are equal.
local function name_all(list)
  local count = {}
  for _, one in ipairs(list) do
    one.label = label_of(one.pipeline)
    count[one.label] = (count[one.label] or 0) + 1
  end
  for i, one in ipairs(list) do
    local label = count[one.label] > 1 and label_of(one.pipeline, true) or one.label
    if not one.named then one.name = ("%d: %s"):format(i, label) end
  end
end

-- Appends a pipeline to the list; raises an error if it has no solver. named: true if its name is
-- the user's, so that name_all leaves it.
local function add(list, name, value, named)
  if not recipe.is(value) then
    fail("compare: %s is %s; it takes pipelines, as in sc.compare{ a, b, on = ds }", name,
      options.show(value))
  end
  if not value.solver then fail("%s has no solver: there is nothing to compare", name) end
  list[#list + 1] = { name = name, pipeline = value, named = named }
end

-- Pipelines under names, sorted by name.
local function add_named(list, given)
  for _, name in ipairs(keys.sorted(given)) do add(list, tostring(name), given[name], true) end
end

-- Splits the argument of sc.compare into a list of { name, pipeline, named }, in which pipelines
-- without a key come first, and a table of checked options.
local function arguments(given)
  if type(given) ~= "table" or getmetatable(given) then
    fail("compare: takes pipelines and options, as in sc.compare{ a, b, on = ds }, and got %s",
      options.show(given))
  end
  local list, named, o = {}, {}, {}
  for name, value in pairs(given) do
    if math.type(name) ~= "integer" then (recipe.is(value) and named or o)[name] = value end
  end
  for i = 1, #given do
    local value = given[i]
    if type(value) == "table" and not getmetatable(value) then
      add_named(list, value)
    else
      add(list, ("pipeline %d"):format(i), value)
    end
  end
  add_named(list, named)
  o = options.check("compare", o, rules, 0)
  name_all(list)
  if #list < 2 then fail("takes at least two pipelines, and got %d", #list) end
  return list, o
end

-- ------------ their scores

-- The scores of a pipeline whose fit chooses options, and the number of fits that did not converge.
-- The pipeline is fitted or searched again without each fold, so that the rows that judge it do not
-- influence the choice.
local function refitted(p, ds, folds, k, criterion, o)
  local values, unconverged = {}, 0
  for f = 1, k do
    local train, test = judging.split(ds, folds, f)
    local made = recipe.is_searched(p) and search.run(p, train, { seed = o.seed,
      score = o.score }) or fitting.run(p:clone{}, train, {})
    local fitted = made.fitted
    values[f] = judging.of_model(criterion, fitted, matching.judged(test, fitted))
    local status = fitted.report and fitted.report.status
    if status == "iterations exhausted" then unconverged = unconverged + 1 end
  end
  return values, unconverged
end

-- The scores of one pipeline on the folds, and the number of fits that did not converge.
local function scores_of(p, ds, folds, k, criterion, o)
  if recipe.is_searched(p) or automatic.open(p) then
    return refitted(p, ds, folds, k, criterion, o)
  end
  ds = target_form.learn(p.target, recipe.encoded(p, ds), p.solver)
  local source, coded = dataset.source_of_targets(ds)
  local run = judging.run({ pipeline = p, choices = {} }, ds, source, folds, k, criterion,
    o.stages)
  dataset.check_seen(coded)
  return run.values[1], judging.unconverged(run.candidates, 1)
end

-- n_test / n_train, the mean over the folds.
local function ratio_of(folds, k)
  local sum = 0
  for f = 1, k do
    local inside, outside = folding.rows(folds, f)
    sum = sum + #outside / #inside
  end
  return sum / k
end

local function notes_of(list, o)
  local notes = { ("differences to the %s; standard errors allow for training rows that folds \z
    share"):format(o.to) }
  for _, one in ipairs(list) do
    if one.unconverged > 0 then
      notes[#notes + 1] = ("%s: %d fit%s did not converge"):format(one.name, one.unconverged,
        one.unconverged == 1 and "" or "s")
    end
  end
  return notes
end

-- Judges each pipeline of the list on the same folds of ds, o.repeats times with other folds, and
-- returns the comparison (see metrics/paired.lua).
local function run_all(list, ds, o)
  local criterion, ratio, k = criteria.of(o.score, ds.task), 0, nil
  for _, one in ipairs(list) do one.values, one.unconverged = {}, 0 end
  local level <close> = progress.level{ name = "compare", total = o.repeats * #list }
  for r = 1, o.repeats do
    local folds = judging.folds(ds, o, o.seed + r - 1)
    k = folding.number(folds)
    judging.check_folds(ds, folds, k)
    ratio = ratio + ratio_of(folds, k) / o.repeats
    for _, one in ipairs(list) do
      local values, count = objects.titled(one.name, scores_of, one.pipeline, ds, folds, k,
        criterion, o)
      table.move(values, 1, k, #one.values + 1, one.values)
      one.unconverged = one.unconverged + count
      level:step()
    end
  end
  local names, values = {}, {}
  for i, one in ipairs(list) do names[i], values[i] = one.name, one.values end
  return paired.new{ names = names, values = values, score = criterion.name,
    larger = criterion.larger == true, to = o.to, mean = paired.corrected(ratio), ratio = ratio,
    subject = "pipeline", notes = notes_of(list, o),
    title = ("%d pipelines on the same %d folds%s, seed %d"):format(#list, k,
      o.repeats > 1 and (", %d times"):format(o.repeats) or "", o.seed) }
end

local function compare(list, o)
  local ds = o.on
  if not ds.y and not ds.source then fail("option 'on': the data set has no targets") end
  if o.repeats > 1 and math.type(o.folds) ~= "integer" then
    fail("option 'repeats' draws new folds each time, and goes with a number of folds")
  end
  if o.groups ~= nil and o.groups ~= false and type(o.groups) ~= "string" then
    ds, o.groups = dataset.with(ds, { groups = folding.groups_of(o.groups, #ds) }), nil
  end
  return run_all(list, ds, o)
end

--- sc.compare{ a, b, c, on = ds, folds = 5, repeats = 1, score =, seed = 0, to = "best", groups =,
--- shuffle =, count =, gap =, horizon =, stages =, progress = }: cross-validates pipelines on the
--- same folds; they do not change. Names come from keys: sc.compare{ ridge = a, logistic = b, on =
--- ds }, or a table { name = pipeline } in place of the list. A pipeline with sc.choose{...}, or
--- without a width or lambda, chooses them anew without each fold, so that its score is not
--- optimistic because of the choice.
---
--- Returns a table that prints, with one row for each pipeline: { name, mean, stderr, values (the
--- score of each fold), difference (to the best; with to = "first", to the first), error (its
--- standard error), t, p }. The differences are paired: taken fold by fold. Their variance is s^2
--- (1/J + n_test/n_train) over J folds and repetitions, because folds share training rows (Nadeau
--- and Bengio 2003); p is two-sided, of Student's t with J - 1 degrees of freedom, and not
--- corrected for the number of pipelines. Other fields: score, larger (true if larger is better),
--- ratio (n_test/n_train), notes. comparison:save("c.csv") saves it. The other options are those of
--- p:cv.
function comparing.run(given)
  local list, o = arguments(given)
  return progress.watched("compare", o.progress, compare, list, o)
end

return comparing
