-- luarocks --lua-version=5.4 make [--tree DIR], in the root of the source: the Lua module and the
-- command as a rock. Nothing is fetched; the libraries that bootstrap.sh lists must be there.
rockspec_format = "3.0"
package = "scullery"
version = "dev-1"
source = { url = "file://." }
description = {
  summary = "Machine learning with random features",
  license = "MIT",
}
dependencies = { "lua >= 5.4, < 5.5" }
build = {
  type = "cmake",
  variables = {
    -- Lua files, the module in C and the command lie where LuaRocks takes them to the tree;
    -- libscullery, the plugins and the headers stay in the rock.
    CMAKE_INSTALL_PREFIX = "$(PREFIX)",
    CMAKE_INSTALL_BINDIR = "$(BINDIR)",
    CMAKE_INSTALL_LIBDIR = "native",
    SCULLERY_LUA_FILES = "$(LUADIR)",
    SCULLERY_LUA_MODULES = "$(LIBDIR)",
  },
}
