--- The class of data sets: rows, targets, weights and schema; parts and splits.
---
--- Fields: X (n x d, perhaps sparse, or n texts; nil for a stream, which has `source`, the engine's
--- row source), y (n x targets; labels as numbers, or as positions in classes if these are texts),
--- names, classes, task, target (the name), weights, groups and time (n x 1 each), schema
--- (schema.lua), part_rows and part_first (official parts). places: the columns that a model takes,
--- codes and strangers: how its classes are coded (matching.lua). form: how targets were changed
--- (model/target_form.lua). files: the paths of a stream.
local core = require "scullery.core"
local describing = require "scullery.data.describing"
local discretize = require "scullery.data.discretize"
local fingerprint = require "scullery.data.fingerprint"
local folds = require "scullery.data.folds"
local fail = require "scullery.base.fail"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local relabel = require "scullery.data.relabel"
local schema = require "scullery.data.schema"
local targets = require "scullery.data.targets"
local writing = require "scullery.data.writing"

local function is_list(value) return type(value) == "table" end
local function is_rows(value) return core.is_rows(value) or core.is_texts(value) end
local holds = { X = is_rows, y = core.is_matrix, weights = core.is_matrix, names = is_list,
  classes = is_list, groups = core.is_matrix, time = core.is_matrix }

-- Raises an error if a script set a field to a value of the wrong type.
local function check_fields(self)
  for name, test in pairs(holds) do
    local value = rawget(self, name)
    if value ~= nil and not test(value) then
      fail("ds.%s is %s; it takes a %s", name, options.show(value),
        test == is_list and "list" or "matrix")
    end
  end
end

local Dataset = objects.class("dataset", { example = "ds", check = check_fields,
  fields = "X y names classes task target weights groups time source part_rows part_first schema \z
    places codes strangers form files encoder", hidden = "form files encoder",
  called = { columns = "ds.names", features = "ds.X", feature_names = "ds.names",
    shape = "ds:size()" } })

local dataset = { class = Dataset, check_fields = check_fields }

local labels_of = targets.known
dataset.labels_of = labels_of

-- data set -> lines of describe() about how the file was read
local said_of = setmetatable({}, { __mode = "k" })

-- data set that is a whole file -> notes of its reader (see schema.notes)
local notes_of = setmetatable({}, { __mode = "k" })

-- data set -> the call that made it, for scripts that repeat it
local origin_of = setmetatable({}, { __mode = "k" })

local fields_of_origin = { "X", "y", "weights" }

--- dataset.set_origin(ds, origin): records the call that made a data set. origin: { call = "load"
--- or "csv" of sc.data, arguments, split = the options of ds:split if it is the first part }.
function dataset.set_origin(ds, origin)
  for _, name in ipairs(fields_of_origin) do origin[name] = rawget(ds, name) end
  origin_of[ds] = origin
  return ds
end

--- dataset.origin(ds): that record; nil if it is unknown or if a field has been set since.
function dataset.origin(ds)
  local origin = origin_of[ds]
  for _, name in ipairs(origin and fields_of_origin or {}) do
    if rawget(ds, name) ~= origin[name] then return nil end
  end
  return origin
end

-- Records the meaning of y, so that fit(ds.X, ds.y) knows it; returns the data set.
local function remember(self)
  if self.y then labels_of[self.y] = { task = self.task, classes = self.classes } end
  return self
end

local rules = options.declare("dataset", {
  X = { test = function(v)
    return is_rows(v) or options.is_list(v)
  end, takes = "a matrix, or a list of rows or of texts", required = true },
  y = { type = "any" }, classes = { type = "table" }, names = { type = "table" },
  task = { choices = { "classification", "regression", "multilabel" } }, weights = { type = "any" },
  groups = { type = "any" }, time = { type = "any" },
})

-- A copy of the list; raises an error unless it has `cols` different texts.
local function check_names(names, cols)
  if #names ~= cols then fail("%d names for %d columns", #names, cols) end
  local copy, seen = {}, {}
  for j, name in ipairs(names) do
    if type(name) ~= "string" then
      fail("option 'names' holds %s in place %d; it takes texts", options.show(name), j)
    end
    if seen[name] then
      fail("option 'names' has %s in places %d and %d", options.show(name), seen[name], j)
    end
    copy[j], seen[name] = name, j
  end
  return copy
