--- The fits that T = "auto" compares (growing.lua has the rule): on a sample, each row judged by
--- the fit without its fold, or on all rows but those that judge. A checkpoint keeps finished
--- steps.
local candidates = require "scullery.model.candidates"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local growing = require "scullery.model.growing"
local options = require "scullery.base.options"
local recipe = require "scullery.model.recipe"
local sample = require "scullery.model.sample"
local trials = require "scullery.model.trials"

local growing_fits = {}

local MANY_ROWS, FEW_FOLDS = 1500, 2 -- with more rows than these, so many folds judge
local NEARBY = 100

--- growing_fits.check(p, ds): raises an error where T = "auto" cannot be, because the number of
--- parameters cannot change.
function growing_fits.check(p, ds)
  if trials.least_T(p) == math.huge then
    error("T = \"auto\": a stage after the features names some of them, so that T cannot change: \z
      give it as a number", 0)
  end
  local sampler, _, d = p.features.inst.p, ds:size()
  if component.waiting(sampler) then return end
  local known, layout = options.attempt(core.layout, component.instance(sampler), d)
  if known and layout.count > 0 then
    error(("T = \"auto\": sampler.%s determines the number of parameters: leave T out"):format(
      sampler.name), 0)
  end
end

-- A step of the growth. A solver of a path chooses its regularisation again, from the value of the
-- step before and within a factor NEARBY of the choice on the sample; others keep this choice.
local function step_of(p, open, T, lambda, chosen, since, judged)
  local value, seen = lambda
  if open.path then
    value, seen = trials.walk(p, lambda, judged,
      { low = chosen.lambda / NEARBY, high = chosen.lambda * NEARBY })
  else
    seen = judged(open.lambda and { lambda } or nil)
  end
  return growing.step(T, value or lambda, seen, since)
end

-- The steps of make(), a list, from a checkpoint if they are there.
local function kept(stored, key, make)
  local made
  local plain = trials.kept_in(stored, key, function()
    made = make()
    return stored and growing.plain(made) or made
  end)
  return made or growing.restored(plain)
end

-- The growth on a sample that has nearly all rows.
local function on_sample(p, open, few, folding, chosen, stored)
  local most, known = #few > MANY_ROWS and FEW_FOLDS or sample.FOLDS, {}
  local function at(T, lambda)
    return kept(stored, ("T = %d on a sample"):format(T), function()
      local since = { growing.now() }
      local tried = trials.filled(p, open, { T = T, width = chosen.width, lambda = lambda })
      tried.solver = trials.rough(tried.solver)
      return { trials.on_sample(tried, few, folding, open, most, known, function(judged)
        return step_of(p, open, T, lambda, chosen, since, judged)
      end) }
    end)[1]
  end
  return { rows = #few, at = at, first = function(list)
    local steps = {}
    for k, T in ipairs(list) do
      steps[k] = at(T, k > 1 and steps[k - 1].lambda or chosen.lambda)
    end
    return steps
  end }
end

-- The growth on all rows. The sums of the first numbers of parameters are those of the largest of
-- them, where its first features are theirs; of whole-number features, a later step sums what the
-- step before has not. Second: what a fit with T parameters has ready.
local function on_all(p, open, all, chosen, o)
  local stored, stages, latest = o.stored, nil, nil
  local function train(T, lambda)
    local tried = trials.filled(p, open, { T = T, width = chosen.width, lambda = lambda })
    local part = trials.PART_ON_ALL + T
    local handle = o.resumed and stored:begin(part, part) or nil
    local ready = trials.train(all, tried, stages, handle)
    ready.sums = part
    stages = stages or recipe.learns_from_targets(p) and ready.prepared.stages or nil
    tried.solver = trials.rough(tried.solver)
    return ready, tried
  end
  local function step(T, lambda, wider)
    local since = { growing.now() }
    local ready, tried = train(T, lambda)
    if wider then core.training_take_sums(ready.training, wider.ready.training) end
    if not wider and latest and latest.ready then
      core.training_know_sums(ready.training, latest.ready.training)
    end
    local made = step_of(p, open, T, lambda, chosen, since,
      trials.judge_of(all, tried, open, ready))
    made.ready = ready
    if not wider then latest = made end
    return made
  end
  local function first(list)
    local steps, lambda = {}, chosen.lambda
    for k = #list, 1, -1 do
      steps[k] = step(list[k], lambda, steps[k + 1])
      lambda = steps[k].lambda
    end
    return steps
  end
  return { rows = #all.ds,
    first = function(list)
      return kept(stored, "first T on all rows", function() return first(list) end)
    end,
    at = function(T, lambda)
      return kept(stored, ("T = %d on all rows"):format(T), function()
        return { step(T, lambda) }
      end)[1]
    end }, train
end

--- growing_fits.run(p, open, ds, found, o): chooses T, and the regularisation with it, in
--- found.chosen. found: what automatic.find returns. o: budget; began; stored, a checkpoint, or
--- nil; resumed: true if it also keeps the sums of an unfinished step. Returns the report of the
--- growth, and what the fit has ready, or nil.
function growing_fits.run(p, open, ds, found, o)
  local all, chosen = #ds > 1.5 * #found.few and trials.all_rows(ds, found.judges, found.of),
    found.chosen
  local growth, train
  if all then
    growth, train = on_all(p, open, all, chosen, o)
  else
    growth = on_sample(p, open, found.few, found.folding, chosen, o.stored)
  end
  growth.budget, growth.began, growth.least = o.budget, o.began, trials.least_T(p)
  local step, report = growing.grow(growth)
  chosen.T = step and step.T or growing.first(trials.least_T(p))
  if not step then return report, nil end
  if open.lambda then
    chosen.lambda = step.lambda
    local option = candidates.regularisation(p.solver)
    for _, one in ipairs(report) do one.lambda = candidates.value(option, one.lambda) end
  end
  -- Smaller maps have parts of the sums of a larger one, which differ from their own by rounding.
  local own_sums = train and step.T >= growing.BEGIN
  if not own_sums and step.ready then growing.drop(step) end
  return report, own_sums and (step.ready or (train(step.T, step.lambda))) or nil
end

return growing_fits
