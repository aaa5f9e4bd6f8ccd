-- Feature maps of the last decade beside plain Fourier features of the same T: the test error (1 -
-- R2, or the share of wrong labels), the mean of three seeds with its standard error, and processor
-- seconds of a search over widths and lambda, as a table in Markdown; exact kernel ridge regression
-- with the width and lambda that the first row found. Arguments: names of sets.
local sc = require "scullery"
local named_sets = dofile((arg[0]:gsub("[^/]*$", "named_sets.lua")))

local T, seeds = 500, 3
local sigmas = sc.choose{ 0.05, 0.1, 0.2, 0.4 }
local widths = sc.choose{ 2.5, 5, 10, 20 }
local lambdas = sc.choose.log{ 1e-7, 1e-1, count = 7 }
local fourier, gaussian = sc.nonlinearity.fourier(), sc.sampler.gaussian
local landmarks = sc.sampler.landmarks()

local function one(p, phi)
  return function(seed) return { sc.features{ p = p, phi = phi, T = T, seed = seed } } end
end
local function two(first)
  return function(seed)
    return { sc.features{ p = gaussian(), phi = first, T = T, seed = seed + 100 },
      sc.features{ p = gaussian{ sigma = sigmas }, phi = fourier, T = T, seed = seed } }
  end
end
local function scales(seed)
  local all = sc.features{ p = gaussian{ sigma = 0.05 }, phi = fourier, T = T // 3, seed = seed }
  for k, sigma in ipairs{ 0.15, 0.45 } do
    all = all + sc.features{ p = gaussian{ sigma = sigma }, phi = fourier, T = T // 3,
      seed = seed + 100 * k }
  end
  return { all }
end
-- A row: its head, a function to stages, and the solver where it is not ridge.
local rows = {
  { "`gaussian` + `fourier`", one(gaussian{ sigma = sigmas }, fourier) },
  { "the same by `sfgd`, a parameter a step", one(gaussian{ sigma = sigmas }, fourier),
    sc.solver.sfgd{ lambda = lambdas } },
  { "a union of three widths, `gaussian` + `fourier`", scales },
  { "`leverage` + `fourier`", one(sc.sampler.leverage{ sigma = sigmas }, fourier) },
  { "`positive` + `exp`", one(sc.sampler.positive{ width = widths }, sc.nonlinearity.exp()) },
  { "`relu`, then `fourier`", two(sc.nonlinearity.relu()) },
  { "`landmarks`, Gaussian kernel", one(landmarks, sc.kernel.gaussian{ width = widths }) },
  { "`landmarks`, `network{ depth = 3 }`", one(landmarks, sc.kernel.network{ depth = 3,
    bias = sc.choose{ 0, 1 } }) },
  { "`landmarks`, `network{ form = \"ntk\", depth = 3 }`", one(landmarks, sc.kernel.network{
    form = "ntk", depth = 3, bias = sc.choose{ 0, 1 } }) },
  { "`kernel_ridge`, Gaussian kernel", function(_, found)
    return { sc.solver.kernel_ridge{ intercept = true, lambda = found["solver.lambda"],
      kernel = sc.kernel.gaussian{ gamma = found["p.sigma"] ^ 2 / 2 } } }
  end },
}

local names = #arg > 0 and arg or { "salsa_airfoil", "cpu_act", "spambase", "covtype10k", "letter" }
local heads, lines, seconds = { "" }, {}, {}
for _, name in ipairs(names) do
  local known, found = nil, {} -- found: of the first row, for each seed
  for k, row in ipairs(rows) do
    local sum, square, began = 0, 0, os.clock()
    for seed = 1, seeds do
      local train, test = named_sets.rows(name, seed)
      known = ("%s (%d x %d)"):format(name, #train, train.X:cols())
      local stages = row[2](seed, found[seed])
      table.insert(stages, 1, sc.standardize())
      local p
      if k == #rows then p = sc.pipeline(stages):fit(train) else
        stages[#stages + 1] = row[3] or sc.solver.ridge{ lambda = lambdas }
        p = sc.pipeline(stages):search(train, { holdout = 0.2, seed = 0 })
        if k == 1 then found[seed] = p.choice end
      end
      local error = 1 - p:score(test)
      sum, square = sum + error, square + error ^ 2
    end
    local mean = sum / seeds
    lines[k] = lines[k] or { row[1] }
    table.insert(lines[k], ("%.3f ± %.3f"):format(mean,
      math.sqrt(math.max(square / seeds - mean ^ 2, 0) / (seeds - 1))))
    seconds[k] = (seconds[k] or 0) + os.clock() - began
    io.stderr:write(name, ": ", row[1], ": ", lines[k][#lines[k]], "\n")
  end
  heads[#heads + 1] = known
end
heads[#heads + 1] = "seconds"
for k, line in ipairs(lines) do line[#line + 1] = ("%.0f"):format(seconds[k]) end
print("| " .. table.concat(heads, " | ") .. " |\n" .. ("|---"):rep(#heads) .. "|")
for _, line in ipairs(lines) do print("| " .. table.concat(line, " | ") .. " |") end
