--- Modules of the library as bytecode, which the build makes (scripts/bytecode.lua): it loads in a
--- tenth of the time that compiling takes. What runs is the source all the same: a module whose
--- file differs from what was compiled is compiled from its file, as without bytecode.
local core = require "scullery.core"

local bytecode = {}

-- The first bytes of a file of bytecode, before its size.
local TITLE = "Scullery bytecode 1\n"

-- Bytecode of Lua 5.4 begins with a header and a count of upvalues, of 32 bytes together, and the
-- name of the chunk. The build does not know the path of an installation, and compiles under "?".
local NAME = 33

-- A text as bytecode has it: after its length plus 1, in groups of 7 bits, the last of them marked.
local function sized(text)
  local size = #text + 1
  return (size > 127 and string.char(size >> 7) or "") .. string.char(size & 127 | 128) .. text
end

--- bytecode.pack(sources): a file of bytecode. sources: list of { name = , text = } of modules.
function bytecode.pack(sources)
  local list = {}
  for i, source in ipairs(sources) do
    local code = string.dump(assert(load(source.text, "=?", "t")))
    assert(code:sub(NAME, NAME + 2) == sized "=?", "this is not the bytecode of Lua 5.4")
    list[i] = string.pack("<s4I4I4s4", source.name, #source.text, core.hash(source.text), code)
  end
  return TITLE .. string.pack("<s4", table.concat(list))
end

--- bytecode.unpack(pack): module -> { size = , hash = , code = }: of its source, and its bytecode.
--- Empty if the file is cut off or of another version.
function bytecode.unpack(pack)
  local modules, at = {}, #TITLE + 5
  if #pack < at or pack:sub(1, #TITLE) ~= TITLE
    or string.unpack("<I4", pack, #TITLE + 1) ~= #pack - at + 1 then return modules end
  while at <= #pack do
    local name, size, hash, code
    name, size, hash, code, at = string.unpack("<s4I4I4s4", pack, at)
    modules[name] = { size = size, hash = hash, code = code }
  end
  return modules
end

-- Returns the text of a file; nil if it cannot be read.
local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read(file:seek "end", file:seek "set")
  file:close()
  return text
end

local main = package.searchpath("scullery", package.path)
local modules = bytecode.unpack(main
  and read((main:gsub("scullery/init%.lua$", "scullery.luac"))) or "")

-- Before the searcher of files, and returns what that returns.
table.insert(package.searchers, 2, function(name)
  local module = modules[name]
  local path = module and package.searchpath(name, package.path)
  local source = path and read(path)
  modules[name] = nil
  if not source or #source ~= module.size or core.hash(source) ~= module.hash then return nil end
  local code = module.code:sub(1, NAME - 1) .. sized("@" .. path) .. module.code:sub(NAME + 3)
  return load(code, "=" .. name, "b"), path
end)

return bytecode
