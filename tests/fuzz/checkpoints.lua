--- SIGKILL while a fit with a checkpoint runs, at random, again and again until the fit ends: the
--- model has the bits of one fit, whatever was cut off, for every kind of solver.
---
---   scullery tests/fuzz/checkpoints.lua [--seed S] [--seconds T] [--kills N]
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;"
  .. (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local support = require "support"

-- kills: stop after so many, before the seconds have passed.
local o = attack.options(arg, { seed = "1", seconds = 60, kills = 1e9 })

-- A fit of about a second, which writes the bits of its decisions.
local script = [[
local sc = require "scullery"
local kind, path, out = ...
local X = sc.randn{ 6000, 8, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + X:column(2) + sc.randn{ 6000, 1, seed = 2 } * 0.5
local function classes(k)
  return y:map(function(v) return math.min(k, 1 + math.abs(v * 2) // 1) end)
end
local function features(given)
  given.p, given.seed = sc.sampler.gaussian{ sigma = 0.4 }, 1
  given.phi, given.T = given.phi or sc.nonlinearity.fourier(), given.T or 400
  return sc.features(given)
end
local s = sc.solver
local kinds = {
  ridge = { { features{ T = 900 }, s.ridge{ lambda = 1e-6 } } },
  int16 = { { features{ T = 900, dtype = "int16" }, s.ridge{ lambda = 1e-6 } } },
  lasso = { { features{ T = 700 }, s.lasso{ lambda = 1e-3 } } },
  box = { { features{}, s.box{ C = 0.1, loss = "hinge" } }, 2 },
  cg = { { features{}, s.cg{ lambda = 1e-8, preconditioner = "none" } } },
  hinge = { { features{}, s.hinge{ lambda = 1e-5 } }, 2 },
  huber = { { features{}, s.huber{ lambda = 1e-5 } } },
  logistic = { { features{}, s.logistic{ lambda = 1e-6 } }, 3 },
  sgd = { { features{}, s.logistic{ lambda = 1e-4, method = "sgd", holdout = 0.2 } }, 3 },
  trimmed = { { features{}, s.trimmed{ lambda = 1e-4 } } },
  sfgd = { { features{ K = sc.kernel.gaussian{ width = 4 } }, s.sfgd{ lambda = 1e-2 } }, 2 },
  optimal_stepsize = { { features{ K = sc.kernel.gaussian{ width = 4 } },
    s.optimal_stepsize{ lambda = 1e-2 } }, 2 },
  adaboost = { { s.adaboost{ stumps = 1500 } }, 3 },
  svm = { { s.svm{ C = 1 } }, 4 },
  boosting = { { features{}, s.boosting{ solver = s.ridge{ lambda = 1e-2 }, rounds = 12 } } },
  erm = { { features{}, s.erm{ lambda = 1e-4, loss = sc.loss.squared_hinge{} } }, 3 },
  quantile = { { features{ T = 100 }, s.quantile{ lambda = 1e-3, tau = { 0.2, 0.8 } } } },
  kernel_ridge = { { s.kernel_ridge{ lambda = 1e-4 } } },
  bits = { { features{ phi = sc.nonlinearity.sign(), T = 2000 },
    s.cg{ lambda = 1e-6, preconditioner = "none" } } },
  chosen = { { sc.standardize(), sc.features{ T = 200, seed = 1 }, s.ridge{} } },
}
local made = kinds[kind]
local ds = made[2] and sc.dataset{ X = X, y = classes(made[2]), task = "classification" }
  or sc.dataset{ X = X, y = y }
local p = sc.pipeline(made[1])
p:fit(ds, path ~= "none" and { checkpoint = path, every = 0 } or nil)
local Z, file = p:decision(sc.randn{ 50, 8, seed = 7 }), assert(io.open(out, "w"))
for i = 1, 50 do for j = 1, Z:cols() do file:write(("%a\n"):format(Z:get(i, j))) end end
file:close()
]]

local kinds = { "ridge", "int16", "lasso", "box", "cg", "hinge", "huber", "logistic", "sgd",
  "trimmed", "sfgd", "optimal_stepsize", "adaboost", "svm", "boosting", "erm", "quantile",
  "kernel_ridge", "bits", "chosen" }

local folder = attack.folder()
support.write(folder .. "script.lua", script)
local clock = require("scullery.core").now

-- Runs the script with a limit; its status, what it said, and the seconds that it took.
local function run(kind, path, seconds)
  local began = clock()
  local status, _, said = attack.scullery{ folder = folder, seconds = seconds,
    arguments = ("script.lua %s %s %s.out"):format(kind, path, kind) }
  return status, said, clock() - began
end

local random, kills, fits, lost, whole_seconds = attack.random(attack.seed(o.seed)), 0, 0, 0, 0
local expected, began = {}, os.time()
while os.difftime(os.time(), began) < o.seconds and kills < o.kills do
  local kind = kinds[random(#kinds)]
  if not expected[kind] then
    local status, said, took = run(kind, "none", 300)
    if status ~= 0 then attack.finding("%s: %s", kind, said) break end
    expected[kind] = { bits = support.read(folder .. kind .. ".out"), seconds = took }
  end
  local one, all, runs = expected[kind], 0, 0
  local status, said
  os.remove(folder .. kind .. ".out")
  repeat
    -- the 30th run is let go: limits that are always too short would never end
    runs = runs + 1
    local limit = runs == 30 and 300 or 0.1 + one.seconds * random(1000) / 1000
    local took
    status, said, took = run(kind, kind .. ".checkpoint", limit)
    all = all + took
    if status == 137 then kills = kills + 1 end
    -- On a busy machine the process before is killed, and has not ended yet.
    local early = status == 1 and said:find("is being written by another process", 1, true)
  until status ~= 137 and not early
  if status ~= 0 then attack.finding("%s: status %d: %s", kind, status, said)
  elseif support.read(folder .. kind .. ".out") ~= one.bits then
    attack.finding("%s: other bits than those of one fit", kind)
  end
  fits, lost, whole_seconds = fits + 1, lost + all - one.seconds, whole_seconds + one.seconds
  for _, ending in ipairs{ "", ".sums", ".passes", ".state" } do
    os.remove(folder .. kind .. ".checkpoint" .. ending)
  end
end
attack.remove(folder)
print(("%d kills of %d fits, which took %.0f s alone and %.0f s more with kills (starts of \z
  processes included); %d findings"):format(kills, fits, whole_seconds, lost, attack.found))
os.exit(attack.found == 0)
