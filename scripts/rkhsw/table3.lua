-- RKHSW, table 3: RKHS weightings beside random kitchen sinks, SVM and AdaBoost
--
--   scullery scripts/rkhsw/table3.lua [--quick] [--seeds N] [--out DIR]
--
-- HEADER
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 10, out = "out" }
local name = "rkhsw_table3" .. (args.quick and "_quick" or "")
local sets = args.quick and { "wdbc" } or { "wdbc", "mnist17", "adult", "skin" }
local T, seeds = args.quick and 50 or 1000, sc.range(1, args.quick and 2 or args.seeds)

local lambda, width = sc.choose.log{ 1e-7, 1e-3, count = 5 }, sc.choose{ 0.01, 0.1, 1 }
local sign, stumps = sc.nonlinearity.sign(), sc.sampler.threshold
local fits = sc.choose{ sc.solver.ridge{ lambda = lambda, penalty = "rkhs" },
  sc.solver.lasso{ lambda = lambda, intercept = false } }
local recipes = { -- the stages after the constant column
  I1 = function(seed)
    return sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sign,
      K = sc.kernel.gaussian{ theta = sc.choose{ 0.1, 0.5, 0.9 } } }:features{ T = T, seed = seed },
      fits
  end,
  I2 = function(seed)
    return sc.instantiation{ p = stumps{ sigma = width }, phi = sign,
      K = sc.kernel.gaussian{ width = width } }:features{ T = T, seed = seed }, fits
  end,
  RKS = function(seed, n) -- the published lambda is of sums over rows; our features are 1/sqrt(T)
    local first = 1e-7 / (n * T)
    return sc.features{ p = stumps{ sigma = 1 }, phi = sign, T = T, seed = seed },
      sc.solver.ridge{ lambda = sc.choose.log{ first, 1e4 * first, count = 5 }, intercept = false }
  end,
  SVM = function() return sc.solver.svm{ C = sc.choose.log{ 0.01, 100, count = 5 }, gamma = "scale" } end,
  AdaBoost = function() return sc.solver.adaboost{ stumps = sc.choose{ 10, 25, 50, 100, 150, 200 } } end,
}
local methods = { ["LS I1"] = { "I1", "ridge" }, ["LS I2"] = { "I2", "ridge" },
  ["lasso I1"] = { "I1", "lasso" }, ["lasso I2"] = { "I2", "lasso" }, RKS = { "RKS", "ridge" },
  SVM = { "SVM", "svm" }, AdaBoost = { "AdaBoost", "adaboost" } }

local data, last = {}, {} -- last: a search of two fits serves two cells
local function run(cell)
  data[cell.data] = data[cell.data] or sc.data.load(cell.data)
  local ds, recipe, solver = data[cell.data], table.unpack(methods[cell.method])
  local train, test
  if cell.data == "adult" or cell.data == "mnist17" then train, test = ds:parts()
  else train, test = ds:split{ test = 0.25, seed = cell.seed, stratify = false } end
  local key = table.concat({ cell.data, recipe, cell.seed }, " ")
  if last.key ~= key then
    local rows = cell.method == "SVM" and #train > 5000 and train:split{ test = #train - 5000 } or train
    last = { key = key, each = sc.pipeline{ sc.standardize(), sc.add_bias(),
      recipes[recipe](cell.seed, #train) }:search(rows, { folds = 5, seed = cell.seed, each = "solver" }).each }
  end
  local p, start = last.each[solver], sc.clock()
  p:fit(train)
  local result = { seconds = sc.clock() - start, error = p:error(test), train_error = p:error(train) }
  if recipe:match("^I") then
    local bound = p:bound{ delta = 0.05 }
    result.mse = sc.metrics.mse(p:decision(test.X), test:targets())
    result.bound, result.bound_paper = bound.total, bound.total_paper
  end
  return result
end

local cells = {}
for _, set in ipairs(sets) do
  for _, seed in ipairs(seeds) do
    for _, method in ipairs{ "LS I1", "lasso I1", "LS I2", "lasso I2", "RKS", "AdaBoost", "SVM" } do
      cells[#cells + 1] = { data = set, method = method, seed = seed }
    end
  end
end
local exp = sc.experiment{ name = name, folder = args.out .. "/cells", cells = cells, run = run }
print(exp:table{ columns = "method", value = "error" })
print(exp:table{ rows = {"data", "method"}, value = { "error", "mse", "bound", "bound_paper", "seconds"} })
