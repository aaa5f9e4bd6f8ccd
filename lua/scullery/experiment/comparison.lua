--- Comparison of the results of an experiment with published numbers.
local csv_text = require "scullery.base.csv_text"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local shown = require "scullery.experiment.shown"
local text_table = require "scullery.base.text_table"
local values = require "scullery.experiment.values"

local Comparison = objects.class("comparison", { example = "comparison",
  fields = "names value rows notes digits title label" })

local comparison = { class = Comparison }

local MANY = 2 -- differences beyond this many standard errors are marked

local function fail(...) error(string.format(...), 0) end

-- ------------ the published numbers

local function is_number(value) return type(value) == "number" and value == value end

-- A published value: a number, or { number, its standard error }.
local function leaf_of(value, path)
  if is_number(value) then return { mean = value } end
  if type(value) == "table" and is_number(value[1]) and #value <= 2
    and (value[2] == nil or is_number(value[2]) and value[2] >= 0) then
    return { mean = value[1], error = value[2] }
  end
  fail("option 'published' takes numbers or { number, standard error }, and has %s for %s",
    options.show(value), table.concat(path, ", "))
end

-- All leaves of tables nested to that depth: { labels = { text of each level }, mean, error }.
local function leaves_of(tree, depth, path, list)
  if depth == 0 then
    local leaf = leaf_of(tree, path)
    leaf.labels = { table.unpack(path) }
    list[#list + 1] = leaf
    return list
  end
  if type(tree) ~= "table" then
    fail("option 'published' takes a table for each value of the options compared, and has %s for \z
      %s", options.show(tree), #path > 0 and table.concat(path, ", ") or "all of them")
  end
  for key, below in next, tree do
    path[#path + 1] = values.show(key)
    leaves_of(below, depth - 1, path, list)
    path[#path] = nil
  end
  return list
end

-- A text that identifies a list of labels.
local function key_of(labels)
  local parts = {}
  for i, label in ipairs(labels) do parts[i] = ("%q"):format(label) end
  return table.concat(parts, ",")
end

-- ------------ beside ours

-- The difference beyond the effect of rounding to `digits`, in standard errors of the difference;
-- nil if neither number has a standard error.
local function ratio_of(row, digits)
  local rounding = digits and 0.5 * 10.0 ^ -digits or 0
  local excess = math.max(math.abs(row.difference) - rounding * (1 + 1e-9), 0)
  local square = (row.error or 0) ^ 2 + (row.published_error or 0) ^ 2
  if excess == 0 then return 0.0 end
  if row.error == nil and row.published_error == nil then return nil end
  local noise = 1e-12 * math.max(math.abs(row.mean), math.abs(row.mean - row.difference))
  return square > noise ^ 2 and excess / math.sqrt(square) or math.huge -- 0 but for rounding
end

-- The standard error of a published mean of `runs` runs without one, from the spread of our runs.
local function error_of(leaf, group, runs)
  if leaf.error or not runs or not group.error then return leaf.error end
  return group.error * math.sqrt(group.count / runs)
end

local function row_of(group, leaf, digits, runs)
  local row = { labels = group.labels, mean = group.mean, error = group.error,
    count = group.count, seconds = group.seconds }
  if leaf then
    row.published, row.published_error = leaf.mean, error_of(leaf, group, runs)
    row.difference = row.mean - leaf.mean
    row.ratio = ratio_of(row, digits)
  end
  return row
end

local function counted(count, noun)
  return ("%d %s%s"):format(count, noun, count == 1 and "" or "s")
end

--- comparison.new{ groups = { { labels, mean, error, count, seconds }, ... }, names =, value =,
--- published =, digits =, runs =, title =, label =, notes =, partial = }: see exp:compare. partial:
--- published numbers without a cell of ours are not noted, as those of a file are not.
function comparison.new(given)
  local leaves, found = {}, 0
  for _, leaf in ipairs(leaves_of(given.published, #given.names, {}, {})) do
    local key = key_of(leaf.labels)
    if leaves[key] then
      fail("option 'published' has two numbers for %s", table.concat(leaf.labels, ", "))
    end
    leaves[key] = leaf
  end
  local self = { names = given.names, value = given.value, rows = {}, digits = given.digits,
    title = given.title, label = given.label, notes = given.notes }
  for _, group in ipairs(given.groups) do
    local leaf = leaves[key_of(group.labels)]
    self.rows[#self.rows + 1] = row_of(group, leaf, given.digits, given.runs)
    if leaf then found, leaves[key_of(group.labels)] = found + 1, nil end
  end
  local missing = {}
  for _, leaf in pairs(leaves) do missing[#missing + 1] = table.concat(leaf.labels, ", ") end
  if #missing > 0 and not given.partial then
    table.sort(missing)
    table.insert(self.notes, ("%s without a cell of ours: %s"):format(
      counted(#missing, "published number"), table.concat(missing, "; ")))
  end
  if given.runs then
    table.insert(self.notes, ("the errors of the published numbers, of %s, are from the spread of \z
      ours"):format(counted(given.runs, "run")))
  end
  if found == 0 then
    table.insert(self.notes, "no cell has a published number")
  end
  return setmetatable(self, Comparison)
end

-- ------------ as a table

local function with_error(mean, error, digits)
  if not mean then return "-" end
  if not digits or mean ~= mean then return shown.mean{ mean = mean, error = error } end
  local said = ("%%.%df"):format(digits):format(mean)
  return error and error == error and ("%s +- %.2g"):format(said, error) or said
end

local function difference_text(row, digits)
  if not row.difference then return "-" end
  if row.difference ~= row.difference then return "nan" end -- some systems print "-nan"
  return (digits and ("%%+.%df"):format(digits) or "%+.3g"):format(row.difference)
end

local function ratio_text(row)
  if not row.ratio then return "-" end
  return row.ratio == math.huge and "inf" or ("%.1f"):format(row.ratio)
end

comparison.LABEL = "published"

-- The same without the numbers that ours are compared with.
local function cells_alone(self)
  local heads, rows = { table.unpack(self.names) }, {}
  for _, name in ipairs{ "ours", "seconds" } do heads[#heads + 1] = name end
  for i, row in ipairs(self.rows) do
    rows[i] = { table.unpack(row.labels) }
    table.insert(rows[i], with_error(row.mean, row.error, self.digits and self.digits + 1))
    table.insert(rows[i], row.seconds and ("%.3g"):format(row.seconds) or "-")
  end
  return heads, rows, {}
end

--- comparison.cells(self, stand_in): its column headings, its rows as texts, and its notes. Of a
--- stand-in for the data of published numbers these are left out.
function comparison.cells(self, stand_in)
  if stand_in and self.label == comparison.LABEL then return cells_alone(self) end
  local heads = { table.unpack(self.names) }
  for _, name in ipairs{ self.label, "ours", "difference", "standard errors", "seconds" } do
    heads[#heads + 1] = name
  end
  local rows, finer = {}, self.digits and self.digits + 1
  for i, row in ipairs(self.rows) do
    local line = { table.unpack(row.labels) }
    line[#line + 1] = with_error(row.published, row.published_error, self.digits)
    line[#line + 1] = with_error(row.mean, row.error, finer)
    line[#line + 1] = difference_text(row, finer)
    line[#line + 1] = ratio_text(row)
    line[#line + 1] = row.seconds and ("%.3g"):format(row.seconds) or "-"
    rows[i] = line
  end
  return heads, rows, self.notes
end

function Comparison:__tostring()
  local heads, rows = comparison.cells(self)
  local lines, sides = { heads }, {}
  table.move(rows, 1, #rows, 2, lines)
  for j = #self.names + 1, #heads do sides[j] = "right" end
  local text = text_table.lines(lines, { sides = sides })
  table.move(self.notes, 1, #self.notes, #text + 1, text)
  return table.concat(text, "\n")
end

--- comparison:differs([most = 2]): the rows whose result differs from the published number by more
--- than `most` standard errors, beyond the effect of rounding.
function Comparison:differs(most)
  most = most == nil and MANY or most
  options.expect(type(most) == "number", "a number of standard errors", most)
  local list = {}
  for _, row in ipairs(self.rows) do
    if row.ratio and row.ratio > most then list[#list + 1] = row end
  end
  return list
end

local function field(value)
  if value == nil then return "" end
  return value == value and ("%.17g"):format(value) or "nan"
end

--- comparison:save("c.csv"): one line for each row: the compared options, published,
--- published_error, mean, error (standard errors), count, difference, ratio (the difference in
--- standard errors) and seconds. The file appears complete or not at all.
function Comparison:save(path)
  csv_text.check_path(path)
  local fields = { "published", "published_error", "mean", "error", "count", "difference", "ratio",
    "seconds" }
  local lines = { table.move(fields, 1, #fields, #self.names + 1, { table.unpack(self.names) }) }
  for _, row in ipairs(self.rows) do
    local line = { table.unpack(row.labels) }
    for _, name in ipairs(fields) do line[#line + 1] = field(row[name]) end
    lines[#lines + 1] = line
  end
  csv_text.write(path, lines)
end

return comparison
