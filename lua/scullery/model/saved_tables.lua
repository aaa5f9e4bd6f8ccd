--- Checks of plain tables in a saved file: schemas, fingerprints of data, tables of searches and
--- their choices. A file with a field of the wrong type is refused.
local fail = require "scullery.base.fail"
local form = require "scullery.model.form"
local options = require "scullery.base.options"
local search_table = require "scullery.model.search_table"

local saved_tables = {}

-- ------------ data

local data_form = { rows = "integer", cols = "integer", sha256 = "string?" }

--- saved_tables.fingerprint(data): the fingerprint of the training rows; nil stays nil.
function saved_tables.fingerprint(data)
  return data ~= nil and form.check(data, data_form, "data") or nil
end

local schema_form = { format = "string", separator = "string?", header = "boolean?",
  by_place = "boolean?", missing = "table?", missing_values = "string?", categorical = "string?",
  columns = "table?", target = "table?", weights = "string?", groups = "string?", time = "string?",
  cols = "integer?", base = "integer?", names = "table?", derived = "table?", text = "table?",
  targets = "table?" }
local column_form = { name = "string", kind = "string", levels = "table?", fill = "number?",
  missing = "integer?", loose = "boolean?", helper = "boolean?",
  order = "string?" }
local derived_form = { name = "string", expression = "string", fill = "number?",
  missing = "integer?" }
local target_form = { name = "string", kind = "string", task = "string?", place = "integer?" }

--- saved_tables.schema(schema): a schema (lua/scullery/data/schema.lua); nil stays nil.
function saved_tables.schema(schema)
  if schema == nil then return nil end
  form.check(schema, schema_form, "schema")
  form.each(schema.columns, column_form, "schema.columns")
  for i, column in ipairs(schema.columns or {}) do
    local what = ("schema.columns[%d]"):format(i)
    form.each(column.levels, "string", what .. ".levels")
    if column.kind == "category" and not column.levels then fail("its '%s' has no levels", what) end
  end
  form.each(schema.derived, derived_form, "schema.derived")
  form.each(schema.missing, "string", "schema.missing")
  form.each(schema.names, "string", "schema.names")
  form.each(schema.text, "string", "schema.text")
  form.each(schema.targets and table.move(schema.targets, 1, #schema.targets, 1, {}), "string",
    "schema.targets")
  if schema.target then form.check(schema.target, target_form, "schema.target") end
  return schema
end

-- ------------ searches

local table_form = { names = "table", score = "string", larger = "boolean", place = "integer",
  rule = "string?", seed = "integer?", outer = "table?", edge = "table?",
  how = "string?", rows = "integer?" }
local row_form = { choice = "table", mean = "number", stderr = "number?", folds = "table?",
  unconverged = "integer" }
local edge_form = { option = "string", side = "string" }
local outer_form = { mean = "number", stderr = "number" }

--- saved_tables.search(cells): the table of a search; nil stays nil.
function saved_tables.search(cells)
  if cells == nil then return nil end
  if type(cells) ~= "table" or getmetatable(cells) ~= search_table.class then
    fail("its 'table' is %s, where the table of a search belongs", options.show(cells))
  end
  form.check(cells, table_form, "table")
  form.each(cells.names, "string", "table.names")
  form.each(cells.edge, edge_form, "table.edge")
  if cells.outer then form.check(cells.outer, outer_form, "table.outer") end
  for i = 1, #cells do
    local what = ("table[%d]"):format(i)
    local row = form.check(rawget(cells, i), row_form, what)
    form.each(row.folds, "number", what .. ".folds")
  end
  if not rawget(cells, cells.place) then fail("its 'table.place' is not a row of the table") end
  return cells
end

--- saved_tables.choice(choice): the options that a search chose, by name; nil stays nil.
function saved_tables.choice(choice)
  if choice == nil then return nil end
  form.check(choice, {}, "choice")
  for name in next, choice do form.type(name, "string", "choice") end
  return search_table.choice(choice)
end

return saved_tables
