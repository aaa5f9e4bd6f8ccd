--- Matches new data to a fitted model: columns by name, labels by their value. A row with a label
--- that did not occur in training counts as wrong.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local warn = require "scullery.base.warn"

local matching = {}

-- Up to five names or labels as text.
local function listed(list)
  local parts = {}
  for i = 1, math.min(#list, 5) do parts[i] = options.show(list[i]) end
  if #list > 5 then parts[#parts + 1] = "..." end
  return table.concat(parts, ", ")
end

local warned = setmetatable({}, { __mode = "k" }) -- data set -> the warnings printed for it

-- Prints a warning about a data set once.
local function warn_once(about, text)
  local known = warned[about] or {}
  warned[about] = known
  if known[text] then return end
  known[text] = true
  warn(text)
end

-- ------------ columns

-- Whether two lists have the same elements in the same order.
local function same_list(a, b)
  if #a ~= #b then return false end
  for k in ipairs(a) do if a[k] ~= b[k] then return false end end
  return true
end

-- name -> position; nil if a name occurs twice.
local function places_of(names)
  local place = {}
  for j, name in ipairs(names) do
    if place[name] then return nil end
    place[name] = j
  end
  return place
end

--- matching.columns(ds, f): the numbers of the columns of ds that the model f takes (f.names), in
--- its order; nil if the columns match already, or if one side has no names or two equal ones.
--- Raises an error for a missing column; warns of columns that are left out.
function matching.columns(ds, f)
  local here, wanted = ds.names, f.names
  if not here or not wanted or same_list(here, wanted) then return nil end
  local place, known = places_of(here), places_of(wanted)
  if not place or not known then return nil end
  local places, missing, extra = {}, {}, {}
  for j, name in ipairs(wanted) do
    places[j] = place[name]
    if not place[name] then missing[#missing + 1] = name end
  end
  if #missing > 0 then
    for _, name in ipairs(here) do if not known[name] then extra[#extra + 1] = name end end
    local near = options.nearest(missing[1], extra)
    fail("the data set has no column %s%s, which the model was fitted on; read the file as the \z
      training data was, sc.data.csv(path, { like = train })", listed(missing),
      near and (" (did you mean '%s'?)"):format(near) or "")
  end
  for _, name in ipairs(here) do if not known[name] then extra[#extra + 1] = name end end
  if #extra > 0 then
    warn_once(ds, ("%d column%s that the model does not know %s left out: %s"):format(#extra,
      #extra == 1 and "" or "s", #extra == 1 and "is" or "are", listed(extra)))
  end
  return places
end

matching.MOST_BYTES = 1 << 26 -- of texts whose rows are made at once, and looked at

-- Sparse rows of texts by the model's encoder, of many texts the texts themselves, of which the
-- source makes rows; a line on standard error for texts without terms.
local function rows_of(texts, f)
  if texts:bytes() > matching.MOST_BYTES then return texts end
  local rows = core.text_encode(f.encoder, texts)
  local empty, first = core.empty_rows(rows)
  if empty > 0 then
    warn_once(texts, ("%d of %d texts have no term that the model knows (the first is text %d)")
      :format(empty, #texts, first))
  end
  return rows
end

--- matching.encoded(data, f): the rows of the model f for what a user gave: texts and lists of
--- texts become sparse rows; a data set keeps its other fields. Other data as they are.
function matching.encoded(data, f)
  local texts = data
  if dataset.is(data) then texts = data.X
  elseif type(data) == "string" then
    fail("takes a list of texts, and got one text: { %s }", options.show(data))
  elseif type(data) == "table" and not getmetatable(data) and type(data[1]) == "string" then
    texts = core.texts(data)
  end
  if not core.is_texts(texts) then return data end
  if not f.encoder then
    fail("takes rows of %d numbers, and got texts, which only a pipeline that begins with \z
      sc.text{} takes", f.dim)
  end
  local rows = rows_of(texts, f)
  if not dataset.is(data) then data = dataset.new{ X = texts } end
  return dataset.with(data, { X = rows, encoder = f.encoder, names = f.names })
end

--- matching.source(data, f): the rows of a matrix, a list of rows or a data set as a source with
--- the columns of the model f.
function matching.source(data, f)
  local source
  data = matching.encoded(data, f)
  if dataset.is(data) then
    source = dataset.source_of_rows(data)
    local places = matching.columns(data, f)
    if places then source = core.source_columns(source, places) end
  elseif core.is_rows(data) then
    source = core.source(data)
  elseif type(data) == "table" and not getmetatable(data) then
    source = core.source(core.matrix(data))
  else
    fail("takes a matrix or a data set, and got %s", options.show(data))
  end
  local _, cols = core.source_size(source)
  if cols ~= f.dim and f.encoder then
    fail("takes texts (a list, sc.texts or a data set of them), and got %s", options.show(data))
  end
  if cols ~= f.dim then
    fail("X has %d column%s where the pipeline was fitted on %d", cols, cols == 1 and "" or "s",
      f.dim)
  end
  return source
end

-- ------------ labels

-- The text by which labels are compared: the number 3 and the text "3" are the same label.
local function key_of(label)
  if type(label) ~= "number" then return label end
  local whole = math.tointeger(label)
  return whole and ("%d"):format(whole) or ("%.17g"):format(label)
end

-- key of a label -> its code in y for these classes: the number itself, or the position of a text.
local function codes_of(classes)
  local code = {}
  for k, label in ipairs(classes) do
    code[key_of(label)] = type(label) == "number" and label or k
  end
  return code
end

local function has_texts(classes) return classes ~= nil and type(classes[1]) == "string" end

-- y of a data set in the codes of the classes, NaN for unknown labels; the number of such rows, and
-- the list of these labels.
local function recoded(ds, classes)
  local y, texts, code = ds.y, has_texts(ds.classes) and ds.classes, codes_of(classes)
  if y:cols() ~= 1 then fail("labels come as one column, and y has %d", y:cols()) end
  local out, count, strange, seen = core.zeros(y:rows(), 1), 0, {}, {}
  for i = 1, y:rows() do
    local value = y:get(i, 1)
    local label = texts and texts[math.tointeger(value)] or value
    local known = code[key_of(label)]
    if not known then
      count = count + 1
      if not seen[label] then seen[label] = true strange[#strange + 1] = label end
    end
    out:set(i, 1, known or 0 / 0)
  end
  return out, count, strange
end

-- For each class of the model its code in the rows of a stream; NaN for a class that the stream
-- does not have.
local function stream_codes(ds, classes)
  local code, list = has_texts(ds.classes) and codes_of(ds.classes), {}
  for k, label in ipairs(classes) do
    local key = key_of(label)
    local number = tonumber(key)
    list[k] = code and code[key] or not code and number and key_of(number) == key and number
      or 0 / 0
  end
  return list
end

--- matching.tell_strangers(ds, count[, labels]): warns, once for each data set, that `count` rows
--- have a label that was never seen in training; nothing for 0.
function matching.tell_strangers(ds, count, labels)
  if count == 0 then return end
  warn_once(ds, ("%d row%s a label that was never seen in training%s: %s"):format(count,
    count == 1 and " has" or "s have", labels and " (" .. listed(labels) .. ")" or "",
    count == 1 and "it counts as wrong" or "they count as wrong"))
end

-- Gives the copy `self` of a data set the classes and codes of the model f; returns the number of
-- rows with labels that f does not know (0 for a stream).
local function match_classes(self, ds, f)
  if ds.task == "classification" and same_list(ds.classes, f.classes) then return 0 end
  self.classes, self.task, self.strangers = f.classes, f.task, true
  if not ds.X then
    self.codes = stream_codes(ds, f.classes)
    return 0
  end
  local count, labels
  self.y, count, labels = recoded(ds, f.classes)
  matching.tell_strangers(ds, count, labels)
  return count
end

--- matching.repeated_source(source, count): the source with each target as often in a row as makes
--- `count` targets.
function matching.repeated_source(source, count)
  local form = { mean = {}, scale = {} }
  for j = 1, count do form.mean[j], form.scale[j] = 0, 1 end
  return core.formed_source(source, form)
end

--- matching.repeated(y, count): each column of y count times in a row.
function matching.repeated(y, count)
  local columns = {}
  for j = 1, y:cols() do
    for _ = 1, count do columns[#columns + 1] = y:column(j) end
  end
  return core.hcat(table.unpack(columns))
end

-- The columns of a multi-label y in the order of the labels of the model f; 0 for a label that the
-- data set does not have.
local function columns_of_labels(ds, f)
  local place, columns = places_of(ds.classes), {}
  for j, label in ipairs(f.classes) do
    columns[j] = place[label] and ds.y:column(place[label]) or core.zeros(#ds, 1)
    place[label] = nil
  end
  local strange = next(place)
  if strange ~= nil then
    fail("the data set has the label %s, which the model does not know", options.show(strange))
  end
  return core.hcat(table.unpack(columns))
end

-- Makes the copy `self` a data set for a regression or multi-label targets; raises an error for
-- another number of targets than that of the model f.
local function match_targets(self, ds, f)
  if ds.task ~= f.task and (ds.task == "multilabel" or f.task == "multilabel") then
    fail("the model is a %s, and the data set a %s", f.task, ds.task)
  end
  if has_texts(ds.classes) and ds.task ~= "multilabel" then
    fail("the model is a regression, and the data set has labels that are texts")
  end
  self.task, self.classes = f.task, f.task == "multilabel" and f.classes or nil
  if self.classes and ds.task == "multilabel" and not same_list(ds.classes, f.classes) then
    self.y = columns_of_labels(ds, f)
    return
  end
  local targets = ds.X and ds.y:cols() or select(3, core.source_size(ds.source))
  if f.outputs and not ds.X and targets * f.outputs == f.targets then
    self.source = matching.repeated_source(ds.source, f.targets)
    return
  end
  if f.outputs and ds.y and targets * f.outputs == f.targets then
    self.y = matching.repeated(ds.y, f.outputs)
    return
  end
  if targets ~= f.targets then
    fail("the data set has %d targets where the model has %d", targets, f.targets)
  end
end

--- matching.judged(ds, f): the data set, rows with targets, with the columns and the classes of the
--- model f; second: the number of rows with a label that did not occur in training (0 if the set
--- streams: they are counted during the walk).
function matching.judged(ds, f)
  ds = matching.encoded(ds, f)
  local n, d = ds:size()
  if n == 0 then fail("the data set has no rows") end
  if not ds.y and not ds.source then fail("the data set has no y") end
  local self = dataset.with(ds, { places = matching.columns(ds, f) })
  if not self.places and d ~= f.dim then
    fail("X has %d column%s where the pipeline was fitted on %d", d, d == 1 and "" or "s", f.dim)
  end
  if f.task == "classification" then return self, match_classes(self, ds, f) end
  match_targets(self, ds, f)
  return self, 0
end

-- Raises an error for labels that the model f does not know.
local function check_labels(ds, f)
  if ds.X then
    local _, count, strange = recoded(ds, f.classes)
    if count == 0 then return end
    fail("%d row%s a class that the model does not know (%s); it knows %s", count,
      count == 1 and " has" or "s have", listed(strange), listed(f.classes))
  end
  local code, strange = codes_of(f.classes), {}
  for _, label in ipairs(ds.classes) do
    if not code[key_of(label)] then strange[#strange + 1] = label end
  end
  if #strange > 0 then
    fail("there are rows of classes that the model does not know (%s); it knows %s",
      listed(strange), listed(f.classes))
  end
end

--- matching.known(ds, f): the same for rows that a model will learn: a label that it does not know
--- is an error. In a stream without known classes, the pass that meets the label raises it.
function matching.known(ds, f)
  if f.task ~= "classification" then return (matching.judged(ds, f)) end
  if ds.classes and not same_list(ds.classes, f.classes) then check_labels(ds, f) end
  return dataset.with(matching.judged(ds, f), { strangers = false })
end

return matching
