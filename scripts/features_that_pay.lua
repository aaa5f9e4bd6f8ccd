-- The loss on held-out rows against T, and the T that T = "auto" chooses, on four data sets
-- (docs/features_that_pay.svg or the path given).
local sc = require "scullery"
local named_sets = dofile((arg[0]:gsub("[^/]*$", "named_sets.lua")))

local series = {}
for k, name in ipairs{ "salsa_airfoil", "spambase", "cpu_act", "california_housing" } do
  local p = sc.pipeline{ sc.standardize(), sc.features{ T = "auto" }, sc.solver.ridge{} }
    :fit((named_sets.rows(name, 1)))
  local growth, least = p:info().growth, math.huge
  for _, one in ipairs(growth) do least = math.min(least, one.loss) end
  series[k] = { x = {}, y = {}, label = ("%s: T = %d"):format(name, p:info().T) }
  for i, one in ipairs(growth) do
    series[k].x[i], series[k].y[i] = one.T, one.loss / least
  end
  print(name, p:info().chosen)
end
local fig = sc.plot.line{ series = series, x_log = true, marks = true, legend_title = "chosen",
  x_label = "number of parameters T", y_label = "held-out loss / the least one" }
fig:save(arg[1] or "docs/features_that_pay.svg")
return fig
