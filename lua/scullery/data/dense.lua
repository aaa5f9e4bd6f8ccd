--- Rows for what works on dense matrices alone.
local core = require "scullery.core"
local warn = require "scullery.base.warn"

--- dense(X, what): X itself if it is a matrix, else its copy with the zeros, which a line on
--- standard error reports with its size. what: who needs it, for the line.
return function(X, what)
  if not core.is_sparse(X) then return X end
  local made = X:dense()
  warn(("%s: sparse rows were made dense: %d x %d numbers, %.3g MB"):format(what, X:rows(),
    X:cols(), made:bytes() / 1e6))
  return made
end
