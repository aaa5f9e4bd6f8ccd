-- Plans: sizes against what fits allocate, growth, refusal, bad input. Seconds depend on the load
-- of the machine: they are not compared.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile "tests/helpers/support.lua"
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

-- The most resident memory of the process during f, as it was before the plan besides.
local function peak_of(f)
  collectgarbage()
  collectgarbage()
  core.memory_left(true)
  core.usage(true)
  f()
  return select(2, core.usage())
end

-- A plan's bytes are between these shares of the peak of its fit. Above the process's own memory,
-- which both have, the fits here take two to ten times as much.
local function assert_bytes(p, rows, about)
  local planned = p:plan(rows)
  local measured = peak_of(function() p:fit(rows) end)
  local ratio = planned.bytes / measured
  lu.assertTrue(ratio > 0.7 and ratio < 1.4, ("%s: planned %.0f MB, measured %.0f MB\n%s"):format(
    about, planned.bytes / 1e6, measured / 1e6, planned))
end

TestBytes = {}

function TestBytes:test_the_sums_of_every_number_type_are_planned()
  for _, dtype in ipairs{ "float64", "float32", "int16", "int8" } do
    assert_bytes(pipeline(2000, nil, { dtype = dtype }), ds, dtype)
  end
end

function TestBytes:test_bits_are_planned_as_bits()
  local signs = { phi = sc.nonlinearity.sign() }
  assert_bytes(pipeline(3000, nil, signs), ds, "bits")
  -- many rows with weights wait until they are counted
  local many = sc.randn{ 60000, 2, seed = 1 }
  assert_bytes(pipeline(2000, nil, signs), sc.dataset{ X = many, y = many:column(1),
    weights = many:column(2):map(function(v) return v > 0 and 1 or 2 end) }, "weighted bits")
end

function TestBytes:test_the_dual_of_more_features_than_rows_is_planned()
  assert_bytes(pipeline(8000), ds:subset(1, 3000), "dual")
end

function TestBytes:test_stored_features_are_planned()
  local p = pipeline(3000, sc.solver.logistic{ max_iterations = 2 })
  local classes = sc.dataset{ X = X, y = ds.y:map(function(v) return v > 0 and 1 or 0 end),
    task = "classification" }
  assert_bytes(p, classes, "stored features")
  local plan = p:plan(classes)
  local stored = 0
  for _, row in ipairs(plan) do if row.what == "stored features" then stored = row.bytes end end
  lu.assertTrue(stored > n * 3000 * 8 and stored < 1.05 * n * 3000 * 8)
end

function TestBytes:test_an_allowance_of_0_stores_nothing()
  local given = { features(500), sc.solver.cg{ lambda = 1e-4 }, allowance = 0 }
  local names = {}
  for _, row in ipairs(sc.pipeline(given):plan(ds)) do names[row.what] = row.bytes end
  lu.assertEquals(names["passes"], 0)
  lu.assertNil(names["stored features"])
end

function TestBytes:test_sparse_rows_are_planned_by_their_entries()
  local p = sc.pipeline{ sc.features{ p = sc.sampler.grid{ gamma = 0.01 },
    phi = sc.nonlinearity.bins(), T = 40, seed = 1 }, sc.solver.cg{ lambda = 1e-4 } }
  local stored = 0
  for _, row in ipairs(p:plan(ds)) do
    if row.what == "stored features" then stored = row.bytes end
  end
  lu.assertTrue(stored >= n * 40 * 4 and stored < n * (40 * 4 + 40), stored)
end

function TestBytes:test_present_memory_is_counted_once()
  local plan = pipeline(500):plan(ds)
  local _, now = core.memory_left()
  lu.assertEquals(plan[1].what, "in use now")
  lu.assertAlmostEquals(plan.bytes, plan[1].bytes + plan.more, 1)
  lu.assertTrue(plan[1].bytes > 0.5 * now and plan[1].bytes < 2 * now)
end

