--- The columns of the file behind the columns of X: one column of text becomes several 0/1 columns
--- of X.
local columns = {}

-- The number of columns of X that a column of a schema becomes. raw: in X as the reader of the file
-- returns it, where columns that serve only to compute others (helper) are not yet left out.
local function width_of(column, schema, raw)
  if column.kind == "skipped" or column.helper and not raw then return 0 end
  if column.kind ~= "category" then return 1 end
  if schema.categorical == "drop" then return 0 end
  return #column.levels + ((column.missing or 0) > 0 and 1 or 0)
end

--- columns.of(ds[, raw]): a list of { name, first, last, kind, category, levels, missing }: columns
--- first .. last of X. kind: "number", "date" or "category". category: true for 0/1 columns of a
--- text, with its levels. missing: the number of missing fields in the file of the schema. raw: X
--- is as the reader of the file returns it, without computed columns. If the schema does not
--- describe X, each column of X is one, of numbers.
function columns.of(ds, raw)
  local _, d = ds:size()
  local list, j, schema = {}, 1, ds.schema or {}
  for _, column in ipairs(schema.columns or {}) do
    local width = width_of(column, schema, raw)
    if width > 0 then
      list[#list + 1] = { name = column.name, first = j, last = j + width - 1, kind = column.kind,
        category = column.kind == "category", levels = column.levels,
        missing = column.missing or 0 }
      j = j + width
    end
  end
  for _, column in ipairs(not raw and schema.derived or {}) do
    list[#list + 1] = { name = column.name, first = j, last = j, kind = "number",
      missing = column.missing or 0 }
    j = j + 1
  end
  if j == d + 1 then return list end
  list = {} -- no schema, or other columns than those of the file
  for k = 1, d do
    list[k] = { name = ds.names and ds.names[k] or "x" .. k, first = k, last = k, kind = "number",
      missing = 0 }
  end
  return list
end

--- columns.date(days): a number of days since 1970-01-01 as a text: a date, with the time if it is
--- not midnight, in UTC. Dates too far away for os.date are printed as the number.
function columns.date(days)
  local seconds = math.floor(days * 86400 + 0.5)
  if seconds ~= seconds or math.abs(seconds) > 2e11 then return ("%.6g"):format(days) end
  return (os.date(seconds % 86400 == 0 and "!%Y-%m-%d" or "!%Y-%m-%d %H:%M", seconds))
end

--- columns.value(ds, column, i): the field of row i in an element of that list: a number, or the
--- text of a date or a category ("?" for a missing one, "-" for one that the schema does not have).
function columns.value(ds, column, i)
  if not column.category then
    local value = ds.X:get(i, column.first)
    if column.kind == "date" then return columns.date(value) end
    return math.tointeger(value) or value
  end
  for j = column.first, column.last do
    if ds.X:get(i, j) ~= 0 then return column.levels[j - column.first + 1] or "?" end
  end
  return "-"
end

return columns
