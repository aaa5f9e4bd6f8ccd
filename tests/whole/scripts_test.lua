-- The page of the papers' results, made of sections as scripts publish them.
-- luacheck: globals TestPage
-- luacheck: ignore 212/self
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")

local source = os.getenv "SCULLERY_SOURCE" or "."

TestPage = {}

function TestPage:setUp()
  self.out = os.tmpname()
  os.remove(self.out)
  os.execute("mkdir -p " .. support.quote(self.out .. "/rks"))
end

function TestPage:tearDown() os.execute("rm -r " .. support.quote(self.out)) end

-- A section whose cells are of these builds; then what scripts/all.lua makes of all sections.
function TestPage:add(name, builds)
  support.write(("%s/rks/%s.md"):format(self.out, name),
    ("### %s\n\nText.\n\nrks_%s: 7 cells done; 3 s in all; by %s.\n"):format(name, name, builds))
end

function TestPage:make(arguments)
  local quote = support.quote
  local status, _, err = support.scullery(("%s --page --out %s --to %s --record %s %s"):format(
    quote(source .. "/scripts/all.lua"), quote(self.out), quote(self.out),
    quote(self.out .. "/checked.csv"), arguments or ""))
  local file = io.open(self.out .. "/README.md")
  local text = file and file:read "a"
  if file then file:close() end
  os.remove(self.out .. "/README.md")
  return status, text, err
end

local old = "an unknown build of Scullery 0.1.0, avx512, 2 threads"
local new = "Scullery 0.1.0, commit 0123456789ab, avx512, 2 threads"

function TestPage:test_cells_of_one_build_make_a_page_that_names_it()
  self:add("figure1", old)
  self:add("figure2", old)
  local status, page = self:make()
  lu.assertEquals(status, 0)
  lu.assertStrContains(page, "rks_figure1: 7 cells done; 3 s in all; by " .. old .. ".\n")
end

function TestPage:test_cells_that_were_run_again()
  self:add("figure1", old)
  support.write(self.out .. "/checked.csv", "experiment,again,alike,commit\nrks_figure1,3,2,0ab\n")
  lu.assertStrContains(select(2, self:make()), "; by " .. old .. ". Also run by commit 0ab: 2 of "
    .. "3 cells have the same results to ten digits.\n")
end

function TestPage:test_cells_of_unlike_builds_are_refused()
  self:add("figure1", old)
  self:add("figure2", new)
  local status, page, err = self:make()
  lu.assertEquals({ status, page }, { 1 })
  lu.assertStrContains(err, ("the page would mix cells of unlike builds: %s ran rks_figure1; %s "
    .. "ran rks_figure2. Run those of one build, or give --mixed"):format(old, new))
  lu.assertStrContains(select(2, self:make "--mixed"), new)
end

function TestPage:test_cells_of_one_set_too()
  self:add("figure1", old .. " (5 cells); by " .. new .. " (2 cells)")
  local status, _, err = self:make()
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, old .. " ran rks_figure1; " .. new .. " ran rks_figure1")
end

function TestPage:test_what_scripts_compute_with_the_page_counts()
  self:add("figure1", new)
  support.write(self.out .. "/rks/figure2.md", "### figure2\n\nComputed with this page by "
    .. old .. ".\n")
  local status, _, err = self:make()
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, ("%s ran rks_figure1; %s ran rks/figure2"):format(new, old))
end

-- Recorded cells are run again: none differ, until one of them is changed.
function TestPage:test_a_check_of_recorded_cells()
  local quote = support.quote
  local function check(more)
    return support.scullery(("%s --quick --check 1 --cells %s %s"):format(
      quote(source .. "/scripts/all.lua"), quote(self.out .. "/cells"), more or ""))
  end
  lu.assertEquals((support.scullery(("%s --quick --out %s --set q=2 --set r=0.6"):format(
    quote(source .. "/scripts/maxout/codes.lua"), quote(self.out)))), 0)
  local status, said = check()
  lu.assertStrContains(said, "maxout_codes_quick: 1 of 3 cells again, ")
  lu.assertStrContains(said, "1 cells run again: 1 with the same results to ten digits")
  lu.assertEquals(status, 0)
  local record = self.out .. "/checked.csv"
  check("--record " .. quote(record))
  lu.assertStrMatches(support.read(record),
    "experiment,again,alike,commit\nmaxout_codes_quick,1,1,[%w+]+\n")
  local folder = self.out .. "/cells/maxout_codes_quick"
  lu.assertEquals((support.scullery(("%s %s"):format(quote(source .. "/scripts/pack.lua"),
    quote(folder)))), 0)
  os.execute(("cd %s && gzip -d results.jsonl.gz && sed -i 's/\"equal\":/&1/' results.jsonl && \z
    gzip results.jsonl"):format(quote(folder)))
  status, said = check()
  lu.assertEquals(status, 1)
  lu.assertStrContains(said, "seed = ")
  lu.assertNotNil(said:find ": equal is 0%.%d+, and was 10%.%d+\n", said)
  lu.assertStrContains(said, "1 cells run again: 0 with the same results to ten digits")
  lu.assertEquals((check "--only rks"), 1) -- none to check
  lu.assertStrContains(select(3, check "--check 200"), "from 0 to 100, and got 200")
end

os.exit(lu.LuaUnit.run())
