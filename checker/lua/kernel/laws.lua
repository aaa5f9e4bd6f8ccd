--- Tests of kernels under a sampler's law: the tilt, expectations, widths that a law settles.
local core = require "scullery_checker.core"
local parameters = require "scullery_checker.parameters"
local statistics = require "scullery_checker.statistics"
local subject = parameters.subject

local LOG_2PI = math.log(2 * math.pi)

-- ------------ the tilt
--
-- K(u, w) p(w) = c(u) N(w; offset + shrink u, spread^2) holds for every pair, so that one look at a
-- pair is exact. The constants follow from it by integrals of Gaussian functions.

-- Laws that a tilt may have a closed form for: a sampler, columns, the in-degree (sparse), and
-- whether defaults may be too narrow for it.
local function laws(sc)
  return {
    { sc.sampler.gaussian{ sigma = 0.5, mean = 0.2 }, 1 },
    { sc.sampler.gaussian{ sigma = { 0.5, 0.6, 0.3, 0.6 }, mean = { 0.3, -0.2, 0, 0.5 } }, 4 },
    { sc.sampler.gaussian{ sigma = 2.5, mean = -1 }, 2, nil, true },
    { sc.sampler.gaussian{ sigma = { 0.2, 0.3, 0.2, 0.3, 0.2, 0.3, 0.2, 0.3, 0.25, 0.35, 0.25,
      0.3 } },
      12, nil, true },
    { sc.sampler.threshold{ sigma = 0.7 }, 1 },
    { sc.sampler.threshold{ sigma = 0.7 }, 4 },
    { sc.sampler.sparse{ degree = 2, sigma = 0.8 }, 4, 2 },
    { sc.sampler.sparse{ degree = { table = { 0, 0.4, 0.3, 0.3 } }, sigma = 0.7 }, 4, 3 },
  }
end

local function choose(n, k)
  local value = 1
  for i = 1, k do value = value * (n - k + i) / i end
  return value
end

-- Of each drawn parameter its columns (from 1), and a number for each.
local function numbers_of(room)
  local weights, list = core.block_get(room.weights), {}
  local support = room.support and core.block_get(room.support)
  for i = 1, room.count do
    local one = { columns = {}, numbers = {} }
    for j = 1, weights:cols() do
      local column = support and math.tointeger(support:get(i, j)) + 1 or j
      if column > 0 then
        table.insert(one.columns, column)
        table.insert(one.numbers, weights:get(i, j))
      end
    end
    one.key = table.concat(one.columns, " ")
    list[i] = one
  end
  return list
end

local function gaussian_log(x, mean, spread)
  return -0.5 * ((x - mean) / spread) ^ 2 - math.log(spread) - LOG_2PI / 2
end

-- log c(u) + log N(w) - log p(w), which log K(u, w) must be; p given the support.
local function log_kernel(tilt, law, scale, columns, u, w)
  local sum = tilt.log_one
  for k, j in ipairs(columns) do
    sum = sum + tilt.log0[j] + tilt.log1[j] * u[k] + tilt.log2[j] * u[k] ^ 2
      + gaussian_log(w[k], tilt.offset[j] + tilt.shrink[j] * u[k], tilt.spread[j])
      - gaussian_log(w[k], law.mean[j], law.scale[j] * scale)
  end
  return sum
end

local function check_pairs(t, kernel, room, tilt, law, scale, log_supports)
  local G = parameters.block(room.count, room.count)
  core.kernel_gram(kernel, room, room, G)
  local values, list = core.block_get(G), numbers_of(room)
  for a, one in ipairs(list) do
    for b, other in ipairs(list) do
      if one.key == other.key then
        local wanted = log_kernel(tilt, law, scale, one.columns, one.numbers, other.numbers)
          + log_supports
        local came = math.log(values:get(a, b))
        local is_near = wanted < -700 or math.abs(came - wanted) <= 1e-9 * (1 + math.abs(wanted))
        t:expect(is_near, "tilt: c(u) N(w; offset + \z
          shrink u, spread^2) / p(w) is exp(%.12g) for u = (%s), w = (%s), and K(u, w) is \z
          exp(%.12g)",
          wanted, table.concat(one.numbers, ", "), table.concat(other.numbers, ", "), came)
      end
    end
  end
end

-- Under K p p: u_j is Gaussian with precision P, and log of the mass of column j.
local function mass_of(tilt, law, scale, j)
  local m, v = law.mean[j], (law.scale[j] * scale) ^ 2
  local precision, slope = 1 / v - 2 * tilt.log2[j], tilt.log1[j] + m / v
  local log_mass = tilt.log0[j] + slope ^ 2 / (2 * precision) - m * m / (2 * v)
    - 0.5 * math.log(precision * v)
  return log_mass, precision
