--- The fits of offsets_slow_test.lua: each solver of offset_solvers.lua on the data of
--- offset_data.lua, straight, behind stages, from a stream; and how far each is from its reference.
local sc = require "scullery"
local data = require "offset_data"
local support = require "support"

local cases = {}

local ONE = { name = "1", by = { 1, 1, 1 }, least = 1, most = 1, middle = 1 }
local T = 12 -- random features

-- ------------ ways to the solver

local function fourier()
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.4 }, phi = sc.nonlinearity.fourier(),
    T = T, seed = 1 }
end

-- sfgd and the like learn a weight function of such.
local function weighting(scale)
  return sc.instantiation{ K = sc.kernel.gaussian{ width = 1 },
    p = sc.sampler.gaussian{ sigma = 1 / scale.middle }, phi = sc.nonlinearity.sign() }
    :features{ T = 20, seed = 1 }
end

local function csv_of(set)
  local lines = { "p,q,r,y" }
  for i, row in ipairs(set.X:slice(1, set.n):totable()) do
    local y = type(set.labels) == "table" and set.labels[i] or ("%.17g"):format(
      set.labels:get(i, 1))
    lines[#lines + 1] = ("%.17g,%.17g,%.17g,%s"):format(row[1], row[2], row[3], y)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- The learning rows of a set as a stream; second result: the file.
local function streamed(set)
  local path = support.memory_path()
  os.rename(path, path .. ".csv")
  path = support.write(path .. ".csv", csv_of(set))
  return sc.data.csv(path, { target = "y", task = set.ds.task, stream = true }), path
end

-- ------------ which fits there are

local function add(list, spec, way, offset, scale, change)
  list[#list + 1] = { spec = spec, way = way, offset = offset, scale = scale, change = change }
end

local function each_axis(list, spec, way)
  for _, offset in ipairs(data.offsets) do
    for _, scale in ipairs(data.scales) do add(list, spec, way, offset, scale) end
  end
end

local function add_special(list, spec)
  for _, scale in ipairs{ data.scales[2], data.scales[4] } do
    add(list, spec, "constant column", 1e6, scale, data.constant_column)
    if spec.streamed then
      add(list, spec, "stream", 1e6, scale)
      add(list, spec, "stream", 1e9, scale)
    end
  end
  if not spec.features then return end
  for _, offset in ipairs(data.offsets) do add(list, spec, "features", offset, ONE) end
end

--- cases.blocks(specs): rows of mean 1e6 with one at 1e8, in blocks of 16 and 64 rows and of the
--- size that the engine chooses.
function cases.blocks(specs)
  local list = {}
  for _, spec in ipairs(specs) do
    for _, block in ipairs((spec.stochastic or spec.no_outlier) and {} or { 16, 64, 0 }) do
      add(list, spec, "outlier", 1e6, data.with_outlier, data.outlier)
      list[#list].block = block > 0 and block or nil
    end
  end
  return list
end

--- cases.list(specs): all fits, each { spec, way, offset, scale, change }.
function cases.list(specs)
  local list = {}
  for _, spec in ipairs(specs) do
    each_axis(list, spec, "plain")
    if spec.standardized then each_axis(list, spec, "standardize") end
    if not spec.stochastic then add_special(list, spec) end
  end
  return list
end

--- cases.label(case): what a message calls it.
function cases.label(case)
  local way = case.way == "plain" and "" or ", " .. case.way
  return ("%s%s, offset %g, scale %s%s"):format(case.spec.label, way, case.offset, case.scale.name,
    case.block and (", block %d"):format(case.block) or "")
end

-- ------------ one fit

local function stages_of(case)
  if case.way == "standardize" then return { sc.standardize() } end
  if case.way == "features" then return { fourier() } end
  return { case.spec.weighting and weighting(case.scale) or nil }
end

local function fit(case, ds, stages, given)
  stages[#stages + 1] = sc.solver[case.spec.solver](given)
  stages.block = case.block
  case.model = sc.pipeline(stages):fit(ds)
  case.decision = case.model:decision(case.set.X)
  case.info = case.model:info()
end

local function refused(case, message)
  case.info, case.model = { status = "refused", note = tostring(message) }, nil
end

--- cases.fit(case, problems): fit it, and add what it is to be to the problems (case.reference).
--- case.model and case.decision are nil where the fit was refused; case.info tells.
function cases.fit(case, problems)
  local spec = case.spec
  case.set = data.get(spec.task, spec.n, case.offset, case.scale, case.change)
  local set, stages = case.set, stages_of(case)
  local unit = case.way == "standardize" and ONE or case.scale
  local given, reference, wanted = spec.make(unit, case.way == "features" and T or data.d)
  local ds, path = set.ds, nil
  if case.way == "stream" then ds, path = streamed(set) end
  local done, message = pcall(fit, case, ds, stages, given)
  if not done then refused(case, message) end
  if path then os.remove(path) end
  if spec.stochastic then return end
  local X = set.X
  if case.way == "standardize" then wanted.stage = "standardize" end
  if case.way == "features" then
    if not done then X = nil else X = case.model:transform(X) end
  end
  case.reference = X and problems:add(reference, X, set.n, set.targets, wanted)
end

-- ------------ judging

-- Several columns of the logistic loss are determined but for a number added to all of them.
local function without_means(case, scores)
  if case.spec.task ~= "three" then return scores end
  return scores - scores:mean(2) * sc.ones(1, scores:cols())
end

--- cases.digits(got, want): decimal digits in which the matrices agree, relative to the largest
--- number of `want`; at most 16.
function cases.digits(got, want)
  local size, apart = want:abs():max(), (got - want):abs():max()
  if apart ~= apart or apart == math.huge then return -math.huge end
  return apart == 0 and 16 or math.min(16, -math.log(apart / size, 10))
end

-- What is wrong with a fit that agrees to so many digits; nil: nothing.
local function fault(case, digits)
  local status, note = case.info.status, case.info.note
  if digits >= 6 then return nil end
  if status == "converged" or case.spec.exact then
    return ('"%s", %.1f digits'):format(status, digits)
  end
  if not note or note == "" then return ('"%s" without a note'):format(status) end
  -- where nothing is difficult, no solver may give up
  if case.offset == 0 and case.scale.name == "1" and case.way == "plain"
    and not case.spec.may_fail then
    return ('"%s", %.1f digits, on plain data: %s'):format(status, digits, note)
  end
end

local function judge_stochastic(case)
  if case.info.status == "converged" then return '"converged": it promises no optimum' end
  local largest = case.decision and case.decision:abs():max() or 0
  if largest ~= largest or largest == math.huge then return "the predictions are not finite" end
end

--- cases.judge(case): what is wrong with it as a sentence, or nil. Sets case.digits (nil: refused).
function cases.judge(case)
  if case.spec.stochastic then return judge_stochastic(case) end
  if not case.model then return fault(case, -math.huge) end
  local want = case.reference.answer
  if not want then return "the reference found no optimum" end
  if want:max() - want:min() < 1e-3 * want:abs():max() then
    return "a poor test: the optimum is constant"
  end
  case.digits = cases.digits(without_means(case, case.decision),
    without_means(case, want))
  return fault(case, case.digits)
end

-- ------------ the table

local function cell(case)
  if not case.digits then return case.info.status == "refused" and "refused" or case.info.status end
  local text = ("%.1f"):format(math.max(0.0, case.digits))
  return case.info.status == "converged" and text or text .. "*"
end

-- Cases of one way: solver x offset and scale, a column of the same axes in each row.
local function way_table(list)
  local head, lines, at = { ("%-46s"):format(list[1].way) }, {}, {}
  for _, case in ipairs(list) do
    local name = case.spec.label
    if not at[name] then
      at[name] = { ("%-46s"):format("  " .. name) }
      lines[#lines + 1] = at[name]
    end
    table.insert(at[name], ("%12s"):format(cell(case)))
    if name == list[1].spec.label then
      table.insert(head, ("%12s"):format(case.block and "block " .. case.block
        or ("%g/%s"):format(case.offset, case.scale.name)))
    end
  end
  table.insert(lines, 1, head)
  for i, line in ipairs(lines) do lines[i] = table.concat(line) end
  return table.concat(lines, "\n") .. "\n"
end

--- cases.table(list): way by way, solver x offset/scale: digits; a star: the status is not
--- "converged". Without digits: the status of a stochastic solver, or "refused".
function cases.table(list)
  local ways, of, texts = {}, {}, {}
  for _, case in ipairs(list) do
    if not of[case.way] then
      of[case.way] = {}
      ways[#ways + 1] = case.way
    end
    table.insert(of[case.way], case)
  end
  for i, way in ipairs(ways) do texts[i] = way_table(of[way]) end
  return table.concat(texts, "\n")
end

return cases
