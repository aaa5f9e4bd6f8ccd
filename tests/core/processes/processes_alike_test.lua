-- Processes that do not do the same, or not with the same data, models and plugins, end with a
-- sentence.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local several = require "several"
local support = require "support"

local succeeds, fails, fit = several.succeeds, several.fails, several.fit

function TestDifferentWaysEndWithASentence()
  fails({ "different ways", "50", "51" }, 3, fit .. [[
    sc.pipeline{ map(sc.processes.rank == 1 and 50 or 51), sc.solver.ridge{ lambda = 1 } }
      :fit(X, X:column(1))]])
  fails({ "different ways", "the end of the script" }, 3, fit .. [[
    if sc.processes.rank == 2 then os.exit(0) end
    sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]])
  -- caught, it is said again by what follows
  fails({ "different ways", "50", "51" }, 2, fit .. [[
    pcall(function()
      sc.pipeline{ map(50 + sc.processes.rank), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))
    end)
    sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]])
end

-- Calls of the same shapes: rows, targets, weights, components and options are compared too.
function TestUnlikeFitsEndWithASentence()
  local code = fit .. [[
    local given = { rows = 1, y = 1, weights = 1, sigma = 1, seed = 1, stage = 0, lambda = 1e-3,
      path = 1e-3, folds = 1 }
    given.%s = sc.processes.rank == 1 and 2 or given.%s
    X = sc.randn{ 9000, 3, seed = given.rows }
    local weights = sc.ones(9000, 1)
    weights:set(9000, 1, given.weights)
    local ds = sc.dataset{ X = X, y = X:column(1) * given.y, weights = weights }
    local p = sc.pipeline{ sc.stage.random_projection{ k = 4, seed = given.stage },
      sc.features{ p = sc.sampler.gaussian{ sigma = given.sigma }, T = 30, seed = given.seed,
        phi = sc.nonlinearity.fourier() }, sc.solver.%s }
    p:%s(ds, { %s })]]
  local function differ(option, words, solver, verb, options)
    fails({ "different ways", table.unpack(words) }, 2, code:format(option, option,
      solver or "ridge{ lambda = given.lambda }", verb or "fit", options or ""))
  end
  for _, option in ipairs{ "rows", "y" } do
    differ(option, { "process 1 (", "data of 9000 x 3 (" })
  end
  for _, option in ipairs{ "weights", "sigma", "seed", "stage" } do
    differ(option, { "process 1 (", "a fit to 9000 rows (digest ", "30 features (digest " })
  end
  for _, name in ipairs{ "ridge", "cg", "lasso" } do
    differ("lambda", { ("solver.%s{ lambda = 0.001"):format(name),
      ("solver.%s{ lambda = 2"):format(name) }, name .. "{ lambda = given.lambda }")
  end
  differ("path", { "solver.ridge{" }, "ridge{ lambda = sc.choose{ 1, given.path } }", "search",
    "folds = 2")
  differ("folds", { "a fit to 9000 rows (digest " }, "ridge{ lambda = sc.choose{ 1, 2 } }",
    "search", "folds = 2, seed = given.folds")
end

-- One number of one row; lists of options to their end; and fits without a solver.
function TestEachNumberIsCompared()
  local apart = fit .. "X:set(4321, 2, sc.processes.rank)\n"
  for _, stages in ipairs{ "map(20), sc.solver.ridge()", "sc.standardize()",
    "map(9), sc.pca{ k = 2 }" } do
    fails({ "different ways", "data of " }, 2, apart .. "sc.pipeline{ " .. stages
      .. " }:fit(X, X:column(1))")
  end
  fails({ "different ways", "solver.quantile" }, 2, fit .. [[
    local tau = {}
    for k = 1, 60 do tau[k] = k / 61 end
    tau[60] = tau[60] + 1e-3 * sc.processes.rank
    sc.pipeline{ sc.solver.quantile{ tau = tau } }:fit(X, X:column(1))]])
end

