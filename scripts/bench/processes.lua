-- Fits by 1, 2 and 4 processes of one thread each, beside a model of their time
--
--   build/scullery scripts/bench/processes.lua [--rows 60000] [--rounds 3]
--
-- Strong: the same rows for any number of processes; weak: rows in proportion to it. Every fit runs
-- in processes of its own, the least of the rounds counts. The model:
--
--   seconds(P) = (b P + a rows)/min(P, cores) + exchanges(P)
--
-- with a and b from one process by rows and rows/2; b is what every process does (the solve).
-- exchanges(P) = bytes/rate, the rate measured by two processes. Prints two tables in Markdown.
local sc = require "scullery"
local args = sc.arguments{ rows = 60000, rounds = 3, child = "" }

local COLUMNS, T = 100, 1000
local solvers = { { "ridge", "float32" }, { "ridge", "int16" }, { "cg", "float32" },
  { "logistic", "float32" } }

-- In a child: one fit; prints its seconds, and bytes and seconds of the exchanges.
local function fit(solver, dtype, rows)
  local X = sc.randn{ rows, COLUMNS, seed = 1 }
  local y = X:column(1):map(function(v) return v > 0 and 1 or -1 end)
  local made = { ridge = sc.solver.ridge{ lambda = 1e-6 },
    cg = sc.solver.cg{ lambda = 1e-6, preconditioner = "none", max_iterations = 10,
      tolerance = 1e-14 },
    logistic = sc.solver.logistic{ lambda = 1e-6, max_iterations = 10 } }
  local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.1 }, T = T, seed = 1,
    phi = sc.nonlinearity.fourier(), dtype = dtype }, made[solver] }
  local before, waited = sc.processes.exchanged()
  local began = sc.clock()
  p:fit(sc.dataset{ X = X, y = y, task = solver == "logistic" and "classification"
    or "regression" })
  local seconds = sc.clock() - began
  local bytes, all = sc.processes.exchanged()
  print(seconds, bytes - before, all - waited)
end

if args.child ~= "" then
  local solver, dtype, rows = args.child:match "^(%w+) (%w+) (%d+)$"
  fit(solver, dtype, math.tointeger(rows))
  return
end

-- The least seconds of the rounds; bytes and seconds of the exchanges of that round.
local function measure(processes, case, rows)
  local best
  for _ = 1, args.rounds do
    local command = "SCULLERY_THREADS=1 '%s' --processes %d '%s' --child '%s %s %d' 2>/dev/null"
    local pipe = assert(io.popen(command:format(arg[-1], processes, arg[0], case[1], case[2],
      rows)))
    local seconds, bytes, waited = pipe:read("n", "n", "n")
    assert(pipe:close(), "a fit failed")
    if not best or seconds < best.seconds then
      best = { seconds = seconds, bytes = bytes, waited = waited }
    end
  end
  return best
end

local pipe = assert(io.popen "nproc")
local cores = pipe:read "n"
pipe:close()

local function row(case, kind, rows, processes, found, expected)
  print(("| %s, %s | %s | %d | %d | %.2f | %.2f | %+.0f %% | %.1f | %.2f |"):format(case[1],
    case[2], kind, rows, processes, found.seconds, expected,
    (expected / found.seconds - 1) * 100, found.bytes / 1e6, found.waited))
end

print("| solver, features | | rows | processes | seconds | model | model's error | MB exchanged | \z
  seconds of it |")
print "|---|---|---|---|---|---|---|---|---|"
for _, case in ipairs(solvers) do
  local n = args.rows
  local one, half = measure(1, case, n), measure(1, case, n // 2)
  local a = (one.seconds - half.seconds) / (n - n // 2)
  local b = math.max(one.seconds - a * n, 0)
  row(case, "strong", n, 1, one, one.seconds)
  local rate
  for _, kind in ipairs{ "strong", "weak" } do
    for _, processes in ipairs{ 2, 4 } do
      local rows = kind == "strong" and n or n // 2 * processes
      local found = measure(processes, case, rows)
      rate = rate or found.bytes / math.max(found.waited, 1e-6)
      row(case, kind, rows, processes, found,
        (b * processes + a * rows) / math.min(processes, cores) + found.bytes / rate)
    end
  end
end
