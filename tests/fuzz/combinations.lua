--- Random combinations of plugins, options, data and pipelines: built-in ones, ones that are wrong
--- in some slot, and ones that a script defines. Processes that may be killed run five hundred
--- each (combined.lua). A crash inside a plugin that was made wrong is its own fault; every other
--- one, a report of a sanitizer, long work that Ctrl-C does not end, and an error that shows the
--- inside are findings.
---
---   scullery tests/fuzz/combinations.lua [--seed S] [--seconds T] [--count N] [--first I]
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;"
  .. (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local support = require "support"

-- count: stop after so many, before the seconds have passed.
local o = attack.options(arg, { seed = "1", seconds = 60, count = 1e9, first = 0 })

-- Combinations of a process; its seconds until Ctrl-C, and then until SIGKILL; its status after it.
local EACH <const>, LIMIT <const>, GRACE <const>, LONG <const> = 500, 300, 90, 3

local folder, seed = attack.folder(), attack.seed(o.seed) & 0xffffffff

-- Runs combinations; the status, the last one that began, how many fits there were, and whether a
-- crash was in a slot of a specimen, whose names end in a number.
local function run(first, count)
  local status, printed, said = attack.scullery{ folder = folder, seconds = LIMIT,
    signal = "INT", grace = GRACE, arguments = ("%s/tests/fuzz/combined.lua %d %d %d"):format(
      support.quote(attack.source), seed, first, count) }
  local last
  for number in printed:gmatch "%f[^\n%z](%d+)\n" do last = math.tointeger(tonumber(number)) end
  for number, text in printed:gmatch "finding (%d+): ([^\n]*)" do
    attack.finding("--seed %d --first %s --count 1: %s", seed, number, text)
  end
  local own = said:match "scullery: [^\n]* in %a+%.%a+_%d+, slot [^\n]*"
  return { status = status, last = last or first, own = own, said = said,
    fault = attack.fault(status, said), fits = tonumber(printed:match "ended (%d+)") }
end

local began, at, crashes, fits, long = os.time(), math.tointeger(o.first), 0, 0, 0
local stop = at + o.count
while at < stop and os.difftime(os.time(), began) < o.seconds do
  local count = math.tointeger(math.min(EACH - at % EACH, stop - at))
  local result = run(at, count)
  fits = fits + (result.fits or 0)
  if result.status == 0 and not result.fault then
    at = at + count
  else
    local name = ("--seed %d --first %d --count 1"):format(seed, result.last)
    if result.own then
      crashes = crashes + 1
    elseif result.status == LONG or result.status == 130
      or result.said:find("scullery: interrupted!\n", 1, true) then -- outside of what it tries
      long = long + 1
    elseif result.status == 137 then
      attack.finding("%s: Ctrl-C does not end it within %d s", name, GRACE)
    else
      attack.finding("%s: status %d: %s", name, result.status, result.fault
        or result.said:sub(-600))
    end
    at = result.last + 1
  end
end
attack.remove(folder)
print(("%d combinations, %d of them fits; %d crashes of plugins that were made wrong; %d ended by \z
  Ctrl-C; %d findings"):format(at - o.first, fits, crashes, long, attack.found))
os.exit(attack.found == 0)
