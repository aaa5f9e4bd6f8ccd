--- What the readers of files share: paths, options that several have, and data sets of numbers.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local options = require "scullery.base.options"
local schema = require "scullery.data.schema"

local files = {}

-- Rules of options that several readers have.
files.dtype = { choices = { "float64", "float32" } }
files.task = { choices = { "classification", "regression" } }
files.unpacked = { type = "integer", low = 1 }

-- Several processes read a file once process 0, which alone writes, is here too.
local function meet()
  if core.process_count() > 1 then core.process_meet("the reading of a file") end
end

--- files.check_paths(path): raises an error unless it is a path or a list of paths.
function files.check_paths(path)
  for key in pairs(type(path) == "table" and path or {}) do
    if type(key) ~= "number" then
      error(("option %s is among the paths; options come after them: (path, { %s = ... })")
        :format(options.show(key), tostring(key)), 0)
    end
  end
  local ok = type(path) == "string" and path ~= "" or type(path) == "table" and #path > 0
  for _, one in ipairs(type(path) == "table" and path or {}) do
    ok = ok and type(one) == "string"
  end
  if not ok then error("takes a path or a list of paths, and got " .. options.show(path), 0) end
  meet()
end

--- files.check_path(path): raises an error unless it is a path.
function files.check_path(path)
  if type(path) ~= "string" or path == "" then
    error("takes a path, and got " .. options.show(path), 0)
  end
  meet()
end

--- files.all_paths(...): paths, each of them a path, a list of paths or nil, as one list.
function files.all_paths(...)
  local list = {}
  for _, given in ipairs(table.pack(...)) do
    for _, path in ipairs(type(given) == "table" and given or { given }) do
      list[#list + 1] = path
    end
  end
  return list
end

--- files.plain(format, result, source, paths): the data set for a reader's result whose columns are
--- all numbers. source, paths: of a stream.
function files.plain(format, result, source, paths)
  result.schema = schema.plain(format, result.cols, result.names)
  return dataset.from_table(result, source, nil, paths)
end

return files
