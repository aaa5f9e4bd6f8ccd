--- Repetitions of cells: the options that are seeds, and means over repetitions.
local values = require "scullery.experiment.values"

local seeds = {}

--- seeds.is(name): true if an option of that name makes a repetition of a cell: "seed", or a name
--- that ends in "_seed".
function seeds.is(name) return name == "seed" or name:find("_seed$") ~= nil end

-- The values of an option over the cells, as numbers 1 .. count: { name, places, count }.
local function levels_of(cells, name)
  local known, one = {}, { name = name, places = {}, count = 0 }
  for i, cell in ipairs(cells) do
    local key = values.identity{ cell[name] }
    if not known[key] then one.count, known[key] = one.count + 1, one.count + 1 end
    one.places[i] = known[key]
  end
  return one
end

-- True if cells that agree in `fine` also agree in `coarse`.
local function is_within(fine, coarse)
  local of = {}
  for i, place in ipairs(fine.places) do
    of[place] = of[place] or coarse.places[i]
    if of[place] ~= coarse.places[i] then return false end
  end
  return true
end

-- The seeds that vary, without those that are a function of a finer or an earlier one.
local function crossed(cells, names)
  local all, list = {}, {}
  for _, name in ipairs(names) do
    local one = levels_of(cells, name)
    if one.count > 1 then all[#all + 1] = one end
  end
  for i, one in ipairs(all) do
    local kept = true
    for j, other in ipairs(all) do
      if i ~= j and is_within(one, other) then
        kept = kept and i < j and is_within(other, one)
      end
    end
    if kept then list[#list + 1] = one end
  end
  return list
end

-- Mean and number of the values at each level.
local function means_at(one, numbers)
  local means, counts = {}, {}
  for i, place in ipairs(one.places) do
    means[place], counts[place] = (means[place] or 0) + numbers[i], (counts[place] or 0) + 1
  end
  for place, count in ipairs(counts) do means[place] = means[place] / count end
  return means, counts
end

-- The variance of the mean if cells of one level are dependent:
-- G / (G - 1) sum over the G levels of ((n_g / n) (mean_g - mean))^2.
local function clustered(one, numbers, mean)
  local means, counts = means_at(one, numbers)
  local square = 0
  for place, count in ipairs(counts) do
    square = square + (count * (means[place] - mean) / #numbers) ^ 2
  end
  return square * one.count / (one.count - 1)
end

-- For two fully crossed seeds the part that both clustered variances contain: the mean square of
-- the interaction over n.
local function counted_twice(a, b, numbers, mean)
  if #numbers ~= a.count * b.count then return 0 end
  local of_a, of_b, square, seen = means_at(a, numbers), means_at(b, numbers), 0, {}
  for i, number in ipairs(numbers) do
    local p, q = a.places[i], b.places[i]
    if seen[p * #numbers + q] then return 0 end
    seen[p * #numbers + q] = true
    square = square + (number - of_a[p] - of_b[q] + mean) ^ 2
  end
  return square / ((a.count - 1) * (b.count - 1)) / #numbers
end

-- The variance of the mean of cells that differ in these seeds. For two crossed seeds it is that of
-- a two-way table of random effects, (MS_a + MS_b - MS_ab) / n (Searle, Casella and McCulloch
-- 1992); in other cases the sum over the seeds, which is conservative.
local function variance_of(list, numbers, mean)
  local sum, most = 0, 0
  for _, one in ipairs(list) do
    local variance = clustered(one, numbers, mean)
    sum, most = sum + variance, math.max(most, variance)
  end
  if #list == 2 then sum = sum - counted_twice(list[1], list[2], numbers, mean) end
  return math.max(sum, most)
end

-- The variance of the mean of independent cells.
local function independent(numbers, mean)
  local n, square = #numbers, 0
  for _, number in ipairs(numbers) do square = square + (number - mean) ^ 2 end
  return square / (n - 1) / n
end

--- seeds.mean(rows, read, names): { mean, error, count } of read(row), a number or nil, over rows
--- { cell = options }; nil if there are no numbers. names: the options that make repetitions.
--- error: the standard error of the mean, nil for a single row; with several crossed seeds it
--- accounts for the dependence of cells that share a seed.
function seeds.mean(rows, read, names)
  local cells, numbers, sum, alike = {}, {}, 0, true
  for _, row in ipairs(rows) do
    local number = read(row)
    if number then
      cells[#cells + 1], numbers[#numbers + 1], sum = row.cell, number, sum + number
      alike = alike and number == numbers[1]
    end
  end
  local n = #numbers
  if n == 0 then return nil end
  -- By rounding the mean of equal numbers could be another number, with an error above 0.
  local mean, variance = alike and numbers[1] or sum / n, nil
  if n > 1 then
    local list = crossed(cells, names)
    variance = #list > 0 and variance_of(list, numbers, mean) or independent(numbers, mean)
  end
  return { mean = mean, error = variance and math.sqrt(variance), count = n }
end

return seeds
