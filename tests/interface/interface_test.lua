-- Interface 1 is frozen: the header is the frozen copy, and plugins built with it work with every
-- later one, in both directions. tests/interface/specimen holds the plugins, battery.lua what they
-- are asked for.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;" .. package.path
local lu, sc = require "luaunit", require "scullery"
local core = require "scullery.core"
local battery, header = require "battery", require "header"
local component = require "scullery.compose.component"
local specimen, support = require "specimen", require "support"

local layout = header.unzipped "tests/interface/v1.inc.gz"
local frozen = header.files "tests/interface/v1.txt.gz"

-- ------------ the header

-- Additions that interface 1 allows, and how they come: after them the frozen copy is made anew.
local advice = [[
core/include/scullery is not what tests/interface/v1.txt.gz froze.
 - A member, constant or macro of version 1 that is gone or has changed: undo it. Plugins that were
   built with version 1 would break.
 - Members added at the end of a table, constants added to an enumeration, macros: allowed. Say what
   they mean where they are missing, then freeze:
     build/scullery tests/interface/freeze.lua
]]

-- What version 1 has and the other header has not, or has otherwise.
local function losses(old, new)
  local lost = {}
  local function note(...) lost[#lost + 1] = string.format(...) end
  for _, one in ipairs(old.structs) do
    local other = new.structs[one.name]
    if not other then note("struct %s is gone", one.name) end
    for i, member in ipairs(other and one.members or {}) do
      local now = other.members[i]
      if not now or now.name ~= member.name or now.declaration ~= member.declaration then
        note("%s: member %d was '%s' and is '%s'", one.name, i, member.declaration,
          now and now.declaration or "gone")
      end
    end
    if other and not one.is_table and one.name ~= "scl_option"
      and #other.members ~= #one.members then
      note("%s is a record, which may not grow", one.name)
    end
  end
  for _, group in ipairs{ "constants", "macros", "types" } do
    for name, value in pairs(old[group]) do
      if type(name) == "string" and new[group][name] ~= value then
        note("%s was '%s' and is '%s'", name, value, new[group][name] or "gone")
      end
    end
  end
  return lost
end

function TestTheHeaderIsTheFrozenOne()
  local current = header.files("core/include")
  if header.pack(frozen) == header.pack(current) then return end
  local lost = losses(header.parse(frozen), header.parse(current))
  lu.fail(advice .. (#lost == 0 and "Nothing of version 1 has changed: freeze."
    or "Changed:\n  " .. table.concat(lost, "\n  ")))
end

function TestALossIsNoticed()
  local function changed(name, from, to)
    local files = {}
    for i, one in ipairs(frozen) do
      local place, last = one.text:find(from, 1, true)
      files[i] = one.name ~= name and one or { name = name,
        text = one.text:sub(1, place - 1) .. to .. one.text:sub(last + 1) }
    end
    return losses(header.parse(frozen), header.parse(files))
  end
  lu.assertEquals(changed("plugin/sampler.h", "uint32_t normals;", "uint64_t normals;")[1],
    "scl_sampler: member 9 was 'uint32_t normals' and is 'uint64_t normals'")
  lu.assertStrContains(changed("plugin/rows.h", "const size_t *index;", "")[1], "scl_rows")
  lu.assertStrContains(changed("plugin/base.h", "SCL_STATUS_NUMERIC,", "SCL_STATUS_NEW,")[1],
    "SCL_STATUS_N")
  lu.assertStrContains(changed("plugin/block.h", "size_t sizes[4];",
    "size_t sizes[4]; int more;")[1], "record")
  lu.assertStrContains(changed("plugin/sampler.h", '"scullery.law/1"', '"scullery.law/2"')[1],
    "SCL_ABILITY_LAW")
  lu.assertEquals(changed("plugin/rows.h", "} scl_rows;", "double later; } scl_rows;"), {})
  lu.assertEquals(changed("plugin/option.h", "deprecated;\n}", "deprecated; double later;\n}"), {})
  lu.assertEquals(changed("plugin/base.h", "SCL_STATUS_INTERNAL\n",
    "SCL_STATUS_INTERNAL, SCL_NEW\n"), {})
end

-- The table of sizes and places has everything of the frozen header.
function TestTheLayoutIsComplete()
  local parsed, listed = header.parse(frozen), {}
  for line in layout:gmatch "[^\n]+" do
    local what, rest = line:match("^(%u+)%((.*)%)$")
    if what == "MEMBER" then
      listed[rest:match("^([%w_]+), ([%w_]+)")] = true
      listed[rest:gsub("^([%w_]+), ([%w_]+).*", "%1.%2")] = true
    elseif what then
      listed[rest:match("^[%w_]+")] = what
    end
  end
  for _, one in ipairs(parsed.structs) do
    lu.assertEquals(listed[one.name], true, one.name)
    for _, member in ipairs(one.members) do
      lu.assertTrue(listed[one.name .. "." .. member.name], one.name .. "." .. member.name)
    end
    if one.is_table then
      lu.assertNotNil(parsed.macros["SCL_LEAST_" .. one.name:sub(5):upper()],
        one.name .. " has no least size")
    end
  end
  for _, constant in ipairs(parsed.constants) do
    lu.assertEquals(listed[constant.name], "VALUE", constant.name)
  end
  for name in pairs(parsed.macros) do
    if name:find("^SCL_LEAST_") then lu.assertEquals(listed[name], "LEAST", name) end
  end
end

-- Growth is only for tables: each begins with a head, and no head stands elsewhere.
function TestTablesBeginWithAHead()
  for _, one in ipairs(header.parse(frozen).structs) do
    for i, member in ipairs(one.members) do
      lu.assertEquals(member.name == "head", i == 1 and one.is_table, one.name)
    end
  end
end

-- ------------ plugins from other headers

local reference -- what a plugin built with the frozen header answers

-- The answers of specimens with such a script, each its own error where it has one.
local function answers(version, names, ...)
  local own, result = battery.constructors(specimen.load(version, battery.names, ...)), {}
  for _, name in ipairs(names) do
    local ok, value = pcall(battery.ask, name, own)
    result[name] = ok and value or tostring(value)
  end
  return result
end

-- Names of the components differ from one object to the next, and stand in some texts.
local function plain(value) return type(value) == "string" and value:gsub("_%d+", "") or value end

local function assert_alike(got, names, label)
  reference = reference or answers("v1", battery.names)
  for _, name in ipairs(names) do
    local is, was = got[name], reference[name]
    if type(is) == "string" then lu.fail(("%s, %s: %s"):format(label, name, is)) end
    lu.assertEquals(#is, #was, label .. ": " .. name)
    for i = 1, #was do
      if plain(is[i]) ~= plain(was[i]) then
        lu.fail(("%s, %s: answer %d is %s where it was %s"):format(label, name, i,
          tostring(is[i]), tostring(was[i])))
      end
    end
  end
end

function TestAPluginOfVersion1()
  local first = answers("v1", battery.names)
  assert_alike(first, battery.names, "again")
  lu.assertTrue(#first.general > 1000)
end

function TestAPluginFromALaterHeader()
  assert_alike(answers("later", battery.names), battery.names, "later header")
  assert_alike(answers("first", battery.names), battery.names, "first header")
end

-- Members that the host does not know hold anything.
function TestTablesThatAreLonger()
  local lines = {}
  for _, name in ipairs(battery.names) do
    lines[#lines + 1] = ("longer %s 40"):format(name)
    lines[#lines + 1] = ("longer %s/* 24"):format(name)
  end
  assert_alike(answers("v1", battery.names, table.unpack(lines)), battery.names, "longer tables")
end

-- Memory of exactly the least size (the address sanitizer sees a look beyond it): the names and a
-- script. Left out: those whose form stands in members behind it.
local function least_tables()
  local whole = { plain = true, bell = true, rotated = true, few = true, wrapper = true }
  local names, lines = {}, {}
  for _, name in ipairs(battery.names) do
    if not whole[name] then
      names[#names + 1] = name
      lines[#lines + 1] = ("least %s/*"):format(name)
    end
  end
  return names, lines
end

-- What they lack is optional: the loops for float32, rows of a structured sampler.
function TestTablesOfTheLeastSize()
  local names, lines = least_tables()
  local got = answers("v1", names, table.unpack(lines))
  for name, value in pairs(got) do lu.assertEquals(type(value), "table", name) end
  assert_alike(got, { "general", "split", "lattice", "shared", "pupil", "waves", "cell", "mean" },
    "least tables")
end

-- A descriptor without options, abilities and state is a whole plugin.
function TestADescriptorOfTheLeastSize()
  for _, name in ipairs{ "split", "lattice", "side" } do
    local own = specimen.load("v1", { name }, "least " .. name)
    local info = sc.plugin.info(own[name])
    lu.assertEquals({ info.version, #info.options }, { nil, 0 })
  end
end

local later_host = support.build .. "/tests/interface/host/scullery"

-- The same file in another host, whose tables have members that the file does not know: the same
-- answers, to the rounding of loops that are compiled otherwise.
local function assert_hosts_agree(...)
  local own, path = specimen.prepare("v1", battery.names, ...)
  local arguments = ("tests/interface/child.lua %s %s '%s'"):format(path, own.plain:match("%d+$"),
    table.concat(battery.names, " "))
  local status, expected, err = support.scullery(arguments)
  lu.assertEquals({ status, err }, { 0, "" })
  local later_status, got, later_err = support.shell(later_host .. " " .. arguments)
  lu.assertEquals({ later_status, later_err }, { 0, "" })
  local left, count = expected:gmatch("[^\n]+"), 0
  for line in got:gmatch("[^\n]+") do
    local other = left() or "nothing"
    local a, b = tonumber(line:match("\t(.*)")), tonumber(other:match("\t(.*)"))
    lu.assertTrue(line == other or a and b and math.abs(a - b) < 1e-6 * (1 + math.abs(b)),
      line .. " where it was " .. other)
    count = count + 1
  end
  lu.assertNil(left())
  lu.assertTrue(count > 5000)
end

function TestAHostOfALaterVersion()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "", "it is built without sanitizers alone")
  local _, least = least_tables()
  assert_hosts_agree()
  assert_hosts_agree(table.unpack(least))
  assert_hosts_agree("longer * 24")
end

-- ------------ cut anywhere

-- Bytes of each table through each of its members.
local function boundaries()
  local ends = {}
  for line in layout:gmatch "[^\n]+" do
    local type, place, size = line:match("^MEMBER%(([%w_]+), [%w_]+, (%d+), (%d+)%)$")
    if type then
      ends[type] = ends[type] or {}
      table.insert(ends[type], math.tointeger(place) + math.tointeger(size))
    end
  end
  return ends
end

local cut = { "plain", "general", "rotated", "few", "wave", "waves", "side", "bell", "long",
  "square", "mean" }

-- Whatever is cut off, there is a component that answers, or a sentence: never a crash, and never a
-- sentence that names neither the component nor the file. Memory ends with the table.
function TestTablesCutAnywhere()
  local ends, tried, refused = boundaries(), 0, 0
  local others = battery.constructors(specimen.load("v1", battery.names))
  local function try(name, piece, size)
    local path
    local ok, message = pcall(function()
      local own
      own, path = specimen.load("v1", { name }, ("size %s %d"):format(piece, size))
      battery.ask(name, setmetatable(battery.constructors(own), { __index = others }))
    end)
    tried = tried + 1
    if ok then return end
    refused = refused + 1
    lu.assertTrue(message:find("%.lua:%d+: .*%f[%w]" .. name .. "_%d") ~= nil
      or message:find("%.lua:%d+: .*%f[%w]kernel%.long_%d") ~= nil -- which meets its numbers
      or message:find(path or "/s", 1, true) ~= nil, piece .. ": " .. message)
  end
  for _, name in ipairs(cut) do
    for _, size in ipairs(ends["scl_" .. battery.kind[name]]) do
      if size > 8 then try(name, name .. "/table", size) end
    end
  end
  for _, size in ipairs(ends.scl_plugin) do
    if size > 8 then
      try("side", "side", size)
      try("mean", "mean", size)
    end
  end
  lu.assertTrue(tried > 60 and refused > 20)
end

-- An ability that is too short is a sentence, whether it is listed or asked for.
function TestAbilitiesThatAreTooShort()
  local count = 0
  for line in layout:gmatch "[^\n]+" do
    local ability, least =
      line:match("^LEAST%(SCL_LEAST_ABILITY_[%w_]+, scl_ability_([%w_]+), (%d+)%)")
    for _, name in ipairs(ability and battery.names or {}) do
      local id = ability:gsub("_", "-")
      local ok, message = pcall(specimen.load, "v1", { name },
        least == "8" and ("head %s/%s 4"):format(name, id) -- no table is shorter than its head
          or ("size %s/%s %d"):format(name, id, math.tointeger(least) - 8))
      if not ok then
        count = count + 1
        lu.assertStrContains(message, ("ability \"scullery.%s/1\""):format(id))
        lu.assertStrContains(message, "requires " .. least)
      end
    end
  end
  lu.assertEquals(count, 37) -- those that the specimens offer
end

-- ------------ tables that a plugin owns

-- A host writes only what the plugin's table has; one below the least size is refused.
function TestTablesThatThePluginOwns()
  local X = sc.randn{ 12, 3, seed = 1 }
  local function ask(slot, size, f)
    local own = battery.constructors(specimen.load("v1",
      { "plain", "wrapper", "wave", "long", "twice", "square", "general" },
      ("at %s size %d"):format(slot, size)))
    return pcall(f, own)
  end
  local function draw(own)
    sc.features{ p = own.wrapper{ inner = own.plain() }, phi = own.wave(), T = 3 }:fit(X)
  end
  local function tell(own)
    core.law(component.instance(own.wrapper{ inner = own.plain() }), 3)
  end
  local function gram(own) own.twice{ inner = own.long{ gamma = 1 } }:gram(X) end
  local function weight(own)
    sc.features{ p = own.general(), phi = own.wave(), T = 3,
      K = own.twice{ inner = own.long{ gamma = 1 } } }:fit(X)
  end
  local function solve(own)
    sc.pipeline{ sc.features{ p = own.plain(), phi = own.wave(), T = 3 },
      own.square{ all = true } }:fit(X, X:column(1):copy())
  end
  local cases = { { "wrapper.layout", "scl_layout", draw }, { "wrapper.draw", "scl_draw", draw },
    { "wrapper.parameters", "scl_parameters", draw }, { "wrapper.law", "scl_law", tell },
    { "twice.gram", "scl_const_parameters", gram, 1 }, { "twice.tilt", "scl_tilt", weight },
    { "square.normal", "scl_normal", solve } }
  for _, case in ipairs(cases) do
    local slot, type, f, appended = table.unpack(case) -- members that came after version 1
    local members = boundaries()[type]
    local whole, least = members[#members], #members - (appended or 0)
    lu.assertEquals({ ask(slot, whole, f) }, { true })
    lu.assertEquals({ ask(slot, whole + 32, f) }, { true })
    for _, size in ipairs{ 8, members[2], members[least - 1] } do
      local ok, message = ask(slot, size, f)
      lu.assertFalse(ok, ("%s of %d bytes"):format(type, size))
      lu.assertStrContains(message, ("%s that has %d bytes"):format(type, size))
      lu.assertStrContains(message, ("requires %d"):format(members[least]))
    end
  end
end

local status = lu.LuaUnit.run()
specimen.clear()
os.exit(status, true)
