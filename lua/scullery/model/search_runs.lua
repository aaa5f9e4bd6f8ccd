--- The runs of a search: each judged on its folds, or found in a checkpoint.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local folding = require "scullery.data.folds"
local judging = require "scullery.model.judging"
local progress = require "scullery.base.progress"
local recipe = require "scullery.model.recipe"

local search_runs = {}

-- A run is a table of pipeline, choices, path, index and shared, the table that it shares with runs
-- of the same work before the solver (search.lua makes both).

-- A text that is equal for runs with the same work before the solver: the same stages, features and
-- choices about them, except the number of parameters. number: a table that gives each object a
-- number.
local function key_before_solver(run, number)
  local p, parts = run.pipeline, {}
  for i, stage in ipairs(recipe.stages(p)) do
    if stage ~= p.solver then parts[i] = number[stage] end
  end
  table.insert(parts, recipe.feature_form(p, run.choices))
  local names = {}
  for name in pairs(run.choices) do
    if not name:find("^solver%.") and name ~= "features.T" then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do parts[#parts + 1] = name .. "=" .. number[run.choices[name]] end
  return table.concat(parts, " ")
end

-- For each run a table that it shares with runs of the same work before the solver: index (position
-- of the first such run), width (T), and wider (the table of the same work with the next larger T).
local function shared_tables(runs)
  local count, tables, families = 0, {}, {}
  local number = setmetatable({}, { __index = function(self, object)
    count = count + 1
    self[object] = count
    return count
  end })
  for i, run in ipairs(runs) do
    local T = run.choices["features.T"]
    local family = key_before_solver(run, number)
    local key = family .. " T=" .. tostring(T)
    if not tables[key] then
      tables[key] = { index = i, width = T or 0, run = run }
      families[family] = families[family] or {}
      table.insert(families[family], tables[key])
    end
    run.index, run.shared = i, tables[key]
  end
  return families
end

--- search_runs.group(runs): reorders the runs: those that differ only in the solver are neighbours,
--- and those that differ in T follow each other, the largest T first, because the others use its
--- sums over the rows.
function search_runs.group(runs)
  for _, family in pairs(shared_tables(runs)) do
    local first = family[1].index
    table.sort(family, function(a, b) return a.width > b.width end)
    for i, shared in ipairs(family) do
      shared.family, shared.place, shared.wider = first, i, family[i - 1]
      shared.is_wider = i < #family
    end
  end
  table.sort(runs, function(a, b)
    local x, y = a.shared, b.shared
    if x.family ~= y.family then return x.family < y.family end
    if x ~= y then return x.place < y.place end
    return a.index < b.index
  end)
end

--- search_runs.sums_number(shared): the number of the sums over the rows of a shared table in a
--- checkpoint.
function search_runs.sums_number(shared) return 10 + shared.index end
local sums_number = search_runs.sums_number

-- The solver's own risk estimate, from one fit on all rows: the same fields as judging.run returns,
-- but `fits`, whose scores are the estimates, in place of `values`.
local function own_estimate(run, ds, source, what, o)
  local estimate = o.estimate == "loo" and what == "error" and "loo_error" or o.estimate
  ds, source = recipe.rows_of(run.pipeline, ds, source, run.choices)
  local made = judging.prepare(run.pipeline, ds, source, run.choices, nil, estimate, run.shared)
  local fits = judging.solve(made, 0, run.path)
  return { fits = fits, candidates = { fits }, made = made }
end

-- Appends a cell for each candidate of a run: its choice of options, mean over folds with standard
-- error and the folds themselves, or the solver's own estimate alone.
local function add_cells(cells, run, found)
  for c = 1, run.path and #run.path.values or 1 do
    local choice = {}
    for k, v in pairs(run.stages) do choice[k] = v end
    for k, v in pairs(run.choices) do choice[k] = v end
    if run.path then choice[run.path.path] = run.path.values[c] end
    local mean, stderr
    if found.estimates then mean = found.estimates[c]
    else mean, stderr = judging.mean(found.values[c]) end
    -- NaN is never the best
    if not mean or mean ~= mean then mean = cells.larger and -math.huge or math.huge end
    cells[#cells + 1] = { choice = choice, mean = mean, stderr = stderr,
      folds = stderr and found.values[c], unconverged = found.unconverged[c], run = run, index = c }
  end
end

-- What a search keeps of a run, as plain numbers: values of the candidates (values[c][fold]) or the
-- solver's own estimates, how many of their fits did not converge, whether stages and map are of
-- all rows (made), and whether sums over the rows were made (summed).
local function numbers_of(run, result)
  local found = { values = result.values, estimates = result.fits and {}, unconverged = {},
    made = result.made ~= nil, summed = run.shared.training ~= nil
      and core.training_has_sums(run.shared.training) }
  for c = 1, run.path and #run.path.values or 1 do
    if result.fits then found.estimates[c] = result.fits[c].score end
    found.unconverged[c] = judging.unconverged(result.candidates, c)
  end
  return found
end

-- Makes stages, map, training and sums of a shared table again that a process before this one had
-- made, in the same way: with the same bits.
local function make_again(shared, ds, source, folds, stored)
  if shared.training then return end
  if shared.wider then make_again(shared.wider, ds, source, folds, stored) end
  local run, number = shared.run, sums_number(shared)
  shared.checkpoint = stored:begin(number, number)
  ds, source = recipe.rows_of(run.pipeline, ds, source, run.choices)
  local made = judging.prepare(run.pipeline, ds, source, run.choices, folds, nil, shared)
  if not shared.summed then return end
  core.training_sum(shared.training,
    core.solver_facts(component.instance(made.solver)).wants_intercept)
end

-- The numbers of a run, and what it made. stored: a checkpoint, or nil; if it has these numbers,
-- the run is not done again.
local function run_one(run, ds, source, folds, cells, o, criterion, stored)
  local result
  local function do_run()
    if stored then
      if run.shared.wider then make_again(run.shared.wider, ds, source, folds, stored) end
      run.shared.checkpoint = stored:begin(10 + run.index, sums_number(run.shared))
    end
    result = o.estimate and own_estimate(run, ds, source, cells.score, o)
      or judging.run(run, ds, source, folds, o.judged, criterion, o.stages)
    return numbers_of(run, result)
  end
  local found = stored and stored:result("run " .. run.index, do_run) or do_run()
  run.shared.summed = run.shared.summed or found.summed
  if result then return found, { made = result.made } end
  return found, { again = found.made and function()
    make_again(run.shared, ds, source, folds, stored)
    return { prepared = run.shared.prepared, training = run.shared.training }
  end or nil }
end

-- Stores the stages and map of a cell in kept[name] if it is the best so far under that name: ""
-- for all cells, and with each = "features.T" the value of T.
local function keep(kept, name, cell, cells, how)
  if kept[name] and not cells:better(cell.mean, kept[name].mean) then return end
  kept[name] = { mean = cell.mean, run = cell.run, made = how.made, again = how.again }
end

--- search_runs.folds(ds, o): the fold of each row, nil for a solver's own estimate. Sets o.judged,
--- the number of folds that judge, one for a hold-out.
function search_runs.folds(ds, o)
  if o.estimate then return nil end
  local folds = o.holdout and dataset.set_aside(ds, o)
    or judging.folds(ds, o, o.seed)
  o.judged = o.holdout and 1 or folding.number(folds)
  judging.check_folds(ds, folds, o.judged)
  return folds
end

-- Does a run and appends its cells; following: the run after it, or nil.
local function do_run(work, run, following, cells, kept)
  local found, how = run_one(run, work.ds, work.source, work.folds, cells, work.o, work.criterion,
    work.stored)
  local first, each = #cells + 1, work.o.each
  add_cells(cells, run, found)
  for c = first, #cells do
    keep(kept, "", cells[c], cells, how)
    if each == "features.T" then keep(kept, cells[c].choice[each], cells[c], cells, how) end
  end
  if not following or following.shared ~= run.shared then
    run.shared.prepared = nil
    if not run.shared.is_wider then run.shared.training = nil end
  end
end

--- search_runs.run_all(work, runs, cells): does all runs, and appends their cells. work: { ds,
--- source, folds, o, criterion, stored = a checkpoint, or nil }. Returns a table from "", for all
--- cells, and with each = "features.T" from each value of T, to what its best cell needs to be
--- fitted again: run, made (stages and map), again (a function that makes these). Those of other
--- runs are released as soon as no later run shares them, to save memory.
function search_runs.run_all(work, runs, cells)
  local kept = {}
  search_runs.group(runs)
  local level <close> = progress.level{ name = "search", total = #runs }
  for i, run in ipairs(runs) do
    do_run(work, run, runs[i + 1], cells, kept)
    level:step()
  end
  return kept
end

--- search_runs.run_next(work, run, number, cells, kept): one more run, number `number`, which
--- shares nothing; kept: as run_all returns, or {}.
function search_runs.run_next(work, run, number, cells, kept)
  run.index, run.shared = number, { index = number, width = 0, run = run }
  do_run(work, run, nil, cells, kept)
end

return search_runs
