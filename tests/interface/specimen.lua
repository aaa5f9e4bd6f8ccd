--- Specimens: copies of the object specimen_v1.so or specimen_later.so with a script at the end,
--- which the object reads when it is loaded (specimen/dress.c says what it may hold).
local lu = require "luaunit"
local sc = require "scullery"
local support = require "support"

local specimen = {}

local build = support.build .. "/tests/interface/"
local folder, count

--- specimen.folder(): a folder for the files of this run.
function specimen.folder()
  if not folder then
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute(("mkdir -m 700 '%s'"):format(folder)))
  end
  return folder
end

--- specimen.clear(): remove it.
function specimen.clear()
  if folder then os.execute(("rm -rf '%s'"):format(folder)) end
  folder = nil
end

local objects = {}

--- specimen.object(version, ...): the bytes of an object with these lines as its script.
function specimen.object(version, ...)
  objects[version] = objects[version] or support.read(build .. "specimen_" .. version .. ".so")
  local script = table.concat({ ... }, "\n") .. "\n"
  return objects[version] .. script .. ("%08d"):format(#script)
end

--- specimen.file(version, ...): a new file of it; returns its path.
function specimen.file(version, ...)
  count = (count or 0) + 1
  return support.write(("%s/s%d.so"):format(specimen.folder(), count),
    specimen.object(version, ...))
end

--- specimen.prepare(version, names, ...): a file with the components in the list `names`, each
--- under its name and a number of its own; returns the names by component, and the file's path.
function specimen.prepare(version, names, ...)
  local lines, own = { "only " .. table.concat(names, " "), ... }, {}
  local number = (count or 0) + 1
  for _, name in ipairs(names) do
    own[name] = ("%s_%d"):format(name, number)
    table.insert(lines, 2, ("set %s name text %s"):format(name, own[name]))
  end
  return own, specimen.file(version, table.unpack(lines))
end

--- specimen.load(version, names, ...): the same, loaded. Errors are plugin.load's.
function specimen.load(version, names, ...)
  local own, path = specimen.prepare(version, names, ...)
  sc.plugin.load(path)
  return own, path
end

--- specimen.skip_crashes(): skip a test in which threads crash. The thread sanitizer deadlocks in
--- its own reports where two do at once.
function specimen.skip_crashes()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or ""):find("thread", 1, true) ~= nil,
    "the thread sanitizer has crash reports of its own")
end

return specimen
