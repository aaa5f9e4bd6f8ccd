--- Groups of rows of an experiment: cells that differ only in their seeds are one group, whose
--- results have a mean and its standard error.
local seeds = require "scullery.experiment.seeds"
local values = require "scullery.experiment.values"

local groups = {}

local function is_number(value) return type(value) == "number" end

-- ------------ options

-- The table key for a value. Texts of cells contain no zero bytes.
local function key_of(value)
  return values.is_scalar(value) and value or "\0" .. values.identity{ value }
end

-- { name, values in order, numeric, everywhere = true if each cell has it } for each option, sorted
-- by name.
local function read_options(rows)
  local known, count = {}, {}
  for _, row in ipairs(rows) do
    for name, value in pairs(row.cell) do
      local one = known[name] or { name = name, values = {}, seen = {}, numeric = true }
      local identity = key_of(value)
      if not one.seen[identity] then
        one.values[#one.values + 1], one.seen[identity] = value, true
        one.numeric = one.numeric and is_number(value) and math.abs(value) < math.huge
      end
      known[name], count[name] = one, (count[name] or 0) + 1
    end
  end
  local list = {}
  for i, name in ipairs(values.sorted(known)) do
    list[i] = known[name]
    table.sort(list[i].values, values.less)
    list[i].everywhere, list[i].seen = count[name] == #rows, nil
  end
  return list
end

-- Splits the options into those that make the groups, seeds, and those that are constant.
local function sort_options(rows)
  local varying, repeated, fixed = {}, {}, {}
  for _, one in ipairs(read_options(rows)) do
    local same = #one.values == 1 and one.everywhere
    local into = same and fixed or seeds.is(one.name) and repeated or varying
    into[#into + 1] = one
  end
  return varying, repeated, fixed
end

-- ------------ results

-- Names of results that are numbers wherever they occur, and of all others.
local function sort_results(rows)
  local numeric, other = {}, {}
  for _, row in ipairs(rows) do
    for name, value in pairs(row.result or {}) do
      local into = is_number(value) and numeric or other
      into[name] = true
    end
  end
  for name in pairs(other) do numeric[name] = nil end
  return values.sorted(numeric), values.sorted(other)
end

-- Means over the finished rows; repeated: the names of the seeds.
local function add_means(group, names, repeated)
  group.results = {}
  for _, name in ipairs(names) do
    group.results[name] = seeds.mean(group.done, function(row) return row.result[name] end,
      repeated)
  end
  group.seconds = seeds.mean(group.done, function(row) return row.seconds end, repeated)
  group.results.seconds = group.results.seconds or group.seconds
  for _, row in ipairs(group.done) do
    group.memory = row.memory and math.max(group.memory or 0, row.memory) or group.memory
  end
end

-- ------------ groups

--- groups.names_of(options): a list of the names of these options.
function groups.names_of(options)
  local names = {}
  for i, one in ipairs(options) do names[i] = one.name end
  return names
end
local names_of = groups.names_of

-- A value as a text, injective also for concatenated values. 1 and 1.0 are one value.
local function key_text(value)
  local key = key_of(value)
  if is_number(key) then
    local whole = math.tointeger(key)
    key = whole and ("%d"):format(whole) or ("%.17g"):format(key)
  end
  return ("%s %s"):format(type(value), string.pack("s", tostring(key)))
end

-- The options of a row that determine its group, and a text that identifies the group.
local function cell_of(row, options)
  local cell, keys = {}, {}
  for i, one in ipairs(options) do
    local value = row.cell[one.name]
    cell[one.name] = value
    keys[i] = value == nil and "" or key_text(value)
  end
  return cell, table.concat(keys)
end

--- groups.of(rows): rows are { cell, result, seconds, memory, status }. Returns
---   list      the groups in order: { cell = the varying options, done = rows, failed = count,
---             results = { name = { mean, error, count } }, seconds (likewise), memory (maximum) }
---   varying   the options that make the groups: { name, values, numeric, everywhere }
---   seeds     the varying options that are seeds: named seed or ..._seed
---   fixed     the options that are the same in all cells
---   results   names of the results that are numbers; others: names of the other results
function groups.of(rows)
  local varying, repeated, fixed = sort_options(rows)
  local results, others = sort_results(rows)
  local list, known = {}, {}
  for _, row in ipairs(rows) do
    local cell, key = cell_of(row, varying)
    local group = known[key] or { cell = cell, done = {}, failed = 0 }
    if not known[key] then known[key], list[#list + 1] = group, group end
    if row.status == "done" then
      group.done[#group.done + 1] = row
    else
      group.failed = group.failed + 1
    end
  end
  table.sort(list, values.order(names_of(varying)))
  for _, group in ipairs(list) do add_means(group, results, names_of(repeated)) end
  return { list = list, varying = varying, seeds = repeated, fixed = fixed, results = results,
    others = others }
end

--- groups.names(options): "T, lambda" for these options.
function groups.names(options) return table.concat(names_of(options), ", ") end

--- groups.label(cell, options): "T = 100, lambda = 0.1" for these options.
function groups.label(cell, options)
  local parts = {}
  for _, one in ipairs(options) do
    local value = cell[one.name]
    if value ~= nil then parts[#parts + 1] = one.name .. " = " .. values.show(value) end
  end
  return table.concat(parts, ", ")
end

return groups
