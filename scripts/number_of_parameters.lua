-- T = "auto": its test error beside that of the largest T that it tried, and the seconds of both
--
--   build/scullery scripts/number_of_parameters.lua [--out DIR] [--table] [--set seed=1,2]
--     [--set data=wdbc]
--
-- The pipeline is sc.standardize(), sc.features{ T = "auto" }, sc.solver.ridge{}, whose width and
-- lambda p:fit chooses too. Beside it: the same width, and the largest T that the growth tried,
-- with the lambda that was the best for it; and a fit with all chosen options given, for its
-- seconds. A quarter of the rows is the test part; the seed is the one of the split and of the
-- features. Sets of more than 20,000 rows are samples of 20,000, MNIST of 10,000. Seconds are of
-- processors.
--
-- Results are in DIR/number_of_parameters (default: experiments). Stop it at any time and start it
-- again. At the end it prints a table in Markdown; --table prints it and runs nothing.
local sc = require "scullery"
local args = sc.arguments{ out = "experiments", table = false }
local named_sets = dofile((arg[0]:gsub("[^/]*$", "named_sets.lua")))

local function pipeline(T, sigma, lambda, seed)
  return sc.pipeline{ sc.standardize(), sc.features{ T = T, seed = seed,
    p = sc.sampler.gaussian{ sigma = sigma }, phi = sc.nonlinearity.fourier() },
    sc.solver.ridge{ lambda = lambda } }
end

-- The test errors of rows: wrong labels, or squared errors over the variance of the targets.
local function losses(p, test)
  local said = p:predict(test)
  if test.task == "classification" then
    return (said - test.y):map(function(v) return v == 0 and 0 or 1 end)
  end
  local gaps, spread = said - test.y, test.y - test.y:mean()
  return gaps:mul(gaps) * (1 / spread:mul(spread):mean())
end

local function run(cell)
  local train, test = named_sets.rows(cell.data, cell.seed)
  local begun = os.clock()
  local auto = pipeline("auto", nil, nil, cell.seed):fit(train)
  local chosen = os.clock()
  local growth = auto:info().growth
  local sigma, last = auto.fitted.features.inst.p.given.sigma, growth[#growth]
  local most = pipeline(last.T, sigma, last.lambda, cell.seed):fit(train)
  local largest = os.clock()
  pipeline(auto:info().T, sigma, auto.fitted.solver.given.lambda, cell.seed):fit(train)
  local given = os.clock()
  local a, b = losses(auto, test), losses(most, test)
  local gap = a - b
  local shifted = gap - gap:mean()
  return { rows = #train, columns = train.X:cols(), T = auto:info().T, last = last.T,
    ended = growth.ended, auto = a:mean(), largest = b:mean(),
    stderr = math.sqrt(shifted:mul(shifted):sum()) / #test,
    auto_seconds = chosen - begun, largest_seconds = largest - chosen,
    given_seconds = given - largest }
end

local exp = args.table and sc.experiment.open("number_of_parameters", { folder = args.out })
  or sc.experiment{ name = "number_of_parameters", folder = args.out,
    cells = { data = named_sets.here(), seed = { 1 } }, run = run }

print("| | training rows x columns | T | largest tried | error | error at the largest | "
  .. "difference | seconds | the same, given | the largest, given |")
print("|---|---|---|---|---|---|---|---|---|---|")
for _, name in ipairs(named_sets.names) do
  for _, row in ipairs(exp.rows) do
    local r = row.result
    if row.cell.data == name and row.status == "done" then
      print(("| %s | %d x %d | %d | %d | %.4f | %.4f | %+.1f %% +- %.1f %% | %.1f | %.1f | %.1f |")
        :format(name, r.rows, r.columns, r.T, r.last, r.auto, r.largest,
        100 * (r.auto / r.largest - 1), 100 * r.stderr / r.largest, r.auto_seconds,
        r.given_seconds, r.largest_seconds))
    end
  end
end
