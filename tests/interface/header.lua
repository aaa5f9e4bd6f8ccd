--- The public header as data: its tables, constants, types and macros, without comments.
local support = dofile("tests/helpers/support.lua")

local header = {}

-- A file's name before its text, where files are packed into one.
local MARK = "==> %s <==\n"

local function unpack_files(text)
  local files = {}
  for line in text:gmatch("[^\n]*\n") do
    local name = line:match("^==> (%S+) <==\n$")
    if name then
      files[#files + 1] = { name = name, lines = {} }
    else
      table.insert(files[#files].lines, line)
    end
  end
  for _, file in ipairs(files) do file.text = table.concat(file.lines) end
  return files
end

--- header.unzipped(path): the text of a file that gzip packed.
function header.unzipped(path)
  local pipe = assert(io.popen(("gzip -dc '%s'"):format(path)))
  local text = pipe:read "a"
  assert(pipe:close(), path)
  return text
end

--- header.files(path): the header's files in the order of their names, plugin.h first, each
--- { name =, text = }: those below the folder path/scullery (plugin.h says which parts there are),
--- or those of the text of header.pack in the file `path`, packed by gzip.
function header.files(path)
  if path:find("%.gz$") then return unpack_files(header.unzipped(path)) end
  local root = path .. "/scullery/"
  local files = { { name = "plugin.h", text = support.read(root .. "plugin.h") } }
  local names, seen = {}, {}
  local function take(text, prefix)
    for name in text:gmatch('#include "([%w_/.]+)"') do
      name = prefix .. name
      if not seen[name] then
        seen[name] = true
        names[#names + 1] = name
        take(support.read(root .. name), "plugin/")
      end
    end
  end
  take(files[1].text, "")
  table.sort(names)
  for _, name in ipairs(names) do
    files[#files + 1] = { name = name, text = support.read(root .. name) }
  end
  return files
end

local function without_comments(text) return (text:gsub("/%*.-%*/", " ")) end

--- header.pack(files): one text of them all, without comments and empty lines.
function header.pack(files)
  local parts = {}
  for _, file in ipairs(files) do
    parts[#parts + 1] = MARK:format(file.name)
      .. without_comments(file.text):gsub(" +\n", "\n"):gsub("\n\n+", "\n"):gsub("^\n", "")
  end
  return table.concat(parts)
end

local function plain(text) -- one space between tokens, none at the ends
  return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

-- The names that a declaration declares: "double *mean, *scale", "scl_status (*draw)(...)",
-- "size_t sizes[4]".
local function names_of(declaration)
  local slot = declaration:match("%(%s*%*%s*([%w_]+)%s*%)")
  if slot then return { slot } end
  local names = {}
  for part in (declaration .. ","):gmatch("(.-),") do
    names[#names + 1] = part:gsub("%[.-%]", ""):match("([%w_]+)%s*$")
  end
  return names
end

local function members_of(body)
  local members = {}
  for declaration in body:gmatch("([^;]+);") do
    declaration = plain(declaration)
    for _, name in ipairs(names_of(declaration)) do
      members[#members + 1] = { name = name, declaration = declaration }
    end
  end
  return members
end

local function read_structs(text, out)
  local function keep(name, body)
    local one = { name = name, members = members_of(body) }
    one.is_table = one.members[1].name == "head" and name ~= "scl_head"
    out[#out + 1] = one
    out[name] = one
  end
  for name, body in text:gmatch("typedef struct (scl_[%w_]+) (%b{})") do
    keep(name, body:sub(2, -2))
  end
  for name, body in text:gmatch("\nstruct (scl_[%w_]+) (%b{})") do keep(name, body:sub(2, -2)) end
end

-- A constant without "=" follows the one before.
local function read_constants(text, out)
  for body in text:gmatch("enum (%b{})") do
    local value = -1
    for item in (body:sub(2, -2) .. ","):gmatch("(.-),") do
      item = plain(item)
      local name, given = item:match("^(SCL_[%w_]+) = (%w+)$")
      name = name or item:match("^(SCL_[%w_]+)$")
      if name then
        value = given and math.tointeger(tonumber(given)) or value + 1
        out[#out + 1] = { name = name, value = value }
        out[name] = value
      end
    end
  end
end

local function read_macros(text, out)
  for line in text:gsub("\\%s*\n", " "):gmatch("#define ([^\n]+)") do
    local name = line:match("^[%w_]+")
    if not name:find("_H$") then
      -- one that C and C++ define apart: both, in this order
      out[name] = out[name] and out[name] .. " / " .. plain(line) or plain(line)
    end
  end
end

-- typedef int32_t scl_kind; typedef scl_status (*scl_visit)(...);
local function read_types(text, out)
  for declaration in text:gmatch("typedef ([^{};]+);") do
    local line = plain(declaration)
    out[names_of(line)[1]] = line
  end
end

--- header.parse(files): { structs, constants, macros, types }, each found by its name: the value of
--- a constant, the text of a macro or a type. structs and constants are also lists in the order of
--- the text. A struct: { name, is_table (its first member is a head),
--- members = { { name, declaration } } }.
function header.parse(files)
  local result = { structs = {}, constants = {}, macros = {}, types = {} }
  for _, file in ipairs(files) do
    local text = without_comments(file.text)
    read_structs(text, result.structs)
    read_constants(text, result.constants)
    read_macros(text, result.macros)
    read_types(text, result.types)
  end
  return result
end

return header
