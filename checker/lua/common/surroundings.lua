--- The test of the surroundings that a plugin must not change.
local core = require "scullery_checker.core"
local sorted = require("scullery.base.keys").sorted

-- Names of surroundings. Counts come last, as the other names describe a change better.
local function names_of(surroundings)
  return sorted(surroundings, function(a, b)
    local a_counts, b_counts = a:find("^number") ~= nil, b:find("^number") ~= nil
    if a_counts ~= b_counts then return b_counts end
    return a < b
  end)
end

local function check_surroundings(t)
  local square = core.randn{ 600, 600, seed = t.seed }
  local _ = square * square -- the host starts its own threads
  local before = core.surroundings()
  local stderr = io.stderr
  -- what the host says of a fit is not the plugin's
  rawset(io, "stderr", { write = function() end })
  local ok, message = pcall(function()
    for component in t:variants() do t.subject.use(component, t.seed) end
  end)
  rawset(io, "stderr", stderr)
  if not ok then error(message, 0) end
  local after = core.surroundings()
  -- the system counts what the processes of a group wrote to each other
  if t.kind == "transport" or t.kind == "reader" then before["number of bytes written"] = nil end
  for _, what in ipairs(names_of(before)) do
    t:expect(after[what] == before[what], "the %s was %s before, and is %s", what, before[what],
      after[what])
  end
end

return {
  { name = "surroundings",
    about = "rounding, locale, environment, rand(), folder, files and such stay",
    run = check_surroundings },
}
