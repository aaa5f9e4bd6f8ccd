-- How often the bounds of p:bound are exceeded, by simulation.
--
--   scullery scripts/bounds.lua [--draws 200000] [--seed 1]
--
-- First table: Theorem 3.2 of "Uniform approximation of functions with random bases" (Rahimi and
-- Recht 2008), as printed and as corrected: the share of draws of T = 100 parameters for which the
-- error sup |f_hat - f| over the rows |x| <= radius exceeds the value for the level delta. One
-- column, w ~ N(0, 1), f(x) = E sign(w) phi(w x + b) and the f_hat of the proof,
-- (1/T) sum_t sign(w_t) phi(w_t x + b_t). The printed value has sqrt(log(1/delta)) where the proof
-- gives sqrt(2 log(1/delta)), and takes phi(0) = 0. The cosine exceeds it too often: for rows near
-- 0 its error is the mean of 100 signs.
--
-- Second table: bounds on the risk, against the worst model. Labels are fair coins. For each draw
-- of n = 50 rows the largest difference of risk and empirical risk over all models of a norm is
-- computed, and compared with the room that p:bound adds: for the largest norm of a list, fixed
-- before learning (B =, C =); for the worst of all norms of the list, which a learner could choose;
-- and the same with the value that the paper prints. With the loss max(0, 1 - y f) and |f| <= 1
-- every model has the risk 1, and the difference is linear in the norm; so it is with (1 - y f)^2,
-- where |f| is the same for all rows. "Share of the room": the largest difference of all draws over
-- the room, which tells how far from tight the bounds are.
local sc = require "scullery"

local args = sc.arguments{ draws = 200000, seed = 1 }
if args.draws < 1 then error("--draws takes a number from 1, and got " .. args.draws, 0) end
local levels = { 0.1, 0.05, 0.01 }
local sqrt, abs, max = math.sqrt, math.abs, math.max
math.randomseed(args.seed)

-- A standard normal number, by polar coordinates.
local function normal()
  return sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random())
end

-- A share of the draws with its binomial standard error.
local function share(count)
  local p = count / args.draws
  return ("%.5f +- %.5f"):format(p, sqrt(max(p * (1 - p), 1 / args.draws) / args.draws))
end

-- ------------ random bases

local T, POINTS = 100, 5
local cosine = sc.nonlinearity.define{ name = "cosine", bound = 1, lipschitz = 1, eval = math.cos }

local bases = {
  { "cos(w x)", cosine(), math.cos, 1, 0.01 },
  { "cos(w x)", cosine(), math.cos, 1, 0.5 },
  { "sqrt2 cos(w x + b)", sc.nonlinearity.fourier(), math.cos, 1, 0.01, true },
  { "logistic", sc.nonlinearity.logistic(), function(z)
    return 1 / (1 + math.exp(-z))
  end, 1, 0.01 },
  { "sin(w x)", sc.nonlinearity.sin(), math.sin, 1, 0.01 },
  { "sin(w x)", sc.nonlinearity.sin(), math.sin, 1, 2 },
}

-- f at the points by a sum over 20,001 values of w; with a phase it is 0.
local function target(phi, points, phase)
  local f = {}
  for i, x in ipairs(points) do
    local sum, mass = 0, 0
    for k = -10000, 10000 do
      local w = 8 * k / 10000
      local density = math.exp(-w * w / 2)
      sum, mass = sum + density * (w > 0 and 1 or w < 0 and -1 or 0) * phi(w * x), mass + density
    end
    f[i] = phase and 0 or sum / mass
  end
  return f
end

-- sup |f_hat - f| over the points, for one draw of parameters.
local function uniform_error(phi, points, f, phase)
  local sums = {}
  for i = 1, #points do sums[i] = 0 end
  for _ = 1, T do
    local w, b = normal(), phase and math.pi * (2 * math.random() - 1) or 0
    local sign = w > 0 and 1 or -1
    for i, x in ipairs(points) do sums[i] = sums[i] + sign * phi(w * x + b) end
  end
  local largest = 0
  for i = 1, #points do largest = max(largest, abs(sums[i] / T - f[i])) end
  return largest
