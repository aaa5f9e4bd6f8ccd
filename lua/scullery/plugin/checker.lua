--- Access to the checker of plugins, which is a separate module.

--- checker(part): its module `part`, such as ".command"; without `part` the module itself. Raises
--- an error if the checker is not installed.
return function(part)
  local ok, found = pcall(require, "scullery_checker" .. (part or ""))
  if ok then return found end
  local missing = tostring(found):match("module '(scullery[_.]checker[%w_.]*)' not found")
  if not missing then error(found, 0) end
  error(("the checker of plugins is not installed: there is no Lua module %s. `cmake --install` \z
    of Scullery's build folder installs it (share/lua/5.4/scullery_checker and \z
    lib/lua/5.4/scullery/checker.so below the prefix)"):format(missing), 0)
end
