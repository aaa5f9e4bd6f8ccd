--- Parameter spaces: sc.space.
local core = require "scullery.core"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"

local space = {}

local Space = objects.class("space", { fields = "name summary" })
function Space:__tostring() return "space." .. self.name .. "()" end

local spaces, names = {}, {}
for i, one in ipairs(core.spaces()) do spaces[one.name], names[i] = one, one.name end
table.sort(names)

--- space.class: that of the values. space.known: name -> { name, summary, seen }, from the engine.
space.class, space.known = Space, spaces

--- sc.space.dense(), sparse(), threshold(), grid(), structured(): the parameter space W of an
--- instantiation; the sampler must draw from it.
space.namespace = objects.namespace("sc.space", setmetatable({}, {
  __index = function(_, name)
    if not spaces[name] then
      local near = options.nearest(tostring(name), names)
      error(("no space '%s'%s; there are %s"):format(name, near and " (did you mean '" .. near
        .. "'?)" or "", table.concat(names, ", ")), 2)
    end
    return function()
      return setmetatable({ name = name, summary = spaces[name].summary }, Space)
    end
  end,
  __pairs = function(all)
    local i = 0
    return function()
      i = i + 1
      if names[i] then return names[i], all[names[i]] end
    end
  end,
}))

return space
