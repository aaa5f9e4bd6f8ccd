-- Fits with a checkpoint that are killed at many places go on to the bits of one fit: every solver,
-- number types, streams, choices. Then what is refused, damaged files, and full disks.
-- luacheck: globals TestKills TestFiles
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local quote = support.quote

-- A script that fits, kills itself at report number arg[2] (0: never), and writes the bits of its
-- decisions to arg[3]. %s: lines that make p, ds, and the options o of the fit.
local script = [[
local sc = require "scullery"
local path, last, out = arg[1], tonumber(arg[2]), arg[3]
local n, reports, o, p, ds = 900, 0, {}, nil, nil
local X = sc.randn{ n, 4, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + X:column(2) + sc.randn{ n, 1, seed = 3 } * 0.5
local function classes(k)
  return y:map(function(v) return math.min(k, 1 + math.abs(v * 2) // 1) end)
end
local function features(given)
  given.T, given.seed = given.T or 60, 1
  given.p = given.p or sc.sampler.gaussian{ sigma = 0.6 }
  given.phi = given.phi or sc.nonlinearity.fourier()
  return sc.features(given)
end
local function numbers() return sc.dataset{ X = X, y = y } end
local function labels(k) return sc.dataset{ X = X, y = classes(k), task = "classification" } end
%s
if path ~= "" then o.checkpoint, o.every = path, 0 end
o.progress = function()
  reports = reports + 1
  if reports == last then os.execute("kill -9 $PPID") end
end
p:fit(ds, o)
local file = assert(io.open(out, "w"))
file:write(reports, "\n")
local Z = p:decision(sc.randn{ 20, 4, seed = 7 })
for i = 1, 20 do for j = 1, Z:cols() do file:write(("%%a\n"):format(Z:get(i, j))) end end
file:close()
]]

-- The bits that a run of the script wrote, and its number of reports; nil if it was killed.
local function run(folder, path, last)
  local out = folder .. "/out"
  os.remove(out)
  local status, _, said = support.shell(("%s %s %s %d %s"):format(quote(support.binary),
    quote(folder .. "/s.lua"), quote(path), last, quote(out)))
  local file = io.open(out, "rb")
  if not file then
    lu.assertTrue(status ~= 0 and not said:find "s%.lua:%d", said)
    return nil
  end
  file:close()
  local reports, bits = support.read(out):match "^(%d+)\n(.*)$"
  return bits, tonumber(reports)
end

-- Kills a fit at `kills` places, each in a checkpoint of its own, and one fit again and again; at
-- one place, once, where a sanitizer makes all slow.
local function check(label, lines, kills)
  kills = support.sanitized and 1 or kills
  support.in_folder(function(folder)
    support.write(folder .. "/s.lua", script:format(lines:gsub("FOLDER", folder)))
    local whole, reports = run(folder, "", 0)
    lu.assertNotNil(whole, label)
    local again, killed = folder .. "/again", 0
    for k = 1, kills do
      local path, last = folder .. "/c" .. k, 1 + reports * k // (kills + 1)
      local early = run(folder, path, last) -- over before, where reports come by the clock
      if early then lu.assertEquals(early, whole, label) else killed = killed + 1 end
      lu.assertEquals(run(folder, path, 0), whole, ("%s, killed at %d of %d"):format(label, last,
        reports))
      if support.sanitized or run(folder, again, 2 + reports // (kills + 1)) then break end
    end
    lu.assertTrue(killed > 0, label)
    if support.sanitized then return end
    lu.assertEquals(run(folder, again, 0), whole, label .. ", killed again and again")
  end)
end

TestKills = {}

local cases = {
  ridge = [[ds, p = numbers(), sc.pipeline{ features{}, sc.solver.ridge{ lambda = 1e-6 } }]],
  lasso = [[ds, p = numbers(), sc.pipeline{ features{}, sc.solver.lasso{ lambda = 1e-3 } }]],
  box = [[ds, p = labels(2), sc.pipeline{ features{}, sc.solver.box{ C = 0.2, loss = "hinge" } }]],
  cg = [[ds, p = numbers(), sc.pipeline{ features{}, sc.solver.cg{ lambda = 1e-7,
    preconditioner = "none" } }]],
  hinge = [[ds, p = labels(2), sc.pipeline{ features{}, sc.solver.hinge{ lambda = 1e-5 } }]],
  huber = [[ds, p = numbers(), sc.pipeline{ features{}, sc.solver.huber{ lambda = 1e-4 } }]],
  logistic = [[ds, p = labels(3), sc.pipeline{ features{}, sc.solver.logistic{ lambda = 1e-5 } }]],
  sgd = [[ds, p = labels(3), sc.pipeline{ features{}, sc.solver.logistic{ lambda = 1e-4,
    method = "sgd", holdout = 0.2, batch = 20 } }]],
  trimmed = [[ds, p = numbers(), sc.pipeline{ features{}, sc.solver.trimmed{ lambda = 1e-4 } }]],
  sfgd = [[ds, p = labels(2), sc.pipeline{ features{ K = sc.kernel.gaussian{ width = 4 } },
    sc.solver.sfgd{ lambda = 1e-2, holdout = 0.2 } }]],
  optimal_stepsize = [[ds = labels(2)
    p = sc.pipeline{ features{ K = sc.kernel.gaussian{ width = 4 } },
      sc.solver.optimal_stepsize{ lambda = 1e-2 } }]],
  boosting = [[ds, p = numbers(), sc.pipeline{ features{}, sc.solver.boosting{
    solver = sc.solver.ridge{ lambda = 1e-2 }, rounds = 5 } }]],
  adaboost = [[ds, p = labels(3), sc.pipeline{ sc.solver.adaboost{ stumps = 40 } }]],
  svm = [[ds, p = labels(4), sc.pipeline{ sc.solver.svm{ C = 3 } }]],
  kernel_ridge = [[ds, p = numbers(), sc.pipeline{ sc.solver.kernel_ridge{ lambda = 1e-4 } }]],
  erm = [[ds, p = labels(3), sc.pipeline{ features{}, sc.solver.erm{ lambda = 1e-4,
    loss = sc.loss.squared_hinge{} } }]],
  quantile = [[ds, p = numbers(), sc.pipeline{ features{}, sc.solver.quantile{ lambda = 1e-3,
    tau = { 0.2, 0.8 } } }]],
  knn = [[ds, p = labels(3), sc.pipeline{ sc.solver.knn{ k = 5 } }]],
}

local fewer = { knn = 1, quantile = 1, kernel_ridge = 1, svm = 2, box = 2, ridge = 2, lasso = 2 }
for name, lines in pairs(cases) do
  TestKills["test_" .. name] = function() check(name, lines, fewer[name] or 3) end
end

-- Solvers that are erm with a loss of their own, to the bit (single_losses_test.lua).
local kin = { lad = "erm", poisson = "erm", gamma_regression = "erm", tweedie = "erm" }

function TestKills:test_every_solver_has_a_case()
  for _, one in ipairs(sc.plugin.list()) do
    if one.kind == "solver" then lu.assertNotNil(cases[kin[one.name] or one.name], one.name) end
  end
end

function TestKills:test_number_types()
  for _, dtype in ipairs{ "float32", "int16", "int8" } do
    check(dtype, ([[ds, p = numbers(), sc.pipeline{ sc.standardize(), features{ dtype = "%s" },
      sc.solver.ridge{ lambda = 1e-5 } }]]):format(dtype), 2)
  end
  check("int16 by passes", [[ds, p = labels(3), sc.pipeline{ features{ dtype = "int16" },
    sc.solver.logistic{ lambda = 1e-4 } }]], 2)
end

function TestKills:test_maps()
  check("bits", [[ds, p = numbers(), sc.pipeline{ features{ phi = sc.nonlinearity.sign() },
    sc.solver.cg{ lambda = 1e-4, preconditioner = "none" } }]], 2)
  check("cells", [[ds, p = numbers(), sc.pipeline{ sc.features{ p = sc.sampler.grid(), T = 20,
    seed = 1, phi = sc.nonlinearity.bins() }, sc.solver.cg{ lambda = 1e-4 } }]], 2)
  check("levels", [[X = X:map(function(v) return math.floor(2 * v) end)
    ds, p = numbers(), sc.pipeline{ features{ p = sc.sampler.threshold(),
    phi = sc.nonlinearity.sign() }, sc.solver.ridge{ lambda = 1e-4 } }]], 2)
end

function TestKills:test_sums_with_weights_of_the_solver()
  for name, given in pairs{ float32 = '{ dtype = "float32" }', int16 = '{ dtype = "int16" }',
    bits = "{ phi = sc.nonlinearity.sign() }" } do
    check(name, ([[ds, p = numbers(), sc.pipeline{ features%s,
      sc.solver.trimmed{ lambda = 1e-4 } }]]):format(given), 2)
  end
end

function TestKills:test_one_function_of_an_svm_takes_several_slices()
  check("svm of two classes", [[X = sc.randn{ 2500, 4, seed = 5 }
    ds = sc.dataset{ X = X, y = X:column(1):map(function(v) return v > 0 and 1 or 0 end) }
    p = sc.pipeline{ sc.solver.svm{ C = 1e5, tolerance = 1e-6, cache = 1 } }]], 3)
end

function TestKills:test_choices_and_sums()
  check("options that are not given", [[ds = numbers()
    p = sc.pipeline{ sc.standardize(), sc.features{ T = 60, seed = 1 }, sc.solver.ridge{} }]], 3)
  check("T is chosen", [[ds = numbers()
    p = sc.pipeline{ sc.features{ T = "auto", seed = 1 }, sc.solver.ridge{} }]], 3)
  check("sums that are kept", [[ds, p = numbers(), sc.pipeline{ features{ dtype = "int16" },
    sc.solver.ridge{ lambda = 1e-4 } } o.sums = true]], 2)
end

function TestKills:test_rows_with_weights_and_streams()
  check("weights", [[local w = X:column(3):abs()
    ds = sc.dataset{ X = X, y = classes(3), weights = w, task = "classification" }
    p = sc.pipeline{ features{}, sc.solver.cg{ lambda = 1e-5, preconditioner = "none" },
      class_weights = { [1] = 3 } }]], 2)
  check("a stream of labels", [[local file = assert(io.open("FOLDER/a.csv", "w"))
    file:write("a,b,c,d,label\n")
    local C = classes(3)
    for i = 1, n do file:write(("%.9g,%.9g,%.9g,%.9g,l%d\n"):format(X:get(i, 1), X:get(i, 2),
      X:get(i, 3), X:get(i, 4), C:get(i, 1))) end
    file:close()
    ds = sc.data.csv("FOLDER/a.csv", { target = "label", stream = true })
    p = sc.pipeline{ sc.standardize(), features{}, sc.solver.ridge{ lambda = 1e-4 }, block = 64 }]],
    3)
end

-- ------------ files

TestFiles = {}

local function pipeline(lambda)
  return sc.pipeline{ sc.standardize(), sc.features{ T = 30, seed = 1,
    p = sc.sampler.gaussian{ sigma = 0.2 }, phi = sc.nonlinearity.fourier() },
    sc.solver.cg{ lambda = lambda or 1e-4, preconditioner = "none" } }
end

local ds = sc.data.load("wdbc")
local expected = pipeline():fit(ds):weights()

local function fit(path, given, p, rows)
  local o = { checkpoint = path, every = 0 }
  for name, value in pairs(given or {}) do o[name] = value end
  return (p or pipeline()):fit(rows or ds, o):weights()
end

local function refused(words, ...) return support.fails(words, fit, ...) end

function TestFiles:test_passes_that_are_cut_at_any_place()
  support.in_folder(function(folder)
    local path = folder .. "/c"
    lu.assertTrue(fit(path) == expected)
    local passes = support.read(path .. ".passes")
    for _, share in ipairs{ 0, 0.001, 0.1, 0.37, 0.5, 0.9, 0.9999 } do
      support.write(path .. ".passes", passes:sub(1, #passes * share // 1))
      lu.assertTrue(fit(path) == expected, share)
      lu.assertEquals(#support.read(path .. ".passes"), #passes, share)
    end
    for _, place in ipairs{ 120, 150, #passes // 2, #passes - 3 } do -- one other byte
      local byte = string.char(passes:byte(place) ~ 64)
      support.write(path .. ".passes", passes:sub(1, place - 1) .. byte .. passes:sub(place + 1))
      local ok, weights = pcall(fit, path)
      if ok then lu.assertTrue(weights == expected, place)
      else lu.assertStrContains(weights, path .. ".passes") end
    end
    support.write(path .. ".passes", "something else entirely")
    refused({ ".passes: it is not a file of a checkpoint" }, path)
    lu.assertTrue(fit(path, { restart = true }) == expected)
  end)
end

function TestFiles:test_a_first_line_that_is_cut_is_told()
  support.in_folder(function(folder)
    local path = folder .. "/c"
    fit(path)
    local text = support.read(path)
    for _, count in ipairs{ 5, #text:match("^[^\n]*") } do
      support.write(path, text:sub(1, count))
      local said = support.stderr_of(function() lu.assertTrue(fit(path) == expected) end)
      lu.assertStrContains(said, path .. " was cut in its first line")
      lu.assertEquals(support.stderr_of(function() fit(path) end), "")
    end
  end)
end

function TestFiles:test_sums_that_are_damaged()
  support.in_folder(function(folder)
    local path, p = folder .. "/c", sc.pipeline{ sc.features{ T = 30, seed = 1 },
      sc.solver.ridge{ lambda = 1e-3 } }
    p:fit(ds, { checkpoint = path, every = 0 })
    local sums = support.read(path .. ".sums")
    for _, text in ipairs{ "", sums:sub(1, #sums // 2), sums:sub(1, -2) .. "x" } do
      support.write(path .. ".sums", text)
      refused({ "c.sums" }, path, nil, p)
    end
    lu.assertEquals(support.read(path .. ".sums"), sums:sub(1, -2) .. "x", "it is left as it was")
    fit(path, { restart = true }, p)
  end)
end

function TestFiles:test_other_work_is_refused()
  support.in_folder(function(folder)
    local path = folder .. "/c"
    fit(path)
    local before = support.read(path .. ".passes")
    refused({ "is of another pipeline", "restart = true" }, path, nil, pipeline(1e-3))
    refused({ "is of other data" }, path, nil, nil, ds:subset(1, 500))
    local X = ds.X:copy()
    X:set(300, 7, X:get(300, 7) + 1e-9)
    refused({ "is of other data" }, path, nil, nil, sc.dataset{ X = X, y = ds.y,
      classes = ds.classes, task = "classification" })
    lu.assertEquals(support.read(path .. ".passes"), before)
    local text = support.read(path)
    for _, one in ipairs{ { '"scullery":"', '"scullery":"0.0', "another version" },
      { '"numbers":"', '"numbers":"x', "another type of numbers" },
      { '"version":1', '"version":9', "does not read" },
      { '"instructions":"', '"instructions":"x', "other instructions" } } do
      support.write(path, (text:gsub(one[1], one[2])))
      refused({ one[3] }, path)
    end
    fit(path, { restart = true }, pipeline(1e-3))
    refused({ "is of another pipeline" }, path)
  end)
end

function TestFiles:test_a_file_of_the_user_is_never_changed()
  support.in_folder(function(folder)
    for _, text in ipairs{ "a,b\n1,2", "x", "{\"format\":\"scullery experiment\"}\n" } do
      support.write(folder .. "/f", text)
      refused({ "a file of that name that is not a checkpoint" }, folder .. "/f",
        { restart = true })
      lu.assertEquals(support.read(folder .. "/f"), text)
    end
    refused({ "cannot be written" }, folder .. "/none/f")
  end)
end

function TestFiles:test_another_process_holds_it()
  support.in_folder(function(folder)
    local path = folder .. "/c"
    local seen
    fit(path, { progress = function()
      seen = seen or support.fails({ "is being written by another process" }, fit, path)
    end })
    lu.assertNotNil(seen)
    lu.assertTrue(fit(path) == expected, "and not afterwards")
  end)
end

function TestFiles:test_a_disk_without_room()
  support.in_folder(function(folder)
    support.write(folder .. "/s.lua", [[
      local sc = require "scullery"
      local ds = sc.data.load "wdbc"
      local p = sc.pipeline{ sc.features{ T = 60, seed = 1 }, sc.solver[arg[2] ]{ lambda = 1e-4 } }
      print(p:fit(ds, { checkpoint = arg[1], every = 0 }):score(ds))]])
    for _, solver in ipairs{ "cg", "ridge" } do
      local status, out, said = support.shell(("ulimit -f 16; %s %s/s.lua %s/%s %s"):format(
        quote(support.binary), folder, folder, solver, solver))
      lu.assertEquals(status, 0, said)
      lu.assertStrMatches(said, ".*scullery: checkpoint %S+: .*the fit goes on without new .*")
      local _, count = said:gsub("goes on without", "")
      lu.assertEquals(count, 1)
      lu.assertTrue(tonumber(out) > 0.9)
    end
  end)
end

function TestFiles:test_options()
  refused({ "option 'checkpoint' got 3; it takes the path of a file" }, 3)
  refused({ "option 'every' got -1" }, "c", { every = -1 })
  refused({ "option 'restart' got 1; it takes true or false" }, "c", { restart = 1 })
  support.fails({ "option 'restart' goes with checkpoint = path" }, function()
    pipeline():fit(ds, { restart = true })
  end)
  support.fails({ "a checkpoint is for a pipeline with a solver" }, function()
    sc.pipeline{ sc.standardize() }:fit(ds, { checkpoint = "c" })
  end)
end

-- Scripts that may leave the checkpoint out leave `every` where it is.
function TestFiles:test_every_without_a_checkpoint()
  local path = support.write(nil, [[
    local sc = require "scullery"
    local X = sc.randn{ 50, 2, seed = 1 }
    sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.dataset{ X = X, y = X:column(1) },
      { every = 30 })
    print "fitted"]])
  local status, out, err = support.shell(support.quote(support.binary) .. " "
    .. support.quote(path))
  os.remove(path)
  lu.assertEquals({ status, out }, { 0, "fitted\n" })
  lu.assertStrContains(err, "option 'every' without checkpoint = path: nothing is stored")
end

os.exit(lu.LuaUnit.run(), true)
