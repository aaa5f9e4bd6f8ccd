-- scullery sums, merge, update and forget: sums of parts, joined, solved and changed; and mistakes.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"

local SCRIPT = [[
local train = sc.data.csv(arg[1], { quiet = true })
local function pipeline(T)
  return sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
    phi = sc.nonlinearity.fourier(), T = T, seed = 1, dtype = "int16" },
    sc.solver.ridge{ lambda = 1e-3 } }
end
local first = pipeline(20):fit(train, { progress = function() end })
local second = pipeline(30):fit(train)
print(second:score(train))
]]

local X = sc.randn{ 200, 3, seed = 1 }

-- Rows of X as CSV.
local function rows(first, last)
  local lines = { "a,b,c,class" }
  for i = first, last do
    lines[#lines + 1] = ("%.17g,%.17g,%.17g,%s"):format(X:get(i, 1), X:get(i, 2), X:get(i, 3),
      X:get(i, 1) * X:get(i, 2) > 0 and "yes" or "no")
  end
  return table.concat(lines, "\n") .. "\n"
end

-- f(run, folder): run(line, environment) runs `scullery line` in a folder with these files.
local function in_folder(f)
  support.in_folder(function(folder)
    support.write(folder .. "/fit.lua", SCRIPT)
    support.write(folder .. "/rows.csv", rows(1, 200))
    support.write(folder .. "/first.csv", rows(1, 150))
    support.write(folder .. "/more.csv", rows(151, 180))
    support.write(folder .. "/last.csv", rows(181, 200))
    support.write(folder .. "/strange.csv", (rows(1, 2):gsub(",[yn]%a+\n", ",perhaps\n")))
    local binary = assert(io.popen("realpath " .. support.quote(support.binary))):read("l")
    f(function(line, environment)
      return support.shell(("cd %s && %s %s %s"):format(support.quote(folder), environment or "",
        support.quote(binary), line))
    end, folder)
  end)
end

local function succeeds(words, status, out, err)
  lu.assertEquals({ status, err }, { 0, "" })
  for _, word in ipairs(words) do lu.assertStrContains(out, word) end
end

local function fails(words, status, _, err)
  lu.assertEquals(status, 1)
  for _, word in ipairs(words) do lu.assertStrContains(err, word) end
  lu.assertNotStrContains(err, "traceback")
end

function TestSumsOfAScriptAndTheirModel()
  in_folder(function(run, folder)
    for i = 1, 3 do
      succeeds({ ("./fit.1.%d-of-3.sums: sums over"):format(i), "fit.2", "20 features",
        "30 features", "the script ends here", "fit.lua:9: pipeline:score" },
        run(("sums fit.lua --part %d/3 rows.csv"):format(i)))
    end
    succeeds({ "model: sums over 200 rows" }, run("merge fit.2.[231]-of-3.sums -o model"))
    local want = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
      phi = sc.nonlinearity.fourier(), T = 30, seed = 1, dtype = "int16" },
      sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.data.csv(folder .. "/rows.csv", { quiet = true }),
      { sums = true })
    lu.assertTrue(sc.load(folder .. "/model"):decision(X) == want:decision(X))
    fails({ "rows 67 to 133 of 200 are missing", "give --partial" },
      run("merge fit.1.1-of-3.sums fit.1.3-of-3.sums -o other"))
    fails({ "fit.1.1-of-3.sums and fit.2.2-of-3.sums differ in the features" },
      run("merge fit.1.1-of-3.sums fit.2.2-of-3.sums -o other"))
    lu.assertNil(io.open(folder .. "/other"))
    succeeds({ "133 rows", "missing" },
      run("merge --partial --lambda gcv fit.1.1-of-3.sums fit.1.3-of-3.sums -o other"))
    succeeds({ "./fit.1.sums" }, run("sums fit.lua rows.csv"))
    succeeds({ "./fit.1.2-of-4.sums: sums over 50 rows" }, run("sums fit.lua rows.csv",
      "SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4"))
  end)
end

-- A model that an earlier run saved is not replaced: there is no fit that could be saved.
function TestAScriptThatSavesItsModelLeavesTheFile()
  in_folder(function(run, folder)
    support.write(folder .. "/model", "of before")
    support.write(folder .. "/saves.lua", (SCRIPT:gsub("print%(.*", 'first:save("model")')))
    succeeds({ "saves.1.sums", "the script ends here", "pipeline:save" },
      run("sums saves.lua rows.csv"))
    lu.assertEquals(support.read(folder .. "/model"), "of before")
  end)
