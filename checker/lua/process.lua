--- Tests in processes of their own: this command once more, watched until it ends. What it finds
--- comes back as a report: a line of its standard output that begins with a token, and is JSON.
local core = require "scullery_checker.core"

local process = {}

-- Without its caches malloc tells exactly what is in use.
local PLAIN_MALLOC <const> = "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"
local GRACE <const> = 2 -- seconds that a process may take beyond its limit, at which it ends itself

--- process.copies: whether copies of this process may try plugins: what it holds is destroyed in
--- each of them.
process.copies = false

--- process.is_own(): whether this is such a process.
function process.is_own() return process.token ~= nil end

--- process.held(): the bytes that host->allocate and malloc gave and did not get back, without
--- garbage.
function process.held()
  collectgarbage()
  collectgarbage()
  return (core.memory()), core.in_use()
end

-- What went to a stream, cut to a line that can stand in a sentence; nil where there is nothing.
local function first_line(text)
  local line = text:match("[^\n]+")
  return line and #line > 300 and line:sub(1, 300) .. "..." or line
end

-- Lines of the host, and all others, of what went to standard error.
local function told(message)
  local host, others
  for line in message:gmatch("[^\n]+") do
    local sentence = line:match("^scullery: (.+)")
    if sentence then host = sentence else others = others or line end
  end
  return host, first_line(others or "")
end

-- How a process that gave no report ended.
local function ended(watched, seconds)
  local host, others = told(watched.message)
  local said = host or others
  if watched.late or watched.signal_name == "Alarm clock" then
    local where = said and said:match("^the time is up in (.+)")
    return { outcome = "timeout", text = ("did not end in %g s%s"):format(seconds,
      where and ", in " .. where or said and ": " .. said or "") }
  end
  if said and (said:find("^crash") or said:find("^the process was ended")) then
    return { outcome = "crash", text = said }
  end
  local how = watched.signal_name or ("ended the process with exit(%d)"):format(watched.status)
  return { outcome = "crash", text = how .. (said and ": " .. said or "") }
end

--- process.command(): the command that such processes run; a sentence where there is none.
function process.command()
  return core.command() or error("the command scullery is not beside the library, so that tests \z
    cannot run in processes of their own; use in_process = true", 0)
end

--- process.run(target, arguments, seconds[, answer]): `scullery plugin check target ARGUMENTS
--- --report TOKEN`; or, with process.copies, a copy of this process that calls answer{ report =
--- TOKEN, seconds = }. Returns its report, or nil and { outcome, text } of how it ended; then what
--- it printed itself, or nil; then { outcome, text } where it ended badly after its report, or nil.
function process.run(target, arguments, seconds, answer)
  local token = ("report-%d "):format(math.floor(core.clock() * 1e9))
  local function copy()
    answer{ report = token, seconds = seconds }
    core.leave()
  end
  local watched = answer and process.copies and core.run_copy(copy, seconds + GRACE)
  if not watched then
    watched = core.run_program({ "env", PLAIN_MALLOC, process.command(), "plugin", "check", target,
      "--report", token, "--seconds", ("%g"):format(seconds), table.unpack(arguments) },
      seconds + GRACE)
  end
  local from, to = watched.output:find("\n" .. token, 1, true)
  if not from then return nil, ended(watched, seconds) end
  local report = core.json_decode((watched.output:sub(to + 1):match("[^\n]*")), "a report")
  local _, others = told(watched.message)
  local printed = first_line(watched.output:sub(1, from - 1)) or others
  local bad = watched.late or watched.signal or watched.status ~= 0
  return report, nil, printed, bad and ended(watched, seconds) or nil
end

--- process.begin(given), process.report(given, value): the other side, in that process, of which
--- process.seconds says how long it may take.
function process.begin(given)
  process.token, process.seconds = given.report, given.seconds
  core.report_begin(given.seconds)
end
function process.report(given, value)
  core.report("\n" .. given.report .. core.json_encode(value) .. "\n")
end

return process
