--- Arguments of metrics: matrices, labels, classes, weights.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local targets = require "scullery.data.targets"

local inputs = {}

--- inputs.matrix(value): a matrix, made from a list if necessary.
function inputs.matrix(value)
  if core.is_matrix(value) then return value end
  if options.is_list(value) then return core.matrix(value) end
  fail("takes matrices or lists, and got %s", options.show(value))
end

--- inputs.both(said, truth): two matrices of one shape, not empty.
function inputs.both(said, truth)
  local a, b = inputs.matrix(said), inputs.matrix(truth)
  if a:rows() ~= b:rows() or a:cols() ~= b:cols() then
    fail("predictions are %d x %d and the truth is %d x %d", a:rows(), a:cols(), b:rows(), b:cols())
  end
  if a:rows() == 0 or a:cols() == 0 then
    fail("there is nothing to measure: %d x %d", a:rows(), a:cols())
  end
  return a, b
end

-- ------------ options

local rules = {
  weights = { type = "any" }, classes = { type = "table" }, positive = { type = "any" },
  average = { choices = { "macro", "micro" } }, k = { type = "integer", low = 1 },
  bins = { type = "integer", low = 1 },
}

-- The options of each metric besides weights.
local taken = {}
for title, names in pairs{ accuracy = "", error_rate = "", balanced_accuracy = "",
  confusion = "classes", precision = "classes positive average",
  recall = "classes positive average", f1 = "classes positive average", auc = "classes positive",
  pr_auc = "classes positive", roc_curve = "classes positive", pr_curve = "classes positive",
  lift_curve = "classes positive", top_k = "classes k",
  calibration = "classes bins", mse = "", rmse = "", mae = "", nrmse = "", r2 = "",
  spearman = "", hamming = "", subset_accuracy = "", f1_micro = "", f1_macro = "" } do
  taken[title] = { weights = rules.weights }
  for name in names:gmatch("%S+") do taken[title][name] = rules[name] end
  options.declare("metrics." .. title, taken[title])
end

--- inputs.declare(title, names, classes): declares the options of a metric that is a plugin:
--- weights, if `classes` is true classes, and those of its own, a list of names.
function inputs.declare(title, names, classes)
  taken[title] = { weights = rules.weights, classes = classes and rules.classes or nil }
  for _, name in ipairs(names) do taken[title][name] = taken[title][name] or { type = "any" } end
  options.declare("metrics." .. title, taken[title])
end

--- inputs.options(title, given): the checked options of a metric; a list in their place is taken as
--- the classes.
function inputs.options(title, given)
  if options.is_list(given) and #given > 0 and taken[title].classes then
    given = { classes = given }
  end
  return options.check("metrics." .. title, given, taken[title], 0)
end

--- inputs.weights(given, n): n x 1 weights, nil if all are 1; second: their sum.
function inputs.weights(given, n)
  if given == nil then return nil, n end
  local w = inputs.matrix(given)
  if w:rows() ~= n or w:cols() ~= 1 then
    fail("option 'weights' is %d x %d for %d rows", w:rows(), w:cols(), n)
  end
  w = w:astype("float64")
  for i = 1, n do
    local v = w:get(i, 1)
    if v ~= v or v < 0 or v == math.huge then
      fail("weight %d is %s: weights are finite and at least 0", i, options.show(v))
    end
  end
  local total = w:sum()
  if total == 0 then fail("all weights are 0") end
  return w, total
end

-- ------------ labels

local function is_texts(value) return options.is_list(value) and targets.are_texts(value) end

-- The classes of a column that came from a data set or a prediction, or nil.
local function known_classes(value)
  local known = core.is_matrix(value) and dataset.labels_of[value]
  return known and known.classes or nil
end

-- Labels as a list of texts if they are texts in some form; nil if they are numbers.
local function texts_of(value)
  if is_texts(value) then
    value = targets.spelt(value)
    for i, label in ipairs(value) do
      if type(label) ~= "string" then fail("row %d is %s, not a text", i, options.show(label)) end
    end
    return value
  end
  local classes = known_classes(value)
  if classes and type(classes[1]) == "string" then return dataset.texts_of(value, classes) end
  return nil
end

local function numbers_of(value)
  local m, list = inputs.matrix(value), {}
  if m:cols() ~= 1 then fail("labels come as one column, and these are %d", m:cols()) end
  for i = 1, m:rows() do
    local v = m:get(i, 1)
    if v ~= v then fail("row %d is NaN, not a label", i) end
    list[i] = math.tointeger(v) or v
  end
  return list
end

-- The texts for numbers that are positions in a list of texts.
local function by_place(list, classes)
  local texts = {}
  for i, k in ipairs(list) do
    texts[i] = classes[k] or fail("row %d has the label %s, which is not one of the classes", i,
      options.show(k))
  end
  return texts
end

