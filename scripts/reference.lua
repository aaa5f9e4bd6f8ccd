-- Writes the pages that are made of the texts of the command and of scripts.
--
--   build/scullery scripts/reference.lua --to DIR   DIR/reference/*.md from the texts that help()
--                                                   shows, and the manual page DIR/scullery.1; the
--                                                   build does so, to build/share/doc/scullery
--   build/scullery scripts/reference.lua            docs/gallery.md from the pictures' scripts
--   build/scullery scripts/reference.lua --check    compares it; status 1 where it is another
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

if arg[1] == "--to" then
  for name, text in pairs(require("documentation.reference").pages(source, arg[-1])) do
    core.write_text(arg[2] .. "/" .. name, text)
  end
  os.exit(true)
end

local path = source .. "/docs/gallery.md"
local before, text = read(path), require("documentation.gallery").page(source)
if before == text then os.exit(true) end
if arg[1] ~= "--check" then
  core.write_text(path, text)
  print("wrote " .. path)
  os.exit(true)
end
print(("%s is not what scripts/reference.lua writes, from line %d on"):format(path,
  first_difference(before or "", text)))
os.exit(false)
