--- Signals at random times over every kind of long work (long_work.lua). After SIGINT a run ends
--- with status 1 and "interrupted!", a prompt goes on; after SIGTERM, or where the reader of a pipe
--- is gone, it ends too; and a file that it wrote is whole, or as before.
---
---   scullery tests/fuzz/signals.lua [--seed S] [--seconds T] [--grace G] [--only NAME]
---
--- --grace: seconds from the signal to the end (2 by hand; a busy machine takes more).
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;"
  .. (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local long_work = require "long_work"
local sc = require "scullery"
local support = require "support"

local o = attack.options(arg, { seed = "1", seconds = 60, grace = 2, only = "", longest = 4,
  server = support.build .. "/tests/loopback_server" })

local finding, folder = attack.finding, attack.folder()

local function run(given)
  given.folder, given.grace = folder, o.grace
  return attack.scullery(given)
end

-- Whether the work had begun: the interpreter's start ends as any command's does.
local function begun()
  return os.remove(folder .. "begun") ~= nil
end
local telling = 'io.open("begun", "w"):close() '

local function fault_of(name, seconds, status, errors)
  local fault = attack.fault(status, errors)
  if fault then finding("%s, after %.3f s: %s\n%s", name, seconds, fault, errors:sub(1, 2000)) end
  return fault
end

-- ------------ files

local function is_whole(path)
  if path:find("%.npy$") then return pcall(sc.data.npy, path) end
  if path:find("%.model$") then return pcall(sc.load, path) end
  local text = support.read(path)
  return #text == 0 or text:sub(-1) == "\n", "it ends within a line"
end

-- Outputs are whole; after SIGINT nothing half done is left beside them.
local function check_files(name, signal)
  for _, file in ipairs(attack.files(folder)) do
    local path = folder .. file
    if file:find("^out%.") and not file:find("%.part") then
      local whole, why = is_whole(path)
      if not whole then finding("%s, SIG%s: %s is torn: %s", name, signal, file, tostring(why)) end
    elseif file:find("%.part") and signal == "INT" then
      finding("%s, SIG%s: %s was left", name, signal, file)
    end
    if file:find("^out%.") or file:find("%.part") then os.remove(path) end
  end
end

-- ------------ kinds of attack

local attacks = {}

local function interrupt(work, seconds)
  local status, _, errors = run{ arguments = "-e " .. support.quote(telling .. work.text),
    signal = "INT", seconds = seconds }
  local early = not begun()
  if fault_of(work.name, seconds, status, errors) then return end
  if status == 137 then
    finding("%s: it does not end within %g s of SIGINT at %.3f s", work.name, o.grace, seconds)
  elseif status == 130 and early then
    return
  elseif status ~= 1 or not errors:find("interrupted!", 1, true) then
    finding("%s, SIGINT at %.3f s: status %d: %s", work.name, seconds, status, errors)
  end
  check_files(work.name, "INT")
end

function attacks.interrupt(work, seconds) interrupt(work, seconds) end

function attacks.terminate(work, seconds)
  local status, _, errors = run{ arguments = "-e " .. support.quote(work.text), signal = "TERM",
    seconds = seconds }
  fault_of(work.name, seconds, status, errors)
  if status ~= 143 then
    finding("%s, SIGTERM at %.3f s: status %d: %s", work.name, seconds, status, errors)
  end
  check_files(work.name, "TERM")
end

-- The prompt goes on with its next line.
function attacks.prompt(work, seconds)
  local status, out, errors = run{ arguments = "-i", signal = "INT", seconds = seconds + 0.3,
    input = "do " .. work.text:gsub("\n", " ") .. " end\nprint('on', 6 * 7)\n" }
  fault_of(work.name, seconds, status, errors)
  if status ~= 0 or not out:find("on\t42", 1, true) then
    finding("%s, SIGINT at the prompt at %.3f s: status %d: %s", work.name, seconds, status,
      errors .. out)
  end
  check_files(work.name, "INT")
end

-- ------------ the command

local outputs = { "", "-o out.csv", "-o out.npy", "--proba -o out.csv", "--scores" }
local inputs = { "long.csv", "long.csv --score -o out.csv", "- < long.csv" }

-- Whether all predictions were out already: from then on SIGINT ends the process as any other's.
local function is_finished(name, out)
  for _, file in ipairs(attack.files(folder)) do
    if file == name:match("out%.%a+") then return true end
  end
  return select(2, out:gsub("\n", "")) > long_work.rows
end

local function predict(random, seconds)
  local name = ("predict long.model %s %s"):format(inputs[random(#inputs)],
    outputs[random(#outputs)])
  local signal = random(2) == 1 and "INT" or "TERM"
  local status, out, errors = run{ arguments = name, signal = signal, seconds = seconds }
  fault_of(name, seconds, status, errors)
  if status == 137 then
    finding("%s: it does not end within %g s of SIG%s at %.3f s", name, o.grace, signal, seconds)
  elseif status ~= 0 and status ~= (signal == "INT" and 1 or 143)
    and not (status == 130 and (seconds < 0.6 or is_finished(name, out)))
    and not errors:find("mutually") then
    finding("%s, SIG%s at %.3f s: status %d: %s", name, signal, seconds, status, errors)
  end
  check_files(name, signal)
end

-- A reader that goes: `head` takes some lines and ends.
local function close_pipe(random)
  local lines = random(2000)
  local status, out, errors = run{ arguments = "predict long.model long.csv",
    behind = ("| head -n %d"):format(lines), seconds = 60 }
  fault_of("predict to head", 0, status, errors)
  local _, count = out:gsub("\n", "")
  if status ~= 0 or count ~= lines then
    finding("predict to head -n %d: %d lines, status %d: %s", lines, count, status, errors)
  end
end

-- A server that answers with a file, while signals come.
local function fetch(random, seconds)
  local port_file = folder .. "port"
  os.execute(("cd %s && { timeout 20 %s . > port & }"):format(support.quote(folder),
    support.quote(o.server)))
  local port
  for _ = 1, 50 do
    local file = io.open(port_file)
    port = file and file:read("n")
    if file then file:close() end
    if port then break end
    os.execute("sleep 0.1")
  end
  assert(port, "the server on the loopback does not start")
  local text = ('local fetch = require("scullery.core").fetch while true do \z
fetch("http://127.0.0.1:%d/%s", "out.fetched") end'):format(port,
    random(2) == 1 and "long.npy" or "-/loop")
  local status, _, errors = run{ arguments = "-e " .. support.quote(telling .. text),
    signal = "INT", seconds = seconds }
  local early = not begun()
  fault_of("fetch", seconds, status, errors)
  if status ~= 1 and not (status == 130 and early) then
    finding("fetch, SIGINT at %.3f s: status %d: %s", seconds, status, errors)
  end
  os.execute(("timeout 5 %s -e %s 2>/dev/null"):format(support.quote(attack.binary), support.quote(
    ('pcall(require("scullery.core").fetch, "http://127.0.0.1:%d/quit", os.tmpname())')
      :format(port))))
  for _, file in ipairs(attack.files(folder)) do
    if file:find("^out%.fetched.") then finding("fetch: %s was left", file) end
    if file:find("^out%.") then os.remove(folder .. file) end
  end
end

-- ------------ all of them

local random = attack.random(attack.seed(o.seed))
-- Anything from the interpreter's start to the middle of the work.
local function moment() return random(1000) / 1000 * (random(4) == 1 and o.longest or 1) end

long_work.write(folder, function(text)
  local status, _, errors = run{ arguments = "-e " .. support.quote(text), seconds = 120 }
  assert(status == 0, errors)
end)

local began, tried, order = os.time(), 0, {}
while os.difftime(os.time(), began) < o.seconds do
  if #order == 0 then
    for _, work in ipairs(long_work.list) do
      if work.name:find(o.only, 1, true) then order[#order + 1] = work end
    end
  end
  local work, kind = table.remove(order, random(#order)), random(12)
  if o.only ~= "" or kind <= 6 then
    attacks.interrupt(work, 0.1 + moment())
  elseif kind == 7 then
    attacks.terminate(work, 0.1 + moment())
  elseif kind <= 9 then
    attacks.prompt(work, moment())
  elseif kind == 10 then
    predict(random, moment() / 2)
  elseif kind == 11 then
    close_pipe(random)
  else
    fetch(random, 0.1 + moment() / 2)
  end
  tried = tried + 1
end
attack.remove(folder)
print(("%d signals, %d findings"):format(tried, attack.found))
os.exit(attack.found == 0)
