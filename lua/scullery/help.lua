--- help(x): the documentation of a function, a plugin, a stage, an object, a module or a name. It
--- loads the library because the library's members are topics.
require "scullery"

return require "scullery.help.topics"
