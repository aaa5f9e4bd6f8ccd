--- Data from files, by format and by name.
local core = require "scullery.core"
local dataset = require "scullery.dataset"
local options = require "scullery.options"

local data = {}

local function rethrow(title, f, ...)
  local result = table.pack(pcall(f, ...))
  if result[1] then return table.unpack(result, 2, result.n) end
  local message = tostring(result[2]):gsub("^[%w_./ -]*%.lua:%d+: ", "")
  if message:sub(1, #title) ~= title then message = title .. ": " .. message end
  error(message, 3)
end

local function is_texts(v)
  if type(v) == "string" then return true end
  if type(v) ~= "table" then return false end
  for _, one in ipairs(v) do if type(one) ~= "string" then return false end end
  return true
end
local texts = { test = is_texts, takes = "a text or a list of texts" }
local dtype = { choices = { "float64", "float32" } }
local task = { choices = { "classification", "regression" } }

local csv_rules = {
  target = { test = function(v) return type(v) == "string" or v == false or math.type(v) == "integer" end,
             takes = "a column's name, its number (negative from the end) or false" },
  task = task, header = { type = "boolean" }, categorical = { choices = { "onehot", "drop" } }, missing = texts,
  missing_values = { choices = { "median", "error", "row" } },
  numeric = { test = function(v) return type(v) == "boolean" or is_texts(v) end, takes = "true, or a list of column names" },
  separator = { test = function(v) return type(v) == "string" and #v == 1 end, takes = "one character" }, dtype = dtype, skip = texts, levels = texts,
  columns = texts, stream = { type = "boolean" },
}

local function check_path(path, title)
  if not is_texts(path) or #path == 0 then error(("%s: takes a path, and got %s"):format(title, options.show(path)), 3) end
end

--- sc.data.csv(path[, { target =, task =, header =, categorical = "onehot" | "drop", missing =, missing_values = "median" | "error" | "row", numeric =,
--- separator =, dtype =, skip =, levels =, columns =, stream = }]): a data set from comma-separated text, gzip or plain. Columns of text become one 0/1 column a
--- level (levels sorted; a missing one is a level "?"); a missing number becomes the column's median in the first file (its mean in a stream), or drops its
--- row. target: the last column unless said; false for none. skip: columns to leave out; levels: columns to take as categories whatever they hold; numeric:
--- columns that must hold numbers; columns: names where the file has none. stream = true reads blocks from disk at each pass. A list of paths stacks files.
function data.csv(path, given)
  check_path(path, "data.csv")
  local o = options.check("data.csv", given, csv_rules)
  if o.stream then
    if type(path) ~= "string" then error("data.csv: stream = true takes one path", 2) end
    local source, result = rethrow("data.csv", core.stream_csv, path, o)
    return dataset.from_table(result, source)
  end
  return dataset.from_table(rethrow("data.csv", core.read_csv, path, o))
end

--- sc.data.libsvm(path[, { features =, task =, dtype = }]): label index:value ... text. features: columns (the largest index otherwise).
function data.libsvm(path, given)
  check_path(path, "data.libsvm")
  local o = options.check("data.libsvm", given, { features = { type = "integer", low = 1 }, task = task, dtype = dtype })
  return dataset.from_table(rethrow("data.libsvm", core.read_libsvm, path, o))
end

--- sc.data.idx(images[, labels][, { scale =, dtype = }]): the format of MNIST; several parts as lists. scale multiplies the numbers.
function data.idx(images, labels, given)
  check_path(images, "data.idx")
  if labels ~= nil then check_path(labels, "data.idx") end
  local o = options.check("data.idx", given, { scale = { type = "number" }, dtype = dtype })
  return dataset.from_table(rethrow("data.idx", core.read_idx, images, labels, o))
end

local function read_npy_set(path, o)
  if o.stream then
    if o.task == "classification" then error("stream = true with .npy is for regression targets", 0) end
    return dataset.from_table({ task = "regression" }, core.stream_npy(path, o.y))
  end
  local X = core.read_npy(path)
  if not o.y then return X end
  return dataset.new{ X = X, y = core.read_npy(o.y), task = o.task }
end

--- sc.data.npy(path[, { y = path, task =, stream = }]): a matrix from NumPy's .npy, or a data set when y is given. X:save("f.npy") writes one.
function data.npy(path, given)
  if type(path) ~= "string" then error("data.npy: takes a path, and got " .. options.show(path), 2) end
  local o = options.check("data.npy", given, { y = { type = "string" }, task = task, stream = { type = "boolean" } })
  return rethrow("data.npy", read_npy_set, path, o)
end

--- sc.data.rows{ n =, d =, targets = 1, read = function(first, count) return X, y end, task =, classes = }: a streaming data set whose rows a function makes:
--- X count x d, y count x targets (labels: count x 1). The same rows must come for the same first.
function data.rows(given)
  local o = options.check("data.rows", given, {
    n = { type = "integer", low = 1, required = true }, d = { type = "integer", low = 1, required = true },
    targets = { type = "integer", low = 1, default = 1 }, read = { type = "function", required = true }, task = task, classes = { type = "table" } })
  local kind = o.task or (o.classes and "classification" or "regression")
  if kind == "classification" and not o.classes then error("data.rows: a classification needs option 'classes'", 2) end
  return dataset.from_table({ task = kind, classes = o.classes }, core.generator(o.n, o.d, o.targets, o.read))
end

-- ---------------------------------------------------------------- named sets

local function exists(path)
  local file = path and io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local shipped = (debug.getinfo(1, "S").source:match("^@(.*)data%.lua$") or "./") .. "data/"

--- sc.data.cache(): the folder that fetched sets are put in: $XDG_CACHE_HOME/scullery or ~/.cache/scullery.
function data.cache()
  local base = os.getenv("XDG_CACHE_HOME")
  if not base or base == "" then base = (os.getenv("HOME") or ".") .. "/.cache" end
  return base .. "/scullery/"
end

local function folders()
  local list = {}
  local own = os.getenv("SCULLERY_DATA")
  if own and own ~= "" then list[1] = own .. "/" end
  list[#list + 1] = data.cache()
  list[#list + 1] = shipped
  return list
end

local function find_file(file)
  for _, folder in ipairs(folders()) do
    if exists(folder .. file) then return folder .. file end
  end
end

local function entry_of(name, title)
  local catalog = require "scullery.catalog"
  if type(name) ~= "string" then error(("%s: takes a set's name, and got %s"):format(title, options.show(name)), 3) end
  if catalog[name] then return catalog[name] end
  local names = {}
  for known in pairs(catalog) do names[#names + 1] = known end
  table.sort(names)
  local near = options.nearest(name, names)
  error(("%s: no set '%s'%s; data.list() shows all"):format(title, name, near and " (did you mean '" .. near .. "'?)" or ""), 3)
end

-- Paths of all files of a set, or the first that is nowhere.
local function locate(entry)
  local paths = {}
  for i, file in ipairs(entry.files) do
    paths[i] = find_file(file.name)
    if not paths[i] then return nil, file.name end
  end
  return paths
end

--- sc.data.path(name): the files of a named set, as a list; nil and the missing file's name when one is nowhere.
function data.path(name) return locate(entry_of(name, "data.path")) end

local function read_entry(entry, paths, o)
  if entry.format == "csv" then
    return dataset.from_table(core.read_csv(paths, { target = entry.target, task = entry.task, dtype = o.dtype, skip = entry.skip }))
  elseif entry.format == "libsvm" then
    return dataset.from_table(core.read_libsvm(paths, { task = entry.task, dtype = o.dtype }))
  end
  local half = #paths // 2
  return dataset.from_table(core.read_idx({ table.unpack(paths, 1, half) }, { table.unpack(paths, half + 1) }, { scale = entry.scale, dtype = o.dtype }))
end

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

--- sc.data.load(name[, part][, { dtype = }]): a named set. part: "train" or "test" of a set with official parts; ds:parts() gives both.
--- Files are looked for in SCULLERY_DATA, the cache, and what is shipped.
function data.load(name, part, given)
  local entry = entry_of(name, "data.load")
  if type(part) == "table" then part, given = nil, part end
  local o = options.check("data.load", given, { dtype = dtype })
  if part ~= nil and part ~= "train" and part ~= "test" then
    error(("data.load: part got %s; it takes \"train\" or \"test\""):format(options.show(part)), 2)
  end
  local paths, missing = locate(entry)
  if not paths then
    error(("data.load: the set '%s' is not here (%s): run `scullery data get %s`, or put the file in a folder and name that folder in SCULLERY_DATA")
      :format(name, missing, name), 2)
  end
  local ds = rethrow("data.load", read_entry, entry, paths, o)
  if entry.keep then ds = keep_classes(ds, entry.keep) end
  if entry.parts then ds.part_first, ds.part_rows = entry.parts.first or 1, entry.parts end
  if part == nil then return ds end
  if not ds.part_rows or #ds.part_rows < 2 then error(("data.load: the set '%s' has no official parts"):format(name), 2) end
  local train, test = ds:parts()
  return part == "train" and train or test
end

local List = { __name = "list of data sets" }

function List:__tostring()
  local lines = {}
  for _, e in ipairs(self) do
    lines[#lines + 1] = ("%-22s %7d x %-4d %-15s %-9s %s"):format(e.name, e.rows, e.columns, e.task, e.here and "here" or "not here", e.about)
  end
  return table.concat(lines, "\n")
end

--- sc.data.list(): the named sets: name, rows, columns (of the file), task, whether the files are here, what it is. Prints as a table.
function data.list()
  local list = setmetatable({}, List)
  for name, entry in pairs(require "scullery.catalog") do
    list[#list + 1] = { name = name, rows = entry.rows, columns = entry.columns, task = entry.task, about = entry.about, here = locate(entry) ~= nil }
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

local function make_folders(path)
  local so_far = path:sub(1, 1) == "/" and "/" or ""
  for piece in path:gmatch("[^/]+") do
    so_far = so_far .. piece
    core.make_folder(so_far)
    so_far = so_far .. "/"
  end
end

local function get_file(file, folder)
  local target = folder .. file.name
  local mirror = os.getenv("SCULLERY_DATA_URL")
  local url = mirror and mirror ~= "" and (mirror:gsub("/$", "") .. "/" .. file.name) or file.url
  if not url then
    error(("%s has no public address in this form; make or copy the file by hand to %s (its sha256 is %s)"):format(file.name, target, file.sha256), 0)
  end
  make_folders(target:match("^(.*)/"))
  core.fetch(url, target, file.sha256)
  return target
end

--- sc.data.get(name): fetch a named set to the cache, each file checked by its sha256; returns the paths. SCULLERY_DATA_URL names a mirror to fetch from.
function data.get(name)
  local entry = entry_of(name, "data.get")
  local paths = {}
  for i, file in ipairs(entry.files) do
    paths[i] = find_file(file.name) or rethrow("data.get", get_file, file, data.cache())
  end
  return paths
end

return data
