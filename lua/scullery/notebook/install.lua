--- scullery notebook install | uninstall: registers this build or installation with Jupyter, by a
--- kernel.json in a folder of kernels; the Python files are not copied.
local core = require "scullery.core"
local folders = require "scullery.base.folders"

local install = {}

local function fail(...) error(string.format(...), 0) end

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- The first line of the output of a shell command, or nil.
local function line_of(command)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local line = pipe:read("l")
  pipe:close()
  return line ~= "" and line or nil
end

local function exists(path)
  local file = io.open(path, "r")
  if file then file:close() end
  return file ~= nil
end

-- ------------ what is there

-- Build tree: <dir>/scullery and <dir>/share; installed: <dir>/bin/scullery and <dir>/share.
local function wrapper_of(binary)
  local folder = binary:match("^(.*)/[^/]*$")
  for _, share in ipairs{ folder .. "/share", folder:gsub("/[^/]*$", "") .. "/share" } do
    local path = share .. "/scullery/jupyter/scullery_kernel.py"
    if exists(path) then return path end
  end
  fail("the kernel's Python files (share/scullery/jupyter) are not there; install Scullery again")
end

-- A Python with ipykernel: the requested one, that of PATH, or Debian's.
local function find_python(asked)
  local names = asked and { asked } or { "python3", "/usr/bin/python3" }
  local any
  for _, name in ipairs(names) do
    local path = line_of("command -v " .. quoted(name))
    any = any or path
    if path and line_of(quoted(path) .. " -c 'import ipykernel; print(1)'") then return path end
  end
  if not any then
    fail("there is no %s, which the kernel needs (Debian: apt-get install python3 \z
      python3-ipykernel)", asked or "python3")
  end
  fail("%s has no ipykernel, which the kernel needs (Debian: apt-get install python3-ipykernel; \z
    --python PATH names another Python)", any)
end

-- ------------ where it goes

-- Jupyter's folder of the user's kernels, or that of a prefix.
local function kernels_folder(given)
  if given.prefix then return given.prefix:gsub("/+$", "") .. "/share/jupyter/kernels" end
  local own, data, home = os.getenv "JUPYTER_DATA_DIR", os.getenv "XDG_DATA_HOME", os.getenv "HOME"
  if own and own ~= "" then return own .. "/kernels" end
  if data and data ~= "" then return data .. "/jupyter/kernels" end
  if not home or home == "" then fail("HOME is not set; --prefix DIR names a folder") end
  return home .. "/.local/share/jupyter/kernels"
end

-- Cells in several processes are another kernel.
local function kernel_folder(given)
  local several = given.processes
  if several and not (several:match "^%d+$" and tonumber(several) >= 1
    and tonumber(several) <= 256) then
    fail("--processes takes a whole number from 1 to 256, got '%s'", several)
  end
  return kernels_folder(given) .. "/scullery" .. (several and "-" .. several or "")
end

--- install.run(given): writes kernel.json; given: prefix, python, processes. Returns its path.
function install.run(given)
  local binary = line_of("readlink /proc/$PPID/exe") -- the shell's parent
    or fail("the file of this command was not found")
  local several = given.processes
  local description = { display_name = several and ("Scullery, %s processes"):format(several)
    or "Scullery", language = "lua", interrupt_mode = "signal",
    argv = { find_python(given.python), "-B", "-Xfrozen_modules=off", -- avoids a warning
      wrapper_of(binary), "-f", "{connection_file}" },
    env = { SCULLERY_COMMAND = binary, SCULLERY_NOTEBOOK_PROCESSES = several } }
  local folder = kernel_folder(given)
  folders.make(folder)
  local path = folder .. "/kernel.json"
  core.write_text(path, core.json_encode(description) .. "\n")
  return path
end

--- install.remove(given): removes the kernel; returns the path that was removed, nil if there was
--- none.
function install.remove(given)
  local folder = kernel_folder(given)
  local path = folder .. "/kernel.json"
  if not exists(path) then return nil, folder end
  local ok, message = os.remove(path)
  if not ok then fail("%s", message) end
  os.remove(folder) -- where nothing else is in it
  return path
end

return install
