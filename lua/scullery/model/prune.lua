--- Pruning of RKHS weightings (Dube and Marchand 2023, algorithm 5): the lasso
---   min_b (1/2T) ||Ua - Ub||^2 + l ||b||_1,   G = U'U,
--- with l multiplied by ten until the model is rejected.
local core = require "scullery.core"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local instantiation = require "scullery.compose.instantiation"
local matching = require "scullery.data.matching"
local options = require "scullery.base.options"
local target_form = require "scullery.model.target_form"

local prune = {}

local rules = options.declare("pipeline:prune", {
  epsilon = { type = "number", above = 0, default = 0.01 },
  accept = { choices = { "norm", "theorem8", "risk", "zero_one" }, default = "risk" },
  delta = { test = options.is_share, takes = "a number between 0 and 1", default = 0.05 },
  start = { choices = { "bound", "tiny" }, default = "tiny" },
  data = { test = dataset.is, takes = "a data set" },
})

-- The mean loss and the error rate on the rows that judge.
local function empirical(f, judging, weights)
  local t = core.score(judging, { { f:candidate(weights) } })[1][1]
  return t.square / t.rows, t.wrong / t.rows
end

-- The largest |y| of the targets; 1 for the codes of classes.
local function reach_of(data, f, accept)
  if f.task == "classification" then return 1 end
  if data.X then return data:targets():abs():max() end
  if accept == "norm" or accept == "theorem8" then
    error(("accept = \"%s\" needs the largest target, and this data set streams"):format(accept), 0)
  end
  return 1
end

-- Lipschitz constant of the square loss ||f + b - y||^2 where ||f|| <= B theta: rho = 2 (B theta +
-- ||b|| + ||y||), for one target coded +-1 and no intercept the 2 (B theta + 1) of the paper.
local function slope(f, theta, reach)
  return 2 * (f:norm() * theta + f:constant():norm() + math.sqrt(f.targets) * reach)
end

-- The number that each rule compares with epsilon: (63) to (66) of the paper. Theorem 8 (64) is for
-- a distance C that was fixed before beta was learnt: it is taken for all C_j = ||alpha|| 1.1^-j,
-- j = 0, 1, ..., at once, with the shares delta/((j+1)(j+2)), and for the smallest C_j that is not
-- below the distance. The lasso shrinks: ||alpha - beta|| <= ||alpha||.
local measures = {}
function measures.norm(c) return c.rho * c.theta * c.distance end
function measures.theorem8(c)
  if c.distance == 0 then return c.risk - c.risk_before end
  local j = math.max(0, math.floor(math.log(c.norm / c.distance) / math.log(1.1)))
  local C, delta = math.max(c.distance, c.norm / 1.1 ^ j), c.delta / ((j + 1) * (j + 2))
  return c.risk - c.risk_before + c.rho * c.theta * C / math.sqrt(c.n) * (
    2 + math.sqrt(2 * math.log(1 / delta)))
end
function measures.risk(c) return c.risk - c.risk_before end
function measures.zero_one(c) return c.wrong - c.wrong_before end

