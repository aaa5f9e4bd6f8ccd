--- sc.data.read: a file in any of the formats that are read, known by its content.
local core = require "scullery.core"
local csv = require "scullery.data.csv"
local dataset = require "scullery.data.dataset"
local files = require "scullery.data.files"
local numbers = require "scullery.data.numbers"
local options = require "scullery.base.options"
local used = require "scullery.base.used"

local read = {}

local HEAD = 4096 -- bytes by which a format is known

-- ------------ formats

-- Formats of readers, and the packages without which a build has none of them.
local of_readers = {
  { "PAR1", "a Parquet file", "libsnappy-dev, libzstd-dev and liblz4-dev" },
  { "ARROW1", "an Arrow file", "libsnappy-dev, libzstd-dev and liblz4-dev" },
  { "\x89HDF", "an HDF5 file", "libhdf5-dev" },
  { "SQLite format 3\0", "a database of SQLite", "libsqlite3-dev" },
}

-- Compressions that are known and not read, and what unpacks them.
local compressions = {
  { "BZh91AY&SY", "bzip2", "bunzip2" },
  { "\xFD7zXZ", "xz", "unxz" },
  { "\x28\xB5\x2F\xFD", "zstd", "unzstd" },
}

-- Whether the file is packed by gzip: readers take files as they are.
local function is_packed(path)
  local file <close> = io.open(path, "rb")
  return file ~= nil and file:read(2) == "\x1F\x8B"
end

