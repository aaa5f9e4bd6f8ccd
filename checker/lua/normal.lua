--- Normal numbers for checks: random pairs, and expectations by quadrature.
local core = require "scullery_checker.core"

local normal = {}

--- normal.STANDARD_ERRORS: how far an estimate may be off: with the hundreds of looks of a run,
--- less than one false alarm in 10^5 runs.
normal.STANDARD_ERRORS = 6

--- normal.expect_mean(t, told, mean, stderr, what): fails where a plugin's number is too far from
--- an estimate.
function normal.expect_mean(t, told, mean, stderr, what)
  local off = math.abs(told - mean) / math.max(stderr, 1e-300)
  local rounding = 1e-9 * math.abs(mean)
  t:expect(math.abs(told - mean) <= normal.STANDARD_ERRORS * stderr + rounding, "%s is told as \z
    %.8g; random draws give %.8g with a standard error of %.2g, which is %.1f standard errors \z
    off", what,
    told, mean, stderr, off)
end

-- ------------ pairs

local DRAWS <const> = 40000

-- mean_a, mean_b, var_a, var_b, covariance
local cases = {
  { 0, 0, 1, 1, 0 }, { 0, 0, 1, 1, 0.5 }, { 0, 0, 1, 1, -0.8 }, { 0, 0, 0.25, 2, 0.3 },
  { 0.3, -0.2, 1, 1, 0.4 }, { 0.5, 0.5, 0.5, 0.1, -0.1 }, { -0.7, 0.4, 0.3, 0.6, 0 },
  { 0, 0, 1, 1, 1 }, { 0, 0, 1, 1, -1 }, { 0.2, 0.6, 1, 0.25, 0.5 },
  { 0.4, 0.3, 0, 1, 0 }, { 0.4, 0.3, 1, 0, 0 }, { 0.4, -0.3, 0, 0, 0 }, { 0, 0, 0, 1, 0 },
  { 0, 0, 0, 0, 0 }, { 0, 0, 1, 0, 0 }, { 0, 0.3, 0, 0, 0 }, { 0, -0.3, 0, 0, 0 },
  { 0.7, 0.7, 1, 1, 1 }, { 0.7, -0.7, 1, 1, -1 }, { -0.4, -0.4, 0.25, 0.25, -0.25 },
  { 0.6, 0.2, 4, 0.04, -0.4 }, { 0.8, -0.5, 1, 1, -0.5 }, { 0, 0.6, 1, 0.5, 0.3 },
  { 1.5, -2, 0.3, 0.4, 0.2 },
}

--- normal.moments_text(moments): "at means 0, 0, variances 1, 1, covariance 0.5".
function normal.moments_text(m)
  return ("at means %g, %g, variances %g, %g, covariance %g"):format(table.unpack(m))
end

local function standard(t, count, of) return t:random(1, count, of) end

--- normal.each_moments(t, p, f): f(moments, a, b) for moments of all sorts: a and b are rows of
--- pairs, drawn with them, planes side by side and independent.
function normal.each_moments(t, p, f)
  for of, m in ipairs(cases) do
    local sd_a, sd_b = math.sqrt(m[3]), math.sqrt(m[4])
    local r = sd_a > 0 and sd_b > 0 and m[5] / (sd_a * sd_b) or 0
    r = math.max(-1, math.min(1, r))
    local count = DRAWS * p.fan_in
    local x, y = standard(t, count, 2 * of), standard(t, count, 2 * of + 1)
    local ones = core.ones(1, count)
    local a = ones * m[1] + x * sd_a
    local b = ones * m[2] + (x * r + y * math.sqrt(1 - r * r)) * sd_b
    if p.shape.spaces.grid then a, b = a:map(math.floor), b:map(math.floor) end
    f(m, p:take(a), p:take(b))
  end
end

--- normal.mean_product(p, a, b): mean and standard error of sum_o phi_o(a) phi_o(b) over the pairs.
function normal.mean_product(p, a, b)
  local of_a, of_b = p:apply(a), p:apply(b)
  local n, sum = a:cols() // p.fan_in, nil
  local product = of_a:mul(of_b)
  for o = 1, p.fan_out do
    local one = product:slice(1, 1, (o - 1) * n + 1, o * n)
    sum = sum and sum + one or one
  end
  local mean = sum:sum() / n
  local square = sum:mul(sum):sum() / n
  return mean, math.sqrt(math.max(square - mean * mean, 0) / (n - 1))
end

-- ------------ quadrature

-- Gauss-Legendre on [-1, 1], 8 nodes.
local nodes = { 0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363 }
local weights = { 0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763 }

local REACH <const> = 13 -- standard deviations: the density is below 1e-37 beyond

-- The ends of panels of that width, and the places where phi(mean + sd x) breaks.
local function panel_ends(width, mean, sd, breaks)
  local ends = {}
  for i = 0, math.ceil(2 * REACH / width) do ends[#ends + 1] = -REACH + i * width end
  for _, at in ipairs(breaks) do
    local x = (at - mean) / sd
    if sd > 0 and math.abs(x) < REACH then ends[#ends + 1] = x end
  end
  table.sort(ends)
  return ends
end

--- normal.quadrature(mean, sd, breaks, width): numbers z and weights w so that E f(N(mean, sd^2))
--- is nearly sum w f(z), for f smooth but at the breaks; by Gauss's rule on panels of `width`
--- standard deviations.
function normal.quadrature(mean, sd, breaks, width)
  local z, w = {}, {}
  local ends = panel_ends(width, mean, sd, breaks)
  for i = 1, #ends - 1 do
    local middle, half = (ends[i] + ends[i + 1]) / 2, (ends[i + 1] - ends[i]) / 2
    for k = 1, 4 do
      for side = -1, 1, 2 do
        local x = middle + side * half * nodes[k]
        z[#z + 1] = mean + sd * x
        w[#w + 1] = half * weights[k] * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
      end
    end
  end
  return z, w
end

return normal
