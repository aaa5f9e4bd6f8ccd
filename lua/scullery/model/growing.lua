--- T = "auto": the number of parameters of the features, by doubling.
---
--- Maps of T = 50, 100, 200 and 400 parameters are compared first, and then T is doubled as long as
--- that pays. All candidates are judged by the same rows, which they did not learn from, by the
--- losses of candidates.lua. With the difference of the mean losses of two candidates and its
--- standard error, taken row by row (candidates.difference):
---
---   flat:    the last doubling lowered the loss by at most a standard error, and by at most SHARE
---   chosen:  the least T whose loss is above the least of all by at most a standard error, and by
---            at most SHARE
---
--- Few rows have large standard errors, which would hide what several doublings gain together: this
--- is what SHARE is for.
---
--- The growth also ends where T reaches the number of rows to learn from, at MOST parameters, and
--- before a step that would exceed the budget of seconds or bytes, by what the last steps took.
--- With a budget there is no MOST.
local candidates = require "scullery.model.candidates"
local core = require "scullery.core"
local options = require "scullery.base.options"

local growing = {}

local FIRST, BEGIN, MOST, MOST_WITH_BUDGET = 50, 400, 6400, 50 * 2 ^ 20
local SHARE = 0.01
local AT_WORK = 3 -- the peak of memory while a step works, in multiples of what it keeps
growing.BEGIN = BEGIN

--- growing.first(least): the first number of parameters of those that are tried, at least `least`.
function growing.first(least)
  local T = FIRST
  while T < least do T = 2 * T end
  return T
end

--- growing.rule: of the option `budget` of p:fit.
growing.rule = { takes = "{ seconds =, bytes = }, numbers above 0", test = function(budget)
  local good = type(budget) == "table" and not getmetatable(budget) and next(budget) ~= nil
  for name, value in next, good and budget or {} do
    good = good and (name == "seconds" or name == "bytes") and type(value) == "number" and value > 0
  end
  return good
end }

--- growing.step(T, lambda, judged, since): a candidate. judged: its judgement, of one column; nil
--- if its loss is not finite. since: what growing.now() returned before the step.
function growing.step(T, lambda, judged, since)
  local seconds, bytes = growing.now()
  return { T = T, lambda = lambda, judged = judged,
    loss = judged and candidates.means(judged)[1] or math.huge,
    seconds = seconds - since[1], bytes = bytes - since[2] }
end

-- The numbers of a matrix of one column as a list, and back; nil for nil.
local function list_of(column)
  if not column then return nil end
  local list = {}
  for i = 1, column:rows() do list[i] = column:get(i, 1) end
  return list
end

