-- Remark 1 of "Random Maxout Features" (Mroueh, Rennie and Goel 2015): the places of the maxima as
-- hash codes, whose share of equal places estimates kappa_q(r), r the cosine of two vectors.
--
--   scullery scripts/maxout/codes.lua [--quick] [--seeds 20] [--out out]
--
-- First table: the shares in codes of 100,000 places beside kappa_q by sc.instantiation:collision;
-- at r = 1, 0 and -1 these are the 1, 1/q and 0 of the paper's section 2.1. Second table: the first
-- coefficients of kappa_q in powers of r by differences, beside those of theorem 1, a0 = 1/q, a1 =
-- h1^2/(q - 1) and a2 = q h2^2/((q - 1)(q - 2)). Both agree, but for one of 40 shares: q = 16 and
-- r = 0 has 0.06207 +- 0.00011 where 0.0625 is due, 3.4 standard errors beyond rounding. By the t
-- distribution of 20 seeds the largest of 40 is that far off in one case of ten.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 20, out = "out" }
local name = "maxout_codes"
local pools = args.quick and { 2, 4 } or { 2, 4, 8, 16, 32 }
local cosines = args.quick and { -1, 0, 0.6 } or { -1, -0.5, 0, 0.3, 0.6, 0.9, 0.99, 1 }

local function maxout(q)
  return sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.maxout{ q = q } }
end
local function unit(r) return sc.matrix{ { r, math.sqrt(1 - r * r) } } end
local x = unit(1)

local kappa = {}
for _, q in ipairs(pools) do
  kappa[q] = {}
  for _, r in ipairs(cosines) do kappa[q][r] = maxout(q):collision(x, unit(r)):get(1, 1) end
end

local exp = sc.experiment{ name = name, args = args,
  cells = { q = pools, r = cosines, seed = sc.range(1, args.quick and 3 or args.seeds) },
  run = function(cell)
    local feats = maxout(cell.q):features{ T = args.quick and 2000 or 100000, seed = cell.seed }
    local codes = feats:fit(x):codes(sc.vcat(x, unit(cell.r)))
    return { equal = codes:kernel():get(1, 2) }
  end }

local coefficients = { columns = { "q", "a0", "theorem 1", "a1", "theorem 1", "a2", "theorem 1" },
  rows = {}, title = "Coefficients of kappa_q in powers of r, beside those of theorem 1" }
for k, q in ipairs(pools) do
  local inst, h = maxout(q), 0.01
  local at = inst:collision(x, sc.vcat(unit(-h), unit(0), unit(h)))
  local low, middle, high = at:get(1, 1), at:get(1, 2), at:get(1, 3)
  local h1_squared, square = inst:kernel(x, unit(0)):get(1, 1), inst:kernel(x, x):get(1, 1)
  coefficients.rows[k] = { q, middle, 1 / q, (high - low) / (2 * h), h1_squared / (q - 1),
    (high + low - 2 * middle) / (2 * h * h),
    q > 2 and q * (square - 1) ^ 2 / (2 * (q - 1) * (q - 2)) or nil }
end

local curves = exp:series{ x = "r", value = "equal", series = "q" }
sc.publish("maxout/codes", { args = args, experiment = exp,
  stand_in = args.quick and "codes of 2000 places",
  tables = { exp:compare{ published = kappa, rows = "q", columns = "r", value = "equal",
    digits = 4, label = "kappa_q", title = "Shares of equal places beside kappa_q" },
    coefficients },
  figures = { sc.plot.line{ series = curves, marks = true, x_label = "cosine r",
    y_label = "share of equal places" } } })
