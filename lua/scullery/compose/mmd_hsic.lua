--- sc.mmd and sc.hsic: kernel tests by random features, at a cost that grows with the number of
--- rows: whether two samples have one law, and whether pairs of rows are independent.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local instantiation = require "scullery.compose.instantiation"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local progress = require "scullery.base.progress"
local streams = require "scullery.base.streams"
local text_table = require "scullery.base.text_table"

local BLOCK = 8192    -- rows whose features are made at a time
local DRAWS = 9999    -- of the limit law
local WEIGHTS = 1000  -- of the limit law that are drawn; those that are left count by their sum
local MOST_DRAWS = 1000003 -- more than the permutations of one seed: those of another are others
local SMALL = 1e-8    -- of the largest: weights below it are left out

local mmd_hsic = {}

local function is_rows(value) return core.is_matrix(value) or core.is_sparse(value) end
local rows_rule = { test = is_rows, takes = "a matrix of rows, dense or sparse", required = true }
local features_rule = { test = instantiation.is_features, takes = "features, as sc.features{...}" }

local common = {
  X = rows_rule, Y = rows_rule, features = features_rule,
  permutations = { type = "integer", low = 19, high = 1000000, default = 499 },
  method = { choices = { "permutation", "limit" }, default = "permutation" },
  seed = { type = "integer", default = 0 }, progress = progress.rule,
}

local function with(rules)
  for name, rule in pairs(common) do rules[name] = rule end
  return rules
end

local mmd_rules = options.declare("mmd", with{
  T = { type = "integer", low = 1, default = 500 } })
local hsic_rules = options.declare("hsic", with{
  T = { type = "integer", low = 1, default = 100 }, features_Y = features_rule })

local Result = objects.class("kernel_test", { example = "result",
  fields = "test statistic p method rows permutations features" })

function Result:__tostring()
  local rows = {
    { "statistic", ("%.6g"):format(self.statistic) },
    { "p", ("%.4g"):format(self.p) },
    { "p by", self.method == "limit" and "the law of the limit"
      or ("%d permutations"):format(self.permutations) },
    { "rows", table.concat(self.rows, " and ") },
    { "features", self.features },
  }
  return self.test .. "\n" .. text_table.text(rows, { gap = 2, sides = { "left", "left" } })
end
mmd_hsic.class = Result

-- ------------ features

-- The features that were given, or Fourier features of the Gaussian kernel with the width of the
-- "median" rule; drawn for these rows.
local function drawn(given, T, seed, X)
  local feats = given or instantiation.default_features({ gamma = "median" }, { form = "pair" },
    { T = T, seed = seed })
  return instantiation.resolved(feats, {}):fit(X)
end

-- The features of all rows, as numbers of 64 bits.
local function of(feats, X) return feats:transform(X):astype("float64") end

local function check(o)
  for _, name in ipairs{ "X", "Y" } do
    if o[name]:rows() < 2 then
      fail("option '%s' has %d rows; a test takes two or more", name, o[name]:rows())
    end
    local row, col = core.find_nonfinite(o[name])
    if row then fail("option '%s' is not finite in row %d, column %d", name, row, col) end
  end
end

-- ------------ p-values

