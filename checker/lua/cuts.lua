--- The test that options are not cut: a number far from usual, and half of it, give different
--- results, on rows of any size.
local choices = require "scullery_checker.choices"
local components = require "scullery.compose.component"
local core = require "scullery_checker.core"
local definition = require "scullery_checker.definition"
local parameters = require "scullery_checker.parameters"
local problems = require "scullery_checker.solver.problems"

-- Times the default, or 1. Further from it powers overflow, and laws of samplers settle down.
local FACTORS <const> = { 3e-4, 0.05, 20, 3e3 }
-- A metric's small number, as a floor, is below all numbers of most rows.
local FACTORS_OF <const> = { sampler = { 20, 3e3 }, metric = { 20, 3e3 },
  kernel = { 1e-5, 3e-4, 0.05, 20, 3e3, 1e5 } }
local SCALES <const> = { 1, 1e3, 1e-3, 1e6, 1e-6 } -- of rows

-- Where bounds are further apart, numbers near them are so far from usual that all is the same; so
-- are numbers near an upper bound of more than FAR times the usual one.
local WIDE <const>, FAR <const> = 1e9, 1e4
local MOST_WORDS <const> = 4 -- of other options that are tried

-- outcomes[kind](t, component, scale): a matrix, on rows of that size. Of stages none: what limits
-- numbers may leave all of them.
local outcomes = {}

-- Samplers that learn settle down to what the rows say.
function outcomes.sampler(t, component, scale)
  if scale ~= 1 or t.subject.learns(component) then return nil end
  local draw, layout = parameters.draw(t, component, 4, 32)
  local room = draw and parameters.drawn(draw, layout, 0, parameters.whole_blocks(layout,
    draw.total))
  if not room then return nil end
  return layout.space == "structured" and parameters.apply(draw, room, t:random(3, 4)) or
    parameters.matrix(room)
end

function outcomes.kernel(t, component, scale)
  if t.subject.offers(component, "scullery.bind/1") then return nil end
  local kernel, made = t:instance(component), nil
  t.subject.rows(function(X)
    local out = parameters.block(9, 9)
    core.kernel_gram(kernel, parameters.dense(X), parameters.dense(X), out)
    made = core.block_get(out)
  end, t:random(9, 4) * scale)
  return made
end

