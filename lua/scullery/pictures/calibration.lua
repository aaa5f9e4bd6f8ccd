--- Pictures of a classifier's probabilities: the calibration curve, which is the share of correct
--- predictions against their probability, and a histogram of the probabilities.
local metrics = require "scullery.metrics"
local figures = require "scullery.pictures.figures"
local numbers = require "scullery.pictures.numbers"
local plot = require "scullery.plot"
local probabilities = require "scullery.model.probabilities"

local calibration = {}

local BINS = 10

-- The probabilities (a matrix) and the labels of the rows whose label the model knows.
local function known_rows(about)
  local P, rows, labels = probabilities.of(about.model, about.scores), {}, {}
  for row = 1, about.n do
    local place = about.truth[row]
    if place then rows[#rows + 1], labels[#labels + 1] = row, about.classes[place] end
  end
  return #rows == about.n and P or P:select(rows), labels
end

-- The probability of the second of two classes, or that of the most probable of several.
local function judged_probabilities(P)
  local list = {}
  for i = 1, P:rows() do list[i] = P:cols() == 2 and P:get(i, 2) or P[i]:max() end
  return list
end

--- calibration.table(about): the table of sc.metrics.calibration, where each bin also has low_share
--- and high_share, the ends of Wilson's 95 % interval for its share of correct predictions; and the
--- list of the probabilities. about: the result of pictures.model.judged, here and in the other
--- kinds.
function calibration.table(about)
  local P, labels = known_rows(about)
  if #labels == 0 then error("no row has a label that was seen in training", 0) end
  local found = metrics.calibration(P, labels, { classes = about.classes, bins = BINS })
  for _, bin in ipairs(found.bins) do
    bin.low_share, bin.high_share = numbers.wilson(bin.seen * bin.rows, bin.rows)
  end
  return found, judged_probabilities(P)
end

--- calibration.figures(about): the calibration curve and the histogram, as a list.
function calibration.figures(about)
  local found, list = calibration.table(about)
  local x, y, low, high = {}, {}, {}, {}
  for i, bin in ipairs(found.bins) do
    x[i], y[i], low[i], high[i] = bin.said, bin.seen, bin.low_share, bin.high_share
  end
  local unit, beyond = { 0, 1 }, { -0.03, 1.03 }
  local about_what = "probability of " .. found.what:gsub('"', "")
  return {
    figures.noted(plot.scatter{ x = x, y = y, low = low, high = high, title = "Calibration",
      x_label = about_what, y_label = "share that came true", x_range = beyond, y_range = beyond,
      rules = { { diagonal = true } } },
      { "error bars: 95 % intervals (Wilson); diagonal: calibrated",
        ("mean gap %.3g, largest %.3g, on %s"):format(found.error, found.worst,
          about.rows_text), "probabilities: " .. tostring(about.model.calibration) }),
    plot.hist{ x = list, bins = 2 * BINS, title = "Probabilities", x_label = about_what,
      y_label = "rows", x_range = unit },
  }
end

return calibration
