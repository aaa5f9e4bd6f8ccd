--- An experiment on several processes. The run that a script began starts the script again in
--- workers: each claims cells, runs them and records them independently. A worker sends "begin
--- PLACE", "end PLACE", "done" and "failed MESSAGE" and waits for the answer to each, so that its
--- output can be attributed to cells.
local core = require "scullery.core"
local log = require "scullery.experiment.log"
local options = require "scullery.base.options"
local running = require "scullery.experiment.running"
local sharing = require "scullery.experiment.sharing"

local workers = {}

local MOST_LOST = 10 -- workers killed in a row before any began a cell
local TICK = 0.2 -- seconds between two checks of the workers
local PATIENCE = 3 -- seconds until a worker that does not end is killed

local function fail(...) error(string.format(...), 0) end

-- ------------ whether there can be any

--- workers.script(): the path of the running script, which workers run again; nil at the prompt,
--- with -e and if the script comes from standard input.
function workers.script()
  local arguments = rawget(_G, "arg")
  local script = type(arguments) == "table" and arguments[-1] ~= nil and arguments[0]
  if type(script) ~= "string" then return nil end
  for level = 2, 200 do
    local info = debug.getinfo(level, "S")
    if not info then return nil end
    if info.what == "main" and info.source == "@" .. script then return script end
  end
end

--- workers.digest(cells): a digest by which a worker verifies that it has the same cells.
function workers.digest(cells)
  local keys = {}
  for i, cell in ipairs(cells) do keys[i] = cell.key end
  return core.digest(table.concat(keys, " "))
end

-- ------------ in a worker

-- Runs all cells that nobody has claimed.
local function work(run)
  while true do
    local i = running.next(run)
    if not i then return end
    core.worker_report("begin " .. i)
    local record = running.cell(run, i)
    for _, stream in ipairs{ "stdout", "stderr" } do pcall(function() io[stream]:flush() end) end
    running.finish(run, i, record)
    core.worker_report("end " .. i)
  end
end

--- workers.serve(check, make_run): the work of a worker at its experiment; it ends the process.
--- check() raises an error if the script has changed its cells; make_run() returns the run.
function workers.serve(check, make_run)
  local ok, message = pcall(function()
    check()
    core.worker_report("ready")
    work(make_run())
  end)
  pcall(core.worker_report, ok and "done"
    or "failed " .. running.text(options.plain(message)))
  os.exit(ok, true)
end

-- ------------ a worker, seen by its run

local function log_path(run, i)
  return ("%s/logs/%s.log"):format(run.store.path, run.cells[i].key:sub(1, 12))
end
workers.log_path = log_path

-- Reads the worker's output, as much as the pipe contains, into the log of its cell.
local function hear_output(worker)
  for _ = 1, 64 do
    local bytes = core.worker_output(worker.process)
    if not bytes then return end
    if worker.log then worker.log:add(bytes) end
  end
end

local function change_log(worker, new)
  hear_output(worker) -- the output before the message
  if worker.log then worker.log:finish() end
  worker.log = new
end

local heard = {}

function heard.ready(_, worker) change_log(worker, nil) end

function heard.begin(run, worker, place)
  worker.cell, run.lost = math.tointeger(tonumber(place)), 0
  change_log(worker, log.new(log_path(run, worker.cell)))
end

heard["end"] = function(run, worker)
  local i = worker.cell
  change_log(worker, nil)
  worker.cell = nil
  run.store:refresh()
  if run.done then run.done(i, run.store.latest[run.cells[i].key]) end
end

function heard.done(_, worker)
  change_log(worker, nil)
  worker.is_done = true
end

function heard.failed(_, worker, message)
  change_log(worker, nil)
  worker.is_done = true
  if options.is_interrupt(message) then fail("interrupted!") end
  fail("a worker could not go on: %s", message)
end

local function hear_messages(run, worker)
  while true do
    local text = core.worker_message(worker.process)
    if not text then return end
    local word, rest = text:match("^(%a+) ?(.*)$")
    if not heard[word] then fail("a worker sent '%s'", text) end
    heard[word](run, worker, rest)
    core.worker_answer(worker.process)
  end
end

