--- Metrics that are plugins (sc.metric.NAME): their arguments, their values and standard errors.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local inputs = require "scullery.metrics.inputs"
local jackknife = require "scullery.metrics.jackknife"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local used = require "scullery.base.used"

local plugged = {}

--- plugged.names(): the names of all metrics that are plugins, sorted.
function plugged.names()
  local names = {}
  for _, entry in ipairs(core.plugin_list()) do
    if entry.kind == "metric" then names[#names + 1] = entry.name end
  end
  return names
end

--- plugged.facts(name): what such a metric declares: { needs = "values", "labels", "scores" or
--- "probabilities", better = "larger" or "smaller", low, high, most_classes (nil: any number) };
--- nil if there is no metric of that name.
function plugged.facts(name)
  local ok, facts = options.attempt(core.plugin_facts, "metric", name)
  return ok and facts or nil
end

-- ------------ arguments

-- By what a metric needs: the predictions, the truth, the number of classes, and the weights or
-- nil, from the arguments of a metric with checked options o.
local readers = {}

function readers.values(said, truth, o)
  local a, b = inputs.both(said, truth)
  return a, b, 0, (inputs.weights(o.weights, a:rows()))
end

function readers.labels(said, truth, o)
  local a, b = inputs.labels(said, truth, o.classes)
  local classes = inputs.classes(o.classes or inputs.known(truth, said), a, b)
  local place, columns = inputs.place(classes), {}
  for k, list in ipairs{ b, a } do
    columns[k] = core.zeros(#list, 1)
    for i, label in ipairs(list) do
      if not place[label] then
        if not inputs.known(truth) then
          fail("row %d has the label %s, which is not one of the classes", i, options.show(label))
        end
        classes[#classes + 1] = label
        place[label] = #classes
      end
      columns[k]:set(i, 1, place[label] - 1) -- from 0
    end
  end
  return columns[2], columns[1], math.max(2, #classes), (inputs.weights(o.weights, #a))
end

function readers.scores(said, truth, o, probabilities)
  local g = inputs[probabilities and "probabilities" or "scores"](said, truth, o)
  local y = core.zeros(g.n, 1)
  for i, k in ipairs(g.places) do y:set(i, 1, k - 1) end
  return g.s, y, math.max(2, #g.classes), g.w, #g.classes
end

-- One column, of the second of two classes, becomes two. Which of them the truth's only class is,
-- one cannot tell.
function readers.probabilities(said, truth, o)
  local p, y, classes, w, known = readers.scores(said, truth, o, true)
  if p:cols() == 1 and known < 2 then
    fail("the truth is of one class, and the predictions are probabilities of the second of two: \z
      give classes = {...}")
  end
  return p:cols() > 1 and p or core.hcat(1 - p, p), y, classes, w
end

-- ------------ values

--- plugged.measured(name, instance, said, truth, o): the value of an instance of the metric, and
--- its standard error: what the metric says, else by the jackknife; nil for fewer than 40 rows. o:
--- weights, classes. alone = true: without the jackknife.
function plugged.measured(name, instance, said, truth, o, alone)
  local p, y, classes, w = readers[plugged.facts(name).needs](said, truth, o)
  local n = p:rows()
  w = w or core.ones(n, 1)
  local value, stderr = core.metric(instance, p, y, w, classes)
  if stderr or alone then return value, stderr end
  return value, jackknife.stderr(n, function(rows)
    return rows and core.metric(instance, p:select(rows), y:select(rows), w:select(rows), classes)
      or value
  end)
end

-- The options of the plugin and those of all metrics, apart.
local function apart(title, given)
  local o, own = inputs.options(title, given), {}
  for key, value in pairs(o) do
    if key ~= "weights" and key ~= "classes" then own[key] = value end
  end
  return o, own
end

-- The function sc.metrics.NAME of each plugin, and its name.
local functions, name_of = {}, {}

--- plugged.name(f): the name of the metric, if f is the function sc.metrics.NAME of a plugin.
function plugged.name(f) return name_of[f] end

--- plugged.estimate(name, said, truth, given): the value and its standard error, with the options
--- of the metric, classes and weights.
function plugged.estimate(name, said, truth, given)
  local o, own = apart(name, given)
  return plugged.measured(name, used.make("metric", name, own), said, truth, o)
end

--- plugged.metric(name): the function sc.metrics.NAME(predictions, truth[, options]) of a plugin,
--- which returns its value; nil if there is no such plugin.
function plugged.metric(name)
  local facts = type(name) == "string" and plugged.facts(name)
  if not facts then return nil end
  local own = {}
  for _, option in ipairs(core.plugin_info("metric", name).options) do
    own[#own + 1] = option.name
  end
  inputs.declare(name, own, facts.needs ~= "values")
  functions[name] = functions[name] or objects.guarded("metrics." .. name,
    function(said, truth, given)
      for _, option in ipairs(own) do
        if option == "weights" or option == "classes" then
          fail("the metric's own option '%s' is one of all metrics here: give sc.metric.%s{...} \z
            as a score or metric", option, name)
        end
      end
      local o, mine = apart(name, given)
      return (plugged.measured(name, used.make("metric", name, mine), said, truth, o, true))
    end)
  name_of[functions[name]] = name
  return functions[name]
end

return plugged
