--- Experiments: a function run for every cell of a grid, with each result written to disk at once.
--- A run that was killed can be resumed; simultaneous runs of one experiment share its cells.
local cells = require "scullery.experiment.cells"
local changes = require "scullery.experiment.changes"
local code = require "scullery.experiment.code"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local fingerprint = require "scullery.data.fingerprint"
local options = require "scullery.base.options"
local parts = require "scullery.experiment.parts"
local progress = require "scullery.base.progress"
local results = require "scullery.experiment.results"
local running = require "scullery.experiment.running"
local sharing = require "scullery.experiment.sharing"
local script_arguments = require "scullery.base.arguments"
local store = require "scullery.experiment.store"
local workers = require "scullery.experiment.workers"

local experiment = {}

local MOST_PROCESSES = 256
local PAUSE = 0.2 -- seconds between two checks on another run

-- From here on a worker ends when the run that started it ends.
local own_settings, inside = workers.own_settings()
local calls, busy = 0, {} -- busy: real paths of experiments whose cells run

local function fail(...) error(string.format(...), 0) end

-- The canonical path that identifies an experiment.
local function place_of(path) return core.real_path(path) or path end

local function is_list_of_texts(value)
  if type(value) ~= "table" or getmetatable(value) then return false end
  for key, name in next, value do
    if math.type(key) ~= "integer" or type(name) ~= "string" then return false end
  end
  return true
end

local folder_rule = { type = "any", takes = "the path of a folder", default = "experiments",
  test = function(value)
    return type(value) == "string" and value ~= "" and not value:find("\0", 1, true)
  end }
local rules = { name = { type = "any", required = true },
  cells = { type = "table", required = true,
    takes = "a grid such as { T = { 100, 200 }, seed = { 1, 2 } } or a list of tables" },
  run = { type = "function", required = true,
    takes = "a function of a cell that returns a table of results" },
  group = { type = "any", test = sharing.takes,
    takes = "a list of names of options, or a function of a cell" },
  prepare = { type = "function", takes = "a function of a group's options" },
  folder = folder_rule, data = { type = "any" },
  processes = { type = "integer", low = 1, high = MOST_PROCESSES, default = 1 },
  allow_failures = { type = "boolean", default = false },
  retry = { type = "boolean", default = true },
  rerun = { choices = { "changed", "never" } }, args = script_arguments.rule,
  other_options = { type = "any", default = {},
    test = is_list_of_texts, takes = "a list of names" } }
options.declare("experiment", rules)

-- ------------ what was run with what

-- The fingerprint of a data set, or of those of a list or a table, by name.
local function fingerprints(data)
  if data == nil then return nil end
  if dataset.is(data) then data = { data } end
  local found = {}
  if type(data) == "table" and not getmetatable(data) then
    for name, ds in next, data do
      if dataset.is(ds) then found[tostring(name)] = fingerprint.of(ds) else found = {} break end
    end
  end
  if next(found) == nil then
    fail("option 'data' takes a data set or a table of data sets, and got %s", options.show(data))
  end
  return found
end

local function digest_of(o, placed)
  local own = code.digest(o.run, placed)
  return o.prepare and core.digest(code.digest(o.prepare, placed) .. own) or own
end

-- The fields of every record of this run.
local function about(o)
  local script = workers.script()
  local readable, digest = pcall(core.sha256, script or "")
  return { scullery = core.version, commit = core.commit ~= "" and core.commit or nil,
    machine = running.text(core.machine_name()), instruction_set = core.instruction_set(),
    data = fingerprints(o.data), run = digest_of(o),
    script = script and { path = running.text(script), sha256 = readable and digest or nil } }
end

-- ------------ running

-- Runs in this process until every cell is finished, by this run or another.
local function run_here(run)
  local told = false
  run.alone = true
  while true do
    local i, others = running.next(run)
    if i then
      running.finish(run, i, running.cell(run, i))
    elseif others == 0 then
      return
    else
      if not told then running.say_waiting(run, others) end
      told = true
      core.worker_wait({}, PAUSE)
    end
  end
end