-- A function makes rows for the part of each process alone: some of them are compared, and called
-- for twice.
function TestRowsOfAFunction()
  local code = [[
    local sc = require "scullery"
    local rank, count = sc.processes.rank, sc.processes.count
    local X, highest, calls = sc.randn{ 40000, 3, seed = rank * %s + 1 }, 0, 0
    local ds = sc.data.rows{ n = 40000, d = 3, read = function(first, number)
      calls = calls + 1
      highest = number > 10 and math.max(highest, first + number - 1) or highest
      local at = %s and calls > 2 and (first + calls) %% 30000 + 1 or first
      local block = X:slice(at, at + number - 1)
      return block, block:column(1):map(function(v) return v > 0 and 1 or 2 end)
    end, task = "classification", classes = { 1, 2 } }
    for _, solver in ipairs{ sc.solver.ridge{ lambda = 1e-3 }, sc.solver.cg{ lambda = 1e-3 } } do
      local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
        T = 20, phi = sc.nonlinearity.fourier(), seed = 1 }, solver }
      highest = 0
      p:fit(ds)
      if count == 2 and rank == 0 and _ == 1 then assert(highest < 30000, highest) end
      print(("%%a"):format(p:decision(sc.ones(1, 3)):get(1, 1)), p:score(ds))
    end]]
  local one = succeeds(1, code:format(0, false))
  for _, count in ipairs{ 2, 3, 7 } do
    lu.assertEquals(succeeds(count, code:format(0, false)), one)
  end
  fails({ "pipeline:fit: the processes went different ways", "rows of a function, 40000 x 3 (",
    "with the same options and rows" }, 3, code:format("(rank == 1 and 1 or 0)", false))
  fails({ "does not return the same rows when it is called again with the same 'first'" }, 2,
    code:format(0, true))
end

