local sc = require "scullery"
local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
local lambda = sc.choose{ 1e-3, 1e-2, 0.1 }
local p = sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = lambda } }
local best = p:search(train, { score = sc.metric.my_plugin{ gamma = 2 } })
print(best:score(test, { metric = "my_plugin" }))
print(best:score(test))
