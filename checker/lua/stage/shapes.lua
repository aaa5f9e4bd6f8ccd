--- The test of row stages that what leaves the result of ordinary rows leaves that of few rows, of
--- many columns, of columns that are equal or constant, and of whole numbers.
local choices = require "scullery_checker.choices"
local columns = require "scullery_checker.columns"
local core = require "scullery_checker.core"
local rows = require "scullery_checker.stage.rows"

local function places(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local function thrice(M)
  return M:select(places(3 * M:rows(), function(i) return (i - 1) % M:rows() + 1 end))
end

local function backwards(M)
  return M:select(places(M:rows(), function(i) return M:rows() + 1 - i end))
end

local turned = columns.reversed

-- Squares less the square of a mean lose all digits but a few as far from 0; { distance, how far
-- the result may be off }.
local FAR <const> = { { 2.0 ^ 20, 1e-5 }, { 2.0 ^ 36, 1e-3 } }

-- Each { label, rows and targets to fit, rows to transform, what becomes of the result, how far it
-- may be off: signs show by all of it, and ends of a range may differ a little }; round: what is
-- added may be rounded, which rows without spread along an axis magnify.
local relations = {
  { "rows in reverse order", function(X, y) return backwards(X), backwards(y), X end },
  { "each row three times", few = { 55, 23, 9 }, function(X, y) -- quantiles may lie between rows
    return thrice(X), thrice(y), X
  end },
  { "rows times -1, and the result", function(X, y) return X * -1, y, X * -1 end, -1,
    0.1 },
  { "rows times -1", function(X, y) return X * -1, y, X * -1 end, 1, 0.1 },
  { "rows times 2", function(X, y) return X * 2, y, X * 2 end, divided = true },
  { "rows times 2, and the result", function(X, y) return X * 2, y, X * 2 end, 2 },
  { "targets times 2", function(X, y) return X, y * 2, X end },
  { "columns in another order, and those of the result", function(X, y)
    return turned(X), y, turned(X)
  end, turned, round = true },
  { "columns in another order", function(X, y) return turned(X), y, turned(X) end, round = true },
  { "columns + 4", function(X, y) return X + 4, y, X + 4 end, round = true,
    far = function(distance)
      return function(X, y) return X + distance, y, X + distance end
    end },
  { "targets + 4", function(X, y) return X, y + 4, X end, round = true },
  { "targets + 4, and the result", function(X, y) return X, y + 4, X end,
    function(M) return M + 4 end, round = true },
  { "targets times 2, and the result", function(X, y) return X, y * 2, X end, 2 },
  { "targets times -1", function(X, y) return X, y * -1, X end },
}

-- Column `to` of X becomes f(row, column from).
local function with_column(X, to, f)
  local made = X:copy()
  for i = 1, X:rows() do made:set(i, to, f(i)) end
  return made
end

-- Column j is j above its median, and -j in the other half of the rows: axes are not as long.
local function halves(X)
  local made = X:copy()
  for j = 1, X:cols() do
    local list = {}
    for i = 1, X:rows() do list[i] = X:get(i, j) end
    table.sort(list)
    local middle = list[#list // 2]
    for i = 1, X:rows() do made:set(i, j, X:get(i, j) > middle and j or -j) end
  end
  return made
end

local function shapes(t)
  local X, y = rows.random(t, 60, 4)
  local list = { { "a constant column", with_column(X, 2, function() return 3 end), y },
    { "two equal columns", with_column(X, 2, function(i) return X:get(i, 1) end), y },
    { "a column of zeros", with_column(X, 3, function() return 0 end), y },
    { "one number but for three rows", with_column(X, 3, function(i)
      return i % 20 == 0 and i / 16 or 3
    end), y, round = true },
    { "whole numbers", X:map(math.floor), y, round = true },
    { "two values", halves(X), y, round = true } }
  for _, size in ipairs{ { 9, 14 }, { 7, 300 }, { 40, 1 }, { 30, 30 }, { 2, 3 }, { 700, 3 },
    { 90, 25 }, { 270, 280 }, { 9000, 2 } } do
    local Z, z = rows.random(t, size[1], size[2], 5)
    list[#list + 1] = { ("%d rows of %d columns"):format(size[1], size[2]), Z, z, size = size,
      round = size[1] >= 40, first = size[2] == 280 } -- a second each: the first relation alone
  end
  return list, X, y
end

-- Where quantiles of a column are equal, as they may be of numbers that come again, nothing is
-- divided by their distance, and the column twice as large is right: in `made` it becomes that of
-- `want`.
local function undo_undivided(made, want, X)
  for j = 1, math.min(made:cols(), X:cols()) do
    local seen, again = {}, false
    for i = 1, X:rows() do
      again, seen[X:get(i, j)] = again or seen[X:get(i, j)], true
    end
    local wanted = want:column(j)
    if again and (made:column(j) - wanted * 2):abs():max() < 1e-9 * rows.spread(want) then
      for i = 1, made:rows() do made:set(i, j, want:get(i, j)) end
    end
  end
end

-- What nine tenths of the numbers do not exceed: at the ends of a column rounding may be magnified.
local function most_of(M)
  local list = {}
  for i = 1, M:rows() do
    for j = 1, M:cols() do list[#list + 1] = M:get(i, j) end
  end
  table.sort(list)
  return list[math.max(1, 9 * #list // 10)]
end

-- How far the relation is from holding, as a share of the largest number; nil where rows are
-- refused.
local function off_of(t, stage, relation, X, y)
  local ok, off = pcall(function()
    local want = rows.through(rows.fit(t, stage, X, y), X)
    local A, b, Z = relation[2](X, y)
    local made = rows.through(rows.fit(t, stage, A, b), Z)
    local width = math.min(made:cols(), want:cols()) -- there may be as many axes as rows
    made, want = made:slice(1, made:rows(), 1, width), want:slice(1, want:rows(), 1, width)
    if core.find_nonfinite(want) or core.find_nonfinite(made) then return nil end
    local becomes = relation[3] or 1
    want = type(becomes) == "function" and becomes(want) or want * becomes
    if relation.divided and core.stage_flags(t:instance(stage)).by_column then
      undo_undivided(made, want, X)
    end
    local gaps = (made - want):abs()
    return (relation.most and most_of(gaps) or gaps:max()) / rows.spread(want)
  end)
  return ok and off or nil
end

-- How far columns of zeros beside three, more columns than rows in all, change the result.
local function off_of_zeros(t, stage, n)
  local X, y = rows.random(t, n, 3)
  return off_of(t, stage, { "", function()
    local wide = core.hcat(X, core.zeros(n, n))
    return wide, y, wide
  end }, X, y)
end

-- Where the numbers of options are small, wide results are not, and 520 rows are fitted soon.
local function check_zeros(t)
  for _, option in ipairs(t.subject.info.options) do
    local ok, stage = pcall(t.subject.make, t.subject, { [option.name] = 3 })
    local few = ok and option.takes_integer and option.name ~= "seed" and off_of_zeros(t, stage, 9)
    local many = few and few < 1e-9 and (off_of_zeros(t, stage, 520) or math.huge) or 0
    t:expect(many < 1e-5, "%s = 3, 520 rows: columns of zeros beside three are refused, or change \z
      the result by %.3g of its size; for 9 rows it is %.3g", option.name, many, few or 0)
  end
end

local function check_shapes(t)
  local list, X, y = shapes(t)
  local any
  check_zeros(t)
  for stage in t:variants() do
    local flags = core.stage_flags(t:instance(stage))
    for _, shape in ipairs(list) do
      if shape.round and shape.size then
        rows.try(t, shape[1], function() return rows.fit(t, stage, shape[2], shape[3]) end, true)
      end
    end
    -- what comes of a model that is fitted to few rows may turn with their rounding
    local learns = (flags.simple or flags.fits) and (flags.by_column or not flags.targets)
    for _, relation in ipairs(learns and relations or {}) do
      local usual = off_of(t, stage, relation, X, y)
      if usual and usual < 1e-9 then -- by chance of this number of rows, as of quantiles?
        for _, n in ipairs(relation.few or { 55 }) do
          usual = math.max(usual, off_of(t, stage, relation, X:slice(1, n), y:slice(1, n)) or 1)
        end
      end
      for _, one in ipairs(usual and usual < 1e-9 and relation.far and FAR or {}) do
        local far = off_of(t, stage, { relation[1], relation.far(one[1]), most = true },
          X:map(function(x) return math.floor(x * 1024) / 1024 end), y)
        if not far then t:warn("columns + %g are refused, and columns + 4 are not", one[1]) end
        t:expect(not far or far < one[2], "columns + %g: the result is off by %.3g of its size, \z
          and of columns + 4 by %.3g", one[1], far or 0, usual)
      end
      for _, shape in ipairs(usual and usual < 1e-9 and list or {}) do
        any = true
        local off = (not relation[4] or shape.size) and (not relation.round or shape.round
          or flags.by_column) and (not shape.first or relation == relations[1])
          and off_of(t, stage, relation, shape[2], shape[3])
        t:expect(not off or off < (relation[4] or 1e-5), "%s: %s: the result is off by %.3g of \z
          its size, and by %.3g for 60 rows of 4 columns", shape[1], relation[1], off or 0, usual)
      end
    end
  end
  if not any then t:skip("it learns nothing from rows, or nothing that these leave") end
end

-- The variances of the columns of M, cols x 1, and their sum.
local function variances(M)
  local list, sum = core.zeros(M:cols(), 1), 0
  for j = 1, M:cols() do
    local mean, square = 0, 0
    for i = 1, M:rows() do mean = mean + M:get(i, j) / M:rows() end
    for i = 1, M:rows() do square = square + (M:get(i, j) - mean) ^ 2 / M:rows() end
    list:set(j, 1, square)
    sum = sum + square
  end
  return list, sum
end

-- By name, how far what the stage reports is from the variances of the columns that it makes, and
-- from the sum of those of the rows' own, as shares of the largest; nil where rows are refused.
local function off_of_reports(t, stage, X, y)
  local ok, offs = pcall(function()
    local fitted, reports = core.fit_stage(t:instance(stage), core.source(X, y), {}, nil)
    local made, _, total = variances(rows.through(fitted, X)), variances(X)
    local list = {}
    for name, M in pairs(reports) do
      local same = M:rows() == made:rows() and M:cols() == 1
      list[name .. ", the variances of its columns"] = same
        and (M - made):abs():max() / (made:abs():max() + 1e-300) or math.huge
      list[name .. ", the variance of the rows"] = M:rows() == 1 and M:cols() == 1
        and math.abs(M:get(1, 1) - total) / (total + 1e-300) or math.huge
    end
    return list
  end)
  return ok and offs or nil
end

-- What the numbers of a report are for usual rows they are for others.
local function check_reports(t)
  local list, X, y = shapes(t)
  local any
  for stage in t:variants() do
    for what, usual in pairs(off_of_reports(t, stage, X, y) or {}) do
      for _, shape in ipairs(usual < 1e-9 and list or {}) do
        any = true
        local off = (off_of_reports(t, stage, shape[2], shape[3]) or {})[what] or 0
        t:expect(off < 1e-6, "%s: it reports %s, off by %.3g of their size, and by %.3g for 60 \z
          rows of 4 columns", shape[1], what, off, usual)
      end
    end
  end
  if not any then t:skip("it reports no variances") end
end

-- The mean over rows and seeds of squared lengths of what it makes over those of the rows, and its
-- standard error; nil where there is no seed, or it changes nothing, or rows are refused.
local function growth(t, given)
  local SEEDS <const> = 60
  local ok, mean, error = pcall(function()
    local X, y = t:random(6, 40, 7), t:random(6, 1, 8)
    local sum, square, first, moved = 0, 0, nil, false
    for seed = 1, SEEDS do
      local with = {}
      for key, value in pairs(given) do with[key] = value end
      with.seed = seed
      local made = rows.through(rows.fit(t, t.subject:make(with), X, y), X)
      local ratio = (made:norm() / X:norm()) ^ 2
      sum, square, first = sum + ratio / SEEDS, square + ratio ^ 2 / SEEDS, first or ratio
      moved = moved or ratio ~= first
    end
    return moved and sum or nil, math.sqrt(math.max(square - sum ^ 2, 0) / SEEDS)
  end)
  return ok and mean or nil, error
end

-- Stages that draw numbers and keep squared lengths in the mean do so by each of their words.
local function check_lengths(t)
  local any
  local mean = growth(t, {})
  for _, option in ipairs(mean and math.abs(mean - 1) < 0.1 and choices.named(t.subject.info) or {})
  do
    for _, value in ipairs(choices.alternatives(option)) do
      local other, error = growth(t, { [option.name] = value })
      any = any or other ~= nil
      t:expect(not other or math.abs(other - 1) < 0.02 + 6 * error, "%s = %s: squared lengths \z
        become %.3g of what they are, on average over seeds, and %.3g by default", option.name,
        tostring(value), other or 0, mean)
    end
  end
  if not any then t:skip("it draws no numbers, or does not keep lengths, or takes no words") end
end

return {
  { name = "lengths", about = "squared lengths that it keeps in the mean are kept by each word",
    run = check_lengths },
  { name = "reports", about = "variances that it reports are those of the rows that it makes",
    run = check_reports },
  { name = "shapes", about = "what leaves the result of usual rows leaves that of few, wide and \z
    equal ones", run = check_shapes },
}
