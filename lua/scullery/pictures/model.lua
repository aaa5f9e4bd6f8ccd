--- p:plot: pictures of a fitted pipeline: residuals of a regression; confusion matrix, calibration
--- and ranking of a classification; coefficients of a model that is linear in its features; the
--- importance of columns, and the dependence on them.
local core = require "scullery.core"
local criteria = require "scullery.model.criteria"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local keys = require "scullery.base.keys"
local matching = require "scullery.data.matching"
local options = require "scullery.base.options"
local plot = require "scullery.plot"
local probabilities = require "scullery.model.probabilities"

local model = {}

-- ------------ predictions and truth

-- For each row the index of its true class, nil if the model does not know the label; and the
-- number of rows with unknown labels.
local function true_places(targets)
  local places, strangers, c = {}, 0, targets:cols()
  for i = 1, targets:rows() do
    for j = 1, c do if targets:get(i, j) > 0 then places[i] = c == 1 and 2 or j end end
    if c == 1 and targets:get(i, 1) < 0 then places[i] = 1 end
    if not places[i] then strangers = strangers + 1 end
  end
  return places, strangers
end

-- For each row the index of the predicted class.
local function said_places(f, scores)
  local place, list = {}, dataset.texts_of(f:decide(scores), f.classes)
  for k, label in ipairs(f.classes) do place[label] = k end
  for i, label in ipairs(list) do list[i] = place[label] end
  return list
end

-- The given data set or the training rows, and a description of them for the pictures.
local function rows_of(p, data)
  local ds = data or p.data
  if not ds then
    fail("the training rows of this model are not in memory: give data, as in p:plot(test)")
  end
  local n = #ds
  return ds, ("the %d %s"):format(n, ds == p.data and "rows that it learnt from" or "rows given")
end

--- model.judged(pipeline[, data]): the predictions that pictures and reports draw: { model,
--- pipeline, n = the number of rows, rows_text = their description, scores, targets = n x c
--- matrices }; for a classification also classes, truth and said = the index of the true and of the
--- predicted class of each row, strangers = the number of rows whose label was never seen in
--- training (their truth is nil). data: a data set, by default the training rows. Scores that stand
--- for means, and those of transformed targets, are given as predictions.
function model.judged(p, data)
  local f = p.fitted
  local ds, text = rows_of(p, data)
  local judging <close> = f:judging(matching.judged(ds, f))
  local scores, targets = core.decisions_apart(judging, { { f:candidate() } })
  if f.means or f.form then scores = f:decide(scores) end
  local about = { model = f, pipeline = p, n = targets:rows(), rows_text = text, scores = scores,
    targets = targets, training = ds == p.data, target_name = ds.target or "value" }
  if f.task == "classification" then
    about.classes = f.classes
    about.truth, about.strangers = true_places(targets)
    about.said = said_places(f, scores)
  end
  return about
end

-- ------------ the kinds of pictures

-- A function of a model: true if it is of this task, otherwise nil and the reason why the picture
-- does not apply.
local function of_task(task, what)
  return function(f)
    if f.task == task then return true end
    return nil, ("\"%s\" is for a %s, and the model is a %s"):format(what, task, f.task)
  end
end

local is_classification = of_task("classification", "calibration")

-- Whether the picture of probabilities applies to a model; if not, the reason.
local function has_probabilities(f)
  local ok, why = is_classification(f)
  if not ok then return nil, why end
  if probabilities.known(f) then return true end
  return nil, "the model has no probabilities yet: call p:calibrate{} first"
end

-- Whether the picture of coefficients applies to a model; if not, the reason.
local function has_weights(f)
  if not f.weights then
    return nil, ("solver.%s is not linear in the features: it has no coefficients"):format(
      f.solver.name)
  end
  if f.weights:abs():max() > 0 then return true end
  return nil, "all coefficients are 0: there is nothing to draw"
end

local is_ranked = of_task("classification", "roc")

local function ranking(name)
  return { applies = is_ranked, needs_rows = true, asked = true, figures = function(about)
    return require("scullery.pictures.ranking").figures_of(name)(about)
  end }
end

-- Kinds for which a model of any task has a picture; their own options are in `own`.
local function explanation(name)
  return { applies = function() return true end, asked = true, figures = function(about)
    return require("scullery.pictures.explaining").figures_of(name)(about)
  end }
end

-- By name of a kind: applies(f), see of_task; needs_rows: whether it needs the result of
-- model.judged; asked: whether it is drawn only if it is asked for; figures: the function that
-- draws it, by default that of the module with its name.
local kinds = {
  residuals = { applies = of_task("regression", "residuals"), needs_rows = true },
  confusion = { applies = of_task("classification", "confusion"), needs_rows = true },
  calibration = { applies = has_probabilities, needs_rows = true },
  coefficients = { applies = has_weights },
  roc = ranking "roc", pr = ranking "pr", lift = ranking "lift",
  bands = { applies = of_task("regression", "bands"), asked = true },
  importance = explanation "importance", dependence = explanation "dependence",
}
local in_turn = { "residuals", "confusion", "calibration", "coefficients", "roc", "pr", "lift",
  "importance", "dependence", "bands" }

