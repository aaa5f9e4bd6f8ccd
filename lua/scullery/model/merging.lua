--- sc.merge: adds sums over parts of the rows.
local core = require "scullery.core"
local options = require "scullery.base.options"
local parts = require "scullery.model.sums_parts"
local saving = require "scullery.model.saving"
local sums = require "scullery.model.sums"
require "scullery.model.sums_solving" -- methods of the class

local merging = {}

-- ------------ what parts must share

-- Whether two values differ: numbers, texts, matrices, nil, or tables of these.
local function differ(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a ~= b end
  for key, value in pairs(a) do if differ(value, b[key]) then return true end end
  for key in pairs(b) do if a[key] == nil then return true end end
  return false
end

-- Whether two lists of fitted row stages differ, in their kinds or in what they learnt.
local function stages_differ(a, b)
  a, b = a or {}, b or {}
  if #a ~= #b then return true end
  for i, stage in ipairs(a) do
    local x, y = core.stage_save(stage), core.stage_save(b[i])
    if x.kind ~= y.kind or x.cols ~= y.cols or x.constant ~= y.constant then return true end
    if differ(x.arrays or {}, y.arrays or {}) then return true end
  end
  return false
end

-- Classes as one text for an error message.
local function listed(classes)
  local text = {}
  for i, class in ipairs(classes or {}) do text[i] = tostring(class) end
  return #text > 0 and table.concat(text, ", ") or "none"
end

--- merging.difference(a, b): the first property in which two models differ, as a noun for an error
--- message; nil if their sums can be added.
function merging.difference(a, b)
  if a.task ~= b.task then return ("the task: %s and %s"):format(a.task, b.task) end
  if differ(a.classes, b.classes) then
    return ("the classes: %s, and %s"):format(listed(a.classes), listed(b.classes))
  end
  if a.targets ~= b.targets then
    return ("the number of targets: %d and %d"):format(a.targets, b.targets)
  end
  if a.dim ~= b.dim then return ("the number of columns: %d and %d"):format(a.dim, b.dim) end
  if differ(a.names, b.names) then return "the names of the columns" end
  if a.map_info.dtype ~= b.map_info.dtype then
    return ("the number type: %s and %s"):format(a.map_info.dtype, b.map_info.dtype)
  end
  if tostring(a.features) ~= tostring(b.features) then
    return ("the features: %s and %s"):format(tostring(a.features), tostring(b.features))
  end
  if stages_differ(a.stages, b.stages) then
    return "the row stages, or in what the row stages learnt from their rows"
  end
  if stages_differ(a.after, b.after) then return "the row stages after the features" end
  for i, x in ipairs(a.origin.parts or { a.origin }) do
    local y = (b.origin.parts or { b.origin })[i]
    if x.state ~= y.state or differ(x.widths, y.widths) or x.dim ~= y.dim
      or differ(x.columns, y.columns) then
      return "what the features learnt from their rows"
    end
  end
  if core.map_grid(a.map) ~= core.map_grid(b.map) then
    return "the ranges of the features, which were learnt from their first rows"
  end
  if differ(a.form, b.form) then return "how the targets are transformed" end
  if differ(a.class_weights, b.class_weights) then return "class_weights" end
  return nil
end

-- ------------ joining

-- The list with the files of each pattern ("parts/*.sums", sorted by name) in its place. The path
-- of a file is no pattern.
local function expanded(list)
  local found = {}
  for _, one in ipairs(list) do
    local paths = { one }
    if type(one) == "string" and one:find("[*?%[]") and not core.real_path(one) then
      paths = core.glob(one)
      table.sort(paths)
      if #paths == 0 then error(("merge: %s: no file has such a path"):format(one), 0) end
    end
    table.move(paths, 1, #paths, #found + 1, found)
  end
  return found
end

-- The sums of element i of the list, an object or the path of a file; second: its name for error
-- messages.
local function read(one, i)
  if sums.is(one) then return one, ("element %d of the list"):format(i) end
  if type(one) ~= "string" then
    error(("merge: element %d of the list is %s; it takes files of sums, or sums"):format(i,
      options.show(one)), 0)
  end
  local made = saving.read(one)
  if sums.is(made) then return made, one end
  made = type(made) == "table" and rawget(made, "sums_kept")
  if not made then
    error(("merge: %s does not hold sums: p:sums(ds, { save = path }) and p:save(path, \z
      { sums = true }) write such files"):format(one), 0)
  end
  return made, one
end

-- Raises an error if the sums `made` and `whole` are of different models. first, name: their names
-- for error messages.
local function check_addable(whole, made, first, name)
  local what = merging.difference(whole.model, made.model)
  if what then error(("merge: %s and %s differ in %s"):format(first, name, what), 0) end
  sums.check_alike("merge", whole.instruction_set, first, made.instruction_set, name)
  local a, b = whole.folds and #whole.folds or 0, made.folds and #made.folds or 0
  if a ~= b then
    error(("merge: %s and %s differ in the number of folds that were summed separately: %d and %d")
      :format(first, name, a, b), 0)
  end
  local seed, other = whole.fold_seed, made.fold_seed
  if b > 0 and seed and other and seed ~= other then
    error(("merge: the rows of %s were dealt to folds by seed %d and those of %s by seed %d: give \z
      p:sums the same seed for all parts"):format(first, seed, name, other), 0)
  end
end

-- Adds the sums `made` to `whole`, in place. Raises an error if all rows of `made` are in `whole`
-- already and not `again`.
local function join(whole, made, name, again)
  if not again and core.sums_common(whole.handle, made.handle) == made.rows then
    error(("merge: all %d rows of %s are in the other sums already: give again = true to \z
      count them once more"):format(made.rows, name), 0)
  end
  core.sums_join(whole.handle, made.handle, false)
  whole.rows, whole.forgotten = whole.rows + made.rows, whole.forgotten + made.forgotten
  for f = 1, #(whole.folds or {}) do whole.folds[f] = whole.folds[f] + made.folds[f] end
end

-- The open block (open_block.lua) of joined sums `whole`, all parts of which come from one data
-- set: that of the element with its last rows. Rows of several data sets have no order.
local function open_of(whole, elements)
  local part = whole.parts[1]
  if #whole.parts > 1 or whole.partial then return nil end
  for _, made in ipairs(elements) do
    local last = made.parts[#made.parts]
    if last.to == part.to then return made.open end
  end
end

local rules = options.declare("merge", { partial = { type = "boolean", default = false },
  again = { type = "boolean", default = false } })

-- Later elements are added to a copy of the first, so that no sums of the list change.
local function merge(list, given)
  local o = options.check("merge", given or {}, rules, 0)
  if type(list) ~= "table" or getmetatable(list) or #list == 0 then
    error("merge: takes a list of files or sums, and got " .. options.show(list), 0)
  end
  list = expanded(list)
  local whole, all, first, elements = nil, {}, nil, {}
  for i, one in ipairs(list) do
    local made, name = read(one, i)
    elements[i] = made
    if whole then check_addable(whole, made, first, name) end
    for _, part in ipairs(made.parts) do
      all[#all + 1] = { source = part.source, from = part.from, to = part.to, file = name }
    end
    parts.check_apart(all)
    if whole then
      join(whole, made, name, o.again)
    else
      first, whole = name, sums.with(made, { handle = core.sums_copy(made.handle),
        folds = made.folds and table.move(made.folds, 1, #made.folds, 1, {}) })
    end
  end
  local absent = parts.missing(all)
  if #absent > 0 and not o.partial then
    error(("merge: %s are missing: give partial = true to go without"):format(
      parts.listed(absent)), 0)
  end
  whole.parts, whole.partial = parts.joined(all), #absent > 0 or nil
  if #list > 1 then whole.open = open_of(whole, elements) end
  return whole
end

--- sc.merge({ file or sums, ... }[, { partial = false, again = false }]): joins sums over rows
--- (p:sums), in any order, to those over all rows; m:solve() gives the fitted pipeline. Files are
--- those that p:sums and s:save write, or models that were saved with their sums; "parts/*.sums"
--- stands for all files of the pattern. Parts of one data set must be all of it, unless partial =
--- true, and no row may come twice; sums whose rows are all there already are refused unless again
--- = true. Sums of other features, stages, classes or columns are refused.
function merging.merge(list, given) return options.guard("merge", 1, merge, list, given) end

return merging
