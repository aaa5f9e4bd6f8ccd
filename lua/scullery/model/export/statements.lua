--- Statements of C, as the slots `formula` and `operators` of plugins write them, as operators of a
--- graph (graph.lua). Numbers and loops are computed here; what depends on the rows becomes a node.
---
--- What is understood: declarations of double, int and rows; assignments; `for` and `if` whose
--- conditions are numbers; expressions of numbers, names, elements `a[i]`, arithmetic, comparisons,
--- `&&`, `||`, `!`, `? :`, casts and calls of the graph's functions. A value is a Lua number (an
--- integer where C has an int), a tensor of the graph, or a table of values from 0 (an array).
local fail = require "scullery.base.fail"

local MOST = 100000 -- statements and rounds of loops

-- ------------ tokens

local function tokens_of(text)
  local list, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then return list end
    local token = text:match("^[%a_][%w_]*", at) or text:match("^%d*%.?%d+[eE][+-]?%d+", at)
      or text:match("^%d+%.?%d*", at) or text:match("^%.%d+", at)
      or text:match("^[-+*/<>=!]=", at) or text:match("^%+%+", at) or text:match("^%-%-", at)
      or text:match("^&&", at) or text:match("^||", at)
      or text:match("^[-+*/%%<>=!?:;,(){}%[%]]", at)
    if not token then fail("%q is not understood in the formula %s", text:sub(at, at), text) end
    list[#list + 1] = token
    at = at + #token
  end
end

-- ------------ expressions
--
-- Each becomes a function of the variables v.

local Parser = {}
Parser.__index = Parser

function Parser:peek() return self.tokens[self.at] end

function Parser:take(token)
  if self.tokens[self.at] ~= token then return false end
  self.at = self.at + 1
  return true
end

function Parser:expect(token)
  if self:take(token) then return end
  fail("the formula %s has %s where %s belongs", self.text, self:peek() or "its end", token)
end

function Parser:name()
  local token = self:peek() or "its end"
  if not token:find "^[%a_][%w_]*$" then
    fail("the formula %s has %s where a number belongs", self.text, token)
  end
  self.at = self.at + 1
  return token
end

-- The list of expressions up to the closing parenthesis.
function Parser:arguments()
  local list = {}
  if self:take ")" then return list end
  repeat list[#list + 1] = self:choice() until not self:take ","
  self:expect ")"
  return list
end

function Parser:call(name)
  local arguments, graph = self:arguments(), self.graph
  return function(v)
    local values = {}
    for i, argument in ipairs(arguments) do values[i] = argument(v) end
    return graph:call(name, values)
  end
end

local function number(token)
  return token:find "[.eE]" and tonumber(token) + 0.0 or math.tointeger(token) or tonumber(token)
end

function Parser:primary()
  local token = self:peek() or ""
  if self:take "(" then
    local inner = self:choice()
    self:expect ")"
    return inner
  end
  if token:find "^[%d.]" then
    self.at = self.at + 1
    local value = number(token)
    return function() return value end
  end
  local name = self:name()
  if self:take "(" then return self:call(name) end
  local index
  if self:take "[" then
    index = self:choice()
    self:expect "]"
  end
  return function(v)
    local value = v[name]
    if value ~= nil and index then value = value[index(v)] end
    if value == nil then fail("the formula %s uses %s before it has a value", self.text, name) end
    return value
  end
end

-- A cast: to double of a number, or to int of a number.
function Parser:cast()
  local type = self.tokens[self.at] == "(" and self.tokens[self.at + 2] == ")"
    and self.tokens[self.at + 1]
  if type ~= "double" and type ~= "int" then return nil end
  self.at = self.at + 3
  local value, graph = self:unary(), self.graph
  return function(v) return graph:as(type, value(v)) end
end

function Parser:unary()
  local graph = self.graph
  for _, operator in ipairs{ "-", "!" } do
    if self:take(operator) then
      local value = self:unary()
      return function(v) return graph:unary(operator, value(v)) end
    end
  end
  if self:take "+" then return self:unary() end
  return self:cast() or self:primary()
end

-- Left to right by the operators of one rank.
local function chain(next_rank, ...)
  local operators = { ... }
  return function(self)
    local left, graph = self[next_rank](self), self.graph
    local found
    repeat
      found = nil
      for _, operator in ipairs(operators) do
        if self:take(operator) then
          found = operator
          local a, b = left, self[next_rank](self)
          left = function(v) return graph:binary(operator, a(v), b(v)) end
        end
      end
    until not found
    return left
  end
end
Parser.product = chain("unary", "*", "/", "%")
Parser.sum = chain("product", "+", "-")
Parser.order = chain("sum", "<=", ">=", "<", ">")
Parser.equality = chain("order", "==", "!=")
Parser.both = chain("equality", "&&")
Parser.either = chain("both", "||")

function Parser:choice()
  local condition, graph = self:either(), self.graph
  if not self:take "?" then return condition end
  local yes = self:choice()
  self:expect ":"
  local no = self:choice()
  return function(v)
    local c = condition(v)
    if type(c) == "number" then return c ~= 0 and yes(v) or c == 0 and no(v) end
    return graph:where(c, yes(v), no(v))
  end
end

-- ------------ statements

-- name or name[index], then =, += ..., ++: without the semicolon.
function Parser:assignment()
  local name, index, graph = self:name(), nil, self.graph
  if self:take "[" then
    index = self:choice()
    self:expect "]"
  end
  local operator = self:peek()
  local value
  self.at = self.at + 1
  if operator == "++" or operator == "--" then
    operator, value = operator:sub(1, 1) .. "=", function() return 1 end
  else
    if not (operator or ""):find "^[-+*/]?=$" then self:expect "=" end
    value = self:choice()
  end
  return function(v)
    local new, place, key = value(v), index and v[name] or v, index and index(v) or name
    if operator ~= "=" then new = graph:binary(operator:sub(1, 1), place[key], new) end
    place[key] = math.type(place[key]) == "integer" and not index and graph:as("int", new) or new
  end
end

function Parser:declaration(type)
  local list, graph = {}, self.graph
  repeat
    local name, value = self:name(), nil
    if self:take "=" then value = self:choice() end
    list[#list + 1] = function(v)
      v[name] = graph:as(type, value and value(v) or 0)
    end
  until not self:take ","
  self:expect ";"
  return function(v) for _, one in ipairs(list) do one(v) end end
end

function Parser:count_step()
  self.count = self.count + 1
  if self.count > MOST then fail("the formula %s takes too many steps", self.text) end
end

local function truth(self, value)
  if type(value) == "number" then return value ~= 0 end
  return fail("the formula %s has a loop or a case that depends on the row", self.text)
end

function Parser:loop()
  self:expect "("
  local first = self:assignment()
  self:expect ";"
  local condition = self:choice()
  self:expect ";"
  local step = self:assignment()
  self:expect ")"
  local body = self:statement()
  return function(v)
    first(v)
    while truth(self, condition(v)) do
      self:count_step()
      body(v)
      step(v)
    end
  end
end

function Parser:case()
  self:expect "("
  local condition = self:choice()
  self:expect ")"
  local yes, no = self:statement(), self:take "else" and self:statement()
  return function(v)
    if truth(self, condition(v)) then yes(v) elseif no then no(v) end
  end
end

function Parser:block(last)
  local list = {}
  while not self:take(last) do list[#list + 1] = self:statement() end
  return function(v)
    for _, one in ipairs(list) do
      self:count_step()
      one(v)
    end
  end
end

function Parser:statement()
  if self:take "{" then return self:block "}" end
  if self:take "for" then return self:loop() end
  if self:take "if" then return self:case() end
  self:take "const"
  for _, type in ipairs{ "double", "int", "rows" } do
    if self:take(type) then return self:declaration(type) end
  end
  local one = self:assignment()
  self:expect ";"
  return one
end

local function parser_of(text, graph)
  return setmetatable({ text = text, tokens = tokens_of(text), at = 1, graph = graph, count = 0 },
    Parser)
end

local statements = {}

--- statements.run(text, graph, v): carries out the statements on the variables v, {name = value}.
function statements.run(text, graph, v)
  local parser = parser_of(text, graph)
  parser.tokens[#parser.tokens + 1] = "end" -- of the text
  parser:block "end"(v)
end

--- statements.value(text, graph, v): the value of an expression.
function statements.value(text, graph, v)
  local parser = parser_of(text, graph)
  local value = parser:choice()
  if parser:peek() then parser:expect "the end" end
  return value(v)
end

return statements
