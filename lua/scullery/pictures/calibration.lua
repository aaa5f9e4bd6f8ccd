--- Pictures of a classifier's probabilities: the calibration curve, which is the share of correct
--- predictions against their probability, and a histogram of the probabilities.
local metrics = require "scullery.metrics"
local figures = require "scullery.pictures.figures"
local numbers = require "scullery.pictures.numbers"
local plot = require "scullery.plot"
local probabilities = require "scullery.model.probabilities"

local calibration = {}

local BINS = 10

--- calibration.table(about): the table of sc.metrics.calibration, where each bin also has low_share
--- and high_share, the ends of Wilson's 95 % interval for its share of correct predictions; and the
--- list of the probabilities: of the second of two classes, of the most probable of more. about:
--- the result of pictures.model.judged, here and in the other kinds.
function calibration.table(about)
  local P = probabilities.of(about.model, about.scores)
  local rows, labels = numbers.known_rows(about)
  if #rows < about.n then P = P:select(rows) end
  local found, list = metrics.calibration(P, labels, { classes = about.classes, bins = BINS }), {}
  for _, bin in ipairs(found.bins) do
    bin.low_share, bin.high_share = numbers.wilson(bin.seen * bin.rows, bin.rows)
  end
  for i = 1, P:rows() do list[i] = P:cols() == 2 and P:get(i, 2) or P[i]:max() end
  return found, list
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
