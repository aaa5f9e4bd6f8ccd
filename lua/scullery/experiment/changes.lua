--- Differences between a run and the existing results: results of other data or of another function
--- are refused, other differences are reported.
local clean = require("scullery.base.text").clean
local core = require "scullery.core"
local running = require "scullery.experiment.running"
local values = require "scullery.experiment.values"

local changes = {}

-- "train: 100 x 5, 0123456789ab" for each data set of a record.
local function data_text(data)
  if data == nil then return "no data" end
  local parts = {}
  for _, name in ipairs(values.sorted(data)) do
    local one = data[name]
    parts[#parts + 1] = ("%s: %d x %d, %s"):format(name, one.rows, one.cols,
      one.sha256 and one.sha256:sub(1, 12) or "a stream")
  end
  return table.concat(parts, "; ")
end

local function refuse_other_data(run, record, own)
  if (record.data and core.json_encode(record.data)) == own then return end
  error(("%s has results of other data (%s) than the script now has (%s). Use another \z
    name, or remove that folder"):format(run.store.path, data_text(record.data),
    data_text(run.about.data)), 0)
end

-- The functions that the digest of a run covers, for sentences.
local function functions_of(run) return run.prepare and "'run' or 'prepare'" or "'run'" end

-- Records of versions without the digest of their function have no field `run`.
local function refuse_other_function(run, record)
  if run.rerun or not record.run or record.run == run.about.run then return end
  if run.store.latest[record.key] ~= record then return end
  error(("%s has results of another function %s than the script now has: its code, that of a \z
    function that it captures, or a number or text that it captures has changed, so that results \z
    would be mixed. rerun = \"changed\" runs these cells again, rerun = \"never\" keeps them; or \z
    use another name, or remove that folder"):format(run.store.path, functions_of(run)), 0)
end

--- changes.refuse(run): raises an error if a result is of other data or of another function than
--- the run's, now or when another run adds it. A digest by an earlier rule becomes
--- one by today's.
function changes.refuse(run)
  local own = run.about.data and core.json_encode(run.about.data)
  run.store:watch(function(record)
    if record.run == run.earlier then record.run = run.about.run end
    if record.status ~= "done" then return end
    refuse_other_data(run, record, own)
    refuse_other_function(run, record)
  end)
end

-- Counts the cells of the run that have results of another function.
local function count_changed(run)
  local count = 0
  for _, cell in ipairs(run.cells) do
    local record = run.store.latest[cell.key]
    local done = record and record.status == "done"
    if done and record.run and record.run ~= run.about.run then count = count + 1 end
  end
  return count
end

--- changes.tell(run): reports cells of another version of Scullery, of the script or of the
--- function.
function changes.tell(run)
  local now, version, script = run.about, nil, false
  for _, cell in ipairs(run.cells) do
    local record = run.store.latest[cell.key]
    if record and record.status == "done" then
      version = record.scullery ~= now.scullery and record.scullery or version
      script = script or now.script and record.script and (record.run or now.run) == now.run
        and now.script.sha256 ~= record.script.sha256
    end
  end
  if version then
    running.say(run, "some cells were run by Scullery %s, and this is %s", version, now.scullery)
  end
  if script then
    running.say(run, "the script has changed since some cells were run, and their function 'run' \z
      has not; they are kept")
  end
  local changed = run.rerun and count_changed(run) or 0
  if changed > 0 then
    running.say(run, "%d %s of another function %s; %s", changed,
      changed == 1 and "cell is" or "cells are", functions_of(run),
      run.rerun == "changed" and "they run again" or "they are kept, as rerun = \"never\" says")
  end
end

--- changes.watch_columns(run): a function of (place, record) that reports results with columns that
--- no result of an earlier run has; cells of one run may differ.
function changes.watch_columns(run)
  local known, first = {}, nil
  local function know(record)
    local columns = table.concat(values.sorted(record.result), ", ")
    local is_new = not known[columns]
    known[columns], first = true, first or columns
    return is_new and columns
  end
  for _, cell in ipairs(run.cells) do
    local record = run.store.latest[cell.key]
    if record and record.status == "done" then know(record) end
  end
  local earlier = first
  return function(_, record)
    local columns = record.status == "done" and know(record)
    if columns and earlier then
      running.say(run, "results have the columns %s, where earlier ones have %s",
        clean(running.text(columns)), clean(running.text(earlier)))
    end
  end
end

return changes
