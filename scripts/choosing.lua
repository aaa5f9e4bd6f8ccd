-- Which features suit which data: the test error of ridge regression on T = 1000 features of each
-- family, and of baselines, on data sets of different kinds, as a table in Markdown. Options are
-- chosen on the training rows by cross-validation. Numbers are means over five seeds with their
-- standard errors: of the features, the folds, and the split into rows to learn from and to test,
-- where the set has no parts of its own. It takes some minutes a set, on the largest ones half an
-- hour; sets that are not on this machine are left out (scullery data get NAME). Arguments: names
-- of sets.
local sc = require "scullery"

local T, SEEDS = 1000, 5
local seed = 1 -- of the features that are measured
local lambdas = sc.choose.log{ 1e-7, 1e-2, count = 6 }

local function with_features(p, phi, penalty, most)
  return { sc.features{ p = p, phi = phi, T = math.min(T, most or T), seed = seed },
    sc.solver.ridge{ lambda = lambdas, penalty = penalty, intercept = true } }
end

-- Name; the stages after sc.standardize(), from the rates to try and the number of rows; the task
-- that it is for, and the largest number of rows.
local families = {
  { "linear", function() return { sc.solver.ridge{ lambda = lambdas } } end },
  { "Fourier, Gaussian kernel", function(rates)
    return with_features(sc.sampler.gaussian{ gamma = rates }, sc.nonlinearity.fourier())
  end },
  { "the same, orthogonal", function(rates)
    return with_features(sc.sampler.orthogonal{ gamma = rates }, sc.nonlinearity.fourier())
  end },
  { "Fourier, Laplacian kernel", function(rates)
    return with_features(sc.sampler.cauchy{ gamma = rates }, sc.nonlinearity.fourier())
  end },
  { "ReLU", function()
    return with_features(sc.sampler.gaussian{ sigma = 1, bias = "gaussian" },
      sc.nonlinearity.relu())
  end },
  { "stumps", function()
    return with_features(sc.sampler.threshold{ sigma = 1 }, sc.nonlinearity.sign())
  end },
  { "Fourier, in-degree 1 to 4", function()
    return with_features(sc.sampler.sparse{ degree = sc.choose{ 1, 2, 4 },
      sigma = sc.choose{ 0.5, 1, 2, 4 } }, sc.nonlinearity.fourier())
  end },
  { "landmarks, Gaussian kernel", function(rates, n)
    return with_features(sc.sampler.landmarks{ method = "pivoted" },
      sc.kernel.gaussian{ gamma = rates }, "rkhs", n // 2)
  end },
  { "baseline: AdaBoost on stumps", function()
    return { sc.solver.adaboost{ stumps = sc.choose{ 50, 200 } } }
  end,
    "classification" },
  { "baseline: nearest neighbours", function()
    return { sc.solver.knn{ k = sc.choose{ 1, 5, 15 } } }
  end },
  { "baseline: exact kernel ridge", function(rates)
    return { sc.solver.kernel_ridge{ kernel = sc.kernel.gaussian{ gamma = rates },
      lambda = sc.choose.log{ 1e-6, 1e-2, count = 3 }, intercept = true } }
  end, nil, 4000 },
}

-- The rows to learn from and to test: the parts of the set, or a split of this seed.
local function halves(ds)
  local official, train, test = pcall(ds.parts, ds)
  if official then return train, test end
  return table.unpack({ ds:split{ test = 0.25, seed = seed - 1 } })
end

-- The test error (of a regression 1 - R2) and the seconds of processors that the search took.
local function measure(family, train, test)
  if family[3] and family[3] ~= train.task or family[4] and #train > family[4] then return end
  local d = train.X:cols()
  local rates = sc.choose{ 0.05 / d, 0.15 / d, 0.5 / d, 1.5 / d }
  local stages, begun = { sc.standardize(), table.unpack(family[2](rates, #train)) }, os.clock()
  local model = sc.pipeline(stages):search(train, { folds = 3, seed = seed - 1 })
  return 1 - model:score(test), os.clock() - begun
end

local sets, rows = {}, {}
for _, name in ipairs(#arg > 0 and arg or { "salsa_airfoil", "spambase", "cpu_act", "covtype10k",
  "letter", "california_housing", "adult" }) do
  if sc.data.path(name) then sets[#sets + 1] = name end
end
for i, family in ipairs(families) do rows[i] = { family[1] } end

-- Mean and standard error of numbers as a text; no error where they are all the same, because
-- nothing was drawn.
local function mean_of(list)
  local mean, square, same = 0, 0, true
  for _, value in ipairs(list) do mean, same = mean + value / #list, same and value == list[1] end
  for _, value in ipairs(list) do square = square + (value - mean) ^ 2 end
  if same then return ("%.3f"):format(mean) end
  return ("%.3f ± %.3f"):format(mean, math.sqrt(square / (#list - 1) / #list))
end

local heads = { "" }
for _, name in ipairs(sets) do
  local ds, found, size = sc.data.load(name), {}, nil
  for k = 1, SEEDS do
    seed = k
    local train, test = halves(ds)
    size = ("%s (%d x %d)"):format(name, #train, train.X:cols())
    for i, family in ipairs(families) do
      local error, seconds = measure(family, train, test)
      found[i] = found[i] or {}
      found[i][#found[i] + 1] = error
      io.stderr:write(("%s, %s, seed %d: %s, %.1f s of processors\n"):format(name, family[1], seed,
        error and ("%.4f"):format(error) or "left out", seconds or 0))
    end
  end
  heads[#heads + 1] = size
  for i, list in ipairs(found) do rows[i][#rows[i] + 1] = #list > 0 and mean_of(list) or "" end
end
print("| " .. table.concat(heads, " | ") .. " |\n" .. ("|---"):rep(#heads) .. "|")
for _, row in ipairs(rows) do print("| " .. table.concat(row, " | ") .. " |") end
