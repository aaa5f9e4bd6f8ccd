--- Cross-validation over everything marked by sc.choose. Each choice of features takes one pass
--- over the data, which accumulates sums for each fold. The model without a fold comes from the
--- sums of the other folds. Every value of the solver's path option reuses these sums, as do other
--- solvers and other options of theirs; solvers without shared sums run in parallel, one fold each.
--- A second pass judges all candidates at once.
local automatic = require "scullery.model.automatic"
local checkpoint = require "scullery.model.checkpoint"
local choose = require "scullery.compose.choose"
local core = require "scullery.core"
local bayes = require "scullery.model.bayes"
local criteria = require "scullery.model.criteria"
local dataset = require "scullery.data.dataset"
local folding = require "scullery.data.folds"
local halving = require "scullery.model.halving"
local judging = require "scullery.model.judging"
local multilabel = require "scullery.model.multilabel"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local recipe = require "scullery.model.recipe"
local progress = require "scullery.base.progress"
local search_runs = require "scullery.model.search_runs"
local search_table = require "scullery.model.search_table"
local warn = require "scullery.base.warn"
local component = require "scullery.compose.component"
local fitting = require "scullery.model.fitting"
local target_form = require "scullery.model.target_form"

local search = { table_class = search_table.class }

-- How a search goes through its combinations.
local methods = { grid = search_runs.run_all, halving = halving.run, bayes = bayes.run }

local estimates = { loo = true, gcv = true } -- estimates that some solvers compute

