--- Pictures of a classifier's confusion matrix: for each true class, the share or the number of its
--- rows that were predicted as each class.
local figures = require "scullery.pictures.figures"
local numbers = require "scullery.pictures.numbers"
local plot = require "scullery.plot"

local confusion = {}

local MOST_NUMBERS = 12 -- classes whose cells have room for numbers

--- confusion.counts(about): three results: counts[i][j] = the number of rows of class i predicted
--- as class j; the number of rows of each class; the number of wrong rows, which include those with
--- labels that the model does not know.
function confusion.counts(about)
  local counts, sizes, wrong = {}, {}, about.strangers
  for i in ipairs(about.classes) do
    counts[i], sizes[i] = {}, 0
    for j in ipairs(about.classes) do counts[i][j] = 0 end
  end
  for row = 1, about.n do
    local i, j = about.truth[row], about.said[row]
    if i then
      counts[i][j], sizes[i] = counts[i][j] + 1, sizes[i] + 1
      if i ~= j then wrong = wrong + 1 end
    end
  end
  return counts, sizes, wrong
end

--- confusion.error_text(about, wrong): a sentence with the share of wrong labels and its interval.
function confusion.error_text(about, wrong)
  local low, high = numbers.wilson(wrong, about.n)
  return ("wrong: %d of %s, %.2f %% (95 %% interval %.2f to %.2f %%)"):format(wrong,
    about.rows_text, 100 * wrong / about.n, 100 * low, 100 * high)
end

local function heatmap(title, label, values, names, true_names, range)
  return plot.heatmap{ values = values, x = names, y = true_names, x_label = "predicted class",
    y_label = "true class", label = label, title = title, range = range,
    numbers = #names <= MOST_NUMBERS }
end

--- confusion.figures(about): a list with the figure of shares, and a list with that of counts.
function confusion.figures(about)
  local counts, sizes, wrong = confusion.counts(about)
  local shares, names, true_names = {}, {}, {}
  for i, label in ipairs(about.classes) do
    names[i] = tostring(label)
    true_names[i] = ("%s (%d rows)"):format(names[i], sizes[i])
    shares[i] = {}
    for j, count in ipairs(counts[i]) do -- per cent, of as many digits as a cell has room for
      shares[i][j] = sizes[i] > 0 and math.floor(1000 * (count / sizes[i]) + 0.5) / 10 or 0 / 0
    end
  end
  local notes = { confusion.error_text(about, wrong) }
  if about.strangers > 0 then
    notes[2] = ("%d rows have a label that was never seen in training; they count as wrong and \z
      are not drawn"):format(about.strangers)
  end
  return { figures.noted(heatmap("Confusion", "% of the true class", shares, names, true_names,
    { 0, 100 }), notes) }, { heatmap("Confusion, in rows", "rows", counts, names, true_names) }
end

return confusion
