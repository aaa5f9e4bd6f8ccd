-- What holds for the samplers that are built in, beyond what the checker tells of any sampler
-- (checker/lua/sampler): parameters do not depend on how many are drawn; what landmarks
-- refuse.
local lu = require "luaunit"
local sc = require "scullery"
local registry = dofile((os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/registry.lua")

local data = registry.rows(function() end, sc.randn{ 60, registry.d, seed = 12 })

-- Samplers that spend T parameters on several things, so that a parameter depends on T.
local of_total = { maclaurin = true, tensorsketch = true }

-- T parameters, one a row, to be compared bit by bit; of those that have no row w_t what they make
-- of the rows of data, times sqrt(T), with the rounding that this allows.
local function draw(s, T)
  local phi = registry.partner(s.component)
  local rows = registry.rows_of(s.component, phi, data)
  local feats = sc.features{ p = s.component, phi = phi, T = T, seed = 5 }:fit(rows)
  local ok, w = pcall(feats.parameters, feats)
  if ok then return w, 0 end
  lu.assertStrContains(w, "its z is no <w, x>")
  return feats:transform(rows):t():slice(1, T) * math.sqrt(T), 1e-14
end

for _, s in ipairs(registry.sampler) do
  if not of_total[s.name] and registry.takes_any_T(s.component) then
    registry.test("parameters of " .. s.label .. " whatever T is", function()
      local few, many = draw(s, 10), draw(s, 50)
      local most, rounding = draw(s, 700)
      for _, gap in ipairs{ few - many:slice(1, 10), many - most:slice(1, 50) } do
        lu.assertTrue(gap:abs():max() <= rounding * most:abs():max(), s.label)
      end
    end)
  end
end

-- Landmarks: options that the method does not use, and rows that are not there.
function TestLandmarksRefuseWhatTheirMethodDoesNotUse()
  local X = sc.randn{ 30, 3, seed = 3 }
  local function refused(words, given, rows)
    local features = sc.features{ p = sc.sampler.landmarks(given), phi = sc.kernel.gaussian{},
      T = 5 }
    local ok, message = pcall(features.fit, features, rows)
    lu.assertFalse(ok)
    lu.assertStrContains(message, words)
  end
  refused("option 'sample' is not used by method = \"uniform\"", { sample = 20 }, X)
  for _, method in ipairs{ "uniform", "kmeans", "pivoted" } do
    refused("option 'lambda' belongs to method = \"leverage\"", { method = method, lambda = 0.1 },
      X)
  end
  refused("takes landmarks from rows, and there are none", {}, sc.zeros(0, 3))
end

os.exit(lu.LuaUnit.run(), true)
