-- Right plugins of kinds that no built-in one is: the checker raises no alarm about them.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local support = require "support"

TestRight = {}

local function passes(title, seeds, only)
  local name = title:match "%.(.*)"
  if title ~= "kernel.wide" then
    sc.plugin.compile{ file = "tests/checker/right/" .. name .. ".c" }
  end
  for _, seed in ipairs(seeds) do
    for _, one in ipairs(sc.plugin.check(title, { seed = seed, only = only,
      in_process = true }).results) do
      lu.assertTrue(one.outcome == "pass" or not only and one.outcome == "skip",
        ("seed %d: %s: %s: %s"):format(seed, one.name, one.outcome, one.text))
    end
  end
end

-- Seeds 347105054 and 681410427: of some data all coefficients are 0.
function TestRight:test_bound_signs_of_numbers_alone()
  passes("solver.nnls", { 1, 2, 347105054, 681410427 })
end

-- Columns with a single number tie.
function TestRight:test_a_greedy_choice() passes("solver.single", { 1, 2, 3, 143373652 }) end

-- It changes some of columns that are alike.
function TestRight:test_a_stage_whose_formula_takes_functions_of_c()
  passes("stage.power", { 1, 2 })
  passes("stage.power", { 1 }, "effects")
  passes("stage.power", { 1 }, "formula")
end

-- Seeds where rounding decides: between choices of rows, between votes, between equal medians; of
-- rows that fit equally well; of limits for each value of a path; of scalars that share a patch.
function TestRight:test_edges_of_choices()
  for _, one in ipairs{ { "solver.trimmed", 102, "definition" },
    { "solver.trimmed", 205, "definition" }, { "solver.svm", 102, "relations" },
    { "solver.boosting", 201, "relations" }, { "solver.lasso", 202, "endings" },
    { "sampler.patches", 207, "addresses" } } do
    local all = sc.plugin.check(one[1], { seed = one[2], only = one[3], in_process = true })
    lu.assertEquals(all.results[1].outcome, "pass", all.results[1].text)
  end
end

-- What tied predictions count.
function TestRight:test_an_option_for_ties() passes("metric.pairs", { 1 }, "effects") end

-- The largest part of S(30, 0.5) lies at 24, 12 spreads from the mean.
function TestRight:test_a_smoothing_far_out() passes("nonlinearity.bump", { 1 }, "smoothing") end

function TestRight:test_a_kernel_that_is_1_at_huge_widths()
  sc.plugin.compile{ kind = "kernel", name = "wide",
    source = "1 / (1 + squared_distance / width / width)",
    options = { width = { default = 1, above = 0, high = 1e150, help = "a length" } } }
  passes("kernel.wide", { 1, 2 }, "cuts")
end

-- Without a bias, and so without what the host draws of it.
function TestRight:test_a_sampler_by_columns_without_a_bias()
  passes("sampler.triangles", { 1 })
  passes("sampler.triangles", { 2 }, "columns")
  local function features(columns) -- of 13 million columns all weights would take 208 GB
    local X = sc.matrix.csr{ columns = columns, starts = { 0, 2, 3, 5 },
      indices = { 0, 4, 1, 2, 3 }, values = { 1, -0.5, 2, 0.3, 1.5 } }
    return sc.features{ p = sc.sampler.triangles(), phi = sc.nonlinearity.tanh(), T = 2000,
      seed = 1 }:fit(X):transform(X)
  end
  lu.assertEquals((features(5) - features(13000000)):abs():max(), 0)
end

-- What is 0 on all numbers that a quadrature sees; and without the kink where that is at 0.
function TestRight:test_a_rectifier_far_out()
  passes("nonlinearity.shifted", { 1 })
  passes("nonlinearity.shifted", { 2 }, "smoothing")
  local path = "tests/checker/right/shifted.c"
  local text = support.read(path):gsub('"shifted"', '"kinked"')
    :gsub("n_breaks = 1", "n_breaks = self->from > 0")
  sc.plugin.compile{ file = support.write(os.tmpname() .. ".c", text) }
  local one = sc.plugin.check("nonlinearity.kinked", { seed = 1, only = "breaks",
    in_process = true }).results[1]
  lu.assertEquals(one.outcome, "fail")
  lu.assertStrContains(one.text, "{from = 0}: phi has a kink")
end

os.exit(lu.LuaUnit.run())
