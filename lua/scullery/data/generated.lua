--- Data that are computed by published equations: makers of sc.data, and the named sets of the
--- catalog.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local options = require "scullery.base.options"

local generated = {}

local ROWS, SEED = 2000, 1

-- Options of the makers of a regression, whose columns are uniform on [0, 1].
local function regression_rules(least, cols, noise, more)
  local rules = { rows = { type = "integer", low = 0, default = ROWS },
    cols = { type = "integer", low = least, default = cols },
    noise = { type = "number", low = 0, default = noise },
    seed = { type = "integer", low = 0, default = SEED } }
  for name, rule in pairs(more) do rules[name] = rule end
  return rules
end
local friedman_rules = options.declare("data.friedman1", regression_rules(5, 10, 1, {}))
local polynomial_rules = options.declare("data.sparse_polynomial", regression_rules(1, 16, 0.05, {
  linear = { type = "any" }, products = { type = "table", required = true },
  alpha = { type = "number", low = 0, high = 1, default = 0.05 } }))
local spike_rules = options.declare("data.spiked", {
  p = { type = "number", low = 0, high = 1, default = 0.03 },
  sigma = { type = "number", low = 0, default = 6 },
  law = { choices = { "normal", "uniform" }, default = "normal" },
  seed = { type = "integer", low = 0, default = SEED } })

-- The data set of X and y + noise; o: the options of its maker.
local function regression(X, y, o)
  if o.noise > 0 then y = y + o.noise * core.randn{ o.rows, 1, seed = o.seed + 1 } end
  local names = {}
  for j = 1, o.cols do names[j] = "x" .. j end
  local ds = dataset.new{ X = X, y = y, names = names, task = "regression" }
  ds.target = "y"
  return ds
end

local function friedman1(given)
  local o = options.check("data.friedman1", given, friedman_rules, 0)
  local X, y = core.rand{ o.rows, o.cols, seed = o.seed }, core.zeros(o.rows, 1)
  for i = 1, o.rows do
    y:set(i, 1, 10 * math.sin(math.pi * X:get(i, 1) * X:get(i, 2))
      + 20 * (X:get(i, 3) - 0.5) ^ 2 + 10 * X:get(i, 4) + 5 * X:get(i, 5))
  end
  return regression(X, y, o)
end

--- sc.data.friedman1{ rows = 2000, cols = 10, noise = 1, seed = 1 }: Friedman 1 (J. H. Friedman,
--- Multivariate adaptive regression splines, Annals of Statistics 19, 1991, section 4.3):
---
---     y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + e
---
--- The columns are independent and uniform on [0, 1], and y does not depend on those after the
--- fifth. e is normal with standard deviation noise; noise = 0: the same rows with the function
--- itself. The named set of this name has the default options.
function generated.friedman1(given)
  return options.guard("data.friedman1", 1, friedman1, given)
end

-- sum_k of the products of the columns that each list of `products` names, times its `weight`.
local function sum_of_products(X, products)
  local sum = core.zeros(X:rows(), 1)
  for _, columns in ipairs(products) do
    local weight, product = 1, core.ones(X:rows(), 1)
    options.expect(type(columns) == "table" and #columns > 0,
      "lists of columns as 'products', such as { { 1, 2 }, { 3, 4, weight = -1 } }", columns)
    if columns.weight ~= nil then weight = columns.weight end
    options.expect(math.type(weight), "a number as the weight of a product", weight)
    for _, j in ipairs(columns) do
      options.expect(math.type(j) == "integer" and j >= 1 and j <= X:cols(),
        ("columns from 1 to %d in 'products'"):format(X:cols()), j)
      product = product:mul(X:column(j))
    end
    sum = sum + weight * product
  end
  return sum
end

