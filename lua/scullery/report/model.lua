--- The report of a fitted pipeline as one HTML page: its parts and options, its training data, its
--- accuracy, the search that chose it, and a script that fits it again.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local estimate = require "scullery.report.estimate"
local fingerprint = require "scullery.data.fingerprint"
local html = require "scullery.report.html"
local intervals = require "scullery.report.intervals"
local matching = require "scullery.data.matching"
local measures = require "scullery.report.measures"
local options = require "scullery.base.options"
local pictures = require "scullery.pictures.model"
local plot = require "scullery.plot"
local script = require "scullery.report.script"
local sure = require "scullery.report.sure"

local report = {}

-- The most columns in the table of the data, and the most names in a sentence.
local MOST_COLUMNS, MOST_NAMED = 200, 20
local EXPLAINED_ROWS, MOST_EXPLAINED = 500, 60 -- rows and columns for importance and dependence

-- ------------ what it is

-- "classification of 2 classes: no, yes".
local function task_text(f)
  if f.task ~= "classification" and f.task ~= "multilabel" then
    return f.targets > 1 and ("regression of %d targets"):format(f.targets) or "regression"
  end
  local names = {}
  for k = 1, math.min(#f.classes, MOST_NAMED) do names[k] = tostring(f.classes[k]) end
  if #f.classes > MOST_NAMED then names[#names + 1] = "..." end
  return ("%s: %s"):format(f.task == "multilabel" and ("%d labels of a row"):format(#f.classes)
    or ("classification of %d classes"):format(#f.classes), table.concat(names, ", "))
end

-- The seconds of each stage: "standardize 0.01 s, solver.ridge 0.2 s".
local function seconds_text(f)
  local parts = {}
  for i, one in ipairs(f.seconds) do
    parts[i] = ("%s %.3g s"):format(one[1]:match("^[%w_.]+"), one[2])
  end
  return table.concat(parts, ", ")
end

-- The first section: facts about the fit, and all stages with their options.
local function summary(page, p)
  local f, info = p.fitted, p.fitted.map_info
  local said = f.report or {}
  -- within a search the time of the solver is not measured separately
  local time_name = "time of the stages, without the search and the solver"
  for _, one in ipairs(f.seconds) do
    if one[1]:find("^solver%.") then time_name = "time of the fit" end
  end
  page:heading("The model")
  page:facts{ { "task", task_text(f) },
    { "learnt from", ("%d rows of %d columns"):format(f.n, f.dim) },
    { "features", info and ("%d, %s, %s"):format(info.features, info.dtype, info.method) },
    { "solver", said.status and ("%s%s"):format(said.status, said.residual
      and (", residual %.1e"):format(said.residual) or "") },
    { "note", said.note }, { "training loss", said.loss },
    { "class weights", f.class_weights and options.show(f.class_weights) },
    { "probabilities", f.calibration and tostring(f.calibration) },
    { time_name, #f.seconds > 0 and seconds_text(f) or nil },
    { "version", "Scullery " .. core.version } }
  page:heading("Stages, with all options", 3)
  local lines = {}
  for _, stage in ipairs(p.rows) do lines[#lines + 1] = tostring(stage) end
  if p.features then lines[#lines + 1] = tostring(p.features) end
  lines[#lines + 1] = tostring(p.solver)
  page:code(table.concat(lines, "\n"))
end

-- ------------ the columns

-- "3: red, green, blue", the categories of a column.
local function levels_text(column)
  local shown = table.move(column.levels, 1, math.min(#column.levels, MOST_NAMED), 1, {})
  if #column.levels > MOST_NAMED then shown[#shown + 1] = "..." end
  return ("%d: %s"):format(#column.levels, table.concat(shown, ", "))
end

-- A column of the data as a row of the table: name, kind, categories, the number of missing values
-- in training, and the treatment of missing values in new rows.
local function column_row(column)
  local kind, missing = column.kind, ""
  if kind == "skipped" then return { column.name, "left out", "", "", "" } end
  if kind == "number" or kind == "date" then
    missing = column.fill and ("become %.6g"):format(column.fill) or "are refused"
  elseif kind == "category" then
    missing = (column.missing or 0) > 0 and "a category of their own" or "0 in all its columns"
  end
  return { column.name, kind == "date" and "date, as days since 1970-01-01" or kind,
    column.levels and levels_text(column) or "", column.missing or 0, missing }
end

-- A sentence about columns of which at most the names are known.
local function plain_text(f)
  if not f.names then return ("%d columns of numbers, without names."):format(f.dim) end
  local shown = table.move(f.names, 1, math.min(f.dim, MOST_NAMED), 1, {})
  if f.dim > MOST_NAMED then shown[#shown + 1] = ("and %d more"):format(f.dim - MOST_NAMED) end
  return ("%d columns of numbers: %s."):format(f.dim, table.concat(shown, ", "))
end

-- The section about the columns of the training data.
local function schema_of(page, f)
  local schema = f.schema
  page:heading("The data's columns")
  local target = schema and schema.target
  page:facts{ { "read from", schema and schema.format },
    { "target", target and ("%s (%s, %s)"):format(target.name, target.kind, target.task) } }
  local rows = {}
  for i, column in ipairs(schema and schema.columns or {}) do rows[i] = column_row(column) end
  for _, one in ipairs(schema and schema.derived or {}) do
    rows[#rows + 1] = { one.name, "computed: " .. (one.expression or "a function"), "",
      one.missing or 0, one.fill and ("become %.6g"):format(one.fill) or "are refused" }
  end
  if #rows == 0 then return page:paragraph(plain_text(f)) end
  local more = #rows - MOST_COLUMNS
  page:table{ heads = { "column", "kind", "categories", "missing in training", "missing values" },
    rows = table.move(rows, 1, math.min(#rows, MOST_COLUMNS), 1, {}),
    caption = more > 0 and ("%d more columns are not listed"):format(more) or nil }
end

-- ------------ how good it is

-- The measures on some rows, about: the result of pictures.model.judged.
local function accuracy_on(page, about, with_classes)
  local t, by_class = measures.table(about)
  t.caption = "On " .. about.rows_text .. (about.training
    and ": more favourable than on new rows." or ".")
  page:table(t)
  local more = about.classes and intervals.table(about)
  if more then page:table(more) end
  if by_class and with_classes then page:table(by_class) end
  local loss, stderr = measures.log_loss(about)
  if loss then
    page:paragraph(("Log loss %.4g%s."):format(loss, stderr
      and (", standard error %.2g"):format(stderr) or ""))
  end
  if (about.strangers or 0) > 0 then
    page:paragraph(("%d rows have a label that was never seen in training; they count as wrong.")
      :format(about.strangers))
  end
end

-- Adds the figure that make(...) returns, or a sentence if it raises an error.
local function add_figure(page, make, ...)
  local ok, figure = options.attempt(make, ...)
  if ok then return page:figure(figure) end
  page:paragraph("No picture: " .. options.plain(figure) .. ".")
end

-- All pictures of these kinds (see pictures.model) side by side in one figure.
local function side_by_side(kinds, about)
  local figures = {}
  for _, what in ipairs(kinds) do
    local main, more = pictures.figures(what, about)
    table.move(main, 1, #main, #figures + 1, figures)
    table.move(more, 1, #more, #figures + 1, figures)
  end
  if #figures == 1 then return figures[1] end
  figures.columns, figures.width, figures.height = #figures, 480 * #figures, 400
  return plot.panels(figures)
end

-- The section about accuracy. judged: results of pictures.model.judged, the first of which gets the
-- pictures and the table by class.
local function accuracy(page, p, judged)
  page:heading("Accuracy")
  if #judged == 0 then
    page:paragraph("The training rows are not in memory, and no other rows were given: \z
      p:report(path, { data = test }) judges the model.")
    return
  end
  for i, about in ipairs(judged) do accuracy_on(page, about, i == 1) end
  for _, kinds in ipairs{ { "confusion" }, { "residuals" }, { "roc", "pr" }, { "calibration" } } do
    if pictures.applies(p, kinds[1]) then
      add_figure(page, side_by_side, kinds, judged[1])
    end
  end
end

-- ------------ what the columns do

-- The section about the columns: their importance as a table and a picture, and pictures of the
-- dependence on the `count` most important ones; none for 0, or if the rows are not in memory.
local function columns(page, p, ds, count)
  if count == 0 or not ds or not ds.X or not ds.y then return end
  page:heading("What the columns do")
  if p.fitted.dim > MOST_EXPLAINED then
    page:paragraph(("Left out for %d columns: p:importance(ds) and p:plot(\"dependence\", ds) \z
      show it."):format(p.fitted.dim))
    return
  end
  local rows = #ds > EXPLAINED_ROWS and ds:sample{ rows = EXPLAINED_ROWS, seed = 0 } or ds
  local list = {}
  local found = p:importance(rows, { repeats = 3 })
  for i = 1, math.min(#found, MOST_NAMED) do
    local mean = math.abs(found[i].mean) > 1e-12 and found[i].mean or 0 -- rounding
    list[i] = { found[i].name, ("%.4g"):format(mean), ("%.2g"):format(found[i].stderr) }
  end
  add_figure(page, found.plot, found)
  page:table{ heads = { "column", "loss of " .. found.metric, "standard error" }, rows = list,
    numbers = { [2] = true, [3] = true }, caption = ("Permutation importance on %d rows%s: what \z
      the model loses when the column is shuffled. Columns that depend on each other may each \z
      seem to matter little."):format(found.rows, #found > #list
      and (", the first %d columns"):format(#list) or "") }
  local names = {}
  for i = 1, math.min(count, #found) do names[i] = found[i].name end
  local classes = p.fitted.classes or {}
  local class = #classes > 2 and classes[1] or nil
  add_figure(page, function()
    return p:plot("dependence", rows, { column = names, class = class })
  end)
end

-- ------------ how it was chosen

-- The section about the search, if one chose the model.
local function search(page, p)
  local cells = p.table
  if not cells or #cells == 0 then return end
  page:heading("The search")
  add_figure(page, cells.plot, cells)
  local rows, marked = cells:texts(), nil
  local heads = table.move(cells.names, 1, #cells.names, 1, {})
  heads[#heads + 1], heads[#heads + 2] = cells.score, "standard error"
  for i, row in ipairs(cells) do
    local line = rows[i]
    line[#line + 1], line[#line + 2] = row.mean, row.stderr and tonumber(("%.2g"):format(
      row.stderr)) or nil
    if row == cells.best then marked = i end
  end
  page:table{ heads = heads, rows = rows, marked = marked,
    caption = "The chosen row is marked. It was chosen by its score, which is optimistic." }
  page:list(cells:notes())
  if cells.outer then
    page:paragraph(("Nested: %.6g, standard error %.2g: an unbiased estimate, from folds that did \z
      not influence the choice."):format(cells.outer.mean, cells.outer.stderr))
  end
end

-- ------------ features and coefficients

-- A sentence about features with a kernel between parameters.
local function weighting_text(f)
  local info = f.map_info
  return ("An RKHS weighting f(x) = E[alpha(w) phi(w, x)], alpha in the space of the kernel K on \z
    parameters. Its features E[K(w_t, w) phi(w, x)] are computed by the method \"%s\"%s."):format(
    info.method, info.samples > 0 and (" with %d samples"):format(info.samples) or "")
end

-- The norm of the function, and a bound on the risk if p:bound() has one for this model.
local function guarantee(page, p)
  page:paragraph((p.fitted:has_kernel() and "Norm of the function, sqrt(a'Ga): %.4g."
    or "Norm of the coefficients, ||a||: %.4g."):format(p:norm()))
  local ok, bound = options.attempt(p.bound, p)
  if not ok then return end
  page:paragraph(("A guarantee (%s): with probability %g the risk is at most %.4g; on the rows \z
    learnt from it is %.4g.%s"):format(bound.theorem, 1 - bound.delta, bound.total,
    bound.empirical, #bound.unproved == 0 and ""
      or " Its proof does not cover this: " .. table.concat(bound.unproved, "; ") .. "."))
end

-- The section about the kernel that the features estimate; ds: rows to compare on, or nil.
local function features(page, p, ds)
  local f = p.fitted
  if not f.map then return end
  page:heading("What the features estimate")
  if f:is_weighting() then
    page:paragraph(weighting_text(f))
  else
    local found, why = estimate.kernel(f, ds)
    page:paragraph("Products of features, <Phi(x), Phi(y)>, estimate a kernel. "
      .. (found and ("Over all pairs of %d rows they differ from its closed form by %.3g (root \z
      mean square), at most %.3g; the kernel's largest value is %.3g."):format(found.rows,
      found.rms, found.largest, found.scale) or why:gsub("^%l", string.upper) .. "."))
  end
  for _, part in ipairs(f.features.parts or { f.features }) do page:code(tostring(part.inst)) end
  if f.weights then guarantee(page, p) end
end

local function coefficients(page, p)
  if not pictures.applies(p, "coefficients") then return end
  page:heading("Coefficients")
  add_figure(page, side_by_side, { "coefficients" }, { model = p.fitted, pipeline = p })
end

-- ------------ how to make it again

-- A script that fits the model again, and the facts by which a reader can compare the two.
local function reproduction(page, p)
  local text, notes, needs_file = script.fit(p)
  local data = p.data and p.data.X and fingerprint.of(p.data) or p.data_known
    or { rows = p.fitted.n, cols = p.fitted.dim }
  page:heading("How to make it again")
  page:paragraph(needs_file and "Save the script as fit.lua and give it the file of the rows that \z
    the model learnt from; other options of the reader belong into the line that begins with \z
    \"local train\"." or "Save the script as fit.lua. It loads the same rows in the same way.")
  page:code(text)
  page:code("scullery fit.lua" .. (needs_file and " train.csv" or ""))
  page:list(notes)
  page:facts{ { "rows learnt from", ("%s x %s"):format(data.rows, data.cols) },
    { "their fingerprint", data.sha256 and ("SHA-256 %s: a report of the model fitted again shows \z
      the same if the rows are the same"):format(data.sha256) },
    { "seed of the features", p.features and p.features.seed },
    { "seed of the folds", p.table and p.table.seed }, { "version", core.version } }
  page:paragraph("The same seeds give the same parameters on any machine, whatever the number of \z
    threads.")
end

-- ------------ the page

local rules = { data = { test = dataset.is, takes = "a data set" }, title = { type = "string" },
  columns = { type = "integer", low = 0, high = 9, default = 4 } }
options.declare("pipeline:report", rules)

--- report.page(pipeline, { data =, title =, columns = 4 }): the report as a page (html.page). data:
--- a data set on which the model is judged first; then it is judged on its training rows, if they
--- are in memory. columns: see Pipeline:report.
function report.page(p, given)
  local o = options.check("pipeline:report", given, rules, 0)
  local title = ("Model report: solver.%s%s"):format(p.solver.name,
    p.features and (" on %s features"):format(p.features:label()) or "")
  local page = html.page{ title = o.title or title, subtitle = "Made by Scullery " .. core.version }
  local judged = {}
  if o.data then judged[1] = pictures.judged(p, o.data) end
  if p.data and p.data ~= o.data then judged[#judged + 1] = pictures.judged(p) end
  summary(page, p)
  accuracy(page, p, judged)
  sure.section(page, p, o.data)
  columns(page, p, o.data or p.data, o.columns)
  search(page, p)
  features(page, p, p.data or o.data and matching.judged(o.data, p.fitted))
  coefficients(page, p)
  schema_of(page, p.fitted)
  reproduction(page, p)
  return page
end

--- report.save(pipeline, path, given): writes the report to an .html file; see Pipeline:report.
function report.save(p, path, given)
  html.check_path(path)
  report.page(p, given):save(path)
end

return report
