--- Linear models on sparse rows beside LIBLINEAR, both on one thread, to the same objective.
---
---     SCULLERY_THREADS=1 scullery scripts/bench/linear.lua [small | large | FILE LAMBDA]
---
--- small (the default): 50,000 x 20,000 rows like those of RCV1, 75 numbers each; large: 700,000 x
--- 47,000; or rows of a LIBSVM file of classes +1 and -1. Needs a C compiler and LIBLINEAR's header
--- (Debian: liblinear-dev). For each of LIBLINEAR's types, without a constant, a line says its
--- objective and seconds of the processor for each of its tolerances, and then those of the first
--- tolerance of ours whose objective is at most 1e-6 of it above. The seconds of ours are those of
--- p:fit.
local sc = require "scullery"

local folder = os.tmpname()
os.remove(folder)
assert(os.execute(("mkdir '%s'"):format(folder)))
local program, source = folder .. "/linear", arg[0]:gsub("%.lua$", ".c")
assert(os.execute(("cc -O3 -o '%s' '%s' -llinear -lm"):format(program, source)),
  "it cannot be compiled")

local sizes = { small = { "50000 20000 75", { 1e-4, 1e-6 } },
  large = { "700000 47000 75", { 1e-6 } } }
local wanted = arg[1] or "small"
local file, lambdas = wanted, { tonumber(arg[2] or 1e-6) }
if sizes[wanted] then
  file, lambdas = folder .. "/rows.svm", sizes[wanted][2]
  assert(os.execute(("'%s' make %s '%s'"):format(program, sizes[wanted][1], file)))
end
local ds = sc.data.libsvm(file, { sparse = true, task = "classification" })

local function solver_of(type, lambda, tolerance)
  local o = { lambda = lambda, tolerance = tolerance, intercept = false, max_iterations = 100000 }
  if type == 3 then return sc.solver.hinge(o) end
  if type == 1 then o.loss = "squared_hinge" return sc.solver.hinge(o) end
  if type ~= 6 then return sc.solver.logistic(o) end
  o.loss, o.penalty = sc.loss.logistic(), "l1"
  return sc.solver.erm(o)
end

local function objective(type, lambda, m)
  local f, y, a, sum, norm = m:decision(ds), ds:targets(), m:weights(), 0, 0
  for i = 1, #ds do
    local margin = y:get(i, 1) * f:get(i, 1)
    local z = math.max(0, 1 - margin)
    sum = sum + (type == 3 and z or type == 1 and z * z / 2
      or math.log(1 + math.exp(-math.abs(margin))) + math.max(0, -margin))
  end
  for j = 1, a:rows() do
    norm = norm + (type == 6 and math.abs(a:get(j, 1)) or a:get(j, 1) ^ 2 / 2)
  end
  return sum / #ds + lambda * norm
end

-- The seconds and objectives of fits to smaller and smaller tolerances, made when asked for.
local function ours(type, lambda)
  local fits = {}
  return function(most)
    for k = 1, 12 do
      if not fits[k] then
        local tolerance = 10 ^ -(k / 2 + 0.5)
        local p = sc.pipeline{ solver_of(type, lambda, tolerance) }
        local start = os.clock()
        p:fit(ds)
        fits[k] = { seconds = os.clock() - start, objective = objective(type, lambda, p),
          tolerance = tolerance }
      end
      if fits[k].objective <= most then return fits[k] end
    end
  end
end

local names = { [3] = "hinge, -s 3", [1] = "squared hinge, -s 1", [7] = "logistic, -s 7",
  [0] = "logistic, -s 0", [6] = "logistic with l1, -s 6" }
print(("%s: %d x %d"):format(wanted, ds.X:rows(), ds.X:cols()))
print("LIBLINEAR                 lambda   -e       seconds  objective       ours: seconds  ratio")
for _, lambda in ipairs(lambdas) do
  for _, type in ipairs{ 3, 1, 7, 0, 6 } do
    local share = type == 6 and lambda * 10 or lambda
    local pipe = io.popen(("'%s' fit '%s' %g %d .1 .01 .001"):format(program, file, share, type))
    local fit = ours(type, share)
    for line in pipe:lines() do
      local eps, seconds, value = line:match("(%S+) (%S+) (%S+)")
      local one = fit(tonumber(value) * (1 + 1e-6))
      print(("%-24s  %-7g  %-6s  %8.2f  %.10f  %8.2f  %10s"):format(names[type], share, eps,
        seconds, value, one and one.seconds or 0 / 0,
        one and ("%.2f"):format(one.seconds / seconds) or "not reached"))
    end
    pipe:close()
  end
end
os.execute(("rm -r '%s'"):format(folder))
