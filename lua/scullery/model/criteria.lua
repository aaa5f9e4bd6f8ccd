--- The score of a search and of a cross-validation: a metric by name, or a function. The engine
--- counts wrong labels and squared errors during its pass over the rows; other metrics get the
--- decisions, the labels or the probabilities of each fold.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local keys = require "scullery.base.keys"
local jackknife = require "scullery.metrics.jackknife"
local metrics = require "scullery.metrics"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local component = require "scullery.compose.component"
local plugged = require "scullery.metrics.plugged"

local criteria = {}

-- By name of a metric. tally: computes it from the engine's counts {rows, wrong, square, ...} and
-- the number of targets. takes: what the metric is called with, in place of that. larger: true if
-- larger is better. task: the task that it is for; nil for both. number: the number in the result,
-- for a metric that returns a table.
local classes, values, sets = "classification", "regression", "multilabel"
local named = {
  error = { task = classes, tally = function(t) return t.wrong / t.rows end },
  accuracy = { task = classes, larger = true, tally = function(t) return 1 - t.wrong / t.rows end },
  loss = { tally = function(t) return t.square / t.rows end },
  mse = { task = values, tally = function(t, targets) return t.square / t.rows / targets end },
  rmse = { task = values, tally = function(t, targets)
    return math.sqrt(t.square / t.rows / targets)
  end },
  mae = { task = values, takes = "labels" },
  nrmse = { task = values, takes = "labels" },
  r2 = { task = values, takes = "labels", larger = true },
  spearman = { task = values, takes = "labels", larger = true },
  balanced_accuracy = { task = classes, takes = "labels", larger = true },
  precision = { task = classes, takes = "labels", larger = true },
  recall = { task = classes, takes = "labels", larger = true },
  f1 = { task = classes, takes = "labels", larger = true },
  auc = { task = classes, takes = "scores", larger = true },
  pr_auc = { task = classes, takes = "scores", larger = true },
  top_k = { task = classes, takes = "scores", larger = true },
  subset_accuracy = { task = sets, takes = "labels", larger = true },
  hamming = { task = sets, takes = "labels" },
  f1_micro = { task = sets, takes = "labels", larger = true },
  f1_macro = { task = sets, takes = "labels", larger = true },
  calibration = { task = classes, takes = "probabilities",
    number = function(table) return table.error end },
}

--- criteria.larger(name): whether larger values of the metric are better; nil for other names.
function criteria.larger(name)
  local metric = named[name]
  if metric then return metric.larger or false end
  local facts = plugged.facts(name)
  if facts then return facts.better == "larger" end
end

-- True for the values of the option `score`: a name, a metric, a function that makes no component,
-- or a list that begins with one.
local function is_form(value)
  return type(value) == "string" or component.is(value, "metric")
    or type(value) == "function" and not component.constructors[value]
    or type(value) == "table" and not getmetatable(value) and value[1] ~= nil
      and type(value[1]) ~= "table" and is_form(value[1])
end

