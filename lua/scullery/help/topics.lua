--- help(x): the documentation of a function, a plugin, a stage, an object, a module or a name.
-- The texts are the comment above a Lua function, a plugin's own declaration, and help/*.lua for
-- functions written in C.
local core = require "scullery.core"
local comments = require "scullery.help.comments"
local component = require "scullery.compose.component"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local plugged = require "scullery.metrics.plugged"
local text_table = require "scullery.base.text_table"
local shown = require("scullery.base.text").shown
local sorted = require("scullery.base.keys").sorted

local help = {}

local overview = [[
Scullery: learning with random features. sc is the library; names complete with Tab.

  sc.data        files and named data sets      sc.data.list()
  sc.sampler     how parameters are drawn       sc.sampler.NAME{ ... }
  sc.nonlinearity                               sc.nonlinearity.NAME{ ... }
  sc.kernel      kernels, on rows and on parameters
  sc.features    random features                sc.features{ p = ..., phi = ..., T = 500 }
  sc.solver      what learns the weights        sc.solver.NAME{ ... }
  sc.pipeline    stages, features, a solver     sc.pipeline{ sc.standardize(), ... }:fit(train)
  sc.stage       row stages, which change rows before features, or the features
  sc.metric      scores of predictions          score = "mcc"; sc.metrics has the built-in ones
  sc.loss        what such a solver minimises   sc.solver.NAME{ loss = sc.loss.NAME{} }
  sc.reader      files that plugins read       sc.data.read("t.parquet"), sc.data.read("t.arrow")
  sc.transport   what joins the processes of one script (scullery --processes N)
  sc.load        what p:save(path) wrote        sc.load("model.safetensors")
  sc.experiment  results that survive a kill    sc.experiment{ name =, cells =, run = }
  sc.choose      values to search               lambda = sc.choose{ 1e-5, 1e-3 }
  sc.matrix      matrices                       sc.matrix{{1, 2}, {3, 4}}
  sc.kernel_error  how many features, and which sampler; sc.codes: near neighbours by hash codes

help(sc) lists everything; help(sc.sampler), help(sc.sampler.NAME), help(sc.data.csv),
help "matrix", help "pipeline:fit" tell more; help "some words" searches all texts. At the prompt x?
is help(x), _ the last value, a ; at the end silences, and :help lists commands.
]]

local function trim(text) return (text:gsub("^%s+", ""):gsub("%s+$", "")) end

-- The beginning of a text as one line of a list.
local function summary(text)
  local line = text:gsub("%s*\n%s*", " ")
  local stop = line:find("%.%s+%u")
  if stop then line = line:sub(1, stop) end
  return #line > 110 and line:sub(1, 107) .. "..." or line
end

-- The summary without the call syntax, for a list that already has the name.
local function about(text)
  return summary((text:gsub("^%a[%w_.:]*%b():%s+", "", 1):gsub("^%a[%w_.:]*%b{}:%s+", "", 1)))
end

-- A heading, and below it a table of names with their descriptions, { { name, about }, ... }.
local function listing(heading, rows)
  for _, row in ipairs(rows) do row[1] = "  " .. row[1] end
  return heading .. "\n" .. text_table.text(rows, { least = { 15 }, sides = { "left", "left" } })
end

-- ------------ texts for functions in C

