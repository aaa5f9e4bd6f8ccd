--- How the targets of a regression are transformed before learning: the option target of a
--- pipeline. A learnt form is { log = true or nil, mean = { ... }, scale = { ... } }: target j is
--- learnt as (log y - mean[j]) / scale[j], or without the logarithm. The targets of a stream are
--- transformed by the engine as they are read (core/model/target_form.h), which also undoes it in
--- predicted values.
local core = require "scullery.core"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local matching = require "scullery.data.matching"
local options = require "scullery.base.options"

local target_form = {}

local TAKES = '"log", "standardize" or { log = true, standardize = true }'
local known = { log = true, standardize = true }

--- target_form.takes: the valid values of the option, for error messages.
target_form.takes = TAKES

--- target_form.check(given): raises an error unless it is a value of the option; returns it.
function target_form.check(given)
  local fine = given == nil or known[given] ~= nil
  if type(given) == "table" and not getmetatable(given) then
    fine = next(given) ~= nil
    for name, value in pairs(given) do fine = fine and known[name] and type(value) == "boolean" end
  end
  if not fine then
    error(("option 'target' got %s; it takes %s"):format(options.show(given), TAKES), 0)
  end
  return given
end

-- Whether the option asks for "log" or "standardize".
local function wants(given, name)
  return given == name or type(given) == "table" and given[name] == true
end

