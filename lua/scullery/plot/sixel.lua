--- Pictures in pixels in terminals that take sixel.
-- A terminal can be asked (DA1), but its answer may come late, over a slow line as typed text: so
-- it is known by its name, or by what the user says.
local options = require "scullery.base.options"

local sixel = {}

local names = { "^foot", "^mlterm", "^contour", "^yaft" } -- of TERM
local programs = { WezTerm = true, ["iTerm.app"] = true } -- of TERM_PROGRAM

--- sixel.is_taken(): whether the terminal is known to take sixel. SCULLERY_SIXEL decides where it
--- is "1" or "0".
function sixel.is_taken()
  local said = os.getenv "SCULLERY_SIXEL"
  if said == "1" or said == "0" then return said == "1" end
  if programs[os.getenv "TERM_PROGRAM" or ""] then return true end
  local term = os.getenv "TERM" or ""
  for _, name in ipairs(names) do if term:find(name) then return true end end
  return false
end

--- sixel.draw(figure): what draws it in the terminal, or nil where the terminal takes no sixel or
--- gnuplot cannot write it.
function sixel.draw(figure)
  if not sixel.is_taken() then return nil end
  local ok, drawn = options.attempt(require("scullery.plot.gnuplot").draw, figure, "sixel")
  return ok and drawn or nil
end

return sixel