end

-- sc.dataset without its title in errors.
local function make(given)
  local o = options.check("dataset", given, rules, 0)
  local X = o.X
  if not is_rows(X) then X = type(X[1]) == "string" and core.texts(X) or core.matrix(X) end
  local self = { X = X, names = o.names and check_names(o.names, X:cols()), task = o.task }
  if o.y ~= nil then
    if X:cols() == 1 and core.is_matrix(o.y) and o.y:cols() > 1 and not o.task then
      fail("X has 1 column and y has %d: the rows X come first, then the targets y; task = \z
        \"regression\" takes them as given", o.y:cols())
    end
    local known = labels_of[o.y] or {}
    if (o.task or known.task) == "multilabel" or not o.task and targets.are_label_lists(o.y) then
      self.task = "multilabel"
      self.y, self.classes = targets.read_multilabel(o.y, o.classes or known.classes)
    else
      self.y, self.classes, self.task = targets.read(o.y, o.classes, o.task)
    end
    if self.y:rows() ~= X:rows() then
      fail("X and y have %d and %d rows", X:rows(), self.y:rows())
    end
  end
  self.task = self.task or "regression"
  self.schema = schema.plain(core.is_texts(X) and "text" or "matrix", X:cols(), self.names)
  if o.weights ~= nil then self.weights = targets.weights(o.weights, X:rows()) end
  if o.groups ~= nil then self.groups = folds.groups_of(o.groups, X:rows()) end
  if o.time ~= nil then self.time = folds.times_of(o.time, X:rows()) end
  return remember(setmetatable(self, Dataset))
end

--- sc.dataset{ X =, y =, classes =, task =, names =, weights =, groups =, time = }: a data set from
--- numbers in memory.
--- X: n x d matrix, which may be sparse (sc.matrix.csr), a list of rows, or a list of texts (or
--- sc.texts), for a pipeline that begins with sc.text{}. y: the labels or
--- values, a list or an n x c matrix. task: "classification" or "regression"; by default a
--- classification if the labels are texts, if they take two values, or if classes are given; a line
--- on standard error reports a guess. "multilabel": a row has any number of labels: y is a list of
--- lists of texts, { { "news", "sport" }, {}, ... }, or an n x c matrix of 0 and 1. classes: the
--- list of all labels; by default those that occur,
--- sorted. With two classes, solvers code the second as +1. names: the column names. weights: n
--- numbers, the weight of each row in learning. groups: n texts or numbers; splits and folds keep
--- rows of one group on one side. time: n numbers, for folds = "time".
function dataset.new(given) return options.guard("dataset", 1, make, given) end

--- dataset.from_table(t, source, said, files): a data set from the result of a reader or a stream.
--- said: a list of lines about how the file was read. files: the paths of the stream's files.
function dataset.from_table(t, source, said, files)
  fingerprint.agree(t, files)
  local self = setmetatable({ X = t.X, y = t.y, names = t.names, classes = t.classes, task = t.task,
    target = t.target, part_rows = t.parts, weights = t.weights, groups = t.groups, time = t.time,
    source = source, schema = t.schema, files = files }, Dataset)
  said_of[self], notes_of[self] = said, t.notes
  for k, label in ipairs(self.classes or {}) do
    if type(label) == "number" then self.classes[k] = math.tointeger(label) or label end
  end
  return remember(self)
end

--- dataset.said_as(ds, other): ds, which describes how its file was read as `other` does.
function dataset.said_as(self, other)
  said_of[self] = said_of[other]
  return self
end

--- dataset.notes(ds): the notes of the reader that made it (see schema.notes), or an empty list.
function dataset.notes(self) return notes_of[self] or {} end

--- dataset.is(value)
function dataset.is(value) return getmetatable(value) == Dataset end

--- dataset.are_rows(value): whether it is what the field X takes.
dataset.are_rows = rules.X.test

