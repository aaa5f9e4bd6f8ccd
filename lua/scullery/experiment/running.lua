--- Running cells: selects the next one, runs it with its measurements, and records the result.
---
--- A run is { name, store, cells, order = the places of the cells as they are run, f, prepare,
--- start = the existing records at the start, retry, rerun, about = the fields of every record,
--- alone = true if cells run in the process of the script }.
local core = require "scullery.core"
local folders = require "scullery.base.folders"
local options = require "scullery.base.options"
local sharing = require "scullery.experiment.sharing"
local valid = require("scullery.base.text").valid
local values = require "scullery.experiment.values"
local warn = require "scullery.base.warn"

local running = {}

local LONGEST_MESSAGE = 2000
local MOST_TEXT = 1000000 -- the most bytes of texts in one result

-- ------------ the next cell

--- running.finished(run, i): true if cell i does not need to run.
function running.finished(run, i)
  return run.store:finished(run.cells[i].key, run.start, run.retry,
    run.rerun == "changed" and run.about.run or nil)
end

-- Claims cell i and its group. It may have been finished in the meantime by the previous owner of
-- the claim.
local function take(run, i)
  local key = run.cells[i].key
  if running.finished(run, i) or not sharing.claim(run, i) or not run.store:claim(key) then
    return false
  end
  run.store:refresh()
  if not running.finished(run, i) then return true end
  run.store:disclaim(key)
  return false
end
running.take = take

