--- scullery predict with models of texts: columns of CSV, lines, the standard input, scores.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local TRAIN = { "label,body,n" }
for i = 1, 40 do
  TRAIN[i + 1] = (i % 2 == 0 and "spam,\"free prize, now %d\",%d" or "ham,lunch report %d,%d")
    :format(i % 7, i)
end

local function pipeline(ds)
  return sc.pipeline{ sc.text{ bits = 8 }, sc.solver.logistic{ lambda = 1e-3 } }:fit(ds)
end

function TestColumnsOfCsv()
  support.in_folder(function(folder)
    local train = support.write(folder .. "/train.csv", table.concat(TRAIN, "\n") .. "\n")
    local ds = sc.data.csv(train, { text = "body", target = "label", quiet = true })
    pipeline(ds):save(folder .. "/m.safetensors")
    local test = support.write(folder .. "/test.csv",
      "n,body,label\n7,a free prize,spam\n9,\"lunch\nreport\",ham\n11,a prize,ham\n")
    local function run(more)
      return { support.scullery(("predict '%s/m.safetensors' '%s' %s"):format(folder, test, more)) }
    end
    lu.assertEquals(run "--id n", { 0, "n,prediction\n7,spam\n9,ham\n11,spam\n", "" })
    lu.assertEquals(run "--score", { 0, "prediction\nspam\nham\nspam\n",
      "accuracy 0.666667\n" })
    local out = run("--proba -o '" .. folder .. "/p.csv'")
    lu.assertEquals(out[1], 0)
    lu.assertStrContains(support.read(folder .. "/p.csv"), "ham,spam\n")
    lu.assertStrContains(run("--id m")[3], "--id names 'm'")
    lu.assertStrContains(run("--format npy")[3], "the model takes texts: lines or CSV")
    support.write(folder .. "/test.csv", "n,text\n1,a\n")
    lu.assertStrContains(run("")[3], "'body', which is not a column")
  end)
end

function TestLines()
  support.in_folder(function(folder)
    local X, y = {}, {}
    for i = 1, 40 do
      X[i], y[i] = i % 2 == 0 and "free prize" or "lunch report", i % 2 == 0 and "spam" or "ham"
    end
    pipeline(sc.dataset{ X = X, y = y }):save(folder .. "/m.safetensors")
    local lines = support.write(folder .. "/lines.txt", "a free prize\nlunch\n")
    local line = ("predict '%s/m.safetensors' "):format(folder)
    lu.assertEquals({ support.scullery(line .. "'" .. lines .. "'") },
      { 0, "prediction\nspam\nham\n", "" })
    lu.assertEquals({ support.scullery(line .. "-", "lunch report\nprize") },
      { 0, "prediction\nham\nspam\n", "" })
    lu.assertStrContains(select(3, support.scullery(line .. "'" .. lines .. "' --score")),
      "this one has lines")
    lu.assertStrContains(select(3, support.scullery(line .. "'" .. lines .. "' --id a")),
      "is read as lines")
  end)
end

os.exit(lu.LuaUnit.run())
