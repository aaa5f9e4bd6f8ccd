--- Tables as comma-separated text.
local core = require "scullery.core"
local options = require "scullery.base.options"

local csv_text = {}

--- csv_text.field(text): one field; quoted if it contains a comma, a quotation mark or a line end.
function csv_text.field(text)
  text = tostring(text)
  return text:find('[,"\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

--- csv_text.check_path(path): raises an error unless the path ends with .csv.
function csv_text.check_path(path)
  if type(path) == "string" and path:find("%.csv$") then return end
  error("takes the path of a .csv file, and got " .. options.show(path), 0)
end

--- csv_text.write(path, rows): writes a CSV file. rows: lists of texts and numbers. The file
--- appears complete or not at all.
function csv_text.write(path, rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local fields = {}
    for j, value in ipairs(row) do fields[j] = csv_text.field(value) end
    lines[i] = table.concat(fields, ",")
  end
  core.write_text(path, table.concat(lines, "\n") .. "\n")
end

return csv_text
