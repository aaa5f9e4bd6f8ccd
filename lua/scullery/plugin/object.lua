--- The symbols of a shared object and the compiler that made it. The file is read as data, so that
--- a damaged one can only cause a Lua error.
local core = require "scullery.core"

local object = {}

local SECTION_STRINGS = 3

-- Readers of numbers for the class and byte order of the file, and the offsets of header fields.
local function layout_of(bytes)
  local wide, little = bytes:byte(5) == 2, bytes:byte(6) == 1
  local order = little and "<" or ">"
  local word = order .. (wide and "I8" or "I4")
  local function at(format, place) return (format:unpack(bytes, place + 1)) end
  return {
    short = function(place) return at(order .. "I2", place) end,
    int = function(place) return at(order .. "I4", place) end,
    word = function(place) return at(word, place) end,
    wide = wide,
  }
end

-- { name, type, from, size } of each section.
local function sections_of(bytes, l)
  local at, entry, count, names = l.word(l.wide and 0x28 or 0x20), l.short(l.wide and 0x3a or 0x2e),
    l.short(l.wide and 0x3c or 0x30), l.short(l.wide and 0x3e or 0x32)
  local list = {}
  for i = 0, count - 1 do
    local s = at + i * entry
    list[i] = { title = l.int(s), type = l.int(s + 4), from = l.word(s + (l.wide and 0x18 or 0x10)),
      size = l.word(s + (l.wide and 0x20 or 0x14)) }
  end
  local texts = list[names]
  for i = 0, count - 1 do
    local from = texts and texts.type == SECTION_STRINGS and texts.from + list[i].title
    list[i].name = from and bytes:match("^[^%z]*", from + 1) or ""
  end
  return list
end

-- The texts of the .comment section: compilers name themselves there. Each text once.
local function compilers_of(bytes, sections)
  local list, seen = {}, {}
  for _, section in pairs(sections) do
    if section.name == ".comment" then
      for text in bytes:sub(section.from + 1, section.from + section.size):gmatch("[^%z]+") do
        if not seen[text] then list[#list + 1] = text end
        seen[text] = true
      end
    end
  end
  return list
end

--- object.read(path): { size, sha256, exported, compilers }: size in bytes; the names of the
--- global symbols that the file defines, sorted; the compilers that made it. The lists are empty if
--- the file has no sections.
function object.read(path)
  local about = { size = core.file_about(path).size, sha256 = core.sha256(path), exported = {},
    compilers = {} }
  local ok, symbols = pcall(core.symbols, path)
  for _, symbol in ipairs(ok and symbols or {}) do
    if symbol.defined then table.insert(about.exported, symbol.name) end
  end
  table.sort(about.exported)
  local file <close> = assert(io.open(path, "rb"))
  local bytes = file:read("a")
  if bytes:sub(1, 4) ~= "\127ELF" or #bytes < 64 then return about end
  local l = layout_of(bytes)
  pcall(function() -- offsets of a damaged file may point outside it
    about.compilers = compilers_of(bytes, sections_of(bytes, l))
  end)
  return about
end

return object
