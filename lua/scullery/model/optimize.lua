--- sc.optimize: Bayesian optimisation by Thompson sampling. The model of the function is a ridge
--- regression on random Fourier features; a function drawn from its posterior (p:draw) is itself a
--- pipeline, and the next point is where the drawn function is least (Thompson 1933; with random
--- features: Hernandez-Lobato, Hoffman and Ghahramani 2014, Predictive entropy search).
local core = require "scullery.core"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local instantiation = require "scullery.compose.instantiation"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local posterior = require "scullery.model.posterior"
local progress = require "scullery.base.progress"
local recipe = require "scullery.model.recipe"
local text_table = require "scullery.base.text_table"

local optimize = {}

local SOLVER = "ridge" -- it has a posterior, from which functions are drawn
-- Lengths of the kernel, as shares of the diagonal of the box, and regularisations: the model takes
-- those under which the values are most probable.
local LENGTHS, LAMBDAS = { 0.1, 0.2, 0.35, 0.6, 1 }, { 1e-8, 1e-6, 1e-4, 1e-2 }
-- The minimum of a drawn function is sought among so many random points, then around the best ones.
local POINTS, BEST, AROUND, STEPS = 1000, 4, 50, 6
-- Up to SETTLED points length and regularisation are chosen in each round, then in each tenth.
local SETTLED = 40

-- ------------ the box

local side_rules = { log = { type = "boolean" }, integer = { type = "boolean" } }

-- A side { low, high, log =, integer = } of the box, called `name`.
local function side_of(name, given)
  if type(given) ~= "table" or #given ~= 2 then
    fail("side %s of the box is %s; it takes { low, high }", name, options.show(given))
  end
  local side = { name = name, low = given[1], high = given[2], log = given.log,
    integer = given.integer }
  for key in pairs(given) do
    if key ~= 1 and key ~= 2 and not side_rules[key] then
      fail("side %s of the box has '%s'; it takes { low, high, log = true, integer = true }", name,
        tostring(key))
    end
  end
  for _, value in ipairs{ side.low, side.high } do
    if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then
      fail("side %s of the box has %s; it takes finite numbers", name, options.show(value))
    end
  end
  if side.low >= side.high then
    fail("side %s of the box goes from %s to %s; the first is the smaller one", name, side.low,
      side.high)
  end
  if side.log and side.low <= 0 then
    fail("side %s of the box has log = true and begins at %s; it takes numbers above 0", name,
      side.low)
  end
  if side.integer then
    side.low, side.high = math.tointeger(side.low), math.tointeger(side.high)
    if not (side.low and side.high) then
      fail("side %s of the box has integer = true, and its ends are not whole numbers", name)
    end
  end
  return side
end

