-- What sc.solver.erm predicts with losses of logarithms (poisson, gamma): means.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local stepwise = require "stepwise"
local support = require "support"

local x4 = stepwise.x4

-- A count near 0 is like 0, also where the mean divided by it is infinite.
function TestTinyTargets()
  local X = sc.matrix{ { 1 }, { 2 }, { 3 }, { 4 } }
  for _, solver in ipairs{ sc.solver.poisson{ lambda = 1e-3 },
    sc.solver.erm{ loss = sc.loss.poisson(), lambda = 1e-3 } } do
    local weights = {}
    for k, y in ipairs{ 0, 1e-320 } do
      local p = sc.pipeline{ solver }:fit(X, { y, 1e7, 2e7, 1e8 }, { task = "regression" })
      weights[k] = p:weights():get(1, 1)
    end
    lu.assertAlmostEquals(weights[1], weights[2], 1e-4)
    lu.assertTrue(weights[1] > 1)
  end
end

-- Predictions of poisson and gamma are means, in memory, from a stream, in scores of every way, in
-- saved models and in the command; decisions are their logarithms.
function TestPredictionsAreMeans()
  for name, y in pairs{ poisson = stepwise.counts, gamma = stepwise.sizes } do
    local ds = stepwise.data_of(y, "regression", stepwise.heavy)
    local function new()
      return sc.pipeline{ sc.solver.erm{ loss = sc.loss[name](), lambda = 0.01 } }
    end
    local m = new():fit(ds)
    local said = m:predict(x4)
    lu.assertTrue(said == m:decision(x4):map(math.exp))
    lu.assertNil(m:info().note)
    lu.assertEquals(m:score(ds), sc.metrics.r2(said, ds.y))
    lu.assertEquals(m:error(ds), sc.metrics.mse(said, ds.y))
    lu.assertEquals((m:score(ds, { metric = "mae" })), (sc.metrics.mae(said, ds.y)))
    local squares = 0
    for _, fold in ipairs(ds:folds{ k = 3, seed = 5 }) do
      squares = squares + new():fit(fold[1]):error(fold[2])
    end
    local found = new():cv(ds, { folds = 3, seed = 5, score = "mse" }).mean
    lu.assertAlmostEquals(found, squares / 3, 1e-6 * found)
    local page = os.tmpname() .. ".html"
    m:report(page, { data = ds })
    lu.assertStrContains(support.read(page), "Permutation importance")
    os.remove(page)
    os.remove((page:gsub("%.html$", "")))
    lu.assertTrue(require("scullery.pictures.model").judged(m).scores == said)
    local saved = os.tmpname()
    m:save(saved)
    lu.assertTrue(sc.load(saved):predict(x4) == said)
    os.remove(saved)
  end
  local values = stepwise.fit(sc.solver.erm{ loss = sc.loss.quantile{ tau = 0.3 }, lambda = 0.01 },
    stepwise.data_of(stepwise.numbers, "regression", stepwise.heavy))
  lu.assertTrue(values:predict(x4) == values:decision(x4))
end

-- The command predicts and scores means; a stream gives the score of the rows in memory.
function TestTheCommandPredictsMeans()
  local lines, out = { "a,y" }, support.free_path ".csv"
  for i = 1, 60 do lines[#lines + 1] = ("%.17g,%d"):format(x4:get(i, 1), stepwise.counts[i]) end
  local table_path, saved = support.write(nil, table.concat(lines, "\n") .. "\n"), os.tmpname()
  local reading = { target = "y", task = "regression" }
  local ds = sc.data.csv(table_path, reading)
  local p = sc.pipeline{ sc.solver.erm{ loss = sc.loss.poisson{}, lambda = 0.01 } }:fit(ds)
  p:save(saved)
  local status, printed, said = support.scullery(("predict %s %s --format csv -o %s \z
    --score"):format(saved, table_path, out))
  lu.assertEquals(status, 0)
  lu.assertStrContains(printed .. said, ("R2 %.6g"):format(p:score(ds)))
  local first = support.read(out):match "\n([%d.e+-]+)"
  lu.assertAlmostEquals(tonumber(first), p:predict(ds):get(1, 1), 1e-12)
  reading.stream = true
  lu.assertAlmostEquals(p:score(sc.data.csv(table_path, reading)), p:score(ds), 1e-9)
  for _, path in ipairs{ table_path, saved, out } do os.remove(path) end
end

os.exit(lu.LuaUnit.run(), true)
