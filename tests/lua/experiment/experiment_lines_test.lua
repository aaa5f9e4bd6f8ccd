--- Lines of results.jsonl: types, checksums, files from before there were checksums.
-- luacheck: globals TestLines
-- luacheck: ignore 212/self
local lu = require "luaunit"
local core = require "scullery.core"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local quote, fails = support.quote, support.fails
local folder, file

TestLines = {}

function TestLines:setUp()
  folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. quote(folder)))
  file = folder .. "/e/results.jsonl"
  self.o = { name = "e", folder = folder, cells = { T = { 1, 2, 3 }, name = { "a\nb" } },
    data = sc.dataset{ X = sc.ones(4, 2), y = sc.ones(4, 1) }, allow_failures = true,
    run = function(cell)
      if cell.T == 3 then error("this one fails") end
      return { error = cell.T == 1 and 0.5 or 0 / 0, text = "ok", flag = true }
    end }
  sc.experiment(self.o)
end

function TestLines:tearDown() assert(os.execute("rm -r " .. quote(folder))) end

-- The experiment again; what it says on the way is not looked at.
local function again(o)
  local exp
  support.stderr_of(function() exp = sc.experiment(o) end)
  return exp
end

local function open() return sc.experiment.open("e", { folder = folder }) end

-- The file's lines, and the file with line i replaced.
local function lines_of(text)
  local list = {}
  for line in text:gmatch("[^\n]*\n") do list[#list + 1] = line end
  return list
end

local function with(list, i, line)
  local changed = table.move(list, 1, #list, 1, {})
  changed[i] = line
  support.write(file, table.concat(changed))
end

local function without_checksums(text) return (text:gsub(',"checksum":"%x+"', "")) end

function TestLines:test_every_line_has_a_checksum_of_itself()
  for _, line in ipairs(lines_of(support.read(file))) do
    local text, sum = line:match('^(.*),"checksum":"(%x+)"}\n$')
    lu.assertEquals(sum, core.digest(text .. "}"):sub(1, 16))
  end
  local exp = open()
  lu.assertEquals(#exp.rows, 3)
  lu.assertNil(exp.header.checksum)
  lu.assertNil(exp.rows[1].about.checksum)
end

function TestLines:test_each_changed_byte_is_refused_with_file_and_line()
  local list = lines_of(support.read(file))
  for _, i in ipairs{ 1, 3 } do
    for at = 1, #list[i] - 1 do
      for _, bit in ipairs{ 1, 0x20 } do
        local byte = string.char(list[i]:byte(at) ~ bit)
        with(list, i, list[i]:sub(1, at - 1) .. byte .. list[i]:sub(at + 1))
        local ok, message = pcall(open)
        -- The header's own checksum under another name leaves a header as old files have it.
        local name = i == 1 and list[1]:find('"checksum"', 1, true)
        if not (name and at > name and at < name + 9 and ok) then
          lu.assertFalse(ok, ("line %d, byte %d"):format(i, at))
          lu.assertStrContains(message, file .. ": ")
          lu.assertTrue(i == 1 or message:find("line 3 is damaged", 1, true) ~= nil, message)
        end
      end
    end
  end
end

function TestLines:test_files_from_before_there_were_checksums_are_read_and_added_to()
  support.write(file, without_checksums(support.read(file)))
  lu.assertEquals(#open().rows, 3)
  self.o.cells = { T = { 1, 2, 3, 4 }, name = { "a\nb" } }
  lu.assertEquals(#again(self.o).rows, 4)
  local list = lines_of(support.read(file))
  lu.assertStrContains(list[#list], '"checksum":"')
  lu.assertNotStrContains(list[2], '"checksum":"')
end

function TestLines:test_a_line_without_a_checksum_after_one_with_it_is_refused()
  local list = lines_of(support.read(file))
  with(list, 4, without_checksums(list[4]))
  fails({ file, "line 4 is damaged: it has no checksum, and lines before it have" }, open)
  fails({ file, "line 4 is damaged" }, sc.experiment, self.o)
end

function TestLines:test_a_last_line_that_was_cut_off_is_passed_over()
  local text = support.read(file)
  local list = lines_of(text)
  for cut = 1, #list[4] do
    support.write(file, text:sub(1, -1 - cut))
    lu.assertEquals(#open().rows, 2)
  end
  lu.assertEquals(#again(self.o).rows, 3)
  lu.assertEquals(#lines_of(support.read(file)), 4)
end

function TestLines:test_values_of_another_type_are_refused_with_file_line_and_field()
  local text = without_checksums(support.read(file))
  local list = lines_of(text)
  local wrong = { "[1]", '{"a":[{}]}', "true", "-1.5", '"x"', "0.5" }
  local taken = { cell = {}, key = {}, status = {}, time = { '"x"' }, machine = { '"x"' },
    instruction_set = { '"x"' }, scullery = { '"x"' }, commit = { '"x"' },
    plugins = {}, script = {}, data = {},
    result = {}, seconds = { "0.5" }, processor_seconds = { "0.5" }, memory = {}, seed = {},
    threads = {} }
  for name, accepted in pairs(taken) do
    for _, value in ipairs(wrong) do
      local line = core.json_decode(list[3])
      line[name] = name
      local changed = core.json_encode(line):gsub(('"%s":"%s"'):format(name, name), function()
        return ('"%s":%s'):format(name, value)
      end)
      with(list, 3, changed .. "\n")
      if accepted[1] == value then
        lu.assertEquals(#open().rows, 3)
      else
        fails({ file, "line 3 is damaged: ", name == "key" and "key"
          or ("'%s' takes"):format(name), "a cell without a line runs again" }, open)
      end
    end
  end
end

function TestLines:test_tables_within_a_line_are_checked()
  local list = lines_of(without_checksums(support.read(file)))
  for was, by in pairs{ ['{"number":"nan"}'] = '{"number":"none"}', ['"rows":4'] = '"rows":"4"',
    ['"flag":true'] = '"flag":[true]', ['"text":"ok"'] = '"text":{"a":1}',
    ['"cell":{"T":2'] = '"cell":{"T":{"a":2}' } do
    local from, to = list[3]:find(was, 1, true)
    with(list, 3, list[3]:sub(1, from - 1) .. by .. list[3]:sub(to + 1))
    fails({ file, "line 3 is damaged: '" }, open)
  end
  for _, line in ipairs{ "3\n", "[]\n", "[1,2]\n", '"x"\n', "{}\n", "true\n" } do
    with(list, 3, line)
    fails({ file, "line 3 is damaged: it " }, open)
  end
end

os.exit(lu.LuaUnit.run(), true)
