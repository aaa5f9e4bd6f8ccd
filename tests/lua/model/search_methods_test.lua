-- Searches by successive halving and by Bayesian optimisation: their cells are those of the grid,
-- or of a cross-validation of the same options.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local n = 1000
local X = sc.randn{ n, 3, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + sc.randn{ n, 1, seed = 2 } * 0.2
local ds = sc.dataset{ X = X, y = y }
local signs = sc.dataset{ X = X, y = ds.y:map(function(v) return v > 0 and 1 or 0 end),
  task = "classification" }

local function searched(count, solver)
  return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{
    sigma = sc.choose.log{ 0.05, 5, count = count } }, phi = sc.nonlinearity.fourier(), T = 40,
    seed = 1 }, solver or sc.solver.ridge{ lambda = sc.choose.log{ 1e-5, 1, count = count } } }
end

function TestHalvingJudgesTheLastCellsAsTheGrid()
  local of, grid = {}, searched(5):search(ds, { folds = 3 })
  for _, cell in ipairs(grid.table) do
    of[cell.choice["sampler.sigma"] .. " " .. cell.choice["solver.lambda"]] = cell
  end
  local found = searched(5):search(ds, { folds = 3, method = "halving" })
  lu.assertEquals(#found.table, 4) -- 15 % of 25
  for _, cell in ipairs(found.table) do
    local same = of[cell.choice["sampler.sigma"] .. " " .. cell.choice["solver.lambda"]]
    lu.assertEquals(cell.mean, same.mean)
    lu.assertEquals(cell.folds, same.folds)
  end
  lu.assertTrue(found.table.best.mean <= grid.table.best.mean * 1.02)
  lu.assertEquals(tostring(found.choice), tostring(grid.choice))
  lu.assertStrContains(tostring(found.table),
    "halving of 25 cells: 25 on 200 rows, 13 on 250 rows; these on all")
  support.in_folder(function(folder)
    found:save(folder .. "/m")
    lu.assertEquals(sc.load(folder .. "/m").table.how, found.table.how)
  end)
end

-- Stages, parameters and holdouts; a set of few rows is searched whole.
function TestHalvingOfOtherChoices()
  local p = sc.pipeline{ sc.choose{ sc.standardize(), sc.normalize() }, sc.features{ p =
    sc.sampler.gaussian{ sigma = sc.choose{ 0.3, 1 } }, phi = sc.nonlinearity.fourier(),
    T = sc.choose{ 20, 40 }, seed = 1 }, sc.solver.logistic{ lambda = sc.choose{ 1e-3, 1e-2 } } }
  local found = p:search(signs, { method = "halving", holdout = 200 })
  lu.assertEquals(#found.table, 3)
  lu.assertTrue(found:score(signs) > 0.85)
  lu.assertEquals(#searched(3):search(ds:subset(1, 300), { method = "halving" }).table, 9)
  lu.assertEquals(#searched(3):search(ds, { method = "halving", folds = 220 }).table, 2)
end

function TestBayesJudgesAsCrossValidation()
  local found = searched():search(ds, { folds = 3, method = "bayes", draws = 12, seed = 4 })
  lu.assertEquals(#found.table, 12)
  for _, at in ipairs{ 1, 12 } do
    local choice = found.table[at].choice
    local same = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{
      sigma = choice["sampler.sigma"] }, phi = sc.nonlinearity.fourier(), T = 40, seed = 1 },
      sc.solver.ridge{ lambda = choice["solver.lambda"] } }:cv(ds, { folds = 3, seed = 4,
      score = "loss" })
    lu.assertAlmostEquals(found.table[at].mean, same.mean, 1e-9)
  end
  lu.assertTrue(found.table.best.mean < 1.05 * searched(7):search(ds, { folds = 3,
    seed = 4 }).table.best.mean)
  lu.assertStrContains(tostring(found.table), "Bayesian optimisation: 12 values of the score")
end

-- Lists are tried once for each value; a larger score is better; nested searches.
function TestBayesOfLists()
  local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose{ 1, 0.01, 0.1 } },
    phi = sc.nonlinearity.fourier(), T = 30, seed = 1 }, sc.solver.logistic{
    lambda = sc.choose{ 1e-3, 1 } } }
  local found = p:search(signs, { folds = 2, method = "bayes", score = "auc", outer = 2,
    draws = 5 })
  lu.assertEquals(#found.table, 5)
  for _, cell in ipairs(found.table) do
    lu.assertTrue(cell.mean <= found.table.best.mean)
  end
  lu.assertEquals(#found.table.outer.folds, 2)
  -- fewer than the first points of the optimisation
  lu.assertEquals(#p:search(signs, { folds = 2, method = "bayes", draws = 2 }).table, 2)
end

function TestBayesOfARangeThatFalls()
  local p = sc.pipeline{ sc.solver.ridge{ lambda = sc.choose.log{ 1, 1e-5 } } }
  local found = p:search(ds, { folds = 2, method = "bayes", draws = 3 })
  lu.assertEquals(#found.table, 3)
  for _, cell in ipairs(found.table) do
    lu.assertTrue(cell.choice["solver.lambda"] >= 1e-5 and cell.choice["solver.lambda"] <= 1)
  end
end

-- An error stops the search, and a second call continues it.
function TestACheckpointContinues()
  for _, method in ipairs{ "halving", "bayes" } do
    local given = { folds = 2, method = method, draws = method == "bayes" and 6 or nil }
    local plain = searched(3):search(ds, given)
    support.in_folder(function(folder)
      local reports = 0
      given.checkpoint, given.every = folder .. "/c", 0
      given.progress = function()
        reports = reports + 1
        if reports == 15 then error "stop" end -- of some 50 of halving
      end
      support.fails({ "stop" }, function() searched(3):search(ds, given) end)
      given.progress = nil
      lu.assertEquals(tostring(searched(3):search(ds, given).table), tostring(plain.table))
    end)
  end
end

function TestSentences()
  support.fails({ "method = \"halving\" draws parts of the rows", "folds = \"time\" is given" },
    function() searched(3):search(ds, { method = "halving", folds = "time" }) end)
  support.fails({ "a stage is sc.choose: method = \"halving\" compares stages too" }, function()
    sc.pipeline{ sc.choose{ sc.standardize(), sc.normalize() }, sc.solver.ridge{ lambda = 1 } }
      :search(ds, { method = "bayes" })
  end)
  support.fails({ "method = \"bayes\" chooses cells by the scores of others" }, function()
    searched(3):plan(ds, { method = "bayes" })
  end)
  support.fails({ "option 'method' got \"half\"" }, function()
    searched(3):search(ds, { method = "half" })
  end)
end

os.exit(lu.LuaUnit.run(), true)
