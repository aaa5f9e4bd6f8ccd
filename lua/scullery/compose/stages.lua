--- Row stages, which map rows to rows: sc.stage.NAME, and sc.standardize and the like. In a
--- pipeline a stage of a plugin is an object of the class here, which holds the component.
local core = require "scullery.core"
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local warn = require "scullery.base.warn"

local stages = {}

local Stage = objects.class("stage", { fields = "kind given component", hidden = "component",
  hint = function(self, field)
  return ("options of a stage are given when it is made, as in sc.%s{ %s = ... }"):format(self.kind,
    tostring(field))
end })

function Stage:__tostring()
  local parts = {}
  for name, value in pairs(self.given) do
    parts[#parts + 1] = name .. " = " .. options.show(value)
  end
  table.sort(parts)
  return self.kind .. (#parts > 0 and "{" .. table.concat(parts, ", ") .. "}" or "()")
end

-- Stages are not added: they are listed.
function Stage.__add()
  error("+ takes features on both sides: a row stage comes before or after them in the pipeline, \z
    as in sc.pipeline{ sc.standardize(), a + b, solver }", 2)
end

--- stage:label([with_options]): its kind; with_options = true: with its options.
function Stage:label(with_options) return with_options and tostring(self) or self.kind .. "()" end

--- stages.searched(stage): its searched options: a list of {path = "pca.k", values =, choose =,
--- option =}; of the sampler in sc.stage.random_features{ p = } "random_features.p.sigma".
function stages.searched(self)
  if not self.component then return choose.searched(self.kind, self.given) end
  local list = component.searched(self.component)
  for _, one in ipairs(list) do one.path = self.kind .. one.path:match("%..*") end
  return list
end

--- stages.of(value): the stage of a component of the kind "stage"; any other value as it is.
function stages.of(value)
  if not component.is(value, "stage") then return value end
  return setmetatable({ kind = value.name, given = value.given, component = value }, Stage)
end

--- stages.make(kind, given): the stage of that name with these options.
function stages.make(kind, given)
  if kind == "relevance" then return stages.relevance(given) end
  return stages.of(component.group("stage")[kind](given))
end

--- stages.resolved(stage, choices): a copy with every searched option replaced by its choice (by
--- its first value without a choice).
function stages.resolved(self, choices)
  local mine, prefix = {}, self.kind .. "."
  for path, value in pairs(choices) do
    if path:sub(1, #prefix) == prefix then mine["stage." .. path:sub(#prefix + 1)] = value end
  end
  if self.component then return stages.of(component.resolved(self.component, mine)) end
  return stages.relevance{ seed = choose.pick(self.given.seed, prefix .. "seed", choices) }
end

-- What the plugin of a stage declares; relevance is no plugin.
local function facts(self)
  if not self.component then return { targets = true, follows = false } end
  return core.stage_facts(component.instance(self.component))
end

--- stages.fit(stage, source, before, map, weights): the engine's stage, fitted to the rows of a
--- source after the fitted stages `before`; with `map`, to the features of these rows. weights: n x
--- 1, or nil: those of the rows for stages that learn from targets; other stages ignore weights.
--- Second result: fields for p:info(), { components = } of a stage that reports variances,
--- { relevance = } of one that reports the relevance of columns; nil for other stages.
function stages.fit(self, source, before, map, weights)
  if self.kind == "relevance" then
    local made, relevance = core.fit_relevance(source, before, self.given.seed, weights)
    return made, { relevance = relevance }
  end
  local made, found = core.fit_stage(component.instance(self.component), source, before, map,
    weights)
  if found.relevance then return made, { relevance = found.relevance } end
  if not found.variances or not found.total then return made end
  if self.kind == "pca" then stages.warn_of_rounding(found) end
  return made, { components = stages.explained(found) }
end

--- stages.components(source, before, map, k): the principal components of staged rows, or of the
--- features of a map: {vectors = k x D, mean = 1 x D, variances = k x 1, total =}.
function stages.components(source, before, map, k)
  local made, found = core.fit_stage(component.instance(stages.pca{ k = k }.component), source,
    before, map)
  local arrays = core.stage_save(made).arrays
  return { vectors = arrays.vectors, mean = arrays.mean, variances = found.variances,
    total = found.total }
end

--- stages.learns_from_targets(stage): true if it is fitted to the targets, too.
function stages.learns_from_targets(self)
  return facts(self).targets
end

--- stages.follows(stage): true if it can come after features, with a solver after it; else false
--- and why not.
function stages.follows(self)
  local known = facts(self)
  if known.targets then return false, "it learns from targets" end
  if known.follows then return true end
  return false, "its plugin declares neither SCL_STAGE_SCALE_FREE nor SCL_STAGE_HOMOGENEOUS"
end

-- A component with a smaller share of the first component's variance is rounding error.
local ROUNDING = 1e-13

--- stages.warn_of_rounding(found): warns about principal components that are rounding error, as
--- with columns of very different scales.
function stages.warn_of_rounding(found)
  local largest = found.variances:get(1, 1)
  for i = 2, found.variances:rows() do
    if found.variances:get(i, 1) < ROUNDING * largest then
      warn(("pca: component %d has %.0e of the variance of the first: its direction is \z
        rounding; scale the columns first, with sc.standardize()"):format(i,
        math.max(found.variances:get(i, 1), 0) / largest))
      return
    end
  end
end

--- stages.explained(found): {variances = k x 1, share = of the total variance}.
function stages.explained(found)
  local total = found.total:get(1, 1)
  return { variances = found.variances, share = total > 0
    and found.variances:sum() / total or 1 }
end

--- stages.column_names(names, made): the names of the columns after fitted stages.
function stages.column_names(names, made)
  names = table.move(names, 1, #names, 1, {})
  for _, stage in ipairs(made) do
    local saved, info = core.stage_save(stage), core.stage_info(stage)
    if saved.kind == "select" then
      local before, columns = names, saved.arrays.columns
      names = {}
      for k = 1, info.cols_out do names[k] = before[math.tointeger(columns:get(1, k))] end
    elseif saved.kind == "add_bias" then
      names[#names + 1] = "bias"
    elseif not info.keeps then
      names = {}
      local word = saved.kind == "pca" and "component" or saved.kind
      for k = 1, info.cols_out do names[k] = ("%s %d"):format(word, k) end
    end
  end
  return names
end

local rules_of = {}

--- stages.option_names(kind): the names of a stage's options.
function stages.option_names(kind)
  local names = {}
  if kind == "relevance" then return { "seed" } end
  for i, option in ipairs(core.plugin_info("stage", kind).options) do names[i] = option.name end
  return names
end

--- stages.call(stage): the function that makes it, as typed: "sc.pca", "sc.stage.whiten".
function stages.call(self)
  return (rules_of[self.kind] and "sc." or "sc.stage.") .. self.kind
end

-- Whether the value is a list of distinct whole numbers from 1 on.
local function are_columns(value)
  if type(value) ~= "table" or getmetatable(value) or #value == 0 then return false end
  local seen, count = {}, 0
  for _, column in pairs(value) do
    if math.type(column) ~= "integer" or column < 1 or seen[column] then return false end
    seen[column], count = true, count + 1
  end
  return count == #value
end

-- The function sc.KIND(options), which makes a stage.
local function maker(kind, rules)
  rules_of[kind] = options.declare(kind, rules)
  return function(given)
    local checked = options.check(kind, given, rules)
    if kind ~= "relevance" then return stages.make(kind, checked) end
    return setmetatable({ kind = kind, given = checked }, Stage)
  end
end

--- stages.is(value)
function stages.is(value) return getmetatable(value) == Stage end

--- sc.standardize(): a stage that maps each column to (x - mean)/(standard deviation), both of the
--- training rows. A column that is constant there becomes 0 in all rows. Before features it scales
--- the columns of the data, after them the features: see sc.pipeline.
stages.standardize = maker("standardize", {})
--- sc.minmax(): a stage that maps each column to [0, 1] by its smallest and largest value in the
--- training rows. A column that is constant there becomes 0 in all rows.
stages.minmax = maker("minmax", {})
--- sc.normalize(): a stage that divides each row by its Euclidean norm. A zero row stays zero.
stages.normalize = maker("normalize", {})
--- sc.add_bias(): a stage that appends a column of ones.
stages.add_bias = maker("add_bias", {})
--- sc.select{ columns = { 1, 3 } }: a stage that keeps these columns (from 1), in this order; after
--- features, these features.
stages.select = maker("select", { columns = { test = are_columns, required = true,
  takes = "a list of different whole numbers from 1" } })
--- sc.pca{ k = }: a stage that maps rows to their first k principal components: x becomes V (x -
--- mean), where the k rows of V are orthonormal eigenvectors of the training rows' covariance
--- matrix, the largest variance first; the largest entry of each is positive. k: from 1 to the
--- smaller of columns and rows. It takes two passes over the rows. After features, it gives the
--- principal components of the features; without a solver, p:transform(X) shows them.
--- p:info().components has the variances.
stages.pca = maker("pca", { k = { type = "integer", low = 1, required = true, searchable = true } })
--- sc.relevance{ seed = 0 }: a stage that learns how much each column matters (automatic relevance
--- determination): x becomes (x - mean)/(standard deviation) times a relevance, from 1 for the
--- column that matters most to 0 for one that the targets do not depend on. Use it in place of
--- sc.standardize() if few of many columns matter, before features with one width for all columns.
--- A common factor makes the mean square of the relevances 1, as of standardised columns, so that
--- the same widths fit whatever was learnt.
---
--- It learns from the targets, by at most 4000 distinct rows: ridge regressions on Fourier
--- features, each scaled by the mean squared partial derivatives of the one before it, starting
--- from equal scales and from an additive model. The scales with the least error on a fifth of
--- these rows are taken, if they are clearly better than equal ones; then small ones become 0, as
--- long as this error does not grow. At most 1000 columns. Weights of rows and of classes count as
--- in the solver. It takes seconds, and p:cv and p:search fit it without each fold.
---
--- p:info().relevance has the relevance of each column. seed: for the features that it draws.
stages.relevance = maker("relevance", { seed = { type = "integer", default = 0 } })

local count = { type = "integer", low = 1, searchable = true }
--- sc.agop{ rounds = 5, form = "full" | "diagonal", map = "fourier" | "landmarks", kernel =
--- "gaussian" | "laplacian", T = 300, rows = 4000, seed = 0 }: a stage that learns a metric from
--- the targets by average gradient outer products (recursive feature machines, Radhakrishnan et al.
--- 2024). Use it in place of sc.standardize() if few columns matter,
--- or few directions that mix columns, before features with one width for all columns.
---
--- x becomes A (x - mean)/(standard deviation), A A' the mean over the rows of grad f grad f', its
--- largest eigenvalue made 1. f is a ridge regression on T random Fourier features, or on kernel
--- values at T of the rows, in the metric of the round before. form: "full" learns directions,
--- "diagonal" a scale for each column. A fifth of the rows (at most so many distinct ones) chooses
--- width, regularisation and the best of the rounds; where no round is clearly better than none,
--- the columns are only standardised. At most 1000 columns. Weights of rows and of classes count as
--- in the solver. It takes seconds, and p:cv and p:search fit it without each fold.
---
--- p:info().relevance has the length of each column in the metric, the largest being 1.
stages.agop = maker("agop", { rounds = count, T = count, rows = { type = "integer", low = 10 },
  form = { choices = { "full", "diagonal" }, searchable = true },
  map = { choices = { "fourier", "landmarks" }, searchable = true },
  kernel = { choices = { "gaussian", "laplacian" }, searchable = true },
  seed = { type = "integer", low = 0 } })

return stages
