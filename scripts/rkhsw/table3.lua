-- Table 3: RKHS weightings beside random kitchen sinks, SVM and AdaBoost
--
--     scullery scripts/rkhsw/table3.lua [--quick] [--seeds N] [--out DIR]
--
-- Instantiations 1 and 2 with T = 1000 parameters, by least squares (LS) and by the lasso. As in
-- appendix C, columns are standardised, a constant column is appended, and all options are chosen
-- by 5-fold cross-validation. adult and MNIST (1 against 7) have their own test rows; wdbc (breast
-- cancer) and skin are split 75:25 anew for each seed. Both fits share one search. C of the SVM is
-- chosen on 2000 of the training rows.
--
-- Where we differ:
--
-- wdbc. All runs of the authors share one split and one set of folds (published code), so that
-- their deviations leave out both. One of its 143 test rows is 0.007. On that split (scikit-learn's
-- train_test_split, random_state = 0) this protocol gives LS I1 0.036 (published 0.036), with the
-- mean square error 0.190 (0.191), RKS 0.077 (0.076), SVM 0.032 (0.035). Between splits errors have
-- a standard deviation of 0.011 to 0.018 (LS I2), within 1.3 of which the published ones lie. Their
-- folds choose c = 0.1 and lambda = 1e-5 every time, with which the bound is 13.28 +- 0.06 on that
-- split (13.2); ours choose others in some runs.
--
-- skin. LS I2 has the mean square error 0.173 and the bound 7.42 on the authors' split (0.173,
-- 7.4), and 0.171 and 7.6 over ours.
--
-- AdaBoost. Theirs is the real one (SAMME.R, scikit-learn's default then), ours the discrete. With
-- 200 stumps the real one mistakes 0.132 of adult (published 0.133) and 0.039 of skin (0.039).
--
-- Lasso. Theirs ends after 5000 sweeps of coordinate descent, ours at a duality gap of 1e-6. On
-- skin with I1, 5000 sweeps leave a mean square error of 0.0156 on the training rows (published
-- 0.015); the minimum has 0.0135, and a larger norm and bound. Bounds of the lasso vary with the
-- choice of c.
--
-- theta. I1 takes its width from (1 + 2 s^2/g^2)^(-d/4) = c, as the published code does and bounds
-- show, and not from equation 99. exact_bound has the exact theta instead of the paper's bound on
-- it. Both take B = ||alpha|| after learning, as the paper does, which its theorem does not allow:
-- p:bound without B is larger, and proved.
--
-- RKS. Lambda is of sums over rows, of features that are +-1, as in the published code.
--
-- Ten seeds took 47 minutes of processor time, about half an hour on two free cores (the authors:
-- "a little over two weeks").
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 10, out = "out" }
local sets = args.quick and { "wdbc" } or { "wdbc", "mnist17", "adult", "skin" }
local seeds, T = sc.range(1, args.quick and 2 or args.seeds), args.quick and 50 or 1000
local official = { adult = true, mnist17 = true } -- the others are split anew for each seed

local lambda, width = sc.choose.log{ 1e-7, 1e-3, count = 5 }, sc.choose{ 0.01, 0.1, 1 }
local gaussian, threshold, sign = sc.kernel.gaussian, sc.sampler.threshold, sc.nonlinearity.sign()
local fits = sc.choose{ sc.solver.ridge{ lambda = lambda, penalty = "rkhs" },
  sc.solver.lasso{ lambda = lambda, intercept = false } }
local recipes = { -- the stages after the constant column
  I1 = function(seed)
    return sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sign, T = T, seed = seed,
      K = gaussian{ theta = sc.choose{ 0.1, 0.5, 0.9 } } }, fits
  end,
  I2 = function(seed)
    return sc.features{ p = threshold{ sigma = width }, phi = sign, T = T, seed = seed,
      K = gaussian{ width = width } }, fits
  end,
  RKS = function(seed, n) -- the authors' lambda is of sums over n rows, of features that are +-1
    return sc.features{ p = threshold{ sigma = 1 }, phi = sign, T = T, seed = seed },
      sc.solver.ridge{ lambda = sc.choose.log{ 1e-7 / (n * T), 1e-3 / (n * T), count = 5 },
        intercept = false }
  end,
  SVM = function()
    return sc.solver.svm{ C = sc.choose.log{ 0.01, 100, count = 5 }, gamma = "scale" }
  end,
  AdaBoost = function()
    return sc.solver.adaboost{ stumps = sc.choose{ 10, 25, 50, 100, 150, 200 } }
  end,
}
local methods = { ["LS I1"] = { "I1", "ridge" }, ["lasso I1"] = { "I1", "lasso" },
  ["LS I2"] = { "I2", "ridge" }, ["lasso I2"] = { "I2", "lasso" }, RKS = { "RKS", "ridge" },
  AdaBoost = { "AdaBoost", "adaboost" }, SVM = { "SVM", "svm" } }

