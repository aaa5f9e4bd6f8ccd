-- Figure 3: test error and chosen penalty against n, for four in-degrees
--
--     scullery scripts/sparse/figure3.lua [--quick] [--seeds N] [--out DIR]
--
-- As the author's public code does it: 4000 rows, uniform on [0, 1]^16, of which n are learnt from
-- and the others judge, 1200 pairs (sin, cos) with weights of standard deviation 1/sqrt(in-degree)
-- and random phases, and seven penalties from 1e-4 to 1e2 by leave-one-out. The target is linear,
-- plus 5 % of one product of six entries (the paper: three products of three), plus noise of
-- variance 0.0025. A seed is another choice of the n rows and other features.
--
-- "standardised": features are centred and scaled before the ridge, as in that code, and so is the
-- penalty. "plain": features over sqrt(1200), as the paper prints them.
--
-- The paper: in-degree 1 is best below n = 250, 3 between 250 and 400, beyond 400 those from 3 on
-- are alike, and larger in-degrees choose larger penalties. Standardised features show this order;
-- plain ones do not: 10 and 16 are best at every n, and 6 to 8 % better than all standardised ones
-- to n = 250. In-degree 1 chooses smaller penalties in both.
local sc = require "scullery"
local args = sc.arguments{ quick = false, seeds = 8, out = "out" }
local n_all, l, m, noise, alpha = 4000, 16, args.quick and 200 or 1200, 0.05, 0.05
local sizes = args.quick and { 100, 150 } or { 100, 150, 200, 250, 300, 350, 400, 500, 700, 1000 }
local degrees, forms = { 1, 3, 10, 16 }, { "standardised", "plain" }
local slopes = { -0.53926, -1.15441, -0.29942, 2.36166, 1.75824, -0.96256, 0.02302,
  -0.20230, -0.23697, -0.61731, -0.27449, 0.92285, -0.93457, -0.35447, 0.33233, -0.41543 }
local products = { { 15, 7, 3, 13, 8, 15, weight = -1 } } -- the sign is that of the code
local polynomial = sc.data.sparse_polynomial
local ds = polynomial{ rows = n_all, cols = l, linear = slopes, products = products, alpha = alpha,
  noise = noise, seed = 1 }
local exp = sc.experiment{
  name = "sparse_figure3", args = args,
  cells = { features = forms, degree = degrees, n = sizes,
    seed = sc.range(1, args.quick and 2 or args.seeds) },
  run = function(cell)
    local train, test = ds:split{ test = n_all - cell.n, seed = cell.seed }
    local scaled = cell.features == "standardised"
    local unit = scaled and 1 or cell.n
    local stages = { sc.features{ p = sc.sampler.sparse{ degree = cell.degree,
        sigma = 1, bias = "uniform" },
      phi = sc.nonlinearity.fourier{ form = "pair" }, T = m, seed = cell.seed } }
    if scaled then stages[2] = sc.standardize() end
    stages[#stages + 1] = sc.solver.ridge{ lambda = sc.choose.log{ 1e-4 / unit, 1e2 / unit,
      count = 7 } }
    local model = sc.pipeline(stages):search(train, { folds = "loo" })
    return { error = model:error(test),
      penalty = math.log(model.choice["solver.lambda"] * unit, 10) }
  end }

local best, pictures = {}, {}
for i, n in ipairs(exp:values("n")) do
  best[i] = { n, args.quick and "" or n < 250 and 1 or n <= 400 and 3 or "3, 10, 16" }
  for k, form in ipairs(forms) do
    local one = exp:best{ value = "error", where = { features = form, n = n },
      most = { error = math.huge } }
    best[i][k + 2] = one and ("%d: %.5f +- %.1g"):format(one.cell.degree, one.mean, one.error or 0)
  end
end
for _, form in ipairs(exp:values("features")) do
  for _, value in ipairs{ "error", "penalty" } do
    pictures[#pictures + 1] = sc.plot.line{ title = form .. " features, by in-degree",
      x_label = "n", x_log = true, y_log = value == "error", y_label = "test " .. value,
      series = exp:series{ x = "n", value = value, series = "degree",
        where = { features = form } } }
  end
end
sc.publish("sparse/figure3", { args = args, experiment = exp,
  stand_in = args.quick and "200 features, n to 150",
  tables = { { title = "In-degree of the least test error", rows = best,
    columns = { "n", "paper", "standardised features", "plain features" } },
    exp:table{ rows = { "features", "n" }, columns = "degree", value = "error" },
    exp:table{ rows = { "features", "n" }, columns = "degree", value = "penalty" } },
  figures = { sc.plot.panels{ width = 1200, height = 900, table.unpack(pictures) } } })
