--- scullery bench: this machine's rates, and how close the engine comes to them, in one run. Rows
--- on a data set that is not installed are skipped.
local measure = require "scullery.bench.measure"
local named = require "scullery.data"
local report = require "scullery.bench.report"

local bench = {}

--- bench.parts: the names of all parts. Without a choice, all but predict and large run.
bench.parts = { "maps", "bits", "data", "solvers", "predict", "large" }
local usual = { "maps", "bits", "data", "solvers" }

-- A part is a module with a list of cases. A case is { id = the row's name, needs = the name of a
-- data set or nil, slow = true: skipped by --quick, run = function(report, case, quick) }; its
-- other fields are parameters of `run`, so one function serves all cases of a kind.
local function cases_of(part) return require("scullery.bench." .. part).cases end

--- bench.list(): the list of { id =, part =, needs = } of every case, in the order of the parts.
function bench.list()
  local list = {}
  for _, part in ipairs(bench.parts) do
    for _, case in ipairs(cases_of(part)) do
      list[#list + 1] = { id = case.id, part = part, needs = case.needs }
    end
  end
  return list
end

-- The cases to run: those named in `ids`, of any part; without ids, all cases of `parts`, or of the
-- usual parts where that list is empty. An unknown id raises an error.
local function chosen(parts, ids)
  local list, wanted = {}, {}
  for _, id in ipairs(ids) do wanted[id] = true end
  for _, part in ipairs(#ids > 0 and bench.parts or #parts > 0 and parts or usual) do
    for _, case in ipairs(cases_of(part)) do
      if #ids == 0 or wanted[case.id] then
        list[#list + 1] = case
        wanted[case.id] = nil
      end
    end
  end
  local unknown = next(wanted)
  if unknown then
    error(("bench: there is no row '%s'; scullery bench --list names them"):format(unknown), 0)
  end
  return list
end

local function run(case, to, quick)
  if quick and case.slow then
    return to:skip(case.id, "not with --quick")
  end
  if case.needs then
    local here, paths = pcall(named.path, case.needs)
    if not (here and paths) then
      return to:skip(case.id, ("the set '%s' is not here (SCULLERY_DATA)"):format(case.needs))
    end
  end
  case.run(to, case, quick)
end

--- bench.run{ parts = { "maps" }, row = { id, ... }, list = false, quick = false, json = false }:
--- measure the cases of these parts (an empty list: the usual parts), or only the rows named. list:
--- print the names of all rows and measure nothing. quick: small sizes. json: print one JSON
--- document at the end in place of lines. The machine's rates are measured first; where rows are
--- named, only the rates that their floors need are measured, after the row itself.
function bench.run(given)
  if given.list then
    for _, one in ipairs(bench.list()) do print(("%-9s %s"):format(one.part, one.id)) end
    return
  end
  local cases = chosen(given.parts or {}, given.row or {})
  measure.forget(given.quick and 1024 or 3072)
  local to = report.new(given.json)
  if #(given.row or {}) == 0 then to:rates() end
  for _, case in ipairs(cases) do run(case, to, given.quick) end
  to:close()
end

return bench
