--- sc.data: data sets from files in several formats, and named data sets.
local core = require "scullery.core"
local csv = require "scullery.data.csv"
local dataset = require "scullery.data.dataset"
local files = require "scullery.data.files"
local generated = require "scullery.data.generated"
local named = require "scullery.data.named"
local numbers = require "scullery.data.numbers"
local options = require "scullery.base.options"
local any = require "scullery.data.read"
local targets = require "scullery.data.targets"
local texts = require "scullery.data.texts"
local warn = require "scullery.base.warn"
require "scullery.data.parts" -- methods of the class

local data = { csv = csv.whole, csv_blocks = csv.blocks,
  rotate = require("scullery.data.images").rotate, friedman1 = generated.friedman1,
  sparse_polynomial = generated.sparse_polynomial, spiked = generated.spiked }

data.read = any.read
for _, part in ipairs{ numbers, named } do
  for name, f in pairs(part) do data[name] = f end
end

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

local row_rules = options.declare("data.rows", {
  n = { type = "integer", low = 1, required = true },
    d = { type = "integer", low = 1, required = true },
  targets = { type = "integer", low = 1, default = 1 },
    read = { type = "function", required = true }, task = files.task, classes = { type = "table" },
})

local LOOK = 2048 -- rows by whose targets the task is guessed if it is not given

-- The task and the classes of generated rows, from the targets of the first ones. A later row with
-- another label is an error of the pass that meets it.
local function guess_rows(o)
  if o.task or o.classes or o.targets ~= 1 then
    return o.task or o.classes and "classification" or "regression", o.classes
  end
  local _, y = o.read(1, math.min(o.n, LOOK))
  if targets.are_texts(y) then
    local _, classes = targets.read(y)
    if o.n > LOOK and type(y[1]) == "string" then
      warn(("data.rows: y holds texts: a classification of %d classes, those of the first %d \z
        rows; classes = { ... } names others"):format(#classes, LOOK))
    end
    return "classification", classes
  end
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
  local list = targets.check_classes(o.classes)
  local function read(first, count) -- labels that are texts as their codes
    local X, y = o.read(first, count)
    if targets.are_texts(y) then y = targets.read(y, list) end
    return X, y
  end
  return dataset.from_table({ task = kind, classes = list }, core.generator(o.n, o.d, 1, read))
end

--- sc.data.rows{ n =, d =, targets = 1, read = function(first, count) return X, y end, task =,
--- classes = }: a data set of n rows that a function makes, block by block. read returns rows first
--- .. first+count-1: X is count x d, y is count x targets (labels: count x 1). It must return the
--- same rows each time it is called with the same first, whatever it was called with before: each
--- of several processes calls it for its part of the rows. Without task and classes, targets of two
--- values among the first 2048 rows are the labels of a classification, which a line reports; a
--- list of texts, or of true and false, always is one.
function data.rows(given) return options.guard("data.rows", 1, generated_rows, given) end

return data
