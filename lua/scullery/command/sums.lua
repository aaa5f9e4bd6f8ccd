--- The subcommands that work with sums over rows: scullery sums | merge | update | forget.
local changing = require "scullery.model.changing"
local core = require "scullery.core"
local data = require "scullery.data"
local dataset = require "scullery.data.dataset"
local derive = require "scullery.data.derive"
local drift = require "scullery.model.drift"
local fail = require "scullery.base.fail"
local folders = require "scullery.base.folders"
local merging = require "scullery.model.merging"
local update = require "scullery.model.update"
local options = require "scullery.base.options"
local parts = require "scullery.base.part"
local pipe = require "scullery.data.pipe"
local predict = require "scullery.model.predict"
local progress = require "scullery.base.progress"
local recipe = require "scullery.model.recipe"
local say = require "scullery.base.say"
local schemas = require "scullery.data.schema"
local window = require "scullery.model.window"

local commands = {}

-- ------------ scullery sums

-- The path of the file for fit number k of a script: FOLDER/SCRIPT.k.sums, or with the part in it.
local function name_of(script, folder, k, part)
  local name = script:match("([^/]*)$"):gsub("%.lua$", "")
  local tail = part and "." .. parts.name(part) or ""
  return ("%s/%s.%d%s.sums"):format(folder, name, k, tail)
end

local NOT_FITTED = "not fitted yet" -- words of the error of recipe.fitted