--- dataset.coerce(ds) or dataset.coerce(X, y[, { task =, classes = }][, model]): the arguments of
--- fit, score and search as a data set.
function dataset.coerce(data, y, given, model)
  if dataset.is(data) then
    if y ~= nil then fail("takes a data set, or X and y, not both") end
    if not data.y and not data.source then fail("the data set has no y") end
    check_fields(data)
    return data
  end
  if not rules.X.test(data) then
    fail("takes a data set, or a matrix X and y, and got %s", options.show(data))
  end
  if y == nil then fail("takes a data set, or X and y; y is missing") end
  local o = options.check("X, y", given, { task = rules.task, classes = rules.classes }, 0)
  if model and not o.task and not labels_of[y] then
    o.task = model.task
    -- numbers are positions in the classes if the model's classes are texts
    local texts = model.classes and type(model.classes[1]) == "string"
    if model.task == "multilabel" then o.classes = o.classes or model.classes end
    local numbers = core.is_matrix(y) or type(y) == "table" and type(y[1]) == "number"
    if texts and numbers then o.classes = o.classes or model.classes end
  end
  return make{ X = data, y = y, task = o.task, classes = o.classes }
end

--- dataset.need_memory(ds, what[, level]): raises an error, at the caller of ds:NAME, for a method
--- that needs the rows in memory.
function dataset.need_memory(self, what, level)
  if not self.X then
    error(("dataset:%s: this data set streams; load it in memory (without stream = true)"):format(
      what), level or 3)
  end
end

--- ds:size(): the numbers of rows and columns.
function Dataset:size()
  if self.X and not (self.encoder and core.is_texts(self.X)) then
    return self.X:rows(), self.X:cols()
  elseif self.X then
    return #self.X, (core.text_columns(self.encoder))
  end
  local rows, cols = core.source_size(self.source) -- drop its further results
  return rows, cols
end

--- dataset.with(ds, fields): a copy of the data set with some fields replaced.
function dataset.with(self, fields)
  check_fields(self)
  options.expect(type(fields) == "table", "a table of fields", fields)
  local copy = {}
  for key, value in pairs(self) do copy[key] = value end
  for key, value in pairs(fields) do copy[key] = value end
  return setmetatable(copy, Dataset)
end

function Dataset:__len() return (self:size()) end

--- ds:targets(): the targets as solvers see them. Regression: y. Two classes: -1 and +1, n x 1; +1
--- is the second of ds.classes. More classes: n x c, +1 in the column of the row's class, -1
--- elsewhere.
function Dataset:targets()
  dataset.need_memory(self, "targets")
  if not self.y then error("dataset:targets: the data set has no y", 2) end
  if self.task ~= "classification" then return self.y end
  return core.code_targets(self.y, self.classes, self.strangers)
end

-- Raises an error, at the caller of ds:NAME, for a data set that streams or has no y.
local function need_labels(self, what)
  dataset.need_memory(self, what, 4)
  if not self.y then error(("dataset:%s: the data set has no y"):format(what), 3) end
end

