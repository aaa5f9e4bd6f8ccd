--- Data sets whose rows are texts: files of text, and columns of text of CSV files.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local folds = require "scullery.data.folds"
local options = require "scullery.base.options"
local schema = require "scullery.data.schema"
local targets = require "scullery.data.targets"
local warn = require "scullery.base.warn"

local texts = {}

-- The name of a path for messages.
local function name_of(path) return path == "-" and "standard input" or path end

-- Texts in UTF-8, of an encoding. where(i): the file of text i, and how many lines come before it
-- there. Invalid bytes are reported with the file and line of the first.
local function decoded(list, encoding, where)
  if encoding == "latin1" then return core.texts_latin1(list) end
  local count, first, line = core.texts_invalid(list)
  if count > 0 then
    local file, before = where(first)
    warn(("%s:%d: %d of %d texts have bytes that are not UTF-8; they are read as U+FFFD, between \z
      words (encoding = \"latin1\" reads bytes as ISO 8859-1)"):format(name_of(file), before + line,
        count, #list))
  end
  return list
end

-- The data set of texts and labels. given: task, classes; about: target, schema.
local function made(list, labels, given, about)
  local fields = { X = list, schema = about.schema, target = labels and about.target }
  if labels then
    fields.y, fields.classes, fields.task = targets.read(labels, given.classes, given.task)
  else
    fields.task = given.task or "regression"
  end
  return dataset.from_table(fields)
end

-- ------------ files

-- The files of a pattern or of a list of patterns, those of each sorted by name.
local function files_of(pattern)
  local files = {}
  for _, one in ipairs(type(pattern) == "table" and pattern or { pattern }) do
    local found = {}
    if not one:find("[*?%[]") then found[1] = one
    else
      for _, path in ipairs(core.glob(one)) do
        if path:sub(-1) ~= "/" then found[#found + 1] = path end
      end
      table.sort(found)
      if #found == 0 then error(("%s: no file has such a path"):format(one), 0) end
    end
    table.move(found, 1, #found, #files + 1, files)
  end
  return files
end

local function folder_of(path)
  local name = path:match("([^/]+)/+[^/]+$")
  if not name or name == "." or name == ".." then
    error(("%s: label = \"folder\" takes the name of the file's folder, and the path has none")
      :format(path), 0)
  end
  return name
end

local function stem_of(path)
  return (path:match("[^/]+$"):gsub("%.gz$", ""):gsub("(.)%.[^.]*$", "%1"))
end

-- The label of a file, by option `label`: nil where it has none of its own.
local function label_of(path, label)
  if label == "folder" then return folder_of(path) end
  if label == "file" then return stem_of(path) end
  if type(label) ~= "function" then return nil end
  local found = label(path)
  if type(found) ~= "string" and type(found) ~= "number" then
    error(("the function of option 'label' returned %s for %s; it takes a text or a number")
      :format(options.show(found), path), 0)
  end
  return found
end

-- Texts and labels of lines "label<tab>text". where: as in decoded.
local function split_tabs(list, where)
  local rest, labels = {}, {}
  for i = 1, #list do
    local label, text = list[i]:match("^([^\t]*)\t(.*)$")
    if not label or label == "" then
      local file, before = where(i)
      error(("%s:%d: label = \"tab\" takes lines of a label, a tab and the text, and got %s")
        :format(name_of(file), before + 1, options.show(list[i])), 0)
    end
    labels[i], rest[i] = label, text
  end
  return core.texts(rest), labels
end

local rules = options.declare("data.text", {
  label = { test = function(v)
    return v == "folder" or v == "file" or v == "tab" or type(v) == "function"
  end, takes = "\"folder\", \"file\", \"tab\" or a function(path)" },
  lines = { type = "boolean", default = false },
  encoding = { choices = { "utf-8", "latin1" }, default = "utf-8" },
  task = { choices = { "classification", "regression" } }, classes = { type = "table" },
  unpacked = { type = "integer", low = 1 } })

-- sc.data.text with a checked pattern.
local function read(pattern, given)
  local o = options.check("data.text", given, rules, 0)
  local files = files_of(pattern)
  local by_line = o.lines or o.label == "tab"
  local list, counts = core.read_texts(files, by_line, o.unpacked)
  local function where(i)
    for k, count in ipairs(counts) do
      if i <= count then return files[k], by_line and i - 1 or 0 end
      i = i - count
    end
  end
  list = decoded(list, o.encoding, where)
  local labels = o.label and {} or nil
  if o.label == "tab" then
    list, labels = split_tabs(list, where)
  else
    for k, path in ipairs(labels and files or {}) do
      local label = label_of(path, o.label)
      for _ = 1, counts[k] do labels[#labels + 1] = label end
    end
  end
  if #list == 0 then error("the files have no texts", 0) end
  return made(list, labels, o, { target = "label", schema = schema.plain("text", 1) })
end

--- texts.read(pattern, given): see sc.data.text.
function texts.read(pattern, given)
  local ok = type(pattern) == "string" and pattern ~= ""
    or type(pattern) == "table" and not getmetatable(pattern) and #pattern > 0
  for _, one in ipairs(type(pattern) == "table" and pattern or {}) do
    ok = ok and type(one) == "string" and one ~= ""
  end
  if not ok then
    error("takes a path, a pattern such as \"mails/*/*.txt\" or a list of these, and got "
      .. options.show(pattern), 0)
  end
  return read(pattern, given)
end

-- ------------ columns of a CSV file

local function are_names(value)
  if type(value) == "string" then return value ~= "" end
  if type(value) ~= "table" or getmetatable(value) or #value == 0 then return false end
  for _, name in ipairs(value) do if type(name) ~= "string" then return false end end
  return true
end

local csv_rules = {
  text = { test = are_names, takes = "a column's name or a list of them", required = true },
  target = { test = function(v) return type(v) == "string" or v == false end,
    takes = "a column's name, or false" },
  task = rules.task, classes = rules.classes, encoding = rules.encoding,
  weights = { type = "string" }, groups = { type = "string" }, time = { type = "string" },
  separator = { type = "string" }, header = { type = "boolean" }, quiet = { type = "boolean" },
  columns = { type = "table" }, unpacked = rules.unpacked, like = { type = "any" },
}

-- The reader's options for a column of texts: a schema without columns of numbers.
local function reader_of(o)
  return { separator = o.separator, header = o.header, columns = o.columns, unpacked = o.unpacked,
    like = { format = "csv", header = o.header ~= false, separator = o.separator, missing = { "" },
      missing_values = "error", categorical = "onehot", columns = {}, cols = 0 } }
end

-- The names of the columns of a file.
local function columns_of(path, o)
  local names = {}
  for _, note in ipairs(core.block_notes(core.csv_blocks(path, reader_of(o)))) do
    if note.what == "extra" then names[#names + 1] = note.column end
  end
  return names
end

-- Raises an error unless a file has the column that an option names.
local function check_name(option, name, names, path)
  for _, known in ipairs(names) do if known == name then return end end
  local near = options.nearest(name, names)
  error(("option '%s' names '%s', which is not a column of %s%s"):format(option, name, path,
    near and (" (did you mean '%s'?)"):format(near) or ""), 0)
end

-- A column of all files as texts.
local function column_of(paths, name, o)
  local parts = {}
  for _, path in ipairs(paths) do
    local blocks = core.csv_blocks(path, reader_of(o), name)
    for _, ids in core.next_rows, blocks, true do parts[#parts + 1] = core.texts(ids) end
  end
  return core.texts_concat(parts)
end

-- The fields of a column as numbers; nil and the first row that is no number.
local function numbers_of(list)
  local numbers = {}
  for i, field in ipairs(list) do
    numbers[i] = field:find("^%s*[-+.%d]") and tonumber(field) or nil
    if not numbers[i] then return nil, i end
  end
  return numbers
end

-- Labels or values of the target's column.
local function labels_of(paths, name, o)
  local list = column_of(paths, name, o):totable()
  for i, field in ipairs(list) do
    if field == "" then error(("row %d has no %s: the field is empty"):format(i, name), 0) end
  end
  local numbers, wrong = numbers_of(list)
  if o.task == "regression" and not numbers then
    error(("row %d of the target %s is %s, which is not a number"):format(wrong, name,
      options.show(list[wrong])), 0)
  end
  local texts_wanted = o.classes and type(o.classes[1]) == "string"
  return numbers and not texts_wanted and numbers or list
end

-- The role `name` of each row from its column: weights and time are numbers.
local function role_of(paths, name, o, n)
  local list = column_of(paths, o[name], o):totable()
  if name == "groups" then return folds.groups_of(list, n) end
  local numbers, wrong = numbers_of(list)
  if not numbers then
    error(("row %d of option '%s', the column %s, is %s, which is not a number"):format(wrong, name,
      o[name], options.show(list[wrong])), 0)
  end
  return name == "time" and folds.times_of(numbers, n) or targets.weights(numbers, n)
end

local roles = { "weights", "groups", "time" }

-- The target's column: the one that is named, or the last that has no other use; nil for none.
-- used: the columns of texts and roles. like: the schema of other texts, or nil.
local function target_of(names, used, o, like)
  if o.target == false then return nil end
  if o.target then return o.target end
  local free = {}
  for _, name in ipairs(names) do if not used[name] then free[#free + 1] = name end end
  if not like then return free[#free] end
  local wanted = like.target and like.target.name
  for _, name in ipairs(free) do if name == wanted then return name end end
end

-- The line on standard error: what was guessed, and which columns were left out.
local function report(path, names, used, o, ds)
  local lines, rest = {}, {}
  if not o.target and ds.target then
    lines[1] = ("target '%s' (the last other column), %s"):format(ds.target,
      ds.classes and ("a classification of %d classes"):format(#ds.classes) or "a regression")
  end
  for _, name in ipairs(names) do
    if not used[name] and name ~= ds.target then rest[#rest + 1] = name end
  end
  if #rest > 0 then
    lines[#lines + 1] = "columns left out, as the rows are texts: "
      .. table.concat(rest, ", ", 1, math.min(#rest, 6))
      .. (#rest > 6 and (" and %d more"):format(#rest - 6) or "")
  end
  schema.tell(path, lines)
end

-- sc.data.csv with checked options; like: a schema of texts, or nil.
local function read_columns(path, o, like)
  local paths = type(path) == "table" and path or { path }
  local columns = type(o.text) == "table" and o.text or { o.text }
  local names, used = columns_of(paths[1], o), {}
  for _, name in ipairs(columns) do
    check_name("text", name, names, paths[1])
    used[name] = true
  end
  for _, role in ipairs(roles) do
    if o[role] then
      check_name(role, o[role], names, paths[1])
      used[o[role]] = true
    end
  end
  if o.target then check_name("target", o.target, names, paths[1]) end
  local list
  for _, name in ipairs(columns) do
    local column = column_of(paths, name, o)
    list = list and core.texts_join(list, column) or column
  end
  if #list == 0 then error("the file has no rows", 0) end
  list = decoded(list, o.encoding, function(i) return paths[1], i end)
  local target = target_of(names, used, o, like)
  local ds = made(list, target and labels_of(paths, target, o), o, { target = target,
    schema = { format = "text", cols = 1, text = columns } })
  if target then
    ds.schema.target = { name = target, kind = ds.task == "classification" and "category"
      or "number", task = ds.task }
  end
  for _, role in ipairs(roles) do
    if o[role] then ds[role] = role_of(paths, role, o, #list) end
  end
  if not o.quiet then report(path, names, used, o, ds) end
  return ds
end

--- texts.csv(path, given): sc.data.csv with option text, or with `like` that is of such data.
function texts.csv(path, given)
  local copy, like = {}, given.like ~= nil and schema.like(given.like) or nil
  for name, value in pairs(given) do copy[name] = value end
  if like and like.text then copy.text = copy.text or like.text
  elseif like then
    error("option 'like' is of rows of numbers, and option 'text' asks for texts", 0)
  end
  local o = options.check("data.csv", copy, csv_rules, 0)
  for _, one in ipairs(type(path) == "table" and path or { path }) do
    if one == "-" then
      error("option 'text' reads a file once for each column, which standard input does not allow",
        0)
    end
  end
  return read_columns(path, o, like)
end

--- texts.columns(path, like, id): the texts of a CSV file by the schema of others, and the list of
--- the fields of its column `id`, or nil.
function texts.columns(path, like, id)
  if path == "-" then
    error("columns of text are read once each, and the standard input can be read only once", 0)
  end
  local names, list = columns_of(path, {}), nil
  for _, name in ipairs(like.text) do
    check_name("text", name, names, path)
    local column = column_of({ path }, name, {})
    list = list and core.texts_join(list, column) or column
  end
  if not id then return list end
  check_name("id", id, names, path)
  return list, column_of({ path }, id, {}):totable()
end

--- texts.wants(given): true for options of sc.data.csv that texts.csv takes.
function texts.wants(given)
  if type(given) ~= "table" then return false end
  if given.text ~= nil then return true end
  local like = given.like ~= nil and schema.of(given.like)
  return like and like.format == "text" and like.text ~= nil or false
end

return texts
