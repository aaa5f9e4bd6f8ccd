--- Targets of a data set: labels or values y with their classes, and row weights.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local warn = require "scullery.base.warn"

local targets = {}

--- targets.known[y]: { task, classes } of a matrix y that belongs to a data set, so that fit(ds.X,
--- ds.y) knows its meaning.
targets.known = setmetatable({}, { __mode = "k" })
local labels_of = targets.known

-- ------------ labels

-- The distinct labels of a list, sorted.
local function sorted_labels(list)
  local seen, classes = {}, {}
  for _, label in ipairs(list) do
    if not seen[label] then seen[label] = true classes[#classes + 1] = label end
  end
  table.sort(classes)
  return classes
end

--- targets.spelt(list): a list of true and false as the texts "true" and "false", as a CSV file has
--- them; any other list as it is.
function targets.spelt(list)
  if type(list[1]) ~= "boolean" then return list end
  local texts = {}
  for i, v in ipairs(list) do
    if type(v) ~= "boolean" then
      fail("a list of true and false holds %s in place %d", options.show(v), i)
    end
    texts[i] = tostring(v)
  end
  return texts
end

--- targets.are_texts(y): whether y is a list that begins with a text, or with true or false.
function targets.are_texts(y)
  if type(y) ~= "table" or getmetatable(y) then return false end
  return type(y[1]) == "string" or type(y[1]) == "boolean"
end

--- targets.check_classes(given): a copy of the classes that a user gave: one or more texts, or
--- numbers, all different. Their order is kept: it decides which class is +1.
function targets.check_classes(given)
  given = targets.spelt(given)
  local seen, classes, kind = {}, {}, type(given[1])
  if kind ~= "string" and kind ~= "number" then
    fail("option 'classes' takes a list of texts or numbers, and got %s", options.show(given))
  end
  for k, label in ipairs(given) do
    if type(label) ~= kind then
      fail("option 'classes' holds a %s in place 1 and a %s in place %d", kind, type(label), k)
    end
    if label ~= label then fail("option 'classes' holds NaN in place %d", k) end
    if seen[label] then fail("option 'classes' holds %s twice", options.show(label)) end
    seen[label] = true
    classes[k] = kind == "number" and math.tointeger(label) or label
  end
  return classes
end

--- targets.places(classes): code in y -> position of the class. The code is the label itself if it
--- is a number, the position if it is a text.
function targets.places(classes)
  local place = {}
  for k, label in ipairs(classes or {}) do place[type(label) == "number" and label or k] = k end
  return place
end

-- A list of texts as n x 1 codes, their positions in the classes; by default the classes are all
-- texts that occur, sorted. Second: the classes.
local function from_texts(list, classes)
  classes = classes or sorted_labels(list)
  local place, codes = {}, {}
  for k, label in ipairs(classes) do place[label] = k end
  for i, label in ipairs(list) do
    codes[i] = place[label]
    if not codes[i] then
      fail("row %d has the label %s, which is not in classes", i, options.show(label))
    end
  end
  return core.matrix(codes), classes
end

local MOST_DECIMALS = 50 -- the most classes if some are not whole numbers

-- The labels that occur in a column of numbers, sorted. Raises an error if they look like the
-- targets of a regression: more than MOST_DECIMALS, and some are not whole numbers.
local function distinct(y)
  local list = {}
  for i = 1, y:rows() do list[i] = math.tointeger(y:get(i, 1)) or y:get(i, 1) end
  local classes = sorted_labels(list)
  for _, label in ipairs(#classes > MOST_DECIMALS and classes or {}) do
    if math.type(label) == "float" then
      fail("y has %d different values, and some are not whole numbers (%s): that is a regression, \z
        and a classification has few labels", #classes, options.show(label))
    end
  end
  return classes
end

-- Raises an error unless each entry of the column y is the code of a class.
local function check_codes(y, classes)
  local place = targets.places(classes)
  for i = 1, y:rows() do
    local v = y:get(i, 1)
    if not place[v] then
      local texts = type(classes[1]) == "string"
        and (" (classes are texts: y holds their places, 1 to %d)"):format(#classes) or ""
      fail("row %d has the label %s, which is not in classes%s", i, options.show(v), texts)
    end
  end
end

-- The type of the entries of a list, "number", "table" or "string"; raises an error for an empty
-- list, another type, or entries of several types.
local function check_list(y)
  if #y == 0 then fail("y is an empty list") end
  local kind = type(y[1])
  if kind ~= "number" and kind ~= "table" and kind ~= "string" then
    fail("y holds a %s in row 1; it takes numbers, texts, or true and false", kind)
  end
  for i, v in ipairs(y) do
    if type(v) ~= kind then fail("y holds a %s in row %d and a %s in row 1", type(v), i, kind) end
  end
  return kind
end

-- The distinct numbers of a column, sorted; nil if there are more than `most`.
local function few_values(y, most)
  local seen, list = {}, {}
  for i = 1, y:rows() do
    local v = y:get(i, 1)
    if not seen[v] then
      if #list == most then return nil end
      seen[v], list[#list + 1] = true, math.tointeger(v) or v
    end
  end
  table.sort(list)
  return list
end

local FEW_VALUES = 20

--- targets.guess(y): the task for a matrix of numbers, if it is not given: a classification if y
--- takes two different values, else a regression. Second: a sentence for the user about a guess
--- that may be wrong; nil for a certain one.
function targets.guess(y)
  if y:cols() > 1 and y:rows() > 2 and y:min() == 0 and y:max() == 1 and y:mul(y) == y then
    return "regression", ("y has %d columns of 0 and 1: values of a regression; task = \z
      \"multilabel\" takes them as labels of which a row has any number"):format(y:cols())
  end
  local values = y:cols() == 1 and y:rows() > 2 and few_values(y, FEW_VALUES)
  if not values or #values < 2 then return "regression" end
  if #values == 2 then
    return "classification", ("y takes two values (%s, %s): a classification; task = \z
      \"regression\" takes them as values"):format(options.show(values[1]), options.show(values[2]))
  end
  for _, v in ipairs(values) do if math.type(v) ~= "integer" then return "regression" end end
  if 2 * #values > y:rows() then return "regression" end
  return "regression", ("y takes %d different whole numbers: values of a regression; task = \z
    \"classification\" takes them as labels"):format(#values)
end

--- targets.read(y, classes, task): the fields of a data set for the y that a user gave, a list of
--- texts or numbers or a matrix: y as a float64 matrix (labels that are texts as their positions),
--- classes (nil for a regression), task. A task that is neither given nor known is guessed, which a
--- line on standard error reports if it may be wrong. Raises an error for targets that are not
--- finite, or labels that are not in the classes.
function targets.read(y, classes, task)
  if not core.is_matrix(y) and (type(y) ~= "table" or getmetatable(y)) then
    fail("y takes a list of texts or numbers, or a matrix, and got %s", options.show(y))
  end
  classes = classes and targets.check_classes(classes)
  if not core.is_matrix(y) then
    local truths = type(y[1]) == "boolean"
    y = targets.spelt(y)
    if check_list(y) == "string" then
      if task == "regression" then
        fail("y holds %s, and a regression takes numbers", truths and "true and false" or "texts")
      end
      if classes and type(classes[1]) ~= "string" then
        fail("y holds texts and the classes are numbers")
      end
      local codes, list = from_texts(y, classes)
      return codes, list, "classification"
    end
    y = core.matrix(y)
  end
  local known = labels_of[y]
  -- a new matrix object: the record in targets.known must not apply to the user's own object
  if y:dtype() ~= "float64" then y = y:astype("float64")
  else y = y:rows() > 0 and y:slice(1, y:rows()) or y:copy() end
  local finite, row, col = y:isfinite()
  if not finite then fail("y is not finite in row %d, column %d", row, col) end
  if known and not classes and task ~= "regression" then classes = known.classes end
  task = task or known and known.task or classes and "classification"
  if not task then
    local guess
    task, guess = targets.guess(y)
    if guess then warn(guess) end
  end
  if task == "regression" then
    if classes then fail("a regression takes no classes") end
    return y, nil, task
  end
  if y:cols() ~= 1 then fail("labels come as one column, and y has %d", y:cols()) end
  if classes then check_codes(y, classes) end
  return y, classes or distinct(y), task
end

-- ------------ several labels of a row

--- targets.are_label_lists(y): whether y is a list of lists of which one holds a text.
function targets.are_label_lists(y)
  if type(y) ~= "table" or getmetatable(y) then return false end
  local text = false
  for _, one in ipairs(y) do
    if type(one) ~= "table" or getmetatable(one) then return false end
    text = text or type(one[1]) == "string"
  end
  return text
end

-- n x c of 0 and 1 for lists of labels, and the labels.
local function from_label_lists(y, classes)
  local all = {}
  for i, list in ipairs(y) do
    for _, label in ipairs(list) do
      if type(label) ~= "string" then
        fail("row %d has the label %s; labels of a row are a list of texts", i, options.show(label))
      end
      all[#all + 1] = label
    end
  end
  classes = classes or sorted_labels(all)
  local place, made = {}, core.zeros(#y, #classes)
  for k, label in ipairs(classes) do place[label] = k end
  for i, list in ipairs(y) do
    for _, label in ipairs(list) do
      if not place[label] then
        fail("row %d has the label %s, which is not in classes", i, options.show(label))
      end
      made:set(i, place[label], 1)
    end
  end
  return made, classes
end

--- targets.read_multilabel(y, classes): n x c of 0 and 1, and the c labels, for lists of the labels
--- of each row, or for a matrix or rows of 0 and 1.
function targets.read_multilabel(y, classes)
  classes = classes and targets.check_classes(classes)
  if targets.are_label_lists(y) then return from_label_lists(y, classes) end
  local read, made = pcall(core.matrix, y)
  if not read or made:rows() == 0 or made:cols() == 0 then
    fail("multi-label targets take a list of lists of texts, or a matrix of 0 and 1, and got %s",
      options.show(y))
  end
  made = made:astype("float64")
  for i = 1, made:rows() do
    for j = 1, made:cols() do
      local v = made:get(i, j)
      if v ~= 0 and v ~= 1 then
        fail("multi-label targets are 0 and 1, and y has %s in row %d, column %d", options.show(v),
          i, j)
      end
    end
  end
  if not classes then
    classes = {}
    for j = 1, made:cols() do classes[j] = j end
  end
  if #classes ~= made:cols() then
    fail("y has %d columns, and there are %d classes", made:cols(), #classes)
  end
  return made, classes
end

-- ------------ weights

--- targets.weights(given, n): row weights, a list or a matrix of one row or column, as an n x 1
--- matrix. Raises an error unless they are finite, at least 0 and not all 0.
function targets.weights(given, n)
  if not core.is_matrix(given) and (type(given) ~= "table" or getmetatable(given)) then
    fail("weights take a list of numbers or an n x 1 matrix, and got %s", options.show(given))
  end
  local read, w = pcall(core.matrix, given)
  if not read then fail("weights: %s", w) end
  if w:cols() ~= 1 and w:rows() == 1 then w = w:t():copy() end
  if w:rows() ~= n or w:cols() ~= 1 then
    fail("X has %d rows and weights is %d x %d", n, w:rows(), w:cols())
  end
  local total = 0
  for i = 1, n do
    local v = w:get(i, 1)
    if not (v >= 0 and v < math.huge) then
      fail("weight %d is %s: weights are finite and at least 0", i, options.show(v))
    end
    total = total + v
  end
  if total == 0 then fail("all weights are 0") end
  return w
end

return targets
