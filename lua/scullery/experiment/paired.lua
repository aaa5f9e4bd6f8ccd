--- What is best among groups of cells, and by how much: differences over the same seeds.
local criteria = require "scullery.model.criteria"
local seeds = require "scullery.experiment.seeds"
local values = require "scullery.experiment.values"

local paired = {}

local data_names = { data = true, dataset = true, data_set = true, set = true }
local MOST_SETS = 12

local costs = { seconds = true, processor_seconds = true, memory = true, time = true }

--- paired.larger(result): true if larger values of a result are better and false if smaller ones
--- are, by its name or a word of it (metrics, times and memory), as in "test_error"; nil if the
--- name does not tell.
function paired.larger(result)
  if costs[result] then return false end
  local larger = criteria.larger(result)
  for word in result:gmatch "[^_]+" do
    if larger == nil then larger = criteria.larger(word) end
  end
  return larger
end

--- paired.data_option(varying): the option that names the data set ("data", "dataset", "data_set"
--- or "set"), if it has 2 to 12 values; nil otherwise.
function paired.data_option(varying)
  for _, one in ipairs(varying) do
    if data_names[one.name] and #one.values > 1 and #one.values <= MOST_SETS then return one end
  end
end

--- paired.sets(grouped): the groups of each data set: a list of { value, list }; one entry without
--- a value if the option of the data set does not vary.
function paired.sets(grouped)
  local option, sets = paired.data_option(grouped.varying), {}
  if not option then return { { list = grouped.list } } end
  for i, value in ipairs(option.values) do
    sets[i] = { value = value, list = {} }
    for _, group in ipairs(grouped.list) do
      if group.cell[option.name] == value then table.insert(sets[i].list, group) end
    end
  end
  return sets
end

--- paired.best(list, result): the groups with the best mean of a result (several if they are
--- equal), as a set; empty if the result's name does not tell what is better, or if there are fewer
--- than two groups.
function paired.best(list, result)
  local larger, best, set, count = paired.larger(result), nil, {}, 0
  for _, group in ipairs(larger ~= nil and list or {}) do
    local one = group.results[result]
    if one and one.mean == one.mean then
      count = count + 1
      local mean = larger and -one.mean or one.mean
      if not best or mean < best then best, set = mean, {} end
      if mean == best then set[group] = true end
    end
  end
  return count > 1 and set or {}
end

local function key_of(row, names)
  local own = {}
  for _, name in ipairs(names) do own[name] = row.cell[name] end
  return values.identity(own)
end

--- paired.difference(a, b, result, names): { mean, error, count } of the result of group a less
--- that of group b, over the cells with the same seeds; nil if there are none. names: of the seeds.
function paired.difference(a, b, result, names)
  local of_b, pairs_of = {}, {}
  for _, row in ipairs(b.done) do of_b[key_of(row, names)] = row.result[result] end
  for _, row in ipairs(a.done) do
    local one, other = row.result[result], of_b[key_of(row, names)]
    if type(one) == "number" and type(other) == "number" then
      pairs_of[#pairs_of + 1] = { cell = row.cell, difference = one - other }
    end
  end
  return seeds.mean(pairs_of, function(pair) return pair.difference end, names)
end

return paired
