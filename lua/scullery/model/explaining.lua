--- Which columns a fitted model uses, and how: permutation importance (Breiman 2001), partial
--- dependence (Friedman 2001) and individual conditional expectations (Goldstein et al. 2015).
local core = require "scullery.core"
local column_list = require "scullery.data.columns"
local fail = require "scullery.base.fail"
local criteria = require "scullery.model.criteria"
local dataset = require "scullery.data.dataset"
local judging = require "scullery.model.judging"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local probabilities = require "scullery.model.probabilities"
local progress = require "scullery.base.progress"
local streams = require "scullery.base.streams"
local text_table = require "scullery.base.text_table"

local explaining = {}

-- ------------ columns

-- X with the columns column.first .. column.last replaced by the matrix `values`.
local function with_columns(X, column, values)
  local n, d, parts = X:rows(), X:cols(), {}
  if column.first > 1 then parts[1] = X:slice(1, n, 1, column.first - 1) end
  parts[#parts + 1] = values
  if column.last < d then parts[#parts + 1] = X:slice(1, n, column.last + 1, d) end
  return #parts > 1 and core.hcat(table.unpack(parts)) or values
end

-- The columns of X with these numbers, in this order.
local function columns_of(X, places)
  if not X.sparse then return X:t():select(places):t():copy() end
  local parts = {}
  for k, j in ipairs(places) do parts[k] = X:slice(1, X:rows(), j, j) end
  return core.hcat(table.unpack(parts))
end

-- The rows to explain with, in memory and with the model's columns and classes.
local function rows_of(p, data)
  local ds = data or p.data
  if not ds then fail("the training rows of this model are not in memory: give a data set") end
  if not dataset.is(ds) then fail("takes a data set, and got %s", options.show(ds)) end
  if not ds.X then fail("this data set streams; load it in memory (without stream = true)") end
  local f = p.fitted
  local found = matching.judged(ds, f)
  if found.places then
    found = dataset.with(found, { X = columns_of(ds.X, found.places), names = f.names,
      schema = f.schema })
    found.places = nil
  end
  return found
end

-- ------------ importance

local Importance = objects.class("importance", { fields = "metric base repeats seed rows" })

function Importance:__tostring()
  local rows = { { "column", "mean", "std. error" } }
  for _, one in ipairs(self) do
    rows[#rows + 1] = { one.name, ("%.4g"):format(one.mean), ("%.2g"):format(one.stderr) }
  end
  return ("what %s loses when a column is shuffled (%.4g with all, %d rows, %d times)\n%s"):format(
    self.metric, self.base, self.rows, self.repeats,
    table.concat(text_table.lines(rows, { sides = { "left", "right", "right" } }), "\n"))
end
explaining.importance_class = Importance

local importance_rules = options.declare("pipeline:importance", {
  repeats = { type = "integer", low = 1, default = 5 }, seed = { type = "integer", default = 0 },
  metric = criteria.rule, progress = progress.rule,
})

local ROUNDING = 1e-13 -- of the metric: smaller losses are rounding errors of its sums

-- The mean of numbers, and its standard error (0 for one number); what is at most `least` is 0.
local function mean_and_error(list, least)
  local sum, square = 0, 0
  for _, v in ipairs(list) do sum = sum + v end
  local mean = sum / #list
  for _, v in ipairs(list) do square = square + (v - mean) ^ 2 end
  local error = math.sqrt(square / math.max(#list - 1, 1) / #list)
  return math.abs(mean) > least and mean or 0, error > least and error or 0
end

-- For each column: the loss of the metric when its values are permuted among the rows, the mean
-- and standard error over o.repeats permutations.
local function importance_of(p, ds, o)
  local f = p.fitted
  local criterion = criteria.of(o.metric, f.task, "metric")
  local base, list = judging.of_model(criterion, f, ds), {}
  local sign, n = criterion.larger and 1 or -1, #ds
  local columns = column_list.of(ds)
  local level <close> = progress.level{ name = "column", total = #columns }
  for c, column in ipairs(columns) do
    local values, lost = ds.X:slice(1, n, column.first, column.last), {}
    for r = 1, o.repeats do
      local order = core.permutation(n, o.seed + r - 1, streams.importance + c)
      local shuffled = dataset.with(ds, { X = with_columns(ds.X, column, values:select(order)) })
      lost[r] = sign * (base - judging.of_model(criterion, f, shuffled))
    end
    local mean, stderr = mean_and_error(lost, ROUNDING * math.abs(base))
    list[c] = { name = column.name, mean = mean, stderr = stderr, place = c }
    level:step()
  end
  table.sort(list, function(a, b)
    if a.mean ~= b.mean then return a.mean > b.mean end
    return a.place < b.place
  end)
  for _, one in ipairs(list) do one.place = nil end
  list.metric, list.base, list.repeats, list.seed, list.rows = criterion.name, base, o.repeats,
    o.seed, n
  return setmetatable(list, Importance)
end

--- explaining.importance(p, data, options): see Pipeline:importance.
function explaining.importance(p, data, given)
  local o = options.check("pipeline:importance", given, importance_rules, 0)
  if p.fitted.encoder and not p.fitted.names then
    fail("the columns are hashed terms, which have no names (sc.text{ vocabulary = true } names \z
      them); p:explain(text) says by which terms a text is decided")
  end
  local ds = rows_of(p, data)
  if not ds.y then fail("the data set has no y") end
  if #ds < 2 then fail("the data set has one row: there is nothing to shuffle") end
  return progress.watched("pipeline:importance", o.progress, importance_of, p, ds, o)
end

-- ------------ dependence

local Dependence = objects.class("dependence", {
  fields = "column values mean stderr curves what rows categories" })

function Dependence:__tostring()
  local rows = { { self.column, "mean", "std. error" } }
  for k, value in ipairs(self.values) do
    rows[#rows + 1] = { self.categories and self.categories[k] or ("%.5g"):format(value),
      ("%.4g"):format(self.mean[k]), ("%.2g"):format(self.stderr[k]) }
  end
  return ("%s, the mean over %d rows\n%s"):format(self.what, self.rows,
    table.concat(text_table.lines(rows, { sides = { "left", "right", "right" } }), "\n"))
end
explaining.dependence_class = Dependence

local dependence_rules = options.declare("pipeline:dependence", {
  points = { type = "integer", low = 2, default = 20 },
  rows = { type = "integer", low = 2, default = 500 }, seed = { type = "integer", default = 0 },
  curves = { type = "integer", low = 0, default = 0 }, class = { type = "any" },
})

-- The column of that name: { name, first, last, category, levels } (see data/columns.lua); raises
-- an error with the most similar name.
local function find_column(ds, name)
  local names = {}
  for _, column in ipairs(column_list.of(ds)) do
    if column.name == name then return column end
    names[#names + 1] = column.name
  end
  fail("takes a column's name, and got %s%s", options.show(name), objects.suggestion(name, names))
end

-- The distinct values among `points` evenly spaced quantiles of a column, ascending.
local function quantiles(column, points)
  local sorted, list, n = {}, {}, column:rows()
  for i = 1, n do sorted[i] = column:get(i, 1) end
  table.sort(sorted)
  for k = 0, points - 1 do
    local v = sorted[math.floor(k * (n - 1) / (points - 1) + 0.5) + 1]
    if v ~= list[#list] then list[#list + 1] = v end
  end
  return list
end

-- A function X -> n x 1 numbers to average, and a name for them.
local function output_of(p, class)
  local f = p.fitted
  if f.task == "regression" then
    return function(X) return f:predict(core.source(X), "labels"):column(1) end,
      f.targets > 1 and ("prediction 1 of %d"):format(f.targets) or "prediction"
  end
  local k = #f.classes == 2 and 2 or nil
  for place, label in ipairs(f.classes) do if label == class then k = place end end
  if class ~= nil and f.classes[k] ~= class then
    fail("option 'class' got %s, which is not one of the classes", options.show(class))
  end
  if not k then fail("the model has %d classes: give class = LABEL", #f.classes) end
  if probabilities.known(f) then
    return function(X)
      return probabilities.of(f, f:scores(core.source(X))):column(k)
    end, ("probability of %s"):format(tostring(f.classes[k]))
  end
  return function(X)
    local scores = f:scores(core.source(X))
    if scores:cols() > 1 then return scores:column(k) end
    return k == 2 and scores or scores * -1
  end, ("score of %s"):format(tostring(f.classes[k]))
end

-- The settings of a column: a list of values, the names of categories (nil for a number), and a
-- list of functions n -> the n x width matrix that sets all rows to the value. A category is a row
-- of 0/1 columns.
local function settings_of(ds, column, points)
  local values, names, set = {}, nil, {}
  if not column.category then
    values = quantiles(ds.X:column(column.first), points)
    for k, v in ipairs(values) do set[k] = function(n) return core.ones(n, 1) * v end end
    return values, names, set
  end
  names = {}
  for k = 1, column.last - column.first + 1 do
    values[k] = k
    names[k] = column.levels[k] or "?"
    set[k] = function(n)
      local row = core.zeros(1, column.last - column.first + 1)
      row:set(1, k, 1)
      return core.ones(n, 1) * row
    end
  end
  return values, names, set
end

--- explaining.dependence(p, data, name, options): see Pipeline:dependence.
function explaining.dependence(p, data, name, given)
  local o = options.check("pipeline:dependence", given, dependence_rules, 0)
  local ds = rows_of(p, data)
  if #ds > o.rows then ds = ds:sample{ rows = o.rows, seed = o.seed } end
  local column = find_column(ds, name)
  local output, what = output_of(p, o.class)
  local values, categories, set = settings_of(ds, column, o.points)
  local n = #ds
  local self = setmetatable({ column = name, values = values, categories = categories, what = what,
    rows = n, mean = {}, stderr = {}, curves = {} }, Dependence)
  local single = math.min(o.curves, n) -- evenly spaced, as files may be sorted
  for i = 1, single do self.curves[i] = {} end
  for k in ipairs(values) do
    local out = output(with_columns(ds.X, column, set[k](n)))
    local mean = out:mean()
    local gap = out - mean
    self.mean[k], self.stderr[k] = mean, math.sqrt(gap:mul(gap):sum() / math.max(n - 1, 1) / n)
    for i, curve in ipairs(self.curves) do curve[k] = out:get(1 + (i - 1) * n // single, 1) end
  end
  return self
end

return explaining