end

function TestUpdatesAndForgetting()
  in_folder(function(run, folder)
    succeeds({}, run("sums fit.lua first.csv"))
    succeeds({}, run("merge fit.2.sums -o model"))
    succeeds({}, run("merge fit.2.sums -o whole"))
    local before = support.read(folder .. "/model")
    fails({ "first.csv: ", "150 rows of 150" }, run("forget model first.csv"))
    fails({ "last.csv: ", "20 of the 20 rows are not among" }, run("forget model last.csv"))
    fails({ "first.csv: all 150 rows are in the model already", "--again" },
      run("update model more.csv first.csv"))
    fails({ "strange.csv: ", "perhaps" }, run("update model strange.csv"))
    fails({ "nowhere.csv: " }, run("update model nowhere.csv"))
    lu.assertTrue(support.read(folder .. "/model") == before)
    succeeds({ "170 rows" }, run("update model last.csv -o other"))
    lu.assertTrue(support.read(folder .. "/model") == before)
    succeeds({ "model: ", "200 rows" }, run("update model more.csv last.csv"))
    succeeds({ "other: ", "200 rows" }, run("update other more.csv"))
    local function same(a, b)
      lu.assertTrue(sc.load(folder .. a):decision(X) == sc.load(folder .. b):decision(X))
    end
    same("/model", "/other")
    succeeds({ "150 rows", "50 forgotten" }, run("forget model last.csv more.csv"))
    same("/model", "/whole")
    -- numbers in NumPy files, of a model of numbers
    X:slice(1, 90):save(folder .. "/x.npy")
    X:slice(1, 90):column(1):save(folder .. "/y.npy")
    local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), T = 20, dtype = "int8",
      phi = sc.nonlinearity.fourier() }, sc.solver.ridge{ lambda = 1e-3 } }
    local tail = sc.dataset{ X = X:slice(91, 200), y = X:slice(91, 200):column(1) }
    p:fit(tail, { sums = true }):save(folder .. "/numbers", { sums = true })
    fails({ "x.npy: a .npy file holds no targets" }, run("update numbers x.npy"))
    succeeds({ "200 rows" }, run("update numbers x.npy --targets y.npy"))
    p:update(sc.dataset{ X = X:slice(1, 90), y = X:slice(1, 90):column(1) })
    lu.assertTrue(sc.load(folder .. "/numbers"):predict(X) == p:predict(X))
    fails({ "targets by name" }, run("update numbers rows.csv"))
    p:save(folder .. "/numbers")
    fails({ "keeps no sums" }, run("update numbers x.npy --targets y.npy"))
  end)
end

function TestMistakes()
  in_folder(function(run, folder)
    support.write(folder .. "/none.lua", "print(1)")
    support.write(folder .. "/early.lua", "print(sc.pipeline{ sc.solver.ridge() }:predict(1))")
    fails({ "fits nothing" }, run("sums none.lua"))
    support.write(folder .. "/wrong.lua", "local sc = require 'scullery'\nsc.data.csv 'absent.csv'")
    fails({ "wrong.lua:2: data.csv: absent.csv: no such file" }, run("sums wrong.lua"))
    fails({ "not fitted yet" }, run("sums -- early.lua"))
    for part, said in pairs{ ["0/3"] = "part i of N", ["4/3"] = "part i of N", x = "got 'x'" } do
      fails({ said }, run("sums fit.lua rows.csv --part " .. part))
    end
    fails({ "rows.csv" }, run("merge rows.csv -o model"))
    for _, name in ipairs{ "merge", "update" } do
      local status, out, err = run(name .. " nothing.sums -o model rows.csv")
      lu.assertEquals({ status, out, err }, { 1, "", "scullery: nothing.sums: no such file\n" })
    end
    fails({ "nowhere" }, run("sums nowhere.lua"))
    fails({ "missing option '-o'" }, run("merge fit.1.sums"))
    fails({ "--lambda takes a number or gcv" }, run("merge fit.1.sums -o model --lambda x"))
  end)
end

os.exit(lu.LuaUnit.run(), true)
