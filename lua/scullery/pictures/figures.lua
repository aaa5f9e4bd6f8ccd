--- Parts that the pictures of this folder share: labels of scores, notes below a figure, and
--- straight lines of any slope.
local texts = require "scullery.plot.texts"

local figures = {}

local in_words = { error = "error (share of wrong labels)",
  accuracy = "accuracy (share of right labels)", loss = "loss (squared error)",
  mse = "mean squared error", rmse = "root mean squared error", mae = "mean absolute error" }

--- figures.score_label(name): the label of an axis that shows a score.
function figures.score_label(name) return in_words[name] or name end

--- figures.noted(figure, notes): adds sentences below the first panel of a figure; returns the
--- figure.
function figures.noted(figure, notes)
  local list = figure.panels[1].notes
  for _, note in ipairs(notes) do list[#list + 1] = texts.clean(note) end
  return figure
end

-- The part { x1, y1, x2, y2 } of a segment within the ranges of the axes (a list of x and y), which
-- may be logarithmic; nil if there is none.
local function clipped(axes, segment)
  local function scaled(axis, value) return axis.log and math.log(value) or value end
  local function unscaled(axis, value) return axis.log and math.exp(value) or value end
  local from, to, first, last = {}, {}, 0, 1
  for k, axis in ipairs(axes) do
    from[k], to[k] = scaled(axis, segment[k]), scaled(axis, segment[k + 2])
    local step = to[k] - from[k]
    local low, high = scaled(axis, axis.low) - from[k], scaled(axis, axis.high) - from[k]
    if step < 0 then low, high = high, low end
    if step ~= 0 then first, last = math.max(first, low / step), math.min(last, high / step) end
  end
  if first >= last then return nil end
  local ends = {}
  for k, axis in ipairs(axes) do
    ends[k] = unscaled(axis, from[k] + first * (to[k] - from[k]))
    ends[k + 2] = unscaled(axis, from[k] + last * (to[k] - from[k]))
  end
  return ends
end

--- figures.ruled(figure, { x1, y1, x2, y2 }, label): adds a thin straight line, clipped to the
--- axes, to the first panel of a figure; returns the figure.
function figures.ruled(figure, segment, label)
  local panel = figure.panels[1]
  local ends = clipped({ panel.x, panel.y }, segment)
  if ends then
    panel.layers[#panel.layers + 1] = { kind = "rule", x1 = ends[1], y1 = ends[2], x2 = ends[3],
      y2 = ends[4], label = label }
  end
  return figure
end

return figures