-- Process 0 alone writes a file, and all read it.
function TestAFileOfTheScriptIsReadOnceItIsWritten()
  support.in_folder(function(folder)
    local path = folder .. "/rows.csv"
    local _, out = succeeds(3, ([[
      local file = io.open(%q, "w")
      file:write "a,b,y\n"
      for i = 1, 2000 do file:write(i, ",", i * i, ",", i %% 7, "\n") end
      file:close()
      print(#sc.data.csv(%q, { target = "y", quiet = true }))]]):format(path, path))
    if out then lu.assertStrContains(out, "2000") end
  end)
end

function TestUnlikePredictionsEndWithASentence()
  support.in_folder(function(folder)
    succeeds(1, fit .. ([[
      for seed = 0, 1 do
        local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 20,
          phi = sc.nonlinearity.fourier(), seed = seed }, sc.solver.ridge{ lambda = 1 } }
        p:fit(X, X:column(1)):save(("%s/%%d.model"):format(seed))
      end]]):format(folder))
    local function predicts(model, rows)
      return ('local rank = require "scullery".processes.rank %s print(("%%a"):format(\z
        sc.load("%s/" .. %s .. ".model"):predict(%s)[10000]))'):format(fit, folder, model, rows)
    end
    lu.assertEquals(succeeds(3, predicts("1", "X")), succeeds(1, predicts("1", "X")))
    fails({ "load: ", "different ways", "the loading of a file (digest " }, 2,
      predicts("rank", "X"))
    fails({ "different ways", "predictions of 10000 rows (digest " }, 2,
      predicts("1", "X + rank"))
    -- few rows are predicted by each process for itself
    succeeds(2, predicts("1", "sc.vcat(X + rank, X):slice(1, 10000)"):gsub("predict%b()%b[]",
      "predict(X:slice(1, 9) + rank)[9]"))
  end)
end

function TestMoreProcessesThanRows()
  local code = [[
    local sc = require "scullery"
    local X = sc.randn{ 5, 2, seed = 1 }
    local p = sc.pipeline{ sc.solver.cg{ lambda = 0.1 } }:fit(X, X:column(1))
    print(p:predict(X)[1], p:predict(X:slice(1, 1))[1])]]
  lu.assertEquals(succeeds(5, code), succeeds(1, code))
  fails({ "pipeline:fit: fewer rows (5) than processes (6, the first on ", "at most 5" }, 6, code)
  fails({ "pipeline:search: fewer rows (5)" }, 7, [[
    local sc = require "scullery"
    local X = sc.randn{ 5, 2, seed = 1 }
    sc.pipeline{ sc.solver.cg{ lambda = sc.choose{ 0.1, 1 } } }:search(sc.dataset{ X = X,
      y = X:column(1) }, { folds = 2 })]])
end

-- Processes that have read different rows, here of a file of each.
function TestFilesThatDiffer()
  support.in_folder(function(folder)
    for rank, last in ipairs{ "3,4", "3,5" } do
      support.write(("%s/%d.csv"):format(folder, rank - 1), "a,y\n1,2\n" .. last .. "\n")
    end
    fails({ "data.csv: the processes went different ways", "data of 2 x 1" }, 2, ([[
      require "scullery".data.csv("%s/" .. require "scullery".processes.rank .. ".csv",
        { quiet = true, target = "y" })]]):format(folder))
  end)
end

-- Each process loads a plugin of its own of the same name.
function TestAPluginOfOtherBytes()
  support.in_folder(function(folder)
    local built <close> = assert(io.open(support.build .. "/plugins/sampler/cauchy.so", "rb"))
    local bytes = built:read "a":gsub("cauchy\0", "cauchz\0")
    for rank, behind in pairs{ [0] = "", "", "another" } do
      support.write(("%s/%d.so"):format(folder, rank), bytes .. behind)
    end
    local code = several.fit .. ([[
      sc.plugin.load("%s/" .. sc.processes.rank .. ".so")
      local p = sc.pipeline{ sc.features{ p = sc.sampler.cauchz{ gamma = 1 }, T = 20, seed = 1,
        phi = sc.nonlinearity.fourier() }, sc.solver.ridge{ lambda = 1 } }
      p:fit(X, X:column(1))
      print "fitted"]]):format(folder)
    lu.assertEquals(several.succeeds(2, code), "fitted\n")
    several.fails({ "process 2 of 3 (", "pipeline:fit: the plugin sampler cauchz, " .. folder ..
      "/2.so, has other bytes than that of process 0 (" }, 3, code)
  end)
end

-- A plugin in place of one that is part of Scullery, in one process alone: another by its path.
function TestAPluginOfOneProcess()
  support.in_folder(function(folder)
    os.execute(("mkdir -p %s/metric; cp %s/plugins/metric/mcc.so %s/metric/mcz.so"):format(folder,
      support.quote(support.build), folder))
    local built <close> = assert(io.open(support.build .. "/plugins/metric/mcc.so", "rb"))
    support.write(folder .. "/metric/mcz.so", (built:read "a":gsub("mcc\0", "mcz\0")))
    for rank = 0, 1 do
      several.fails({ rank == 0 and "process 1 of 2 (" or "mcz" }, 2, several.fit .. ([[
        if sc.processes.rank == %d then sc.plugin.load "%s/metric/mcz.so" end
        local y = X:column(1):map(function(v) return v > 0 and 1 or 2 end)
        local ds = sc.dataset{ X = X, y = y, task = "classification" }
        local p = sc.pipeline{ map(20), sc.solver.ridge{ lambda = 1 } }:fit(ds)
        print(p:score(ds, { metric = "mcz" }))]]):format(rank, folder))
    end
  end)
end

-- The same of a metric, which is no part of the pipeline.
function TestAMetricOfOtherBytes()
  support.in_folder(function(folder)
    local built <close> = assert(io.open(support.build .. "/plugins/metric/mcc.so", "rb"))
    local bytes = built:read "a":gsub("mcc\0", "mcz\0")
    support.write(folder .. "/0.so", bytes)
    support.write(folder .. "/1.so", bytes .. "another")
    local other = "the plugin metric mcz, " .. folder .. "/1.so, has other bytes"
    several.fails({ "process 1 of 2 (", other }, 2, several.fit .. ([[
      sc.plugin.load("%s/" .. sc.processes.rank .. ".so")
      sc.metrics.mcz({ "a", "b", "a" }, { "a", "b", "b" })
      sc.pipeline{ map(20), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]]):format(folder))
    local model = folder .. "/a.model"
    several.succeeds(1, several.fit .. ([[
      local y = X:column(1):map(function(v) return v > 0 and 1 or 2 end)
      local p = sc.pipeline{ map(20), sc.solver.ridge{ lambda = 1 } }
      p:fit(sc.dataset{ X = X, y = y, task = "classification" }):save %q]]):format(model))
    several.fails({ "process 1 of 2 (", other }, 2, several.fit .. ([[
      sc.plugin.load("%s/" .. sc.processes.rank .. ".so")
      local y = X:column(1):map(function(v) return v > 0 and 1 or 2 end)
      local ds = sc.dataset{ X = X, y = y, task = "classification" }
      print(sc.load(%q):score(ds, { metric = "mcz" }))]]):format(folder, model))
  end)
end

os.exit(lu.LuaUnit.run())