function TestBytes:test_rows_of_a_function_leave_their_matrices()
  local rows = sc.data.rows{ n = 200000, d = 10, read = function(first, count)
    local made = sc.randn{ count, 10, seed = first }
    return made, made:column(1):copy()
  end }
  assert_bytes(pipeline(200), rows, "rows of a function")
  local matrix = sc.dataset{ X = sc.randn{ 200000, 10, seed = 1 }, y = sc.randn{ 200000, 1 } }
  local more = pipeline(200):plan(rows).more - pipeline(200):plan(matrix).more
  lu.assertTrue(more > 17.6e6 and more < 35e6, more) -- 200000 x 11 numbers, and a block
end

-- Features that each read one of few values are summed by these values, in 2 parts of all rows.
function TestBytes:test_sums_by_the_levels_of_columns_have_parts()
  local levels = sc.randn{ 20000, 5, seed = 3 }:map(function(v) return v > 0 and 1 or 0 end)
  local y = levels:column(1) + sc.randn{ 20000, 1, seed = 4 }
  local p = sc.instantiation{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(),
    K = sc.kernel.gaussian{ width = 1 } }
  assert_bytes(sc.pipeline{ p:features{ T = 1500, seed = 1 }, sc.solver.ridge{ lambda = 1e-2,
    penalty = "rkhs" } }, sc.dataset{ X = levels, y = y }, "levels")
end

-- The order is that of the first rows alone, on which passes are timed.
function TestBytes:test_solvers_that_order_the_rows_are_timed_on_some_of_them()
  local many = sc.dataset{ X = sc.randn{ 30000, 4, seed = 1 }, task = "classification",
    y = sc.randn{ 30000, 1, seed = 2 }:map(function(v) return v > 0 and 1 or 0 end) }
  local p = pipeline(200, sc.solver.hinge{ lambda = 1e-2 }, { phi = sc.nonlinearity.sign() })
  lu.assertEquals(p:plan(many).rows, 30000)
end

function TestBytes:test_several_classes_have_a_function_for_each_pair()
  local function planned(classes)
    local three = sc.dataset{ X = sc.randn{ 3000, 4, seed = 1 }, task = "classification",
      y = sc.rand{ 3000, 1, seed = 2 }:map(function(v) return math.floor(classes * v) end) }
    return sc.pipeline{ sc.solver.svm{ C = 1, gamma = 1, cache = 1 } }:plan(three).more
  end
  lu.assertTrue(planned(30) - planned(3) > 1.5 * 8 * 3000 * (435 - 3)) -- twice, as rows are kept
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
  local before = core.memory(true)
  pipeline(1000000):plan(ds)
  lu.assertTrue(select(2, core.memory()) - before < 200e6)
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

TestSearch = {}

local function searched(lambdas)
  return pipeline(300, sc.solver.ridge{ lambda = sc.choose(lambdas) })
end

-- The row of a plan's table, or nil.
local function row_of(plan, what)
  for _, row in ipairs(plan) do if row.what == what then return row end end
end

function TestSearch:test_folds_and_values_are_counted()
  local p = searched{ 1e-6, 1e-4, 1e-2 }
  local few, many = p:plan(ds, { folds = 2 }), p:plan(ds, { folds = 8 })
  lu.assertTrue(many.more > few.more)
  lu.assertAlmostEquals(row_of(many, "solver").flops / row_of(few, "solver").flops, 4, 1e-6)
  lu.assertAlmostEquals(row_of(many, "sums").flops, row_of(few, "sums").flops, 1)
  local one = searched{ 1e-6, 1e-4 }:plan(ds, { folds = 2 })
  lu.assertAlmostEquals(row_of(few, "solver").flops / row_of(one, "solver").flops, 1.5, 1e-6)
end

function TestSearch:test_searched_widths_each_need_their_sums()
  local function plan(sigma)
    return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = sigma },
      phi = sc.nonlinearity.fourier(), T = 200, seed = 1 },
      sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 } } }:plan(ds, { folds = 3 })
  end
  local one, three = plan(1), plan(sc.choose{ 0.5, 1, 2 })
  lu.assertAlmostEquals(row_of(three, "sums").flops, 3 * row_of(one, "sums").flops, 1)
end

function TestSearch:test_stages_and_numbers_of_parameters_may_be_searched()
  local p = sc.pipeline{ sc.choose{ sc.standardize(), sc.add_bias() },
    sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.fourier(),
      T = sc.choose{ 50, 2000 }, seed = 1 },
    sc.choose{ sc.solver.ridge{ lambda = 1e-3 }, sc.solver.cg{ lambda = 1e-3 } } }
  lu.assertTrue(p:plan(ds, { holdout = 0.2 }).flops > 2 * n * 2000 ^ 2)
