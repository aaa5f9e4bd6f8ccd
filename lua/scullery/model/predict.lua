--- Predictions of a saved model for the rows of a file: read once in constant memory, by the
--- model's schema, and written block by block. The command `scullery predict`.
local conformal = require "scullery.model.conformal"
local core = require "scullery.core"
local multilabel = require "scullery.model.multilabel"
local data = require "scullery.data"
local derive = require "scullery.data.derive"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local pipeline = require "scullery.model.pipeline"
local posterior = require "scullery.model.posterior"
local progress = require "scullery.base.progress"
local probabilities = require "scullery.model.probabilities"
local saving = require "scullery.model.saving"
local sums = require "scullery.model.sums"
local tables = require "scullery.data.read"
local texts = require "scullery.data.texts"
local threshold = require "scullery.model.threshold"

local predict = {}

-- ------------ the model

--- predict.model(path): the fitted pipeline in that file.
function predict.model(path)
  local p = saving.load(path)
  if not pipeline.is(p) then
    fail("%s: it does not contain a pipeline%s", path, sums.is(p)
      and " but sums over rows: scullery merge solves them" or "")
  end
  if not p.fitted then fail("%s: the pipeline was saved before it was fitted", path) end
  if not p.fitted.solver then fail("%s: the pipeline has no solver: it predicts nothing", path) end
  return p
end

-- The schema for a CSV file with data for the model f: the schema of the training file; without
-- one, columns by name; without names, columns by position.
local function csv_schema(f)
  if f.schema and f.schema.format == "csv" then return f.schema end
  local named = f.names ~= nil and (f.schema == nil or f.schema.format == "matrix")
  local columns = {}
  for j = 1, f.dim do
    columns[j] = { name = named and f.names[j] or ("column %d"):format(j), kind = "number" }
  end
  return { format = "csv", header = false, by_place = not named, columns = columns, cols = f.dim,
    missing = core.csv_missing(), missing_values = "error" }
end

-- ------------ the rows

local formats = { csv = "csv", tsv = "csv", npy = "npy", libsvm = "libsvm", svm = "libsvm" }

--- predict.format(path, f): "csv", "npy" or "libsvm" by the extension of the file name; for other
--- extensions the format of the training data of the model f. Of a model of texts: "csv" if it
--- learnt from columns of text and the file is one of CSV, else "lines".
function predict.format(path, f)
  local ending = path:lower():gsub("%.gz$", ""):match("%.([^./]+)$")
  if f.encoder then return formats[ending] == "csv" and f.schema.text and "csv" or "lines" end
  if formats[ending] then return formats[ending] end
  return f.schema and f.schema.format == "libsvm" and "libsvm" or "csv"
end

