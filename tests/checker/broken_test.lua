-- The gallery: plugins that are wrong in one way each (tests/broken/*.c and *.cpp), and the test of
-- the checker that must catch them. The head of each file says what is wrong and who catches it:
--
--   /* Reads one number past the end of z. */
--   // caught by: guard-pages crash
--   // says: slot loop
--
-- The sentence of the result holds every text after "says:". A file good_*.c passes all tests.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local source = (os.getenv "SCULLERY_SOURCE" or ".") .. "/tests/broken"
local built = support.build .. "/tests/broken/"

TestBroken = {}

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

local function check_broken(name, file)
  local head = head_of(name)
  lu.assertNotNil(head.test, name .. " has no line \"// caught by: TEST OUTCOME\"")
  local all = sc.plugin.check(file, { only = head.test, seed = 1,
    seconds = head.outcome == "timeout" and 10 or nil })
  lu.assertEquals(#all.results, 1, name .. ": there is no test " .. head.test)
  local result = all.results[1]
  lu.assertEquals({ result.name, result.outcome }, { head.test, head.outcome },
    name .. ": " .. result.text)
  for _, words in ipairs(head.says) do lu.assertStrContains(result.text, words) end
end

local function check_good(name, file)
  for _, result in ipairs(sc.plugin.check(file, { seed = 1 }).results) do
    lu.assertTrue(result.outcome == "pass" or result.outcome == "skip",
      ("%s: %s: %s: %s"):format(name, result.name, result.outcome, result.text))
  end
end

local count = 0
local listing = assert(io.popen("ls " .. support.quote(source)))
for name in listing:lines() do
  local stem = name:match("^(.+)%.c$") or name:match("^(.+)%.cpp$")
  if stem then
    count = count + 1
    TestBroken["test_" .. stem] = function()
      local check = stem:find("^good_") and check_good or check_broken
      check(name, built .. stem .. ".so")
    end
  end
end
listing:close()

function TestBroken:test_there_are_enough() lu.assertTrue(count >= 60) end

os.exit(lu.LuaUnit.run())
