--- The subcommands: scullery plugin | data | predict | bench | notebook.
--- Loaded only when one is used.
local command = {}

-- argparse comes from the distribution; a sentence where it does not.
local function parser_for(name, description)
  local ok, argparse = pcall(require, "argparse")
  if not ok then
    error("the subcommands need lua-argparse (Debian: apt-get install lua-argparse)", 0)
  end
  return argparse("scullery " .. name, description):help_max_width(80)
end

local function parse(parser, arguments)
  local ok, result = parser:pparse(arguments)
  if ok then return result end
  io.stderr:write("scullery: ", tostring(result), "\n", parser:get_usage(), "\n")
  return nil
end

-- Run f: its error is the message of the command, without a traceback that leads into the library.
local function plainly(f, ...)
  local ok, message = pcall(f, ...)
  if ok then return 0 end
  message = tostring(message):gsub("^[%w_./ -]*%.lua:%d+: ", "")
  if require("scullery.options").is_interrupt(message) then message = "interrupted!" end
  io.stderr:write("scullery: ", message, "\n")
  return 1
end

-- ---------------------------------------------------------------- plugin

local function list_plugins()
  local core = require "scullery.core"
  local rows = { { "kind", "name", "version", "summary", "path" } }
  for _, entry in ipairs(require("scullery.plugin").list()) do
    local info, refusal = nil, entry.refusal
    if entry.kind then info, refusal = core.plugin_probe(entry.kind, entry.name) end
    rows[#rows + 1] = { entry.kind or "-", entry.name, info and info.version or "-",
      info and info.summary or "refused: " .. refusal, entry.path }
  end
  local sides = { "left", "left", "left", "left", "left" }
  print(require("scullery.text_table").text(rows, { sides = sides }))
end

local function is_plugin(name)
  for _, entry in ipairs(require("scullery.core").plugin_list()) do
    if name == entry.name or name == entry.kind .. "." .. entry.name then return true end
  end
  return false
end

-- `scullery WHAT list` and `scullery WHAT VERB NAME`: each {verb, help, action, help of its name}.
local function list_or_one(arguments, what, about, list, one)
  local parser = parser_for(what, about)
  parser:require_command(true)
  parser:command_target("action")
  parser:command(list[1], list[2])
  parser:command(one[1], one[2]):argument("name", one[4])
  local given = parse(parser, arguments)
  if not given then return 1 end
  if given.action == list[1] then return plainly(list[3]) end
  return plainly(one[3], given.name)
end

local function plugin_info(name)
  -- this loads a file that lies in no folder of a kind; its error names the nearest
  if not is_plugin(name) then require("scullery.plugin").info(name) end
  print((require("scullery.help").topic(name)))
end

function command.plugin(arguments)
  return list_or_one(arguments, "plugin", "Plugins: samplers, nonlinearities, kernels and solvers.",
    { "list", "every plugin that can be asked for", list_plugins },
    { "info", "what a plugin does and its options", plugin_info, "NAME or KIND.NAME" })
end

-- ---------------------------------------------------------------- data

local function get_data(name)
  for _, path in ipairs(require("scullery.data").get(name)) do print(path) end
end

function command.data(arguments)
  return list_or_one(arguments, "data", "Named data sets.",
    { "list", "every named set, and whether it is here",
      function() print(require("scullery.data").list()) end },
    { "get", "fetch a set to the cache and check it", get_data, "the set's name" })
end

-- ---------------------------------------------------------------- predict

local function predict_parser()
  local parser = parser_for("predict", "Predictions of a saved model for the rows of a file. \z
Columns go by the names of the model's training data, labels are written as they were there.")
  parser:argument("model", "what model:save(path) wrote")
  parser:argument("data", "CSV, .npy or LIBSVM, plain or gzip; - is the standard input")
  parser:option("-o --output", "a name in .csv or .npy, written whole or not at all; without, CSV \z
goes to the standard output")
  parser:mutex(parser:flag("--proba", "probabilities, a column a class"),
    parser:flag("--scores", "raw scores, a column a class (of two classes that of the second)"))
  parser:option("--id", "a column of the CSV file that is copied before the predictions")
  parser:option("--format", "of the data; otherwise the name's ending says it, or the training \z
data"):choices{ "csv", "npy", "libsvm" }
  parser:flag("--score", "also the accuracy or R2, where the file has the targets: to the \z
standard output with -o, else to the standard error")
  return parser
end

function command.predict(arguments)
  local given = parse(predict_parser(), arguments)
  if not given then return 1 end
  return plainly(function() require("scullery.predict").run(given) end)
end

-- ---------------------------------------------------------------- bench

local function bench_parser(parts)
  local parser = parser_for("bench", "This machine's ceilings, and how close the engine comes.")
  parser:argument("parts", "what is measured; all but solvers where none is named"):args("*")
    :choices(parts)
  parser:flag("--quick", "small sizes")
  return parser
end

function command.bench(arguments)
  local bench = require "scullery.bench"
  local given = parse(bench_parser(bench.parts), arguments)
  if not given then return 1 end
  return plainly(bench.run, given)
end

-- ---------------------------------------------------------------- notebook

local function notebook_parser()
  local parser = parser_for("notebook", "The Jupyter kernel.")
  parser:require_command(true)
  parser:command_target("action")
  for _, one in ipairs{ { "install", "make Jupyter know this Scullery" },
    { "uninstall", "take the kernel away again" } } do
    local action, about = one[1], one[2]
    local verb = parser:command(action, about)
    verb:mutex(verb:flag("--user", "in the user's folder of kernels (the default)"),
      verb:option("--prefix", "in DIR/share/jupyter/kernels, as /usr/local for all users")
        :argname("DIR"))
    if action == "install" then
      verb:option("--python", "the Python that runs the kernel; it needs ipykernel")
        :argname("PATH")
    end
  end
  return parser
end

function command.notebook(arguments)
  local given = parse(notebook_parser(), arguments)
  if not given then return 1 end
  return plainly(function()
    local install = require "scullery.notebook.install"
    if given.action == "install" then
      print("installed: " .. install.run(given))
    else
      local path, folder = install.remove(given)
      print(path and "removed: " .. path or "there is no kernel in " .. folder)
    end
  end)
end

--- command.run(name, ...): run a subcommand with its arguments; returns the exit status.
function command.run(name, ...) return command[name]({ ... }) end

return command
