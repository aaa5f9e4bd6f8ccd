-- The gallery: plugins that are wrong in one way each, and the test of the checker that must catch
-- them. They are specimens of tests/interface with a script (faults.lua). Faults that no script can
-- make (symbols, a table that an instance returns) have a source in tests/broken, whose head says
-- what is wrong and which test catches it:
--
--   /* Reads one number past the end of z. */
--   // caught by: guard-pages crash
--   // says: slot loop
--
-- The sentence of the result holds every text after "says:". A file good_*.c passes all tests.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;tests/checker/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local passes, specimen, support = require "passes", require "specimen", require "support"
local faults = require "faults"

local source = (os.getenv "SCULLERY_SOURCE" or ".") .. "/tests/broken"
local built = support.build .. "/tests/broken/"

-- Good ones come last: where a process has several threads, it is not copied. The transport, whose
-- tests make many processes, is tested before the process has grown.
TestBroken, TestFirstGood, TestGood = {}, {}, {}
sc.plugin.list() -- loaded once, not in each copy
require "scullery_checker.process".copies = true

local function head_of(name)
  local head = { says = {} }
  for line in io.lines(source .. "/" .. name) do
    head.test, head.outcome = line:match("^// caught by: (%S+) (%a+)$")
    if head.test then break end
  end
  for line in io.lines(source .. "/" .. name) do
    head.says[#head.says + 1] = line:match("^// says: (.+)$")
  end
  return head
end

local function check_broken(name, file, head)
  lu.assertNotNil(head.test, name .. " has no line \"// caught by: TEST OUTCOME\"")
  local all = sc.plugin.check(file, { only = head.test, seed = 1,
    seconds = head.outcome == "timeout" and 3 or nil })
  lu.assertEquals(#all.results, 1, name .. ": there is no test " .. head.test)
  local result = all.results[1]
  lu.assertEquals({ result.name, result.outcome }, { head.test, head.outcome },
    name .. ": " .. result.text)
  for _, words in ipairs(head.says) do lu.assertStrContains(result.text, words) end
end

-- In this process: a process for each test changes nothing for a plugin that is right, and
-- checker_test.lua checks good_nonlinearity so.
local function check_good(file) passes(file, { seed = 1, in_process = true }) end

local count = 0
local listing = assert(io.popen("ls " .. support.quote(source)))
for name in listing:lines() do
  local stem = name:match("^(.+)%.c$") or name:match("^(.+)%.cpp$")
  if stem then
    count = count + 1
    local is_good = stem:find "^good_"
    local class = stem == "good_transport" and TestFirstGood or is_good and TestGood or TestBroken
    class["test_" .. stem] = function()
      if is_good then check_good(built .. stem .. ".so")
      else check_broken(name, built .. stem .. ".so", head_of(name)) end
    end
  end
end
listing:close()

for _, one in ipairs(faults) do
  local name, _, caught, says = table.unpack(one, 1, 4)
  count = count + 1
  lu.assertNil(TestBroken["test_" .. name], name)
  TestBroken["test_" .. name] = function()
    local test, outcome = caught:match("^(%S+) (%a+)$")
    check_broken(name, faults.file(name),
      { test = test, outcome = outcome, says = says })
  end
end

for _, component in ipairs{ "bell", "long", "wave", "side", "ramp", "normal", "column",
  "pairs", "pitches", "turned", "taught", "logistic", "descent",
  "centred", "fitted" } do
  TestGood["test_" .. component] = function()
    check_good(faults.specimen(component, ("set %s name text good_%s"):format(component,
      component)))
  end
end

function TestBroken:test_there_are_enough() lu.assertTrue(count >= 170) end

local status = lu.LuaUnit.run()
specimen.clear()
os.exit(status)
