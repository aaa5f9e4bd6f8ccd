--- Guarantees: how far the risk of a model can be from what it shows on the rows that it learnt
--- from, each with its ingredients.
local core = require "scullery.core"
local options = require "scullery.options"

local bounds = {}

local function proper(v) return type(v) == "number" and v > 0 and v < 1 end

local rules = {
  delta = { test = proper, takes = "a number between 0 and 1", default = 0.05 },
  theorem = { choices = { "rkhsw10", "rkhsw11", "rks", "bases", "maxout" } },
  lambda = { type = "number", above = 0 },
  radius = { type = "number", above = 0 },
}

-- The guarantees are for losses of f(x) alone, with targets in [-1, 1], where classes are coded
-- +-1.
local function check(self)
  local f = self.fitted
  if f.weights:cols() ~= 1 then
    error(("the guarantees are for one target; this model has %d"):format(f.weights:cols()), 0)
  end
  if f.intercept:abs():max() > 0 then
    error("the guarantees are for models without an intercept: sc.add_bias() brings a constant \z
      that they know", 0)
  end
  if f.task == "classification" then return end
  if not (f.data and f.data.X) then
    error("the guarantees are for targets in [-1, 1], and those of a data set that streams are \z
      not known", 0)
  end
  local largest = f.data:targets():abs():max()
  if largest > 1 then
    error(("the guarantees are for targets in [-1, 1], and the largest here is %g: \z
      divide them"):format(largest), 0)
  end
end

-- The solver's loss for |f| <= reach, and its mean over the rows that were learnt from, each
-- counted once.
local function ingredients(self, reach)
  local f = self.fitted
  local solver = self.solver:instance(f.choices)
  local known = core.loss(solver, reach)
  local weighted = self.class_weights or f.data and f.data.weights
  if known.squared and f.loss and not weighted then known.mean = f.loss return known end
  if not f.data then error("the rows that the model learnt from are not here", 0) end
  local y = f.data.X and f.data:targets()
  if not y then error("the training loss of a data set that streams is not known", 0) end
  return core.loss(solver, reach, self:decision(f.data.X), y)
end

local function need_kernel(self, title)
  if not (self.fitted.map and self.features.inst.K) then
    error(title .. " is for features of an instantiation with K", 0)
  end
end

local function need_plain(self, title)
  if not self.fitted.map or self.features.inst.K then
    error(title .. " is for random features without K", 0)
  end
end

local theorems = {}

-- Dube and Marchand 2023, Theorem 10: risk <= empirical + 2 B rho theta/sqrt n + M
-- sqrt(log(1/delta)/(2n)).
function theorems.rkhsw10(self, o)
  need_kernel(self, "Theorem 10")
  local f, c, B = self.fitted, core.map_constants(self.fitted.map), self:norm()
  local function total(theta)
    local l = ingredients(self, B * theta)
    return l.mean + 2 * B * l.lipschitz * theta / math.sqrt(f.n) + l.bound * math.sqrt(
      math.log(1 / o.delta) / (2 * f.n)), l
  end
  local exact, l = total(c.theta)
  return { total = exact, total_paper = (total(c.theta_paper)), empirical = l.mean, B = B,
    theta = c.theta, theta_paper = c.theta_paper,
           theta_exact = c.theta_exact, kappa = c.kappa, rho = l.lipschitz, M = l.bound }
end

-- Dube and Marchand 2023, Theorem 11, for sfgd: the excess risk over the best of norm at most B, in
-- expectation over the draws.
function theorems.rkhsw11(self, o)
  need_kernel(self, "Theorem 11")
  local f, c = self.fitted, core.map_constants(self.fitted.map)
  local settings = core.settings(self.solver:instance(f.choices))
  local lambda, B, T = o.lambda or settings.lambda, settings.B or self:norm(), f.map_info.T
  if not (lambda and lambda > 0) then error("Theorem 11 needs lambda above 0: give lambda =", 0) end
  local function total(theta)
    local l = ingredients(self, B * theta)
    local rho = l.lipschitz
    return 2 * rho * theta * B / math.sqrt(f.n) + lambda * B ^ 2 + 8 * rho ^ 2 / (lambda * f.n) +
      (rho * c.kappa + lambda * B) ^ 2 * (1 + math.log(T)) / (2 * lambda * T), l
  end
  local exact, l = total(c.theta)
  return { total = exact, total_paper = (total(c.theta_paper)), empirical = l.mean, B = B,
    lambda = lambda, T = T, theta = c.theta,
           theta_paper = c.theta_paper, theta_exact = c.theta_exact, kappa = c.kappa,
             rho = l.lipschitz, M = l.bound }
end

-- f = sum_t sum_k alpha_tk phi_k(w_t, .): T times the largest sum_k |alpha_tk| of a parameter. Of
-- the cells of a grid a row is in one.
local function largest_share(self)
  local f, a = self.fitted, self.fitted.weights
  local T, largest = f.map_info.T, 0
  if f.map_info.slots > 0 then return math.sqrt(T) * a:abs():max() end
  for t = 1, T do
    local sum = 0
    for row = t, a:rows(), T do sum = sum + math.abs(a:get(row, 1)) end
    largest = math.max(largest, sum)
  end
  return math.sqrt(T) * largest -- features are phi/sqrt T
end

-- |phi| <= bound, and C bounds f, so that phi counts as bounded by 1.
local function box(self, title)
  local facts = core.facts(self.features.inst.phi:instance(self.fitted.choices))
  if not facts or facts.bound == math.huge then
    error(title .. " needs a bounded nonlinearity", 0)
  end
  return largest_share(self) * facts.bound, facts
end

local function need_classes(self, title)
  if self.fitted.task ~= "classification" then
    error(title .. " is for losses of the margin y f: for classes", 0)
  end
end

-- Rahimi and Recht 2008 (weighted sums of random kitchen sinks): estimation and approximation.
function theorems.rks(self, o)
  need_plain(self, "the bound of random kitchen sinks")
  need_classes(self, "the bound of random kitchen sinks")
  local f, C = self.fitted, (box(self, "the bound of random kitchen sinks"))
  local l = ingredients(self, C)
  local L = l.lipschitz
  local estimation =
    (4 * L * C + 2 * math.abs(l.at_zero) + L * C * math.sqrt(
      math.log(1 / o.delta) / 2)) / math.sqrt(f.n)
  local approximation = L * C / math.sqrt(f.map_info.T) * (1 + math.sqrt(2 * math.log(1 / o.delta)))
  return { total = l.mean + estimation, empirical = l.mean, estimation = estimation,
    approximation = approximation, C = C, L = L, T = f.map_info.T }
end

-- The longest row that reached the features, or the radius given.
local function radius_of(self, o)
  if o.radius then return o.radius end
  local f = self.fitted
  if not (f.data and f.data.X) then
    error("the longest row of a data set that streams is not known: give radius =", 0)
  end
  local X, longest = #f.stages > 0 and (core.transform(core.source(f.data.X), f.stages))
    or f.data.X, 0
  for i = 1, X:rows() do longest = math.max(longest, X:row(i):norm()) end
  return longest
end

-- E b^2 of what is added to <w, x>, which counts as one more coordinate of w, with 1 as that of x.
local function bias_moment(law, phi)
  if law.bias == "uniform" then
    return (law.bias_a ^ 2 + law.bias_a * law.bias_b + law.bias_b ^ 2) / 3
  end
  if law.bias == "gaussian" then return law.bias_a ^ 2 + law.bias_b ^ 2 end
  return core.shape(phi).needs_phase and math.pi ^ 2 / 3 or 0
end

-- Rahimi and Recht 2008 (random bases), Theorem 3.2: sup |f_hat - f| < ||f||_p/sqrt T
-- (sqrt(log(1/delta)) + 4 L B sqrt(E ||w||^2)), for functions f of norm at most C.
function theorems.bases(self, o)
  need_plain(self, "Theorem 3.2 of random bases")
  local f, C, facts = self.fitted, box(self, "Theorem 3.2 of random bases")
  local law = core.law(self.features.inst.p:instance(f.choices), core.map_info(f.map).dim)
  local size = ({ gaussian = 1, rademacher = 1, uniform = 1 / 3, laplace = 2, spherical = 1 })[
    law and law.family or ""]
  if facts.lipschitz == math.huge then
    error("Theorem 3.2 of random bases needs a Lipschitz nonlinearity", 0)
  end
  if not size or law.degree then
    error("Theorem 3.2 of random bases needs dense weights with a finite second moment", 0)
  end
  local second = 0
  for j = 1, #law.scale do second = second + law.mean[j] ^ 2 + size * law.scale[j] ^ 2 end
  local B, bias = radius_of(self, o), bias_moment(law, self.features.inst.phi:instance(f.choices))
  if bias > 0 then B, second = math.sqrt(B ^ 2 + 1), second + bias end
  local approximation = C / math.sqrt(f.map_info.T) * (
    math.sqrt(math.log(1 / o.delta)) + 4 * facts.lipschitz / facts.bound * B * math.sqrt(second))
  return { total = approximation, approximation = approximation, C = C,
    L = facts.lipschitz / facts.bound, B = B, second_moment = second, T = f.map_info.T }
end

-- The longest of the rows w of all parameters.
local function longest_weight(map)
  local w, longest = core.map_parameters(map), 0
  for i = 1, w:rows() do longest = math.max(longest, w:row(i):norm()) end
  return longest
end

-- Mroueh, Rennie and Goel, Theorem 2, its estimation part: 4 L C sqrt(sigma^2(q)/n) + 2 |V(0)|/sqrt
-- n + 2 sqrt(2 log(1/delta)/n), for w ~ N(0, I), rows on the unit sphere and a loss V in [0, 1];
-- rows of length up to R > 1 and V up to M > 1 multiply it by R M. A standard deviation sigma of w
-- is one of R.
function theorems.maxout(self, o)
  local title = "Theorem 2 of maxout features"
  need_plain(self, title)
  need_classes(self, title)
  local f, inst = self.fitted, self.features.inst
  if inst.phi.name ~= "maxout" then error(title .. " is for nonlinearity.maxout", 0) end
  local law = core.law(inst.p:instance(f.choices), f.map_info.dim)
  if not law or law.family ~= "gaussian" or law.degree or law.bias ~= "none" then
    error(title .. " is for dense Gaussian rows without a bias", 0)
  end
  local sigma = 0
  for j = 1, #law.scale do
    if law.mean[j] ~= 0 then error(title .. " is for Gaussian rows of mean 0", 0) end
    sigma = math.max(sigma, law.scale[j])
  end
  local unit = core.matrix{ { 1 } }
  local second = require("scullery.instantiation").new{ p = require("scullery.component").group(
    "sampler").gaussian{ sigma = 1 }, phi = inst.phi }:kernel(unit):get(1, 1)
  local radius, C = radius_of(self, o), largest_share(self)
  local l = ingredients(self, C * radius * longest_weight(f.map))
  local R, M = math.max(radius * sigma, 1), math.max(l.bound, 1)
  local estimation = R * M * (4 * l.lipschitz * C * math.sqrt(second / f.n) + 2 * math.abs(
    l.at_zero) / math.sqrt(f.n) + 2 * math.sqrt(2 * math.log(1 / o.delta) / f.n))
  return { total = l.mean + estimation, empirical = l.mean, estimation = estimation, C = C,
    L = l.lipschitz, M = M, R = R, sigma2 = second, T = f.map_info.T }
end

--- bounds.run(pipeline, options): see Pipeline:bound.
function bounds.run(self, given)
  local o = options.check("pipeline:bound", given, rules, 0)
  local f = self.fitted
  local theorem = o.theorem or (f.map and self.features.inst.K and "rkhsw10" or "rks")
  check(self)
  local result = theorems[theorem](self, o)
  result.theorem, result.delta, result.n = theorem, o.delta, f.n
  return result
end

return bounds
