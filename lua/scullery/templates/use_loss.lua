local sc = require "scullery"
local X, noise = sc.randn{ 400, 3, seed = 1 }, sc.randn{ 400, 1, seed = 2 }
local y = {}
for i = 1, 400 do y[i] = X:get(i, 1) + noise:get(i, 1) + (i % 20 == 0 and 30 or 0) end
local train, test = sc.dataset{ X = X, y = y, task = "regression" }:split{ test = 0.25, seed = 0 }
local p = sc.pipeline{ sc.solver.erm{ loss = sc.loss.my_plugin{ scale = 1 }, lambda = 1e-4 } }
print(p:fit(train):score(test))
