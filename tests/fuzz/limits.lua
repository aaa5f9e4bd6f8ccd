--- Limits of the address space, from 50 MB to 2 GB, over small and moderate work: each run is done,
--- or ends with status 1 and a sentence. None hangs.
---
---   scullery tests/fuzz/limits.lua [--seed S] [--seconds T]
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;"
  .. (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local support = require "support"

local o = attack.options(arg, { seed = "1", seconds = 60 })

local ds = "local ds = sc.dataset{ X = sc.randn{ 5000, 20, seed = 1 }, y = sc.ones(5000, 1) } "
local stages = "sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(), \z
T = %d, seed = 1 }, sc.solver.%s"
local work = {
  { "print", "-e 'print(1)'" },
  { "small fit", "-e " .. support.quote(ds .. "sc.pipeline{ sc.solver.ridge() }:fit(ds)") },
  { "fit", "-e " .. support.quote(ds .. "sc.pipeline{ " .. stages:format(1000, "ridge()")
    .. " }:fit(ds)") },
  { "iterative fit", "-e " .. support.quote(ds .. "sc.pipeline{ " .. stages:format(500, "cg()")
    .. " }:fit(ds)") },
  { "search", "-e " .. support.quote(ds .. "sc.pipeline{ " .. stages:format(300,
    "ridge{ lambda = sc.choose{ 1e-3, 1 } }") .. " }:search(ds, { folds = 3 })") },
  { "read", "-e 'sc.data.csv(\"rows.csv\", { quiet = true })'" },
  { "matrices", "-e 'local X = sc.randn{ 2000, 2000, seed = 1 } print((X * X):sum())'" },
  { "all", support.quote(attack.source .. "/tests/fuzz/small_work.lua") },
  { "predict", "predict model rows.csv -o said.csv" },
}

local finding = attack.finding

local folder = attack.folder()
local rows = { "a,b,c\n" }
for i = 1, 20000 do rows[#rows + 1] = ("%d,%d,%d\n"):format(i % 7, i, i % 11) end
support.write(folder .. "rows.csv", table.concat(rows))
assert(attack.scullery{ folder = folder, seconds = 60, arguments = "-e " .. support.quote(
  "sc.pipeline{ sc.standardize(), " .. stages:format(100, "ridge()") .. " }:fit(sc.dataset{ \z
X = sc.randn{ 100, 3, seed = 1 }, y = sc.ones(100, 1) }):save('model')") } == 0)

local random, done, refused, tried = attack.random(attack.seed(o.seed)), 0, 0, 0
local began = os.time()
while os.difftime(os.time(), began) < o.seconds do
  local name, arguments = table.unpack(work[random(#work)])
  local bytes = math.tointeger(5e7 * 40 ^ (random(1000) / 1000) // 1)
  local status, _, errors = attack.scullery{ folder = folder, arguments = arguments,
    memory = bytes, seconds = 30 }
  local where = ("%s with %d bytes"):format(name, bytes)
  tried = tried + 1
  if status == 0 then
    done = done + 1
  elseif status == 137 then
    finding("%s: it hangs\n%s", where, errors)
  elseif attack.fault(status, errors) then
    finding("%s: %s\n%s", where, attack.fault(status, errors), errors)
  elseif errors == "" or status ~= 1 and status ~= 127 then -- 127: the loader's own sentence
    finding("%s: status %d: %s", where, status, errors)
  else
    refused = refused + 1
  end
end
attack.remove(folder)
print(("%d limits: %d runs were done, %d ended with a sentence, %d findings"):format(tried, done,
  refused, attack.found))
os.exit(attack.found == 0)
