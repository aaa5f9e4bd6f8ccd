-- scullery bench: every row has a name of its own, and a document of its results holds numbers; the
-- ways that it compares make the same sums.
local core = require "scullery.core"
local lu = require "luaunit"
local measure = require "scullery.bench.measure"
local sc = require "scullery"

local binary = dofile("tests/helpers/support.lua").binary

local function bench(arguments)
  local pipe = assert(io.popen(("SCULLERY_DATA= XDG_CACHE_HOME=/nonexistent '%s' bench %s 2>&1")
    :format(binary, arguments)))
  local text = pipe:read "a"
  return pipe:close() == true, text
end

TestBench = {}

function TestBench:test_every_row_has_a_name_of_its_own()
  local seen, rows = {}, require("scullery.bench").list()
  lu.assertTrue(#rows > 50)
  for _, row in ipairs(rows) do
    lu.assertStrMatches(row.id, "[%w_%-]+")
    lu.assertNil(seen[row.id], row.id)
    seen[row.id] = true
  end
  local well, text = bench "--list"
  lu.assertTrue(well)
  lu.assertEquals(select(2, text:gsub("\n", "")), #rows)
end

function TestBench:test_the_document_says_what_was_left_out()
  local well, text = bench "--row reading --row mnist_ridge --json"
  lu.assertTrue(well, text)
  local document = core.json_decode(text)
  lu.assertEquals(document.instruction_set, core.instruction_set())
  lu.assertEquals(#document.rows, 2)
  for _, row in ipairs(document.rows) do lu.assertStrContains(row.skipped, "is not here") end
end

function TestBench:test_a_row_has_seconds_and_the_share_of_its_floor()
  local well, text = bench "--row rows_10000 --quick --json"
  lu.assertTrue(well, text)
  local row = core.json_decode(text).rows[1]
  lu.assertEquals(row.id, "rows_10000")
  lu.assertTrue(row.seconds > 0 and row.floor > 0)
  lu.assertAlmostEquals(row.floor_over_time, row.floor / row.seconds, 1e-9)
end

function TestBench:test_a_row_that_does_not_exist()
  local well, text = bench "--row nosuch"
  lu.assertFalse(well)
  lu.assertStrContains(text, "there is no row 'nosuch'; scullery bench --list names them")
end

function TestBench:test_rates_are_positive_and_floors_grow_with_the_work()
  measure.forget(64)
  for name, rate in pairs(measure.rates()) do lu.assertTrue(rate > 0, name) end
  local floor = measure.floor
  lu.assertAlmostEquals(floor.factors(200) / floor.factors(100), 8, 1e-9)
  lu.assertAlmostEquals(floor.sums("float32", 10, 200) / floor.sums("float32", 10, 100), 4, 1e-9)
  lu.assertTrue(floor.ridge("float64", 1000, 10, 100) > floor.ridge("float64", 1000, 0, 100))
end

function TestBench:test_sums_by_values_can_be_switched_off_and_give_the_same_fit()
  local train = sc.data.load("wdbc"):discretize{ bins = 4 }
  local function weights()
    return sc.pipeline{ sc.instantiation{ W = sc.space.threshold(),
      K = sc.kernel.gaussian{ width = 1 }, p = sc.sampler.threshold{ sigma = 1 },
      phi = sc.nonlinearity.sign() }:features{ T = 300, seed = 0 },
      sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }:fit(train):decision(train)
  end
  lu.assertTrue(core.levels())
  local by_values = weights()
  lu.assertFalse(core.levels(false))
  local made = weights()
  lu.assertTrue(core.levels(true))
  lu.assertTrue((by_values - made):map(math.abs):max() < 1e-7) -- each has a jitter of its own
end

-- ------------ scripts/bench

TestScripts = {}

function TestScripts:test_the_rows_beside_peers_are_rows_of_the_bench()
  local pipe = io.popen "/usr/bin/python3 scripts/bench/side_by_side.py --list 2>/dev/null"
  local listed, known, seen = pipe:read "a", {}, 0
  lu.skipIf(not pipe:close(), "there is no Python")
  for _, row in ipairs(require("scullery.bench").list()) do known[row.id] = true end
  for id in listed:gmatch "(%S+) +%S+\n" do
    lu.assertTrue(known[id], id)
    seen = seen + 1
  end
  lu.assertTrue(seen > 20)
end

local figures = [[{"version": "scullery 1",
  "machine": {"processor": "P", "threads": 2, "load": 0.1},
  "sets": {"native": {
    "reading": {"ours": {"what": "reading a file", "seconds": 0.25, "floor_over_time": 0.5,
      "instruction_set": "avx2"},
      "peer": {"tool": "pandas", "seconds": 1.0, "processors": 1.0, "gigabytes": 1,
        "versions": {"pandas": "2"}}},
    "hinge": {"ours": {"skipped": "no data"}}}}}]]

local function page(text)
  local name = os.tmpname()
  core.write_text(name .. ".json", figures)
  core.write_text(name .. ".md", text)
  local pipe = io.popen(("'%s' scripts/bench/page.lua --figures %s.json --page %s.md 2>&1"):format(
    binary, name, name))
  local said = pipe:read "a"
  local well = pipe:close() == true
  local file = io.open(name .. ".md")
  local now = file:read "a"
  file:close()
  for _, ending in ipairs{ "", ".json", ".md" } do os.remove(name .. ending) end
  return well, said, now
end

function TestScripts:test_figures_stand_between_the_marks_of_a_page()
  local well, said, now = page "# A\n<!-- figures -->\nold\n<!-- end of figures -->\nend\n"
  lu.assertTrue(well, said)
  lu.assertStrMatches(now,
    "# A\n<!%-%- figures %-%->\n\n.*\n<!%-%- end of figures %-%->\nend\n")
  lu.assertStrContains(now, "scullery 1, P, 2 threads, avx2; pandas 2. Times are by the clock.")
  lu.assertStrContains(now, "| reading a file | 0.25 s | 0.50 | pandas: 1 s | 0.25 |  |")
  lu.assertNotStrContains(now, "old")
  lu.assertNotStrContains(now, "no data")
end

function TestScripts:test_a_page_without_the_marks_is_refused()
  local well, said, now = page "# A\n"
  lu.assertFalse(well)
  lu.assertStrContains(said, "has no <!-- figures --> ... <!-- end of figures -->")
  lu.assertEquals(now, "# A\n")
end

os.exit(lu.LuaUnit.run())
