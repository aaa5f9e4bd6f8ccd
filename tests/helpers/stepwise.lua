--- What tests of solvers that go step by step share: lists of numbers, data, features.
local sc = require "scullery"

local stepwise = {}

--- stepwise.zeros(n): a list of n zeros.
function stepwise.zeros(n)
  local list = {}
  for i = 1, n do list[i] = 0 end
  return list
end

--- stepwise.rows_of(x[, intercept]): rows of x as lists, with 1 at the end where there is an
--- intercept.
function stepwise.rows_of(x, intercept)
  local rows = x:totable()
  for i = 1, #rows do if intercept then rows[i][#rows[i] + 1] = 1 end end
  return rows
end

--- stepwise.total(w): the sum of a list.
function stepwise.total(w)
  local sum = 0
  for i = 1, #w do sum = sum + w[i] end
  return sum
end

-- 60 rows, 4 columns; targets with outliers, or two classes that overlap; weights that differ.
stepwise.x4 = sc.randn{ 60, 4, seed = 11 }
local x4, noise = stepwise.x4, sc.randn{ 60, 1, seed = 12 }
local numbers, labels, heavy, ones = {}, {}, {}, {}
local counts, sizes = {}, {} -- sizes: above 0
for i = 1, 60 do
  local f = x4:get(i, 1) - 0.5 * x4:get(i, 3)
  numbers[i] = 2 + f + 0.3 * noise:get(i, 1) + (i % 9 == 0 and 15 or 0)
  labels[i] = f + noise:get(i, 1) > 0.4 and 1 or -1
  heavy[i], ones[i] = (i % 4) * 0.7, 1 -- some weigh nothing
  counts[i] = math.floor(math.exp(1 + x4:get(i, 1) / 2) + i % 3)
  sizes[i] = math.exp(1 + x4:get(i, 2) / 2 + math.sin(i) / 2)
end
stepwise.counts, stepwise.sizes = counts, sizes
stepwise.numbers, stepwise.labels, stepwise.heavy, stepwise.ones = numbers, labels, heavy, ones

--- stepwise.data_of(y, task[, w]): these targets and weights of the rows x4.
function stepwise.data_of(y, task, w)
  return sc.dataset{ X = x4, y = y, task = task, weights = w }
end

--- stepwise.fit(solver, ds[, stages]): the solver behind these stages, fitted.
function stepwise.fit(solver, ds, stages)
  stages = stages or {}
  stages[#stages + 1] = solver
  return sc.pipeline(stages):fit(ds)
end

--- stepwise.sinks([T[, dtype]]): random Fourier features.
function stepwise.sinks(T, dtype)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(),
    T = T or 120, seed = 1, dtype = dtype }
end

-- Thresholds: phi = sign(x_i - t), p uniform on i and normal with deviation s on t, K = 1[i = j]
-- exp(-(t - u)^2/(2 g^2)).
stepwise.s, stepwise.g = 1, 1.5
stepwise.inst = sc.instantiation{ W = sc.space.threshold(),
  K = sc.kernel.gaussian{ width = stepwise.g }, p = sc.sampler.threshold{ sigma = stepwise.s },
  phi = sc.nonlinearity.sign() }

--- stepwise.weights_of(model, intercept): the list of the solver's a, then b where there is one.
function stepwise.weights_of(m, intercept)
  local a = {}
  for j = 1, m:weights():rows() do a[j] = m:weights():get(j, 1) end
  if intercept then a[#a + 1] = m:intercept():get(1, 1) end
  return a
end

--- stepwise.farthest(u, v): the largest difference of two lists.
function stepwise.farthest(u, v)
  local most = 0
  for j = 1, #u do most = math.max(most, math.abs(u[j] - v[j])) end
  return most
end

return stepwise
