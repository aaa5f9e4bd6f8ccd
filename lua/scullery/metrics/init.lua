--- Measures of predictions: (prediction, truth[, options]), matrices or lists. Labels are compared
--- by what they say, and every measure takes weights = how much each row counts.
local metrics = {}

for _, part in ipairs{ "labels", "values", "scores" } do
  for name, f in pairs(require("scullery.metrics." .. part)) do metrics[name] = f end
end

return metrics
