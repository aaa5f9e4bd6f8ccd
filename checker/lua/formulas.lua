--- The slots `formula`: C that files are written of, which predict without the library. It is
--- evaluated for numbers, and must be what the plugin computes.
local core = require "scullery_checker.core"
local graph = require "scullery.model.export.graph"
local statements = require "scullery.model.export.statements"

local formulas = {}

-- erf by its power series, and beyond 3 by the continued fraction of 1 - erf.
local function erf(x)
  if math.abs(x) > 3 then
    local below = x
    for k = 60, 1, -1 do below = x + k / 2 / below end
    return (x < 0 and -1 or 1) - math.exp(-x * x) / math.sqrt(math.pi) / below
  end
  local term, sum = x, x
  for k = 1, 80 do
    term = -term * x * x / k
    sum = sum + term / (2 * k + 1)
  end
  return 2 / math.sqrt(math.pi) * sum
end

local function log1p(x) return 1 + x == 1 and x or math.log(1 + x) * x / ((1 + x) - 1) end
local function expm1(x)
  local u = math.exp(x)
  if u == 1 or u - 1 == -1 or u == math.huge then return u == 1 and x or u - 1 end
  return (u - 1) * x / math.log(u)
end
local functions = { erf = erf, erfc = function(x) return 1 - erf(x) end, log1p = log1p,
  expm1 = expm1, cbrt = function(x) return x < 0 and -(-x) ^ (1 / 3) or x ^ (1 / 3) end }

-- Computes with numbers: what the graph does with them, and functions that it has as nodes alone.
local function calculator()
  local g = graph.new()
  local call = g.call
  function g:call(name, arguments)
    if functions[name] then return functions[name](table.unpack(arguments)) end
    return call(self, name, arguments)
  end
  return g
end

--- formulas.values(text, count, variables): the numbers out[0 .. count-1] that the statements set,
--- or, without statements, the value of the expression: a list. Variables by name, arrays from 0.
--- nil: it uses a function that this does not know.
function formulas.values(text, count, variables)
  local out = {}
  variables.SCL_PI, variables.SCL_SQRT2, variables.HUGE_VAL = math.pi, math.sqrt(2), math.huge
  variables.out = out
  if text:find(";", 1, true) then
    statements.run(text, calculator(), variables)
  else
    out[0] = statements.value(text, calculator(), variables)
  end
  local list = {}
  for k = 0, count - 1 do
    if type(out[k]) == "table" then return nil end
    list[k + 1] = out[k] or 0 / 0
  end
  return list
end

--- formulas.expect(t, got, want, what): fails the test if two numbers differ by more than rounding.
function formulas.expect(t, got, want, what)
  local same = got == want or got ~= got and want ~= want
  t:expect(same or math.abs(got - want) <= 1e-9 * math.max(1, math.abs(want)),
    "%s is %.17g by the formula, and %.17g by its function", what, got, want)
end

--- formulas.of(instance or fitted stage): the text, or nil.
formulas.of = core.formula

return formulas