local rules = options.declare("pipeline:search", {
  folds = { test = function(v) return estimates[v] or folding.rule.test(v) end,
            takes = "a whole number of at least 2, \"loo\", \"gcv\", \"time\", or a list of fold \z
              numbers", default = 5 },
  count = folding.count_rule, gap = folding.gap_rule, horizon = folding.horizon_rule,
  groups = folding.groups_rule, shuffle = { type = "boolean" },
  holdout = { test = function(v)
    return type(v) == "number" and v > 0 and (v < 1 or math.tointeger(v) ~= nil)
  end,
              takes = "a share between 0 and 1, or a number of rows" },
  seed = { type = "integer", default = 0 },
  score = criteria.rule,
  stages = { choices = { "shared", "fold" }, default = "shared" },
  draws = { type = "integer", low = 1, high = choose.MOST },
  rule = { choices = { "best", "one_se" }, default = "best" },
  method = { choices = { "grid", "halving", "bayes" }, default = "grid" },
  outer = { type = "integer", low = 2 },
  each = { type = "string" },
  progress = progress.rule,
  checkpoint = checkpoint.rules.checkpoint, every = checkpoint.rules.every,
  restart = checkpoint.rules.restart,
})

-- ------------ what to try

-- All combinations of the searched options: a list of {path = value}.
local function grid(searched)
  local list, size = { {} }, 1
  for _, one in ipairs(searched) do size = size * #one.values end
  choose.check_combinations("pipeline:search", size)
  for _, one in ipairs(searched) do
    local longer = {}
    for _, so_far in ipairs(list) do
      for _, value in ipairs(one.values) do
        local copy = { [one.path] = value }
        for k, v in pairs(so_far) do copy[k] = v end
        longer[#longer + 1] = copy
      end
    end
    list = longer
  end
  return list
end

-- `draws` different random combinations; all combinations if there are no more. At most 50 times as
-- many are drawn: fewer are returned if the others were repetitions.
local function random(searched, draws, seed)
  local size, finite = 1, true
  for _, one in ipairs(searched) do
    size, finite = size * #one.values, finite and not choose.continuous(one.choose)
  end
  if finite and size <= draws then return grid(searched) end
  local list, seen, most = {}, {}, 50 * draws
  local u = core.rand{ most, #searched, seed = seed }
  for i = 1, most do
    local choices, parts = {}, {}
    for j, one in ipairs(searched) do
      choices[one.path] = choose.draw(one.choose, u:get(i, j))
      parts[j] = tostring(choices[one.path])
    end
    local key = table.concat(parts, "\0")
    if not seen[key] then list[#list + 1] = choices end
    seen[key] = true
    if #list == draws then break end
  end
  return list
end

-- Splits the searched options into the solver's path option (many values at once) and the rest. A
-- range from which random points are drawn cannot be a path.
local function split_path(self, ds, draws)
  local facts = core.solver_facts(component.instance(self.solver))
  local sparse = ds.X and (ds.X.sparse or core.is_texts(ds.X)) and not self.features
  local path_name = sparse and facts.sparse_path_option or facts.path_option
  local path, rest = nil, {}
  for _, one in ipairs(recipe.searched(self)) do
    if path_name and one.path == "solver." .. path_name
      and not (draws and choose.continuous(one.choose)) then
      path = one
    else
      rest[#rest + 1] = one
    end
  end
  return path, rest
end

-- Raises an error if not all runs predict as many values of a target as the solver of the pipeline,
-- by which targets are repeated.
local function check_outputs(self, runs, task)
  local count = target_form.outputs(self.solver, task)
  for _, run in ipairs(runs) do
    local other = target_form.outputs(run.pipeline.solver, task, run.choices)
    if other ~= count then
      error(("one choice predicts %d value%s of each target and another %d: search them apart")
        :format(count, count == 1 and "" or "s", other), 0)
    end
  end
end

-- The list of runs and the number of cells. A run is a pipeline with one choice of the options that
-- cannot share a pass (choices), and the path option, all values of which one pass serves. stages:
-- the stages of its variant. o.planned: options that are not given keep their defaults.
local function plan(self, ds, o, stored)
  local runs, cells = {}, 0
  for i, variant in ipairs(self.variants or { { pipeline = self, choice = {} } }) do
    local p = variant.pipeline
    if not p.solver then error("the pipeline has no solver", 0) end
    if o.estimate and not component.role(p.solver, "estimate") then
      error(("folds = \"%s\": solver.%s does not estimate its risk; give folds = k"):format(
        o.folds, p.solver.name), 0)
    end
    local chosen
    if stored then stored.prefix = ("stages %d: "):format(i) end
    if not o.planned then
      local rows = multilabel.apart(p.solver, ds) and multilabel.of_choice(ds)
        or recipe.encoded(p, ds)
      p, chosen = automatic.fill(p, rows, stored)
    end
    local path, rest = split_path(p, ds, o.draws)
    for _, choices in ipairs(o.draws and #rest > 0 and random(rest, o.draws, o.seed)
      or grid(rest)) do
      runs[#runs + 1] = { pipeline = p, stages = variant.choice, choices = choices, path = path,
        chosen = chosen }
      cells = cells + (path and #path.values or 1)
    end
    choose.check_combinations("pipeline:search", cells)
  end
  check_outputs(self, runs, ds.task)
  return runs, cells
end

-- ------------ choosing

-- The direction in which a model becomes simpler for each option: fewer features or components,
-- more regularisation, less capacity. Other options have no order. Returns path -> 1 or -1, and the
-- paths in the order of comparison.
local function simplicity(runs)
  local direction, in_turn = { ["features.T"] = -1, ["pca.k"] = -1 }, { "features.T", "pca.k" }
  local roles = { { "regularisation", 1 }, { "capacity", -1 } }
  for _, run in ipairs(runs) do
    for _, role in ipairs(roles) do
      local name = component.role(run.pipeline.solver, role[1])
      local path = name and "solver." .. name
      if path and not direction[path] then
        direction[path], in_turn[#in_turn + 1] = role[2], path
      end
    end
  end
  return { direction = direction, in_turn = in_turn }
end

-- True if cell a is simpler than cell b, and differs from the best cell only in options that have
-- an order. The first option in turn that differs between a and b decides.
local function is_simpler(names, order, a, b, best)
  for _, name in ipairs(names) do
    if not order.direction[name] and a.choice[name] ~= best.choice[name] then return false end
  end
  for _, name in ipairs(order.in_turn) do
    local x, y = a.choice[name], b.choice[name]
    if x ~= y and type(x) == "number" and type(y) == "number" then
      return (x - y) * order.direction[name] > 0
    end
  end
  return false
end

-- The position of the best cell.
local function best_place(cells)
  local best = search_table.best_of(cells, cells)
  for i, cell in ipairs(cells) do if cell == best then return i end end
end

-- The position of the chosen cell. "one_se": the simplest cell whose mean is within one standard
-- error of the best, and whose fits converged if those of the best did.
local function choose_place(cells, rule, order)
  local chosen = best_place(cells)
  if rule ~= "one_se" then return chosen end
  local best = cells[chosen]
  local limit = best.mean + (cells.larger and -1 or 1) * best.stderr
  for i, cell in ipairs(cells) do
    if not cells:better(limit, cell.mean) and (cell.unconverged == 0 or best.unconverged > 0)
      and is_simpler(cells.names, order, cell, cells[chosen], best) then
      chosen = i
    end
  end
  return chosen
end

-- Fits a cell on all rows; reuses the stages and map of its run if they were kept, or if the run
-- was finished before the process began: these are then made again.
local function refit(ds, source, cell, all_kept, stored)
  local run, kept = cell.run, all_kept[cell.choice["features.T"] or ""]
  if multilabel.apart(run.pipeline.solver, ds) then
    local p = judging.chosen(run.pipeline, cell.choice):fit(target_form.original(ds))
    p.fitted.chosen = run.chosen and run.chosen.about or p.fitted.chosen
    return p
  end
  if not kept or kept.run.shared ~= run.shared then kept = all_kept[""] end
  local _ <close> = core.level "fit"
  ds, source = recipe.rows_of(run.pipeline, ds, source, cell.choice)
  if kept and kept.run.shared == run.shared and kept.again then kept.made = kept.again() end
  if stored then stored:begin(fitting.LAST_PART, search_runs.sums_number(run.shared)) end
  local result = judging.chosen(run.pipeline, cell.choice)
  local made = judging.prepare(run.pipeline, ds, source, cell.choice, nil, nil,
    kept and kept.run.shared == run.shared and kept.made or nil)
  local path = run.path and { values = { cell.choice[run.path.path] } }
  local fits = judging.solve(made, 0, path)
  local solver = made.solver
  if path then solver = component.with(solver, run.path.option, path.values[1]) end
  return fitting.keep(result, ds, made.prepared, solver, fits[1], nil, run.chosen)
end

-- The column for the option `each`: for "solver" the stage that is a solver, or nil if there is
-- only one solver.
local function column_of_each(self, cells, each)
  for _, name in ipairs(cells.names) do
    local one = self.variants and self.variants[1].choice[name]
    if name == each or each == "solver" and one and one == self.variants[1].pipeline.solver then
      return name
    end
  end
  if each == "solver" then return nil end
  error(("each = %s: this is not a searched option%s"):format(options.show(each),
    objects.suggestion(each, cells.names)), 0)
end

-- value of a column (for stages: label) -> the best pipeline with that value.
local function best_of_each(ds, source, cells, name, kept, stored)
  local labels, rows, fitted = search_table.labels_of(cells, name), {}, {}
  for _, cell in ipairs(cells) do
    local value = cell.choice[name]
    local key = type(value) == "table" and labels[search_table.key_of(value)] or value
    if key ~= nil then
      rows[key] = rows[key] or {}
      table.insert(rows[key], cell)
    end
  end
  for key, list in pairs(rows) do
    local cell = search_table.best_of(cells, list)
    fitted[key] = refit(ds, source, cell, kept, stored)
    fitted[key].choice, fitted[key].table = cell.choice, cells
  end
  return fitted
end

-- ------------ stopping half-way

-- Restores the order of the grid.
local function sort_cells(cells)
  table.sort(cells, function(a, b)
    if a.run ~= b.run then return a.run.index < b.run.index end
    return a.index < b.index
  end)
end

local Stopped = objects.class("search stopped", { fields = "message table choice cells" })

function Stopped:__tostring()
  return ("%s\n%d of %d cells were finished:\n%s"):format(self.message, #self.table, self.cells,
    tostring(self.table))
end

-- The error of an interrupted search: { message =, table = the finished cells, choice = the best of
-- them, cells = the planned number }.
local function stop(message, cells, planned)
  if #cells == 0 then error(message, 0) end
  sort_cells(cells)
  cells.place = best_place(cells)
  error(setmetatable({ message = options.plain(message), table = cells,
    choice = cells.best.choice, cells = planned }, Stopped), 0)
end

-- ------------ checks

-- Raises an error for options that do not go together; returns the criterion.
local function check(self, ds, o)
  local n = ds:size()
  if not self.solver then error("the pipeline has no solver", 0) end
  if not recipe.is_searched(self) then
    error("no option is marked with sc.choose: there is nothing to search", 0)
  end
  fitting.check_processes(ds, "pipeline:search")
  if o.outer and not o.holdout and (o.folds == "time" or type(o.folds) == "table") then
    error("outer = k repeats the search without each outer fold; it goes with a number of folds", 0)
  end
  if math.type(o.folds) == "integer" and not o.holdout and o.folds > n then
    error(("%d folds of %d rows"):format(o.folds, n), 0)
  end
  local default = ds.task == "classification" and o.folds ~= "gcv" and "error" or "loss"
  local variants = self.variants or { { pipeline = self } }
  for _, variant in ipairs(variants) do
    if multilabel.apart(variant.pipeline.solver, ds) then default = "subset_accuracy" end
  end
  local criterion = criteria.of(o.score or default, ds.task)
  for _, variant in ipairs(variants) do
    multilabel.check_judged(variant.pipeline.solver, ds, o, criterion)
  end
  for _, name in ipairs{ "count", "gap", "horizon" } do
    if o[name] and (o.holdout or o.estimate) then
      error(("option '%s' goes with folds = \"time\""):format(name), 0)
    end
  end
  if o.estimate == "gcv" and (o.groups or o.groups == nil and ds.groups) then
    error("folds = \"gcv\" does not keep groups of rows together: give folds = k, or groups = \z
      false", 0)
  end
  if criterion.name ~= "loss" and o.folds == "gcv" then
    error("folds = \"gcv\" estimates the squared error: score = \"loss\"", 0)
  end
  if criterion.name ~= "loss" and criterion.name ~= "error" and o.estimate == "loo" then
    error("folds = \"loo\" estimates the squared error or the share of wrong labels: score = \z
      \"loss\" or \"error\"", 0)
  end
  if o.estimate and o.stages == "fold" then
    error(("stages = \"fold\" goes with folds = k, not with \"%s\""):format(o.folds), 0)
  end
  local from_targets = false
  for _, variant in ipairs(variants) do
    from_targets = from_targets or recipe.learns_from_targets(variant.pipeline)
  end
  if o.estimate and from_targets then
    error(("folds = \"%s\" is for stages that do not learn from the targets, as sc.relevance() \z
      does: give folds = k"):format(o.folds), 0)
  end
  if (o.estimate or o.holdout) and o.rule == "one_se" then
    error(("rule = \"one_se\" needs a standard error, which %s does not give: give folds = k")
      :format(o.holdout and "a hold-out" or ("folds = \"%s\""):format(o.folds)), 0)
  end
  return criterion
end

-- ------------ nested: the whole search without
-- each outer fold, judged on it

-- { mean, stderr, folds, choices }: the scores on the outer folds of the pipelines that a search
-- without the fold chose, and these choices.
local function nested(self, ds, o, criterion)
  local inner, values, choices = {}, {}, {}
  for k, v in pairs(o) do inner[k] = v end
  local folds = ds:fold_ids{ k = o.outer, seed = o.seed + 1, groups = o.groups,
    shuffle = o.shuffle }
  inner.outer, inner.each = nil, nil -- only for the search on all rows
  inner.progress, inner.judged, inner.estimate = nil, nil, nil -- the outer search reports
  inner.checkpoint, inner.every, inner.restart = nil, nil, nil
  if inner.holdout then inner.folds = nil end
  local level <close> = progress.level{ name = "outer fold", total = o.outer }
  for f = 1, o.outer do
    local train, test = judging.split(ds, folds, f)
    local p = search.run(self, train, inner)
    values[f], choices[f] = judging.of_model(criterion, p.fitted, test), p.choice
    level:step()
  end
  local mean, stderr = judging.mean(values)
  return { mean = mean, stderr = stderr, folds = values, choices = choices }
end

-- The number of rows that judge a cell by one score; nil: folds do.
local function rows_judged(ds, o, folds)
  if o.estimate then return ds:size() end
  local count = 0
  for _, fold in ipairs(o.holdout and folds or {}) do count = count + (fold == 1 and 1 or 0) end
  return o.holdout and count or nil
end

-- What determines the cells of a search, for its checkpoint: options and folds.
local function work_of(o, folds)
  local work = { folds = {} }
  for _, name in ipairs{ "estimate", "judged", "seed", "stages", "draws", "method" } do
    work[name] = o[name]
  end
  work.score = type(o.score) == "string" and o.score or nil
  for i, fold in ipairs(folds or {}) do work.folds[i] = fold end
  return work
end

-- p:search with checked options: the best pipeline, fitted, with its fields choice, table and each.
-- refuse: see search.run.
local function run_whole(self, data, o, refuse)
  local ds = dataset.coerce(data)
  if o.groups and type(o.groups) ~= "string" then -- parts of the rows then have theirs
    ds, o.groups = dataset.with(ds, { groups = folding.groups_of(o.groups, (ds:size())) }), nil
  end
  -- leave-one-out of groups has no short cut: each group is a fold
  local grouped = o.groups or (o.groups == nil and ds.groups ~= nil)
  o.estimate = estimates[o.folds] and not (o.folds == "loo" and grouped) and o.folds or nil
  local criterion = check(self, ds, o)
  local folds = search_runs.folds(ds, o)
  if refuse then refuse(self, ds, o) end
  local stored <close> = checkpoint.open("pipeline:search", self, ds, o, work_of(o, folds))
  local learnt = target_form.learn(self.target, ds, self.solver)
  local source, coded
  if not core.is_texts(learnt.X) then source, coded = dataset.source_of_targets(learnt) end
  local runs, planned = plan(self, learnt, o, stored)
  local cells = search_table.new(runs, criterion)
  local column = o.each and column_of_each(self, cells, o.each)
  cells.seed, cells.rows = folds and o.seed or nil, rows_judged(ds, o, folds)
  if stored then stored.prefix = "" end
  local ok, kept = pcall(methods[o.method], { ds = learnt, source = source, folds = folds,
    o = o, criterion = criterion, stored = stored }, runs, cells)
  if not ok then stop(kept, cells, planned) end
  dataset.check_seen(coded)
  sort_cells(cells)
  cells.place, cells.rule = choose_place(cells, o.rule, simplicity(runs)), o.rule
  if not o.draws and o.method == "grid" then
    search_table.find_edge(cells, cells[best_place(cells)])
  end
  local done, result = pcall(refit, learnt, source, cells.best, kept, stored)
  if not done then stop(result, cells, planned) end
  if column then
    done, result.each = pcall(best_of_each, learnt, source, cells, column, kept, stored)
    if not done then stop(result.each, cells, planned) end
  elseif o.each then
    result.each = { [result.solver.name] = result }
  end
  local choice = cells.best.choice
  if o.outer then
    local through, outer = pcall(nested, self, ds, o, criterion)
    if not through then stop(type(outer) == "table" and outer.message or outer, cells, planned) end
    cells.outer = outer
  end
  local solver, unconverged = cells[1].run.pipeline.solver.name, 0
  for _, cell in ipairs(cells) do
    unconverged = unconverged + cell.unconverged
    cell.run, cell.index = nil, nil
  end
  if unconverged > 0 then
    warn(("solver.%s: %d of the search's fits did not converge; its table says where"):format(
      solver, unconverged))
  end
  result.choice, result.table = search_table.choice(choice), cells
  local report, notes = result.fitted.report, cells:notes()
  if report.note then table.insert(notes, 1, report.note) end
  report.note = #notes > 0 and table.concat(notes, "; ") or nil
  return result
end

--- search.planned(pipeline, ds, options): for a plan: the runs of a search in their order, and how
--- many cells they have. run.shared is the same table for runs that share their sums; run.choices,
--- and run.path.values if a run has the values of a path option. Third: the options, checked, with
--- `estimate`.
function search.planned(self, ds, given)
  local o = options.check("pipeline:plan", given, rules, 0)
  if o.method ~= "grid" then
    error(("pipeline:plan: plans the whole grid, and method = \"%s\" chooses cells by the scores \z
      of others"):format(o.method), 0)
  end
  if o.holdout and given.folds then
    error("pipeline:plan: 'holdout' and 'folds' are two ways to judge: give one of them", 0)
  end
  o.estimate, o.planned = estimates[o.folds] and o.folds or nil, true
  check(self, ds, o)
  local runs, cells = plan(self, ds, o)
  search_runs.group(runs)
  return runs, cells, o
end

--- search.run(pipeline, data, options, refuse): see Pipeline:search. refuse(pipeline, ds, options),
--- or nil: raises an error if the search would need more memory than is left.
function search.run(self, data, given, refuse)
  local o = options.check("pipeline:search", given, rules, 0)
  if o.holdout and given.folds then
    error("pipeline:search: 'holdout' and 'folds' are two ways to judge: give one of them", 0)
  end
  checkpoint.check("pipeline:search", given)
  return progress.watched("pipeline:search", o.progress, run_whole, self, data, o, refuse)
end

return search
