local sc = require "scullery"
local X, noise = sc.randn{ 400, 3, seed = 1 }, sc.randn{ 400, 1, seed = 2 }
local y = X:column(1) + noise * 0.2
-- wrong by far, in the rows of the fit alone
for i = 20, 300, 20 do y:set(i, 1, y:get(i, 1) + 30) end
local p = sc.pipeline{ sc.solver.erm{ loss = sc.loss.my_plugin{ scale = 1 }, lambda = 1e-4 } }
p:fit(X:slice(1, 300), y:slice(1, 300), { task = "regression" })
print(p:score(X:slice(301, 400), y:slice(301, 400)))
