--- The `---` comments of Lua files, which help() prints.
local bytecode = require "scullery.base.bytecode"
local objects = require "scullery.base.objects"

local comments = {}

-- path of a source file -> { byline = {line -> text}, byname = {"Pipeline:fit" -> text}, module =
-- text }
local indexed = {}

-- Reads a Lua file. A block of `---` lines belongs to the definition on the next line (a function,
-- or an assignment at the beginning of the line); the block at the top belongs to the module.
local function read_index(path)
  local index = { byline = {}, byname = {} }
  local file = bytecode.open(path, "r")
  if not file then return index end
  local block, number = {}, 0
  for line in file:lines() do
    number = number + 1
    local comment = line:match("^%-%-%-%s?(.*)$")
    if comment then
      block[#block + 1] = comment
      if number == #block then index.module = table.concat(block, "\n") end
    else
      if #block > 0 then
        local text = table.concat(block, "\n")
        local name = line:match("^function%s+([%w_.:]+)")
          or line:match("^local%s+function%s+([%w_]+)") or line:match("^([%w_.]+)%s*=")
        if name then
          index.byline[number] = text
          index.byname[name] = text
        end
      end
      block = {}
    end
  end
  file:close()
  return index
end

--- comments.of_file(path): { byline, byname, module }: the comments by the line and by the name of
--- the definition below them, and the comment at the top of the file.
function comments.of_file(path)
  indexed[path] = indexed[path] or read_index(path)
  return indexed[path]
end

--- comments.of_module(name): the same for a module, loaded or not; nil if there is no such file.
function comments.of_module(name)
  local path = package.searchpath(name, package.path)
  return path and comments.of_file(path)
end

--- comments.of_function(f): the comment above a Lua function, or nil.
function comments.of_function(f)
  local where = debug.getinfo(objects.original[f] or f, "S")
  if where.what == "C" or where.source:sub(1, 1) ~= "@" then return nil end
  return comments.of_file(where.source:sub(2)).byline[where.linedefined]
end

return comments
