--- Groups of processes that a transport opens, for its tests.
local core = require "scullery_checker.core"
local values = require "scullery_checker.values"

local group = {}

--- group.patience: seconds after which the processes of a group hang.
group.patience = 40

local MOST <const> = 8 -- processes of one group
local SIZES <const> = { 1, 2, 3, 7 }

-- The option by which a transport that starts its processes itself takes their number, or nil.
local function option_of(info)
  for _, option in ipairs(info.options) do
    if option.name == "processes" and values.is_numeric(option) then return option end
  end
end

--- group.failed: words of the sentence about an exchange that should not have failed.
group.failed = "it failed, and no process had left"

--- group.starts(t): whether it starts processes itself.
function group.starts(t) return option_of(t.subject.info) ~= nil end

--- group.each(t, f, sizes): f(component, size) for groups of 1, 2, 3 and 7 processes, or of those
--- of `sizes`; for a transport that does not start processes itself, for the group that it opens
--- alone, whose size is then nil.
function group.each(t, f, sizes)
  local option = option_of(t.subject.info)
  if not option then return f(t.subject:make(), nil) end
  for _, size in ipairs(sizes or SIZES) do
    if values.is_within(option, size) then
      f(t.subject:make{ processes = size }, size)
    end
  end
end

-- The line of a crash among the messages of the processes.
local function crash_of(result)
  local line = result.messages:match "(crash[^\n]+)" or result.messages:match "(the process was \z
    ended[^\n]+)"
  return line and ": " .. line or ""
end

-- Who is where, as in "process 0 in the sum of 3 numbers, process 2 elsewhere".
local function places(result)
  local list = {}
  for _, one in ipairs(result) do
    if not one.told then
      list[#list + 1] = ("process %d %s"):format(one.rank, one.doing and "in " .. one.doing
        or "between exchanges")
    end
  end
  return #list > 0 and table.concat(list, ", ") or "none of them is at an exchange"
end

--- group.run(component, f): the group of this component, each process of which calls f(rank,
--- size); what checker.transport_run gives.
function group.run(component, f)
  return core.transport_run(require("scullery.compose.component").instance(component),
    group.patience, f)
end

--- group.fault(result, size): what is wrong with a run in which every process should have found
--- nothing; nil where nothing is. Then, for a group that cannot be opened, its sentence.
function group.fault(result, size)
  if result.lingering then
    return "the process that opened the group ended before the others: it has to wait for all"
  end
  local followed -- the failure of an exchange, which may come of what another process found
  for _, one in ipairs(result) do
    local text = one.text and ("process %d of %d: %s"):format(one.rank, one.size, one.text)
    if text and not text:find(group.failed, 1, true) then return text end
    followed = followed or text
  end
  if result.late then
    return ("the processes did not end in %d s: %s"):format(group.patience, places(result))
  end
  if result.refused then return nil, result.refused end
  for _, one in ipairs(result) do
    if not one.told then
      return ("process %d of %d ended in %s%s"):format(one.rank, one.size, one.doing
        or "its work", crash_of(result))
    end
  end
  if followed then return followed end
  if #result ~= (size or #result) or #result == 0 then
    return ("a group of %d was opened, and %d processes have joined it%s"):format(size or 1,
      #result, crash_of(result))
  end
end

--- group.expect(t, result, size): fail where anything is wrong with a run; skip where a group
--- cannot be opened without a launcher.
function group.expect(t, result, size)
  local wrong, refused = group.fault(result, size)
  local title = size and ("a group of %d: "):format(size) or ""
  t:expect(not wrong, "%s%s", title, wrong)
  if refused and not size then t:skip("it opens no group here: %s", refused) end
  t:expect(not refused, "%sno group is opened: %s", title, refused)
  t:expect(not result.signal and result.status == 0, "%sall have left the group without a \z
    failure, and the process that opened it ended with %s%s", title, result.signal or "status "
    .. result.status, crash_of(result))
end

--- group.use(component, seed): a few exchanges in a group of this component; an error where
--- anything is wrong with them.
function group.use(component, seed)
  local size = tonumber(component.given.processes)
  if size and size > MOST then error(("%d processes are too many here"):format(size), 0) end
  local result = group.run(component, function(_, count)
    for i = 1, 3 do
      local wrong, failed = core.transport_sum(100 * i, "random", seed + i)
      wrong = wrong or failed or core.transport_broadcast(i % count, 50, seed)
      if wrong then return wrong end
    end
  end)
  local wrong, refused = group.fault(result, size)
  if wrong or refused then error(wrong or refused, 0) end
  return core.ones(1, 1)
end

return group
