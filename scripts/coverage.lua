-- Coverage of conformal intervals and label sets: how often new rows are inside, over 100 splits
--
--   build/scullery scripts/coverage.lua [--out DIR] [--table] [--splits 100] [--set data=wdbc]
--
-- Each split draws training rows (400, or three fifths of a smaller set) and at most 1000 test
-- rows anew. The pipeline is sc.standardize(), sc.features{ T = 100 }, sc.solver.ridge{}, for
-- label sets also sc.solver.logistic{}; p:fit chooses width and lambda from the training rows of
-- each split. The level is 0.9. "scaled" is "loo" with scale = "std". A cell is a set: the mean
-- over splits of the share inside, its standard error, and the mean width over the standard
-- deviation of the targets, or the mean number of labels in a set.
--
-- Results are in DIR/coverage (default: experiments); the folder scripts/cells holds those of the
-- table in docs/uncertainty.md. At the end it prints that table; --table prints it and runs
-- nothing. It takes half an hour of one processor.
local sc = require "scullery"
local named_sets = dofile((arg[0]:gsub("[^/]*$", "named_sets.lua")))
local args = sc.arguments{ out = "experiments", table = false, splits = 100 }
local LEVEL, T = 0.9, 100
local regressions = { "salsa_housing", "salsa_airfoil", "salsa_ccpp", "salsa_propulsion",
  "salsa_telemonitoring", "salsa_music", "salsa_skillcraft", "cpu_act", "california_housing",
  "house_16h" }
local classes = { "wdbc", "waveform", "spambase", "mnist17", "letter", "covtype10k", "adult",
  "skin", "mnist", "kddcup10" }

-- Training and test rows of a split.
local function rows(ds, seed)
  local count = math.min(400, #ds * 3 // 5)
  local rest, train = ds:split{ test = count, seed = seed }
  if #rest <= 1000 then return train, rest end
  local _, test = rest:split{ test = 1000, seed = seed }
  return train, test
end

local function pipeline(solver, seed)
  return sc.pipeline{ sc.standardize(), sc.features{ T = T, seed = seed }, solver }
end

-- The share of test rows inside, and the mean width.
local function interval(p, test)
  local low, high = p:interval(test, { level = LEVEL })
  local inside = 0
  for i = 1, #test do
    local y = test.y:get(i, 1)
    if low:get(i, 1) <= y and y <= high:get(i, 1) then inside = inside + 1 end
  end
  return inside / #test, (high - low):mean() / test.y:std()
end

-- The same of label sets: the mean number of labels.
local function label_sets(p, test)
  local sets, labels, inside, size = p:label_sets(test, { level = LEVEL }), test:labels(), 0, 0
  for i, set in ipairs(sets) do
    size = size + #set
    for _, label in ipairs(set) do if label == labels[i] then inside = inside + 1 end end
  end
  return inside / #test, size / #test
end

-- { method = { coverage, width } } of a split.
local function judged(ds, seed)
  local train, test = rows(ds, seed)
  local found = {}
  if ds.task == "regression" then
    found.split = { interval(pipeline(sc.solver.ridge{}, seed):fit(train,
      { interval = "split" }), test) }
    local p = pipeline(sc.solver.ridge{}, seed):fit(train, { interval = "loo" })
    found.loo = { interval(p, test) }
    -- with the options that this fit chose
    local same = sc.pipeline{ sc.standardize(), p.fitted.features, p.fitted.solver }
    found.folds = { interval(same:clone():fit(train, { interval = "folds" }), test) }
    found.scaled = { interval(same:clone():fit(train, { interval = { "loo", scale = "std" } }),
      test) }
    return found
  end
  for _, solver in ipairs{ "ridge", "logistic" } do
    for _, method in ipairs{ "split", "folds" } do
      found[solver .. " " .. method] = { label_sets(pipeline(sc.solver[solver]{}, seed)
        :fit(train, { interval = method }), test) }
    end
  end
  return found
end

local exp = args.table and sc.experiment.open("coverage", { folder = args.out })
  or sc.experiment{
  name = "coverage", folder = args.out,
  cells = { data = table.move(classes, 1, #classes, #regressions + 1,
    table.move(regressions, 1, #regressions, 1, {})) },
  run = function(cell)
    local ds, all, result = sc.data.load(cell.data), {}, { splits = args.splits }
    for seed = 1, args.splits do
      for method, pair in pairs(judged(ds, seed)) do
        all[method] = all[method] or { {}, {} }
        table.insert(all[method][1], pair[1])
        table.insert(all[method][2], pair[2])
      end
    end
    for method, lists in pairs(all) do
      local mean, stderr = named_sets.mean(lists[1])
      result[method], result[method .. ", error"] = mean, stderr
      result[method .. ", width"] = named_sets.mean(lists[2])
    end
    return result
  end,
}

local of = {}
for _, row in ipairs(exp.rows) do
  if row.status == "done" then of[row.cell.data] = row.result end
end

-- A table of sets and methods: coverage +- standard error, and the width or size.
local function print_table(sets, methods, titles)
  print("\n| | " .. table.concat(titles, " | ") .. " |\n|---" .. ("|---"):rep(#titles) .. "|")
  for _, name in ipairs(sets) do
    local line, one = { (name:gsub("^salsa_", "")) }, of[name]
    for _, method in ipairs(one and methods or {}) do
      line[#line + 1] = ("%.3f ± %.3f, %.2f"):format(one[method], one[method .. ", error"],
        one[method .. ", width"])
    end
    if one then print("| " .. table.concat(line, " | ") .. " |") end
  end
end

print_table(regressions, { "split", "loo", "folds", "scaled" },
  { "split", "loo", "folds", "loo, scale = \"std\"" })
print_table(classes, { "ridge split", "ridge folds", "logistic split", "logistic folds" },
  { "ridge, split", "ridge, folds", "logistic, split", "logistic, folds" })
