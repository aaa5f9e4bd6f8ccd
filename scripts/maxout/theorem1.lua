-- Theorem 1 of "Random Maxout Features" (Mroueh, Rennie and Goel 2015): the kernel that maxout
-- features of q projections estimate, measured for unit vectors of cosine r.
--
--   scullery scripts/maxout/theorem1.lua [--quick] [--seeds 20] [--out out]
--
-- The theorem states K(x, z) = E[max^2] <x, z> kappa_q(r), with kappa_q the probability that both
-- maxima are at the same place. Its proof takes the products of maxima at different places to have
-- mean 0. They have not, as the maximum of several normals has a positive mean: orthogonal x and z
-- give E[max]^2 and not 0. The features miss the theorem by hundreds of standard errors everywhere
-- but at r = 1. They agree with sc.kernel.maxout (the second table): K = ||x|| ||z|| M_q(r), M_q(r)
-- = E[max_j a_j max_j b_j] over q pairs of normals of correlation r, for which dM_q/dr = kappa_q.
-- What the paper says of kappa_q itself holds: codes.lua.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 20, out = "out" }
local name = "maxout_theorem1"

local pools = args.quick and { 2, 4 } or { 2, 4, 8, 16 }
local cosines = args.quick and { 0, 0.6, 1 } or { -0.9, -0.5, 0, 0.3, 0.6, 0.9, 1 }

local function maxout(q)
  return sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.maxout{ q = q } }
end

local function pair(r) return sc.matrix{ { 1, 0 } }, sc.matrix{ { r, math.sqrt(1 - r * r) } } end

-- What the theorem states and what sc.kernel.maxout gives, for each q and r.
local stated, corrected = {}, {}
for _, q in ipairs(pools) do
  local inst = maxout(q)
  stated[q], corrected[q] = {}, {}
  for _, r in ipairs(cosines) do
    local x, z = pair(r)
    stated[q][r] = inst:kernel(x, x):get(1, 1) * r * inst:collision(x, z):get(1, 1)
    corrected[q][r] = inst:kernel(x, z):get(1, 1)
  end
end

local exp = sc.experiment{ name = name, args = args,
  cells = { q = pools, r = cosines, seed = sc.range(1, args.quick and 3 or args.seeds) },
  run = function(cell)
    local x, z = pair(cell.r)
    local feats = maxout(cell.q):features{ T = args.quick and 2000 or 100000, seed = cell.seed }
    return { kernel = feats:fit(x):kernel(x, z):get(1, 1) }
  end }

-- The rms error over pairs of random unit vectors against the number of features.
local q, normals = 4, sc.randn{ 40, 5, seed = 1 }
local X = sc.pipeline{ sc.normalize() }:fit(normals):transform(normals)
local inst, sizes = maxout(q), args.quick and { 64, 256 } or { 64, 256, 1024, 4096, 16384 }
local ours = sc.kernel_error{ inst = inst, X = X, T = sizes, seeds = args.quick and 2 or 4 }
local theirs = sc.kernel_error{ inst = inst, X = X, T = sizes, seeds = args.quick and 2 or 4,
  kernel = (inst:collision(X, X):mul(X * X:t())) * stated[q][1] }
local curves = {}
for k, result in ipairs{ theirs, ours } do
  local curve = { x = {}, y = {}, error = {}, label = ({ "theorem 1", "sc.kernel.maxout" })[k] }
  for i, row in ipairs(result.rows) do
    curve.x[i], curve.y[i], curve.error[i] = row.T, row.rms, row.stderr
  end
  curves[k] = curve
end

local function compare(formula, label, title)
  return exp:compare{ published = formula, rows = "q", columns = "r", value = "kernel",
    digits = 4, label = label, title = title }
end
sc.publish("maxout/theorem1", { args = args, experiment = exp,
  stand_in = args.quick and "2000 features",
  tables = { compare(stated, "theorem 1", "The features beside theorem 1 (published)"),
    compare(corrected, "sc.kernel.maxout", "The features beside sc.kernel.maxout") },
  figures = { sc.plot.line{ series = curves, x_log = true, y_log = true, marks = true,
    x_label = "features", y_label = "rms error of the kernel, q = 4" } } })
