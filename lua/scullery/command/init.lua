--- The subcommands: scullery plugin | data | predict | sums | merge | update | forget | bench |
--- experiment | notebook. The command loads this module only when one is used.
require "scullery.base.bytecode" -- first: it loads the modules below
local parsing = require "scullery.command.parsing"
local say = require "scullery.base.say"

local command = {}

-- Each function command.NAME takes the list of the arguments of `scullery NAME` and returns the
-- exit status: 0, or 1 after a message on standard error. Modules are loaded where they are used,
-- so that a subcommand starts without the others.

-- ------------ plugin

function command.plugin(arguments) return require "scullery.command.plugin" (arguments) end

-- ------------ data

function command.data(arguments)
  local data = require "scullery.data"
  return parsing.run("data", "Named data sets.", {
    { name = "list", help = "every named set, and whether it is here",
      action = function() say(data.list()) end },
    { name = "get", help = "fetch a set to the cache and check it",
      action = function(given) for _, path in ipairs(data.get(given.name)) do print(path) end end,
      arguments = function(parser) parser:argument("name", "the set's name") end },
  }, arguments)
end

-- ------------ predict

-- A converter of an option's text to a number, with a sentence for other texts.
local function number_for(name)
  return function(said)
    return tonumber(said), ("%s takes a number, and got '%s'"):format(name, said)
  end
end

local function predict_parser()
  local parser = parsing.parser("predict", "Predictions of a saved model for the rows of a file. \z
Columns go by the names of the model's training data, labels are written as they were there.")
  parser:argument("model", "what model:save(path) wrote")
  parser:argument("data", "CSV, .npy, LIBSVM, Parquet, Arrow, HDF5 or SQLite; of a model of texts \z
also a text in each line; text may be gzip; - is the standard input")
  parser:option("-o --output", "a name in .csv or .npy, written whole or not at all; without, CSV \z
goes to the standard output")
  parser:mutex(parser:flag("--proba", "probabilities, a column a class"),
    parser:flag("--scores", "raw scores, a column a class (of two classes that of the second)"))
  parser:flag("--std", "of a ridge regression, also the standard deviation of each prediction")
  parser:option("--interval", "of a regression, also the bounds between which a new row lies with \z
this probability, 0.9 for example"):argname("LEVEL"):convert(number_for "--interval")
  parser:option("--label-sets", "of a classification, a column a class: 1 where the row may have \z
it, so that its label is among them with this probability"):argname("LEVEL")
    :convert(number_for "--label-sets")
  parser:option("--calibration", "with --interval or --label-sets: a file with targets, of rows \z
that the model did not learn from, whose errors give the bounds or sets; for models that keep \z
nothing for them")
  parser:option("--threshold", "for labels of two classes: the probability from which the second \z
is said"):argname("P"):convert(number_for "--threshold")
  parser:option("--digits", "significant digits of numbers in CSV, 1 to 17; without, as many as \z
tell them apart"):argname("N"):convert(number_for "--digits")
  parser:flag("--no-header", "CSV without the line of names")
  parser:flag("--append", "rows go after those of the file of -o, where it is there")
  parser:option("--id", "a column of the CSV file that is copied before the predictions")
  parser:option("--format", "of the data; otherwise the name's ending says it, or the training \z
data"):choices{ "csv", "npy", "libsvm", "lines" }
  parser:flag("--score", "also the accuracy or R2, where the file has the targets: to the \z
standard output with -o, else to the standard error")
  parser:option("--metric", "with --score: this metric, with its standard error; auc, brier, \z
'pinball{tau = 0.9}'")
  return parser
end

function command.predict(arguments)
  local given = parsing.parse(predict_parser(), arguments)
  if not given then return 1 end
  return parsing.plainly(function() require("scullery.model.predict").run(given) end)
end

-- ------------ rows that come later

for _, name in ipairs{ "sums", "merge", "update", "forget" } do
  command[name] = function(arguments)
    return require("scullery.command.sums").run(name, arguments)
  end
end

-- ------------ bench

function command.bench(arguments)
  local bench = require "scullery.bench"
  local parser = parsing.parser("bench", "This machine's rates, and how close the engine comes.")
  parser:argument("parts", "what is measured; all but predict and large where none is named")
    :args("*"):choices(bench.parts)
  parser:option("--row", "only this row; may be given again"):argname("ID"):count("*")
  parser:flag("--list", "names of the rows, measuring nothing")
  parser:flag("--quick", "small sizes")
  parser:flag("--json", "one JSON document instead of lines")
  local given = parsing.parse(parser, arguments)
  if not given then return 1 end
  return parsing.plainly(bench.run, given)
end

-- ------------ notebook

local function notebook_parser()
  local parser = parsing.parser("notebook", "The Jupyter kernel.")
  parser:require_command(true)
  parser:command_target("action")
  for _, one in ipairs{ { "install", "make Jupyter know this Scullery" },
    { "uninstall", "take the kernel away again" } } do
    local action, about = one[1], one[2]
    local verb = parser:command(action, about)
    verb:mutex(verb:flag("--user", "in the user's folder of kernels (the default)"),
      verb:option("--prefix", "in DIR/share/jupyter/kernels, as /usr/local for all users")
        :argname("DIR"))
    verb:option("--processes", "a kernel of its own, whose cells run in N processes")
      :argname("N")
    if action == "install" then
      verb:option("--python", "the Python that runs the kernel; it needs ipykernel")
        :argname("PATH")
    end
  end
  return parser
end

-- ------------ experiment

function command.experiment(arguments)
  return parsing.run("experiment", "Results of experiments.", {
    { name = "join", help = "add the results of the parts (--part i/N) to those of the experiment",
      action = function(given)
        local store = require "scullery.experiment.store"
        local parts = require "scullery.experiment.parts"
        for _, path in ipairs(given.folders) do
          path = path:gsub("(.)/+$", "%1")
          if not parts.there(path) then error(path .. " has no parts of an experiment", 0) end
          local added, found = parts.join(store.open(path, path:match "[^/]*$"))
          say(("%s: %d results added, of %d parts"):format(path, added, found))
        end
      end,
      arguments = function(parser)
        parser:argument("folders", "FOLDER/NAME of an experiment"):args "+"
      end },
  }, arguments)
end

function command.notebook(arguments)
  local given = parsing.parse(notebook_parser(), arguments)
  if not given then return 1 end
  return parsing.plainly(function()
    local install = require "scullery.notebook.install"
    if given.action == "install" then
      say("installed: " .. install.run(given))
    else
      local path, folder = install.remove(given)
      say(path and "removed: " .. path or "there is no kernel in " .. folder)
    end
  end)
end

--- command.run(name, ...): runs a subcommand with its arguments; returns the exit status.
function command.run(name, ...) return command[name]({ ... }) end

return command
