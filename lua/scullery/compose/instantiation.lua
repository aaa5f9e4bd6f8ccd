--- Instantiations (W, K, p, phi); their features are in features.lua.
local core = require "scullery.core"
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local features = require "scullery.compose.features"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local parameter_space = require "scullery.compose.space"

local instantiation = { space = parameter_space.namespace }
local spaces = parameter_space.known
local feature_rules, instances, matrix_of = features.rules, features.instances, features.matrix_of

-- What other rooms use of features.
for _, name in ipairs{ "map", "learns", "searched", "resolved", "with_part", "own_options",
  "features_class", "is_features", "is_union", "union_text", "parts", "note_names" } do
  instantiation[name] = features[name]
end
instantiation.union = require("scullery.compose.union").of

-- ------------ instantiations

local Instantiation = objects.class("instantiation", { example = "inst",
  fields = "W K p phi last_dim", hidden = "last_dim" })

function Instantiation:__tostring()
  return ("instantiation{W = %s, K = %s, p = %s, phi = %s}"):format(tostring(self.W or "of p"),
    tostring(self.K or "none"), tostring(self.p),
    tostring(self.phi))
end

local function required(rule) rule.required = true return rule end

local parts = {
  W = { test = function(v)
    return getmetatable(v) == parameter_space.class
  end, takes = "a space, as sc.space.dense()" },
  K = component.rule("kernel"), p = required(component.rule("sampler")),
    phi = required(component.rule("nonlinearity", "kernel")),
}

