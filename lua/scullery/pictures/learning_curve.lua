--- Learning curves: the training error and the test error of a pipeline against the number of
--- training rows.
local core = require "scullery.core"
local criteria = require "scullery.model.criteria"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local figures = require "scullery.pictures.figures"
local judging = require "scullery.model.judging"
local numbers = require "scullery.pictures.numbers"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local pipeline = require "scullery.model.pipeline"
local plot = require "scullery.plot"
local progress = require "scullery.base.progress"
local recipe = require "scullery.model.recipe"
local streams = require "scullery.base.streams"

local learning_curve = {}

local SIZES = 6 -- numbers of rows by default

local rules = {
  pipeline = { test = pipeline.is, takes = "a pipeline, as sc.pipeline{...}", required = true },
  data = { test = dataset.is, takes = "a data set", required = true },
  sizes = { type = "table", takes = "a list of numbers of rows" },
  folds = { type = "integer", low = 2, default = 5 }, seed = { type = "integer", default = 0 },
  score = criteria.rule, title = { type = "string" }, width = { type = "integer" },
  height = { type = "integer" },
}
options.declare("plot.learning_curve", rules)

-- ------------ subsets of rows

-- A random order of the rows in which each prefix has the classes in proportion, up to rounding. A
-- row is placed by its number among the rows of its class, divided by the size of the class.
local function nested_order(ds, seed)
  local order = core.permutation(#ds, seed, streams.learning_curve)
  if ds.task ~= "classification" then return order end
  local sizes, seen, key = {}, {}, {}
  for i = 1, #ds do
    local label = ds.y:get(i, 1)
    sizes[label] = (sizes[label] or 0) + 1
  end
  for place, i in ipairs(order) do
    local label = ds.y:get(i, 1)
    key[i] = { (seen[label] or 0) / sizes[label], place }
    seen[label] = (seen[label] or 0) + 1
  end
  table.sort(order, function(a, b)
    if key[a][1] ~= key[b][1] then return key[a][1] < key[b][1] end
    return key[a][2] < key[b][2]
  end)
  return order
end

-- SIZES numbers of rows at equal distances on a log axis, up to `most`, the smallest training part.
local function default_sizes(ds, most)
  local least = math.min(most, math.max(10, 2 * #(ds.classes or {})))
  local sizes = {}
  for i = 0, SIZES - 1 do
    local size = math.floor(least * (most / least) ^ (i / (SIZES - 1)) + 0.5)
    if size ~= sizes[#sizes] then sizes[#sizes + 1] = size end
  end
  return sizes
end

-- The option `sizes` as a list; raises an error unless they are ascending whole numbers in range.
local function check_sizes(given, most, classes)
  local last, list = 0, {}
  for i, size in ipairs(given) do
    size = type(size) == "number" and math.tointeger(size)
    if not size or size <= last or size > most then
      fail("option 'sizes' takes whole numbers, ascending, from 1 to %d (the rows outside the \z
        largest fold), and has %s in place %d", most, options.show(given[i]), i)
    end
    list[i], last = size, size
  end
  if #list == 0 then fail("option 'sizes' takes a list of numbers of rows") end
  if list[1] < classes then
    fail("size %d is too small: there are %d classes, and each size must hold rows of every class",
      list[1], classes)
  end
  return list
end

-- ------------ the table

local Table = objects.class("learning curve", { example = "curve", list = true,
  fields = "score folds seed" })
learning_curve.class = Table

function Table:__tostring()
  local lines = { ("%8s %14s %12s %14s %12s"):format("rows", "train " .. self.score, "std. error",
    "test " .. self.score, "std. error") }
  for _, row in ipairs(self) do
    lines[#lines + 1] = ("%8d %14.6g %12.2g %14.6g %12.2g"):format(row.rows, row.train,
      row.train_stderr, row.test, row.test_stderr)
  end
  return table.concat(lines, "\n")
end

-- Adds the scores of one fold to each row of the table: of a model that is fitted to the first
-- row.rows rows, in a nested order, of those outside the fold.
local function run_fold(o, criterion, train, test, rows)
  local order = nested_order(train, o.seed)
  for _, row in ipairs(rows) do
    local some = train:select(table.move(order, 1, row.rows, 1, {}))
    local title = row.rows == 1 and "1 row" or ("%d rows"):format(row.rows)
    local fitted = objects.titled(title, function()
      return o.pipeline:clone{}:fit(some).fitted
    end)
    row.folds.train[#row.folds.train + 1] = judging.of_model(criterion, fitted, some)
    row.folds.test[#row.folds.test + 1] = judging.of_model(criterion, fitted, test)
  end
end

-- The table behind the picture.
local function measure(o, criterion, folds, sizes)
  local rows = setmetatable({ score = criterion.name, folds = o.folds, seed = o.seed }, Table)
  for i, size in ipairs(sizes) do rows[i] = { rows = size, folds = { train = {}, test = {} } } end
  local level <close> = progress.level{ name = "fold", total = o.folds }
  for f = 1, o.folds do
    local train, test = judging.split(o.data, folds, f)
    run_fold(o, criterion, train, test, rows)
    level:step()
  end
  for _, row in ipairs(rows) do
    row.train, row.train_stderr = judging.mean(row.folds.train)
    row.test, row.test_stderr = judging.mean(row.folds.test)
  end
  return rows
end

-- ------------ the picture

-- The figure of the table.
local function draw(o, rows)
  local x, series, lows = {}, {}, {}
  for i, row in ipairs(rows) do x[i] = row.rows end
  for k, name in ipairs{ "test", "train" } do
    local y, errors = {}, {}
    for i, row in ipairs(rows) do
      y[i], errors[i] = row[name], row[name .. "_stderr"]
      lows[#lows + 1] = y[i] - errors[i]
    end
    series[k] = { x = x, y = y, error = errors,
      label = name == "test" and "test rows" or "training rows" }
  end
  return figures.noted(plot.line{ series = series, marks = true, x_log = numbers.log_spaced(x),
    y_log = numbers.wide(lows), title = o.title or "Learning curve", width = o.width,
    height = o.height, x_label = "rows learnt from", y_label = figures.score_label(rows.score) },
    { ("bands: 1 standard error over %d folds, seed %d; smaller sets of rows are parts of larger \z
      ones"):format(o.folds, o.seed) })
end

-- The checked options, and the data set.
local function check(given)
  local o = options.check("plot.learning_curve", given, rules, 0)
  local p, ds = o.pipeline, o.data
  if not p.solver then fail("the pipeline has no solver") end
  if recipe.is_searched(p) then
    fail("an option of the pipeline is sc.choose{...}: search first, and give the result")
  end
  if not ds.X then fail("the data set streams; load it in memory (without stream = true)") end
  if not ds.y then fail("the data set has no y") end
  if o.folds > #ds then fail("%d folds of %d rows", o.folds, #ds) end
  return o, ds
end

--- sc.plot.learning_curve{ pipeline =, data =[, sizes =, folds = 5, seed = 0, score =] }: a figure,
--- and the table behind it. For each of k folds the recipe is fitted to nested subsets of the rows
--- outside it (each with the classes in proportion), and scored on the subset and on the fold.
--- sizes: numbers of rows, ascending; by default six at equal distances on a log axis. score: as in
--- p:search; by default "error" for a classification and "mse" for a regression. Bands: 1 standard
--- error over the folds. The table has one row for each size, with the fields rows, train,
--- train_stderr, test, test_stderr, folds.train, folds.test (lists of the scores of the folds); it
--- prints.
function learning_curve.plot(given)
  local o, ds = check(given)
  local criterion = criteria.of(o.score or (ds.task == "classification" and "error" or "mse"),
    ds.task)
  local folds = ds:fold_ids{ k = o.folds, seed = o.seed }
  judging.check_folds(ds, folds, o.folds)
  local counts, most = {}, 0
  for f = 1, o.folds do counts[f] = 0 end
  for _, f in ipairs(folds) do counts[f] = counts[f] + 1 end
  for f = 1, o.folds do most = math.max(most, counts[f]) end
  most = #ds - most
  local sizes = o.sizes and check_sizes(o.sizes, most, #(ds.classes or {}))
    or default_sizes(ds, most)
  local rows = measure(o, criterion, folds, sizes)
  return draw(o, rows), rows
end

return learning_curve
