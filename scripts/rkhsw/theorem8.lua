-- Theorem 8: by how much pruning may raise the risk, beside by how much it does
--
--     scullery scripts/rkhsw/theorem8.lua [--quick] [--seeds N] [--out DIR]
--
-- The theorem: for a weighting alpha that was learnt before and n new rows S, with probability 1 -
-- delta for all beta within the distance C of alpha, risk(beta) - risk(alpha) is at most that on S
-- plus rho theta C/sqrt n (2 + sqrt(2 log(1/delta))). Here alpha is learnt from 2000 rows of adult
-- (instantiation 1, sigma = 1, theta = 0.5, T = 300, lambda = 1e-4), and algorithm 5 prunes it by n
-- other rows, with the rule "theorem8" (equation 64), which makes the bound hold for all C at once;
-- the 40,000 rows left measure the risk. delta = 0.05, square loss (f - y)^2.
--
-- The bound holds in every run: the risk rises by a third to a twentieth of it, and by what it
-- rises by on S, to 3 per cent. The bound's own term rho theta C/sqrt n leaves little to prune:
-- with n = 500 an epsilon of 1 allows 22 per cent. With n = 4000 it allows the next step, a lambda
-- ten times larger, which takes all but one parameter: steps of ten are coarse here.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 5, out = "out" }
local ds = args.quick and sc.data.load("wdbc") or sc.data.load("adult")
local first, ns, T = 2000, { 500, 4000 }, 300
if args.quick then args.seeds, first, ns, T = 2, 200, { 100 }, 30 end

local exp = sc.experiment{ name = "rkhsw_theorem8", args = args,
  data = ds, cells = { n = ns, rule = { "theorem8", "risk" },
    epsilon = { 0.001, 0.01, 0.1, 1 }, seed = sc.range(1, args.seeds) },
  run = function(cell)
    local train, rest = ds:split{ test = #ds - first, seed = cell.seed }
    local S, test = rest:split{ test = #rest - cell.n, seed = cell.seed }
    local model = sc.pipeline{ sc.standardize(), sc.add_bias(),
      sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, K = sc.kernel.gaussian{ theta = 0.5 },
        phi = sc.nonlinearity.sign(), T = T, seed = cell.seed },
      sc.solver.ridge{ lambda = 1e-4, penalty = "rkhs" } }:fit(train)
    local small, info = model:prune{ accept = cell.rule, epsilon = cell.epsilon, data = S }
    local function risk(m, rows) return (m:decision(rows) - rows:targets()):norm() ^ 2 / #rows end
    return { pruned = 100 * (1 - info.kept / T), distance = info.distance,
      rise_on_S = risk(small, S) - risk(model, S), rise = risk(small, test) - risk(model, test),
      bound = info.measure, error = small:error(test) }
  end }
sc.publish("rkhsw/theorem8", { args = args, experiment = exp,
  stand_in = args.quick and "wdbc, T = 30",
  tables = { exp:table{ rows = { "rule", "n", "epsilon" } } } })
