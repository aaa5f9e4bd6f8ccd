--- Pipelines as text: what tostring(p) and the prompt print.
local automatic = require "scullery.model.automatic"
local options = require "scullery.base.options"
local recipe = require "scullery.model.recipe"
local sums = require "scullery.model.sums"

local shown = {}

local MOST_COLUMNS = 8 -- columns that the line of relevances names

--- shown.relevance(f): the columns that sc.relevance learnt from as a list of { column =, relevance
--- = }, the largest relevance first; nil without this stage.
function shown.relevance(f)
  if not f.relevance then return nil end
  local list, plain = {}, f.names and f.relevance:cols() == f.dim
  for j = 1, f.relevance:cols() do
    list[j] = { column = plain and f.names[j] or "x" .. j, relevance = f.relevance:get(1, j),
      place = j }
  end
  table.sort(list, function(a, b)
    if a.relevance ~= b.relevance then return a.relevance > b.relevance end
    return a.place < b.place
  end)
  for _, one in ipairs(list) do one.place = nil end
  return list
end

-- A line with the most relevant columns, and the number of those with relevance 0.
local function relevance_line(f)
  local list, said, count = shown.relevance(f), {}, 0
  for k, one in ipairs(list) do
    if one.relevance > 0 then count = k end
    if one.relevance > 0 and k <= MOST_COLUMNS then
      said[k] = ("%s %.2f"):format(one.column, one.relevance)
    end
  end
  return ("  relevance: %s%s; %d of %d columns have none"):format(table.concat(said, ", "),
    count > MOST_COLUMNS and (" and %d more"):format(count - MOST_COLUMNS) or "", #list - count,
    #list)
end

-- Lines about the training data and the outcome of the fit.
local function describe_fit(f, lines)
  local classes = f.task == "classification" and (", %d classes"):format(#f.classes)
    or f.task == "multilabel" and (", %d labels of a row"):format(#f.classes) or ""
  lines[#lines + 1] = ("  fitted on %d x %d%s"):format(f.n, f.dim, classes)
  if f.map_info then
    local info = f.map_info
    local kernel = info.kernel ~= "" and ", K with " .. info.kernel or ""
    local samples = info.samples > 0 and (" (approximate: %d samples)"):format(info.samples) or ""
    lines[#lines + 1] = ("  %d features, %s, %s%s%s"):format(info.features, info.dtype, info.method,
      samples, kernel)
  end
  if f.relevance then lines[#lines + 1] = relevance_line(f) end
  if f.chosen then lines[#lines + 1] = "  chosen: " .. f.chosen end
  local report = f.report
  if report then
    local loss = report.loss and (", training loss %.4g"):format(report.loss) or ""
    lines[#lines + 1] = ("  %s%s%s"):format(report.status, report.residual
      and (", residual %.1e"):format(report.residual) or "", loss)
    if report.note then lines[#lines + 1] = "  note: " .. report.note end
    if f.calibration then lines[#lines + 1] = "  probabilities: " .. tostring(f.calibration) end
  end
  local times = {}
  for _, one in ipairs(f.seconds) do
    times[#times + 1] = ("%s %.3f s"):format(one[1]:match("^[%w_.]+"), one[2])
  end
  if #times > 0 then lines[#lines + 1] = "  " .. table.concat(times, ", ") end
end

-- The line of a stage. option: the name of an option that the fit will choose, printed as "auto"
-- in place of its value; or nil.
local function line_of(stage, option)
  local text = tostring(stage)
  return "  " .. (option and text:gsub("(%f[%w]" .. option .. " = )[^,}]+", '%1"auto"') or text)
end

--- shown.text(p): one line for each stage, and the fit.
function shown.text(p)
  local lines, f, open = { "pipeline" }, p.fitted, automatic.open(p)
  local features, solver = p.features, p.solver
  if f and f.open then features, solver, open = f.features, f.solver, nil end
  for _, stage in ipairs(recipe.stages(p)) do
    if stage == p.features then lines[#lines + 1] = line_of(features, open and open.width)
    elseif stage == p.solver then lines[#lines + 1] = line_of(solver, open and open.lambda)
    else lines[#lines + 1] = "  " .. tostring(stage) end
  end
  if p.target then lines[#lines + 1] = "  target = " .. options.show(p.target) end
  if p.variants then
    lines[#lines + 1] = ("  the first of %d choices of stages"):format(#p.variants)
  end
  if p.fitted then describe_fit(p.fitted, lines) else lines[#lines + 1] = "  not fitted" end
  local intervals = p.fitted and require("scullery.model.conformal").note(p.fitted)
  if intervals then lines[#lines + 1] = "  " .. intervals end
  if p.sums_kept then lines[#lines + 1] = "  keeps the sums over " .. sums.text(p.sums_kept) end
  return table.concat(lines, "\n")
end

--- shown.summary(p): one line: the last stage, and the shape of the training data.
function shown.summary(p)
  local list = recipe.stages(p)
  local last = list[#list]
  local name = last and tostring(last):match("^[%w_.]+")
  local f = p.fitted
  return ("pipeline%s, %s"):format(name and ", " .. name or "",
    f and ("fitted on %d x %d"):format(f.n, f.dim) or "not fitted")
end

return shown
