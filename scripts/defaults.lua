-- What a pipeline without options costs: its test error beside the one of a searched pipeline
--
--   build/scullery scripts/defaults.lua [--out DIR] [--table] [--set seed=1,2] [--set data=wdbc]
--   build/scullery scripts/defaults.lua --seconds
--
-- The pipeline is sc.standardize(), sc.features{}, sc.solver.ridge{}: Fourier features of the
-- Gaussian kernel, T = 1000, whose width and lambda p:fit chooses. Beside it, the same features
-- and solver by a search over 7 widths (1/16 to 4 times the "median" rule) and 17 lambdas (1e-9 to
-- 0.1) with 5 folds. A quarter of the rows are the test part; the seed is the one of the split and
-- of the features. Sets of more than 20,000 rows are samples of 20,000 rows, MNIST of 10,000, drawn
-- anew for each seed.
--
-- Results are in DIR/defaults (default: experiments). Stop it at any time and start it again. At
-- the end it prints a table in Markdown of all cells that are done; --table prints it and runs
-- nothing. All cells take some hours on two cores. Sets that are not on this machine are left out
-- (scullery data get NAME).
--
-- --seconds prints another table: the seconds of processors of fits without options, of fits with a
-- given width, and of fits with the width and the regularisation that were chosen; the least of
-- three. It takes minutes.
local sc = require "scullery"
local args = sc.arguments{ out = "experiments", table = false, seconds = false }
local T = 1000

local named_sets = dofile((arg[0]:gsub("[^/]*$", "named_sets.lua")))
local sets, rows = named_sets.here(), named_sets.rows

