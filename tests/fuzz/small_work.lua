--- A little of everything that takes memory, in the current folder: reads, fits, searches,
--- predicts, saves. Run as a script it does all, and reports an error as any script would; as a
--- module it is the list of parts { name, function }.
local sc = require "scullery"
local core = require "scullery.core"

local parts = {}
local function part(name, f) parts[#parts + 1] = { name, f } end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  assert(file:write(text))
  assert(file:close())
  return path
end

local csv = { "a,b,c,class\n" }
for i = 1, 40 do
  csv[#csv + 1] = ("%d,%s,%s,%s\n"):format(i * 7 % 11, i % 3 == 0 and "x" or "y", i % 5,
    i % 2 == 0 and "u" or "v")
end
csv = table.concat(csv)

local function classes()
  return sc.data.csv(write("rows.csv", csv), { quiet = true, missing = { "?" } })
end

local function numbers()
  return sc.dataset{ X = sc.randn{ 30, 3, seed = 1 }, y = sc.ones(30, 1) }
end

local function features(more)
  local given = { p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(), T = 6, seed = 1 }
  for key, value in pairs(more or {}) do given[key] = value end
  return sc.features(given)
end

part("read csv", function() classes():describe() end)
part("stream csv", function()
  local ds = sc.data.csv(write("rows.csv", csv), { quiet = true, stream = true })
  sc.pipeline{ sc.standardize(), sc.solver.ridge() }:fit(ds)
end)
part("read libsvm", function()
  sc.data.libsvm(write("rows.libsvm", "1 1:2 3:4\n-1 2:1\n1 1:1\n"))
end)
part("npy", function()
  sc.randn{ 20, 3, seed = 1 }:save("x.npy")
  sc.data.npy("x.npy")
end)
part("sparse rows", function()
  local X = sc.matrix.csr(sc.rand{ 20, 9, seed = 1 }:map(function(v) return v < 0.2 and v or 0 end))
  X = sc.vcat(sc.hcat(X:slice(2, 9), X:select{ 1, 3, 1, 4, 5, 6, 7, 8 }), sc.hcat(X, X) * 2)
  local ds = sc.dataset{ X = X, y = sc.ones(28, 1), task = "regression" }
  ds:describe()
  ds:save("x.npz")
  ds:save("x.libsvm")
  sc.data.npz("x.npz", { task = "regression" })
  sc.data.libsvm("x.libsvm", { sparse = true, task = "regression" })
  sc.data.libsvm("x.libsvm", { sparse = false, stream = true, task = "regression" })
  sc.data.matrix_market(write("x.mtx",
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 5\n3 3 -1\n"))
  sc.data.csv(write("rows.csv", csv), { quiet = true, missing = { "?" }, sparse = true }):head(2)
end)
for _, name in ipairs{ "ridge", "cg", "lasso", "logistic", "hinge", "knn", "svm", "adaboost",
  "sfgd", "kernel_ridge" } do
  part("fit " .. name, function()
    local with = (name == "knn" or name == "svm" or name == "adaboost" or name == "kernel_ridge")
      and sc.minmax() or features(name == "sfgd" and { K = sc.kernel.gaussian() } or nil)
    local given = name == "sfgd" and { batch = 8 } or nil
    local ds = classes()
    local p = sc.pipeline{ sc.standardize(), with, sc.solver[name](given) }:fit(ds)
    p:predict(ds.X)
    p:save("model_" .. name)
    sc.load("model_" .. name):predict(ds.X)
  end)
end
part("search", function()
  sc.pipeline{ features{ T = sc.choose{ 3, 5 } }, sc.solver.ridge{ lambda = sc.choose{ 1e-3, 1 } } }
    :search(classes(), { folds = 3 })
end)
part("cv and calibration", function()
  local ds = classes()
  local p = sc.pipeline{ sc.standardize(), features(), sc.solver.ridge() }:fit(ds)
  p:cv(ds, { folds = 2 })
  p:calibrate{ folds = 2 }:probabilities(ds.X)
end)
part("weighting", function()
  local p = sc.pipeline{ features{ phi = sc.nonlinearity.sign(),
    K = sc.kernel.gaussian{ width = 2 } }, sc.solver.ridge{ penalty = "rkhs" } }:fit(numbers())
  p:bound()
  p:prune{ epsilon = 0.1 }
end)
part("cells", function()
  sc.pipeline{ sc.minmax(), sc.features{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(),
    T = 4 }, sc.solver.ridge() }:fit(numbers())
end)
part("predict to files", function()
  local predict = require "scullery.model.predict"
  sc.pipeline{ sc.standardize(), features(), sc.solver.ridge() }:fit(classes()):save("model")
  write("new.csv", csv)
  for _, ending in ipairs{ "csv", "npy" } do
    predict.run{ model = "model", data = "new.csv", output = "said." .. ending }
  end
end)
part("kernels and codes", function()
  local X = sc.randn{ 20, 3, seed = 2 }
  local inst = sc.instantiation{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.maxout() }
  inst:collision(X, X)
  sc.codes(sc.ones(4, 9)):save("codes")
  sc.codes.load("codes")
  core.gram(core.instance("kernel", "gaussian", {}), X)
end)
part("sums", function()
  local p = sc.pipeline{ sc.standardize(), features{ p = sc.sampler.gaussian{ sigma = 1 },
    dtype = "int16" }, sc.solver.ridge{ lambda = 1e-3 } }
  for i = 1, 2 do p:sums(numbers(), { part = { i, 2 }, folds = 2, save = i .. ".sums" }) end
  sc.merge{ "2.sums", "1.sums" }:search()
  p:fit(numbers():subset(1, 20), { sums = true }):update(numbers():subset(21, 30))
  p:forget(numbers():subset(3, 5)):save("model", { sums = true })
end)
part("rows of a function", function()
  sc.pipeline{ sc.standardize(), sc.solver.cg() }:fit(sc.data.rows{ n = 30, d = 3,
    read = function(first, count)
      return sc.randn{ count, 3, seed = first }, sc.ones(count, 1)
    end })
end)

if ... == "small_work" then return parts end

for _, one in ipairs(parts) do one[2]() end
print "done"
