--- Pictures of the effect of columns in a model: permutation importance, partial dependence, and
--- individual conditional expectations.
local explaining = {}

local dependence = require "scullery.model.dependence"
local fail = require "scullery.base.fail"
local figures = require "scullery.pictures.figures"
local importance = require "scullery.model.importance"
local options = require "scullery.base.options"
local plot = require "scullery.plot"
local text = require "scullery.base.text"

local MOST_BARS, MOST_COLUMNS, CURVES = 15, 9, 25
-- Pixels; columns of short and of the longest names; pixels for a column more.
local HEIGHT, SHORT, LONG, SLOPE = 480, 8, 24, 6
local RANKING_ROWS, RANKING_REPEATS = 1000, 2 -- for choosing columns to draw
local BY_DEFAULT = 4 -- columns whose dependence is drawn by default

local size_rules = { title = { type = "string" }, width = { type = "integer" },
  height = { type = "integer" } }
options.declare("importance:plot", size_rules)
options.declare("dependence:plot", size_rules)

-- ------------ importance

--- explaining.importance(list[, given]): see Importance:plot.
function explaining.importance(list, given)
  local o = options.check("importance:plot", given, size_rules, 0)
  local names, means, errors, longest = {}, {}, {}, SHORT
  for i = 1, math.min(#list, MOST_BARS) do
    names[i], means[i], errors[i] = list[i].name, list[i].mean, list[i].stderr
    longest = math.max(longest, math.min(LONG, text.width(list[i].name)))
  end
  -- Slanted names take the room of the bars: the figure grows by as much.
  local height = o.height or HEIGHT + SLOPE * (longest - SHORT)
  local notes = { ("%s is %.4g with all columns; each shuffled %d times on %d rows"):format(
    list.metric, list.base, list.repeats, list.rows) }
  if list.repeats > 1 then
    notes[2] = "error bars: 1 standard error over the repetitions"
  else
    errors = nil
  end
  if #list > MOST_BARS then
    notes[#notes + 1] = ("the %d largest of %d columns"):format(MOST_BARS, #list)
  end
  return figures.noted(plot.bars{ names = names, values = means, error = errors,
    title = o.title or "Permutation importance", width = o.width, height = height,
    y_label = "loss of " .. list.metric }, notes)
end

-- ------------ dependence

-- A figure of a dependence on a column of numbers: the mean, over faint lines of single rows. All
-- have one colour, and only one of the faint lines is in the legend.
local function lines_of(d, shared)
  shared.series, shared.x_label = {}, d.column
  for i, curve in ipairs(d.curves) do
    shared.series[i] = { x = d.values, y = curve, label = i == 1 and "single rows" or nil }
  end
  table.insert(shared.series, { x = d.values, y = d.mean, error = d.stderr, label = "mean" })
  local figure = plot.line(shared)
  for _, layer in ipairs(figure.panels[1].layers) do
    layer.colour, layer.faint = 1, layer.label ~= "mean"
  end
  return figure
end

--- explaining.dependence(d[, given]): see Dependence:plot.
function explaining.dependence(d, given)
  local o = options.check("dependence:plot", given, size_rules, 0)
  local shared = { title = o.title or "Dependence on " .. d.column, width = o.width,
    height = o.height, y_label = d.what }
  local notes = { ("mean over %d rows, with 1 standard error"):format(d.rows) }
  if not d.categories then
    if #d.curves > 0 then
      notes[1] = notes[1] .. (", and %d single rows"):format(#d.curves)
    end
    return figures.noted(lines_of(d, shared), notes)
  end
  shared.names, shared.values, shared.error, shared.x_label = d.categories, d.mean, d.stderr,
    d.column
  return figures.noted(plot.bars(shared), notes)
end

-- ------------ for p:plot and p:report

-- The names of the BY_DEFAULT most important columns, estimated on a sample of rows.
local function most_important(p, data, o)
  local ds = data or p.data
  if ds and ds.X and #ds > RANKING_ROWS then
    ds = ds:sample{ rows = RANKING_ROWS, seed = o.seed or 0 }
  end
  local names = {}
  for i, one in ipairs(importance.of(p, ds, { repeats = RANKING_REPEATS, seed = o.seed })) do
    if i <= BY_DEFAULT then names[i] = one.name end
  end
  return names
end

-- A figure of the dependence on each column of the option `column`.
local function dependences(about)
  local p, o = about.pipeline, about.options
  local names = o.column or most_important(p, about.data, o)
  if type(names) ~= "table" then names = { names } end
  if #names == 0 or #names > MOST_COLUMNS then
    fail("option 'column' takes a name or a list of up to %d names, and got %d", MOST_COLUMNS,
      #names)
  end
  local list = {}
  for i, name in ipairs(names) do
    list[i] = explaining.dependence(dependence.of(p, about.data or p.data, name, {
      points = o.points, rows = o.rows, seed = o.seed, class = o.class,
      curves = o.curves or CURVES }))
  end
  return list
end

--- explaining.figures_of(kind)(about): the pictures; kind: "importance" or "dependence"; about: {
--- pipeline =, data =, options = those of p:plot }.
function explaining.figures_of(kind)
  if kind == "dependence" then return dependences end
  return function(about)
    local o = about.options
    return { explaining.importance(importance.of(about.pipeline, about.data,
      { repeats = o.repeats, seed = o.seed, metric = o.metric })) }
  end
end

return explaining
