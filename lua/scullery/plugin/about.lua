--- The description of a plugin, from its file and its descriptor. A child process opens the file,
--- so that a crash becomes an error message.
local core = require "scullery.core"
local object = require "scullery.plugin.object"
local options = require "scullery.base.options"
local text_table = require "scullery.base.text_table"

local about = {}

local PATIENCE = 20 -- seconds that opening a file may take

-- ------------ in the child

-- A value that JSON can represent: NaN, infinities and texts that are not UTF-8 become plain texts.
local function plain(value)
  if type(value) == "string" then
    return utf8.len(value) and value:gsub("%z", "") or value:gsub("[^\n\32-\126]", "?")
  elseif type(value) == "number" and (value ~= value or math.abs(value) == math.huge) then
    return ("%g"):format(value)
  elseif type(value) ~= "table" then
    return value
  end
  local copy = {}
  for key, one in pairs(value) do copy[key] = plain(one) end
  return copy
end

-- The descriptor, and the abilities of an instance with default options.
local function describe(info)
  local one = core.plugin_facts(info.kind, info.name)
  for key, value in pairs(info) do one[key] = value end
  local ok, made = pcall(core.instance, info.kind, info.name, {})
  if ok then one.abilities = core.abilities(made) else one.no_instance = options.plain(made) end
  one.text = require("scullery.help.topics").plugin(info.kind, info.name)
  return one
end

-- Calls f(), which returns a list of components as plugin_info does, in a child process, and
-- describes them there.
local function in_child(what, f)
  local text, message, how = core.in_child(PATIENCE, function()
    local list = {}
    for i, info in ipairs(f()) do list[i] = describe(info) end
    return core.json_encode(plain{ list = list })
  end)
  if text then return core.json_decode(text, what).list end
  if how == "error" then return nil, options.plain(message) end
  return nil, ("opening the file of '%s' %s"):format(what, message)
end

-- ------------ what can be asked

--- about.file(path): a list of the components in a file, each with kind, name, ..., facts, text;
--- nil and a sentence if the file cannot be loaded.
function about.file(path)
  return in_child(path, function() return core.plugin_load(path) end)
end

--- about.component(kind, name): that component, or nil and a sentence.
function about.component(kind, name)
  local list, message = in_child(name, function() return { core.plugin_info(kind, name) } end)
  return list and list[1], message
end

--- about.probe(kind, name): { version, summary }, or nil and a sentence.
function about.probe(kind, name)
  local text, message, how = core.in_child(PATIENCE, function()
    local info = core.plugin_info(kind, name)
    return core.json_encode(plain{ version = info.version, summary = info.summary })
  end)
  if text then return core.json_decode(text, name) end
  return nil, how == "error" and options.plain(message)
    or ("opening the file of '%s' %s"):format(name, message)
end

-- ------------ as a text

-- Abilities by their ids, without "scullery." and "/1".
local words = {
  law = "the law of its parameters: closed forms, tilts",
  characteristic = "the characteristic function: the kernel of Fourier features",
  distribution = "the distribution function of thresholds: the kernel of stumps",
  collision = "the probability that two points share a cell: the kernel of bins",
  pool = "shared rows that several features read",
  structured = "z from x without forming the rows",
  columns = "columns of its rows, one by one: rows of millions of columns",
  prepare = "work that its calls share, done once for each map",
  domain = "the numbers that it is defined for",
  learn = "learns a state from the training rows",
  scales = "a factor for each parameter, in place of 1/sqrt(T)",
  ["pair-kernel"] = "names the kernel that it estimates with a partner",
  smoothing = "E phi(N(m, v^2)): exact expectations under Gaussian weightings",
  facts = "bound, Lipschitz constant and breaks",
  ["two-valued"] = "two values: features that are bits, hash codes",
  ["gaussian-dual"] = "E phi(a) phi(b) of normal pairs: the kernel on Gaussian rows",
  harmonic = "its kernel is the characteristic function of the rows",
  ["threshold-dual"] = "the kernel with thresholds or with a random bias",
  categories = "categories: one-hot cells, hash codes",
  ["code-dual"] = "the probability that codes agree",
  bind = "a width that is given through the law of a sampler",
  tilt = "K(u, .) p is Gaussian: exact expectations under K",
  path = "many values of one option on one problem",
  shift = "what subtracting a point from all rows does to it: digits far from 0",
  ["sparse-rows"] = "reads one-hot rows",
  ["csr-rows"] = "reads compressed sparse rows",
  ["shared-tiles"] = "processes can share the tiles of its matrices",
  ["rows-apart"] = "works on the rows of its process, where there are several",
  ["ordered-rows"] = "depends on the order of the rows: exact features come in one order",
  penalty = "says what is penalised",
  normal = "works from the normal equations alone: fewer coordinates where rows have few kinds",
  loss = "says which loss is minimised: bounds, probabilities",
  objective = "the value of its objective at any coefficients",
  ["loss-curvature"] = "the second derivative: Newton's method",
  ["loss-conjugate"] = "the conjugate: duality gaps",
  ["loss-proximal"] = "the proximal step, where the slope jumps",
  ["loss-probability"] = "the probability of the second class",
  ["loss-mean"] = "the mean of the target at a score",
  cost = "what it takes: passes, operations, memory",
  model = "makes a model that is not Phi a: fit, decide, save, load",
  ["model-path"] = "models of many values of one option, on one problem",
}

