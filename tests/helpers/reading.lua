--- What tests of readers share: files that go at the end, matrices as lists, refusals.
local lu = require "luaunit"
local sc = require "scullery"
local support = require "support"

local reading = {}
local made = {}

--- reading.remove_later(...): these files go at the end.
function reading.remove_later(...) table.move({ ... }, 1, select("#", ...), #made + 1, made) end

--- reading.file(bytes): a fresh file with these bytes; its path.
function reading.file(bytes)
  made[#made + 1] = support.write(nil, bytes)
  return made[#made]
end

--- reading.read(text, options): a data set of a CSV text, read without a word.
function reading.read(text, options)
  local o = { quiet = true }
  for name, value in pairs(options or {}) do o[name] = value end
  return sc.data.csv(reading.file(text), o)
end

--- reading.shell(command): standard output and error of a command, and its status.
function reading.shell(command)
  local pipe <close> = assert(io.popen("(" .. command .. ") 2>&1; echo status $?"))
  return pipe:read("a")
end

--- reading.hex(text): the bytes that the text has in hexadecimal.
function reading.hex(text)
  return (text:gsub("%s", ""):gsub("..", function(pair) return string.char(tonumber(pair, 16)) end))
end

--- reading.rows(X): a matrix as a list of rows.
function reading.rows(X)
  local list = {}
  for i = 1, X:rows() do
    list[i] = {}
    for j = 1, X:cols() do list[i][j] = X:get(i, j) end
  end
  return list
end

--- reading.column(X): the first column as a list.
function reading.column(X)
  local list = {}
  for i = 1, X:rows() do list[i] = X:get(i, 1) end
  return list
end

--- reading.refuses(texts, f, ...): f(...) fails with an error that contains each of the texts, or
--- the one; returns it.
function reading.refuses(texts, f, ...)
  return support.fails(type(texts) == "table" and texts or { texts }, f, ...)
end

--- reading.run(): run the tests, and end.
function reading.run()
  local code = lu.LuaUnit.run()
  for _, path in ipairs(made) do os.remove(path) end
  os.exit(code, true)
end

return reading
