--- What the features of a model estimate: their kernel, and how far they are from it on some rows.
local core = require "scullery.core"
local options = require "scullery.base.options"

local estimate = {}

local MOST_ROWS = 200

-- Rows spread evenly over those of a data set in the model's terms, through the stages.
local function some_rows(f, ds)
  local n, rows = #ds, {}
  local count = math.min(n, MOST_ROWS)
  for i = 0, count - 1 do rows[i + 1] = i * n // count + 1 end
  local source = core.source(ds.X:select(rows))
  if ds.places then source = core.source_columns(source, ds.places) end
  return core.transform(source, f.stages):astype("float64")
end

--- estimate.kernel(f, ds): of the model f with features, on up to 200 rows of a data set in memory:
--- { rows =, rms =, largest =, scale = the largest |k| }, the error of <Phi(x), Phi(y)> over all
--- pairs of rows against the kernel in closed form; nil and a sentence where there is none.
function estimate.kernel(f, ds)
  if not f.map then return nil, "the model has no features: it is linear in the columns" end
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