--- commands.sums{ script = path, part = "i/N" or nil, out = folder, arguments = a list }: runs a
--- script in which each p:fit saves the sums over its part of the rows in a file, and does not fit.
--- The first statement that needs the result of a fit ends the script, which is not an error.
function commands.sums(given)
  local text, count = given.part or parts.of_slurm(), 0
  local part = text and parts.of(text)
  local chunk, problem = loadfile(given.script, "t")
  if not chunk then fail("%s", (problem:gsub("^cannot open ", "cannot open the script "))) end
  recipe.instead_of_fit = function(p, ds)
    count = count + 1
    local path = name_of(given.script, given.out, count, part)
    folders.make(given.out)
    local made = p:sums(ds, { part = part, save = path })
    say(("%s: %s"):format(path, tostring(made)))
    return p
  end
  _G.arg = table.move(given.arguments, 1, #given.arguments, 1, { [0] = given.script })
  local ok, message = pcall(chunk, table.unpack(given.arguments))
  recipe.instead_of_fit = nil
  message = type(message) == "table" and message.message or tostring(message)
  if ok and count == 0 then fail("%s fits nothing: there are no sums", given.script) end
  if ok then return end
  if count == 0 or not message:find(NOT_FITTED, 1, true) then
    error({ of_script = message }, 0)
  end
  say(("the script ends here, where it needs the result of a fit: %s"):format(
    message:match("^(.-): the pipeline is " .. NOT_FITTED) or message))
end

-- ------------ scullery merge

--- commands.merge{ files = a list, output = path, lambda = number, "gcv" or nil, partial =, again =
--- }: joins sums, solves, and saves the model with its sums. Without lambda, sums with folds are
--- searched for the best one.
function commands.merge(given)
  local joined = merging.merge(given.files, { partial = given.partial, again = given.again })
  local p
  if joined.folds and not given.lambda then
    p = joined:search()
    say(p.table)
  else
    p = joined:solve{ lambda = given.lambda }
  end
  p:save(given.output, { sums = true })
  say(("%s: %s"):format(given.output, tostring(p.sums_kept)))
end

-- ------------ scullery update and forget

-- The rows of a .npy file with targets from another one; f: the model, which gives the task.
local function npy_rows(path, f, targets)
  if not targets then fail("%s: a .npy file holds no targets: give --targets FILE.npy", path) end
  if f.classes and type(f.classes[1]) == "string" then
    fail("%s: a .npy file holds no labels that are texts", targets)
  end
  return data.npy(path, { y = targets, stream = true, task = f.task, classes = f.classes })
end

-- The rows of a file for the model f, with their targets, and a handle while which lives they are.
local function rows_of(path, f, given)
  local target = f.schema and f.schema.target
  local opened, format, file = predict.open(path, f, given.format, { target and target.name })
  return format == "npy" and npy_rows(opened, f, given.targets)
    or predict.rows_with_targets(opened, f, format, false, true), file
end

-- The message of an error without the name of a method.
local function plain(message)
  return (options.plain(message):gsub("^pipeline:%l+: ", ""):gsub("^data%.%l+: ", ""))
end

-- Writes the model with its sums.
local function save(p, given) p:save(given.output or given.model, { sums = true }) end

-- Applies `change`, update or forget, to the model of a file and the rows of others.
local function changed(given, change)
  local p = predict.model(given.model)
  if #given.data > 1 and given.targets then fail("--targets goes with one file of rows") end
  for _, path in ipairs(given.data) do
    local rows, _ <close> = rows_of(path, p.fitted, given)
    local ok, message = options.attempt(change, p, rows, given.again)
    if not ok then fail("%s: %s", path, plain(message)) end
  end
  save(p, given)
  say(("%s: %s"):format(given.output or given.model, tostring(p.sums_kept)))
end

local EVERY = 1000    -- rows of a part
local SAVE_AFTER = 60 -- seconds between saved models, while rows come

-- Prints a row of the table of errors at once.
local function show(list)
  say(("%12s %12s %12s"):format(table.unpack(list)))
  io.stdout:flush()
end

-- Learns the rows of the standard input in parts. tell(row): called after each.
local function learn_pipe(learner, f, given, tell)
  local format = given.format or predict.format("-", f)
  if format == "npy" then fail("rows of a .npy file are read from files only") end
  local schema = f.schema or {}
  if schema.derived and derive.takes_rows(schema) then
    fail("a computed column of the model depends on other rows (lag), which a part of the rows \z
      does not have: give a file")
  end
  local source = { rows = 0, cols = f.dim, sha256 = "" }
  local level <close>, notes = progress.level{ name = "update", unit = "rows" }, {}
  for ds in pipe.parts{ file = io.stdin, size = given.every or EVERY, csv = format == "csv",
    header = format == "csv" and schema.header, read = function(path)
      return predict.rows_with_targets(path, f, format, true)
    end } do
    local row
    row, source = learner:learn_next(ds, source)
    schemas.pool(notes, dataset.notes(ds))
    level:step(source.rows)
    tell(row)
  end
  if source.rows == 0 then fail("there are no rows") end
  schemas.tell("-", schemas.notes(notes))
end

-- Learns rows in parts, from files and from a pipe. The model is saved at the end, after an error
-- or Ctrl-C with the parts before it, and now and then.
local function learned(given)
  local p = predict.model(given.model)
  local learner = update.open(p, { every = given.every or EVERY, window = given.window,
    again = given.again })
  local saved, rows = core.now(), 0
  local function keep()
    if learner.rows > rows then save(p, given) end
    saved, rows = core.now(), learner.rows
  end
  local function tell(row)
    if given.drift then show(drift.line(row)) end
    if core.now() - saved >= SAVE_AFTER then keep() end
  end
  if given.drift then show(drift.heading(drift.score(p.fitted.task))) end
  for _, path in ipairs(given.data) do
    local ok, message = pcall(function()
      if path == "-" then return learn_pipe(learner, p.fitted, given, tell) end
      local ds, _ <close> = rows_of(path, p.fitted, given)
      learner:feed(ds, given.every or EVERY, tell)
    end)
    if not ok then
      keep()
      if options.is_interrupt(message) then error(message, 0) end
      fail("%s: %s%s", path == "-" and "standard input" or path,
        (plain(message):gsub("^standard input: ", "")), rows == 0 and "; no rows were learnt"
        or ("; the %d rows before were learnt"):format(rows))
    end
  end
  keep()
  say(("%s: %s"):format(given.output or given.model, tostring(p.sums_kept)))
end

--- commands.update{ model = path, data = a list of paths, output = path or nil, format =, targets
--- =, again =, drift =, every =, window = }: adds the rows of files to a saved model: each file at
--- once, or in parts if one of the last three is given or a path is "-", the standard input.
function commands.update(given)
  local pipes = 0
  for _, path in ipairs(given.data) do if path == "-" then pipes = pipes + 1 end end
  if pipes > 1 then fail("the standard input can be read only once") end
  if pipes > 0 and given.targets then fail("--targets goes with a file of rows") end
  local in_parts = pipes > 0 or given.drift or given.every or given.window
  return (in_parts and learned or changed)(given, changing.update)
end

--- commands.forget: takes the rows of files out of a saved model; the same arguments, without
--- again, drift, every and window.
function commands.forget(given) changed(given, changing.forget) end

-- ------------ parsers

local parsers = {} -- by name of the command: a function that adds its arguments to a parser

function parsers.sums(parser)
  parser:argument("script", "a script that fits pipelines")
  parser:argument("arguments", "of the script"):args("*")
  parser:option("--part", "part i of N of the rows; without, all of them, or in a Slurm array the \z
part of its task"):argname("i/N")
  parser:option("--out", "the folder of the files, which is made"):argname("DIR"):default(".")
end

function parsers.merge(parser)
  parser:argument("files", "files of sums, or models that were saved with their sums"):args("+")
  parser:option("-o --output", "the model's file"):argname("MODEL"):count(1)
  parser:option("--lambda", "the solver's regularisation: a number, or gcv; without, the recipe's \z
or the best where folds were summed apart"):argname("L"):convert(function(text)
    return text == "gcv" and text or tonumber(text), ("--lambda takes a number or gcv, and got \z
'%s'"):format(text)
  end)
  parser:flag("--partial", "go without parts that are missing")
  parser:flag("--again", "count sums again whose rows are all there")
end

local function change_parser(parser)
  parser:argument("model", "a model that was saved with its sums")
  parser:argument("data", "CSV, .npy or LIBSVM, plain or gzip, with the targets"):args("+")
  parser:option("-o --output", "write the model here; without, its own file is replaced, whole \z
or not at all"):argname("MODEL")
  parser:option("--format", "of the data; otherwise the name's ending says it, or the training \z
data"):choices{ "csv", "npy", "libsvm" }
  parser:option("--targets", "the targets of a .npy file"):argname("FILE.npy")
end

-- A converter of the text of --window: "5000", "7d" or "time=30".
local function window_of(text)
  local span = tonumber(text:match("^time=(.+)$"))
  local value = span and { time = span } or tonumber(text) or text
  if window.rule.test(value) then return value end
  return nil, ("--window takes rows as 5000, a duration as 7d (of s, min, h, d, w), or time=SPAN \z
in the unit of the time column, and got '%s'"):format(text)
end

local function every_of(text)
  local rows = math.tointeger(tonumber(text))
  if rows and rows >= 1 then return rows end
  return nil, ("--every takes a number of rows, and got '%s'"):format(text)
end

function parsers.update(parser)
  change_parser(parser)
  parser:flag("--again", "add rows that are all in the model already once more")
  parser:flag("--drift", "learn rows in parts, and print the error on each part before it is \z
learnt")
  parser:option("--every", "learn rows in parts of so many; 1000 where another option asks for \z
parts"):argname("ROWS"):convert(every_of)
  parser:option("--window", "learn rows in parts, and keep the last ones: a number of rows, a \z
duration as 7d (of s, min, h, d, w), or time=SPAN in the unit of the time column"):argname("SIZE")
    :convert(window_of)
end

parsers.forget = change_parser

local about = {
  sums = "Runs a script in which each p:fit leaves the sums over its rows, or over a part of \z
them, in a file DIR/SCRIPT.K.sums, and fits nothing. What needs the result of a fit ends the \z
script.",
  merge = "Joins files of sums, in any order, and solves: the model of one fit to all rows, saved \z
with its sums.",
  update = "Adds the rows of files, or of the standard input (-), to a model that was saved with \z
its sums, and solves anew.",
  forget = "Takes the rows of files out of a model that was saved with its sums, and solves anew: \z
as if they had never been there.",
}

-- An error message for a shell user: without names of Lua functions, and with options as --NAME.
local function in_shell(message)
  message = plain(message):gsub("^merge: ", ""):gsub("^load: ", "")
  return (message:gsub("give (%l+) = true", "give --%1"))
end

--- commands.run(name, arguments): the subcommand; returns the exit status.
function commands.run(name, arguments)
  local parsing = require "scullery.command.parsing"
  local parser = parsing.parser(name, about[name])
  parsers[name](parser)
  local given = parsing.parse(parser, arguments)
  if not given then return 1 end
  return parsing.plainly(function()
    local _ <close> = core.level(name)
    local ok, message = pcall(commands[name], given)
    if not ok then error(type(message) == "table" and message or in_shell(message), 0) end
  end)
end

return commands
