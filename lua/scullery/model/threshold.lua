--- The decision threshold of a classification with two classes: the second class is predicted
--- where its probability is at least the threshold. p:threshold chooses it on labelled rows.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local dataset = require "scullery.data.dataset"
local matching = require "scullery.data.matching"
local metrics = require "scullery.metrics"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local probabilities = require "scullery.model.probabilities"

local threshold = {}

--- threshold.check(f, value): raises an error unless the model f has two classes and probabilities,
--- and value is a number from 0 to 1.
function threshold.check(f, value)
  if f.task ~= "classification" or #f.classes ~= 2 then
    fail("option 'threshold' is for two classes, and the model %s", f.task ~= "classification"
      and "is a regression" or ("has %d"):format(#f.classes))
  end
  if type(value) ~= "number" or not (value >= 0 and value <= 1) then
    fail("option 'threshold' got %s; it takes a probability between 0 and 1", options.show(value))
  end
  if not probabilities.known(f) then
    fail("option 'threshold' is a probability, and solver.%s has no probabilities of its own: \z
      call p:calibrate{} first", f.solver.name)
  end
end

--- threshold.apply(f, scores, value): n x 1 labels, coded as in p:predict: the second class where
--- its probability is at least the value.
function threshold.apply(f, scores, value)
  local P, n = probabilities.of(f, scores), scores:rows()
  local out, texts = core.zeros(n, 1), type(f.classes[1]) == "string"
  for i = 1, n do
    local k = P:get(i, 2) >= value and 2 or 1
    out:set(i, 1, texts and k or f.classes[k])
  end
  return out
end

-- ------------ choosing

local Chosen = objects.class("threshold", { fields = "threshold by value rate cost rows" })

function Chosen:__tostring()
  return ("threshold %.6g, chosen by %s: %.4g on %d rows"):format(self.threshold, self.by,
    self.value, self.rows)
end

local rules = options.declare("pipeline:threshold", {
  by = { choices = { "f1", "cost", "rate" }, default = "f1" },
  cost = { test = function(v)
    return type(v) == "table" and type(v[1]) == "number" and type(v[2]) == "number" and v[1] > 0
      and v[2] > 0
  end, takes = "{ of a false second class, of a missed one }, two numbers above 0" },
  rate = { test = function(v) return type(v) == "number" and v > 0 and v <= 1 end,
    takes = "the least share of the second class that is found (recall), above 0" },
})

-- The function gain(right, said, inside) that the threshold maximises. If the second class is
-- predicted for `said` rows (sums of row weights), `right` of these are of that class, of `inside`
-- rows of that class in all.
local function gain_of(o)
  if o.by == "f1" then
    return function(right, said, inside) return 2 * right / (said + inside) end
  elseif o.by == "cost" then
    return function(right, said, inside)
      return -(o.cost[1] * (said - right) + o.cost[2] * (inside - right))
    end
  end
  return function(right, said, inside)
    return right / inside >= o.rate and right / said or -1 -- the best precision at that recall
  end
end

--- threshold.choose(p, data, options): see Pipeline:threshold.
function threshold.choose(p, data, given)
  local f, o = p.fitted, options.check("pipeline:threshold", given, rules, 0)
  threshold.check(f, 0.5)
  for _, name in ipairs{ "cost", "rate" } do
    if (o.by == name) ~= (o[name] ~= nil) then
      fail("by = \"%s\" and option '%s' belong together; it takes %s", name, name,
        rules[name].takes)
    end
  end
  if not dataset.is(data) then
    fail("takes a data set of rows that were not learnt from, and got %s", options.show(data))
  end
  local ds = matching.judged(data, f)
  if not ds.X then fail("this data set streams; load it in memory (without stream = true)") end
  local P = probabilities.of(f, f:scores(dataset.source_of_rows(ds)))
  local labels = dataset.texts_of(ds.y, f.classes)
  local curve = metrics.pr_curve(P, labels, { classes = f.classes, weights = ds.weights })
  local gain, best, place = gain_of(o), -math.huge, 1
  local inside = curve.share * curve.rows
  for i, recall in ipairs(curve.x) do
    local right = recall * inside
    local value = gain(right, right / curve.y[i], inside)
    if value > best then best, place = value, i end
  end
  -- halfway to the next lower probability, so that rounding does not change a decision
  local below = curve.threshold[place + 1] or 0
  return setmetatable({ threshold = (curve.threshold[place] + below) / 2, by = o.by,
    value = o.by == "cost" and -best or best, rate = o.rate, cost = o.cost, rows = #labels },
    Chosen)
end

return threshold
