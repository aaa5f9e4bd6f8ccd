-- Plugins with one subtle fault each (subtle/), and the test of the checker that catches them
-- (subtle.lua); the same plugins without a fault pass all tests. SCULLERY_TABLE=1 prints a table of
-- what is wrong, what catches it and the seconds that this took.
package.path = "tests/helpers/?.lua;tests/checker/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local passes, subtle, support = require "passes", require "subtle", require "support"

local source = (os.getenv "SCULLERY_SOURCE" or ".") .. "/tests/checker/subtle/"
local object = support.read(support.build .. "/tests/subtle.so")
local folder = support.write(nil, "")
local seed = tonumber(os.getenv "SCULLERY_SEED" or 1)

-- A file with the plugin that has this fault, or with the plugin of that name.
local function file_of(word)
  return support.write(folder .. "." .. word .. ".so", object .. "\nsubtle " .. word .. "\n")
end

-- The faults of a source: a list of { component, name, what is wrong }.
local function faults_of(name)
  local text, list = support.read(source .. name .. ".c"):gsub("\\\n", ""), {}
  for component, fault, about in text:gmatch('X%((%w+),%s*([%w_]+),%s*(".-")%s*%)') do
    list[#list + 1] = { component, fault, (about:gsub('"%s*"', ""):gsub('"', "")) }
  end
  return list
end

local caught, count, missed = {}, 0, #subtle.missed
for _, kind in ipairs{ "samplers", "nonlinearities", "kernels", "solvers" } do
  for test, names in pairs(subtle[kind]) do
    for name in names:gmatch("%S+") do caught[name] = test end
  end
end

-- Those without a fault come last: where a process has several threads, it is not copied.
TestSubtle, TestWithoutFault = {}, {}
sc.plugin.list() -- loaded once, not in each copy
require "scullery_checker.process".copies = true

for _, kind in ipairs{ "samplers", "nonlinearities", "kernels", "solvers" } do
  for _, fault in ipairs(faults_of(kind)) do
    local component, name, about = table.unpack(fault)
    count = count + 1
    TestSubtle["test_" .. name] = caught[name] and function()
      local all, result
      -- two threads of a loaded machine may run one after the other: then nothing is at once
      for _ = 1, caught[name] == "at-once" and 10 or 1 do
        all = sc.plugin.check(file_of(name), { only = caught[name], seed = seed })
        result = all.results[1]
        if result.outcome ~= "pass" then break end
      end
      lu.assertTrue(#all.results == 1 and result.outcome ~= "pass" and result.outcome ~= "skip",
        ("%s (%s): %s: %s: %s"):format(name, about, result.name, result.outcome, result.text))
      if os.getenv "SCULLERY_TABLE" then
        print(("| %s | %s | %s | %.1f |"):format(component, about, result.name, result.seconds))
      end
    end or nil
  end
end

function TestSubtle:test_there_are_enough()
  lu.assertTrue(count >= 170, tostring(count))
  lu.assertTrue(missed <= 0.1 * count)
  for _, name in ipairs(subtle.missed) do lu.assertNil(caught[name]) end
  local known = missed
  for name in pairs(caught) do
    lu.assertNotNil(TestSubtle["test_" .. name], name .. " is no fault")
    known = known + 1
  end
  lu.assertEquals(known, count)
end

for _, component in ipairs{ "rows", "stumps", "turned", "taught", "quick", "soft", "side", "wide",
  "bell", "edge", "overlap", "ridge", "model" } do
  TestWithoutFault["test_" .. component] = function()
    passes(file_of(component), { seed = seed, in_process = true })
  end
end

local status = lu.LuaUnit.run()
os.execute(("rm -f %s %s.*"):format(support.quote(folder), support.quote(folder)))
os.exit(status)
