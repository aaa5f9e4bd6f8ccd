--- Copies of a recipe with options changed by path, as in { ["solver.lambda"] = 1e-3 }. The paths
--- are those of a search: KIND.OPTION of a stage or a component, features.T and the like,
--- sampler.base.sigma for a component inside an option, 2.features.scale for part 2 of a union;
--- block, allowance and class_weights of the pipeline itself.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local instantiation = require "scullery.compose.instantiation"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local recipe = require "scullery.model.recipe"
local stages = require "scullery.compose.stages"
local text = require "scullery.compose.text"

local clone = {}

-- The changed value of a path, or the given one; false removes an option. walk: the state of the
-- walk over a recipe: the requested changes, those used, and all paths.
local function changed(walk, path, value)
  walk.known[#walk.known + 1] = path
  if walk.changes[path] == nil then return value end
  walk.used[path] = true
  return walk.changes[path]
end

local with_changes

-- An option's value with the changes applied to components inside it.
local function inside(walk, value, prefix)
  if component.is(value) then return with_changes(walk, value, prefix) end
  if type(value) ~= "table" or getmetatable(value) then return value end
  local copy = {}
  for key, one in pairs(value) do
    copy[key] = component.is(one) and with_changes(walk, one, prefix) or one
  end
  return copy
end

-- A changed copy of a component; prefix: of its paths.
function with_changes(walk, one, prefix)
  local given = {}
  for _, option in ipairs(core.plugin_info(one.kind, one.name).options) do
    local path = prefix .. "." .. option.name
    given[option.name] = changed(walk, path, inside(walk, one.given[option.name], path))
  end
  return component.group(one.kind)[one.name](given)
end

-- A changed copy of features: their parts and their own options; prefix: of the paths of a part of
-- a union.
local function features_with(walk, features, prefix)
  if features.parts then
    local list = {}
    for i, part in ipairs(features.parts) do list[i] = features_with(walk, part, i .. ".") end
    return instantiation.union(list)
  end
  local inst, given = features.inst, { W = features.inst.W }
  given.p, given.phi = with_changes(walk, inst.p, prefix .. "sampler"), with_changes(walk, inst.phi,
    prefix .. inst.phi.kind)
  given.K = inst.K and with_changes(walk, inst.K, prefix .. "kernel")
  for _, name in ipairs(instantiation.own_options) do
    given[name] = changed(walk, prefix .. "features." .. name, features[name])
  end
  return instantiation.features(given)
end

-- A changed copy of a stage of any type: row stage, features, or solver.
local function stage_with(walk, stage)
  if instantiation.is_features(stage) then return features_with(walk, stage, "") end
  if component.is(stage) then return with_changes(walk, stage, stage.kind) end
  local given = {}
  if text.is(stage) then
    for _, name in ipairs(text.option_names()) do
      given[name] = changed(walk, "text." .. name, stage.given[name])
    end
    return text.new(given)
  end
  for _, name in ipairs(stages.option_names(stage.kind)) do
    given[name] = changed(walk, stage.kind .. "." .. name, stage.given[name])
  end
  return stages.make(stage.kind, given)
end

-- The pipeline of changed stages, and a table from each old stage to the new one.
local function copy_of(walk, p)
  local given, new = {}, {}
  for i, stage in ipairs(recipe.stages(p)) do
    given[i] = stage_with(walk, stage)
    new[stage] = given[i]
  end
  for name in pairs(recipe.own_options) do given[name] = changed(walk, name, p[name]) end
  local copy = recipe.new(given)
  copy.dtype = p.dtype
  return copy, new
end

--- clone.run(pipeline, changes): see Pipeline:clone.
function clone.run(self, changes)
  if changes ~= nil and (type(changes) ~= "table" or getmetatable(changes)) then
    error("takes a table { [\"solver.lambda\"] = 1e-3, ... }, and got " .. options.show(changes), 0)
  end
  local walk, variants, copy = { changes = changes or {}, used = {}, known = {} }, {}, nil
  for v, one in ipairs(self.variants or { { pipeline = self, choice = {} } }) do
    local made, new = copy_of(walk, one.pipeline)
    local choice = {}
    for name, stage in pairs(one.choice) do choice[name] = new[stage] end
    variants[v] = { pipeline = made, choice = choice }
    copy = copy or made
  end
  for path in pairs(changes or {}) do
    if not walk.used[path] then
      error(("this recipe has no option %s%s"):format(type(path) == "string" and "'" .. path .. "'"
        or options.show(path), objects.suggestion(path, walk.known)), 0)
    end
  end
  if #variants > 1 then copy.variants = variants end
  return copy
end

return clone
