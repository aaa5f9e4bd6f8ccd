--- Special functions and integrals, in Lua.
local special = {}

-- exp(x^2) erfc(x) of x >= 3, by its continued fraction.
local function scaled_tail(x)
  local below = x
  for k = 60, 1, -1 do below = x + k / 2 / below end
  return 1 / (math.sqrt(math.pi) * below)
end

--- erf by its power series, and beyond 3 from 1 - erf.
function special.erf(x)
  if math.abs(x) > 3 then return (x < 0 and -1 or 1) * (1 - special.erfc(math.abs(x))) end
  local term, sum = x, x
  for k = 1, 80 do
    term = -term * x * x / k
    sum = sum + term / (2 * k + 1)
  end
  return 2 / math.sqrt(math.pi) * sum
end

function special.erfc(x)
  return x > 3 and math.exp(-x * x) * scaled_tail(x) or 1 - special.erf(x)
end

--- The normal quantile of u in (0, 1).
function special.probit(u)
  if u ~= u then return u end
  if u > 0.5 then return -special.probit(1 - u) end
  -- Newton's steps on log F from below: it is concave, and F(x) <= exp(-x^2/2)/2
  local x = -math.sqrt(math.max(0, -2 * math.log(2 * u)))
  for _ = 1, 7 do
    local p = special.erfc(-x / math.sqrt(2)) / 2
    x = x + math.log(u / p) * p * math.sqrt(2 * math.pi) * math.exp(x * x / 2)
  end
  return x
end

function special.log1p(x)
  return 1 + x == 1 and x or x == math.huge and x or math.log(1 + x) * x / ((1 + x) - 1)
end

function special.expm1(x)
  local u = math.exp(x)
  if u == 1 or u - 1 == -1 or u == math.huge then return u == 1 and x or u - 1 end
  return (u - 1) * x / math.log(u)
end

function special.cbrt(x) return x < 0 and -(-x) ^ (1 / 3) or x ^ (1 / 3) end
function special.cosh(x) return (math.exp(x) + math.exp(-x)) / 2 end
function special.tanh(x)
  local e = special.expm1(-2 * math.abs(x))
  return (x < 0 and e or -e) / (2 + e)
end

--- log Gamma(x), x > 0, by Stirling's series beyond 15.
function special.lgamma(x)
  local below = 0
  while x < 15 do
    below = below + math.log(x)
    x = x + 1
  end
  local y = 1 / (x * x)
  return (x - 0.5) * math.log(x) - x + math.log(2 * math.pi) / 2 - below
    + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x
end

-- The sum of tanh-sinh with this step, of an interval whose lower end is finite.
local function tanh_sinh(f, low, high, step)
  local total, n = 0, 5 // step
  for k = -n, n do
    local s = k * step
    local q = math.pi / 2 * ((math.exp(s) - math.exp(-s)) / 2)
    local x, weight
    if high == math.huge then
      x = math.exp(q)
      weight = x * math.pi / 2 * special.cosh(s)
    else
      local half = (high - low) / 2
      -- from the nearer end, so that x does not round to it
      local near = 2 * half / (1 + math.exp(2 * math.abs(q)))
      x = q < 0 and near or 2 * half - near
      weight = half * math.pi / 2 * special.cosh(s) / special.cosh(q) ^ 2
    end
    local value = weight > 0 and weight < math.huge and f(low + x) * weight or 0
    if value == value then total = total + value end
  end
  return total * step
end

--- integral(f, low, high): of a function that is smooth inside, by tanh-sinh, with half the step
--- until two agree to 1e-9, NaN where none do; the ends may be infinite.
function special.integral(f, low, high)
  if high == math.huge and low == -math.huge then
    return special.integral(f, low, 0) + special.integral(f, 0, high)
  elseif low == -math.huge then
    return special.integral(function(x) return f(-x) end, -high, math.huge)
  end
  local step = 1 / 16
  local last = tanh_sinh(f, low, high, step)
  while step > 1 / 512 do
    step = step / 2
    local total = tanh_sinh(f, low, high, step)
    if math.abs(total - last) <= 1e-9 * math.abs(total) then return total end
    last = total
  end
  return 0 / 0
end

return special