local function joined(list) return #list > 0 and table.concat(list, ", ") or "none" end

local function number(value) return type(value) == "number" and ("%.6g"):format(value) or value end

local function facts_text(facts)
  local parts = { "|phi| <= " .. number(facts.bound), "Lipschitz constant " ..
    number(facts.lipschitz) }
  local breaks = {}
  for i, at in ipairs(facts.breaks) do breaks[i] = number(at) end
  if #breaks > 0 then parts[#parts + 1] = "breaks at " .. table.concat(breaks, ", ") end
  if facts.scale_free then parts[#parts + 1] = "phi(s z) = phi(z)" end
  return table.concat(parts, "; ")
end

local function roles_text(list)
  local parts = {}
  for _, option in ipairs(list) do
    if option.role then parts[#parts + 1] = option.name .. ": " .. option.role end
    if option.width then
      parts[#parts + 1] = ("%s: a width (%s)"):format(option.name, option.width)
    end
  end
  return #parts > 0 and table.concat(parts, "; ") or nil
end

-- The data of the descriptor as rows { heading, text }; those without a text are left out.
local function data_rows(one)
  local rows = {}
  local function add(heading, text)
    if text then rows[#rows + 1] = { heading, tostring(text) } end
  end
  add("Form", one.form)
  add(one.kind == "sampler" and "Space" or "Spaces", one.spaces and joined(one.spaces))
  add("Law", one.family)
  add("Number of a pair", one.pair)
  add("Types", one.dtypes and joined(one.dtypes))
  add("Numbers taken", one.fan_in)
  add("Features made", one.fan_out)
  add("Flags", one.flags and #one.flags > 0 and joined(one.flags) or nil)
  add("Tags", one.tags)
  add("Targets", one.targets)
  if one.kinks then add("Slope", "jumps: it has kinks") end
  if one.amended then
    add(one.kind == "loss" and "Facts" or "Shape", "depend on the options")
  end
  if one.launcher then add("Started by", "a launcher, which it knows by the environment") end
  add("Facts", one.facts and facts_text(one.facts))
  add("Roles", roles_text(one.options))
  add("Interface", ("%d (descriptor of %d bytes, instance of %d)"):format(one.interface,
    one.descriptor, one.instance))
  add("Author", one.author)
  return rows
end

local function file_rows(path, origin)
  local file = object.read(path)
  return {
    { "File", path },
    { "From", origin },
    { "Size", ("%d bytes"):format(file.size) },
    { "SHA-256", file.sha256 },
    { "Exports", joined(file.exported) },
    { "Compiler", #file.compilers > 0 and joined(file.compilers) or "not said" },
  }
end

local left = { sides = { "left", "left" }, least = { 16 } }

local function component_text(one)
  local parts = { one.text, text_table.text(data_rows(one), left) }
  local rows = {}
  for i, id in ipairs(one.abilities) do
    local short = id:match("^scullery%.(.-)/1$") or id
    rows[i] = { "  " .. short, words[short] or "" }
  end
  local depend = one.depends and ", with default options" or ""
  parts[#parts + 1] = #rows == 0 and "Abilities" .. depend .. ": none."
    or "Abilities" .. depend .. ":\n" .. text_table.text(rows, left)
  if one.no_instance then
    parts[#parts + 1] = "It cannot be made with default options: " .. one.no_instance
  end
  return table.concat(parts, "\n\n")
end

--- about.text(list): the output of `scullery plugin info` for the components of one file.
function about.text(list)
  local parts = {}
  for i, one in ipairs(list) do parts[i] = component_text(one) end
  parts[#parts + 1] = text_table.text(file_rows(list[1].path, list[1].origin), left)
  return table.concat(parts, "\n\n")
end

return about
