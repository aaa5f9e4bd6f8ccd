-- Small saved models of every kind, into the folder of the argument: where the harness read_model
-- begins. Run by run.sh.
package.path = arg[0]:gsub("fuzz/[^/]*$", "helpers/?.lua;") .. package.path
local models = require "small_models"

local seen, count = {}, 0
for _, one in ipairs(models.all()) do
  local kind = one.name:match("^(.-), [^,]*$")
  if not seen[kind] then
    count = count + 1
    seen[kind] = true
    one.fit():save(("%s/%02d"):format(arg[1], count))
  end
end
