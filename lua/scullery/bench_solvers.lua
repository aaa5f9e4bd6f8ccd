--- scullery bench solvers: what each way of learning costs, beside one ridge fit or the matrix
--- products that it cannot do without, in one run.
local core = require "scullery.core"
local sc = require "scullery"
local ask = require("scullery.objects").ask

local bench_solvers = {}

local function timed(f)
  collectgarbage()
  local began = core.now()
  local result = f()
  return core.now() - began, result
end

local function best_of(times, f)
  local best, kept
  for _ = 1, times do
    local took, result = timed(f)
    if not best or took < best then best, kept = took, result end
  end
  return best, kept
end

local function account(model)
  local info = model:info()
  return ("%s after %d, gap %s, %d weights"):format(info.status, info.iterations,
    info.gap and ("%.0e"):format(info.gap) or "-", info.nonzeros)
end

-- The authors' instantiation 2: thresholds, sign, a Gaussian K.
local function weighting(given)
  given = given or {}
  return sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ width = given.width
    or 1 }, p = sc.sampler.threshold{ sigma = given.sigma or 1 },
                           phi = sc.nonlinearity.sign() }
end

local function pipeline(inst, T, solver)
  return sc.pipeline{ sc.standardize(), sc.add_bias(), inst:features{ T = T, seed = 0 }, solver }
end

local function adult(row)
  local train = sc.data.load("adult"):parts()
  local function fit(solver, times)
    return best_of(times or 3, function() return pipeline(weighting(), 1000, solver):fit(train) end)
  end
  local one, ridge = fit(sc.solver.ridge{ lambda = 1e-7, penalty = "rkhs" })
  row("adult, RKHS weighting 2, T = 1000: ridge", one, "one fit; " .. account(ridge))
  for _, case in ipairs{ { 1e-4, "23 s" }, { 1e-6, "103 s" } } do
    local took, model = fit(sc.solver.lasso{ lambda = case[1] })
    row(("  lasso, lambda = %g"):format(case[1]), took,
      ("%.2f fits; %s; the authors: %s"):format(took / one, account(model), case[2]))
  end
  local lambdas = sc.choose.log{ 1e-6, 1e-3, count = 50 }.values
  local path = best_of(2, function()
    local p = pipeline(weighting(), 1000, sc.solver.lasso())
    local source = ask(train, "source_of_targets")
    local prepared = ask(p, "prepare", source)
    local training = core.training(source, prepared.stages, prepared.map,
      ask(p, "training_options", train))
    core.solve(training, ask(p.solver, "instance"), 0, lambdas)
  end)
  row("  lasso, a path of 50 lambdas", path, ("%.2f fits"):format(path / one))
  local search = timed(function()
    local inst = weighting{ sigma = sc.choose{ 0.5, 1, 2 }, width = sc.choose{ 0.5, 1, 2 } }
    return pipeline(inst, 1000, sc.solver.ridge{ lambda = sc.choose{ 1e-7, 1e-6, 1e-5, 1e-4, 1e-3 },
      penalty = "rkhs" }):search(train, { folds = 5 })
  end)
  row("  9 pairs (s, g), 5 lambdas, 5 folds and the refit", search,
    ("%.1f fits; the authors: 226"):format(search / one), { fits = search / one })
  for _, name in ipairs{ "sfgd", "optimal_stepsize" } do
    for _, T in ipairs{ 1000, 2000, 4000 } do
      local took = timed(function()
        return pipeline(weighting(), T, sc.solver[name]{ lambda = 1e-5, batch = 100,
          iterations = T }):fit(train)
      end)
      row(("  %s, T = %d"):format(name, T), took,
        ("%.1f ns a row, step and parameter"):format(took / T ^ 2 / 100 * 2e9))
    end
  end
end

-- Learning in a box (RKS): drawn stumps, |alpha_t| <= 1, a constant; features kept.
local function boxed(row)
  local train = sc.data.load("adult"):parts()
  local T = 1000
  for _, loss in ipairs{ "hinge", "logistic" } do
    local took, model = timed(function()
      local stumps = sc.features{ p = sc.sampler.threshold{ sigma = 1 },
        phi = sc.nonlinearity.sign(), T = T, seed = 0 }
      return sc.pipeline{ sc.standardize(), stumps, sc.solver.box{ loss = loss, C = T ^ 1.5,
        intercept = true }, allowance = 1.5e9 }:fit(train)
    end)
    row(("adult, stumps, T = %d: box, %s loss"):format(T, loss), took, account(model))
  end
end

