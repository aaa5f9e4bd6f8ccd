--- Guarantees: how far the risk of a model can be from what it shows on the rows that it learnt from, each with its ingredients.
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

-- What all of them need: rows, one target, the loss on the rows that were learnt from.
local function ingredients(self, reach)
  local f = self.fitted
  if f.weights:cols() ~= 1 then error(("the guarantees are for one target; this model has %d"):format(f.weights:cols()), 0) end
  local solver = self.solver:instance(f.choices)
  local known = core.loss(solver, reach)
  if known.squared and f.loss then known.mean = f.loss return known end
  if not f.data then error("the rows that the model learnt from are not here", 0) end
  local y = f.data.X and f.data:targets()
  if not y then error("the training loss of a data set that streams is not known", 0) end
  return core.loss(solver, reach, self:decision(f.data.X), y)
end

local function need_kernel(self, title)
  if not (self.fitted.map and self.features.inst.K) then error(title .. " is for features of an instantiation with K", 0) end
end

local function need_plain(self, title)
  if not self.fitted.map or self.features.inst.K then error(title .. " is for random features without K", 0) end
end

local theorems = {}

-- Dube and Marchand 2023, Theorem 10: risk <= empirical + 2 B rho theta/sqrt n + M sqrt(log(1/delta)/(2n)).
function theorems.rkhsw10(self, o)
  need_kernel(self, "Theorem 10")
  local f, c, B = self.fitted, core.map_constants(self.fitted.map), self:norm()
  local function total(theta)
    local l = ingredients(self, B * theta)
    return l.mean + 2 * B * l.lipschitz * theta / math.sqrt(f.n) + l.bound * math.sqrt(math.log(1 / o.delta) / (2 * f.n)), l
  end
  local exact, l = total(c.theta)
  return { total = exact, total_paper = (total(c.theta_paper)), empirical = l.mean, B = B, theta = c.theta, theta_paper = c.theta_paper,
           theta_exact = c.theta_exact, kappa = c.kappa, rho = l.lipschitz, M = l.bound }
end

-- Dube and Marchand 2023, Theorem 11, for sfgd: the excess risk over the best of norm at most B, in expectation over the draws.
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
  return { total = exact, total_paper = (total(c.theta_paper)), empirical = l.mean, B = B, lambda = lambda, T = T, theta = c.theta,
           theta_paper = c.theta_paper, theta_exact = c.theta_exact, kappa = c.kappa, rho = l.lipschitz, M = l.bound }
end

-- |phi| <= bound, and C = T max |alpha_t| bound for f = sum alpha_t phi(w_t, .), so that phi counts as bounded by 1.
local function box(self, title)
  local f = self.fitted
  local facts = core.facts(self.features.inst.phi:instance(f.choices))
  if not facts or facts.bound == math.huge then error(title .. " needs a bounded nonlinearity", 0) end
  return math.sqrt(f.map_info.T) * f.weights:abs():max() * facts.bound, facts
end

-- Rahimi and Recht 2008 (weighted sums of random kitchen sinks): estimation and approximation.
function theorems.rks(self, o)
  need_plain(self, "the bound of random kitchen sinks")
  local f, C = self.fitted, (box(self, "the bound of random kitchen sinks"))
  local l = ingredients(self, C)
  local L = l.lipschitz
  local estimation = (4 * L * C + 2 * math.abs(l.at_zero) + L * C * math.sqrt(math.log(1 / o.delta) / 2)) / math.sqrt(f.n)
  local approximation = L * C / math.sqrt(f.map_info.T) * (1 + math.sqrt(2 * math.log(1 / o.delta)))
  return { total = l.mean + estimation, empirical = l.mean, estimation = estimation, approximation = approximation, C = C, L = L, T = f.map_info.T }
end

-- The longest row that reached the features, or the radius given.
local function radius_of(self, o)
  if o.radius then return o.radius end
  local f = self.fitted
  if not (f.data and f.data.X) then error("the longest row of a data set that streams is not known: give radius =", 0) end
  local X, longest = #f.stages > 0 and (core.transform(core.source(f.data.X), f.stages)) or f.data.X, 0
  for i = 1, X:rows() do longest = math.max(longest, X:row(i):norm()) end
  return longest
