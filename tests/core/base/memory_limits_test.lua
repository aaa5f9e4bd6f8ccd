-- Under a limit of the address space everything ends: done, or one sentence with exit status 1.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local sanitized = (os.getenv "SCULLERY_SANITIZE" or "") ~= "" -- they map terabytes
local LIMITS = { 50, 70, 100, 140, 180, 190, 200, 210, 220, 240, 280, 340, 460, 700, 1200, 2000 }

local X = sc.randn{ 3000, 8, seed = 1 }
local numbers = {}
for i = 1, X:rows() do numbers[i] = X:get(i, 1) * X:get(i, 2) + X:get(i, 3) end

-- Run the command under each limit; returns how often it was done.
local function under_limits(arguments)
  local done = 0
  for _, megabytes in ipairs(LIMITS) do
    local status, _, err = support.shell(("timeout 180 prlimit --as=%d %s %s"):format(
      megabytes * 1000000, support.quote(support.binary), arguments))
    local said = ("%d MB: %s: %s"):format(megabytes, status, err)
    lu.assertTrue(status == 0 or status == 1, said)
    if status == 1 then lu.assertStrContains(err, "not enough memory", false, said) end
    if status == 0 then done = done + 1 end
  end
  return done
end

local scripts = {
  print = "print(1)",
  fit = [[
local X = sc.randn{ 4000, 10, seed = 1 }
local ds = sc.dataset{ X = X, y = X:column(1):mul(X:column(2)), task = "regression" }
local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = "median" },
  phi = sc.nonlinearity.fourier(), T = 400, seed = 1 }, sc.solver.ridge{ lambda = 1e-3 } }
p:fit(ds)
p:predict(X)
]],
  search = [[
local X = sc.randn{ 2000, 5, seed = 1 }
local ds = sc.dataset{ X = X, y = X:column(1):mul(X:column(2)), task = "regression" }
local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose{ 0.5, 1 } },
  phi = sc.nonlinearity.fourier(), T = 100, seed = 1 }, sc.solver.ridge{ lambda =
  sc.choose{ 1e-3, 1e-1 } } }
p:search(ds, { folds = 3 })
]],
  eigenvalues = [[
local X = sc.randn{ 300, 300, seed = 1 }
print((X:t() * X):eigvals():rows())
]],
}

TestMemoryLimits = {}

for name, script in pairs(scripts) do
  TestMemoryLimits["test_" .. name] = function()
    if sanitized then lu.skip("a sanitizer needs terabytes of address space") end
    local path = support.write(nil, script)
    local done = under_limits(support.quote(path))
    os.remove(path)
    lu.assertTrue(done >= 3, name .. ": it should be done under the larger limits")
  end
end

function TestMemoryLimits.test_print_needs_little()
  if sanitized then lu.skip("a sanitizer needs terabytes of address space") end
  lu.assertEquals(under_limits "-e 'print(1)'", #LIMITS)
end

function TestMemoryLimits.test_predict()
  if sanitized then lu.skip("a sanitizer needs terabytes of address space") end
  local model, data = support.free_path(".safetensors"), support.free_path(".csv")
  local names, lines = {}, {}
  for j = 1, X:cols() do names[j] = "x" .. j end
  lines[1] = table.concat(names, ",") .. ",y"
  for i = 1, X:rows() do
    local row = {}
    for j = 1, X:cols() do row[j] = ("%.6g"):format(X:get(i, j)) end
    lines[i + 1] = table.concat(row, ",") .. "," .. ("%.6g"):format(numbers[i])
  end
  support.write(data, table.concat(lines, "\n") .. "\n")
  sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = "median" }, phi =
    sc.nonlinearity.fourier(), T = 100, seed = 1 }, sc.solver.ridge{ lambda = 1e-3 } }
    :fit(sc.data.csv(data, { target = "y" })):save(model)
  lu.assertTrue(under_limits(("predict %s %s"):format(model, data)) >= 3)
  os.remove(model)
  os.remove(data)
end

-- Threads are fewer where there is no room for them; results are the same.
function TestMemoryLimits.test_threads_are_fewer()
  if sanitized then lu.skip("a sanitizer needs terabytes of address space") end
  local path = support.write(nil, [[
local X = sc.randn{ 1200, 1200, seed = 1 }
print((X * X):sum(), io.open("/proc/self/status"):read("a"):match("Threads:%s*(%d+)"))
]])
  local results = {}
  for i, limit in ipairs{ 500000000, 20000000000 } do
    local status, out = support.shell(("SCULLERY_THREADS=8 timeout 180 prlimit --as=%d %s %s")
      :format(limit, support.quote(support.binary), path))
    lu.assertEquals(status, 0)
    results[i] = { out:match("^(%S+)\t(%d+)") }
  end
  os.remove(path)
  lu.assertEquals(results[1][1], results[2][1])
  lu.assertTrue(tonumber(results[1][2]) < 8)
  lu.assertEquals(results[2][2], "8")
end

-- The library starts no threads of its own: those of matrix products are the engine's.
function TestMemoryLimits.test_no_threads_before_work()
  local _, out = support.scullery [[-e '
local X = sc.zeros(2, 2) print(io.open("/proc/self/status"):read("a"):match("Threads:%s*(%d+)"))']]
  if sanitized then lu.skip("a sanitizer may have threads") end
  lu.assertEquals(out, "1\n")
end

function TestMemoryLimits.test_luas_own_memory()
  if sanitized then lu.skip("a sanitizer needs terabytes of address space") end
  local status, _, err = support.shell(("timeout 180 prlimit --as=400000000 %s -e %s"):format(
    support.quote(support.binary),
    support.quote "local t = {} for i = 1, 1e9 do t[i] = { i } end"))
  lu.assertEquals(status, 1)
  lu.assertEquals(err, "scullery: not enough memory\n")
end

-- Without a limit of the process: the system would promise nearly all memory, and end the process
-- once it is used. Reading asks for a buffer, and uses none of it here.
function TestMemoryLimits.test_luas_own_memory_is_held_against_what_is_free()
  local total = io.open("/proc/meminfo"):read("a"):match("MemTotal:%s*(%d+)")
  local status, _, err = support.scullery("-e " .. support.quote(
    ("io.open('/dev/null'):read(%d)"):format(tonumber(total) * 1024 // 100 * 97)))
  lu.assertEquals(status, 1)
  lu.assertEquals(err, "scullery: not enough memory\n")
end

os.exit(lu.LuaUnit.run())
