--- The prequential errors of p:update(ds, { every = rows }): the error of the model on each part of
--- the rows before the part is learnt (Dawid 1984).
---
--- The error of a part of m rows is the mean of their losses l_1 .. l_m: for a regression the
--- squared error, averaged over the targets, on the scale of the data; for a classification 1 for a
--- wrong label, else 0. It is what p:error(part) gives. Its standard error is
---
---   regression:      sqrt(sum_i (l_i - error)^2 / (m - 1) / m); not a number for one row
---   classification:  sqrt(error (1 - error) / m)
---
--- Rows are not weighted. The model is given, so that the losses of independent rows are
--- independent.
local dataset = require "scullery.data.dataset"
local objects = require "scullery.base.objects"
local text_table = require "scullery.base.text_table"

local drift = {}

-- A list of { rows, last, error, stderr, time }: see Pipeline:update. score: "error" or "mse".
local Drift = objects.class("drift", { example = "p.drift", list = true, fields = "score window" })
drift.class = Drift

--- drift.score(task): the name of the error of a model of this task.
function drift.score(task) return task == "classification" and "error" or "mse" end

--- drift.new(task, window): an empty list for a model of this task. window: the text of the window,
--- or nil.
function drift.new(task, window)
  return setmetatable({ score = drift.score(task), window = window }, Drift)
end

-- A number as a cell of the table; "-" for one that is not defined.
local function cell(value, format) return value == value and format:format(value) or "-" end

--- drift.heading(score), drift.line(row): the header and a row of the table as lists of texts.
function drift.heading(score) return { "rows", score, "std. error" } end
function drift.line(row)
  return { ("%d"):format(row.last), cell(row.error, "%.6g"), cell(row.stderr, "%.2g") }
end

function Drift:__tostring()
  local rows = { drift.heading(self.score) }
  for i, row in ipairs(self) do rows[i + 1] = drift.line(row) end
  return table.concat(text_table.lines(rows), "\n")
end

-- The mean of n numbers loss(i), and the standard error of the mean.
local function mean_of(n, loss)
  local sum, square = 0, 0
  for i = 1, n do sum = sum + loss(i) end
  local mean = sum / n
  for i = 1, n do square = square + (loss(i) - mean) ^ 2 end
  return mean, n > 1 and math.sqrt(square / (n - 1) / n) or 0 / 0
end

--- drift.measured(f, ds): the error of the model f on rows in memory, and its standard error. ds: a
--- data set with the columns and classes of the model (matching.known).
function drift.measured(f, ds)
  local said, truth = f:predict(dataset.source_of_rows(ds), "labels"), ds.y
  local n, c = truth:rows(), truth:cols()
  if f.task == "classification" then
    local wrong = 0
    for i = 1, n do if said:get(i, 1) ~= truth:get(i, 1) then wrong = wrong + 1 end end
    local share = wrong / n
    return share, math.sqrt(share * (1 - share) / n)
  end
  local apart = said - truth
  return mean_of(n, function(i)
    local square = 0
    for j = 1, c do square = square + apart:get(i, j) ^ 2 end
    return square / c
  end)
end

return drift
