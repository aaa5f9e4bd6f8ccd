--- Cross-validation over everything marked by sc.choose. One pass over the data per choice of features: folds are accumulated apart in it, the model without a fold
--- comes from the sums of the others, and every value of the solver's path option reuses them. A second pass judges all candidates at once.
local core = require "scullery.core"
local dataset = require "scullery.dataset"
local options = require "scullery.options"
local pipeline = require "scullery.pipeline"

local search = {}

local rules = {
  folds = { type = "integer", low = 2, default = 5 },
  seed = { type = "integer", default = 0 },
  score = { choices = { "error", "loss" } },
  stages = { choices = { "shared", "fold" }, default = "shared" },
}

-- All combinations of the searched options but the path's: a list of {path = value}.
local function combinations(searched)
  local list = { {} }
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

-- Split the searched options into the solver's path option (many values at once) and the rest.
local function split_path(self, searched)
  local path_name = self.solver and core.path_option(self.solver:instance())
  local path, rest = nil, {}
  for _, one in ipairs(searched) do
    if path_name and one.path == "solver." .. path_name then path = one else rest[#rest + 1] = one end
  end
  return path, rest
end

-- fits[k] for the path's values, or the one fit of a solver without a searched path option.
local function solve(training, solver, intercept, without, path)
  return core.solve(training, solver, intercept, without, path and path.values or nil)
end

-- One pass: sums per fold, models without each fold, then all judged on the fold that they did not see.
local function shared_stages(self, ds, source, folds, k, choices, path)
  local prepared = self:prepare(source, choices)
  local solver = self:make_solver(source, prepared, choices)
  local intercept = core.settings(solver).intercept == true
  local training = core.training(source, prepared.stages, prepared.map, self:training_options(ds, folds))
  local candidates = {}
  for f = 1, k do candidates[f] = solve(training, solver, intercept, f, path) end
  return core.score(training, candidates), { prepared = prepared, training = training, solver = solver, intercept = intercept }
end

-- Row stages fitted anew without each fold: nothing of a fold is seen before it is judged, at the price of a pass a fold.
local function stages_per_fold(self, ds, _, folds, k, choices, path)
  local tallies = {}
  for f = 1, k do
    local inside, outside = {}, {}
    for i, fold in ipairs(folds) do
      local list = fold == f and outside or inside
      list[#list + 1] = i
    end
    local train, test = ds:select(inside), ds:select(outside)
    local source = train:source_of_targets()
    local prepared = self:prepare(source, choices)
    local solver = self:make_solver(source, prepared, choices)
    local intercept = core.settings(solver).intercept == true
    local training = core.training(source, prepared.stages, prepared.map, self:training_options(train))
    local judging = core.training(test:source_of_targets(), prepared.stages, prepared.map, self:training_options(test))
    tallies[f] = core.score(judging, { solve(training, solver, intercept, 0, path) })[1]
  end
  return tallies
end

-- Mean over folds and its standard error, for candidate c.
local function summarise(tallies, c, what)
  local values, sum, square = {}, 0, 0
  for f, fold in ipairs(tallies) do
    local t = fold[c]
    values[f] = (what == "error" and t.wrong or t.square) / t.rows
    sum = sum + values[f]
  end
  local mean = sum / #values
  for _, v in ipairs(values) do square = square + (v - mean) ^ 2 end
  return mean, math.sqrt(square / (#values - 1) / #values)
end

local Table = { __name = "search table" }

-- A table of results prints as one: a line a cell, the best marked.
function Table:__tostring()
  local names = self.names
  local heads = {}
  for _, name in ipairs(names) do heads[#heads + 1] = ("%-20s"):format(name) end
  local lines = { table.concat(heads) .. ("%12s %12s"):format(self.score, "std. error") }
  for i, row in ipairs(self) do
    local cells = {}
    for _, name in ipairs(names) do cells[#cells + 1] = ("%-20s"):format(options.show(row.choice[name])) end
    lines[#lines + 1] = table.concat(cells) .. ("%12.6g %12.2g%s"):format(row.mean, row.stderr, i == self.best and "  <- best" or "")
  end
  return table.concat(lines, "\n")
end

-- The pipeline with the choices put in, not fitted yet.
local function chosen(self, choices)
  local copy = setmetatable({}, pipeline.class)
  for key, value in pairs(self) do copy[key] = value end
  copy.fitted = nil
  copy.features = self.features and self.features:resolved(choices)
  copy.solver = self.solver:resolved(choices)
  return copy
end

--- p:search(ds, { folds = 5, seed = 0, score =, stages = }): a new fitted pipeline, with .choice (option -> value) and .table (a row a cell: choice, mean, stderr).
--- folds: k, at least 2; stratified for classification. score: "error" (share of wrong labels; the default for classification) or "loss" (squared error).
--- stages: "shared" fits row stages once on all rows given (one pass for all folds); "fold" fits them anew without each fold.
function search.run(self, data, given)
  local o = options.check("pipeline:search", given, rules, 0)
  local ds = dataset.coerce(data)
  local searched = self:searched()
  if not self.solver then error("the pipeline has no solver", 0) end
  if #searched == 0 then error("no option is marked with sc.choose: there is nothing to search", 0) end
  local n = ds:size()
  if o.folds > n then error(("%d folds of %d rows"):format(o.folds, n), 0) end
  local what = o.score or (ds.task == "classification" and "error" or "loss")
  if what == "error" and ds.task ~= "classification" then error("score = \"error\" is for classification; a regression takes \"loss\"", 0) end
  local folds, source = ds:fold_ids{ k = o.folds, seed = o.seed }, ds:source_of_targets()
  local path, rest = split_path(self, searched)
  local cells = setmetatable({ names = {}, score = what }, Table)
  for _, one in ipairs(searched) do cells.names[#cells.names + 1] = one.path end
  local best
  for _, choices in ipairs(combinations(rest)) do
    local run = o.stages == "fold" and stages_per_fold or shared_stages
    local tallies, kept = run(self, ds, source, folds, o.folds, choices, path)
    for c = 1, path and #path.values or 1 do
      local choice = {}
      for k, v in pairs(choices) do choice[k] = v end
      if path then choice[path.path] = path.values[c] end
      local mean, stderr = summarise(tallies, c, what)
      cells[#cells + 1] = { choice = choice, mean = mean, stderr = stderr }
      if not best or mean < best.mean then best = { mean = mean, choice = choice, kept = kept, place = #cells } end
    end
  end
  cells.best = best.place
  local result = chosen(self, best.choice)
  local kept = best.kept
  if not kept then
    local prepared = self:prepare(source, best.choice)
    local solver = self:make_solver(source, prepared, best.choice)
    kept = { prepared = prepared, solver = solver, intercept = core.settings(solver).intercept == true,
             training = core.training(source, prepared.stages, prepared.map, self:training_options(ds)) }
  end
  local values = path and { values = { best.choice[path.path] } }
  result:keep(ds, kept.prepared, solve(kept.training, kept.solver, kept.intercept, 0, values)[1], best.choice)
  result.choice, result.table = best.choice, cells
  return result
end

return search