end

-- The bounds of p:bound for functions with |alpha| sup |phi| = C, for each level.
local function values_of(phi, C, radius)
  local X = sc.matrix{ { radius }, { -radius } }
  local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = phi, T = T },
    sc.solver.ridge{ lambda = 1e6, intercept = false } }
    :fit(sc.dataset{ X = X, y = { 1, -1 }, classes = { -1, 1 } })
  local found = {}
  for i, delta in ipairs(levels) do
    found[i] = p:bound{ theorem = "bases", delta = delta, C = C, radius = radius }
  end
  return found
end

print(("Theorem 3.2 of random bases: shares of %d draws above the value for the level"):format(
  args.draws))
print(("%-20s %6s %5s %20s %20s"):format("phi", "radius", "level", "printed", "corrected"))
for _, case in ipairs(bases) do
  local name, part, phi, bound, radius, phase = table.unpack(case)
  local points = {}
  for i = 1, POINTS do points[i] = radius * (2 * (i - 1) / (POINTS - 1) - 1) end
  local f, values = target(phi, points, phase), values_of(part, bound, radius)
  local above, printed = { 0, 0, 0 }, { 0, 0, 0 }
  for _ = 1, args.draws do
    local error = uniform_error(phi, points, f, phase)
    for i, v in ipairs(values) do
      if error > v.total then above[i] = above[i] + 1 end
      if error > v.total_paper then printed[i] = printed[i] + 1 end
    end
  end
  for i, delta in ipairs(levels) do
    print(("%-20s %6g %5g %20s %20s"):format(name, radius, delta, share(printed[i]),
      share(above[i])))
  end
end

-- ------------ the risk

local n, ROWS = 50, { -1, -0.5, 0.2, 0.7, 1 } -- each row of the data is one of these, at random