local function sparse_polynomial(given)
  local o = options.check("data.sparse_polynomial", given, polynomial_rules, 0)
  local X = core.rand{ o.rows, o.cols, seed = o.seed }
  local slopes = core.matrix(o.linear or core.randn{ o.cols, 1, seed = o.seed + 2 })
  options.expect(slopes:rows() == o.cols and slopes:cols() == 1,
    ("a list of %d numbers as 'linear'"):format(o.cols), slopes)
  local linear, products = X * slopes, sum_of_products(X, o.products)
  local length = math.sqrt(o.alpha ^ 2 + (1 - o.alpha) ^ 2)
  local function scaled(part, share) -- one value for all rows has no deviation to be divided by
    local deviation = o.rows > 0 and part:std() or 0
    return part * (share / length / (deviation > 0 and deviation or 1))
  end
  return regression(X, scaled(linear, 1 - o.alpha) + scaled(products, o.alpha), o)
end

--- sc.data.sparse_polynomial{ products = { { 1, 2, 3 }, ... }, linear =, alpha = 0.05, rows = 2000,
--- cols = 16, noise = 0.05, seed = 1 }: a linear function with few interactions (the test function
--- of K. D. Harris, Additive function approximation in the brain, 2019, figure 3):
---
---     y = ((1 - alpha) l/sd(l) + alpha q/sd(q))/sqrt(alpha^2 + (1 - alpha)^2) + e
---
--- l = <linear, x>, and q is a sum of products of columns, each times its `weight` (1): the list
--- { 4, 7, weight = -1 } is -x4 x7. linear: a list of cols numbers, by default normal ones. The
--- columns are uniform on [0, 1], and e is normal with standard deviation noise.
function generated.sparse_polynomial(given)
  return options.guard("data.sparse_polynomial", 1, sparse_polynomial, given)
end

local function spiked(X, given)
  X = core.matrix(X)
  local o = options.check("data.spiked", given, spike_rules, 0)
  local n, d = X:rows(), X:cols()
  local where = core.rand{ n, d, seed = 2 * o.seed }:map(function(u) return u < o.p and 1 or 0 end)
  local noise = o.law == "normal" and core.randn{ n, d, seed = 2 * o.seed + 1 }
    or 2 * core.rand{ n, d, seed = 2 * o.seed + 1 } - 1
  return X + where:mul(o.sigma * noise - X)
end

--- sc.data.spiked(X[, { p = 0.03, sigma = 6, law = "normal", seed = 1 }]): X with some entries
--- replaced by noise, each with probability p, to try how well a method bears outliers. law:
--- "normal", N(0, sigma^2), or "uniform", on [-sigma, sigma]. It draws as sc.rand and sc.randn do
--- with the seeds 2 seed and 2 seed + 1: an X that was drawn takes others.
function generated.spiked(X, given)
  return options.guard("data.spiked", 1, spiked, X, given)
end

--- generated.waveform(): waveforms (Breiman, Friedman, Olshen and Stone, Classification and
--- Regression Trees, 1984, section 2.6.2), 2000 rows of 21 columns and three classes: a row is
--- u h_a(j) + (1 - u) h_b(j) + e_j, where u is uniform on [0, 1], e_j is standard normal, h_1, h_2
--- and h_3 are triangles of height 6 about the columns 7, 11 and 15, and the class says which two.
--- The best classifier errs in about 14 % of the rows. Rows are drawn with seed 1.
function generated.waveform()
  local X, u = core.randn{ ROWS, 21, seed = SEED + 1 }, core.rand{ ROWS, 2, seed = SEED }
  local pairs_of, y = { { 7, 15 }, { 7, 11 }, { 15, 11 } }, {}
  for i = 1, ROWS do
    y[i] = 1 + math.floor(3 * u:get(i, 2))
    local a, b = table.unpack(pairs_of[y[i]])
    for j = 1, 21 do
      local first, second = math.max(6 - math.abs(j - a), 0), math.max(6 - math.abs(j - b), 0)
      X:set(i, j, X:get(i, j) + u:get(i, 1) * first + (1 - u:get(i, 1)) * second)
    end
  end
  return dataset.new{ X = X, y = y, task = "classification" }
end

return generated
