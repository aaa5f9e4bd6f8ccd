--- help(x): what there is to know about a function, a plugin, a stage, an object, a module, or a
--- name. The library is loaded with it, as its members are topics.
require "scullery"

return require "scullery.help.topics"
