--- Samplers, nonlinearities, kernels and solvers as Lua values: a name and its options. The options
--- are checked at once; the engine's instance is made when the data are known.
local core = require "scullery.core"
local choose = require "scullery.compose.choose"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local used = require "scullery.base.used"

local Component = objects.class("component", { fields = "kind name given made widths auto",
  hidden = "made widths auto",
  hint = function(self, field)
    return ("options of a component are given when it is made, as in sc.%s.%s{ %s = ... }; \z
      p:clone{ [\"%s.%s\"] = ... } is a pipeline with another value"):format(self.kind, self.name,
      tostring(field), self.kind, tostring(field))
  end })

local component = { constructors = setmetatable({}, { __mode = "k" }) }

--- component.is(value[, kind]): true if the value is a component (of that kind).
function component.is(value, kind)
  return getmetatable(value) == Component and (kind == nil or value.kind == kind)
end

--- component.rule(kind, ...): the rule of options.check for an option whose value is a component of
--- one of these kinds.
function component.rule(...)
  local kinds, takes = { ... }, {}
  for i, kind in ipairs(kinds) do takes[i] = ("a %s, as sc.%s.NAME{...}"):format(kind, kind) end
  local function test(value)
    for _, kind in ipairs(kinds) do if component.is(value, kind) then return true end end
    return false
  end
  return { test = test, takes = table.concat(takes, ", or ") }
end

function Component:__tostring()
  local parts = {}
  local ok, instance = options.attempt(component.instance, self)
  if ok and #component.searched(self) == 0 and not component.waiting(self) then
    local settings, text = core.settings(instance)
    local name = self.kind == "solver" and component.role(self, "intercept")
    if name and settings[name] == "auto" then -- say what "auto" means here
      text = text:gsub(name .. ' = "auto"', "%0 " .. (core.solver_facts(instance).wants_intercept
        and "(a constant)" or "(no constant)"))
    end
    return ("%s.%s{%s}"):format(self.kind, self.name, text)
  end
  for name, value in pairs(self.given) do
    parts[#parts + 1] = name .. " = " .. options.show(value)
  end
  table.sort(parts)
  return ("%s.%s{%s}"):format(self.kind, self.name, table.concat(parts, ", "))
end

--- component:label([with_options]): its name as a text; with_options = true: with the given
--- options.
function Component:label(with_options)
  local text = with_options and options.show(self.given):match("^{(.+)}$")
  return text and ("%s{%s}"):format(self.name, text) or self.name
end

-- The components in an option's value: the value itself or the entries of a list; nil for other
-- values.
local function parts_of(value)
  if component.is(value) then return { value } end
  if type(value) ~= "table" or getmetatable(value) or #value == 0 then return nil end
  for _, one in ipairs(value) do if not component.is(one) then return nil end end
  return value
end

-- The value with f applied to each component in it.
local function map_parts(value, f)
  local parts = parts_of(value)
  if not parts then return value end
  if component.is(value) then return f(value) end
  local result = {}
  for i, part in ipairs(parts) do result[i] = f(part) end
  return result
end

-- Cached facts about each component, so that nested components are visited once: constant (no
-- option is searched), nested (number of levels), within (number of components, including itself)
-- and waits (the result of component.waiting).
local known = setmetatable({}, { __mode = "k" })
local MOST_NESTED, MOST_WITHIN = core.most_nested, core.most_within

local function facts_of(self)
  if known[self] then return known[self] end
  local facts = { constant = true, nested = 1, within = 1 }
  for _, value in pairs(self.given) do
    local searched = choose.is(value)
    if searched then facts.constant = false end
    for _, one in ipairs(searched and value.values or { value }) do
      for _, part in ipairs(parts_of(one) or {}) do
        local inside = facts_of(part)
        facts.constant = facts.constant and inside.constant
        facts.nested = math.max(facts.nested, inside.nested + 1)
        facts.within = facts.within + inside.within
      end
    end
  end
  known[self] = facts
  return facts
end

-- The choices for the component in option `name`: "sampler.base.sigma" becomes "sampler.sigma" for
-- the base.
local function inner(self, name, part, choices)
  local result, prefix = {}, self.kind .. "." .. tostring(name) .. "."
  for path, value in pairs(choices) do
    if path:sub(1, #prefix) == prefix then
      result[part.kind .. "." .. path:sub(#prefix + 1)] = value
    end
  end
  return result
end

--- component.resolved(self, choices): a copy with every searched option replaced by its choice.
function component.resolved(self, choices)
  if facts_of(self).constant then return self end
  local given = component.options(self, choices)
  return setmetatable({ kind = self.kind, name = self.name, given = given }, Component)
end

-- The option of a list that has this role, or nil.
local function of_role(list, role)
  for _, option in ipairs(list) do if option.role == role then return option end end
end

--- component.is_chosen(option, list): true if p:fit may choose an option that is not given. option:
--- a row of core.plugin_info, list: all options of its component. It may choose a width, and of a
--- solver the regularisation, or without one the capacity, where that is a number: neighbours and
--- rounds are counted, and keep their default.
function component.is_chosen(option, list)
  local simplicity = of_role(list, "regularisation") or of_role(list, "capacity")
  return option == simplicity and option.takes_number
    or option.takes:find('"median"', 1, true) ~= nil
end

--- component.role(self, role): the name of its option with that role ("regularisation", "capacity",
--- "intercept", "estimate", "bias", "tolerance"), or nil.
function component.role(self, role)
  local option = of_role(core.plugin_info(self.kind, self.name).options, role)
  return option and option.name
end

--- component.role_value(self, role, choices): the value of that option, or nil.
function component.role_value(self, role, choices)
  local name = component.role(self, role)
  return name and component.setting(self, name, choices)
end

--- component.with(self, name, value): a copy with one option set.
function component.with(self, name, value)
  local given = {}
  for key, other in pairs(self.given) do given[key] = other end
  given[name] = value
  return setmetatable({ kind = self.kind, name = self.name, given = given }, Component)
end

--- component.options(self, choices): the options with each searched one replaced by its choice (by
--- its first value without a choice).
function component.options(self, choices)
  local result = {}
  for name, value in pairs(self.given) do
    value = choose.pick(value, self.kind .. "." .. tostring(name), choices)
    result[name] = map_parts(value, function(part)
      return component.resolved(part, inner(self, name, part, choices))
    end)
  end
  return result
end

-- The options with components as the engine's instances; widths that depend on data are 1 if
-- `widths` is nil.
local function for_engine(self, choices, widths)
  local result = component.options(self, choices)
  for name, value in pairs(result) do
    result[name] = map_parts(value, function(part) return component.instance(part, {}, widths) end)
  end
  return result
end

--- component.searched(self): its searched options: a list of {path = "solver.lambda", values =
--- {...}, option =}.
function component.searched(self)
  local list = choose.searched(self.kind, self.given)
  for name, value in pairs(self.given) do
    for _, part in ipairs(parts_of(value) or {}) do
      for _, one in ipairs(component.searched(part)) do
        list[#list + 1] =
          { path = ("%s.%s.%s"):format(self.kind, name, one.path:match("^[^.]+%.(.*)$")),
            values = one.values, choose = one.choose, option = one.option }
      end
    end
  end
  table.sort(list, function(a, b) return a.path < b.path end)
  return list
end

-- The word "scale" or "median" if a width of the component, or of one in its options, depends on
-- the data; else nil.
local function waits(self, choices)
  local given = component.options(self, choices or {})
  for _, value in pairs(given) do
    for _, part in ipairs(parts_of(value) or {}) do
      local word = component.waiting(part)
      if word then return word end
    end
  end
  return core.waiting(self.kind, self.name, for_engine(self, choices or {}))
end

--- component.waiting(self, choices): the word "scale" or "median" if a width depends on the data;
--- else nil.
function component.waiting(self, choices)
  local facts = facts_of(self)
  if not facts.constant then return waits(self, choices) end
  if facts.waits == nil then facts.waits = waits(self) or false end
  return facts.waits or nil
end

--- component.used: "KIND NAME" of each component that an instance was made of -> true.
component.used = used.names

--- component.instance(self, choices, widths): the engine's instance. widths: {scale, median,
--- columns}, the first two as gammas, for options that depend on the data.
function component.instance(self, choices, widths)
  widths = widths or {}
  component.used[self.kind .. " " .. self.name] = true
  local plain = not next(choices or {}) and not next(widths)
  if plain or (facts_of(self).constant and not component.waiting(self)) then -- made once
    self.made = self.made or core.instance(self.kind, self.name, for_engine(self, {}, widths))
    return self.made
  end
  return core.instance(self.kind, self.name, for_engine(self, choices or {}, widths), widths[1],
    widths[2], widths[3])
end

--- component.open_width(part): the name of the option for the width of a component, if it may be
--- "median" and no width was given; else nil. A width may also have been given by another option
--- (gamma for sigma, theta for width): the component refuses two, which the trial instance shows.
function component.open_width(part)
  local name
  for _, option in ipairs(core.plugin_info(part.kind, part.name).options) do
    if option.takes:find('"median"', 1, true) then
      if part.given[option.name] ~= nil then return nil end
      name = name or option.name
    end
  end
  return name and pcall(component.instance, component.with(part, name, 1)) and name or nil
end

--- component.settled(self, widths): a copy with the widths from the data filled in: {scale, median,
--- columns}, the first two as gammas.
function component.settled(self, widths)
  local copy = setmetatable({ kind = self.kind, name = self.name, given = self.given }, Component)
  copy.made = core.instance(self.kind, self.name, for_engine(self, {}, widths), widths[1],
    widths[2], widths[3])
  copy.widths = widths
  return copy
end

--- component.with_settled(self, name, value): component.with, with the widths of component.settled.
function component.with_settled(self, name, value)
  local copy = component.with(self, name, value)
  return self.widths and component.settled(copy, self.widths) or copy
end

--- component.setting(self, name, choices): the value of an option in force, given or by default,
--- that does not depend on data.
function component.setting(self, name, choices)
  return core.settings(component.instance(self, choices or {}))[name]
end

--- kernel:gram(X[, Y]): the matrix of K(x_i, y_j) between the rows of X and Y, float64; without Y
--- between the rows of X. Widths of "scale" and "median" are computed from X. Rows of sparse
--- matrices cost the numbers that are stored, for kernels of a product, a distance, a cosine or an
--- angle.
function Component:gram(X, Y)
  if self.kind ~= "kernel" then
    error(("%s.%s has no Gram matrix: only a kernel has one"):format(self.kind, self.name), 2)
  end
  local widths = component.waiting(self) and { core.widths(core.source(X), {}) }
  if Y and core.is_sparse(X) ~= core.is_sparse(Y) then
    X, Y = core.is_sparse(X) and X or core.csr(X), core.is_sparse(Y) and Y or core.csr(Y)
  end
  return core.gram(component.instance(self, {}, widths or nil), X, Y)
end

-- Checks the options by making the instance: each searched value is checked with the first values
-- of the others. Options that wait for a width from the data are checked when it is known.
local function check(self)
  local tries = { {} }
  for _, one in ipairs(component.searched(self)) do
    for _, value in ipairs(one.values) do tries[#tries + 1] = { [one.path] = value } end
  end
  for _, choices in ipairs(tries) do
    if not component.waiting(self, choices) then component.instance(self, choices) end
  end
end

-- Raises an error if an option of a solver is a component with a width of "auto": p:fit chooses
-- only the widths of features.
local function refuse_auto(self)
  for name, value in pairs(self.kind == "solver" and self.given or {}) do
    for _, one in ipairs(choose.is(value) and value.values or { value }) do
      for _, part in ipairs(parts_of(one) or {}) do
        if part.auto then
          error(("option '%s' has %s = \"auto\", which is for features: give a number, or \z
            \"median\" for a width by a rule"):format(name, part.auto), 0)
        end
      end
    end
  end
end

-- The function sc.KIND.NAME(options), which makes a component.
local function constructor(kind, name)
  local make = objects.guarded(("%s.%s"):format(kind, name), function(given)
    if given ~= nil and (type(given) ~= "table" or getmetatable(given)) then
      error("takes a table of named options, and got " .. options.show(given), 0)
    end
    local copy, auto = {}, nil
    for key, value in pairs(given or {}) do copy[key] = value end
    local list = core.plugin_info(kind, name).options
    for _, option in ipairs(list) do
      for old in (option.former or ""):gmatch "[^|]+" do
        if copy[old] ~= nil and copy[option.name] == nil then
          copy[core.option_name(kind, name, old)], copy[old] = copy[old], nil
        end
      end
      -- "auto" leaves the choice to p:fit, as if the option were not given, but where the component
      -- has a rule of its own
      local key, own = option.name, false
      for _, word in ipairs(option.words) do
        own = own or word == "auto" or word == copy[key]
      end
      local chosen = component.is_chosen(option, list) and not own and copy[key]
      if chosen == "auto" then
        copy[key], auto = nil, key
      elseif type(chosen) == "string" and (option.role == "regularisation"
        or option.role == "capacity") then
        error(("option '%s' got %s; it takes a number, or \"auto\": p:fit chooses it"):format(key,
          options.show(chosen)), 0)
      end
    end
    local self = setmetatable({ kind = kind, name = name, given = copy, auto = auto }, Component)
    refuse_auto(self)
    local facts = facts_of(self)
    if facts.nested > MOST_NESTED or facts.within > MOST_WITHIN then
      error(("components within components may be %d deep and %d in all"):format(MOST_NESTED,
        MOST_WITHIN), 0)
    end
    check(self)
    return self
  end)
  component.constructors[make] = { kind = kind, name = name }
  options.constructors[make] = ("sc.%s.%s"):format(kind, name)
  return make
end

--- component.find(kind, test): the first component of a kind, by name, with default options, for
--- which test(component) is true; nil if there is none. Files that cannot be loaded are skipped.
function component.find(kind, test)
  local group = component.group(kind)
  for _, entry in ipairs(core.plugin_list()) do
    local made, one = false, nil
    if entry.kind == kind then -- reading the member loads the plugin, which may fail
      made, one = options.attempt(function() return group[entry.name]() end)
    end
    if made and test(one) then return one end
  end
end

--- component.group(kind): the table behind sc.sampler and the like; the first use of a name loads
--- its plugin.
function component.group(kind)
  local meta = { kind = kind, __name = kind }
  function meta.__index(group, name)
    local ok, message = pcall(core.plugin_info, kind, name)
    if not ok then error(tostring(message):gsub("^[^:]*%.lua:%d+: ", ""), 2) end
    local make = constructor(kind, name)
    rawset(group, name, make)
    return make
  end
  function meta.__pairs(group)
    local names = {}
    for _, entry in ipairs(core.plugin_list()) do
      if entry.kind == kind then names[#names + 1] = entry.name end
    end
    local i = 0
    return function()
      i = i + 1
      if names[i] then return names[i], group[names[i]] end
    end
  end
  return objects.namespace("sc." .. kind, setmetatable({}, meta))
end

return component
