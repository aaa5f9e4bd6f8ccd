--- The table "planned and measured": for each row of scullery bench that fits or searches, the most
--- resident memory and the seconds of its fit, as p:plan told them and as they were, and the
--- seconds of all processors: on a shared machine these, over the threads that work, are nearer to
--- the time of the fit alone.
---
---   build/scullery scripts/bench/plan.lua [PART | ROW ...]
---
--- Without names: the usual parts.
local bench = require "scullery.bench"
local core = require "scullery.core"
local measure = require "scullery.bench.measure"
local named = require "scullery.data"
local recipe = require "scullery.model.recipe"

require "scullery.model.pipeline" -- its methods are replaced below

local Pipeline = recipe.class
local latest, active

-- Replaces a method: the outermost call is planned first, then measured.
local function watch(name)
  local original = Pipeline.methods[name]
  Pipeline.methods[name] = function(self, data, y, ...)
    if active then return original(self, data, y, ...) end
    active = true
    local planned, told = pcall(Pipeline.methods.plan, self, data, y, ...)
    collectgarbage()
    collectgarbage()
    local busy = core.usage(true)
    local began = core.now()
    local result = table.pack(original(self, data, y, ...))
    local seconds = core.now() - began
    local used, peak = core.usage()
    used, active = used - busy, false
    if latest and latest.name == name then
      seconds, used = math.min(seconds, latest.seconds), math.min(used, latest.used)
    end
    latest = { name = name, told = planned and told or nil, problem = not planned and told or nil,
      seconds = seconds, used = used, peak = peak }
    return table.unpack(result, 1, result.n)
  end
end

-- A report that prints nothing.
local quiet = { row = function() end, skip = function() end, say = function() end,
  rates = function() end, close = function() end }

local function one_row(part, case)
  if case.needs and not pcall(named.path, case.needs) then return end
  latest = nil
  local ok, problem = pcall(case.run, quiet, case, false)
  if not ok then
    print(("| %s | %s |"):format(case.id, tostring(problem)))
  elseif latest and latest.told then
    local t = latest.told
    print(("| %s | %s | %.0f | %.0f | %.2f | %.3g | %.3g | %.2f | %.3g |"):format(part, case.id,
      t.bytes / 1e6, latest.peak / 1e6, t.bytes / latest.peak, t.seconds, latest.seconds,
      t.seconds / latest.seconds, latest.used))
  elseif latest then
    print(("| %s | %s | %s |"):format(part, case.id, tostring(latest.problem)))
  end
  io.flush()
end

measure.forget(512)
watch "fit"
watch "search"
local wanted, any = {}, #arg > 0
for _, name in ipairs(arg) do wanted[name] = true end
print("| part | row | planned MB | measured MB | ratio | planned s | measured s | ratio "
  .. "| processors' s |")
print "|---|---|---:|---:|---:|---:|---:|---:|---:|"
for _, part in ipairs(bench.parts) do
  for _, case in ipairs(require("scullery.bench." .. part).cases) do
    if wanted[part] or wanted[case.id] or not any and part ~= "large" and part ~= "predict" then
      one_row(part, case)
    end
  end
end
