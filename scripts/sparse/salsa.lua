-- The data of figure 2: salsa(sets) returns the training rows of each set as data[name .. 1] and
-- the test rows as data[name .. 2]: the parts of SALSA's authors, with their columns of noise. The
-- set "made" is for short runs.
local sc = require "scullery"
local noise = { airfoil = 36, ccpp = 55 } -- columns

local function parts(name)
  if name ~= "made" then return { sc.data.load("salsa_" .. name):parts() } end
  return { sc.data.load("friedman1"):sample{ rows = 120 }:split{ test = 0.5, seed = 1 } }
end

return function(sets)
  local data = {}
  for _, name in ipairs(sets) do
    for i, part in ipairs(parts(name)) do
      local extra = noise[name] and sc.randn{ #part.X, noise[name], seed = i }
      data[name .. i] = extra and sc.dataset{ X = sc.hcat(part.X, extra), y = part.y } or part
    end
  end
  return data
end
