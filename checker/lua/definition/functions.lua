--- The functions that a definition may use beside options and arguments.
local special = require "scullery_checker.definition.special"

local functions = {}
local unpack = table.unpack

for _, name in ipairs{ "abs", "ceil", "cos", "exp", "floor", "log", "max", "min", "sin", "sqrt",
  "tan", "acos", "asin", "atan" } do
  functions[name] = math[name]
end
functions.pi, functions.inf, functions.unpack, functions.type = math.pi, math.huge, unpack, type
for name, f in pairs(special) do functions[name] = f end

--- when(condition, value, ...[, otherwise]): the value behind the first condition that holds.
function functions.when(...)
  local list, n = { ... }, select("#", ...)
  for i = 1, n - 1, 2 do if list[i] then return list[i + 1] end end
  return n % 2 == 1 and list[n] or 0 / 0
end

--- sign(x): -1, 0 or 1.
function functions.sign(x) return x > 0 and 1 or x < 0 and -1 or x end

--- sum(list, f), product(list, f): of f(list[j], j), j = 1, 2, ...; of f(1), ..., f(n) where a
--- number n comes in place of a list; of the numbers themselves without f.
function functions.sum(list, f)
  local total, n = 0, type(list) == "number" and list or #list
  for j = 1, n do
    local x = type(list) == "number" and j or list[j]
    total = total + (f and f(x, j) or x)
  end
  return total
end

function functions.product(list, f)
  local all, n = 1, type(list) == "number" and list or #list
  for j = 1, n do
    local x = type(list) == "number" and j or list[j]
    all = all * (f and f(x, j) or x)
  end
  return all
end

--- map(list, f): the list of f(list[j], j).
function functions.map(list, f)
  local made = {}
  for j = 1, #list do made[j] = f(list[j], j) end
  return made
end

--- range(n): { 1, ..., n }; join(list, ...): one list after another.
function functions.range(n)
  local made = {}
  for j = 1, n do made[j] = j end
  return made
end

