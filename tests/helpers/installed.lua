--- Installations of the build for tests.
local support = dofile("tests/helpers/support.lua")
local quote = support.quote

local installed = {}

-- Run a shell line that must succeed; returns its standard output.
function installed.sh(line)
  local status, out, err = support.shell(line)
  if status ~= 0 then error(("status %s of: %s\n%s%s"):format(status, line, out, err), 2) end
  return out
end

-- Where CMake lists what it has installed of the component.
local LIST = support.build .. "/install_manifest_scullery.txt"

-- Run a shell line that writes this list: tests that run at the same time wait for each other.
local function alone(line)
  installed.sh(("flock %s sh -c %s"):format(quote(LIST .. ".lock"), quote(line)))
end

--- installed.into(prefix): install the build; returns the path of the list of installed files.
--- The list of an installation that the user made from the build folder stays as it is.
function installed.into(prefix)
  local list = prefix .. ".manifest"
  alone(("cmake --install %s --component scullery --prefix %s && mv %s %s"):format(
    quote(support.build), quote(prefix), quote(LIST), quote(list)))
  return list
end

--- installed.package(folder): make the Debian package in an empty folder; returns its path.
function installed.package(folder)
  alone(("cpack --config %s -G DEB -B %s && rm -f %s"):format(
    quote(support.build .. "/CPackConfig.cmake"), quote(folder), quote(LIST)))
  return installed.sh(("ls %s/*.deb"):format(quote(folder))):sub(1, -2)
end

--- installed.copy_source(folder, what): copy the files of the source to a new folder, without what
--- was built; `what` "with build": also the build folder.
function installed.copy_source(folder, what)
  local source = os.getenv "SCULLERY_SOURCE" or "."
  installed.sh(("mkdir -p %s && cd %s && tar -c --exclude=./.git --exclude='./build*' "
    .. "--exclude=./out --exclude=./experiments . | tar -x -C %s"):format(quote(folder),
    quote(source), quote(folder)))
  if what == "with build" then
    -- without what other tests write at this time
    installed.sh(("mkdir %s/build && cd %s && tar -c --exclude=./Testing --exclude=./tests "
      .. "--exclude='./install_manifest*' . | tar -x -C %s/build"):format(quote(folder),
      quote(support.build), quote(folder)))
  end
end

--- installed.sanitized(): whether the build is one whose objects need a sanitizer's runtime.
function installed.sanitized() return (os.getenv "SCULLERY_SANITIZE" or "") ~= "" end

return installed
