-- The table of figure 1: AdaBoost's time over that of stumps with the same T, and over that of the
-- fastest cell of each method with as small an error. times(exp, methods), AdaBoost the last.
return function(exp, methods)
  local found = { title = "As small an error as AdaBoost's: T, seconds, times faster", rows = {},
    columns = { "data", "AdaBoost's T", "error", "seconds", "stumps, same T" } }
  for k = 1, #methods - 1 do found.columns[5 + k] = methods[k][1] end
  for _, name in ipairs(exp:values("data")) do
    local adaboost = { data = name, method = "AdaBoost" }
    local sizes = exp:values("T", adaboost)
    local own = exp:series{ x = "error", value = "processor", along = "T", where = adaboost }[1]
    for i, error in ipairs(own.x) do
      local function best(method, T) -- the fastest cell with as small an error, or with this T
        return exp:best{ value = "processor", most = { error = T and math.huge or error },
          where = { data = name, method = method, T = T } }
      end
      local same = best("stumps", sizes[i])
      local line = { name, sizes[i], ("%.4f"):format(error), ("%.3f"):format(own.y[i]),
        same and ("%.2g"):format(own.y[i] / same.mean) or "-" }
      for k = 1, #methods - 1 do
        local one = best(methods[k][1])
        line[5 + k] = one and ("%d, %.3f s, %.2g"):format(one.cell.T, one.mean,
          own.y[i] / one.mean) or "-"
      end
      table.insert(found.rows, line)
    end
  end
  return found
end
