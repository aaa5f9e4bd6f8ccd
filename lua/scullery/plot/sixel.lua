--- Pictures in pixels, for terminals that support sixel graphics.
-- A terminal could be asked (DA1), but on a slow line its answer may come so late that it appears
-- as typed text. So it is recognised by its name, or the user sets a variable.
local options = require "scullery.base.options"

local sixel = {}

local names = { "^foot", "^mlterm", "^contour", "^yaft" } -- of TERM
local programs = { WezTerm = true, ["iTerm.app"] = true } -- of TERM_PROGRAM

--- sixel.is_taken(): whether the terminal is known to support sixel; if SCULLERY_SIXEL is "1" or
--- "0", it decides.
function sixel.is_taken()
  local said = os.getenv "SCULLERY_SIXEL"
  if said == "1" or said == "0" then return said == "1" end
  if programs[os.getenv "TERM_PROGRAM" or ""] then return true end
  local term = os.getenv "TERM" or ""
  for _, name in ipairs(names) do if term:find(name) then return true end end
  return false
end

--- sixel.draw(figure): the bytes that draw it in the terminal; nil if the terminal does not support
--- sixel or gnuplot cannot write it.
function sixel.draw(figure)
  if not sixel.is_taken() then return nil end
  local ok, drawn = options.attempt(require("scullery.plot.gnuplot").draw, figure, "sixel")
  return ok and drawn or nil
end

return sixel
