--- Folders on the disk.
local core = require "scullery.core"

local folders = {}

--- folders.make(path[, mode]): makes the folder and its parents, where they are not there yet, with
--- these permission bits at most. Raises the first failure if the folder is not there in the end.
function folders.make(path, mode)
  local so_far = path:sub(1, 1) == "/" and "/" or ""
  local made, failure = true, nil
  for piece in path:gmatch("[^/]+") do
    local message
    so_far = so_far .. piece
    -- a parent may be there and refuse all the same
    made, message = pcall(core.make_folder, so_far, mode)
    failure = failure or not made and message
    so_far = so_far .. "/"
  end
  if not made then error(failure, 0) end
end

return folders
