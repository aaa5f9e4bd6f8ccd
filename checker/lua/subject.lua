--- What is checked: a component of a file or of the registry, with its defaults and with other
--- options, and the components that go with it.
local choices = require "scullery_checker.choices"
local core = require "scullery_checker.core"
local components = require "scullery.compose.component"
local values = require "scullery_checker.values"

local subject = {}

local Subject = {}
Subject.__index = function(_, name) return Subject[name] or subject[name] end

--- subject.new(info, path): a component, of which info says at least kind and name; where it
--- comes from a file, its path. What a process of its own opens is subject.source: the file also
--- where a name was asked for that no folder of plugins has.
function subject.new(info, path)
  local title = info.kind .. "." .. info.name
  return setmetatable({ kind = info.kind, name = info.name, info = info, path = path,
    title = title, in_lua = info.origin == "defined in Lua",
    source = path or info.origin ~= "built in" and info.path or title }, Subject)
end

--- subject.is_file(target): whether it is a path, not a name.
function subject.is_file(target)
  return (target:find("/", 1, true) or target:find("%.so$")) ~= nil
end

--- subject.list(target): the components of FILE.so, or the one of that name.
function subject.list(target)
  if not subject.is_file(target) then
    return { subject.new(require("scullery.plugin").info(target)) }
  end
  local list = {}
  for i, info in ipairs(core.plugin_load(target)) do list[i] = subject.new(info, target) end
  return list
end

--- subject.find(target, title): that one of them ("nonlinearity.relu").
function subject.find(target, title)
  for _, one in ipairs(subject.list(target)) do
    if one.title == title then return one end
  end
  error(("%s has no component %s"):format(target, title), 0)
end

--- subject.load_companions(paths): load the files that are checked together with one.
function subject.load_companions(paths)
  subject.companions, subject.companion_paths = {}, paths or {}
  for _, path in ipairs(paths or {}) do
    for _, info in ipairs(core.plugin_load(path)) do
      table.insert(subject.companions, { kind = info.kind, name = info.name })
    end
  end
end

-- ------------ variants

-- Narrow weights keep what unbounded nonlinearities give finite and their fourth moments small. The
-- first of these options that a sampler declares is set.
local narrow = { sigma = 0.3, scale = 0.3, gamma = 0.3, width = 3 }
local ITERATIONS <const> = 100 -- of a hasty solver