-- Name -> text for functions written in C, which have no comment in a Lua file.
local function c_texts()
  local texts =
    { threads = "sc.threads([n]): the number of threads that the engine uses, set to n where n \z
      is given. Results do not depend on it.",
      clock = "sc.clock(): seconds of wall-clock time since some fixed moment; the difference of \z
      two calls is the time between them. os.clock() counts processor time, of all threads." }
  for _, name in ipairs{ "matrix" } do
    local ok, more = options.attempt(require, "scullery.help." .. name)
    for key, text in pairs(ok and more or {}) do texts[key] = text end
  end
  return texts
end

-- ------------ plugins

-- The options of a plugin or a reader, one line for each, with its help on the next line. solver:
-- true for those of a solver, some of which p:fit chooses.
local function option_lines(list, solver)
  if #list == 0 then return "Options: none." end
  local lines = { "Options:" }
  for _, o in ipairs(list) do
    local default = o.default and o.default ~= "" and ("; default " .. o.default) or ""
    if solver and o.role and component.is_chosen(o, list) then
      default = ("; p:fit chooses one that is not given (else %s)"):format(o.default)
    end
    lines[#lines + 1] = ("  %-12s %s%s"):format(o.name, o.takes or "", default)
    if o.help and o.help ~= "" then lines[#lines + 1] = "  " .. (" "):rep(13) .. o.help end
    if o.deprecated then
      lines[#lines + 1] = "  " .. (" "):rep(13) .. "It goes away: " .. o.deprecated
    end
  end
  return table.concat(lines, "\n")
end

--- help.plugin(kind, name): the text about a plugin.
function help.plugin(kind, name)
  local info = core.plugin_info(kind, name)
  local parts = { ("sc.%s.%s{...}: %s"):format(kind, name, info.summary or "") }
  if info.doc and info.doc ~= "" then parts[#parts + 1] = trim(info.doc) end
  if info.definition then
    parts[#parts + 1] = "Definition, in Lua:\n  " .. info.definition:gsub("\n", "\n  ")
  end
  if kind == "metric" then
    local facts = core.plugin_facts(kind, name)
    local taken = facts.needs == "values" and "weights =" or "classes =, weights ="
    for _, option in ipairs(info.options) do taken = taken .. ", " .. option.name .. " =" end
    parts[#parts + 1] = ("Computed from %s; %s is better. Its value is\n\z
      sc.metrics.%s(predictions, truth[, { %s }]);\n\z
      score = \"%s\" in p:search, p:cv and sc.compare, metric = \"%s\" in p:score take it.")
      :format(facts.needs, facts.better, name, taken, name, name)
  end
  parts[#parts + 1] = option_lines(info.options, kind == "solver")
  local by = info.author and info.author ~= "" and " by " .. info.author or ""
  local where = info.digest and "Defined in Lua, " .. info.path or info.path
  if info.version then where = ("Version %s%s, %s"):format(info.version, by, where) end
  parts[#parts + 1] = info.id and ("%s (%s)"):format(where, info.id) or where
  return table.concat(parts, "\n\n")
end

local function plugin_summary(kind, name)
  local ok, info = options.attempt(core.plugin_info, kind, name)
  return ok and (info.summary or "") or "cannot be loaded: " .. tostring(info)
end

local function group_text(kind)
  local rows = {}
  for _, entry in ipairs(core.plugin_list()) do
    if entry.kind == kind then
      rows[#rows + 1] = { entry.name, plugin_summary(kind, entry.name) }
    end
  end
  local more = kind == "transport" and "They join the processes of one script: scullery \z
    --processes N, or --transport NAME{...}." or kind == "reader" and "sc.data.read(path) takes \z
    the one that knows the file by its first bytes, with its options." or ("sc.%s.define makes \z
    one of Lua functions."):format(kind)
  return listing(("sc.%s: plugins of this kind; help(sc.%s.NAME) tells more. %s"):format(kind,
    kind, more), rows)
end

-- ------------ modules and objects

-- Modules with the comments of members of sc whose value does not lead there.
local homes = {
  choose = { "scullery.compose.choose", "choose" }, codes = { "scullery.compose.codes", "codes" },
  progress = { "scullery.base.progress", "progress" },
  standardize = { "scullery.compose.stages", "stages.standardize" },
  relevance = { "scullery.compose.stages", "stages.relevance" },
  agop = { "scullery.compose.stages", "stages.agop" },
  minmax = { "scullery.compose.stages", "stages.minmax" },
  normalize = { "scullery.compose.stages", "stages.normalize" },
  select = { "scullery.compose.stages", "stages.select" },
  pca = { "scullery.compose.stages", "stages.pca" },
  add_bias = { "scullery.compose.stages", "stages.add_bias" },
  space = { "scullery.compose.instantiation", "instantiation.space" },
    kernel_error = { "scullery.compose.kernel_error", "kernel_error.run" },
  mmd = { "scullery.compose.mmd_hsic", "mmd_hsic.mmd" },
  hsic = { "scullery.compose.mmd_hsic", "mmd_hsic.hsic" },
  optimize = { "scullery.model.optimize", "optimize.run" },
  merge = { "scullery.model.merging", "merging.merge" },
  experiment = { "scullery.experiment", "experiment.run" },
}

-- Name of an object's type -> the table with its methods, and the modules with their comments.
local types = {
  pipeline = { "Pipeline", "scullery.model.pipeline", "scullery.model.pipeline_explaining",
    "scullery.model.pipeline_sums", "scullery.model.export", "scullery.model.posterior",
    "scullery.model.conformal", "scullery.model.scales", "scullery.pictures", "scullery.report" },
  dataset = { "Dataset", "scullery.data.dataset", "scullery.data.parts", "scullery.model" },
  features = { "Features", "scullery.compose.features", "scullery.compose.union",
    "scullery.model" },
  instantiation = { "Instantiation", "scullery.compose.instantiation" },
  codes = { "Codes", "scullery.compose.codes" },
  kernel_error = { "KernelError", "scullery.compose.kernel_error", "scullery.pictures" },
  figure = { "Figure", "scullery.plot.figure" },
  experiment = { "Experiment", "scullery.experiment.results", "scullery.report" },
  comparison = { "Comparison", "scullery.experiment.comparison" },
  ["paired comparison"] = { "Paired", "scullery.metrics.paired" },
  sums = { "Sums", "scullery.model.sums", "scullery.model.sums_solving", "scullery.model.saving" },
  ["search table"] = { "Table", "scullery.model.search_table", "scullery.pictures" },
}

--- help.library(): the table of the library, scullery; an empty table if it is not loaded.
function help.library()
  for value, path in pairs(objects.namespaces) do if path == "sc" then return value end end
  return {}
end

-- The comment that `homes` names for a member of sc, or nil.
local function home_text(name)
  local home = homes[name]
  local index = home and comments.of_module(home[1])
  if not index then return nil end
  return index.byname[home[2]] or index.module
end

-- The text about a member of sc: the comment of a function or module, or the one that `homes`
-- names; nil if there is none.
local function member_text(name, value)
  local kind = type(value)
  if kind == "function" then
    if plugged.name(value) then return plugin_summary("metric", plugged.name(value)) end
    return comments.of_function(value) or home_text(name) or c_texts()[name]
  end
  local index = kind == "table" and comments.of_module("scullery." .. name)
  return home_text(name) or index and index.module or kind == "table" and c_texts()[name] or nil
end

-- One line for each member; `base` is the table's name in Lua.
local function table_text(base, module, heading)
  local rows = {}
  for _, name in ipairs(sorted(module)) do
    local _, value = options.attempt(function() return module[name] end)
    local meta = type(value) == "table" and getmetatable(value)
    local kind = type(meta) == "table" and meta.kind
    local text = kind and "plugins: " .. (kind .. "s"):gsub("ys$", "ies")
      or member_text(name, value)
    if type(name) == "string" and name:sub(1, 1) ~= "_" then
      rows[#rows + 1] = { name, text and about(text)
        or type(value) == "string" and value or type(value) }
    end
  end
  return listing(heading or (base .. ":"), rows)
end

-- Name -> text of a type's methods.
local function methods_of(kind)
  local place, texts = types[kind], {}
  for i = 2, #place do
    local index = comments.of_module(place[i])
    for name, text in pairs(index and index.byname or {}) do
      local method = name:match("^" .. place[1] .. ":([%a][%w_]*)$")
      if method then texts[method] = text end
    end
  end
  return texts
end

local function methods_text(kind)
  local texts, rows = methods_of(kind), {}
  for _, method in ipairs(sorted(texts)) do rows[#rows + 1] = { method, about(texts[method]) } end
  return listing(kind .. ": its methods; help \"" .. kind .. ":NAME\" tells more.", rows)
end

local makers = { matrix = "matrix", sparse = "matrix.csr", texts = "texts" }

-- The text about matrices, about sparse matrices, or about texts. class: a key of `makers`.
local function matrix_text(class)
  local texts, rows = c_texts(), {}
  for _, name in ipairs(sorted(texts)) do
    local method = name:match("^" .. class .. ":(.+)$")
    if method then rows[#rows + 1] = { method, about(texts[name]) } end
  end
  local maker = texts[makers[class]]
  return listing((maker or class) .. "\n\nMethods:", rows)
end

-- The help topic of a method of matrices, sparse matrices or texts ("matrix:rows"), or nil.
local function matrix_method(f)
  for class in pairs(makers) do
    for name, method in pairs(core[class .. "_methods"] or {}) do
      if method == f then return class .. ":" .. name end
    end
  end
end

-- The path of a value in sc ("data.csv"), two levels deep.
local function path_of(value)
  for name, member in next, help.library() do
    if rawequal(member, value) then return name end
    if type(member) == "table" then
      for inner, deeper in next, member do
        if rawequal(deeper, value) then return name .. "." .. tostring(inner) end
      end
    end
  end
end

-- ------------ by value

-- The text about a function: of a component's constructor, of a Lua function, of one written in C,
-- or a sentence with the place of its definition. Readers of files add the options of the C reader.
local function function_text(f)
  local made = component.constructors[f]
  if made then return help.plugin(made.kind, made.name) end
  local metric = plugged.name(f)
  if metric then return help.plugin("metric", metric) end
  local path = path_of(f)
  local text = comments.of_function(f) or (path and (home_text(path) or c_texts()[path]))
  local reader = path and core.reader_options(path:match("^data%.(.*)$") or "")
  if text and reader then return text .. "\n\n" .. option_lines(reader) end
  if text then return text end
  text = c_texts()[matrix_method(f)]
  local where = debug.getinfo(objects.original[f] or f, "S")
  if text then return text end
  if where.what == "C" then
    return (path and "sc." .. path or "a function")
      .. ": written in C; nothing is said about it here (Lua's own functions are in the Lua \z
        manual)."
  end
  return ("a function without a comment, defined in %s, line %d."):format(where.short_src,
    where.linedefined)
end

-- The text for help(value), by the type of the value.
local function value_text(value)
  local kind = type(value)
  if kind == "function" then return function_text(value) end
  if core.is_matrix and core.is_matrix(value) then return matrix_text "matrix" end
  if core.is_sparse and core.is_sparse(value) then return matrix_text "sparse" end
  if core.is_texts and core.is_texts(value) then return matrix_text "texts" end
  if kind == "userdata" then return "a userdata: " .. tostring(value) end
  if kind ~= "table" then
    return ("%s, a %s. help() gives an overview; help \"name\" explains a name."):format(
      options.show(value), kind)
  end
  if value == help.library() then
    return table_text("sc", value, "sc: everything, by name; help(sc.NAME) tells more.")
  end
  if component.is(value) then return help.plugin(value.kind, value.name) end
  local meta = getmetatable(value)
  local name = type(meta) == "table" and meta.__name
  if name and meta.kind then return group_text(meta.kind) end
  if name == "stage" then return home_text(value.kind) or help.plugin("stage", value.kind) end
  if types[name] then return methods_text(name) end
  local path = path_of(value)
  if path == "matrix" then return matrix_text "matrix" end
  if path then
    local text = member_text(path, value)
    return table_text("sc." .. path, value, text and text .. "\n" or nil)
  end
  return "a table" .. (next(value) == nil and ", empty" or " with "
    .. table.concat(sorted(setmetatable({}, { __pairs = function()
    local names = {}
    for key in next, value do names[tostring(key)] = true end
    return pairs(names)
  end })), ", "))
end

-- ------------ by name

-- All topics: name -> function that returns the text.
local function all_topics()
  local list = {}
  for _, entry in ipairs(core.plugin_list()) do
    local function text() return help.plugin(entry.kind, entry.name) end
    local known = list[entry.name]
    list[entry.kind .. "." .. entry.name] = text
    list[entry.name] = known and function() return known() .. "\n\n" .. text() end or text
    list[entry.kind] = function() return group_text(entry.kind) end
    if entry.kind == "metric" then list["metrics." .. entry.name] = text end
  end
  for kind in pairs(types) do
    for method, text in pairs(methods_of(kind)) do
      list[kind .. ":" .. method] = function() return text end
    end
    list[kind .. " methods"] = function() return methods_text(kind) end
    list[kind] = list[kind .. " methods"]
  end
  for name, value in next, help.library() do
    local plugins = type(value) == "table" and (getmetatable(value) or {}).kind
    if type(value) == "table" and not plugins then
      for inner, deeper in next, value do
        if type(deeper) == "function" then
          list[name .. "." .. inner] = function() return function_text(deeper) end
        end
      end
    end
    if plugins and rawget(value, "define") then
      list[name .. ".define"] = function() return function_text(rawget(value, "define")) end
    elseif not plugins then
      local own = type(value) == "table" or type(value) == "function"
      list[name] = function()
        local text = own and value_text(value) or name .. ": " .. tostring(value)
        return types[name] and text .. "\n\n" .. methods_text(name) or text
      end
    end
  end
  for name, text in pairs(c_texts()) do list[name] = function() return text end end
  list.matrix = function() return matrix_text "matrix" end
  list.sparse = function() return matrix_text "sparse" end
  list.texts = function() return matrix_text "texts" end
  list.sc = function() return value_text(help.library()) end
  return list
end

local LONGEST_NAME = 200 -- matching takes quadratic time

--- help.topic(name): the text about a name, or nil and the nearest name.
function help.topic(name)
  local list = all_topics()
  local asked = trim(name:sub(1, LONGEST_NAME)):gsub("^sc%.", ""):gsub("[({].*$", "")
  local text = list[asked] or list[(asked:gsub("%.", ":"))]
  if text then return text() end
  return nil, options.nearest(asked, sorted(list))
end

--- help.brief(x[, name]): help on a function or a member `name` of sc, on one line; nil if there is
--- none.
function help.brief(x, name)
  local made = component.constructors[x]
  if made then
    return ("sc.%s.%s{...}: %s"):format(made.kind, made.name, plugin_summary(made.kind, made.name))
  end
  local metric = type(x) == "function" and plugged.name(x)
  if metric then
    return ("sc.metrics.%s(predictions, truth): %s"):format(metric,
      plugin_summary("metric", metric))
  end
  local text = type(x) == "function" and comments.of_function(x)
  if not text and (type(x) == "function" or type(x) == "table") then
    local path = name or path_of(x)
    text = path and (member_text(path, x) or c_texts()[path])
  end
  text = text or c_texts()[matrix_method(x)]
  return text and summary(text)
end

--- help.topics(): the names that help "name" explains, each with its text.
function help.topics()
  local list = {}
  for name, text in pairs(all_topics()) do
    local ok, said = options.attempt(text)
    if ok and type(said) == "string" then list[name] = said end
  end
  return list
end

--- help.search(words): the topics whose texts contain the words, the best first: a list of { name,
--- about }.
function help.search(words)
  local list, seen = {}, {}
  for _, one in ipairs(require("scullery.help.search").ranked(help.topics(), words)) do
    if not seen[one.text] then list[#list + 1] = { name = one.name, about = about(one.text) } end
    seen[one.text] = true
  end
  return list
end

local MOST_FOUND, MOST_ROWS = 12, 4

-- What people who come from elsewhere call by a name, or nil: the topics that it means, and the
-- rows about it in the page on scikit-learn.
local function familiar_text(asked)
  local familiar, parts = require "scullery.help.familiar", {}
  local found, topics = {}, help.topics()
  for i, one in ipairs(familiar.topics(asked)) do
    found[i] = { one[1], one[2] or about(topics[one[1]]) }
  end
  if found[1] then parts[1] = listing(("What is called '%s' elsewhere:"):format(asked), found) end
  local rows = {}
  for i, row in ipairs(familiar.rows(asked)) do
    if i > MOST_ROWS then break end
    rows[i] = { row[1], row[3] == "" and row[2] or row[2] .. "; " .. row[3] }
  end
  if rows[1] then
    parts[#parts + 1] = listing("Coming from scikit-learn, NumPy or pandas:", rows)
  end
  return parts[1] and table.concat(parts, "\n")
end

-- The topics whose texts have the words, or nil.
local function found_text(asked)
  local topics, rows = help.search(asked), {}
  for i = 1, math.min(#topics, MOST_FOUND) do rows[i] = { topics[i].name, topics[i].about } end
  return #topics > 0 and listing(("Topics whose texts have '%s':"):format(asked), rows)
    .. (#topics > MOST_FOUND and "\n  and others: more words find fewer" or "") or nil
end

-- The other topics whose last word is this name, as a list, or nil: pipeline:threshold beside the
-- sampler.
local function namesakes(asked, text)
  local rows, seen = {}, { [text] = true }
  for _, name in ipairs(sorted(all_topics())) do
    local other = name:match("[.:]([%w_]+)$") == asked and help.topic(name)
    if other and not seen[other] then
      rows[#rows + 1] = { name, about(other) }
      seen[other] = true
    end
  end
  return rows[1] and listing(("Also called '%s':"):format(asked), rows)
end

-- The text for help "name": that of the topic and its namesakes; else what it is called here, and
-- the topics that contain the words, with a suggestion for a misspelt name.
local function name_text(name)
  local text, near = help.topic(name)
  local asked = trim(name:sub(1, LONGEST_NAME))
  if text then
    local others = namesakes(asked, text)
    return text .. (others and "\n" .. others or "")
  end
  local known, found = familiar_text(asked), found_text(asked)
  if known then return known .. (found and "\n" .. found or "") end
  if found and asked:find("%s") then return found end
  return ("There is no help on '%s'%s%s"):format(#name > LONGEST_NAME
    and name:sub(1, LONGEST_NAME) .. "..." or name,
    near and (" (did you mean '" .. near .. "'?).") or ".",
    found and "\n" .. found or " help() gives an overview.")
end

--- help.text([x]): the output of help(x) as a text.
function help.text(...)
  if select("#", ...) == 0 then return trim(overview) end
  local x = ...
  if x == nil then
    return "nil: is the name spelt right? help() gives an overview; help \"name\" explains a name."
  end
  return type(x) == "string" and name_text(x) or value_text(x)
end

local function bold(heading) return "\27[1m" .. heading .. "\27[0m" end

--- help.columns: the width of help where no terminal shows it; nil: as it is written.

--- help.painted(text[, colour]): a text of help with bold headings if colour is true (default: if
--- the terminal has colours), folded to the width of the terminal.
function help.painted(text, colour)
  local terminal = core.terminal()
  text = shown(text)
  local columns = help.columns or terminal.output and terminal.columns - 1
  if columns then text = require("scullery.help.folding").fold(text, columns) end
  if colour == nil then colour = terminal.colour end
  if not colour then return text end
  text = text:gsub("^[^\n:]+:", bold, 1)
  return (text:gsub("\n(%u[%w ]*:)%f[\n\0]", function(heading) return "\n" .. bold(heading) end))
end

-- Show a text by the program that PAGER names; it may end before it has read everything, so it
-- reads a file and no pipe.
local function page(text, pager)
  local path = os.tmpname()
  local file = io.open(path, "w")
  local well = file and file:write(text, "\n") and file:close()
  if well then
    io.stdout:flush()
    well = os.execute(('LESS="${LESS-FRX}" %s <"%s"'):format(pager, path))
  end
  os.remove(path)
  return well
end

--- help.show(text): prints a text of help, painted; on a terminal that it does not fit on, by the
--- program that the environment variable PAGER names, or by less.
function help.show(text)
  local painted, terminal = help.painted(text), core.terminal()
  local pager = os.getenv "PAGER" or os.getenv "TERM" ~= "dumb" and "less 2>/dev/null"
  local lines = select(2, painted:gsub("\n", "\n")) + 1
  local long = terminal.output and pager and pager ~= "" and lines >= terminal.rows
  -- process 0 of several has the terminal
  long = core.process_share("help", long and "long" or "") == "long"
  if not (long and page(painted, pager)) then print(painted) end
end

return setmetatable(help, {
  __call = objects.guarded("help", function(_, ...) help.show(help.text(...)) end),
  __tostring = function()
    return "help() gives an overview; help(x) explains a function, a plugin, an object or a \z
      \"name\""
  end,
})
