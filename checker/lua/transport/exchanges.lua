--- Tests of what exchanges give: each process knows the result.
local core = require "scullery_checker.core"
local group = require "scullery_checker.transport.group"

-- The sentence of an exchange that should have worked: what is wrong with its result, or its
-- failure; nil where neither is.
local function wrong_of(what, wrong, failed)
  if not wrong and not failed then return nil end
  return what .. ": " .. (wrong or group.failed .. ": " .. failed)
end

-- A test of groups of all sizes, in which each process calls f(rank, size, seed).
local function in_groups(f, sizes)
  return function(t)
    group.each(t, function(component, size)
      group.expect(t, group.run(component, function(rank, count)
        return f(rank, count, t.seed)
      end), size)
    end, sizes)
  end
end

local COUNTS <const> = { 1, 3, 0, 2, 1001, 100000, 100003, 1000000 }

local function reductions(name, exchange)
  return in_groups(function(_, _, seed)
    for i, count in ipairs(COUNTS) do
      for _, pattern in ipairs{ "random", "extreme" } do
        local wrong = wrong_of(("the %s of %d numbers"):format(name, count),
          core[exchange](count, pattern, seed + i))
        if wrong then return wrong end
      end
    end
  end)
end

local check_broadcasts = in_groups(function(_, count, seed)
  for from = 0, count - 1 do
    for _, size in ipairs{ 8, 1, 0, 13, 1000000, from == count - 1 and 5000011 or nil } do
      local wrong = wrong_of(("a broadcast of %d bytes"):format(size), core.transport_broadcast(
        from, size, seed + from))
      if wrong then return wrong end
    end
  end
end)

-- ------------ many

-- One of many exchanges, of another kind and size each time.
local function exchange(i, count, seed)
  local numbers = i * 37 % 500
  if i % 3 == 0 then return core.transport_sum(numbers, "random", seed + i) end
  if i % 3 == 1 then return core.transport_maximum(numbers, "extreme", seed + i) end
  return core.transport_broadcast(i % count, 8 * numbers, seed + i)
end

local function held() return core.surroundings()["number of open files"], (core.memory()) end

local check_many = in_groups(function(_, count, seed)
  local files, memory
  for i = 1, 1000 do
    if i == 100 then
      collectgarbage()
      files, memory = held()
    end
    local wrong = wrong_of(("exchange %d of 1000"):format(i), exchange(i, count, seed))
    if wrong then return wrong end
  end
  collectgarbage()
  local files_now, memory_now = held()
  if files_now ~= files then
    return ("900 exchanges leave files open: %s before, %s now"):format(files, files_now)
  end
  if memory_now > memory then
    return ("900 exchanges leave %d bytes of host->allocate behind"):format(memory_now - memory)
  end
end)

-- ------------ a slow process

-- Each process in turn is late for several exchanges, so that the others are ahead of it by as much
-- as the transport lets them be.
local check_slow = in_groups(function(rank, count, seed)
  for i = 1, 12 * count do
    if rank == i // 12 % count and i % 3 == 0 then core.sleep(0.03) end
    local wrong = wrong_of("an exchange in which a process is slow", exchange(i, count, seed))
    if wrong then return wrong end
  end
  if rank == count - 1 then core.sleep(1.5) end
  return wrong_of("an exchange for which a process is 1.5 s late", core.transport_sum(10, "random",
    seed))
end, { 2, 3, 7 })

-- ------------ Ctrl-C

-- Each process in turn is late, and presses Ctrl-C while the others wait for it in the exchange.
local run_with_presses = in_groups(function(rank, count, seed)
  core.outlive_ctrl_c()
  local wrong = wrong_of("the first exchange", core.transport_sum(10, "random", seed))
  for i = 1, 3 * count do
    if rank == i % count and not wrong then
      for _ = 1, 2 do
        core.sleep(0.01)
        core.press_ctrl_c()
      end
    end
    wrong = wrong or wrong_of("an exchange during Ctrl-C", exchange(i, count, seed))
      or wrong_of("the exchange of 200000 numbers after Ctrl-C", core.transport_sum(200000,
        "random", seed + i))
  end
  return wrong
end, { 2, 3, 7 })

local function check_presses(t)
  if not group.starts(t) then t:skip("it starts no processes that Ctrl-C could reach") end
  run_with_presses(t)
end

return {
  { name = "sums", about = "sums of up to 10^6 numbers are exact, also at the ends of int64",
    run = reductions("sum", "transport_sum") },
  { name = "maxima", about = "maxima of up to 10^6 numbers, also at the ends of int64",
    run = reductions("maximum", "transport_maximum") },
  { name = "broadcasts", about = "all have the bytes of any process, up to 5 x 10^6 of them",
    run = check_broadcasts },
  { name = "many", about = "1000 exchanges in a row give what each gives alone; nothing grows",
    run = check_many },
  { name = "slow", about = "exchanges wait for a process that is slow, and mix nothing up",
    run = check_slow },
  { name = "pressed", about = "Ctrl-C ends neither an exchange nor the process that waits for all",
    run = check_presses },
}
