--- Folders on the disk.
local core = require "scullery.core"

local folders = {}

--- folders.make(path[, mode]): makes the folder and its missing parents. mode: permission bits,
--- further reduced by the umask. Raises the first failure if the folder does not exist at the end.
function folders.make(path, mode)
  local so_far = path:sub(1, 1) == "/" and "/" or ""
  local made, failure = true, nil
  for piece in path:gmatch("[^/]+") do
    local message
    so_far = so_far .. piece
    -- a parent that exists may refuse this call; only the last result counts
    made, message = pcall(core.make_folder, so_far, mode)
    failure = failure or not made and message
    so_far = so_far .. "/"
  end
  if not made then error(failure, 0) end
end

return folders
