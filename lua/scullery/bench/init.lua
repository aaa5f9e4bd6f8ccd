--- scullery bench: this machine's rates, and how close the engine comes, in one run. Rows on real
--- data are left out where the data are not here.
local measure = require "scullery.bench.measure"
local named = require "scullery.data"
local report = require "scullery.bench.report"

local bench = {}

--- bench.parts: what can be measured; without a choice all but predict and large.
bench.parts = { "maps", "bits", "data", "solvers", "predict", "large" }
local usual = { "maps", "bits", "data", "solvers" }

-- A part has a list of cases: { id =, needs = data set or nil, slow = true: not with --quick,
-- run = function(report, id, quick) }.
local function cases_of(part) return require("scullery.bench." .. part).cases end

--- bench.list(): { id =, part =, needs = } of every case.
function bench.list()
  local list = {}
  for _, part in ipairs(bench.parts) do
    for _, case in ipairs(cases_of(part)) do
      list[#list + 1] = { id = case.id, part = part, needs = case.needs }
    end
  end
  return list
end

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
  case.run(to, case.id, quick)
end

--- bench.run{ parts = { "maps" }, row = { id, ... }, list = false, quick = false, json = false }:
--- these parts (an empty list: the usual ones) or these rows alone; quick: at small sizes; json: as
--- one JSON document at the end. Rates are measured first, but after the rows where rows are named.
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
