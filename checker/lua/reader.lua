--- Tests of readers, on the example that the reader writes.
local core = require "scullery_checker.core"
local files = require "scullery_checker.reader.files"

local BENT <const> = 200 -- files with changed bytes

-- Calls f(path, instance, k) with each file of the component with its defaults.
local function each_file(t, f) files.each(t, t.subject:make{}, f) end

-- Calls f(path, instance) with its example.
local function with_example(t, f)
  local instance = t:instance(t.subject:make{})
  local found = files.with_example(instance, f)
  if not found then t:skip("it writes no example (slot 'example')") end
end

local function expect_same(t, found, wanted, what)
  t:expect(#found == #wanted, "%s: %d rows in place of %d", what, #found, #wanted)
  for i, row in ipairs(wanted) do
    for j, cell in ipairs(row) do
      t:expect(found[i][j] == cell, "%s: row %d, column %d is '%s', and should be '%s'", what, i, j,
        tostring(found[i][j]), cell)
    end
  end
end

local function check_recognises(t)
  each_file(t, function(path)
    local first = files.bytes(path):sub(1, 4096)
    local function known(bytes) return core.reader_recognises("reader", t.subject.name, bytes) end
    t:expect(known(first), "it is not recognised")
    for _, other in ipairs{ "", "a", "a,b,c\n1,2,3\n", first:sub(1, 1) .. "ame,b,c\n1,2,3\n",
      ("\0"):rep(4096), ("\255"):rep(4096) } do
      t:expect(not known(other), "it recognises %d bytes that are not a file of its format", #other)
    end
  end)
end

local function check_rows(t)
  each_file(t, function(path, instance, k)
    local before = files.bytes(path)
    local all, names = files.rows(instance, path)
    t:expect((#all > 0 or k > 0) and #names > 0, "it has no rows, or no columns")
    expect_same(t, files.rows(instance, path), all, "read again")
    local one <close> = core.reader_open(instance, path)
    local other <close> = core.reader_open(instance, path)
    local rows = files.rest(one)
    expect_same(t, rows, all, "while it is open twice")
    expect_same(t, files.rest(other), all, "opened second")
    t:expect(core.reader_rows(one) == nil, "after the last row there are more rows")
    t:expect(files.bytes(path) == before, "reading changes the file")
  end)
end

local function check_columns(t)
  each_file(t, function(path, instance)
    local all, names = files.rows(instance, path)
    local list = { {} }
    for j = #names, 1, -1 do
      table.insert(list[1], j)
      list[#list + 1] = { j }
    end
    for _, chosen in ipairs(list) do
      local file <close> = core.reader_open(instance, path)
      local wanted = {}
      if not core.reader_choose(file, chosen) then t:skip "it gives all columns" end
      for i, row in ipairs(all) do
        wanted[i] = {}
        for k, j in ipairs(chosen) do wanted[i][k] = row[j] end
      end
      expect_same(t, files.rest(file), wanted, #chosen .. " columns")
    end
  end)
end

local function check_parts(t)
  local any = false
  each_file(t, function(path, instance)
    local all = files.rows(instance, path)
    local file <close>, _, parts = core.reader_open(instance, path)
    if #parts == 0 then return end
    any = true
    local from = #all
    for k = #parts, 1, -1 do
      from = from - parts[k]
      t:expect(from >= 0, "its parts have more rows than all")
      core.reader_seek(file, k)
      expect_same(t, files.rest(file), table.move(all, from + 1, #all, 1, {}), ("from part %d on")
        :format(k))
    end
    t:expect(from == 0, "its parts have %d rows less than all", from)
  end)
  if not any then t:skip "it has no parts at which reading begins" end
end

-- Files that are cut off, or have changed bytes, give rows or a sentence, and leave nothing behind.
local function check_bent(t)
  with_example(t, function(path, instance)
    local bytes, draws = files.bytes(path), core.rand{ BENT, 3, seed = t.seed }
    local held, files_open
    for i = 1, BENT do
      local u, v, w = draws:get(i, 1), draws:get(i, 2), draws:get(i, 3)
      local at = 1 + math.floor(u * #bytes)
      local bent = i % 3 == 0 and bytes:sub(1, at - 1)
        or bytes:sub(1, at - 1) .. string.char(math.floor(v * 256)) .. bytes:sub(at + 1)
      if w < 0.3 then bent = bent .. bent:sub(1, at) end
      files.write(path, bent)
      local ok, said = pcall(files.rows, instance, path)
      t:expect(ok or said:find(path, 1, true), "a damaged file gives a sentence without its \z
        path: %s", said)
      collectgarbage()
      local now = core.surroundings()["number of open files"]
      if i == 1 then held, files_open = core.memory(), now end
      t:expect(now == files_open, "a damaged file stays open")
      t:expect(core.memory() <= held, "a damaged file leaves memory behind")
    end
  end)
end

local function check_refused(t)
  local instance = t:instance(t.subject:make{})
  for _, path in ipairs{ "/nowhere/at all", "/" } do
    local ok, said = pcall(core.reader_open, instance, path)
    t:expect(not ok and said:find(path, 1, true), "'%s' should give a sentence with its path", path)
  end
end

local list = {
  { name = "recognises", about = "it knows its example by the first bytes, and no other file",
    run = check_recognises },
  { name = "rows", about = "a file has the same rows each time, also while it is open twice",
    run = check_rows },
  { name = "columns", about = "chosen columns have the cells that they have among all",
    run = check_columns },
  { name = "parts", about = "reading from each part on gives the rows behind it",
    run = check_parts },
  { name = "bent", about = "damaged files give rows or a sentence, and nothing leaks",
    run = check_bent },
  { name = "refused", about = "what is not a file gives a sentence", run = check_refused },
  (require "scullery_checker.reader.known"),
}
table.move(require "scullery_checker.definition.tests"(), 1, 1, #list + 1, list)
return list