-- Those of a file's columns that the model f learnt from, or that are in the list `more`; nil where
-- the model knows no names.
local function needed(names, f, more)
  local like, wanted, list = csv_schema(f), {}, {}
  if like.by_place then return nil end
  for _, column in ipairs(like.columns) do wanted[column.name] = true end
  for _, name in pairs(more) do wanted[name] = true end
  for _, name in ipairs(names) do
    if wanted[name] then list[#list + 1] = name end
  end
  return #list > 0 and list or nil
end

--- predict.open(path, f, format, more): the path and the format by which the rows of a file are
--- read for the model f, and a handle while which lives they are. A file that a plugin reads is
--- text under a path of its own, with the columns that the model or the table `more` names. format:
--- what the user said, or nil.
function predict.open(path, f, format, more)
  if format or path == "-" or f.encoder then return path, format or predict.format(path, f) end
  local names = core.file_about(path) and tables.columns(path)
  if not names then return path, predict.format(path, f) end
  local announced, file = tables.open(path, needed(names, f, more))
  return announced, "csv", file
end

-- A reader of a .npy file that raises an error for a number that is NaN or infinite, with its row
-- in the file. Readers of other formats check it themselves.
local function finite_rows(path, blocks)
  local done = 0
  return function()
    local X = core.next_rows(blocks)
    if not X then return nil end
    local row, column = core.find_nonfinite(X)
    if row then
      fail("%s: row %d, column %d is %s", path, done + row, column, X:get(row, column))
    end
    done = done + X:rows()
    return X
  end
end

-- The rows of a CSV file whose computed columns depend on other rows (lag): the file is read
-- whole, and returned as one block. Where the model learnt without rows that lack a number, such
-- as the first ones of a lag, these are filled in by medians, which a line says: each row gets
-- its value. With `id` it is read a second time for the texts of that column.
local function whole_rows(path, f, id)
  if path == "-" then
    fail("a computed column of the model depends on other rows (lag), so that the file is read \z
      more than once, and the standard input can be read only once")
  end
  local target, ids = derive.takes_target(f.schema) and f.schema.target.name or false, nil
  local rule = f.schema.missing_values
  local read, found = options.attempt(data.csv, path, { like = f.schema, quiet = rule ~= "row",
    missing_values = rule == "row" and "median" or rule, target = target })
  if not read then
    local said = options.plain(found)
    if target and said:find("option 'target'", 1, true) then
      fail("%s has no column '%s': a computed column of the model is a lag of this target", path,
        target)
    end
    fail("%s", said)
  end
  local X = found.X
  if id then
    local blocks = core.csv_blocks(path, { like = f.schema, missing_values = "median" }, id)
    ids = {}
    for _, more in core.next_rows, blocks, true do table.move(more, 1, #more, #ids + 1, ids) end
  end
  return function()
    local rows = X
    X = nil
    return rows, ids
  end
end

local TEXTS = 4096 -- that are made rows at a time

-- The texts of a file, lines or columns of CSV, as sparse rows for the model f. The texts are read
-- whole, and a CSV file once for each column and id.
local function text_rows(path, f, format, id)
  local list, ids
  if format == "csv" then
    if not f.schema.text then
      fail("the model did not learn from a column of CSV: the data are a text in each line")
    end
    list, ids = texts.columns(path, f.schema, id)
  elseif format == "lines" then
    if id then fail("--id names a column of a CSV file, and %s is read as lines", path) end
    list = core.read_texts(path, true)
  else
    fail("the model takes texts: lines or CSV, and %s is read as %s", path, format)
  end
  local first = 1
  return function()
    if first > #list then return nil end
    local last = math.min(first + TEXTS - 1, #list)
    local X = core.text_encode(f.encoder, list:slice(first, last))
    local of_X = ids and table.move(ids, first, last, 1, {})
    first = last + 1
    return X, of_X
  end
end

--- predict.rows(path, f, format, id): a function that returns the next block of rows for the model
--- f, a matrix, and the texts of the column id; nil at the end.
function predict.rows(path, f, format, id)
  if f.encoder then return text_rows(path, f, format, id) end
  if format == "lines" then fail("the model takes rows of numbers, not lines of text") end
  local derived = f.schema and f.schema.derived
  if derived and format ~= "csv" then
    fail("columns of the model are computed from those of a CSV file, and %s is read as %s", path,
      format)
  end
  if derived and derive.takes_rows(f.schema) then return whole_rows(path, f, id) end
  if format == "csv" then
    local next_rows, state = data.csv_blocks(path, { like = csv_schema(f), id = id })
    return function() return next_rows(state) end
  end
  if id then fail("--id names a column of a CSV file, and %s is read as %s", path, format) end
  if format == "npy" then return finite_rows(path, core.npy_blocks(path, f.dim)) end
  local blocks = core.libsvm_blocks(path, f.dim, f.schema and f.schema.base)
  return function() return core.next_rows(blocks) end
end

-- Limits of the rows that are predicted at a time: bytes of their numbers, and rows.
local BLOCK_BYTES, MOST_ROWS = 1 << 22, 1 << 16

-- The same rows in blocks of `size` rows; the last may be smaller.
local function in_blocks_of(size, next_rows)
  local parts, rows, ids, ended = {}, 0, nil, false
  return function()
    while rows < size and not ended do
      local X, more = next_rows()
      ended = X == nil
      if X then
        parts[#parts + 1], rows = X, rows + X:rows()
        if more then ids = table.move(more, 1, #more, ids and #ids + 1 or 1, ids or {}) end
      end
    end
    if rows == 0 then return nil end
    local X, rest = #parts == 1 and parts[1] or core.vcat(table.unpack(parts)), nil
    if X:rows() > size then X, rest = X:slice(1, size), X:slice(size + 1, X:rows()) end
    local of_X = ids
    if rest and ids then ids = table.move(ids, X:rows() + 1, #ids, 1, {}) else ids = nil end
    parts, rows = { rest }, rows - X:rows()
    return X, of_X
  end
end

-- ------------ what is written

-- The labels of classes as texts; whole numbers without a decimal point.
local function texts_of(classes)
  local list = {}
  for k, label in ipairs(classes) do
    local whole = type(label) == "number" and math.tointeger(label)
    list[k] = whole and ("%d"):format(whole) or tostring(label)
  end
  return list
end

-- The names of columns of a regression, one for each target.
local function value_names(f, name)
  if f.targets == 1 then return { name } end
  local names = {}
  for j = 1, f.targets do names[j] = ("%s_%d"):format(name, j) end
  return names
end

-- The names of what a regression's predictions are followed by.
local function names_behind(wanted)
  local names = wanted.std and { "std" } or {}
  if wanted.level then table.move({ "low", "high" }, 1, 2, #names + 1, names) end
  return names
end

-- Each kind of output of Model:predict: the names of its columns and the labels.
local formats_of = {}

function formats_of.labels(f, wanted)
  if f.task == "multilabel" then return { names = texts_of(f.classes) } end
  local named = f.classes and type(f.classes[1]) == "string"
  local names = f.classes and { "prediction" } or value_names(f, "prediction")
  for _, name in ipairs(names_behind(wanted)) do
    local more = value_names(f, name)
    table.move(more, 1, #more, #names + 1, names)
  end
  return { names = names, labels = named and f.classes or nil }
end

-- A column for each class, 1 where it is in the label set of the row.
function formats_of.sets(f) return { names = texts_of(f.classes) } end

-- With two classes, one column of scores is enough.
function formats_of.scores(f)
  local names = f.classes and texts_of(f.classes) or value_names(f, "prediction")
  if f.classes and f.targets == 1 then names = { names[2] } end
  return { names = names }
end

function formats_of.probabilities(f)
  if f.task == "multilabel" then return { names = texts_of(f.classes) } end
  probabilities.check(f)
  if not probabilities.known(f) then
    fail("the model has no probabilities: its loss defines none, and it was saved without \z
      p:calibrate{...}")
  end
  return { names = texts_of(f.classes) }
end

-- Whether the output is a .npy file; false for standard output. Raises an error for another ending
-- than .csv and .npy.
local function is_npy(path, id)
  if path == nil then return false end
  local ending = path:lower():match("%.([^./]+)$")
  if ending ~= "csv" and ending ~= "npy" then
    fail("-o takes a name that ends in .csv or .npy, and got %s", options.show(path))
  end
  if ending == "npy" and id then
    fail("--id needs a CSV file: a .npy file holds only the predictions")
  end
  return ending == "npy"
end

-- How a file is written, from what is wanted (see predict.write).
local function format_for(f, wanted)
  local format = formats_of[wanted.kind](f, wanted)
  format.npy, format.id = is_npy(wanted.out, wanted.id), wanted.id
  format.no_header, format.append, format.digits = wanted.no_header, wanted.append, wanted.digits
  local digits = wanted.digits
  if digits and (math.tointeger(digits) == nil or digits < 1 or digits > 17) then
    fail("--digits takes a whole number from 1 to 17, and got %s", options.show(digits))
  end
  format.digits = digits and math.tointeger(digits)
  for _, name in ipairs{ "no_header", "append", "digits" } do
    if format.npy and format[name] then
      fail("--%s is for CSV, and a .npy file is written", (name:gsub("_", "-")))
    end
  end
  if wanted.append and not wanted.out then
    fail("--append needs the name of a file, -o FILE.csv")
  end
  return format
end

-- The label sets of a block of rows, n x classes: 1 where the set has the class.
local function label_sets(p, X, level)
  local place, made = {}, core.zeros(X:rows(), #p.fitted.classes)
  for k, class in ipairs(p.fitted.classes) do place[class] = k end
  for i, set in ipairs(conformal.label_sets(p, X, { level = level })) do
    for _, class in ipairs(set) do made:set(i, place[class], 1) end
  end
  return made
end

-- Predictions of a block of rows: see Model:predict.
local function predicted(f, X, wanted)
  local p = { fitted = f }
  if wanted.kind == "sets" then return label_sets(p, X, wanted.level) end
  if wanted.std or wanted.level then
    local parts = { f:predict(core.source(X), wanted.kind) }
    if wanted.std then parts[2] = posterior.deviations(p, X, { std = true }, "predict") end
    if wanted.level then
      table.move({ conformal.interval(p, X, { level = wanted.level }) }, 1, 2, #parts + 1, parts)
    end
    return core.hcat(table.unpack(parts))
  end
  if f.task == "multilabel" and wanted.kind == "probabilities" then
    return multilabel.probabilities(f, f:scores(core.source(X)))
  end
  if not wanted.threshold then return f:predict(core.source(X), wanted.kind) end
  return threshold.apply(f, f:predict(core.source(X), "scores"), wanted.threshold)
end

--- predict.write(f, next_rows, wanted): writes the predictions of the model f for the rows of
--- next_rows() -> X, ids. wanted: kind = "labels", "scores", "probabilities", or "sets" (of labels,
--- at `level`); threshold = the decision threshold (see threshold.lua), or nil; std = true, and
--- level = that of an interval: also deviations and bounds, of a regression; out = path, or nil for
--- standard output; id = name of the column of ids; no_header, append, digits = of CSV (see
--- scl_row_format); before_end = a function that is called before the file appears. Returns the
--- number of rows.
function predict.write(f, next_rows, wanted)
  local format = format_for(f, wanted)
  -- whole blocks of the engine: each row has the same bits as if all rows were in memory
  local block = f.block or core.block_rows(core.source(core.zeros(1, f.dim)), f.stages, f.map,
    f.learnt and f.dtype or nil)
  next_rows = in_blocks_of(block * math.max(1,
    math.min(BLOCK_BYTES // (8 * f.dim), MOST_ROWS) // block), next_rows)
  local level <close> = progress.level{ name = "predict", unit = "rows" }
  local X, ids = next_rows() -- errors of the file come before any output
  local file <close>, count = core.row_file(wanted.out, format), 0
  while X do
    core.write_rows(file, predicted(f, X, wanted), ids)
    count = count + X:rows()
    level:step(count)
    collectgarbage() -- the collector counts objects, not the size of matrices
    X, ids = next_rows()
  end
  if wanted.before_end then wanted.before_end() end
  core.commit_rows(file)
  return count
end

-- ------------ the score

--- predict.rows_with_targets(path, f, format[, whole[, said]]): the rows of a CSV or LIBSVM file
--- with their targets. whole: true for rows in memory; otherwise CSV streams. said: true if what
--- the reader leaves out or fills in is printed.
function predict.rows_with_targets(path, f, format, whole, said)
  if format == "libsvm" then
    return data.libsvm(path, { features = f.dim, task = f.task,
      base = f.schema and f.schema.base })
  end
  local like = f.encoder and f.schema or csv_schema(f)
  if f.encoder and format ~= "csv" then
    fail("--score: the labels are a column of a CSV file, and this one has lines")
  end
  if like.targets then return data.csv(path, { like = like, quiet = not said }) end
  if not like.target then fail("the model's data have no column of targets by name") end
  if f.encoder then
    return data.csv(path, { like = like, target = like.target.name, quiet = not said })
  end
  return data.csv(path, { like = like, target = like.target.name, quiet = not said,
    task = whole and f.task or nil, -- a part may have too few labels to show it
    stream = not whole })
end

-- The metric that --metric names, "auc" or "pinball{tau = 0.9}", as the option metric of p:score.
local function metric_of(text)
  local name, rest = text:match "^%s*([%w_]+)%s*(.-)%s*$"
  if rest == "" then return name end
  local made = rest and rest:find "^%b{}$" and load("return " .. rest, "=--metric", "t", {})
  local ok, metric = pcall(made or error)
  if not ok then
    fail("--metric takes a name, or a name with options in braces, and got '%s'", text)
  end
  table.insert(metric, 1, name)
  return metric
end

local names_of_scores = { classification = "accuracy", regression = "R2",
  multilabel = "subset accuracy" }

-- The line of --score: the accuracy, R2 or the metric, and where there is one its standard error.
local function score_line(p, path, metric, format)
  local f = p.fitted
  local name = names_of_scores[f.task]
  local ds = predict.rows_with_targets(path, f, format, metric ~= nil)
  if not metric then return ("%s %.6g"):format(name, p:score(ds)) end
  local value, stderr = p:score(ds, { metric = metric_of(metric) })
  return ("%s %.6g"):format(metric, value) .. (stderr and (" +- %.2g"):format(stderr) or "")
end

-- Raises an error if --score cannot be computed for this file and model.
local function check_score(p, path, format, metric)
  if path == "-" then
    fail("--score reads the file twice, and the standard input can be read only once")
  end
  if format == "npy" then fail("--score: a .npy file holds no targets") end
  if not metric and p.fitted.targets > 1 and p.fitted.task == "regression" then
    fail("--score: R2 is for one target, and the model has %d", p.fitted.targets)
  end
end

-- ------------ the command

-- Raises an error if --threshold cannot be applied.
local function check_threshold(f, given)
  if given.threshold == nil then return end
  if given.proba or given.scores then
    fail("--threshold is for labels, and goes with neither --proba nor --scores")
  end
  if given.score then fail("--score judges labels without --threshold: give one of the two") end
  threshold.check(f, given.threshold)
end

-- Raises an error unless the model keeps, or the file --calibration gives, what the level of
-- --interval or --label-sets needs.
local function check_level(p, option, level, calibration)
  if not (level > 0 and level < 1) then
    fail("%s takes a probability between 0 and 1, and got %s", option, level)
  end
  if calibration then
    local target = p.fitted.schema and p.fitted.schema.target
    local path, format, _ <close> = predict.open(calibration, p.fitted, nil,
      { target and target.name })
    conformal.calibrate(p, predict.rows_with_targets(path, p.fitted, format, true, true),
      "--calibration")
  elseif not p.fitted.interval then
    fail("%s: the model keeps nothing for it: fit it with p:fit(ds, { interval = \"folds\" }), or \z
      give rows that it did not learn from, --calibration FILE", option)
  end
end

-- Raises an error if --std, --interval or --label-sets cannot be computed.
local function check_sure(p, given)
  local asked = {}
  for _, name in ipairs{ "std", "interval", "label_sets" } do
    if given[name] then asked[#asked + 1] = "--" .. name:gsub("_", "-") end
  end
  local option = asked[1]
  if given.calibration and not (given.interval or given.label_sets) then
    fail("--calibration goes with --interval or --label-sets")
  end
  if not option then return end
  if asked[2] and given.label_sets then
    fail("--label-sets is for classifications, and %s for regressions: give one of them", option)
  end
  for _, other in ipairs{ "proba", "scores", "threshold" } do
    if given[other] then fail("%s is for predictions, and does not go with --%s", option, other) end
  end
  if given.label_sets and p.fitted.task ~= "classification" then
    fail("--label-sets is for classifications, and this model predicts %s",
      p.fitted.task == "multilabel" and "any number of labels" or "values: --interval")
  elseif not given.label_sets and p.fitted.task ~= "regression" then
    fail("%s is for regressions, and this model predicts labels%s", option,
      given.interval and ": --label-sets" or "")
  end
  if given.std then posterior.of(p, "--std") end
  local level = given.interval or given.label_sets
  if level then check_level(p, asked[#asked], level, given.calibration) end
end

local function run(given)
  local p = predict.model(given.model)
  check_threshold(p.fitted, given)
  check_sure(p, given)
  local target = p.fitted.schema and p.fitted.schema.target
  local path, format, _ <close> = predict.open(given.data, p.fitted, given.format,
    { id = given.id, target = target and target.name })
  local line -- the score, printed after the predictions are complete
  if given.score then
    check_score(p, path, format, given.metric)
  elseif given.metric then
    fail("--metric names what --score prints: give both")
  end
  local out = given.output ~= "-" and given.output or nil
  predict.write(p.fitted, predict.rows(path, p.fitted, format, given.id), { out = out,
    id = given.id, threshold = given.threshold, std = given.std,
    level = given.interval or given.label_sets,
    digits = given.digits, no_header = given.no_header, append = given.append,
    kind = given.proba and "probabilities" or given.scores and "scores"
      or given.label_sets and "sets" or "labels",
    before_end = given.score and function()
      line = score_line(p, path, given.metric, format)
    end })
  if line then (out and io.stdout or io.stderr):write(line, "\n") end
end

--- predict.run{ model = path, data = path, output =, proba =, scores =, threshold =, id =,
--- digits =, no_header =, append =, format =, score =, metric = }: the command; see scullery
--- predict --help.
function predict.run(given)
  local ok, message = pcall(run, given)
  if ok then return end
  -- without names of Lua functions and options, which a shell user does not know
  message = options.plain(message):gsub("^data%.[%w_]+: ", ""):gsub("^load: ", "")
  message = message:gsub("^%-: ", "standard input: "):gsub("^option 'id' names", "--id names")
  message = message:gsub("^option 'threshold'", "--threshold")
  error(message, 0)
end

return predict