local function how_it_ended(status, number, name)
  if status then return ("its process ended with exit status %d"):format(status) end
  local why = number == 9 and ": by hand, or by the system where memory ran out" or ""
  return ("its process was ended by signal %d (%s)%s"):format(number, name, why)
end

-- A worker ended during a cell: records that, unless another run has the cell already.
local function record_death(run, worker, how)
  local i = worker.cell
  change_log(worker, nil)
  run.store:refresh()
  if running.take(run, i) then
    running.finish(run, i, running.record(run, i, { status = "failed", message = how }))
  end
  sharing.leave(run)
end

-- A worker ended between cells. If it was killed, another one replaces it.
local function lose(run, worker, number, how)
  hear_output(worker)
  local last = worker.log and worker.log:last() or ""
  change_log(worker, nil)
  run.lost = (run.lost or 0) + 1
  if number and run.lost <= MOST_LOST then return end
  fail("a worker ended before it reached the experiment: %s%s", how, last ~= ""
    and (". It printed last: " .. running.text(last)) or "")
end

-- True if the worker has ended.
local function has_ended(run, worker)
  local status, number, name = core.worker_ended(worker.process)
  if not status and not number then return false end
  hear_messages(run, worker)
  if worker.cell then
    record_death(run, worker, how_it_ended(status, number, name))
  elseif not worker.is_done then
    lose(run, worker, number, how_it_ended(status, number, name))
  end
  return true
end

-- ------------ all of them

-- Asks all workers to end, and kills those that do not.
local function stop(list)
  for _, worker in ipairs(list) do core.worker_stop(worker.process) end
  local until_when = core.now() + PATIENCE
  for _, worker in ipairs(list) do
    local function runs()
      local status, number = core.worker_ended(worker.process)
      return not status and not number
    end
    while runs() and core.now() < until_when do pcall(core.worker_wait, {}, 0.02) end
    if runs() then core.worker_stop(worker.process, true) end
    if worker.log then worker.log:finish() end
  end
end

-- The number of unclaimed cells, counted up to `most` (a group counts as one, because one worker
-- runs all of it), and the number of unfinished cells.
local function count_open(run, most)
  local free, left = 0, 0
  for _, i in ipairs(run.order) do
    if not running.finished(run, i) then
      left = left + 1
      local counted = run.group and run.group == run.cells[i].group
      if free < most and not counted and running.take(run, i) then
        run.store:disclaim(run.cells[i].key)
        free = free + 1
      end
    end
  end
  sharing.leave(run)
  return free, left
end

local function look(run, list)
  local processes = {}
  for i, worker in ipairs(list) do processes[i] = worker.process end
  core.worker_wait(processes, TICK)
  for place = #list, 1, -1 do
    local worker = list[place]
    hear_output(worker)
    hear_messages(run, worker)
    if has_ended(run, worker) then table.remove(list, place) end
  end
end

--- workers.run(run): runs workers until every cell is finished, by them or by another run.
function workers.run(run)
  pcall(core.make_folder, run.store.path .. "/logs")
  local list <close> = setmetatable({}, { __close = stop })
  local wanted, told = true, false
  while true do
    if wanted then
      local free, left = count_open(run, run.processes - #list)
      if left == 0 then return end
      if #list == 0 and free == 0 and not told then
        running.say_waiting(run, left)
        told = true
      end
      for _ = 1, math.min(free, run.processes - #list) do
        local threads = math.max(1, core.threads() // run.processes)
        list[#list + 1] = { process = core.worker_start(run.settings, threads), log = log.new(nil) }
      end
    end
    local before = #list
    look(run, list)
    wanted = #list < before or #list == 0
    if #list == 0 then run.store:refresh() end
  end
end

--- workers.settings(run, call): the settings that are sent to a worker.
function workers.settings(run, call)
  return core.json_encode{ call = call, name = run.name, path = run.store.path, start = run.start,
    retry = run.retry, cells = workers.digest(run.cells) }
end

--- workers.own_settings(): the settings with which this process was started as a worker, or nil.
function workers.own_settings()
  local text, inside = core.worker_settings()
  return text and core.json_decode(text, "a worker's settings"), inside
end

return workers
