-- The Jupyter kernel: how it is installed, and all that Jupyter asks of it, by Jupyter's own client
-- (notebook_kernel.py) and on the notebook that ships (notebook_tour.py).
local lu = require "luaunit"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")

local in_folder, quote = support.in_folder, support.quote
local scullery, shell = support.scullery, support.shell
local source = os.getenv("SCULLERY_SOURCE") or "."

-- A Python with the packages, or nil.
local function python()
  for _, name in ipairs{ "python3", "/usr/bin/python3" } do
    if shell(name .. " -c 'import ipykernel, jupyter_client, nbclient'") == 0 then return name end
  end
end

local function need_python()
  local name = python()
  lu.skipIf(not name, "there is no Python with ipykernel and nbclient")
  return name
end

-- ------------ installing

TestInstalling = {}

function TestInstalling:test_a_prefix_gets_a_kernel_and_loses_it_again()
  need_python()
  in_folder(function(folder)
    local path = folder .. "/share/jupyter/kernels/scullery/kernel.json"
    local prefix = " --prefix " .. quote(folder)
    local status, out, err = scullery("notebook install" .. prefix)
    lu.assertEquals({ status, out, err }, { 0, "installed: " .. path .. "\n", "" })
    local kernel = core.json_decode(support.read(path), "kernel.json")
    lu.assertEquals({ kernel.display_name, kernel.language }, { "Scullery", "lua" })
    lu.assertEquals(shell(kernel.env.SCULLERY_COMMAND .. " --version"), 0)
    status, out = scullery("notebook uninstall" .. prefix)
    lu.assertEquals({ status, out }, { 0, "removed: " .. path .. "\n" })
    status, out = scullery("notebook uninstall" .. prefix)
    lu.assertEquals({ status, out },
      { 0, "there is no kernel in " .. path:match("^(.*)/") .. "\n" })
  end)
end

-- The process says that the notebook is gone, where a signal would have ended it (status 141).
function TestInstalling:test_a_notebook_that_is_gone_is_reported()
  in_folder(function(folder)
    shell(("{ printf '1 {}\\n' | sh -c 'sleep 0.5; exec %s notebook serve 3 4 3<&0 4>&1' \z
      2> %s/err; echo $? > %s/status; } | true; sleep 0.1"):format(quote(support.binary),
      quote(folder), quote(folder)))
    lu.assertEquals(support.read(folder .. "/status"), "1\n")
    lu.assertStrContains(support.read(folder .. "/err"), "cannot be written to: Broken pipe")
  end)
end

function TestInstalling:test_a_user_s_kernel_goes_where_jupyter_looks()
  need_python()
  in_folder(function(folder)
    for _, case in ipairs{
      { "JUPYTER_DATA_DIR= XDG_DATA_HOME= HOME=", "/.local/share/jupyter/kernels" },
      { "JUPYTER_DATA_DIR= XDG_DATA_HOME=", "/jupyter/kernels" },
      { "JUPYTER_DATA_DIR=", "/kernels" },
    } do
      local status, out = shell(("%s%s %s notebook install --user"):format(case[1], quote(folder),
        quote(support.binary)))
      lu.assertEquals({ status, out },
        { 0, "installed: " .. folder .. case[2] .. "/scullery/kernel.json\n" })
    end
  end)
end

function TestInstalling:test_what_is_missing_is_named()
  in_folder(function(folder)
    for _, case in ipairs{
      { "install --python " .. folder .. "/none", "python3 python3-ipykernel" },
      { "install --python /bin/true", "python3-ipykernel" },
      { "install --prefix /proc/none --user", "can not be used together" },
      { "install --prefix /dev/null", "/dev/null" },
      { "install --processes 0", "1 to 256" },
      { "", "a command is required" },
      { "serve", "two descriptors" },
      { "serve 3 4", "two descriptors" },
      { "serve 0 1", "two descriptors" },
    } do
      local status, out, err = scullery("notebook " .. case[1])
      lu.assertEquals({ status, out }, { 1, "" }, case[1])
      lu.assertStrContains(err, case[2])
      lu.assertNotStrContains(err, "traceback")
    end
  end)
end

-- ------------ running

-- Run one of the Python files, with the kernel of this build and nothing of the user's.
local function run_python(file)
  local name = need_python()
  in_folder(function(folder)
    for _, more in ipairs{ "", " --processes 3" } do
      lu.assertEquals(scullery("notebook install --prefix " .. quote(folder) .. more), 0)
    end
    local status, out, err = shell(("d=%s; JUPYTER_PATH=$d/share/jupyter HOME=$d IPYTHONDIR=$d \z
      JUPYTER_RUNTIME_DIR=$d NOTEBOOK_FLAG=$d/flag timeout 800 %s -B -Xfrozen_modules=off %s")
      :format(quote(folder), name, quote(source .. "/tests/lua/notebook/" .. file)))
    lu.assertEquals(status, 0, out .. err)
    lu.assertStrContains(err, "\nOK")
  end)
end

function TestKernel() run_python("notebook_kernel.py") end
function TestTheNotebookThatShips() run_python("notebook_tour.py") end

os.exit(lu.LuaUnit.run())
