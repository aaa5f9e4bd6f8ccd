--- sc.data: data sets from files in several formats, and named data sets.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local derive = require "scullery.data.derive"
local options = require "scullery.base.options"
local schema = require "scullery.data.schema"
local targets = require "scullery.data.targets"
local texts = require "scullery.data.texts"
local warn = require "scullery.base.warn"

local data = {}

local dtype = { choices = { "float64", "float32" } }
local task = { choices = { "classification", "regression" } }
local unpacked = { type = "integer", low = 1 }

-- Raises an error unless `path` is a path or a list of paths.
local function check_path(path)
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
end

local function check_one_path(path)
  if type(path) ~= "string" or path == "" then
    error("takes a path, and got " .. options.show(path), 0)
  end
end

-- ---------------------------------------------------------------- files

-- The data set for a reader's result whose columns are all numbers. source, files: for a stream.
local function plain(format, result, source, files)
  result.schema = schema.plain(format, result.cols, result.names)
  return dataset.from_table(result, source, nil, files)
end

-- Paths, each of them a path, a list of paths or nil, as one list.
local function all_paths(...)
  local list = {}
  for _, given in ipairs(table.pack(...)) do
    for _, path in ipairs(type(given) == "table" and given or { given }) do
      list[#list + 1] = path
    end
  end
  return list
end

local roles = { "weights", "groups", "time" } -- in the order of their columns, the last of X

-- True if features are float32 and there are columns of roles, which must then be read as float64:
-- groups and times are often whole numbers with more digits than float32 has.
local function roles_are_wider(o)
  local like = o.like or {}
  for _, role in ipairs(roles) do
    if (o[role] or like[role]) and o.dtype == "float32" then return true end
  end
  return false
end

local function in_float64(o)
  local copy = {}
  for name, value in pairs(o) do copy[name] = value end
  copy.dtype = "float64"
  return copy
end

-- Moves the columns of roles from X, or from a stream, to the fields weights, groups and time of
-- the result. wide: a stream of the same rows in float64 if `source` is float32.
local function take_roles(result, source, wide)
  local features, named = {}, {}
  for _, role in ipairs(roles) do
    if result.schema[role] then named[#named + 1] = role end
  end
  local kept = #result.names - #named
  if #named == 0 then return end
  for j = 1, kept do features[j] = j end
  local rows = result.X and result.X:rows() or result.rows
  for k, role in ipairs(named) do
    result.names[kept + k] = nil
    local column = result.X and result.X:column(kept + k):copy()
      or core.transform(core.source_columns(wide or source, { kept + k }), {})
    column = column:astype("float64")
    result[role] = role == "weights" and targets.weights(column, rows) or column
  end
  if result.X then
    result.X = result.X:slice(1, rows, 1, kept)
  else
    result.source = core.source_columns(source, features)
  end
end

-- The arguments `derived` and `given` of derive.add for the computed columns that the options ask
-- for; nil if there are none. Changes o so that the reader accepts it and reads what they need.
local function take_derived(o)
  local derived, helpers, like = derive.read(o.derive), {}, o.like
  if derived and like then
    error("options 'derive' and 'like' were both given; the schema says how columns are computed",
      0)
  end
  o.derive, derived = nil, derived or like and like.derived
  if not derived then return nil end
  if not like then o.skip, helpers = derive.unskip(derived, o.skip) end
  for _, column in ipairs(like and like.columns or {}) do
    if column.helper then helpers[column.name] = true end
  end
  local given = { fresh = like == nil, helpers = helpers, dtype = o.dtype,
    target = like and like.target }
  o.dtype = nil -- dates need all digits
  if o.sparse then
    error("options 'sparse' and 'derive' were both given: computed columns are dense", 0)
  end
  o.sparse = false
  return derived, given
end

-- sc.data.csv and sets of the catalogue. brief: do not report guessed settings; the catalogue
-- specifies them.
local function read_csv(path, given, brief)
  check_path(path)
  if given ~= nil and type(given) ~= "table" then
    error("takes a table of named options, and got " .. options.show(given), 0)
  end
  if texts.wants(given) then return texts.csv(path, given) end
  local o = {}
  for name, value in pairs(given or {}) do o[name] = value end
  if o.like ~= nil then o.like = schema.like(o.like) end
  local stream = o.stream
  o.stream = nil
  if stream ~= nil and type(stream) ~= "boolean" then
    error("option 'stream' got " .. options.show(stream) .. "; it takes true or false", 0)
  end
  local source, result, wide
  local derived, how = take_derived(o)
  local wider = roles_are_wider(o)
  if stream then
    if type(path) == "table" and #path ~= 1 then error("stream = true takes one path", 0) end
    local one = type(path) == "table" and path[1] or path
    source, result = core.stream_csv(one, o)
    wide = wider and core.stream_csv(one, in_float64(o)) or nil
  else
    result = core.read_csv(path, wider and in_float64(o) or o)
  end
  take_roles(result, source, wide)
  if wider and not stream then result.X = result.X:astype("float32") end
  if derived then
    how.rule = o.missing_values or o.fill or result.schema.missing_values
    local notes
    if stream then notes = derive.stream(result.source or source, result, derived, how)
    else notes = derive.add(result, derived, how) end
    table.move(notes, 1, #notes, #result.notes + 1, result.notes)
  end
  local lines, done = schema.report(result, o)
  if not o.quiet then schema.tell(path, brief and done or lines) end
  local ds = dataset.from_table(result, result.source or source, lines,
    stream and all_paths(path) or nil)
  local calls = false
  for _, one in ipairs(derived or {}) do calls = calls or one.call ~= nil end
  if type(path) == "string" and path ~= "-" and not calls then
    dataset.set_origin(ds, { call = "csv", arguments = { path, given } })
  end
  return ds
end

--- sc.data.csv(path[, { ... }]): a data set from comma-separated text in UTF-8, plain or gzip.
--- path: a file, "-" for standard input, or a list of files with the same columns.
---
--- A column of text becomes one 0/1 column for each distinct text, sorted; a missing text counts as
--- the text "?". A column of dates (2024-02-29, 31.12.2024, 12/31/2024, with or without a time)
--- becomes days since 1970-01-01; dates = "day" or "month" says what comes first where no date of
--- the column does. Nearly unique text, and numbers such as "$5" and "1,000.50", are refused;
--- the message names the option that accepts them. The target is the last column, unless target
--- names another. It is a classification if it is text, if it takes two values, or if it is few
--- whole numbers in a column called class, label or target.
---
--- weights, groups and time name columns that are not features: the weight of each row in learning;
--- groups of rows that splits and folds keep on one side (ds.groups); and the time of each row, a
--- number or a date, for folds = "time" (ds.time).
---
--- derive = { ratio = "a / b", lag1 = "lag(y, 1)" } adds computed columns: numbers, columns by name
--- (in backquotes if a name has other characters than letters, digits, _ and .), + - * / ^, < <= >
--- >= == ~= (1 or 0), log, exp, sqrt, abs, floor, min, max; year, month, day, weekday (1 is
--- Monday), hour, minute of a date; lag(x, k): x of the row k rows before, in the order of the time
--- column if one is named, and within groups. In the first rows a lag is a missing number. A column
--- in skip can be used. A value may also be a Lua function of the row; a model with one cannot be
--- saved. With stream = true each pass computes the columns again; a lag keeps its column in
--- memory, and a missing number becomes the mean of the others.
---
--- sparse: whether X holds the numbers that are not 0 alone (sc.matrix.csr); by default it does if
--- there are more than 1000 columns and a row fills less than 10 % of them, as with columns of many
--- texts.
---
--- One line on standard error reports the guesses and conversions (quiet = true: none);
--- ds:describe() reports them too. ds.schema records how each column was read.
---
--- text = "column" or a list of columns: the rows are the texts of these columns (one after the
--- other, with a newline between them), for a pipeline that begins with sc.text{}; other columns
--- than the target, weights, groups and time are left out. With text, encoding = "latin1" is for
--- files that are not UTF-8, classes are as in sc.dataset, and target = false is for texts without
--- labels.
---
--- like = ds (or a fitted pipeline) reads another file in the same way. Columns are matched by
--- name: a missing one is an error, others are left out. An unknown text gives 0 in all columns of
--- its feature, a missing number gets the value that it got in ds, and the target may be absent.
function data.csv(path, given) return options.guard("data.csv", 1, read_csv, path, given) end

--- sc.data.text(pattern[, { label =, lines = false, encoding = "utf-8", task =, classes =, unpacked
--- = }]): a data set of texts, for a pipeline that begins with sc.text{}. pattern: a file, a
--- pattern with *, ? and [...], or a list of these; gzip is read directly. Files of a pattern are
--- sorted by name.
---
--- Each file is a text; lines = true: each line. label: "folder", the name of the file's folder;
--- "file", the file's name without its extension; "tab", each line is a label, a tab and a text; or
--- a function that returns the label of a path. Without it there is no y. ds.X are the texts:
--- #ds.X, ds.X[i], ds.X:select(places). Bytes that are not valid UTF-8 are reported with the first
--- file and line; encoding = "latin1" reads ISO 8859-1.
function data.text(pattern, given)
  return options.guard("data.text", 1, texts.read, pattern, given)
end

-- The iterator of sc.data.csv_blocks. state: blocks (the engine's reader), id (true if ids are
-- read), quiet, path. At the end of the file it reports what the reader noted.
local function next_rows(state)
  local X, ids = core.next_rows(state.blocks, state.id)
  if X and state.derived then
    local rows = { X = X, names = {}, schema = state.schema }
    derive.add(rows, state.derived, state.how)
    return rows.X, ids
  end
  if X then return X, ids end
  if not state.quiet then
    schema.tell(state.path, schema.notes(core.block_notes(state.blocks)))
  end
end

-- The iterator and the state of sc.data.csv_blocks.
local function csv_blocks(path, given)
  check_one_path(path)
  if type(given) ~= "table" or given.like == nil then
    error("takes a table of options with 'like': a data set, a fitted pipeline or a schema", 0)
  end
  local o = {}
  for name, value in pairs(given) do o[name] = value end
  o.like, o.id = schema.like(o.like), nil
  if given.id ~= nil and type(given.id) ~= "string" then
    error("option 'id' takes a column's name, and got " .. options.show(given.id), 0)
  end
  for _, name in ipairs{ "target", "task", "stream" } do
    if o[name] ~= nil then
      error(("option '%s' has no meaning here: no target is read"):format(name), 0)
    end
  end
  local derived, how = take_derived(o)
  if derived and derive.takes_rows(o.like) then
    error("a computed column depends on other rows (lag), or on a column that is not a feature: \z
      read the file whole, sc.data.csv(path, { like = ... })", 0)
  end
  if how then how.rule = o.like.missing_values == "median" and "median" or "error" end
  return next_rows, { blocks = core.csv_blocks(path, o, given.id), id = given.id ~= nil,
    quiet = o.quiet, path = path, derived = derived, how = how, schema = o.like }
end

--- for X, ids in sc.data.csv_blocks(path, { like =, id =, ... }) do ... end: reads a CSV file
--- (plain or gzip), a pipe or standard input ("-") block by block, in constant memory. like: a data
--- set or a fitted pipeline, whose schema is used. Each X is a matrix of consecutive rows. id: a
--- column whose texts are returned as the list ids. The file is read once; a target column is left
--- out. Other options are those of sc.data.csv. No row is dropped: if the schema has missing_values
--- = "row", a missing number is an error. At the end, one line reports unknown and filled values
--- (quiet = true: none).
function data.csv_blocks(path, given)
  return options.guard("data.csv_blocks", 1, csv_blocks, path, given)
end

local libsvm_rules = options.declare("data.libsvm", { features = { type = "integer", low = 1 },
  base = { type = "integer", low = 0, high = 1 }, sparse = { type = "boolean" },
  stream = { type = "boolean" }, task = task, dtype = dtype, like = { type = "any" },
  unpacked = unpacked })

local MUCH = 1e9 -- bytes of rows that a line on standard error reports before they are read

-- Reports what reading the files will take, if it is much.
local function tell_size(path, o)
  for _, one in ipairs(all_paths(path)) do
    local rows, entries = core.libsvm_size(one, o)
    local bytes = rows and 16 * rows + entries * (o.dtype == "float32" and 8 or 12)
    if bytes and bytes > MUCH then
      warn(("data.libsvm: %s holds about %.3g numbers in %.3g rows: %.3g GB of memory"):format(one,
        entries, rows, bytes / 1e9))
    end
  end
end

local function read_libsvm(path, given)
  check_path(path)
  local o = options.check("data.libsvm", given, libsvm_rules, 0)
  if o.like ~= nil then
    local like = schema.like(o.like)
    o.features, o.like, o.base = like.cols, nil, o.base or like.base
  end
  local result, source
  if o.stream then
    source, result = core.stream_libsvm(path, o)
  else
    tell_size(path, o)
    result = core.read_libsvm(path, o)
  end
  if not o.task and result.task == "classification" then
    schema.tell(path, { ("a classification of %d classes, as the labels are whole numbers (task = \z
      \"regression\" takes them as values)"):format(#result.classes) })
  end
  local ds = plain("libsvm", result, source, source and all_paths(path))
  if o.base == 0 then ds.schema.base = 0 end
  return ds
end

--- sc.data.libsvm(path[, { features =, base = 1, sparse =, stream =, task =, dtype =, like =,
--- unpacked = }]): a data set from text in LIBSVM's format: label index:value ... path: a file or a
--- list of files, plain or gzip. features: the number of columns; by default the largest index.
--- base = 0: indices count from 0. sparse: whether X holds the numbers that are not 0 alone
--- (sc.matrix.csr); by default it does if less than 10 % are not 0. stream = true: the rows are
--- read from disk in each pass. like: a data set or a fitted pipeline with the wanted columns.
--- unpacked: the largest unpacked size of a gzip file in bytes.
function data.libsvm(path, given)
  return options.guard("data.libsvm", 1, read_libsvm, path, given)
end

local idx_rules = options.declare("data.idx", { scale = { type = "number" }, dtype = dtype,
  stream = { type = "boolean" }, unpacked = unpacked })

local function read_idx(images, labels, given)
  check_path(images)
  if type(labels) == "table" and #labels == 0 and given == nil then labels, given = nil, labels end
  if labels ~= nil then check_path(labels) end
  local o = options.check("data.idx", given, idx_rules, 0)
  if not o.stream then return plain("idx", core.read_idx(images, labels, o)) end
  local source, result = core.stream_idx(images, labels, o)
  return plain("idx", result, source, all_paths(images, labels))
end

--- sc.data.idx(images[, labels][, { scale =, dtype =, stream =, unpacked = }]): a data set from
--- files in the IDX format of MNIST; without labels, one without y. images, labels: a file or a
--- list of files. scale: a factor for the numbers. stream = true: the images are read from disk in
--- each pass, in file order, plain or gzip; the labels are kept in memory. unpacked: the largest
--- unpacked size of a gzip file in bytes.
function data.idx(images, labels, given)
  return options.guard("data.idx", 1, read_idx, images, labels, given)
end

-- A data set whose rows are read from disk in each pass. The targets are read once here, if the
-- task or the classes are not given.
local function stream_npy(path, o)
  local kind, classes = o.task or o.classes and "classification", o.classes
  if o.y and (not kind or kind == "classification" and not classes) then -- y is small: one column
    local _, found, read_as = targets.read(core.read_npy(o.y, o.unpacked), nil, kind)
    kind, classes = read_as, found
  end
  if kind == "classification" and not classes then
    error("a streaming classification needs option 'y' or 'classes'", 0)
  end
  kind = kind or "regression"
  classes = kind == "classification" and targets.check_classes(classes) or nil
  return dataset.from_table({ task = kind, classes = classes }, core.stream_npy(path, o.y),
    nil, all_paths(path, o.y))
end

local npy_rules = options.declare("data.npy", { y = { type = "string", takes = "a path" },
  task = task, classes = { type = "table" }, stream = { type = "boolean" },
  unpacked = unpacked })

local function read_npy(path, given)
  check_one_path(path)
  local o = options.check("data.npy", given, npy_rules, 0)
  if o.stream then return stream_npy(path, o) end
  if o.y then
    return dataset.new{ X = core.read_npy(path, o.unpacked), y = core.read_npy(o.y, o.unpacked),
      task = o.task, classes = o.classes }
  end
  if o.task or o.classes then
    error("options 'task' and 'classes' are about labels: option 'y' names their file", 0)
  end
  return core.read_npy(path, o.unpacked)
end

--- sc.data.npy(path[, { y = path, task =, classes =, stream =, unpacked = }]): a matrix from a
--- NumPy file, or with y a data set. stream = true: a data set whose rows are read from disk in
--- each pass; a classification then needs its classes. unpacked: the largest unpacked size of a
--- gzip file in bytes. X:save("f.npy") writes such a file.
function data.npy(path, given) return options.guard("data.npy", 1, read_npy, path, given) end

local matrix_market_rules = options.declare("data.matrix_market", {
  y = { type = "string", takes = "the path of a Matrix Market or .npy file" }, task = task,
  classes = { type = "table" }, sparse = { type = "boolean" }, dtype = dtype,
  unpacked = unpacked })

local function read_matrix_market(path, given)
  check_one_path(path)
  local o = options.check("data.matrix_market", given, matrix_market_rules, 0)
  local about = { sparse = o.sparse, dtype = o.dtype, unpacked = o.unpacked }
  local X = core.read_matrix_market(path, about)
  if not o.y and (o.task or o.classes) then
    error("options 'task' and 'classes' are about labels: option 'y' names their file", 0)
  end
  if not o.y then return X end
  local y = o.y:find("%.npy$") and core.read_npy(o.y)
    or core.read_matrix_market(o.y, { sparse = false, unpacked = o.unpacked })
  return dataset.new{ X = X, y = y, task = o.task, classes = o.classes }
end

--- sc.data.matrix_market(path[, { y = path, task =, classes =, sparse =, dtype =, unpacked = }]): a
--- matrix from a Matrix Market file (.mtx), plain or gzip: coordinate or array; real, integer or
--- pattern, whose numbers are 1; general, symmetric or skew-symmetric. With y, such a file or a
--- .npy file of labels or values, a data set. sparse: whether the matrix holds the numbers that are
--- not 0 alone (sc.matrix.csr); by default it does if less than 10 % are not 0. unpacked: the
--- largest unpacked size of a gzip file in bytes.
function data.matrix_market(path, given)
  return options.guard("data.matrix_market", 1, read_matrix_market, path, given)
end

local npz_rules = options.declare("data.npz", { X = { type = "string", takes = "an array's name" },
  y = { type = "string", takes = "an array's name, or the path of a .npy file" }, task = task,
  classes = { type = "table" }, dtype = dtype })

-- The array of that name.
local function npz_array(path, names, name)
  for _, known in ipairs(names) do
    if known == name then return core.read_npz(path, name) end
  end
  local near = options.nearest(name, names)
  error(("%s has no array '%s'%s; it has %s"):format(path, name,
    near and (" (did you mean '%s'?)"):format(near) or "", table.concat(names, ", ")), 0)
end

-- The labels or values that option y names, or those of the array y; nil if there are none.
local function npz_targets(path, names, wanted)
  if wanted and wanted:find("%.npy$") then return core.read_npy(wanted) end
  if wanted then return npz_array(path, names, wanted) end
  for _, name in ipairs(names) do
    if name == "y" then return core.read_npz(path, name) end
  end
end

local function read_npz(path, given)
  check_one_path(path)
  local o = options.check("data.npz", given, npz_rules, 0)
  local names, sparse = core.npz_names(path)
  local whole = { X = o.X }
  for _, name in ipairs(names) do whole[name] = true end
  if not o.X and not sparse and not whole.X then
    if next(o) then
      error(("option 'X' names the array of rows; %s has %s"):format(path,
        table.concat(names, ", ")), 0)
    end
    for _, name in ipairs(names) do whole[name] = core.read_npz(path, name) end
    return whole
  end
  local X = not o.X and sparse and core.read_npz(path) or npz_array(path, names, o.X or "X")
  if not core.is_rows(X) then
    error(("%s: array '%s' holds texts, and X numbers"):format(path, o.X or "X"), 0)
  end
  if o.dtype and X:dtype() ~= o.dtype then X = X:astype(o.dtype) end
  local y = npz_targets(path, names, o.y)
  if not y and (o.task or o.classes) then
    error("options 'task' and 'classes' are about labels: option 'y' names their array", 0)
  end
  return y and dataset.new{ X = X, y = y, task = o.task, classes = o.classes } or X
end

--- sc.data.npz(path[, { X =, y =, task =, classes =, dtype = }]): what a file of NumPy's arrays
--- holds. X: the name of the array of rows; by default the sparse matrix that scipy.sparse.save_npz
--- wrote (csr, csc or coo), or the array called X. y: the name of the array of labels or values,
--- numbers or texts, or the path of a .npy file; by default the array called y. With y a data set,
--- else the matrix; without an X a table of all arrays by name. X:save("f.npz") and
--- ds:save("f.npz") write such files.
function data.npz(path, given) return options.guard("data.npz", 1, read_npz, path, given) end

local row_rules = options.declare("data.rows", {
  n = { type = "integer", low = 1, required = true },
    d = { type = "integer", low = 1, required = true },
  targets = { type = "integer", low = 1, default = 1 },
    read = { type = "function", required = true }, task = task, classes = { type = "table" },
})

local LOOK = 2048 -- rows by whose targets the task is guessed if it is not given

-- The task and the classes of generated rows, from the targets of the first ones. A later row with
-- another label is an error of the pass that meets it.
local function guess_rows(o)
  if o.task or o.classes or o.targets ~= 1 then
    return o.task or o.classes and "classification" or "regression", o.classes
  end
  local read, _, y = options.attempt(o.read, 1, math.min(o.n, LOOK))
  if not read then return "regression" end -- the first pass says what is wrong
  if type(y) == "table" and not getmetatable(y) then y = core.matrix(y) end
  if not core.is_matrix(y) then return "regression" end -- the first pass says what is wrong
  local finite = y:isfinite()
  local kind, guess = targets.guess(y)
  if not finite then return "regression" end
  if guess then warn("data.rows: " .. guess) end
  return kind, kind == "classification" and select(2, targets.read(y, nil, kind)) or nil
end

local function generated_rows(given)
  local o = options.check("data.rows", given, row_rules, 0)
  local kind, classes = guess_rows(o)
  o.classes = classes
  if kind == "regression" then
    if o.classes then error("a regression takes no classes", 0) end
    return dataset.from_table({ task = kind }, core.generator(o.n, o.d, o.targets, o.read))
  end
  if not o.classes then error("a classification needs option 'classes'", 0) end
  if o.targets ~= 1 then
    error(("a classification has one column of labels, and option 'targets' got %d"):format(
      o.targets), 0)
  end
  return dataset.from_table({ task = kind, classes = targets.check_classes(o.classes) },
    core.generator(o.n, o.d, 1, o.read))
end

--- sc.data.rows{ n =, d =, targets = 1, read = function(first, count) return X, y end, task =,
--- classes = }: a data set of n rows that a function makes, block by block. read returns rows first
--- .. first+count-1: X is count x d, y is count x targets (labels: count x 1). It must return the
--- same rows each time it is called with the same first. Without task and classes, targets of two
--- values among the first 2048 rows are the labels of a classification; a line reports it.
function data.rows(given) return options.guard("data.rows", 1, generated_rows, given) end

-- ---------------------------------------------------------------- named sets

local shipped = debug.getinfo(1, "S").source:match("^@(.*/)init%.lua$") or "./"

--- sc.data.cache(): the folder of downloaded data sets: $XDG_CACHE_HOME/scullery or
--- ~/.cache/scullery.
function data.cache()
  local base = os.getenv("XDG_CACHE_HOME")
  if not base or base:sub(1, 1) ~= "/" then base = (os.getenv("HOME") or ".") .. "/.cache" end
  return base .. "/scullery/"
end

-- The folders that are searched, in this order, each with its name for the user.
local function folders()
  local list, own = {}, os.getenv("SCULLERY_DATA")
  if own and own ~= "" then list[1] = { own .. "/", "SCULLERY_DATA" } end
  list[#list + 1] = { data.cache(), "cache" }
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
function data.path(name) return locate(options.guard("data.path", 2, entry_of, name)) end

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
    return read_csv(paths, { target = entry.target, task = entry.task, dtype = o.dtype,
      stream = o.stream, columns = entry.names }, true)
  end
  if o.stream then error("option 'stream' is for sets in one .csv file", 0) end
  if entry.format == "libsvm" then
    return plain("libsvm", core.read_libsvm(paths, { task = entry.task, dtype = o.dtype }))
  end
  local half = #paths // 2
  return plain("idx", core.read_idx({ table.unpack(paths, 1, half) },
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

local load_rules = options.declare("data.load", { dtype = dtype, stream = { type = "boolean" } })

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
function data.load(name, part, given)
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
function data.list()
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
  local fresh = fetch.file(file, entry, data.cache(), warn)
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
function data.get(name) return options.guard("data.get", 1, get_set, name) end

data.rotate = require("scullery.data.images").rotate

return data
