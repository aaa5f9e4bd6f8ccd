--- Metrics of predictions: (prediction, truth[, options]), matrices or lists. Labels are compared
--- by value, and every metric takes weights = the weight of each row.
local metrics = {}

for _, part in ipairs{ "labels", "values", "scores" } do
  for name, f in pairs(require("scullery.metrics." .. part)) do metrics[name] = f end
end

return metrics
