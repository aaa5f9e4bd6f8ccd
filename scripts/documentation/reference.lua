--- The pages that the build makes: reference/ from the texts that help() shows (comments above
--- functions, declarations of plugins and readers, what the command prints about itself), and
--- the manual page.
---
--- LDoc is not used: most of these texts are in the declarations of plugins, which only the running
--- host can ask for.
local core = require "scullery.core"
local help = require "scullery.help"
local library = require "documentation.library"
local markdown = require "documentation.markdown"
local sc = require "scullery"

local reference = {}

local MADE = "<!-- Made by scripts/reference.lua: do not edit. -->\n\n"

local function sorted(set)
  local list = {}
  for name in pairs(set) do if type(name) == "string" then list[#list + 1] = name end end
  table.sort(list)
  return list
end

local function option_table(options)
  if #options == 0 then return "Options: none." end
  local rows = {}
  for i, o in ipairs(options) do
    local default = o.default and o.default ~= "" and markdown.code(o.default) or ""
    rows[i] = { markdown.code(o.name), markdown.escaped(o.takes or ""), default,
      markdown.escaped(o.help or "") }
  end
  return markdown.table({ "option", "takes", "default", "what it does" }, rows)
end

-- A comment with its signature on a line of its own.
local function entry(text)
  local signature, rest = markdown.signed(text)
  if not signature then return markdown.body(rest) end
  return markdown.code(signature) .. "\n\n" .. markdown.body(markdown.sentence(rest))
end

-- ------------ functions

-- The part of a help text before the lists of members and methods that follow it.
local function without_lists(text)
  return (text:gsub("\n\n[%w_ ]+: its methods;.*$", ""):gsub("\nOptions:\n.*$", "")
    :gsub("\n\n  [%a_][%w_]*  .*$", ""):gsub("%s+$", ""))
end

local function reader_table(name)
  local options = core.reader_options(name)
  return options and "\n\n" .. option_table(options) or ""
end

-- The functions of sc.NAME. Comments on those that a user calls begin as one types them.
local function members(name, module)
  local parts = {}
  for _, inner in ipairs(sorted(module)) do
    local value = rawget(module, inner)
    local text = type(value) == "function" and help.text(value)
    if text and (text:find("^[^\n]*sc%." .. name) or text:find("^" .. name .. "%." .. inner)
      and name == "metrics") then
      parts[#parts + 1] = ("### sc.%s.%s\n\n%s%s\n"):format(name, inner,
        entry(without_lists(text)), name == "data" and reader_table(inner) or "")
    end
  end
  return parts
end

local function functions_page()
  local parts = { MADE .. "# Functions\n\n"
    .. "What `sc` offers apart from plugins and the methods of objects. In the command, `sc` is a\n"
    .. "global; in other interpreters, `local sc = require \"scullery\"`.\n" }
  for _, name in ipairs(sorted(sc)) do
    local value = sc[name]
    local meta = type(value) == "table" and getmetatable(value)
    if type(value) ~= "string" and not (meta and meta.kind) then
      parts[#parts + 1] = ("## sc.%s\n\n%s\n"):format(name,
        entry(without_lists(help.topic(name) or "")))
      if type(value) == "table" then
        for _, part in ipairs(members(name, value)) do parts[#parts + 1] = part end
      end
    elseif meta and meta.kind and rawget(value, "define") then
      parts[#parts + 1] = ("## sc.%s.define\n\n%s\n"):format(name,
        entry(help.text(rawget(value, "define"))))
    end
  end
  return table.concat(parts, "\n")
end

-- ------------ objects

local function methods_of(class)
  local parts = {}
  for _, name in ipairs(sorted(class.methods)) do
    local text = help.text(class.methods[name])
    if text:find("^[%w_.]*[:.]" .. name .. "%f[^%w_]") then
      parts[#parts + 1] = ("### %s:%s\n\n%s\n"):format(class.__name, name, entry(text))
    end
  end
  return parts
end

-- class: "matrix" or "sparse".
local function matrix_methods(class)
  local parts = {}
  for _, name in ipairs(sorted(core[class .. "_methods"])) do
    local text = help.topic(class .. ":" .. name)
    if text then parts[#parts + 1] = ("### %s:%s\n\n%s\n"):format(class, name, entry(text)) end
  end
  return parts
end

-- Classes whose objects a script does not hold.
local inner_classes = { criterion = true, ["report page"] = true, stage = true }

local function objects_page(source)
  local parts = { MADE .. "# Objects and their methods\n\n"
    .. "Methods are called with a colon: `ds:split{ test = 0.25 }`.\n" }
  local sections = { { "matrix", matrix_methods "matrix" },
    { "sparse", matrix_methods "sparse" } }
  for _, class in ipairs(library.classes(source)) do
    local methods = methods_of(class)
    if #methods > 0 and not inner_classes[class.__name] then
      sections[#sections + 1] = { class.__name, methods }
    end
  end
  table.sort(sections, function(a, b) return a[1] < b[1] end)
  for _, section in ipairs(sections) do
    parts[#parts + 1] = "## " .. section[1] .. "\n"
    for _, part in ipairs(section[2]) do parts[#parts + 1] = part end
  end
  return table.concat(parts, "\n")
end

-- ------------ plugins

-- A summary as a sentence.
local function sentence(text) return (text:gsub("^%l", string.upper)) .. "." end

local function plugin_part(kind, name)
  local info = core.plugin_info(kind, name)
  local doc = (info.doc or ""):gsub("^%s+", ""):gsub("%s+$", "")
  return ("## %s.%s\n\n%s\n%s\n%s\n"):format(kind, name,
    markdown.escaped(sentence(info.summary or "")),
    doc ~= "" and "\n" .. markdown.body(doc) .. "\n" or "", option_table(info.options))
end

local function built_in(one)
  return one.kind and one.path and one.path:find("/" .. one.kind .. "/", 1, true)
end

local function plugins_page(kind, title)
  local parts, lines = {}, {}
  for _, one in ipairs(core.plugin_list()) do
    -- transports by MPI are there where their libraries are, which may refuse to be loaded
    local there, info = pcall(core.plugin_info, kind, one.name)
    if one.kind == kind and built_in(one) and (there or kind ~= "transport") then
      lines[#lines + 1] = { ("[%s](#%s%s)"):format(one.name, kind, one.name),
        markdown.escaped(info.summary) }
      parts[#parts + 1] = plugin_part(kind, one.name)
    end
  end
  local use = kind == "transport" and "scullery --transport 'NAME{ option = value }' script.lua"
    or ("sc.%s.NAME{ option = value }"):format(kind)
  local what = kind == "transport" and "runs a script in several processes" or "makes one"
  return MADE .. ("# %s\n\n`%s` %s.\n\n"):format(title, use, what)
    .. markdown.table({ "name", "what it is" }, lines) .. "\n\n" .. table.concat(parts, "\n")
end

-- ------------ the command

local function printed(command)
  local pipe = assert(io.popen("COLUMNS=100 " .. command .. " 2>&1"))
  local text = pipe:read("a"):gsub("%s+$", "")
  pipe:close()
  return text
end

local function command_page(binary)
  local parts = { MADE .. "# The command line\n" }
  for _, words in ipairs{ "", "plugin", "data", "predict", "bench", "experiment", "notebook" } do
    local title = words == "" and "scullery" or "scullery " .. words
    parts[#parts + 1] = ("## %s\n\n```\n%s\n```\n"):format(title, printed(("'%s' %s --help")
      :format(binary, words)))
  end
  parts[#parts + 1] = ("## The prompt\n\nBeside Lua, the prompt takes commands:\n\n```\n%s\n```\n")
    :format(printed(("echo :help | '%s' -i"):format(binary)))
  local rows = {}
  for i, one in ipairs(require "scullery.help.environment") do
    rows[i] = { markdown.code(one[1]), markdown.escaped(one[2]), markdown.escaped(one[3]) }
  end
  parts[#parts + 1] = "## Environment variables\n\n"
    .. markdown.table({ "variable", "takes", "what it does" }, rows) .. "\n"
  return table.concat(parts, "\n")
end

-- ------------ all

local contents = MADE .. [[
# Reference

The texts that `help()` shows at the prompt, as pages.

- [functions.md](functions.md): `sc.pipeline`, `sc.features`, `sc.data.csv`, `sc.metrics`, `sc.plot`
  and the others
- [objects.md](objects.md): data sets, pipelines, features, matrices, figures and their methods
- [samplers.md](samplers.md), [nonlinearities.md](nonlinearities.md), [kernels.md](kernels.md),
  [solvers.md](solvers.md), [losses.md](losses.md), [stages.md](stages.md),
  [transports.md](transports.md), [metrics.md](metrics.md), [readers.md](readers.md): every plugin
  with its options
- [command.md](command.md): the command line and the environment variables
]]

--- reference.pages(source, binary): file name -> text of each page. source: the folder of the tree,
--- binary: the path of the command.
function reference.pages(source, binary)
  return {
    ["reference/README.md"] = contents,
    ["reference/functions.md"] = functions_page(),
    ["reference/objects.md"] = objects_page(source),
    ["reference/samplers.md"] = plugins_page("sampler", "Samplers"),
    ["reference/nonlinearities.md"] = plugins_page("nonlinearity", "Nonlinearities"),
    ["reference/kernels.md"] = plugins_page("kernel", "Kernels"),
    ["reference/solvers.md"] = plugins_page("solver", "Solvers"),
    ["reference/stages.md"] = plugins_page("stage", "Row stages"),
    ["reference/losses.md"] = plugins_page("loss", "Losses"),
    ["reference/transports.md"] = plugins_page("transport", "Transports"),
    ["reference/metrics.md"] = plugins_page("metric", "Metrics"),
    ["reference/readers.md"] = plugins_page("reader", "Readers"),
    ["reference/command.md"] = command_page(binary),
    ["scullery.1"] = require("documentation.manual").page(binary, sc.version),
  }
end

return reference
