--- The time profile of a call: seconds, rows and rate of each stage of the engine's work.
local core = require "scullery.core"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"

local profile = {}

local Report = objects.class("profile", { example = "report",
  fields = "stages seconds other processors" })

-- ------------ printing

local function count(value) return value > 0 and ("%d"):format(value) or "" end

local function line(...) return (("%-22s %10s %7s %7s %12s %14s"):format(...):gsub("%s+$", "")) end

local function seconds_line(name, seconds, total, ...)
  return line(name, ("%.4g"):format(seconds), ("%.1f %%"):format(100 * seconds / total), ...)
end

function Report:__tostring()
  local total = math.max(self.seconds, 1e-12)
  local lines = { line("stage", "seconds", "share", "passes", "rows", "rows a second") }
  for _, stage in ipairs(self.stages) do
    lines[#lines + 1] = seconds_line(stage.name, stage.seconds, total, count(stage.passes),
      count(stage.rows), stage.rate and ("%.3g"):format(stage.rate) or "")
  end
  lines[#lines + 1] = seconds_line("outside these stages", self.other, total, "", "", "")
  lines[#lines + 1] = seconds_line("all", self.seconds, total, "", "", "")
  lines[#lines + 1] = ("%.2f processors were busy on average"):format(self.processors)
  return table.concat(lines, "\n")
end

-- ------------ measuring

-- The stages of `after` less the times in `before`, the longest first.
local function since(before, after)
  local known, list = {}, {}
  for _, stage in ipairs(before) do known[stage.name] = stage end
  for _, stage in ipairs(after) do
    local was = known[stage.name] or { seconds = 0, rows = 0, passes = 0 }
    local one = { name = stage.name, seconds = stage.seconds - was.seconds,
      rows = math.tointeger(stage.rows - was.rows),
      passes = math.tointeger(stage.passes - was.passes) }
    if one.rows > 0 and one.seconds > 0 then one.rate = one.rows / one.seconds end
    if one.seconds > 0 or one.passes > 0 then list[#list + 1] = one end
  end
  table.sort(list, function(a, b) return a.seconds > b.seconds end)
  return list
end

-- The report of the stages between two states of the engine's clocks.
local function report_of(before, after, seconds, processor)
  local stages = since(before, after)
  local other = seconds
  for _, stage in ipairs(stages) do
    stage.share = stage.seconds / seconds
    other = other - stage.seconds
  end
  return setmetatable({ stages = stages, seconds = seconds, other = math.max(other, 0),
    processors = processor / seconds }, Report)
end

--- sc.profile(f, ...): calls f(...) and returns a report, then the results of f. The report prints
--- as a table with a row for each stage of the engine's work ("reading", a row stage such as
--- "standardize", "features", "normal equations", "solving", "predicting", "judging" of folds,
--- "parameters"): its seconds, its share, the number of passes over the rows, the number of rows
--- and the rate. Each moment counts for one stage only. "outside these stages": Lua, and work that
--- is not part of a stage. Seconds are elapsed time, whatever the number of threads. Fields: stages
--- (a list of name, seconds, share, passes, rows, rate), seconds, other, processors (processor time
--- divided by seconds). An error of f is raised unchanged.
function profile.run(f, ...)
  if type(f) ~= "function" then
    error("profile: takes a function and its arguments, and got " .. options.show(f), 2)
  end
  local before, began, processor = core.profile_start(), core.now(), os.clock()
  local result = table.pack(pcall(f, ...))
  local seconds, used = core.now() - began, os.clock() - processor
  local after = core.profile_stop()
  if not result[1] then error(result[2], 0) end
  return report_of(before, after, math.max(seconds, 1e-9), used),
    table.unpack(result, 2, result.n)
end

profile.class = Report

return profile
