--- sc.data.read: a file in any of the formats that are read, known by its content.
local core = require "scullery.core"
local csv = require "scullery.data.csv"
local dataset = require "scullery.data.dataset"
local files = require "scullery.data.files"
local numbers = require "scullery.data.numbers"
local options = require "scullery.base.options"

local read = {}

local HEAD = 4096 -- bytes by which a format is known

-- ------------------------------------------------------------ formats

-- Files that are known and not read: what a message says.
local others = {
  { "PAR1", "a Parquet file, which is not read: DuckDB or pandas write it as CSV" },
  { "ARROW1", "an Arrow file, which is not read: pyarrow or pandas write it as CSV" },
  { "\x89HDF", "an HDF5 file, which is not read: h5py and numpy.savez write its arrays as .npz" },
  { "BZh91AY&SY", "compressed by bzip2, which is not read: bunzip2 unpacks it" },
  { "\xFD7zXZ", "compressed by xz, which is not read: unxz unpacks it" },
  { "\x28\xB5\x2F\xFD", "compressed by zstd, which is not read: unzstd unpacks it" },
}

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

-- The name of the format that a file has by its first bytes.
local function format_of(path)
  local database = core.reader_of(path)
  if database then return database end
  local head = core.read_head(path, HEAD)
  for _, other in ipairs(others) do
    if head:sub(1, #other[1]) == other[1] then
      error(("%s is %s"):format(path, other[2]), 0)
    end
  end
  if head:find "^SQLite format 3\0" then
    error(("%s is a database of SQLite, and this build has no reader of these: build it with \z
      libsqlite3-dev"):format(path), 0)
  end
  if head:find('^........{"') and head:find("__metadata__", 1, true) then
    error(("%s is a saved model: sc.load(path) reads it"):format(path), 0)
  end
  if head:find "^\x93NUMPY" then return "npy" end
  if head:find "^PK\3\4" then
    check_zip(path, head)
    return "npz"
  end
  if head:find "^\0\0[\8\9\11-\14][\1-\4]" then return "idx" end
  if head:find "^%%%%MatrixMarket" then return "matrix_market" end
  return is_libsvm(head) and "libsvm" or "csv"
end

-- ------------------------------------------------------------ rows of a reader

local text = { type = "string" }
local own = options.declare("data.read", { query = text, table = text })

local held = setmetatable({}, { __mode = "k" }) -- the source of a stream -> the handle of its file

-- csv.read, whose sentences are about the options of sc.data.read here.
local function read_csv(path, given)
  local ok, result = pcall(csv.read, path, given)
  if ok then return result end
  if type(result) ~= "string" then error(result, 0) end
  result = options.plain(result):gsub("^data%.csv: ", "")
  error(result:find "^unknown option" and result .. ", query, table" or result, 0)
end

-- Rows of a reader's file as a data set, by the rules of comma-separated text.
local function from_reader(name, path, given)
  local mine, rest = {}, {}
  for option, value in pairs(given) do
    if own[option] then mine[option] = value else rest[option] = value end
  end
  mine = options.check("data.read", mine, own, 0)
  if mine.query and mine.table then
    error("options 'query' and 'table' were both given: a query names its tables", 0)
  end
  if rest.header ~= nil or rest.separator ~= nil then
    error("options 'header' and 'separator' are for text, and columns of a database have names", 0)
  end
  local file, announced = core.reader_file(name, path, mine)
  local _ <close> = not rest.stream and file or nil
  rest.header, rest.separator = true, ","
  local ds = read_csv(announced, rest)
  if ds.source then
    held[ds.source] = file
    ds.files = { path }
  end
  dataset.set_origin(ds, { call = "read", arguments = { path, given } })
  return ds
end

-- ------------------------------------------------------------ the function

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
  local format = format_of(path)
  if not formats[format] then return from_reader(format, path, given or {}) end
  if given and (given.query or given.table) then
    error(("options 'query' and 'table' are for databases, and %s is %s"):format(path,
      format == "csv" and "text" or "a file of the format " .. format), 0)
  end
  return formats[format](path, given)
end

--- sc.data.read(path[, { ... }]): what a file holds, by the format that its first bytes tell: CSV,
--- LIBSVM, NPY, NPZ, IDX and Matrix Market, plain or gzip, and databases of SQLite. Options are
--- those of sc.data.csv, .libsvm, .npy, .npz, .idx and .matrix_market, and so is the result: a data
--- set, or a matrix where there are no labels. A text that is not LIBSVM's is read as CSV.
---
--- Of a database, with the options of sc.data.csv (target, like, stream, ...):
---   query   a statement of SQL that gives the rows: "select a, b, y from t where a > 0"
---   table   the name of a table or view, all of whose rows are read
--- Without them the only table is read. The database is opened for reading alone, and a query that
--- does more than read is refused. Columns become numbers as those of CSV do: NULL is a missing
--- value, and a column with texts becomes one 0/1 column for each.
function read.read(path, given) return options.guard("data.read", 1, read_any, path, given) end

return read
