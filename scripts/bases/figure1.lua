-- BASES, figure 1: random bases and their kernels
--
--   scullery scripts/bases/figure1.lua [--quick] [--seeds 20] [--features 1000] [--out out]
--
-- Each line of the paper's figure 1 names a basis, the distribution of its parameters and the
-- kernel that it induces. Here that kernel of two points that are delta apart in each of d = 4
-- columns, within [-1, 1]^d, is estimated from T = 1000 random bases, as the mean of 20 draws,
-- beside the paper's formula, for gamma = 0.5 and a = 1. Cauchy rows, the other way to the
-- Laplacian kernel, are from the paper's reference 4.
--
-- Two of its formulas are wrong by a factor. For stumps it prints 1 - ||x - y||_1 / a, where the
-- expectation is 1 - ||x - y||_1 / (a d), as the column is drawn uniformly. The printed formula is
-- -7 at opposite corners, but a mean of products of signs is at least -1. A second table compares
-- the estimates with the right formula. For Fourier bases, E cos(w'x + b) cos(w'y + b) is half of
-- the printed kernel, as the paper's equation 12 says; our bases are sqrt(2) cos(w'x + b).
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 20, features = 1000, out = "out" }
local d, gamma = 4, 0.5

local function laplacian(delta) return math.exp(-gamma * d * delta) end
local fourier = sc.nonlinearity.fourier()
local bases = {
  { "Gaussian Fourier", p = sc.sampler.gaussian{ gamma = gamma }, phi = fourier,
    formula = function(delta) return math.exp(-gamma * d * delta ^ 2) end },
  { "Cauchy Fourier", p = sc.sampler.cauchy{ gamma = gamma }, phi = fourier,
    formula = laplacian },
  { "bins", p = sc.sampler.grid{ gamma = gamma }, phi = sc.nonlinearity.bins(),
    formula = laplacian },
  { "stumps", p = sc.sampler.threshold{ a = 1 }, phi = sc.nonlinearity.sign(),
    formula = function(delta) return 1 - d * delta end,
    corrected = function(delta) return 1 - delta end },
}

local names, basis_of, deltas = {}, {}, sc.range(0, 2, 0.4)
for k, basis in ipairs(bases) do names[k], basis_of[basis[1]] = basis[1], basis end

local exp = sc.experiment{
  name = "bases_figure1", args = args,
  cells = { basis = names, delta = deltas, seed = sc.range(1, args.quick and 3 or args.seeds) },
  run = function(cell)
    local basis, x = basis_of[cell.basis], sc.ones(1, d) * (cell.delta / 2)
    local features = sc.features{ p = basis.p, phi = basis.phi, T = args.features,
      seed = cell.seed }:fit(sc.vcat(x, x * -1))
    return { estimate = features:kernel(x, x * -1):get(1, 1) }
  end,
}

local figures, published, corrected = {}, {}, {}
for k, basis in ipairs(bases) do
  local series = exp:series{ x = "delta", value = "estimate", where = { basis = basis[1] } }
  series[1].label, published[basis[1]] = "estimate", {}
  for _, one in ipairs{ { "as printed", published[basis[1]], basis.formula },
    basis.corrected and { "corrected", corrected, basis.corrected } } do
    local curve = { x = deltas, y = {}, label = one[1] }
    for i, delta in ipairs(deltas) do curve.y[i], one[2][delta] = one[3](delta), one[3](delta) end
    table.insert(series, curve)
  end
  figures[k] = sc.plot.line{ series = series, title = basis[1], marks = true, x_label = "delta",
    y_label = "kernel" }
end
sc.publish("bases/figure1", { args = args, experiment = exp,
  stand_in = args.quick and "3 draws",
  figures = { sc.plot.panels{ table.unpack(figures) } },
  tables = { exp:compare{
    label = "formula", title = "the paper's formulas", digits = 4, value = "estimate",
    rows = { "basis", "delta" }, published = published }, exp:compare{ value = "estimate",
    label = "formula", title = "stumps, the right formula", digits = 4, rows = "delta",
    published = corrected,
    where = { basis = "stumps" } } } })
