--- The section of a report on how sure the predictions are: how many rows that were not learnt from
--- lie in their intervals, or have their label in its set, and bands along the main column.
local numbers = require "scullery.pictures.numbers"
local options = require "scullery.base.options"

local sure = {}

local LEVELS = { 0.8, 0.9, 0.95 }

-- Rows inside their intervals for the first target, and the mean width.
local function by_interval(p, ds, level)
  local low, high = p:interval(ds, { level = level })
  local inside = 0
  for i = 1, #ds do
    local y = ds.y:get(i, 1)
    if low:get(i, 1) <= y and y <= high:get(i, 1) then inside = inside + 1 end
  end
  return inside, (high - low):column(1):mean()
end

-- The same of label sets: the mean number of labels.
local function by_set(p, ds, level)
  local labels, inside, size = ds:labels(), 0, 0
  for i, set in ipairs(p:label_sets(ds, { level = level })) do
    size = size + #set
    for _, label in ipairs(set) do if label == labels[i] then inside = inside + 1 end end
  end
  return inside, size / #ds
end

--- sure.section(page, p, data): adds the section for a model that keeps what intervals or label
--- sets need. data: rows that it did not learn from, or nil.
function sure.section(page, p, data)
  local f = p.fitted
  if not f.interval then return end
  page:heading("How sure it is")
  page:paragraph(("Conformal: %s. A new row of the same kind is inside with about the \z
    probability of the level."):format(require("scullery.model.conformal").note(f)))
  local count, rows = f.task == "regression" and by_interval or by_set, {}
  for _, level in ipairs(data and data.X and data ~= p.data and LEVELS or {}) do
    local ok, inside, size = options.attempt(count, p, data, level)
    if not ok then
      page:paragraph(options.plain(inside) .. ".")
      break
    end
    local low, high = numbers.wilson(inside, #data)
    rows[#rows + 1] = { ("%g %%"):format(100 * level), ("%.2f %%"):format(100 * inside / #data),
      ("%.2f to %.2f %%"):format(100 * low, 100 * high), ("%.4g"):format(size) }
  end
  if #rows > 0 then
    page:table{ heads = { "level", "rows inside", "95 % interval (Wilson)",
      f.task == "regression" and "mean width" or "labels in a set" }, rows = rows,
      numbers = { [1] = true, [2] = true, [3] = true, [4] = true },
      caption = ("On the %d rows given, which it did not learn from."):format(#data) }
  end
  local ds = data or p.data
  if f.task ~= "regression" or not (ds and ds.X) then return end
  local ok, figure = options.attempt(p.plot, p, "bands", ds)
  if ok then page:figure(figure) end
end

return sure