end

-- Sizes of the second width are those of the first: sums by levels for both.
function TestSearch:test_all_runs_are_summed_by_levels()
  local levels = sc.randn{ 8000, 5, seed = 3 }:map(function(v) return v > 0 and 1 or 0 end)
  local rows = sc.dataset{ X = levels, y = levels:column(1) + sc.randn{ 8000, 1, seed = 4 } }
  local function sums(sigma)
    return row_of(sc.pipeline{ sc.features{ p = sc.sampler.threshold{ sigma = sigma },
      phi = sc.nonlinearity.sign(), K = sc.kernel.gaussian{ width = 1 }, T = 800, seed = 1 },
      sc.solver.ridge{ lambda = sc.choose{ 1e-2, 1e-1 }, penalty = "rkhs" } }:plan(rows,
      { folds = 3 }), "sums").bytes
  end
  local one, two = sums(1), sums(sc.choose{ 1, 1.5 })
  lu.assertTrue(two < 1.2 * one, ("%g %g"):format(one, two))
end

function TestSearch:test_outer_folds_repeat_all()
  local p = searched{ 1e-6, 1e-4 }
  local once, nested = p:plan(ds, { folds = 3 }), p:plan(ds, { folds = 3, outer = 4 })
  lu.assertAlmostEquals(nested.flops / once.flops, 5, 1e-6)
end

function TestSearch:test_estimates_take_one_fit()
  local p = searched{ 1e-6, 1e-4 }
  lu.assertTrue(p:plan(ds, { folds = "gcv" }).flops > 0)
  lu.assertNil(row_of(p:plan(ds, { folds = "gcv" }), "judging"))
end

TestSolvers = {}

local classes = sc.dataset{ X = X:slice(1, 500), y = ds.y:slice(1, 500):map(function(v)
  return v > 0 and 1 or 0
end), task = "classification" }

function TestSolvers:test_every_solver_has_a_plan()
  local count = 0
  for name in pairs(sc.solver) do
    count = count + 1
    local solver = sc.solver[name]()
    local p = sc.pipeline{ sc.features{ K = sc.kernel.gaussian{ width = 1 },
      p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.fourier(), T = 40, seed = 1 },
      solver }
    local plan = p:plan(classes)
    lu.assertTrue(plan.more > 0 and plan.more < 1e9, name)
    lu.assertTrue(plan.flops > 0 and plan.flops < 1e12, name)
    lu.assertTrue(plan.seconds > 0 and plan.seconds < 1e4, name)
  end
  lu.assertTrue(count >= 14)
end

function TestSolvers:test_typical_numbers_are_told()
  lu.assertStrContains(pipeline(50, sc.solver.cg{ lambda = 1e-3 }):plan(ds).note, "typical")
  local limited = pipeline(50, sc.solver.logistic{ max_iterations = 7 }):plan(classes)
  lu.assertStrContains(limited.note, "7 sweeps over the rows, the limit max_iterations")
end

