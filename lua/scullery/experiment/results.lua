--- The object of an experiment: its rows, tables and files.
local core = require "scullery.core"
local csv_text = require "scullery.base.csv_text"
local objects = require "scullery.base.objects"
local shown = require "scullery.experiment.shown"
local summary = require "scullery.experiment.summary"
local values = require "scullery.experiment.values"

local Experiment = objects.class("experiment", { example = "exp",
  fields = "name folder rows options columns failed missing header" })

local results = { class = Experiment }

-- ------------ making

-- A record of the results as a row for scripts.
local function row_of(record)
  local about = {}
  for name, value in pairs(record) do about[name] = value end
  for _, name in ipairs{ "cell", "result", "seconds", "processor_seconds", "memory", "status",
    "message", "place" } do about[name] = nil end
  return shown.row{ cell = record.cell, result = record.result, seconds = record.seconds,
    processor_seconds = record.processor_seconds, memory = record.memory, status = record.status,
    message = record.message, about = about }
end

--- results.new(store, cells): the results of these cells; without cells of all that were ever run.
function results.new(store, cells)
  local self = { name = store.header.name, folder = store.path, rows = {}, failed = 0, missing = 0,
    header = store.header }
  for _, cell in ipairs(cells or {}) do
    local record = store.latest[cell.key]
    if record then table.insert(self.rows, row_of(record)) else self.missing = self.missing + 1 end
  end
  if not cells then
    for _, record in pairs(store.latest) do table.insert(self.rows, row_of(record)) end
  end
  local of_cells, of_results = {}, {}
  for _, row in ipairs(self.rows) do
    if row.status == "failed" then self.failed = self.failed + 1 end
    for name in pairs(row.cell) do of_cells[name] = true end
    for name in pairs(row.result) do of_results[name] = true end
  end
  self.options, self.columns = values.sorted(of_cells), values.sorted(of_results)
  if not cells then table.sort(self.rows, values.order(self.options)) end
  return setmetatable(self, Experiment)
end

-- ------------ methods

function Experiment:__tostring()
  local count = #self.rows - self.failed
  return ("experiment %s: %d %s done, %d failed%s, in %s"):format(self.name, count,
    count == 1 and "cell" or "cells", self.failed,
    self.missing > 0 and (", %d to run"):format(self.missing) or "", self.folder)
end

--- exp:values(option[, where]): the different values of an option among the cells, in order. where:
--- { T = 500 } selects those cells.
function Experiment:values(option, where) return summary.values(self, option, where) end

--- exp:table{ value =, rows =, columns =, title =, over =, where = {} }: a table that prints, with
--- one line for each combination of the options in rows (a name or a list; by default all that
--- vary), with mean and standard error of the results in value (a name or a list; by default all
--- numbers) over the cells that differ only in `over` (a name or a list; by default the options
--- `seed` and `..._seed`). The standard error with two crossed seeds is that of a two-way table of
--- random effects. columns: an option whose values become columns, for one result. where:
--- { T = 500 } selects those cells. title: printed above the table by sc.publish. An option that
--- varies and is not named is an error. Fields: row_names, rows (a list of { labels, means, errors,
--- counts }), column_names, title, notes. Here and in the methods below, value = "seconds",
--- "processor_seconds" and "memory" are what the cells took, where no result has that name.
function Experiment:table(given) return summary.table(self, given) end

--- exp:series{ x =, value =, series =, along =, over =, where = {} }: curves for sc.plot.line: a
--- list of { x, y, error, label }, one for each value of the option `series`, through the means of
--- `value` against the option x, with their standard errors; it prints. along: an option whose
--- values give the points; x is then a result, and each point is at its mean, as in x = "seconds",
--- along = "T". over, where: as in exp:table.
function Experiment:series(given) return summary.series(self, given) end

--- exp:slopes{ x =, value =, series =, title =, over =, where = {} }: a table of the means of
--- `value` against the option x, for each value of the option `series`, and of the slope from each
--- mean to the next on log axes: -0.5 where it falls like 1/sqrt(x). The standard error of a slope
--- is of first order, and takes the cells of different x to be independent.
function Experiment:slopes(given) return summary.slopes(self, given) end

