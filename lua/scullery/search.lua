--- Cross-validation over everything marked by sc.choose. One pass over the data per choice of
--- features: folds are accumulated apart in it, the model without a fold comes from the sums of the
--- others, and every value of the solver's path option reuses them; solvers that share no sums are
--- run side by side, a fold each. A second pass judges all candidates at once.
local core = require "scullery.core"
local dataset = require "scullery.dataset"
local options = require "scullery.options"
local pipeline = require "scullery.pipeline"

local search = {}

local estimates = { loo = true, gcv = true } -- what a solver may tell of its own

local rules = {
  folds = { test = function(v) return estimates[v] or math.type(v) == "integer" and v >= 2 end,
            takes = "a whole number of at least 2, \"loo\" or \"gcv\"", default = 5 },
  seed = { type = "integer", default = 0 },
  score = { choices = { "error", "loss" } },
  stages = { choices = { "shared", "fold" }, default = "shared" },
  draws = { type = "integer", low = 1 },
  rule = { choices = { "best", "one_se" }, default = "best" },
  outer = { type = "integer", low = 2 },
}

-- ------------------------------------------------------------ what to try

-- All combinations of the searched options: a list of {path = value}.
local function grid(searched)
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

local function key_of(searched, choices)
  local parts = {}
  for i, one in ipairs(searched) do parts[i] = tostring(choices[one.path]) end
  return table.concat(parts, "\0")
end

