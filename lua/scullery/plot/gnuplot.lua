--- Pictures by gnuplot: a figure becomes a script that contains its data; the output of gnuplot is
--- the file.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local script = require "scullery.plot.script"
local svg = require "scullery.plot.svg"

local gnuplot = {}

local SECONDS = 120    -- after which gnuplot is stopped
local MOST = 512 << 20 -- bytes of a picture

gnuplot.absent = "gnuplot is not installed, or not in PATH: apt-get install gnuplot-nox (in the \z
  terminal, fig:show() draws without it, and fig:save(\"f.txt\") saves that picture)"

-- The end of a complete picture in each format.
local endings = { svg = "</svg>%s*$", png = "IEND\xaeB`\x82$", pdf = "%%%%EOF%s*$",
  sixel = "\27\\%s*$" }
endings.small_png = endings.png

-- The reason that gnuplot gives: the last line of its message with words, without escape sequences.
local function reason_of(message)
  local last
  for line in message:gmatch("[^\n]+") do
    local words = line:gsub("^.-line %d+: ", ""):gsub("^%s+", ""):gsub("%s+$", "")
    if words:find("%a") and not words:find("^gnuplot>") then last = words end
  end
  return last and last:gsub("[%c\x80-\xff]", "?") or "it gives no reason"
end

--- gnuplot.draw(figure, format): the bytes of the picture; format: as in script.of.
--- Raises an error if gnuplot is missing, lacks the format, fails, or takes more than two minutes.
function gnuplot.draw(figure, format)
  local ran = core.run_program({ "gnuplot", "--default-settings" }, SECONDS,
    script.of(figure, format), MOST)
  if not ran then error(gnuplot.absent, 0) end
  local drawn, message, status = ran.output, ran.message, ran.status
  if message:find("unknown or ambiguous terminal", 1, true) then
    fail("the gnuplot in PATH cannot write %s: apt-get install gnuplot-nox brings one that can",
      format)
  end
  if status ~= 0 then fail("gnuplot failed: %s", reason_of(message)) end
  if not drawn:find(endings[format], -20) then
    fail("gnuplot wrote no whole %s file: %s", format, reason_of(message))
  end
  return format == "svg" and svg.finish(drawn, figure) or drawn
end

return gnuplot
