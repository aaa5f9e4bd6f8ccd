-- What must be true of every sampler by itself: its draws, its law, its bias. Found by enumerating
-- the registry (tests/registry.lua); properties_test.lua has samplers in maps. Random, but seeded;
-- a failure names the sampler, the property and the numbers.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local ask = require("scullery.objects").ask
local registry = dofile((os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/registry.lua")

local test, d = registry.test, registry.d

-- ---------------------------------------------------------------- draws

local data = registry.rows(function() end, sc.randn{ 60, d, seed = 12 })

-- Samplers that draw the same for all seeds: there is nothing random in them.
local deterministic = { columns = true }
-- Samplers that spend T parameters on several things, so that a parameter depends on T.
local of_total = { maclaurin = true, tensorsketch = true }

-- T parameters, one a row, to be compared bit by bit; of those that have no row w_t what they make
-- of the rows of data, times sqrt(T), with the rounding that this allows.
local function draw(s, T, seed)
  local phi = registry.partner(s.component)
  local rows = registry.rows_of(s.component, phi, data)
  local feats = sc.features{ p = s.component, phi = phi, T = registry.T(s.component, T),
    seed = seed }:fit(rows)
  local ok, w = pcall(feats.parameters, feats)
  if ok then return w, 0 end
  lu.assertStrContains(w, "its z is no <w, x>")
  local made, count = feats:transform(rows):t(), feats:info().T
  return made:slice(1, count) * math.sqrt(count), 1e-14
end

local function check_draws(s)
  local many, rounding = draw(s, 50, 5)
  lu.assertEquals((draw(s, 50, 6)) == many, deterministic[s.name] or false,
    s.label .. ": whether two seeds draw the same")
  local before = core.threads()
  for _, threads in ipairs{ 1, 4 } do
    core.threads(threads)
    lu.assertTrue((draw(s, 50, 5)) == many, s.label .. ": threads change the parameters")
  end
  core.threads(before)
  if of_total[s.name] or not registry.takes_any_T(s.component) then return end
  local few, most = draw(s, 10, 5), draw(s, 700, 5)
  for _, gap in ipairs{ few - many:slice(1, 10), many - most:slice(1, 50) } do
    lu.assertTrue(gap:abs():max() <= rounding * most:abs():max(),
      s.label .. ": a parameter depends on how many are drawn")
  end
end

for _, s in ipairs(registry.sampler) do
  test("draws of " .. s.label, function() check_draws(s) end)
end

-- ---------------------------------------------------------------- laws

-- Abramowitz and Stegun 26.2.17, good to 1e-7: the gaps looked for are 1e-2.
local function normal_cdf(x)
  local t = 1 / (1 + 0.2316419 * math.abs(x))
  local tail = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) *
    t * (0.319381530 + t * (
      -0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return x < 0 and tail or 1 - tail
end

-- Student's, by the midpoint rule: t = sqrt(f) tan(a) has the density cos(a)^(f-1), f degrees of
-- freedom.
local function student_cdf(freedom)
  local nodes, sums, total = 4000, { [0] = 0 }, 0
  for i = 1, nodes do
    total = total + math.cos(((i - 0.5) / nodes - 0.5) * math.pi) ^ (freedom - 1)
    sums[i] = total
  end
  return function(x)
    local place = (math.atan(x / math.sqrt(freedom)) / math.pi + 0.5) * nodes
    local i = math.max(0, math.min(nodes - 1, math.floor(place)))
    return (sums[i] + (place - i) * (sums[i + 1] - sums[i])) / total
  end
end

-- Distribution functions of (w_j - mean)/scale.
local function distribution(law)
  local laws = {
    gaussian = normal_cdf,
    uniform = function(x) return math.min(1, math.max(0, (x + 1) / 2)) end,
    laplace = function(x) return x < 0 and math.exp(x) / 2 or 1 - math.exp(-x) / 2 end,
    cauchy = function(x) return 0.5 + math.atan(x) / math.pi end,
  }
  return law.family == "student" and student_cdf(law.shape) or laws[law.family]
end

-- Kolmogorov and Smirnov: sqrt(n) times the largest gap is above 2.2 once in 8000.
local function check_distribution(label, values, cdf)
  local gap, n = 0, #values
  table.sort(values)
  for i = 1, n do gap = math.max(gap, math.abs(cdf(values[i]) - (i - 0.5) / n)) end
  lu.assertTrue(gap * math.sqrt(n) < 2.2,
    ("%s: the distribution of %d draws is off by %.4f"):format(label, n, gap))
end

-- Mean 0 and E e^2 = spread^2, within 5 standard errors.
local function check_moments(label, values, spread)
  local sum, second, fourth, n = 0, 0, 0, #values
  for _, e in ipairs(values) do
    sum, second, fourth = sum + e, second + e * e, fourth + e ^ 4
  end
  second = second / n
  local stderr = math.sqrt(math.max(fourth / n - second ^ 2, 0) / n) + 1e-9
  local about = math.abs(sum / n) / (spread / math.sqrt(n))
  lu.assertTrue(about < 5, ("%s: the mean is %.1f standard errors off"):format(label, about))
  about = math.abs(second - spread ^ 2) / stderr
  lu.assertTrue(about < 5,
    ("%s: E w^2 is %.6g scale^2, where the law has %.6g: %.1f standard errors"):format(label,
      second, spread ^ 2, about))
end

-- Standard deviations over the scale, where fourth moments are finite.
local spreads = { gaussian = 1, uniform = 1 / math.sqrt(3), rademacher = 1,
  laplace = math.sqrt(2), spherical = 1 }

-- The numbers (w_j - mean_j)/scale_j of one coordinate, or of all that share a law.
local function check_numbers(label, law, values)
  local cdf, spread = distribution(law), spreads[law.family]
  lu.assertTrue(cdf ~= nil or spread ~= nil, label .. ": no test of " .. law.family .. " numbers")
  if spread then check_moments(label, values, spread) end
  if law.family == "rademacher" then
    for _, e in ipairs(values) do lu.assertAlmostEquals(math.abs(e), 1, 1e-12, label) end
  elseif cdf then
    check_distribution(label, values, cdf)
  end
end

-- How often each of several things came, against the probabilities: the chi-square statistic has
-- mean k - 1 and variance 2 (k - 1).
local function check_frequencies(label, seen, probabilities, n)
  local statistic, k = 0, 0
  for what, p in pairs(probabilities) do
    local count = seen[what] or 0
    if p > 0 then
      statistic, k = statistic + (count - n * p) ^ 2 / (n * p), k + 1
    else
      lu.assertEquals(count, 0, ("%s: %s has probability 0"):format(label, what))
    end
  end
  lu.assertTrue(math.abs(statistic - (k - 1)) <= 5 * math.sqrt(2 * (k - 1)),
    ("%s: the chi-square statistic of %d frequencies is %.1f"):format(label, k, statistic))
end

local N = registry.sanitized and 4096 or 1 << 14
-- Rows that have their law only nearly: so many do not show it.
local nearly = { hadamard = 4096 }

local function sample(s, T)
  local phi = registry.partner(s.component)
  return sc.instantiation{ p = s.component, phi = phi }:sample{ T = T, seed = 3, d = d }
end

-- Rows that a pool shares count once.
local function different_rows(s, w)
  if not registry.offers(s.component, "scullery.pool/1") then return w end
  local seen, places = {}, {}
  for i = 1, w:rows() do
    local key = ("%.17g %.17g"):format(w:get(i, 1), w:get(i, 2))
    if not seen[key] then places[#places + 1] = i end
    seen[key] = true
  end
  return w:select(places)
end

-- The signs of two coordinates agree as often as not: no law here is skew.
local function check_signs(label, columns)
  local n = #columns[1]
  for j = 1, #columns do
    for k = j + 1, #columns do
      local sum = 0
      for i = 1, n do
        local product = columns[j][i] * columns[k][i]
        sum = sum + (product > 0 and 1 or product < 0 and -1 or 0)
      end
      lu.assertTrue(math.abs(sum) < 5 * math.sqrt(n),
        ("%s: columns %d and %d are correlated: %.3f"):format(label, j, k, sum / n))
    end
  end
end

-- Directions w/|w| are uniform: E u_j^4 = 3/(d (d + 2)), of standard deviation below its mean.
local function check_directions(label, columns)
  local n, sum = #columns[1], 0
  for i = 1, n do
    local square = 0
    for j = 1, d do square = square + columns[j][i] ^ 2 end
    for j = 1, d do sum = sum + columns[j][i] ^ 4 / square ^ 2 / d end
  end
  local wanted = 3 / (d * (d + 2))
  lu.assertTrue(math.abs(sum / n - wanted) < 5 * wanted / math.sqrt(n),
    ("%s: E u^4 is %.5f, where uniform directions have %.5f"):format(label, sum / n, wanted))
end

local function check_dense(label, law, w)
  local columns = {}
  for j = 1, d do
    columns[j] = {}
    for i = 1, w:rows() do columns[j][i] = (w:get(i, j) - law.mean[j]) / law.scale[j] end
  end
  check_signs(label, columns)
  if law.family == "spherical" then check_directions(label, columns) end
  for j = 1, d do check_numbers(("%s, column %d"):format(label, j), law, columns[j]) end
end

-- Row i as inst:sample gives it: places in support, then the numbers there.
local function check_supports(label, law, w)
  local slots = (w:cols() - (law.bias ~= "none" and 1 or 0)) // 2
  local degrees, places, numbers = {}, {}, {}
  local count = 0
  for i = 1, w:rows() do
    local s = 0
    while s < slots and w:get(i, s + 1) > 0 do s = s + 1 end
    degrees[s + 1] = (degrees[s + 1] or 0) + 1
    for slot = 1, s do
      local column = math.tointeger(w:get(i, slot))
      places[column], count = (places[column] or 0) + 1, count + 1
      numbers[count] = (w:get(i, slots + slot) - law.mean[column])
        / (law.scale[column] * law.degree_scale[s + 1])
    end
  end
  check_frequencies(label .. ", in-degrees", degrees, law.degree, w:rows())
  -- columns of one support differ, so that these vary less than independent ones
  for column = 1, d do
    lu.assertTrue(math.abs(places[column] - count / d) < 5 * math.sqrt(count / d),
      ("%s: column %d comes %d times in %d"):format(label, column, places[column], count))
  end
  check_numbers(label, law, numbers)
end

local function check_thresholds(label, law, w)
  local seen, each, values = {}, {}, {}
  for i = 1, w:rows() do
    local column = math.tointeger(w:get(i, 1))
    seen[column] = (seen[column] or 0) + 1
    values[i] = (w:get(i, 2) - law.mean[column]) / law.scale[column]
  end
  for column = 1, d do each[column] = 1 / d end
  check_frequencies(label .. ", columns", seen, each, w:rows())
  check_numbers(label, law, values)
end

-- Pitches, of which the law has mean and standard deviation, then shifts, uniform up to the pitch.
local function check_grids(label, law, w)
  for j = 1, d do
    local pitches, shares = {}, {}
    for i = 1, w:rows() do
      pitches[i] = (w:get(i, j) - law.mean[j]) / law.scale[j]
      shares[i] = w:get(i, d + j) / w:get(i, j)
    end
    check_moments(("%s, pitch %d"):format(label, j), pitches, 1)
    check_distribution(("%s, shift %d"):format(label, j), shares, function(x) return x end)
  end
end

-- Samplers that declare no law.
local without_law = { columns = true, landmarks = true, maclaurin = true, patches = true,
  skewed_chi_square = true, tensorsketch = true }

for _, s in ipairs(registry.sampler) do
  test("law of " .. s.label, function()
    local law = core.law(ask(s.component, "instance"), d)
    lu.assertEquals(law == nil, without_law[s.name] or false, s.label .. ": whether it has a law")
    if not law then return end
    local space = registry.layout(s.component).space
    local check = ({ dense = check_dense, structured = check_dense, sparse = check_supports,
      threshold = check_thresholds, grid = check_grids })[space]
    check(s.label, law, different_rows(s, sample(s, nearly[s.name] or N)))
  end)
end

-- Biases that an option can ask for, and the distribution of each.
local biases = {
  { "uniform", function(b) return (b + math.pi) / (2 * math.pi) end },
  { "gaussian", normal_cdf },
  { { -0.5, 2 }, function(b) return (b + 0.5) / 2.5 end },
  { { gaussian = 0.7 }, function(b) return normal_cdf(b / 0.7) end },
  { { gaussian = { -1, 0.2 } }, function(b) return normal_cdf((b + 1) / 0.2) end },
}

local function check_bias(s, bias, cdf, label)
  local biased = { component = ask(s.component, "with", "bias", bias), label = label }
  local w, values = sample(biased, N), {}
  local plain = sample({ component = ask(s.component, "with", "bias", "none") }, N)
  lu.assertTrue(w:slice(1, N, 1, plain:cols()) == plain, label .. ": a bias changes the weights")
  lu.assertEquals(w:cols(), plain:cols() + 1, label)
  for i = 1, N do values[i] = w:get(i, w:cols()) end
  check_distribution(label, values, cdf)
  local law = core.law(ask(biased.component, "instance"), d)
  if not law then return end
  local word = type(bias) == "string" and bias or bias.gaussian and "gaussian" or "uniform"
  lu.assertEquals(law.bias, word, label)
  if word == "uniform" then
    lu.assertTrue(cdf(law.bias_a) == 0 and cdf(law.bias_b) == 1, label .. ": the ends of the law")
  else
    lu.assertAlmostEquals(cdf(law.bias_a), 0.5, 1e-6, label .. ": the mean of the law")
    lu.assertAlmostEquals(cdf(law.bias_a + law.bias_b), normal_cdf(1), 1e-6, label)
  end
end

for _, s in ipairs(registry.sampler) do
  local option = s.plain and ask(s.component, "role", "bias")
  if option then
    lu.assertEquals(option, "bias")
    for i, case in ipairs(biases) do
      local label = ("bias %d of %s"):format(i, s.label)
      test(label, function() check_bias(s, case[1], case[2], label) end)
    end
  end
end

-- Landmarks: options that the method does not use, and rows that are not there.
function TestLandmarksRefuseWhatTheirMethodDoesNotUse()
  local X = sc.randn{ 30, 3, seed = 3 }
  local function refused(words, given, rows)
    local features = sc.features{ p = sc.sampler.landmarks(given), phi = sc.kernel.gaussian{},
      T = 5 }
    local ok, message = pcall(features.fit, features, rows)
    lu.assertFalse(ok)
    lu.assertStrContains(message, words)
  end
  refused("option 'sample' is not used by method = \"uniform\"", { sample = 20 }, X)
  for _, method in ipairs{ "uniform", "kmeans", "pivoted" } do
    refused("option 'lambda' belongs to method = \"leverage\"", { method = method, lambda = 0.1 },
      X)
  end
  refused("takes landmarks from rows, and there are none", {}, sc.zeros(0, 3))
end

os.exit(lu.LuaUnit.run(), true)
