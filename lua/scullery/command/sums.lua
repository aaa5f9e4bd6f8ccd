--- The subcommands that work with sums over rows: scullery sums | merge | update | forget.
local changing = require "scullery.model.changing"
local core = require "scullery.core"
local data = require "scullery.data"
local fail = require "scullery.base.fail"
local merging = require "scullery.model.merging"
local options = require "scullery.base.options"
local predict = require "scullery.model.predict"
local recipe = require "scullery.model.recipe"
local say = require "scullery.base.say"

local commands = {}

-- ------------------------------------------------------------ scullery sums

-- { i, n } for the text "i/n". Without a text the place of this task in a Slurm array, from
-- variables of Slurm; nil outside of one.
local function part_of(text)
  if not text then
    local function number(name) return math.tointeger(tonumber(os.getenv(name) or "")) end
    local id, first, count = number "SLURM_ARRAY_TASK_ID", number "SLURM_ARRAY_TASK_MIN",
      number "SLURM_ARRAY_TASK_COUNT"
    if not (id and first and count) then return nil end
    text = ("%d/%d"):format(id - first + 1, count)
  end
  local i, n = text:match("^(%d+)/(%d+)$")
  i, n = math.tointeger(tonumber(i)), math.tointeger(tonumber(n))
  if not i or i < 1 or i > n then
    fail("--part takes i/N, part i of N, and got '%s'", text)
  end
  return { i, n }
end

-- The path of the file for fit number k of a script: FOLDER/SCRIPT.k.sums, or with the part in it.
local function name_of(script, folder, k, part)
  local name = script:match("([^/]*)$"):gsub("%.lua$", "")
  local tail = part and (".%0" .. #tostring(part[2]) .. "d-of-%d"):format(part[1], part[2]) or ""
  return ("%s/%s.%d%s.sums"):format(folder, name, k, tail)
end

local NOT_FITTED = "not fitted yet" -- words of the error of recipe.fitted

--- commands.sums{ script = path, part = "i/N" or nil, out = folder, arguments = a list }: runs a
--- script in which each p:fit saves the sums over its part of the rows in a file, and does not fit.
--- The first statement that needs the result of a fit ends the script, which is not an error.
function commands.sums(given)
  local part, count = part_of(given.part), 0
  local chunk, problem = loadfile(given.script, "t")
  if not chunk then fail("%s", (problem:gsub("^cannot open ", "cannot open the script "))) end
  recipe.instead_of_fit = function(p, ds)
    count = count + 1
    local path = name_of(given.script, given.out, count, part)
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
  if count == 0 or not message:find(NOT_FITTED, 1, true) then error(message, 0) end
  say(("the script ends here, where it needs the result of a fit: %s"):format(
    message:match("^(.-): the pipeline is " .. NOT_FITTED) or message))
end

-- ------------------------------------------------------------ scullery merge

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

-- ------------------------------------------------------------ scullery update and forget

-- The rows of a .npy file with targets from another one; f: the model, which gives the task.
local function npy_rows(path, f, targets)
  if not targets then fail("%s: a .npy file holds no targets: give --targets FILE.npy", path) end
  if f.classes and type(f.classes[1]) == "string" then
    fail("%s: a .npy file holds no labels that are texts", targets)
  end
  return data.npy(path, { y = targets, stream = true, task = f.task, classes = f.classes })
end

-- Applies `change`, update or forget, to the model of a file and the rows of others.
local function changed(given, change)
  local p = predict.model(given.model)
  if #given.data > 1 and given.targets then fail("--targets goes with one file of rows") end
  for _, path in ipairs(given.data) do
    local format = given.format or predict.format(path, p.fitted)
    local ds = format == "npy" and npy_rows(path, p.fitted, given.targets)
      or predict.rows_with_targets(path, p.fitted, format)
    local ok, message = options.attempt(change, p, ds, { again = given.again })
    if not ok then fail("%s: %s", path, (options.plain(message):gsub("^pipeline:%l+: ", ""))) end
  end
  p:save(given.output or given.model, { sums = true })
  say(("%s: %s"):format(given.output or given.model, tostring(p.sums_kept)))
end

--- commands.update{ model = path, data = a list of paths, output = path or nil, format =, targets
--- =, again = }: adds the rows of files to a saved model.
function commands.update(given) changed(given, changing.update) end

--- commands.forget: takes the rows of files out of a saved model; the same arguments, without
--- again.
function commands.forget(given) changed(given, changing.forget) end

-- ------------------------------------------------------------ parsers

local parsers = {} -- by name of the command: a function that adds its arguments to a parser

function parsers.sums(parser)
  parser:argument("script", "a script that fits pipelines")
  parser:argument("arguments", "of the script"):args("*")
  parser:option("--part", "part i of N of the rows; without, all of them, or in a Slurm array the \z
part of its task"):argname("i/N")
  parser:option("--out", "the folder of the files"):argname("DIR"):default(".")
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

function parsers.update(parser)
  change_parser(parser)
  parser:flag("--again", "add rows that are all in the model already once more")
end

parsers.forget = change_parser

local about = {
  sums = "Runs a script in which each p:fit leaves the sums over its rows, or over a part of \z
them, in a file DIR/SCRIPT.K.sums, and fits nothing. What needs the result of a fit ends the \z
script.",
  merge = "Joins files of sums, in any order, and solves: the model of one fit to all rows, saved \z
with its sums.",
  update = "Adds the rows of files to a model that was saved with its sums, and solves anew.",
  forget = "Takes the rows of files out of a model that was saved with its sums, and solves anew: \z
as if they had never been there.",
}

-- An error message for a shell user: without names of Lua functions, and with options as --NAME.
local function in_shell(message)
  message = options.plain(message):gsub("^merge: ", ""):gsub("^load: ", "")
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
    if not ok then error(in_shell(message), 0) end
  end)
end

return commands