-- Raises an error for a file that is known by its first bytes, unpacked, and is not read.
local function refuse_known(path, head)
  for _, known in ipairs(of_readers) do
    if head:sub(1, #known[1]) == known[1] then
      local what = is_packed(path) and " packed by gzip: gunzip unpacks it"
        or ", and this build has no reader of these: build it with " .. known[3]
      error(("%s is %s%s"):format(path, known[2], what), 0)
    end
  end
  for _, known in ipairs(compressions) do
    if head:sub(1, #known[1]) == known[1] then
      error(("%s is compressed by %s, which is not read: %s unpacks it"):format(path, known[2],
        known[3]), 0)
    end
  end
end

-- True if the first line of more than a label is text in LIBSVM's format with numbers of columns.
local function is_libsvm(head)
  for line in head:gmatch "[^\r\n]+" do
    local label, rest = line:gsub("#.*", ""):match "^%s*([-+.%deE,]*)%s*(.*)$"
    if rest ~= "" then
      return tonumber((label:gsub(",", ""))) ~= nil and rest:find "^%d+:" ~= nil
        and not rest:find "[^-+.%deE:%s]"
    end
  end
  return false
end

-- Raises an error for a zip file whose first file is no array of NumPy: spreadsheets are such.
local function check_zip(path, head)
  local name = #head >= 30 and head:sub(31, 30 + string.unpack("<I2", head, 27))
  if name and not name:find "%.npy$" then
    error(("%s is a zip file that begins with %s, and not one of NumPy's arrays (.npz): a \z
      spreadsheet is saved as CSV, other files are unpacked"):format(path, options.show(name)), 0)
  end
end

-- The name of the format that a file has by its first bytes, and the name of the plugin that reads
-- it where that is one.
local function format_of(path)
  local head = core.read_head(path, HEAD)
  if head:find '^........{"' and head:find("__metadata__", 1, true) then
    error(("%s is a saved model: sc.load(path) reads it"):format(path), 0)
  end
  if head:find "^\x93NUMPY" then return "npy" end
  if head:find "^PK\3\4" then
    check_zip(path, head)
    return "npz"
  end
  if head:find "^\0\0[\8\9\11-\14][\1-\4]" then return "idx" end
  if head:find "^%%%%MatrixMarket" then return "matrix_market" end
  local reader = core.reader_of(path)
  if reader then return nil, reader end
  refuse_known(path, head)
  return is_libsvm(head) and "libsvm" or "csv"
end

-- ------------ rows of a reader

local held = setmetatable({}, { __mode = "k" }) -- the source of a stream -> the handle of its file

-- The reader of that name with those of the options that it declares, and the other options, of
-- which `select` is kept.
local function take_reader(name, given)
  local mine, rest, declared = {}, {}, {}
  for _, option in ipairs(core.plugin_info("reader", name).options) do
    declared[option.name] = true
  end
  for option, value in pairs(given) do
    if declared[option] then mine[option] = value else rest[option] = value end
  end
  return used.make("reader", name, mine), rest, declared
end

--- read.columns(path): the names of the columns of a file that a plugin reads; nil where none
--- does.
function read.columns(path)
  local name = core.reader_of(path)
  return name and core.reader_columns(used.make("reader", name, {}), path) or nil
end

--- read.open(path, columns): the rows of a file that a plugin reads, as text with a first line of
--- names: the name under which they are read, and a handle while which lives they are. columns: the
--- names of those that are read; nil: all.
function read.open(path, columns)
  local reader = used.make("reader", core.reader_of(path), {})
  local file, announced = core.reader_file(reader, path, columns)
  return announced, file
end

-- csv.read of a file's rows. Sentences about options name those of sc.data.read.
local function read_csv(rows, given, declared, file)
  local ok, result = pcall(csv.read, rows, given, nil, file)
  if ok then return result end
  if type(result) ~= "string" then error(result, 0) end
  result = options.plain(result):gsub("^data%.csv: ", "")
  local names = { "select" }
  for name in pairs(declared) do names[#names + 1] = name end
  table.sort(names)
  error(result:find "^unknown option" and result .. ", " .. table.concat(names, ", ") or result, 0)
end

-- Rows of a reader's file as a data set, by the rules of comma-separated text.
local function from_reader(name, path, given)
  local reader, rest, declared = take_reader(name, given)
  if rest.header ~= nil or rest.separator ~= nil then
    error("options 'header' and 'separator' are for text, and the columns of this file have names",
      0)
  end
  local file, announced = core.reader_file(reader, path, rest.select)
  local _ <close> = not rest.stream and file or nil
  rest.header, rest.separator, rest.select = true, ",", nil
  local ds = read_csv(announced, rest, declared, path)
  if ds.source then held[ds.source] = file end
  dataset.set_origin(ds, { call = "read", arguments = { path, given } })
  return ds
end

-- Raises an error for options of readers, which a file of another format was given.
local function refuse_options_of_readers(path, given, format)
  local what = format == "csv" and "text" or "a file of the format " .. format
  if given.select ~= nil then
    error(("option 'select' is for files that a plugin reads, and %s is %s: option 'skip' leaves \z
      columns out"):format(path, what), 0)
  end
  for _, entry in ipairs(core.plugin_list()) do
    local ok, info = pcall(core.plugin_info, entry.kind, entry.name)
    for _, option in ipairs(ok and entry.kind == "reader" and info.options or {}) do
      if given[option.name] ~= nil then
        error(("option '%s' is for %s, and %s is %s"):format(option.name,
          core.plugin_facts("reader", entry.name).format, path, what), 0)
      end
    end
  end
end

-- ------------ the function

local formats = { csv = csv.whole }
for _, name in ipairs{ "libsvm", "npy", "npz", "idx", "matrix_market" } do
  formats[name] = numbers[name]
end

local function read_any(path, given)
  files.check_path(path)
  if path == "-" then
    error("takes a file, whose first bytes tell its format: sc.data.csv(\"-\") reads the \z
      standard input", 0)
  end
  if given ~= nil and (type(given) ~= "table" or getmetatable(given)) then
    error("takes a table of named options, and got " .. options.show(given), 0)
  end
  local format, reader = format_of(path)
  if reader then return from_reader(reader, path, given or {}) end
  local ok, result = pcall(formats[format], path, given)
  if ok then return result end
  if type(result) == "string" and result:find("unknown option", 1, true) then
    refuse_options_of_readers(path, given, format)
  end
  error(result, 0)
end

--- sc.data.read(path[, { ... }]): what a file holds, by the format that its first bytes tell: CSV,
--- LIBSVM, NPY, NPZ, IDX and Matrix Market, plain or gzip, and what plugins read (help(sc.reader)):
--- Parquet, Arrow, SQLite and HDF5. Options are those of sc.data.csv, .libsvm, .npy, .npz, .idx and
--- .matrix_market, and so is the result: a data set, or a matrix where there are no labels. A text
--- that is not LIBSVM's is read as CSV.
---
--- Of a file that a plugin reads, with the options of sc.data.csv (target, like, stream, ...) and
--- of the plugin (the query of a database, the name of a table):
---   select   the names of the columns that are read; others are not touched
--- Columns become numbers as those of CSV do: NULL and NaN are missing values, dates and times are
--- days since 1970, and a column with texts becomes one 0/1 column for each. Files are opened for
--- reading alone.
function read.read(path, given) return options.guard("data.read", 1, read_any, path, given) end

return read
