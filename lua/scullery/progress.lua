--- A script's function that is told how far a fit is, and may stop it.
local core = require "scullery.core"
local dataset = require "scullery.dataset"
local options = require "scullery.options"

local progress = {}

-- A table of options, and not targets: no data set, no matrix, no list.
local function are_options(value)
  return type(value) == "table" and not getmetatable(value) and #value == 0 and next(value) ~= nil
end

--- progress.split(data, y, given) -> y, given, function: what fit is given, with the option
--- `progress` apart. The options come second with a data set.
function progress.split(data, y, given)
  local alone = given == nil and are_options(y) and (dataset.is(data) or y.progress ~= nil)
  if alone then y, given = nil, y end
  if type(given) ~= "table" then return y, given, nil end
  local rest, f = {}, given.progress
  for name, value in pairs(given) do if name ~= "progress" then rest[name] = value end end
  if f ~= nil and type(f) ~= "function" then
    error("pipeline:fit: option 'progress' got " .. options.show(f) .. "; it takes a function", 3)
  end
  if alone and next(rest) ~= nil then
    error(("pipeline:fit: unknown option '%s' with a data set; it takes progress"):format(
      tostring(next(rest))), 3)
  end
  return y, next(rest) and rest or nil, f
end

--- progress.watched(f, run, ...): run(...), with f told how far it is. Where f returns false: an
--- error; an error of f is raised as it is.
function progress.watched(f, run, ...)
  if not f then return run(...) end
  core.watch(f)
  local result = table.pack(pcall(run, ...))
  local stopped, raised = core.unwatch()
  if raised ~= false then error(raised, 0) end
  if stopped then error("pipeline:fit: stopped: its progress function returned false", 0) end
  if not result[1] then error(result[2], 0) end
  return table.unpack(result, 2, result.n)
end

return progress
