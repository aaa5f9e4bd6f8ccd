--- What the attacks share: their arguments, random numbers, a folder of their own, and child
--- processes, one at a time and each with a limit of time.
local support = require "support"

-- Children run in a folder of their own.
local function absolute(path)
  if path:sub(1, 1) == "/" then return path end
  local pipe <close> = assert(io.popen "pwd")
  return pipe:read("l") .. (path == "." and "" or "/" .. path)
end
support.binary, support.build = absolute(support.binary), absolute(support.build)

local attack = { source = absolute(os.getenv("SCULLERY_SOURCE") or "."),
  binary = support.binary, sanitize = os.getenv("SCULLERY_SANITIZE") or "" }

--- attack.options(arguments, defaults): "--name value" and "--name" over the defaults.
function attack.options(arguments, defaults)
  local o = {}
  for name, value in pairs(defaults) do o[name] = value end
  local i = 1
  while arguments[i] do
    local name = arguments[i]:match("^%-%-(%a+)$")
    if not name or defaults[name] == nil then
      error("unknown argument " .. arguments[i], 0)
    end
    if defaults[name] == false then
      o[name] = true
    else
      i = i + 1
      o[name] = type(defaults[name]) == "number" and assert(tonumber(arguments[i])) or arguments[i]
    end
    i = i + 1
  end
  return o
end

-- A number of the committed files, nil where git tells none.
local function seed_of_tree()
  local pipe <close> = assert(io.popen(("git -C %s rev-parse 'HEAD^{tree}' 2>/dev/null"):format(
    support.quote(attack.source))))
  local hexadecimal = pipe:read("a"):match("^%x+")
  return hexadecimal and tonumber(hexadecimal:sub(1, 8), 16)
end

--- attack.seed(given): the seed, printed. "tree": another one for each state of the committed
--- files, and for one state always the same; "fresh", or where git tells none: one of the clock.
function attack.seed(given)
  local seed = math.tointeger(tonumber(given)) or given == "tree" and seed_of_tree()
    or os.time() * 1000 + os.clock() * 1e6 // 1 % 1000
  print(("seed %d"):format(seed))
  return math.tointeger(seed)
end

--- attack.random(seed): random(n) in 1 .. n, the same numbers in every run (xorshift by Marsaglia,
--- 2003), of a seed that may be any whole number.
function attack.random(seed)
  local state = seed * 0x9E3779B97F4A7C15 ~ 88172645463325252
  if state == 0 then state = 1 end
  local function random(n)
    state = state ~ (state << 13)
    state = state ~ (state >> 7)
    state = state ~ (state << 17)
    return (state >> 1) % n + 1
  end
  for _ = 1, 8 do random(2) end
  return random
end

--- attack.folder(): a new folder in memory, where there is one, for everything that is written.
function attack.folder()
  local path = support.memory_path()
  os.remove(path)
  assert(os.execute("mkdir " .. support.quote(path)))
  return path .. "/"
end

--- attack.remove(folder): with what is in it.
function attack.remove(folder)
  assert(#folder > 8 and folder:sub(1, 1) == "/")
  os.execute("rm -rf " .. support.quote(folder))
end

--- attack.files(folder): names in the folder, sorted.
function attack.files(folder)
  local list, pipe = {}, assert(io.popen("ls -A " .. support.quote(folder)))
  for name in pipe:lines() do list[#list + 1] = name end
  pipe:close()
  return list
end

-- Settings of a child: nothing of the machine is touched but the folder, no network, and no
-- workers, which would run the attack again.
local function environment(folder)
  return ("cd %s && HOME=%s XDG_CACHE_HOME=%s SCULLERY_DATA=%s SCULLERY_PLUGIN_PATH= \z
XDG_DATA_HOME= SCULLERY_DATA_URL=http://127.0.0.1:9/ SCULLERY_WORKER=none \z
SCULLERY_SOURCE=%s"):format(
    support.quote(folder), support.quote(folder), support.quote(folder), support.quote(folder),
    support.quote(attack.source))
end

--- attack.scullery{ folder =, arguments =, seconds =, signal = "KILL", grace =, memory = bytes,
--- variables =, before =, input =, behind = }: run the command in the folder. After `seconds` it
--- gets the signal, and `grace` seconds later SIGKILL. memory: its address space, where no
--- sanitizer needs all of it. before: what stands before the command's name; behind: after
--- everything. Returns exit status (137: killed), output, errors.
function attack.scullery(given)
  -- Without --foreground the signal comes twice: to the command, and to its group.
  local limit = given.seconds and ("timeout %s --preserve-status -s %s -k %g %.3f"):format(
    given.signal and "--foreground" or "", given.signal or "KILL", given.grace or 10,
    given.seconds) or ""
  local memory = given.memory and attack.sanitize == ""
    and ("prlimit --core=0 --as=%d"):format(given.memory) or "prlimit --core=0"
  return support.shell(("%s %s %s %s %s %s %s %s"):format(environment(given.folder),
    given.variables or "", limit, memory, given.before or "", support.quote(attack.binary),
    given.arguments, given.behind or ""), given.input)
end

--- attack.fault(status, text): what is wrong with a run that ended so: a crash, a sanitizer's
--- report, a message that shows the inside; nil where nothing is.
function attack.fault(status, text)
  local report = text:match("ERROR: %a+Sanitizer: [^\n]*")
    or text:match("[^\n]*runtime error: [^\n]*")
    or text:match("WARNING: ThreadSanitizer: [^\n]*") or text:match("SUMMARY: [^\n]*")
  if report then return report end
  if status == 132 or status == 134 or status == 135 or status == 136 or status == 139 then
    return "signal " .. status - 128
  end
  return text:match("[^\n]*shows where it failed[^\n]*") -- Lua's own words, put by objects.lua
end

--- attack.finding(format, ...): print what was found, and count it in attack.found.
attack.found = 0
function attack.finding(...)
  attack.found = attack.found + 1
  print("finding: " .. string.format(...))
end

return attack
