--- Pictures of the errors of p:update(ds, { every = rows }).
local drift = require "scullery.model.drift"
local fail = require "scullery.base.fail"
local figures = require "scullery.pictures.figures"
local options = require "scullery.base.options"
local plot = require "scullery.plot"

local pictures = {}

local rules = options.declare("drift:plot", { with = { type = "table" },
  labels = { type = "table" }, title = { type = "string" }, width = { type = "integer" },
  height = { type = "integer" } })

-- The lists to draw: `list` and those of the option `with`; raises an error for others.
local function lists_of(list, with)
  local all = { list }
  for k, other in ipairs(with or {}) do
    if getmetatable(other) ~= drift.class then
      fail("option 'with' has %s in place %d; it takes the .drift of updates", options.show(other),
        k)
    end
    if other.score ~= list.score then
      fail("option 'with' has the errors of another task in place %d: %s and %s", k, list.score,
        other.score)
    end
    all[k + 1] = other
  end
  for _, one in ipairs(all) do if #one == 0 then fail("there are no errors: no part came") end end
  return all
end

--- pictures.plot(list, given): see Drift:plot.
function pictures.plot(list, given)
  local o = options.check("drift:plot", given or {}, rules, 0)
  local series, all = {}, lists_of(list, o.with)
  for k, one in ipairs(all) do
    local x, y, errors = {}, {}, {}
    for i, row in ipairs(one) do x[i], y[i], errors[i] = row.last, row.error, row.stderr end
    series[k] = { x = x, y = y, error = errors, label = o.labels and o.labels[k]
      or #all > 1 and (one.window and "the last " .. one.window or "all rows") or nil }
  end
  return figures.noted(plot.line{ series = series, marks = #list <= 50,
    title = o.title or "Error on rows before they are learnt", x_label = "rows that came",
    y_label = figures.score_label(list.score), width = o.width, height = o.height },
    { "bands: 1 standard error over the rows of a part" })
end

return pictures
