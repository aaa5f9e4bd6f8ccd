--- The running script: its file, and the comment at its top.
local script_header = {}

--- script_header.path(): the path of the script that the command runs; nil at the prompt, with -e
--- and if the script comes from standard input.
function script_header.path()
  local arguments = rawget(_G, "arg")
  local script = type(arguments) == "table" and arguments[-1] ~= nil and arguments[0]
  return type(script) == "string" and script or nil
end

--- script_header.lines(path): the lines of the comment at the top of a script, without "-- "; empty
--- if the file cannot be read. A long comment, --[[ ]], does not count.
function script_header.lines(path)
  local file, list = io.open(path, "r"), {}
  if not file then return list end
  for line in file:lines() do
    if not (line:find("^#!") and #list == 0) then
      local rest = line:match("^%-%-%-?(.*)$")
      if not rest or rest:find("^%[=*%[") then break end -- code, or a long comment
      list[#list + 1] = (rest:gsub("^ ", ""):gsub("%s+$", ""))
    end
  end
  file:close()
  return list
end

--- script_header.paragraphs(path): the same comment as a list of { text =, code = true if the
--- paragraph begins with an indented line, as a command does }. The lines of a paragraph are joined
--- by spaces, except that items of a list ("- ", "1. ") begin a new line; lines of code are joined
--- by line ends.
function script_header.paragraphs(path)
  local list, open = {}, nil
  for _, line in ipairs(script_header.lines(path)) do
    local rest = line:gsub("^%s+", "")
    if line == "" then
      open = nil
    elseif open then
      local begins_item = rest:find("^[-*] ") or rest:find("^%d+%. ")
      open.text = open.text .. ((open.code or begins_item) and "\n" or " ") .. rest
    else
      open = { text = rest, code = line:find("^ ") ~= nil }
      list[#list + 1] = open
    end
  end
  return list
end

return script_header
