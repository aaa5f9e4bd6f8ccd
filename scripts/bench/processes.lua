-- Fits by 1, 2 and 4 processes of one thread each, beside a model of their time
--
--   build/scullery scripts/bench/processes.lua [--rows 60000] [--rounds 3] [--solvers ridge,cg]
--     [--processor 1] [--network 1.25e9] [--latency 5e-5]
--
-- Strong: the same rows for any number of processes; weak: rows in proportion to it. Every fit runs
-- in processes of its own, the least of the rounds counts. The model:
--
--   seconds(P) = (b P + a rows)/min(P, cores) + exchanges(P)
--
-- with a and b from one process by rows and rows/2; b is what every process does (the solve).
-- exchanges(P) = bytes/rate, the rate measured by two processes. --processor 1: processor seconds
-- of process 0 in place of seconds, for a machine that has other work, or fewer cores than
-- processes; the model is then b + a rows/P, without the copying of the exchanges. For machines of
-- one such process each, with a network of so many bytes a second and so many seconds a message:
--
--   seconds(P) = b + a rows/P + 2 bytes (1 - 1/P)/network + exchanges latency log2 P
--
-- Prints tables in Markdown: what is measured, and the model of up to 1000 machines.
local sc = require "scullery"
local args = sc.arguments{ rows = 60000, rounds = 3, child = "", solvers = "ridge,cg,logistic",
  processor = 0, network = 1.25e9, latency = 5e-5 }

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
  local before, waited, times = sc.processes.exchanged()
  local clock = args.processor == 1 and os.clock or sc.clock
  local began = clock()
  p:fit(sc.dataset{ X = X, y = y, task = solver == "logistic" and "classification"
    or "regression" })
  local seconds = clock() - began
  local bytes, all, exchanges = sc.processes.exchanged()
  print(seconds, bytes - before, all - waited, exchanges - times)
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
    local command = "SCULLERY_THREADS=1 '%s' --processes %d '%s' --child '%s %s %d' \z
      --processor %d 2>/dev/null"
    local pipe = assert(io.popen(command:format(arg[-1], processes, arg[0], case[1], case[2],
      rows, args.processor)))
    local seconds, bytes, waited, exchanges = pipe:read("n", "n", "n", "n")
    assert(pipe:close(), "a fit failed")
    if not best or seconds < best.seconds then
      best = { seconds = seconds, bytes = bytes, waited = waited, exchanges = exchanges }
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
local constants = {}
for _, case in ipairs(solvers) do
  if ("," .. args.solvers .. ","):find("," .. case[1] .. ",", 1, true) then
    local n = args.rows
    local one, half = measure(1, case, n), measure(1, case, n // 2)
    local a = (one.seconds - half.seconds) / (n - n // 2)
    local b = math.max(one.seconds - a * n, 0)
    row(case, "strong", n, 1, one, one.seconds)
    local rate, two
    for _, kind in ipairs{ "strong", "weak" } do
      for _, processes in ipairs{ 2, 4 } do
        local rows = kind == "strong" and n or n // 2 * processes
        local found = measure(processes, case, rows)
        rate, two = rate or found.bytes / math.max(found.waited, 1e-6), two or found
        row(case, kind, rows, processes, found, args.processor == 1 and b + a * rows / processes
          or (b * processes + a * rows) / math.min(processes, cores) + found.bytes / rate)
      end
    end
    constants[#constants + 1] = { case = case, a = a, b = b, bytes = two.bytes,
      exchanges = two.exchanges }
  end
end

-- ------------ many machines

local machines = { 1, 2, 4, 16, 64, 256, 1000 }

-- The model's seconds of P machines.
local function modelled(c, rows, P)
  return c.b + c.a * rows / P + 2 * c.bytes * (1 - 1 / P) / args.network
    + c.exchanges * args.latency * math.log(P, 2)
end

print(("\nThe model of machines of one thread, %.3g bytes/s, %.3g s a message:\n"):format(
  args.network, args.latency))
print("| solver, features | a, s/row | b, s | MB | exchanges | rows | "
  .. table.concat(machines, " | ") .. " |")
print("|---|---|---|---|---|---|" .. ("---|"):rep(#machines))
for _, c in ipairs(constants) do
  for _, kind in ipairs{ { "1e9", function() return 1e9 end },
    { "1e6 each", function(P) return 1e6 * P end } } do
    local cells = {}
    for i, P in ipairs(machines) do
      cells[i] = ("%.4g"):format(modelled(c, kind[2](P), P))
    end
    print(("| %s, %s | %.3g | %.3g | %.1f | %d | %s | %s |"):format(c.case[1], c.case[2], c.a,
      c.b, c.bytes / 1e6, c.exchanges, kind[1], table.concat(cells, " | ")))
  end
end
