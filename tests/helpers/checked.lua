--- The checker of plugins on every built-in component of a kind, in this process and with a fixed
--- seed: checked(kind, skipped) makes a LuaUnit test of each. skipped: test -> the names of the
--- components that it says nothing of ("all but NAMES": of all others), for the tests of this kind
--- alone. Under the thread sanitizer: the test of threads alone, each of whose kinds has one.
local lu = require "luaunit"
local sc = require "scullery"
local check = require "scullery_checker"
local registry = dofile((os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/registry.lua")

local function own_tests(kind)
  local own = {}
  for _, test in ipairs(require("scullery_checker." .. kind)) do own[test.name] = true end
  return own
end

local function contains(text, name)
  local words = text:gsub("^all but ", "")
  local listed = (" " .. words .. " "):find(" " .. name .. " ", 1, true) ~= nil
  return listed == (words == text)
end

-- Names that are expected to be skipped and are no component, and tests that are none.
local function check_list(kind, skipped)
  local names, own = {}, own_tests(kind)
  for _, entry in ipairs(sc.plugin.list()) do
    if entry.kind == kind then names[entry.name] = true end
  end
  for test, text in pairs(skipped) do
    lu.assertTrue(own[test], test .. " is no test of a " .. kind)
    for name in text:gsub("^all but ", ""):gmatch("%S+") do
      lu.assertTrue(names[name], name .. " is no " .. kind)
    end
  end
end

local only = (os.getenv("SCULLERY_SANITIZE") or ""):find("thread", 1, true) and "threads" or nil

local function check_one(kind, name, skipped)
  local own, title = own_tests(kind), kind .. "." .. name
  local all = check.run(title, { seed = 1, in_process = true, only = only,
    variants = registry.more[title] })
  lu.assertTrue(#all.results > 0, title)
  for _, result in ipairs(all.results) do
    local text = ("%s, %s: %s: %s"):format(title, result.name, result.outcome, result.text)
    if own[result.name] and contains(skipped[result.name] or "", name) then
      lu.assertEquals(result.outcome, "skip", text)
    elseif own[result.name] then
      lu.assertEquals(result.outcome, "pass", text)
    else
      lu.assertTrue(result.outcome == "pass" or result.outcome == "skip", text)
    end
  end
end

return function(kind, skipped)
  for _, entry in ipairs(sc.plugin.list()) do
    if entry.kind == kind then
      registry.test("check of " .. entry.name, function() check_one(kind, entry.name, skipped) end)
    end
  end
  registry.test("list of what is skipped", function() check_list(kind, skipped) end)
end
