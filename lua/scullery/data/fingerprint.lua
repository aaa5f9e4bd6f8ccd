--- Fingerprint of a data set: its shape and SHA-256. Stored in models and experiment records in
--- place of the rows.
local core = require "scullery.core"

local fingerprint = {}

--- fingerprint.of(ds): { rows, cols, sha256 } of a data set; without sha256 if its rows stream.
function fingerprint.of(ds)
  local n, d = ds:size()
  local matrices = { ds.X, ds.y } -- y is nil for unlabelled rows
  return { rows = n, cols = d, sha256 = ds.X and core.fingerprint(table.unpack(matrices)) or nil }
end

return fingerprint
