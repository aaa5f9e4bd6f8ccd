-- Figure 1 of "Random Maxout Features" (Mroueh, Rennie and Goel 2015): distances between 100 points
-- of the unit circle before and after the maxout map, for pools of 8 and of 32 projections.
--
--   scullery scripts/maxout/figure1.lua [--quick] [--features 1000] [--out out]
--
-- The paper prints a picture and no numbers. It reads from it a linear regime for small distances,
-- then saturation, the earlier the larger q. Here the table measures that: the distances of points
-- at which that of their features has come to 50, 75 and 90 % of its largest. Beside the points are
-- drawn the distances by the exact kernel of the features, on which they lie, and by the kernel of
-- theorem 1, whose distances begin like a root: no linear regime.
local sc = require "scullery"
local args = sc.arguments{ quick = false, features = 1000, out = "out" }

-- Points of the unit circle at these angles.
local function circle(angles)
  local rows = {}
  for i, angle in ipairs(angles) do rows[i] = { math.cos(angle), math.sin(angle) } end
  return sc.matrix(rows)
end

-- The numbers of all pairs i > j.
local function pairs_of(D)
  local list = {}
  for i = 1, D:rows() do
    for j = 1, i - 1 do list[#list + 1] = D:get(i, j) end
  end
  return list
end

-- The distances by a kernel, which is the same for all points of the circle and themselves.
local function by_kernel(K)
  return pairs_of((2 * K:get(1, 1) - 2 * K):map(function(v) return math.sqrt(math.max(v, 0)) end))
end
local function rms(list, other) return math.sqrt(sc.metrics.mse(list, other)) end

-- Every `step`-th pair, as points of a picture.
local function thinned(x, y, step, label)
  local series = { x = {}, y = {}, label = label }
  for i = 1, #x, step do
    table.insert(series.x, x[i])
    table.insert(series.y, y[i])
  end
  return series
end

local n = args.quick and 30 or 100
local X = circle((sc.rand{ n, 1, seed = 1 } * (2 * math.pi)):t():totable()[1])
local before, order = pairs_of(X:distances()), sc.range(1, n * (n - 1) // 2)
table.sort(order, function(a, b) return before[a] < before[b] end)

local panels, found = {}, { columns = { "q", "at 50 %", "75 %", "90 %", "rms error of the points",
  "against theorem 1" }, rows = {}, title = "Distances of points at which that of their features \z
  is that share of its largest; distance of the features from the kernels" }
for k, q in ipairs{ 8, 32 } do
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.maxout{ q = q } }
  local K = inst:kernel(X, X)
  local map = inst:features{ T = args.features, seed = 1 }:fit(X)
  local after, exact = pairs_of(map:transform(X):distances()), by_kernel(K)
  local theorem = by_kernel(inst:collision(X, X):mul(X * X:t()) * K:get(1, 1))
  local row = { q }
  for s, share in ipairs{ 0.5, 0.75, 0.9 } do
    for _, i in ipairs(order) do
      if exact[i] >= share * exact[order[#order]] then
        row[s + 1] = before[i]
        break
      end
    end
  end
  row[5], row[6], found.rows[k] = rms(after, exact), rms(after, theorem), row
  panels[k] = sc.plot.scatter{ title = ("q = %d"):format(q), x_label = "distance of the points",
    y_label = "distance of their features", series = {
      thinned(before, after, 31, "features"), thinned(before, exact, 31, "their kernel"),
      thinned(before, theorem, 31, "theorem 1") } }
end
sc.publish("maxout/figure1", { args = args, tables = { found },
  stand_in = args.quick and "30 points", figures = { sc.plot.panels(panels) } })
