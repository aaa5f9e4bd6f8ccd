local sc = require "scullery"
local ds, path = sc.data.load "wdbc", os.tmpname()
local X, file <close> = ds.X, assert(io.open(path, "wb"))
file:write("FLT1", string.pack("<I4I4", X:rows(), X:cols() + 1))
for j = 1, X:cols() do file:write("x", j, "\0") end
file:write "class\0"
for i = 1, X:rows() do
  for j = 1, X:cols() do file:write(string.pack("<f", X:get(i, j))) end
  file:write(string.pack("<f", ds.y:get(i, 1)))
end
file:flush()
local train, test = sc.data.read(path, { target = "class", task = "classification" })
  :split{ test = 0.25, seed = 0 }
os.remove(path)
local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-2 } }
print(p:fit(train):score(test))
