--- Expressions of computed columns, as in derive = { ratio = "a / b", lag1 = "lag(y, 1)" }:
--- numbers, names of columns, + - * / ^, comparisons, and functions. A name that is not made of
--- letters, digits, _ and . comes in backquotes. A missing value, which lag makes, is NaN.
local arithmetic = require "scullery.base.arithmetic"
local fail = require "scullery.base.fail"
local objects = require "scullery.base.objects"

local expression = {}

-- ------------ functions

-- The whole days of a date; a time just below midnight is rounding.
local function whole(days) return math.floor(days + 1e-9) end

-- A part of a date by its conversion of os.date, such as "%Y".
local function date_of(days, what) return tonumber(os.date("!" .. what, whole(days) * 86400)) end

-- By name: the least and the largest number of arguments, and the function of numbers (nil for lag,
-- see expression.compile). date: true if the argument is a date.
local functions = {
  exp = { 1, 1, math.exp },
  abs = { 1, 1, math.abs },
  floor = { 1, 1, function(v) return math.floor(v) + 0.0 end },
  log = { 1, 1, function(v)
    if v <= 0 then fail("it takes log(%.6g), which is not a number", v) end
    return math.log(v)
  end },
  sqrt = { 1, 1, function(v)
    if v < 0 then fail("it takes sqrt(%.6g), which is not a number", v) end
    return math.sqrt(v)
  end },
  min = { 1, 100, math.min },
  max = { 1, 100, math.max },
  year = { 1, 1, function(v) return date_of(v, "%Y") end, date = true },
  month = { 1, 1, function(v) return date_of(v, "%m") end, date = true },
  day = { 1, 1, function(v) return date_of(v, "%d") end, date = true },
  weekday = { 1, 1, function(v) return (whole(v) + 3) % 7 + 1 end, date = true },
  hour = { 1, 1, function(v) return math.floor((v - whole(v)) * 24 + 1e-6) end, date = true },
  minute = { 1, 1, function(v)
    return math.floor((v - whole(v)) * 1440 + 1e-5) % 60
  end, date = true },
  lag = { 2, 2 },
}

local function known_names()
  local names = {}
  for name in pairs(functions) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local operators = setmetatable({
  ["/"] = function(a, b)
    if b == 0 then fail("it divides by 0") end
    return a / b
  end,
  ["^"] = function(a, b)
    local v = a ^ b
    if v ~= v then fail("it takes %.6g ^ %.6g, which is not a number", a, b) end
    return v
  end,
}, { __index = arithmetic.operators })

-- ------------ reading

-- Operators between two values: their binding power to the left and to the right, for precedence
-- climbing. A smaller one on the right makes an operator (^) group to the right.
local binding = { ["<"] = { 1, 2 }, [">"] = { 1, 2 }, ["<="] = { 1, 2 }, [">="] = { 1, 2 },
  ["=="] = { 1, 2 }, ["~="] = { 1, 2 }, ["+"] = { 3, 4 }, ["-"] = { 3, 4 }, ["*"] = { 5, 6 },
  ["/"] = { 5, 6 }, ["^"] = { 10, 9 } }
local NEGATION, MOST_DEEP = 7, 100

local patterns = { { "number", "^%d+%.?%d*[eE][+-]?%d+" }, { "number", "^%d+%.?%d*" },
  { "number", "^%.%d+" }, { "name", "^[%a_\128-\255][%w_.\128-\255]*" }, { "quoted", "^`([^`]*)`" },
  { "sign", "^[<>=~]=" }, { "sign", "^[-+*/^(),<>]" } }

