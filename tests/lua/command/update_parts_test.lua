-- scullery update --drift, --every and --window: rows in parts, from files and from a pipe, and
-- what is learnt and saved when a pipe breaks.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"

local n = 600
local X = sc.randn{ n, 3, seed = 1 }

-- Rows of X as CSV, one an hour, with a note that has a line break and quotes in it.
local function rows(first, last)
  local lines = { "when,a,b,c,note,y,class" }
  for i = first, last do
    lines[#lines + 1] = ('%s,%.17g,%.17g,%.17g,"line ""%d""\n next",%.17g,%s'):format(
      os.date("!%Y-%m-%d %H:%M:%S", 1700000000 + 3600 * i), X:get(i, 1), X:get(i, 2), X:get(i, 3),
      i, math.sin(2 * X:get(i, 1)) + X:get(i, 2), X:get(i, 1) * X:get(i, 2) > 0 and "yes" or "no")
  end
  return table.concat(lines, "\n") .. "\n"
end

local function pipeline()
  return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 }, T = 30, seed = 1,
    phi = sc.nonlinearity.fourier(), dtype = "int16" }, sc.solver.ridge{ lambda = 1e-3 } }
end

-- The rows of a CSV file for a regression, or for a classification.
local function read(path, target)
  return sc.data.csv(path, { target = target or "y", time = "when", quiet = true,
    skip = { "note", target == "class" and "y" or "class" } })
end

-- f(run, folder): run(line, input) runs `scullery line` in a folder with the data, models y and
-- class of the first 200 rows, and the saved sums.
local function in_folder(f)
  support.in_folder(function(folder)
    support.write(folder .. "/all.csv", rows(1, n))
    support.write(folder .. "/first.csv", rows(1, 200))
    support.write(folder .. "/rest.csv", rows(201, n))
    for _, target in ipairs{ "y", "class" } do
      pipeline():fit(read(folder .. "/first.csv", target), { sums = true }):save(
        folder .. "/" .. target, { sums = true })
    end
    local binary = assert(io.popen("realpath " .. support.quote(support.binary))):read("l")
    f(function(line, input)
      return support.shell(("cd %s ; %s %s"):format(support.quote(folder), support.quote(binary),
        line), input)
    end, folder)
  end)
end

-- Whether the model of a file decides like a fit to rows first to last.
local function check_model(path, folder, target, first, last)
  local ds = read(folder .. "/all.csv", target)
  local want = pipeline():fit(ds:subset(first, last), { sums = true })
  lu.assertTrue(sc.load(path):decision(X) == want:decision(X))
end

-- The lines that a list of errors prints with --drift.
local function table_of(list)
  local lines = { ("%12s %12s %12s"):format("rows", list.score, "std. error") }
  for _, row in ipairs(list) do
    lines[#lines + 1] = ("%12d %12s %12s"):format(row.last, ("%.6g"):format(row.error),
      ("%.2g"):format(row.stderr))
  end
  return table.concat(lines, "\n") .. "\n"
end