-- c_a = (1/n) sum of the labels of the rows that are ROWS[a].
local function drawn(rows)
  local c = {}
  for a = 1, #rows do c[a] = 0 end
  for _ = 1, n do
    local a = math.random(#rows)
    c[a] = c[a] + (math.random(2) == 1 and 1 or -1) / n
  end
  return c
end

-- n rows of these, with labels, to ask p:bound with.
local function data_of(rows)
  local X, y = {}, {}
  for i = 1, n do X[i], y[i] = { rows[(i - 1) % #rows + 1] }, i % 4 < 2 and 1 or -1 end
  return sc.dataset{ X = sc.matrix(X), y = y, classes = { -1, 1 } }
end

local function transformed(features)
  local X = {}
  for a, x in ipairs(ROWS) do X[a] = { x } end
  return features:fit(sc.matrix(X)):transform(sc.matrix(X))
end

-- Cases: features; slope(c): the largest mean of y f over models of norm 1, for a draw c; name: the
-- option for a norm that is fixed, norm: the field with the model's own.

-- |alpha_t| <= 1/T: (1/T) sum_t |sum_a c_a phi(w_t, x_a)|.
local function of_boxes(features)
  local Phi = transformed(features)
  local K = Phi:cols()
  local phi = {}
  for t = 1, K do
    phi[t] = {}
    for a = 1, #ROWS do phi[t][a] = Phi:get(a, t) * sqrt(K) end
  end
  return function(c)
    local sum = 0
    for t = 1, K do
      local inner, row = 0, phi[t]
      for a = 1, #c do inner = inner + c[a] * row[a] end
      sum = sum + abs(inner)
    end
    return sum / K
  end
end

local sinks = { theorem = "rks", norm = "least", name = "C",
  features = sc.features{ p = sc.sampler.gaussian{ sigma = 2 }, phi = sc.nonlinearity.sin(), T = 10,
    seed = 3 } }
sinks.slope = of_boxes(sinks.features)
local pools = { theorem = "maxout", norm = "least", name = "C", radius = 1,
  features = sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.maxout{ q = 3 }, T = 10, seed = 4 } }
pools.slope = of_boxes(pools.features)

-- ||alpha|| <= 1: sqrt(c' k c), k_ab = <psi(x_a), psi(x_b)>: for w ~ N(0, 1), K Gaussian of width 1
-- and phi = sign, (u, w) is normal under K p p with correlation 1/2, and psi(x) has the sign of x:
-- k_ab = sign(x_a x_b) theta^2.
local inst = sc.instantiation{ K = sc.kernel.gaussian{ width = 1 },
  p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.sign() }
local theta = inst:theta(1)
local weighting = { norm = "norm", name = "B", features = inst:features{ T = 10, seed = 5 },
  theorem = "rkhsw10", slope = function(c)
    local sum = 0
    for a, x in ipairs(ROWS) do sum = sum + c[a] * (x > 0 and 1 or -1) end
    return theta * abs(sum)
  end }

local function with(case, title, solver, factor)
  local copy = { title = title, solver = solver, factor = factor }
  for name, value in pairs(case) do copy[name] = value end
  return copy
end
local function hinge(lambda) return sc.solver.hinge{ lambda = lambda, intercept = false } end
local function ridge(lambda) return sc.solver.ridge{ lambda = lambda, penalty = "rkhs" } end
local cases = {
  with(sinks, "random kitchen sinks, hinge", hinge, 1),
  with(weighting, "RKHS weightings, hinge", hinge, 1),
  with(weighting, "RKHS weightings, square", ridge, 2),
  with(pools, "maxout features, hinge", hinge, 1),
}

print(("\nBounds on the risk: shares of %d draws of %d rows above the bound, and share of the room")
  :format(args.draws, n))
print(("%-28s %5s %26s %26s %26s"):format("theorem, loss", "level", "norm given", "any norm",
  "printed, any norm"))

-- For each level a list of {norm, room given, room for any norm, room as printed} for models of
-- different norms. Of the hinge loss only those with |f| <= 1.
local function rooms_of(case)
  local found = { {}, {}, {} }
  for step = -12, 12 do
    local p = sc.pipeline{ case.features, case.solver(2.0 ^ -step) }:fit(data_of(ROWS))
    for i, delta in ipairs(levels) do
      local o = { theorem = case.theorem, delta = delta, radius = case.radius }
      local b = p:bound(o)
      local own = b[case.norm]
      o[case.name] = own
      local given = p:bound(o)
      if own > 0 and (case.factor == 2 or given.M <= 2) then
        table.insert(found[i], { own, given.room, b.room,
          case.theorem == "rkhsw10" and given.room or b.estimation })
      end
    end
  end
  return found
end

for _, case in ipairs(cases) do
  local rooms = rooms_of(case)
  local count, most = {}, {}
  for i = 1, #levels do count[i], most[i] = { 0, 0, 0 }, { 0, 0, 0 } end
  for _ = 1, args.draws do
    local slope = case.factor * case.slope(drawn(ROWS))
    for i = 1, #levels do
      local worst = { 0, 0, 0 }
      for k, r in ipairs(rooms[i]) do
        local gap = slope * r[1]
        if k == #rooms[i] then worst[1] = gap / r[2] end -- the largest norm, known before
        worst[2] = max(worst[2], gap / r[3])
        if r[4] then worst[3] = max(worst[3], gap / r[4]) end
      end
      for j = 1, 3 do
        if worst[j] > 1 then count[i][j] = count[i][j] + 1 end
        most[i][j] = max(most[i][j], worst[j])
      end
    end
  end
  for i, delta in ipairs(levels) do
    local texts = {}
    for j = 1, 3 do
      texts[j] = j == 3 and case.theorem == "maxout" and "-"
        or ("%s, %.2f"):format(share(count[i][j]), most[i][j])
    end
    print(("%-28s %5g %26s %26s %26s"):format(case.title, delta, table.unpack(texts)))
  end
end
