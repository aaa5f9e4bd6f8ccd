-- The features of a row depend on the row alone: every sampler with every nonlinearity, with and
-- without every kernel between parameters. row_alone_test.lua has the rest.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv "SCULLERY_SOURCE" or ".") .. "/tests/helpers/?.lua;" .. package.path
local alone, registry = require "alone", require "registry"

-- Whether there is such a map; if so, it is checked.
local function check_features(what, d, given)
  for _, dtype in ipairs{ "float64", "float32" } do
    given.dtype, given.seed = dtype, 1
    local X = sc.randn{ 30, d, seed = 11 } * 0.7
    local ok, features = pcall(function()
      X = registry.rows(function(rows) sc.features(given):fit(rows):transform(rows) end, X)
      return sc.features(given):fit(X)
    end)
    if not ok then return false end
    alone.check(("%s, d = %d, %s"):format(what, d, dtype),
      function(rows) return features:transform(rows) end, X)
  end
  return true
end

function TestPairs()
  local maps = 0
  for _, s in ipairs(registry.sampler) do
    for _, p in ipairs(registry.nonlinearity) do
      for _, d in ipairs{ 1, 9 } do
        local ok, T = pcall(registry.T, s.component, 13)
        if registry.fits(s.component, p.component) and check_features(s.label .. " " .. p.label, d,
          { p = s.component, phi = p.component, T = ok and T or nil }) then
          maps = maps + 1
        end
      end
    end
  end
  lu.assertTrue(maps > 300, ("%d maps"):format(maps))
end

for _, method in ipairs{ "exact", "quadrature", "monte-carlo" } do
  registry.test("kernels between parameters: " .. method, function()
    local maps = 0
    for _, k in ipairs(registry.kernel) do
      for _, p in ipairs(registry.nonlinearity) do
        for _, s in ipairs{ sc.sampler.gaussian(), sc.sampler.threshold{ sigma = 1 },
          sc.sampler.sparse{ degree = 2 } } do
          if p.plain and check_features(("K %s %s %s"):format(s.name, k.label, p.label), 5,
            { p = s, K = k.component, phi = p.component, T = 5, method = method,
              samples = method == "monte-carlo" and 50 or nil }) then
            maps = maps + 1
          end
        end
      end
    end
    lu.assertTrue(maps > 100, ("%d maps"):format(maps))
  end)
end

os.exit(lu.LuaUnit.run(), true)
