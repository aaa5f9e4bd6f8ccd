--- How the targets of a regression are transformed before learning: the option target of a
--- pipeline. A learnt form is { log = true or nil, mean = { ... }, scale = { ... } }: target j is
--- learnt as (log y - mean[j]) / scale[j], or without the logarithm. The engine undoes it in
--- predicted values (core/model/predict.h).
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local options = require "scullery.base.options"

local target_form = {}

local TAKES = '"log", "standardize" or { log = true, standardize = true }'
local known = { log = true, standardize = true }

--- target_form.takes: the valid values of the option, for error messages.
target_form.takes = TAKES

--- target_form.check(given): raises an error unless it is a value of the option; returns it.
function target_form.check(given)
  local fine = given == nil or known[given] ~= nil
  if type(given) == "table" and not getmetatable(given) then
    fine = next(given) ~= nil
    for name, value in pairs(given) do fine = fine and known[name] and type(value) == "boolean" end
  end
  if not fine then
    error(("option 'target' got %s; it takes %s"):format(options.show(given), TAKES), 0)
  end
  return given
end

-- Whether the option asks for "log" or "standardize".
local function wants(given, name)
  return given == name or type(given) == "table" and given[name] == true
end

-- log y, elementwise; raises an error that names the row of a value of 0 or less.
local function logarithms(y)
  for j = 1, y:cols() do
    local low = y:min(1):get(1, j)
    for i = 1, low > 0 and 0 or y:rows() do
      if y:get(i, j) <= 0 then
        error(("option 'target' takes the logarithm of the targets, which are above 0, and row %d \z
          has %s"):format(i, options.show(y:get(i, j))), 0)
      end
    end
  end
  return y:map(math.log)
end

-- (y - mean) / scale for each column; y itself if all means are 0 and all scales 1.
local function scaled(y, form)
  local plain, columns = true, {}
  for j = 1, y:cols() do
    local mean, scale = form.mean[j], form.scale[j]
    plain = plain and mean == 0 and scale == 1
    columns[j] = y:column(j):map(function(v) return (v - mean) / scale end)
  end
  return plain and y or core.hcat(table.unpack(columns))
end

local original = setmetatable({}, { __mode = "k" }) -- transformed data set -> the given one

--- target_form.apply(form, ds): the data set with targets as a model of this form learns them; ds
--- itself if form is nil.
function target_form.apply(form, ds)
  if not form or not ds or not ds.y then return ds end
  local made = dataset.with(ds, { y = scaled(form.log and logarithms(ds.y) or ds.y, form),
    form = form })
  original[made] = ds
  return made
end

--- target_form.learn(given, ds): learns the form that the option `given` asks for from the targets
--- of ds (means and standard deviations), and applies it; ds itself without the option. Raises an
--- error for a classification, for a stream, and for the logarithm of a target of 0 or less.
function target_form.learn(given, ds)
  if given == nil then return ds end
  if ds.task ~= "regression" then
    error("option 'target' of the pipeline transforms the targets of a regression, and this is a \z
      classification", 0)
  end
  if not ds.y then
    error("option 'target' of the pipeline transforms targets in memory, and this data set \z
      streams: load it without stream = true", 0)
  end
  local form = { log = wants(given, "log") or nil, mean = {}, scale = {} }
  local y = form.log and logarithms(ds.y) or ds.y
  for j = 1, y:cols() do
    form.mean[j], form.scale[j] = 0, 1
    if wants(given, "standardize") then
      local deviation = y:column(j):std()
      form.mean[j], form.scale[j] = y:column(j):mean(), deviation > 0 and deviation or 1
    end
  end
  return target_form.apply(form, ds)
end

--- target_form.original(ds): the data set that was transformed to ds; ds itself if none was.
function target_form.original(ds) return original[ds] or ds end

--- target_form.undo(form, values): transformed targets or predictions back on the scale of the
--- data.
function target_form.undo(form, values)
  return core.predict(values, { form = form }, "labels")
end

--- target_form.measured(criterion, said, truth, about): the criterion on the scale of the data, for
--- predictions and targets on the transformed scale. about: as in criterion:measured, and form.
function target_form.measured(criterion, said, truth, about)
  said, truth = target_form.undo(about.form, said), target_form.undo(about.form, truth)
  if not criterion.tally then return criterion:measured(said, truth, about) end
  local apart = said - truth
  return criterion.tally({ rows = truth:rows(), square = apart:dot(apart) }, truth:cols())
end

return target_form
