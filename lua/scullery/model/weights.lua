--- Row weights for training: the weights of the data set, times the weights of the classes.
local core = require "scullery.core"
local options = require "scullery.base.options"
local targets = require "scullery.data.targets"

local weights = {}

--- weights.check(value): raises an error unless the value is a valid class_weights: "balanced", or
--- a table from label to a number of at least 0.
function weights.check(value)
  if value == nil or value == "balanced" then return value end
  if type(value) ~= "table" or getmetatable(value) or next(value) == nil then
    error("pipeline: option 'class_weights' got " .. options.show(value)
      .. "; it takes \"balanced\" or a table {label = weight}", 0)
  end
  for label, w in pairs(value) do
    if type(w) ~= "number" or not (w >= 0 and w < math.huge) then
      error(("pipeline: option 'class_weights' has %s for the class %s; weights are finite and \z
        at least 0"):format(options.show(w), options.show(label)), 0)
    end
  end
  return value
end

-- The weight of each class, in the order of ds.classes. "balanced": n / (classes * n of the class),
-- n the sums of the rows' weights w, so that all classes have the same total weight.
local function of_classes(ds, given, place, w)
  local list = {}
  if given == "balanced" then
    for k = 1, #ds.classes do list[k] = 0 end
    for i = 1, #ds do
      local k = place[ds.y:get(i, 1)]
      list[k] = list[k] + w:get(i, 1)
    end
    local share = w:sum() / #list
    for k, total in ipairs(list) do list[k] = total > 0 and share / total or 0 end
    return list
  end
  local known = {}
  for k, label in ipairs(ds.classes) do known[label], list[k] = true, given[label] or 1 end
  for label in pairs(given) do
    if not known[label] then
      error(("class_weights has a weight for %s, which is not one of the classes %s"):format(
        options.show(label), options.show(ds.classes)), 0)
    end
  end
  return list
end

--- weights.of(ds, class_weights): n x 1 weights of the rows, or nil if all are 1. Raises an error
--- if class_weights are given for a regression, for a data set that streams, or for a label that
--- is not a class of the data set.
function weights.of(ds, class_weights)
  if not class_weights then return ds.weights end
  if ds.task ~= "classification" then error("class_weights are for classification", 0) end
  if not ds.X then error("class_weights need the labels in memory; this data set streams", 0) end
  local w = ds.weights and ds.weights:astype("float64"):copy() or core.ones(#ds, 1)
  local place = targets.places(ds.classes)
  local list = of_classes(ds, class_weights, place, w)
  for i = 1, #ds do w:set(i, 1, w:get(i, 1) * list[place[ds.y:get(i, 1)]]) end
  return w
end

return weights
