-- Searches over the number of parameters T: one pass over the rows for the largest, whose sums
-- serve the others. What is found is what each T finds alone.
local lu = require "luaunit"
local sc = require "scullery"
local registry = dofile((os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/registry.lua")

local ds = sc.data.load("wdbc")
local sizes = { 20, 60, 35 }
local gaussian = sc.sampler.gaussian{ sigma = 0.3 }
local ridge = sc.solver.ridge{ lambda = sc.choose.log{ 1e-6, 1e-2, count = 3 } }

local function features(given)
  return function(T)
    given.T, given.seed = T, 3
    return sc.features(given)
  end
end

local weighting = sc.instantiation{ p = gaussian, K = sc.kernel.gaussian{ width = 8 },
  phi = sc.nonlinearity.sign() }
local maps = {
  { "fourier", features{ p = gaussian, phi = sc.nonlinearity.fourier() } },
  { "pairs", features{ p = gaussian, phi = sc.nonlinearity.fourier{ form = "pair" } } },
  { "float32", features{ p = gaussian, phi = sc.nonlinearity.maxout{ q = 3 }, dtype = "float32" },
    1e-4 },
  { "thresholds", features{ p = sc.sampler.threshold(), phi = sc.nonlinearity.sign() } },
  { "supports", features{ p = sc.sampler.sparse(), phi = sc.nonlinearity.relu() } },
  { "weightings", function(T) return weighting:features{ T = T, seed = 3 } end },
  -- parameters that depend on T, or on each other: each T has its own pass
  { "blocks", features{ p = sc.sampler.hadamard{ sigma = 0.3 }, phi = sc.nonlinearity.relu() } },
  { "pools", features{ p = sc.sampler.pooled(), phi = sc.nonlinearity.maxout{ q = 3 } } },
}

local function without_each(given)
  local copy = {}
  for key, value in pairs(given) do copy[key] = value end
  copy.each = nil
  return copy
end

local function check(label, make, data, given, tolerance)
  local all = sc.pipeline{ sc.standardize(), make(sc.choose(sizes)), ridge }:search(data, given)
  local expected = {}
  for _, T in ipairs(sizes) do
    local one = sc.pipeline{ sc.standardize(), make(T), ridge }:search(data, without_each(given))
    for _, cell in ipairs(one.table) do
      expected[#expected + 1] = { T, cell.choice["solver.lambda"], cell.mean }
    end
    local best = all.each[T]
    lu.assertEquals(best.choice["solver.lambda"], one.choice["solver.lambda"], label)
    local gap = (best:decision(data) - one:decision(data)):abs():max()
    lu.assertTrue(gap < tolerance, ("%s, T = %d: decisions differ by %.2g"):format(label, T, gap))
  end
  for i, cell in ipairs(all.table) do -- in the order of the grid
    lu.assertEquals({ cell.choice["features.T"], cell.choice["solver.lambda"] },
      { expected[i][1], expected[i][2] }, label)
    lu.assertAlmostEquals(cell.mean, expected[i][3], tolerance, label)
  end
end

for _, given in ipairs{ { seed = 2 }, { holdout = 0.2, seed = 1 }, { folds = "loo" } } do
  given.score, given.each = "loss", "features.T"
  for _, map in ipairs(maps) do
    local name = "Test_each_T_alone_" .. map[1] .. "_" .. (given.holdout and "holdout"
      or given.folds or "folds")
    _G[name] = function() check(map[1], map[2], ds, given, map[3] or 1e-10) end
  end
end

function TestRowWeightsAndTargets()
  local X = sc.randn{ 200, 4, seed = 1 }
  local data = sc.dataset{ X = X, y = X * sc.randn{ 4, 3, seed = 2 }, task = "regression",
    weights = sc.rand{ 200, 1, seed = 4 } }
  check("weights", maps[2][2], data, { seed = 1, score = "loss", each = "features.T" }, 1e-10)
end

-- Whatever a sampler does with T: those whose parameters depend on it must not share.
function TestEverySampler()
  local X = sc.rand{ 80, 4, seed = 1 } * 0.8 + 0.1
  local data = sc.dataset{ X = X, y = X:column(1):mul(X:column(2)), task = "regression" }
  local tried = 0
  for _, s in ipairs(registry.sampler) do
    local phi = registry.partner(s.component)
    if registry.takes_any_T(s.component) and not (phi.kind == "nonlinearity"
      and registry.shape(phi).one_hot) then
      local function pipeline(T)
        return sc.pipeline{ sc.features{ p = s.component, phi = phi, T = T, seed = 5 },
          sc.solver.ridge{ lambda = 1e-2 } }
      end
      local given = { folds = 3, score = "loss" }
      for _, cell in ipairs(pipeline(sc.choose{ 4, 16, 8 }):search(data, given).table) do
        local alone = pipeline(cell.choice["features.T"]):cv(data, given).mean
        lu.assertTrue(math.abs(cell.mean - alone) <= 1e-8 * alone,
          ("%s, T = %d: %.17g and %.17g alone"):format(s.label, cell.choice["features.T"],
            cell.mean, alone))
        tried = tried + 1
      end
    end
  end
  lu.assertTrue(tried > (registry.sanitized and 30 or 60), tried .. " searches were tried")
end

-- Kernel sections that are not whitened have no feature scales: each T has its own pass.
function TestKernelSections()
  local function pipeline(T)
    return sc.pipeline{ sc.standardize(), sc.features{ p = gaussian, T = T, seed = 3,
      phi = sc.kernel.gaussian{ width = 8 } }, sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }
  end
  local given = { folds = 3, score = "loss", seed = 1 }
  local cells = pipeline(sc.choose(sizes)):search(ds, given).table
  lu.assertEquals(#cells, #sizes)
  for _, cell in ipairs(cells) do
    local alone = pipeline(cell.choice["features.T"]):cv(ds, given).mean
    lu.assertAlmostEquals(cell.mean, alone, 1e-8 * alone)
  end
end

-- Three sums over the rows cost three walks, one sum one; each T is judged by a walk of its own.
function TestOneWalkMakesTheSums()
  local walks
  local X, y = ds.X, ds:targets()
  local function walks_of(sampler)
    walks = 0
    local stream = sc.data.rows{ n = X:rows(), d = X:cols(), targets = 1,
      read = function(first, count)
        if first + count - 1 == X:rows() then walks = walks + 1 end
        return X:slice(first, first + count - 1), y:slice(first, first + count - 1)
      end }
    sc.pipeline{ sc.standardize(), sc.features{ p = sampler, phi = sc.nonlinearity.relu(),
      T = sc.choose(sizes), seed = 1 }, sc.solver.ridge{ lambda = 1e-3 } }:search(stream,
      { folds = 3, score = "loss" })
    return walks
  end
  lu.assertEquals(walks_of(gaussian), walks_of(sc.sampler.hadamard{ sigma = 0.3 }) - 2)
end

os.exit(lu.LuaUnit.run(), true)
