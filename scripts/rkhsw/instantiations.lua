-- Instantiations for which the paper had no integrals
--
--     scullery scripts/rkhsw/instantiations.lua [--quick] [--seeds N] [--out DIR]
--
-- Instantiation 1 with other base predictors, and with the exponential kernel K = exp(<u, w>/g^2).
-- The paper has E K(u, w) phi(w, x) for the sign only, and leaves others to Monte Carlo; here those
-- of a Gaussian p are exact (tanh: by quadrature). Least squares fit, T = 500; sigma, the width of
-- K and lambda by 5-fold cross-validation; a constant is fitted. Risk: the share of test rows
-- mistaken (wdbc), the share of variance unexplained (airfoil and cpu_act, 25 per cent of the
-- rows).
--
-- sign depends on the direction of x alone. Predictors that grow with x help where the target does:
-- on cpu_act relu and maxout leave a third of the variance that sign leaves. Smooth ones help on
-- airfoil: cos and sin, and relu with the exponential K. On wdbc all are alike.
local sc = require "scullery"

local args = sc.arguments{ quick = false, seeds = 3, out = "out" }
local sets = args.quick and { "wdbc" } or { "wdbc", "salsa_airfoil", "cpu_act" }
local T = args.quick and 10 or 500

local phi = sc.nonlinearity
local gaussian = sc.kernel.gaussian{ theta = sc.choose{ 0.1, 0.5, 0.9 } }
local tilt = sc.kernel.exponential{ width = sc.choose{ 1.6, 2, 4 } } -- needs 2 sigma^2 < width^2
local instantiations = {
  ["sign (the paper's)"] = { phi.sign(), gaussian },
  erf = { phi.erf(), gaussian },
  tanh = { phi.tanh(), gaussian },
  relu = { phi.relu(), gaussian },
  ["cos and sin"] = { phi.fourier{ form = "pair" }, gaussian },
  maxout = { phi.maxout{ q = 2 }, gaussian },
  ["relu, exponential K"] = { phi.relu(), tilt },
}

local cells = {}
for _, set in ipairs(sets) do
  for seed = 1, args.quick and 1 or args.seeds do
    for name in pairs(instantiations) do
      -- the quadrature of tanh takes 15 microseconds a value
      if name ~= "tanh" or seed == 1 and set ~= "cpu_act" then
        cells[#cells + 1] = { data = set, instantiation = name, seed = seed }
      end
    end
  end
end
local exp = sc.experiment{
  name = "rkhsw_instantiations", args = args,
  cells = cells,
  run = function(cell)
    local f, K = table.unpack(instantiations[cell.instantiation])
    local train, test = sc.data.load(cell.data):split{ test = 0.25, seed = cell.seed }
    local p = sc.pipeline{ sc.standardize(), sc.add_bias(),
      sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose{ 0.1, 1 } }, phi = f, K = K, T = T,
        seed = cell.seed },
      sc.solver.ridge{ lambda = sc.choose.log{ 1e-9, 1e-3, count = 7 }, penalty = "rkhs",
        intercept = true } }:search(train, { folds = 5, seed = cell.seed })
    local start = os.clock()
    p:fit(train)
    local seconds = os.clock() - start
    return { risk = 1 - p:score(test), seconds = seconds, lambda = p.choice["solver.lambda"] }
  end,
}

local panels = {}
for _, set in ipairs(sets) do
  local table, names, values, whiskers = exp:table{ rows = "instantiation", value = "risk",
    where = { data = set } }, {}, {}, {}
  for k, row in ipairs(table.rows) do
    names[k], values[k], whiskers[k] = row.labels[1], row.means[1], row.errors[1] or 0
  end
  if #names > 0 then
    panels[#panels + 1] = sc.plot.bars{ names = names, values = values, error = whiskers,
      title = set, y_label = "test risk" }
  end
end
sc.publish("rkhsw/instantiations", { args = args,
  experiment = exp, stand_in = args.quick and "wdbc, T = 10",
  tables = { exp:table{ rows = "instantiation", columns = "data", value = "risk" },
    exp:table{ rows = "instantiation", columns = "data", value = "seconds" } },
  figures = { sc.plot.panels(panels) } })
