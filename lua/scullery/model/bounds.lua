--- p:bound: upper bounds on the risk of a model from its training rows, each with its terms.
---
--- What is proved. Let R be the empirical Rademacher complexity of a class of functions with
--- |f| <= r, and the loss L-Lipschitz and in [0, M] there. With probability 1 - delta, for all f of
--- the class (Mohri, Rostamizadeh and Talwalkar 2012, Theorem 3.1),
---   risk <= empirical + 2 L E[R] + M sqrt(log(1/delta)/(2n)),
---   risk <= empirical + 2 L R + 3 M sqrt(log(2/delta)/(2n)).
---
--- The class must not depend on the rows. A norm that was fixed before learning (B =, C =) gives
--- one class. The norm of the learnt model depends on the rows; then the bound is made to hold for
--- all norms at once, by `grid` for any loss and by `all_norms` for the squared error.
local core = require "scullery.core"
local options = require "scullery.base.options"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local instantiation = require "scullery.compose.instantiation"

local bounds = {}

local FIRST, STEP = 0.1, 1.1 -- the grid of largest values |f|
local BLOCK = 1024 -- rows of a pass

local rules = options.declare("pipeline:bound", {
  delta = { test = options.is_share, takes = "a number between 0 and 1", default = 0.05 },
  theorem = { choices = { "rkhsw10", "rkhsw11", "rks", "bases", "maxout", "sparse" } },
  radius = { type = "number", above = 0 },
  B = { type = "number", above = 0 },
  C = { type = "number", above = 0 },
})

