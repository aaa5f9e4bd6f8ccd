--- Methods of data sets that take rows: by their numbers, at random, as folds.
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local folds = require "scullery.data.folds"
local given_split = require "scullery.data.given_split"
local options = require "scullery.base.options"

local Dataset, need_memory = dataset.class, dataset.need_memory

local function select(self, rows)
  return dataset.part(self, function(matrix) return matrix:select(rows) end)
end

--- ds:select(rows): the data set of the rows with these numbers, in this order. rows: a list or an
--- n x 1 matrix; repeats are allowed.
function Dataset:select(rows)
  need_memory(self, "select")
  return select(self, rows)
end

--- ds:subset(i1, i2): the data set of rows i1 to i2, both included. It is a view: rows are not
--- copied.
function Dataset:subset(first, last)
  need_memory(self, "subset")
  local n, i1, i2 = #self, math.tointeger(first), math.tointeger(last)
  if not (i1 and i2) then
    error(("dataset:subset: takes two row numbers, and got %s and %s"):format(options.show(first),
      options.show(last)), 2)
  end
  if i1 < 1 or i2 < i1 or i2 > n then
    error(("dataset:subset: rows %d to %d of a data set with %d rows"):format(i1, i2, n), 2)
  end
  return dataset.part(self, function(matrix) return matrix:slice(i1, i2) end)
end

