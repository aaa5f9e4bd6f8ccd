-- Equations 5 and 6: two kernels of sparse features in closed form
--
--     scullery scripts/sparse/kernels.lua [--quick] [--seeds N] [--out DIR]
--
-- Features of in-degree 1 look at one of the l entries of x each. Equation 5: step features,
-- sqrt(2) for z > 0 and else 0, have the kernel 1 - ||sgn x - sgn x'||_0/l. Equation 6: sign
-- features have 1 - (c/l) ||x - x'||_1. The picture shows the root mean square difference between
-- T features and the closed form, over the pairs of 40 rows that are uniform on [-a, a]^l, l = 6,
-- a = 3. A slope of -1/2 says that the kernel is the right one: the table has the slope from the
-- fewest features to the most.
--
-- Both equations hold, but it is the bias that tells them apart, and not the nonlinearity as the
-- paper says. Without a bias both nonlinearities give the Hamming distance of signs; with a bias
-- uniform on [-a, a] both give the l1 distance, with twice the slope for the sign:
--
--     step, no bias:       1 - ||sgn x - sgn x'||_0/l              (equation 5)
--     sign, no bias:       1 - 2 ||sgn x - sgn x'||_0/l
--     step, uniform bias:  1 - ||x - x'||_1/(2 a l)
--     sign, uniform bias:  1 - ||x - x'||_1/(a l)                  (equation 6, c = 1/a)
--
-- With a bias the weights here are +-1. For weights of another law the paper has c = 2 E|w|/(a2 -
-- a1). That holds only while w x stays within [a1, a2], and so for no law that is not bounded:
-- normal weights ("sign, normal weights") stay 0.06 away.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 10, out = "out" }
local T = { 2 ^ 6, 2 ^ 8, 2 ^ 10, 2 ^ 12 }
if not args.quick then table.move({ 2 ^ 14, 2 ^ 16 }, 1, 2, 5, T) end
local l, a = 6, 3
local X = a * (2 * sc.rand{ 40, l, seed = 1 } - 1)
local S = X:map(function(x) return x < 0 and -1 or 1 end)

-- 1 - ||x - x'||_1/length, of rows or of their signs: ||s - s'||_0 = ||s - s'||_1/2.
local function hat(length, rows) return sc.kernel.hat{ length = length }:gram(rows) end
local function errors(phi, weights, bias, kernel)
  return sc.kernel_error{ p = sc.sampler.sparse{ degree = 1, weights = weights, bias = bias },
    phi = phi, kernel = kernel, X = X, T = T, seeds = args.seeds }
end

local step, sign = sc.nonlinearity.arccos{ order = 0 }, sc.nonlinearity.sign()
local uniform = { -a, a }
local names = { "step, no bias (equation 5)", "sign, no bias", "step, uniform bias",
  "sign, uniform bias (equation 6)", "sign, uniform bias, normal weights" }
local found = {
  errors(step, "gaussian", "none", hat(2 * l, S)),
  errors(sign, "gaussian", "none", hat(l, S)),
  errors(step, "rademacher", uniform, hat(2 * a * l, X)),
  errors(sign, "rademacher", uniform, hat(a * l, X)),
  errors(sign, "gaussian", uniform, hat(a * l / math.sqrt(2 / math.pi), X)),
}
local rows = {}
for i, one in ipairs(found) do
  local last = one.rows[#one.rows]
  rows[i] = { names[i], ("%.4f +- %.2g"):format(last.rms, last.stderr),
    ("%.2f +- %.2g"):format(one.slope, one.slope_stderr) }
end

sc.publish("sparse/kernels", { args = args, stand_in = args.quick and "at most 4096 features",
  tables = { { columns = { "features", "rms difference, most features", "slope" }, rows = rows } },
  figures = { found[1]:plot{ with = { table.unpack(found, 2) }, labels = names } } })
