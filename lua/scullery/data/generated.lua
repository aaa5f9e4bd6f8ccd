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

return generated