function outcomes.loss(t, component, scale)
  local one = require("scullery_checker.loss.function").new(t, component)
  local list, random = {}, t:random(1, 12, 9)
  for _, y in ipairs(one.targets) do
    for i = 1, 12 do
      local f = y + scale * random:get(1, i)
      list[#list + 1] = one:at("value", f, y)
      list[#list + 1] = one:at("slope", f, y)
    end
  end
  return core.matrix{ list }
end

function outcomes.nonlinearity(t, component, scale)
  local one = require("scullery_checker.nonlinearity.phi").new(t, component)
  return not one.shape.one_hot and one:apply(one:take(t:random(3, 12 * one.fan_in) * scale)) or nil
end

-- Problems with large targets, or with rows near each other: of a regression and of two classes.
local function problems_of(t, scale)
  local list = {}
  for k, classes in ipairs(scale < 1e-3 and {} or { 0, 2 }) do
    local problem = problems.make(t, { n = 40, d = 3, classes = classes })
    if scale < 1 then problem.X, problem.Z = problem.X * 0.01, problem.Z * 0.01 end
    if classes == 0 then problem.Y = problem.Y * math.max(scale, 1) end
    list[k] = problem
  end
  return list
end

-- Predictions.
function outcomes.solver(t, component, scale)
  for _, problem in ipairs(problems_of(t, scale)) do
    local told = problems.solve(component, problem)
    if told.status == "ok" then return told.fits[1].predictions end
  end
end

function outcomes.metric(t, component, scale)
  local cases = require "scullery_checker.metric.cases"
  local facts = cases.facts(component)
  local made = {}
  for i, count in ipairs(cases.counts(facts)) do
    local case = cases.new(facts.needs, 60, count, t.seed)
    if facts.needs == "values" then case.p, case.y = case.p * scale, case.y * scale end
    made[i] = cases.value(component, case)
  end
  return core.matrix{ made }
end

-- What comes of the component; nil where it is refused, or says nothing.
local function outcome(t, given, scale)
  local ok, made = pcall(function()
    local component = t.subject:make(given)
    components.instance(component)
    return outcomes[t.kind](t, component, scale)
  end)
  return ok and made or nil
end

-- Numbers for the option, each { number, other }.
-- Of a solver's numbers that are whole by default none below 1: parts of an epoch are none.
local function pairs_of(kind, option)
  local list, default = {}, tonumber(option.default)
  for _, factor in ipairs(FACTORS_OF[kind] or FACTORS) do
    local number = (default and default ~= 0 and default or 1) * factor
    if not (kind == "solver" and default and default > 1 and default % 1 == 0 and number < 2) then
      list[#list + 1] = { number, number / 2 }
    end
  end
  local span = option.high - option.low
  for _, share in ipairs(span < WIDE and { 1e-4, 1e-2 } or {}) do
    list[#list + 1] = { option.low + share * span, option.low + share / 2 * span }
    list[#list + 1] = option.high <= FAR * math.max(default or 1, 1)
      and { option.high - share * span, option.high - share / 2 * span }
      or { option.low + span / 2, option.low + span / 4 }
  end
  return list
end

-- Whether both numbers give the same on rows of each size, whatever the words of a solver's other
-- options, in whose units it may be; nil where they say nothing.
local function is_same(t, name, pair)
  local said
  local words = t.kind == "solver" and choices.words(t.subject.info) or {}
  for k = 0, math.min(#words, MOST_WORDS) do
    local function given(number)
      local all = { [name] = number }
      for key, value in pairs(words[k] or {}) do all[key] = all[key] or value end
      return all
    end
    for _, scale in ipairs(SCALES) do
      local a = outcome(t, given(pair[1]), scale)
      local b = a and outcome(t, given(pair[2]), scale)
      if b then
        if a:rows() ~= b:rows() or a:cols() ~= b:cols() or core.first_difference(a, b) then
          return false
        end
        said = said or not core.find_nonfinite(a) or nil
      end
    end
  end
  return said
end

-- Whether a solver gives nearly, but not quite, the same with its usual number: it has converged,
-- whatever the number is.
local function is_settled(t, name, number)
  local off = 0
  for _, scale in ipairs(t.kind == "solver" and SCALES or {}) do
    local a, b = outcome(t, { [name] = number }, scale), outcome(t, {}, scale)
    if a and b then off = math.max(off, (a - b):abs():max() / (b:abs():max() + 1e-300)) end
  end
  return off > 0 and off < 1e-8
end

-- Scores of some rows by the definition of a solver with this number; nil where it says nothing.
local function defined(t, name, number, problem)
  local ok, scores = pcall(function()
    local component = t.subject:make{ [name] = number }
    local asked = problems.with(problem, { constant = problems.facts(component).intercept })
    local score = definition.of(component).score(problems.rows(asked))
    local list = {}
    for i = 1, 5 do
      for _, value in ipairs((definition.values(score, problems.row(problem.Z, i)))) do
        list[#list + 1] = value
      end
    end
    return core.matrix{ list }
  end)
  return ok and scores or nil
end

-- Whether a solver gives the same with both numbers by its definition: as beyond a threshold.
local function is_defined(t, name, pair)
  local said = false
  for _, scale in ipairs(t.kind == "solver" and SCALES or {}) do
    for _, problem in ipairs(problems_of(t, scale)) do
      local a = defined(t, name, pair[1], problem)
      local b = a and defined(t, name, pair[2], problem)
      if b and (a - b):abs():max() > 1e-9 * a:abs():max() then return false end
      said = said or b ~= nil
    end
  end
  return said
end

local function run(t)
  local any = false
  for _, option in ipairs(choices.numeric(t.subject.info)) do
    local cut, differs
    local is_tried = option.takes_number and option.name ~= "tolerance"
    for _, pair in ipairs(is_tried and pairs_of(t.kind, option) or {}) do
      local same = is_same(t, option.name, pair)
      if same and is_settled(t, option.name, pair[1]) then same = nil end
      if same then cut = cut or pair elseif same == false then differs = true end
    end
    any = any or differs or cut
    if cut and differs and not is_defined(t, option.name, cut) then
      t:warn("%s = %g gives the same as %s = %g, and other numbers do not: is it cut?",
        option.name, cut[1], option.name, cut[2])
    end
  end
  if not any then t:skip("no option takes numbers far from usual") end
end

-- A list of its own for each kind that has the test, so that each lists it.
return function()
  return { { name = "cuts", about = "numbers of options far from usual are not cut", run = run } }
end
