--- Means over the cells of an experiment: as a table that prints, as series for a plot, and the
--- best cell.
local comparison = require "scullery.experiment.comparison"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local seeds = require "scullery.experiment.seeds"
local shown = require "scullery.experiment.shown"
local text_table = require "scullery.base.text_table"
local values = require "scullery.experiment.values"

local summary = {}

local function fail(...) error(string.format(...), 0) end

-- ------------ which options, which cells

local function is_names(value)
  if type(value) == "string" then return true end
  if type(value) ~= "table" or getmetatable(value) then return false end
  if next(value) ~= nil and not values.is_list(value) then return false end
  for _, name in ipairs(value) do if type(name) ~= "string" then return false end end
  return true
end

local names_rule = { type = "any", test = is_names, takes = "a name or a list of names" }
local function rules(more)
  local all = { over = names_rule, where = { type = "table", default = {} } }
  for name, rule in pairs(more) do all[name] = rule end
  return all
end

local function list_of(value)
  if value == nil then return {} end
  return type(value) == "string" and { value } or { table.unpack(value) }
end

local function contains(list, name)
  for _, one in ipairs(list) do if one == name then return true end end
  return false
end

-- What is recorded of every cell besides its results; a result of that name comes first.
local measured = { seconds = true, processor_seconds = true, memory = true }

