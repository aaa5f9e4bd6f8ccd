-- Thresholds over columns of few distinct values: sums over rows go by the values. What is learnt
-- is what a ridge learns on the matrix of the features.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

-- Two-valued columns, small integers, and every tenth column of numbers. Some values come late.
local function rows(n, d, seed)
  local noise = sc.randn{ n, d, seed = seed }
  local X = sc.zeros(n, d)
  for i = 1, n do
    for j = 1, d do
      local v = noise:get(i, j)
      if j % 10 == 5 then
        X:set(i, j, v)
      elseif j % 5 == 0 then
        X:set(i, j, math.floor(2 * v))
      else
        X:set(i, j, v > 1.5 and i > n // 2 and 3 or v > 0 and 1 or -0.5)
      end
    end
  end
  return X
end

local function target(X, seed)
  return X * sc.randn{ X:cols(), 2, seed = seed } + sc.randn{ X:rows(), 2, seed = seed + 1 }
end

core.bits(false) -- sign and step too go by values; else they are counted

local n, d = 900, 20
local X = rows(n, d, 1)
local weights = sc.rand{ n, 1, seed = 5 }
local plain = sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(),
  T = 400, seed = 3 }
local function weighting(dtype)
  return sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ width = 1 },
    p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }:features{ T = 400,
    seed = 3, dtype = dtype }
end
local maps = { { "sign", plain, 1e-9 }, { "weighting", weighting(), 1e-9 },
  { "weighting, float32", weighting "float32", 1e-4 },
  { "relu", sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.relu(),
    T = 400, seed = 4 }, 1e-9 },
  -- too few features for most columns
  { "few", sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.relu(), T = 30,
    seed = 4 }, 1e-9 } }
local function ridge(lambda) return sc.solver.ridge{ lambda = lambda or 1e-2 } end

local function dataset(matrix, y, given)
  return sc.dataset{ X = matrix, y = y, task = "regression", weights = given }
end

local function gap(a, b) return (a - b):abs():max() / b:abs():max() end

local function check(label, features, data, tolerance, block)
  local model = sc.pipeline{ features, ridge(), block = block }:fit(data)
  local phi = features:transform(data.X)
  local want = sc.pipeline{ ridge() }:fit(dataset(phi, data.y, data.weights))
  local found = gap(model:decision(data.X), want:decision(phi))
  lu.assertTrue(found < tolerance, ("%s: decisions differ by %.2g"):format(label, found))
end

for _, map in ipairs(maps) do
  _G["Test_the_matrix_of_features_" .. map[1]] = function()
    check(map[1], map[2], dataset(X, target(X, 7)), map[3])
  end
  _G["Test_row_weights_" .. map[1]] = function()
    check(map[1], map[2], dataset(X, target(X, 7), weights), map[3])
  end
end

-- Values that come in later blocks, columns that turn out to have many.
function TestBlocks()
  for _, block in ipairs{ 1, 64, 450 } do
    for _, map in ipairs(maps) do
      check(("%s, block %d"):format(map[1], block), map[2], dataset(X, target(X, 7)), map[3], block)
    end
  end
end

-- Rows enough for several leaves of the sum, with other values in each.
function TestSeveralLeaves()
  local many = 40000
  local noise = sc.rand{ many, 3, seed = 2 }
  local Z = sc.zeros(many, 3)
  for i = 1, many do
    for j = 1, 3 do Z:set(i, j, math.floor(3 * noise:get(i, j)) + 5 * (i // 15000)) end
  end
  local features = sc.features{ p = sc.sampler.threshold{ sigma = 8 },
    phi = sc.nonlinearity.step(), T = 60, seed = 3 }
  check("leaves", features, dataset(Z, target(Z, 3)), 1e-9)
end

-- Folds: each trains on what the others hold.
function TestFolds()
  local data = dataset(X, target(X, 7))
  for _, map in ipairs(maps) do
    local phi = map[2]:transform(X)
    local given = { folds = 4, seed = 2, score = "loss" }
    local one = sc.pipeline{ map[2], ridge() }:cv(data, given)
    local other = sc.pipeline{ ridge() }:cv(dataset(phi, data.y), given)
    lu.assertAlmostEquals(one.mean / other.mean, 1, 10 * map[3], map[1])
  end
end

function TestThreadsChangeNoBit()
  local data = dataset(X, target(X, 7))
  local before, found = core.threads(), {}
  for threads = 1, 2 do
    core.threads(threads)
    found[threads] = sc.pipeline{ weighting(), ridge(), block = 100 }:fit(data):weights()
  end
  core.threads(before)
  lu.assertTrue(found[1] == found[2])
end

-- One value everywhere, and 0 with either sign.
function TestConstantColumns()
  local Z = sc.zeros(50, 2)
  for i = 1, 50 do
    Z:set(i, 1, 2)
    Z:set(i, 2, i % 2 == 0 and 0.0 or -0.0)
  end
  local features = sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(),
    T = 50, seed = 3 }
  check("constant", features, dataset(Z, target(rows(50, 3, 1), 2)), 1e-9)
end

os.exit(lu.LuaUnit.run(), true)
