--- Tables as comma-separated text.
local core = require "scullery.core"
local options = require "scullery.base.options"

local csv_text = {}

--- csv_text.field(text): in quotation marks where it needs them.
function csv_text.field(text)
  text = tostring(text)
  return text:find('[,"\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

--- csv_text.check_path(path): refuse what does not end with .csv.
function csv_text.check_path(path)
  if type(path) == "string" and path:find("%.csv$") then return end
  error("takes the path of a .csv file, and got " .. options.show(path), 0)
end

--- csv_text.write(path, rows): rows are lists of texts and numbers; whole or not at all.
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
