--- Names that pages mention: sc.x.y, methods, files of the tree and environment variables.
local page = require "documentation.page"

local names = {}

-- ------------ sc.x.y and methods

-- Variables of the pages and the class that the objects in them have.
local class_of = { ds = "dataset", train = "dataset", test = "dataset", p = "pipeline",
  model = "pipeline", best = "pipeline", inst = "instantiation", feats = "features",
  X = "matrix" }

-- Methods of Lua's own texts and files.
local function luas(name)
  return string[name] ~= nil or io.stdout[name] ~= nil
end

-- Methods of objects of other making: levels of progress and what functions of components are
-- given (both in C), sessions.
local others = { step = true, status = true, run = true, normal = true, solve = true, total = true,
  progress = true }

-- class name -> { method -> true }, and under "any" the methods of all.
local function all_methods(source)
  local core = require "scullery.core"
  local set = { any = {}, matrix = {} }
  for _, methods in ipairs{ core.matrix_methods, core.sparse_methods, core.texts_methods } do
    for name in pairs(methods) do set.matrix[name], set.any[name] = true, true end
  end
  for _, class in ipairs(require("documentation.library").classes(source)) do
    set[class.__name] = {}
    for name in pairs(class.methods) do set[class.__name][name], set.any[name] = true, true end
  end
  return set
end

-- The names of the plugins that a page's own code makes: a set.
local function made_by(one)
  local set = {}
  for _, block in ipairs(one.blocks) do
    local text = table.concat(block.lines, "\n")
    for name in text:gmatch('%f[%w]name = "([%l%d_]+)"') do set[name] = true end
    for name in text:gmatch("scullery plugin new ([%l%d_]+)") do set[name] = true end
  end
  return set
end

-- Whether sc.a.b is there, or sc.KIND.NAME is made. A part in capitals stands for any name.
local function resolves(path, made)
  local value = require "scullery"
  if made[path:match("^%l+%.([%l%d_]+)$")] then return true end
  for part in path:gmatch("[^.]+") do
    if part:find("^%u+$") then return true end
    if type(value) == "function" then return false end
    local ok, inner = pcall(function() return value[part] end)
    if not ok or inner == nil then return false end
    value = inner
  end
  return true
end

local function check_line(line, methods, made, wrong)
  for before, path in (" " .. line):gmatch("([^%w_./])sc%.([%w_.]*[%w_])") do
    if before and not resolves(path, made) then wrong("there is no sc." .. path) end
  end
  for variable, method in line:gmatch("([%a_][%w_]*):([%a_][%w_]*)%f[({`]") do
    local class = class_of[variable]
    local set = class and methods[class] or methods.any
    if not set[method] and not luas(method) and not others[method] then
      wrong(("there is no method %s:%s"):format(class or variable, method))
    end
  end
end

-- ------------ files and variables

local rooms = { "", "core/", "lua/scullery/", "lua/", "docs/", "scripts/", "tests/",
  "core/include/", "core/include/scullery/", "checker/" }

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local function is_of_the_tree(source, path)
  for _, room in ipairs(rooms) do
    if exists(source .. "/" .. room .. path) then return true end
  end
end

-- Paths with a folder and an ending of code, in backquotes.
local function check_files(source, text, wrong)
  for path in text:gmatch("`([%w_./]+/[%w_.]+%.%a+)`") do
    local ending = path:match("%.(%a+)$")
    local ours = ending == "lua" or ending == "c" or ending == "h" or ending == "py"
    local example = path:find("%f[%w]%u%u+%f[%W]") -- tests/NAME.lua
    if ours and not example and not is_of_the_tree(source, path) then
      wrong("there is no file " .. path)
    end
  end
end

local variables -- those that the code or the tests read

local function known_variables(source)
  if variables then return variables end
  variables = {}
  local pipe = assert(io.popen(("cd '%s' && grep -rhoE 'SCULLERY_[A-Z_]+' core checker lua \z
    scripts tests plugins CMakeLists.txt bootstrap.sh --include=*.c --include=*.h --include=*.lua \z
    --include=*.py --include=*.txt --include=*.sh --include=*.cmake | sort -u"):format(source)))
  for name in pipe:lines() do variables[name] = true end
  pipe:close()
  return variables
end

--- names.check(path, source): a list of sentences about names on a page that are nowhere.
function names.check(path, source)
  local one, list, methods = page.read(path), {}, all_methods(source)
  local made = made_by(one)
  local shown = {} -- in backquotes, and in code of Lua
  for _, entry in ipairs(page.prose(one)) do shown[#shown + 1] = entry end
  for _, block in ipairs(one.blocks) do
    if block.language == "lua" then
      for i, line in ipairs(block.lines) do shown[#shown + 1] = { block.first + i, line } end
    end
  end
  for _, entry in ipairs(shown) do
    local function wrong(what) list[#list + 1] = ("%s:%d: %s"):format(path, entry[1], what) end
    check_line(entry[2], methods, made, wrong)
    check_files(source, entry[2], wrong)
    for name in entry[2]:gmatch("SCULLERY_[%u_]*%u") do
      if not known_variables(source)[name] then wrong("nothing reads " .. name) end
    end
  end
  return list
end

return names
