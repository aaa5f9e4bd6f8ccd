--- scullery plugin VERB: the table `verbs` has one entry for each. Longer actions are in their own
--- modules.
local checker = require "scullery.plugin.checker"
local parsing = require "scullery.command.parsing"
local say = require "scullery.base.say"

-- scullery plugin list: one line for each plugin, with the reason for those that cannot be loaded.
local function list()
  local about = require "scullery.plugin.about"
  local rows = { { "kind", "name", "version", "summary", "from", "path" } }
  for _, entry in ipairs(require("scullery.plugin").list()) do
    local info, refusal = nil, entry.refusal
    if entry.kind then info, refusal = about.probe(entry.kind, entry.name) end
    rows[#rows + 1] = { entry.kind or "-", entry.name, info and info.version or "-",
      info and info.summary or "refused: " .. refusal, entry.origin, entry.path }
  end
  local sides = { "left", "left", "left", "left", "left", "left" }
  say(require("scullery.base.text_table").text(rows, { sides = sides }))
end

-- scullery plugin info: of a shared object, or of each plugin with this name. A target is a file if
-- it has a slash, or if it ends in .so and exists.
local function info(given)
  local about, target = require "scullery.plugin.about", given.target
  if target:find("/", 1, true)
    or target:find("%.so$") and require("scullery.core").file_about(target) then
    local found, message = about.file(target)
    if not found then error(message, 0) end
    say(about.text(found))
    return
  end
  local known = require("scullery.plugin.names").find(target)
  for i, entry in ipairs(known) do
    local one, message = about.component(entry.kind, entry.name)
    if not one then error(message, 0) end
    say((i > 1 and "\n" or "") .. about.text{ one })
  end
end

local verbs = {
  { name = "list", help = "every plugin that can be asked for", action = list },
  { name = "info", help = "everything about a plugin", action = info,
    arguments = function(parser)
      parser:argument("target", "NAME or KIND.NAME; FILE.so is opened in a child process")
        :argname("NAME|FILE.so")
    end },
  { name = "new", help = "a folder with a new plugin that works: source, test, build",
    action = function(given) require("scullery.plugin.new").run(given) end,
    arguments = function(parser) require("scullery.plugin.new").arguments(parser) end },
  { name = "check", help = "whether a plugin does what every plugin must",
    action = function(given) return checker(".command").run(given) end,
    -- the other verbs work without the checker
    arguments = function(parser)
      local ok, command = pcall(checker, ".command")
      if ok then command.arguments(parser) end
    end },
  { name = "install", help = "check a plugin, and copy it to the user's folder",
    action = function(given) require("scullery.plugin.place").install(given) end,
    arguments = function(parser)
      parser:argument("file", "the shared object"):argname("FILE.so")
      parser:flag("--force", "in spite of failed checks, and in the place of another file")
      parser:flag("--no-check", "without the checks")
    end },
  { name = "uninstall", help = "remove a plugin from the user's folder",
    action = function(given) require("scullery.plugin.place").uninstall(given.name) end,
    arguments = function(parser) parser:argument("name", "NAME or KIND.NAME") end },
}

return function(arguments)
  if arguments[1] == "check" then -- the checker parses the arguments
    local status = parsing.plainly(function() checker(".command") end)
    if status ~= 0 then return status end
  end
  return parsing.run("plugin", "Plugins: samplers, nonlinearities, kernels and solvers.", verbs,
    arguments)
end
