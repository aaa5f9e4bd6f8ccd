--- The picture "bands" of a regression: the prediction along a column, with two standard deviations
--- of the function (of a ridge regression) and the interval of new rows (of a model that keeps what
--- intervals need). Other columns are at their medians.
local conformal_kept = require "scullery.model.conformal_kept"
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local figures = require "scullery.pictures.figures"
local matching = require "scullery.data.matching"
local numbers = require "scullery.pictures.numbers"
local options = require "scullery.base.options"
local plot = require "scullery.plot"

local bands = {}

local POINTS, LEVEL, MOST_ROWS, MOST_COLUMNS = 101, 0.9, 400, 4

-- The first rows of a data set as a matrix with the columns of the model.
local function rows_of(about)
  local f, ds = about.model, about.data or about.pipeline.data
  if not (ds and ds.X) then
    fail("\"bands\" takes rows in memory: give data, p:plot(\"bands\", ds)")
  end
  local source = matching.source(ds, f)
  local count = math.min((core.source_size(source)), MOST_ROWS)
  return (core.read_rows(source, 1, count))
end

-- The places of the columns to draw: those that the option names, by default the first.
local function places_of(f, column)
  local place, list = {}, {}
  for j = 1, f.dim do place[f.names and f.names[j] or ("x%d"):format(j)] = j end
  for k, name in ipairs(type(column) == "table" and column or { column }) do
    list[k] = place[name]
    if not list[k] then
      local near = options.nearest(name, f.names or {})
      fail("option 'column' names %s, which the model does not have%s", options.show(name),
        near and (" (did you mean '%s'?)"):format(near) or "")
    end
  end
  return list[1] and table.move(list, 1, MOST_COLUMNS, 1, {}) or { 1 }
end

-- Rows along column j, between the least and the largest number of it. like: a row that gives the
-- columns of the list `own`.
local function along(X, j, own, like)
  local low, high = X:column(j):min(), X:column(j):max()
  if low == high then fail("column %d is the same number in all rows", j) end
  local rows, middle = {}, core.quartiles(X):row(2):totable()[1]
  for _, k in ipairs(own) do middle[k] = X:get(like, k) end
  for i = 1, POINTS do
    rows[i] = table.move(middle, 1, #middle, 1, {})
    rows[i][j] = low + (high - low) * (i - 1) / (POINTS - 1)
  end
  return core.matrix(rows)
end

-- The columns by which the intervals of the model are judged apart, and the first row of the
-- largest group: a median need not be a group.
local function of_groups(f, X)
  local own = f.interval and f.interval.columns or {}
  if #own == 0 then return own end
  local groups, count, first, best = conformal_kept.groups(own, core.source(X)), {}, {}, nil
  for i = 1, X:rows() do
    local group = groups:get(i, 1)
    count[group], first[group] = (count[group] or 0) + 1, first[group] or i
    if not best or count[group] > count[best] then best = group end
  end
  return own, first[best]
end

-- Whether intervals can be drawn along column j: groups of data sets are not those of rows alone,
-- and between two groups there is none.
local function has_bounds(f, own, j)
  if not f.interval or f.interval.by and #own == 0 then return false end
  for _, k in ipairs(own) do if k == j then return false end end
  return true
end

local function note_of(f, own, bounds)
  if f.dim == 1 then return {} end
  return { "other columns at their medians" .. (bounds and #own > 0
    and (", those of by = \"%s\" as in the largest group"):format(f.interval.by) or "") }
end

-- The picture along column j, for the first target.
local function picture(about, X, j)
  local p, f = about.pipeline, about.model
  local own, like = of_groups(f, X)
  local rows, level = along(X, j, own, like), about.options and about.options.level or LEVEL
  local x, mean, series = numbers.column(rows, j), p:predict(rows):column(1), {}
  local bounds = has_bounds(f, own, j)
  if bounds then
    local low, high = p:interval(rows, { level = level })
    series[1] = { label = ("%.3g %% of new rows"):format(100 * level), x = x, y = mean,
      low = low:column(1), high = high:column(1) }
  end
  local ok, _, std = options.attempt(p.predict, p, rows, { std = true })
  if ok and std then
    series[#series + 1] = { label = "prediction, two deviations", x = x, y = mean,
      error = std:column(1) * 2 }
  else
    series[#series + 1] = { label = "prediction", x = x, y = mean }
  end
  local name = f.names and f.names[j] or ("x%d"):format(j)
  return figures.noted(plot.line{ series = series, title = "How sure along " .. name,
    x_label = name, y_label = "predicted value" }, note_of(f, own, bounds))
end

--- bands.figures(about): a list of pictures, one for each column. about: model, pipeline, data and
--- options.
function bands.figures(about)
  local X, list = rows_of(about), {}
  for k, j in ipairs(places_of(about.model, about.options and about.options.column)) do
    list[k] = picture(about, X, j)
  end
  return list
end

return bands
