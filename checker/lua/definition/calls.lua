--- Definitions as scripts call them: sc.plugin.definition.
local components = require "scullery.compose.component"
local core = require "scullery_checker.core"
local definition = require "scullery_checker.definition"
local draws = require "scullery_checker.definition.draws"
local options = require "scullery.base.options"

local rules = {
  seed = { type = "integer", default = 0 },
  stream = { type = "integer", default = 0, low = 0 },
  dim = { type = "integer", low = 1 },
  total = { type = "integer", low = 1 },
  plane = { type = "integer", low = 0 },
  block = { type = "integer", low = 1 },
}

--- calls(component, given): the functions of its definition, and the r of those that take one.
return function(component, given)
  local told = options.check("plugin.definition", given or {}, rules, 0)
  local title = component.kind .. "." .. component.name
  local text = core.plugin_info(component.kind, component.name).definition
  if not text then
    error(("plugin.definition: the plugin of %s declares no .definition"):format(title), 0)
  end
  local parsed, message = definition.parse(text)
  if not parsed then
    error(("plugin.definition: that of %s cannot be read: %s"):format(title, message), 0)
  end
  if #components.searched(component) > 0 or components.waiting(component) then
    error(("plugin.definition: %s leaves an option to a search or to the data, and its definition \z
      needs a number"):format(tostring(component)), 0)
  end
  return definition.of(component), draws.told(told.seed, told.stream, told)
end
