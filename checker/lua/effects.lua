--- The test that options do something, for kinds whose results are functions of them.
local core = require "scullery_checker.core"
local choices = require "scullery_checker.choices"
local metrics = require "scullery_checker.metric.cases"
local values = require "scullery_checker.values"

local ROWS <const> = 60
local DRAWS <const> = 3
local SEEDS <const> = 6 -- a number may matter for the choice of a few rows alone
local wholes = { 10, 30 } -- that are tried besides small ones

-- A sampler's features with a nonlinearity of several numbers, which are moved against each other.
local function use_planes(t, sampler, seed)
  for _, phi in ipairs(t.subject.built_in "nonlinearity") do
    if t.subject.shape(phi).fan_in > 1 and t.subject.fits(sampler, phi) then
      local X = t:random(ROWS, 4)
      return require("scullery").features{ p = sampler, phi = phi, T = t.subject.T(sampler, 6),
        seed = seed }:fit(X):transform(X)
    end
  end
end

-- What a stage makes of counts, many of which are 0.
local function use_counts(t, stage, seed)
  local counts = t:random(ROWS, 4, seed):map(function(x) return x > 0 and 3 * x // 1 or 0 end)
  return t.subject.use_stage(stage, counts, seed)
end

-- What comes of a component with these options on a few rows: a list of matrices; nil where it is
-- refused.
local function outcome(t, given, seed)
  local ok, list = pcall(function()
    local made = t.subject:make(t.subject:hasty(given))
    if t.kind == "stage" then
      local rows = { use_counts(t, made, seed) }
      for targets = 1, core.stage_flags(t:instance(made)).targets and 2 or 1 do
        local fine, through = pcall(t.subject.use_stage, made, t:random(ROWS, 4, seed), seed,
          targets)
        if fine then rows[#rows + 1] = through end
      end
      return rows
    end
    return { t.subject.use(made, seed, ROWS), t.kind == "sampler" and use_planes(t, made, seed)
      or t.kind == "metric" and metrics.use(made, seed, ROWS, true) or nil }
  end)
  return ok and list or nil
end

local function is_other(made, base)
  for i, one in ipairs(made) do
    local other = base[i]
    if not other or one:rows() ~= other:rows() or one:cols() ~= other:cols()
      or core.first_difference(one, other) then
      return true
    end
  end
  return false
end

-- Truth values and words, or numbers to try for the option: small and large ones, which may matter
-- where those near its default do not.
local function values_for(t, option)
  local list = choices.alternatives(option)
  if list and not values.is_numeric(option) then return list end
  list = {}
  if not option.takes_number then
    table.move(choices.whole_numbers(option), 1, 5, 1, list)
    return table.move(wholes, 1, #wholes, #list + 1, list)
  end
  for _, u in ipairs(choices.draws(DRAWS, t.seed, 50)) do
    local number = choices.number(t.kind, option, u)
    for _, factor in ipairs(number and { 1, 20, 0.05, 1e4, 1e-4 } or {}) do
      list[#list + 1] = number * factor
    end
  end
  return list
end

-- Whether another value of the option changes what comes of a variant; nil where none is taken.
local function has_effect(t, option, variants, seed)
  local said
  for _, one in ipairs(variants) do
    local base = outcome(t, one.given, seed)
    for _, value in ipairs(base and values_for(t, option) or {}) do
      local given = {}
      for key, other in pairs(one.given) do given[key] = other end
      given[option.name] = value
      local made = outcome(t, given, seed)
      if made and is_other(made, base) then return true end
      if made then said = false end
    end
  end
  return said
end

local function is_idle(t, option)
  for seed = t.seed, t.seed + SEEDS - 1 do
    if has_effect(t, option, t.subject:variants(), seed) ~= false then return false end
  end
  return true
end

-- Numbers of stages may bound samples, rounds or categories, which a few rows do not reach.
local function check_effects(t)
  local list, any = choices.numeric(t.subject.info), false
  for _, option in ipairs(choices.named(t.subject.info)) do list[#list + 1] = option end
  if #list == 0 then t:skip("no option takes numbers, words or truth values") end
  for _, option in ipairs(list) do
    local may_bound = t.kind == "stage" and values.is_numeric(option)
    local idle = is_idle(t, option)
    any = any or not (idle and may_bound)
    if idle and not may_bound then
      t:warn("option '%s' changes nothing, whatever %s it is given", option.name,
        values.is_numeric(option) and "number" or "value")
    end
  end
  if not any then t:skip("its numbers may be bounds that few rows do not reach") end
end

-- A list of its own for each kind that has the test, so that each lists it.
return function()
  return { { name = "effects", about = "each option changes what is computed",
    run = check_effects } }
end
