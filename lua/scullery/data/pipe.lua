--- Rows of CSV or LIBSVM text from a pipe, with their targets, in parts of a number of rows, as
--- soon as they have come and in memory that does not grow. Each part is written to a temporary
--- file, after the header, and read from there like any file.
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"

local pipe = {}

local MOST = 1 << 26 -- bytes of a record

-- The next record of a file with its line break, and how many lines it has; nil at the end. In CSV
-- a record goes on where a quote is open.
local function next_record(file, csv)
  local record, lines, quotes = nil, 0, 0
  repeat
    local line = file:read("L")
    if not line then break end
    record, lines = (record or "") .. line, lines + 1
    if csv then quotes = quotes + select(2, line:gsub('"', "")) end
  until quotes % 2 == 0 or #record > MOST
  return record, lines
end

-- A sentence about the temporary file `path` as one about the pipe. lines, rows: how many came
-- before those of the file, without the header.
local function renamed(message, path, lines, rows)
  local first, last = message:find(path, 1, true)
  if not first then return message end
  local rest = message:sub(last + 1)
  for word, before in pairs{ row = rows, line = lines } do
    rest = rest:gsub("%f[%a]" .. word .. " (%d+)", function(number)
      return ("%s %d"):format(word, math.tointeger(number) + before)
    end, 1)
  end
  return message:sub(1, first - 1) .. "standard input" .. rest
end

-- Writes up to `size` records to the temporary file `path`, after the header; returns how many.
-- Blank lines are no records. state: header, csv, and taken = the number of lines so far.
local function write_part(file, path, size, state)
  local rows, out = 0, nil
  while rows < size do
    local record, lines = next_record(file, state.csv)
    if not record then break end
    if #record > MOST then
      fail("standard input: the row in line %d is longer than %d bytes; is a quote left open?",
        state.taken + 1, MOST)
    end
    if not out then
      out = assert(io.open(path, "wb"))
      out:write(state.header or "")
    end
    assert(out:write(record))
    state.taken = state.taken + lines
    if record:find("%S") then rows = rows + 1 end
  end
  if out then assert(out:close()) end
  return rows
end

-- The header of a pipe and its number of lines; nil and 0 for a format without one.
local function header_of(file, wanted)
  if not wanted then return nil, 0 end
  local header, lines = next_record(file, true)
  if not header then fail("standard input: there are no rows") end
  if header:sub(1, 2) == "\x1f\x8b" then
    fail("standard input: this is gzip, which is read from files only: unpack it first, as in \z
      zcat FILE | scullery ...")
  end
  return header, lines
end

--- for ds in pipe.parts{ file =, size =, csv =, header =, read = } do ... end: the rows of an open
--- file in parts of `size` rows, the last perhaps shorter. csv: true for CSV, false for LIBSVM.
--- header: true if the first line holds names. read(path): the data set of a file with such rows.
--- An error names rows and lines of the pipe.
function pipe.parts(given)
  local header, first = header_of(given.file, given.header)
  local state, rows, path = { csv = given.csv, header = header, taken = first }, 0, os.tmpname()
  local function step()
    local before = state.taken - first
    local count = write_part(given.file, path, given.size, state)
    if count == 0 then return nil end
    local ok, ds = pcall(given.read, path)
    if not ok and type(ds) ~= "string" then error(ds, 0) end
    if not ok then error(renamed(options.plain(ds), path, before, rows), 0) end
    rows = rows + count
    return ds
  end
  return step, nil, nil, setmetatable({}, { __close = function() os.remove(path) end })
end

return pipe
