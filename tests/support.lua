--- What several tests use: files, other processes, refusals.
local lu = require "luaunit"

local support = { binary = os.getenv("SCULLERY_BINARY") or arg[-1],
  build = os.getenv("SCULLERY_BUILD") or "build" }

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
  return tostring(message)
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

return support
