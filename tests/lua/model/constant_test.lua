--- A fit says so where its model is worse on the training rows than a constant.
-- luacheck: globals TestConstant
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"

TestConstant = {}

local function printed(p, ds)
  local said = support.stderr_of(function() p:fit(ds) end)
  return said, p
end

-- n rows of one column; y = x + away.
local function line(n, away, given)
  local X = sc.randn{ n, 1, seed = 1 }
  local all = { X = X, y = X + away, task = "regression" }
  for name, value in pairs(given or {}) do all[name] = value end
  return sc.dataset(all)
end

-- Labels of which two thirds are "b"; the only column is 1 in all rows.
local function labels(n, weights)
  local X, y = sc.ones(n, 1), {}
  for i = 1, n do y[i] = i % 3 == 0 and "a" or "b" end
  return sc.dataset{ X = X, y = y, weights = weights }
end

local function through_zero(lambda) return sc.solver.ridge{ lambda = lambda, intercept = false } end

function TestConstant:test_a_regression_without_its_intercept_is_told()
  for _, n in ipairs{ 100, 3000 } do
    local said, p = printed(sc.pipeline{ through_zero(1e-3) }, line(n, 50))
    lu.assertStrContains(said, "always saying the mean")
    lu.assertStrContains(tostring(p), "always saying the mean")
  end
  lu.assertEquals(printed(sc.pipeline{ through_zero(1e-3) }, line(100, 0)), "")
  lu.assertEquals(printed(sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }, line(100, 50)), "")
end

-- Rows of a data set in memory, which are read again for each pass.
local function stream(ds)
  return sc.data.rows{ n = #ds, d = 1, task = ds.task, classes = ds.classes,
    read = function(first, count)
      return ds.X:slice(first, first + count - 1, 1, 1), ds.y:slice(first, first + count - 1, 1, 1)
    end }
end

function TestConstant:test_rows_that_stream_are_judged_too()
  for _, n in ipairs{ 100, 3000 } do
    lu.assertStrContains(printed(sc.pipeline{ through_zero(1e-3) }, stream(line(n, 50))),
      "always saying the mean")
  end
  lu.assertEquals(printed(sc.pipeline{ through_zero(1e-3) }, stream(line(3000, 0))), "")
  local rows, y = {}, {} -- the first rows, all of class 2, do not speak for the others
  for i = 1, 3000 do rows[i], y[i] = { i > 2000 and 1 or -1 }, i > 2000 and 1 or 2 end
  local sorted = sc.dataset{ X = rows, y = y, task = "classification" }
  lu.assertEquals(printed(sc.pipeline{ through_zero(1e-3) }, stream(sorted)), "")
  for i = 1, 3000 do rows[i], y[i] = { i % 4 == 0 and 1 or -0.1 }, i % 4 == 1 and 1 or 2 end
  local mixed = sc.dataset{ X = rows, y = y, task = "classification" }
  lu.assertStrContains(printed(sc.pipeline{ through_zero(1e-3) }, stream(mixed)),
    "always saying 2 is on 75 %")
end

function TestConstant:test_targets_count_as_they_were_given_not_as_they_are_learnt()
  local ds = line(100, 50)
  lu.assertEquals(printed(sc.pipeline{ through_zero(1e-3), target = "standardize" }, ds), "")
end

-- Scores of class weights that favour the rare class: the model says "a" of all rows.
function TestConstant:test_labels_count_with_the_weights_of_the_fit()
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }
  lu.assertEquals(printed(p, labels(90)), "")
  local heavy = {}
  for i = 1, 90 do heavy[i] = i % 3 == 0 and 5 or 1 end
  lu.assertEquals(printed(p, labels(90, heavy)), "")
end

-- Those that are looked at first may all be rows that do not count.
function TestConstant:test_rows_without_weight_show_nothing()
  for most, case in pairs{ [512] = { 3000, through_zero(1e-3) },
    [64] = { 300, sc.solver.kernel_ridge{ kernel = sc.kernel.linear(), lambda = 10 } } } do
    local n, w = case[1], {}
    for i = 1, n do w[i] = 1 end
    for k = 1, most do w[1 + (k - 1) * n // most] = 0 end
    lu.assertStrContains(printed(sc.pipeline{ case[2] }, line(n, 50, { weights = w })),
      "always saying the mean")
  end
end

function TestConstant:test_labels_worse_than_the_largest_class_are_told()
  local rows, y = {}, {}
  for i = 1, 80 do rows[i], y[i] = { i % 4 == 0 and 1 or -0.1 }, i % 4 == 1 and "a" or "b" end
  local said = printed(sc.pipeline{ through_zero(1e-3) }, sc.dataset{ X = rows, y = y })
  lu.assertStrContains(said, "the model is right on 50 %")
  lu.assertStrContains(said, 'always saying "b" is on 75 %')
end

os.exit(lu.LuaUnit.run())