-- The names of all results, and of what is measured.
local function columns_known(exp)
  local list = { table.unpack(exp.columns) }
  for _, name in ipairs(values.sorted(measured)) do
    if not contains(list, name) then list[#list + 1] = name end
  end
  return list
end

local function check_names(names, known, what)
  for _, name in ipairs(names) do
    if not contains(known, name) then
      fail("there is no %s %s%s", what, objects.shown(name),
        objects.suggestion(name, { table.unpack(known) }))
    end
  end
end

-- The rows that `where` selects.
local function chosen(exp, where)
  local list = {}
  for name in next, where do
    if type(name) ~= "string" then fail("option 'where' takes names and values") end
    check_names({ name }, exp.options, "option")
  end
  for _, row in ipairs(exp.rows) do
    local fits = true
    for name, value in next, where do fits = fits and row.cell[name] == value end
    if fits then list[#list + 1] = row end
  end
  return list
end

local function identity(value) return value == nil and "" or values.identity{ value } end

--- summary.values(exp, option, where): see Experiment:values.
function summary.values(exp, option, where)
  options.expect(type(option) == "string", "the name of an option", option)
  options.expect(where == nil or type(where) == "table", "a table such as { T = 500 }", where)
  check_names({ option }, exp.options, "option")
  local list, seen = {}, {}
  for _, row in ipairs(chosen(exp, where or {})) do
    local value = row.cell[option]
    if value ~= nil and not seen[identity(value)] then
      seen[identity(value)], list[#list + 1] = true, value
    end
  end
  table.sort(list, values.less)
  return list
end

-- The options that vary among these rows.
local function varying(exp, rows)
  local list = {}
  for _, name in ipairs(exp.options) do
    local first, differs = nil, false
    for i, row in ipairs(rows) do
      local text = identity(row.cell[name])
      if i == 1 then first = text end
      differs = differs or text ~= first
    end
    if differs then list[#list + 1] = name end
  end
  return list
end

-- The checked options of a call: { rows, value = names, over = names, varying }.
local function asked(exp, o)
  local rows = chosen(exp, o.where)
  local over = list_of(o.over)
  for _, name in ipairs(exp.options) do
    if o.over == nil and seeds.is(name) then over[#over + 1] = name end
  end
  check_names(over, exp.options, "option")
  local value = list_of(o.value)
  check_names(value, columns_known(exp), "result")
  -- by default, the results that are numbers in some row
  for _, name in ipairs(o.value == nil and exp.columns or {}) do
    for _, row in ipairs(rows) do
      if type(row.result[name]) == "number" then value[#value + 1] = name break end
    end
  end
  return { rows = rows, value = value, over = over, varying = varying(exp, rows) }
end

-- The one result of a call that takes only one.
local function single(about)
  if #about.value == 1 then return about.value[1] end
  fail(#about.value == 0 and "no cell has a result that is a number"
    or "option 'value' is needed: the results are %s", table.concat(about.value, ", "))
end

-- The options that vary and are neither in `over` nor in one of the lists.
local function rest(about, ...)
  local list = {}
  for _, name in ipairs(about.varying) do
    local named = contains(about.over, name)
    for _, other in ipairs{ ... } do named = named or contains(other, name) end
    if not named then list[#list + 1] = name end
  end
  return list
end

-- Raises an error if an option varies and is not named, so that no mean mixes different cells.
local function check_covered(about, ...)
  local name = rest(about, ...)[1]
  if name then
    fail("the option '%s' varies among the cells: name it in rows, columns, x, series or over, \z
      or choose one value by where = { %s = ... }", name, name)
  end
end

-- ------------ means

-- Groups rows that agree in the named options: a list of { cell = their values, rows }, in order.
local function grouped(rows, names)
  local groups, place = {}, {}
  for _, row in ipairs(rows) do
    local texts, cell = {}, {}
    for i, name in ipairs(names) do
      texts[i], cell[name] = identity(row.cell[name]), row.cell[name]
    end
    local key = table.concat(texts, "\n")
    if not place[key] then
      groups[#groups + 1] = { cell = cell, rows = {}, key = key }
      place[key] = groups[#groups]
    end
    table.insert(place[key].rows, row)
  end
  table.sort(groups, values.order(names))
  return groups
end

-- The mean of a result over the finished rows where it is a number: { mean, error, count } or nil.
-- Rows without a result "seconds", "processor_seconds" or "memory": of what the cells took.
local function mean_of(rows, value, over)
  local function read(from)
    return seeds.mean(rows, function(row)
      local number = row.status == "done" and from(row)[value]
      return type(number) == "number" and number or nil
    end, over)
  end
  return read(function(row) return row.result end)
    or measured[value] and read(function(row) return row end) or nil
end

-- ------------ a table

local Table = objects.class("experiment table", { example = "table",
  fields = "row_names rows column_names notes" })
summary.class = Table

--- summary.cells(self): its column headings, its rows as texts, and its notes.
function summary.cells(self)
  local heads, rows = { table.unpack(self.row_names) }, {}
  table.move(self.column_names, 1, #self.column_names, #heads + 1, heads)
  for i, row in ipairs(self.rows) do
    rows[i] = { table.unpack(row.labels) }
    for j in ipairs(self.column_names) do
      table.insert(rows[i], row.means[j]
        and shown.mean{ mean = row.means[j], error = row.errors[j] } or "-")
    end
  end
  return heads, rows, self.notes
end

function Table:__tostring()
  local heads, rows = summary.cells(self)
  local lines, sides = table.move(rows, 1, #rows, 2, { heads }), {}
  for j in ipairs(self.column_names) do sides[#self.row_names + j] = "right" end
  local text = text_table.lines(lines, { sides = sides })
  table.move(self.notes, 1, #self.notes, #text + 1, text)
  return table.concat(text, "\n")
end

-- Sentences on cells that a table does not count.
local function notes_of(exp, about)
  local notes, failed = {}, 0
  for _, row in ipairs(about.rows) do if row.status == "failed" then failed = failed + 1 end end
  if failed > 0 then
    notes[#notes + 1] = ("%d %s failed and %s not counted"):format(failed,
      failed == 1 and "cell" or "cells", failed == 1 and "is" or "are")
  end
  if exp.missing > 0 then notes[#notes + 1] = ("%d cells are still to run"):format(exp.missing) end
  return notes
end

-- A row of a table: its labels, and the mean, standard error and count of each column.
local function line_of(group, names, columns)
  local row = { labels = {}, means = {}, errors = {}, counts = {} }
  for i, name in ipairs(names) do
    row.labels[i] = group.cell[name] == nil and "-" or values.show(group.cell[name])
  end
  for j, column in ipairs(columns) do
    local one = column.of(group.rows)
    row.means[j], row.errors[j] = one and one.mean, one and one.error
    row.counts[j] = one and one.count or 0
  end
  return row
end

-- The columns: one for each result, or one for each value of an option.
local function columns_of(about, name)
  local list = {}
  if not name then
    for _, value in ipairs(about.value) do
      list[#list + 1] = { name = value, of = function(rows)
        return mean_of(rows, value, about.over)
      end }
    end
    return list
  end
  local value = single(about)
  for _, group in ipairs(grouped(about.rows, { name })) do
    local label = group.cell[name] == nil and "-" or values.show(group.cell[name])
    list[#list + 1] = { name = ("%s = %s"):format(name, label), of = function(rows)
      local own = {}
      for _, row in ipairs(rows) do
        if identity(row.cell[name]) == group.key then own[#own + 1] = row end
      end
      return mean_of(own, value, about.over)
    end }
  end
  return list
end

-- What a table shows, for pages: its results are means over the seeds.
local function caption(about)
  local over = #about.over > 0 and ", means over " .. table.concat(about.over, " and ") or ""
  return #about.value > 0 and table.concat(about.value, ", ") .. over or nil
end

local table_rules = rules{ rows = names_rule, value = names_rule, columns = { type = "string" },
  title = { type = "string" } }
options.declare("experiment:table", table_rules)

--- summary.table(exp, given): see Experiment:table.
function summary.table(exp, given)
  local o = options.check("experiment:table", given or {}, table_rules, 0)
  local about = asked(exp, o)
  local names, across = list_of(o.rows), list_of(o.columns)
  check_names(names, exp.options, "option")
  check_names(across, exp.options, "option")
  if o.rows == nil then names = rest(about, across) else check_covered(about, names, across) end
  local columns = columns_of(about, o.columns)
  local self = { row_names = names, rows = {}, column_names = {}, notes = notes_of(exp, about),
    title = o.title or caption(about) }
  for j, column in ipairs(columns) do self.column_names[j] = column.name end
  for i, group in ipairs(grouped(about.rows, names)) do
    self.rows[i] = line_of(group, names, columns)
  end
  return setmetatable(self, Table)
end

-- ------------ series, the best

local series_rules = rules{ x = { type = "string", required = true }, value = { type = "string" },
  series = { type = "string" }, along = { type = "string" } }
options.declare("experiment:series", series_rules)

-- One curve: the means of `value` against the option o.x; with o.along, one point for each value of
-- that option, at the mean of the result o.x.
local function curve(rows, o, value, over, label)
  local one, has_errors = { x = {}, y = {}, error = {}, label = label }, false
  for _, group in ipairs(grouped(rows, { o.along or o.x })) do
    local at, mean = group.cell[o.x], mean_of(group.rows, value, over)
    if o.along then
      local one_x = mean_of(group.rows, o.x, over)
      at = one_x and one_x.mean
    end
    if mean and type(at) ~= "number" then
      fail("option x: '%s' is %s in some cell, and a curve needs numbers", o.x, options.show(at))
    end
    if mean then
      table.insert(one.x, at)
      table.insert(one.y, mean.mean)
      table.insert(one.error, mean.error or 0 / 0)
      has_errors = has_errors or mean.error ~= nil
    end
  end
  if not has_errors then one.error = nil end
  return one
end

--- summary.series(exp, given): see Experiment:series.
function summary.series(exp, given)
  local o = options.check("experiment:series", given, series_rules, 0)
  local about = asked(exp, o)
  local value, list = single(about), {}
  local is_result = contains(columns_known(exp), o.x) and not contains(exp.options, o.x)
  if o.along == nil and is_result then
    fail("option x: '%s' is a result: name the option that changes along the curve by along = ",
      o.x)
  end
  local known = o.along and columns_known(exp) or exp.options
  check_names({ o.x }, known, o.along and "result" or "option")
  check_names({ o.along or o.x, o.series }, exp.options, "option")
  check_covered(about, { o.along or o.x }, list_of(o.series))
  if not o.series then
    return shown.series({ curve(about.rows, o, value, about.over, value) }, o.x, value)
  end
  for _, group in ipairs(grouped(about.rows, { o.series })) do
    local label = group.cell[o.series]
    list[#list + 1] = curve(group.rows, o, value, about.over,
      label == nil and "-" or values.show(label))
  end
  return shown.series(list, o.x, value)
end

-- ------------ slopes

local slope_rules = rules{ x = { type = "string", required = true }, value = { type = "string" },
  series = { type = "string" }, title = { type = "string" } }
options.declare("experiment:slopes", slope_rules)

-- The slope on log axes from one mean to the next, and its standard error, to first order and as if
-- the two were independent; nil where a logarithm is not a number.
local function slope_between(x0, m0, e0, x1, m1, e1)
  if not (m0 and m1 and x0 > 0 and m0 > 0 and m1 > 0) then return nil end
  local step = math.log(x1 / x0)
  return math.log(m1 / m0) / step,
    e0 and e1 and math.sqrt((e0 / m0) ^ 2 + (e1 / m1) ^ 2) / step or nil
end

--- summary.slopes(exp, given): see Experiment:slopes.
function summary.slopes(exp, given)
  local o = options.check("experiment:slopes", given, slope_rules, 0)
  local about = asked(exp, o)
  local value, names = single(about), list_of(o.series)
  names[#names + 1] = o.x
  check_names(names, exp.options, "option")
  check_covered(about, names)
  local self = { row_names = names, column_names = { value, "slope" }, rows = {},
    notes = notes_of(exp, about),
    title = o.title or ("%s, and its slope on log axes from the %s before"):format(value, o.x) }
  local columns, last, last_x = columns_of({ value = { value }, over = about.over }), nil, nil
  for i, group in ipairs(grouped(about.rows, names)) do
    local row, x = line_of(group, names, columns), group.cell[o.x]
    if type(x) ~= "number" then
      fail("option x: '%s' is %s in some cell, and a slope needs numbers", o.x, options.show(x))
    end
    if last and (not o.series or last.labels[1] == row.labels[1]) then
      row.means[2], row.errors[2] = slope_between(last_x, last.means[1], last.errors[1], x,
        row.means[1], row.errors[1])
    end
    row.counts[2], self.rows[i], last, last_x = row.counts[1], row, row, x
  end
  return setmetatable(self, Table)
end

local best_rules = rules{ value = { type = "string" },
  smallest = { type = "boolean", default = true }, most = { type = "table", default = {} } }
options.declare("experiment:best", best_rules)

-- True if the means of the rows are within the limits.
local function within(rows, most, over)
  for name, limit in next, most do
    local one = mean_of(rows, name, over)
    if not (one and one.mean <= limit) then return false end
  end
  return true
end

--- summary.best(exp, given): see Experiment:best.
function summary.best(exp, given)
  local o = options.check("experiment:best", given or {}, best_rules, 0)
  local about, best = asked(exp, o), nil
  local value, names = single(about), {}
  for name, limit in next, o.most do
    if type(limit) ~= "number" then
      fail("option most: %s is %s; it takes a number for a result", options.show(name),
        options.show(limit))
    end
    check_names({ name }, columns_known(exp), "result")
  end
  for _, name in ipairs(exp.options) do
    if not contains(about.over, name) then names[#names + 1] = name end
  end
  for _, group in ipairs(grouped(about.rows, names)) do
    local one = mean_of(group.rows, value, about.over)
    local better = one and one.mean == one.mean and (not best
      or o.smallest and one.mean < best.mean or not o.smallest and one.mean > best.mean)
    if better and within(group.rows, o.most, about.over) then
      best = { cell = group.cell, mean = one.mean, error = one.error, count = one.count }
    end
  end
  if not best and next(o.most) then return nil end
  if not best then fail("no cell has a number in '%s'", value) end
  return shown.best(best, value)
end

-- ------------ beside published numbers

local compare_rules = rules{
  published = { type = "table or string", takes = "a table, or the path of a .csv file" },
  rows = { type = "any", test = is_names, takes = "a name or a list of names", required = true },
  columns = { type = "string" }, value = { type = "string" },
  digits = { type = "integer", low = 0, high = 12 }, runs = { type = "integer", low = 1 },
  title = { type = "string" }, label = { type = "string" },
  smallest = { type = "boolean" }, to = { choices = { "best", "first" } },
  ratio = { type = "number", low = 0 } }
options.declare("experiment:compare", compare_rules)

-- Options of one way to compare, and the way: with published numbers or among the cells.
local function check_way(o)
  local others = o.published and { "smallest", "to", "ratio" } or { "digits", "runs", "label" }
  for _, name in ipairs(others) do
    if o[name] ~= nil then
      fail(o.published and "option '%s' is for comparisons among the cells, without published ="
        or "option '%s' goes with published = ", name)
    end
  end
end

--- summary.compare(exp, given): see Experiment:compare.
function summary.compare(exp, given)
  local o = options.check("experiment:compare", given, compare_rules, 0)
  check_way(o)
  local about, list = asked(exp, o), {}
  local value, names = single(about), list_of(o.rows)
  names[#names + 1] = o.columns
  check_names(names, exp.options, "option")
  check_covered(about, names)
  local groups = grouped(about.rows, names)
  for _, group in ipairs(groups) do
    group.labels = line_of(group, names, {}).labels
    local one = mean_of(group.rows, value, about.over)
    if one then
      -- of the result with that name if there is one, else of the cell
      local seconds = mean_of(group.rows, "seconds", about.over)
      list[#list + 1] = { labels = group.labels, mean = one.mean,
        error = one.error, count = one.count, seconds = seconds and seconds.mean }
    end
  end
  if not o.published then
    local is_result = false
    for _, name in ipairs(exp.columns) do is_result = is_result or name == value end
    return require("scullery.experiment.pairing").compare(groups, { over = about.over,
      value = value, measured = measured[value] and not is_result,
      subject = table.concat(names, ", "), title = o.title, ratio = o.ratio,
      larger = o.smallest == false, to = o.to, notes = notes_of(exp, about) })
  end
  local known = o.published
  if type(known) == "string" then
    known = require("scullery.experiment.published").read(known, names, value)
  end
  return comparison.new{ groups = list, names = names, value = value, published = known,
    partial = known ~= o.published, digits = o.digits, runs = o.runs, title = o.title,
    label = o.label or comparison.LABEL, notes = notes_of(exp, about) }
end

return summary