local function column_of(list)
  local column = list and core.zeros(#list, 1)
  for i, value in ipairs(list or {}) do column:set(i, 1, value) end
  return column
end

-- Copies of steps, whose judgements are changed by f.
local function copies(steps, f)
  local list = {}
  for k, step in ipairs(steps) do
    local judged = step.judged
    list[k] = { T = step.T, lambda = step.lambda, seconds = step.seconds, bytes = step.bytes,
      loss = step.loss, judged = judged and { losses = f(judged.losses),
        weights = f(judged.weights), groups = f(judged.groups) } }
  end
  return list
end

--- growing.plain(steps): steps without matrices, for a file; growing.restored(plain) is its
--- inverse, but for what is ready for a fit.
function growing.plain(steps) return copies(steps, list_of) end
function growing.restored(steps) return copies(steps, column_of) end

--- growing.now(): the time in seconds, and the bytes that the engine has allocated.
--- Several processes take those of process 0, so that they end alike.
function growing.now()
  local seconds, bytes = core.now(), (core.memory())
  if core.process_count() == 1 then return seconds, bytes end
  local shared = core.process_share("the time of T = \"auto\"", ("%a %d"):format(seconds, bytes))
  seconds, bytes = shared:match "^(%S+) (%S+)$"
  return tonumber(seconds), math.tointeger(bytes)
end

-- Whether the loss of step a is above that of step b by at most a standard error and SHARE. Second:
-- the share.
local function is_close(a, b)
  if not (a.judged and b.judged) then return a.loss <= b.loss end
  local gain, error = candidates.difference(candidates.beside{ a.judged, b.judged }, 1, 2)
  return gain <= error and gain <= SHARE * b.loss, gain / b.loss
end

-- The steps of the first numbers of parameters, up to `most`.
local function first_numbers(most, least)
  local list, T = {}, growing.first(least)
  repeat
    list[#list + 1] = T
    T = 2 * T
  until T > math.min(most, BEGIN)
  return list
end

--- growing.largest(rows, budget): the largest number of parameters that may be tried with so many
--- rows to learn from.
function growing.largest(rows, budget)
  local T, most = FIRST, budget and MOST_WITH_BUDGET or MOST
  while T < rows and 2 * T <= most do T = 2 * T end
  return T
end

-- What the next step is expected to take, by the numbers of the last steps: a doubling multiplies
-- it by at least 2 (the cost of T passes over the rows) and at most 8 (of T^3).
local function expected(steps, name)
  local last, before = steps[#steps][name], #steps > 1 and steps[#steps - 1][name] or 0
  local factor = steps[#steps].alone and before > 0 and last / before or 4
  return last * math.max(2, math.min(8, factor))
end

-- A sentence about the end of the growth; nil if the next doubling is to be tried.
local function ended(steps, rows, budget, began)
  local last, before = steps[#steps], steps[#steps - 1]
  local flat, share
  if before then flat, share = is_close(before, last) end
  if flat then
    return share and share > 0
      and ("from T = %d to %d the loss fell by %.2g %%"):format(before.T, last.T, 100 * share)
      or ("from T = %d to %d the loss did not fall"):format(before.T, last.T)
  end
  if last.T >= rows then return ("there are %d rows to learn from"):format(rows) end
  if not budget and 2 * last.T > MOST then
    return ("T = %d is the largest that is tried without a budget"):format(last.T)
  end
  if 2 * last.T > MOST_WITH_BUDGET then return ("T = %d is the largest"):format(last.T) end
  local seconds, bytes = growing.now()
  if budget and budget.seconds
    and seconds - began[1] + expected(steps, "seconds") > budget.seconds then
    return ("T = %d would exceed the budget of %g seconds"):format(2 * last.T, budget.seconds)
  end
  if budget and budget.bytes
    and bytes - began[2] + AT_WORK * expected(steps, "bytes") > budget.bytes then
    return ("T = %d would exceed the budget of %g bytes"):format(2 * last.T, budget.bytes)
  end
end

-- The place of the chosen step: the first that is close to the best; nil if no loss is finite.
local function chosen_of(steps)
  local losses = {}
  for k, step in ipairs(steps) do losses[k] = step.loss end
  local best = candidates.least_of(losses)
  for k = 1, best or 0 do
    if k == best or is_close(steps[k], steps[best]) then return k end
  end
end

--- growing.rows_for(message): how many rows a fit had to draw landmarks from, if it failed because
--- T is more; else nil.
function growing.rows_for(message)
  return math.tointeger(tonumber(message:match "landmarks are more than the (%d+) rows"))
end

-- The steps of the first numbers of parameters, as far as there are rows for them.
local function first_steps(o)
  local list = first_numbers(o.rows, o.least or 1)
  while true do
    local fine, steps = pcall(o.first, list)
    if fine then return steps end
    local rows = growing.rows_for(options.plain(steps))
    if not rows then error(steps, 0) end
    while #list > 1 and list[#list] > rows do list[#list] = nil end
    list[1] = math.min(list[1], rows)
  end
end

-- The next step, or nil and a sentence if there is not enough memory for it, or not enough rows.
local function try_next(o, last)
  local fine, step = pcall(o.at, 2 * last.T, last.lambda)
  if fine then return step end
  local message = options.plain(step)
  local rows = growing.rows_for(message)
  if rows then return nil, ("there are %d rows to draw landmarks from"):format(rows) end
  if not message:find("not enough memory", 1, true) then error(step, 0) end
  return nil, ("there is not enough memory for T = %d"):format(2 * last.T)
end

--- growing.drop(step): releases what a step has ready for the fit.
function growing.drop(step)
  if not step.ready then return end
  local _ <close> = step.ready.training
  step.ready = nil
end

--- growing.grow{ first = f(list), at = f(T, lambda), rows =, least = 1, budget =, began = }: the
--- chosen step, and { steps, ended = a sentence }, each step with T, loss, lambda and seconds. nil
--- if no loss is finite. first(list): the steps of the first numbers of parameters, at least
--- `least`. at(T, lambda): one step; lambda: the regularisation of the step before. rows: how many
--- there are to learn from. began: what growing.now() returned when the fit began. A step may have
--- `ready`, { prepared, training } for the fit, which the chosen one keeps.
function growing.grow(o)
  local steps = first_steps(o)
  local told = ended(steps, o.rows, o.budget, o.began)
  while not told do
    local step
    step, told = try_next(o, steps[#steps])
    if step then
      if #steps > 1 then growing.drop(steps[#steps - 1]) end
      step.alone, steps[#steps + 1] = true, step
      told = ended(steps, o.rows, o.budget, o.began)
    end
  end
  local place, report = chosen_of(steps), { ended = told }
  for k, step in ipairs(steps) do
    if k ~= place then growing.drop(step) end
    report[k] = { T = step.T, loss = step.loss, lambda = step.lambda, seconds = step.seconds }
  end
  return place and steps[place], report
end

return growing
