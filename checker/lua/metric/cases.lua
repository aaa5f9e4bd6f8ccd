--- Random rows with predictions and truth, for tests of metrics.
local core = require "scullery_checker.core"
local components = require "scullery.compose.component"

local cases = {}

--- cases.facts(component): what the metric declares, as core.plugin_facts gives it.
function cases.facts(component) return core.plugin_facts("metric", component.name) end

-- n x c: exp(s_ij) / sum_k exp(s_ik).
local function softmax(s)
  local p = core.zeros(s:rows(), s:cols())
  for i = 1, s:rows() do
    local sum = 0
    for j = 1, s:cols() do sum = sum + math.exp(s:get(i, j)) end
    for j = 1, s:cols() do p:set(i, j, math.exp(s:get(i, j)) / sum) end
  end
  return p
end

-- For each form: predictions that are right but for noise of this size.
local predictions = {}

function predictions.scores(y, classes, noise, seed)
  local s = core.randn{ y:rows(), classes, seed = seed } * noise
  for i = 1, y:rows() do
    local k = math.tointeger(y:get(i, 1)) + 1
    s:set(i, k, s:get(i, k) + 1.5)
  end
  return s
end

function predictions.probabilities(y, classes, noise, seed)
  return softmax(predictions.scores(y, classes, noise, seed))
end

function predictions.labels(y, classes, noise, seed)
  return predictions.scores(y, classes, noise, seed):argmax(2) - 1
end

--- cases.new(needs, n, count, seed[, noise = 1]): n rows, of `count` classes, or for "values" of
--- `count` targets: { p, y, w, classes }, predictions (n x columns), truth, weights (n x 1, all 1)
--- and the number of classes.
function cases.new(needs, n, count, seed, noise)
  noise = noise or 1
  local w = core.ones(n, 1)
  if needs == "values" then
    local y = core.randn{ n, count, seed = seed }
    return { p = y + core.randn{ n, count, seed = seed + 1 } * noise, y = y, w = w, classes = 0 }
  end
  local u, y = core.rand{ n, 1, seed = seed }, core.zeros(n, 1)
  for i = 1, n do y:set(i, 1, math.min(count - 1, math.floor(u:get(i, 1) * count))) end
  return { p = predictions[needs](y, count, noise, seed + 1), y = y, w = w, classes = count }
end

--- cases.tie(case, facts): predicted values or scores become halves, so that rows share them, and
--- true values too; scores of a row stay apart. Of each second row two probabilities become equal.
function cases.tie(case, facts)
  for i = 1, facts.needs == "probabilities" and case.p:rows() or 0, 2 do
    local mean = (case.p:get(i, 1) + case.p:get(i, 2)) / 2
    for j = 1, 2 do case.p:set(i, j, mean) end
  end
  if facts.needs ~= "values" and facts.needs ~= "scores" then return end
  local function halves(x) return math.floor(2 * x) / 2 end
  case.p = case.p:map(halves)
  if facts.needs == "values" then case.y = case.y:map(halves) end
  for j = 2, facts.needs == "scores" and case.p:cols() or 0 do
    for i = 1, case.p:rows() do case.p:set(i, j, case.p:get(i, j) + j / 64) end
  end
end

--- cases.counts(facts): numbers of classes or of targets to try.
function cases.counts(facts)
  if facts.needs == "values" then return { 1, 5 } end
  local list = {}
  for _, count in ipairs{ 2, 3, 20 } do
    if count <= (facts.most_classes or count) then list[#list + 1] = count end
  end
  return list
end

--- cases.one_column(case): scores of two classes as one column; the case itself for others.
function cases.one_column(case)
  if case.classes ~= 2 or case.p:cols() ~= 2 then return case end
  return { p = case.p:column(2) - case.p:column(1), y = case.y, w = case.w, classes = 2 }
end

--- cases.rows(case, rows): some of its rows, a list of numbers.
function cases.rows(case, rows)
  return { p = case.p:select(rows), y = case.y:select(rows), w = case.w:select(rows),
    classes = case.classes }
end

--- cases.value(component, case): the value and the standard error that the metric says.
function cases.value(component, case)
  return core.metric(components.instance(component), case.p, case.y, case.w, case.classes)
end

--- cases.each(t, f, n, given): f(component, case, facts) for each variant of the component under
--- test and for cases of n rows (300): of all counts, and scores of two classes in one column.
function cases.each(t, f, n)
  for component in t:variants() do
    local facts = cases.facts(component)
    for i, count in ipairs(cases.counts(facts)) do
      local case = cases.new(facts.needs, n or 300, count, t.seed * 64 + 2 * i)
      f(component, case, facts)
      if facts.needs == "scores" and count == 2 then f(component, cases.one_column(case), facts) end
    end
  end
end

--- cases.use(component, seed, n[, tied]): a small run: a row for each of some cases, with the value
--- and the standard error (-1: the metric says none); tied: rows share predictions.
function cases.use(component, seed, n, tied)
  local facts = cases.facts(component)
  local counts = cases.counts(facts)
  local made = core.zeros(#counts, 2)
  for i, count in ipairs(counts) do
    local case = cases.new(facts.needs, n, count, seed * 64 + 2 * i)
    if tied then cases.tie(case, facts) end
    case.w = core.rand{ n, 1, seed = seed }
    local value, stderr = cases.value(component, case)
    made:set(i, 1, value)
    made:set(i, 2, stderr or -1)
  end
  return made
end

return cases
