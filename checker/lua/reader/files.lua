--- Files of readers: their examples, and what is read of them.
local components = require "scullery.compose.component"
local core = require "scullery_checker.core"

local files = {}

function files.bytes(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

function files.write(path, bytes)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(bytes))
end

--- files.with_example(instance, f): calls f(path, instance) with an example that the reader writes;
--- false where it writes none.
function files.with_example(instance, f)
  local path = os.tmpname()
  os.remove(path)
  local ok, made = pcall(core.reader_example, instance, path)
  local done, said = true, nil
  if ok and made then done, said = pcall(f, path, instance) end
  os.remove(path)
  if not ok then error(made, 0) end
  if not done then error(said, 0) end
  return made
end

-- Calls f(path) with a file of these bytes.
local function with_bytes(bytes, f)
  local path = os.tmpname()
  files.write(path, bytes)
  local done, said = pcall(f, path)
  os.remove(path)
  if not done then error(said, 0) end
end

local MOST <const> = 20 -- files of a definition

--- files.each(t, component, f): calls f(path, instance, k) with the example (k = 0) and the files
--- of its definition, file(k) from k = 1 to nil. Sentences begin with the file at hand.
function files.each(t, component, f)
  local instance, before = t:instance(component), t.label
  local file = (require("scullery_checker.definition").of(component) or {}).file
  local function call(path, k)
    t.label = (before and before .. ", " or "") .. (k == 0 and "its example"
      or ("file(%d) of its definition"):format(k))
    f(path, instance, k)
  end
  local found = files.with_example(instance, function(path) call(path, 0) end)
  if not found and not file then t:skip("it writes no example (slot 'example')") end
  for k = 1, file and MOST or 0 do
    local bytes = file(k)
    if not bytes then break end
    t:expect(type(bytes) == "string", "file(%d) of its definition is a %s, and no text of bytes", k,
      type(bytes))
    with_bytes(bytes, function(path) call(path, k) end)
  end
  t.label = before
end

--- files.rest(file): the rows of an open file that were not read yet.
function files.rest(file)
  local all = {}
  for rows in core.reader_rows, file do table.move(rows, 1, #rows, #all + 1, all) end
  return all
end

--- files.rows(instance, path): all rows, lists of texts, and the names of the columns.
function files.rows(instance, path)
  local file <close>, names = core.reader_open(instance, path)
  return files.rest(file), names
end

--- files.read_bent(component): reads the example with another last byte, as far as that goes.
function files.read_bent(component)
  files.with_example(components.instance(component), function(path, instance)
    local bytes = files.bytes(path)
    files.write(path, bytes:sub(1, -2) .. string.char(bytes:byte(-1) ~ 1))
    pcall(files.rows, instance, path)
  end)
end

--- files.use(component): the bytes of the cells of the example as a matrix of one row.
function files.use(component)
  local instance, bytes = components.instance(component), { 0 }
  files.with_example(instance, function(path)
    for _, row in ipairs((files.rows(instance, path))) do
      table.move({ table.concat(row, "|"):byte(1, -1) }, 1, 1000, #bytes + 1, bytes)
    end
  end)
  return core.matrix{ bytes }
end

return files
