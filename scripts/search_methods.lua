-- Searches that try a fifth of a grid: is their result as good?
--
--   build/scullery scripts/search_methods.lua [--out DIR] [--table] [--seeds 10] [--set data=wdbc]
--
-- A grid of 8 widths and 8 lambdas of sc.features{ T = 500 } and ridge, in five folds; the whole
-- grid, method = "halving", and method = "bayes" with 13 values of the score. A cell is a set of
-- scripts/named_sets.lua and a method: the mean over seeds (rows and features anew for each) of the
-- share of wrong labels, or 1 - R2, on test rows, and of the processor seconds. Seeds from 6 on:
-- by 1 to 5 it was decided how many cells of a Bayesian search are where the mean is least.
--
-- Results are in DIR/search_methods (default: experiments); the folder scripts/cells holds those of
-- the table in docs/optimization.md. At the end it prints that table; --table prints it and runs
-- nothing. Finding: halving is as good as the grid, Bayesian optimisation nearly. Five minutes.
local sc = require "scullery"
local named_sets = dofile((arg[0]:gsub("[^/]*$", "named_sets.lua")))
local args = sc.arguments{ out = "experiments", table = false, seeds = 10 }
local FIRST = 6
local sets = { "wdbc", "waveform", "spambase", "covtype10k", "letter", "adult", "salsa_airfoil",
  "cpu_act", "california_housing", "house_16h" }
local methods = { "grid", "halving", "bayes" }

-- Bayesian optimisation takes any value of the ranges.
local function searched(method, seed)
  local count = method ~= "bayes" and 8 or nil
  return sc.pipeline{ sc.standardize(),
    sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose.log{ 0.01, 1, count = count } },
      phi = sc.nonlinearity.fourier(), T = 500, seed = seed },
    sc.solver.ridge{ lambda = sc.choose.log{ 1e-8, 0.1, count = count } } }
end

local exp = args.table and sc.experiment.open("search_methods", { folder = args.out })
  or sc.experiment{
  name = "search_methods", folder = args.out,
  cells = { data = sets, method = methods },
  run = function(cell)
    local result, seconds, fits = {}, {}, {}
    for k = 1, args.seeds do
      local seed = FIRST + k - 1
      local train, test = named_sets.rows(cell.data, seed)
      local began = os.clock()
      local p = searched(cell.method, seed):search(train, { method = cell.method,
        draws = cell.method == "bayes" and 13 or nil, folds = 5, seed = seed })
      seconds[k], fits[k] = os.clock() - began, #p.table
      result[("error %d"):format(seed)] = 1 - p:score(test)
    end
    result.seconds, result.fits = named_sets.mean(seconds), named_sets.mean(fits)
    return result
  end,
}

local of = {}
for _, row in ipairs(exp.rows) do
  if row.status == "done" then of[row.cell.data .. row.cell.method] = row.result end
end

-- The mean error of a method, or its mean difference from that of another one.
local function errors(result, other)
  local list = {}
  for k = 1, args.seeds do
    local name = ("error %d"):format(FIRST + k - 1)
    list[k] = result[name] - (other and other[name] or 0)
  end
  return named_sets.mean(list)
end

print "| set | grid | halving | bayes | seconds |\n|---|---|---|---|---|"
for _, name in ipairs(sets) do
  local grid, line, seconds = of[name .. "grid"], { (name:gsub("^salsa_", "")) }, {}
  for i, method in ipairs(methods) do
    local one = of[name .. method]
    if not one then break end
    local mean, stderr = errors(one, i > 1 and grid)
    line[i + 1] = (i == 1 and "%.4f ± %.4f" or "%+.4f ± %.4f"):format(mean, stderr)
    seconds[i] = ("%.2g"):format(one.seconds)
  end
  line[#line + 1] = table.concat(seconds, ", ")
  print("| " .. table.concat(line, " | ") .. " |")
end
