-- The scripts that reproduce the papers: their short forms run from a bare clone, without the
-- larger data, and the page of their results is made.
-- luacheck: globals TestScripts
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local source = os.getenv "SCULLERY_SOURCE" or "."

TestScripts = {}

-- Short forms run on stand-ins: neither conclusions of the full run nor published numbers.
function TestScripts:check_texts(out, names)
  for _, name in ipairs(names) do
    local text = support.read(("%s/%s_quick.md"):format(out, name))
    local head = "^### [^\n]+ %(short run%)\n\n```text\n(.-)\n```\n\nA short run, on "
    local commands = text:match(head)
    lu.assertNotNil(commands, name)
    lu.assertNotStrContains(commands, "\n\n", false, name)
    lu.assertNotStrContains(text, "| published |", false, name)
    for heads in text:gmatch "\n(|[^\n]*| difference |)" do
      local formula = heads:find "formula" or heads:find "kappa_q" or heads:find "theorem 1"
        or heads:find "sc.kernel.maxout"
      lu.assertNotNil(formula, name .. ": " .. heads)
    end
  end
end

-- Each script with one value of one option, the last, for all options of its cells. They were run
-- before, so that nothing is left but what follows the work.
function TestScripts:check_settings(out)
  local folder, runs = out .. "/cells", {}
  for set in io.popen("ls " .. support.quote(folder)):lines() do
    local exp = sc.experiment.open(set, { folder = folder })
    local script = exp.rows[1].about.script.path
    for _, option in ipairs(exp.options) do
      local values = exp:values(option)
      local value = values[#values]
      local text = math.type(value) == "float" and ("%.17g"):format(value) or tostring(value)
      runs[#runs + 1] = ("%s --quick --out %s --set %s"):format(support.quote(script),
        support.quote(out), support.quote(option .. "=" .. text))
    end
  end
  lu.assertTrue(#runs > 80, #runs .. " runs")
  for _, run in ipairs(runs) do
    local status, _, err = support.scullery(run)
    lu.assertEquals({ run, status, status ~= 0 and err or "" }, { run, 0, "" })
  end
end

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
  local worse = "scullery: the model is right on [^\n]*, and always saying [^\n]*\n" -- few features
  lu.assertEquals(err:gsub("[^\n]*\r", ""):gsub(report, ""):gsub(worse, ""), "")
  lu.assertEquals(status, 0)
  local names = {}
  for name in said:gmatch("\n?== ([%w_]+/[%w_]+)\n") do names[#names + 1] = name end
  lu.assertTrue(#names >= 20, "only " .. #names .. " scripts ran")
  self:check_texts(out, names)
  self:check_settings(out)
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

-- The table of docs/choosing.md, for the set that is shipped: a mean and its standard error each.
function TestScripts:test_the_table_of_families()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "", "too slow under a sanitizer")
  local status, said, err = support.shell(("SCULLERY_DATA= %s %s wdbc"):format(
    support.quote(support.binary), support.quote(source .. "/scripts/choosing.lua")))
  lu.assertEquals(status, 0, err)
  lu.assertStrContains(said, "|  | wdbc (426 x 30) |\n|---|---|\n")
  local count, seeds = 0, {}
  for mean, error in said:gmatch "\n| [^|]+ | (0%.%d+) ± (0%.%d+) |" do
    lu.assertTrue(tonumber(mean) < 0.1 and tonumber(error) < 0.03, mean .. " ± " .. error)
    count = count + 1
  end
  lu.assertTrue(count >= 9, said)
  for wrong in err:gmatch "wdbc, linear, seed %d: (0%.%d+)" do seeds[#seeds + 1] = wrong end
  lu.assertEquals(#seeds, 5)
  local mean = 0
  for _, wrong in ipairs(seeds) do mean = mean + tonumber(wrong) / 5 end
  lu.assertAlmostEquals(tonumber(said:match "\n| linear | (0%.%d+)"), mean, 6e-4)
end

os.exit(lu.LuaUnit.run())
