--- Several columns of a CSV file as targets: the columns are read as features are, and moved to y.
--- The schema of the result has them apart, as `targets`: a list of names, with the field task.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local targets = require "scullery.data.targets"

local several_targets = {}

-- Raises an error for options that do not go with a list of targets.
local function check(o)
  if #o.target == 0 then fail("option 'target' got an empty list; it takes names of columns") end
  for i, name in ipairs(o.target) do
    if type(name) ~= "string" then
      fail("option 'target' holds %s in place %d; a list of targets holds names of columns",
        options.show(name), i)
    end
  end
  for _, name in ipairs{ "stream", "derive", "sparse", "weights", "groups", "time" } do
    if o[name] then
      fail("options 'target' with several columns and '%s' do not go together", name)
    end
  end
  if o.task == "classification" then
    fail("several targets are values (task = \"regression\"), or labels of which a row has any \z
      number (task = \"multilabel\")")
  end
end

-- The schema `like` with its targets as further columns of numbers.
local function with_columns(like)
  local made = {}
  for key, value in pairs(like) do made[key] = value end
  made.columns = table.move(like.columns, 1, #like.columns, 1, {})
  for _, name in ipairs(like.targets) do
    made.columns[#made.columns + 1] = { name = name, kind = "number", missing = 0 }
  end
  made.targets, made.cols = nil, like.cols + #like.targets
  return made
end

--- several_targets.wanted(o): the list of target columns { ..., task = } that the options of
--- sc.data.csv ask for, or that `like` has; nil for one target or none. The options become those of
--- a file without targets.
function several_targets.wanted(o)
  if type(o.target) == "table" and not getmetatable(o.target) then
    check(o)
    local list = table.move(o.target, 1, #o.target, 1, {})
    list.task, o.task, o.target = o.task, nil, false
    return list
  end
  local like = o.like and o.like.targets
  if not like or o.target ~= nil then return nil end
  o.task = nil
  return like
end

-- Whether the file has a column of one of these names, whatever is in it.
local function has_any(path, o, wanted)
  local plain = {}
  for key, value in pairs(o) do plain[key] = value end
  plain.like, plain.quiet = nil, true
  local ok, result = pcall(core.read_csv, path, plain)
  for _, column in ipairs(ok and result.schema.columns or {}) do
    for _, name in ipairs(wanted) do
      if column.name == name then return true end
    end
  end
  return false
end

--- several_targets.read(path, o, wanted): core.read_csv with these targets moved to y. With `like`,
--- a file that has none of the targets is read too.
function several_targets.read(path, o, wanted)
  local like, result = o.like, nil
  if like then
    local whole = {}
    for key, value in pairs(o) do whole[key] = value end
    whole.like = with_columns(like)
    local ok
    ok, result = pcall(core.read_csv, path, whole)
    if not ok then
      if has_any(path, o, wanted) then error(result, 0) end
      return core.read_csv(path, o)
    end
  end
  result = result or core.read_csv(path, o)
  local place, kept, names, columns = {}, {}, {}, {}
  for j, name in ipairs(result.names) do place[name] = j end
  local chosen, is_target = {}, {}
  for k, name in ipairs(wanted) do
    if not place[name] then
      local near = options.nearest(name, result.names)
      fail("option 'target' names the column '%s', which is not a column of numbers of the file%s",
        name, near and (" (did you mean '%s'?)"):format(near) or "")
    end
    chosen[k], is_target[name] = place[name], true
  end
  for _, column in ipairs(result.schema.columns) do
    if not is_target[column.name] then columns[#columns + 1] = column
    elseif column.missing > 0 then
      fail("the target '%s' is missing in %d rows", column.name, column.missing)
    end
  end
  for j, name in ipairs(result.names) do
    if not is_target[name] then kept[#kept + 1], names[#names + 1] = j, name end
  end
  local X = result.X:t():copy()
  local y = X:select(chosen):t():copy():astype("float64")
  result.X, result.names = X:select(kept):t():copy(), names
  result.schema.columns, result.schema.cols = columns, #names
  local task = wanted.task or "multilabel"
  result.y, result.task = y, task
  if task == "multilabel" then
    result.y, result.classes = targets.read_multilabel(y, table.move(wanted, 1, #wanted, 1, {}))
  end
  result.schema.targets = table.move(wanted, 1, #wanted, 1, { task = task })
  return result
end

return several_targets
