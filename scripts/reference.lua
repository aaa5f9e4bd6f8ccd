-- Writes docs/reference/ from the texts that help() shows, docs/gallery.md from the scripts of the
-- pictures, and the manual page docs/scullery.1 from what the command prints about itself.
--
--   build/scullery scripts/reference.lua            writes the pages
--   build/scullery scripts/reference.lua --check    compares; status 1 where a page is another
local source = arg[0]:match("^(.*)/scripts/[^/]*$") or "."
package.path = source .. "/scripts/?.lua;" .. package.path
local core = require "scullery.core"

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

-- The number of the first line in which two texts differ.
local function first_difference(a, b)
  local line = 1
  for i = 1, math.max(#a, #b) do
    if a:byte(i) ~= b:byte(i) then return line end
    if a:byte(i) == 10 then line = line + 1 end
  end
end

local check, stale = arg[1] == "--check", 0
for name, text in pairs(require("documentation.reference").pages(source, arg[-1])) do
  local path = source .. "/docs/reference/" .. name
  local before = read(path)
  if before ~= text then
    stale = stale + 1
    if check then
      print(("%s is not what scripts/reference.lua writes, from line %d on"):format(path,
        first_difference(before or "", text)))
    else
      core.write_text(path, text)
      print("wrote " .. path)
    end
  end
end
os.exit(not check or stale == 0)
