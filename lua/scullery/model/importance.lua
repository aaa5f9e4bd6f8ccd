--- Permutation importance: which columns a fitted model uses (Breiman 2001).
local column_list = require "scullery.data.columns"
local core = require "scullery.core"
local criteria = require "scullery.model.criteria"
local dataset = require "scullery.data.dataset"
local explaining = require "scullery.model.explaining"
local fail = require "scullery.base.fail"
local judging = require "scullery.model.judging"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local progress = require "scullery.base.progress"
local streams = require "scullery.base.streams"
local text_table = require "scullery.base.text_table"

local importance = {}

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
importance.class = Importance

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
      local X = explaining.with_columns(ds.X, column, values:select(order))
      lost[r] = sign * (base - judging.of_model(criterion, f, dataset.with(ds, { X = X })))
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

--- importance.of(p, data, options): see Pipeline:importance.
function importance.of(p, data, given)
  local o = options.check("pipeline:importance", given, importance_rules, 0)
  if p.fitted.encoder and not p.fitted.names then
    fail("the columns are hashed terms, which have no names (sc.text{ vocabulary = true } names \z
      them); p:explain(text) says by which terms a text is decided")
  end
  local ds = explaining.rows_of(p, data)
  if not ds.y then fail("the data set has no y") end
  if #ds < 2 then fail("the data set has one row: there is nothing to shuffle") end
  return progress.watched("pipeline:importance", o.progress, importance_of, p, ds, o)
end

return importance
