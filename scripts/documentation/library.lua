--- The library with all of its modules loaded, so that every class is known.
local library = {}

local loaded = false

--- library.classes(source): the classes of objects, in the order of their names. source: the folder
--- of the tree.
function library.classes(source)
  if not loaded then
    require "scullery"
    local pipe = assert(io.popen(("cd '%s/lua' && find scullery -name '*.lua' \z
      ! -path 'scullery/templates/*' | sort"):format(source)))
    for path in pipe:lines() do
      local module = path:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
      require(module)
    end
    pipe:close()
    loaded = true
  end
  return require("scullery.base.objects").classes()
end

return library
