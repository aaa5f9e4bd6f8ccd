-- A result does not depend on what memory held before: solvers and features give the same numbers
-- to the bit where all memory that is not set holds NaN.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

local n, d = 300, 8
local X = sc.randn{ n, d, seed = 1 }
local y = X * sc.randn{ d, 2, seed = 7 } + 0.1 * sc.randn{ n, 2, seed = 8 }
local weights = sc.rand{ n, 1, seed = 5 }
local classes = y:column(1):map(function(v) return v > 0 and 1 or 0 end)
local integers = X:map(function(v) return math.floor(2 * v) end)

local function bits(matrix)
  local list = {}
  for i = 1, matrix:rows() do
    for j = 1, matrix:cols() do list[#list + 1] = string.pack("<d", matrix:get(i, j)) end
  end
  return table.concat(list)
end

-- What a pipeline predicts, and its solver's account, fitted with clean and with spoiled memory.
local function fitted(make, dataset, spoil)
  core.spoil_allocations(spoil)
  local ok, model = pcall(function() return make():fit(dataset) end)
  core.spoil_allocations(false)
  if not ok then error(model, 0) end
  local info = model:info()
  return bits(model:decision(dataset.X)), tostring(info.status), tostring(info.note)
end

local function assert_same(label, make, dataset)
  local clean, spoiled = { fitted(make, dataset, false) }, { fitted(make, dataset, true) }
  lu.assertTrue(clean[1] == spoiled[1], label .. ": the decisions differ")
  lu.assertEquals({ spoiled[2], spoiled[3] }, { clean[2], clean[3] }, label)
end

local function thresholds(nonlinearity)
  local p = sc.sampler.threshold{ sigma = 1 }
  return sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ width = 1 }, p = p,
    phi = nonlinearity }:features{ T = 120, seed = 3 }
end

TestSpoiledMemory = {}

-- Systems that take jitter are refined by conjugate gradients.
function TestSpoiledMemory:test_singular_systems_of_ridge()
  for _, w in ipairs{ false, weights } do
    local data = sc.dataset{ X = integers, y = y, task = "regression", weights = w or nil }
    for _, phi in ipairs{ "sign", "relu" } do
      for _, option in ipairs{ { lambda = 1e-3, penalty = "rkhs" }, { lambda = 0 },
        { lambda = 1e-14 } } do
        assert_same(("%s, %s, lambda %g"):format(phi, w and "weights" or "no weights",
          option.lambda), function()
          return sc.pipeline{ thresholds(sc.nonlinearity[phi]()), sc.solver.ridge(option) }
        end, data)
      end
    end
  end
end

function TestSpoiledMemory:test_dual_of_fewer_columns_than_rows()
  local rows = sc.randn{ 1000, 20, seed = 1 }
  local data = sc.dataset{ X = rows, y = rows * sc.randn{ 20, 2, seed = 7 }, task = "regression" }
  for _, lambda in ipairs{ 1e-12, 1e-6, 1e-2 } do
    assert_same("dual, lambda " .. lambda, function()
      return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{}, phi = sc.nonlinearity.relu(),
        T = 20, seed = 3 }, sc.solver.ridge{ lambda = lambda, form = "dual" } }
    end, data)
  end
end

function TestSpoiledMemory:test_every_solver()
  local target = y:column(1)
  for _, entry in ipairs(core.plugin_list()) do
    if entry.kind == "solver" then
      local fits = 0
      -- the last one for solvers that take neither of the others
      for _, case in ipairs{ { "regression", target }, { "classification", classes },
        { "regression", target:map(math.exp) } } do
        local task, values = table.unpack(case)
        if fits > 0 and task == "regression" then break end
        local data = sc.dataset{ X = X, y = values, task = task }
        local function make()
          local features = sc.instantiation{ W = sc.space.dense(),
            K = sc.kernel.gaussian{ width = 1 }, p = sc.sampler.gaussian{},
            phi = sc.nonlinearity.relu() }:features{ T = 40, seed = 3 }
          return sc.pipeline{ features, sc.solver[entry.name]{} }
        end
        if pcall(function() return make():fit(data) end) then
          assert_same(entry.name .. ", " .. task, make, data)
          fits = fits + 1
        end
      end
      lu.assertTrue(fits > 0, entry.name .. " takes neither of the problems")
    end
  end
end

os.exit(lu.LuaUnit.run())
