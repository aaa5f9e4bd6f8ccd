-- Ctrl-C ends long calls of the library: each would go on for minutes, and ends by the signal. The
-- limit is there against hangs alone.
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")

local calls = {
  product = "local X = sc.ones(6000, 6000) began() for _ = 1, 1000 do _ = X * X end",
  tall_product = "local X = sc.ones(20, 3000000) began() for _ = 1, 1000 do _ = X * X:t() end",
  sum = "local X = sc.ones(6000, 6000) began() for _ = 1, 10000 do X:sum() end",
  arithmetic = "local X = sc.ones(5000, 5000) began() for _ = 1, 10000 do _ = X + X end",
  fill = "began() for _ = 1, 10000 do sc.ones(5000, 5000) end",
  normals = "began() sc.randn{ 2^20, 1000, dtype = 'float32' }",
  symmetric_eigenvalues = "local X = sc.randn{ 3000, 3000 } X = X + X:t() began() \z
    for _ = 1, 100 do X:eigvals() end",
  eigenvalues = "local X = sc.randn{ 2500, 2500 } began() X:eigvals()",
  components = "local X = sc.randn{ 4000, 2500 } began() for _ = 1, 100 do \z
    sc.pipeline{ sc.pca{ k = 5 } }:fit(X) end",
  gram = "local X = sc.randn{ 9000, 300 } began() for _ = 1, 100 do \z
    sc.kernel.gaussian{ width = 1 }:gram(X, X) end",
  -- one block of rows, whose features take seconds and whose products longer than the limit: the
  -- signal comes while these are made
  normal_equations = "sc.threads(1) local X = sc.randn{ 16000, 10 } local y = X * sc.ones(10) \z
    began(5) sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), \z
    phi = sc.nonlinearity.fourier(), T = 8000 }, \z
    sc.solver.ridge{ lambda = sc.choose{ 1, 2 } }, block = 16000 }:search( \z
    sc.dataset{ X = X, y = y }, { folds = 2 })",
  digest = "began() require 'scullery.core'.sha256('/dev/zero')",
  permutation = "began() for _ = 1, 100 do require 'scullery.core'.permutation(20000000, 1) end",
  ceiling = "began() require 'scullery.core'.ceiling('gemm', 'float64', 6000)",
}

-- What one thread does, and what LAPACK does, where races are looked for.
if support.looks_for_races then
  for _, name in ipairs{ "symmetric_eigenvalues", "eigenvalues", "components", "digest",
    "permutation", "ceiling" } do
    calls[name] = nil
  end
end

TestInterrupt = {}

for name, call in pairs(calls) do
  TestInterrupt["test_" .. name] = function()
    local script = support.write(nil, [[
local function began(wait)
  os.execute(("(sleep %g; kill -INT $PPID) >/dev/null 2>&1 &"):format(wait or 0.3))
end
]] .. call)
    local status, _, err = support.shell(("timeout 180 prlimit --as=%s %s %s"):format(
      (os.getenv "SCULLERY_SANITIZE" or "") == "" and "6000000000" or "unlimited",
      support.quote(support.binary), script))
    os.remove(script)
    lu.assertEquals({ name, status }, { name, 1 }, err)
    lu.assertStrContains(err, "interrupted!")
  end
end

-- Wherever in Lua the press comes: no protected call within takes it for an error of its own.
local function count_swallowed(f)
  local swallowed, raised = 0, 0
  for count = 200, 40000, 331 do
    local came = false
    debug.sethook(function()
      debug.sethook()
      came = true
      error("interrupted!", 0)
    end, "", count)
    local ok = pcall(f)
    debug.sethook()
    if came then raised = raised + 1 end
    if came and ok then swallowed = swallowed + 1 end
  end
  lu.assertTrue(raised > 10)
  return swallowed
end

function TestInterrupt:test_help_that_searches_its_topics()
  local help = require "scullery.help"
  lu.assertEquals(count_swallowed(function() help.text(("y"):rep(200)) end), 0)
end

os.exit(lu.LuaUnit.run())