-- The parameters that keep a weight other than 0, ascending. Row i of the weights belongs to
-- parameter (i - 1) mod T + 1: a parameter with several features has one row in each block of T.
local function count_kept(weights, T)
  local rows, kept = {}, {}
  for i = 1, weights:rows() do
    for j = 1, weights:cols() do
      if weights:get(i, j) ~= 0 then rows[(i - 1) % T + 1] = true end
    end
  end
  for t = 1, T do if rows[t] then kept[#kept + 1] = t end end
  return kept
end

-- The first lambda. "bound": (62), which guarantees a risk within epsilon. "tiny": the value of the
-- authors' own runs.
local function first_lambda(o, c, weights, T)
  if o.start == "tiny" then return 1e-10 end
  local size = 0
  for i = 1, weights:rows() do
    for j = 1, weights:cols() do size = size + math.abs(weights:get(i, j)) end
  end
  if size == 0 then return 1e-10 end
  if c.theta == math.huge then
    error("start = \"bound\" needs a bounded nonlinearity: start = \"tiny\" takes others", 0)
  end
  local lambda = o.epsilon ^ 2 / (12 * T * c.rho ^ 2 * c.theta ^ 2 * size * math.exp(-c.log_scale))
  return math.max(1e-40, math.min(lambda, 1e40)) -- outside this range the result does not change
end

-- The model with the parameters `kept` (numbers, ascending) only. The engine may store another
-- common factor exp(log_scale) of the features for the smaller map, so that the weights are
-- multiplied by the ratio.
local function shrink(f, weights, kept)
  local T, outputs = f.map_info.T, weights:rows() // f.map_info.T
  local map, places = core.map_select(f.map, kept), {}
  for k = 0, outputs - 1 do for _, t in ipairs(kept) do places[#places + 1] = k * T + t end end
  local info = core.map_info(map)
  local origin = { kept = { table.unpack(f.origin.kept or {}) } }
  for name, value in pairs(f.origin) do origin[name] = origin[name] or value end
  table.insert(origin.kept, kept)
  local factor = math.exp(info.log_scale - f.map_info.log_scale)
  return f:changed{ map = map, map_info = info, origin = origin, pruned = true, report = {
    status = f.report.status, iterations = f.report.iterations,
    note = ("pruned to %d of %d parameters"):format(#kept, T) },
    weights = weights:select(places) * factor }
end

-- The solver of a step, with penalty lambda ||b||_1.
local function step_solver(lambda)
  local l1 = component.find("solver", function(one)
    return component.role(one, "regularisation")
      and core.solver_facts(component.instance(one)).penalty == "l1"
  end)
  if not l1 then error("pruning needs a solver with the penalty ||b||_1, and there is none", 0) end
  return component.instance(component.with(l1, component.role(l1, "regularisation"), lambda))
end

-- Raises an error unless the model can be pruned; title: the name of its solver.
local function check_model(f, o, title)
  if not (f and f.solver) then error("the pipeline is not fitted yet: call p:fit(ds) first", 0) end
  if f.learnt then
    error(("solver.%s is not linear in the features: there are no weights to prune"):format(
      title), 0)
  end
  if f.after then
    error("pruning is for features as they are, and row stages change them after they are made", 0)
  end
  local union = instantiation.union_text(f.features)
  if union then error("pruning is for features of one map, and these are " .. union, 0) end
  if not f:is_weighting() then
    local section = f.map_info and f.map_info.section
    error("pruning needs features of an instantiation with K" .. (section
      and (" and a nonlinearity; kernel.%s as phi has k itself as K: a smaller T has fewer \z
        parameters"):format(f.features.inst.phi.name)
      or ", as sc.instantiation{ K = sc.kernel.NAME{...}, p =, phi = }"), 0)
  end
  if o.accept == "theorem8" and f.targets > 1 then
    error(("accept = \"theorem8\" is for one target; this model has %d"):format(f.targets), 0)
  end
end

-- Increases lambda by a factor of 10 while the model is accepted; returns the last accepted model
-- as { weights, distance, lambda, risk, wrong, measure, steps }. It stops early at weights of 0.
local function descend(f, judging, c, o)
  local best = { weights = f.weights, distance = 0, lambda = 0, risk = c.risk_before,
    wrong = c.wrong_before, measure = 0, steps = 0 }
  local lambda, steps = first_lambda(o, c, f.weights, f.map_info.T), 0
  local pruning <close> = core.pruning(f.map, f.weights)
  repeat
    local weights, distance = core.prune_step(pruning, step_solver(
      lambda * math.exp(-c.log_scale)))
    steps, c.distance = steps + 1, distance
    c.risk, c.wrong = empirical(f, judging, weights)
    local measure = measures[o.accept](c)
    local accepted = measure < o.epsilon
    if accepted then
      best = { weights = weights, distance = distance, lambda = lambda, risk = c.risk,
        wrong = c.wrong, measure = measure }
    end
    lambda = lambda * 10
    local empty = weights:abs():max() == 0
  until not accepted or empty or steps > 60
  best.steps = steps
  return best
end

--- prune.run(pipeline, options): see Pipeline:prune.
function prune.run(self, given)
  local f = self.fitted
  local o = options.check("pipeline:prune", given, rules, 0)
  check_model(f, o, self.solver and self.solver.name)
  f = f:about_zero()
  local data = o.data or self.data
  if not data then error("the training rows of this model are not in memory: give data =", 0) end
  if data.task ~= f.task then
    error(("option 'data' is a data set for a %s, and the model is a %s"):format(data.task, f.task),
      0)
  end
  local strangers
  data, strangers = matching.judged(data, f)
  if strangers > 0 and strangers == #data then
    error("no row has a label that was seen in training", 0)
  end
  if o.accept == "zero_one" and f.task ~= "classification" then
    error("accept = \"zero_one\" is for classification", 0)
  end
  data = target_form.apply(f.form, data)
  local judging <close> = f:judging(data)
  local theta, T = core.map_constants(f.map).theta, f.map_info.T
  local c = { theta = theta, rho = slope(f, theta, reach_of(data, f, o.accept)), norm = f:norm(),
    n = (data:size()), delta = o.delta, log_scale = f.map_info.log_scale, distance = 0 }
  c.risk_before, c.wrong_before = empirical(f, judging, f.weights)
  local best = descend(f, judging, c, o)
  local kept = count_kept(best.weights, T)
  -- a model needs a parameter: keep one, with weight 0
  if #kept == 0 then kept = { 1 } end
  local info = { kept = #kept, T = T, distance = best.distance, lambda = best.lambda,
    steps = best.steps, measure = best.measure, risk_before = c.risk_before, risk = best.risk,
    epsilon = o.epsilon, accept = o.accept }
  if f.task == "classification" then info.error_before, info.error = c.wrong_before, best.wrong end
  local copy = setmetatable({}, getmetatable(self))
  for key, value in pairs(self) do copy[key] = value end
  copy.fitted = shrink(f, best.weights, kept)
  return copy, info
end

return prune
