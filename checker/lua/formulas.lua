--- The slots `formula`: C that files are written of, which predict without the library. It is
--- evaluated for numbers, and must be what the plugin computes.
local core = require "scullery_checker.core"
local special = require "scullery_checker.definition.special"
local graph = require "scullery.model.export.graph"
local statements = require "scullery.model.export.statements"

local formulas = {}

local functions = { erf = special.erf, erfc = special.erfc, log1p = special.log1p,
  expm1 = special.expm1, cbrt = special.cbrt }

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
