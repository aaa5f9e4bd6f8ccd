--- Tests of declared options: what `create` makes of everything that they take.
local choices = require "scullery_checker.choices"
local core = require "scullery_checker.core"
local options = require "scullery.base.options"
local process = require "scullery_checker.process"
local values = require "scullery_checker.values"

local MOST_COMBINATIONS <const> = 64
local RANDOM_DRAWS <const> = 40

-- A refusal releases what `create` allocated. Once the host may keep something, as a plugin that it
-- loads for a part.
local function expect_released(t, given)
  local grown
  for _ = 1, 2 do
    local before = (process.held())
    pcall(t.subject.make, t.subject, given)
    grown = (process.held()) - before
  end
  t:expect(grown <= 0, "%s is refused, and %d bytes of host->allocate are not released",
    options.show(given), grown)
end

-- The component with these options; or nil and the sentence of its refusal.
local function make(t, given)
  local before = core.memory()
  local ok, made = pcall(t.subject.make, t.subject, given)
  if ok then return made end
  if options.is_interrupt(made) then error(made, 0) end
  if core.memory() > before then expect_released(t, given) end
  return nil, options.plain(tostring(made))
end

local function text_of(given) return options.show(given) end

-- A refusal is a sentence of the plugin's own on what it was given; not of the host on the plugin.
local function expect_sentence(t, sentence, given)
  for _, fault in ipairs{ "no sentence", "returned status", "left the rounding mode" } do
    t:expect(not sentence:find(fault, 1, true), "%s: %s", text_of(given), sentence)
  end
end

local function expect_taken(t, given, why)
  local made, sentence = make(t, given)
  if made then return made end
  expect_sentence(t, sentence, given)
  t:expect(sentence:find("memory", 1, true), "%s, %s, is refused: %s", text_of(given), why,
    sentence)
end

-- ------------ one option at a time

local LISTS <const> = { { 0.5 }, { 1 }, { 0.5, 0.9 }, { 3, 5 }, { 2, 3, 4 } }

