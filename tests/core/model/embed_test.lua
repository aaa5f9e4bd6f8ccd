-- Saved models as other programs load them (scullery/scullery.h): the same bits as here, for models
-- of all kinds; and the examples in C and Python.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local source = os.getenv "SCULLERY_SOURCE" or "."
package.path = source .. "/tests/helpers/?.lua;" .. package.path
local registry, support = require "registry", require "support"
local models, predictors = require "small_models", require "predictors"

local path = support.memory_path()
local test = registry.test

-- The same predictions by a predictor as by p itself; returns what the predictor says of the model.
local function same(p, X, what)
  p:save(path)
  local loaded <close> = predictors.load(path)
  local info = predictors.info(loaded)
  local function run(kind) return predictors.run(loaded, kind, X) end
  for _, cut in ipairs{ { 1, 1 }, { 2, X:rows() }, { X:rows(), X:rows() } } do
    local from, to = cut[1], cut[2]
    lu.assertTrue(predictors.run(loaded, "scores", X:slice(from, to))
      == p:decision(X):slice(from, to), ("%s: rows %d to %d alone"):format(what, from, to))
  end
  local function equal(a, b, kind) lu.assertTrue(a == b, ("%s: %s"):format(what, kind)) end
  equal(run("scores"), p:decision(X), "scores")
  if p.classes then
    lu.assertEquals(info.labels, p.classes, what)
    local labels = core.predict(p:decision(X), { task = "classification",
      classes = { 0.0, table.unpack(registry.places(#p.classes)) } }, "labels")
    equal(run("predict"), labels, "classes")
    if info.probabilities then equal(run("probabilities"), p:probabilities(X), "probabilities") end
  else
    lu.assertEquals(info.labels, {}, what)
    equal(run("predict"), p:predict(X), "values")
  end
  lu.assertEquals({ info.columns, info.outputs }, { X:cols(), p:decision(X):cols() }, what)
  return info
end

-- Values of a loss of counts are means, not scores.
test("means", function()
  local ds = models.numbers(30)
  local counts = sc.dataset{ X = ds.X, y = ds.y:map(function(v) return math.floor(math.abs(v)) end),
    task = "regression" }
  local p = sc.pipeline{ sc.standardize(), sc.solver.erm{ loss = sc.loss.poisson{},
    lambda = 0.1 } }:fit(counts)
  lu.assertTrue(p:predict(ds.X) == p:decision(ds.X):map(math.exp))
  same(p, ds.X, "means")
end)

-- ------------ every kind of model

function registry.places(classes)
  local list = {}
  for k = 1, classes - 1 do list[k] = k + 0.0 end
  return list
end

for _, make in ipairs(models.all()) do
  test("model " .. make.name, function()
    local p, X = make.fit()
    same(p, X, make.name)
  end)
end

test("transformed targets are undone", function()
  local X = sc.randn{ 50, 3, seed = 1 }
  local y = core.hcat(X:column(1):map(math.exp), X:column(2):map(math.exp) * 1e4)
  for _, target in ipairs{ "log", "standardize", { log = true, standardize = true } } do
    local p = sc.pipeline{ sc.solver.ridge{}, target = target }
      :fit(X, y, { task = "regression" })
    same(p, X, "target")
  end
end)

-- A ridge on features of rows that they take; what no rows are drawn for is left out.
local count = 0
local function with_features(given, X, what)
  local y = X:column(1) + 1
  local p = sc.pipeline{ sc.features(given), sc.solver.ridge() }
  if pcall(p.fit, p, X, y, { task = "regression" }) then
    count = count + 1
    same(p, X, what)
  end
end

test("every sampler with every nonlinearity", function()
  registry.each_pair(function(s, phi)
    for _, dtype in ipairs{ "float64", "float32" } do
      with_features({ p = s.component, phi = phi.component, seed = 7, dtype = dtype,
        T = registry.T(s.component, 5) }, registry.rows_of(s.component, phi.component),
        s.label .. " with " .. phi.label)
    end
  end)
  lu.assertTrue(count > (registry.sanitized and 30 or 300), count .. " models")
end)

test("every sampler with every kernel as phi", function()
  local before = count
  for _, s in ipairs(registry.sampler) do
    for _, k in ipairs(registry.kernel) do
      if registry.draws_rows(s.component) then
        with_features({ p = s.component, phi = k.component, seed = 7,
          T = registry.T(s.component, 5) }, registry.X:abs(), s.label .. " with kernel " .. k.label)
      end
    end
  end
  lu.assertTrue(count - before > (registry.sanitized and 5 or 50), count - before .. " models")
end)

test("features with K by every method, and their precision", function()
  for _, method in ipairs{ "exact", "quadrature", "monte-carlo" } do
    for _, dtype in ipairs{ "float64", "float32" } do
      with_features({ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sign(), T = 6, seed = -3,
        K = sc.kernel.gaussian{ width = 2 }, method = method, samples = 300, dtype = dtype },
        registry.X, method)
    end
  end
end)

test("widths that came from the data, of features and of solvers", function()
  local ds = models.classes(40, 3)
  for _, width in ipairs{ "scale", "median" } do
    same(sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.landmarks(), T = 4,
      phi = sc.kernel.gaussian{ gamma = width } }, sc.solver.ridge() }:fit(ds), ds.X, width)
    same(sc.pipeline{ sc.solver.kernel_ridge{ kernel = sc.kernel.sum{ terms = {
      sc.kernel.gaussian{ gamma = width }, sc.kernel.linear() } } } }:fit(ds), ds.X, width)
  end
end)

test("every row stage", function()
  local ds = models.classes(40, 3)
  for _, stages in ipairs{ { sc.normalize() }, { sc.minmax(), sc.pca{ k = 3 }, sc.standardize(),
    sc.add_bias(), sc.pca{ k = 2 } }, { sc.standardize(), sc.standardize() } } do
    stages[#stages + 1] = sc.solver.ridge()
    same(sc.pipeline(stages):fit(ds), ds.X, tostring(stages[1]))
  end
end)

test("a pruned model, one that was pruned twice, and whitened sections", function()
  local ds = models.classes(60, 2)
  local model = sc.pipeline{ sc.instantiation{ p = sc.sampler.gaussian(),
    phi = sc.nonlinearity.sign(), K = sc.kernel.gaussian{ width = 1 } }:features{ T = 30 },
    sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }:fit(ds)
  local small = model:prune{ epsilon = 0.02 }
  same(small, ds.X, "pruned")
  same(small:prune{ epsilon = 0.1, data = ds }, ds.X, "pruned twice")
  local X = sc.vcat(ds.X, ds.X)
  same(sc.pipeline{ sc.features{ p = sc.sampler.landmarks(), T = 90,
    phi = sc.kernel.gaussian{ width = 3 } }, sc.solver.ridge{ lambda = 1e-3 } }:fit(X,
    X:column(1):copy()), X, "whitened")
end)

test("a search, options with parts and lists, a given block, several targets", function()
  local ds = models.classes(60, 3)
  local best = sc.pipeline{ sc.choose{ sc.standardize(), sc.minmax() }, sc.features{
    p = sc.sampler.pooled{ projections = 6, base = sc.sampler.gaussian{ sigma = { 1, 2, 3 } } },
    phi = sc.nonlinearity.fourier(), T = sc.choose{ 6, 8 } }, sc.solver.ridge(), block = 7 }
    :search(ds, { folds = 3 })
  same(best, ds.X, "searched")
  same(sc.pipeline{ sc.standardize(), sc.solver.ridge() }:fit(ds.X, sc.hcat(ds.X:column(1),
    ds.X:column(2)), { task = "regression" }), ds.X, "two targets")
end)

-- ------------ what it says

test("labels that are numbers, and texts of any bytes", function()
  local X = sc.randn{ 30, 2, seed = 1 }
  for _, labels in ipairs{ { -1, 1 }, { 0.5, 2, 7 }, { "é", "\xff\xfe" } } do
    local y = {}
    for i = 1, 30 do y[i] = labels[i % #labels + 1] end
    local info = same(sc.pipeline{ sc.solver.ridge() }:fit(sc.dataset{ X = X, y = y,
      task = "classification" }), X, tostring(labels[1]))
    lu.assertEquals(info.labels, labels)
  end
end)

test("probabilities: the solver's own, calibrated, none", function()
  local ds = models.classes(60, 3)
  local function says(solver, given, calibrated)
    given = given or {}
    given[1] = solver
    local p = sc.pipeline(given):fit(ds)
    if calibrated then p:calibrate{ folds = 2 } end
    return same(p, ds.X, tostring(solver)).probabilities
  end
  lu.assertTrue(says(sc.solver.logistic()))
  lu.assertFalse(says(sc.solver.ridge()))
  lu.assertTrue(says(sc.solver.ridge(), nil, true))
  lu.assertFalse(says(sc.solver.logistic(), { class_weights = "balanced" }))
  lu.assertTrue(says(sc.solver.logistic(), { class_weights = "balanced" }, true))
end)

test("the table that the columns come from", function()
  local file = support.write(nil, "size,colour,when,y\n" .. ("1.5,red,2020-01-01,a\n"
    .. "2,blue,2021-05-06,b\n,red,2020-02-02,b\n3,,2020-02-03,a\n"):rep(8))
  local ds = sc.data.csv(file, { target = "y", quiet = true })
  os.remove(file)
  local info = same(sc.pipeline{ sc.solver.ridge() }:fit(ds), ds.X, "a table")
  lu.assertEquals(info.names, ds.names)
  local size, colour, when = table.unpack(info.fields)
  lu.assertEquals({ size.name, size.kind, size.column, size.width }, { "size", "number", 1, 1 })
  lu.assertEquals(size.fill, ds.schema.columns[1].fill)
  lu.assertEquals(colour, { name = "colour", kind = "category", column = 2, width = 3,
    levels = ds.schema.columns[2].levels })
  lu.assertEquals({ when.kind, when.column, when.width }, { "date", 5, 1 })
end)

-- A model of a table with numbers of all sorts, dates and categories.
local function table_model()
  local file = support.write(nil, "size,price,colour,when,grade,note,y\n"
    .. ('1.5,"$1,200.50",red,31/12/2020,1,x,a\n2,$7,blue,06/05/2021,2,y,b\n,5,red,,3,z,b\n'
    .. "3,12,,01/02/2020,1,x,a\n"):rep(8))
  local ds = sc.data.csv(file, { target = "y", quiet = true, levels = { "grade" },
    numeric = { "price" }, skip = { "note" } })
  os.remove(file)
  local p = sc.pipeline{ sc.solver.ridge() }:fit(ds)
  p:save(path)
  return p
end

test("fields by name become the columns that a file's become", function()
  local p = table_model()
  local loaded <close> = predictors.load(path)
  local names = { "grade", "colour", "when", "size", "price", "more" }
  local rows = { { "2", "blue", "01/03/2021", "7.25", "$2,000", "m" },
    { "1", " red ", "", "NA", "-3e2", "" }, { "9", "green", "5/6/2019", " 4 ", "?", "m" },
    { "3", "", "NULL", "1e-3", "$5", "m" } }
  local lines = { table.concat(names, ",") .. "\n" }
  for _, row in ipairs(rows) do
    local quoted = {}
    for j, text in ipairs(row) do quoted[j] = text:find "," and '"' .. text .. '"' or text end
    lines[#lines + 1] = table.concat(quoted, ",") .. "\n"
  end
  local file = support.write(nil, table.concat(lines))
  local wanted = sc.data.csv(file, { like = p, quiet = true }).X
  os.remove(file)
  local X, unknown = predictors.encode(loaded, names, rows, #names, false)
  lu.assertTrue(X == wanted)
  lu.assertEquals(unknown, 2) -- grade 9, green
  lu.assertTrue(predictors.encode(loaded, names, rows, #names, true) == wanted:astype "float32")
  -- numbers in place of texts, and the model's own order, the skipped field with it
  local same_row = { 7.25, 2000, "blue", 18687, 2, "m" }
  lu.assertTrue(predictors.encode(loaded, nil, { same_row }, 6, false) == wanted:slice(1, 1))
  lu.assertTrue(predictors.run(loaded, "scores", X) == p:decision(wanted))
end)

test("fields that are wrong are refused", function()
  table_model()
  local loaded <close> = predictors.load(path)
  local names = { "size", "price", "colour", "when", "grade" }
  local function refused(words, row, named)
    support.fails({ "scl_predictor_encode", table.unpack(words) }, predictors.encode, loaded,
      named or names, { { 1, 2, "red", 5, "1" }, row }, 5, false)
  end
  refused({ "row 2", "'size'", "'big' is not a number" }, { "big", 2, "red", 5, "1" })
  refused({ "row 2", "'when'", "is not a date" }, { 1, 2, "red", "2020-31-12", "1" })
  refused({ "row 2", "'size'", "is not finite" }, { math.huge, 2, "red", 5, "1" })
  refused({ "row 2", "'price'", "is not finite" }, { 1, "inf", "red", 5, "1" })
  refused({ "'price' is not among the 5 names", "'prize'" }, { 1, 2, "red", 5, "1" },
    { "size", "prize", "colour", "when", "grade" })
  support.fails({ "4 fields without names", "6" }, predictors.encode, loaded, nil,
    { { 1, 2, 3, 4 } }, 4, false)
  support.fails({ "too large for float32" }, predictors.encode, loaded, names,
    { { 1e300, 2, "red", 5, "1" } }, 5, true)
  local plain = sc.pipeline{ sc.solver.ridge() }:fit(sc.randn{ 9, 2, seed = 1 },
    sc.randn{ 9, 1, seed = 2 })
  plain:save(path)
  local without <close> = predictors.load(path)
  support.fails({ "the model has no fields" }, predictors.encode, without, nil, { { 1, 2 } }, 2,
    false)
end)

test("a program in C++", function()
  local program = support.build .. "/tests/embed_program"
  lu.skipIf(not io.open(program), "there is no compiler for C++")
  local p = table_model()
  local loaded <close> = predictors.load(path)
  local X = predictors.encode(loaded, { "grade", "colour", "when", "size", "price" },
    { { 1, "blue", "01/03/2021", 7.25, "$2,000" }, { 2, "grey", 18687, nil, 7 } }, 5, false)
  local status, output = support.shell(support.quote(program) .. " " .. support.quote(path))
  lu.assertEquals(status, 0)
  local lines = {}
  for line in output:gmatch "[^\n]+" do lines[#lines + 1] = line end
  local numbers = {}
  for i = 1, 2 do
    for j = 1, X:cols() do numbers[#numbers + 1] = ("%.17g"):format(X:get(i, j)) end
  end
  lu.assertEquals(lines[1], table.concat(numbers, " ") .. " ")
  lu.assertEquals({ lines[2], lines[3], lines[4] }, { "1 unknown", table.unpack(p:labels(X)) })
  for i = 1, 2 do lu.assertEquals(lines[4 + i], ("%.17g"):format(p:decision(X):get(i, 1))) end
  lu.assertEquals(lines[7], "2 " .. X:cols())
  lu.assertStrContains(lines[8], "rows of 3 numbers are not a multiple of the model's ")
  lu.assertStrContains(lines[9], "field 'price' is not among the 1 names given")
  lu.assertStrContains(lines[10], "a row has 1 fields, and there are 5 names")
  lu.assertStrContains(lines[11], "/no/such/model: no such file")
  lu.assertEquals(lines[12], "1 0 1 nan")
end)

test("what no predictor is made of is refused", function()
  local ds = models.classes(30, 2)
  local features = sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sign(), T = 3 }
  local function refused(words, value)
    value:save(path)
    support.fails({ path, table.unpack(words) }, predictors.load, path)
  end
  refused({ "before it was fitted" }, sc.pipeline{ sc.solver.ridge() })
  refused({ "no solver" }, sc.pipeline{ sc.standardize() }:fit(ds.X))
  refused({ "no solver" }, sc.pipeline{ features, sc.pca{ k = 2 } }:fit(ds.X))
  refused({ "holds features" }, features:fit(ds.X))
  support.fails({ "no such file" }, predictors.load, "/nowhere/m")
end)

-- ------------ the examples

-- What the example prints, by p itself.
local function wanted_lines(p, X)
  local lines, said, list = {}, p:predict(X), p.classes and p:labels(X)
  local shares = p.classes and p:probabilities(X)
  for i = 1, X:rows() do
    local parts = { list and list[i] or ("%.17g"):format(said:get(i, 1)) }
    for k = 1, shares and shares:cols() or 0 do
      parts[#parts + 1] = ("%.6f"):format(shares:get(i, k))
    end
    lines[i] = table.concat(parts, " ") .. "\n"
  end
  return table.concat(lines)
end

-- Run an example, a shell line up to its arguments, on a classification and on a regression.
local function check_example(line, folder)
  local model, rows = folder .. "/m.safetensors", folder .. "/rows.csv"
  for _, make in ipairs{ { sc.solver.logistic(), models.classes(40, 3) },
    { sc.solver.ridge(), models.numbers(40) } } do
    local ds, text = make[2], {}
    local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian(), T = 9,
      phi = sc.nonlinearity.fourier() }, make[1] }:fit(ds)
    p:save(model)
    for i = 1, ds.X:rows() do
      text[i] = ("%.17g,%.17g,%.17g\n"):format(ds.X:get(i, 1), ds.X:get(i, 2), ds.X:get(i, 3))
    end
    support.write(rows, table.concat(text))
    local status, out, err = support.shell(("%s %s %s"):format(line, model, rows))
    lu.assertEquals({ status, out, err }, { 0, wanted_lines(p, ds.X), "" })
  end
  local status, out, err = support.shell(("%s /nowhere/m %s"):format(line, rows))
  lu.assertEquals({ status, out }, { 1, "" })
  lu.assertStrContains(err, "/nowhere/m: no such file")
end

test("the example in C", function()
  local compiler = os.getenv "CC" or "cc"
  lu.skipIf(support.shell(compiler .. " --version") ~= 0, "there is no C compiler")
  lu.skipIf(registry.sanitized, "the library would need its sanitizer in the example")
  support.in_folder(function(folder)
    local build = support.quote(support.build)
    local status, out, err = support.shell(("%s -std=c11 -Wall -Wextra -Wpedantic -Werror -I%s \z
      -o %s/predict %s -L%s -lscullery -Wl,-rpath,%s"):format(compiler, support.quote(source
      .. "/core/include"), folder, support.quote(source .. "/scripts/embed/predict.c"), build,
      build))
    lu.assertEquals({ status, out, err }, { 0, "", "" })
    check_example(folder .. "/predict", folder)
  end)
end)

-- A Python, or nil.
local function python()
  for _, name in ipairs{ "python3", "/usr/bin/python3" } do
    if support.shell(name .. " -c 'import ctypes'") == 0 then return name end
  end
end

local function skip_without_python()
  lu.skipIf(not python(), "there is no python3")
  lu.skipIf(registry.sanitized, "Python cannot load a library that is built with a sanitizer")
end

test("the example in Python", function()
  skip_without_python()
  support.in_folder(function(folder)
    local script = folder .. "/run.sh"
    support.write(script, ('exec %s -B %s "$1" "$2" %s\n'):format(python(), support.quote(source
      .. "/scripts/embed/predict.py"), support.quote(support.build .. "/libscullery.so")))
    check_example("sh " .. script, folder)
  end)
end)

-- The first block of docs/embedding.md in a language.
local function printed(language)
  local text = support.read(source .. "/docs/embedding.md")
  return assert(text:match("```" .. language .. "\n(.-)```"), "there is no " .. language)
end

-- What the programs of docs/embedding.md read, in their folder; returns what they say.
local function example_model(folder)
  local ds = models.classes(60, 2)
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge() }:fit(ds)
  p:save(folder .. "/model.safetensors")
  return p:labels(sc.matrix{ { 0.5, -1, 2 }, { 1.5, 0, -1 } })
end

test("the program in C that the docs print", function()
  local compiler = os.getenv "CC" or "cc"
  lu.skipIf(support.shell(compiler .. " --version") ~= 0, "there is no C compiler")
  lu.skipIf(registry.sanitized, "the library would need its sanitizer in the example")
  support.in_folder(function(folder)
    local labels, build = example_model(folder), support.quote(support.build)
    support.write(folder .. "/program.c", printed "c")
    local status, out, err = support.shell(("cd %s && %s -Wall -Wextra -Werror -I%s -o program \z
      program.c -L%s -lscullery -Wl,-rpath,%s && ./program"):format(folder, compiler,
      support.quote(source .. "/core/include"), build, build))
    lu.assertEquals({ status, out, err }, { 0, table.concat(labels, "\n") .. "\n", "" })
  end)
end)

test("the Python that the docs print", function()
  skip_without_python()
  support.in_folder(function(folder)
    local labels = example_model(folder)
    support.write(folder .. "/program.py", printed "python")
    local status, out, err = support.shell(("cd %s && PYTHONPATH=%s LD_LIBRARY_PATH=%s %s -B \z
      program.py"):format(folder, support.quote(source .. "/scripts/embed"),
      support.quote(support.build), python()))
    local wanted = ("['%s', '%s']\n"):format(table.unpack(labels))
    lu.assertEquals({ status, out, err }, { 0, wanted, "" })
  end)
end)

test("from Python: bits, threads, forks, misuse", function()
  skip_without_python()
  support.in_folder(function(folder)
    local status, _, err = support.scullery(("%s %s"):format(support.quote(source
      .. "/tests/core/model/embed_models.lua"), folder))
    lu.assertEquals({ status, err }, { 0, "" })
    lu.assertEquals({ support.shell(("%s -B %s %s %s %s"):format(python(), support.quote(source
      .. "/tests/core/model/embed_python.py"), support.quote(source .. "/scripts/embed"),
      support.quote(support.build .. "/libscullery.so"), folder)) }, { 0, "all well\n", "" })
  end)
end)

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status)
