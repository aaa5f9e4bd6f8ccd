-- Searches with a checkpoint that are killed at many places: the table and the chosen model are
-- those of one search, with the same bits.
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")

local quote = support.quote

-- A script that searches, kills itself at report number arg[2] (0: never), and writes what it found
-- to arg[3]. The best number of parameters is not the largest, so that the last fit needs sums that
-- come from those of a larger one.
local script = [[
local sc = require "scullery"
local path, last, out, dtype, kind = arg[1], tonumber(arg[2]), arg[3], arg[4], arg[5]
local n, reports = 1500, 0
local X = sc.randn{ n, 4, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + X:column(2) + sc.randn{ n, 1, seed = 3 } * 0.5
local ds = sc.dataset{ X = X, y = y }
local lambdas = sc.choose{ 1e-6, 1e-4 }
local solver = kind == "solvers" and sc.choose{ sc.solver.ridge{ lambda = lambdas },
  sc.solver.cg{ lambda = lambdas } } or sc.solver.ridge{ lambda = lambdas }
local p = sc.pipeline{ sc.standardize(), sc.features{ T = sc.choose{ 60, 300, 30 }, seed = 1,
  p = sc.sampler.gaussian{ gamma = sc.choose{ 0.2, 0.7 } }, phi = sc.nonlinearity.fourier(),
  dtype = dtype }, solver }
local o = { gcv = { folds = "gcv" }, holdout = { holdout = 0.3 } }
o = o[kind] or { folds = 4 }
if path ~= "" then o.checkpoint, o.every = path, 0 end
o.progress = function()
  reports = reports + 1
  if reports == last then os.execute("kill -9 $PPID") end
end
local best = p:search(ds, o)
local file = assert(io.open(out, "w"))
file:write(tostring(best.table), "\n", tostring(best.choice), "\n", reports, "\n")
local Z = best:predict(sc.randn{ 20, 4, seed = 7 })
for i = 1, 20 do file:write(("%a\n"):format(Z:get(i, 1))) end
file:close()
]]

-- The file that a run of the script wrote without its number of reports, and that number; nil if it
-- was killed. On one thread: reports of others are not counted, which differ from run to run.
local function run(folder, path, last, dtype, kind)
  local out = folder .. "/out"
  os.remove(out)
  local line = ("SCULLERY_THREADS=1 %s %s %s %d %s %s %s"):format(quote(support.binary),
    quote(folder .. "/s.lua"), quote(path), last, quote(out), dtype, kind)
  local status, _, said = support.shell(line)
  local file = io.open(out, "rb")
  if not file then
    lu.assertTrue(status ~= 0 and not said:find "scullery:", said)
    return nil
  end
  file:close()
  local text = support.read(out)
  local before, reports, after = text:match "^(.*\n)(%d+)\n(.*)$"
  return before .. after, tonumber(reports)
end

local function check(dtype, kind, kills)
  kills = support.sanitized and 1 or kills
  support.in_folder(function(folder)
    support.write(folder .. "/s.lua", script)
    local whole, reports = run(folder, "", 0, dtype, kind)
    -- each kill a little further, so that every part of the work is cut at some place
    for k = 1, kills do
      lu.assertNil(run(folder, folder .. "/c" .. k, 1 + reports * k // (kills + 2), dtype, kind))
      lu.assertEquals(run(folder, folder .. "/c" .. k, 0, dtype, kind), whole,
        ("%s, %s, killed at %d of %d"):format(dtype, kind, k, kills))
    end
    -- one search that is killed again and again
    for _ = 1, kills do lu.assertNil(run(folder, folder .. "/c", 4, dtype, kind)) end
    lu.assertEquals(run(folder, folder .. "/c", 0, dtype, kind), whole)
    -- finished: nothing is done again but the last fit
    local again, few = run(folder, folder .. "/c", 0, dtype, kind)
    lu.assertEquals(again, whole)
    lu.assertTrue(few < reports / 2)
  end)
end

function TestFoldsOfFloats() check("float64", "solvers", 6) end
function TestFoldsOfWholeNumbers() check("int16", "ridge", 4) end
function TestEstimates() check("float64", "gcv", 3) end
function TestHoldOut() check("float32", "holdout", 3) end

function TestOptionsGoTogether()
  local sc = require "scullery"
  local ds = sc.data.load("wdbc")
  local p = sc.pipeline{ sc.features{ T = 5 }, sc.solver.ridge{ lambda = sc.choose{ 1, 2 } } }
  local function refused(words, given) support.fails({ words }, p.search, p, ds, given) end
  refused("pipeline:search: option 'restart' goes with checkpoint = path", { restart = true })
  refused("option 'checkpoint' got 3; it takes", { checkpoint = 3 })
  local path = support.write(nil, "a,b\n1,2")
  refused("there is a file of that name that is not a checkpoint",
    { checkpoint = path, restart = true })
  lu.assertEquals(support.read(path), "a,b\n1,2")
  os.remove(path)
end

os.exit(lu.LuaUnit.run())