-- `draws` combinations, seeded, no two alike; all of them where there are no more.
local function random(searched, draws, seed)
  local size, finite = 1, true
  for _, one in ipairs(searched) do
    size, finite = size * #one.values, finite and not one.choose:continuous()
  end
  if finite and size <= draws then return grid(searched) end
  local list, seen, most = {}, {}, 50 * draws
  local u = core.rand{ most, #searched, seed = seed }
  for i = 1, most do
    local choices = {}
    for j, one in ipairs(searched) do choices[one.path] = one.choose:draw(u:get(i, j)) end
    local key = key_of(searched, choices)
    if not seen[key] then list[#list + 1] = choices end
    seen[key] = true
    if #list == draws then break end
  end
  return list
end

-- Split the searched options into the solver's path option (many values at once) and the rest.
-- Drawn at random, a range is no path.
local function split_path(self, draws)
  local path_name = core.path_option(self.solver:instance())
  local path, rest = nil, {}
  for _, one in ipairs(self:searched()) do
    if path_name and one.path == "solver." .. path_name
      and not (draws and one.choose:continuous()) then path = one else rest[#rest + 1] = one end
  end
  return path, rest
end

-- The runs: a pipeline, choices that share no pass, and the path that each goes through whole.
local function plan(self, o)
  local runs, cells = {}, 0
  for _, variant in ipairs(self.variants or { { pipeline = self, choice = {} } }) do
    local p = variant.pipeline
    if not p.solver then error("the pipeline has no solver", 0) end
    if estimates[o.folds] and not p.solver:role("estimate") then
      error(("folds = \"%s\": solver.%s tells no estimate of its own; give folds = k"):format(
        o.folds, p.solver.name), 0)
    end
    local path, rest = split_path(p, o.draws)
    for _, choices in ipairs(o.draws and #rest > 0 and random(rest, o.draws, o.seed)
      or grid(rest)) do
      runs[#runs + 1] = { pipeline = p, stages = variant.choice, choices = choices, path = path }
      cells = cells + (path and #path.values or 1)
    end
  end
  return runs, cells
end

-- ------------------------------------------------------------ one run:
-- tallies[fold][candidate], or scores[candidate] of the solver's own

local function prepare(p, ds, source, choices, folds, estimate)
  local prepared = p:prepare(source, choices)
  return { prepared = prepared, solver = p:make_solver(source, prepared, choices, estimate),
    training = core.training(source, prepared.stages, prepared.map,
      p:training_options(ds, folds)) }
end

-- fits[k] for the path's values, or the one fit of a solver without a searched path option;
-- without: a fold, or a list of folds.
local function solve(made, without, path)
  return core.solve(made.training, made.solver:instance(), without, path and path.values or nil)
end

-- One pass: sums per fold, models without each fold, then all judged on the fold that they did not
-- see.
local function shared_stages(run, ds, source, folds, k)
  local made = prepare(run.pipeline, ds, source, run.choices, folds)
  local all = {}
  for f = 1, k do all[f] = f end
  local candidates = solve(made, all, run.path)
  return { tallies = core.score(made.training, candidates), candidates = candidates, made = made }
end

local function split(ds, folds, f)
  local inside, outside = {}, {}
  for i, fold in ipairs(folds) do
    local list = fold == f and outside or inside
    list[#list + 1] = i
  end
  return ds:select(inside), ds:select(outside)
end

-- Row stages fitted anew without each fold, and parameters that are learnt from rows: nothing of a
-- fold is seen before it is judged, at the price of a pass a fold.
local function stages_per_fold(run, ds, _, folds, k)
  local tallies, candidates = {}, {}
  for f = 1, k do
    local train, test = split(ds, folds, f)
    local made = prepare(run.pipeline, train, train:source_of_targets(), run.choices)
    local judging <close> = core.training(test:source_of_targets(), made.prepared.stages,
      made.prepared.map, { classes = ds.task == "classification" and #ds.classes or 0,
        dtype = run.pipeline.dtype, block = run.pipeline.block })
    candidates[f] = solve(made, 0, run.path)
    tallies[f] = core.score(judging, { candidates[f] })[1]
  end
  return { tallies = tallies, candidates = candidates }
end

-- The solver's own estimate, from one fit on all rows.
local function own_estimate(run, ds, source, what, o)
  local estimate = o.folds == "loo" and what == "error" and "loo_error" or o.folds
  local made = prepare(run.pipeline, ds, source, run.choices, nil, estimate)
  local fits = solve(made, 0, run.path)
  return { fits = fits, candidates = { fits }, made = made }
end

-- ------------------------------------------------------------ cells

-- Mean over folds and its standard error, for candidate c.
local function summarise(result, c, what)
  if result.fits then
    return result.fits[c].score
  end
  local values, sum, square = {}, 0, 0
  for f, fold in ipairs(result.tallies) do
    local t = fold[c]
    values[f] = (what == "error" and t.wrong or t.square) / t.rows
    sum = sum + values[f]
  end
  local mean = sum / #values
  for _, v in ipairs(values) do square = square + (v - mean) ^ 2 end
  return mean, math.sqrt(square / (#values - 1) / #values), values
end

local function count_unconverged(candidates, c)
  local count = 0
  for _, fits in ipairs(candidates) do
    if fits[c].status == "iterations exhausted" then count = count + 1 end
  end
  return count
end

local Table = { __name = "search table" }
search.table_class = Table

-- A table of results prints as one: a line a cell, the best marked.
function Table:__tostring()
  local widths, texts = {}, {}
  for j, name in ipairs(self.names) do
    widths[j] = #name
    for i, row in ipairs(self) do
      texts[i] = texts[i] or {}
      local value = row.choice[name]
      texts[i][j] = value == nil and "-" or tostring(type(value) == "table" and value
        or options.show(value))
      widths[j] = math.max(widths[j], #texts[i][j])
    end
  end
  local function line(cells)
    local parts = {}
    for j, text in ipairs(cells) do parts[j] = text .. (" "):rep(widths[j] - #text) end
    return table.concat(parts, "  ")
  end
  local lines = { line(self.names) .. ("%14s %12s"):format(self.score, "std. error") }
  for i, row in ipairs(self) do
    local stderr = row.stderr and ("%12.2g"):format(row.stderr) or ("%12s"):format("-")
    local mark = i ~= self.best and "" or self.rule == "one_se" and "  <- simplest near the best"
      or "  <- best"
    if row.unconverged > 0 then
      mark = mark .. ("  (%d fits did not converge)"):format(row.unconverged)
    end
    lines[#lines + 1] = line(texts[i] or {}) .. ("%14.6g %s"):format(row.mean, stderr) .. mark
  end
  if self.outer then
    lines[#lines + 1] = ("nested: %.6g, std. error %.2g"):format(self.outer.mean, self.outer.stderr)
  end
  return table.concat(lines, "\n")
end

local function new_table(runs, what)
  local cells, seen = setmetatable({ names = {}, score = what }, Table), {}
  local function add(name)
    if not seen[name] then cells.names[#cells.names + 1] = name end
    seen[name] = true
  end
  for _, run in ipairs(runs) do
    local chosen = {}
    for name in pairs(run.stages) do chosen[#chosen + 1] = name end
    table.sort(chosen, function(a, b)
      return tonumber(a:match("%d+")) < tonumber(b:match("%d+"))
    end)
    for _, name in ipairs(chosen) do add(name) end
    for _, one in ipairs(run.pipeline:searched()) do add(one.path) end
  end
  return cells
end

-- ------------------------------------------------------------ choosing

-- Which way a model gets simpler: fewer features or components, more regularisation, less capacity.
-- Other options have no order. Returns path -> 1 or -1, and the paths in the order in which they
-- are compared.
local function simplicity(runs)
  local direction, in_turn = { ["features.T"] = -1, ["pca.k"] = -1 }, { "features.T", "pca.k" }
  local roles = { { "regularisation", 1 }, { "capacity", -1 } }
  for _, run in ipairs(runs) do
    for _, role in ipairs(roles) do
      local name = run.pipeline.solver:role(role[1])
      local path = name and "solver." .. name
      if path and not direction[path] then
        direction[path], in_turn[#in_turn + 1] = role[2], path
      end
    end
  end
  return { direction = direction, in_turn = in_turn }
end

-- Whether a differs from the best in nothing but options with an order.
local function comparable(names, order, a, best)
  for _, name in ipairs(names) do
    if not order.direction[name] and a.choice[name] ~= best.choice[name] then return false end
  end
  return true
end

local function is_simpler(order, a, b)
  for _, name in ipairs(order.in_turn) do
    local x, y = a.choice[name], b.choice[name]
    if x ~= y and type(x) == "number" and type(y) == "number" then
      return (x - y) * order.direction[name] > 0
    end
  end
  return false
end

local function choose_cell(cells, rule, order)
  local best = 1
  for i, cell in ipairs(cells) do if cell.mean < cells[best].mean then best = i end end
  if rule ~= "one_se" then return best end
  local chosen, limit = best, cells[best].mean + cells[best].stderr
  for i, cell in ipairs(cells) do
    if cell.mean <= limit and comparable(cells.names, order, cell, cells[best])
      and is_simpler(order, cell, cells[chosen]) then
      chosen = i
    end
  end
  return chosen
end

-- The pipeline with the choices put in, not fitted yet.
local function chosen_pipeline(p, choices)
  local copy = setmetatable({}, pipeline.class)
  for key, value in pairs(p) do copy[key] = value end
  copy.fitted, copy.data, copy.variants, copy.rows = nil, nil, nil, {}
  for i, stage in ipairs(p.rows) do copy.rows[i] = stage:resolved(choices) end
  copy.features = p.features and p.features:resolved(choices)
  copy.solver = p.solver:resolved(choices)
  return copy
end

-- Fit the chosen cell on all rows; what its run made is used again where it was kept.
local function refit(ds, source, cells, kept)
  local cell = cells[cells.best]
  local run = cell.run
  local result = chosen_pipeline(run.pipeline, cell.choice)
  local made = kept and kept.run == run and kept.made or prepare(run.pipeline, ds, source,
    cell.choice)
  local path = run.path and { values = { cell.choice[run.path.path] } }
  local fits = solve(made, 0, path)
  local solver = made.solver
  if path then solver = solver:with(run.path.option, path.values[1]) end
  return result:keep(ds, made.prepared, solver, fits[1])
end

-- ------------------------------------------------------------ stopping half-way

local Stopped = { __name = "search stopped" }
Stopped.__index = Stopped

function Stopped:__tostring()
  return ("%s\n%d of %d cells were finished:\n%s"):format(self.message, #self.table, self.cells,
    tostring(self.table))
end

-- The error with the cells that were finished: { message =, table =, choice = the best of them,
-- cells = how many there were to be }.
local function stop(message, cells, planned)
  if #cells == 0 then error(message, 0) end
  cells.best = choose_cell(cells, "best")
  error(setmetatable({ message = options.plain(message), table = cells,
    choice = cells[cells.best].choice, cells = planned }, Stopped), 0)
end

local function add_cells(cells, run, result, what)
  for c = 1, run.path and #run.path.values or 1 do
    local choice = {}
    for k, v in pairs(run.stages) do choice[k] = v end
    for k, v in pairs(run.choices) do choice[k] = v end
    if run.path then choice[run.path.path] = run.path.values[c] end
    local mean, stderr, values = summarise(result, c, what)
    if not mean or mean ~= mean then mean = math.huge end -- no number is never the best
    local unconverged = count_unconverged(result.candidates, c)
    cells[#cells + 1] = { choice = choice, mean = mean, stderr = stderr, folds = values,
      unconverged = unconverged, run = run }
  end
end

local function run_all(ds, source, folds, runs, cells, o)
  local kept, least
  for i, run in ipairs(runs) do
    core.progress_label(#runs > 1 and ("search %d of %d: "):format(i, #runs) or nil)
    local apart = o.stages == "fold" or run.pipeline:learns(run.choices)
    local judge = apart and stages_per_fold or shared_stages
    local result = estimates[o.folds] and own_estimate(run, ds, source, cells.score, o)
      or judge(run, ds, source, folds, o.folds)
    local first = #cells + 1
    add_cells(cells, run, result, cells.score)
    for c = first, #cells do
      if not least or cells[c].mean < least then
        least, kept = cells[c].mean, { run = run, made = result.made }
      end
    end
  end
  return kept
end

-- ------------------------------------------------------------ checks

-- Each fold must leave rows of two classes to learn from.
local function check_folds(ds, folds, k)
  if ds.task ~= "classification" or not ds.y then return end
  local T = ds:targets()
  local plain = #ds.classes == 2
  for f = 1, k do
    local seen, count = {}, 0
    for i, fold in ipairs(folds) do
      if fold ~= f then
        local class = plain and T:get(i, 1) or T[i]:argmax(2):get(1, 1)
        if not seen[class] then count = count + 1 end
        seen[class] = true
        if count > 1 then break end
      end
    end
    if count < 2 then
      error(("without fold %d all rows have one class: there is nothing to tell apart; give \z
        fewer folds"):format(f), 0)
    end
  end
end

local function check(self, ds, o)
  local n = ds:size()
  if not self.solver then error("the pipeline has no solver", 0) end
  if not self:is_searched() then
    error("no option is marked with sc.choose: there is nothing to search", 0)
  end
  if math.type(o.folds) == "integer" and o.folds > n then
    error(("%d folds of %d rows"):format(o.folds, n), 0)
  end
  local what = o.score or (ds.task == "classification" and o.folds ~= "gcv" and "error" or "loss")
  if what == "error" and ds.task ~= "classification" then
    error("score = \"error\" is for classification; a regression takes \"loss\"", 0)
  end
  if what == "error" and o.folds == "gcv" then
    error("folds = \"gcv\" estimates the squared error: score = \"loss\"", 0)
  end
  if estimates[o.folds] and o.stages == "fold" then
    error(("stages = \"fold\" goes with folds = k, not with \"%s\""):format(o.folds), 0)
  end
  if estimates[o.folds] and o.rule == "one_se" then
    error(("rule = \"one_se\" needs a standard error, which folds = \"%s\" does not give: give \z
      folds = k"):format(o.folds), 0)
  end
  return what
end

-- ------------------------------------------------------------ nested: the whole search without
-- each outer fold, judged on it

local function judge(p, ds, what)
  local t = p.fitted:tally(ds)
  return (what == "error" and t.wrong or t.square) / t.rows
end

local function nested(self, ds, o, what)
  local folds = ds:fold_ids{ k = o.outer, seed = o.seed + 1 }
  local inner, values, choices, sum, square = {}, {}, {}, 0, 0
  for k, v in pairs(o) do inner[k] = v end
  inner.outer = nil
  for f = 1, o.outer do
    local train, test = split(ds, folds, f)
    local p = search.run(self, train, inner)
    values[f], choices[f] = judge(p, test, what), p.choice
    sum = sum + values[f]
  end
  local mean = sum / o.outer
  for _, v in ipairs(values) do square = square + (v - mean) ^ 2 end
  return { mean = mean, stderr = math.sqrt(square / (o.outer - 1) / o.outer), folds = values,
    choices = choices }
end

local function warn(cells)
  local count = 0
  for _, cell in ipairs(cells) do count = count + cell.unconverged end
  if count > 0 then
    local name = cells[1].run.pipeline.solver.name
    io.stderr:write(
      ("scullery: solver.%s: %d of the search's fits did not converge; its table says \z
        where\n"):format(name, count))
  end
end

--- search.run(pipeline, data, options): see Pipeline:search.
function search.run(self, data, given)
  local o = options.check("pipeline:search", given, rules, 0)
  local ds = dataset.coerce(data)
  local what = check(self, ds, o)
  local folds = not estimates[o.folds] and ds:fold_ids{ k = o.folds, seed = o.seed } or nil
  if folds then check_folds(ds, folds, o.folds) end
  local source = ds:source_of_targets()
  local runs, planned = plan(self, o)
  local cells = new_table(runs, what)
  local ok, kept = pcall(run_all, ds, source, folds, runs, cells, o)
  core.progress_label(nil)
  if not ok then stop(kept, cells, planned) end
  cells.best, cells.rule = choose_cell(cells, o.rule, simplicity(runs)), o.rule
  local done, result = pcall(refit, ds, source, cells, kept)
  if not done then stop(result, cells, planned) end
  local choice = cells[cells.best].choice
  if o.outer then
    local through, outer = pcall(nested, self, ds, o, what)
    if not through then stop(type(outer) == "table" and outer.message or outer, cells, planned) end
    cells.outer = outer
  end
  warn(cells)
  for _, cell in ipairs(cells) do cell.run = nil end
  result.choice, result.table = choice, cells
  return result
end

return search