--- running.next(run): the position of a cell that was claimed; nil if other runs have claimed all
--- that are left, and their number.
function running.next(run)
  run.at, run.held = run.at or 0, run.held or {}
  while run.at < #run.order do
    run.at = run.at + 1
    local i = run.order[run.at]
    if take(run, i) then return i end
    if not running.finished(run, i) then table.insert(run.held, i) end
  end
  run.store:refresh()
  local left = {}
  for place, i in ipairs(run.held) do
    if take(run, i) then
      table.move(run.held, place + 1, #run.held, #left + 1, left)
      run.held = left
      return i
    end
    if not running.finished(run, i) then left[#left + 1] = i end
  end
  run.held = left
  sharing.leave(run)
  return nil, #left
end

-- ------------ what is recorded

--- running.text(message): the message as valid UTF-8, cut to fit in a line.
function running.text(message)
  return valid((message:sub(1, LONGEST_MESSAGE):gsub("%z", "?")), "?")
end

-- The error as a sentence.
local function sentence(raised)
  if type(raised) == "table" and type(rawget(raised, "message")) == "string" then
    raised = rawget(raised, "message")
  end
  local meta = debug.getmetatable(raised)
  local prints = ({ string = true, number = true, boolean = true })[type(raised)]
    or type(meta) == "table" and rawget(meta, "__tostring")
  local ok, text = pcall(tostring, raised)
  if prints and ok then return running.text(text) end
  return "an error that is " .. (raised == nil and "nil" or "a " .. type(raised))
end

--- running.record(run, i, fields): the record of cell i.
function running.record(run, i, fields)
  local cell = run.cells[i]
  local record = { cell = cell.options, key = cell.key, seed = values.seed(cell.key),
    time = os.date("!%Y-%m-%dT%H:%M:%SZ"), threads = core.threads(),
    plugins = core.plugin_versions() }
  for name, value in pairs(run.about) do record[name] = value end
  for name, value in pairs(fields) do record[name] = value end
  return record
end

-- A copy of the result of a cell's function; or nil and the reason why it is invalid.
local function flat(result)
  if type(result) ~= "table" then
    return nil, ("run returned %s; it takes a table such as { error = 0.1 }"):format(
      result == nil and "nothing" or options.show(result))
  end
  local copy, bytes = {}, 0
  for name, value in next, result do
    if type(name) ~= "string" or not utf8.len(name) or name == "" or name:find("\0", 1, true) then
      return nil, ("run returned a table with the key %s; its names are texts"):format(
        options.show(name))
    end
    if not values.is_scalar(value) then
      return nil, ("run returned %s = %s; results are numbers, texts and booleans"):format(name,
        options.show(value))
    end
    if type(value) == "string" and (not utf8.len(value) or value:find("\0", 1, true)) then
      return nil, ("run returned a text in %s that is not UTF-8"):format(name)
    end
    copy[name] = value
    bytes = bytes + #name + (type(value) == "string" and #value or 0)
  end
  if bytes > MOST_TEXT then
    return nil, ("run returned %d bytes of texts; a result has at most %d"):format(bytes, MOST_TEXT)
  end
  return copy
end

-- ------------ one cell

local function checkpoints_of(run) return run.store.path .. "/checkpoints" end

-- The context of a cell or, without i, of a group. The folder for checkpoints is made when the path
-- is asked for.
local function context_of(run, key, i)
  return setmetatable({ name = run.name, folder = run.store.path, index = i, count = #run.cells,
    key = key, seed = values.seed(key) }, { __index = function(_, name)
    if name ~= "checkpoint" then return nil end
    folders.make(checkpoints_of(run))
    return checkpoints_of(run) .. "/" .. key
  end })
end

-- Removes the checkpoints of a cell or group, and their folder if no other is in it.
local function remove_checkpoints(run, key)
  local folder = checkpoints_of(run)
  local list = core.folder(folder)
  for _, file in ipairs(list or {}) do
    if file.name:sub(1, #key) == key then os.remove(folder .. "/" .. file.name) end
  end
  if list then os.remove(folder) end
end

-- Removes those of a group whose cells have all ended.
local function remove_checkpoints_of_group(run, group)
  for _, i in ipairs(group and group.places or {}) do
    if not running.finished(run, i) then return end
  end
  if group then remove_checkpoints(run, group.key) end
end

-- Calls run.f for cell i, with what was prepared for its group.
local function call_function(run, i)
  local cell = run.cells[i]
  local own, context = values.each(values.decode, cell.options), context_of(run, cell.key, i)
  if not run.prepare then return run.f(own, context) end
  local shared, seconds = sharing.prepared(run, i, function(group)
    return context_of(run, group.key)
  end)
  context.prepare_seconds = seconds
  return run.f(own, context, shared)
end

-- pcall(call_function, run, i). If no other process watches this one, os.exit becomes an error,
-- because the cell would count as neither done nor failed.
local function call_cell(run, i)
  if not run.alone then return pcall(call_function, run, i) end
  local exit = os.exit
  rawset(os, "exit", function() error("the cell called os.exit", 0) end)
  local result = table.pack(pcall(call_function, run, i))
  rawset(os, "exit", exit)
  return table.unpack(result, 1, result.n)
end

--- running.cell(run, i): runs cell i, which is claimed; returns its record. An interrupt is raised.
function running.cell(run, i)
  -- memory of earlier cells would count as memory of this one
  if core.memory() > 1e6 or collectgarbage("count") > 5e4 then collectgarbage() end
  local seconds_before = core.usage(true)
  local began = core.now()
  math.randomseed(values.seed(run.cells[i].key))
  local ok, result = call_cell(run, i)
  local seconds = core.now() - began
  local used, memory = core.usage()
  local message = not ok and sentence(result)
  if message and options.is_interrupt(message) then error("interrupted!", 0) end
  local fields = { status = "failed", seconds = seconds, processor_seconds = used - seconds_before,
    memory = memory }
  if ok then
    fields.result, fields.message = flat(result)
    if fields.result then fields.status = "done" end
  else
    fields.message = message
  end
  return running.record(run, i, fields)
end

--- running.say(run, format, ...): prints a line for the user.
function running.say(run, format, ...)
  warn(("experiment %s: "):format(run.name) .. format:format(...))
end

--- running.say_waiting(run, count): prints that `count` cells are claimed by other runs.
function running.say_waiting(run, count)
  running.say(run, "waiting for %d %s that another run works on", count,
    count == 1 and "cell" or "cells")
end

--- running.finish(run, i, record): writes the record to disk and releases the claim on the cell.
function running.finish(run, i, record)
  run.store:add(record)
  remove_checkpoints(run, record.key)
  remove_checkpoints_of_group(run, run.cells[i].group)
  run.store:disclaim(record.key)
  if run.done then run.done(i, record) end
end

return running
