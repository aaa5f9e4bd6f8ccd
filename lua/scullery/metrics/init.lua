--- Metrics of predictions: (prediction, truth[, options]), matrices or lists. Labels are compared
--- by value, and every metric takes weights = the weight of each row. Metrics that are plugins
--- (sc.metric) are here under their names too.
local plugged = require "scullery.metrics.plugged"

local metrics = {}

for _, part in ipairs{ "labels", "values", "scores", "multilabel" } do
  for name, f in pairs(require("scullery.metrics." .. part)) do metrics[name] = f end
end

-- A name that is not built in is that of a plugin.
return setmetatable(metrics, {
  __index = function(_, name) return plugged.metric(name) end,
  __pairs = function()
    local all = {}
    for _, name in ipairs(plugged.names()) do all[name] = plugged.metric(name) end
    for name, f in next, metrics do all[name] = f end
    return next, all
  end,
})
