-- Columns far from 0 and of very different scales: what each registered solver, stage and kernel
-- makes of them, against the same problem solved in 113 bits from the same doubles
-- (tests/reference). A fit is right to 1e-6 of the largest prediction, or its status says that it
-- did not converge and its note why. SCULLERY_TABLE=1 prints the digits of each.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local cases = require "offset_cases"
local data = require "offset_data"
local problems = require "reference_problems"
local specs = require "offset_solvers"
local support = require "support"

local wanted_table = (os.getenv("SCULLERY_TABLE") or "") ~= ""

-- All faults in one message.
local function expect_none(faults, of)
  lu.assertTrue(#faults == 0, ("%d of %d cases:\n  %s"):format(#faults, of,
    table.concat(faults, "\n  ")))
end

local function show(text) if wanted_table then print("\n" .. text) end end

-- Fits, references and faults of a list of cases; keep(case): also called while the model is there.
local function run(list, keep)
  local batch, faults = problems.new(), {}
  support.stderr_of(function()
    for _, case in ipairs(list) do
      cases.fit(case, batch)
      if keep and case.model then keep(case) end
      case.model = case.model and true
    end
  end)
  batch:solve()
  for _, case in ipairs(list) do
    local fault = cases.judge(case)
    if fault then faults[#faults + 1] = cases.label(case) .. ": " .. fault end
  end
  return faults
end

-- ------------ solvers

-- Solvers that are erm with a loss of their own, to the bit (single_losses_test.lua).
local kin = { quantile = "erm", lad = "erm", poisson = "erm", gamma_regression = "erm",
  tweedie = "erm" }

function TestEachRegisteredSolverHasAReference()
  local known, missing = {}, {}
  for _, spec in ipairs(specs) do known[spec.solver] = true end
  for _, entry in ipairs(sc.plugin.list()) do
    if entry.kind == "solver" and not known[kin[entry.name] or entry.name] then
      missing[#missing + 1] = "add a reference for solver " .. entry.name
    end
  end
  expect_none(missing, #specs)
end

-- The file of a model decides as the model, to the last bit.
local function check_file(case, faults)
  local path = support.memory_path()
  case.model:save(path)
  if sc.load(path):decision(case.set.X) ~= case.decision then
    faults[#faults + 1] = cases.label(case) .. ": the saved model decides otherwise"
  end
  os.remove(path)
end

function TestSolversAtOffsetsAndScales()
  local list, files = cases.list(specs), {}
  local faults = run(list, function(case)
    local hard = case.scale.name == "mixed" or case.way == "features"
    if hard and case.offset >= 1e6 then check_file(case, files) end
  end)
  show(cases.table(list))
  table.move(files, 1, #files, #faults + 1, faults)
  expect_none(faults, #list)
end

-- Columns of mean 1e6, and one row at 1e8: the size of blocks decides no fit.
function TestAnOutlierAtEachBlockSize()
  local list = cases.blocks(specs)
  local faults = run(list)
  show(cases.table(list))
  expect_none(faults, #list)
end

-- ------------ stages and kernels

local stages = { { "standardize", sc.standardize(), {} }, { "minmax", sc.minmax(), {} },
  { "pca", sc.pca{ k = 2 }, { k = 2 } } }
local kernels = {
  { "linear", function() return sc.kernel.linear{} end, function() return 1 end },
  { "gaussian", function(unit) return sc.kernel.gaussian{ gamma = 0.3 / unit.most ^ 2 } end,
    function(unit) return 0.3 / unit.most ^ 2 end },
  { "laplacian", function(unit) return sc.kernel.laplacian{ gamma = 0.3 / unit.most } end,
    function(unit) return 0.3 / unit.most end },
  { "matern", function(unit) return sc.kernel.matern{ nu = 1.5, width = 2 * unit.most } end,
    function(unit) return 0.25 / unit.most ^ 2 end },
  { "gaussian", function() return sc.kernel.gaussian{ gamma = "median" } end, "median" },
  { "gaussian", function() return sc.kernel.gaussian{ gamma = "scale" } end, "scale" },
}

-- Each column of a stage by itself: they have scales of their own.
local function column_digits(got, want)
  local least = 16
  for j = 1, want:cols() do
    least = math.min(least, cases.digits(got:column(j), want:column(j)))
  end
  return least
end

-- add(set, case): for all axes, also with a constant column; case has what names and judges it.
local function each_set(add)
  for _, change in ipairs{ false, data.constant_column } do
    for _, offset in ipairs(data.offsets) do
      for _, scale in ipairs(data.scales) do
        add(data.get("regression", 40, offset, scale, change or nil), function(label)
          return { spec = { label = label }, way = change and "constant column" or "plain",
            offset = offset, scale = scale, info = { status = "converged" } }
        end)
      end
    end
  end
end

-- Each case with got, reference, and measure(got, want): digits.
local function compare(list, batch)
  local faults = {}
  batch:solve()
  for _, case in ipairs(list) do
    case.digits = case.measure(case.got, case.reference.answer)
    local warned = case.said and case.said:find("its direction is rounding", 1, true)
    if case.digits < 6 and not warned then
      faults[#faults + 1] = ("%s: %.1f digits"):format(cases.label(case), case.digits)
    end
  end
  show(cases.table(list))
  expect_none(faults, #list)
end

function TestStages()
  local list, batch = {}, problems.new()
  each_set(function(set, new)
    for _, stage in ipairs(stages) do
      local case = new(stage[1])
      case.said = support.stderr_of(function()
        case.got = sc.pipeline{ stage[2], sc.solver.knn{ k = 1 } }:fit(set.ds):transform(set.X)
      end)
      case.reference = batch:add(stage[1], set.X, set.n, set.targets, stage[3])
      case.measure = column_digits
      list[#list + 1] = case
    end
  end)
  compare(list, batch)
end

-- Kernel values, and with them the distances and the widths that are taken from the rows.
function TestKernels()
  local list, batch = {}, problems.new()
  each_set(function(set, new)
    for _, kernel in ipairs(kernels) do
      local word = type(kernel[3]) == "string" and kernel[3]
      local case = new(kernel[1] .. (word and (', gamma = "%s"'):format(word) or ""))
      local rows = set.X:slice(1, set.n)
      case.got = kernel[2](case.scale):gram(rows)
      case.reference = batch:add("gram", rows, set.n, nil,
        { kernel = kernel[1], gamma = word or kernel[3](case.scale) })
      case.measure = cases.digits
      list[#list + 1] = case
    end
  end)
  compare(list, batch)
end

os.exit(lu.LuaUnit.run(), true)