-- (1 + the number of draws that are at least the statistic) / (1 + draws); draws that differ from
-- it by rounding count as equal.
local function p_of(statistic, draws)
  local count, least = 0, statistic - 1e-12 * math.abs(statistic)
  for _, value in ipairs(draws) do if value >= least then count = count + 1 end end
  return (1 + count) / (1 + #draws)
end

-- Draws of sum_k weights[k] z_k^2, z_k normal: a list. weights: descending, the WEIGHTS largest or
-- more of them; total: the sum of all that are above 0.
local function chi_squares(weights, total, seed)
  local count, rest = 0, total
  while count < math.min(#weights, WEIGHTS) and weights[count + 1] > SMALL * weights[1] do
    count = count + 1
    rest = math.max(rest - weights[count], 0)
  end
  local list, column = {}, core.zeros(math.max(count, 1), 1)
  for k = 1, count do column:set(k, 1, weights[k]) end
  for first = 0, DRAWS - 1, 500 do
    local rows = math.min(500, DRAWS - first)
    local z = core.randn{ rows, math.max(count, 1), seed = seed * 100003 + first + 1 }
    local sums = z:mul(z) * column
    for i = 1, rows do list[first + i] = sums:get(i, 1) + rest end
  end
  return list
end

-- The eigenvalues of a symmetric matrix, descending.
local function eigenvalues(M)
  local list = {}
  for _, row in ipairs(M:eigvals():totable()) do
    for _, value in ipairs(type(row) == "table" and row or { row }) do list[#list + 1] = value end
  end
  table.sort(list, function(a, b) return a > b end)
  return list
end

-- The statistic of each permutation of 1 .. n: f(order).
local function permuted(n, o, f)
  local draws = {}
  local level <close> = progress.level{ name = "permutation", total = o.permutations }
  for k = 1, o.permutations do
    draws[k] = f(core.permutation(n, o.seed * MOST_DRAWS + k, streams.permutations))
    level:step()
  end
  return draws
end

-- The sum of the numbers above 0.
local function positive_sum(list)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + math.max(value, 0) end
  return sum
end

local function result(test, o, statistic, draws, rows, feats)
  return setmetatable({ test = test, statistic = statistic, p = p_of(statistic, draws),
    method = o.method, rows = rows, features = feats,
    permutations = o.method == "permutation" and o.permutations or nil }, Result)
end

-- ------------ two samples

-- |mean Phi(X) - mean Phi(Y)|^2 from the sums of features (1 x D) of n and m rows.
local function distance(sum_x, n, sum_y, m)
  local gap = sum_x * (1 / n) - sum_y * (1 / m)
  return gap:dot(gap)
end

local function mmd_permuted(o, feats)
  local X, Y = of(feats, o.X), of(feats, o.Y)
  local n, m, all = X:rows(), Y:rows(), core.vcat(X, Y)
  local total, few = all:sum(1), math.min(n, m)
  local statistic = distance(X:sum(1), n, Y:sum(1), m)
  return statistic, permuted(n + m, o, function(order)
    local some = all:select(table.move(order, 1, few, 1, {})):sum(1)
    return distance(some, few, total - some, n + m - few)
  end)
end

-- Where X and Y have one law, the gap of the means is about normal, with the covariance C (1/n +
-- 1/m) of features, so that its square is a sum of squared normals weighted by the eigenvalues.
local function mmd_limit(o, feats)
  local sums, products = {}, nil
  for i, rows in ipairs{ o.X, o.Y } do
    for first = 1, rows:rows(), BLOCK do
      local Z = of(feats, rows:slice(first, math.min(first + BLOCK - 1, rows:rows())))
      sums[i] = sums[i] and sums[i] + Z:sum(1) or Z:sum(1)
      products = products and products + Z:t() * Z or Z:t() * Z
    end
  end
  local n, m = o.X:rows(), o.Y:rows()
  local mean = (sums[1] + sums[2]) * (1 / (n + m))
  local weights = eigenvalues((products * (1 / (n + m)) - mean:t() * mean) * (1 / n + 1 / m))
  return distance(sums[1], n, sums[2], m), chi_squares(weights, positive_sum(weights), o.seed)
end

local function mmd_of(o)
  local all = core.vcat(o.X, o.Y)
  local feats = drawn(o.features, o.T, o.seed, all)
  local statistic, draws = (o.method == "limit" and mmd_limit or mmd_permuted)(o, feats)
  return result("maximum mean discrepancy, squared: whether X and Y have one law", o, statistic,
    draws, { o.X:rows(), o.Y:rows() }, tostring(feats))
end

--- sc.mmd{ X =, Y =, features =, T = 500, permutations = 499, method = "permutation" | "limit",
--- seed = 0 }: a test whether the rows of X (n x d) and of Y (m x d) have one law, by the maximum
--- mean discrepancy (Gretton, Borgwardt, Rasch, Schoelkopf and Smola 2012) on random features (Zhao
--- and Meng 2015): |mean Phi(X) - mean Phi(Y)|^2, which estimates the squared distance of the mean
--- embeddings, at a cost of n + m rows.
---
--- features: any sc.features{...}; by default T Fourier parameters of the Gaussian kernel, whose
--- width is that of the "median" rule for all rows. method: "permutation" deals rows to X and Y
--- anew; its p-value is exact for any number of rows, and the features of all rows are in memory.
--- "limit" takes the law that the statistic has for many rows, a sum of squared normals weighted by
--- the eigenvalues of the features' covariance, by 9999 draws: one pass in blocks of rows.
---
--- The result has .statistic, .p (small: the laws differ), .method, .rows and .permutations.
function mmd_hsic.mmd(given)
  local o = options.check("mmd", given, mmd_rules, 0)
  check(o)
  if o.X:cols() ~= o.Y:cols() then
    fail("X and Y have %d and %d columns; rows of one law have the same", o.X:cols(), o.Y:cols())
  end
  return progress.watched("mmd", o.progress, mmd_of, o)
end

-- ------------ independence

local function centred(Z) return Z - core.ones(Z:rows(), 1) * Z:mean(1) end

-- |Z'V / n|^2: the squared norm of the cross-covariance of centred features.
local function cross_norm(Z, V)
  local C = Z:t() * V
  return C:dot(C) / Z:rows() ^ 2
end

local function hsic_permuted(o, feats_x, feats_y)
  local Z, V = centred(of(feats_x, o.X)), centred(of(feats_y, o.Y))
  return cross_norm(Z, V), permuted(Z:rows(), o, function(order)
    return cross_norm(Z, V:select(order))
  end)
end

-- Where X and Y are independent, n times the statistic is about a sum of squared normals weighted
-- by the products of the eigenvalues of both covariances.
local function hsic_limit(o, feats_x, feats_y)
  local n, sum_z, sum_v, ZZ, VV, ZV = o.X:rows(), nil, nil, nil, nil, nil
  local function add(sum, more) return sum and sum + more or more end
  for i = 1, n, BLOCK do
    local last = math.min(i + BLOCK - 1, n)
    local Z, V = of(feats_x, o.X:slice(i, last)), of(feats_y, o.Y:slice(i, last))
    sum_z, sum_v = add(sum_z, Z:sum(1)), add(sum_v, V:sum(1))
    ZZ, VV, ZV = add(ZZ, Z:t() * Z), add(VV, V:t() * V), add(ZV, Z:t() * V)
  end
  local function covariance(S, a, b) return S * (1 / n) - a:t() * b * (1 / n ^ 2) end
  local C, weights = covariance(ZV, sum_z, sum_v), {}
  local mine, other = eigenvalues(covariance(ZZ, sum_z, sum_z)),
    eigenvalues(covariance(VV, sum_v, sum_v))
  -- at least i j - 1 products are as large as that of the i-th and the j-th
  for i, a in ipairs(mine) do
    for j = 1, math.min(#other, WEIGHTS // i) do
      weights[#weights + 1] = math.max(a, 0) * math.max(other[j], 0) / n
    end
  end
  table.sort(weights, function(a, b) return a > b end)
  return C:dot(C), chi_squares(weights, positive_sum(mine) * positive_sum(other) / n, o.seed)
end

local function hsic_of(o)
  local feats_x = drawn(o.features, o.T, o.seed, o.X)
  local feats_y = drawn(o.features_Y, o.T, o.seed + 1, o.Y)
  local statistic, draws = (o.method == "limit" and hsic_limit or hsic_permuted)(o, feats_x,
    feats_y)
  return result("Hilbert-Schmidt independence criterion: whether X and Y are independent", o,
    statistic, draws, { o.X:rows() }, tostring(feats_x) .. "; " .. tostring(feats_y))
end

--- sc.hsic{ X =, Y =, features =, features_Y =, T = 100, permutations = 499, method = "permutation"
--- | "limit", seed = 0 }: a test whether row i of X (n x d) and row i of Y (n x e) are independent,
--- by the Hilbert-Schmidt independence criterion (Gretton, Bousquet, Smola and Schoelkopf 2005) on
--- random features (Zhang, Filippi, Gretton and Sejdinovic 2018): the squared norm of the
--- cross-covariance of features of X and of Y, at a cost of n rows.
---
--- features, features_Y: any sc.features{...}, of X and of Y; by default T Fourier parameters of
--- the Gaussian kernel, whose width is that of the "median" rule. method: "permutation" pairs rows
--- anew; its p-value is exact for any number of rows, and the features of all rows are in memory.
--- "limit" takes the law that the statistic has for many rows, a sum of squared normals weighted by
--- products of eigenvalues of both covariances, by 9999 draws: one pass in blocks of rows.
---
--- The result has .statistic, .p (small: they depend on each other), .method, .rows and
--- .permutations.
function mmd_hsic.hsic(given)
  local o = options.check("hsic", given, hsic_rules, 0)
  check(o)
  if o.X:rows() ~= o.Y:rows() then
    fail("X and Y have %d and %d rows; row i of X belongs to row i of Y", o.X:rows(), o.Y:rows())
  end
  return progress.watched("hsic", o.progress, hsic_of, o)
end

return mmd_hsic
