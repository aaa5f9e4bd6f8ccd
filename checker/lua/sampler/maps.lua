--- Tests of samplers: the features that they make with nonlinearities of this host, and the kernel
--- that is declared for them.
local blocks = require "scullery_checker.blocks"
local core = require "scullery_checker.core"
local parameters = require "scullery_checker.parameters"
local settings = require "scullery_checker.settings"
local statistics = require "scullery_checker.statistics"
local subject = parameters.subject

local RUNS = 100

local function features(sampler, phi, T, seed)
  return require("scullery").features{ p = sampler, phi = phi, T = subject.T(sampler, T),
    seed = seed }
end

-- Means of unbounded features of unbounded slope are far from normal but for small numbers and many
-- parameters.
local function is_steep(t, phi)
  local facts = core.facts(t:instance(phi))
  return facts.bound == math.huge and facts.lipschitz == math.huge
end

-- Rows that the pair takes; nil where it takes none of 4 columns. Of many columns numbers of one
-- sign: what columns share adds up.
local WIDE <const> = 150

local function rows_of(t, sampler, phi, d)
  local X = d and t:random(8, d):abs() * math.sqrt(40 / d) or t:random(8, 4)
  local ok
  ok, X = pcall(subject.rows, function(rows)
    features(sampler, phi, 2, 1):fit(rows):transform(rows)
  end, X * (is_steep(t, phi) and 0.25 or 0.7))
  return ok and X or nil
end

-- The kernel that is declared for the pair on the rows; nil where there is none.
local function declared(sampler, phi, X)
  local inst = require("scullery").instantiation{ p = sampler, phi = phi }
  local ok, made = pcall(inst.kernel, inst, X, X)
  return ok and made or nil
end

local function is_bounded(t, phi) return core.facts(t:instance(phi)).bound < math.huge end

-- Structured rows have their law only nearly.
local function slack_of(sampler)
  return subject.layout(sampler, 4).space == "structured" and 0.03 or 1e-12
end

local function check_pair(t, sampler, phi, X, exact)
  local size = exact:abs():max()
  t:expect((exact - exact:t()):abs():max() <= 1e-12 * size,
    "with nonlinearity.%s: the kernel that is declared is not symmetric", phi.name)
  local T = is_steep(t, phi) and 4096 or 256
  local mean, stderr = statistics.over_runs(RUNS, function(run)
    return features(sampler, phi, T, t.seed * 1000 + run):fit(X):kernel(X, X)
  end)
  -- of products that are hardly ever other than 0 the draws may have met none
  local rare = 1 / (T * RUNS)
  local worst, at = statistics.farthest(mean, stderr + rare * size, exact,
    slack_of(sampler) * size)
  -- the standard error comes of RUNS runs alone: its own spread widens the limit
  local limit = 1.3 * statistics.limit(64 * 20)
  t:expect(worst < limit, "with nonlinearity.%s: the mean product of the features of rows %d and \z
    %d \z
    over %d seeds is %.6g, where the kernel that is declared is %.6g: %.1f standard errors; %.1f \z
    are \z
    allowed", phi.name, at[1] - 1, at[2] - 1, RUNS, mean:get(at[1], at[2]),
    exact:get(at[1], at[2]), worst, limit)
end

-- With its defaults, every nonlinearity that there is; with other options, two bounded ones; with
-- other parts, any one.
local function check_kernels(t, sampler, is_first, one)
  if subject.layout(sampler, 4).count > 0 or not subject.takes_any_T(sampler) then return 0 end
  local count = 0
  for _, phi in ipairs(subject.built_in "nonlinearity") do
    if subject.fits(sampler, phi) and (is_first or one and count < 1
      or not one and count < 2 and is_bounded(t, phi)) then
      local X = rows_of(t, sampler, phi)
      local exact = X and declared(sampler, phi, X)
      if exact then
        check_pair(t, sampler, phi, X, exact)
        count = count + 1
        local wide = is_first and count == 1 and rows_of(t, sampler, phi, WIDE)
        exact = wide and declared(sampler, phi, wide)
        if exact then check_pair(t, sampler, phi, wide, exact) end
      end
    end
  end
  return count
end

local function run_kernel(t)
  local count, is_first = 0, true
  for sampler in t:variants() do
    if pcall(subject.layout, sampler, 4) then
      count = count + check_kernels(t, sampler, is_first)
    end
    is_first = false
  end
  local has_parts = false
  for _, option in ipairs(t.subject.info.options) do
    has_parts = has_parts or option.words[1] == "sampler"
  end
  for _, one in ipairs(has_parts and settings.list(t) or {}) do
    t.label = one.label
    if one.far == 1 and pcall(subject.layout, one.component, 4) then
      count = count + check_kernels(t, one.component, false, true)
    end
  end
  if count == 0 then t:skip("no kernel is declared for it and a nonlinearity of this host") end
