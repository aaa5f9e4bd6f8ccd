--- Processes that run the same script, each on a part of the rows (scullery --processes N, mpirun).
-- What a script sees of the world is that of process 0: the clock, names of temporary files, random
-- seeds, output of other programs. Process 0 alone prints, writes files and starts programs.
require "scullery.base.bytecode" -- with io.open as it is
local core = require "scullery.core"

local processes = {}

local count, rank = core.process_count()

--- sc.processes: this process among those that run the script.
-- sc.processes.count  how many there are; 1 without --processes or mpirun
-- sc.processes.rank   the number of this one, from 0
-- sc.processes.hosts  the names of their machines, a list
-- sc.processes.exchanged()  bytes that this process has exchanged, seconds, and how often
-- @return a table
processes.namespace = { count = count, rank = rank, hosts = core.process_hosts(),
  exchanged = core.process_exchanged }

-- Calls f in process 0; all processes return its results, or raise its error. Results are texts,
-- numbers, booleans and nil: they are exchanged as Lua text.
local function by_first(name, f)
  return function(...)
    local parts = rank == 0 and table.pack(pcall(f, ...)) or { n = 0 }
    for i = 1, parts.n do parts[i] = ("%q"):format(parts[i]) end
    local text = core.process_share(name, "return " .. table.concat(parts, ", "))
    local results = table.pack(load(text, "=(shared)", "t", {})())
    if not results[1] then error(results[2], 2) end
    return table.unpack(results, 2, results.n)
  end
end

-- Files that process 0 writes; the others write to nowhere.
local function opened(open)
  local first = by_first("io.open", function(...)
    local file, message, number = open(...)
    if file then file:close() end
    return file ~= nil, message, number
  end)
  return function(path, mode)
    local writes = type(mode) == "string" and mode:find "[wa+]"
    if not writes then
      core.process_meet("io.open of " .. tostring(path))
      return open(path, mode)
    end
    -- Process 0 opens the file once more: the first time tells all whether it can be opened.
    local fine, message, number = first(path, mode)
    if not fine then return nil, message, number end
    if rank == 0 then return open(path, mode) end
    return open("/dev/null", mode)
  end
end

-- Output of a program that process 0 runs, as a file; close returns its status.
local function piped(open, popen)
  local run = by_first("io.popen", function(command)
    local pipe = assert(popen(command, "r"))
    local text = pipe:read "a"
    return text, pipe:close()
  end)
  return function(command, mode)
    if mode ~= nil and mode:find "w" then
      core.process_meet("io.popen of " .. tostring(command))
      return rank == 0 and popen(command, mode) or open("/dev/null", "w")
    end
    local text, ok, how, number = run(command)
    local file = assert(io.tmpfile())
    file:write(text)
    file:seek "set"
    local function close()
      file:close()
      return ok, how, number
    end
    local pipe = { close = close }
    for _, name in ipairs{ "read", "lines", "seek" } do
      pipe[name] = function(_, ...) return file[name](file, ...) end
    end
    return setmetatable(pipe, { __close = close })
  end
end

-- Standard input belongs to process 0.
-- luacheck: push ignore 122
local function read_by_first()
  local methods = getmetatable(io.stdin).__index
  local read, lines = methods.read, methods.lines
  local first = by_first("reading of standard input", function(...) return read(io.stdin, ...) end)
  function methods.read(file, ...)
    if file == io.stdin then return first(...) end
    return read(file, ...)
  end
  function methods.lines(file, ...)
    if file ~= io.stdin then return lines(file, ...) end
    local formats = table.pack(...)
    return function() return first(table.unpack(formats, 1, formats.n)) end
  end
  local plain = io.lines
  function io.read(...) return methods.read(io.input(), ...) end
  function io.lines(path, ...)
    if path == nil then return methods.lines(io.input(), ...) end
    core.process_meet("io.lines of " .. tostring(path))
    return plain(path, ...)
  end
end

-- luacheck: pop

-- pairs in an order that does not depend on the process: numbers, texts, then all other keys.
local function ordered_pairs(plain)
  return function(t)
    local meta = getmetatable(t)
    if type(t) ~= "table" or type(meta) == "table" and rawget(meta, "__pairs") then
      return plain(t)
    end
    local numbers, texts, others, at = {}, {}, {}, 0
    local list_of = { number = numbers, string = texts }
    for key in next, t do
      local list = list_of[type(key)] or others
      list[#list + 1] = key
    end
    table.sort(numbers)
    table.sort(texts)
    local keys = table.move(texts, 1, #texts, #numbers + 1, numbers)
    table.move(others, 1, #others, #keys + 1, keys)
    return function()
      repeat at = at + 1 until keys[at] == nil or rawget(t, keys[at]) ~= nil
      if keys[at] ~= nil then return keys[at], rawget(t, keys[at]) end
    end, t
  end
end

--- processes.install(): makes what a script sees equal in all processes. The command calls it,
-- where there are several, before it runs a script.
-- luacheck: push ignore 122
function processes.install()
  if count == 1 then return end
  local randomseed, time, date = math.randomseed, os.time, os.date
  local now = by_first("os.time", time)
  local seed = by_first("math.randomseed", randomseed) -- it returns the two seeds that it took
  math.randomseed = function(...)
    if select("#", ...) > 0 then return randomseed(...) end
    return randomseed(seed())
  end
  math.randomseed()
  os.time = function(t) return t == nil and now() or time(t) end
  os.date = function(format, at) return date(format, at or now()) end
  os.clock = by_first("os.clock", os.clock)
  for _, name in ipairs{ "tmpname", "remove", "rename", "execute" } do
    os[name] = by_first("os." .. name, os[name])
  end
  io.popen = piped(io.open, io.popen)
  io.open = opened(io.open)
  local output = io.output
  function io.output(file)
    if type(file) == "string" then file = assert(io.open(file, "w")) end
    return output(file)
  end
  read_by_first()
  pairs = ordered_pairs(pairs) -- luacheck: ignore 121
end
-- luacheck: pop

return processes
