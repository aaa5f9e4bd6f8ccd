--- Text copied from a session, with its prompts and its output: `> x = 1`, `> x`, `1`.
local pasted = {}

-- The text behind a prompt, "> " or ">> ", or nil.
local function behind_prompt(line)
  return line:match("^>>?%s(.*)$") or line:match("^>>?$") and ""
end

--- pasted.statements(text, status): the statements of a text whose first line begins with a prompt,
--- without the prompts; nil for other texts. A line without a prompt goes on with a statement that
--- is unfinished (status(statement) == "unfinished"), and is output of a whole one, left out.
function pasted.statements(text, status)
  if not behind_prompt(text:match("^%s*([^\n]*)")) then return nil end
  local list = {}
  for line in text:gsub("^%s+", ""):gmatch("[^\n]+") do
    local last = list[#list]
    local unfinished = last and status(last) == "unfinished"
    local rest = behind_prompt(line)
    if unfinished then
      list[#list] = last .. "\n" .. (rest or line)
    elseif rest then
      list[#list + 1] = rest
    end
  end
  return list
end

return pasted
