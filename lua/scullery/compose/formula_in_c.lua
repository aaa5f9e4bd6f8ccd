--- Formulas in Lua, "tanh(beta*z)", as expressions of C, for p:export. What Lua allows beyond
--- numbers, names, arithmetic, comparisons in `a > b and c or d` and functions of math has no such
--- expression.

-- Calls in C by the name in Lua: a text in which %1 and %2 are the arguments.
local calls = { abs = "fabs(%1)", acos = "acos(%1)", asin = "asin(%1)", atan = "atan(%1)",
  ceil = "ceil(%1)", cos = "cos(%1)", cosh = "cosh(%1)", exp = "exp(%1)", floor = "floor(%1)",
  log = "log(%1)", sin = "sin(%1)", sinh = "sinh(%1)", sqrt = "sqrt(%1)", tan = "tan(%1)",
  tanh = "tanh(%1)", sign = "(double)((%1 > 0) - (%1 < 0))" }
local calls_of_two = { atan = "atan2(%1, %2)", fmod = "fmod(%1, %2)", max = "fmax(%1, %2)",
  min = "fmin(%1, %2)", log = "(log(%1) / log(%2))" }
local constants = { pi = "3.14159265358979323846", huge = "HUGE_VAL" }

-- Raised inside to_c for what has no expression.
local NONE = {}

local Parser = {}
Parser.__index = Parser

-- The list of tokens of a formula.
local function tokens_of(text)
  local list, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then return list end
    local token = text:match("^[%a_][%w_]*", at) or text:match("^%d*%.?%d+[eE][+-]?%d+", at)
      or text:match("^%d+%.?%d*", at) or text:match("^%.%d+", at)
      or text:match("^[<>=~]=", at) or text:match("^[-+*/^()<>,]", at)
    if not token or text:sub(at, at + 1):find "^//" then error(NONE) end
    list[#list + 1] = token
    at = at + #token
  end
end

function Parser:take(token)
  if self.tokens[self.at] ~= token then return false end
  self.at = self.at + 1
  return true
end

function Parser:expect(token) if not self:take(token) then error(NONE) end end

function Parser:call(name)
  local arguments = {}
  repeat arguments[#arguments + 1] = self:choice() until not self:take ","
  self:expect ")"
  local form = (#arguments == 1 and calls or #arguments == 2 and calls_of_two or {})[name]
  if not form then error(NONE) end
  return (form:gsub("%%(%d)", function(i) return arguments[tonumber(i)] end))
end

function Parser:atom()
  local token = self.tokens[self.at] or error(NONE)
  self.at = self.at + 1
  if token == "(" then
    local inner = self:choice()
    self:expect ")"
    return "(" .. inner .. ")"
  end
  if token:find "^[%d.]" then -- a double, so that 1/2 is a half
    return token:find "[.eE]" and token or token .. ".0"
  end
  if not token:find "^[%a_]" then error(NONE) end
  if self:take "(" then return self:call(token) end
  return self.names[token] or constants[token] or error(NONE)
end

-- a^b^c is a^(b^c), and -a^b is -(a^b).
function Parser:power()
  local base = self:atom()
  if not self:take "^" then return base end
  return ("pow(%s, %s)"):format(base, self:unary())
end

function Parser:unary()
  if self:take "-" then return "(-" .. self:unary() .. ")" end
  return self:power()
end

-- Left to right by operators of one rank.
local function chain(next_rank, ...)
  local operators = { ... }
  return function(self)
    local left, found = self[next_rank](self), true
    while found do
      found = false
      for _, operator in ipairs(operators) do
        if self:take(operator) then
          left, found = ("(%s %s %s)"):format(left, operator, self[next_rank](self)), true
        end
      end
    end
    return left
  end
end
Parser.product = chain("unary", "*", "/")
Parser.sum = chain("product", "+", "-")

-- A comparison, or nil and a number.
function Parser:comparison()
  local left = self:sum()
  for lua, c in pairs{ ["<"] = "<", [">"] = ">", ["<="] = "<=", [">="] = ">=", ["=="] = "==",
    ["~="] = "!=" } do
    if self:take(lua) then return ("(%s %s %s)"):format(left, c, self:sum()) end
  end
  return nil, left
end

-- number, or: comparison and number or choice.
function Parser:choice()
  local condition, number = self:comparison()
  if not condition then return number end
  self:expect "and"
  local second = self:sum()
  self:expect "or"
  return ("(%s ? %s : %s)"):format(condition, second, self:choice())
end

--- to_c(text, names): the formula as an expression of C, or nil where it has none. names: the text
--- in C of each name that is not a function.
return function(text, names)
  local ok, result = pcall(function()
    local parser = setmetatable({ tokens = tokens_of(text), at = 1, names = names }, Parser)
    local expression = parser:choice()
    if parser.at <= #parser.tokens then error(NONE) end
    return expression
  end)
  if not ok and result ~= NONE then error(result, 0) end
  return ok and result or nil
end