local function skin(row)
  local ds = sc.data.load("skin")
  local inst = sc.instantiation{ K = sc.kernel.gaussian{ theta = 0.5 },
    p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.sign() }
  local took, model = best_of(2, function()
    return pipeline(inst, 1000, sc.solver.lasso{ lambda = 1e-6 }):fit(ds)
  end)
  row("skin, RKHS weighting 1, T = 1000: lasso, lambda = 1e-6", took, account(model)
    .. "; the authors: 412 s")
end

local function sinks(D, sampler)
  return sc.features{ p = sc.sampler[sampler]{ gamma = 0.025 }, phi = sc.nonlinearity.fourier(),
    T = D, seed = 1, dtype = "float32" }
end

-- An iteration of L-BFGS: the difference between many and few.
local function logistic(row, train)
  local rows, D = 4096, 5000
  local blocks = #train // rows
  local scale = #train / (blocks * rows)
  local product = core.ceiling_features("float32", blocks, rows, D, 10, "none") * scale
  local projection = core.ceiling_features("float32", blocks, rows, 784, D, "none") * scale
  for _, mode in ipairs{ { 1.5e9, "kept", 5, 25, 2 * product },
    { 0, "made again", 1, 4, 2 * product + projection } } do
    local function run(iterations)
      return timed(function()
        return sc.pipeline{ sinks(D, "gaussian"), sc.solver.logistic{ lambda = 1e-6,
          max_iterations = iterations }, allowance = mode[1] }:fit(train)
      end)
    end
    local each = (run(mode[4]) - run(mode[3])) / (mode[4] - mode[3])
    row(("MNIST, D = %d, float32: an L-BFGS iteration, features %s"):format(D, mode[2]), each,
      ("time / its gemms %.2f (%.3f s)"):format(each / mode[5], mode[5]))
  end
end

local function mnist(row)
  local train, test = sc.data.load("mnist", { dtype = "float32" }):parts()
  logistic(row, train)
  for _, case in ipairs{ { "hadamard", 5000, 1e-3 }, { "gaussian", 5000, 1e-3 },
    { "hadamard", 40000, 1e-2 } } do
    collectgarbage()
    collectgarbage()
    core.memory(true)
    local took, model = timed(function()
      return sc.pipeline{ sinks(case[2], case[1]),
        sc.solver.cg{ lambda = 1e-6, tolerance = case[3] } }:fit(train)
    end)
    local _, peak = core.memory()
    row(("MNIST, %s D = %d, float32: conjugate gradients"):format(case[1], case[2]), took,
      ("%s after %d; test error %.4f; engine's peak %.2f GB"):format(model:info().status,
        model:info().iterations, model:error(test), peak / 1e9))
  end
end

local function baselines(row)
  local train, test = sc.data.load("adult"):parts()
  for _, one in ipairs{ { "AdaBoost, 200 stumps", { sc.solver.adaboost{ stumps = 200 } } },
    { "5 nearest neighbours", { sc.standardize(), sc.solver.knn{ k = 5 } } } } do
    local model, accuracy = sc.pipeline(one[2]), nil
    local fitting = best_of(3, function() model:fit(train) end)
    local scoring = best_of(2, function() accuracy = model:score(test) end)
    row("adult, " .. one[1], fitting, ("scoring %.3f s, accuracy %.4f"):format(scoring, accuracy))
  end
end

-- Support vector machines beside the products of all rows with the support vectors.
local function machines(row, here)
  local sets = {
    { "adult", "8,000 rows", {}, function()
      return (sc.data.load("adult"):parts()):subset(1, 8000)
    end },
    { "mnist17", "13,007 rows", { gamma = 0.02 }, function()
      return (sc.data.load("mnist17"):parts())
    end },
    { "letter", "7,875 rows, 26 classes", {}, function()
      return (sc.data.load("letter"):split{ test = 0.25, seed = 0 })
    end },
  }
  local rate = core.ceiling("gemm", "float64", 2048) * 1e9
  for _, set in ipairs(sets) do
    if here(set[1]) then
      local ds = set[4]()
      local stages = { sc.solver.svm(set[3]) }
      if not set[3].gamma then table.insert(stages, 1, sc.standardize()) end
      local took, model = best_of(3, function() return sc.pipeline(stages):fit(ds) end)
      local kept = tonumber(model:info().note:match("^%d+"))
      local floor = 2 * #ds * kept * ds.X:cols() / rate
      row(("%s, %s: svm"):format(set[1], set[2]), took,
        ("products / time %.2f; %s"):format(floor / took, model:info().note))
    end
  end
end

--- bench_solvers.run(row, here): prints by row(what, seconds, note, facts); here(name) says whether
--- a set of data is at hand. Some four minutes.
function bench_solvers.run(row, here)
  if here("adult") then
    adult(row)
    boxed(row)
    baselines(row)
  end
  machines(row, here)
  if here("skin") then skin(row) end
  if here("mnist") then mnist(row) end
end

return bench_solvers
