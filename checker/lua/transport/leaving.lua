--- Tests of groups that a process leaves early, and of failures that must not be lost.
local core = require "scullery_checker.core"
local group = require "scullery_checker.transport.group"

local how_left = { abort = "abort", exit = "the end of the process", kill = "a signal" }

-- The exchanges of which each needs all processes.
local exchanges = {
  sum = function(_, seed) return core.transport_sum(20, "random", seed) end,
  maximum = function(_, seed) return core.transport_maximum(20, "random", seed) end,
  broadcast = function(who, seed) return core.transport_broadcast(who, 20, seed) end,
}

-- After one exchange of all, process `who` leaves, and the others go on.
local function leave_early(who, how, next_exchange, seed)
  return function(rank, count)
    local wrong, failed = core.transport_sum(20, "random", seed)
    if wrong or failed then return wrong or failed, "abort" end
    if rank == who then return nil, how, how == "exit" and 0 or nil end
    wrong, failed = exchanges[next_exchange](who, seed + 1)
    if not failed then
      return ("the %s reports success, and process %d of %d has left by %s%s"):format(
        next_exchange, who, count, how_left[how], wrong and "; " .. wrong or ""), "abort"
    end
    if failed:find("no sentence", 1, true) then return failed, "abort" end
    return nil, "abort", 1
  end
end

-- A failure is what should come of it: not late, and not a success.
local function expect_failure(t, result, size, what)
  for _, one in ipairs(result) do
    t:expect(not one.text, "a group of %d: process %d: %s", size, one.rank, one.text)
  end
  if result.late then
    local _, _, places = (group.fault(result, size)):find(": (.*)$")
    t:fail("a group of %d, %s: the others did not end in %d s: %s", size, what, group.patience,
      places)
  end
  t:expect(#result == size, "a group of %d: %d have joined the group", size, #result)
  t:expect(result.signal or result.status ~= 0, "a group of %d, %s: the process that opened the \z
    group ended with status 0", size, what)
  t:expect(not result.lingering, "a group of %d, %s: the process that opened the group ended \z
    before the others", size, what)
end

local function expect_starts(t)
  if not group.starts(t) then
    t:skip("it starts no processes itself: it has no option 'processes'")
  end
end

local function check_leaves(t)
  expect_starts(t)
  group.each(t, function(component, size)
    for _, who in ipairs(size == 2 and { 0, 1 } or { 0, size - 1, 1 }) do
      for i, how in ipairs{ "abort", "exit", "kill" } do
        local name = ({ "sum", "maximum", "broadcast" })[(i + who) % 3 + 1]
        expect_failure(t, group.run(component, leave_early(who, how, name, t.seed)), size,
          ("process %d has left by %s"):format(who, how_left[how]))
      end
    end
  end, { 2, 3, 7 })
end

-- All leave the group in order, and one of them ends with a failure, of its own or by a signal.
local function check_status(t)
  expect_starts(t)
  group.each(t, function(component, size)
    for _, who in ipairs{ 0, size - 1 } do
      local result = group.run(component, function(rank)
        local wrong, failed = core.transport_sum(20, "random", t.seed)
        return wrong or failed, nil, rank == who and 3 or nil
      end)
      local what = ("process %d ended with status 3"):format(who)
      expect_failure(t, result, size, what)
      if result.status ~= 3 then
        t:warn("a group of %d: %s, and the process that opened the group with %s", size, what,
          result.signal or "status " .. result.status)
      end
    end
  end, { 1, 2, 7 })
end

return {
  { name = "leaves", about = "where a process ends early, all others fail with a sentence, and end",
    run = check_leaves, seconds = 180 },
  { name = "status", about = "the status of a process that fails is that of all",
    run = check_status },
}
