-- Means and standard deviations of ridge regressions on random Fourier features, for
-- scripts/bench/gaussian_process.py, which compares them with the exact Gaussian process.
--
--   build/scullery scripts/bench/gaussian_process.lua FOLDER [NOISE] [SAMPLER] [DRAWS]
--
-- writes X.npy, y.npy, at.npy and noise.npy (its variance, by default 0.1), and for each T
-- mean_T.npy and std_T.npy: a row for each draw of the features (by default 100, of
-- sc.sampler.gaussian), a column for each row of at.
local sc = require "scullery"
local folder, noise, sampler = arg[1], tonumber(arg[2] or 0.1), sc.sampler[arg[3] or "gaussian"]
local n, d, draws = 150, 2, tonumber(arg[4] or 100)

local X = sc.rand{ n, d, seed = 1 } * 4 - 2
local y = (X * sc.ones(d, 1)):map(math.sin) + sc.randn{ n, 1, seed = 2 } * noise ^ 0.5
local at = sc.rand{ 60, d, seed = 3 } * 5 - 2.5 -- some are outside of the range of the rows
for name, matrix in pairs{ X = X, y = y, at = at, noise = sc.matrix{ { noise } } } do
  matrix:save(("%s/%s.npy"):format(folder, name))
end
for _, T in ipairs{ 100, 300, 1000, 3000, 10000 } do
  local means, stds = {}, {}
  for seed = 1, draws do
    local p = sc.pipeline{ sc.features{ p = sampler{ gamma = 0.5 }, T = T, seed = seed,
      phi = sc.nonlinearity.fourier{ form = "pair" } },
      sc.solver.ridge{ lambda = noise / n, intercept = false } }:fit(X, y)
    local mean, std = p:predict(at, { std = true, noise = "prior" })
    means[seed], stds[seed] = mean:t(), std:t()
  end
  sc.vcat(table.unpack(means)):save(("%s/mean_%d.npy"):format(folder, T))
  sc.vcat(table.unpack(stds)):save(("%s/std_%d.npy"):format(folder, T))
end