-- Raises an error unless the bounds apply. f: the model; data: its training rows (nil if they are
-- not available). The bounds are for losses of f(x) alone, with targets in [-1, 1]; classes are
-- coded +-1.
local function check(f, data)
  if f.targets ~= 1 then
    error(("the guarantees are for one target; this model has %d"):format(f.targets), 0)
  end
  if f:constant():abs():max() > 0 then
    error("the guarantees are for models without a constant: give the solver intercept = false \z
      (a constant by sc.add_bias() is allowed)", 0)
  end
  if f.task == "classification" then return end
  if not (data and data.X) then
    error("the guarantees are for targets in [-1, 1], and those of a data set that streams, or of \z
      a model that was loaded, are not known", 0)
  end
  local largest = data:targets():abs():max()
  if largest > 1 then
    error(("the guarantees are for targets in [-1, 1], and the largest here is %g: \z
      divide them"):format(largest), 0)
  end
end

-- The solver's loss for |f| <= reach, and its unweighted mean over the training rows.
local function ingredients(f, data, reach)
  local solver = component.instance(f.solver)
  local known = core.loss(solver, reach)
  if known.squared and f.report.loss and not f.weighted then
    known.mean = f.report.loss
    return known
  end
  if not data then error("the training rows of this model are not in memory", 0) end
  local y = data.X and data:targets()
  if not y then error("the training loss of a data set that streams is not known", 0) end
  known.mean = core.losses(solver, f:scores(dataset.source_of_rows(data)), y):mean()
  return known
end

-- For errors: a kernel as phi has a norm, but no bound applies.
local function section_note(f)
  local section = f.map_info and f.map_info.section
  return section and (" and a nonlinearity; kernel.%s as phi has k itself as K, and its features \z
    are not a mean over random parameters"):format(f.features.inst.phi.name) or ""
end

-- Raises an error unless the features are an RKHS weighting. title: the name of the theorem.
local function need_kernel(f, title)
  if not f:is_weighting() then
    error(title .. " is for features of an instantiation with K" .. section_note(f), 0)
  end
end

-- The value of option `name`, a norm that was fixed before learning; nil without the option. Raises
-- an error if the model's own norm is larger. The margin of 1e-9 is for rounding.
local function before(o, name, own)
  local given = o[name]
  if given and given < own * (1 - 1e-9) then
    error(("option '%s' got %g, and the weights of this model need %g"):format(name, given, own), 0)
  end
  return given
end

-- Balls |f| <= r_j = FIRST STEP^j, j = 0, 1, ..., have the shares delta/((j+1)(j+2)) of delta,
-- which add up to delta: a bound for each ball with its share holds for all balls at once. Returns
-- the smallest r_j that is not below `reach`, and its share.
local function grid(reach, delta)
  local j = math.max(0, math.ceil(math.log(reach / FIRST) / math.log(STEP) - 1e-9))
  return FIRST * STEP ^ j, delta / ((j + 1) * (j + 2))
end

-- For the squared error: with probability 1 - share, for all f of a reach r >= r_0 at once,
--   risk - empirical <= M (4 c/sqrt n + sqrt(log(1/share)/(2n))),  M = (1 + r)^2,
--   c = a + 1/(2 (1 + r_0)),
-- a/sqrt n the Rademacher complexity of the functions of reach 1. McDiarmid for the sup of
-- (risk - empirical)/M over r >= r_0, since each error/M is in [0, 1]. Its mean is at most twice
-- the Rademacher complexity of u^2, u = (y - f)/(1 + r) = (1 - s) y - s g, s = r/(1 + r) >= s_0, g
-- of reach 1, and u^2 is 2-Lipschitz. With b = mean sigma_i y_i and A = sup_g mean sigma_i g(x_i)
-- >= 0, that of u is
--   E sup_s ((1 - s) b + s A) = E A + (1 - s_0) E max(0, b - A) <= a/sqrt n + (1 - s_0) E|b|/2.
local function all_norms(M, r_0, a, share, n)
  return M * (4 * (a + 1 / (2 * (1 + r_0))) / math.sqrt(n) + math.sqrt(
    math.log(1 / share) / (2 * n)))
end

-- What is added to the empirical risk of f: {room, reach = that of the class, by = "given", "grid"
-- or "all norms", share = of delta, loss = ingredients}. reach: that of the given norm, or of the
-- model's own. a/sqrt n: the Rademacher complexity of functions of reach 1. For the squared error
-- the grid has half of delta, and the reaches from 3 and from 10 on have a quarter each.
local function room_of(f, data, o, reach, given, a)
  local l, share, by = ingredients(f, data, reach), o.delta, given and "given" or "grid"
  if not given and l.squared and reach >= 3 then
    return { room = all_norms(l.bound, reach >= 10 and 10 or 3, a, o.delta / 4, f.n),
      reach = reach, by = "all norms", share = o.delta / 4, loss = l }
  end
  if not given then
    reach, share = grid(reach, l.squared and o.delta / 2 or o.delta)
    l = ingredients(f, data, reach)
  end
  return { room = 2 * l.lipschitz * reach * a / math.sqrt(f.n) + l.bound * math.sqrt(
    math.log(1 / share) / (2 * f.n)), reach = reach, by = by, share = share, loss = l }
end

-- By name of a theorem: function(model, training rows, options) returns the fields of the result:
-- total (the bound), its terms, and the constants in it, named as in the paper.
local theorems = {}

-- Dube and Marchand 2023, Theorem 10: risk <= empirical + 2 B rho theta/sqrt n + M
-- sqrt(log(1/delta)/(2n)), for all models of norm at most B.
function theorems.rkhsw10(f, data, o)
  need_kernel(f, "Theorem 10")
  local c, norm = core.map_constants(f.map), f:norm()
  if c.theta == math.huge then error("Theorem 10 needs a bounded nonlinearity", 0) end
  local given = before(o, "B", norm)
  local found = room_of(f, data, o, (given or norm) * c.theta, given, 1)
  local wide, l = room_of(f, data, o, (given or norm) * c.theta_paper, given, 1), found.loss
  return { total = l.mean + found.room, total_paper = l.mean + wide.room, empirical = l.mean,
    room = found.room, B = given or found.reach / c.theta, norm = norm, by = found.by,
    share = found.share, theta = c.theta, theta_paper = c.theta_paper,
    theta_exact = c.theta_exact, kappa = c.kappa, rho = l.lipschitz, M = l.bound }
end

-- The lambda and B of stochastic functional gradient descent; an error for other solvers.
local function descent(f, title)
  local solver = component.instance(f.solver)
  local lambda = component.role_value(f.solver, "regularisation")
  local B = component.role_value(f.solver, "capacity")
  if not (lambda and B) or f.pruned then
    error(title .. " is for models as stochastic functional gradient descent returns them: for a \z
      solver with lambda and B", 0)
  end
  if f.weighted then error(title .. " is for rows of equal weight", 0) end
  if (core.settings(solver).holdout or 0) > 0 then
    error(title .. " is for a solver that holds no rows out: holdout = 0", 0)
  end
  return lambda, B
end

-- Dube and Marchand 2023, Theorem 11, for stochastic functional gradient descent: the excess risk
-- over the best function of norm at most B, in expectation over rows, parameters and batches:
--   2 rho theta B/sqrt n + lambda B^2 + 8 rho^2 theta^2/(lambda n)
--     + (rho kappa + lambda B)^2 (1 + log T)/(2 lambda T).
-- The paper leaves theta^2 out: its proof takes the loss to be rho-Lipschitz in alpha, and it is
-- rho theta-Lipschitz. Only with theta^2 does the bound stay the same when K is multiplied by a
-- number.
function theorems.rkhsw11(f, data)
  local title = "Theorem 11"
  need_kernel(f, title)
  local c, lambda, B = core.map_constants(f.map), descent(f, title)
  local T = f.report.iterations
  if lambda == "auto" then -- by the solver's own rule: its theorem as printed
    lambda = math.sqrt(8 / f.n) * ingredients(f, data, B * c.theta).lipschitz / B
  end
  local function total(theta, stability)
    local l = ingredients(f, data, B * theta)
    local rho = l.lipschitz
    return 2 * rho * theta * B / math.sqrt(f.n) + lambda * B ^ 2 + 8 * (rho * stability) ^ 2 / (
      lambda * f.n) + (rho * c.kappa + lambda * B) ^ 2 * (1 + math.log(T)) / (2 * lambda * T), l
  end
  local exact, l = total(c.theta, c.theta)
  return { total = exact, total_paper = (total(c.theta_paper, 1)), empirical = l.mean, B = B,
    lambda = lambda, T = T, theta = c.theta, theta_paper = c.theta_paper, norm = f:norm(),
    theta_exact = c.theta_exact, kappa = c.kappa, rho = l.lipschitz, M = l.bound,
    best_lambda = math.sqrt(8 / f.n) * l.lipschitz * c.theta / B, expectation = true }
end

-- f = sum_t sum_k alpha_tk phi_k(w_t, .): T times the largest sum_k |alpha_tk| over the parameters.
local function largest_share(f)
  local a, T, largest = f.weights, f.map_info.T, 0
  for t = 1, T do
    local sum = 0
    for row = t, a:rows(), T do sum = sum + math.abs(a:get(row, 1)) end
    largest = math.max(largest, sum)
  end
  return math.sqrt(T) * largest -- features are phi/sqrt T
end

-- Whether a component of the model has an ability.
local function has(part, ability)
  for _, id in ipairs(core.abilities(part)) do if id == ability then return true end end
  return false
end

-- The sampler as it drew the parameters, with widths that came from the data.
local function sampler_of(f)
  return component.instance(f.features.inst.p, {}, f.origin.widths)
end

-- Raises an error unless f = (1/T) sum_t beta_t phi(w_t, x) with one bounded weight a parameter.
local function need_mean(f, title)
  if not f.map or f:has_kernel() then
    error(title .. " is for random features without K" .. section_note(f), 0)
  end
  if f.map_info.entries > 0 then
    error(title .. " is for one weight a parameter, and each cell of a grid has its own", 0)
  end
  if has(sampler_of(f), "scullery.scales/1") then
    error(("%s is for features phi/sqrt(T), and sampler.%s scales them itself"):format(title,
      f.features.inst.p.name), 0)
  end
end

-- Whether the parameters were drawn independently of each other.
local function independent(f)
  local sampler = sampler_of(f)
  local layout = core.layout(sampler, f.map_info.dim, f.map_info.T)
  return layout.block == 1 and not layout.dependent and not core.learns(sampler)
    and not has(sampler, "scullery.pool/1")
end

-- The facts of the nonlinearity and the model's own C. For |phi| <= bound: C absorbs the bound, so
-- that phi counts as bounded by 1.
local function box(f, title)
  need_mean(f, title)
  local facts = core.facts(component.instance(f.features.inst.phi))
  if facts.bound == math.huge then error(title .. " needs a bounded nonlinearity", 0) end
  return largest_share(f) * facts.bound, facts
end

-- Raises an error for a regression.
local function need_classes(f, title)
  if f.task ~= "classification" then
    error(title .. " is for losses of the margin y f, that is for a classification", 0)
  end
end

-- Rahimi and Recht 2008 (weighted sums of random kitchen sinks), for given parameters:
--   risk <= empirical + 2 L C sqrt(k/n) + M sqrt(log(1/delta)/(2n)),
-- for all f with |alpha_t| <= C/T, of k features a parameter. estimation: the paper's equation 13;
-- its deviation takes the loss to vary by L C, where it varies by M. approximation: equation 10.
function theorems.rks(f, data, o)
  local title = "the bound of random kitchen sinks"
  need_classes(f, title)
  local least = box(f, title)
  local given = before(o, "C", least)
  local C, outputs = given or least, core.shape(component.instance(f.features.inst.phi)).fan_out
  local found, printed = room_of(f, data, o, C, given, math.sqrt(outputs)), ingredients(f, data, C)
  local l, L = found.loss, printed.lipschitz
  local estimation = (4 * L * C + 2 * math.abs(printed.at_zero) + L * C * math.sqrt(
    math.log(1 / o.delta) / 2)) / math.sqrt(f.n)
  local approximation = independent(f) and L * C / math.sqrt(f.map_info.T) * (
    1 + math.sqrt(2 * math.log(1 / o.delta))) or nil
  return { total = l.mean + found.room, total_paper = l.mean + estimation, empirical = l.mean,
    room = found.room, estimation = estimation, approximation = approximation, C = found.reach,
    least = least, by = found.by, share = found.share, L = l.lipschitz, M = l.bound,
    T = f.map_info.T }
end

-- The length of the longest row of a matrix: max_i ||x_i||.
local function longest_row(X)
  local longest = 0
  for i = 1, X:rows() do longest = math.max(longest, X:row(i):norm()) end
  return longest
end

-- The rows of X after the model's row stages: what the features see.
local function staged(f, X)
  return #f.stages > 0 and core.transform(core.source(X), f.stages) or X
end

-- The length of the longest row that the features saw, or the given radius.
local function radius_of(f, data, o)
  if o.radius then return o.radius end
  if not (data and data.X) then
    error("the longest row of a data set that streams, or of a model that was loaded, is not \z
      known: give radius =", 0)
  end
  return longest_row(staged(f, data.X))
end

-- The largest |phi(w_t, 0)|: that of phi at 0 where the parameters have no bias.
local function largest_at_zero(f)
  local zero = core.zeros(1, f.map_info.dim)
  return core.transform(core.source(zero), {}, f.map):abs():max() * math.sqrt(f.map_info.T)
end

-- E ||w||^2 of independent parameters, each one row w, and their law; facts: of the nonlinearity,
-- which has to be Lipschitz.
local function second_moment(f, facts, title)
  if not independent(f) or core.shape(component.instance(f.features.inst.phi)).fan_in > 1 then
    error(title .. " is for parameters that are drawn independently, each one row w", 0)
  end
  if facts.lipschitz == math.huge then error(title .. " needs a Lipschitz nonlinearity", 0) end
  local law = core.law(sampler_of(f), f.map_info.dim)
  local size = ({ gaussian = 1, rademacher = 1, uniform = 1 / 3, laplace = 2, spherical = 1 })[
    law and law.family or ""]
  if not size then error(title .. " needs weights with a known finite second moment", 0) end
  if law.degree then return size * law.scale[1] ^ 2, law end -- the same for every in-degree
  local second = 0
  for j = 1, #law.scale do second = second + law.mean[j] ^ 2 + size * law.scale[j] ^ 2 end
  return second, law
end

-- Rahimi and Recht 2008 (random bases), Theorem 3.2, corrected. For a fixed f = E alpha(w)
-- phi(<w, x> + b) of norm C = sup |alpha| and independent parameters,
-- f_hat = (1/T) sum_t alpha(w_t) phi(<w_t, x> + b_t) has with probability 1 - delta
--   sup |f_hat - f| <= C/sqrt T (sqrt(2 log(1/delta)) + sqrt(E phi(b)^2) + 4 L B sqrt(E ||w||^2)),
-- the sup over rows of length at most B. A parameter that changes moves the sup by at most 2 C/T:
-- McDiarmid. Its mean: that of (1/T) sum_t alpha_t phi(b_t) by the variance, that of the rest,
-- which is 0 at x = 0, by symmetrisation and contraction (for each t its own Lipschitz function).
-- The paper has sqrt(log(1/delta)), and no term of phi(0) because it takes phi(0) = 0.
function theorems.bases(f, data, o)
  local title = "Theorem 3.2 of random bases"
  local least, facts = box(f, title)
  local C, inst = before(o, "C", least) or least, f.features.inst
  local second, law = second_moment(f, facts, title)
  if law.degree then error(title .. " needs dense weights", 0) end
  local B, L = radius_of(f, data, o), facts.lipschitz / facts.bound
  -- with a bias or a phase |phi(b)| <= 1 is used
  local moved = law.bias ~= "none" or core.shape(component.instance(inst.phi)).phase
  local offset = moved and 1 or math.min(1, largest_at_zero(f) / facts.bound)
  local rest = 4 * L * B * math.sqrt(second)
  local factor = C / math.sqrt(f.map_info.T)
  local approximation = factor * (math.sqrt(2 * math.log(1 / o.delta)) + offset + rest)
  return { total = approximation, approximation = approximation,
    total_paper = factor * (math.sqrt(math.log(1 / o.delta)) + rest), C = C, least = least, L = L,
    B = B, second_moment = second, offset = offset, T = f.map_info.T }
end

-- Harris 2019, Theorem 1 and Corollary 2, corrected: with probability 1 - delta, for all x and y of
-- length at most `radius`, |<Phi(x), Phi(y)> - k(x, y)| <= epsilon, where
--   256 (kappa L Delta S/epsilon)^2 exp(-T epsilon^2/(8 (d + 1) kappa^4)) = delta,
-- |phi| <= kappa, L-Lipschitz, Delta = 2 radius, S^2 = E ||w||^2 + 3 (E ||w||)^2 <= 4 E ||w||^2.
-- The paper has kappa^2 in the exponent, where its Hoeffding inequality (12) gives kappa^4.
function theorems.sparse(f, data, o)
  local title = "Theorem 1 of sparse features"
  local _, facts = box(f, title)
  local second = second_moment(f, facts, title)
  if core.shape(component.instance(f.features.inst.phi)).fan_out > 1 then
    error(title .. " is for one feature a parameter", 0)
  end
  local radius, T, d = radius_of(f, data, o), f.map_info.T, f.map_info.dim
  local reach = 4 * facts.bound * facts.lipschitz * radius * math.sqrt(second)
  local function epsilon(power)
    local low, high = 0, reach
    if math.log(256 / o.delta) > T * high ^ 2 / (8 * (d + 1) * power) then return math.huge end
    for _ = 1, 200 do
      local e = (low + high) / 2
      local fails = math.log(256) + 2 * math.log(reach / e) - T * e ^ 2 / (8 * (d + 1) * power)
      if fails > math.log(o.delta) then low = e else high = e end
    end
    return high
  end
  return { total = epsilon(facts.bound ^ 4), total_paper = epsilon(facts.bound ^ 2),
    kappa = facts.bound, L = facts.lipschitz, R = radius, second_moment = second, T = T }
end

-- The mean over parameters of the largest length of a row w that one of them reads; the longest of
-- all rows where they are shared.
local function mean_length(f)
  local W, T, sum = core.map_parameters(f.map), f.map_info.T, 0
  if W:rows() ~= T * f.map_info.fan_in then return longest_row(W) end
  for t = 1, T do
    local longest = 0
    for row = t, W:rows(), T do longest = math.max(longest, W:row(row):norm()) end
    sum = sum + longest
  end
  return sum / T
end

-- In one pass over the training rows: the mean over t of sqrt(mean_i phi(w_t, x_i)^2), and the
-- length of the longest row after the stages.
local function realised(f, data)
  if not data then error("the training rows of this model are not in memory", 0) end
  local source, sums, longest = dataset.source_of_rows(data), nil, 0
  for from = 1, f.n, BLOCK do
    local X = core.read_rows(source, from, math.min(BLOCK, f.n - from + 1))
    longest = math.max(longest, longest_row(staged(f, X)))
    local Phi = core.transform(core.source(X), f.stages, f.map)
    local squares = core.ones(1, X:rows()) * Phi:mul(Phi)
    sums = sums and sums + squares or squares
  end
  local T, total = f.map_info.T, 0
  for t = 1, T do
    local sum = 0
    for column = t, sums:cols(), T do sum = sum + sums:get(1, column) end
    total = total + math.sqrt(T * sum / f.n)
  end
  return total / T, longest
end

-- Raises an error unless phi(<w_1, x>, ..., <w_q, x>) is 1-Lipschitz in the maximum norm.
local function need_pools(f, title)
  need_mean(f, title)
  local phi, sampler = component.instance(f.features.inst.phi), sampler_of(f)
  if core.shape(phi).fan_in < 2 or core.facts(phi).lipschitz > 1 then
    error(title .. " is for nonlinearities of several numbers that are 1-Lipschitz in them", 0)
  end
  local space = core.space(sampler, f.map_info.dim)
  if space ~= "dense" and space ~= "structured"
    or core.layout(sampler, f.map_info.dim, f.map_info.T).has_bias then
    error(title .. " is for dense rows without a bias", 0)
  end
end

-- Mroueh, Rennie and Goel, Theorem 2, its estimation part, corrected: for given parameters, all f
-- with |alpha_t| <= C/T and rows of length at most R,
--   risk <= empirical + 2 L C s/sqrt n + 3 M sqrt(log(2/delta)/(2n)),
-- s the mean over t of sqrt(mean_i phi(w_t, x_i)^2). Then |f| <= C mean_t (|phi(w_t, 0)| + R max_j
-- ||w_tj||). The paper takes sigma(q) = sqrt(E max^2) for s, by a McDiarmid inequality for
-- parameters that change: one of m moves the sup by up to 2 L C sup |phi|/m, which has no bound,
-- and not by 2/n. Its result has log(1/delta), its proof log(2/delta).
function theorems.maxout(f, data, o)
  local title = "Theorem 2 of maxout features"
  need_classes(f, title)
  need_pools(f, title)
  if not o.radius then
    error(title .. " needs a length that no row can exceed, known before the rows: give radius =",
      0)
  end
  local s, longest = realised(f, data)
  if longest > o.radius * (1 + 1e-9) then
    error(("option 'radius' got %g, and a row has the length %g"):format(o.radius, longest), 0)
  end
  local least, width = largest_share(f), largest_at_zero(f) + o.radius * mean_length(f)
  local given = before(o, "C", least)
  local reach, share = (given or least) * width, o.delta
  if not given then reach, share = grid(reach, share) end
  local C, l = reach / width, ingredients(f, data, reach)
  local room = 2 * l.lipschitz * C * s / math.sqrt(f.n) + 3 * l.bound * math.sqrt(
    math.log(2 / share) / (2 * f.n))
  return { total = l.mean + room, empirical = l.mean, room = room, C = C, least = least,
    by = given and "given" or "grid", share = share, L = l.lipschitz, M = l.bound, R = o.radius,
    size = s, T = f.map_info.T }
end

-- A list of sentences: what the proofs do not cover in this model. searched: whether a search
-- chose options.
local function unproved(f, searched)
  local list = {}
  local function add(...) list[#list + 1] = string.format(...) end
  for _, stage in ipairs(f.stages) do
    local saved = core.stage_save(stage)
    if saved.arrays then add("the stage %s learnt from the training rows", saved.kind) end
  end
  local origin = f.origin or {}
  if origin.state then add("the sampler learnt from the training rows") end
  if origin.widths then add("a width of the features was computed from the training rows") end
  if f.chosen then add("the fit chose options by the training rows") end
  if searched then add("a search chose options, and may have seen the training rows") end
  if f.map_info and f.map_info.method == "monte-carlo" then
    add("features and theta are means over samples")
  end
  return list
end

--- bounds.run(model, data, options, searched): see Pipeline:bound. data: the training rows, or nil.
function bounds.run(f, data, given, searched)
  local o = options.check("pipeline:bound", given, rules, 0)
  if f.form then
    error("the bounds are for targets as they are, and the pipeline transforms them (option \z
      'target')", 0)
  end
  if f.after then
    error("the bounds are for features as they are, and row stages change them after they are made",
      0)
  end
  local union = instantiation.union_text(f.features)
  if union then
    error("the bounds are for features of one map as they are, and these are " .. union, 0)
  end
  local theorem = o.theorem or (f:is_weighting() and "rkhsw10" or "rks")
  check(f, data)
  local result = theorems[theorem](f, data, o)
  result.theorem, result.n, result.unproved = theorem, f.n, unproved(f, searched)
  if not result.expectation then result.delta = o.delta end
  return result
end

return bounds