function TestDriftFromAPipeAndFromFiles()
  in_folder(function(run, folder)
    for _, target in ipairs{ "y", "class" } do
      local p = sc.load(folder .. "/" .. target)
      local list = p:update(read(folder .. "/rest.csv", target), { every = 150 }).drift
      local told = table_of(list) .. "out: sums over 600 rows x 3 columns, 30 features, 1 target\n"
      for _, line in ipairs{ "update %s - --drift --every 150 -o out",
        "update %s rest.csv --drift --every 150 -o out" } do
        local status, out, err = run(line:format(target), rows(201, n))
        lu.assertEquals({ status, err, out }, { 0, "", told })
        lu.assertTrue(sc.load(folder .. "/out"):decision(X) == p:decision(X))
      end
    end
    -- without a table; a pipe alone asks for parts
    local status, out, err = run("update y -", rows(201, n))
    lu.assertEquals({ status, err }, { 0, "" })
    lu.assertEquals(out, "y: sums over 600 rows x 3 columns, 30 features, 1 target\n")
    check_model(folder .. "/y", folder, "y", 1, n)
    lu.assertEquals(#sc.load(folder .. "/y").sums_kept.parts, 2)
    status, out, err = run("update y -", rows(201, n))
    lu.assertEquals({ status, out }, { 1, "" })
    lu.assertStrContains(err, "in the part of rows 1 to 400: all 400 rows are in the model already")
    lu.assertStrContains(err, "give --again")
  end)
end

-- What the reader left out and filled in is said once, of all parts.
function TestNotesOfTheReader()
  in_folder(function(run, folder)
    local text = ("extra," .. rows(201, n)):gsub("\n(%d+%-%d+%-%d+ [%d:]+),", "\n7,%1,")
    text = text:gsub("(\n7,[^,]+,)[^,]+,", "%1,", 30)
    support.write(folder .. "/other.csv", text)
    for _, line in ipairs{ "- --every 150", "other.csv --every 150", "other.csv" } do
      local status, _, err = run("update y -o out " .. line, text)
      lu.assertEquals(status, 0)
      lu.assertStrContains(err, "columns left out because the schema does not have them: extra")
      lu.assertStrMatches(err, ".*missing numbers filled in: [%w]+ %(30 rows, by .*")
      lu.assertEquals(select(2, err:gsub("\n", "")), 1, err)
    end
  end)
end

function TestWindows()
  in_folder(function(run, folder)
    for window, held in pairs{ ["250"] = 250, ["36h"] = 37, ["time=2"] = 49, ["1w"] = 169 } do
      local status, out, err = run(("update y - --every 50 --window %s -o out"):format(window),
        rows(201, n))
      lu.assertEquals({ status, err }, { 0, "scullery: 200 rows of the model are not in memory: \z
they stay until the window is full of new rows, and are taken out together then\n" })
      -- an hour is no binary fraction of a day: a row at the edge may be on either side
      local count = math.tointeger(tonumber(out:match("over (%d+) rows")))
      lu.assertTrue(count == held or window ~= "250" and count == held - 1, window)
      check_model(folder .. "/out", folder, "y", n - count + 1, n)
    end
    local before = support.read(folder .. "/y")
    for line, said in pairs{ ["--window 10 --every 20"] = "'window' is 10 rows and 'every' 20",
      ["--window 10y"] = "--window takes rows as 5000", ["--window time=x"] = "got 'time=x'",
      ["--window 0"] = "got '0'", ["--every x"] = "--every takes a number of rows",
      ["--every 0"] = "got '0'" } do
      local status, _, err = run("update y - " .. line, rows(201, n))
      lu.assertEquals(status, 1)
      lu.assertStrContains(err, said)
      lu.assertNotStrContains(err, "pipeline:")
    end
    lu.assertTrue(support.read(folder .. "/y") == before)
  end)
end

-- A wrong row, times that go back, a label that was never seen: the parts before are learnt and
-- saved, and the sentence has the row and the line of the pipe. A row of the table has two lines.
function TestMistakesInTheMiddleOfAPipe()
  in_folder(function(run, folder)
    local good, more = rows(201, 460), rows(461, n):gsub("^[^\n]*\n", "")
    local function broken(target, row, words, options)
      local line = ("update %s - --every 100 -o out %s"):format(target, options or "")
      local status, _, err = run(line, good .. row .. "\n" .. more)
      lu.assertEquals(status, 1)
      for _, word in ipairs(words) do lu.assertStrContains(err, word) end
      lu.assertStrContains(err, "; the 200 rows before were learnt\n")
      lu.assertNotStrContains(err, "/tmp")
      check_model(folder .. "/out", folder, target, 1, 400)
    end
    broken("y", "1,2", { "standard input: row 261, line 522: it has 2 fields" })
    broken("y", "2030-01-01,1,x,3,,1,no", { "row 261, column 3 (b), line 522", "'x'" })
    broken("y", "2030-01-01,1,2,3,,,no", { "row 261, column 6 (y), line 522", "missing" })
    broken("class", "2030-01-01,1,2,3,,1,perhaps", { "in the part of rows 201 to 300: 1 row has",
      "perhaps" })
    broken("y", "2001-01-01,1,2,3,,1,no", { "in the part of rows 201 to 300: row 61 has the time" },
      "--window 1000h")
    local before = support.read(folder .. "/y")
    local function refused(line, input, said)
      local status, _, err = run(line, input)
      lu.assertEquals(status, 1)
      lu.assertStrContains(err, said)
      lu.assertTrue(support.read(folder .. "/y") == before)
    end
    refused("update y -", "", "standard input: there are no rows; no rows were learnt")
    refused("update y -", "when,a,b,c,y\n", "there are no rows")
    refused("update y -", "1,2,3\n", "there are no rows")
    refused("update y -", "when,a,c,y\n1,2,3,4\n", "the column 'b' is missing")
    refused("update y -", "\x1f\x8b\x08\n", "gzip")
    refused("update y - -", rows(201, n), "only once")
    refused("update y - --format npy", "", "from files only")
    refused("update y - --targets y.npy", "", "--targets goes with a file")
    refused("update y nowhere.csv --drift", "", "nowhere.csv: ")
  end)
end

-- Ctrl-C while the pipe waits: what was learnt is saved.
function TestCtrlC()
  in_folder(function(run, folder)
    support.write(folder .. "/part.csv", rows(201, 420))
    lu.assertTrue(os.execute("mkfifo " .. support.quote(folder .. "/pipe")))
    local status, out = run([[update y - --drift --every 100 <pipe >told 2>said & id=$!
exec 3>pipe
cat part.csv >&3
for i in $(seq 400); do if grep -q "^ *200 " told; then break; fi; sleep 0.05; done
kill -INT $id
wait $id
echo "ended with $?"
exec 3>&-]])
    lu.assertEquals({ status, out }, { 0, "ended with 1\n" })
    lu.assertEquals(support.read(folder .. "/said"), "scullery: interrupted!\n")
    check_model(folder .. "/y", folder, "y", 1, 400)
  end)
end

function TestLibsvm()
  support.in_folder(function(folder)
    local lines, ds = {}, sc.dataset{ X = X, y = X:column(1) * 2 }
    for i = 1, n do
      lines[i] = ("%.17g 1:%.17g 2:%.17g 3:%.17g\n"):format(2 * X:get(i, 1), X:get(i, 1),
        X:get(i, 2), X:get(i, 3))
    end
    support.write(folder .. "/a.svm", table.concat(lines, "", 1, 200))
    pipeline():fit(sc.data.libsvm(folder .. "/a.svm", { task = "regression" }), { sums = true })
      :save(folder .. "/m", { sums = true })
    local line = ("update %s/m - --every 90"):format(folder)
    local status, _, err = support.scullery(line, table.concat(lines, "", 201, 400) .. "7 1:x\n")
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, "line 201, column 3 (row 201)")
    lu.assertStrContains(err, "the 180 rows before were learnt")
    status, _, err = support.scullery(line, table.concat(lines, "", 381, n))
    lu.assertEquals({ status, err }, { 0, "" })
    lu.assertTrue(sc.load(folder .. "/m"):predict(X)
      == pipeline():fit(ds, { sums = true }):predict(X))
  end)
end

os.exit(lu.LuaUnit.run(), true)