function functions.join(...)
  local made = {}
  for _, list in ipairs{ ... } do table.move(list, 1, #list, #made + 1, made) end
  return made
end

--- lowest(f, low, high): the least value of a convex f between them (golden sections).
function functions.lowest(f, low, high)
  local SHARE <const> = (math.sqrt(5) - 1) / 2
  local a, b = high - SHARE * (high - low), low + SHARE * (high - low)
  local at, bt = f(a), f(b)
  for _ = 1, 75 do
    if at < bt then
      high, b, bt = b, a, at
      a = high - SHARE * (high - low)
      at = f(a)
    else
      low, a, at = a, b, bt
      b = low + SHARE * (high - low)
      bt = f(b)
    end
  end
  return math.min(at, bt)
end

--- pack(format, ...): bytes, as string.pack makes them; concat(list, f): f(list[j], j) in one text.
functions.pack = string.pack
function functions.concat(list, f) return table.concat(functions.map(list, f)) end

local sum = functions.sum

--- average(rows, f): the mean of f(row) with the weights of the rows, row.w; by_column(row, f): the
--- mean of f{ f =, y = } over the columns of a row.
function functions.average(rows, f)
  return sum(rows, function(r) return r.w > 0 and r.w * f(r) or 0 end)
    / sum(rows, function(r) return r.w end)
end

function functions.by_column(row, f)
  if type(row.f) ~= "table" then return f(row) end
  return functions.mean(row.f, function(x, j) return f{ f = x, y = row.y[j] } end)
end

--- by_columns(X, f): the map of a row x to f(x[j], column j of X).
function functions.by_columns(X, f)
  local columns = functions.map(X[1], function(_, j) return functions.column(X, j) end)
  return function(x)
    return functions.map(x, function(t, j) return f(t, columns[j]) end)
  end
end

-- Of two rows.
function functions.dot(u, v) return sum(u, function(x, j) return x * v[j] end) end
function functions.length(u) return math.sqrt(functions.dot(u, u)) end
function functions.squared_distance(u, v)
  return sum(u, function(x, j) return (x - v[j]) ^ 2 end)
end
function functions.distance(u, v)
  return sum(u, function(x, j) return math.abs(x - v[j]) end)
end
function functions.cosine(u, v)
  local lengths = functions.length(u) * functions.length(v)
  return lengths > 0 and math.max(-1, math.min(1, functions.dot(u, v) / lengths)) or 0
end
function functions.angle(u, v) -- not by the cosine, which says little of small angles
  local a, b = functions.length(u), functions.length(v)
  if not (a > 0 and b > 0) then return math.pi / 2 end
  local apart = sum(u, function(x, j) return (x / a - v[j] / b) ^ 2 end)
  local joint = sum(u, function(x, j) return (x / a + v[j] / b) ^ 2 end)
  return 2 * math.atan(math.sqrt(apart), math.sqrt(joint))
end

-- Of a list, and of column j of rows.
function functions.mean(list, f) return sum(list, f) / #list end
function functions.deviation(list)
  local m = functions.mean(list)
  return math.sqrt(functions.mean(list, function(x) return (x - m) ^ 2 end))
end
function functions.column(X, j) return functions.map(X, function(x) return x[j] end) end
local function of_all(list, f) return unpack(f and functions.map(list, f) or list) end
function functions.least(list, f) return math.min(of_all(list, f)) end
function functions.largest(list, f) return math.max(of_all(list, f)) end
function functions.sorted(list)
  local made = table.move(list, 1, #list, 1, {})
  table.sort(made)
  return made
end

--- covariance(X): of rows, a list of rows; eigen(A): the list { value =, vector = } of a symmetric
--- A, the largest value first, the largest entry of a vector positive (Jacobi rotations).
function functions.covariance(X)
  local m = functions.map(X[1], function(_, j) return functions.mean(functions.column(X, j)) end)
  return functions.map(m, function(_, i)
    return functions.map(m, function(_, j)
      return functions.mean(X, function(x) return (x[i] - m[i]) * (x[j] - m[j]) end)
    end)
  end)
end

-- Rows p and q of M become cos p - sin q and sin p + cos q.
local function turn(M, p, q, cos, sin)
  for j = 1, #M do
    local x, y = M[p][j], M[q][j]
    M[p][j], M[q][j] = cos * x - sin * y, sin * x + cos * y
  end
end

local function transposed(M)
  return functions.map(M, function(_, j) return functions.column(M, j) end)
end

function functions.eigen(A)
  local d, V = #A, functions.map(A, function(row, i)
    return functions.map(row, function(_, j) return i == j and 1 or 0 end)
  end)
  for _ = 1, 12 do
    for p = 1, d do
      for q = p + 1, d do
        local angle = math.atan(2 * A[p][q], A[q][q] - A[p][p]) / 2
        A = transposed(A)
        turn(A, p, q, math.cos(angle), math.sin(angle))
        A = transposed(A)
        turn(A, p, q, math.cos(angle), math.sin(angle))
        turn(V, p, q, math.cos(angle), math.sin(angle))
      end
    end
  end
  local list = functions.map(V, function(v, i)
    local most = functions.largest(v, math.abs)
    local sign = functions.largest(v) == most and 1 or -1
    return { value = A[i][i], vector = functions.map(v, function(x) return sign * x end) }
  end)
  table.sort(list, function(a, b) return a.value > b.value end)
  return list
end

--- solve(A, b): x with A x = b, A a list of rows, by elimination with pivots.
function functions.solve(A, b)
  local n, M = #b, {}
  for i = 1, n do
    M[i] = table.move(A[i], 1, n, 1, {})
    M[i][n + 1] = b[i]
  end
  for k = 1, n do
    local p = k
    for i = k + 1, n do if math.abs(M[i][k]) > math.abs(M[p][k]) then p = i end end
    M[k], M[p] = M[p], M[k]
    for i = 1, n do
      local factor = i ~= k and M[i][k] / M[k][k] or 0
      for j = k, factor ~= 0 and n + 1 or 0 do M[i][j] = M[i][j] - factor * M[k][j] end
    end
  end
  return functions.map(M, function(row, i) return row[n + 1] / row[i] end)
end

return functions
