-- Few of many columns matter: the error with sc.relevance() and sc.agop{}, with sc.standardize(),
-- and of features of few columns, as tables in Markdown, with processor seconds. First Friedman's
-- function of 5 columns (Friedman 1991) and 45 idle ones, 2000 rows and noise of variance 1: the
-- root mean square error against the function itself, the mean of three draws. Then sets of salsa,
-- as they are and with 30 idle columns more: 1 - R2 on the test rows. Options are chosen on
-- the training rows. It takes some minutes on two cores; sets that are not on this machine are left
-- out. Arguments: names of sets; "friedman" for the first table.
local sc = require "scullery"

local T = 1000

local function fourier(sampler)
  return sc.features{ p = sampler, phi = sc.nonlinearity.fourier(), T = T, seed = 1 }
end

-- The width and the regularisation are chosen by p:fit.
local function gaussian(stage)
  return function(train)
    return sc.pipeline{ stage, fourier(sc.sampler.gaussian{}),
      sc.solver.ridge{ intercept = true } }:fit(train)
  end
end

-- The options of a sampler and the regularisation are searched.
local function searched(stage, sampler, given)
  return function(train)
    return sc.pipeline{ stage, fourier(sampler(given)),
      sc.solver.ridge{ lambda = sc.choose.log{ 1e-7, 1e-1, count = 7 }, intercept = true } }
      :search(train, { folds = 3, seed = 0 })
  end
end

local degrees = { degree = sc.choose{ 1, 2, 4 }, sigma = sc.choose{ 0.5, 1, 2 } }
local widths = { sigma = sc.choose{ 0.05, 0.1, 0.2, 0.4, 0.8, 1.6 } }
local sparse = searched(sc.standardize(), sc.sampler.sparse, degrees)

local rows = {
  { "`gaussian`, all columns", gaussian(sc.standardize()) },
  { "`sparse`, in-degree 1 to 4", sparse },
  { "`sc.relevance()`, `gaussian`", gaussian(sc.relevance()) },
  { "`sc.agop{ form = \"diagonal\" }`, `gaussian`", gaussian(sc.agop{ form = "diagonal" }) },
  { "`sc.agop{}`, `gaussian`", gaussian(sc.agop{}) },
  { "`sc.agop{ map = \"landmarks\" }`, `gaussian`", gaussian(sc.agop{ map = "landmarks" }) },
}
local rows_of_sets = {
  { "`gaussian`, all columns", searched(sc.standardize(), sc.sampler.gaussian, widths) },
  { "`sparse`, in-degree 1 to 4", sparse },
  { "`sc.relevance()`, `gaussian`", searched(sc.relevance(), sc.sampler.gaussian, widths) },
  { "`sc.relevance()`, `sparse`", searched(sc.relevance(), sc.sampler.sparse, degrees) },
  { "`sc.agop{ form = \"diagonal\" }`, `gaussian`",
    searched(sc.agop{ form = "diagonal" }, sc.sampler.gaussian, widths) },
  { "`sc.agop{}`, `gaussian`", searched(sc.agop{}, sc.sampler.gaussian, widths) },
  { "`sc.agop{ map = \"landmarks\" }`, `gaussian`",
    searched(sc.agop{ map = "landmarks" }, sc.sampler.gaussian, widths) },
}

-- ------------ Friedman's function

local function friedman(n, seed)
  local ds = sc.data.friedman1{ rows = n, cols = 50, noise = 0, seed = seed }
  return ds.X, ds.y, ds.y + sc.randn{ n, 1, seed = seed + 1000 }
end

local function distance(p, X, truth)
  local gap = p:predict(X) - truth
  return math.sqrt(gap:mul(gap):mean())
end

local function friedman_table()
  local sums, seconds, seeds = {}, {}, 3
  for seed = 1, seeds do
    local X, _, y = friedman(2000, seed)
    local test, truth = friedman(4000, seed + 100)
    local few = sc.dataset{ X = X:slice(1, 2000, 1, 5), y = y, task = "regression" }
    local ds = sc.dataset{ X = X, y = y, task = "regression" }
    sums[0] = (sums[0] or 0)
      + distance(rows[1][2](few), test:slice(1, 4000, 1, 5), truth)
    for k, row in ipairs(rows) do
      local began = os.clock()
      sums[k] = (sums[k] or 0) + distance(row[2](ds), test, truth)
      seconds[k] = (seconds[k] or 0) + os.clock() - began
    end
  end
  print("| | error | seconds |\n|---|---|---|")
  print(("| `gaussian`, given the right 5 columns | %.3f | |"):format(sums[0] / seeds))
  for k, row in ipairs(rows) do
    print(("| %s | %.3f | %.0f |"):format(row[1], sums[k] / seeds, seconds[k] / seeds))
  end
end

-- ------------ salsa

-- The data set with so many more columns of normal numbers.
local function with_idle(ds, count, seed)
  if count == 0 then return ds end
  return sc.dataset{ X = sc.hcat(ds.X, sc.randn{ #ds, count, seed = seed }), y = ds.y }
end

local function salsa_table(names, idle)
  local heads, lines, seconds = { "" }, {}, {}
  for _, name in ipairs(names) do
    if sc.data.path(name) then
      local train, test = sc.data.load(name):parts()
      train, test = with_idle(train, idle, 77), with_idle(test, idle, 78)
      heads[#heads + 1] = ("%s (%d x %d)"):format(name, #train, train.X:cols())
      for k, row in ipairs(rows_of_sets) do
        lines[k] = lines[k] or { row[1] }
        local began = os.clock()
        table.insert(lines[k], ("%.4f"):format(1 - row[2](train):score(test)))
        seconds[k] = (seconds[k] or 0) + os.clock() - began
        io.stderr:write(name, ": ", row[1], ": ", lines[k][#lines[k]], "\n")
      end
    end
  end
  if #heads == 1 then return end
  heads[#heads + 1] = "seconds"
  for k, line in ipairs(lines) do line[#line + 1] = ("%.0f"):format(seconds[k]) end
  print("| " .. table.concat(heads, " | ") .. " |\n" .. ("|---"):rep(#heads) .. "|")
  for _, line in ipairs(lines) do print("| " .. table.concat(line, " | ") .. " |") end
end

local names = { table.unpack(arg) }
if #names == 0 or names[1] == "friedman" then
  friedman_table()
  table.remove(names, 1)
  if #arg > 0 and #names == 0 then return end
end
salsa_table(#names > 0 and names or { "salsa_housing", "salsa_forestfires", "salsa_speech",
  "salsa_telemonitoring", "salsa_skillcraft", "salsa_music", "salsa_insulin" }, 0)
salsa_table(#names > 0 and names or { "salsa_housing", "salsa_forestfires", "salsa_speech",
  "salsa_telemonitoring", "salsa_skillcraft" }, 30)
