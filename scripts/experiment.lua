-- An experiment that survives a kill: the error of random kitchen sinks on wdbc against the number
-- of features, for three samplers, over ten seeds. Stop it at any time and start it again.
--
--   build/scullery scripts/experiment.lua [--set T=10,1000] [--set seed=1,2]
--
-- Results are in experiments/sinks; the script prints a table of them, draws a picture and writes a
-- report, experiments/sinks/report.html.
local sc = require "scullery"

local ds = sc.data.load("wdbc")

local exp = sc.experiment{
  name = "sinks", data = ds, processes = 2,
  cells = {
    T = { 5, 10, 20, 50, 100, 200 },
    sampler = { "gaussian", "orthogonal", "qmc" },
    seed = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
  },
  run = function(cell)
    local train, test = ds:split{ test = 0.25, seed = cell.seed }
    local p = sc.pipeline{
      sc.standardize(),
      sc.features{ p = sc.sampler[cell.sampler]{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(),
        T = cell.T, seed = cell.seed },
      sc.solver.ridge{ lambda = 1e-4 },
    }
    return { error = 1 - p:fit(train):score(test) }
  end,
}

print(exp:table{ columns = "sampler", value = "error" })
local best = exp:best{ value = "error" }
print(("smallest error: %.4f, %s, T = %d"):format(best.mean, best.cell.sampler, best.cell.T))

exp:save("experiments/sinks/results.csv")
local picture = sc.plot.line{ series = exp:series{ x = "T", value = "error", series = "sampler" },
  x_log = true, x_label = "random features T", y_label = "test error" }
picture:save("experiments/sinks/error.txt")
print(picture)
exp:report("experiments/sinks/report.html")
