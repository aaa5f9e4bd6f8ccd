--- Published numbers of a CSV file, for exp:compare.
local core = require "scullery.core"
local csv_text = require "scullery.base.csv_text"

local published = {}

local function fail(...) error(string.format(...), 0) end

-- The fields of a line.
local function fields_of(line)
  local fields, at = {}, 1
  while at <= #line + 1 do
    local text, stop = (line .. ","):match('^"(.-)"(),', at)
    if not text then text, stop = (line .. ","):match("^([^,]*)(),", at) end
    fields[#fields + 1], at = text, stop + 1
  end
  return fields
end

-- The lines of the file as tables from heading to field.
local function lines_of(path)
  local heads, list = nil, {}
  for line in core.read_text(path):gmatch("[^\r\n]+") do
    local fields = fields_of(line)
    if not heads then heads = fields else
      if #fields ~= #heads then
        fail("%s, line %d: %d fields below %d headings", path, #list + 2, #fields, #heads)
      end
      local row = {}
      for i, head in ipairs(heads) do row[head] = fields[i] end
      list[#list + 1] = row
    end
  end
  if not list[1] then fail("%s has no line below the headings", path) end
  return list
end

--- published.read(path, names, value): the nested tables of `published` in exp:compare: of each
--- line, under its fields in the columns `names`, the number in the column `value`, with a standard
--- error where "VALUE.deviation" is above 0: it over the root of `runs`. Lines without a number are
--- left out.
function published.read(path, names, value)
  csv_text.check_path(path)
  local tree, lines = {}, lines_of(path)
  for _, name in ipairs{ value, table.unpack(names) } do
    if not lines[1][name] then fail("%s has no column '%s'", path, name) end
  end
  for _, line in ipairs(lines) do
    local mean, at = tonumber(line[value]), tree
    local deviation, runs = tonumber(line[value .. ".deviation"] or ""), tonumber(line.runs or "")
    for i, name in ipairs(names) do
      local key = tonumber(line[name]) or line[name]
      if i < #names then
        at[key] = mean and (at[key] or {}) or at[key]
        at = at[key] or {}
      elseif mean then
        at[key] = { mean, (deviation or 0) > 0 and runs and deviation / math.sqrt(runs) or nil }
      end
    end
  end
  return tree
end

return published
