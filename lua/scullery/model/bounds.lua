--- Bounds on the risk of a model from its training rows, each with its ingredients.
local core = require "scullery.core"
local options = require "scullery.base.options"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"

local bounds = {}

local rules = options.declare("pipeline:bound", {
  delta = { test = function(v)
    return type(v) == "number" and v > 0 and v < 1
  end, takes = "a number between 0 and 1", default = 0.05 },
  theorem = { choices = { "rkhsw10", "rkhsw11", "rks", "bases", "maxout" } },
  lambda = { type = "number", above = 0 },
  radius = { type = "number", above = 0 },
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
      (sc.add_bias() brings a constant that they know)", 0)
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
  if not data then error("the rows that the model learnt from are not here", 0) end
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

-- Raises an error unless the features are random features without a kernel between parameters.
local function need_plain(f, title)
  if not f.map or f:has_kernel() then
    error(title .. " is for random features without K" .. section_note(f), 0)
  end
end

-- By name of a theorem: function(model, training rows, options) returns the fields of the result:
-- total (the bound), its terms, and the constants in it, named as in the paper.
local theorems = {}

-- Dube and Marchand 2023, Theorem 10: risk <= empirical + 2 B rho theta/sqrt n + M
-- sqrt(log(1/delta)/(2n)).
function theorems.rkhsw10(f, data, o)
  need_kernel(f, "Theorem 10")
  local c, B = core.map_constants(f.map), f:norm()
  local function total(theta)
    local l = ingredients(f, data, B * theta)
    return l.mean + 2 * B * l.lipschitz * theta / math.sqrt(f.n) + l.bound * math.sqrt(
      math.log(1 / o.delta) / (2 * f.n)), l
  end
  local exact, l = total(c.theta)
  return { total = exact, total_paper = (total(c.theta_paper)), empirical = l.mean, B = B,
    theta = c.theta, theta_paper = c.theta_paper, theta_exact = c.theta_exact, kappa = c.kappa,
    rho = l.lipschitz, M = l.bound }
end

-- Dube and Marchand 2023, Theorem 11, for stochastic functional gradient descent: the excess risk
-- over the best function of norm at most B, in expectation over the draws.
function theorems.rkhsw11(f, data, o)
  need_kernel(f, "Theorem 11")
  local c, T = core.map_constants(f.map), f.map_info.T
  local lambda = o.lambda or component.role_value(f.solver, "regularisation")
  local B = component.role_value(f.solver, "capacity") or f:norm()
  if not (lambda and lambda > 0) then error("Theorem 11 needs lambda above 0: give lambda =", 0) end
  local function total(theta)
    local l = ingredients(f, data, B * theta)
    local rho = l.lipschitz
    return 2 * rho * theta * B / math.sqrt(f.n) + lambda * B ^ 2 + 8 * rho ^ 2 / (lambda * f.n) +
      (rho * c.kappa + lambda * B) ^ 2 * (1 + math.log(T)) / (2 * lambda * T), l
  end
  local exact, l = total(c.theta)
  return { total = exact, total_paper = (total(c.theta_paper)), empirical = l.mean, B = B,
    lambda = lambda, T = T, theta = c.theta, theta_paper = c.theta_paper,
    theta_exact = c.theta_exact, kappa = c.kappa, rho = l.lipschitz, M = l.bound }
end

-- f = sum_t sum_k alpha_tk phi_k(w_t, .): T times the largest sum_k |alpha_tk| over the parameters.
-- For grids, each row is in one cell, so the largest |alpha_tk|.
local function largest_share(f)
  local a, T, largest = f.weights, f.map_info.T, 0
  if f.map_info.entries > 0 then return math.sqrt(T) * a:abs():max() end
  for t = 1, T do
    local sum = 0
    for row = t, a:rows(), T do sum = sum + math.abs(a:get(row, 1)) end
    largest = math.max(largest, sum)
  end
  return math.sqrt(T) * largest -- features are phi/sqrt T
end

-- The C that was fixed before learning, or the least C that the weights allow.
local function capacity(least, o)
  if o.C and o.C < least * (1 - 1e-9) then
    error(("option 'C' got %g, and the weights of this model need %g"):format(o.C, least), 0)
  end
  return o.C or least
end

-- For |phi| <= bound: C absorbs the bound, so that phi counts as bounded by 1.
local function box(f, title, o)
  local facts = core.facts(component.instance(f.features.inst.phi))
  if facts.bound == math.huge then error(title .. " needs a bounded nonlinearity", 0) end
  return capacity(largest_share(f) * facts.bound, o), facts
end

local function need_classes(f, title)
  if f.task ~= "classification" then
    error(title .. " is for losses of the margin y f: for classes", 0)
  end
end

-- Rahimi and Recht 2008 (weighted sums of random kitchen sinks): estimation and approximation.
function theorems.rks(f, data, o)
  local title = "the bound of random kitchen sinks"
  need_plain(f, title)
  need_classes(f, title)
  local C = box(f, title, o)
  local l = ingredients(f, data, C)
  local L = l.lipschitz
  local estimation =
    (4 * L * C + 2 * math.abs(l.at_zero) + L * C * math.sqrt(
      math.log(1 / o.delta) / 2)) / math.sqrt(f.n)
  local approximation = L * C / math.sqrt(f.map_info.T) * (1 + math.sqrt(2 * math.log(1 / o.delta)))
  return { total = l.mean + estimation, empirical = l.mean, estimation = estimation,
    approximation = approximation, C = C, L = L, T = f.map_info.T }
end

-- The length of the longest row of a matrix: max_i ||x_i||.
local function longest_row(X)
  local longest = 0
  for i = 1, X:rows() do longest = math.max(longest, X:row(i):norm()) end
  return longest
end

-- The length of the longest row that the features saw, or the given radius.
local function radius_of(f, data, o)
  if o.radius then return o.radius end
  if not (data and data.X) then
    error("the longest row of a data set that streams, or of a model that was loaded, is not \z
      known: give radius =", 0)
  end
  return longest_row(#f.stages > 0 and core.transform(core.source(data.X), f.stages) or data.X)
end

-- E b^2 of the bias in <w, x> + b, which counts as one more coordinate of w; that of x is 1.
local function bias_moment(law, phi)
  if law.bias == "uniform" then
    return (law.bias_a ^ 2 + law.bias_a * law.bias_b + law.bias_b ^ 2) / 3
  end
  if law.bias == "gaussian" then return law.bias_a ^ 2 + law.bias_b ^ 2 end
  return core.shape(phi).phase and math.pi ^ 2 / 3 or 0
end

-- Rahimi and Recht 2008 (random bases), Theorem 3.2: sup |f_hat - f| < ||f||_p/sqrt T
-- (sqrt(log(1/delta)) + 4 L B sqrt(E ||w||^2)), for functions f of norm at most C.
function theorems.bases(f, data, o)
  local title = "Theorem 3.2 of random bases"
  need_plain(f, title)
  local inst, C, facts = f.features.inst, box(f, title, o)
  local law = core.law(component.instance(inst.p), f.map_info.dim)
  local size = ({ gaussian = 1, rademacher = 1, uniform = 1 / 3, laplace = 2, spherical = 1 })[
    law and law.family or ""]
  if facts.lipschitz == math.huge then error(title .. " needs a Lipschitz nonlinearity", 0) end
  if not size or law.degree then
    error(title .. " needs dense weights with a finite second moment", 0)
  end
  local second = 0
  for j = 1, #law.scale do second = second + law.mean[j] ^ 2 + size * law.scale[j] ^ 2 end
  local B, bias = radius_of(f, data, o), bias_moment(law, component.instance(inst.phi))
  if bias > 0 then B, second = math.sqrt(B ^ 2 + 1), second + bias end
  local approximation = C / math.sqrt(f.map_info.T) * (
    math.sqrt(math.log(1 / o.delta)) + 4 * facts.lipschitz / facts.bound * B * math.sqrt(second))
  return { total = approximation, approximation = approximation, C = C,
    L = facts.lipschitz / facts.bound, B = B, second_moment = second, T = f.map_info.T }
end

-- The largest standard deviation of centred dense Gaussian rows.
local function gaussian_scale(law, title)
  if not law or law.family ~= "gaussian" or law.degree or law.bias ~= "none" then
    error(title .. " is for dense Gaussian rows without a bias", 0)
  end
  local sigma = 0
  for j = 1, #law.scale do
    if law.mean[j] ~= 0 then error(title .. " is for Gaussian rows of mean 0", 0) end
    sigma = math.max(sigma, law.scale[j])
  end
  return sigma
end

-- sigma^2(q) = E phi(z)^2 for q independent z ~ N(0, 1): the induced kernel at (x, x) for a row x
-- where <w, x> has that law.
local function second_moment(inst, law)
  local unit = core.zeros(1, #law.scale)
  unit:set(1, 1, 1 / law.scale[1])
  return inst:kernel(unit):get(1, 1)
end

-- Mroueh, Rennie and Goel, Theorem 2, its estimation part: 4 L C sqrt(sigma^2(q)/n) + 2 |V(0)|/sqrt
-- n + 2 sqrt(2 log(1/delta)/n), for w ~ N(0, I), rows on the unit sphere and a loss V in [0, 1].
-- Rows of length up to R > 1 and V up to M > 1 multiply it by R M. A standard deviation sigma of w
-- counts as a factor of R. It holds for every nonlinearity of several inputs that is 1-Lipschitz in
-- the maximum norm.
function theorems.maxout(f, data, o)
  local title, inst = "Theorem 2 of maxout features", f.features and f.features.inst
  need_plain(f, title)
  need_classes(f, title)
  local phi = component.instance(inst.phi)
  if core.shape(phi).fan_in < 2 or core.facts(phi).lipschitz > 1 then
    error(title .. " is for nonlinearities of several numbers that are 1-Lipschitz in them", 0)
  end
  local law = core.law(component.instance(inst.p), f.map_info.dim)
  local sigma = gaussian_scale(law, title)
  local second = second_moment(inst, law)
  local radius, C = radius_of(f, data, o), capacity(largest_share(f), o)
  local l = ingredients(f, data, C * radius * longest_row(core.map_parameters(f.map)))
  local R, M = math.max(radius * sigma, 1), math.max(l.bound, 1)
  local estimation = R * M * (4 * l.lipschitz * C * math.sqrt(second / f.n) + 2 * math.abs(
    l.at_zero) / math.sqrt(f.n) + 2 * math.sqrt(2 * math.log(1 / o.delta) / f.n))
  return { total = l.mean + estimation, empirical = l.mean, estimation = estimation, C = C,
    L = l.lipschitz, M = M, R = R, sigma2 = second, T = f.map_info.T }
end

--- bounds.run(model, data, options): see Pipeline:bound. data: the training rows, or nil.
function bounds.run(f, data, given)
  local o = options.check("pipeline:bound", given, rules, 0)
  if f.form then
    error("the bounds are for targets as they are, and the pipeline transforms them (option \z
      'target')", 0)
  end
  local theorem = o.theorem or (f:is_weighting() and "rkhsw10" or "rks")
  check(f, data)
  local result = theorems[theorem](f, data, o)
  result.theorem, result.delta, result.n = theorem, o.delta, f.n
  return result
end

return bounds
