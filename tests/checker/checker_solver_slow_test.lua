-- Every built-in solver passes the checker. What it skips is listed, so that a test that never runs
-- is seen.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local passes = dofile "tests/helpers/passes.lua"

local all_models = " csr path penalty sparse start objective optimal loss estimate \z
  tolerance"
local no_models = " save decide damaged"

local skipped = {
  adaboost = "intercept limit simpler targets" .. all_models,
  boosting = "limit simpler" .. all_models:gsub(" loss", ""),
  box = "csr estimate path sparse" .. no_models,
  cg = "estimate loss objective optimal path" .. no_models,
  erm = "estimate path" .. no_models,
  hinge = "estimate sparse targets" .. no_models,
  huber = "csr estimate objective optimal path sparse" .. no_models,
  kernel_ridge = "limit" .. all_models:gsub(" path", ""):gsub(" tolerance", ""),
  knn = "intercept limit simpler" .. all_models,
  lasso = "estimate loss sparse" .. no_models,
  logistic = "estimate targets" .. no_models,
  optimal_stepsize = "csr estimate intercept limit objective optimal path penalty simpler sparse \z
    start tolerance" .. no_models,
  ridge = "limit loss objective optimal sparse tolerance" .. no_models,
  sfgd = "csr estimate intercept limit objective optimal path penalty simpler sparse \z
    start tolerance" .. no_models,
  svm = "csr estimate intercept limit loss objective optimal path penalty sparse start",
  trimmed = "csr estimate loss objective optimal path sparse tolerance" .. no_models,
}

skipped.poisson = skipped.erm .. " classes"

-- The same for tests of sizes and endings.
local skipped_at_size = {
  adaboost = "long-path far-options endings weighted-objective seeds",
  boosting = "long-path far-options endings weighted-objective seeds",
  box = "long-path far-options seeds",
  cg = "long-path weighted-objective",
  erm = "long-path",
  huber = "long-path weighted-objective seeds",
  kernel_ridge = "endings weighted-objective seeds",
  lasso = "seeds",
  knn = "long-path far-options endings weighted-objective seeds",
  optimal_stepsize = "sizes long-path far-options endings weighted-objective",
  ridge = "endings weighted-objective seeds",
  sfgd = "sizes long-path far-options endings weighted-objective",
  svm = "long-path far-options endings weighted-objective seeds",
  trimmed = "long-path weighted-objective seeds",
}

skipped_at_size.poisson = skipped_at_size.erm .. " seeds"

for _, name in ipairs{ "adaboost", "knn", "optimal_stepsize", "poisson", "sfgd" } do
  skipped_at_size[name] = skipped_at_size[name] .. " cuts"
end

-- Those without a loss of numbers.
local without_means = "adaboost cg hinge kernel_ridge knn lasso logistic ridge svm trimmed "

-- Those whose own loop is kept in checkpoints.
local kept = "adaboost erm logistic optimal_stepsize sfgd svm "

local of_solvers = {}
for _, test in ipairs(require "scullery_checker.solver") do of_solvers[test.name] = true end

local function sorted(words)
  local list = {}
  for word in words:gmatch("%S+") do list[#list + 1] = word end
  table.sort(list)
  return table.concat(list, " ")
end

TestSolvers = {}

-- Solvers with the code of erm or of poisson and another loss: the tests that see the loss, and
-- what it predicts.
local alike = { quantile = true, lad = true, gamma_regression = true, tweedie = true }

for name in pairs(alike) do
  TestSolvers["test_" .. name] = function()
    for _, test in ipairs{ "solves", "weights", "targets", "objective", "optimal", "loss", "means",
      "learns", "same-bits", "float32", "edges", "definition" } do
      lu.assertEquals(passes("solver." .. name, { only = test, in_process = true, seed = 1 }), {})
    end
  end
end

function TestSolvers.test_levels_of_a_list()
  lu.assertEquals(passes("solver.quantile", { only = "lists", in_process = true, seed = 1 }), {})
end

for _, entry in ipairs(core.plugin_list()) do
  if entry.kind == "solver" and not alike[entry.name] then
    TestSolvers["test_" .. entry.name] = function()
      local all = sc.plugin.check("solver." .. entry.name, { in_process = true, seed = 1 })
      local found = ""
      for _, result in ipairs(all.results) do
        if result.outcome ~= "skip" then
          lu.assertEquals(result.outcome, "pass", result.name .. ": " .. result.text)
        elseif of_solvers[result.name] then
          found = found .. " " .. result.name
        end
      end
      lu.assertEquals(sorted(found), sorted("lists " .. (skipped[entry.name] or "") .. " "
        .. (skipped_at_size[entry.name] or "") .. (entry.name ~= "trimmed" and " shares" or "")
        .. (without_means:find(entry.name .. " ", 1, true) and " means" or "")
        .. (kept:find(entry.name .. " ", 1, true) and "" or " resumed")))
    end
  end
end

os.exit(lu.LuaUnit.run())
