--- Sessions: how the prompt and notebooks run a text. An expression is evaluated and its values
--- are shown, a statement is run; also `= x`, a `;` at the end, `x?`, `:commands` and `!commands`
--- of the shell.
local display = require "scullery.prompt.display"
local pasted = require "scullery.prompt.pasted"
local texts = require "scullery.base.text"
local statements = require "scullery.prompt.statements"
local tokens = require "scullery.prompt.tokens"
local unset = require "scullery.prompt.unset"

local session = {}

local Session = { __name = "session" }
Session.__index = Session

-- ------------ kinds of texts

-- `:word argument`; a single colon gives the word "". Two colons begin a label.
local function command_of(text)
  if text:find("^%s*:%s*$") then return "", "" end
  return text:match("^%s*:(%a[%w_]*)%s*(.-)%s*$")
end

-- The command of the shell in `!command`, or nil.
local function shell_command(text) return text:match("^%s*!%s*(.-)%s*$") end

-- The subject of `?x` or `x?` ("" for none), or nil.
local function asked(text)
  if not text:find("?", 1, true) then return nil end
  local code = tokens.code(text)
  local first, last = code[1], code[#code]
  if first and first.text == "?" then return text:sub(first.last + 1):match("^%s*(.-)%s*$") end
  if last and last.kind == "symbol" and last.text == "?" then
    return text:sub(1, last.first - 1):match("^%s*(.-)%s*$")
  end
end

-- True for exit, quit and exit(), unless the user defined such a name.
local function is_farewell(self, text)
  local word = text:match("^%s*(%a+)%s*%(?%)?%s*$")
  return (word == "exit" or word == "quit") and rawget(self.environment, word) == nil
end

-- ------------ running

-- The message of an error value of any type.
local function plain_message(raised)
  if type(raised) == "string" or type(raised) == "number" then return tostring(raised) end
  local meta = debug.getmetatable(raised)
  if type(meta) == "table" and rawget(meta, "__tostring") then
    local ok, text = pcall(tostring, raised)
    if ok and type(text) == "string" then return text end
  end
  local ok, shown = pcall(display.text, raised)
  return ok and ("(error object: %s)"):format(shown) or shown
end

-- f(...) protected: true and its values packed, or false, the message, and the message with its
-- traceback.
local function protected(f, ...)
  local message
  local results = table.pack(xpcall(f, function(raised)
    message = plain_message(raised)
    return debug.traceback(message, 2)
  end, ...))
  if not results[1] then return false, message or tostring(results[2]), results[2] end
  return true, table.pack(table.unpack(results, 2, results.n))
end

--- session.new{ environment = _G, reseed = true } -> a session with the names of the environment.
--- Its field chunk is the name of the texts in errors, for load ("=prompt" by default).
--- reseed = false: the state of math.random does not change, and :save cannot reproduce it.
function session.new(given)
  local environment = given and given.environment or _G
  local known = {}
  for name, value in next, environment do known[name] = value end
  local seeds = given and given.reseed == false and {} or { math.randomseed() }
  return setmetatable({ environment = environment, known = known, log = {}, failed = 0,
    seeds = seeds, ended = false }, Session)
end

--- session:read(text): see statements.read.
function Session:read(text) return statements.read(text, self.environment, self.chunk) end

--- session:status(text): "whole": it can be run; "unfinished": more lines may complete it;
--- "invalid": they cannot.
function Session:status(text)
  if shell_command(text) then return "whole" end
  local list = pasted.statements(text, function(statement) return self:status(statement) end)
  if list then return self:status(list[#list]) end
  local word, argument = command_of(text)
  if word then
    local commands = require "scullery.prompt.session_commands"
    return commands.takes_code(word) and self:status(argument) or "whole"
  end
  if asked(text) then return "whole" end
  if statements.has_open_block(text) then return "unfinished" end
  local code = self:read(text)
  return code.chunk and "whole" or code.unfinished and "unfinished" or "invalid"
end

--- session:evaluate(text[, around]): runs a text of Lua: true, its values packed, true if they are
--- to be shown; or false and the messages. around(f): called to run f; returns the values of f.
function Session:evaluate(text, around)
  local code = self:read(text)
  if not code.chunk then return false, code.message, code.message end
  local ok, values, trace
  if around then ok, values, trace = protected(around, code.chunk)
  else ok, values, trace = protected(code.chunk) end
  if not ok then
    self.failed = self.failed + 1
    local message = unset.in_message(values, self.environment)
    return false, message, message .. trace:sub(#values + 1)
  end
  local has_value = values.n > 0 and values[1] ~= nil
  if has_value then rawset(self.environment, "_", values[1]) end
  self.log[#self.log + 1] = code.script(has_value) -- for :save
  if code.silent then values = { n = 0 } end
  return true, values
end

-- The help text about `text`: its value if it is an expression, otherwise the topic of that name.
local function help_on(self, text)
  local help = require "scullery.help"
  if text == "" then return help.text() end
  local code = self:read((text:gsub(":(%a[%w_]*)$", ".%1"))) -- x:method is no expression
  local ok, values = false, nil
  if code.chunk then ok, values = pcall(code.chunk) end
  if ok and values ~= nil then return help.text(values) end
  return help.text((text:match("^[\"'](.*)[\"']$") or text))
end

-- Run a command of the shell, whose output goes where that of statements goes.
local function run_shell(command)
  local message
  if command == "" then
    message = "! takes a command of the shell, such as !ls"
  elseif command:gsub("\\\n", ""):find("\n", 1, true) then
    message = "! takes one line: what follows it goes into a statement of its own"
  else
    io.stdout:flush()
    local well, how, number = os.execute(command)
    if well then return true, { n = 0 } end
    message = ("!%s: %s %d"):format(command, how == "exit" and "exit status" or how, number)
  end
  return false, message, message
end

-- Run the statements that were pasted with their prompts; the values of all but the last are
-- printed here.
local function run_pasted(self, list)
  for i = 1, #list - 1 do
    local ok, values, trace = self:run(list[i])
    if not ok then return ok, values, trace end
    if values.n > 0 then print(display.values(values)) end
  end
  return self:run(list[#list])
end

--- session:run(text): true and its values as table.pack gives them (none if they are not to be
--- shown); or false, the message, and the message with its traceback. Sets _ to the first value.
function Session:run(text)
  local command = shell_command(text)
  if command then return run_shell(command) end
  local list = pasted.statements(text, function(statement) return self:status(statement) end)
  if list then return run_pasted(self, list) end
  local word, argument = command_of(text)
  if word then
    local commands = require "scullery.prompt.session_commands"
    return commands.run(self, word, argument)
  end
  local about = asked(text)
  if about then
    local ok, result, trace = protected(help_on, self, about)
    if not ok then return false, result, trace end
    local shown = result[1]
    if shown and shown ~= "" then require("scullery.help").show(shown) end
    return true, { n = 0 }
  end
  if is_farewell(self, text) then
    self.ended = true
    return true, { n = 0 }
  end
  local name = unset.name(text, self.environment)
  if name then
    print(unset.sentence(name, self.environment))
    return true, { n = 0 }
  end
  return self:evaluate(text)
end

--- session:protected(f, ...): true and the values of f(...) packed, or false and its messages.
function Session:protected(f, ...) -- luacheck: no self
  return protected(f, ...)
end

-- ------------ at the prompt

-- The message of an error in lines of at most `columns` - 1 columns, and its traceback as it is.
local function wrapped(message, columns)
  local fold = require("scullery.help.folding").fold
  local lines, at = {}, message:find("\nstack traceback:", 1, true) or #message + 1
  for line in message:sub(1, at - 1):gmatch("[^\n]+") do
    lines[#lines + 1] = fold(line, columns - 1)
  end
  return table.concat(lines, "\n") .. message:sub(at)
end

--- session:enter(text): runs a text and prints its values. Returns true if the session has ended,
--- and the message with its traceback if the text failed.
function Session:enter(text)
  local ok, values, trace = self:run(text)
  local terminal = require("scullery.core").terminal()
  if not ok then
    return self.ended, terminal.output and wrapped(trace, terminal.columns) or trace
  end
  if values.n > 0 then
    local shown = display.values(values, { width = terminal.columns - 1,
      colour = terminal.colour })
    io.stdout:write(shown, "\n")
  end
  return self.ended
end

--- session:editing(): the callbacks of a line editor: { status(text), add(text) as completion.add,
--- indented(text) and ended(text) as indentation.next and ended, coloured as colours.of, colour =
--- true if the terminal has colours }.
function Session:editing()
  local terminal = require("scullery.core").terminal
  local indentation = require "scullery.prompt.indentation"
  local colours = require "scullery.prompt.colours"
  return { colour = terminal().colour,
    status = function(text) return self:status(text) end,
    indented = indentation.next, ended = indentation.ended, coloured = colours.of,
    add = function(text)
      return require("scullery.prompt.completion").add(text, self.environment, terminal().columns)
    end }
end

-- Runs the file of SCULLERY_STARTUP when a prompt starts.
local function run_startup(self)
  local path = os.getenv "SCULLERY_STARTUP"
  if not path or path == "" then return end
  local chunk, message = loadfile(path, "t", self.environment)
  local trace
  if chunk then
    local ok
    ok, message, trace = protected(chunk)
    if ok then
      self.log[#self.log + 1] = ("dofile(%q)"):format(path)
      return
    end
  end
  io.stdout:flush()
  io.stderr:write("SCULLERY_STARTUP: ", texts.shown(trace and message or tostring(message)), "\n")
end

--- session.at_prompt(fresh): a session of the globals, after the file of SCULLERY_STARTUP has run.
--- fresh: true if nothing was run before it.
function session.at_prompt(fresh)
  local self = session.new{ reseed = fresh }
  run_startup(self)
  return self
end

return session
