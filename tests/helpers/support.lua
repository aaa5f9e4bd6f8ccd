--- What several tests use: files, other processes, refusals.
local lu = require "luaunit"

local support = { binary = os.getenv("SCULLERY_BINARY") or arg[-1],
  build = os.getenv("SCULLERY_BUILD") or "build" }

--- support.sanitized, support.looks_for_races: whether a sanitizer, or that of threads, slows
--- everything down five to fifteen times. Then a loop over variants that run the same code has few.
local sanitizer = os.getenv("SCULLERY_SANITIZE") or ""
support.sanitized = sanitizer ~= ""
support.looks_for_races = sanitizer:find("thread", 1, true) ~= nil

--- support.read(path): a file's bytes.
function support.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

--- support.write(path, text): write a file; returns its path. Without a path: a temporary file.
function support.write(path, text)
  path = path or os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

--- support.free_path(ending): a path among the temporary files at which nothing lies.
function support.free_path(ending)
  local path = os.tmpname()
  os.remove(path)
  return path .. ending
end

--- support.memory_path(): a new file's path, in memory where the system has such a folder: for
--- thousands of files that are written to the disk's end each.
function support.memory_path()
  local path = os.tmpname()
  local memory = "/dev/shm/" .. path:match("[^/]+$")
  local file = io.open(memory, "wb")
  if not file then return path end
  file:close()
  os.remove(path)
  return memory
end

--- support.in_folder(f): f(folder) with an empty folder, which goes afterwards.
function support.in_folder(f)
  local folder = os.tmpname()
  os.remove(folder)
  lu.assertTrue(os.execute("mkdir " .. support.quote(folder)))
  local ok, message = pcall(f, folder)
  os.execute("rm -rf " .. support.quote(folder))
  if not ok then error(message, 0) end
end

--- support.quote(text): the text as one word of a shell line.
function support.quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- support.shell(line[, input]): run a shell line; returns exit status, standard output, standard
--- error.
function support.shell(line, input)
  local out, err, given = os.tmpname(), os.tmpname(), support.write(nil, input or "")
  local _, _, status = os.execute(("{ %s ; } <%s >%s 2>%s"):format(line, given, out, err))
  local result = { status, support.read(out), support.read(err) }
  for _, path in ipairs{ out, err, given } do os.remove(path) end
  return table.unpack(result)
end

--- support.scullery(arguments[, input]): the same of the command.
function support.scullery(arguments, input)
  return support.shell(support.quote(support.binary) .. " " .. arguments, input)
end

--- support.fails(words, f, ...): f(...) raises an error that holds all of these words; returns it.
function support.fails(words, f, ...)
  local ok, message = pcall(f, ...)
  lu.assertFalse(ok, "should be refused: " .. table.concat(words, ", "))
  for _, word in ipairs(words) do lu.assertStrContains(tostring(message), word) end
  return message
end

--- support.mean_over(runs, f): mean and standard error of the matrices f(1), .., f(runs).
function support.mean_over(runs, f)
  return require("scullery_checker.statistics").over_runs(runs, f)
end

--- support.farthest(mean, stderr, exact, slack): the largest |mean - exact| beyond slack, in
--- standard errors, and where.
function support.farthest(mean, stderr, exact, slack)
  return require("scullery_checker.statistics").farthest(mean, stderr, exact, slack)
end

--- support.streamed(ds): a regression's rows, as a stream of them.
function support.streamed(ds)
  local x, y = ds.X, ds:targets()
  return require("scullery").data.rows{ n = #ds, d = x:cols(), task = "regression",
    read = function(first, count)
      return x:slice(first, first + count - 1), y:slice(first, first + count - 1)
    end }
end

--- support.check_blocks(cases, fit, test, tolerance): the models fit(block), for { block, threads }
--- of the list, decide alike; those without a block to the last bit.
function support.check_blocks(cases, fit, test, tolerance)
  local core = require "scullery.core"
  local before, want, same = core.threads(), nil, nil
  for _, case in ipairs(cases) do
    core.threads(case[2])
    local p = fit(case[1])
    want = want or p:decision(test)
    lu.assertTrue((p:decision(test) - want):abs():max() < tolerance)
    if case[1] == nil then
      same = same or p:weights()
      lu.assertTrue(same == p:weights())
    end
  end
  core.threads(before)
end

--- support.stderr_of(f): what f() writes to io.stderr.
function support.stderr_of(f)
  local path, stream = os.tmpname(), io.stderr
  local file = assert(io.open(path, "w"))
  io.stderr = file -- luacheck: ignore 122
  local ok, message = pcall(f)
  io.stderr = stream -- luacheck: ignore 122
  file:close()
  local text = support.read(path)
  os.remove(path)
  if not ok then error(message, 0) end
  return text
end

--- support.smooth_rows(n, c): n rows, c targets (absent: 1) of a smooth function, and weights from
--- 1/2 to 5/2.
function support.smooth_rows(n, c)
  local sc = require "scullery"
  local x, w = sc.randn{ n, 3, seed = 4 }, sc.zeros(n, 1)
  local y = sc.zeros(n, c or 1)
  for i = 1, n do
    w:set(i, 1, 0.5 + i % 3)
    for j = 1, y:cols() do
      y:set(i, j, math.sin(j * x:get(i, 1)) + x:get(i, 2) * x:get(i, 3) + j)
    end
  end
  return x, y, w
end

return support
