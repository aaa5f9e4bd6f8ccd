-- Sizes from scripts are checked before anything is made of that size.
local lu = require "luaunit"
local core = require "scullery.core"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local fails = support.fails

TestSizes = {}

function TestSizes.test_choices()
  fails({ "choose.range", "'count'", "20000" }, sc.choose.range, { 0, 1, count = 1 << 40 })
  fails({ "choose.log", "'count'" }, sc.choose.log, { 1e-3, 1, count = math.maxinteger })
  local many = {}
  for i = 1, 1e6 do many[i] = i end
  fails({ "choose", "20000", "1000000" }, sc.choose, many)
  lu.assertEquals(#sc.choose.range{ 0.0, 1.0, count = 20000 }.values, 20000)
end

function TestSizes.test_combinations()
  local list = {}
  for i = 1, 200 do list[i] = sc.pca{ k = i } end
  fails({ "pipeline", "8e+06 combinations" }, sc.pipeline,
    { sc.choose(list), sc.choose(list), sc.choose(list), sc.solver.ridge{} })
  local p = sc.pipeline{ sc.pca{ k = sc.choose.range{ 1, 9000, count = 9000 } },
    sc.choose{ sc.standardize(), sc.minmax() }, sc.solver.ridge{ lambda =
    sc.choose.log{ 1e-9, 1, count = 5000 } } }
  local X = sc.randn{ 20, 3 }
  fails({ "pipeline:search", "combinations" }, p.search, p,
    sc.dataset{ X = X, y = X:column(1), task = "regression" })
  local draws = { folds = 2, draws = 1 << 40 }
  fails({ "'draws'" }, p.search, p, sc.dataset{ X = X, y = X:column(1), task = "regression" },
    draws)
end

function TestSizes.test_matrices()
  fails({ "not enough memory for a table" }, function() sc.zeros(10 ^ 9, 0):totable() end)
  for _, make in ipairs{ sc.zeros, sc.ones } do
    fails({ "would take" }, make, 2 ^ 30, 2 ^ 30)
    fails({ "'n'" }, make, 2 ^ 62, 2 ^ 62)
    fails({ "'d'" }, make, 1, math.huge)
  end
  fails({ "would take" }, sc.eye, 2 ^ 30)
  fails({ "would take" }, sc.randn, { 2 ^ 30, 2 ^ 30 })
  fails({ "memory" }, core.permutation, 1000000000, 1)
end

os.exit(lu.LuaUnit.run())
