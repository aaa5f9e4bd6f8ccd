-- luacheck: Lua 5.4; scripts and tests name their own things.
std = "lua54"
max_line_length = 100
exclude_files = { "build*/**" }
files["lua/scullery/data/catalog.lua"] = { max_line_length = false } -- addresses and checksums
files["tests/**"] = { allow_defined_top = true, self = false, ignore = { "131" } } -- LuaUnit finds tests among the globals
files["scripts/site/filter.lua"] = { globals = { "Link", "Pandoc" }, read_globals = { "pandoc" } } -- pandoc's
files["lua/scullery/templates/**"] = { allow_defined_top = true, ignore = { "131", "211" }, -- the same
  read_globals = { "lu", "sc", "plugin_path" } } -- of start_of_tests.lua, which plugin/new.lua puts into each test
