-- my_plugin against its formula: the mean of -(1 - p)^gamma log p.
-- @start@

sc.plugin.load(plugin_path())
local metric = sc.metrics.my_plugin

-- n random probabilities of three classes, and the classes.
local function random(n, seed)
  local u, v = sc.rand{ n, 3, seed = seed }, sc.rand{ n, 1, seed = seed + 1 }
  local p, y = sc.zeros(n, 3), {}
  for i = 1, n do
    for k = 1, 3 do p:set(i, k, u:get(i, k) / u:row(i):sum()) end
    y[i] = 1 + math.min(2, math.floor(3 * v:get(i, 1)))
  end
  return p, y
end

-- The formula, row by row, with weights w (a list).
local function formula(p, y, gamma, w)
  local sum, total = 0, 0
  for i, k in ipairs(y) do
    sum = sum - w[i] * (1 - p:get(i, k)) ^ gamma * math.log(p:get(i, k))
    total = total + w[i]
  end
  return sum / total
end

function TestFormula()
  local p, y = random(50, 1)
  local w = {}
  for i = 1, 50 do w[i] = i % 4 end
  for _, gamma in ipairs{ 0, 0.5, 2, 5 } do
    lu.assertAlmostEquals(metric(p, y, { gamma = gamma, weights = w }), formula(p, y, gamma, w),
      1e-13)
  end
end

function TestGammaZeroIsTheLogLoss()
  local p, y = random(50, 3)
  lu.assertAlmostEquals(metric(p, y, { gamma = 0 }), sc.metrics.log_loss(p, y), 1e-13)
end

function TestEnds()
  lu.assertEquals(metric(sc.matrix{ { 1, 0 }, { 0, 1 } }, { 1, 2 }), 0)
  lu.assertAlmostEquals(metric(sc.matrix{ { 0, 1 } }, { 1 }), -math.log(1e-15), 1e-9)
end

function TestOptions()
  local p, y = random(5, 5)
  lu.assertErrorMsgContains("'gamma'", metric, p, y, { gamma = -1 })
  lu.assertErrorMsgContains("did you mean 'gamma'", metric, p, y, { gama = 1 })
  lu.assertErrorMsgContains("probabilities lie in [0, 1]", metric, p * 2, y)
end

-- It chooses a model, and p:score gives it with a standard error.
function TestPipeline()
  local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  local p = sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = sc.choose{ 1e-3, 10 } } }
  local best = p:search(train, { score = sc.metric.my_plugin{ gamma = 1 } })
  lu.assertEquals(best.choice["solver.lambda"], 1e-3)
  local value, stderr = best:score(test, { metric = "my_plugin" })
  lu.assertTrue(value > 0 and value < 0.1 and stderr > 0 and stderr < 0.05)
end

os.exit(lu.LuaUnit.run())
