--- The slots `formula`: C that files are written of, which predict without the library. It is
--- evaluated for numbers, and must be what the plugin computes.
local core = require "scullery_checker.core"
local special = require "scullery_checker.definition.special"
local graph = require "scullery.model.export.graph"
local statements = require "scullery.model.export.statements"

local formulas = {}

local functions = { erf = special.erf, erfc = special.erfc, log1p = special.log1p,
  expm1 = special.expm1, cbrt = special.cbrt, lgamma = special.lgamma, atan2 = math.atan }

local function is_below(x) return x < 0 or 1 / x < 0 end
local function toward_zero(x) return x < 0 and math.ceil(x) or math.floor(x) end

function functions.copysign(x, y) return is_below(y) and -math.abs(x) or math.abs(x) end
function functions.signbit(x) return is_below(x) and 1 or 0 end
function functions.fdim(x, y) return x > y and x - y or 0 end
function functions.fma(x, y, z) return x * y + z end
function functions.hypot(x, y) return math.sqrt(x * x + y * y) end
function functions.exp2(x) return 2.0 ^ x end
function functions.log2(x) return math.log(x, 2) end
function functions.log10(x) return math.log(x, 10) end
function functions.trunc(x) return toward_zero(x) + 0.0 end
function functions.round(x) return toward_zero(x + (x < 0 and -0.5 or 0.5)) + 0.0 end
function functions.asinh(x) return functions.copysign(special.log1p(math.abs(x) + x * x
  / (1 + math.sqrt(1 + x * x))), x) end
function functions.acosh(x) return math.log(x + math.sqrt(x * x - 1)) end
function functions.atanh(x) return special.log1p(2 * x / (1 - x)) / 2 end

-- Those of <math.h> that have no value here.
local unknown = {}
for name in ("tgamma j0 j1 jn y0 y1 yn rint nearbyint remainder ldexp scalbn ilogb logb nextafter \z
  isnan isinf isfinite isnormal lround lrint llround llrint isless isgreater"):gmatch "%w+" do
  unknown[name] = true
end

-- Computes with numbers: what the graph does with them, and functions that it has as nodes alone.
local function calculator()
  local g = graph.new()
  local call = g.call
  function g:call(name, arguments)
    if functions[name] then return functions[name](table.unpack(arguments)) end
    if unknown[name] then error(unknown) end
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
  local ok, raised = pcall(function()
    if text:find(";", 1, true) then
      statements.run(text, calculator(), variables)
    else
      out[0] = statements.value(text, calculator(), variables)
    end
  end)
  if not ok and raised == unknown then return nil end
  if not ok then error(raised, 0) end
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