-- Runs the unfinished cells. The experiment is locked against a nested call of itself.
local function run_cells(run)
  local done = 0
  for i = 1, #run.cells do if running.finished(run, i) then done = done + 1 end end
  local level <close> = progress.level{ name = "experiment", total = #run.cells - done }
  local watch = changes.watch_columns(run)
  if done > 0 then
    running.say(run, "%d of %d cells were done before", done, #run.cells)
  end
  run.done = function(i, record)
    level:step()
    watch(i, record)
  end
  local path = place_of(run.store.path)
  busy[path] = true
  local ok, message = pcall(run.processes > 1 and workers.run or run_here, run)
  busy[path] = nil
  sharing.leave(run)
  if not ok then error(message, 0) end
end

-- Returns the experiment; raises an error with the first failed cell unless failures are allowed.
local function check_failures(exp, allowed)
  if exp.failed == 0 or allowed then return exp end
  for _, row in ipairs(exp.rows) do
    if row.status == "failed" then
      fail("experiment '%s': %d of %d cells failed; the first, %s: %s (results are in %s; failed \z
        cells run again in the next run; allow_failures = true returns them)", exp.name, exp.failed,
        #exp.rows, options.show(row.cell), row.message, exp.folder)
    end
  end
end

-- True if all cells have results; then nothing is opened for writing.
local function all_done(run)
  run.start = #run.store.records
  for i = 1, #run.cells do
    if not running.finished(run, i) then return false end
  end
  return true
end

-- The state of a run: options, cells, the fields of its records, and the stored results if any.
local function new_run(o, path, list)
  return { name = o.name, cells = list, order = sharing.divide(list, o.group), f = o.run,
    prepare = o.prepare, retry = o.retry, rerun = o.rerun, processes = o.processes,
    about = about(o), earlier = digest_of(o, true), store = store.read(path) }
end

-- Runs the cells without results, in this process or in workers, and returns the experiment. If all
-- cells have results, the stored ones are read and nothing is written.
local function run_here_or_by_workers(o, path, list, call)
  local run = new_run(o, path, list)
  if run.store then
    changes.refuse(run)
    changes.tell(run)
    if all_done(run) then return results.new(run.store, list) end
  end
  run.store = store.open(path, o.name)
  parts.join(run.store)
  run.start = #run.store.records
  changes.refuse(run)
  if run.processes > 1 then run.settings = workers.settings(run, call) end
  run_cells(run)
  run.store:refresh()
  return results.new(run.store, list)
end

-- ------------ in a worker

-- In a worker process, at the call of sc.experiment whose cells it runs: runs the cells that the
-- parent process assigns, and ends the process.
local function serve(o, path, list)
  local settings = own_settings
  own_settings, inside = nil, true
  workers.serve(function()
    if settings.name ~= o.name or settings.path ~= path
      or settings.cells ~= workers.digest(list) then
      fail("the script comes to another experiment, or to other cells, when it is run again; do \z
        they depend on time or chance?")
    end
  end, function()
    local run = new_run(o, path, list)
    run.store, run.start, run.retry = store.open(path, o.name), settings.start, settings.retry
    busy[place_of(path)] = true
    changes.refuse(run)
    return run
  end)
end

-- ------------ what scripts call

--- sc.experiment{ name =, cells =, run = function(cell, context) return { error = 0.1 } end, folder
--- = "experiments", processes = 1, data = ds, allow_failures = false, retry = true, rerun =,
--- other_options = {}, args =, group =, prepare = }: runs the function for every cell without a
--- result, and returns the experiment with all results.
---
--- cells: a grid { T = { 100, 1000 }, seed = { 1, 2, 3 } }, which stands for all combinations, in
--- alphabetical order of the names, the last changing fastest; or a list of tables. Values are
--- numbers, texts, booleans and lists of them. scullery script.lua --set T=500 --set seed=1,2
--- replaces values in a grid; of a list it takes the cells with these values, and a value that no
--- cell has replaces those of all; a value of a cell may hold commas. other_options: names of
--- options that other experiments of the script have, which --set may give. run returns a flat
--- table of numbers, texts and booleans.
---
--- context: { name, folder, index, count, key, seed, checkpoint }; seed is a whole number that
--- depends on the cell alone, and math.random is seeded with it. checkpoint is a path for p:fit(ds,
--- { checkpoint = context.checkpoint }): after a kill, the cell's fit goes on where it was. Several
--- fits of a cell take paths that begin with it. Its files are removed when the cell has ended.
---
--- group = { "q" }, prepare = function(group, context) ... end: cells with the same values of these
--- options are run one after another, and share what prepare returns, as one search over T serves
--- the cells of all T. group may be a function of a cell that returns a table: cells with equal
--- tables are a group, and the table is its options. prepare is called before the first cell of a
--- group that a process runs, with the group's options alone, and run gets its value as a third
--- argument; context.prepare_seconds, in run, are its processor seconds, which count for that first
--- cell. No two processes prepare the same group at once. context.checkpoint of prepare is removed
--- when the group's cells have ended.
---
--- scullery script.lua --part i/N runs every N-th cell (or group) from the i-th on, with results in
--- FOLDER/NAME/parts, for jobs on machines that share no locks (--part slurm: the task of a Slurm
--- array). The script without --part, or scullery experiment join FOLDER/NAME, takes them all.
---
--- Each result is written to FOLDER/NAME/results.jsonl before the next cell begins. A run that was
--- stopped or killed continues when it is started again; cells that were added to the grid are run,
--- and finished ones are kept. Simultaneous runs share the cells: each cell runs once.
---
--- processes: the number of workers, which run the script again up to this call and divide the
--- threads among them; their output goes to FOLDER/NAME/logs. data: a data set or a table of them;
--- results of other data are refused. If a cell raises an error, the error is recorded and the
--- other cells run; at the end that is an error, unless allow_failures is true. Failed cells run
--- again in the next run, unless retry is false.
---
--- args: what sc.arguments returned: with --quick the name ends in "_quick", and the folder is
--- OUT/cells for --out OUT.
---
--- Results of another function `run` are refused: its code, or a Lua function, number, text or
--- boolean that it captures, has changed (globals, tables and objects do not count, nor do lines
--- and comments). rerun = "changed" runs these cells again, rerun = "never" keeps them.
function experiment.run(given)
  calls = calls + 1
  local call = calls
  local o = options.check("experiment", given, rules, 0)
  if o.args then
    o.name = store.check_name(o.name) .. (o.args.quick and "_quick" or "")
    if given.folder == nil and o.args.out then o.folder = o.args.out .. "/cells" end
  end
  local path = store.path(o.folder, store.check_name(o.name))
  local arguments = rawget(_G, "arg")
  local has_script = type(arguments) == "table" and arguments[-1] ~= nil
  local words = has_script and arguments or {}
  local list, part = cells.of(o.cells, cells.settings(words), o.other_options), parts.of(words)
  if (o.group ~= nil) ~= (o.prepare ~= nil) then
    fail("options 'group' and 'prepare' go together: %s is missing",
      o.group and "prepare" or "group")
  end
  sharing.divide(list, o.group)
  if part then list, path = parts.cells(list, part), parts.path(path, part) end
  if busy[place_of(path)] then
    fail("the experiment '%s' runs already: this is a cell of it", o.name)
  end
  if own_settings and call < own_settings.call then -- a worker of a later experiment
    local there = store.read(path)
    if not there then fail("%s: it was removed while the script was running", path) end
    return results.new(there, list)
  end
  if own_settings then return serve(o, path, list) end
  if core.process_count() > 1 then
    fail("an experiment starts its own processes: run the script without --processes and mpirun, \z
      and give processes = N")
  end
  if inside or next(busy) then o.processes = 1 end -- in a cell
  if o.processes > 1 and not workers.script() then
    fail("processes of more than 1 run the script again, and there is none: the prompt, -e and a \z
      script from the standard input have processes = 1 alone")
  end
  return check_failures(run_here_or_by_workers(o, path, list, call), o.allow_failures)
end

--- sc.experiment.open(name, { folder = "experiments" }): the existing results, of all cells that
--- were ever run; it may be called while a run is active.
function experiment.open(name, given)
  local o = options.check("experiment.open", given or {}, { folder = folder_rule }, 0)
  local path = store.path(o.folder, store.check_name(name))
  local there = store.read(path)
  if not there then fail("%s: there is no such experiment", path) end
  return results.new(there)
end

return setmetatable({ open = experiment.open }, { __call = function(_, given)
  return experiment.run(given)
end })
