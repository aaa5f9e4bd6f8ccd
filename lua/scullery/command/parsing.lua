--- Parsers for the subcommands, and errors without a traceback.
local shown = require("scullery.base.text").shown

local parsing = {}

--- parsing.parser(name, description): the argparse parser of `scullery NAME`. Raises an error if
--- argparse, which comes from the distribution, is not installed.
function parsing.parser(name, description)
  local ok, argparse = pcall(require, "argparse")
  if not ok then
    error("the subcommands need lua-argparse (Debian: apt-get install lua-argparse)", 0)
  end
  return argparse("scullery " .. name, description):help_max_width(80)
end

--- parsing.parse(parser, arguments, verbs): the parsed arguments; nil after a message and the usage
--- if they are invalid. verbs: the parsers of its verbs by name, or nil.
function parsing.parse(parser, arguments, verbs)
  local ok, result = parser:pparse(arguments)
  if ok then return result end
  local used = (verbs or {})[arguments[1]] or parser
  io.stderr:write("scullery: ", shown(tostring(result)), "\n", used:get_usage(), "\n")
  return nil
end

--- parsing.plainly(f, ...): runs f; returns the exit status, f's own if it returns one. An error is
--- printed as a message of the command, without a traceback and a position. Of a table the field
--- of_script is printed as it is: the message of a user's script, with its position.
function parsing.plainly(f, ...)
  local ok, result = pcall(f, ...)
  if ok then return math.type(result) == "integer" and result or 0 end
  local message = type(result) == "table" and result.of_script
    or tostring(result):gsub("^[%w_./ -]*%.lua:%d+: ", "")
  if require("scullery.base.options").is_interrupt(message) then message = "interrupted!" end
  io.stderr:write("scullery: ", shown(message), "\n")
  return 1
end

--- parsing.run(name, about, verbs, arguments): `scullery NAME VERB ...`. A verb is a table with
--- name, help, arguments (nil, or a function that adds them to a parser) and action (a function of
--- the parsed arguments; it returns an exit status or nothing).
function parsing.run(name, about, verbs, arguments)
  local parser, actions, parsers = parsing.parser(name, about), {}, {}
  parser:require_command(true)
  parser:command_target("verb")
  for _, verb in ipairs(verbs) do
    local sub = parser:command(verb.name, verb.help)
    if verb.arguments then verb.arguments(sub) end
    actions[verb.name], parsers[verb.name] = verb.action, sub
  end
  local given = parsing.parse(parser, arguments, parsers)
  if not given then return 1 end
  return parsing.plainly(actions[given.verb], given)
end

return parsing
