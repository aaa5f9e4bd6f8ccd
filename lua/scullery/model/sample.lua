--- Rows by which a fit chooses options: a sample of distinct rows that depends on their contents
--- alone, and its division into folds.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local folds = require "scullery.data.folds"
local targets = require "scullery.data.targets"
local weights = require "scullery.model.weights"

local sample = { FOLDS = 5 }

local FOLDS = sample.FOLDS

--- sample.of(p, ds, most): at most `most` distinct rows as a data set in the order of their hashes,
--- so that the first rows are a smaller sample; second: for each row of ds the number of its
--- distinct row, or 0.
function sample.of(p, ds, most)
  local source = ds.X and core.source(ds.X, ds.y) or ds.source
  if ds.places then source = core.source_columns(source, ds.places) end
  local found = core.distinct_rows(source, {}, most, weights.of(ds, p.class_weights))
  local few = dataset.with(ds, { X = found.X, y = found.y, weights = found.weights,
    groups = ds.groups and ds.groups:select(found.rows),
    time = ds.time and ds.time:select(found.rows) })
  few.source, few.places, few.part_rows = nil, nil, nil
  return few, found.of
end

-- The rows of each class (of all rows in a regression), in the order of the sample.
local function strata_of(few)
  local lists, place = {}, few.task == "classification" and targets.places(few.classes)
  for k = 1, place and #few.classes or 1 do lists[k] = {} end
  for i = 1, #few do
    local k = place and place[few.y:get(i, 1)] or 1
    lists[k][#lists[k] + 1] = i
  end
  return lists
end

--- sample.folds(few): the fold of each row of the sample. With two groups or more, groups stay
--- together. Else the rows of each class, in the order of their hashes, are assigned to the folds
--- in turn; a class with fewer rows than folds continues where the last small class ended. Second:
--- whether groups stay together.
function sample.folds(few)
  local seen, k = {}, 0
  for i = 1, few.groups and #few or 0 do
    local value = few.groups:get(i, 1)
    if not seen[value] then seen[value], k = true, math.min(k + 1, FOLDS) end
  end
  if k >= 2 then return folds.of(few, { folds = k, seed = 0, quiet = true }), true end
  local ids, next_fold = {}, 0
  for _, rows in ipairs(strata_of(few)) do
    local first = #rows < FOLDS and next_fold or 0
    for at, i in ipairs(rows) do ids[i] = (first + at - 1) % FOLDS + 1 end
    if #rows < FOLDS then next_fold = next_fold + #rows end
  end
  return ids, false
end

--- sample.judged(few, ids): the folds that can be judged: those that leave rows of at least two
--- classes to learn from.
function sample.judged(few, ids)
  local held, strata, list = {}, strata_of(few), {}
  for k, rows in ipairs(strata) do
    local counts = {}
    for _, i in ipairs(rows) do
      local fold = ids[i]
      counts[fold] = (counts[fold] or 0) + 1
    end
    held[k] = counts
  end
  for f = 1, folds.number(ids) do
    local left, inside = 0, false
    for k, rows in ipairs(strata) do
      local count = held[k][f] or 0
      inside = inside or count > 0
      if count < #rows then left = left + 1 end
    end
    if inside and left >= math.min(#strata, 2) then list[#list + 1] = f end
  end
  return list
end

--- sample.sides(ds, judges, rows, of, together): 1 for each row of the data set that is among these
--- rows of the judges, or in a group of theirs if groups stay together; 2 for all others.
function sample.sides(ds, judges, rows, of, together)
  local sides, inside, groups = {}, {}, {}
  for _, i in ipairs(rows) do
    inside[i] = true
    if together then groups[judges.groups:get(i, 1)] = true end
  end
  for i = 1, #ds do
    sides[i] = (inside[math.tointeger(of:get(i, 1))] or together and groups[ds.groups:get(i, 1)])
      and 1 or 2
  end
  return sides
end

--- sample.first(ds, n): the first n rows.
function sample.first(ds, n)
  local rows = {}
  for i = 1, n do rows[i] = i end
  return ds:select(rows)
end

return sample
