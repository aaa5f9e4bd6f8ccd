-- Figure 2 of "Random Maxout Features" (Mroueh, Rennie and Goel 2015): 33 images of one thing at 33
-- angles on the first two principal components of their maxout features, m = 10,000, q = 12.
--
--   scullery scripts/maxout/figure2.lua [--quick] [--images 10] [--step 3] [--out out]
--
-- The paper's images are photographs of a face in an order that its authors call noisy; they cannot
-- be had. In their place: digits of MNIST turned by -48, -45, ..., 48 degrees, of unit norm as in
-- the paper. The points lie on an arc in the order of their angles. The table measures that over
-- ten digits: the share of images whose nearest neighbour in the plane is the one before or after,
-- and the rank correlation of the angle and the place along the shortest way through the points.
-- Both are 1 for each digit, and for the components of the pixels: it is no merit of the map.
local sc = require "scullery"
local args = sc.arguments{ quick = false, images = 10, step = 3, out = "out" }
local name = "maxout_figure2"
local angles = sc.range(-16 * args.step, 16 * args.step, args.step)
local n = #angles
-- Images of a blob each, where there is no MNIST.
local function blobs(count)
  local at, rows = sc.rand{ count, 2, seed = 1 } * 8 + 2, {}
  for i = 1, count do
    rows[i] = {}
    for p = 0, 783 do
      local dy, dx = p // 28 - at:get(i, 1), p % 28 - at:get(i, 2)
      rows[i][p + 1] = math.exp(-(dx * dx + 3 * dy * dy) / 50)
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
-- From point to point, always to the nearest one not yet seen, from the start that makes the
-- shortest way; the rank correlation of 1 .. n with the places along it.
local function rank_correlation(Z)
  local shortest, best, D = math.huge, nil, Z:distances()
  for start = 1, n do
    local left, at, length, order = sc.range(1, n), start, 0, {}
    while true do
      left[at], order[#order + 1] = nil, at
      local nearest, to = math.huge, nil
      for j in pairs(left) do
        if D:get(at, j) < nearest then nearest, to = D:get(at, j), j end
      end
      if not to then break end
      at, length = to, length + nearest
    end
    if length < shortest then shortest, best = length, order end
  end
  return math.abs(sc.metrics.spearman(best, sc.range(1, n)))
end
local function neighbours(Z)
  local ids = sc.pipeline{ sc.solver.knn{ k = 2 } } -- itself and the nearest other: their mean
    :fit(Z, sc.range(1, n)):predict(Z)
  local count = 0
  for i = 1, n do count = count + (math.abs(ids:get(i, 1) - i) == 0.5 and 1 or 0) end
  return count / n
end
local exp = sc.experiment{ name = name, args = args, data = images,
  cells = { image = sc.range(1, args.images), map = { "maxout", "pixels" }, step = { args.step } },
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
sc.publish("maxout/figure2", { args = args, experiment = exp,
  stand_in = args.quick and "pictures of blobs, 500 features",
  tables = { exp:table{ rows = "map", over = "image" } }, figures = { sc.plot.panels(panels) } })