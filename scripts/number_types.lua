-- Features as bits, whole numbers of 8 and 12 bits, float32 and float64: test error and seconds
--
--   build/scullery scripts/number_types.lua [--out DIR] [--table] [--picture FILE.svg]
--       [--set seed=1,2] [--set data=wdbc]
--
-- The pipeline is sc.standardize(), Fourier features of the Gaussian kernel (T = 1000, the width of
-- the "median" rule), sc.solver.ridge{}; bits are the signs of the same projections. lambda is
-- searched for each number type (17 values, 5 folds). A quarter of the rows is the test part; the
-- seed is the one of the split and of the features. The seconds are those of one fit on one thread
-- with the lambda that was found.
--
-- Results are in DIR/number_types (default: experiments). Stop it at any time and start it again.
-- At the end it prints a table in Markdown of all cells that are done; --table prints it and runs
-- nothing. Sets that are not on this machine are left out (scullery data get NAME).
local sc = require "scullery"
local named_sets = dofile((arg[0]:gsub("[^/]*$", "named_sets.lua")))
local args = sc.arguments{ out = "experiments", table = false, picture = "" }
local T = 1000
local types = { "bits", "int8", "int16", "float32", "float64" }

local function pipeline(type, seed, lambda)
  local bits = type == "bits"
  return sc.pipeline{ sc.standardize(),
    sc.features{ p = sc.sampler.gaussian{ gamma = "median" }, T = T, seed = seed,
      phi = bits and sc.nonlinearity.sign() or sc.nonlinearity.fourier(),
      dtype = bits and "float32" or type },
    sc.solver.ridge{ lambda = lambda } }
end

local exp = args.table and sc.experiment.open("number_types", { folder = args.out })
  or sc.experiment{
  name = "number_types", folder = args.out,
  cells = { data = named_sets.here(), seed = sc.range(1, 5), type = types },
  run = function(cell)
    local train, test = named_sets.rows(cell.data, cell.seed)
    local best = pipeline(cell.type, cell.seed, sc.choose.log{ 1e-9, 1e-1, count = 17 })
      :search(train, { folds = 5, seed = cell.seed })
    local threads = sc.threads()
    sc.threads(1)
    local begun = os.clock()
    pipeline(cell.type, cell.seed, best.choice["solver.lambda"]):fit(train)
    local seconds = os.clock() - begun
    sc.threads(threads)
    return { rows = #train, columns = train.X:cols(), error = 1 - best:score(test),
      seconds = seconds, lambda = best.choice["solver.lambda"] }
  end,
}

-- ------------ the table

-- of[set][type] = { seed = result }
local of = {}
for _, row in ipairs(exp.rows) do
  if row.status == "done" then
    local name, type = row.cell.data, row.cell.type
    of[name] = of[name] or {}
    of[name][type] = of[name][type] or {}
    of[name][type][row.cell.seed] = row.result
  end
end

-- The errors of a type less those of float64 on the same seeds, and both.
local function compared(one, type)
  local errors, gaps, exact = {}, {}, {}
  for seed, result in pairs(one[type] or {}) do
    local reference = (one.float64 or {})[seed]
    errors[#errors + 1] = result.error
    if reference then
      gaps[#gaps + 1], exact[#exact + 1] = result.error - reference.error, reference.error
    end
  end
  return errors, gaps, exact
end

local function seconds_of(one, type)
  local list = {}
  for _, result in pairs(one[type] or {}) do list[#list + 1] = result.seconds end
  return #list > 0 and named_sets.mean(list) or 0 / 0
end

print("| | training rows x columns | seeds | float64 | float32 | int16 | int8 | bits | seconds |")
print("|---|---|---|---|---|---|---|---|---|")
for _, name in ipairs(named_sets.names) do
  local one = of[name]
  if one and one.float64 then
    local errors = compared(one, "float64")
    local _, first = next(one.float64)
    local mean, stderr = named_sets.mean(errors)
    -- "mean +- standard error"; of one seed the mean alone
    local function with_error(format, value, error)
      return (format .. (#errors > 1 and " +- %.4f" or "")):format(value, error)
    end
    local cells, seconds = { with_error("%.4f", mean, stderr) }, {}
    for _, type in ipairs{ "float32", "int16", "int8", "bits" } do
      local _, gaps = compared(one, type)
      cells[#cells + 1] = #gaps > 0 and with_error("%+.4f", named_sets.mean(gaps)) or ""
    end
    for i, type in ipairs{ "float64", "float32", "int16", "int8", "bits" } do
      seconds[i] = ("%.2f"):format(seconds_of(one, type))
    end
    print(("| %s | %d x %d | %d | %s | %s |"):format(name, first.rows, first.columns, #errors,
      table.concat(cells, " | "), table.concat(seconds, ", ")))
  end
end

-- ------------ the picture

-- For each type the medians over the sets of error and of seconds, each over that of float64.
local function median(list)
  table.sort(list)
  return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

if args.picture ~= "" then
  local points = {}
  for i, type in ipairs(types) do
    local errors, seconds = {}, {}
    for _, one in pairs(of) do
      local list, _, exact = compared(one, type)
      if #exact > 0 and #exact == #list then
        errors[#errors + 1] = named_sets.mean(list) / named_sets.mean(exact)
        seconds[#seconds + 1] = seconds_of(one, type) / seconds_of(one, "float64")
      end
    end
    points[i] = { type, median(seconds), median(errors) }
  end
  local series = {}
  for i, point in ipairs(points) do
    series[i] = { label = point[1], x = { point[2] }, y = { point[3] } }
  end
  sc.plot.line{ series = series, marks = true, x_log = true,
    title = "Number types: medians over the sets, over those of float64",
    x_label = "seconds of a fit / those of float64", y_label = "test error / that of float64",
    width = 760, height = 460 }:save(args.picture)
end
