--- What importance.lua and dependence.lua share: the rows on which a fitted model is explained.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local dataset = require "scullery.data.dataset"
local matching = require "scullery.data.matching"
local options = require "scullery.base.options"

local explaining = {}

--- explaining.with_columns(X, column, values): X with the columns column.first .. column.last
--- replaced by the matrix `values`.
function explaining.with_columns(X, column, values)
  local n, d, parts = X:rows(), X:cols(), {}
  if column.first > 1 then parts[1] = X:slice(1, n, 1, column.first - 1) end
  parts[#parts + 1] = values
  if column.last < d then parts[#parts + 1] = X:slice(1, n, column.last + 1, d) end
  return #parts > 1 and core.hcat(table.unpack(parts)) or values
end

-- The columns of X with these numbers, in this order.
local function columns_of(X, places)
  if not X.sparse then return X:t():select(places):t():copy() end
  local parts = {}
  for k, j in ipairs(places) do parts[k] = X:slice(1, X:rows(), j, j) end
  return core.hcat(table.unpack(parts))
end

--- explaining.rows_of(p, data): the rows to explain with, in memory and with the model's columns
--- and classes.
function explaining.rows_of(p, data)
  local ds = data or p.data
  if not ds then fail("the training rows of this model are not in memory: give a data set") end
  if not dataset.is(ds) then fail("takes a data set, and got %s", options.show(ds)) end
  if not ds.X then fail("this data set streams; load it in memory (without stream = true)") end
  local f = p.fitted
  local found = matching.judged(ds, f)
  if found.places then
    found = dataset.with(found, { X = columns_of(ds.X, found.places), names = f.names,
      schema = f.schema })
    found.places = nil
  end
  return found
end

return explaining
