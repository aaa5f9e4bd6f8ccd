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
  lu.assertStrContains(w, "its z is not <w, x>")
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

-- Cells of grids of one pitch, and of three equally likely ones, agree as often as the mean of hats
-- says (Rahimi and Recht 2008, random bases, equations 14 and 15).
function TestGridsOfGivenPitches()
  local T, phi, X = 20000, sc.nonlinearity.bins(), 3 * sc.rand{ 8, 2, seed = 3 }
  for _, list in ipairs{ { 2 }, { 0.5, 1.5, 4 } } do
    local p = sc.sampler.grid{ pitch = #list == 1 and list[1] or list }
    local found = sc.features{ p = p, phi = phi, T = T, seed = 1 }:fit(X):kernel(X, X)
    local exact = sc.instantiation{ p = p, phi = phi }:kernel(X)
    for i = 1, X:rows() do
      for k = 1, X:rows() do
        local share = 1
        for j = 1, 2 do
          local sum, delta = 0, math.abs(X:get(i, j) - X:get(k, j))
          for _, pitch in ipairs(list) do sum = sum + math.max(0, 1 - delta / pitch) end
          share = share * sum / #list
        end
        lu.assertAlmostEquals(exact:get(i, k), share, 1e-14)
        lu.assertTrue(math.abs(found:get(i, k) - share) <= 5 * math.sqrt(share * (1 - share) / T)
          + 1e-12)
      end
    end
  end
  local ok, why = pcall(sc.sampler.grid, { pitch = {} })
  lu.assertFalse(ok)
  lu.assertStrContains(why, "option 'pitch' takes at least one pitch, and got none")
  ok, why = pcall(sc.sampler.grid, { pitch = 1, gamma = 2 })
  lu.assertFalse(ok)
  lu.assertStrContains(why, "'gamma' and 'pitch' both set the pitches")
  -- a fit has no width to choose
  local fitted = sc.pipeline{ sc.features{ p = sc.sampler.grid{ pitch = 1 },
    phi = sc.nonlinearity.bins(), T = 20 }, sc.solver.ridge{} }
    :fit(sc.randn{ 40, 2, seed = 1 }, sc.randn{ 40, 1, seed = 2 })
  lu.assertNotStrContains(fitted:info().chosen, "gamma")
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
