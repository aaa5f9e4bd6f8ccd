--- Graphs of operators of ONNX, and the bytes of their file (protocol buffers; the numbers of
--- fields are those of onnx.proto3). Tensors have the type float64 but where an operator has none.
local core = require "scullery.core"
local arithmetic = require "scullery.base.arithmetic"
local fail = require "scullery.base.fail"
local keys = require "scullery.base.keys"

local OPSET, IR = 17, 8
local MOST = 3e7 -- numbers in a file
local FLOAT, INT64, STRING, DOUBLE = 1, 7, 8, 11

-- ------------ protocol buffers

local function varint(n)
  local bytes = {}
  repeat
    local low = n & 0x7f
    n = n >> 7
    bytes[#bytes + 1] = string.char(n ~= 0 and low | 0x80 or low)
  until n == 0
  return table.concat(bytes)
end

local function whole(field, n) return varint(field << 3) .. varint(n) end

-- A text, or a message: the bytes of its fields.
local function bytes(field, text) return varint(field << 3 | 2) .. varint(#text) .. text end

local function messages(field, list)
  local out = {}
  for i, one in ipairs(list) do out[i] = bytes(field, one) end
  return table.concat(out)
end

local function tensor(name, type, sizes, numbers)
  local out = {}
  for i, size in ipairs(sizes) do out[i] = whole(1, size) end
  return table.concat(out) .. whole(2, type) .. numbers .. bytes(8, name)
end

-- An attribute of a whole number or a list of them.
local function attribute(name, value)
  if type(value) == "number" then return bytes(1, name) .. whole(3, value) .. whole(20, 2) end
  local out = { bytes(1, name) }
  for _, one in ipairs(value) do out[#out + 1] = whole(8, one) end
  return table.concat(out) .. whole(20, 7)
end

-- A size is a number, or a text that names it where it is free.
local function described(name, type, sizes)
  local dims = {}
  for i, size in ipairs(sizes) do
    dims[i] = bytes(1, math.type(size) and whole(1, size) or bytes(2, size))
  end
  return bytes(1, name) .. bytes(2, bytes(1, whole(1, type) .. bytes(2, table.concat(dims))))
end

-- ------------ nodes

-- nodes, constants, inputs, outputs: their messages; known: names of numbers; numbers: how many
local Graph = {}
Graph.__index = Graph

function Graph:fresh()
  self.last = self.last + 1
  return "t" .. self.last
end

--- graph:node(operator, inputs, attributes): a new tensor; inputs: tensors and numbers; "" is an
--- input that is left out. more: a second output, which nothing uses.
function Graph:node(operator, inputs, attributes, name, more)
  local out = {}
  for i, one in ipairs(inputs) do out[i] = bytes(1, one == "" and "" or self:tensor(one).name) end
  local made = { name = name or self:fresh() }
  out[#out + 1] = bytes(2, made.name) .. (more and bytes(2, self:fresh()) or "")
    .. bytes(4, operator)
  for _, key in ipairs(keys.sorted(attributes or {})) do
    out[#out + 1] = bytes(5, attribute(key, attributes[key]))
  end
  self.nodes[#self.nodes + 1] = table.concat(out)
  return made
end

function Graph:constant(type, sizes, numbers)
  local made = { name = self:fresh() }
  self.constants[#self.constants + 1] = tensor(made.name, type, sizes, numbers)
  return made
end

--- graph:check_room(count): an error where so many numbers more are too many.
function Graph:check_room(count)
  if self.numbers + count > MOST then
    fail("a file of ONNX would have more than %.0f numbers; p:save writes models of any size", MOST)
  end
end

--- graph:matrix(matrix, float32): its numbers as a constant; of float32 stored as such.
function Graph:matrix(matrix, float32)
  local count = matrix:rows() * matrix:cols()
  self:check_room(count)
  self.numbers = self.numbers + count
  local sizes, numbers = { matrix:rows(), matrix:cols() },
    bytes(9, core.number_bytes(matrix, float32 and "float32" or "float64"))
  if not float32 then return self:constant(DOUBLE, sizes, numbers) end
  return self:node("Cast", { self:constant(FLOAT, sizes, numbers) }, { to = DOUBLE })
end

--- graph:integers(list), graph:texts(list): constants of one dimension.
function Graph:integers(list)
  local packed = {}
  for i, one in ipairs(list) do packed[i] = ("<i8"):pack(one) end
  return self:constant(INT64, { #list }, bytes(9, table.concat(packed)))
end

function Graph:texts(list) return self:constant(STRING, { #list }, messages(6, list)) end

-- A number as a constant without dimensions.
function Graph:scalar(number)
  local key = ("%a"):format(number)
  if not self.known[key] then
    self.known[key] = self:constant(DOUBLE, {}, bytes(9, ("<d"):pack(number)))
  end
  return self.known[key]
end

--- graph:tensor(value): a number or a matrix as a tensor; a tensor of truth values as numbers.
function Graph:tensor(value)
  if type(value) == "number" then return self:scalar(value) end
  if value.matrix then
    value.name = value.name or self:matrix(value.matrix).name
  elseif value.truth then
    return self:node("Cast", { { name = value.name } }, { to = DOUBLE })
  end
  return value
end

-- A value as truth values.
function Graph:truth(value)
  if type(value) ~= "number" and value.truth then return { name = value.name } end
  return self:node("Not", { self:node("Equal", { value, 0 }) })
end

-- ------------ what statements ask for

local function is_number(value) return type(value) == "number" end

--- graph:as(type, value): the value as a double or an int of C, or as rows.
function Graph.as(_, type, value)
  if not is_number(value) then
    if type == "int" then fail("a formula has a whole number that depends on the row") end
    return value
  end
  if type ~= "int" then return value + 0.0 end
  return math.tointeger(value < 0 and math.ceil(value) or math.floor(value))
end

function Graph:unary(operator, a)
  if operator == "-" then
    if is_number(a) then return -a end
    return self:node("Neg", { a })
  end
  if is_number(a) then return a == 0 and 1 or 0 end
  return { name = self:node("Not", { self:truth(a) }).name, truth = true }
end

-- Operators of two numbers that C has otherwise than Lua, and operators of tensors.
local folded = setmetatable({
  ["/"] = function(a, b)
    if math.type(a) == "float" or math.type(b) == "float" or b == 0 then return a / b end
    return (a - math.fmod(a, b)) // b
  end,
  ["%"] = math.fmod, ["!="] = arithmetic.operators["~="],
  ["&&"] = function(a, b) return a ~= 0 and b ~= 0 and 1 or 0 end,
  ["||"] = function(a, b) return (a ~= 0 or b ~= 0) and 1 or 0 end,
}, { __index = arithmetic.operators })
local elementwise = { ["+"] = "Add", ["-"] = "Sub", ["*"] = "Mul", ["/"] = "Div" }
local comparisons = { ["<"] = "Less", [">"] = "Greater", ["<="] = "LessOrEqual",
  [">="] = "GreaterOrEqual", ["=="] = "Equal" }

function Graph:binary(operator, a, b)
  if is_number(a) and is_number(b) then return folded[operator](a, b) end
  if elementwise[operator] then return self:node(elementwise[operator], { a, b }) end
  local made
  if comparisons[operator] then
    made = self:node(comparisons[operator], { a, b })
  elseif operator == "!=" then
    made = self:node("Not", { self:node("Equal", { a, b }) })
  elseif operator == "&&" or operator == "||" then
    made = self:node(operator == "&&" and "And" or "Or", { self:truth(a), self:truth(b) })
  else
    fail("a formula has the remainder of a number that depends on the row")
  end
  return { name = made.name, truth = true }
end

function Graph:where(condition, yes, no)
  return self:node("Where", { self:truth(condition), yes, no })
end

-- Functions of numbers, by their names in C; NaN where Lua has none.
local numbers = { sqrt = math.sqrt, exp = math.exp, log = math.log, sin = math.sin,
  cos = math.cos, tan = math.tan, fabs = math.abs, floor = math.floor, ceil = math.ceil,
  acos = math.acos, asin = math.asin, atan = math.atan, pow = function(a, b) return a ^ b end,
  fmax = math.max, fmin = math.min, fmod = math.fmod,
  sinh = arithmetic.sinh, cosh = arithmetic.cosh, tanh = arithmetic.tanh }

-- Operators that are their functions.
local operators = { sqrt = "Sqrt", exp = "Exp", log = "Log", sin = "Sin", cos = "Cos",
  fabs = "Abs", tanh = "Tanh", floor = "Floor", ceil = "Ceil", pow = "Pow", fmax = "Max",
  fmin = "Min" }

-- Operators that runtimes have for float32 alone.
local narrow = { erf = "Erf", acos = "Acos", asin = "Asin", atan = "Atan" }

-- The rest: functions of the graph and the arguments.
local calls = {}

function calls.tan(g, a) return g:binary("/", g:node("Sin", { a }), g:node("Cos", { a })) end
function calls.fmod(g, a, b) return g:node("Mod", { a, b }, { fmod = 1 }) end
function calls.log1p(g, a) return g:node("Log", { g:binary("+", a, 1) }) end
function calls.expm1(g, a) return g:binary("-", g:node("Exp", { a }), 1) end

local function exponentials(operator)
  return function(g, a)
    local both = g:binary(operator, g:node("Exp", { a }), g:node("Exp", { g:unary("-", a) }))
    return g:binary("/", both, 2)
  end
end
calls.sinh, calls.cosh = exponentials "-", exponentials "+"

--- The functions of the slot `operators`.
function calls.row_sum(g, a)
  return g:node("ReduceSum", { a, g:integers{ 1 } }, { keepdims = 1 })
end
function calls.row_max(g, a) return g:node("ReduceMax", { a }, { axes = { 1 }, keepdims = 1 }) end
function calls.product(g, a, b) return g:node("MatMul", { a, { matrix = b.matrix:t() } }) end
function calls.take(g, a, columns)
  local list = {}
  for j = 1, columns.matrix:cols() do list[j] = math.tointeger(columns.matrix:get(1, j)) - 1 end
  return g:take(a, list)
end
function calls.append(g, a, value)
  return g:node("Pad", { a, g:integers{ 0, 0, 0, 1 }, value })
end

--- graph:take(a, places): columns of a by their places from 0.
function Graph:take(a, places)
  return self:node("Gather", { a, self:integers(places) }, { axis = 1 })
end

--- graph:call(name, arguments): the value of a function of C or of the slot `operators`.
function Graph:call(name, arguments)
  local folds = numbers[name] ~= nil
  for _, one in ipairs(arguments) do folds = folds and is_number(one) end
  if folds then return numbers[name](table.unpack(arguments)) + 0.0 end
  if operators[name] then return self:node(operators[name], arguments) end
  if narrow[name] then
    local small = self:node("Cast", arguments, { to = FLOAT })
    return self:node("Cast", { self:node(narrow[name], { small }) }, { to = DOUBLE })
  end
  if calls[name] then return calls[name](self, table.unpack(arguments)) end
  return fail("the function %s has no operator of ONNX", name)
end

-- ------------ the file

local types = { float64 = DOUBLE, int64 = INT64, string = STRING }

--- graph:input(name, sizes): the tensor of an input of float64.
function Graph:input(name, sizes)
  self.inputs[#self.inputs + 1] = described(name, DOUBLE, sizes)
  return { name = name }
end

--- graph:output(name, value, type, sizes): gives a value out under a name.
function Graph:output(name, value, type, sizes)
  self:node("Identity", { value }, nil, name)
  self.outputs[#self.outputs + 1] = described(name, types[type], sizes)
end

--- graph:bytes(name, about): the bytes of the file. about: texts {key = text} kept in it.
function Graph:bytes(name, about)
  local graph = messages(1, self.nodes) .. bytes(2, name) .. messages(5, self.constants)
    .. messages(11, self.inputs) .. messages(12, self.outputs)
  local out = { whole(1, IR), bytes(2, "Scullery"), bytes(3, core.version), bytes(7, graph),
    bytes(8, bytes(1, "") .. whole(2, OPSET)) }
  for _, key in ipairs(keys.sorted(about)) do
    out[#out + 1] = bytes(14, bytes(1, key) .. bytes(2, about[key]))
  end
  return table.concat(out)
end

--- The opset of the operators.
return { opset = OPSET, new = function()
  return setmetatable({ nodes = {}, constants = {}, inputs = {}, outputs = {}, known = {},
    numbers = 0, last = 0 }, Graph)
end }