end

local function check_constants(t, tilt, law, scale, case)
  local d, degree = case[2], case[3]
  local mass, log_mass = nil, tilt.log_one
  for j = 1, d do
    local here, precision = mass_of(tilt, law, scale, j)
    t:expect(precision > 0, "tilt: log2 of column %d is %g, for which E E K is infinite", j - 1,
      tilt.log2[j])
    local spread = math.sqrt(tilt.shrink[j] ^ 2 / precision + tilt.spread[j] ^ 2)
    local correlation = tilt.shrink[j] / math.sqrt(precision) / spread
    for _, pair in ipairs{ { "correlation", correlation }, { "pair_scale", precision ^ -0.5 } } do
      local came = tilt[pair[1]][j]
      t:expect(math.abs(came - pair[2]) <= 1e-9 * (1 + math.abs(pair[2])),
        "tilt: %s of column %d is %.12g, and its other numbers make it %.12g", pair[1], j - 1, came,
        pair[2])
    end
    mass = mass or here
    log_mass = log_mass + here
  end
  -- columns of thresholds and of supports are alike here
  if case.space == "threshold" then log_mass = tilt.log_one + mass end
  if degree then log_mass = tilt.log_one + degree * mass end
  t:expect(math.abs(log_mass - tilt.log_mass) <= 1e-9 * (1 + math.abs(log_mass)), "tilt: \z
    log_mass is \z
    %.12g, and the other numbers make log E E K(u, w) %.12g", tilt.log_mass, log_mass)
end

local function diagonal_of(kernel, room)
  local out = { memory = core.guarded(room.count, "float64"), rows = room.count, cols = 1 }
  core.kernel_diagonal(kernel, room, out.memory)
  return core.block_get(out)
end

-- Parameters of one number each on a grid, 60 standard deviations to both sides: K(w, w) may grow
-- nearly as fast as the density falls.
local STEPS, WIDE = 12000, 60

local function grid_of(layout, d, law)
  local room = parameters.room(layout, d, 0, STEPS + 1)
  local numbers = core.zeros(STEPS + 1, 1)
  for i = 0, STEPS do
    numbers:set(i + 1, 1, law.mean[1] + law.scale[1] * WIDE * (2 * i / STEPS - 1))
  end
  core.block_put(room.weights, numbers)
  if room.support then core.block_put(room.support, core.zeros(STEPS + 1, 1)) end
  return room, numbers
end

-- log E K(w, w): by the trapezoidal rule over one number, or where K(w, w) is the same for all; nil
-- where draws would have to tell, whose tails are too heavy.
local function log_diagonal_of(kernel, layout, d, law, room)
  local list = diagonal_of(kernel, room)
  if list:max() - list:min() <= 1e-12 * list:max() then return math.log(list:max()) end
  if layout.reals ~= 1 or layout.space == "sparse" then return nil end
  local grid, numbers = grid_of(layout, d, law)
  local values, sum = diagonal_of(kernel, grid), 0
  for i = 1, STEPS + 1 do
    local term = math.log(values:get(i, 1)) + gaussian_log(numbers:get(i, 1), law.mean[1],
      law.scale[1])
    if term > -700 then sum = sum + math.exp(term) end
  end
  return math.log(sum * law.scale[1] * 2 * WIDE / STEPS)
end

local function check_log_diagonal(t, kernel, layout, d, law, room, tilt)
  local wanted = log_diagonal_of(kernel, layout, d, law, room)
  t:expect(not wanted or math.abs(tilt.log_diagonal - wanted) <= 1e-8 * (1 + math.abs(wanted)),
    "tilt: log_diagonal is %.12g, and log E K(w, w) is %.12g", tilt.log_diagonal, wanted)
end

-- The tilt; nil where there is none, and where the options of the kernel do not fit the law.
local function tilt_of(kernel, sampler, d, degree, is_default)
  if is_default then return core.kernel_tilt(kernel, sampler, d, degree) end
  local ok, tilt = pcall(core.kernel_tilt, kernel, sampler, d, degree)
  return ok and tilt or nil
end

local function check_tilt(t, kernel, case, is_default)
  local sampler, d, degree = t:instance(case[1]), case[2], case[3]
  local draw, layout = parameters.draw(t, case[1], d, 4096)
  if not core.kernel_spaces(kernel)[layout.space] then return false end
  local tilt = tilt_of(kernel, sampler, d, degree, is_default and not case[4])
  if not tilt then return false end
  case.space = layout.space
  t.label = ("%s, %d columns"):format(tostring(case[1]), d)
  for _, name in ipairs{ "offset", "shrink", "spread", "log0", "log1", "log2", "correlation",
    "pair_scale" } do
    for j = 1, d do
      t:expect(tilt[name][j] == tilt[name][j], "tilt: %s[%d] is left unwritten, or is NaN", name,
        j - 1)
    end
  end
  local law = core.law(sampler, d)
  local scale = degree and law.degree_scale[degree + 1] or 1
  local supports = layout.space == "threshold" and d or degree and choose(d, degree) or 1
  local room = parameters.lock(parameters.drawn(draw, layout, 0, 60))
  check_pairs(t, kernel, room, tilt, law, scale, math.log(supports))
  check_constants(t, tilt, law, scale, case)
  check_log_diagonal(t, kernel, layout, d, law, room, tilt)
  t.label = nil
  return true
end

local function run_tilt(t)
  local any = false
  local function try(component, is_default)
    if subject.offers(component, "scullery.bind/1") then return end
    for _, case in ipairs(laws(require "scullery")) do
      any = check_tilt(t, t:instance(component), case, is_default) or any
    end
  end
  for component, name in t:variants() do try(component, name == "defaults") end
  for _, one in ipairs(t.subject:far_variants()) do try(one.component, false) end
  for _, one in ipairs(t.subject:part_variants "indicator") do try(one.component, false) end
  if not any then t:skip("it has no closed form for a Gaussian law") end
end

-- ------------ expectations

-- Samplers that the kernel goes with, whose expectations are tried.
local function samplers_for(sc, takes_negative)
  if not takes_negative then return { sc.sampler.uniform{ low = 0.2, high = 1.5 } } end
  return { sc.sampler.gaussian{ sigma = 0.3 }, sc.sampler.uniform{ a = 0.5 },
    sc.sampler.sparse{ degree = 2, sigma = 0.3 }, sc.sampler.threshold{ sigma = 0.3 } }
end

local function check_expectation(t, sampler, kernel, phi, X)
  local inst = require("scullery").instantiation{ p = sampler, K = kernel, phi = phi }
  local u = inst:sample{ T = 4, seed = t.seed, d = 4 }
  local values, info = inst:expectation(u, X, { samples = 1 << 15, tolerance = 1e-2 })
  local simulated, about = inst:expectation(u, X, { method = "monte-carlo", samples = 1 << 16,
    tolerance = 5e-3, seed = t.seed })
  local stderr = math.sqrt(about.stderr ^ 2 + info.stderr ^ 2)
  local gap = (values - simulated):abs():max()
  t:expect(gap <= 1.2 * statistics.limit(200) * stderr + 1e-14, "E K(u, w) phi(w, x) of \z
    nonlinearity.%s: by method %s and by Monte Carlo it differs by %.3g, %.1f standard errors",
    phi.name, info.method, gap, gap / (stderr + 1e-300))
  if info.method ~= "exact" then return end
  local quadrature = inst:expectation(u, X, { method = "quadrature" })
  gap = (values - quadrature):abs():max() / math.max(values:abs():max(), about.stderr)
  t:expect(gap < 1e-9, "E K(u, w) phi(w, x) of nonlinearity.%s: closed form and quadrature differ \z
    by %.3g of their size", phi.name, gap)
end

local function run_expectation(t)
  local sc = require "scullery"
  local component = t.subject:variants()[1].component
  local X = t:random(8, 4) * 0.7
  local domain = core.domain(t:instance(component)) -- normal numbers are below any end
  local takes_negative = (not domain or domain.low == -math.huge)
    and pcall(component.gram, component, X, X)
  local count = 0
  for _, sampler in ipairs(samplers_for(sc, takes_negative)) do
    local space = subject.layout(sampler, 4).space
    if core.kernel_spaces(t:instance(component))[space] then
      for _, phi in ipairs{ sc.nonlinearity.sign(), sc.nonlinearity.fourier{ form = "pair" } } do
        t.label = tostring(sampler)
        check_expectation(t, sampler, component, phi, takes_negative and X or X:abs())
        count = count + 1
      end
    end
  end
  t.label = nil
  if count == 0 then t:skip("it goes with no sampler of this host") end
end

-- ------------ widths that a law settles

-- Each of its options that, as 0.5, makes it wait for a law.
local function waiting(t)
  local list = {}
  for _, option in ipairs(t.subject.info.options) do
    if option.takes:find("number", 1, true) then
      local ok, made = pcall(t.subject.make, t.subject, { [option.name] = 0.5 })
      if ok and subject.offers(made, "scullery.bind/1") then
        list[#list + 1] = { option.name, made }
      end
    end
  end
  return list
end

local function gram_of(kernel, X)
  local out, u = parameters.block(X:rows(), X:rows()), parameters.dense(X)
  core.kernel_gram(kernel, u, u, out)
  return core.block_get(out)
end

local function check_bound(t, name, component, sigma, d)
  local sc = require "scullery"
  local kernel, sampler = t:instance(component), t:instance(sc.sampler.gaussian{ sigma = sigma })
  local X = t:random(9, d)
  local ok, said = pcall(gram_of, kernel, X)
  t:expect(not ok and tostring(said):find("law", 1, true), "%s = 0.5: before a law is known, K is \z
    not refused", name)
  local bound, text = core.kernel_bind(kernel, sampler, d)
  local again, other = core.kernel_bind(kernel, sampler, d)
  local G = gram_of(bound, X)
  t:expect(#text > 0 and text == other, "%s = 0.5: describe says \"%s\", and of a second one \z
    \"%s\"",
    name, text, other)
  t:expect(G == gram_of(again, X), "%s = 0.5: bound twice to one law, K differs", name)
  t:expect(not pcall(gram_of, kernel, X), "%s = 0.5: binding changes the instance that it is \z
    asked \z
    for", name)
  local tilt = core.kernel_tilt(bound, sampler, d)
  if tilt and name == "theta" then
    t:expect(math.abs(math.exp(tilt.log_mass / 2) - 0.5) <= 1e-9, "theta = 0.5 with sigma = %g \z
      and \z
      %d columns: the root of E E K(u, w) is %.12g (%s)", sigma, d, math.exp(tilt.log_mass / 2),
      text)
  elseif tilt and name == "coefficient" then
    local c = tilt.log_one
    for j = 1, d do c = c + tilt.log0[j] end
    t:expect(math.abs(math.exp(c) - 0.5) <= 1e-9, "coefficient = 0.5 with sigma = %g and %d \z
      columns: \z
      c(0) is %.12g (%s)", sigma, d, math.exp(c), text)
  end
  return G
end

-- Laws whose parameters read some columns: an in-degree, and several.
local function sparse_laws(sc)
  return { sc.sampler.sparse{ degree = 2, sigma = 0.8 },
    sc.sampler.sparse{ degree = { table = { 0, 0.3, 0.3, 0.4 } }, sigma = 0.8 },
    sc.sampler.sparse{ degree = { table = { 0.1, 0.4, 0.5 } }, sigma = 0.8 } }
end

-- theta = 0.2: the mean of K over pairs of drawn parameters is 0.04, by draws, where K is bound to
-- a law of few columns: with its standard error by rows.
local PAIRS <const> = 1500

local function check_drawn(t, component, sampler)
  local kernel, law = t:instance(component), t:instance(sampler)
  local ok, bound = pcall(core.kernel_bind, kernel, law, 4)
  if not ok then return end
  local draw, layout = parameters.draw(t, sampler, 4, 2 * PAIRS)
  local u = parameters.lock(parameters.drawn(draw, layout, 0, PAIRS))
  local w = parameters.lock(parameters.drawn(draw, layout, PAIRS, PAIRS))
  local G = parameters.block(PAIRS, PAIRS)
  core.kernel_gram(bound, u, w, G)
  G = core.block_get(G)
  local ones = core.ones(PAIRS, 1) * (1 / PAIRS)
  local function list_of(A)
    local list = {}
    for i = 1, PAIRS do list[i] = A:get(i, 1) end
    return list
  end
  local mean, of_rows = statistics.mean(list_of(G * ones))
  local _, of_columns = statistics.mean(list_of(G:t() * ones))
  local stderr = math.sqrt(of_rows ^ 2 + of_columns ^ 2)
  t:expect(math.abs(mean - 0.04) <= statistics.limit(200) * stderr, "theta = 0.2 under %s: the \z
    mean of K over pairs of parameters is %.5f in place of 0.04, %.1f standard errors",
    tostring(sampler), mean, math.abs(mean - 0.04) / stderr)
end

local function run_bind(t)
  local list = waiting(t)
  if #list == 0 then t:skip("no option of it waits for a law") end
  for _, one in ipairs(list) do
    local name, component = one[1], one[2]
    local narrow = check_bound(t, name, component, 0.7, 4)
    check_bound(t, name, component, 0.7, 1)
    t:expect(check_bound(t, name, component, 1.9, 4) ~= narrow, "%s = 0.5: laws with sigma = 0.7 \z
      and \z
      1.9 give the same K", name)
    for _, sampler in ipairs(name == "theta" and sparse_laws(require "scullery") or {}) do
      check_drawn(t, t.subject:make{ theta = 0.2 }, sampler)
    end
  end
end

return {
  { name = "tilt", about = "K(u, .) p is the Gaussian law that the tilt declares", run = run_tilt },
  { name = "expectation", about = "E K(u, w) phi(w, x) agrees with Monte Carlo", seconds = 90,
    run = run_expectation },
  { name = "bind", about = "a width set through a law is found by binding, and meets its target",
    run = run_bind },
}
