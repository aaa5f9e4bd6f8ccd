--- What can be told of rows without telling them: for saved models and experiments.
local core = require "scullery.core"

local fingerprint = {}

--- fingerprint.of(ds): { rows, cols, sha256 } of a data set; without sha256 where its rows stream.
function fingerprint.of(ds)
  local n, d = ds:size()
  local matrices = { ds.X, ds.y } -- of unlabelled rows X alone
  return { rows = n, cols = d, sha256 = ds.X and core.fingerprint(table.unpack(matrices)) or nil }
end

return fingerprint