-- Where the time depends on the rows, by the time of a model of some of them.
function TestSolvers:test_models_are_tried_on_the_first_rows()
  local plan = require "scullery.model.plan"
  local signs = sc.dataset{ X = X, y = ds.y:map(function(v) return v > 0 and 1 or 0 end),
    task = "classification" }
  local p = sc.pipeline{ sc.solver.adaboost{ stumps = 20 } }
  local t = plan.sizes(p, signs, { seconds = true })
  lu.assertEquals(t.modelled, n // 4)
  lu.assertTrue(t.modelling > 0 and t.power >= 1 and t.power <= 1.7, t.power)
  for _, part in ipairs(plan.parts(t, true)) do
    if part.what == "solver" then
      lu.assertAlmostEquals(part.seconds, t.modelling * 4 ^ t.power, 1e-12)
    end
  end
  lu.assertEquals(plan.sizes(p, signs, {}).modelled, 0)
end

-- Support vectors are few where classes lie apart, and most rows where labels are noise: the rows
-- that models of the first rows keep tell which.
function TestSolvers:test_models_that_keep_more_rows_take_more_memory()
  local function planned(label)
    return sc.pipeline{ sc.solver.svm{} }:plan(sc.dataset{ X = X, y = label:map(function(v)
      return v > 0 and 1 or 0
    end), task = "classification" })
  end
  local few, many = planned(X:column(1)), planned(sc.randn{ n, 1, seed = 9 })
  local expected = tonumber(few.note:match "^(%S+) support vectors are expected")
  lu.assertTrue(expected > 0 and expected < n / 3, few.note)
  lu.assertTrue(many.more > 1.2 * few.more, ("%g %g"):format(few.more, many.more))
end

-- By conjugate gradients each digit of the tolerance takes as many sweeps.
function TestSolvers:test_sweeps_depend_on_the_tolerance()
  local function note(tolerance, most)
    return pipeline(50, sc.solver.cg{ lambda = 1e-3, tolerance = tolerance,
      max_iterations = most }):plan(ds).note
  end
  lu.assertStrContains(note(1e-4), "30 sweeps")
  lu.assertStrContains(note(1e-8), "60 sweeps")
  lu.assertStrContains(note(1e-8, 7), "7 sweeps")
end

function TestSolvers:test_choices_from_the_data_are_planned()
  local open = pipeline(50, sc.solver.ridge()):plan(ds)
  lu.assertTrue(row_of(open, "choosing").flops > 0)
  lu.assertNil(row_of(pipeline(50):plan(ds), "choosing"))
end

TestRows = {}

function TestRows:test_a_plan_of_generated_rows_makes_only_the_first()
  local most = 0
  local rows = sc.data.rows{ n = 1000000, d = 5, read = function(first, count)
    most = math.max(most, first + count - 1)
    local made = sc.randn{ count, 5, seed = first }
    return made, made:column(1):copy()
  end }
  lu.assertEquals(pipeline(100):plan(rows).rows, 1000000)
  lu.assertTrue(most <= 4096, most)
end

-- Ctrl-C while rows are read for a plan, also for the trial fits of a solver, ends it.
function TestRows:test_an_interrupt_ends_a_plan()
  for _, p in ipairs{ sc.pipeline{ sc.solver.adaboost{ stumps = 5 } }, pipeline(20) } do
    local function plan(at)
      local calls = 0
      local rows = sc.data.rows{ n = n, d = 3, classes = { 0, 1 }, read = function(first, count)
        calls = calls + 1
        if calls == at then core.interrupt() end
        local made = sc.randn{ count, 3, seed = first }
        return made, made:column(1):map(function(v) return v > 0 and 1 or 0 end)
      end }
      local ok, message = pcall(p.plan, p, rows)
      return calls, ok, message
    end
    local calls, planned = plan()
    lu.assertTrue(planned)
    lu.assertTrue(calls > 5, calls)
    for at = 1, calls do
      local _, ok, message = plan(at)
      lu.assertFalse(ok, at)
      lu.assertStrContains(message, "interrupted!")
    end
  end
end

function TestRows:test_matrices_are_planned_as_they_are_fitted()
  lu.assertEquals(pipeline(100):plan(X, ds.y).rows, n)
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

function TestRefusal:test_rounds_that_keep_rows_are_refused()
  local p = pipeline(1000, sc.solver.boosting{ rounds = 1000000 }) -- of knn, which keeps all rows
  local many = sc.dataset{ X = sc.randn{ 2000, 2, seed = 1 }, y = sc.randn{ 2000, 1, seed = 2 },
    task = "regression" }
  lu.assertErrorMsgMatches(".*the fit needs %d+ TB of memory, and .* are left %(solver %d+ TB, .*",
    p.fit, p, many)
end

function TestRefusal:test_a_fit_that_fits_is_not_refused()
  lu.assertTrue(pipeline(200):fit(ds).fitted.n == n)
end

function TestRefusal:test_a_fit_that_keeps_its_sums_is_refused()
  local p = pipeline(10000000, sc.solver.ridge{ lambda = 1e-4, form = "primal" })
  lu.assertErrorMsgMatches(".*pipeline:fit: the fit needs 1.2 PB of memory, and .* are left .*",
    p.fit, p, ds, { sums = true })
  lu.assertNil(p.fitted)
  lu.assertTrue(pipeline(50):fit(ds, { sums = true }).fitted.n == n)
end

function TestRefusal:test_a_search_is_refused()
  local function huge(T)
    return pipeline(T, sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 }, form = "primal" })
  end
  local p, message = huge(10000000), ".*pipeline:search: the search needs .* PB of memory, and .*"
  lu.assertErrorMsgMatches(message, p.search, p, ds, { folds = 3 })
  lu.assertErrorMsgMatches(message, p.search, p, ds, { holdout = 0.2 })
  local some = huge(sc.choose{ 50, 10000000 })
  lu.assertErrorMsgMatches(message, some.search, some, ds, { folds = 3 })
  lu.assertTrue(huge(50):search(ds, { folds = 3 }).fitted.n == n)
