--- Data sets: rows, labels, and how they are split.
local core = require "scullery.core"
local options = require "scullery.options"

local Dataset = { __name = "dataset" }
Dataset.__index = Dataset

local dataset = { class = Dataset }

-- A y matrix that came from a data set remembers its classes, so that fit(ds.X, ds.y) knows what it holds.
local labels_of = setmetatable({}, { __mode = "k" })
dataset.labels_of = labels_of

local function remember(self)
  if self.y then labels_of[self.y] = { task = self.task, classes = self.classes } end
  return self
end

local function sorted_labels(list)
  local seen, classes = {}, {}
  for _, label in ipairs(list) do
    if not seen[label] then seen[label] = true classes[#classes + 1] = label end
  end
  table.sort(classes)
  return classes
end

local function check_finite(m, what)
  local row, col = core.find_nonfinite(m)
  if row then error(("dataset: %s is not finite in row %d, column %d"):format(what, row, col), 0) end
end

-- Text labels: y holds places in the sorted classes.
local function from_texts(list, classes)
  classes = classes or sorted_labels(list)
  local place, codes = {}, {}
  for k, label in ipairs(classes) do place[label] = k end
  for i, label in ipairs(list) do
    codes[i] = place[label]
    if not codes[i] then error(("dataset: row %d has the label %s, which is not in classes"):format(i, options.show(label)), 0) end
  end
  return core.matrix(codes), classes
end

local function distinct(y)
  local list = {}
  for i = 1, y:rows() do list[i] = math.tointeger(y:get(i, 1)) or y:get(i, 1) end
  return sorted_labels(list)
end

-- y as given to what a data set holds: matrix, classes or nil, task.
local function read_labels(y, classes, task)
  if type(y) == "table" and not core.is_matrix(y) then
    local kind = type(y[1])
    if #y == 0 then error("dataset: y is an empty list", 0) end
    for i, v in ipairs(y) do
      if type(v) ~= kind then error(("dataset: y has %s in row %d and %s in row 1"):format(type(v), i, kind), 0) end
    end
    if kind == "string" then
      if task == "regression" then error("dataset: y holds texts, and a regression takes numbers", 0) end
      local codes, list = from_texts(y, classes)
      return codes, list, "classification"
    end
    if kind ~= "number" and kind ~= "table" then error(("dataset: y holds %ss; it takes numbers or texts"):format(kind), 0) end
    y = core.matrix(y)
  end
  check_finite(y, "y")
  local known = labels_of[y]
  if known then classes, task = classes or known.classes, task or known.task end
  task = task or (classes and "classification" or "regression")
  if task == "classification" then
    if y:cols() ~= 1 then error(("dataset: labels come as one column, and y has %d"):format(y:cols()), 0) end
    classes = classes or distinct(y)
  else
    classes = nil
  end
  return y, classes, task
end

local rules = {
  X = { type = "any", required = true }, y = { type = "any" }, classes = { type = "table" }, names = { type = "table" },
  task = { choices = { "classification", "regression" } },
}

local function make(given)
  local o = options.check("dataset", given, rules, 3)
  local X = core.is_matrix(o.X) and o.X or core.matrix(o.X)
  local self = { X = X, names = o.names, task = o.task }
  if o.names and #o.names ~= X:cols() then error(("dataset: %d names for %d columns"):format(#o.names, X:cols()), 0) end
  if o.y ~= nil then
    self.y, self.classes, self.task = read_labels(o.y, o.classes, o.task)
    if self.y:rows() ~= X:rows() then error(("dataset: X has %d rows and y has %d"):format(X:rows(), self.y:rows()), 0) end
  end
  self.task = self.task or "regression"
  return remember(setmetatable(self, Dataset))
end

--- sc.dataset{ X =, y =, classes =, task =, names = }: rows as a matrix and their labels (list of texts or numbers, or a matrix). Text labels become places in the
--- sorted .classes; numeric labels stay themselves. task: "classification" where labels are texts or classes are given, else "regression".
function dataset.new(given)
  local ok, result = pcall(make, given)
  if not ok then error((tostring(result):gsub("^[%w_./ -]*%.lua:%d+: ", "")), 2) end
  return result
end

--- From a reader's result, or a stream's.
function dataset.from_table(t, source)
  local self = setmetatable({ X = t.X, y = t.y, names = t.names, classes = t.classes, task = t.task, part_rows = t.parts, source = source }, Dataset)
  for k, label in ipairs(self.classes or {}) do
    if type(label) == "number" then self.classes[k] = math.tointeger(label) or label end
  end
  return remember(self)
end

--- dataset.is(value)
function dataset.is(value) return getmetatable(value) == Dataset end

--- dataset.coerce(ds) or dataset.coerce(X, y[, { task =, classes = }][, model]): what fit, score and search are given, as a data set.
function dataset.coerce(data, y, given, model)
  if dataset.is(data) then
    if y ~= nil then error("takes a data set, or X and y, not both", 0) end
    if not data.y and not data.source then error("the data set has no y", 0) end
    return data
  end
  if not core.is_matrix(data) and not (type(data) == "table" and not getmetatable(data)) then
    error("takes a data set, or a matrix X and y, and got " .. options.show(data), 0)
  end
  if y == nil then error("takes a data set, or X and y; y is missing", 0) end
  local o = options.check("X, y", given, { task = rules.task, classes = rules.classes })
  if model and not o.task and not labels_of[y] then o.task, o.classes = model.task, model.classes end
  return make{ X = data, y = y, task = o.task, classes = o.classes }
end

local function need_memory(self, what)
  if not self.X then error(("dataset:%s: this data set streams; load it in memory (without stream = true)"):format(what), 3) end
end

--- ds:size(): rows, columns.
function Dataset:size()
  if self.X then return self.X:rows(), self.X:cols() end
  local rows, cols = core.source_size(self.source)
  return rows, cols
end

function Dataset:__len() return (self:size()) end

--- ds:targets(): the numeric coding that solvers see: -1 and +1 for two classes (+1 the second of ds.classes), n x c one against all for more; y of a regression.
function Dataset:targets()
  need_memory(self, "targets")
  if not self.y then error("dataset:targets: the data set has no y", 2) end
  if self.task ~= "classification" then return self.y end
  return core.code_targets(self.y, self.classes)
end

--- ds:labels(): the labels as a Lua list of texts or numbers.
function Dataset:labels()
  need_memory(self, "labels")
  local list = {}
  for i = 1, self.y:rows() do
    local v = self.y:get(i, 1)
    list[i] = self.classes and type(self.classes[1]) == "string" and self.classes[math.tointeger(v)] or math.tointeger(v) or v
  end
  return list
end

--- Rows and targets for the engine.
function Dataset:source_of_targets()
  if self.X then return core.source(self.X, self:targets()) end
  if self.task == "classification" then return core.coded_source(self.source, self.classes) end
  return self.source
end

--- Rows alone for the engine.
function Dataset:source_of_rows() return self.X and core.source(self.X) or self.source end

--- ds:class_counts(): rows of each class, in the order of ds.classes.
function Dataset:class_counts()
  need_memory(self, "class_counts")
  local place, counts = {}, {}
  for k, label in ipairs(self.classes or {}) do place[type(label) == "number" and label or k] = k counts[k] = 0 end
  for i = 1, self.y:rows() do
    local k = place[self.y:get(i, 1)]
    if not k then error(("dataset: row %d has the label %g, which is none of the classes"):format(i, self.y:get(i, 1)), 2) end
    counts[k] = counts[k] + 1
  end
  return counts
end

-- ---------------------------------------------------------------- parts

--- ds:select(rows): the rows of a list (or n x 1 matrix) of row numbers.
function Dataset:select(rows)
  need_memory(self, "select")
  return remember(setmetatable({ X = self.X:select(rows), y = self.y and self.y:select(rows), names = self.names, classes = self.classes,
                                 task = self.task }, Dataset))
end

--- ds:subset(i1, i2): rows i1 to i2, both included (a view).
function Dataset:subset(first, last)
  need_memory(self, "subset")
  return remember(setmetatable({ X = self.X:slice(first, last), y = self.y and self.y:slice(first, last), names = self.names, classes = self.classes,
                                 task = self.task }, Dataset))
end

--- ds:filter(f): the rows for which f(row number, row, y) is true.
function Dataset:filter(f)
  need_memory(self, "filter")
  if type(f) ~= "function" then error("dataset:filter: takes a function(i, x, y), and got " .. options.show(f), 2) end
  local rows = {}
  for i = 1, self.X:rows() do
    if f(i, self.X:row(i), self.y and self.y[i]) then rows[#rows + 1] = i end
  end
  return self:select(rows)
end

--- ds:parts(): the official train and test parts of a named set, encoded alike.
function Dataset:parts()
  need_memory(self, "parts")
  if not self.part_rows or #self.part_rows < 2 then
    error("dataset:parts: this data set has no official parts; ds:split{ test = 0.25, seed = 0 } makes two", 2)
  end
  local list, first = {}, self.part_first or 1
  for k, count in ipairs(self.part_rows) do
    list[k] = self:subset(first, first + count - 1)
    first = first + count
  end
  return table.unpack(list)
end

-- Row numbers by class in a seeded order; one group where there are no classes.
local function shuffled_groups(self, seed, stratify, stream)
  local n = self:size()
  local order = core.permutation(n, seed, stream)
  if not stratify then return { order } end
  local place, groups = {}, {}
  for k, label in ipairs(self.classes) do place[type(label) == "number" and label or k] = k groups[k] = {} end
  for _, i in ipairs(order) do
    local group = groups[place[self.y:get(i, 1)]]
    group[#group + 1] = i
  end
  return groups
end

local function wants_strata(self, asked)
  if asked == nil then return self.task == "classification" and self.y ~= nil end
  if asked and self.task ~= "classification" then error("stratify = true is for classification", 0) end
  return asked
end

local split_rules = {
  test = { test = function(v) return type(v) == "number" and v > 0 and (v < 1 or math.tointeger(v) ~= nil) end,
           takes = "a share between 0 and 1, or a number of rows", default = 0.25 },
  seed = { type = "integer", default = 0 }, stratify = { type = "boolean" },
}

--- ds:split{ test = 0.25, seed = 0, stratify = }: train and test, a seeded random split; stratified by class unless said otherwise.
function Dataset:split(given)
  need_memory(self, "split")
  local o = options.check("dataset:split", given, split_rules)
  local n = self:size()
  if n < 2 then error(("dataset:split: %d row cannot be split"):format(n), 2) end
  local share = o.test < 1 and o.test or o.test / n
  if share >= 1 then error(("dataset:split: option 'test' got %g of %d rows; some must be left to train on"):format(o.test, n), 2) end
  local groups = shuffled_groups(self, o.seed, wants_strata(self, o.stratify), 32)
  local train, test, owed = {}, {}, 0
  for _, group in ipairs(groups) do
    owed = owed + share * #group
    local take = math.floor(owed + 0.5)
    if #group >= 2 then take = math.max(1, math.min(take, #group - 1)) elseif #group == 1 then take = math.max(0, math.min(take, 1)) end
    owed = owed - take
    for i, row in ipairs(group) do
      local list = i <= take and test or train
      list[#list + 1] = row
    end
  end
  if #test == 0 then test[1] = table.remove(train) end
  if #train == 0 then train[1] = table.remove(test) end
  table.sort(train)
  table.sort(test)
  return self:select(train), self:select(test)
end

local fold_rules = { k = { type = "integer", low = 2, default = 5 }, seed = { type = "integer", default = 0 }, stratify = { type = "boolean" } }

--- ds:fold_ids{ k = 5, seed = 0, stratify = }: for each row its fold, 1 .. k.
function Dataset:fold_ids(given)
  local o = options.check("dataset:fold_ids", given, fold_rules)
  local n = self:size()
  if o.k > n then error(("dataset: %d folds of %d rows"):format(o.k, n), 2) end
  local ids, next_fold = {}, 0
  if not self.X then -- a stream: its labels are not at hand, so by seeded order alone
    for place, row in ipairs(core.permutation(n, o.seed, 33)) do ids[row] = (place - 1) % o.k + 1 end
    return ids
  end
  for _, group in ipairs(shuffled_groups(self, o.seed, wants_strata(self, o.stratify), 33)) do
    for _, row in ipairs(group) do
      ids[row] = next_fold % o.k + 1
      next_fold = next_fold + 1
    end
  end
  return ids
end

--- ds:folds{ k = 5, seed = 0, stratify = }: a list of k pairs { train, test }.
function Dataset:folds(given)
  need_memory(self, "folds")
  local ids = self:fold_ids(given)
  local lists = {}
  for i, fold in ipairs(ids) do
    lists[fold] = lists[fold] or {}
    table.insert(lists[fold], i)
  end
  local result = {}
  for f = 1, #lists do
    local rest = {}
    for i, fold in ipairs(ids) do if fold ~= f then rest[#rest + 1] = i end end
    result[f] = { self:select(rest), self:select(lists[f]) }
  end
  return result
end

-- ---------------------------------------------------------------- describing

function Dataset:__tostring()
  local n, d = self:size()
  local what = self.task == "classification" and ("%d classes"):format(#(self.classes or {})) or "regression"
  return ("dataset %d x %d, %s%s"):format(n, d, what, self.X and "" or ", streaming")
end

--- ds:describe(): a readable summary: size, class counts, and each column's smallest, mean and largest value.
function Dataset:describe()
  need_memory(self, "describe")
  local lines = { tostring(self) }
  if self.task == "classification" and self.y then
    for k, count in ipairs(self:class_counts()) do
      lines[#lines + 1] = ("  class %-20s %8d rows (%.1f%%)"):format(tostring(self.classes[k]), count, 100 * count / math.max(#self, 1))
    end
  end
  if #self == 0 then return lines[1] end
  local low, mean, high = self.X:min(1), self.X:mean(1), self.X:max(1)
  lines[#lines + 1] = ("  %-32s %12s %12s %12s"):format("column", "min", "mean", "max")
  for j = 1, self.X:cols() do
    local name = self.names and self.names[j] or "x" .. j
    local constant = low:get(1, j) == high:get(1, j) and "  constant" or ""
    lines[#lines + 1] = ("  %-32s %12.5g %12.5g %12.5g%s"):format(name, low:get(1, j), mean:get(1, j), high:get(1, j), constant)
  end
  return table.concat(lines, "\n")
end

return dataset
