-- Figure 2 of "Random Maxout Features" (Mroueh, Rennie and Goel 2015): 33 images of one thing at 33
-- angles on the first two principal components of their maxout features, m = 10,000, q = 12.
--
--   scullery scripts/maxout/figure2.lua [--quick] [--images 10] [--out out]
--
-- The paper's images are photographs of a face in an order that its authors call noisy; they cannot
-- be had. In their place: digits of MNIST turned by -80, -75, ..., 80 degrees, of unit norm as in
-- the paper. The points lie on an arc in the order of their angles. The table measures that over
-- several digits: the share of images whose nearest neighbour in the plane is one turned by 5
-- degrees less or more, and Spearman's rank correlation between the angle and the place along the
-- arc, cut where the points seen from their centre leave the widest gap. Beside it: the components
-- of pixels.
local sc = require "scullery"
local args = sc.arguments{ quick = false, images = 10, out = "out" }
local name = "maxout_figure2" .. (args.quick and "_quick" or "")
local angles = sc.range(-80, 80, 5)
local n = #angles

-- Images of three blobs, where there is no MNIST.
local function blobs(count)
  local at, rows = sc.rand{ count, 6, seed = 1 } * 16 + sc.ones(count, 6) * 6, {}
  for i = 1, count do
    rows[i] = {}
    for p = 0, 783 do
      local sum = 0
      for b = 1, 5, 2 do
        local dy, dx = p // 28 - at:get(i, b), p % 28 - at:get(i, b + 1)
        sum = sum + math.exp(-(dx * dx + dy * dy) / 12)
      end
      rows[i][p + 1] = sum
    end
  end
  return sc.dataset{ X = rows }
end
local images = args.quick and blobs(args.images) or sc.data.load("mnist", "test")
local maxout = sc.pipeline{ sc.normalize(), sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
  phi = sc.nonlinearity.maxout{ q = 12 }, T = args.quick and 500 or 10000, seed = 1 } }
local maps = { maxout = maxout:fit(images), pixels = sc.pipeline{ sc.normalize() }:fit(images) }

local function plane(image, map)
  local Z = maps[map]:transform(sc.data.rotate(images.X[image], angles))
  return sc.pipeline{ sc.pca{ k = 2 } }:fit(Z):transform(Z)
end

-- The rank correlation of 1 .. n with the places along the arc.
local function rank_correlation(Z)
  local centre, turn, order = Z:mean(1), {}, sc.range(1, n)
  for i = 1, n do
    turn[i] = math.atan(Z:get(i, 2) - centre:get(1, 2), Z:get(i, 1) - centre:get(1, 1))
  end
  table.sort(order, function(a, b) return turn[a] < turn[b] end)
  local widest, cut = turn[order[1]] - turn[order[n]] + 2 * math.pi, 0
  for k = 2, n do
    local gap = turn[order[k]] - turn[order[k - 1]]
    if gap > widest then widest, cut = gap, k - 1 end
  end
  local sum = 0
  for k = 1, n do sum = sum + (order[(cut + k - 1) % n + 1] - k) ^ 2 end
  return math.abs(1 - 6 * sum / (n * (n * n - 1)))
end

local function neighbours(Z)
  local ids = sc.pipeline{ sc.solver.knn{ k = 2 } } -- itself and the nearest other: their mean
    :fit(Z, sc.range(1, n)):predict(Z)
  local count = 0
  for i = 1, n do count = count + (math.abs(ids:get(i, 1) - i) == 0.5 and 1 or 0) end
  return count / n
end

local exp = sc.experiment{ name = name, folder = args.out .. "/cells", data = images,
  cells = { image = sc.range(1, args.images), map = { "maxout", "pixels" } },
  run = function(cell)
    local Z = plane(cell.image, cell.map)
    return { neighbours = neighbours(Z), rank_correlation = rank_correlation(Z) }
  end }
local panels = {}
for k, map in ipairs{ "maxout", "pixels" } do
  local Z = plane(1, map)
  panels[k] = sc.plot.scatter{ x = Z:column(1), y = Z:column(2), text = sc.range(1, n), title = map,
    x_label = "first component", y_label = "second component", equal = true }
end
sc.publish(args.out .. "/maxout/" .. name:gsub("^maxout_", ""), { experiment = exp,
  tables = { exp:table{ rows = "map", over = "image" } }, figures = { sc.plot.panels(panels) } })
