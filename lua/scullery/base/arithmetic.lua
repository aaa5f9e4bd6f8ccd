--- Functions of numbers that Lua's library lacks: operators by their signs, for formulas and
--- expressions that are read, and hyperbolic functions.
local arithmetic = {}

--- arithmetic.operators[sign](a, b); comparisons give 1 or 0.
arithmetic.operators = {
  ["+"] = function(a, b) return a + b end, ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
  ["<"] = function(a, b) return a < b and 1 or 0 end,
  [">"] = function(a, b) return a > b and 1 or 0 end,
  ["<="] = function(a, b) return a <= b and 1 or 0 end,
  [">="] = function(a, b) return a >= b and 1 or 0 end,
  ["=="] = function(a, b) return a == b and 1 or 0 end,
  ["~="] = function(a, b) return a ~= b and 1 or 0 end,
}

function arithmetic.tanh(x) return 1 - 2 / (math.exp(2 * x) + 1) end
function arithmetic.cosh(x) return (math.exp(x) + math.exp(-x)) / 2 end
function arithmetic.sinh(x) return (math.exp(x) - math.exp(-x)) / 2 end

return arithmetic
