--- Instantiations (W, K, p, phi) and the features that they give.
local core = require "scullery.core"
local choose = require "scullery.choose"
local component = require "scullery.component"
local options = require "scullery.options"

local instantiation = {}

-- ---------------------------------------------------------------- parameter spaces

local Space = { __name = "space" }
Space.__index = Space
function Space:__tostring() return "space." .. self.name .. "()" end

local summaries = {
  dense = "w in R^d: z = <w, x> (+ b)",
  sparse = "weights w on a support N of few columns: z = <w_N, x_N> (+ b)",
  threshold = "(i, t), a column and a threshold: z = x_i - t",
  grid = "pitches and shifts, one a column: the cell floor((x_j - u_j)/delta_j)",
  structured =
    "rows made of diagonal and Hadamard matrices, used as dense ones: z = <w, x> (+ b) in O(log d)",
}
local names = {}
for name in pairs(summaries) do names[#names + 1] = name end
table.sort(names)

--- sc.space.dense(), sparse(), threshold(), grid(), structured(): the parameter space W of an
--- instantiation; the sampler must draw from it.
instantiation.space = setmetatable({}, {
  __index = function(_, name)
    if not summaries[name] then
      local near = options.nearest(tostring(name), names)
      error(("no space '%s'%s; there are %s"):format(name, near and " (did you mean '" .. near
        .. "'?)" or "", table.concat(names, ", ")), 2)
    end
    return function() return setmetatable({ name = name, summary = summaries[name] }, Space) end
  end,
  __pairs = function(space)
    local i = 0
    return function()
      i = i + 1
      if names[i] then return names[i], space[names[i]] end
    end
  end,
})

-- ---------------------------------------------------------------- features

local Features = { __name = "features" }
Features.__index = Features

local feature_rules = {
  T = { type = "integer", low = 1, takes = "a whole number of at least 1", required = true,
    searchable = true },
  seed = { type = "integer", default = 0, searchable = true },
  dtype = { choices = { "float64", "float32" }, default = "float64", searchable = true },
  samples = { type = "integer", low = 1, searchable = true },
  method = { choices = { "exact", "quadrature", "monte-carlo" }, searchable = true },
}

-- The features' own options, in the order in which they are shown and searched.
local own = { "T", "seed", "dtype", "samples", "method" }

local function new_features(inst, given, title)
  local self = options.check(title, given, feature_rules, 3)
  self.inst = inst
  return setmetatable(self, Features)
end

function Features:__tostring()
  local i = self.inst
  local parts = { "p = " .. tostring(i.p), "phi = " .. tostring(i.phi) }
  if i.K then table.insert(parts, 1, "K = " .. tostring(i.K)) end
  parts[#parts + 1] = "T = " .. tostring(self.T)
  parts[#parts + 1] = "seed = " .. tostring(self.seed)
  if self.dtype ~= "float64" then parts[#parts + 1] = "dtype = " .. tostring(self.dtype) end
  return "features{" .. table.concat(parts, ", ") .. "}"
end

--- The searched options of the features: a list of {path, values}.
function Features:searched()
  local list = {}
  for _, part in ipairs{ self.inst.p, self.inst.phi, self.inst.K or nil } do
    for _, one in ipairs(part:searched()) do list[#list + 1] = one end
  end
  for _, name in ipairs(own) do
    if choose.is(self[name]) then
      list[#list + 1] = { path = "features." .. name, values = self[name].values,
        choose = self[name], option = name }
    end
  end
  return list
end

--- The features with every searched option replaced by the choice for it.
function Features:resolved(choices)
  local copy = setmetatable({}, Features)
  for name, value in pairs(self) do copy[name] = value end
  local inst = self.inst
  copy.inst = setmetatable({ W = inst.W, K = inst.K and inst.K:resolved(choices),
    p = inst.p:resolved(choices), phi = inst.phi:resolved(choices) },
    getmetatable(inst))
  for _, name in ipairs(own) do
    copy[name] = choose.pick(self[name], "features." .. name, choices)
  end
  copy.fitted = nil
  return copy
end

--- The map for d columns: parameters drawn, kernel bound. widths() -> gamma by scale, gamma by
--- median; called only where a width waits for the data.
function Features:map(dim, choices, widths)
  choices = choices or {}
  local inst = self.inst
  local found
  local function get_widths(part)
    if not part:waiting(choices) then return nil end
    if not widths then error("a width of \"scale\" or \"median\" needs data: fit first", 0) end
    found = found or { widths() }
    return found
  end
  inst.last_dim = dim
  local spec = {
    sampler = inst.p:instance(choices, get_widths(inst.p)),
    phi = inst.phi:instance(choices, get_widths(inst.phi)),
    kernel = inst.K and inst.K:instance(choices, get_widths(inst.K)),
    dim = dim,
  }
  for _, name in ipairs(own) do
    spec[name] = choose.pick(self[name], "features." .. name, choices)
  end
  return core.map(spec)
end

local function matrix_of(x, title)
  if core.is_matrix(x) then return x end
  if type(x) == "table" and core.is_matrix(x.X) then return x.X end
  if type(x) == "table" and not getmetatable(x) then return core.matrix(x) end
  error(title .. ": takes a matrix or a data set, and got " .. options.show(x), 3)
end

--- feats:fit(X): draw the parameters for the columns of X (and work out widths that come from the
--- data). Returns the features.
function Features:fit(X)
  X = matrix_of(X, "features:fit")
  local row, col = core.find_nonfinite(X)
  if row then error(("features:fit: X is not finite in row %d, column %d"):format(row, col), 2) end
  return options.guard("features:fit", 1, function()
    self.fitted = self:map(X:cols(), {}, function() return core.widths(core.source(X), {}) end)
    core.learn(core.source(X), {}, self.fitted)
    return self
  end)
end

local function fitted(self, title, X)
  if self.fitted then return self.fitted end
  if X then self:fit(X) return self.fitted end
  error(title .. ": call features:fit(X) first: the parameters depend on the number of columns", 3)
end

--- feats:transform(X): the n x D matrix of features (all of it in memory).
function Features:transform(X)
  X = matrix_of(X, "features:transform")
  local map = fitted(self, "features:transform", X)
  return options.guard("features:transform", 1, function()
    return (core.transform(core.source(X), {}, map))
  end)
end

--- feats:kernel(X, Y): the random estimate <Phi(x), Phi(y)> for each row of X and of Y.
function Features:kernel(X, Y)
  X = matrix_of(X, "features:kernel")
  Y = matrix_of(Y or X, "features:kernel")
  return options.guard("features:kernel", 1, function()
    return self:transform(X) * self:transform(Y):t()
  end)
end

--- feats:codes(X): the category of each row and parameter, packed: maxout{ q =} gives q-ary hash
--- codes (the place of the largest), sign and step one bit. Their mean Hamming distance estimates 1
--- - inst:collision(x, y); see sc.codes.
function Features:codes(X)
  X = matrix_of(X, "features:codes")
  local map = fitted(self, "features:codes", X)
  return options.guard("features:codes", 1, function()
    return require("scullery.codes").new(core.map_codes(map, X))
  end)
end

--- feats:parameters(): one row a parameter: w then b (structured rows as the dense ones that they
--- stand for); thresholds: column, threshold; sparse: columns, weights, b; grids: pitches, shifts.
--- A nonlinearity of q numbers a parameter has q T rows: number k of parameter t in row k T + t.
function Features:parameters() return core.map_parameters(fitted(self, "features:parameters")) end

--- feats:gram(): G_ij = K(w_i, w_j), for features of an instantiation with K.
function Features:gram() return core.map_gram(fitted(self, "features:gram")) end

--- feats:info(): T, D, method ("direct", "exact", "quadrature" or "monte-carlo"), the kernel's
--- width, dtype.
function Features:info() return core.map_info(fitted(self, "features:info")) end

--- instantiation.is_features(value)
function instantiation.is_features(value) return getmetatable(value) == Features end

-- ---------------------------------------------------------------- instantiations

local Instantiation = { __name = "instantiation" }
Instantiation.__index = Instantiation

function Instantiation:__tostring()
  return ("instantiation{W = %s, K = %s, p = %s, phi = %s}"):format(tostring(self.W or "of p"),
    tostring(self.K or "none"), tostring(self.p),
    tostring(self.phi))
end

local function required(rule) rule.required = true return rule end

local parts = {
  W = { test = function(v)
    return getmetatable(v) == Space
  end, takes = "a space, as sc.space.dense()" },
  K = component.rule("kernel"), p = required(component.rule("sampler")),
    phi = required(component.rule("nonlinearity")),
}

-- The sampler's own layout says what it draws.
local function space_of(p)
  if p:waiting() then return nil end
  local sampler = p:instance()
  for d = 1, 64 do
    local name = core.space(sampler, d)
    if name then return name end
  end
end

-- Numbers of columns that the sampler takes: few, and more, as what fits may depend on it.
local function some_dims(sampler)
  local dims = {}
  for d = 1, 64 do
    if core.space(sampler, d) then dims[1] = d break end
  end
  for _, d in ipairs{ 8, 128, 1024 } do
    if d ~= dims[1] and core.space(sampler, d) then dims[#dims + 1] = d end
  end
  return dims
end

-- Parts that cannot go together, whatever the number of columns, are refused here, before there are
-- data.
local function check_parts(self, level)
  local sampler, phi, kernel = self.p:instance(), self.phi:instance(), self.K and self.K:instance()
  local message
  for _, dim in ipairs(some_dims(sampler)) do
    local ok, made = pcall(core.map, { sampler = sampler, phi = phi, kernel = kernel, dim = dim,
      T = 1, samples = 1 })
    if ok then return end
    message = made
  end
  if message then error("instantiation: " .. options.plain(message), level + 1) end
end

local function check_space(self, level)
  local drawn = self.W and space_of(self.p)
  if drawn == "structured" and self.W.name == "dense" then return end -- they stand for dense rows
  if drawn and self.W.name ~= drawn then
    error(("instantiation: W is space.%s, but sampler.%s draws from space.%s"):format(self.W.name,
      self.p.name, drawn), level + 1)
  end
end

--- sc.instantiation{ W =, K =, p =, phi = }: parameter space, kernel on it (nil: none, a random
--- kitchen sink), distribution, feature function.
function instantiation.new(given)
  local self = setmetatable(options.check("instantiation", given, parts), Instantiation)
  check_space(self, 2)
  check_parts(self, 2)
  return self
end

--- inst:features{ T =, seed =, dtype = }: the stage of a pipeline: phi(w_t, x)/sqrt(T) without K, E
--- K(w_t, w) phi(w, x) with K.
function Instantiation:features(given)
  return new_features(self, given, "instantiation:features")
end

-- Of options where one of W, p, phi and K is sc.choose{...}: the options of each choice, one by
-- one.
local function given_choices(given)
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

--- sc.features{ p =, phi =, K =, T =, seed =, dtype = }: features in one step. With sc.choose{...}
--- for p, phi or K they are a choice of stages.
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
  given = choices[1]
  local inst, rest, known = {}, {}, {}
  for name, rule in pairs(parts) do known[name] = rule end
  for name, rule in pairs(feature_rules) do known[name] = rule end
  options.check("features", given, known)
  for name, value in pairs(given) do (parts[name] and inst or rest)[name] = value end
  local self = setmetatable(inst, Instantiation)
  check_space(self, 2)
  check_parts(self, 2)
  return new_features(self, rest, "features")
end

local function is_whole(value)
  return type(value) == "number" and math.tointeger(value) ~= nil and value >= 1
end

local function refuse_nonfinite(given)
  for name, X in pairs(given) do
    local row, col = core.find_nonfinite(X)
    if row then error(("%s is not finite in row %d, column %d"):format(name, row, col), 0) end
  end
end

local function dim_of(self, d, title, level)
  if d ~= nil and not is_whole(d) then
    error(("%s: the number of columns got %s; it takes a whole number of at least 1"):format(title,
      options.show(d)), level)
  end
  d = d or self.last_dim
  if d == nil then
    error(("%s: depends on the number of columns d, and nothing was fitted yet: give it, as \z
      inst:%s(20)"):format(title, title:match("[^:]+$")), level)
  end
  return math.tointeger(d)
end

local function spec(self, dim, given)
  local s = { sampler = self.p:instance(), phi = self.phi:instance(), kernel = self.K
    and self.K:instance(), dim = dim, T = 1 }
  for name, value in pairs(given or {}) do s[name] = value end
  return s
end

--- inst:sample{ T =, seed =, d = }: T parameters as a matrix, one a row.
function Instantiation:sample(given)
  local o = options.check("instantiation:sample", given, {
    T = { type = "integer", low = 1, required = true }, seed = { type = "integer", default = 0 },
      d = { type = "integer", low = 1 } })
  local dim = dim_of(self, o.d, "instantiation:sample", 3)
  return options.guard("instantiation:sample", 1, function()
    return core.map_parameters(core.map(spec(self, dim, { T = o.T, seed = o.seed })))
  end)
end

-- The least number of columns that a matrix of parameters can be for: its width, or the largest
-- column that it names.
local function dim_of_parameters(self, U)
  local space = space_of(self.p)
  if space ~= "threshold" and space ~= "sparse" then return U:cols() end
  local named = space == "threshold" and 1 or (U:cols() // 2)
  return U:rows() == 0 and 1 or math.max(1, math.tointeger(U:slice(1, U:rows(), 1, named):max())
    or 1)
end

--- inst:gram(U, V): K(u, v) for each row of U and of V (parameters as inst:sample gives them).
function Instantiation:gram(U, V)
  U = matrix_of(U, "instantiation:gram")
  V = matrix_of(V or U, "instantiation:gram")
  if not self.K then error("instantiation:gram: this instantiation has no K", 2) end
  local dim = math.max(dim_of_parameters(self, U), dim_of_parameters(self, V))
  local space = space_of(self.p)
  if self.last_dim and (space == "threshold" or space == "sparse") then
    dim = math.max(dim, self.last_dim)
  end
  return options.guard("instantiation:gram", 1, function()
    return core.map_between(core.map(spec(self, dim)), U, V)
  end)
end

--- inst:expectation(U, X[, { method =, tolerance =, samples =, seed = }]): E_{w~p}[K(u, w) phi(w,
--- x)], a row for each u and a column for each x; and info: method ("exact", "quadrature",
--- "monte-carlo"), stderr (the largest of any entry), samples.
function Instantiation:expectation(U, X, given)
  local o = options.check("instantiation:expectation", given, {
    method = feature_rules.method, tolerance = { type = "number", above = 0, default = 1e-3 },
    samples = { type = "integer", low = 2048, default = 1 << 20 },
      seed = { type = "integer", default = 0 } })
  if not self.K then error("instantiation:expectation: this instantiation has no K", 2) end
  U, X = matrix_of(U, "instantiation:expectation"), matrix_of(X, "instantiation:expectation")
  return options.guard("instantiation:expectation", 1, function()
    refuse_nonfinite{ U = U, X = X }
    return core.expectation(spec(self, X:cols(), { parameters = U, method = o.method,
      seed = o.seed }), X, o.tolerance, o.samples)
  end)
end

local function constants(self, d, given, title)
  local o = options.check(title, given,
    { radius = { type = "number", above = 0, default = math.huge } }, 3)
  if not self.K then
    error(title .. ": belongs to an instantiation with K; this one has none", 3)
  end
  local dim = dim_of(self, d, title, 4)
  return options.guard(title, 2, function()
    return core.map_constants(core.map(spec(self, dim, { samples = 1 })), o.radius)
  end)
end

--- inst:kappa([d[, { radius = }]]): sup_x sqrt(E K(w,w) phi(w,x)^2), and whether it is exact (else
--- an upper bound). d: columns of X, by default those of the last fit. radius: the longest x, for a
--- phi without a bound (relu); without it such a phi has no finite kappa.
function Instantiation:kappa(d, given)
  local c = constants(self, d, given, "instantiation:kappa")
  return c.kappa, c.kappa_exact
end

--- inst:theta([d[, { radius = }]]): sup_x sqrt(E E K(u,w) phi(u,x) phi(w,x)) over x that are not 0;
--- then the paper's bound on it, sup|phi| sqrt(E E K); then whether the first is exact (else an
--- upper bound).
function Instantiation:theta(d, given)
  local c = constants(self, d, given, "instantiation:theta")
  return c.theta, c.theta_paper, c.theta_exact
end

local function between_rows(self, X, Y, title, f)
  X = matrix_of(X, title)
  Y = matrix_of(Y or X, title)
  return options.guard(title, 2, function()
    refuse_nonfinite{ X = X, Y = Y }
    local waits = self.p:waiting() or self.phi:waiting()
    local widths = waits and { core.widths(core.source(X), {}) } or nil
    local s = { sampler = self.p:instance({}, widths), phi = self.phi:instance({}, widths),
      kernel = self.K and self.K:instance(), dim = X:cols(), T = 1,
                samples = 1 }
    return f(core.map(s), X, Y)
  end)
end

--- inst:kernel(X, Y): the kernel that the features estimate, in closed form, where the parts
--- declare one.
function Instantiation:kernel(X, Y)
  return between_rows(self, X, Y, "instantiation:kernel", core.map_induced)
end

--- inst:collision(X, Y): P(the codes of x and y agree) in closed form: kappa_q of maxout codes, 1 -
--- angle/pi of signs. What 1 - codes:hamming() estimates.
function Instantiation:collision(X, Y)
  return between_rows(self, X, Y, "instantiation:collision", core.map_collision)
end

return instantiation
