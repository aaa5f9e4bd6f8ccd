--- The commands of a session: `:time EXPR` and the like, at the prompt and in notebooks.
local options = require "scullery.base.options"

local commands = {}

-- name -> { run(session, argument) -> as session:run, argument, description }
local known = {}

local function command(name, takes, about, run)
  known[name] = { run = run, takes = takes, about = about }
end

local function nothing() return true, { n = 0 } end

local function say(...)
  io.stdout:write(...)
  io.stdout:write("\n")
end

-- The result for an error of the command itself.
local function refuse(...)
  local message = string.format(...)
  return false, message, message
end

--- commands.names(): a list of { name, about }.
function commands.names()
  local list = {}
  for name, one in pairs(known) do list[#list + 1] = { name = name, about = one.about } end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

--- commands.takes_code(name): true if the argument of the command is Lua.
function commands.takes_code(name) return known[name] ~= nil and known[name].takes == "EXPR" end

--- commands.run(session, name, argument): as session:run.
function commands.run(session, name, argument)
  local one = known[name]
  if name == "" then return refuse(":help lists the commands") end
  if not one then
    local names = {}
    for other in pairs(known) do names[#names + 1] = other end
    local near = options.nearest(name, names)
    return refuse("there is no command :%s%s; :help lists them", name,
      near and (" (did you mean :%s?)"):format(near) or "")
  end
  if one.takes and argument == "" then return refuse(":%s takes %s", name, one.takes) end
  if not one.takes and argument ~= "" then
    return refuse(":%s takes nothing, and got %s", name, options.show(argument))
  end
  return one.run(session, argument)
end

-- ------------ times

local function now() return require("scullery.core").now() end

--- commands.seconds(t): a time as a text with its unit.
function commands.seconds(t)
  if t >= 100 then return ("%.0f s"):format(t) end
  if t >= 0.1 then return ("%.3g s"):format(t) end
  if t >= 1e-4 then return ("%.3g ms"):format(t * 1e3) end
  return ("%.3g us"):format(t * 1e6)
end
local seconds = commands.seconds

command("time", "EXPR", "run it and print its seconds", function(self, text)
  local taken
  local ok, values, trace = self:evaluate(text, function(f)
    local began = now()
    local results = table.pack(f())
    taken = now() - began
    return table.unpack(results, 1, results.n)
  end)
  if ok then say(seconds(taken)) end
  return ok, values, trace
end)

command("profile", "EXPR", "run it and print the seconds of each stage", function(self, text)
  local report
  local ok, values, trace = self:evaluate(text, function(f)
    local results = table.pack(require("scullery.base.profile").run(f))
    report = results[1]
    return table.unpack(results, 2, results.n)
  end)
  if ok then say(tostring(report)) end
  return ok, values, trace
end)

local LEAST_RUNS, MOST_RUNS, BENCH_SECONDS = 3, 1000, 2

-- The quantile of a sorted list.
local function quantile(sorted, share)
  local place = 1 + share * (#sorted - 1)
  local low = math.floor(place)
  local high = math.min(low + 1, #sorted)
  return sorted[low] + (place - low) * (sorted[high] - sorted[low])
end

local function bench(f)
  local times, total = {}, 0
  local first = table.pack(f())
  while #times < LEAST_RUNS or total < BENCH_SECONDS and #times < MOST_RUNS do
    collectgarbage()
    local began = now()
    f()
    times[#times + 1] = now() - began
    total = total + times[#times]
  end
  table.sort(times)
  return times, first
end

command("bench", "EXPR", "run it again and again: median and spread of its seconds",
  function(self, text)
    local times
    local ok, values, trace = self:evaluate(text, function(f)
      local first
      times, first = bench(f)
      return table.unpack(first, 1, first.n)
    end)
    if not ok then return ok, values, trace end
    say(("%d runs after a first: median %s, half of them between %s and %s, all between %s and %s")
      :format(#times, seconds(quantile(times, 0.5)), seconds(quantile(times, 0.25)),
        seconds(quantile(times, 0.75)), seconds(times[1]), seconds(times[#times])))
    return nothing()
  end)

-- ------------ files

command("load", "FILE", "run a file of Lua", function(self, path)
  local chunk, message = loadfile(path, "t", self.environment)
  if not chunk then return refuse(":load: %s", message) end
  local ok, values, trace = self:protected(chunk)
  if not ok then return false, values, trace end
  self.log[#self.log + 1] = ("dofile(%q)"):format(path)
  return nothing()
end)

command("save", "FILE", "write the session as a script that does the same again",
  function(self, path)
    local script = require("scullery.prompt.session_script")
    local ok, message = self:protected(script.save, self, path)
    if not ok then return refuse(":save: %s", options.plain(message)) end
    say(("%d %s written to %s%s"):format(#self.log, #self.log == 1 and "statement" or "statements",
      path, self.failed > 0
      and (", without the %d that failed"):format(self.failed) or ""))
    return nothing()
  end)

-- ------------ names, help, the end

command("who", nil, "your variables: type, shape, memory", function(self)
  say(require("scullery.prompt.session_names").text(self))
  return nothing()
end)

command("help", nil, "these commands", function()
  for _, one in ipairs(commands.names()) do
    say((":%-8s %-5s %s"):format(one.name, known[one.name].takes or "", one.about))
  end
  say("help() gives an overview of the library; x? is help(x)")
  return nothing()
end)

command("quit", nil, "end the session", function(self)
  self.ended = true
  return nothing()
end)

return commands