local data, last = setmetatable({}, { __index = function(list, name)
  list[name] = sc.data.load(name)
  return list[name]
end }), {} -- last: one search of two solvers serves two cells
local function run(cell)
  local recipe, solver = table.unpack(methods[cell.method])
  local train, test = data[cell.data]:split{ test = 0.25, seed = cell.seed, stratify = false }
  if official[cell.data] then train, test = data[cell.data]:parts() end
  local start, key = sc.clock(), table.concat({ cell.data, recipe, cell.seed }, " ")
  if last.key ~= key then
    local few = recipe == "SVM" and #train > 2000 -- which C is chosen on
    last = { key = key, each = sc.pipeline{ sc.standardize(), sc.add_bias(),
      recipes[recipe](cell.seed, #train) }:search(few and train:split{ test = #train - 2000 }
      or train, { folds = 5, seed = cell.seed, each = "solver" }).each }
  end
  local p, searched = last.each[solver], sc.clock()
  p:fit(train)
  local result = { search_seconds = searched - start, seconds = sc.clock() - searched,
    error = p:error(test) }
  for name, value in pairs(p.choice) do
    if math.type(value) then result[name] = value end
  end
  if solver == "ridge" and recipe ~= "RKS" or solver == "lasso" then
    local bound = p:bound{ delta = 0.05, B = p:norm() } -- as the paper: B after learning
    result.bound, result.exact_bound, result.norm = bound.total_paper, bound.total, p:norm()
    result.mse = sc.metrics.mse(p:decision(test), test:targets())
  end
  return result
end

local cells = {}
local function add(set, method, seed)
  local drawn = not official[set] or method ~= "AdaBoost" and method ~= "SVM"
  if drawn or seed == 1 then
    cells[#cells + 1] = { data = set, method = method, seed = seed }
  end
end
for _, set in ipairs(sets) do
  for _, seed in ipairs(seeds) do
    for _, method in ipairs{ "LS I1", "lasso I1", "LS I2", "lasso I2", "RKS", "AdaBoost" } do
      add(set, method, seed)
    end
  end
end
for _, set in ipairs(sets) do
  for _, seed in ipairs(seeds) do add(set, "SVM", seed) end
end
local exp = sc.experiment{ name = "rkhsw_table3" .. (args.quick and "_quick" or ""), cells = cells,
  folder = args.out .. "/cells", run = run }

-- Tables 3 and 5: error, mean square error and bound, each with its deviation over ten runs.
local published = {
  adult = { AdaBoost = { 0.133, 0 }, RKS = { 0.148, 0.003 }, SVM = { 0.148 },
    ["LS I1"] = { 0.155, 0.001, 0.487, 0.011, 61.4, 9.3 },
    ["LS I2"] = { 0.146, 0, 0.429, 0, 7.0, 0.1 }, ["lasso I1"] = { 0.156, 0.001, 0.454, 0.002 },
    ["lasso I2"] = { 0.145, 0.001, 0.427, 0.001, 155.2, 139.9 } },
  mnist17 = { AdaBoost = { 0.005, 0 }, RKS = { 0.012, 0.001 }, SVM = { 0.010 },
    ["LS I1"] = { 0.010, 0, 0.061, 0 }, ["LS I2"] = { 0.013, 0.001, 0.071, 0.003, 5.5, 0.3 },
    ["lasso I1"] = { 0.010, 0.001, 0.056, 0.001 },
    ["lasso I2"] = { 0.010, 0.002, 0.059, 0.006, 112.8, 50.9 } },
  skin = { AdaBoost = { 0.039, 0 }, RKS = { 0.040, 0.001 }, SVM = { 0.001 },
    ["LS I1"] = { 0.005, 0, 0.030, 0, 15.7, 0.1 }, ["LS I2"] = { 0.042, 0, 0.173, 0, 7.4, 0 },
    ["lasso I1"] = { 0.002, 0, 0.015, 0, 693.8, 195.8 },
    ["lasso I2"] = { 0.040, 0, 0.171, 0.001, 26.8, 23.9 } },
  wdbc = { AdaBoost = { 0.021, 0 }, RKS = { 0.076, 0.020 }, SVM = { 0.035 },
    ["LS I1"] = { 0.036, 0.002, 0.191, 0.001, 13.2, 0.1 },
    ["LS I2"] = { 0.022, 0.002, 0.145, 0.001, 11.7, 2.9 },
    ["lasso I1"] = { 0.043, 0.005, 0.147, 0.019 },
    ["lasso I2"] = { 0.035, 0.012, 0.158, 0.009, 853.9, 1000 } },
}
local function compare(value, place, digits, title)
  local numbers = {}
  for _, set in ipairs(exp:values("data")) do
    numbers[set] = {}
    for method, list in pairs(published[set]) do
      local deviation = list[place + 1]
      numbers[set][method] = list[place] and { list[place], deviation and deviation / 10 ^ 0.5 }
    end
  end
  return exp:compare{ published = numbers, rows = { "data", "method" }, value = value,
    digits = digits, title = title }
end
local errors = compare("error", 1, 3, "Share of test rows mistaken")
local bars, panels = {}, {}
for _, row in ipairs(errors.rows) do
  local set, method = table.unpack(row.labels)
  local one = bars[set] or { names = {}, values = {}, error = {}, title = set, y_label = "error" }
  bars[set], one.names[#one.names + 1] = one, method
  one.values[#one.names], one.error[#one.names] = row.mean, row.error or 0
end
for i, set in ipairs(exp:values("data")) do panels[i] = sc.plot.bars(bars[set]) end
local function has(value) return table.concat(exp.columns, " "):find(value, 1, true) end
sc.publish(args.out .. "/rkhsw/table3" .. (args.quick and "_quick" or ""),
  { experiment = exp,
  stand_in = args.quick and "wdbc, T = 50", figures = { sc.plot.panels(panels) },
  tables = { errors,
    has "mse" and compare("mse", 3, 3, "Mean square error of the scores on the test rows"),
    has "bound" and compare("bound", 5, 1, "Bound of theorem 10 with the paper's theta"),
    has "bound" and exp:table{ rows = { "data", "method" },
      value = { "bound", "exact_bound", "norm" } },
    exp:table{ rows = { "data", "method" }, value = { "search_seconds", "seconds" },
      title = "Seconds of the search, which the first of two fits pays for, and of the fit" } } })
