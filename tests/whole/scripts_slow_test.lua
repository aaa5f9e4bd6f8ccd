-- The scripts that reproduce the papers: their short forms run from a bare clone, without the
-- larger data, and the page of their results is made.
-- luacheck: globals TestScripts
-- luacheck: ignore 212/self
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")

local source = os.getenv "SCULLERY_SOURCE" or "."

TestScripts = {}

function TestScripts:test_the_short_forms_of_all_scripts()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "", "too slow under a sanitizer")
  local out = os.tmpname()
  os.remove(out)
  local all = support.quote(source .. "/scripts/all.lua")
  local status, said, err = support.shell(("SCULLERY_DATA= %s %s --quick --out %s"):format(
    support.quote(support.binary), all, out))
  print(said)
  -- on some machines rounding leaves a fit of a search unconverged, which the search reports
  local report = "scullery: solver%.ridge: %d+ of the search's fits did not converge; [^\n]*\n"
  lu.assertEquals(err:gsub("[^\n]*\r", ""):gsub(report, ""), "")
  lu.assertEquals(status, 0)
  local names = {}
  for name in said:gmatch("\n?== ([%w_]+/[%w_]+)\n") do names[#names + 1] = name end
  lu.assertTrue(#names >= 20, "only " .. #names .. " scripts ran")
  for _, name in ipairs(names) do
    for _, ending in ipairs{ "md", "html", "csv" } do
      lu.assertTrue(#support.read(out .. "/" .. name .. "_quick." .. ending) > 100, name)
    end
  end
  status = support.scullery(("%s --page --quick --out %s --to %s"):format(all, out, out))
  lu.assertEquals(status, 0)
  local page = support.read(out .. "/README.md")
  for _, name in ipairs(names) do
    lu.assertStrContains(page, ("[%s.lua](%s.lua)"):format(name, name))
  end
  os.execute("rm -r " .. out)
end

os.exit(lu.LuaUnit.run())
