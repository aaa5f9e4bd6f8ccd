--- Named data sets that are computed by a published equation; the catalog has their names.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"

local generated = {}

local ROWS, COLUMNS, SEED = 2000, 10, 1

--- generated.friedman1(): Friedman 1 (J. H. Friedman, Multivariate adaptive regression splines,
--- Annals of Statistics 19, 1991, section 4.3), 2000 rows of 10 columns:
---
---     y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + e
---
--- x1 to x10 are independent and uniform on [0, 1], and e is normal with variance 1. y does not
--- depend on x6 to x10. Rows are drawn with seed 1.
function generated.friedman1()
  local X = core.rand{ ROWS, COLUMNS, seed = SEED }
  local e = core.randn{ ROWS, 1, seed = SEED + 1 }
  local names, y = {}, {}
  for j = 1, COLUMNS do names[j] = "x" .. j end
  for i = 1, ROWS do
    y[i] = 10 * math.sin(math.pi * X:get(i, 1) * X:get(i, 2)) + 20 * (X:get(i, 3) - 0.5) ^ 2
      + 10 * X:get(i, 4) + 5 * X:get(i, 5) + e:get(i, 1)
  end
  local ds = dataset.new{ X = X, y = y, names = names, task = "regression" }
  ds.target = "y"
  return ds
end

--- generated.waveform(): waveforms (Breiman, Friedman, Olshen and Stone, Classification and
--- Regression Trees, 1984, section 2.6.2), 2000 rows of 21 columns and three classes: a row is
--- u h_a(j) + (1 - u) h_b(j) + e_j, where u is uniform on [0, 1], e_j is standard normal, h_1, h_2
--- and h_3 are triangles of height 6 about the columns 7, 11 and 15, and the class says which two.
--- The best classifier errs in about 14 % of the rows. Rows are drawn with seed 1.
function generated.waveform()
  local X, u = core.randn{ ROWS, 21, seed = SEED + 1 }, core.rand{ ROWS, 2, seed = SEED }
  local pairs_of, y = { { 7, 15 }, { 7, 11 }, { 15, 11 } }, {}
  for i = 1, ROWS do
    y[i] = 1 + math.floor(3 * u:get(i, 2))
    local a, b = table.unpack(pairs_of[y[i]])
    for j = 1, 21 do
      local first, second = math.max(6 - math.abs(j - a), 0), math.max(6 - math.abs(j - b), 0)
      X:set(i, j, X:get(i, j) + u:get(i, 1) * first + (1 - u:get(i, 1)) * second)
    end
  end
  return dataset.new{ X = X, y = y, task = "classification" }
end

return generated