-- Whether some value of those that the option takes goes with a variant.
local function is_ever_taken(t, option)
  local list = table.move(choices.alternatives(option) or {}, 1, 100, 1, {})
  if option.takes_list then table.move(LISTS, 1, #LISTS, #list + 1, list) end
  for u = 0.1, values.is_numeric(option) and 1 or 0, 0.2 do
    list[#list + 1] = choices.number(t.kind, option, u)
  end
  for _, one in ipairs(t.subject:variants()) do
    for _, value in ipairs(list) do
      local given = {}
      for key, other in pairs(one.given) do given[key] = other end
      given[option.name] = value
      if pcall(t.subject.make, t.subject, given) then return true end
    end
  end
  return #list == 0
end

local function check_defaults(t)
  local made = expect_taken(t, {}, "nothing but defaults")
  t:expect(made, "no memory for an instance with defaults")
  for _, option in ipairs(t.subject.info.options) do
    local default = option.default
    if default and values.is_numeric(option) and tonumber(default) then
      expect_taken(t, { [option.name] = tonumber(default) }, "its default")
    elseif default and option.takes_boolean then
      expect_taken(t, { [option.name] = default == "true" }, "its default")
    elseif default and option.takes_word then
      expect_taken(t, { [option.name] = default }, "its default")
    end
  end
  for _, option in ipairs(t.subject.info.options) do
    if not is_ever_taken(t, option) then
      t:warn("option '%s' takes %s, and is refused with each that was tried", option.name,
        option.takes)
    end
  end
end

local function expect_refused(t, option, value)
  local made, sentence = make(t, { [option.name] = value })
  t:expect(not made, "option '%s' takes %s, which is beyond its range (%s)", option.name,
    options.show(value), option.takes)
  t:expect(sentence:find("'" .. option.name .. "'", 1, true), "the refusal of %s = %s does not \z
    name the option: %s", option.name, options.show(value), sentence)
end

-- Whether a sentence names an option besides this one.
local function names_another(t, sentence, option)
  for _, other in ipairs(t.subject.info.options) do
    if other ~= option and sentence:find("'" .. other.name .. "'", 1, true) then return true end
  end
  return false
end

-- The bound itself has to be taken. Where it is not part of the range, numbers next to it may be
-- too small or too large for what is computed from them; and it may contradict another option.
local function expect_at_bound(t, option, bound)
  local given = { [option.name] = bound.value }
  local made, sentence = make(t, given)
  if made then return end
  if not bound.open and not names_another(t, sentence, option) then
    return expect_taken(t, given, "a bound of its range")
  end
  expect_sentence(t, sentence, given)
end

local function check_bounds(t)
  local any = false
  for _, option in ipairs(t.subject.info.options) do
    if values.is_numeric(option) then
      local within, beyond = values.bounds(option)
      for _, bound in ipairs(within) do
        any = true
        expect_at_bound(t, option, bound)
      end
      for _, value in ipairs(beyond) do expect_refused(t, option, value) end
      for _, value in ipairs{ 0 / 0, print } do expect_refused(t, option, value) end
    end
  end
  if not any then t:skip("no option has a bound") end
end

-- ------------ several

local function check_words(t)
  local list = { {} }
  for _, option in ipairs(t.subject.info.options) do
    local longer = {}
    for _, given in ipairs(choices.alternatives(option) and list or {}) do
      for _, choice in ipairs(choices.alternatives(option)) do
        local copy = {}
        for key, value in pairs(given) do copy[key] = value end
        copy[option.name] = choice
        longer[#longer + 1] = copy
      end
    end
    if #longer > 0 then list = longer end
    while #list > MOST_COMBINATIONS do table.remove(list, 1 + #list * 7 // 11 % #list) end
  end
  if #list == 1 then t:skip("no option takes words or truth values") end
  local taken = 0
  for _, given in ipairs(list) do
    local made, sentence = make(t, given)
    if made then taken = taken + 1 else expect_sentence(t, sentence, given) end
  end
  t:expect(taken > 0, "none of %d combinations of words is taken", #list)
  t:note("%d of %d combinations are taken", taken, #list)
end

-- A random number, or for one in three draws a list where it takes them: as many of all options.
local function option_value(option, draws, i, u)
  local function within(x) return values.random(option, math.min(math.max(x % 1, 0.01), 0.99)) end
  if not choices.takes_numbers(option) or values.is_numeric(option) and i % 3 > 0 then
    return within(u)
  end
  local list = {}
  for k = 1, ({ 2, 3, 5 })[i % 9 // 3 + 1] do list[k] = within(draws:get(i, 1) + u * k) end
  return list
end

-- Random numbers for one numeric option, then for some of them.
local function random_options(list, draws, i)
  local given, alone = {}, list[i] and i
  for j, option in ipairs(list) do
    local u, chosen = draws:get(i, 2 * j - 1), draws:get(i, 2 * j)
    if alone == j or not alone and chosen > 0 then
      given[option.name] = option_value(option, draws, i, u)
    end
  end
  return given
end

local function check_random(t)
  local list, taken = {}, 0
  for _, option in ipairs(t.subject.info.options) do
    if values.is_numeric(option) or choices.takes_numbers(option) then
      list[#list + 1] = option
    end
  end
  if #list == 0 then t:skip("no option takes numbers") end
  local draws = t:random(RANDOM_DRAWS, 2 * #list)
  for i = 1, RANDOM_DRAWS do
    local given = random_options(list, draws, i)
    local made, sentence = make(t, given)
    if made then
      taken = taken + 1
      core.settings(t:instance(made))
    else
      expect_sentence(t, sentence, given)
    end
  end
  t:expect(taken > 0, "none of %d draws of numbers within the ranges is taken", RANDOM_DRAWS)
  t:note("%d of %d random choices are taken", taken, RANDOM_DRAWS)
end

return {
  { name = "defaults", about = "an instance can be made of the defaults, and of each one as given",
    run = check_defaults },
  { name = "bounds", about = "numbers up to the bounds are taken, those beyond refused",
    run = check_bounds },
  { name = "words", about = "combinations of words are taken, or refused with a sentence",
    run = check_words },
  { name = "random-options", about = "random numbers within the ranges are taken, or refused with \z
    a sentence", run = check_random },
}
