--- Help for the cursor position: Shift-Tab in a notebook.
local completion = require "scullery.prompt.completion"

local inspection = {}

-- The names of a path such as sc.data.csv or p:fit that contains the position, or nil.
local function path_around(text, at)
  local first = #text:sub(1, at):match("[%w_.:]*$")
  local last = #text:sub(at + 1):match("^[%w_]*")
  local path = text:sub(at - first + 1, at + last):gsub("[.:]+$", "")
  return path:find("^[%a_]") and path or nil
end

-- The path before the innermost bracket that is open at the position: f in f(a, {.
local function path_before_bracket(text, at)
  local depth = 0
  for place = at, 1, -1 do
    local letter = text:sub(place, place)
    if letter:find("[)}]") then depth = depth + 1 end
    if letter:find("[({]") then
      if depth == 0 then
        local path = path_around(text, #text:sub(1, place - 1):gsub("%s+$", ""))
        if path then return path end
      else
        depth = depth - 1
      end
    end
  end
end

local function value_of(path)
  local names = {}
  for name in path:gmatch("[^.:]+") do names[#names + 1] = name end
  return completion.follow(names, _G)
end

local function text_of(path)
  if not path then return nil end
  local help, value = require "scullery.help", value_of(path)
  if value == nil then return help.topic(path) or nil end
  return help.text(value)
end

local COLUMNS = 70 -- of the window in which JupyterLab shows it

--- inspection.text(text, at): help for the name under the cursor, which is after byte `at`, or else
--- for the function or component whose brackets enclose it; nil if there is none.
function inspection.text(text, at)
  at = math.max(0, math.min(at, #text))
  local found = text_of(path_around(text, at)) or text_of(path_before_bracket(text, at))
  return found and require("scullery.help.folding").fold(found, COLUMNS)
end

return inspection
