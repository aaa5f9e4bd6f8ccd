--- Splits and folds: which rows are learnt from, and which are judged.
---
--- Folds are a list with the fold of each row, from 1. Folds by time overlap: they are such a list
--- (0 for rows that are only learnt from) with a field `pairs`, the list of { training rows, test
--- rows }, which counts.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local streams = require "scullery.base.streams"
local targets = require "scullery.data.targets"
local warn = require "scullery.base.warn"

local folds = {}

local SPLIT, FOLDS, GROUPS = streams.split, streams.folds, streams.groups

-- ------------ options

folds.rule = { test = function(v)
  return v == "loo" or v == "time" or math.type(v) == "integer" and v >= 2 or options.is_list(v)
end, takes = "a whole number of at least 2, \"loo\", \"time\", or a list of fold numbers" }

folds.groups_rule = { test = function(v)
  return v == false or type(v) == "string" or core.is_matrix(v) or options.is_list(v)
end, takes = "a list of n values, a column's name, or false" }

folds.count_rule = { type = "integer", low = 1 }
folds.gap_rule = { type = "number", low = 0 }
folds.horizon_rule = { test = function(v) return type(v) == "number" and v > 0 end,
  takes = "a number above 0, in the unit of the time column (rows without one)" }

-- ------------ groups and times of rows

-- A list or a matrix of one row or column as an n x 1 matrix of finite numbers; raises an error
-- that begins with `what` for anything else.
local function column_of(given, n, what)
  local read, m = pcall(core.matrix, given)
  if not read then fail("%s: %s", what, m) end
  if m:cols() ~= 1 and m:rows() == 1 then m = m:t():copy() end
  if m:rows() ~= n or m:cols() ~= 1 then
    fail("there are %d rows, and %s is %d x %d", n, what, m:rows(), m:cols())
  end
  local finite, row = m:isfinite()
  if not finite then fail("%s is not finite in row %d", what, row) end
  return m
end

--- folds.texts: groups (n x 1) that were texts -> these, sorted: group k is text k.
folds.texts = setmetatable({}, { __mode = "k" })

