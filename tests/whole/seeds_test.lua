-- The page of the five papers, docs/seeds.md: its numbers are those of the recorded cells, and each
-- row has a verdict.
-- luacheck: globals TestSeeds
-- luacheck: ignore 212/self
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")

local place = io.popen(("cd %s && pwd"):format(support.quote(os.getenv "SCULLERY_SOURCE" or ".")))
local source = place:read "l"
place:close()
local page = support.read(source .. "/docs/seeds.md")

TestSeeds = {}

-- Exit status, output and errors of scripts/seeds.lua for a text of the page.
local function check(text)
  local path = os.tmpname()
  support.write(path, text)
  local status, said, err = support.scullery(("%s --page %s"):format(
    support.quote(source .. "/scripts/seeds.lua"), path))
  os.remove(path)
  return status, said, err
end

-- A short page of some rows of the whole one.
local function rows(...)
  local list = { "| item | where | published | ours | verdict |", "|---|---|---|---|---|" }
  for _, start in ipairs{ ... } do
    local at = assert(page:find("| " .. start, 1, true), start)
    list[#list + 1] = page:match("[^\n]+", at):gsub("%(%.%./", "(" .. source .. "/")
  end
  return table.concat(list, "\n") .. "\n"
end

function TestSeeds:test_the_page()
  local status, said, err = support.scullery(support.quote(source .. "/scripts/seeds.lua"))
  lu.assertEquals(status, 0, err)
  local items, numbers = said:match("(%d+) items, (%d+) numbers")
  lu.assertTrue(tonumber(items) >= 45 and tonumber(numbers) >= 80, said)
  lu.assertNil(page:find "VERDICT")
end

function TestSeeds:test_another_number_is_found()
  local text = rows "remark 1"
  lu.assertEquals((check(text)), 0)
  local status, _, err = check((text:gsub("0%.1%d+ ±", "0.3 ±")))
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "maxout_codes; q = 8; r = 0: equal: the page has 0.3 ±")
end

function TestSeeds:test_a_row_without_a_verdict_and_a_missing_script()
  local status, _, err = check((rows("figure 1: sum of sines"):gsub("[^|]+|\n$", " |\n")))
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "no verdict")
  status, _, err = check((rows("remark 1"):gsub("codes%.lua", "none.lua")))
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "none.lua is not there")
end

os.exit(lu.LuaUnit.run())