-- The text as a list of { kind = "number" | "name" | "sign" | "end", text, place, quoted }; raises
-- an error for a character that begins none of them.
local function tokens_of(text)
  local list, at = {}, text:match("^%s*()")
  while at <= #text do
    local kind, found, stop
    for _, one in ipairs(patterns) do
      local first, last, inside = text:find(one[2], at)
      if first then kind, found, stop = one[1], inside or text:sub(first, last), last break end
    end
    if not kind then fail("it cannot be read from '%s' on", text:sub(at, at + 20)) end
    list[#list + 1] = { kind = kind == "quoted" and "name" or kind, text = found, place = at,
      quoted = kind == "quoted" }
    at = text:match("^%s*()", stop + 1)
  end
  list[#list + 1] = { kind = "end", text = "the end" }
  return list
end

-- A recursive-descent parser over a list of tokens. A node of the tree is { op = "number", value },
-- { op = "name", name }, { op = "call", name, arguments ... }, { op = "negate", node }, or { op =
-- an operator, left, right }.
local Reader = {}
Reader.__index = Reader

function Reader:next()
  self.at = self.at + 1
  return self.list[self.at - 1]
end

function Reader:expect(text)
  local token = self:next()
  if token.text ~= text or token.kind ~= "sign" then
    fail("it has '%s' where '%s' belongs", token.text, text)
  end
end

-- A call of a function, whose name was read.
function Reader:call(name)
  local known = functions[name]
  if not known then
    fail("there is no function '%s'%s; it takes %s", name,
      objects.suggestion(name, known_names()), table.concat(known_names(), ", "))
  end
  self:expect "("
  local node = { op = "call", name = name }
  repeat node[#node + 1] = self:value(0) until self:peek() ~= "," or not self:next()
  self:expect ")"
  if #node < known[1] or #node > known[2] then
    fail("%s takes %d argument%s, and got %d", name, known[1], known[1] == 1 and "" or "s", #node)
  end
  if name == "lag" and not (node[2].op == "number" and math.tointeger(node[2].value)
    and node[2].value >= 1) then
    fail("lag takes a column and a whole number of rows, 1 or more")
  end
  return node
end

-- The text of the next token, if it is a sign.
function Reader:peek()
  local token = self.list[self.at]
  return token.kind == "sign" and token.text
end

-- A value without operators after it: a number, a name, a call, a value in parentheses, or a
-- negation.
function Reader:first()
  local token = self:next()
  if token.kind == "number" then return { op = "number", value = tonumber(token.text) + 0.0 } end
  if token.kind == "name" then
    if self:peek() == "(" and not token.quoted then return self:call(token.text) end
    return { op = "name", name = token.text }
  end
  if token.text == "(" then
    local node = self:value(0)
    self:expect ")"
    return node
  end
  if token.text == "-" then return { op = "negate", self:value(NEGATION) } end
  fail("it has '%s' where a value belongs", token.text)
end

-- A value and the operators after it that bind at least as strongly as `least`.
function Reader:value(least)
  self.deep = self.deep + 1
  if self.deep > MOST_DEEP then fail("it is nested too deeply") end
  local left = self:first()
  while binding[self:peek()] and binding[self:peek()][1] >= least do
    local op = self:next().text
    left = { op = op, left, self:value(binding[op][2]) }
  end
  self.deep = self.deep - 1
  return left
end

--- expression.read(text): the tree of an expression; raises an error for a text that is not one.
function expression.read(text)
  local reader = setmetatable({ list = tokens_of(text), at = 1, deep = 0 }, Reader)
  local tree = reader:value(0)
  if reader.list[reader.at].kind ~= "end" then
    fail("it has '%s' where an operator belongs", reader.list[reader.at].text)
  end
  return tree
end

--- expression.names(tree, visit): calls visit(name, lagged, dated) for each name of a column in a
--- tree. lagged: true inside lag; dated: true for the argument of year, hour and the like.
function expression.names(tree, visit, lagged, dated)
  if tree.op == "name" then visit(tree.name, lagged or false, dated or false) end
  local known = tree.op == "call" and functions[tree.name]
  for _, part in ipairs(tree) do
    expression.names(part, visit, lagged or tree.name == "lag" and tree.op == "call",
      known and known.date)
  end
end

--- expression.has_lag(tree): true if a value depends on other rows.
function expression.has_lag(tree)
  local found = tree.op == "call" and tree.name == "lag"
  for _, part in ipairs(tree) do found = found or expression.has_lag(part) end
  return found
end

-- ------------ computing

local NONE = 0 / 0

-- f(values of the parts), NaN if one of them is missing.
local function of_parts(f, parts)
  local a, b = parts[1], parts[2]
  if #parts == 1 then
    return function(i)
      local v = a(i)
      return v ~= v and v or f(v)
    end
  elseif #parts == 2 then
    return function(i)
      local v, w = a(i), b(i)
      if v ~= v or w ~= w then return NONE end
      return f(v, w)
    end
  end
  return function(i)
    local values = {}
    for k, part in ipairs(parts) do
      values[k] = part(i)
      if values[k] ~= values[k] then return NONE end
    end
    return f(table.unpack(values))
  end
end

--- expression.compile(tree, column, before): a function from a row's number to the value of the
--- tree, NaN if one of its columns is missing there. column(name): such a function for a column;
--- before(k): a list with, for each row, the number of the row k rows before it, or false.
function expression.compile(tree, column, before)
  if tree.op == "number" then return function() return tree.value end end
  if tree.op == "name" then return column(tree.name) end
  if tree.op == "call" and tree.name == "lag" then
    local f, rows = expression.compile(tree[1], column, before), before(tree[2].value)
    return function(i) return rows[i] and f(rows[i]) or NONE end
  end
  local parts = {}
  for k, part in ipairs(tree) do parts[k] = expression.compile(part, column, before) end
  if tree.op == "negate" then return of_parts(function(v) return -v end, parts) end
  return of_parts(tree.op == "call" and functions[tree.name][3] or operators[tree.op], parts)
end

return expression
