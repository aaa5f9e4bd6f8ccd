--- Reads the files that run.py made, in one process: scullery read.lua FOLDER KIND COUNT.
--- FOLDER/cases has the options of each file, a line each; FOLDER/results gets what became of
--- them, in binary: see Results in judges.py. CSV is read whole, as a stream and by blocks, which
--- must say the same.
local core = require "scullery.core"

local folder, kind, count = arg[1], arg[2], tonumber(arg[3])
local results = assert(io.open(folder .. "/results", "wb"))

local function put(format, ...) results:write(string.pack(format, ...)) end

local function put_matrix(X)
  put("<I4I4", X:rows(), X:cols())
  for i = 1, X:rows() do
    for j = 1, X:cols() do put("<d", X:get(i, j)) end
  end
end

local function put_texts(list)
  put("<I4", #list)
  for _, text in ipairs(list) do put("<s4", tostring(text)) end
end

-- ------------ CSV

-- The columns in which whole numbers were rounded; whether missing numbers were filled in.
local function notes(list)
  local rounded, filled = {}, false
  for _, note in ipairs(list) do
    if note.what == "large" then rounded[#rounded + 1] = note.column end
    filled = filled or note.what == "filled"
  end
  return rounded, filled
end

local function same_rows(X, rows, first)
  for i = 1, rows:rows() do
    for j = 1, rows:cols() do
      if X:get(first + i, j) ~= rows:get(i, j) then return false end
    end
  end
  return true
end

-- What a stream and blocks say otherwise than the whole file, as a sentence; "" where nothing.
local function disagreement(path, options, whole, filled)
  local ok, source, s = pcall(core.stream_csv, path, options)
  if not ok then return "the stream refuses: " .. source end
  if s.rows ~= whole.X:rows() or s.cols ~= whole.X:cols() then
    return "the stream's shape differs"
  end
  if not filled and not same_rows(whole.X, core.read_rows(source, 1, s.rows), 0) then
    return "the stream's numbers differ"
  end
  if table.concat((notes(s.notes)), "|") ~= table.concat((notes(whole.notes)), "|") then
    return "the stream's notes differ"
  end
  local again = { like = whole.schema, separator = options.separator }
  local blocks, first = core.csv_blocks(path, again), 0
  for X in function() return core.next_rows(blocks) end do
    if not same_rows(whole.X, X, first) then return "the blocks' numbers differ" end
    first = first + X:rows()
  end
  return first == whole.X:rows() and "" or "the blocks have other rows"
end

local function put_column(column)
  put("<s4s4B", column.kind, column.name, (column.missing or 0) > 0 and 1 or 0)
  put_texts(column.levels or {})
end

local function read_csv(path, options)
  options.target = false
  local whole = core.read_csv(path, options)
  local rounded, filled = notes(whole.notes)
  local ok, other = pcall(disagreement, path, options, whole, filled)
  return function()
    put("<BBs4", whole.schema.header and 1 or 0, whole.schema.separator:byte(), other)
    put("<I4", #whole.schema.columns)
    for _, column in ipairs(whole.schema.columns) do put_column(column) end
    put_texts(rounded)
    put_matrix(whole.X)
  end, ok
end

-- What the whole file refuses, a stream refuses.
local function refused_alike(path, options)
  return kind ~= "csv" or not pcall(core.stream_csv, path, options)
end

-- ------------ the others

local readers = { csv = read_csv }

function readers.libsvm(path)
  local r = core.read_libsvm(path, { task = "regression" })
  return function()
    put_matrix(r.X)
    put_matrix(r.y)
  end
end

function readers.npy(path)
  local X = core.read_npy(path)
  return function() put_matrix(X) end
end

function readers.idx(path)
  local r = core.read_idx(path, nil, {})
  return function() put_matrix(r.X) end
end

-- ------------ all files

local function options_of(line)
  local options = {}
  for name, value in line:gmatch("(%w+)=([^ ]+)") do
    if value == "true" or value == "false" then
      options[name] = value == "true"
    else
      options[name] = value == "tab" and "\t" or value
    end
  end
  return options
end

local lines = io.lines(folder .. "/cases")
for i = 0, count - 1 do
  local path, options = folder .. "/" .. i, options_of(lines())
  local ok, write = pcall(readers[kind], path, options)
  if ok then
    put("B", 1)
    write()
  else
    put("<Bs4B", 0, tostring(write), refused_alike(path, options) and 1 or 0)
  end
end
results:close()
