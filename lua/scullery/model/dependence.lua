--- How a fitted model uses a column: partial dependence (Friedman 2001) and individual conditional
--- expectations (Goldstein et al. 2015).
local column_list = require "scullery.data.columns"
local core = require "scullery.core"
local explaining = require "scullery.model.explaining"
local fail = require "scullery.base.fail"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local probabilities = require "scullery.model.probabilities"
local text_table = require "scullery.base.text_table"

local dependence = {}

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
dependence.class = Dependence

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
  local near = objects.suggestion(name, names)
  fail("takes a column's name, and got %s%s", options.show(name),
    near ~= "" and near or "; ds.names lists them")
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

--- dependence.of(p, data, name, options): see Pipeline:dependence.
function dependence.of(p, data, name, given)
  local o = options.check("pipeline:dependence", given, dependence_rules, 0)
  local ds = explaining.rows_of(p, data)
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
    local out = output(explaining.with_columns(ds.X, column, set[k](n)))
    local mean = out:mean()
    local gap = out - mean
    self.mean[k], self.stderr[k] = mean, math.sqrt(gap:mul(gap):sum() / math.max(n - 1, 1) / n)
    for i, curve in ipairs(self.curves) do curve[k] = out:get(1 + (i - 1) * n // single, 1) end
  end
  return self
end

return dependence
