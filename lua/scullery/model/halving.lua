--- Successive halving, the way of p:search through its combinations that method = "halving" names:
--- all of them on few rows, the better ones on more.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local features = require "scullery.compose.features"
local folding = require "scullery.data.folds"
local options = require "scullery.base.options"
local recipe = require "scullery.model.recipe"
local search_runs = require "scullery.model.search_runs"
local search_table = require "scullery.model.search_table"
local trials = require "scullery.model.trials"

local halving = {}

-- The rounds before the last one (Jamieson and Talwalkar 2016): the shares of the rows and of the
-- parameters, which grow as the square root of the rows (Rudi and Rosasco 2017), and the share of
-- all cells that stay. A grid of c cells takes c/256 + c/32 + 0.15 c fits in units of a fit with
-- all rows and parameters, whose work grows as rows times parameters squared: less than a fifth.
local ROUNDS = { { rows = 1 / 16, T = 1 / 4, stay = 0.5 },
  { rows = 1 / 4, T = 1 / 2, stay = 0.15 } }
local LEAST_ROWS, LEAST_T = 200, 100

-- T in a round with so many rows; more landmarks than rows cannot be drawn.
local function fewer(T, share, rows)
  if math.type(T) ~= "integer" then return T end
  return math.min(T, math.max(math.ceil(T * share), LEAST_T), rows // 2)
end

-- A copy of the pipeline with that share of its parameters.
local function narrowed(p, share, rows)
  if not p.features or trials.least_T(p) > LEAST_T then return p end
  local copy = setmetatable({}, recipe.class)
  for key, value in pairs(p) do copy[key] = value end
  copy.features = features.copied(p.features)
  copy.features.T = fewer(p.features.T, share, rows)
  for i, part in ipairs(p.features.parts or {}) do
    if i == 1 then copy.features.parts = {} end
    copy.features.parts[i] = features.copied(part)
    copy.features.parts[i].T = fewer(part.T, share, rows)
  end
  return copy
end

-- A copy of the searched path option whose values are f(value).
local function path_with(path, f)
  local copy = { path = path.path, option = path.option, choose = path.choose, values = {} }
  for k, value in ipairs(path.values) do copy.values[#copy.values + 1] = f(value, k) end
  return copy
end

-- The solver's option whose values are scaled with the rows, or nil: neighbours are counted.
local function scaled_option(solver)
  for _, option in ipairs(core.plugin_info("solver", solver.name).options) do
    if option.role == "regularisation" and option.takes_number then return option end
  end
end

-- The runs of a round with `rows` of n rows: copies with fewer parameters; run.of: the run of the
-- last round. Solvers minimise a mean over rows plus lambda times the penalty: the prior and the
-- noise of a cell stay the same where rows times lambda do.
local function runs_of_round(runs, round, rows, n)
  local list, known = {}, {}
  for i, run in ipairs(runs) do
    known[run.pipeline] = known[run.pipeline] or narrowed(run.pipeline, round.T, rows)
    local choices, option = {}, scaled_option(run.pipeline.solver)
    local lambda = option and "solver." .. option.name
    local function more(value)
      local scaled = type(value) == "number" and value * n / rows or value
      return type(scaled) == "number" and scaled >= option.high and value or scaled
    end
    for name, value in pairs(run.choices) do
      choices[name] = name:find "features%.T$" and fewer(value, round.T, rows)
        or name == lambda and more(value) or value
    end
    local path = run.path
    if path and path.path == lambda then path = path_with(path, more) end
    list[i] = { pipeline = known[run.pipeline], stages = run.stages, choices = choices,
      path = path, chosen = run.chosen, of = run }
  end
  return list
end

-- The runs with only their cells that are among the `count` best; place[cell]: its place among all.
local function best_of(runs, cells, count)
  local order, place, stay = {}, {}, {}
  for i, cell in ipairs(cells) do order[i], place[cell] = cell, i end
  table.sort(order, function(a, b)
    if a.mean ~= b.mean then return cells:better(a.mean, b.mean) end
    return place[a] < place[b]
  end)
  for i = 1, count do
    local of = order[i].run.of
    stay[of] = stay[of] or {}
    stay[of][order[i].index] = true
  end
  local list = {}
  for _, run in ipairs(runs) do
    local mine = stay[run]
    if mine then
      list[#list + 1] = { pipeline = run.pipeline, stages = run.stages, choices = run.choices,
        chosen = run.chosen, path = run.path and path_with(run.path, function(value, k)
          if mine[k] then return value end
        end) }
    end
  end
  return list
end

-- One round on a random part of the rows: the runs that stay, and a line about it.
local function halved(work, runs, total, round)
  local ds, o = work.ds, setmetatable({ each = false }, { __index = work.o })
  local rows = math.max(math.ceil(round.rows * #ds), LEAST_ROWS)
  local count = math.max(math.ceil(round.stay * total), 1)
  if 2 * rows > #ds or count >= total then return runs end
  local _, some = folding.split(ds, { test = rows, seed = o.seed + 1, groups = o.groups })
  local part = ds:select(some)
  if math.type(o.holdout) == "integer" then
    o.holdout = math.max(o.holdout * #part // #ds, 1)
  end
  if math.type(o.folds) == "integer" then o.folds = math.min(o.folds, #part) end
  local source
  if not core.is_texts(part.X) then source = dataset.source_of_targets(part) end
  local list = runs_of_round(runs, round, #part, #ds)
  local cells = search_table.new(list, work.criterion)
  search_runs.run_all({ ds = part, source = source, folds = search_runs.folds(part, o), o = o,
    criterion = work.criterion }, list, cells)
  return best_of(runs, cells, count), ("%d on %d rows"):format(#cells, #part)
end

-- Raises an error for rows of which no random part can be drawn.
local function check_rows(work)
  local o = work.o
  if not work.ds.X then
    error("method = \"halving\" draws parts of the rows, and this data set streams", 0)
  end
  if not o.holdout and (type(o.folds) == "table" or o.folds == "time") then
    error(("method = \"halving\" draws parts of the rows at random, and folds = %s is given for \z
      all: give a number of folds, \"loo\", \"gcv\" or holdout ="):format(options.show(o.folds)), 0)
  end
end

--- halving.run(work, runs, cells): all cells are judged on few rows with few parameters, the better
--- ones on more, and the best 15 % with all. It takes and returns what search_runs.run_all does.
function halving.run(work, runs, cells)
  check_rows(work)
  local total, said = 0, {}
  for _, run in ipairs(runs) do total = total + (run.path and #run.path.values or 1) end
  for _, round in ipairs(ROUNDS) do runs, said[#said + 1] = halved(work, runs, total, round) end
  if #said > 0 then
    cells.how = ("halving of %d cells: %s; these on all rows"):format(total,
      table.concat(said, ", "))
  end
  return search_runs.run_all(work, runs, cells)
end

return halving
