--- Measures of a model with their error: of a classification shares of rows with Wilson's
--- intervals, of a regression means over rows with standard errors.
local confusion = require "scullery.pictures.confusion"
local numbers = require "scullery.pictures.numbers"
local probabilities = require "scullery.probabilities"

local measures = {}

local function percent(value) return ("%.2f %%"):format(100 * value) end

local function share_row(name, hits, n)
  if n == 0 then return { name, "-", "", "0" } end
  local low, high = numbers.wilson(hits, n)
  return { name, percent(hits / n), ("%.2f to %.2f %%"):format(100 * low, 100 * high),
    ("%d of %d"):format(hits, n) }
end

-- The largest class, which a model that knows nothing would say.
local function majority(sizes)
  local most = 1
  for k, size in ipairs(sizes) do if size > sizes[most] then most = k end end
  return most
end

local function classification(about)
  local counts, sizes, wrong = confusion.counts(about)
  local rows = { share_row("accuracy", about.n - wrong, about.n) }
  local most = majority(sizes)
  rows[2] = share_row(("accuracy of always saying %s"):format(tostring(about.classes[most])),
    sizes[most], about.n)
  for k, label in ipairs(about.classes) do
    rows[#rows + 1] = share_row(("recall of %s"):format(tostring(label)), counts[k][k], sizes[k])
  end
  for k, label in ipairs(about.classes) do
    local said = 0
    for i in ipairs(about.classes) do said = said + counts[i][k] end
    rows[#rows + 1] = share_row(("precision of %s"):format(tostring(label)), counts[k][k], said)
  end
  return { heads = { "measure", "value", "95 % interval (Wilson)", "rows" }, rows = rows,
    numbers = { [2] = true, [3] = true, [4] = true } }
end

local function value_row(name, mean, stderr)
  return { name, ("%.5g"):format(mean), stderr and ("%.2g"):format(stderr) or "" }
end

-- Of one target.
local function of_target(about, j, suffix, rows)
  local squares, sizes, y = {}, {}, {}
  for i = 1, about.n do
    y[i] = about.targets:get(i, j)
    local residual = y[i] - about.scores:get(i, j)
    squares[i], sizes[i] = residual ^ 2, math.abs(residual)
  end
  local mse, mse_error = numbers.mean(squares)
  local rms = math.sqrt(mse)
  rows[#rows + 1] = value_row("mean squared error" .. suffix, mse, mse_error)
  rows[#rows + 1] = value_row("root mean squared error" .. suffix, rms,
    mse_error and rms > 0 and mse_error / (2 * rms) or nil)
  rows[#rows + 1] = value_row("mean absolute error" .. suffix, numbers.mean(sizes))
  local mean, spread = numbers.mean(y), 0
  for i = 1, about.n do spread = spread + (y[i] - mean) ^ 2 end
  if spread > 0 then
    rows[#rows + 1] = value_row("R2" .. suffix, 1 - mse * about.n / spread)
    rows[#rows + 1] = value_row("mean squared error of always saying the mean" .. suffix,
      spread / about.n)
  end
end

local function regression(about)
  local rows, c = {}, about.scores:cols()
  for j = 1, c do of_target(about, j, c > 1 and (" of target %d"):format(j) or "", rows) end
  return { heads = { "measure", "value", "standard error" }, rows = rows,
    numbers = { [2] = true, [3] = true } }
end

--- measures.table(about): heads, rows and columns of numbers of a table for page:table; about: what
--- pictures.model.judged gives.
function measures.table(about)
  return (about.classes and classification or regression)(about)
end

local LEAST = 1e-15 -- as in sc.metrics.log_loss

--- measures.log_loss(about): the mean -log of the probability of the true class, and its standard
--- error; nil where the model has no probabilities or knows no label of the rows.
function measures.log_loss(about)
  if not about.classes or not probabilities.known(about.model) then return nil end
  local P, losses = probabilities.of(about.model, about.scores), {}
  for i = 1, about.n do
    local place = about.truth[i]
    if place then losses[#losses + 1] = -math.log(math.max(P:get(i, place), LEAST)) end
  end
  if #losses == 0 then return nil end
  return numbers.mean(losses)
end

return measures