--- ds:filter(f): the data set of the rows for which f(number, row, label) returns true. row: a 1 x
--- d view, or a number if d is 1. label: as in ds:labels(). ds.classes does not change, even if all
--- rows of a class are removed.
function Dataset:filter(f)
  need_memory(self, "filter")
  if type(f) ~= "function" then
    error("dataset:filter: takes a function(i, x, y), and got " .. options.show(f), 2)
  end
  local rows = {}
  for i = 1, self.X:rows() do
    if f(i, self.X[i], dataset.label_at(self, i)) then rows[#rows + 1] = i end
  end
  return select(self, rows)
end

--- ds:parts(): the official training and test parts of a named set, as two data sets of one schema.
function Dataset:parts()
  need_memory(self, "parts")
  if not self.part_rows or #self.part_rows < 2 then
    error("dataset:parts: this data set has no official parts; ds:split{ test = 0.25, seed = 0 } \z
      makes two", 2)
  end
  local list, first = {}, self.part_first or 1
  for k, count in ipairs(self.part_rows) do
    list[k] = self:subset(first, first + count - 1)
    first = first + count
  end
  return table.unpack(list)
end

local split_rules = options.declare("dataset:split", {
  test = { test = function(v)
    return type(v) == "number" and v > 0 and (v < 1 or math.tointeger(v) ~= nil)
  end, takes = "a share between 0 and 1, or a number of rows", default = 0.25 },
  seed = { type = "integer", default = 0 }, stratify = { type = "boolean" },
  groups = folds.groups_rule, shuffle = { type = "boolean" }, rows = given_split.rule,
})

--- dataset.set_aside(ds, o): the split of ds:split{ test = o.holdout } with o.seed, o.groups and
--- o.shuffle as a list of folds: 1 for test rows, 2 for training rows.
function dataset.set_aside(self, o)
  dataset.check_fields(self)
  need_memory(self, "split")
  local _, aside = folds.split(self, { test = o.holdout, seed = o.seed, groups = o.groups,
    shuffle = o.shuffle }, "holdout")
  local ids = {}
  for i = 1, #self do ids[i] = 2 end
  for _, i in ipairs(aside) do ids[i] = 1 end
  return ids
end

local MOST_REPEATED = 200 -- row numbers that a script which repeats the call may hold

-- The parts of ds:split, and the options with which a script can repeat the call; nil if that would
-- be too long a list of rows.
local function split(self, given)
  local o = options.check("dataset:split", given, split_rules, 0)
  if o.rows == nil then
    local train, test = folds.split(self, o)
    return select(self, train), select(self, test), given or {}
  end
  given_split.refuse_others(given)
  local train, test, fields = given_split.of(self, o.rows)
  folds.tell_cut(self, test)
  local rows, short = self, #test <= MOST_REPEATED and { rows = test } or nil
  if fields then
    rows = dataset.said_as(dataset.with(self, fields), self)
    short = { rows = o.rows }
  end
  return select(rows, train), select(rows, test), short
end

--- ds:split{ test = 0.25, seed = 0, stratify =, groups =, shuffle = true, rows = }: a random split
--- into a training and a test data set; both keep the order of the rows. test: a share (rounded up)
--- or a number of rows. stratify: split each class in proportion; the default for a classification.
--- Then every class with at least two rows is on both sides, if the sizes allow it.
---
--- groups: rows of one group stay on one side, so that the size of the test part is approximate;
--- the default is ds.groups. A list of n values, a column of X by its name, or false for none.
--- shuffle = false: the last rows are the test part; groups are cut, and a line reports it.
---
--- rows: a given split, in place of all other options: the numbers of the test rows, from 1, as a
--- list or an n x 1 matrix; or the name of a column that is 1 in test rows and 0 in the others, or
--- text with "test" in test rows and one other text. The column is removed from both parts, and
--- files that are read like them need not have it.
function Dataset:split(given)
  need_memory(self, "split")
  local train, test, repeated = split(self, given)
  local origin = dataset.origin(self)
  if origin and not origin.split and repeated then
    dataset.set_origin(train, { call = origin.call, arguments = origin.arguments,
      split = repeated })
  end
  return train, test
end

local sample_rules = options.declare("dataset:sample", { seed = split_rules.seed,
  rows = { type = "integer", low = 1, required = true }, stratify = split_rules.stratify })

--- ds:sample{ rows =, seed = 0, stratify = }: `rows` rows drawn at random without replacement, in
--- their original order; the data set itself if it has no more rows. stratify: as in ds:split.
function Dataset:sample(given)
  need_memory(self, "sample")
  local o = options.check("dataset:sample", given, sample_rules, 0)
  if o.rows >= #self then return self end
  local _, rows = folds.split(self,
    { test = o.rows, seed = o.seed, stratify = o.stratify, groups = false, quiet = true })
  return select(self, rows)
end

local fold_rules = options.declare("dataset:fold_ids", {
  k = { type = "integer", low = 2 },
  folds = folds.rule, count = folds.count_rule, gap = folds.gap_rule, horizon = folds.horizon_rule,
  groups = folds.groups_rule, shuffle = { type = "boolean" },
  seed = { type = "integer", default = 0 }, stratify = { type = "boolean" } })

options.declare("dataset:folds", fold_rules)

local function ids_of(ds, title, given)
  dataset.check_fields(ds)
  local o = options.check(title, given, fold_rules, 0)
  if o.k and o.folds then fail("options 'k' and 'folds' were both given; give one of them") end
  o.folds = o.folds or o.k or 5
  return folds.of(ds, o)
end

--- ds:fold_ids{ k = 5, seed = 0, stratify =, groups =, shuffle = true, folds = }: a list with the
--- fold of each row, 1 .. k. The sizes of folds differ by one row at most; with stratify = true
--- (the default for a classification) so do the sizes within each class. groups: as in ds:split;
--- then sizes are approximate. shuffle = false: folds are consecutive rows.
---
--- folds: in place of k, what p:cv takes: "loo", "time" (with count, gap, horizon), or a list of
--- fold numbers. With "time", 0 is the fold of rows that are only learnt from.
function Dataset:fold_ids(given) return ids_of(self, "dataset:fold_ids", given) end

--- ds:folds{ k = 5, seed = 0, ... }: a list of k pairs { train, test } of data sets, with the
--- options of ds:fold_ids. Each row is in one of the test parts, except with folds = "time".
function Dataset:folds(given)
  need_memory(self, "folds")
  local ids, result = ids_of(self, "dataset:folds", given), {}
  for f = 1, folds.number(ids) do
    local train, test = folds.rows(ids, f)
    result[f] = { select(self, train), select(self, test) }
  end
  return result
end

