--- The metric of a fitted model on rows, with its standard error: p:score with the option metric.
local criteria = require "scullery.model.criteria"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local fingerprint = require "scullery.data.fingerprint"
local matching = require "scullery.data.matching"
local options = require "scullery.base.options"
local probabilities = require "scullery.model.probabilities"
local used = require "scullery.base.used"

local scoring = {}

local rules = options.declare("pipeline:score", { metric = criteria.rule })

--- scoring.apart(data, y, given): the arguments of p:score as y, the options of the data, and the
--- metric or nil.
function scoring.apart(data, y, given)
  local alone = dataset.is(data)
  if alone and type(y) == "string" then
    fail("takes a data set and { metric = %s }", options.show(y))
  end
  if alone and type(y) == "table" and not getmetatable(y) then
    return nil, nil, options.check("pipeline:score", y, rules, 0).metric
  end
  if alone or type(given) ~= "table" then return y, given, nil end
  local own, rest = {}, {}
  for name, value in pairs(given) do
    local mine = name == "metric" or name == "score" -- one option: criteria.rule
    if mine then own[name] = value else rest[name] = value end
  end
  return y, next(rest) and rest, options.check("pipeline:score", own, rules, 0).metric
end

-- The probabilities that a criterion takes: of p:calibrate or of the solver's loss.
local function probabilities_for(criterion, f, scores)
  local takes = not criterion.tally and criterion.takes
  if f.task ~= "classification" or takes ~= "probabilities" and takes ~= "function" then
    return nil
  end
  return probabilities.known(f) and probabilities.of(f, scores) or nil
end

local function measure(f, metric, given)
  local criterion = criteria.of(metric, f.task, "metric")
  if not given.X then
    fail("the data set streams, and the metric %s takes rows in memory: load it without stream = \z
      true", criterion.name)
  end
  local ds = matching.known(given, f)
  local scores = f:scores(dataset.source_of_rows(ds))
  if f.form or f.means then
    return criterion:estimated(f:decide(scores), ds.y, { solver = f.solver })
  end
  return criterion:estimated(scores, ds:targets(), { solver = f.solver,
    classes = f.task == "classification" and f.classes or nil,
    probabilities = probabilities_for(criterion, f, scores) })
end

--- scoring.run(f, metric, given): the metric of the fitted model f on a data set, and its standard
--- error; nil for fewer than 40 rows.
function scoring.run(f, metric, given)
  local value, deviation = measure(f, metric, given)
  fingerprint.plugins_agree(used.names) -- of a model that was loaded no fit has compared them
  return value, deviation
end

return scoring
