--- Embeddings: rows as points on their first two principal components.
local core = require "scullery.core"
local dense = require "scullery.data.dense"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local figures = require "scullery.pictures.figures"
local instantiation = require "scullery.compose.instantiation"
local numbers = require "scullery.pictures.numbers"
local options = require "scullery.base.options"
local pipeline = require "scullery.model.pipeline"
local plot = require "scullery.plot"
local stages = require "scullery.compose.stages"

local embedding = {}

local function is_list(value) return type(value) == "table" or core.is_matrix(value) end

local rules = {
  X = { test = is_list, takes = "a matrix, a list of rows or a data set", required = true },
  y = { test = is_list, takes = "a list with one label for each row" },
  text = { test = function(v) return v == true or is_list(v) end,
    takes = "true, or a list with one text for each row" },
  through = { test = function(v) return pipeline.is(v) or instantiation.is_features(v) end,
    takes = "a fitted pipeline or features" },
  seed = { type = "integer", default = 0 },
  title = { type = "string" }, width = { type = "integer" }, height = { type = "integer" },
}
options.declare("plot.embedding", rules)

-- A list of n texts or numbers, from a list or a matrix of one column; raises an error for others.
local function labels_of(name, given, n)
  local list = given
  if core.is_matrix(given) then
    if given:cols() ~= 1 then
      fail("option '%s' takes one column, and got %d", name, given:cols())
    end
    list = numbers.column(given, 1)
  end
  if rawlen(list) ~= n then
    fail("option '%s' has %d entries, and X has %d rows", name, rawlen(list), n)
  end
  for i = 1, n do
    local kind = type(rawget(list, i))
    if kind ~= "string" and kind ~= "number" then
      fail("option '%s' has a %s in place %d; it takes texts or numbers", name, kind, i)
    end
  end
  return list
end

-- The rows, a matrix, which `through` has transformed if it is given, and the labels or nil.
local function read(o)
  local X, y = o.X, o.y
  if dataset.is(X) then
    if not X.X then fail("the data set streams; load it in memory (without stream = true)") end
    if y == nil and X.y and X.task == "classification" then y = X:labels() end
    o.X, X = X, X.X
  elseif not core.is_rows(X) then
    X = core.matrix(X)
    o.X = X
  end
  if X:rows() < 3 then fail("takes at least 3 rows, and got %d", X:rows()) end
  local row, col = core.find_nonfinite(X)
  if row then fail("X is not finite in row %d, column %d", row, col) end
  if y ~= nil then y = labels_of("y", y, X:rows()) end
  return o.through and o.through:transform(o.X) or dense(X, "plot.embedding"), y
end

--- embedding.points(X): n x 2 coordinates on the first two principal components, and the share of
--- the variance of each.
function embedding.points(X)
  if X:cols() < 2 then fail("takes rows of at least 2 numbers, and these have %d", X:cols()) end
  X = X:astype("float64")
  local found = stages.components(core.source(X), {}, nil, 2)
  local total = found.total:get(1, 1)
  local V = found.vectors:t():copy()
  local points = X * V
  local shift = found.mean * V
  for i = 1, points:rows() do
    for j = 1, 2 do points:set(i, j, points:get(i, j) - shift:get(1, j)) end
  end
  local shares = {}
  for j = 1, 2 do
    shares[j] = total > 0 and found.variances:get(j, 1) / total or 0
  end
  return points, shares
end

-- The entries of a list at these rows; nil stays nil.
local function pick(list, rows)
  if not list then return nil end
  local some = {}
  for i, row in ipairs(rows) do some[i] = list[row] end
  return some
end

-- The texts of the markers: those given, or the labels; nil without the option.
local function markers(o, y, n)
  if o.text == nil then return nil end
  if o.text ~= true then return labels_of("text", o.text, n) end
  if not y then fail("text = true draws the labels, and no labels are given: give y") end
  return y
end

--- sc.plot.embedding{ X =[, y =, text =, through =, seed = 0] }: rows as points on their first two
--- principal components; the labels of the axes give the share of the variance of each. X: a
--- matrix, a list of rows, or a data set, whose labels are y. y: one label for each row; each label
--- has its own colour. text: a list of markers, or true for the labels themselves (digits).
--- through: a fitted pipeline or features that transform the rows first (p:transform). Of more than
--- 2000 rows, 2000 are drawn at random; all of them determine the components.
function embedding.plot(given)
  local o = options.check("plot.embedding", given, rules, 0)
  local X, y = read(o)
  local text = markers(o, y, X:rows())
  local points, shares = embedding.points(X)
  local rows, sampled = numbers.sample(points:rows(), o.seed)
  local function axis(j) return ("component %d (%.1f %% of the variance)"):format(j,
    100 * shares[j]) end
  return figures.noted(plot.scatter{ x = numbers.column(points, 1, rows),
    y = numbers.column(points, 2, rows), class = pick(y, rows), text = pick(text, rows),
    equal = true, x_label = axis(1), y_label = axis(2), title = o.title or "Embedding",
    width = o.width or 640, height = o.height or 560 }, { sampled })
end

return embedding