-- log y, elementwise; raises an error that names the row of a value of 0 or less. before: the
-- number of rows before those of y.
local function logarithms(y, before)
  for j = 1, y:cols() do
    local low = y:min(1):get(1, j)
    for i = 1, low > 0 and 0 or y:rows() do
      if y:get(i, j) <= 0 then
        error(("option 'target' takes the logarithm of the targets, which are above 0, and row %d \z
          has %s"):format((before or 0) + i, options.show(y:get(i, j))), 0)
      end
    end
  end
  return y:map(math.log)
end

-- (y - mean) / scale for each column; y itself if all means are 0 and all scales 1.
local function scaled(y, form)
  local plain, columns = true, {}
  for j = 1, y:cols() do
    local mean, scale = form.mean[j], form.scale[j]
    plain = plain and mean == 0 and scale == 1
    columns[j] = y:column(j):map(function(v) return (v - mean) / scale end)
  end
  return plain and y or core.hcat(table.unpack(columns))
end

local original = setmetatable({}, { __mode = "k" }) -- transformed data set -> the given one

--- target_form.apply(form, ds): the data set with targets as a model of this form learns them; ds
--- itself if form is nil.
function target_form.apply(form, ds)
  if not form or not ds or not (ds.y or ds.source) then return ds end
  local made = dataset.with(ds, { form = form,
    y = ds.y and scaled(form.log and logarithms(ds.y) or ds.y, form),
    source = ds.source and core.formed_source(ds.source, form) })
  original[made] = original[ds] or ds
  return made
end

-- The data set with each target once for each output of the solver.
local function repeated(ds, count)
  local made = dataset.with(ds, ds.X and { y = matching.repeated(ds.y, count) }
    or { source = matching.repeated_source(ds.source, count * select(3,
      core.source_size(ds.source))) })
  original[made] = ds
  return made
end

local BLOCK = 4096 -- rows of a stream that are read at once

-- The targets of a data set in blocks of consecutive rows: an iterator of matrices.
local function blocks_of(ds)
  local n, done = #ds, 0
  return function()
    local first = done + 1
    if first > n then return nil end
    done = ds.y and n or math.min(n, done + BLOCK)
    return ds.y or select(2, core.read_rows(ds.source, first, done - first + 1))
  end
end

-- Sets mean and scale of the form to the means and standard deviations of the targets of ds (of
-- their logarithms, if form.log), in one pass. Blocks of m and n rows with means a and b, and with
-- sums of squares S and Q about them, are joined by (Chan, Golub and LeVeque 1983)
--
--   mean = a + (b - a) n / (m + n),  squares = S + Q + (b - a)^2 m n / (m + n).
local function standardize(form, ds)
  local rows, squares = 0, {}
  for y in blocks_of(ds) do
    local m, n = rows, y:rows()
    if not y:isfinite() then return end -- the fit names the row
    if form.log then y = logarithms(y, rows) end
    for j = 1, y:cols() do
      local column, a = y:column(j), form.mean[j]
      local gap = column:mean() - a
      form.mean[j] = m == 0 and column:mean() or a + gap * n / (m + n)
      squares[j] = (squares[j] or 0) + n * column:std() ^ 2 + gap ^ 2 * m * n / (m + n)
    end
    rows = m + n
  end
  for j, sum in ipairs(squares) do
    form.scale[j] = sum > 0 and math.sqrt(sum / rows) or 1
  end
end

--- target_form.outputs(solver, task[, choices]): how many values the solver predicts of each target
--- of a regression.
function target_form.outputs(solver, task, choices)
  if not solver or task ~= "regression" then return 1 end
  return core.solver_facts(component.instance(solver, choices)).outputs
end

--- target_form.of_labels(c): the form of c multi-label targets: 0 and 1 are learnt as -1 and +1.
function target_form.of_labels(c)
  local form = { mean = {}, scale = {} }
  for j = 1, c do form.mean[j], form.scale[j] = 0.5, 0.5 end
  return form
end

--- target_form.learn(given, ds, solver): repeats each target as often as the solver predicts values
--- of it (target_form.outputs); then learns the form that the option `given` asks for from the
--- targets of ds (means and standard deviations, for which a stream is read once), and applies it;
--- ds itself without the option. Raises an error for a classification, and for the logarithm of a
--- target of 0 or less.
function target_form.learn(given, ds, solver)
  local count = target_form.outputs(solver, ds.task)
  if count > 1 then ds = repeated(ds, count) end
  if ds.task == "multilabel" and given == nil then
    return target_form.apply(target_form.of_labels(ds.y:cols()), ds)
  end
  if given == nil then return ds end
  if ds.task ~= "regression" then
    error("option 'target' of the pipeline transforms the targets of a regression, and this is a \z
      classification", 0)
  end
  local form = { log = wants(given, "log") or nil, mean = {}, scale = {} }
  local targets = ds.y and ds.y:cols() or select(3, core.source_size(ds.source))
  for j = 1, targets do form.mean[j], form.scale[j] = 0, 1 end
  if wants(given, "standardize") then standardize(form, ds) end
  return target_form.apply(form, ds)
end

--- target_form.tally(f, ds): { rows, square, target_sum, target_square } of the predictions of a
--- model f with a form, on the scale of the data, for a stream: square is the sum of squared
--- errors, and the sums of the targets are those of y - mean y of the first block, against
--- cancellation.
function target_form.tally(f, ds)
  local tally = { rows = #ds, square = 0, target_sum = 0, target_square = 0 }
  local source, done, centre = dataset.source_of_targets(ds), 0, nil
  while done < tally.rows do
    local count = math.min(BLOCK, tally.rows - done)
    local X, y = core.read_rows(source, done + 1, count)
    local apart = f:predict(core.source(X), "labels") - y
    centre = centre or y:mean()
    y = y - centre
    tally.square = tally.square + apart:dot(apart)
    tally.target_sum, tally.target_square = tally.target_sum + y:sum(),
      tally.target_square + y:dot(y)
    done = done + count
  end
  return tally
end

--- target_form.original(ds): the data set that was transformed to ds; ds itself if none was.
function target_form.original(ds) return original[ds] or ds end

--- target_form.undo(form, values): transformed targets or predictions back on the scale of the
--- data; values themselves without a form.
function target_form.undo(form, values)
  return form and core.predict(values, { form = form }, "labels") or values
end

--- target_form.measured(criterion, scores, truth, about): the criterion on the scale of the data
--- for scores and targets on the transformed scale. about: as in criterion:measured, form, and
--- means = the solver's instance if its loss turns scores into means.
function target_form.measured(criterion, scores, truth, about)
  local said = core.predict(scores, { form = about.form,
    task = criterion.task == "multilabel" and criterion.task or nil }, "labels", about.means)
  truth = target_form.undo(about.form, truth)
  if not criterion.tally then return criterion:measured(said, truth, about) end
  local apart = said - truth
  return criterion.tally({ rows = truth:rows(), square = apart:dot(apart) }, truth:cols())
end

return target_form