end

function TestRefusal:test_a_stage_to_choose_is_refused()
  local p = sc.pipeline{ sc.choose{ features(50), features(10000000) },
    sc.solver.ridge{ lambda = 1e-3, form = "primal" } }
  lu.assertErrorMsgMatches(".*pipeline:search: the search needs .* PB of memory, and .*",
    p.search, p, ds, { folds = 3 })
end

TestAuto = {}

function TestAuto:test_it_is_the_plan_of_the_largest_number_of_parameters()
  local plan = pipeline("auto"):plan(ds)
  lu.assertEquals({ plan.T, plan.features }, { 6400, 6400 })
  lu.assertStrContains(plan.note, 'T = "auto" is at most 6400 here; growth that ends with T = 400')
  lu.assertTrue(plan.flops > pipeline(6400):plan(ds).flops + pipeline(3200):plan(ds).flops)
  -- A plan counts what is in use, of which a sanitizer keeps much that was released.
  collectgarbage()
  lu.assertTrue(support.sanitized or plan.bytes >= pipeline(6400):plan(ds).bytes * 0.9)
end

function TestAuto:test_it_ends_at_the_number_of_rows()
  lu.assertEquals(pipeline("auto"):plan(ds:subset(1, 300)).T, 400)
  lu.assertEquals(pipeline("auto"):plan(ds:subset(1, 1000)).T, 1600)
end

function TestAuto:test_a_budget_ends_it()
  local p = pipeline("auto", sc.solver.ridge())
  local less = p:plan(ds, { budget = { bytes = 1e8 } })
  lu.assertTrue(less.T >= 400 and less.T < 6400 and less.more < 1.3e8, tostring(less))
  lu.assertEquals(p:plan(ds, { budget = { seconds = 1e-9 } }).T, 400)
  lu.assertEquals(p:plan(ds, { budget = { seconds = 1e9 } }).T, 6400)
  lu.assertErrorMsgContains("pipeline:plan: option 'budget' got", p.plan, p, ds, { budget = 3 })
end

function TestAuto:test_a_search_of_it_has_a_plan()
  local p = pipeline("auto", sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 } })
  lu.assertEquals(p:plan(ds:subset(1, 300), { folds = 2 }).features, 400)
end

TestBadInput = {}

function TestBadInput:test_a_pipeline_without_a_solver_has_no_plan()
  local p = sc.pipeline{ sc.standardize() }
  lu.assertErrorMsgContains("pipeline:plan: the pipeline has no solver", p.plan, p, ds)
end

function TestBadInput:test_options_are_those_of_a_search()
  local p = searched{ 1e-6, 1e-4 }
  lu.assertErrorMsgContains("pipeline:plan: option 'folds' got 1; it takes", p.plan, p, ds,
    { folds = 1 })
  lu.assertErrorMsgContains("pipeline:plan: unknown option 'fold'", p.plan, p, ds, { fold = 2 })
  lu.assertErrorMsgContains("'holdout' and 'folds' are two ways", p.plan, p, ds,
    { folds = 3, holdout = 0.1 })
  local fit = pipeline(50)
  lu.assertErrorMsgContains("pipeline:plan: unknown option 'folds': no option", fit.plan, fit, ds,
    { folds = 3 })
end

function TestBadInput:test_only_data_sets_are_planned()
  local p = pipeline(10)
  lu.assertErrorMsgContains("pipeline:plan", p.plan, p, 3)
  lu.assertErrorMsgContains("pipeline:plan", p.plan, p)
end

os.exit(lu.LuaUnit.run(), true)
