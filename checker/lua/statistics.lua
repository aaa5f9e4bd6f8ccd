--- Tests of numbers against a law, for the checker. Each is passed by what has the law but for once
--- in ten million runs: `looks` says how often a test looks, which widens its limit.
local statistics = {}

local FALSE_ALARMS = 1e-7

--- statistics.limit([looks]): standard errors that a normal number passes with probability
--- 1e-7/looks (Mills' ratio).
function statistics.limit(looks)
  local tail, z = FALSE_ALARMS / (looks or 1) / 2, 5
  for _ = 1, 20 do z = math.sqrt(-2 * math.log(tail * z * math.sqrt(2 * math.pi))) end
  return z
end

--- statistics.stages, statistics.stage_limit(stage, looks), statistics.doubt: sequential tests.
--- Where a first sample leaves a doubt, more standard errors than a right plugin often has, one of
--- four times its size is looked at, and so on for so many stages. Stage k fails beyond the limit
--- of 2^k times as many looks, so that all stages together fail a right plugin once in ten million
--- runs.
statistics.stages, statistics.doubt = 3, 3.5
function statistics.stage_limit(stage, looks) return statistics.limit(2 ^ stage * looks) end

--- statistics.mean(values): their mean and its standard error.
function statistics.mean(values)
  local sum, square, n = 0, 0, #values
  for i = 1, n do sum = sum + values[i] end
  local mean = sum / n
  for i = 1, n do square = square + (values[i] - mean) ^ 2 end
  return mean, math.sqrt(square / n / math.max(n - 1, 1))
end

--- statistics.distance(sorted, cdf): the largest gap between the share of values up to x and
--- cdf(x), and x.
function statistics.distance(sorted, cdf)
  local gap, at, n = 0, 0, #sorted
  for i = 1, n do
    local here = math.abs(cdf(sorted[i]) - (i - 0.5) / n)
    if here > gap or here ~= here then gap, at = here, sorted[i] end
  end
  return gap, at
end

--- statistics.distance_limit(n[, looks]): the gap that n independent values pass with probability
--- 1e-7/looks (Kolmogorov; Massart's bound).
function statistics.distance_limit(n, looks)
  return math.sqrt(math.log(2 * (looks or 1) / FALSE_ALARMS) / (2 * n)) + 0.5 / n
end

-- ------------ distribution functions

--- statistics.normal_cdf(x): good to 1e-7 (Abramowitz and Stegun 26.2.17).
function statistics.normal_cdf(x)
  local t = 1 / (1 + 0.2316419 * math.abs(x))
  local tail = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) *
    t * (0.319381530 + t * (
      -0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return x < 0 and tail or 1 - tail
end

-- Student's, by the midpoint rule, f degrees of freedom: t = sqrt(f) cot(a) has the density
-- sin(a)^(f-1), and a^p, p = min(f, 1), one that is bounded.
local function student_cdf(freedom)
  local nodes, sums, total, power = 4000, { [0] = 0 }, 0, math.min(freedom, 1)
  local most = (math.pi / 2) ^ power
  for i = 1, nodes do
    local a = ((i - 0.5) / nodes * most) ^ (1 / power)
    total = total + math.sin(a) ^ (freedom - 1) * a ^ (1 - power)
    sums[i] = total
  end
  return function(x)
    local place = math.atan(math.sqrt(freedom), math.abs(x)) ^ power / most * nodes
    local i = math.max(0, math.min(nodes - 1, math.floor(place)))
    local tail = (sums[i] + (place - i) * (sums[i + 1] - sums[i])) / total / 2
    return x < 0 and tail or 1 - tail
  end
end

local cdfs = {
  gaussian = statistics.normal_cdf,
  uniform = function(x) return math.min(1, math.max(0, (x + 1) / 2)) end,
  laplace = function(x) return x < 0 and math.exp(x) / 2 or 1 - math.exp(-x) / 2 end,
  cauchy = function(x) return 0.5 + math.atan(x) / math.pi end,
}

--- statistics.cdf(law): the distribution function of (w_j - mean_j)/scale_j; nil where the family
--- has none.
function statistics.cdf(law)
  return law.family == "student" and student_cdf(law.shape) or cdfs[law.family]
end

--- statistics.spreads: standard deviations over the scale, where fourth moments are finite.
statistics.spreads = { gaussian = 1, uniform = 1 / math.sqrt(3), rademacher = 1,
  laplace = math.sqrt(2), spherical = 1 }

-- ------------ tests that fail by themselves

--- statistics.check_moments(t, what, values, spread, looks[, slack]): mean 0 and E e^2 = spread^2,
--- but for `slack` over the spread.
function statistics.check_moments(t, what, values, spread, looks, slack)
  local limit, squares = statistics.limit(2 * looks), {}
  for i, e in ipairs(values) do squares[i] = e * e end
  local allowed, mean = (slack or 0) * spread, statistics.mean(values)
  local stderr = spread / math.sqrt(#values)
  t:expect(math.abs(mean) <= limit * stderr + allowed,
    "%s: the mean of %d numbers (w - mean)/scale is %.4g, %.1f standard errors from 0", what,
    #values, mean, math.abs(mean) / stderr)
  local second
  second, stderr = statistics.mean(squares)
  t:expect(math.abs(second - spread ^ 2) <= limit * stderr + 3 * allowed * spread + 1e-9,
    "%s: the mean of ((w - mean)/scale)^2 over %d numbers is %.6g, where the law has %.6g: %.1f \z
    standard errors", what, #values, second, spread ^ 2,
    math.abs(second - spread ^ 2) / (stderr + 1e-12))
end

-- Tails: how many of the values lie beyond places that a few in a thousand pass.
local function check_tails(t, what, sorted, cdf, looks, slack)
  local n, limit = #sorted, statistics.limit(20 * (looks or 1))
  for _, share in ipairs{ 0.002, 0.005, 0.01, 0.02, 0.98, 0.99, 0.995, 0.998 } do
    local low, high = -64, 64
    for _ = 1, 60 do
      local middle = (low + high) / 2
      if cdf(middle) < share then low = middle else high = middle end
    end
    local p, below = cdf(high), 0
    while below < n and sorted[below + 1] <= high do below = below + 1 end
    local allowed = limit * math.sqrt(n * p * (1 - p)) + limit ^ 2 / 3 + slack * n
    t:expect(math.abs(below - n * p) <= allowed, "%s: %d of %d numbers are at most %.4g, where \z
      its distribution function gives %.1f +- %.1f", what, below, n, high, n * p,
      math.sqrt(n * p * (1 - p)))
  end
end

--- statistics.check_distribution(t, what, values, cdf, looks[, slack])
function statistics.check_distribution(t, what, values, cdf, looks, slack)
  local n = #values
  local sorted = table.move(values, 1, n, 1, {})
  table.sort(sorted)
  local gap, at = statistics.distance(sorted, cdf)
  local limit = statistics.distance_limit(n, looks) + (slack or 0)
  t:expect(gap <= limit, "%s: the share of %d numbers up to %.4g is off its distribution function \z
    %.4g by %.4f; %.4f is allowed", what, n, at, cdf(at), gap, limit)
  check_tails(t, what, sorted, cdf, looks, slack or 0)
  local again = 0
  for i = 2, slack and slack > 0 and 0 or n do
    again = again + (sorted[i] == sorted[i - 1] and 1 or 0)
  end
  t:expect(again <= n / 100 + 2, "%s: %d of %d numbers come more than once, and the law is \z
    continuous", what, again, n)
end

--- statistics.check_frequencies(t, what, seen, probabilities, n, looks): how often each of several
--- things came in n.
function statistics.check_frequencies(t, what, seen, probabilities, n, looks)
  local count = 0
  for _ in pairs(probabilities) do count = count + 1 end
  local limit = statistics.limit(looks * count)
  for one, p in pairs(probabilities) do
    local came = seen[one] or 0
    -- the Poisson tail of rare things is heavier than the normal one
    local allowed = limit * math.sqrt(n * p * (1 - p)) + (p > 0 and limit ^ 2 / 3 or 0)
    t:expect(math.abs(came - n * p) <= allowed + 1e-9,
      "%s %s came %d times in %d, where its probability %.4g gives %.1f +- %.1f", what,
      tostring(one), came, n, p, n * p, math.sqrt(n * p * (1 - p)))
  end
  for one, came in pairs(seen) do
    t:expect(probabilities[one], "%s %s came %d times in %d, and has probability 0", what,
      tostring(one), came, n)
  end
end

--- statistics.check_signs(t, what, first, second, looks[, slack]): products of two lists of numbers
--- that are independent and symmetric are as often above 0 as below.
function statistics.check_signs(t, what, first, second, looks, slack)
  local sum, n = 0, #first
  for i = 1, n do
    local product = first[i] * second[i]
    sum = sum + (product > 0 and 1 or product < 0 and -1 or 0)
  end
  t:expect(math.abs(sum) <= statistics.limit(looks) * math.sqrt(n) + (slack or 0) * n,
    "%s: the signs of %d pairs have the mean product %.4f, %.1f standard errors from 0: they are \z
    not independent", what, n, sum / n, math.abs(sum) / math.sqrt(n))
end

--- statistics.over_runs(runs, f): mean and standard error of the matrices f(1), .., f(runs).
function statistics.over_runs(runs, f)
  local sum, square
  for run = 1, runs do
    local value = f(run)
    sum = sum and sum + value or value
    square = square and square + value:mul(value) or value:mul(value)
  end
  local mean = sum * (1 / runs)
  local variance = (square * (1 / runs) - mean:mul(mean)):map(function(v) return math.max(v, 0) end)
  return mean, (variance * (1 / (runs - 1))):map(math.sqrt)
end

--- statistics.farthest(mean, stderr, exact, slack): the largest |mean - exact| beyond slack, in
--- standard errors, and where: { row, column }.
function statistics.farthest(mean, stderr, exact, slack)
  local worst, at = 0, { 1, 1 }
  for i = 1, exact:rows() do
    for j = 1, exact:cols() do
      local off = math.max(math.abs(mean:get(i, j) - exact:get(i, j)) - slack, 0)
        / (stderr:get(i, j) + 1e-300)
      if off > worst or off ~= off then worst, at = off, { i, j } end
    end
  end
  return worst, at
end

return statistics
