--- Named data sets: the catalogue, the folders in which their files are searched, downloads.
local core = require "scullery.core"
local csv = require "scullery.data.csv"
local dataset = require "scullery.data.dataset"
local files = require "scullery.data.files"
local options = require "scullery.base.options"
local warn = require "scullery.base.warn"

local named = {}

local shipped = debug.getinfo(1, "S").source:match("^@(.*/)named%.lua$") or "./"

--- sc.data.cache(): the folder of downloaded data sets: $XDG_CACHE_HOME/scullery or
--- ~/.cache/scullery.
function named.cache()
  local base = os.getenv("XDG_CACHE_HOME")
  if not base or base:sub(1, 1) ~= "/" then base = (os.getenv("HOME") or ".") .. "/.cache" end
  return base .. "/scullery/"
end

-- The folders that are searched, in this order, each with its name for the user.
local function folders()
  local list, own = {}, os.getenv("SCULLERY_DATA")
  if own and own ~= "" then list[1] = { own .. "/", "SCULLERY_DATA" } end
  list[#list + 1] = { named.cache(), "cache" }
  list[#list + 1] = { shipped, "shipped" }
  return list
end

-- The path of a file of the catalog, compressed or unpacked, and the name of its folder.
local function find_file(name)
  for _, folder in ipairs(folders()) do
    for _, path in ipairs{ folder[1] .. name, folder[1] .. name:gsub("%.gz$", "") } do
      local file <close> = io.open(path, "rb")
      if file then return path, folder[2] end
    end
  end
end

-- The entry of the catalog with this name; an error with the nearest name if there is none.
local function entry_of(name)
  local catalog = require "scullery.data.catalog"
  if type(name) ~= "string" then error("takes a set's name, and got " .. options.show(name), 0) end
  if catalog[name] then return catalog[name] end
  local names = {}
  for known in pairs(catalog) do names[#names + 1] = known end
  table.sort(names)
  local near = options.nearest(name, names)
  error(("no set %s%s; sc.data.list() shows all"):format(options.show(name),
    near and " (did you mean '" .. near .. "'?)" or ""), 0)
end

-- The paths of all files of a set and the folder of the first; or nil and the missing file's name.
local function locate(entry)
  local paths, where = {}, nil
  for i, file in ipairs(entry.files) do
    local path, folder = find_file(file.name)
    if not path then return nil, file.name end
    paths[i], where = path, where or folder
  end
  return paths, entry.format == "generated" and "generated" or where
end

--- sc.data.path(name): the paths of the files of a named set, as a list (empty for a set that is
--- computed); nil and the name of the missing file if one is not on this machine.
function named.path(name) return locate(options.guard("data.path", 2, entry_of, name)) end

-- A data set from the local files of an entry. Files of an "idx" entry: images first, as many files
-- of labels after them.
local function read_entry(name, entry, paths, o)
  if entry.format == "generated" then
    if o.stream then error("option 'stream' is for sets in one .csv file", 0) end
    local ds = require("scullery.data.generated")[name]()
    if o.dtype == "float32" then ds.X = ds.X:astype("float32") end
    return ds
  end
  if entry.format == "csv" then
    return csv.read(paths, { target = entry.target, task = entry.task, dtype = o.dtype,
      stream = o.stream, columns = entry.names }, true)
  end
  if o.stream then error("option 'stream' is for sets in one .csv file", 0) end
  if entry.format == "libsvm" then
    local result = core.read_libsvm(paths, { task = entry.task, dtype = o.dtype })
    return files.plain("libsvm", result)
  end
  local half = #paths // 2
  return files.plain("idx", core.read_idx({ table.unpack(paths, 1, half) },
    { table.unpack(paths, half + 1) }, { scale = entry.scale, dtype = o.dtype }))
end

-- The rows of the wanted classes only, as for a set of two digits of MNIST; the sizes of the
-- official parts are counted again.
local function keep_classes(ds, wanted)
  local keep = {}
  for _, label in ipairs(wanted) do keep[label] = true end
  local rows, parts, last = {}, {}, 0
  for p, count in ipairs(ds.part_rows) do
    parts[p] = 0
    for i = last + 1, last + count do
      if keep[ds.y:get(i, 1)] then rows[#rows + 1] = i parts[p] = parts[p] + 1 end
    end
    last = last + count
  end
  local result = ds:select(rows)
  result.classes, result.part_rows = wanted, parts
  dataset.labels_of[result.y] = { task = result.task, classes = wanted }
  return result
end

local load_rules = options.declare("data.load", { dtype = files.dtype,
  stream = { type = "boolean" } })

-- sc.data.load without its title in errors.
local function load_set(name, part, given)
  local entry = entry_of(name)
  if type(part) == "table" and given == nil then part, given = nil, part end
  local o = options.check("data.load", given, load_rules, 0)
  if part ~= nil and part ~= "train" and part ~= "test" then
    error(("part got %s; it takes \"train\" or \"test\""):format(options.show(part)), 0)
  end
  local paths, missing = locate(entry)
  if not paths then
    error(("the set '%s' is not on this machine (%s is missing): run `scullery data get %s`, or \z
      put the file in a folder and name that folder in SCULLERY_DATA"):format(name, missing, name),
      0)
  end
  local ds = read_entry(name, entry, paths, o)
  if entry.keep then ds = keep_classes(ds, entry.keep) end
  if entry.parts then ds.part_first, ds.part_rows = entry.parts.first or 1, entry.parts end
  if part == nil then
    return dataset.set_origin(ds, { call = "load", arguments = { name, given } })
  end
  if not ds.part_rows or #ds.part_rows < 2 then
    error(("the set '%s' has no official parts"):format(name), 0)
  end
  local train, test = ds:parts()
  return dataset.set_origin(part == "train" and train or test,
    { call = "load", arguments = { name, part, given } })
end

--- sc.data.load(name[, part][, { dtype =, stream = }]): a named data set; sc.data.list() lists
--- them. part: "train" or "test", for a set with official parts; ds:parts() gives both. Files are
--- searched for in the folder SCULLERY_DATA, in the cache, and among those installed with Scullery.
--- The pixels of MNIST are divided by 255.
function named.load(name, part, given)
  return options.guard("data.load", 1, load_set, name, part, given)
end

local List = { __name = "list of data sets" }

function List:__tostring()
  local lines = { ("%-22s %7s   %-4s %-15s %-13s %s"):format("name", "rows", "cols", "task",
    "where", "what") }
  for _, e in ipairs(self) do
    lines[#lines + 1] = ("%-22s %7d x %-4d %-15s %-13s %s"):format(e.name, e.rows, e.columns,
      e.task, e.where or "not here", e.about)
  end
  return table.concat(lines, "\n")
end

--- sc.data.list(): a list of the named sets, which prints as a table. Each is { name, rows, columns
--- (of the file), task, about, here (true if it is on this machine), where ("SCULLERY_DATA",
--- "cache", "shipped", "generated" (computed by an equation) or nil), path (of the first file) }.
function named.list()
  local list = setmetatable({}, List)
  for name, entry in pairs(require "scullery.data.catalog") do
    local paths, where = locate(entry)
    list[#list + 1] = { name = name, rows = entry.rows, columns = entry.columns, task = entry.task,
      about = entry.about, here = paths ~= nil, where = paths and where or nil,
      path = paths and paths[1] or nil }
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

-- One file of the catalog, downloaded if it is missing or if the copy in the cache is wrong.
local function get_file(file, entry)
  local fetch = require "scullery.data.fetch"
  local path, folder = find_file(file.name)
  local wrong = path and fetch.check(path, file, entry, warn)
  if path and not wrong then return path end
  if path and folder ~= "cache" then
    error(("%s; remove it, or put the right one there"):format(wrong), 0)
  end
  if wrong then warn(wrong .. ": downloaded again") end
  local fresh = fetch.file(file, entry, named.cache(), warn)
  if path and path ~= fresh then os.remove(path) end -- the search would find the wrong copy first
  return fresh
end

-- The paths of all files of a named set, downloaded if they are missing.
local function get_set(name)
  local entry, paths = entry_of(name), {}
  for i, file in ipairs(entry.files) do paths[i] = get_file(file, entry) end
  return paths
end

--- sc.data.get(name): downloads a named set to the cache, unless it is on this machine. Returns the
--- paths of its files. Each file is checked by its SHA-256; a damaged one in the cache is
--- downloaded again. SCULLERY_DATA_URL names a mirror.
function named.get(name) return options.guard("data.get", 1, get_set, name) end

return named
