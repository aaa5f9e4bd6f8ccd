--- A terminal for tests: keys are typed, and what is shown is waited for (pty.c).
local support = require "support"

local terminal = {}

--- terminal.driver(): the path of the program behind it, or nil where it was not built.
function terminal.driver()
  local path = support.build .. "/tests/pty"
  local file = io.open(path, "rb")
  if file then file:close() end
  return file and path
end

local function assignments(environment)
  local parts = {}
  for name, value in pairs(environment or {}) do
    parts[#parts + 1] = name .. "=" .. support.quote(value)
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

--- terminal.play{ steps = { "type 1+1\\r", "wait 2", "end" }, columns = 80, rows = 24,
--- environment = { NAME = value }, arguments = "", limit = }: the command on a terminal; `limit` is
--- the largest file that it may write, in units of `ulimit -f`. Returns its exit status, what the
--- terminal showed, and the same without escapes and carriage returns.
function terminal.play(given)
  local own = { TERM = "xterm" }
  for name, value in pairs(given.environment or {}) do own[name] = value end
  local limit = given.limit and ("ulimit -f %d; "):format(given.limit) or ""
  local line = limit .. ("env -u NO_COLOR -u LC_ALL %s timeout 300 %s %d %d %s %s"):format(
    assignments(own), support.quote(terminal.driver()), given.columns or 80, given.rows or 24,
    support.quote(support.binary), given.arguments or "")
  local status, shown, err = support.shell(line, table.concat(given.steps, "\n") .. "\n")
  if status == 99 then error("the terminal did not show it: " .. err .. shown, 0) end
  return status, shown, (shown:gsub("\27%[[%d;?]*%a", ""):gsub("[\r\27]", ""))
end

return terminal