end

-- Rahimi and Recht 2008 (random bases), Theorem 3.2: sup |f_hat - f| < ||f||_p/sqrt T (sqrt(log(1/delta)) + 4 L B sqrt(E ||w||^2)), for functions f of
-- norm at most C.
function theorems.bases(self, o)
  need_plain(self, "Theorem 3.2 of random bases")
  local f, C, facts = self.fitted, box(self, "Theorem 3.2 of random bases")
  local law = core.law(self.features.inst.p:instance(f.choices), core.map_info(f.map).dim)
  local size = ({ gaussian = 1, rademacher = 1, uniform = 1 / 3, laplace = 2, spherical = 1 })[law and law.family or ""]
  if facts.lipschitz == math.huge then error("Theorem 3.2 of random bases needs a Lipschitz nonlinearity", 0) end
  if not size or law.degree then error("Theorem 3.2 of random bases needs dense weights with a finite second moment", 0) end
  local second = 0
  for j = 1, #law.scale do second = second + law.mean[j] ^ 2 + size * law.scale[j] ^ 2 end
  local B = radius_of(self, o)
  local approximation = C / math.sqrt(f.map_info.T) * (math.sqrt(math.log(1 / o.delta)) + 4 * facts.lipschitz / facts.bound * B * math.sqrt(second))
  return { total = approximation, approximation = approximation, C = C, L = facts.lipschitz / facts.bound, B = B, second_moment = second, T = f.map_info.T }
end

-- Mroueh, Rennie and Goel, Theorem 2, its estimation part: 4 L C sqrt(sigma^2(q)/n) + 2 |V(0)|/sqrt n + 2 sqrt(2 log(1/delta)/n), for rows on the unit
-- sphere; rows of length up to R multiply it by R.
function theorems.maxout(self, o)
  need_plain(self, "Theorem 2 of maxout features")
  local f, inst = self.fitted, self.features.inst
  if inst.phi.name ~= "maxout" then error("Theorem 2 of maxout features is for nonlinearity.maxout", 0) end
  local unit = core.matrix{ { 1 } }
  local second = require("scullery.instantiation").new{ p = require("scullery.component").group("sampler").gaussian{ sigma = 1 }, phi = inst.phi }:kernel(unit):get(1, 1)
  local R, C = radius_of(self, o), math.sqrt(f.map_info.T) * f.weights:abs():max()
  local l = ingredients(self, C * R * math.sqrt(second))
  local estimation = R * (4 * l.lipschitz * C * math.sqrt(second / f.n) + 2 * math.abs(l.at_zero) / math.sqrt(f.n) + 2 * math.sqrt(2 * math.log(1 / o.delta) / f.n))
  return { total = l.mean + estimation, empirical = l.mean, estimation = estimation, C = C, L = l.lipschitz, R = R, sigma2 = second, T = f.map_info.T }
end

--- p:bound{ delta = 0.05, theorem = }: a guarantee with probability 1 - delta, by name: total, the empirical risk and the ingredients.
---   rkhsw10 (default with K): Theorem 10 of Dube and Marchand (2023): risk <= empirical + 2 B rho theta/sqrt(n) + M sqrt(log(1/delta)/(2n)), B = ||alpha||,
---     rho and M the Lipschitz constant and bound of the loss on [-B theta, B theta]; total with theta as exact as is known, total_paper with their bound on it.
---   rkhsw11: Theorem 11, the excess risk of sfgd (lambda = the solver's, or given).
---   rks (default without K): Rahimi and Recht (2008), weighted sums: empirical + estimation; approximation: what T random features may lack.
---   bases: Theorem 3.2 of Rahimi and Recht (2008), random bases: the uniform error of T features. maxout: Theorem 2 of Mroueh, Rennie and Goel, its estimation part.
--- radius: the longest row, by default that of the training rows.
function bounds.run(self, given)
  local o = options.check("pipeline:bound", given, rules, 0)
  local f = self.fitted
  local theorem = o.theorem or (f.map and self.features.inst.K and "rkhsw10" or "rks")
  local result = theorems[theorem](self, o)
  result.theorem, result.delta, result.n = theorem, o.delta, f.n
  return result
end

return bounds