local function text_of(given)
  local parts = {}
  for key, value in pairs(given) do
    parts[#parts + 1] = key .. " = " .. require("scullery.base.options").show(value)
  end
  table.sort(parts)
  return #parts > 0 and "{" .. table.concat(parts, ", ") .. "}" or "defaults"
end

--- subject:options(): what is set in every variant: narrow weights of a sampler, few rounds.
function Subject:options()
  for _, option in ipairs(self.info.options) do
    local usual, is_less = values.usual(option)
    local value = self.kind == "sampler" and narrow[option.name] or is_less and usual or nil
    if value and option.takes:find "number" then return { [option.name] = value } end
  end
  return {}
end

--- subject:hasty(given): these options, with fewer iterations where they are counted.
function Subject:hasty(given)
  local hasty = {}
  for key, value in pairs(given) do hasty[key] = value end
  for _, option in ipairs(self.info.options) do
    if option.name == "max_iterations" and not given.max_iterations then
      hasty.max_iterations = ITERATIONS
    end
  end
  return pcall(self.make, self, hasty) and hasty or given
end

--- subject:make(given): the component with these options.
function Subject:make(given) return require("scullery")[self.kind][self.name](given) end

-- The component with these options beside subject:options(), or where the two do not go together
-- with these alone.
local function try(self, asked)
  local full = self:options()
  for key, value in pairs(asked) do full[key] = value end
  for _, given in ipairs{ full, asked } do
    local ok, made = pcall(self.make, self, given)
    if ok then return made, given end
  end
end

-- Tables of random numbers for its options: none for solvers, whose numbers are how long and how
-- exactly they work; none without a seed. What waits for a law is left to the test "bind".
local function numbers(self)
  if self.kind == "solver" or not self.seed then return {} end
  return choices.numbers(self.kind, self.info, self.seed, function(asked)
    local made = try(self, asked)
    return made and not subject.offers(made, "scullery.bind/1")
      and pcall(subject.use, made, 1, 40)
  end)
end

local LISTED <const> = { 0.4, 0.9, 2, 0.6, 1.3 }

-- `count` numbers for an option, of each place `from` on in LISTED.
local function listed(option, from, count)
  local list = {}
  for k = 1, count do
    local x = LISTED[(from + k) % #LISTED + 1]
    list[k] = option.takes_number and x or math.ceil(x)
  end
  return list
end

-- Lists of numbers for options of a sampler that take any number of them, whatever the columns; and
-- for all options of any component that take lists, as many numbers for each.
local function lists(self)
  local list, all = {}, {}
  local function is_taken(given)
    return pcall(function()
      local made = self:make(given)
      if self.kind == "sampler" then return core.layout(components.instance(made), 5) end
      if self.kind ~= "metric" then subject.use(made, 1, 40) end
    end)
  end
  for _, option in ipairs(self.info.options) do
    if choices.takes_numbers(option) then
      all[#all + 1] = option
      local name = option.name
      if self.kind == "sampler" and option.takes_number and is_taken{ [name] = { 0.4, 0.9 } }
        and is_taken{ [name] = { 0.4, 0.9, 2 } } then
        list[#list + 1] = { [name] = { 0.4, 0.9, 2 } }
      end
    end
  end
  for _, places in ipairs(#all == 1 and self.kind ~= "sampler" and { { 2, 1 }, { 1, 3, 2 } }
    or {}) do
    local given = { [all[1].name] = places }
    if is_taken(given) then list[#list + 1] = given end
  end
  for _, count in ipairs(#all > 1 and { 3, 2, 5 } or {}) do
    local given = {}
    for k, option in ipairs(all) do given[option.name] = listed(option, k, count) end
    if is_taken(given) then
      list[#list + 1] = given
      if self.kind ~= "sampler" then break end
    end
  end
  return list
end

--- subject:part_variants(name): a list of { component, label } with lists of kernel.gaussian and
--- kernel NAME, in both orders, for its options that take such lists.
function Subject:part_variants(name)
  local list, sc = {}, require "scullery"
  local a, b = sc.kernel.gaussian{ width = 1.5 }, sc.kernel[name]()
  for _, option in ipairs(self.info.options) do
    for _, parts in ipairs(option.words[1] == "kernel" and { { a, b }, { b, a } } or {}) do
      local given = { [option.name] = parts }
      local ok, made = pcall(self.make, self, given)
      if ok then list[#list + 1] = { component = made, label = text_of(given) } end
    end
  end
  return list
end

-- Options of a solver between two bounds whose default is one of them: the middle.
local function middles(self)
  local list = {}
  for _, option in ipairs(self.kind == "solver" and choices.numeric(self.info) or {}) do
    local default, span = tonumber(option.default), option.high - option.low
    if option.takes_number and span < math.huge
      and (default == option.low or default == option.high) then
      list[#list + 1] = { [option.name] = option.low + span / 2 }
    end
  end
  return list
end

-- Each option of numbers alone, a few times smaller and larger than its default (of kernels, which
-- may be definite on short distances alone, larger); none without a seed.
local function scaled(self)
  local list = {}
  local wanted = self.seed and (self.kind == "kernel" or self.kind == "loss"
    or self.kind == "metric" or self.kind == "stage")
  for _, option in ipairs(wanted and choices.numeric(self.info) or {}) do
    local default = tonumber(option.default)
    for _, factor in ipairs(option.takes_number and choices.scales or {}) do
      local x = (default and default ~= 0 and default or 1) * factor
      local may_be = values.is_within(option, x) and (factor > 1 or self.kind ~= "kernel")
      local made = may_be and try(self, { [option.name] = x })
      list[#list + 1] = made and not subject.offers(made, "scullery.bind/1")
        and { [option.name] = x } or nil
    end
  end
  return list
end

-- Whether rows of any numbers go with a truth value of a stage: some are for counts alone.
local function takes_rows(self, made, asked)
  local _, value = next(asked)
  return self.kind ~= "stage" or type(value) ~= "boolean" or pcall(subject.use, made, 1, 40)
end

--- subject:variants(): a list of { component, label, given, asked }: with its defaults first (of a
--- sampler: with narrow weights), then with each word of its options, then with random numbers
--- drawn from subject.seed if it has one, then with each table of options in the list subject.more;
--- those that it refuses are left out. asked: what is beyond subject:options().
function Subject:variants()
  if self.known_variants then return self.known_variants end
  local list = { { component = self:make(self:options()), label = "defaults",
    given = self:options(), asked = {} } }
  local tried = choices.words(self.info)
  local further = { numbers(self), lists(self), middles(self), scaled(self), self.more or {} }
  for _, more in ipairs(further) do
    table.move(more, 1, #more, #tried + 1, tried)
  end
  local seen = {}
  for _, asked in ipairs(tried) do
    local made, given = try(self, asked)
    local label = text_of(asked)
    if made and not seen[label] and takes_rows(self, made, asked) then
      seen[label] = true
      list[#list + 1] = { component = made, label = label, given = given, asked = asked }
    end
  end
  self.known_variants = list
  return list
end

-- Adds the component with these options to the list, if it takes them.
local function add(self, list, given)
  local ok, made = pcall(self.make, self, given)
  ok = ok and pcall(components.instance, made)
  if ok and not subject.offers(made, "scullery.bind/1") then
    list[#list + 1] = { component = made, given = given, label = text_of(given) }
  end
end

--- subject:far_variants(): the same with each option that takes numbers 1000 times smaller and
--- larger than its default (1 where it has none, or 0), as far as it takes them, and at the bounds
--- that it takes; of losses, whose functions are of one number, also near both ends of its range.
--- factors: others than these, and no bounds.
function Subject:far_variants(factors)
  local list = {}
  for _, option in ipairs(choices.numeric(self.info)) do
    local default, span = tonumber(option.default), option.high - option.low
    local far = {}
    for k, factor in ipairs(option.takes_number and (factors or { 1e-3, 1e3 }) or {}) do
      far[k] = (default and default ~= 0 and default or 1) * factor
    end
    if self.kind == "loss" and option.takes_number and span < math.huge then
      far[3], far[4] = option.low + 1e-3 * span, option.high - 1e-3 * span
    end
    for _, bound in ipairs(option.takes_number and not factors and values.bounds(option) or {}) do
      far[#far + 1] = not bound.open and math.abs(bound.value) < 1e6 and bound.value or nil
    end
    for _, number in ipairs(far) do add(self, list, { [option.name] = number }) end
  end
  return list
end

local MOST_EDGES <const> = 60

--- subject:edge_variants(): the same with each number at a bound that it takes, and each word of
--- another option; where there are many options, of the first ones alone.
function Subject:edge_variants()
  local list, words = {}, choices.words(self.info)
  for _, option in ipairs(choices.numeric(self.info)) do
    for _, bound in ipairs(values.bounds(option)) do
      local is_tried = option.takes_number and not bound.open and math.abs(bound.value) < 1e6
        and #list < MOST_EDGES
      for k = 0, is_tried and #words or -1 do
        local given = { [option.name] = bound.value }
        if not (words[k] and words[k][option.name]) then
          for name, word in pairs(words[k] or {}) do given[name] = word end
          add(self, list, given)
        end
      end
    end
  end
  return list
end

--- subject:named_variants(): of a sampler the same with options { name = numbers }, such as
--- { uniform = { 0.4, 1.3 } }: of each name the first of NAMED that it takes.
local NAMED <const> = { 0.4, { 0.4, 1.3 }, { 0.1, 0.4, 0.5 } }

function Subject:named_variants()
  local list = {}
  for _, option in ipairs(self.info.options) do
    local names = option.role ~= "bias" and option.takes:match "{name = .*} with one of (%S+)" or ""
    for name in names:gmatch "[%w_]+" do
      for _, value in ipairs(NAMED) do
        local given = { [option.name] = { [name] = value } }
        local ok, made = pcall(self.make, self, given)
        if ok and pcall(function() core.layout(components.instance(made), 4) end) then
          list[#list + 1] = { component = made, given = given, label = text_of(given) }
          break
        end
      end
    end
  end
  return list
end

-- The rows of X, each over its length; a row of zeros becomes the first unit row.
local function unit_rows(X)
  local made = X:copy()
  for i = 1, X:rows() do
    local row = X:slice(i, i)
    local length = row:norm()
    for j = 1, X:cols() do
      made:set(i, j, length > 0 and row:get(1, j) / length or j == 1 and 1 or 0)
    end
  end
  return made
end

-- ------------ what components say

local function instance(component) return components.instance(component) end

--- subject.layout(sampler, d), subject.shape(phi): as core.layout and core.shape give them.
function subject.layout(sampler, d) return core.layout(instance(sampler), d) end
function subject.shape(phi) return core.shape(instance(phi)) end

--- subject.offers(component, id): whether it has the ability.
function subject.offers(component, id)
  for _, one in ipairs(core.abilities(instance(component))) do
    if one == id then return true end
  end
  return false
end

local function takes_tag(tags, tag)
  return ("|" .. (tags or "none") .. "|"):find("|" .. (tag or "none") .. "|", 1, true) ~= nil
end

--- subject.fits(sampler, phi): whether a nonlinearity goes with a sampler, by what both declare.
function subject.fits(sampler, phi)
  local layout, shape = subject.layout(sampler, 4), subject.shape(phi)
  return shape.spaces[layout.space] and (layout.space == "grid") == shape.one_hot
    and takes_tag(shape.tags, layout.tag)
    and not (layout.space == "threshold" and shape.fan_in > 1) or false
end

--- subject.draws_rows(sampler): whether it draws rows w_t at which a kernel k(w_t, x) is taken as
--- phi. Structured ones without a tag stand for rows.
function subject.draws_rows(sampler)
  local layout = subject.layout(sampler, 4)
  return (layout.space == "dense" or layout.space == "structured") and not layout.has_bias
    and (layout.tag == nil or layout.tag == "landmarks")
end

--- subject.is_independent(sampler): whether parameters are independent of each other.
function subject.is_independent(sampler)
  local layout = subject.layout(sampler, 4)
  return layout.block == 1 and not layout.dependent
    and not subject.offers(sampler, "scullery.pool/1")
end

--- subject.learns(sampler): whether it learns its parameters from rows.
function subject.learns(sampler) return core.learns(instance(sampler)) end

--- subject.takes_any_T(sampler): whether any T may be asked for, whatever the rows.
function subject.takes_any_T(sampler)
  return subject.layout(sampler, 4).count == 0 and not subject.learns(sampler)
end

--- subject.T(sampler, T): T to ask for: left out where the sampler says it.
function subject.T(sampler, T)
  return subject.layout(sampler, 4).count == 0 and T or nil
end

--- subject.built_in(kind): the built-in components of a kind, with their defaults: a list.
function subject.built_in(kind)
  local list = {}
  for _, entry in ipairs(core.plugin_list()) do
    if entry.kind == kind then
      local ok, made = pcall(require("scullery")[kind][entry.name], {})
      if ok then list[#list + 1] = made end
    end
  end
  return list
end

--- subject.companions: components of the files that are checked together, each { kind, name }.
subject.companions, subject.companion_paths = {}, {}

--- subject.NoPartner: what subject.use raises for a component with which nothing goes that is
--- there: a table with this metatable, { text = }.
subject.NoPartner = {}

--- subject.partner(component): something that a sampler or a nonlinearity goes with.
function subject.partner(component)
  local is_sampler = component.kind == "sampler"
  local kind = is_sampler and "nonlinearity" or "sampler"
  local list = {}
  for _, one in ipairs(subject.companions) do
    if one.kind == kind then list[#list + 1] = require("scullery")[kind][one.name]() end
  end
  table.move(subject.built_in(kind), 1, 1000, #list + 1, list)
  for _, other in ipairs(list) do
    if subject.fits(is_sampler and component or other, is_sampler and other or component) then
      return other
    end
  end
  return is_sampler and subject.draws_rows(component) and require("scullery").kernel.gaussian()
    or nil
end

-- The partner of a component that is to be used.
local function needed_partner(component)
  local partner = subject.partner(component)
  if partner then return partner end
  local other = component.kind == "sampler" and "nonlinearity" or "sampler"
  error(setmetatable({ text = ("no %s that is there goes with it; plugin check takes the files of \z
    both: check A.so B.so"):format(other) }, subject.NoPartner), 0)
end

local function use_features(sampler, phi, X, seed)
  local T = subject.T(sampler, 6)
  local made
  subject.rows(function(rows)
    made = require("scullery").features{ p = sampler, phi = phi, T = T, seed = seed }:fit(rows)
      :transform(rows)
  end, X)
  return made
end

-- Nonlinearities of numbers from 0 on get weights and rows above 0.
local function use_phi(phi, X, seed)
  local partner = needed_partner(phi)
  local ok, made = pcall(use_features, partner, phi, X, seed)
  if ok then return made end
  if pcall(use_features, partner, phi, X, seed) then error(made, 0) end
  local positive = require("scullery").sampler.uniform{ low = 0.2, high = 1.5 }
  local taken, other = pcall(function()
    return subject.fits(positive, phi) and use_features(positive, phi, X:abs(), seed)
  end)
  if taken and other then return other end
  error(made, 0)
end

local function use_solver(solver, X, seed)
  local sc = require "scullery"
  local y = {}
  for i = 1, X:rows() do y[i] = X:get(i, 1) > 0 and 1 or -1 end
  local ds = sc.dataset{ X = X, y = y, task = "classification" }
  local sizes = sc.dataset{ X = X, y = X:column(1):map(math.exp), task = "regression" }
  local map = sc.instantiation{ p = sc.sampler.gaussian(), K = sc.kernel.gaussian{ width = 1 },
    phi = sc.nonlinearity.sign() }
  local p = sc.pipeline{ map:features{ T = 6, seed = seed }, solver }
  local fitted, message = pcall(p.fit, p, ds)
  if not fitted and core.is_unsupported() then -- it takes no classes
    return p:fit(sizes):decision(X)
  end
  if not fitted then error(message, 0) end
  return p:decision(X)
end

-- Targets that a loss takes: classes, or numbers of its range.
local function use_loss(loss, X)
  local sc = require "scullery"
  local facts, y = core.loss_facts(instance(loss)), {}
  local low, high = facts.low, facts.high
  for i = 1, X:rows() do
    local x = X:get(i, 1)
    local share = 1 / (1 + math.exp(-x))
    y[i] = not facts.numbers and (x > 0 and 1 or -1)
      or low > -math.huge and high < math.huge and low + (high - low) * share
      or low > -math.huge and low + share * 3 or high < math.huge and high - share * 3 or x
  end
  local ds = sc.dataset{ X = X, y = y, task = facts.numbers and "regression" or "classification" }
  return sc.pipeline{ sc.solver.erm{ loss = loss, lambda = 0.1 } }:fit(ds):decision(X)
end

local function use_kernel(kernel, X)
  local made
  subject.rows(function(rows) made = kernel:gram(rows, rows) end, X)
  return made
end

--- subject.use_stage(stage, X, seed[, targets = 1]): the rows that it makes of X, with random
--- targets.
function subject.use_stage(stage, X, seed, targets)
  local source = core.source(X, core.randn{ X:rows(), targets or 1, seed = seed + 1 })
  local fitted = core.fit_stage(instance(stage), source, {}, nil)
  return core.transform(core.source(X), { fitted })
end

--- subject.use(component, seed[, rows = 300]): the component in a small run as users have it, on
--- random rows: the features, the Gram matrix, the scores or the rows that come of it, or the
--- values of a metric. A transport has no rows: it opens a group, whose exchanges are checked. A
--- reader reads its example.
function subject.use(component, seed, rows)
  if component.kind == "transport" then
    return require("scullery_checker.transport.group").use(component, seed)
  elseif component.kind == "metric" then
    return require("scullery_checker.metric.cases").use(component, seed, rows or 300)
  elseif component.kind == "reader" then
    return require("scullery_checker.reader.files").use(component)
  end
  local X = core.randn{ rows or 300, 4, seed = seed }
  if component.kind == "loss" then return use_loss(component, X) end
  if component.kind == "sampler" then
    return use_features(component, needed_partner(component), X, seed)
  elseif component.kind == "nonlinearity" then
    return use_phi(component, X, seed)
  elseif component.kind == "kernel" then
    return use_kernel(component, X)
  elseif component.kind == "stage" then
    return subject.use_stage(component, X, seed)
  end
  return use_solver(component, X, seed)
end

--- subject.into(domain, X): a matrix of the size of X, each of whose numbers is in the domain
--- (core.domain; nil: any) and depends on that of X alone; rows of length 1 where it asks for them.
function subject.into(domain, X)
  if not domain then return X end
  local low, high = domain.low, domain.high
  local made = X
  if low > -math.huge and high < math.huge then
    made = X:map(function(x) return low + (high - low) / (1 + math.exp(-x)) end)
  elseif low > -math.huge then
    made = X:abs() + (low + (domain.low_open and 1e-9 or 0))
  elseif high < math.huge then
    made = X:abs() * -1 + (high - (domain.high_open and 1e-9 or 0))
  end
  return domain.unit and unit_rows(made) or made
end

--- subject.rows(f, X): X; or, where f(X) refuses it, the first of |X|, rows of length 1 of both,
--- and numbers from 0 to 1 that f does not refuse. What it refuses once alone (no memory, Ctrl-C)
--- is raised.
function subject.rows(f, X)
  local between = X:map(function(x) return 1 / (1 + math.exp(-x)) end)
  for _, rows in ipairs{ X, X:abs(), unit_rows(X), unit_rows(X:abs()), between } do
    local ok, message = pcall(f, rows)
    if ok then return rows end
    if pcall(f, rows) then error(message, 0) end
  end
  f(X)
end

return subject