-- Some numbers of columns that the sampler accepts, and the space that it draws from for the first.
-- They are the least number up to 64, and those of 8, 128 and 1024 that it accepts, because whether
-- parts can be combined may depend on the number.
local function some_dims(sampler)
  local dims, space = {}, nil
  local function try(d)
    local name = core.space(sampler, d)
    if name and d ~= dims[1] then dims[#dims + 1], space = d, space or name end
    return name
  end
  for d = 1, 64 do if try(d) then break end end
  for _, d in ipairs{ 8, 128, 1024 } do try(d) end
  return dims, space
end

-- Raises an error for parts that cannot be combined for any number of columns, before data are
-- given.
local function check_parts(self, level)
  for _, part in ipairs{ self.p, self.phi, self.K or nil } do
    if component.waiting(part) then return end -- a width depends on data
  end
  local spec, message = instances(self, {}), nil
  spec.bare = true
  for _, dim in ipairs(some_dims(spec.sampler)) do
    spec.dim = dim
    local ok, made = options.attempt(core.map, spec)
    if ok then return end
    message = made
  end
  if message then error("instantiation: " .. options.plain(message), level + 1) end
end

-- The space that the sampler draws from; nil if one of its widths depends on the data.
local function space_of(p)
  if component.waiting(p) then return nil end
  return select(2, some_dims(component.instance(p)))
end

-- Raises an error if W is given and is not the space that the sampler draws from.
local function check_space(self, level)
  local drawn = self.W and space_of(self.p)
  if drawn and self.W.name ~= drawn and self.W.name ~= spaces[drawn].seen then
    error(("instantiation: W is space.%s, but sampler.%s draws from space.%s"):format(self.W.name,
      self.p.name, drawn), level + 1)
  end
end

--- sc.instantiation{ W =, K =, p =, phi = }: an instantiation of the framework of Dube and Marchand
--- (2023). W: the parameter space, sc.space.NAME(). K: a kernel on it; without K, the features are
--- those of random kitchen sinks. p: the sampler. phi: a nonlinearity, or a kernel k on rows.
---
--- With a kernel as phi, features are k(w_t, x), and k itself takes the place of K (leave K out) in
--- inst:gram, feats:gram and penalty = "rkhs". inst:expectation, inst:kappa, inst:theta, pruning
--- and bounds need a nonlinearity.
function instantiation.new(given)
  local self = setmetatable(options.check("instantiation", given, parts), Instantiation)
  check_space(self, 2)
  check_parts(self, 2)
  return self
end

--- inst:features{ T =, seed = 0, dtype = "float64" }: the features as a stage of a pipeline.
--- Feature t is phi(w_t, x)/sqrt(T) without K, E_w K(w_t, w) phi(w, x) with K, k(w_t, x) for a
--- kernel as phi. Leave T out if the sampler determines it; "auto": p:fit chooses it.
function Instantiation:features(given)
  if type(given) ~= "table" then
    error("instantiation:features: takes a table of named options", 2)
  end
  return features.new(self, given, "instantiation:features", given.seed == nil)
end

-- A list with a copy of the options for each combination of choices if some of W, p, phi and K are
-- sc.choose{...}; else a list of the options alone.
local function given_choices(given)
  choose.combinations("features", { given.W or false, given.p or false, given.phi or false,
    given.K or false })
  for _, name in ipairs{ "W", "p", "phi", "K" } do
    if choose.is(given[name]) then
      local list = {}
      for _, value in ipairs(given[name].values) do
        local copy = {}
        for k, v in pairs(given) do copy[k] = v end
        copy[name] = value
        for _, one in ipairs(given_choices(copy)) do list[#list + 1] = one end
      end
      return list
    end
  end
  return { given }
end

local all_rules = options.declare("features", {})
for _, rules in ipairs{ parts, feature_rules } do
  for name, rule in pairs(rules) do all_rules[name] = rule end
end
options.declare("instantiation", parts)
options.declare("instantiation:features", feature_rules)

-- The parts and options of sc.features{}.
local default_parts, default_options = { p = "gaussian", phi = "fourier" }, { T = 1000, seed = 1 }

-- The options; if no part is given, with the parts and options of sc.features{} as defaults.
local function with_defaults(given)
  for _, name in ipairs{ "W", "K", "p", "phi" } do if given[name] ~= nil then return given end end
  local copy = { p = component.group("sampler")[default_parts.p](),
    phi = component.group("nonlinearity")[default_parts.phi]() }
  for name, value in pairs(default_options) do copy[name] = value end
  for name, value in pairs(given) do copy[name] = value end
  return copy
end

--- instantiation.default_features(p, phi, given): features by the sampler and the nonlinearity of
--- sc.features{}, with the options p and phi of these, and the features' own options `given`.
function instantiation.default_features(p, phi, given)
  given.p = component.group("sampler")[default_parts.p](p)
  given.phi = component.group("nonlinearity")[default_parts.phi](phi)
  return instantiation.features(given)
end

--- sc.features{ p =, phi =, K =, T =, seed = 0, dtype = "float64" }: random features as a stage of
--- a pipeline. p: the sampler. phi: the nonlinearity, or a kernel k (features are then k(w_t, x)).
--- K: a kernel on parameters, for RKHS weightings. T: the number of parameters; leave it out if the
--- sampler determines it. T = "auto": p:fit doubles it as long as the loss on held-out rows falls.
--- With sc.choose{...} for p, phi or K it is a choice of stages.
---
--- dtype: "float64", "float32", or "int16" and "int8": whole numbers v with |v| <= 2047 or 127,
--- times a unit. Their sums over rows are exact (p:info().exact is "rows"). The unit comes from the
--- bound of phi if it has one, otherwise from the first 2048 rows; values beyond 1.25 times their
--- range are clipped.
---
--- of = { "a", 3 }: the columns that it reads, by name or by number after the row stages. scale: a
--- number above 0 that multiplies the features (2 * feats is the same). feats + other: their union,
--- whose kernel is the sum of their kernels.
---
--- sc.features{} are Fourier features with Gaussian weights, T = 1000, seed = 1. p:fit chooses a
--- width of the sampler, or of a kernel as phi, that is not given (except with a K).
function instantiation.features(given)
  if type(given) ~= "table" then error("features: takes a table of named options", 2) end
  local choices = given_choices(given)
  if #choices > 1 then
    local stages = {}
    for i, one in ipairs(choices) do
      stages[i] = options.guard("features", 3, instantiation.features, one)
    end
    return choose(stages)
  end
  local unseeded = choices[1].seed == nil
  given = with_defaults(choices[1])
  local inst, rest = {}, {}
  options.check("features", given, all_rules)
  for name, value in pairs(given) do (parts[name] and inst or rest)[name] = value end
  local self = setmetatable(inst, Instantiation)
  check_space(self, 2)
  check_parts(self, 2)
  return features.new(self, rest, "features", unseeded)
end

-- Raises an error for a matrix with NaN or an infinity. given: { name = matrix }.
local function refuse_nonfinite(given)
  for name, X in pairs(given) do
    local row, col = core.find_nonfinite(X)
    if row then error(("%s is not finite in row %d, column %d"):format(name, row, col), 0) end
  end
end

-- The number of columns: d if given, else that of the last fit; raises an error at that level if
-- there is neither.
local function dim_of(self, d, title, level)
  if d ~= nil and not (type(d) == "number" and math.tointeger(d) and d >= 1) then
    error(("%s: the number of columns got %s; it takes a whole number of at least 1"):format(title,
      options.show(d)), level)
  end
  d = d or self.last_dim
  if d == nil then
    error(("%s: the result depends on the number of columns, and nothing was fitted yet: give the \z
      number, as in inst:%s(20)"):format(title, title:match("[^:]+$")), level)
  end
  return math.tointeger(d)
end

-- Raises an error if the instantiation has no K. A kernel as phi serves as K for Gram matrices and
-- norms, but it has no mean E K(w_t, w) phi(w, x).
local function refuse_without_kernel(self, title, level)
  if self.K then return end
  error(title .. (self.phi.kind == "kernel"
    and (": belongs to an instantiation with K and a nonlinearity; kernel.%s as phi has k itself \z
      as K, and its features are k(w, x), not a mean over w"):format(self.phi.name)
    or ": belongs to an instantiation with K, and this one does not have one: give K = \z
      sc.kernel.NAME{...}"), level + 1)
end

-- The engine's map of the parts for `dim` columns, without parameters (bare) unless `given`,
-- further fields for core.map, says otherwise.
local function map_of(self, dim, given)
  local spec = instances(self, {})
  spec.dim, spec.bare = dim, true
  for name, value in pairs(given or {}) do spec[name] = value end
  return core.map(spec)
end

local sample_rules = options.declare("instantiation:sample", {
  T = { type = "integer", low = 1, required = true }, seed = { type = "integer", default = 0 },
  d = { type = "integer", low = 1 } })

--- inst:sample{ T =, seed = 0, d = }: T parameters for rows of d columns, one in each row; see
--- feats:parameters.
function Instantiation:sample(given)
  local o = options.check("instantiation:sample", given, sample_rules)
  local dim = dim_of(self, o.d, "instantiation:sample", 3)
  return options.guard("instantiation:sample", 1, function()
    return core.map_parameters(map_of(self, dim, { T = o.T, seed = o.seed, bare = false }))
  end)
end

-- The least number of columns of data that fits a matrix of parameters: its width, without the
-- column of phases; for a space whose parameters name columns (sparse, thresholds), the largest
-- column in its first half.
local function dim_of_parameters(self, U)
  local space = spaces[space_of(self.p)]
  if not (space and space.names_columns) then
    local phase = self.phi.kind ~= "kernel" and core.shape(component.instance(self.phi)).phase
    return U:cols() - (phase and 1 or 0)
  end
  return U:rows() == 0 and 1 or math.max(1, math.tointeger(U:slice(1, U:rows(), 1,
    U:cols() // 2):max()) or 1)
end

--- inst:gram(U, V): the matrix of K(u, v), a row for each parameter of U and a column for each of
--- V, which are rows as inst:sample gives them.
function Instantiation:gram(U, V)
  U = matrix_of(U, "instantiation:gram")
  V = matrix_of(V or U, "instantiation:gram")
  if self.phi.kind ~= "kernel" then refuse_without_kernel(self, "instantiation:gram", 2) end
  local dim = math.max(dim_of_parameters(self, U), dim_of_parameters(self, V))
  local space = spaces[space_of(self.p)]
  if self.last_dim and space and space.names_columns then dim = math.max(dim, self.last_dim) end
  return options.guard("instantiation:gram", 1, function()
    return core.map_between(map_of(self, dim), U, V)
  end)
end

local expectation_rules = options.declare("instantiation:expectation", {
  method = feature_rules.method, tolerance = { type = "number", above = 0, default = 1e-3 },
  samples = { type = "integer", low = 2048, default = 1 << 20 },
  seed = { type = "integer", default = 0 } })

--- inst:expectation(U, X[, { method =, tolerance =, samples =, seed = }]): the matrix of
--- E_{w~p}[K(u, w) phi(w, x)], a row for each parameter of U and a column for each row of X. Second
--- result: a table with method ("exact", "quadrature" or "monte-carlo"), stderr (the largest over
--- all entries), samples, and note (if a quadrature missed its tolerance, 1e-10).
function Instantiation:expectation(U, X, given)
  local o = options.check("instantiation:expectation", given, expectation_rules)
  refuse_without_kernel(self, "instantiation:expectation", 2)
  U, X = matrix_of(U, "instantiation:expectation"), matrix_of(X, "instantiation:expectation")
  return options.guard("instantiation:expectation", 1, function()
    refuse_nonfinite{ U = U, X = X }
    local spec = instances(self, {})
    spec.dim, spec.parameters, spec.method, spec.seed = X:cols(), U, o.method, o.seed
    local values, info = core.expectation(spec, X, o.tolerance, o.samples)
    if info.gap > 0 then
      info.note = ("the quadrature missed its tolerance: its last two rules differ by %.1e"):format(
        info.gap)
    end
    return values, info
  end)
end

local constant_rules = { radius = { type = "number", above = 0, default = math.huge } }
options.declare("instantiation:kappa", constant_rules)
options.declare("instantiation:theta", constant_rules)

-- The table of kappa, theta and the like for rows of d columns; see inst:kappa for the arguments.
local function constants(self, d, given, title)
  local o = options.check(title, given, constant_rules, 3)
  refuse_without_kernel(self, title, 3)
  local dim = dim_of(self, d, title, 4)
  return options.guard(title, 2, function()
    return core.map_constants(map_of(self, dim), o.radius)
  end)
end

--- inst:kappa([d[, { radius = }]]): kappa = sup_x sqrt(E K(w,w) phi(w,x)^2), and true if it is
--- exact, false if it is an upper bound. d: the number of columns; by default that of the last fit.
--- radius: the length of the longest x; required for unbounded phi (relu).
function Instantiation:kappa(d, given)
  local c = constants(self, d, given, "instantiation:kappa")
  return c.kappa, c.kappa_exact
end

--- inst:theta([d[, { radius = }]]): three values: theta = sup_x sqrt(E E K(u,w) phi(u,x) phi(w,x))
--- over x other than 0; the paper's bound on it, sup|phi| sqrt(E E K); and true if the first is
--- exact, false if it is an upper bound.
function Instantiation:theta(d, given)
  local c = constants(self, d, given, "instantiation:theta")
  return c.theta, c.theta_paper, c.theta_exact
end

-- The result of f(map, X, Y) for rows X and Y (nil: X), where map has the parts and no parameters.
-- Widths that depend on data are computed from X.
local function between_rows(self, X, Y, title, f)
  X = matrix_of(X, title)
  Y = matrix_of(Y or X, title)
  return options.guard(title, 2, function()
    refuse_nonfinite{ X = X, Y = Y }
    local spec = instances(self, {}, function() return core.widths(core.source(X), {}) end)
    spec.dim, spec.bare = X:cols(), true
    return f(core.map(spec), X, Y)
  end)
end

--- inst:kernel(X, Y): the kernel that the features estimate, in closed form; a row for each row of
--- X and a column for each row of Y. Raises an error if there is no closed form.
function Instantiation:kernel(X, Y)
  return between_rows(self, X, Y, "instantiation:kernel", core.map_induced)
end

--- inst:collision(X, Y): the probability that the hash codes of x and y agree, in closed form:
--- kappa_q of maxout codes, 1 - angle/pi of signs. 1 - codes:hamming() estimates it.
function Instantiation:collision(X, Y)
  return between_rows(self, X, Y, "instantiation:collision", core.map_collision)
end

return instantiation