-- The inverse of the median distance between 1000 pairs of standardised rows.
local function median_rule(train, seed)
  local prepared = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1 } }:fit(train)
  local order = sc.rand{ 1000, 2, seed = seed }
  local distances = {}
  for i = 1, 1000 do
    local a, b = 1 + math.floor(#train * order:get(i, 1)), 1 + math.floor(#train * order:get(i, 2))
    local Z = prepared:transform(train:select{ a, b }.X)
    local gap = Z:row(1) - Z:row(2)
    local distance = math.sqrt(gap:mul(gap):sum())
    if distance > 0 then distances[#distances + 1] = distance end
  end
  table.sort(distances)
  return 1 / distances[(#distances + 1) // 2]
end

local function searched(train, seed)
  local sigmas = {}
  for k = -4, 2 do sigmas[#sigmas + 1] = median_rule(train, seed) * 2.0 ^ k end
  return sc.pipeline{ sc.standardize(),
    sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose(sigmas) },
      phi = sc.nonlinearity.fourier(), T = T, seed = seed },
    sc.solver.ridge{ lambda = sc.choose.log{ 1e-9, 1e-1, count = 17 } } }
    :search(train, { folds = 5, seed = seed })
end

-- ------------ the seconds of choosing

-- Set, rows, T, solver.
local timed = {
  { "california_housing", 1000, 500, "ridge" }, { "california_housing", 1000, 1000, "ridge" },
  { "california_housing", 1000, 2000, "ridge" }, { "california_housing", 3000, 500, "ridge" },
  { "california_housing", 3000, 1000, "ridge" }, { "california_housing", 3000, 2000, "ridge" },
  { "california_housing", 7000, 500, "ridge" }, { "california_housing", 7000, 1000, "ridge" },
  { "california_housing", 7000, 2000, "ridge" }, { "california_housing", 15000, 500, "ridge" },
  { "california_housing", 15000, 1000, "ridge" }, { "california_housing", 15000, 2000, "ridge" },
  { "california_housing", 20000, 500, "ridge" }, { "california_housing", 20000, 1000, "ridge" },
  { "california_housing", 20000, 2000, "ridge" }, { "letter", 3000, 1000, "ridge" },
  { "letter", 7000, 1000, "ridge" }, { "wdbc", 426, 1000, "ridge" },
  { "wdbc", 426, 1000, "logistic" }, { "wdbc", 426, 1000, "hinge" },
  { "spambase", 3450, 1000, "ridge" }, { "spambase", 3450, 1000, "logistic" },
  { "spambase", 3450, 1000, "hinge" }, { "spambase", 3450, 1000, "svm" },
  { "cpu_act", 6144, 1000, "huber" }, { "adult", 15000, 1000, "logistic" },
}

-- The least seconds of three fits, and the last one.
local function seconds_of(train, features, solver)
  local least, p = math.huge, nil
  for _ = 1, 3 do
    local begun = os.clock()
    p = sc.pipeline{ sc.standardize(), features, solver }:fit(train)
    least = math.min(least, os.clock() - begun)
  end
  return least, p
end

local function brief(seconds) return (seconds < 0.0995 and "%.3f" or "%.2f"):format(seconds) end

local function print_seconds()
  print("| | rows | T | no options | the width given | all given |\n|---|---|---|---|---|---|")
  for _, case in ipairs(timed) do
    local name, n, features, solver = table.unpack(case)
    local ds = sc.data.path(name) and sc.data.load(name)
    if ds then
      local _, train = ds:split{ test = n, seed = 1 }
      local plain, p = seconds_of(train, sc.features{ seed = 1, T = features },
        sc.solver[solver]{})
      local chosen, given = p:info().chosen, {}
      given.lambda = tonumber((chosen:match "lambda = ([^,]+)"))
      given.C = tonumber((chosen:match " C = ([^,]+)"))
      local fixed = sc.features{ seed = 1, T = features, phi = sc.nonlinearity.fourier(),
        p = sc.sampler.gaussian{ sigma = tonumber((chosen:match "sigma = (%S+)")) } }
      print(("| %s, `%s` | %d | %d | %s | %s | %s |"):format(name, solver, n, features,
        brief(plain), brief(seconds_of(train, fixed, sc.solver[solver]{})),
        brief(seconds_of(train, fixed, sc.solver[solver](given)))))
    end
  end
end

if args.seconds then return print_seconds() end

-- ------------ test errors

local exp = args.table and sc.experiment.open("defaults", { folder = args.out }) or sc.experiment{
  name = "defaults", folder = args.out,
  cells = { data = sets, seed = sc.range(1, 5) },
  run = function(cell)
    local train, test = rows(cell.data, cell.seed)
    local begun = os.clock()
    local plain = sc.pipeline{ sc.standardize(), sc.features{ seed = cell.seed },
      sc.solver.ridge{} }:fit(train)
    local fitted = os.clock()
    local best = searched(train, cell.seed)
    return { rows = #train, columns = train.X:cols(), task = train.task,
      plain = 1 - plain:score(test), searched = 1 - best:score(test),
      plain_seconds = fitted - begun, searched_seconds = os.clock() - fitted }
  end,
}

-- ------------ the table

local mean_and_error = named_sets.mean

local function shown(values)
  local mean, error = mean_and_error(values)
  return error == error and ("%.4f +- %.4f"):format(mean, error) or ("%.4f"):format(mean)
end

local of = {}
for _, row in ipairs(exp.rows) do
  local name, result = row.cell.data, row.result
  if row.status == "done" then
    of[name] = of[name] or { first = result }
    for key, value in pairs(result) do
      of[name][key] = of[name][key] or {}
      table.insert(of[name][key], value)
    end
  end
end

print("| | training rows x columns | seeds | no options | searched | ratio | seconds |")
print("|---|---|---|---|---|---|---|")
for _, name in ipairs(named_sets.names) do
  local one = of[name]
  if one then
    local a, b = mean_and_error(one.plain), mean_and_error(one.searched)
    print(("| %s | %d x %d | %d | %s | %s | %.2f | %.1f, %.1f |"):format(name, one.first.rows,
      one.first.columns, #one.plain, shown(one.plain), shown(one.searched), a / b,
      (mean_and_error(one.plain_seconds)), (mean_and_error(one.searched_seconds))))
  end
end