--- dataset.label_at(ds, i): the label of a row for the user: a text, an integer or a number; with
--- several targets, the row of y.
function dataset.label_at(self, i)
  if not self.y then return nil end
  if self.task == "multilabel" then
    local list = {}
    for k, label in ipairs(self.classes) do
      if self.y:get(i, k) ~= 0 then list[#list + 1] = label end
    end
    return list
  end
  local v = self.y[i]
  if type(v) ~= "number" then return v end
  local whole = math.tointeger(v)
  return self.classes and type(self.classes[1]) == "string" and self.classes[whole] or whole or v
end

--- dataset.texts_of(y, classes): a column of codes as a list of labels, texts or numbers.
function dataset.texts_of(y, classes)
  local list, texts = {}, type(classes[1]) == "string"
  for i = 1, y:rows() do
    local v = y:get(i, 1)
    list[i] = texts and classes[math.tointeger(v)] or math.tointeger(v) or v
  end
  return list
end

--- ds:labels(): the labels as a list of texts or numbers; of multi-label targets a list of such
--- lists; for several targets, a list of 1 x c views.
function Dataset:labels()
  need_labels(self, "labels")
  local list = {}
  for i = 1, self.y:rows() do list[i] = dataset.label_at(self, i) end
  return list
end

-- Raises an error for texts, which are not rows of numbers.
local function refuse_texts(self)
  if not core.is_texts(self.X) or self.encoder then return end
  fail("the rows are texts: a pipeline for them begins with sc.text{}")
end

--- dataset.source_of_targets(ds): the engine's source of rows and coded targets; second, for a
--- stream with classes: the source that dataset.check_seen takes, else nil.
function dataset.source_of_targets(self)
  check_fields(self)
  refuse_texts(self)
  local source, coded = self.source, nil
  if self.X then
    source = core.is_texts(self.X) and core.text_source(self.X, self.encoder, self:targets())
      or core.source(self.X, self:targets())
  elseif self.task == "classification" then
    coded = core.coded_source(source, self.codes or self.classes, self.strangers)
    source = coded
  end
  return self.places and core.source_columns(source, self.places) or source, coded
end

local READ = 1024 -- rows

--- dataset.check_seen(coded): raises an error if all rows of a stream have one class. The classes
--- of a stream are known only after it was read. A fit that goes on from a checkpoint has read only
--- the last rows: if these have one class, the rows are read from the first on. coded: the second
--- result of source_of_targets.
function dataset.check_seen(coded)
  if not coded or core.classes_seen(coded) ~= 1 then return end
  local n, first = core.source_size(coded), 1
  while first <= n and core.classes_seen(coded) == 1 do
    core.read_rows(coded, first, math.min(READ, n - first + 1))
    first = first + READ
  end
  if core.classes_seen(coded) == 1 then
    error("all rows have one class: there is nothing to tell apart", 0)
  end
end

--- dataset.source_of_rows(ds): the engine's source of rows without targets.
function dataset.source_of_rows(self)
  check_fields(self)
  refuse_texts(self)
  local source = self.source
  if core.is_texts(self.X) then source = core.text_source(self.X, self.encoder)
  elseif self.X then source = core.source(self.X) end
  return self.places and core.source_columns(source, self.places) or source
end

--- dataset.read_targets(ds): ds:targets(), of a stream by one pass over it.
function dataset.read_targets(self)
  if self.X then return self:targets() end
  local source, list = dataset.source_of_targets(self), {}
  for first = 1, #self, READ do
    list[#list + 1] = select(2, core.read_rows(source, first, math.min(READ, #self - first + 1)))
  end
  return core.vcat(table.unpack(list))
end

--- ds:class_counts(): a list with the number of rows of each class, in the order of ds.classes.
function Dataset:class_counts()
  need_labels(self, "class_counts")
  if self.task ~= "classification" then
    error("dataset:class_counts: a regression has no classes", 2)
  end
  local place, counts, y = targets.places(self.classes), {}, self.y
  for k = 1, #self.classes do counts[k] = 0 end
  for i = 1, y:rows() do
    local k = place[y:get(i, 1)]
    if not k then
      error(("dataset:class_counts: row %d has the label %s, which is not one of the \z
        classes"):format(i, options.show(y:get(i, 1))), 2)
    end
    counts[k] = counts[k] + 1
  end
  return counts
end

--- ds:relabel(f): the data set with new labels: f(label) for each of ds.classes. Several classes
--- may get the same label; a label for which f returns nil does not change. f may also be a table
--- from old labels to new ones. The classes are the new labels, sorted.
function Dataset:relabel(f)
  need_labels(self, "relabel")
  local classes, y = relabel(self, f)
  local copy = {}
  for key, value in pairs(self.schema or {}) do copy[key] = key ~= "target" and value or nil end
  return remember(dataset.with(self, { classes = classes, schema = copy, y = y }))
end

-- ------------ columns

--- ds:dense(): the data set with X as a matrix that holds its zeros too, if X is sparse. Where the
--- memory for it is not there, an error says how many bytes it takes.
function Dataset:dense()
  dataset.need_memory(self, "dense")
  refuse_texts(self)
  if not self.X.sparse then return self end
  return dataset.with(self, { X = self.X:dense() })
end

--- ds:discretize{ bins = 5 }: the data set with each column of more than two values replaced by
--- indicator columns of 0 and 1, one for each interval. The intervals contain equal shares of the
--- rows, as far as repeated values allow. Their ends are quantiles of the official training part if
--- the set has parts, else of all rows; to cut other rows at the same places, include them in the
--- set.
function Dataset:discretize(given)
  dataset.need_memory(self, "discretize")
  refuse_texts(self)
  if self.X.sparse then
    error("dataset:discretize: X is sparse; ds:dense() makes it dense", 2)
  end
  local X, names = discretize(self, given)
  return dataset.with(self, { X = X, names = names,
    schema = schema.plain("matrix", X:cols(), names) })
end

local by_row = { "y", "weights", "groups", "time" } -- fields with a row for each row of X

--- dataset.part(ds, take): the data set of the rows that take(matrix) takes from a matrix with a
--- row for each row of X.
function dataset.part(self, take)
  local made = setmetatable({ X = take(self.X), names = self.names, classes = self.classes,
    task = self.task, target = self.target, schema = self.schema, form = self.form,
    encoder = self.encoder }, Dataset)
  for _, name in ipairs(by_row) do made[name] = self[name] and take(self[name]) end
  if made.groups then folds.texts[made.groups] = folds.texts[self.groups] end
  return remember(dataset.said_as(made, self))
end

--- ds:save(path): writes X and y to a file, whole or not at all. A path in .npz: NumPy's arrays X
--- and y, or of a sparse X those of scipy.sparse.save_npz; labels that are texts as texts. A path
--- in .libsvm or .svm: LIBSVM text, whose labels are numbers. sc.data.npz and sc.data.libsvm read
--- them.
function Dataset:save(path)
  dataset.need_memory(self, "save")
  writing(self, path)
end

-- ------------ describing

function Dataset:__tostring()
  local n, d = self:size()
  local k = #(self.classes or {})
  local what = self.task == "classification" and ("%d class%s"):format(k, k == 1 and "" or "es")
    or self.task == "multilabel" and ("%d labels of a row"):format(#self.classes)
    or "regression"
  if self.X and not self.y then what = "no y" end
  if core.is_texts(self.X) then return ("dataset of %d texts, %s"):format(n, what) end
  local how = not self.X and ", streaming" or self.X.sparse and ", sparse" or ""
  return ("dataset %d x %d, %s%s"):format(n, d, what, how)
end

-- The text at the prompt: columns with kinds and first values.
function Dataset:__display(state)
  return describing.columns(self, dataset.label_at, state and state.width)
end

--- ds:describe(): a summary that prints as a table: size, how the file was read, the number of rows
--- of each class, and for each column the smallest value, the quartiles, the largest value, the
--- mean and the number of missing fields (before they were filled in; empty if the data set is a
--- part of a file). It is a list of { name, min, q1, median, q3, max, mean, missing }: the targets
--- of a regression, then the columns of X. In a script, print(ds:describe()). Of a sparse X: the
--- share of numbers that are stored, how many are stored in a row, and the ten columns in which
--- most are stored.
function Dataset:describe()
  dataset.need_memory(self, "describe")
  local filled = notes_of[self] and {}
  for _, note in ipairs(notes_of[self] or {}) do
    if note.what == "filled" then filled[note.column] = note.count end
  end
  return describing.summary(self, said_of[self], filled)
end

--- ds:head(n): the first n rows (5) as the file has them: categories as texts, dates as dates, the
--- target last. A list of lists with .names, that prints as a table. A row of a sparse X is one
--- text, "column:value column:value ...".
function Dataset:head(n)
  dataset.need_memory(self, "head")
  if n == nil then n = 5 end
  if math.tointeger(n) == nil or n < 1 then
    error("dataset:head: takes a number of rows, 1 or more, and got " .. options.show(n), 2)
  end
  return describing.head(self, math.tointeger(n), dataset.label_at)
end

return dataset
