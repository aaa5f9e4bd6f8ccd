--- Long work of every kind, for signals.lua and limits.lua: long_work.list is a list of { name,
--- text of Lua }; each text works for some ten seconds or more, in the current folder, where
--- long_work.write put what it reads.
local long_work = {}

--- long_work.rows: those of long.csv and long.libsvm.
long_work.rows = 200000

local list = {}
long_work.list = list
local function add(name, text) list[#list + 1] = { name = name, text = text } end

local data = "local X = sc.randn{ 20000, 20, seed = 1 } local y = X:column(1) "
local classes = data .. [[
for i = 1, 20000 do y:set(i, 1, i % 2) end
local ds = sc.dataset{ X = X, y = y, task = "classification" } ]]
local features = "sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(), \z
T = %d, seed = 1 }"

local function fit(name, stages, before)
  add("fit " .. name, (before or data .. "local ds = sc.dataset{ X = X, y = y } ")
    .. "while true do sc.pipeline{ " .. stages .. " }:fit(ds) end")
end

fit("ridge", features:format(3000) .. ", sc.solver.ridge()")
fit("cg", features:format(2000) .. ", sc.solver.cg{ tolerance = 1e-14 }")
fit("lasso", features:format(1000) .. ", sc.solver.lasso{ lambda = 1e-6 }")
fit("box", features:format(1000) .. ", sc.solver.box()")
fit("huber", features:format(1000) .. ", sc.solver.huber()")
fit("logistic", features:format(1000) .. ", sc.solver.logistic{ lambda = 1e-9 }", classes)
fit("hinge", features:format(1000) .. ", sc.solver.hinge{ lambda = 1e-9 }", classes)
fit("adaboost", "sc.solver.adaboost{ stumps = 1000 }", classes)
fit("svm", "sc.solver.svm()", classes)
fit("kernel ridge", "sc.solver.kernel_ridge()",
  "local ds = sc.dataset{ X = sc.randn{ 6000, 9, seed = 1 }, y = sc.ones(6000, 1) } ")
fit("trimmed", features:format(1000) .. ", sc.solver.trimmed()")
fit("components", "sc.pca{ k = 5 }, " .. features:format(2000) .. ", sc.solver.ridge()")
add("k nearest neighbours", classes .. "local p = sc.pipeline{ sc.solver.knn() }:fit(ds) "
  .. "while true do p:predict(X) end")
add("search", classes .. "sc.pipeline{ " .. features:format(500) .. ", sc.solver.ridge{ lambda = \z
sc.choose.log{ 1e-9, 1, count = 9 } } }:search(ds, { folds = 10 }) while true do end")
add("cross-validation", classes .. "local p = sc.pipeline{ " .. features:format(500)
  .. ", sc.solver.ridge() }:fit(ds) while true do p:cv(ds, { folds = 10 }) end")
add("calibration", classes .. "local p = sc.pipeline{ " .. features:format(500)
  .. ", sc.solver.ridge() }:fit(ds) while true do p:calibrate{ folds = 10 } end")
add("rows of a function", "sc.pipeline{ sc.solver.ridge() }:fit(sc.data.rows{ n = 1 << 30, \z
d = 20, read = function(first, count) return sc.randn{ count, 20, seed = first }, \z
sc.ones(count, 1) end })")
add("read csv", 'while true do sc.data.csv("long.csv", { quiet = true }) end')
add("stream csv", 'local ds = sc.data.csv("long.csv", { quiet = true, stream = true }) while true \z
do sc.pipeline{ sc.solver.ridge() }:fit(ds) end')
add("read libsvm", 'while true do sc.data.libsvm("long.libsvm") end')
add("read npy", 'while true do sc.data.npy("long.npy") end')
add("read text", 'while true do require("scullery.core").read_text("long.csv") end')
add("digest", 'require("scullery.core").sha256("/dev/zero")')
add("write csv", data .. 'while true do require("scullery.core").write_csv(X, nil, "out.csv") end')
add("write npy", data .. 'while true do X:save("out.npy") end')
add("save a model", classes .. "local p = sc.pipeline{ " .. features:format(2000)
  .. ', sc.solver.ridge() }:fit(ds) while true do p:save("out.model") end')
add("gram matrix", 'local core = require "scullery.core" while true do core.gram(core.instance(\z
"kernel", "laplacian", {}), sc.randn{ 8000, 50, seed = 1 }) end')
add("kernel error", "while true do sc.kernel_error{ inst = sc.instantiation{ p = \z
sc.sampler.gaussian(), phi = sc.nonlinearity.fourier() }, \z
X = sc.randn{ 2000, 5, seed = 1 }, T = { 100, 10000 }, seeds = 50 } end")
add("eigenvalues", "local X = sc.randn{ 1500, 1500, seed = 1 } X = X * X:t() \z
while true do X:eigvals() end")
add("product", "local X = sc.randn{ 3000, 3000, seed = 1 } while true do X = X * X end")
add("function of elements", "local X = sc.randn{ 3000, 1000, seed = 1 } while true do \z
X:map(math.sin) end")
add("near codes", "local codes = sc.codes(sc.ones(20000, 600)) while true do \z
codes:nearest(codes, 3) end")
add("a loop of Lua", "while true do end")
add("a coroutine", "coroutine.wrap(function() while true do end end)()")
add("coroutines that resume", "while true do local f = coroutine.wrap(function() for i = 1, 1e5 \z
do coroutine.yield(i) end end) for _ = 1, 1e5 do f() end end")
add("a coroutine in a row function", "sc.pipeline{ sc.solver.ridge() }:fit(sc.data.rows{ n = 1 << \z
30, d = 2, read = function() return coroutine.wrap(function() while true do end end)() end })")
add("a progress function", classes .. "sc.pipeline{ " .. features:format(500)
  .. ", sc.solver.logistic() }:fit(ds, { progress = function() while true do end end })")
add("help", 'while true do help(("y"):rep(70000)) end')

--- long_work.write(folder, binary): the files that the texts read.
function long_work.write(folder, run)
  run(("local rows = %d\n"):format(long_work.rows) .. [[
local sc, file = sc, assert(io.open("long.csv", "w"))
file:write("a,b,c,d,e,word,y\n")
for i = 1, rows do
  file:write(i % 7, ",", i % 11, ".5,", i, ",", -i, ",1e", i % 9, ",w", i % 5, ",", i % 3, "\n")
end
file:close()
file = assert(io.open("long.libsvm", "w"))
for i = 1, rows do
  file:write(i % 2, " 1:", i % 7, " 3:", i, " 19:", i % 3, ".25\n")
end
file:close()
sc.randn{ 500000, 20, seed = 1 }:save("long.npy")
local ds = sc.data.csv("long.csv", { quiet = true, target = "y", task = "classification" })
sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian(), phi =
  sc.nonlinearity.fourier(), T = 200, seed = 1 }, sc.solver.logistic() }:fit(ds:subset(1, 2000))
  :save("long.model")
]], folder)
end

return long_work
