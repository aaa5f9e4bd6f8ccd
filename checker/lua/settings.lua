--- Random settings of all options of a component at once, near their defaults and far from them.
local choices = require "scullery_checker.choices"
local components = require "scullery.compose.component"
local values = require "scullery_checker.values"

local show = require("scullery.base.options").show

local settings = {}

local SETS <const> = 9 -- of random options
-- How far numbers of options are from their default, at most; near it one must not be taken for it.
local reach <const> = { 3, 40, 1000, 1.01 }

local RUNGS <const> = 5
local LISTS <const> = { { 3, 5 }, { 7, 4 }, { 2, 3, 4 } }

-- A number at a rung of a ladder, where methods may have another form: the least ones, halves up to
-- 100, and of whole numbers hundreds.
local function number_at(option, u, rung)
  if rung == 5 and (option.takes_number or option.high < 1000) then return nil end
  local x = rung == 5 and 520 + 480 * u or rung < 3 and math.max(option.low, 0) + rung - 1
    or math.floor(2 * 10 ^ ((rung - 2.2 + u) / 1.8) + 0.5) / 2
  x = option.takes_number and x or math.floor(x)
  if rung == 1 and not values.is_within(option, x) then x = x + 0.5 + u end
  return values.is_within(option, x) and x or nil
end

-- A number of the option from u, v in (0, 1): near its default, far from it, anywhere between its
-- bounds, or at a rung, -1 to -RUNGS in place of `far`.
local function number_of(option, u, v, far)
  if far < 0 then return number_at(option, u, -far) end
  local default, span = tonumber(option.default), option.high - option.low
  if option.takes_integer and not option.takes_number then
    local x = math.floor(math.max(option.low, 0) + (far > 3 and 20 or 5) * u)
    return x <= option.high and x or nil
  end
  if span < math.huge and v > 0.5 and far > 2 then return option.low + span * u end
  local x = (default and default ~= 0 and default or 1) * far ^ (2 * u - 1)
  if option.low < 0 and v < 0.25 and far > 2 then x = -x end
  return math.min(math.max(x, option.low), option.high)
end

local parts_of = { nonlinearity = { "relu", "tanh", "fourier", "abs" },
  sampler = { "gaussian", "orthogonal", "gaussian" },
  kernel = { "linear", "gaussian", "laplacian", "polynomial", "gaussian" },
  loss = { "quantile", "square", "huber", "logistic", "hinge", "poisson", "gamma" } }

local function part(kind, u)
  local names = parts_of[kind]
  local name = names and names[1 + math.floor(u * #names)]
  if not name then return nil end
  local given = name == "gaussian" and { [kind == "kernel" and "width" or "sigma"] = 0.5 + u }
    or name == "fourier" and u > 0.6 and { form = "pair" }
  return require("scullery")[kind][name](given or {})
end

-- A value for the option, and for those that take lists `count` numbers.
local function value_of(option, draw, far, count)
  local u, v = draw(), draw()
  if option.takes:find("or a list of such", 1, true) then
    local list = {}
    for k = 1, count do list[k] = part(option.words[1], draw()) end
    return #list > 0 and list or nil
  elseif parts_of[option.words[1]] then
    return part(option.words[1], u)
  elseif option.takes_list and (u < 0.7 or not option.takes_number) then
    local list = {}
    -- as many as there are parts, and now and then one more, which is refused or not looked at
    for k = 1, count + (far == 40 and u > 0.5 and 1 or 0) do
      list[k] = number_of(option, draw(), v, far)
    end
    return list
  elseif option.takes_word and #option.words > 0 and (v < 0.5 or not option.takes_number) then
    if option.takes_boolean and v < 0.3 then return u < 0.5 end
    return option.words[1 + math.floor(u * #option.words)]
  elseif option.takes_boolean then
    return u < 0.5
  elseif option.takes_number or option.takes_integer then
    return number_of(option, u, v, far)
  end
end

local function drawing(t, of)
  local list, at = choices.draws(200, t.seed, of), 0
  return function()
    at = at % #list + 1
    return list[at]
  end
end

-- The component with these options, or where they do not go together with those that do, from
-- option number `first` on; nil where none is taken.
local function made_of(t, given, first)
  local function made_with(some)
    local ok, made = pcall(t.subject.make, t.subject, some)
    return ok and pcall(components.instance, made)
      and not t.subject.offers(made, "scullery.bind/1") and made or nil
  end
  local made, taken, list = made_with(given), {}, t.subject.info.options
  if made then return made, given end
  for k = 1, #list do
    local name = list[(first + k) % #list + 1].name
    taken[name] = given[name]
    local other = given[name] ~= nil and made_with(taken)
    if other then made = other else taken[name] = nil end
  end
  return made, taken
end

--- settings.list(t): a list of { component, label, far }: the variants, and SETS random choices of
--- all options, near their defaults and far from them, and one at each rung, as far as they are
--- taken; far: how far.
function settings.list(t)
  local list = {}
  for component in t:variants() do
    list[#list + 1] = { component = component, label = t.label, far = 1 }
  end
  for _, one in ipairs(t.kind == "sampler" and t.subject:named_variants() or {}) do
    list[#list + 1] = { component = one.component, label = one.label, far = 1 }
  end
  -- one number alone, far from its default, near 0, or the least whole one
  for k, option in ipairs(t.kind ~= "solver" and choices.numeric(t.subject.info) or {}) do
    local u, low = choices.draws(1, t.seed, 60 + k)[1], math.max(option.low, 0)
    local numbers = { math.floor(low + 4 + 3 * u), math.floor(math.max(low, 1)) }
    if option.takes_number then
      numbers = { (tonumber(option.default) or 1) * 10 ^ (2 + u),
        values.is_within(option, 0) and 10 ^ (-3.3 - u) or nil }
    end
    for i, number in ipairs(numbers) do
      local made = made_of(t, { [option.name] = number }, 0)
      if made then
        list[#list + 1] = { component = made, label = show{ [option.name] = number },
          far = i == 1 and 1000 or 3 }
      end
    end
  end
  for _, option in ipairs(t.subject.info.options) do -- each part alone
    local names = not option.takes:find("or a list of such", 1, true) and parts_of[option.words[1]]
    for k = 1, names and #names or 0 do
      local made, taken = made_of(t, { [option.name] = part(option.words[1], (k - 0.5) / #names) },
        1)
      if made and next(taken) then
        list[#list + 1] = { component = made, label = show(taken), far = 1 }
      end
    end
  end
  for _, option in ipairs(t.subject.info.options) do -- each list alone, of small whole numbers
    for _, given in ipairs(choices.takes_numbers(option) and LISTS or {}) do
      local made, taken = made_of(t, { [option.name] = given }, 1)
      if made and next(taken) then
        list[#list + 1] = { component = made, label = show(taken), far = 1 }
      end
    end
  end
  for of = 1, #t.subject.info.options > 0 and SETS + RUNGS or 0 do
    local draw, given = drawing(t, 70 + of), {}
    local far = of > SETS and SETS - of or reach[of % #reach + 1]
    local count = of % 4 ~= 2 and of % 3 > 0 and 3 or 1 + (of + 1) % 5 -- compared in 3 columns
    for _, option in ipairs(t.subject.info.options) do
      if draw() < (option.takes_list and 0.95 or 0.8) then
        given[option.name] = value_of(option, draw, far, count)
      end
    end
    local made, taken = made_of(t, given, t.seed + of)
    if made then
      far = far == -RUNGS and 1000 or far < -2 and 40 or math.max(far, 3)
      list[#list + 1] = { component = made, label = show(taken), far = far }
    end
  end
  return list
end

return settings
