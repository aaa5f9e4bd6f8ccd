--- Pictures of a classifier's confusion matrix: for each true class, the share or the number of its
--- rows that were predicted as each class.
local figures = require "scullery.pictures.figures"
local numbers = require "scullery.pictures.numbers"
local natural = require "scullery.plot.natural"
local plot = require "scullery.plot"

local confusion = {}

local MOST_NUMBERS = 20 -- classes whose cells have room for numbers
local WIDE_CELLS = 6 -- classes whose cells have room for a decimal

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

-- A heatmap of predicted classes against true ones. label: of the colours.
local function heatmap(title, label, values, names, true_names, range)
  return plot.heatmap{ values = values, x = names, y = true_names, x_label = "predicted class",
    y_label = "true class", label = label, title = title, range = range,
    numbers = #names <= MOST_NUMBERS }
end

-- The classes in their natural order, as places in about.classes: "2" before "10".
local function order_of(about)
  local order = {}
  for i in ipairs(about.classes) do order[i] = i end
  table.sort(order, function(a, b)
    return natural.less(tostring(about.classes[a]), tostring(about.classes[b]))
  end)
  return order
end

-- The table of counts with its rows and columns in the order of order_of.
local function reordered(counts, order)
  local made = {}
  for i, from in ipairs(order) do
    made[i] = {}
    for j, to in ipairs(order) do made[i][j] = counts[from][to] end
  end
  return made
end

--- confusion.figures(about): a list with the figure of shares, and a list with that of counts.
function confusion.figures(about)
  local counts, sizes, wrong = confusion.counts(about)
  local shares, names, true_names, order = {}, {}, {}, order_of(about)
  local finest = #order <= WIDE_CELLS and 10 or 1 -- digits that a cell has room for
  counts = reordered(counts, order)
  for i, place in ipairs(order) do
    local size = sizes[place]
    names[i] = tostring(about.classes[place])
    true_names[i] = ("%s (%d rows)"):format(names[i], size)
    shares[i] = {}
    for j, count in ipairs(counts[i]) do -- per cent
      shares[i][j] = size > 0 and math.floor(100 * finest * (count / size) + 0.5) / finest or 0 / 0
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
