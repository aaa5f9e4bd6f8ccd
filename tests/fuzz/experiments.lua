--- SIGKILL while experiments run: of runs, of their workers, of one of two runs at once. At the end
--- every cell is done exactly once, with the right result; no cell runs again that was done.
---
---   scullery tests/fuzz/experiments.lua [--seed S] [--seconds T] [--kills N]
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;"
  .. (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local sc = require "scullery"
local support = require "support"

local o = attack.options(arg, { seed = "1", seconds = 600, kills = 1000 })
local finding = attack.finding

local CELLS = 400

-- Each cell takes about 4 ms, and says first that it begins.
local script = [[
local name, processes, starts = ...
local file = assert(io.open(starts, "a"))
file:setvbuf("no")
sc.experiment{ name = name, processes = tonumber(processes), allow_failures = true,
  cells = { i = sc.choose.range{ 1, 20, count = 20 }, j = sc.choose.range{ 1, 20, count = 20 } },
  run = function(cell)
    file:write(cell.i .. " " .. cell.j .. "\n")
    local sum, until_when = 0, os.clock() + 0.004 * (cell.i + cell.j) / 20
    while os.clock() < until_when do sum = sum + 1 end
    return { product = cell.i * cell.j, text = ("x"):rep(cell.i) }
  end }
]]

local folder = attack.folder()
support.write(folder .. "script.lua", script)

-- ------------ what is there

-- { ["i j"] = times that it is done } and the number of lines that failed.
local function done_cells(name)
  local done, failed = {}, 0
  local file = io.open(folder .. "experiments/" .. name .. "/results.jsonl")
  if not file then return done, failed end
  for line in file:lines() do
    local i, j = line:match('"cell":{"i":(%d+),"j":(%d+)}')
    if line:find('"status":"failed"', 1, true) then
      failed = failed + 1
    elseif i then
      done[i .. " " .. j] = (done[i .. " " .. j] or 0) + 1
    end
  end
  file:close()
  return done, failed
end

-- No cell of those done before began again.
local function check_starts(name, before)
  local file = io.open(folder .. "starts")
  if not file then return end
  for cell in file:lines() do
    if before[cell] then finding("%s: cell %s was done and ran again", name, cell) end
  end
  file:close()
  os.remove(folder .. "starts")
end

local totals = { cells = 0, lost = 0, doubled = 0, wrong = 0, failed = 0, experiments = 0 }

local function check_end(name)
  local done, failed = done_cells(name)
  totals.failed, totals.experiments = totals.failed + failed, totals.experiments + 1
  for i = 1, 20 do
    for j = 1, 20 do
      local count = done[i .. " " .. j] or 0
      totals.cells = totals.cells + 1
      if count == 0 then totals.lost = totals.lost + 1 end
      if count > 1 then totals.doubled = totals.doubled + 1 end
    end
  end
  local exp = sc.experiment.open(name, { folder = folder .. "experiments" })
  if #exp.rows ~= CELLS then finding("%s: %d rows", name, #exp.rows) end
  for _, row in ipairs(exp.rows) do
    local right = row.status == "done" and row.result.product == row.cell.i * row.cell.j
      and row.result.text == ("x"):rep(row.cell.i)
    if not right then totals.wrong = totals.wrong + 1 end
  end
end

-- ------------ killing

local command = support.quote(attack.binary) .. " script.lua "
local function arguments(name, processes) return ("%s %d starts"):format(name, processes) end

-- Shell lines that print the number of kills.
local ways = {
  run = function(name, pause, processes)
    return ("%s%s & p=$!; sleep %.3f; kill -9 $p 2>&- && echo 1; wait $p 2>&-"):format(command,
      arguments(name, processes), pause)
  end,
  worker = function(name, pause)
    return ([[%s%s & p=$!; n=0
      for i in 1 2 3 4 5 6 7 8; do
        sleep %.3f
        for c in $(cat /proc/$p/task/$p/children 2>&-); do
          kill -9 $c 2>&- && n=$((n + 1)); break
        done
      done
      kill -9 $p 2>&- && n=$((n + 1)); wait $p 2>&-; echo $n]]):format(command, arguments(name, 2),
      pause / 2)
  end,
  two = function(name, pause)
    return ([[%s%s & p=$!; %s%s & q=$!; sleep %.3f
      kill -9 $p 2>&- && echo 1; sleep 0.05; kill -9 $q 2>&- && echo 1; wait 2>&-]]):format(command,
      arguments(name, 1), command, arguments(name, 2), pause)
  end,
}

local function strike(random, name)
  local way = ({ "run", "worker", "two" })[random(3)]
  local before = done_cells(name)
  local line = ways[way](name, 0.03 + random(200) / 1000, random(2))
  local _, out, told = support.shell(("cd %s; %s"):format(support.quote(folder), line))
  local fault = attack.fault(0, told) or told:match("[^\n]*damaged[^\n]*")
  if fault then finding("%s: %s", way, fault) end
  check_starts(name, before)
  local kills = 0
  for count in out:gmatch("%d+") do kills = kills + tonumber(count) end
  return kills
end

-- Nobody kills this one.
local function complete(name)
  local before = done_cells(name)
  local status, _, errors = support.shell(("cd %s && timeout 300 %s"):format(support.quote(folder),
    command .. arguments(name, 2)))
  if status ~= 0 then finding("the last run: status %s: %s", tostring(status), errors) end
  check_starts(name, before)
  check_end(name)
end

local random, began, kills, number = attack.random(attack.seed(o.seed)), os.time(), 0, 0
while kills < o.kills and os.difftime(os.time(), began) < o.seconds do
  number = number + 1
  local name = "e" .. number
  for _ = 1, 8 do
    if kills < o.kills then kills = kills + strike(random, name) end
  end
  complete(name)
end
attack.remove(folder)
for _, what in ipairs{ "lost", "doubled", "wrong" } do
  if totals[what] > 0 then finding("%d cells %s", totals[what], what) end
end
print(("%d kills in %d s; %d experiments of %d cells: %d cells lost, %d doubled, %d wrong; %d \z
failures by a killed worker were recorded and ran again; %d findings"):format(kills,
  os.difftime(os.time(), began) // 1, totals.experiments, CELLS, totals.lost, totals.doubled,
  totals.wrong, totals.failed, attack.found))
os.exit(attack.found == 0)
