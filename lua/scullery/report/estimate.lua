--- The error of a model's features as an estimate of their kernel, measured on some rows.
local core = require "scullery.core"
local options = require "scullery.base.options"

local estimate = {}

local MOST_ROWS = 200

-- At most MOST_ROWS rows, spread evenly over the data set, after the stages of the model f: a
-- float64 matrix. The data set has the columns of the model.
local function some_rows(f, ds)
  local n, rows = #ds, {}
  local count = math.min(n, MOST_ROWS)
  for i = 0, count - 1 do rows[i + 1] = i * n // count + 1 end
  local source = core.source(ds.X:select(rows))
  if ds.places then source = core.source_columns(source, ds.places) end
  return core.transform(source, f.stages):astype("float64")
end

--- estimate.kernel(f, ds): compares <Phi(x), Phi(y)> with the kernel k(x, y) in closed form, for
--- all pairs of up to 200 rows of a data set in memory and the features Phi of the model f. Returns
--- { rows = their number, rms = the root mean square of the differences, largest = the largest
--- |difference|, scale = the largest |k| }; nil and a sentence if this is not possible.
function estimate.kernel(f, ds)
  if not f.map then return nil, "the model has no features: it is linear in the columns" end
  if f.after then return nil, "row stages change the features after they are made" end
  if not ds or not ds.X then return nil, "there are no rows in memory to compare on" end
  local X, map = some_rows(f, ds), f.map
  local ok, exact = options.attempt(core.map_induced, map, X, X)
  if not ok then return nil, "no closed form of their kernel is known" end
  if core.map_info(map).section then map = core.map_whitened(map, true) end
  local Phi = core.transform(core.source(X), {}, map):astype("float64")
  local gap = Phi * Phi:t() - exact
  return { rows = X:rows(), rms = math.sqrt(gap:dot(gap)) / X:rows(),
    largest = gap:abs():max(), scale = exact:abs():max() }
end

return estimate
