-- False alarms of the checker: all built-in components over many seeds, in this process, but for
-- transports, which need processes. By hand:
--     scullery tests/checker/builtin_seeds.lua [SEEDS = 10] [FIRST = 1]
local sc = require "scullery"

local seeds, first = tonumber(arg[1] or 10), tonumber(arg[2] or 1)
local checks, alarms, began = 0, 0, os.clock()
for seed = first, first + seeds - 1 do
  for _, entry in ipairs(sc.plugin.list()) do
    if entry.kind ~= "transport" then
      local all = sc.plugin.check(entry.kind .. "." .. entry.name, { seed = seed,
        in_process = true })
      checks = checks + 1
      for _, result in ipairs(all.results) do
        if result.outcome ~= "pass" and result.outcome ~= "skip" then
          alarms = alarms + 1
          print(("%s, seed %d: %s: %s: %s"):format(result.component, seed, result.name,
            result.outcome, result.text))
        end
      end
    end
  end
  print(("seed %d: %d checks so far, %d alarms, %.2f s of processor time each"):format(seed,
    checks, alarms, (os.clock() - began) / checks))
  io.stdout:flush()
end
