--- scullery bench predict: the predictions for the rows of a file, beside reading the file alone
--- and beside p:decision on the same rows in memory.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local instantiation = require "scullery.compose.instantiation"
local measure = require "scullery.bench.measure"
local pipeline = require "scullery.model.pipeline"
local predict = require "scullery.model.predict"
local stages = require "scullery.compose.stages"

local samplers = component.group "sampler"
local nonlinearities = component.group "nonlinearity"
local learners = component.group "solver"

-- A classifier with T Fourier features, fitted to the first 2000 rows of X.
local function fitted(X, T)
  local few = X:slice(1, 2000)
  local features = instantiation.features{ p = samplers.gaussian{ sigma = 0.2 },
    phi = nonlinearities.fourier(), T = T, seed = 1 }
  return pipeline.new{ stages.standardize(), features, learners.ridge{ lambda = 1e-3 } }:fit(
    dataset.new{ X = few, y = few:column(1):map(function(v) return v > 0 and 1 or 0 end),
      task = "classification" })
end

-- An .npy file of rows to a CSV file of predictions, with case.T features.
local function predicting(report, case, quick)
  local n, d, T, name = 400000 // (quick and 4 or 1), 20, case.T, os.tmpname()
  local X, out, rows = core.randn{ n, d, seed = 1 }, name .. ".csv", name .. ".npy"
  X:save(rows)
  local p = fitted(X, T)
  p:save(name)
  local memory, blocks, file = math.huge, math.huge, math.huge
  for _ = 1, 5 do -- in turns, as the machine's rate changes
    memory = math.min(memory, measure.seconds(1, function() p:decision(X) end))
    blocks = math.min(blocks, measure.seconds(1, function()
      for _ in predict.rows(rows, p.fitted, "npy") do end
    end))
    file = math.min(file, measure.seconds(1, function()
      predict.run{ model = name, data = rows, output = out }
    end))
  end
  report:row{ id = case.id, what = ("predict, %d x %d, %d features: .npy to CSV"):format(n, d, T),
    seconds = file, floor = measure.floor.project("float64", n, d, T),
    note = ("%.0f rows/s; reading %.3f s; rate without it / rate of p:decision %.2f"):format(
      n / file, blocks, memory / (file - blocks)) }
  for _, path in ipairs{ name, rows, out } do os.remove(path) end
end

return { cases = { { id = "predict_100", run = predicting, T = 100 },
  { id = "predict_1000", run = predicting, T = 1000 } } }
