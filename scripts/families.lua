-- Features learnt from the rows beside features drawn without them: the test error of ridge
-- regression on Nystrom features (landmarks chosen in four ways) and on Fourier features of one
-- Gaussian kernel, against the number of features, as a table and as a picture
-- (docs/nystrom_fourier.svg or the path given). It takes a quarter of an hour on two cores.
local sc = require "scullery"
local core = require "scullery.core"

local landmarks, fourier = sc.sampler.landmarks, sc.nonlinearity.fourier{ form = "pair" }
local families = { -- name, colour, dashes, features of D numbers for exp(-gamma ||x - y||^2)
  { "Fourier", "#000000", "2,3", function(gamma, D, seed)
    return sc.features{ p = sc.sampler.gaussian{ gamma = gamma }, phi = fourier, T = D // 2,
      seed = seed }
  end },
  { "orthogonal Fourier", "#888888", "6,3", function(gamma, D, seed)
    return sc.features{ p = sc.sampler.orthogonal{ gamma = gamma }, phi = fourier, T = D // 2,
      seed = seed }
  end },
}
for i, method in ipairs{ "uniform", "kmeans", "leverage", "pivoted" } do
  families[#families + 1] = { "Nystrom, " .. method,
    ({ "#0072b2", "#d55e00", "#009e73", "#cc79a7" })[i], "none", function(gamma, D, seed)
      return sc.features{ p = landmarks{ method = method }, phi = sc.kernel.gaussian{
        gamma = gamma }, T = D, seed = seed }
    end }
end

local function cpu_act()
  local train, test = sc.data.load("cpu_act"):split{ test = 0.25, seed = 0 }
  return { title = "cpu_act: share of variance unexplained", train = train, test = test,
    stages = { sc.standardize() }, gamma = 0.01, lambda = 1e-6, seeds = 5, low = 0.02, high = 0.2,
    marks = { 0.02, 0.05, 0.1, 0.2 }, error = function(m) return 1 - m:score(test) end }
end

local function mnist()
  local train, test = sc.data.load("mnist", "train"), sc.data.load("mnist", "test")
  return { title = "MNIST: share of test digits mistaken", train = train, test = test, stages = {},
    gamma = 0.02, lambda = 1e-6, seeds = 2, low = 0.02, high = 0.4,
    marks = { 0.02, 0.05, 0.1, 0.2, 0.4 }, error = function(m) return 1 - m:score(test) end }
end

local sizes = { 64, 128, 256, 512, 1024, 2048 }

-- Mean over seeds of the test error and of the seconds of processors that a fit takes.
local function measure(set, family, D)
  local sum, begun = 0, os.clock()
  for seed = 1, set.seeds do
    local stages = { table.unpack(set.stages) }
    stages[#stages + 1] = family[4](set.gamma, D, seed)
    local nystrom = family[1]:find("Nystrom", 1, true)
    stages[#stages + 1] = sc.solver.ridge{ lambda = set.lambda, intercept = true,
      penalty = nystrom and "rkhs" or "l2" }
    sum = sum + set.error(sc.pipeline(stages):fit(set.train))
  end
  return sum / set.seeds, (os.clock() - begun) / set.seeds
end

-- ---------------------------------------------------------------- the picture

local svg = { '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="410" \z
  font-family="sans-serif" font-size="13">', '<rect width="900" height="410" fill="white"/>' }
local function add(...) svg[#svg + 1] = string.format(...) end

local function line(points, colour, dashes, width)
  add('<polyline points="%s" fill="none" stroke="%s" stroke-width="%g" stroke-dasharray="%s"/>',
    table.concat(points, " "), colour, width, dashes)
end

local function panel(set, left)
  local function x_of(D) return left + 360 * math.log(D / sizes[1], 2) / (#sizes - 1) end
  local function y_of(e) return 310 - 270 * math.log(e / set.low) / math.log(set.high / set.low) end
  add('<text x="%d" y="24" text-anchor="middle">%s</text>', left + 180, set.title)
  for _, D in ipairs(sizes) do
    line({ x_of(D) .. ",40", x_of(D) .. ",310" }, "#eeeeee", "none", 1)
    add('<text x="%.1f" y="328" text-anchor="middle">%d</text>', x_of(D), D)
  end
  for _, e in ipairs(set.marks) do
    line({ left .. "," .. y_of(e), left + 360 .. "," .. y_of(e) }, "#eeeeee", "none", 1)
    add('<text x="%d" y="%.1f" text-anchor="end">%g</text>', left - 8, y_of(e) + 4, e)
  end
  add('<text x="%d" y="348" text-anchor="middle">number of features</text>', left + 180)
  print(("\n%s\n%-20s %s"):format(set.title, "number of features",
    table.concat(sizes, "   ") .. "   processor time of a fit and test with the most"))
  for _, family in ipairs(families) do
    local points, cells, seconds = {}, {}, 0
    for i, D in ipairs(sizes) do
      local e
      e, seconds = measure(set, family, D)
      points[i] = ("%.1f,%.1f"):format(x_of(D), y_of(math.min(math.max(e, set.low), set.high)))
      cells[i] = ("%.4f"):format(e)
    end
    line(points, family[2], family[3], 2)
    print(("%-20s %s   %.1f s"):format(family[1], table.concat(cells, " "), seconds))
  end
end

panel(cpu_act(), 65)
panel(mnist(), 515)
for i, family in ipairs(families) do
  local x, y = 65 + 290 * ((i - 1) // 2), 372 + 20 * ((i - 1) % 2)
  line({ x .. "," .. y, x + 34 .. "," .. y }, family[2], family[3], 2)
  add('<text x="%d" y="%d">%s</text>', x + 42, y + 4, family[1])
end
add("</svg>")
local path = arg[1] or "docs/nystrom_fourier.svg"
core.write_text(path, table.concat(svg, "\n") .. "\n") -- whole or not at all