-- The names of all metrics that are scores, sorted.
local function names_of_all()
  local names = keys.sorted(named)
  table.move(plugged.names(), 1, 1000, #names + 1, names)
  table.sort(names)
  return names
end

--- criteria.rule: the option `score` of a search or a cross-validation, or `metric` of a score,
--- which goes by both names.
criteria.rule = { also = { "metric", "score" }, test = is_form, words = names_of_all,
  takes = "the name of a metric, a function of predictions and truth, sc.metric.NAME{...}, or a \z
    list of one of them with its options" }

local Criterion = objects.class("criterion", {
  fields = "name task tally takes larger low high number measure given option component" })

function Criterion:__tostring() return "criterion " .. self.name end

-- The criterion of a component sc.metric.NAME{...}. Its name has the options that were given.
local function of_component(self)
  if #component.searched(self) > 0 then fail("an option of %s is sc.choose{...}", self.name) end
  local facts, instance = plugged.facts(self.name), component.instance(self)
  local takes = facts.needs == "values" and "labels" or facts.needs
  return setmetatable({ name = self:label(true), task = facts.needs == "values" and values
    or classes, takes = takes, larger = facts.better == "larger", low = facts.low,
    high = facts.high, given = {}, component = self,
    measure = function(said, truth, o, alone)
      return plugged.measured(self.name, instance, said, truth, o or {}, alone)
    end }, Criterion)
end

-- The values of an option that takes one number or a list of them, as a list; nil for others.
local function listed(solver, name, value)
  if type(value) == "table" then return value end
  local takes = options.attempt(component.instance, component.with(solver, name, { value }))
  return takes and { value } or nil
end

-- If the metric has an option that was not given, and the solver has a list for it (as tau), with
-- an output for each number: the list of criteria, one for each number. nil otherwise.
local function by_outputs(self, solver)
  if not (self.component and solver) then return nil end
  local own = core.settings(component.instance(self.component))
  for name, value in pairs(core.settings(component.instance(solver))) do
    local list_of = type(own[name]) == "number" and self.component.given[name] == nil
      and listed(solver, name, value)
    if list_of then
      local list = {}
      for j, one in ipairs(list_of) do
        list[j] = of_component(component.with(self.component, name, one))
      end
      return list
    end
  end
end

-- The mean over the values of each target of the criterion of each; target j has #list columns.
local function mean_by_output(list, said, truth)
  local sum = 0
  for j, one in ipairs(list) do
    local places = {}
    for c = j, said:cols(), #list do places[#places + 1] = c end
    sum = sum + one.measure(said:t():copy():select(places):t(),
      truth:t():copy():select(places):t(), nil, true)
  end
  return sum / #list
end

-- scikit-learn's names of metrics that have another name here, without the "neg_" of losses.
local familiar = { average_precision = "pr_auc", roc_auc = "auc", mean_squared_error = "mse",
  root_mean_squared_error = "rmse", mean_absolute_error = "mae", brier_score = "brier",
  matthews_corrcoef = "mcc", top_k_accuracy = "top_k" }

-- The criterion of a metric with the options `given`. With options, the engine's counts do not
-- suffice, and the metric is computed from labels.
local function by_name(name, given, option)
  local known = named[name]
  if not known and plugged.facts(name) then
    return of_component(component.group "metric"[name](given))
  elseif not known then
    local names, here = names_of_all(), familiar[(name:gsub("^neg_", ""))]
    fail("option '%s' got %s%s; it takes %s, or a function", option, options.show(name),
      here and (" (here it is '%s')"):format(here) or objects.suggestion(name, names),
      table.concat(names, ", "))
  end
  local self = setmetatable({ name = name, given = given }, Criterion)
  for key, value in pairs(known) do self[key] = value end
  if next(given) then self.tally, self.takes = nil, self.takes or "labels" end
  self.measure = rawget(metrics, name)
  if not self.measure and not self.tally then fail("%s = \"%s\" has no options", option, name) end
  return self
end

--- criteria.of(score, task, option): the criterion for an option of that name (default "score"); by
--- default the accuracy of a classification, R2 of a regression, the subset accuracy of multi-label
--- targets.
function criteria.of(score, task, option)
  option = option or "score"
  if score == nil then
    score = task == classes and "accuracy" or task == sets and "subset_accuracy" or "r2"
  end
  local given, better = {}, nil
  if type(score) == "table" and not component.is(score) then
    for key, value in pairs(score) do if key ~= 1 then given[key] = value end end
    score, better, given.better = score[1], given.better, nil
    if better ~= nil and better ~= "larger" and better ~= "smaller" then
      fail("option '%s': 'better' got %s; it takes \"larger\" or \"smaller\"", option,
        options.show(better))
    end
  end
  local name = type(score) == "string" and score or plugged.name(score)
  if name == score and named[name] and plugged.facts(name) then
    fail("%s = \"%s\" is built in, and a plugin has this name too: sc.metric.%s{...} is the plugin",
      option, name, name)
  end
  for known in pairs(not name and named or {}) do -- a metric as a function, sc.metrics.NAME
    if rawequal(rawget(metrics, known), score) then name = known end
  end
  local self = name and by_name(name, given, option)
    or component.is(score, "metric") and of_component(score)
    or setmetatable({ name = "score", takes = "function", larger = true, measure = score,
      given = given }, Criterion)
  if better then self.larger = better == "larger" end
  self.option = option
  if self.task and self.task ~= task then
    fail("%s = \"%s\" is for a %s, and this is a %s", option, self.name, self.task, task)
  end
  return self
end

--- criteria.means(solver, task): the instance of the solver of a regression if its loss turns
--- scores into means, which are the predictions then; nil otherwise.
function criteria.means(solver, task)
  if task ~= values then return nil end
  local instance = component.instance(solver)
  return core.solver_facts(instance).gives_means and instance or nil
end

-- Labels of decisions or of targets, with their classes recorded.
local function labels(decisions, list)
  local y = core.predict(decisions, { task = "classification", classes = list }, "labels")
  dataset.labels_of[y] = { task = classes, classes = list }
  return y
end

-- n x classes probabilities by the solver's loss; nil if the loss defines none.
local function probabilities(decisions, solver)
  return core.own_probabilities(component.instance(solver), decisions)
end

-- The metric's result as a number, and the standard error that it says; raises an error if a
-- user's function returned anything else.
local function number_of(self, value, stderr)
  if self.number then value = self.number(value) end
  if type(value) ~= "number" then
    fail("option '%s': the function gave %s; it must give a number", self.option,
      options.show(value))
  end
  return value, stderr
end

-- The metric as in Criterion:measured. alone = true: without a standard error that costs time.
local function evaluate(self, decisions, targets, about, alone)
  local list, solver = about.classes, about.solver
  local said, truth = decisions, targets
  if list then said, truth = labels(decisions, list), labels(targets, list) end
  if self.takes == "function" then
    return number_of(self, self.measure(said, truth, { scores = decisions, classes = list,
      probabilities = list and (about.probabilities or probabilities(decisions, solver)),
      weights = about.weights }))
  end
  local given = {}
  for key, value in pairs(self.given) do given[key] = value end
  local several = by_outputs(self, solver)
  if several and #several > 1 then return mean_by_output(several, said, truth) end
  if several then self = several[1] end
  if self.takes == "scores" then
    given.classes, said = list, decisions
  elseif self.takes == "probabilities" then
    given.classes, said = list, about.probabilities or probabilities(decisions, solver)
    if not said then
      fail("%s = \"%s\" takes probabilities, and solver.%s has none", self.option, self.name,
        solver.name)
    end
  end
  return number_of(self, self.measure(said, truth, next(given) and given or nil, alone))
end

--- criterion:measured(decisions, targets, { classes =, solver =, weights =, probabilities = }): the
--- metric for rows with these decisions and coded targets, n x c each. probabilities: n x classes;
--- without them those of the solver's loss. A user's function gets (predictions, truth, { scores =,
--- probabilities =, classes =, weights = }).
function Criterion:measured(decisions, targets, about)
  return (evaluate(self, decisions, targets, about, true))
end

-- A function of a list of rows (nil: all) for a metric that is computed from counts.
local function counted(self, decisions, targets, list)
  local apart = decisions - targets
  local square, wrong = apart:mul(apart):sum(2), nil
  if list then
    local said, truth = labels(decisions, list), labels(targets, list)
    wrong = core.zeros(said:rows(), 1)
    for i = 1, said:rows() do
      if said:get(i, 1) ~= truth:get(i, 1) then wrong:set(i, 1, 1) end
    end
  end
  return function(rows)
    local part = rows and square:select(rows) or square
    local errors = wrong and (rows and wrong:select(rows) or wrong)
    return self.tally({ rows = part:rows(), square = part:sum(), wrong = errors and errors:sum() },
      targets:cols())
  end
end

--- criterion:estimated(decisions, targets, about): the same, and its standard error, that of the
--- metric if it says one, else by the jackknife; nil for fewer than 40 rows.
function Criterion:estimated(decisions, targets, about)
  if self.tally then
    local count = counted(self, decisions, targets, about.classes)
    return count(nil), jackknife.stderr(decisions:rows(), count)
  end
  local value, own = evaluate(self, decisions, targets, about)
  if own then return value, own end
  return value, jackknife.stderr(decisions:rows(), function(rows)
    if not rows then return value end
    local part = { classes = about.classes, solver = about.solver }
    for _, name in ipairs{ "weights", "probabilities" } do
      part[name] = about[name] and about[name]:select(rows)
    end
    return self:measured(decisions:select(rows), targets:select(rows), part)
  end)
end

return criteria
