-- scullery scripts/bytecode.lua FOLDER: the modules of FOLDER/scullery as bytecode, for those who
-- load them from there: FOLDER/scullery.luac. The build calls this.
local bytecode = require "scullery.base.bytecode"

local folder = arg[1]
local sources = {}
local find = "cd '%s' && find -L scullery -name '*.lua' ! -path '*/templates/*' | sort"
local pipe = assert(io.popen(find:format((folder:gsub("'", "'\\''")))))
for path in pipe:lines() do
  local file = assert(io.open(folder .. "/" .. path, "rb"))
  local name = path:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
  sources[#sources + 1] = { name = name, text = file:read "a" }
  file:close()
end
pipe:close()
-- Processes that read the file meanwhile have the old one to its end.
local out = folder .. "/scullery.luac"
local file = assert(io.open(out .. ".new", "wb"))
assert(file:write(bytecode.pack(sources)))
assert(file:close())
assert(os.rename(out .. ".new", out))