-- The sides of the box in order: those of a list, or those with names in alphabetical order.
local function sides_of(box)
  local sides, names = {}, {}
  for key in pairs(box) do if type(key) == "string" then names[#names + 1] = key end end
  table.sort(names)
  if #names > 0 and #box > 0 then fail("the box has sides with and without names") end
  for i, given in ipairs(box) do sides[i] = side_of(tostring(i), given) end
  for i, name in ipairs(names) do sides[i] = side_of(name, box[name]) end
  if #sides == 0 then fail("the box has no sides; it takes box = { { low, high }, ... }") end
  sides.named = #names > 0
  return sides
end

-- The value of a side at u in [0, 1].
local function value_at(side, u)
  local low, high = side.low, side.high
  if side.log then low, high = math.log(low), math.log(high) end
  -- whole numbers have equal shares of [0, 1]
  if side.integer and not side.log then
    return math.min(side.low + math.floor(u * (side.high - side.low + 1)), side.high)
  end
  local value = low + u * (high - low)
  if side.log then value = math.exp(value) end
  value = math.max(side.low, math.min(side.high, value))
  return side.integer and math.floor(value + 0.5) or value
end

-- The point at row i of U (in the unit cube), as f takes it.
local function point_at(sides, U, i)
  local x = {}
  for j, side in ipairs(sides) do
    x[sides.named and side.name or j] = value_at(side, U:get(i, j))
  end
  return x
end

-- ------------ the model

-- The pipeline of the model; sigma and lambda: numbers, or values to choose from.
local function model_of(o, sigma, lambda)
  return recipe.new{
    instantiation.default_features({ sigma = sigma }, { form = "pair" },
      { T = o.T, seed = o.seed }),
    component.group("solver")[SOLVER]{ lambda = lambda, intercept = false } }
end

-- What the model learns of the values: z = (value - median)/(median less the least one), and log(1
-- + z) where z > 0, so that large values far from the minimum do not decide how the model is. Of
-- halves of the values, whose differences are finite.
local function squeezed(values)
  local sorted = {}
  for i, v in ipairs(values) do sorted[i] = v / 2 end
  table.sort(sorted)
  local median = sorted[(#sorted + 1) // 2]
  local scale = median > sorted[1] and median - sorted[1]
    or sorted[#sorted] > median and sorted[#sorted] - median or 1
  local column = core.zeros(#values, 1)
  for i, v in ipairs(values) do
    local z = (v / 2 - median) / scale
    column:set(i, 1, z > 0 and math.log(1 + z) or z)
  end
  return column
end

-- The logarithm of the probability of the values, up to a constant, in a Gaussian process with the
-- kernel of the features, K = Phi Phi', whose variance is noise/(n lambda), and the noise that
-- makes them most probable: q the quadratic form y'(I + K/(n lambda))^-1 y,
--   -(n/2) log(q/n) - (1/2) log det(I + K/(n lambda))
local function log_evidence(p, eigenvalues, n, lambda)
  local q = posterior.of(p, "optimize").info.evidence:get(1, 1)
  local sum = 0
  for _, value in ipairs(eigenvalues) do
    sum = sum + math.log(1 + math.max(value, 0) / (n * lambda))
  end
  return -(n * math.log(math.max(q, 1e-300) / n) + sum) / 2
end

-- The fitted model of the points so far.
local function fitted(o, known, state)
  local y = squeezed(known.values)
  local ds = dataset.new{ X = known.U, y = y - y:mean(), task = "regression" }
  local n = #known.values
  if state.sigma and n > SETTLED and n % 10 ~= 0 then
    return model_of(o, state.sigma, state.lambda):fit(ds)
  end
  local best, most, diagonal = nil, -math.huge, math.sqrt(known.U:cols())
  for _, length in ipairs(LENGTHS) do
    local sigma, eigenvalues = 1 / (length * diagonal), nil
    for _, lambda in ipairs(LAMBDAS) do
      local p = model_of(o, sigma, lambda):fit(ds)
      if not eigenvalues then
        local Z = p:transform(known.U)
        local values = (Z * Z:t()):eigvals()
        eigenvalues = {}
        for i = 1, n do eigenvalues[i] = values:get(i, 1) end
      end
      local mine = log_evidence(p, eigenvalues, n, lambda)
      if mine > most then best, most, state.sigma, state.lambda = p, mine, sigma, lambda end
    end
  end
  return best
end

local function into_unit(u) return math.max(0, math.min(1, u)) end

-- The rows of U with the `count` least values of g, the least first.
local function least_rows(g, U, count)
  local values, order = g:predict(U), {}
  for i = 1, U:rows() do order[i] = i end
  table.sort(order, function(a, b)
    local x, y = values:get(a, 1), values:get(b, 1)
    if x ~= y then return x < y end
    return a < b
  end)
  return U:select(table.move(order, 1, math.min(count, #order), 1, {}))
end

-- A point (1 x d) of the unit cube where g is small: the best of random points, and of points ever
-- nearer to the best ones.
local function minimum_of(g, known, d, seed)
  local U = core.vcat(core.rand{ POINTS, d, seed = seed }, known.U)
  local best = least_rows(g, U, BEST)
  local radius = 0.2
  for step = 1, STEPS do
    local parts = { best }
    for i = 1, best:rows() do
      local around = core.ones(AROUND, 1) * best:slice(i, i)
        + core.randn{ AROUND, d, seed = seed + 7919 * step + i } * radius
      parts[i + 1] = around:map(into_unit)
    end
    best = least_rows(g, core.vcat(table.unpack(parts)), BEST)
    radius = radius * 0.4
  end
  return best:slice(1, 1)
end

-- ------------ rounds

-- Points of a Latin hypercube: in each column one in each of `count` equal parts.
local function first_points(count, d, seed)
  local U = core.rand{ count, d, seed = seed }
  for j = 1, d do
    for i, place in ipairs(core.permutation(count, seed + j, 0)) do
      U:set(i, j, (place - U:get(i, j)) / count)
    end
  end
  return U
end

local Result = objects.class("optimum", { fields = "x value trace rounds method maximize sides",
  hidden = "sides" })

function Result:__tostring()
  local rows = { { "", "value" } }
  for _, side in ipairs(self.sides) do table.insert(rows[1], side.name) end
  local line = { self.maximize and "greatest" or "least", ("%.6g"):format(self.value) }
  for j, side in ipairs(self.sides) do
    line[#line + 1] = ("%.6g"):format(self.x[self.sides.named and side.name or j])
  end
  rows[2] = line
  return ("%d values of the function, %s\n%s"):format(self.rounds, self.method == "random"
    and "at random points" or "by Thompson sampling", text_table.text(rows, { gap = 2 }))
end
optimize.class = Result

-- f at a point: a finite number, and less is better.
local function value_of(o, x)
  local value = o.f(x)
  if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then
    fail("the function gave %s at %s; it must give a finite number", options.show(value),
      options.show(x))
  end
  return o.maximize and -value or value
end

-- The rows of U, after which known has their values too.
local function try(o, sides, known, U, level)
  known.U = known.U and core.vcat(known.U, U) or U
  for i = 1, U:rows() do
    local x = point_at(sides, U, i)
    local value = value_of(o, x)
    known.values[#known.values + 1] = value
    if not known.best or value < known.values[known.best] then known.best = #known.values end
    known.trace[#known.trace + 1] = { x = x, value = o.maximize and -value or value,
      best = (o.maximize and -1 or 1) * known.values[known.best] }
    level:step()
  end
end

local function run(o)
  local sides, known, state = sides_of(o.box), { values = {}, trace = {} }, {}
  local d = #sides
  local initial = math.min(o.initial or math.max(2 * d, 4), o.rounds)
  local level <close> = progress.level{ name = "round", total = o.rounds }
  if o.method == "random" then
    try(o, sides, known, core.rand{ o.rounds, d, seed = o.seed }, level)
  else
    try(o, sides, known, first_points(initial, d, o.seed), level)
    for round = initial + 1, o.rounds do
      if o.enough and o.enough() then break end
      local g = fitted(o, known, state)
      if #known.values < (o.settles or math.huge) then g = g:draw{ seed = o.seed + round } end
      try(o, sides, known, minimum_of(g, known, d, 100003 * o.seed + round), level)
    end
  end
  local best = known.trace[known.best]
  return setmetatable({ x = best.x, value = best.value, trace = known.trace,
    rounds = #known.trace,
    method = o.method, maximize = o.maximize, sides = sides }, Result)
end

local rules = options.declare("optimize", {
  f = { type = "function", takes = "a function of a point", required = true },
  box = { type = "table", required = true },
  rounds = { type = "integer", low = 1, required = true },
  initial = { type = "integer", low = 2 },
  settles = { type = "integer", low = 1 },
  enough = { type = "function", takes = "a function" },
  T = { type = "integer", low = 1, default = 300 },
  maximize = { type = "boolean" },
  method = { choices = { "thompson", "random" }, default = "thompson" },
  seed = { type = "integer", low = 0, default = 0 },
  progress = progress.rule,
})

--- sc.optimize{ f =, box = { { low, high }, ... }, rounds =, initial =, T = 300, maximize = false,
--- method = "thompson" | "random", seed = 0, settles =, enough = }: the least value of an
--- expensive function in `rounds` calls of it, by Bayesian optimisation.
---
--- f(x) takes a point and gives a number. box: the sides, as a list (x is then a list of numbers),
--- or with names, box = { rate = { 1e-4, 1, log = true }, depth = { 1, 9, integer = true } } (x is
--- then a table of these names). After `initial` points of a Latin hypercube (twice the sides, at
--- least 4) each round fits a ridge regression on T random Fourier features to the values so far,
--- with the width and regularisation under which they are most probable, draws a function from its
--- posterior, and calls f where that function is least (Thompson sampling); from `settles` values
--- on, where the mean of the posterior is, which looks for no other minimum any more. f may be
--- noisy. With method = "random" it is random search, to compare with. enough = function() ... end:
--- called before each round, and true ends it.
---
--- The result has .x and .value (the best), .rounds, and .trace, a list of { x =, value =, best =
--- so far }.
function optimize.run(given)
  local o = options.check("optimize", given, rules, 0)
  return progress.watched("optimize", o.progress, run, o)
end

return optimize
