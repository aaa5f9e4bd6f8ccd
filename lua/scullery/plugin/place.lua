--- The user's folder of plugins: installing checks and copies a file; uninstalling removes it.
local core = require "scullery.core"
local about = require "scullery.plugin.about"
local fail = require "scullery.base.fail"
local folders = require "scullery.base.folders"
local options = require "scullery.base.options"
local say = require "scullery.base.say"

local place = {}

local FOLDER, FILE = tonumber("755", 8), tonumber("644", 8)
local WRITABLE = tonumber("022", 8)

--- place.folder(): the path of the folder of the user's plugins; it may not exist.
function place.folder()
  return core.plugin_folder()
    or fail("there is no folder for plugins: neither XDG_DATA_HOME nor HOME is a full path")
end

local function read(path)
  local file, message = io.open(path, "rb")
  if not file then fail("%s", message) end
  local bytes = file:read("a")
  file:close()
  return bytes
end

-- True for a link to another folder or to nothing, through which nothing is written.
local function is_link(path)
  local folder = path:match("^(.*)/")
  local real = core.real_path(folder)
  return real and core.real_path(path) ~= real .. path:sub(#folder + 1)
end

-- ------------ install

-- Runs the checker; raises an error if the file failed and `force` is not given.
local function check(path, given)
  if given.no_check then
    say(("%s was not checked (--no-check)"):format(path))
    return
  end
  local all = require("scullery.plugin.checker")().run(path)
  if all.failed == 0 then
    say(("checked: %d passed, %d warned, %d skipped"):format(all.passed, all.warned, all.skipped))
    return
  end
  for _, result in ipairs(all.results) do
    if result.outcome == "fail" or result.outcome == "crash" or result.outcome == "timeout" then
      say(("%s  %s: %s"):format(result.outcome, result.name, result.text))
    end
  end
  if not given.force then
    fail("%s failed %d of its checks and was not installed: scullery plugin check %s prints the \z
      details, --force installs it all the same", path, all.failed, path)
  end
  say(("%s failed %d of its checks (--force)"):format(path, all.failed))
end

-- Makes the folder if it is missing; refuses one that another user can write to.
local function make_folder(path)
  folders.make(path, FOLDER)
  local file = core.file_about(path)
  if not file.own then fail("%s belongs to another user (uid %d)", path, file.user) end
  if file.mode & WRITABLE ~= 0 then
    fail("others may write to %s, where the search then takes nothing: chmod go-w %s", path, path)
  end
end

-- Writes the file of a plugin as targets[1], and links to it for its further components.
local function put(targets, list, bytes)
  for i, one in ipairs(list) do
    make_folder(targets[i]:match("^(.*)/"))
    if is_link(targets[i]) then os.remove(targets[i]) end
    if i == 1 then
      core.write_text(targets[1], bytes, FILE)
    else
      os.remove(targets[i])
      core.link(("../%s/%s.so"):format(list[1].kind, list[1].name), targets[i])
    end
    say(("installed: %s"):format(targets[i]))
    local found = core.plugin_find(one.kind, one.name)
    if found ~= targets[i] then
      say(("  but sc.%s.%s is %s, which the search finds first"):format(one.kind, one.name,
        found))
    else
      local use = one.kind == "transport" and "scullery --transport %s"
        or one.kind == "reader" and "sc.data.read(path), which asks %s" or "sc." .. one.kind
        .. ".%s{}"
      say(("  use it as %s; help(sc.%s.%s) describes it"):format(use:format(one.name), one.kind,
        one.name))
    end
  end
end

--- place.install{ file =, force =, no_check = }: checks a file, and copies it to the user's folder.
--- Raises an error if it fails a check, or if another file has its name, unless force is true.
function place.install(given)
  local path = given.file
  local list, message = about.file(path)
  if not list then fail("%s", message) end
  if list[1].origin == "built in" then fail("%s is built in", list[1].path) end
  local bytes, folder, targets = read(path), place.folder(), {}
  for i, one in ipairs(list) do
    targets[i] = ("%s/%s/%s.so"):format(folder, one.kind, one.name)
    if core.file_about(targets[i]) and read(targets[i]) ~= bytes and not given.force then
      fail("%s is there already, and is another file: --force replaces it", targets[i])
    end
  end
  check(path, given)
  if read(path) ~= bytes then
    fail("%s changed while it was checked; it was not installed", path)
  end
  make_folder(folder)
  put(targets, list, bytes)
end

-- ------------ uninstall

-- The user's plugins: a list of { kind, name, path }.
local function installed()
  local list, folder = {}, place.folder()
  for _, kind in ipairs(core.plugin_kinds()) do
    for _, file in ipairs(core.folder(folder .. "/" .. kind) or {}) do
      local name = not file.folder and file.name:match("^([%l][%l%d_]*)%.so$")
      if name then
        list[#list + 1] = { kind = kind, name = name,
          path = ("%s/%s/%s"):format(folder, kind, file.name) }
      end
    end
  end
  return list
end

local function find(name)
  local found, names = {}, {}
  for _, one in ipairs(installed()) do
    names[#names + 1] = one.name
    if name == one.name or name == one.kind .. "." .. one.name then found[#found + 1] = one end
  end
  if #found == 1 then return found[1] end
  if #found > 1 then
    for i, one in ipairs(found) do found[i] = one.kind .. "." .. one.name end
    fail("there are several: %s", table.concat(found, ", "))
  end
  local near = options.nearest(name, names)
  fail("no plugin '%s' is installed in %s%s", name, place.folder(),
    near and (" (did you mean '" .. near .. "'?)") or "")
end

--- place.uninstall(name): removes a plugin from the user's folder, the links to its file, and what
--- installing made: the folders of its kind, of plugins and of scullery, where they are empty now.
function place.uninstall(name)
  local one, paths = find(name), {}
  local real = core.real_path(one.path)
  for _, other in ipairs(installed()) do
    if other.path == one.path or real and core.real_path(other.path) == real then
      paths[#paths + 1] = other.path
    end
  end
  for _, path in ipairs(paths) do
    local ok, message = os.remove(path)
    if not ok then fail("%s", message) end
    say("removed: " .. path)
    local folder = place.folder()
    for _, made in ipairs{ path:match("^(.*)/"), folder, folder:match("^(.*)/") } do
      if not is_link(made) then os.remove(made) end -- which fails where it is not empty
    end
  end
end

return place
