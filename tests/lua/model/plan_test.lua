-- Plans: sizes against what fits allocate, growth, refusal, bad input. Seconds depend on the load
-- of the machine: they are not compared.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

local n, d = 4000, 6
local X = sc.randn{ n, d, seed = 1 }
local ds = sc.dataset{ X = X, y = (X:column(1) * 2):map(math.sin) + X:column(2) }

local function features(T, given)
  given = given or {}
  return sc.features{ p = given.p or sc.sampler.gaussian{ sigma = 0.5 },
    phi = given.phi or sc.nonlinearity.fourier(), T = T, seed = 1, dtype = given.dtype }
end

local function pipeline(T, solver, given)
  return sc.pipeline{ features(T, given), solver or sc.solver.ridge{ lambda = 1e-4 } }
end

-- The most bytes that the engine allocates for f besides those before.
local function peak_of(f)
  collectgarbage()
  collectgarbage()
  local before = core.memory(true)
  f()
  return select(2, core.memory()) - before
end

-- A plan's bytes are between these shares of what the engine allocates.
local function assert_bytes(p, low, high, about)
  local planned = p:plan(ds).more
  local measured = peak_of(function() p:fit(ds) end)
  lu.assertTrue(planned > low * measured and planned < high * measured,
    ("%s: planned %.1f MB, measured %.1f MB"):format(about, planned / 1e6, measured / 1e6))
end

TestBytes = {}

function TestBytes:test_the_sums_of_every_number_type_are_planned()
  for _, dtype in ipairs{ "float64", "float32", "int16", "int8" } do
    assert_bytes(pipeline(1500, nil, { dtype = dtype }), 0.8, 1.25, dtype)
  end
end

function TestBytes:test_bits_are_planned_as_bits()
  assert_bytes(pipeline(1500, nil, { phi = sc.nonlinearity.sign() }), 0.8, 1.25, "bits")
end

function TestBytes:test_the_dual_of_more_features_than_rows_is_planned()
  local few = ds:subset(1, 1000)
  local p = pipeline(3000)
  local planned = p:plan(few).more
  local measured = peak_of(function() p:fit(few) end)
  lu.assertTrue(planned > 0.8 * measured and planned < 1.25 * measured, planned / measured)
end

function TestBytes:test_present_memory_is_counted_once()
  local plan = pipeline(500):plan(ds)
  local _, now = core.memory_left()
  lu.assertEquals(plan[1].what, "in use now")
  lu.assertAlmostEquals(plan.bytes, plan[1].bytes + plan.more, 1)
  lu.assertTrue(plan[1].bytes > 0.5 * now and plan[1].bytes < 2 * now)
end

TestGrowth = {}

function TestGrowth:test_operations_grow_with_the_square_of_the_features()
  local small, large = pipeline(1000):plan(ds), pipeline(2000):plan(ds)
  lu.assertTrue(large.flops > 3.5 * small.flops and large.flops < 5 * small.flops)
  lu.assertTrue(large.flops > n * 2000 ^ 2)
  lu.assertEquals(large.features, 2000)
  lu.assertTrue(large.seconds > small.seconds)
end

function TestGrowth:test_operations_grow_with_the_rows()
  local half, all = pipeline(800):plan(ds:subset(1, n // 2)), pipeline(800):plan(ds)
  local factor = 800 ^ 3 / 3
  lu.assertAlmostEquals((all.flops - factor) / (half.flops - factor), 2, 0.02)
end

function TestGrowth:test_a_plan_draws_few_parameters()
  lu.assertTrue(peak_of(function() pipeline(1000000):plan(ds) end) < 200e6)
end

function TestGrowth:test_features_that_are_learnt_have_their_number()
  local p = sc.pipeline{ features(30, { p = sc.sampler.landmarks(),
    phi = sc.kernel.gaussian{ gamma = 0.5 } }), sc.solver.ridge{ lambda = 1e-4 } }
  lu.assertEquals(p:plan(ds).features, 30)
end

TestTable = {}

function TestTable:test_it_prints_what_takes_what()
  local text = tostring(pipeline(700):plan(ds))
  for _, word in ipairs{ "in use now", "reading rows", "features", "sums", "solver",
    "at most, in all", "are left" } do lu.assertStrContains(text, word) end
end

function TestTable:test_the_parts_add_up()
  local plan, flops, seconds = pipeline(700):plan(ds), 0, 0
  for _, row in ipairs(plan) do flops, seconds = flops + row.flops, seconds + row.seconds end
  lu.assertAlmostEquals(flops, plan.flops, 1)
  lu.assertAlmostEquals(seconds, plan.seconds, 1e-9)
end

TestRefusal = {}

function TestRefusal:test_what_cannot_fit_is_refused_with_the_numbers()
  local p = pipeline(10000000, sc.solver.ridge{ lambda = 1e-4, form = "primal" })
  local before = core.memory(true)
  lu.assertErrorMsgMatches(".*pipeline:fit: the fit needs %d+ TB of memory, and .* are left .*",
    p.fit, p, ds)
  lu.assertTrue(select(2, core.memory()) - before < 200e6)
  lu.assertNil(p.fitted)
end

function TestRefusal:test_a_fit_that_fits_is_not_refused()
  lu.assertTrue(pipeline(200):fit(ds).fitted.n == n)
end

TestBadInput = {}

function TestBadInput:test_a_pipeline_without_a_solver_has_no_plan()
  local p = sc.pipeline{ sc.standardize() }
  lu.assertErrorMsgContains("pipeline:plan: the pipeline has no solver", p.plan, p, ds)
end

function TestBadInput:test_only_data_sets_are_planned()
  local p = pipeline(10)
  lu.assertErrorMsgContains("pipeline:plan", p.plan, p, 3)
  lu.assertErrorMsgContains("pipeline:plan", p.plan, p)
end

os.exit(lu.LuaUnit.run(), true)