--- exp:compare{ published =, rows =, columns =, value =, digits =, runs =, title =, label =,
--- over =, where = {} }: compares the means of a result with published numbers: a table that
--- prints, with one line for each combination of the options in rows (a name or a list) and
--- columns.
---
--- published: tables nested in that order, with the options' values as keys, as in { adult = {
--- ridge = 0.155 } } for rows = "data" and columns = "method"; a number, or { number, its standard
--- error }; or the path of a CSV file with a column for each compared option and for the result,
--- its standard deviation over runs in a column NAME.deviation, and their number in a column runs
--- (as scripts/rkhsw/table5.csv). digits: decimals of the published numbers; a difference within
--- their rounding counts as 0. runs: the number of runs of which a published number without a
--- standard error is the mean; its standard error is then estimated from the spread of our runs.
--- title: printed above the table by sc.publish. label: the heading of the published numbers,
--- "published". over, where: as in exp:table.
---
--- Fields: names, rows (a list of { labels, published, published_error, mean, error, count,
--- difference, ratio = the difference in standard errors, seconds }), notes. seconds is the mean of
--- the result of that name, or of the cell's run time if there is none. comparison:differs(2) lists
--- the rows with a difference of more than 2 standard errors; comparison:save("c.csv") saves all.
---
--- exp:compare{ rows =, value =, smallest = true, to = "best", ratio = }, without published:
--- compares the cells with each other. Differences to the best (with to = "first", to the first)
--- are paired over the options in `over`, so cells of one seed should share split and folds; the
--- table is that of sc.compare. smallest = false: the largest value is the best. ratio: rows of a
--- test part over rows of its training part, if the repetitions are splits or folds of one data
--- set; their standard errors are then corrected as in sc.compare.
function Experiment:compare(given) return summary.compare(self, given) end

--- exp:best{ value =, smallest = true, most = {}, over =, where = {} }: the cell with the smallest
--- (largest with smallest = false) mean of a result: { cell, mean, error, count }. Cells whose mean
--- is NaN are skipped. It prints. most: upper limits of means, as { error = 0.1 } with value =
--- "seconds" for the shortest time to an error of 0.1; nil if no cell is within them.
function Experiment:best(given) return summary.best(self, given) end

-- A value as a field of a CSV file: floats to 17 digits, lists as JSON.
local function field(value)
  if value == nil then return "" end
  if value ~= value then return "nan" end
  if math.type(value) == "float" then return ("%.17g"):format(value) end
  if type(value) == "table" then return (core.json_encode(values.encode(value))) end
  return tostring(value)
end

local record_columns = { "status", "message", "seconds", "processor_seconds", "memory", "time" }

-- Column names. A result with the name of an option gets "result." in front, and an option or a
-- result with the name of a fixed column gets "cell." or "result.".
local function heads_of(self)
  local taken, heads = {}, {}
  for _, name in ipairs(record_columns) do taken[name] = true end
  for _, part in ipairs{ { "cell", self.options }, { "result", self.columns } } do
    for _, name in ipairs(part[2]) do
      heads[#heads + 1] = taken[name] and part[1] .. "." .. name or name
      taken[name] = true
    end
  end
  table.move(record_columns, 1, #record_columns, #heads + 1, heads)
  return heads
end

--- exp:save("r.csv"): saves all rows as CSV, complete or not at all: one column for each option,
--- one for each result ("result.NAME" if an option has that name), status, message, seconds,
--- processor_seconds, memory (the peak of the process in bytes) and time.
function Experiment:save(path)
  csv_text.check_path(path)
  local lines = { heads_of(self) }
  for _, row in ipairs(self.rows) do
    local line = {}
    for _, name in ipairs(self.options) do line[#line + 1] = field(row.cell[name]) end
    for _, name in ipairs(self.columns) do line[#line + 1] = field(row.result[name]) end
    for _, name in ipairs(record_columns) do
      line[#line + 1] = field(name == "time" and row.about.time or row[name])
    end
    lines[#lines + 1] = line
  end
  csv_text.write(path, lines)
end

return results
