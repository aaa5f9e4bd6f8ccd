--- Comparison of the cells of an experiment with each other: paired differences over repetitions.
local paired = require "scullery.metrics.paired"
local seeds = require "scullery.experiment.seeds"
local values = require "scullery.experiment.values"

local pairing = {}

local function fail(...) error(string.format(...), 0) end

-- What tells repetitions apart: the values of the options in `over`.
local function repetition_of(row, over)
  local list = {}
  for i, name in ipairs(over) do
    local value = row.cell[name]
    list[i] = value == nil and "" or values.identity{ value }
  end
  return table.concat(list, "\n")
end

-- The repetitions of a group, by key: { row =, value = }; of what the cells took where there is no
-- such result (o.measured).
local function repetitions_of(group, o)
  local found, count = {}, 0
  for _, row in ipairs(group.rows) do
    local number = row.status == "done" and (o.measured and row or row.result)[o.value]
    if type(number) == "number" then
      found[repetition_of(row, o.over)] = { row = row, value = number }
      count = count + 1
    end
  end
  return found, count
end

-- The keys that all groups have, in the order of the first; and the number of repetitions that are
-- left out because a group lacks them.
local function common_keys(groups, found, counts, o)
  local list, seen, most = {}, {}, 0
  for _, count in ipairs(counts) do most = math.max(most, count) end
  for _, row in ipairs(groups[1].rows) do
    local key = repetition_of(row, o.over)
    local everywhere = not seen[key]
    for i in ipairs(groups) do everywhere = everywhere and found[i][key] ~= nil end
    seen[key] = true
    if everywhere then list[#list + 1] = key end
  end
  return list, most - #list
end

-- Means, standard errors and degrees of freedom of numbers over these rows, for paired.new: cells
-- that share a seed are dependent (seeds.mean).
local function mean_over(rows, over)
  return function(numbers)
    local number_of = {}
    for j, row in ipairs(rows) do number_of[row] = numbers[j] end
    local one = seeds.mean(rows, function(row) return number_of[row] end, over)
    return one.mean, one.error, one.count - 1
  end
end

--- pairing.compare(groups, { over =, value =, measured =, subject =, title =, ratio =, larger =,
--- to =, notes = }): the comparison of groups of cells { labels =, rows = }; see exp:compare.
function pairing.compare(groups, o)
  local found, counts, names, list = {}, {}, {}, {}
  if #groups < 2 then fail("there is one group of cells: nothing to compare it with") end
  for i, group in ipairs(groups) do
    found[i], counts[i] = repetitions_of(group, o)
    names[i] = table.concat(group.labels, ", ")
  end
  local shared, missing = common_keys(groups, found, counts, o)
  if #shared == 0 then
    fail("no repetition has a number in '%s' for each of the %d groups of cells", o.value, #groups)
  end
  local rows = {}
  for j, key in ipairs(shared) do rows[j] = found[1][key].row end
  for i in ipairs(groups) do
    list[i] = {}
    for j, key in ipairs(shared) do list[i][j] = found[i][key].value end
  end
  local notes = { ("differences to the %s, paired over %d repetitions"):format(o.to or "best",
    #shared) }
  if missing > 0 then
    notes[2] = ("%d repetitions that not all have are left out"):format(missing)
  end
  table.move(o.notes, 1, #o.notes, #notes + 1, notes)
  return paired.new{ names = names, values = list, score = o.value, larger = o.larger,
    to = o.to or "best", ratio = o.ratio, title = o.title, subject = o.subject, notes = notes,
    mean = o.ratio and paired.corrected(o.ratio) or mean_over(rows, o.over) }
end

return pairing
