--- What processes.lua runs in several processes: a fit or a search, a model that is saved and read
--- again, and its predictions, printed at the end. One process has one fault at one place.
---
---   scullery [--processes N] divided_work.lua KIND [FAULT RANK PLACE NUMBER]
---   scullery divided_work.lua KIND peak       the kilobytes that it takes, to standard error
local sc = require "scullery"
local core = require "scullery.core"

local kind, fault, rank, place, number = ... -- "divided_work" alone: as a module
rank, place, number = tonumber(rank), tonumber(place), tonumber(number)

local rows, dim = 6000, 5
local X = sc.randn{ rows, dim, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + X:column(2)

-- ------------ faults

local self = tostring(core.process())
local function shell(line) core.run_program({ "sh", "-c", line }, 20) end

-- The fault in the middle of what follows: a limit of memory, above what is taken now.
local function limit_memory()
  local pages = assert(core.read_text("/proc/self/statm")):match "%d+"
  shell(("prlimit --pid %s --as=%d"):format(self, pages * 4096 + number * 20000))
end

-- A status of 128 or more would be a signal's.
local faults = {
  exit = function() os.exit(number % 100) end,
  close = function() os.exit(number % 100, true) end,
  leave = function() os.exit(true) end,
  error = function() error "a fault of the script" end,
  assert = function() assert(nil, "a fault of the script") end,
  object = function() error(setmetatable({}, { __tostring = function()
    return "a fault of the script" end })) end,
  overflow = function()
    local function deep() return 1 + deep() end
    deep()
  end,
  coroutine_exit = function() coroutine.wrap(function() os.exit(3) end)() end,
  coroutine_error = function() coroutine.wrap(function() error "a fault of the script" end)() end,
  child = function() core.in_child(20, function() os.exit(3) end) end,
  other_work = function() sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(X, y) end,
  shell_kill = function() shell("kill -KILL " .. self) end,
  stop = function()
    shell(("kill -STOP %s; sleep 0.%d; kill -CONT %s"):format(self, number % 10, self))
  end,
  memory = limit_memory,
  file_size = function() shell(("prlimit --pid %s --fsize=%d"):format(self, number * 10)) end,
  caught = function() error "a fault of the script" end,
}

-- Called wherever a fault may be: at the place that was asked for, in that process.
local places = 0
local function at()
  places = places + 1
  if places == place and sc.processes.rank == rank then faults[fault]() end
end

-- ------------ the work

local function features(given)
  given.p, given.phi = sc.sampler.gaussian{ sigma = 0.5 }, sc.nonlinearity.fourier()
  given.T, given.seed = given.T or 150, 1
  return sc.features(given)
end

local function numbers() return sc.dataset{ X = X, y = y } end
local function classes()
  return sc.dataset{ X = X, y = y:map(function(v) return v > 0 and 1 or 2 end),
    task = "classification" }
end
local function streamed()
  return sc.data.rows{ n = rows, d = dim, task = "regression", read = function(first, count)
    at()
    return X:slice(first, first + count - 1), y:slice(first, first + count - 1)
  end }
end
-- Rows of files that the processes read together, in the folder of the attack or above it.
local function path_of(name)
  local file = io.open(name)
  if file then file:close() end
  at()
  return file and name or "../" .. name
end
local function shares()
  return sc.data.libsvm(path_of "shares.libsvm", { dtype = "float64" })
end
local function shares_npy()
  local read = sc.data.npy(path_of "shares.npy") -- the target is the first column
  at()
  return sc.dataset{ X = read, y = read:column(1), task = "regression" }
end
local function shares_idx()
  return sc.data.idx(path_of "shares.idx", path_of "labels.idx")
end

local s = sc.solver
local kinds = {
  ridge = { numbers, features{ T = 300 }, s.ridge{ lambda = 1e-4 } },
  tiles = { numbers, features{ T = 600 }, s.ridge{ lambda = 1e-4 }, false, true },
  int16 = { numbers, features{ T = 300, dtype = "int16" }, s.ridge{ lambda = 1e-4 } },
  -- Enough features for one matrix that all processes share.
  common = { numbers, features{ T = 900 }, s.ridge{ lambda = 1e-4 } },
  common_int16 = { numbers, features{ T = 900, dtype = "int16" }, s.ridge{ lambda = 1e-4 } },
  float32 = { numbers, features{ dtype = "float32" }, s.ridge{ lambda = 1e-4 } },
  cg = { numbers, features{}, s.cg{ lambda = 1e-5, preconditioner = "none" } },
  cg_int16 = { numbers, features{ dtype = "int16" }, s.cg{ lambda = 1e-5 } },
  logistic = { classes, features{}, s.logistic{ lambda = 1e-4 } },
  logistic_int16 = { classes, features{ dtype = "int16" }, s.logistic{ lambda = 1e-4 } },
  lasso = { numbers, features{}, s.lasso{ lambda = 1e-3 } },
  hinge = { classes, features{ T = 50 }, s.hinge{ lambda = 1e-3 } },
  shares = { shares, features{ T = 40 }, s.ridge{ lambda = 1e-4 } },
  shares_npy = { shares_npy, features{ T = 40 }, s.ridge{ lambda = 1e-4 } },
  shares_idx = { shares_idx, features{ T = 40 }, s.ridge{ lambda = 1e-4 } },
  rows = { streamed, features{}, s.ridge{ lambda = 1e-4 } },
  search = { numbers, features{}, s.ridge{ lambda = sc.choose.log{ 1e-6, 1e-2, count = 3 } },
    true },
}

local function digest(p)
  local parts, scores = {}, p:decision(X:slice(1, 40))
  for i = 1, 40 do parts[i] = ("%a"):format(scores:get(i, 1)) end
  return table.concat(parts, "\n") .. "\n"
end

if kind == "divided_work" then return { kinds = kinds, digest = digest } end

local function work()
  at()
  local make, map, solver, searched, tiles = table.unpack(kinds[kind])
  local ds, p = make(), sc.pipeline{ sc.standardize(), map, solver }
  at()
  if searched then
    p = p:search(ds, { folds = 3, seed = 0, progress = at })
  else
    p:fit(ds, { progress = at, tiles = tiles })
  end
  at()
  p:save "out.model"
  at()
  p = sc.load "out.model"
  at()
  local text = digest(p)
  at()
  io.write(text)
  at()
end

if fault == "caught" and sc.processes.rank == rank then
  pcall(work)
else
  work()
end
if fault == "peak" then
  io.stderr:write((core.read_text("/proc/self/status"):match "VmPeak:%s+(%d+)"))
end