-- The kinds of pictures that take an option, for options that not all kinds take.
local own = { repeats = { "importance" }, metric = { "importance" },
  column = { "dependence", "bands" },
  level = { "bands" },
  points = { "dependence" }, rows = { "dependence" }, curves = { "dependence" },
  class = { "dependence" }, seed = { "importance", "dependence" } }

--- model.names: the kinds of pictures.
model.names = in_turn

--- model.applies(pipeline, what): true if there is such a picture of the model, otherwise nil and
--- the reason.
function model.applies(p, what) return kinds[what].applies(p.fitted) end

--- model.figures(what, about): a list of the main pictures of one kind, and a list of further ones.
function model.figures(what, about)
  local draw = kinds[what].figures or require("scullery.pictures." .. what).figures
  local figures, more = draw(about)
  return figures, more or {}
end

-- The list of kinds to draw: `what`, or all that apply.
local function wanted_kinds(p, what)
  if what ~= nil and not kinds[what] then
    local near = type(what) == "string" and options.nearest(what, { table.unpack(in_turn) })
    fail("takes \"%s\" or \"%s\", and got %s%s",
      table.concat(in_turn, "\", \"", 1, #in_turn - 1), in_turn[#in_turn], options.show(what),
      near and (" (did you mean '%s'?)"):format(near) or "")
  end
  if what == "calibration" and is_classification(p.fitted) and p.data
    and not probabilities.known(p.fitted) then
    probabilities.calibrate(p) -- as p:probabilities does
  end
  if what then
    local ok, why = model.applies(p, what)
    if not ok then fail("%s", why) end
    return { what }
  end
  local list = {}
  for _, name in ipairs(in_turn) do
    if not kinds[name].asked and model.applies(p, name) then list[#list + 1] = name end
  end
  return list
end

-- ------------ together

local function is_names(value)
  if type(value) ~= "table" or getmetatable(value) then return type(value) == "string" end
  for _, name in ipairs(value) do if type(name) ~= "string" then return false end end
  return #value > 0
end

local rules = { title = { type = "string" }, width = { type = "integer" },
  height = { type = "integer" }, column = { test = is_names, takes = "a name or a list of names" },
  repeats = { type = "integer", low = 1 }, metric = criteria.rule, seed = { type = "integer" },
  points = { type = "integer", low = 2 }, rows = { type = "integer", low = 2 },
  curves = { type = "integer", low = 0 }, level = { type = "number", low = 0, high = 1 },
  class = { type = "any" } }
options.declare("pipeline:plot", rules)

-- Raises an error for an option of another kind of picture.
local function check_own(what, o)
  for _, name in ipairs(keys.sorted(own)) do
    if o[name] ~= nil then
      local fits = false
      for _, kind in ipairs(own[name]) do fits = fits or kind == what end
      if not fits then
        fail("option '%s' is for \"%s\"", name, table.concat(own[name], "\" and \""))
      end
    end
  end
end

-- what, data and checked options of p:plot(what, data, given), p:plot(data, given), p:plot(what,
-- given) or p:plot(given).
local function arguments(what, data, given)
  if what ~= nil and type(what) ~= "string" then what, data, given = nil, what, data end
  if given == nil and data ~= nil and not dataset.is(data) and type(data) == "table"
    and not getmetatable(data) then
    data, given = nil, data
  end
  if data ~= nil and not dataset.is(data) then
    fail("takes a data set, and got %s", options.show(data))
  end
  local o = options.check("pipeline:plot", given, rules, 0)
  check_own(what, o)
  return what, data, o
end

local PANEL_WIDTH, PANEL_HEIGHT = 560, 420

local function append(list, more) return table.move(more, 1, #more, #list + 1, list) end

-- All pictures of one kind; for several kinds the main ones, and one more if it fills the last row.
local function gather(p, list, data, o)
  local about, figures, rest = { model = p.fitted, pipeline = p, data = data, options = o }, {}, {}
  for _, name in ipairs(list) do
    if kinds[name].needs_rows and not about.scores then about = model.judged(p, data) end
    local main, more = model.figures(name, about)
    append(figures, main)
    append(rest, more)
  end
  if #list == 1 then append(figures, rest) end
  if #list > 1 and #figures % 2 == 1 then figures[#figures + 1] = rest[1] end
  return figures, about
end

--- model.plot(pipeline, what, data, given): see Pipeline:plot.
function model.plot(p, what, data, given)
  local o
  what, data, o = arguments(what, data, given)
  local figures, about = gather(p, wanted_kinds(p, what), data, o)
  if #figures == 0 then fail("there is no picture of this model") end
  local columns = math.min(#figures, #figures == 3 and 3 or 2)
  local rows = (#figures + columns - 1) // columns
  local rows_text = about.rows_text
  if what and kinds[what].asked and not rows_text then rows_text = select(2, rows_of(p, data)) end
  figures.title = o.title or rows_text and ("%s on %s"):format(p.fitted.solver:label(), rows_text)
    or p.fitted.solver:label()
  figures.columns, figures.width = columns, o.width or columns * PANEL_WIDTH
  figures.height = o.height or rows * PANEL_HEIGHT
  return plot.panels(figures)
end

return model