end

-- ------------ the rate

-- Least squares slope of log error against log T, by draws number first to last.
local function slope_of(t, sampler, phi, X, exact, first, last)
  local n, sx, sy, sxx, sxy = 0, 0, 0, 0, 0
  for _, T in ipairs{ 64, 256, 1024, 4096 } do
    local sum = 0
    for run = first, last do
      local made = features(sampler, phi, T, t.seed * 1000 + 500 + run):fit(X):kernel(X, X)
      sum = sum + (made - exact):norm() ^ 2
    end
    local x, y = math.log(T), math.log(sum) / 2
    n, sx, sy, sxx, sxy = n + 1, sx + x, sy + y, sxx + x * x, sxy + x * y
  end
  return (n * sxy - sx * sy) / (n * sxx - sx * sx)
end

-- The error of independent features falls like T^(-1/2). The error of dependent ones falls faster,
-- or stops at what they share. With 30 draws the slope has a standard error of up to .04 where one
-- direction dominates, so that a suspicious slope is estimated again from 150 other draws.
local function run_rate(t)
  local sampler = t.subject:variants()[1].component
  if not (subject.is_independent(sampler) and subject.takes_any_T(sampler)) then
    t:skip("its parameters depend on each other, or their number is fixed")
  end
  for _, phi in ipairs(subject.built_in "nonlinearity") do
    local X = subject.fits(sampler, phi) and is_bounded(t, phi) and rows_of(t, sampler, phi)
    local exact = X and declared(sampler, phi, X)
    if exact then
      local slope = slope_of(t, sampler, phi, X, exact, 1, 30)
      if math.abs(slope + 0.5) >= 0.1 then
        slope = slope_of(t, sampler, phi, X, exact, 31, 180)
      end
      t:expect(math.abs(slope + 0.5) < 0.1, "with nonlinearity.%s: the error of the kernel falls \z
        like T^%.3f from T = 64 to 4096; T^-0.5 is right for independent parameters", phi.name,
        slope)
      t:note("the error of the kernel of nonlinearity.%s falls like T^%.3f", phi.name, slope)
      return
    end
  end
  t:skip("no kernel is declared for it and a bounded nonlinearity of this host")
end

-- ------------ sparse rows

-- A matrix without most of its numbers; row 3 has none, row 4 all.
local function with_zeros(X)
  for i = 1, X:rows() do
    for j = 1, X:cols() do
      if i == 3 or i ~= 4 and (7 * i + 3 * j) % 5 > 1 then X:set(i, j, 0) end
    end
  end
  return X
end

-- Features of sparse rows, which slot `apply_csr` of structured parameters may make, are those of
-- the same rows with their zeros: with one nonlinearity of this host.
local function run_sparse(t)
  local count = 0
  for _, one in ipairs(settings.list(t)) do
    local sampler = one.component
    t.label = one.label
    for _, phi in ipairs(subject.built_in "nonlinearity") do
      local takes, want, X, map
      local ok, fits = pcall(subject.fits, sampler, phi)
      if ok and fits and pcall(subject.layout, sampler, 40) then
        takes, want = pcall(function()
          X = with_zeros(t.subject.into(core.domain(t:instance(sampler)), t:random(12, 40) * 0.7))
          map = features(sampler, phi, 6, t.seed):fit(X)
          return map:transform(X)
        end)
      end
      if takes then
        count = count + 1
        local made = map:transform(blocks.csr(X))
        local gap, size = (made - want):abs():max(), math.max(want:abs():max(), 1e-300)
        t:expect(gap <= 1e-11 * size, "with nonlinearity.%s: features of sparse rows differ by \z
          %.3g from those of the same rows with zeros, of up to %.3g", phi.name, gap, size)
        break
      end
    end
  end
  if count == 0 then t:skip("no nonlinearity of this host takes its numbers") end
end

return {
  { name = "sparse-rows", about = "features of sparse rows are those of the rows with their zeros",
    run = run_sparse },
  { name = "kernel", about = "features estimate the kernel that is declared", seconds = 120,
    run = run_kernel },
  { name = "rate", about = "the error of the kernel falls like T^(-1/2)", seconds = 60,
    run = run_rate },
}
