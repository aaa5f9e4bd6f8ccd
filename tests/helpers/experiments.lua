--- Small experiments in a folder of their own: setUp makes it, tearDown removes it.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local experiments = {}

local folder

--- experiments.set_up(): make the folder; returns its path.
function experiments.set_up()
  folder = os.tmpname()
  os.remove(folder)
  lu.assertTrue(os.execute("mkdir " .. support.quote(folder)))
  return folder
end

--- experiments.tear_down(): remove it.
function experiments.tear_down()
  lu.assertTrue(os.execute("rm -r " .. support.quote(folder)))
end

--- experiments.run(given): an experiment "e" of two cells in the folder; what it says on the way is
--- the second result.
function experiments.run(given)
  local o = { name = "e", folder = folder, cells = { T = { 1, 2 } },
    run = function() return { error = 0.5 } end }
  for name, value in pairs(given or {}) do o[name] = value end
  local exp
  local said = support.stderr_of(function() exp = sc.experiment(o) end)
  return exp, said
end

--- experiments.file([name]): the path of its results, or of another file.
function experiments.file(name) return folder .. "/" .. (name or "e/results.jsonl") end

--- experiments.lines(): the lines of its results.
function experiments.lines()
  local list = {}
  for line in io.lines(experiments.file()) do list[#list + 1] = line end
  return list
end

--- experiments.ran(given): the cells that run, in order, as texts; then as experiments.run.
function experiments.ran(given)
  local list = {}
  given.run = function(cell)
    local parts = {}
    for name, value in pairs(cell) do
      parts[#parts + 1] = name .. "=" .. (type(value) == "table" and table.concat(value, "+")
        or tostring(value))
    end
    table.sort(parts)
    list[#list + 1] = table.concat(parts, " ")
    return {}
  end
  local exp, said = experiments.run(given)
  return list, exp, said
end

return experiments
