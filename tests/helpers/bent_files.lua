--- Files with bytes that are cut off or changed: readers give a data set, or a sentence with the
--- path.
local lu = require "luaunit"
local sc = require "scullery"
local support = require "support"

--- bent_files(files, count, given): reads `count` damaged copies of the files, paths of files that
--- begin with at least 8 bytes that stay; given: options of sc.data.read.
return function(files, count, given)
  local seed, path = 11, support.memory_path()
  local function random(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % n
  end
  for i = 1, support.sanitized and count // 4 or count do
    local bent = support.read(files[i % #files + 1])
    if i % 5 == 0 then bent = bent:sub(1, 12 + random(#bent - 12)) end
    for _ = 1, 1 + random(3) do
      local at = 9 + random(#bent - 8)
      bent = bent:sub(1, at - 1) .. string.char(random(256)) .. bent:sub(at + 1)
    end
    support.write(path, bent)
    local ok, said = pcall(sc.data.read, path, given)
    if not ok then lu.assertStrContains(said, path) end
  end
  os.remove(path)
end