--- folds.groups_of(given, n): n texts or numbers as an n x 1 matrix; texts become their places in
--- their sorted list.
function folds.groups_of(given, n)
  if not options.is_list(given) or type(given[1]) ~= "string" then
    return column_of(given, n, "groups")
  end
  if #given ~= n then fail("there are %d rows, and groups has %d texts", n, #given) end
  local place, list, codes = {}, {}, {}
  for i, text in ipairs(given) do
    if type(text) ~= "string" then
      fail("groups holds a text in row 1 and a %s in row %d", type(text), i)
    end
    if not place[text] then place[text], list[#list + 1] = true, text end
  end
  table.sort(list)
  for k, text in ipairs(list) do place[text] = k end
  for i, text in ipairs(given) do codes[i] = place[text] end
  local groups = core.matrix(codes)
  folds.texts[groups] = list
  return groups
end

--- folds.times_of(given, n): n numbers as an n x 1 matrix.
function folds.times_of(given, n) return column_of(given, n, "time") end

local column_name = setmetatable({}, { __mode = "k" }) -- of groups that are a column

-- The groups that an option asks for, n x 1, by default those of the data set; nil for none.
local function wanted_groups(ds, given)
  if given == false then return nil end
  if given == nil then return ds.groups end
  if type(given) ~= "string" then return folds.groups_of(given, #ds) end
  for j, name in ipairs(ds.names or {}) do
    if name == given and ds.X then
      local column = ds.X:column(j)
      column_name[column] = name
      return column
    end
  end
  fail("option 'groups' names the column '%s', which the data set does not have%s", given,
    options.nearest(given, ds.names or {}) and " (did you mean '"
      .. options.nearest(given, ds.names) .. "'?)" or "")
end

local printed = setmetatable({}, { __mode = "k" }) -- matrix of groups -> lines already printed

-- Prints a line about the groups of a data set, each line once.
local function tell(groups, line)
  local said = printed[groups] or {}
  printed[groups] = said
  if not said[line] then warn(line) end
  said[line] = true
end

local function group_name(ds, groups)
  local own = rawequal(groups, ds.groups) and ds.schema and ds.schema.groups
  local name = own or column_name[groups]
  return name and (" of '%s'"):format(name) or ""
end

-- Prints a line if ids that the user gave, one for each row, differ within a group. what: the
-- subject and verb of the line, "folds cut".
local function tell_cut(ds, groups, ids, what)
  local id_of = {}
  for i = 1, #ds do
    local value = groups:get(i, 1)
    if (id_of[value] or ids[i]) ~= ids[i] then
      tell(groups, ("the given %s groups%s"):format(what, group_name(ds, groups)))
      return
    end
    id_of[value] = ids[i]
  end
end

local IN_TIME = "folds = \"time\" of p:cv and p:search learns from earlier rows alone"

-- Prints a line if rows that have times are divided at random. what: the subject, verb and object
-- of the line; instead: how to have an order.
local function tell_random(ds, what, instead)
  if not ds.time then return end
  local name = ds.schema and ds.schema.time
  tell(ds.time, ("%s at random, although they have times%s: %s"):format(what,
    name and (" ('%s')"):format(name) or "", instead))
end

--- folds.tell_cut(ds, test): prints a line if a given split, the row numbers of its test part, cuts
--- groups of the data set.
function folds.tell_cut(ds, test)
  if not ds.groups then return end
  local ids = {}
  for i = 1, #ds do ids[i] = 1 end
  for _, i in ipairs(test) do ids[i] = 2 end
  tell_cut(ds, ds.groups, ids, "split cuts")
end

-- ------------ strata

-- Whether rows are divided class by class; raises an error if that was asked for and cannot be
-- done.
local function wants_strata(ds, asked)
  if asked == nil then return ds.task == "classification" and ds.y ~= nil end
  if asked and (ds.task ~= "classification" or not ds.y) then
    fail("stratify = true is for a classification with labels in memory")
  end
  return asked
end

-- class_at(i): the position of row i's class.
local function class_of_rows(ds)
  local place, y = targets.places(ds.classes), ds.y
  return function(i)
    local k = place[y:get(i, 1)]
    if not k then
      fail("row %d has the label %s, which is not one of the classes", i, options.show(y:get(i, 1)))
    end
    return k
  end
end

-- Row numbers in a seeded order, as one list for each stratum.
local function shuffled_strata(ds, o, stream)
  local order = core.permutation(#ds, o.seed, stream)
  if not wants_strata(ds, o.stratify) then return { order } end
  local lists, class_at = {}, class_of_rows(ds)
  for k = 1, #ds.classes do lists[k] = {} end
  for _, i in ipairs(order) do table.insert(lists[class_at(i)], i) end
  return lists
end

-- ------------ groups on one side

-- A list of groups, each { rows = row numbers, counts = rows of each stratum }, in a seeded order,
-- larger ones first. Groups are first sorted by their value, so that the order of the rows does not
-- matter.
local function shuffled_groups(ds, groups, o)
  local of, values = {}, {}
  local class_at = wants_strata(ds, o.stratify) and class_of_rows(ds) or function() return 1 end
  for i = 1, #ds do
    local value = groups:get(i, 1)
    if not of[value] then
      of[value], values[#values + 1] = { rows = {}, counts = {} }, value
    end
    local group, k = of[value], class_at(i)
    group.rows[#group.rows + 1] = i
    group.counts[k] = (group.counts[k] or 0) + 1
  end
  table.sort(values)
  local list = {}
  for place, at in ipairs(core.permutation(#values, o.seed, GROUPS)) do
    list[place] = of[values[at]]
    list[place].place = place
  end
  table.sort(list, function(a, b)
    if #a.rows ~= #b.rows then return #a.rows > #b.rows end
    return a.place < b.place
  end)
  return list
end

-- The side of each row, for sides that should get these shares of each stratum; second: the rows of
-- each side. Groups are placed one by one, each on the side where it adds least (or removes most)
-- to the squared differences from the wanted numbers of rows, relative to these numbers, over all
-- strata and the rows in all.
local function divide_groups(list, n, shares)
  local total, has, side = {}, {}, {}
  for _, group in ipairs(list) do
    for k, count in pairs(group.counts) do total[k] = (total[k] or 0) + count end
  end
  for s = 1, #shares do has[s] = { rows = 0 } end
  for _, group in ipairs(list) do
    local best, least
    for s, share in ipairs(shares) do
      local cost = 0
      for k, count in pairs(group.counts) do
        local wanted = share * total[k]
        cost = cost + count * (2 * ((has[s][k] or 0) - wanted) + count) / wanted
      end
      cost = cost + #group.rows * (2 * (has[s].rows - share * n) + #group.rows) / (share * n)
      if not least or cost < least then best, least = s, cost end
    end
    has[best].rows = has[best].rows + #group.rows
    for k, count in pairs(group.counts) do has[best][k] = (has[best][k] or 0) + count end
    for _, i in ipairs(group.rows) do side[i] = best end
  end
  return side, has
end

-- ------------ two parts

-- The number of rows of each stratum that go to the test part: proportional to the stratum's size,
-- rounded so that they add up to `total`. A stratum of two or more rows has at least one row on
-- each side if the total allows it.
local function allot(sizes, total)
  local n, several = 0, 0
  for _, size in ipairs(sizes) do
    n = n + size
    if size >= 2 then several = several + 1 end
  end
  local both_sides = total >= several and n - total >= several
  local take, gap, left = {}, {}, total
  for k, size in ipairs(sizes) do
    local wanted = total * size / n
    local low, high = 0, size
    if both_sides and size >= 2 then low, high = 1, size - 1 end
    take[k] = math.min(math.max(math.floor(wanted), low), high)
    gap[k] = wanted - take[k]
    left = left - take[k]
    sizes[k] = { low = low, high = high }
  end
  while left ~= 0 do -- move one row at a time, largest rounding error first
    local step, best = left > 0 and 1 or -1, nil
    for k, bounds in ipairs(sizes) do
      local free = step > 0 and take[k] < bounds.high or step < 0 and take[k] > bounds.low
      if free and (not best or step * gap[k] > step * gap[best]) then best = k end
    end
    take[best], gap[best], left = take[best] + step, gap[best] - step, left - step
  end
  return take
end

-- The training and test rows of a split that keeps groups together, with about `total` test rows.
local function split_groups(ds, groups, o, total, name)
  local list, n = shuffled_groups(ds, groups, o), #ds
  if #list < 2 then fail("all rows are in one group: groups = false splits it") end
  local side, has = divide_groups(list, n, { total / n, 1 - total / n })
  local train, test = {}, {}
  for i = 1, n do table.insert(side[i] == 1 and test or train, i) end
  if has[1].rows == 0 or has[2].rows == 0 then
    fail("option '%s' got %.14g of %d rows, and every group is larger: groups = false cuts groups",
      name, o.test, n)
  end
  tell(groups, ("the split keeps the %d groups%s together: %d of %d rows are the test part"):format(
    #list, group_name(ds, groups), #test, n))
  return train, test
end

-- The training and test rows of a random split, with each class in proportion if o asks for it.
local function split_strata(ds, o, total)
  local strata, sizes, train, test = shuffled_strata(ds, o, SPLIT), {}, {}, {}
  for k, rows in ipairs(strata) do sizes[k] = #rows end
  local take = allot(sizes, total)
  for k, rows in ipairs(strata) do
    table.move(rows, 1, take[k], #test + 1, test)
    table.move(rows, take[k] + 1, #rows, #train + 1, train)
  end
  table.sort(train)
  table.sort(test)
  return train, test
end

-- The last rows are the test part.
local function split_in_order(ds, groups, total)
  local train, test, n = {}, {}, #ds
  for i = 1, n do table.insert(i <= n - total and train or test, i) end
  if groups then
    tell(groups, ("shuffle = false: the split goes by the order of rows and cuts groups%s"):format(
      group_name(ds, groups)))
  end
  return train, test
end

--- folds.split(ds, o, name): the sorted row numbers of the training part and of the test part. o:
--- test, seed, stratify, groups, shuffle (see ds:split); quiet: no line about times. name: the
--- option that o.test came from, for errors.
function folds.split(ds, o, name)
  local n = #ds
  name = name or "test"
  if n < 2 then fail("a data set of %d row%s cannot be split", n, n == 1 and "" or "s") end
  local total = o.test < 1 and math.min(math.ceil(o.test * n - 1e-9), n - 1)
    or math.tointeger(o.test)
  if total >= n then
    fail("option '%s' got %.14g of %d rows; some must be left to train on", name, o.test, n)
  end
  local groups = wanted_groups(ds, o.groups)
  if o.shuffle == false then return split_in_order(ds, groups, total) end
  if not o.quiet then
    tell_random(ds, "the split divides rows", name == "holdout" and IN_TIME
      or "shuffle = false of ds:split tests the last rows")
  end
  if groups then return split_groups(ds, groups, o, total, name) end
  return split_strata(ds, o, total)
end

-- ------------ folds

-- Each row, or each group, is a fold.
local function one_by_one(ds, groups)
  local ids, of, count = {}, {}, 0
  for i = 1, #ds do
    local value = groups and groups:get(i, 1) or i
    if not of[value] then
      count = count + 1
      of[value] = count
    end
    ids[i] = of[value]
  end
  if count < 2 then fail("folds = \"loo\": all rows are in one group") end
  if groups then
    tell(groups, ("folds = \"loo\": each of the %d groups%s is a fold"):format(count,
      group_name(ds, groups)))
  end
  return ids
end

-- k folds of consecutive rows.
local function in_order(ds, groups, k)
  local ids, n = {}, #ds
  for i = 1, n do ids[i] = (i - 1) * k // n + 1 end
  if groups then
    tell(groups, ("shuffle = false: folds are consecutive rows and cut groups%s"):format(
      group_name(ds, groups)))
  end
  return ids
end

-- k folds that keep groups together.
local function by_groups(ds, groups, o, k)
  local list, shares = shuffled_groups(ds, groups, o), {}
  if #list < k then
    fail("%d folds of %d group%s: give fewer folds, or groups = false", k, #list,
      #list == 1 and "" or "s")
  end
  for s = 1, k do shares[s] = 1 / k end
  if not o.quiet then
    tell(groups, ("folds keep the %d groups%s together"):format(#list, group_name(ds, groups)))
  end
  return (divide_groups(list, #ds, shares))
end

-- k random folds whose sizes differ by one row at most, also within each class if o asks for it.
local function at_random(ds, o, k)
  local ids, next_fold = {}, 0
  if not ds.X then -- a stream: folds cannot be stratified, its labels are not in memory
    for place, row in ipairs(core.permutation(#ds, o.seed, FOLDS)) do
      ids[row] = (place - 1) % k + 1
    end
    return ids
  end
  for _, stratum in ipairs(shuffled_strata(ds, o, FOLDS)) do
    for _, row in ipairs(stratum) do
      ids[row] = next_fold % k + 1
      next_fold = next_fold + 1
    end
  end
  return ids
end

-- Folds that the user gave as a list of fold numbers; raises an error unless they are 1 to at least
-- 2 without a gap.
local function check_given(ds, groups, list)
  local n, seen, most = #ds, {}, 0
  if #list ~= n then fail("option 'folds' has %d fold numbers for %d rows", #list, n) end
  local ids = {}
  for i, fold in ipairs(list) do
    ids[i] = math.tointeger(fold)
    if not ids[i] or ids[i] < 1 or ids[i] > n then
      fail("option 'folds' holds %s in place %d; it takes whole numbers from 1",
        options.show(fold), i)
    end
    seen[ids[i]], most = true, math.max(most, ids[i])
  end
  for f = 1, most do if not seen[f] then fail("option 'folds' has no row in fold %d", f) end end
  if most < 2 then fail("option 'folds' puts all rows into one fold") end
  if groups then tell_cut(ds, groups, ids, "folds cut") end
  return ids
end

-- Rows from first to last by time, and their times.
local function rows_in_time(ds)
  local rows, at = {}, {}
  for i = 1, #ds do rows[i], at[i] = i, ds.time and ds.time:get(i, 1) or i end
  table.sort(rows, function(a, b)
    if at[a] ~= at[b] then return at[a] < at[b] end
    return a < b
  end)
  return rows, at
end

-- Expanding windows: the rows in order of time are cut into count + 1 parts of about equal size,
-- never between rows of one time; fold f is part f + 1, learnt from all rows before it.
local function by_time(ds, groups, o)
  local rows, at = rows_in_time(ds)
  local n, count, gap = #rows, o.count or 5, o.gap or 0
  local starts = {}
  for f = 1, count do
    local place = math.max(f * n // (count + 1) + 1, (starts[f - 1] or 1) + 1)
    while place <= n and at[rows[place]] == at[rows[place - 1]] do place = place + 1 end
    if place > n then
      fail("folds = \"time\": %d folds need at least %d different times", count, count + 1)
    end
    starts[f] = place
  end
  local ids = { pairs = {} }
  for i = 1, n do ids[i] = 0 end
  for f, first in ipairs(starts) do
    local train, test, begin = {}, {}, at[rows[first]]
    for place = first, (starts[f + 1] or n + 1) - 1 do
      local row = rows[place]
      if not o.horizon or at[row] < begin + o.horizon then
        test[#test + 1], ids[row] = row, f
      end
    end
    for place = 1, first - 1 do
      if at[rows[place]] < begin - gap then train[#train + 1] = rows[place] end
    end
    if #train == 0 then
      fail("folds = \"time\": a gap of %.14g leaves no row before fold %d to learn from", gap, f)
    end
    table.sort(train)
    table.sort(test)
    ids.pairs[f] = { train, test }
  end
  if groups then
    tell(groups, ("folds = \"time\" cuts groups%s"):format(group_name(ds, groups)))
  end
  return ids
end

--- folds.of(ds, o): the folds of the rows. o: folds (a number of folds, "loo", "time", or a list),
--- and seed, stratify, groups, shuffle, count, gap, horizon (see ds:fold_ids and p:cv); quiet: no
--- line about groups or times.
function folds.of(ds, o)
  local how, n, groups = o.folds, #ds, wanted_groups(ds, o.groups)
  for _, name in ipairs{ "count", "gap", "horizon" } do
    if o[name] and how ~= "time" then
      fail("option '%s' goes with folds = \"time\"", name)
    end
  end
  if options.is_list(how) then return check_given(ds, groups, how) end
  if how == "time" then return by_time(ds, groups, o) end
  if how == "loo" then return one_by_one(ds, groups) end
  if how > n then fail("%d folds of %d rows", how, n) end
  if o.shuffle == false then return in_order(ds, groups, how) end
  if not o.quiet then tell_random(ds, "folds divide rows", IN_TIME) end
  if groups then return by_groups(ds, groups, o, how) end
  return at_random(ds, o, how)
end

--- folds.number(ids): how many folds are judged.
function folds.number(ids)
  if ids.pairs then return #ids.pairs end
  local most = 0
  for _, fold in ipairs(ids) do most = math.max(most, fold) end
  return most
end

--- folds.rows(ids, f): the row numbers that fold f is learnt from, and those that it judges.
function folds.rows(ids, f)
  if ids.pairs then return table.unpack(ids.pairs[f]) end
  local train, test = {}, {}
  for i, fold in ipairs(ids) do table.insert(fold == f and test or train, i) end
  return train, test
end

return folds
