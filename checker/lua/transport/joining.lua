--- Tests of how processes join a group.
local core = require "scullery_checker.core"
local group = require "scullery_checker.transport.group"
local sorted = require("scullery.base.keys").sorted

local function check_launched(t)
  local instance = t:instance(t.subject:make())
  local said = core.transport_launched(instance)
  t:expect(core.transport_launched(instance) == said, "it says first that a launcher %s this \z
    process, and then that it %s", said and "started" or "did not start", said and "did not"
    or "did")
  t:expect(not (said and group.starts(t)), "it says that a launcher started this process, and has \z
    an option 'processes' for the number that it starts itself")
  if said then t:warn("it says that a launcher started this process: check it without one") end
end

-- Size and number, as the slots say after some exchanges, are those of the beginning.
local function ask(rank, count, seed)
  for i = 0, 2 do
    local size_now, rank_now = core.transport_asked()
    if size_now ~= count or rank_now ~= rank then
      return ("after %d exchanges it is process %d of %d, and was %d of %d"):format(i, rank_now,
        size_now, rank, count)
    end
    local wrong, failed = core.transport_sum(5, "random", seed + i)
    if failed then return failed end
    if i == 0 and wrong then return nil end -- that is what the test "sums" is about
  end
end

local function check_ranks(t)
  group.each(t, function(component, size)
    local result = group.run(component, function(rank, count) return ask(rank, count, t.seed) end)
    local seen = {}
    for _, one in ipairs(result) do
      t:expect(one.size == (size or result[1].size), "%s processes were asked for, and process %d \z
        is told that there are %d", size or "some", one.rank, one.size)
      t:expect(not seen[one.rank], "two of %d processes have the number %d", one.size, one.rank)
      seen[one.rank] = true
    end
    group.expect(t, result, size)
  end)
end

-- ------------ surroundings

-- What a transport may change in its own processes: files, threads and bytes that it exchanges by.
local may_change = { ["number of open files"] = true, ["number of threads"] = true,
  ["number of bytes written"] = true, ["list of child processes"] = true,
  ["standard error"] = true } -- the checker's own

-- What the library of a launcher may change beside that, such as MPI's.
local of_libraries = { environment = true, ["signal handlers"] = true }

local function difference(before, library)
  local after = core.surroundings()
  for _, what in ipairs(sorted(before)) do
    local may = may_change[what] or library and of_libraries[what]
    if not may and after[what] ~= before[what] then
      return ("the %s was %s before the group was opened, and is %s"):format(what, before[what],
        after[what])
    end
  end
end

local function check_own(t)
  local before, library = core.surroundings(), not group.starts(t)
  group.each(t, function(component, size)
    group.expect(t, group.run(component, function(_, count)
      local wrong = difference(before, library)
      for i = 0, count - 1 do
        local _, failed = core.transport_sum(1000, "random", i)
        if failed or wrong then return failed or wrong end
        _, failed = core.transport_broadcast(i, 1000, i)
        wrong = failed or difference(before, library)
      end
      return wrong
    end), size)
  end, { 1, 3 })
end

-- ------------ memory

-- The processes of a group make the same calls of the host, so that the same call is refused in
-- each that has got so far.
local function check_refused(t)
  group.each(t, function(component, size)
    local instance, any = t:instance(component), false
    for n = 0, 7 do
      core.watch_host(instance, "refuse", n)
      local result = group.run(component, function(_, count)
        local wrong, failed = core.transport_sum(3000, "random", n)
        if failed then return nil, "abort" end
        if not wrong then wrong, failed = core.transport_broadcast(count - 1, 3000, n) end
        return wrong, failed and "abort" or nil
      end)
      core.watch_host()
      local wrong, refused = group.fault(result, size)
      any = any or refused ~= nil
      t:expect(refused or not wrong, "call %d of host->allocate or scratch gives NULL: %s", n + 1,
        wrong)
      t:expect(not (refused or ""):find("no sentence", 1, true), "call %d of host->allocate or \z
        scratch gives NULL: %s", n + 1, refused)
    end
    if not any then t:note("no call of the host is needed to open a group") end
  end, { 2 })
end

return {
  { name = "launched", about = "it says whether a launcher started this process, always alike",
    run = check_launched },
  { name = "ranks", about = "processes count from 0, each another, all of one size, to the end",
    run = check_ranks },
  { name = "own-surroundings", about = "in its processes rounding, locale, handlers, folder stay",
    run = check_own },
  { name = "refused-memory", about = "if the host has no memory, all fail with a sentence, and end",
    run = check_refused },
}
