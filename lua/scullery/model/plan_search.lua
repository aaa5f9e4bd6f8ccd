--- p:plan: the plan of a fit, or of a search where options are sc.choose.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local options = require "scullery.base.options"
local plan = require "scullery.model.plan"
local plan_growth = require "scullery.model.plan_growth"
local recipe = require "scullery.model.recipe"
local search = require "scullery.model.search"

local plan_search = {}

-- The fold of each row, as many rows in each: sizes do not depend on which rows they are.
local function even_folds(n, count)
  local ids = {}
  for i = 1, n do ids[i] = (i - 1) % count + 1 end
  return ids
end

-- How many groups of rows are summed apart, and how many of them judge.
local function groups_of(o)
  if o.holdout then return 2, 1 end
  local count = type(o.folds) == "table" and math.max(table.unpack(o.folds)) or o.folds
  if count == "time" then count = o.count or 5 end
  if type(count) ~= "number" then return 1, 0 end
  return count, count
end

-- Runs are tried on the first rows, whether their systems take passes, for so many seconds.
local TRYING = 1

-- The sizes of a run. Times are measured for the first run of a pipeline, unless o.untimed, and
-- taken over by others.
local function sizes_of(run, ds, o, known)
  local before, began = known[run.pipeline], core.now()
  o.trying = o.trying or 0
  local t = plan.sizes(run.pipeline, ds, { choices = run.choices, folds = o.ids,
    values = run.path and run.path.values, estimate = o.estimate,
    solved = not o.untimed and o.trying < TRYING,
    seconds = not before and not o.untimed, codes = before and before.codes })
  if before then o.trying = o.trying + core.now() - began end
  if before then plan.take_times(t, before) end
  known[run.pipeline] = before or t
  return t
end

-- The parts of a run: its sums, unless they are those of the run before, its fits, the decisions
-- on the rows that judge.
local function add_run(list, run, o, shared)
  local candidates = o.judged > 0 and (run.path and #run.path.values or 1) or 0
  for _, one in ipairs(plan.parts(run.sizes, not o.untimed, { fits = math.max(o.judged, 1),
    shared = shared, candidates = candidates })) do
    local into = list[one.what]
    if not into then
      list[one.what], list[#list + 1] = one, one
    else
      into.bytes = math.max(into.bytes, one.bytes)
      into.flops, into.seconds = into.flops + one.flops, into.seconds + one.seconds
    end
  end
end

-- The most memory of a run: folds are solved side by side, each with memory of its own, and judged
-- in another walk.
local function peak_of(t, folds)
  local others = math.max(math.min(core.threads(), folds) - 1, 0)
  return plan.peak(t) + others * (t.own + t.matrix + t.solution) + (folds > 0 and t.judging or 0)
end

-- The parts of the fit to all rows at the end, summed up. Its sums are those of the folds.
local function refit(run, ds, o)
  local path = run.path and { run.path.values[1] }
  local t = plan.sizes(run.pipeline, ds, { choices = run.choices, values = path,
    codes = run.sizes.codes })
  plan.take_times(t, run.sizes)
  local flops, seconds = 0, 0
  for _, one in ipairs(plan.parts(t, not o.untimed, { fits = 1, candidates = 0,
    shared = t.normal > 0 and o.ids ~= nil })) do
    flops, seconds = flops + one.flops, seconds + one.seconds
  end
  return { what = "fit to all rows", bytes = 0, flops = flops, seconds = seconds }
end

-- The plan of a search. untimed: without seconds.
local function of_search(p, ds, given, untimed)
  local runs, _, o = search.planned(p, ds, given)
  o.untimed = untimed
  local groups, judged = groups_of(o)
  o.judged, o.ids = judged, groups > 1 and even_folds(ds:size(), groups) or nil
  local list, known, peak, last, note = {}, {}, 0, nil, nil
  for _, run in ipairs(runs) do
    run.sizes = sizes_of(run, ds, o, known)
    add_run(list, run, o, run.shared == last)
    peak, last = math.max(peak, peak_of(run.sizes, o.judged)), run.shared
    note = run.sizes.note ~= "" and run.sizes.note or note
  end
  list[#list + 1] = refit(runs[#runs], ds, o)
  for _, one in ipairs(list) do
    one.flops, one.seconds = one.flops * ((o.outer or 0) + 1), one.seconds * ((o.outer or 0) + 1)
  end
  local sizes = { rows = ds:size(), features = runs[1].sizes.features, note = note }
  if runs[1].shared ~= last then -- what the best so far keeps, and the run before until Lua's
    local t = runs[1].sizes      -- collector frees it
    peak = peak + 2 * (t.sums + t.gram + t.matrix)
  end
  return plan.made(list, sizes, peak, not untimed)
end

--- plan_search.refuse(p, ds, o): raises an error if a search with these options needs more memory
--- than is left.
function plan_search.refuse(p, ds, o)
  plan.refuse_if("the search", p, ds, groups_of(o), function()
    local given = {}
    for _, name in ipairs{ "folds", "count", "gap", "horizon", "groups", "shuffle", "holdout",
      "seed", "score", "stages", "draws", "rule" } do given[name] = o[name] end
    if o.holdout then given.folds = nil end
    return of_search(p, ds, given, true)
  end)
end

local function run(p, data, y, given)
  if not p.solver then error("the pipeline has no solver", 0) end
  if given == nil and dataset.is(data) and options.are_options(y) then y, given = nil, y end
  if recipe.is_searched(p) then
    return of_search(p, dataset.coerce(data, y), given or {})
  end
  if p.features and p.features.T == "auto" then
    return plan_growth.run(p, dataset.coerce(data, y), given or {})
  end
  if given and dataset.is(data) and next(given) ~= nil then
    error(("unknown option '%s': no option of the pipeline is sc.choose, so that this is the plan \z
      of a fit, which takes none"):format(tostring(next(given))), 0)
  end
  local ds = dataset.coerce(data, y, given)
  return plan.fit(p, ds)
end

--- plan_search.run(p, data, y, given): see Pipeline:plan. Of several processes each makes its own
--- plan, so that one alone may ask for it.
function plan_search.run(p, data, y, given)
  local before = core.process_alone(true)
  local well, found = pcall(run, p, data, y, given)
  core.process_alone(before)
  return well and found or error(found, 0)
end

return plan_search
