-- The Python package (scripts/python): its estimators in python_estimators.py, which needs
-- scikit-learn; where the package is; the wheel; the notebook of docs/.
local lu = require "luaunit"
local source = os.getenv "SCULLERY_SOURCE" or "."
local support = dofile(source .. "/tests/helpers/support.lua")
local quote, shell = support.quote, support.shell

local binary = os.getenv "SCULLERY_BINARY" or support.build .. "/scullery"

-- A Python that has these modules, or the test is skipped.
local function need_python(modules)
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "",
    "an interpreter cannot load a library built with a sanitizer")
  for _, name in ipairs{ "python3", "/usr/bin/python3" } do
    if shell(("%s -c 'import %s'"):format(name, modules)) == 0 then return name end
  end
  lu.skip("there is no Python with " .. modules)
end

local function pythonpath()
  local status, out, err = shell(quote(binary) .. " --pythonpath")
  lu.assertEquals({ status, err }, { 0, "" })
  return out:sub(1, -2)
end

-- The output of a command that must succeed, in a new folder with the package in PYTHONPATH.
local function run(line)
  local folder = os.tmpname()
  os.remove(folder)
  local status, out, err = shell(("mkdir %s && FOLDER=%s PYTHONDONTWRITEBYTECODE=1 \z
    PYTHONPATH=%s SCULLERY_SOURCE=%s %s; s=$?; rm -r %s; exit $s"):format(quote(folder),
    quote(folder), quote(pythonpath()), quote(source), line, quote(folder)))
  lu.assertEquals(status, 0, out .. err)
  return out
end

function TestThePackageIsWhereTheCommandSays()
  lu.assertNotNil(io.open(pythonpath() .. "/scullery/__init__.py"))
end

local tests = quote(source .. "/tests/core/session/python_estimators.py")

-- unittest prints how many tests ran, and which were skipped, on its standard error.
function TestEstimators()
  local said = run(need_python "sklearn" .. " " .. tests .. " -v 2>&1")
  lu.assertStrContains(said, "OK")
  for line in said:gmatch("[^\n]*skipped[^\n]*") do print(line) end
end

-- A wheel without a compiler, which is the same files, and finds the library by the command.
function TestTheWheel()
  local name = need_python "sklearn, build, setuptools, wheel"
  local said = run(([[sh -ec 'cp -r %s/scripts/python $FOLDER/source; cd $FOLDER; unset PYTHONPATH
    %s -m build --wheel --no-isolation --outdir . source >log 2>&1 || { cat log; exit 1; }
    ls *.whl; mkdir there; cd there; %s -m zipfile -e ../*.whl .
    PATH="%s:$PATH" %s -c "import scullery; print(scullery.version(), scullery.__file__)"']])
    :format(source, name, name, binary:match "^(.*)/" or ".", name))
  lu.assertStrMatches(said, "scullery%-[%d.]+%-py3%-none%-any%.whl\n[%d.]+ [^\n]*/there/scullery/\z
    __init__%.py\n")
  local version = require("scullery.core").version
  lu.assertStrContains(said, ("scullery-%s-py3-none-any.whl\n%s "):format(version, version))
end

-- The notebook of docs/, cell by cell; one that fails ends it with its error.
function TestTheNotebook()
  local name = need_python "sklearn, nbclient, ipykernel, nbformat"
  run(("%s -c 'import nbformat, nbclient; n = nbformat.read(\"%s/docs/python.ipynb\", 4); \z
    nbclient.NotebookClient(n, timeout=120, kernel_name=\"python3\").execute()'"):format(name,
    source))
end

os.exit(lu.LuaUnit.run())
