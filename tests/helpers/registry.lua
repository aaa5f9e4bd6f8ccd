--- What the suites of pairs go through: every sampler, nonlinearity and kernel that the checker of
--- plugins knows (checker/lua/subject.lua), with its defaults and with other options. Loaded
--- by properties_test.lua, sampler_test.lua, induced_kernels_test.lua and the tests of the checker.
--- A plugin added tomorrow is in all of them.
local sc = require "scullery"
local subject = require "scullery_checker.subject"

local registry = setmetatable({ sampler = {}, nonlinearity = {}, kernel = {} },
  { __index = subject })

--- A sanitizer makes everything ten times slower: then each component once, with its defaults.
registry.sanitized = (os.getenv("SCULLERY_SANITIZE") or "") ~= ""

registry.d = 4
registry.X = sc.randn{ 8, registry.d, seed = 11 } * 0.7

--- Variants beyond each word, and the small whole numbers of q and order.
registry.more = registry.sanitized and {} or {
  ["sampler.sparse"] = { { degree = 2 }, { degree = { binomial = 0.5 } },
    { degree = { table = { 0, 0.5, 0.2, 0.3 } } } },
  ["sampler.spherical"] = { { radius = { uniform = { 0.5, 2 } } } },
  ["sampler.threshold"] = { { a = 0.5 } },
  ["nonlinearity.chi_square"] = { { order = 40, period = 0.1 } },
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

-- Whether weights are known only after a fit: no instantiation has a kernel, or an expectation.
local function is_learnt(one)
  local component = one:variants()[1].component
  return one.kind == "sampler" and subject.learns(component)
    and subject.layout(component, registry.d).space == "dense"
end

for _, entry in ipairs(sc.plugin.list()) do
  if registry[entry.kind] then
    local one = subject.list(entry.kind .. "." .. entry.name)[1]
    one.more = registry.more[one.title]
    for i, variant in ipairs(one:variants()) do
      if (i == 1 or not registry.sanitized) and not is_learnt(one) then
        table.insert(registry[entry.kind], { component = variant.component, name = entry.name,
          label = entry.name .. text_of(variant.asked), plain = i == 1 })
      end
    end
  end
end

--- registry.layout(sampler), registry.partner(sampler): on the rows of the suites.
function registry.layout(sampler) return subject.layout(sampler, registry.d) end
function registry.partner(sampler)
  for _, p in ipairs(registry.nonlinearity) do
    if subject.fits(sampler, p.component) then return p.component end
  end
  return sc.kernel.gaussian()
end

--- X, or |X| where a part refuses numbers below 0.
function registry.rows(f, X) return subject.rows(f, X or registry.X) end

--- The rows that a pair takes.
function registry.rows_of(sampler, phi, X)
  return registry.rows(function(rows)
    sc.features{ p = sampler, phi = phi, T = subject.T(sampler, 2), seed = 1 }:fit(rows):transform(
      rows)
  end, X)
end

--- registry.each_pair(f): f(sampler, nonlinearity), rows of the registry, for all that go together
--- and of which one at least has its defaults: for files and programs, where options of the one and
--- of the other have nothing to do with each other.
function registry.each_pair(f)
  for _, s in ipairs(registry.sampler) do
    for _, p in ipairs(registry.nonlinearity) do
      if (s.plain or p.plain) and registry.fits(s.component, p.component) then f(s, p) end
    end
  end
end

--- A LuaUnit test of that name.
function registry.test(name, f)
  local key = "Test_" .. name:gsub("[^%w]+", "_")
  assert(rawget(_G, key) == nil, "two tests are called " .. key)
  _G[key] = f
end

return registry
