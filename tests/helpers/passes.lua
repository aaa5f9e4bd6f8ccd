--- passes(target, given): whatever the checker, with these options, tests of it passes or is
--- skipped; returns the names of what is skipped.
local lu = require "luaunit"

return function(target, given)
  local skipped = {}
  for _, one in ipairs(require "scullery".plugin.check(target, given).results) do
    lu.assertTrue(one.outcome == "pass" or one.outcome == "skip",
      ("%s: %s: %s: %s"):format(target, one.name, one.outcome, one.text))
    if one.outcome == "skip" then skipped[#skipped + 1] = one.name end
  end
  return skipped
end
