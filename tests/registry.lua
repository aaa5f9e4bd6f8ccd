--- What the suites of properties go through: every registered sampler, nonlinearity and kernel,
--- with its defaults and with other options; which of them go together, and on which rows. Loaded
--- by properties_test.lua, sampler_test.lua and components_test.lua. A plugin added tomorrow is in
--- all of them.
local sc = require "scullery"
local core = require "scullery.core"
local ask = require("scullery.objects").ask

local registry = { sampler = {}, nonlinearity = {}, kernel = {} }

--- A sanitizer makes everything ten times slower: then each component once, with its defaults.
registry.sanitized = (os.getenv("SCULLERY_SANITIZE") or "") ~= ""

local d = 4
registry.d = d
registry.X = sc.randn{ 8, d, seed = 11 } * 0.7

-- ---------------------------------------------------------------- components and their variants

-- Narrow weights keep what unbounded nonlinearities give finite and their fourth moments small. The
-- first of these options that a sampler declares is set.
local narrow = { sigma = 0.3, scale = 0.3, gamma = 0.3 }

-- Variants beyond each word, and the small whole numbers of q and order.
local more = {
  ["sampler.sparse"] = { { degree = 2 }, { degree = { binomial = 0.5 } },
    { degree = { table = { 0, 0.5, 0.2, 0.3 } } } },
  ["sampler.spherical"] = { { radius = { uniform = { 0.5, 2 } } } },
  ["nonlinearity.chi_square"] = { { order = 40, period = 0.1 } },
}

-- Variants in place of the narrow options.
local instead = { ["sampler.threshold"] = { { a = 0.5 } } }

-- Variants of the rules above that no component can be made of, and why. All others must be made.
local impossible = {
  ["sampler.sparse{degree = binomial}"] = "the word comes with its number",
  ["sampler.sparse{degree = table}"] = "the word comes with its numbers",
  ["sampler.spherical{radius = uniform}"] = "the word comes with its numbers",
}

local function text_of(given)
  local parts = {}
  for key, value in pairs(given) do
    if type(value) == "table" then
      local word, numbers = next(value)
      value = word .. " " .. (type(numbers) == "table" and table.concat(numbers, " ") or numbers)
    end
    parts[#parts + 1] = key .. " = " .. tostring(value)
  end
  table.sort(parts)
  return #parts > 0 and "{" .. table.concat(parts, ", ") .. "}" or ""
end

local function narrow_options(kind, info)
  for _, option in ipairs(info.options) do
    if kind == "sampler" and narrow[option.name] and option.takes:find("number") then
      return { [option.name] = narrow[option.name] }
    end
  end
  return {}
end

-- Whole numbers up to 3 that the option takes.
local function small_numbers(option)
  local least, list = tonumber(option.takes:match("from (%d+)")) or 0, {}
  for value = least, 3 do
    if tostring(value) ~= option.default then list[#list + 1] = value end
  end
  return list
end

local function others(kind, name, info)
  local list = {}
  for _, option in ipairs(info.options) do
    local words = option.takes:find("sc.", 1, true) and {} or option.words -- those are kinds
    for _, word in ipairs(words) do
      if word ~= option.default then list[#list + 1] = { [option.name] = word } end
    end
    if option.name == "q" or option.name == "order" then
      for _, value in ipairs(small_numbers(option)) do
        list[#list + 1] = { [option.name] = value }
      end
    end
  end
  for _, given in ipairs(more[kind .. "." .. name] or {}) do list[#list + 1] = given end
  return list
end

local function add(kind, name, base, given)
  local label, full = name .. text_of(given), {}
  for key, value in pairs(base) do full[key] = value end
  for key, value in pairs(given) do full[key] = value end
  local ok, made = pcall(sc[kind][name], full)
  if impossible[kind .. "." .. label] then
    assert(not ok, kind .. "." .. label .. " is said to be impossible, and was made")
    return
  end
  assert(ok, made)
  table.insert(registry[kind], { component = made, name = name, label = label,
    plain = label == name })
end

for _, entry in ipairs(sc.plugin.list()) do
  if registry[entry.kind] then
    local info = core.plugin_info(entry.kind, entry.name)
    local base = narrow_options(entry.kind, info)
    add(entry.kind, entry.name, base, {})
    for _, given in ipairs(registry.sanitized and {} or others(entry.kind, entry.name, info)) do
      add(entry.kind, entry.name, base, given)
    end
    local list = not registry.sanitized and instead[entry.kind .. "." .. entry.name]
    for _, given in ipairs(list or {}) do
      add(entry.kind, entry.name, {}, given)
    end
  end
end

-- ---------------------------------------------------------------- what they say of themselves

function registry.layout(sampler) return core.layout(ask(sampler, "instance"), d) end
function registry.shape(phi) return core.shape(ask(phi, "instance")) end

function registry.offers(component, ability)
  for _, id in ipairs(core.abilities(ask(component, "instance"))) do
    if id == ability then return true end
  end
  return false
end

--- Whether parameters are independent of each other.
function registry.is_independent(sampler)
  local layout = registry.layout(sampler)
  return layout.block == 1 and not layout.dependent
    and not registry.offers(sampler, "scullery.pool/1")
end

--- Whether any T may be asked for, whatever the rows.
function registry.takes_any_T(sampler)
  return registry.layout(sampler).count == 0 and not core.learns(ask(sampler, "instance"))
end

--- T to ask for: left out where the sampler says it.
function registry.T(sampler, T)
  return registry.layout(sampler).count == 0 and T or nil
end

local function takes_tag(tags, tag)
  return ("|" .. (tags or "none") .. "|"):find("|" .. (tag or "none") .. "|", 1, true) ~= nil
end

--- Whether a nonlinearity goes with a sampler, by what both declare.
function registry.fits(sampler, phi)
  local layout, shape = registry.layout(sampler), registry.shape(phi)
  return shape.spaces[layout.space] and (layout.space == "grid") == shape.one_hot
    and takes_tag(shape.tags, layout.tag)
    and not (layout.space == "threshold" and shape.fan_in > 1) or false
end

--- Whether a sampler draws rows w_t at which a kernel k(w_t, x) is taken as phi. Structured ones
--- without a tag stand for rows.
function registry.draws_rows(sampler)
  local layout = registry.layout(sampler)
  return (layout.space == "dense" or layout.space == "structured") and not layout.has_bias
    and (layout.tag == nil or layout.tag == "landmarks")
end

--- Something that goes with the sampler: a nonlinearity, else a kernel.
function registry.partner(sampler)
  for _, p in ipairs(registry.nonlinearity) do
    if registry.fits(sampler, p.component) then return p.component end
  end
  return sc.kernel.gaussian()
end

--- X, or |X| where a part refuses numbers below 0.
function registry.rows(f, X)
  X = X or registry.X
  local ok, message = pcall(f, X)
  if ok then return X end
  assert(tostring(message):find("takes numbers", 1, true), message)
  f(X:abs())
  return X:abs()
end

--- The rows that a pair takes.
function registry.rows_of(sampler, phi, X)
  return registry.rows(function(rows)
    sc.features{ p = sampler, phi = phi, T = registry.T(sampler, 2), seed = 1 }:fit(rows):transform(
      rows)
  end, X)
end

--- A LuaUnit test of that name.
function registry.test(name, f)
  local key = "Test_" .. name:gsub("[^%w]+", "_")
  assert(rawget(_G, key) == nil, "two tests are called " .. key)
  _G[key] = f
end

return registry
