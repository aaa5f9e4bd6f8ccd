--- Modules of the library as bytecode, which the build makes (scripts/bytecode.lua): to read and
--- check both files takes less than half of the time of compiling. What runs is the source all the
--- same: a module whose file differs from what was compiled is compiled from its file, as without
--- bytecode.
local core = require "scullery.core"

local bytecode = {}
--- bytecode.open: io.open as it is, for files that process 0 may need alone: modules, help.
bytecode.open = io.open

-- The first bytes of a file of bytecode. Then come a hash and the size of the index, the index, and
-- the bytecode of all modules.
local TITLE = "Scullery bytecode 2\n"
-- A module's name, size and hash of its source, and place, size and hash of its bytecode.
local ENTRY = "<s4I4I4I4I4I4"

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
  local entries, codes, at = {}, {}, 0
  for i, source in ipairs(sources) do
    local code = string.dump(assert(load(source.text, "=?", "t")))
    assert(code:sub(NAME, NAME + 2) == sized "=?", "this is not the bytecode of Lua 5.4")
    entries[i] = string.pack(ENTRY, source.name, #source.text, core.hash(source.text), at, #code,
      core.hash(code))
    codes[i], at = code, at + #code
  end
  local index = table.concat(entries)
  return TITLE .. string.pack("<I4I4", core.hash(index), #index) .. index .. table.concat(codes)
end

-- Returns at most `count` bytes of a file after the first `from`, all by default; nil if it cannot
-- be read.
local function read(path, from, count)
  local file = bytecode.open(path, "rb")
  if not file then return nil end
  local size = file:seek "end"
  file:seek("set", from or 0)
  local text = file:read(math.min(count or size, size))
  file:close()
  return text
end

-- module -> { size = , hash = }, of its source, and { from = , count = , code_hash = }, of its
-- bytecode in the file. Empty if that is none of this version, or its index is damaged.
local function index_of(path)
  local start = #TITLE + 8
  local head = path and read(path, 0, start) or ""
  if #head < start or head:sub(1, #TITLE) ~= TITLE then return {} end
  local own, length = string.unpack("<I4I4", head, #TITLE + 1)
  local index, modules, at = read(path, start, length), {}, 1
  if not index or core.hash(index) ~= own then return {} end
  while at <= #index do
    local name, size, hash, from, count, code_hash
    name, size, hash, from, count, code_hash, at = string.unpack(ENTRY, index, at)
    modules[name] = { size = size, hash = hash, from = from + start + length, count = count,
      code_hash = code_hash }
  end
  return modules
end

local main = package.searchpath("scullery", package.path)
local pack = main and main:gsub("scullery/init%.lua$", "scullery.luac")
local modules = index_of(pack)

-- What was compiled as "?", under the name of its file; nil if it is damaged: Lua does not check
-- the bytecode that it runs.
local function code_of(module, path)
  local code = read(pack, module.from, module.count)
  if not code or core.hash(code) ~= module.code_hash then return nil end
  return code:sub(1, NAME - 1) .. sized("@" .. path) .. code:sub(NAME + 3)
end

-- Before the searcher of files, and returns what that returns.
table.insert(package.searchers, 2, function(name)
  local module = modules[name]
  local path = module and package.searchpath(name, package.path)
  local source = path and read(path)
  modules[name] = nil
  if not source or #source ~= module.size or core.hash(source) ~= module.hash then return nil end
  local code = code_of(module, path)
  return code and load(code, "=" .. name, "b"), path
end)

return bytecode