--- inputs.coded_alike(said, truth): true if both are numbers with the same meaning: neither has
--- texts as classes, or both are positions in the same classes.
function inputs.coded_alike(said, truth)
  if is_texts(said) or is_texts(truth) then return false end
  local a, b = known_classes(said), known_classes(truth)
  if not a or not b or a == b then return true end
  for k = 1, math.max(#a, #b) do if a[k] ~= b[k] then return false end end
  return true
end

--- inputs.labels(said, truth[, classes]): both as lists of labels, texts or numbers. If one side
--- has texts, numbers on the other are positions in the classes, given or those of the data set.
function inputs.labels(said, truth, classes)
  local a, b = texts_of(said), texts_of(truth)
  if classes and type(classes[1]) ~= "string" then classes = nil end
  local places = classes or known_classes(said) or known_classes(truth)
  if places and type(places[1]) == "string" then
    a, b = a or by_place(numbers_of(said), places), b or by_place(numbers_of(truth), places)
  elseif (a == nil) ~= (b == nil) then
    fail("one side holds texts and the other does not (ds:labels() and p:labels(X) give texts)")
  end
  a, b = a or numbers_of(said), b or numbers_of(truth)
  if #a ~= #b then fail("predictions are %d x 1 and the truth is %d x 1", #a, #b) end
  if #a == 0 then fail("there is nothing to measure: 0 x 1") end
  return a, b
end

--- inputs.truth(truth, classes): labels as a list, and their classes: the given ones, those of the
--- data set, or all that occur, sorted.
function inputs.truth(truth, classes)
  local list = texts_of(truth)
  if not list then
    list = numbers_of(truth)
    local places = classes or known_classes(truth)
    if places and type(places[1]) == "string" then list = by_place(list, places) end
  end
  if #list == 0 then fail("there is nothing to measure: 0 x 1") end
  return list, inputs.classes(classes or known_classes(truth), list)
end

--- inputs.classes(given, ...): the given classes, or all labels of the lists, sorted.
function inputs.classes(given, ...)
  if given then
    local copy = {}
    for k, label in ipairs(given) do
      if label ~= label or type(label) ~= "number" and type(label) ~= "string" then
        fail("option 'classes' has %s in place %d; classes are numbers or texts",
          options.show(label), k)
      end
      copy[k] = label
    end
    return copy
  end
  local seen, list = {}, {}
  for _, labels in ipairs{ ... } do
    for _, label in ipairs(labels) do
      if not seen[label] then seen[label] = true list[#list + 1] = label end
    end
  end
  table.sort(list)
  return list
end

--- inputs.known(...): the classes of the first column that has a record of them, or nil.
function inputs.known(...)
  for i = 1, select("#", ...) do
    local classes = known_classes((select(i, ...)))
    if classes then return classes end
  end
end

--- inputs.place(classes): label -> its position.
function inputs.place(classes)
  local place = {}
  for k, label in ipairs(classes) do place[label] = k end
  return place
end

--- inputs.positive(classes, positive): the position of the positive class, by default the second of
--- two; nil if there are more than two and none is given.
function inputs.positive(classes, positive)
  if positive ~= nil then
    return inputs.place(classes)[math.tointeger(positive) or positive]
      or fail("option 'positive' got %s, and the classes are %s", options.show(positive),
        options.show(classes))
  end
  if #classes == 1 then
    fail("all labels are %s: option 'positive' or 'classes' says what is looked for",
      options.show(classes[1]))
  end
  return #classes == 2 and 2 or nil
end

-- ------------ scores

--- inputs.scores(given, truth, o[, what]): the checked arguments of a metric of scores, a row for
--- each label: s (n x c), places (the position of each row's class), classes, w (n x 1 weights, nil
--- if all are 1), total (their sum), n and o. o: the checked options, of which classes and weights
--- are used. what: the word for scores in messages.
function inputs.scores(given, truth, o, what)
  what = what or "scores"
  local s = inputs.matrix(given)
  local list, classes = inputs.truth(truth, o.classes)
  local n, c = s:rows(), s:cols()
  if #list ~= n then fail("%d rows of %s and %d labels", n, what, #list) end
  local finite, row, col = s:isfinite()
  if not finite then fail("the score in row %d, column %d is not finite", row, col) end
  -- labels 1 .. c of which some do not occur
  if not o.classes and not known_classes(truth) and c > 1 and #classes < c
    and type(classes[1]) == "number" then
    for k = 1, c do classes[k] = k end
  end
  if #classes ~= c and not (c == 1 and #classes <= 2) then
    fail("%d columns of %s and %d classes%s", c, what, #classes, o.classes and ""
      or ": labels need the classes, as in ds.classes")
  end
  local place, places = inputs.place(classes), {}
  for i, label in ipairs(list) do
    places[i] = place[label] or fail("row %d has the label %s, which is not one of the %d \z
      classes", i, options.show(label), #classes)
  end
  local w, total = inputs.weights(o.weights, n)
  return { s = s, places = places, classes = classes, w = w, total = total, n = n, o = o }
end

--- inputs.probabilities(p, truth, o): the same for probabilities, which lie in [0, 1].
function inputs.probabilities(p, truth, o)
  local m = inputs.matrix(p)
  local finite, row, col = m:isfinite()
  if not finite then fail("the probability in row %d, column %d is not finite", row, col) end
  if m:rows() > 0 and (m:min() < 0 or m:max() > 1) then
    fail("probabilities lie in [0, 1], and these reach from %g to %g", m:min(), m:max())
  end
  return inputs.scores(m, truth, o, "probabilities")
end

return inputs
