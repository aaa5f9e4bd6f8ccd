--- Data sets from comma-separated text: sc.data.csv and sc.data.csv_blocks.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local derive = require "scullery.data.derive"
local files = require "scullery.data.files"
local options = require "scullery.base.options"
local schema = require "scullery.data.schema"
local several_targets = require "scullery.data.several_targets"
local targets = require "scullery.data.targets"
local texts = require "scullery.data.texts"

local csv = {}

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

--- csv.read(path, given, brief, file): sc.data.csv, also for sets of the catalogue. brief: do not
--- report guessed settings; the catalogue specifies them. file: the file of a reader's rows,
--- whose name `path` then is.
function csv.read(path, given, brief, file)
  files.check_paths(path)
  if given ~= nil and type(given) ~= "table" then
    error("takes a table of named options, and got " .. options.show(given), 0)
  end
  if texts.wants(given) then return texts.csv(path, given) end
  local o = {}
  for name, value in pairs(given or {}) do o[name] = value end
  if o.like ~= nil then o.like = schema.like(o.like) end
  local several, stream = several_targets.wanted(o), o.stream
  o.stream = nil
  if stream ~= nil and type(stream) ~= "boolean" then
    error("option 'stream' got " .. options.show(stream) .. "; it takes true or false", 0)
  end
  local source, result, wide
  local derived, how = take_derived(o)
  local wider = roles_are_wider(o)
  if several then
    result = several_targets.read(path, o, several)
  elseif stream then
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
    stream and files.all_paths(file or path) or nil)
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
--- target = { "news", "sport" }: several columns of numbers: labels of which a row has any number,
--- where all are 0 and 1 (task = "multilabel", by default), or the values of a regression with
--- several targets (task = "regression").
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
function csv.whole(path, given) return options.guard("data.csv", 1, csv.read, path, given) end

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
  files.check_path(path)
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
function csv.blocks(path, given)
  return options.guard("data.csv_blocks", 1, csv_blocks, path, given)
end

return csv
