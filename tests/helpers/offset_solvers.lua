--- What offsets_slow_test.lua asks of each registered solver: options, and the reference
--- (tests/reference) that has the same optimum.
---
--- A row: solver, label, task ("regression", "two", "three"), n (rows to learn from), and
---   make(unit, T)   the solver's options, the reference's name and the reference's options, for T
---                   columns of the scales unit.least, unit.middle and unit.most
---   features        it learns weights of features: also through random features
---   standardized    also behind sc.standardize()
---   streamed        also from a stream
---   exact           its status tells nothing about accuracy: it is to be right whatever that is
---   stochastic      no optimum is promised: it must not say "converged"
local sc = require "scullery"

local rows = {}
local function add(row)
  row.n = row.n or 60
  row.label = row.label or row.solver
  rows[#rows + 1] = row
end

-- Rows of solvers with a penalty of weights: at a lambda that counts, and at a tiny one.
local function penalised(solver, label, task, given, reference, wanted, singular)
  for _, strength in ipairs{ { 0.1, "" }, { 1e-12, ", tiny lambda" } } do
    add{ solver = solver, label = label .. strength[2], task = task, features = true,
      may_fail = singular and strength[2] ~= "",
      standardized = strength[2] == "", streamed = strength[2] == "", make = function(unit)
        local lambda = strength[1] * unit.least ^ 2
        local options, same = { lambda = lambda, intercept = true }, { lambda = lambda }
        for key, value in pairs(given) do options[key] = value end
        for key, value in pairs(wanted or {}) do same[key] = value end
        return options, reference, same
      end }
  end
end

penalised("ridge", "ridge", "regression", { form = "primal" }, "ridge")
-- With fewer columns than rows the dual is as singular as its lambda is small.
penalised("ridge", "ridge, dual", "regression", { form = "dual" }, "ridge", nil, true)
penalised("cg", "cg", "regression", { tolerance = 1e-14 }, "ridge")
penalised("cg", "cg, no preconditioner", "regression",
  { tolerance = 1e-14, preconditioner = "none" }, "ridge")
penalised("trimmed", "trimmed", "regression", { fraction = 0.1 }, "trimmed", { fraction = 0.1 })
penalised("huber", "huber", "regression", { delta = 0.5, scale = "none", tolerance = 1e-13 },
  "huber", { delta = 0.5 })
penalised("logistic", "logistic", "two", { tolerance = 1e-12, max_iterations = 1000 },
  "logistic")
penalised("logistic", "logistic, 3 classes", "three", { tolerance = 1e-12,
  max_iterations = 1000 }, "logistic")

penalised("erm", "erm", "regression", { loss = sc.loss.square(), tolerance = 1e-13 }, "ridge")
penalised("erm", "erm, logistic", "two", { loss = sc.loss.logistic(), tolerance = 1e-12,
  max_iterations = 1000 }, "logistic")

add{ solver = "logistic", label = "logistic, sgd", task = "two", stochastic = true,
  make = function(unit) return { method = "sgd", batch = 10, lambda = 0.1 * unit.least ^ 2 } end }

for _, ratio in ipairs{ 1, 0.5 } do
  add{ solver = "lasso", label = ratio == 1 and "lasso" or "elastic net", task = "regression",
    features = true, standardized = true, streamed = true, make = function(unit)
      -- both parts of the penalty are of the size that counts for the smallest column
      local l1, l2 = 0.1 * ratio * unit.least, 0.1 * (1 - ratio) * unit.least ^ 2
      local given = { lambda = l1 + l2, l1_ratio = l1 / (l1 + l2) }
      return { lambda = given.lambda, l1_ratio = given.l1_ratio, tolerance = 1e-15,
        intercept = true }, "lasso", given
    end }
end

for _, loss in ipairs{ "square", "huber", "logistic", "squared_hinge", "hinge" } do
  local numbers = loss == "square" or loss == "huber"
  add{ solver = "box", label = "box, " .. loss, task = numbers and "regression" or "two",
    features = true, standardized = loss == "square", streamed = loss == "square",
    -- Newton's method of the reference does not end where one row outweighs all others
    no_outlier = loss == "huber" or loss == "logistic",
    make = function(unit, parameters)
      -- the hinge with all coefficients at a bound leaves the constant an interval
      local bound = (loss == "hinge" and 1 or 0.6) / unit.middle
      local same = { bound = bound }
      if loss ~= "hinge" then same.loss = loss end
      if loss == "huber" then same.delta = 1 end
      return { C = bound * parameters, loss = loss, tolerance = 1e-15, intercept = true },
        loss == "hinge" and "box_hinge" or "box", same
    end }
end

for _, lambda in ipairs{ 0.05, 1e-3 } do
  add{ solver = "hinge", label = "hinge" .. (lambda < 0.01 and ", small lambda" or ""),
    task = "two", features = true, standardized = true, streamed = true, make = function(unit)
      local given = { lambda = lambda * unit.least ^ 2 }
      return { lambda = given.lambda, tolerance = 1e-15, intercept = true }, "hinge", given
    end }
end

-- Kernels, whose width is that of the largest column.
local function kernel(name, unit)
  if name == "linear" then return sc.kernel.linear{} end
  return sc.kernel.gaussian{ gamma = 0.3 / unit.most ^ 2 }
end
for _, name in ipairs{ "linear", "gaussian" } do
  for _, task in ipairs{ "two", "regression" } do
    add{ solver = "svm", label = ("svm, %s, %s"):format(name, task == "two" and "classes"
      or "numbers"), task = task, n = 30, standardized = true, make = function(unit)
        local C = name == "linear" and (unit.reach or unit.most) ^ -2 or 1
        return { kernel = kernel(name, unit), C = C, tolerance = 1e-10, epsilon = 0.1 }, "svm",
          { kernel = name, C = C, gamma = 0.3 / unit.most ^ 2,
            epsilon = task ~= "two" and 0.1 or nil }
      end }
  end
  for _, precision in ipairs{ "float64", "float32" } do
    for _, lambda in ipairs{ 0.01, 1e-9 } do
      add{ solver = "kernel_ridge", label = ("kernel_ridge, %s, %s%s"):format(name, precision,
        lambda < 1e-3 and ", tiny lambda" or ""), task = "regression",
        standardized = precision == "float64", streamed = precision == "float64",
        make = function(unit)
          local given = { kernel = name, gamma = 0.3 / unit.most ^ 2,
            lambda = name == "linear" and lambda * unit.most ^ 2 or lambda }
          return { kernel = kernel(name, unit), lambda = given.lambda, precision = precision,
            intercept = true }, "kernel_ridge", given
        end }
    end
  end
end

-- One round from the mean on is what the boosted solver finds.
add{ solver = "boosting", task = "regression", standardized = true, streamed = true,
  make = function(unit)
    local given = { kernel = "gaussian", gamma = 0.3 / unit.most ^ 2, lambda = 0.01 }
    return { rounds = 1, rate = 1, solver = sc.solver.kernel_ridge{ intercept = true,
      kernel = kernel("gaussian", unit), lambda = given.lambda } }, "kernel_ridge", given
  end }

add{ solver = "knn", task = "two", standardized = true, streamed = true,
  make = function() return { k = 5 }, "knn", { k = 5 } end }
add{ solver = "adaboost", task = "two", exact = true, standardized = true, streamed = true,
  make = function() return { stumps = 8 }, "adaboost", { stumps = 8 } end }

for _, name in ipairs{ "sfgd", "optimal_stepsize" } do
  add{ solver = name, task = "regression", stochastic = true, weighting = true,
    make = function() return { batch = 10, lambda = 0.1 } end }
end

return rows
