-- BASES, figure 1: random bases and their kernels
--
--   scullery scripts/bases/figure1.lua [--quick] [--seeds 20] [--features 1000] [--out out]
--
-- Each line of the paper's figure 1 names a basis, the distribution of its parameters and the kernel
-- that it induces. Here that kernel of two points that are delta apart in each of d = 4 columns,
-- within [-1, 1]^d, is estimated from T = 1000 random bases, as the mean of 20 draws, beside the
-- paper's formula, for gamma = 0.5 and a = 1. Cauchy rows, the other way to the Laplacian kernel, are
-- from the paper's reference 4.
--
-- Two formulas differ from the paper's:
--
-- - Stumps: the paper prints 1 - ||x - y||_1 / a. The expectation is 1 - ||x - y||_1 / (a d), as the
--   column is drawn uniformly. The printed formula is -7 at opposite corners, where a mean of
--   products of signs is at least -1. "stumps, corrected" are the same estimates.
-- - Fourier: E cos(w'x + b) cos(w'y + b) is half of the kernel that the figure names, as the paper's
--   equation 12 says. Our bases are sqrt(2) cos(w'x + b).
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 20, features = 1000, out = "out" }
local d, gamma = 4, 0.5

local fourier, sampler = sc.nonlinearity.fourier(), sc.sampler
local stumps = { p = sampler.threshold{ a = 1 }, phi = sc.nonlinearity.sign() }
local bases = {
  ["Fourier, Gaussian rows"] = { p = sampler.gaussian{ gamma = gamma }, phi = fourier,
    kernel = function(delta) return math.exp(-gamma * d * delta ^ 2) end },
  ["Fourier, Cauchy rows"] = { p = sampler.cauchy{ gamma = gamma }, phi = fourier,
    kernel = function(delta) return math.exp(-gamma * d * delta) end },
  bins = { p = sampler.grid{ gamma = gamma }, phi = sc.nonlinearity.bins(),
    kernel = function(delta) return math.exp(-gamma * d * delta) end },
  ["stumps, as printed"] = { p = stumps.p, phi = stumps.phi,
    kernel = function(delta) return 1 - d * delta end },
  ["stumps, corrected"] = { p = stumps.p, phi = stumps.phi,
    kernel = function(delta) return 1 - delta end },
}

local names = { "Fourier, Gaussian rows", "Fourier, Cauchy rows", "bins", "stumps, as printed",
  "stumps, corrected" }
local deltas, published = sc.range(0, 2, 0.5), {}
for name, basis in pairs(bases) do
  published[name] = {}
  for _, delta in ipairs(deltas) do published[name][delta] = basis.kernel(delta) end
end

local exp = sc.experiment{
  name = "bases_figure1" .. (args.quick and "_quick" or ""), folder = args.out .. "/cells",
  cells = { basis = names, delta = deltas, seed = sc.range(1, args.quick and 3 or args.seeds) },
  run = function(cell)
    local basis, ones = bases[cell.basis], sc.ones(1, d)
    local x, y = ones * (-cell.delta / 2), ones * (cell.delta / 2)
    local features = sc.features{ p = basis.p, phi = basis.phi, T = args.features,
      seed = cell.seed }:fit(sc.vcat(x, y))
    return { estimate = features:kernel(x, y):get(1, 1) }
  end,
}

local figures, grid = {}, sc.range(0, 2, 0.1)
for _, name in ipairs(names) do
  local formula = { x = grid, y = {}, label = "formula" }
  for k, delta in ipairs(grid) do formula.y[k] = bases[name].kernel(delta) end
  local estimate = exp:series{ x = "delta", value = "estimate", where = { basis = name } }[1]
  estimate.label = "estimate"
  figures[#figures + 1] = sc.plot.line{ series = { formula, estimate }, title = name,
    marks = true, x_label = "delta", y_label = "k(x, x + delta)" }
end
sc.publish(args.out .. "/bases/figure1", { experiment = exp,
  figures = { sc.plot.panels{ table.unpack(figures) } },
  tables = { exp:compare{ rows = { "basis", "delta" }, value = "estimate", digits = 4,
    published = published, title = "formulas of the paper's figure 1, and estimates" } } })
