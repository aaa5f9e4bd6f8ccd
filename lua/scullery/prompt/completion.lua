--- Completion of a text in Lua before the cursor: names, fields and methods, options inside braces,
--- the words that an option takes, names of data sets, files and topics of help inside quotes.
local core = require "scullery.core"
local files = require "scullery.prompt.completion_files"
local options = require "scullery.base.options"
local shown = require "scullery.base.text"
local tokens = require "scullery.prompt.tokens"
local values = require "scullery.prompt.completion_values"

local completion = {}

-- ------------ values

--- completion.follow(path, environment): the value at the end of a path such as { "sc", "sampler"
--- }, or nil; it does not call metamethods of scripts.
function completion.follow(path, environment)
  local value = environment
  for _, name in ipairs(path) do
    value = values.index(value, name)
    if value == nil then return nil end
  end
  return value
end

-- ------------ where the cursor is

-- The path of names that ends at token `last`, and where it begins; nil if it follows something
-- else, such as a call.
local function path_before(code, last)
  local path, at = {}, last
  while code[at] and code[at].kind == "name" do
    table.insert(path, 1, code[at].text)
    local before = code[at - 1]
    local joined = before and before.kind == "symbol" and (before.text == "."
      or before.text == ":") and before.last + 1 == code[at].first
    if not joined then return path, at end
    path.method = path.method or before.text == ":" and #path == 1
    at = at - 2
  end
  return nil
end

-- The position among the tokens of the innermost bracket that is open after token `last`, or nil.
local function open_bracket(code, last)
  local depth = 0
  for at = last, 1, -1 do
    local text = code[at].kind == "symbol" and code[at].text
    if text == ")" or text == "}" or text == "]" then depth = depth + 1 end
    if text == "(" or text == "{" or text == "[" then
      if depth == 0 then return at end
      depth = depth - 1
    end
  end
end

-- The path of names of the function whose brackets or string argument begin after token `last`, and
-- the position of the argument.
local function call_at(code, last)
  local path = path_before(code, last)
  if path and #path > 0 then return path, 1 end
  local open = open_bracket(code, last)
  if not open or code[open].text ~= "(" then return nil end
  local place, depth = 1, 0
  for at = open + 1, last do
    local text = code[at].kind == "symbol" and code[at].text
    if text == "(" or text == "{" or text == "[" then depth = depth + 1 end
    if text == ")" or text == "}" or text == "]" then depth = depth - 1 end
    if text == "," and depth == 0 then place = place + 1 end
  end
  return path_before(code, open - 1), place
end

-- ------------ options

-- The titles under which the options of a call may be declared: for a method that of its object, or
-- of any class that has the method if the object is unknown.
local function titles_of(path, environment)
  if not path.method then
    return { (table.concat(path, "."):gsub("^sc%.", "")) }
  end
  local owner = completion.follow({ table.unpack(path, 1, #path - 1) }, environment)
  local meta = owner ~= nil and debug.getmetatable(owner)
  local class = type(meta) == "table" and rawget(meta, "__name")
  if type(class) == "string" then return { class .. ":" .. path[#path] } end
  return owner == nil and options.titles_of_method(path[#path]) or {}
end

-- Loads modules that declare options and are otherwise loaded at their first use.
local function load_declarations()
  for _, name in ipairs{ "scullery.model.bounds", "scullery.model.judging",
    "scullery.model.probabilities", "scullery.model.prune", "scullery.model.search",
    "scullery.pictures.model", "scullery.pictures.search", "scullery.report.model" } do
    require(name)
  end
end

-- The rows { name, help, takes, words } of the options of a call, or nil if none are declared.
local function rows_of(path, environment)
  load_declarations()
  if not path or #path == 0 then return nil end
  local kind, name = table.concat(path, ".", 1, #path):match("^sc%.([%w_]+)%.([%w_]+)$")
  if kind == "data" and core.reader_options(name) then return core.reader_options(name) end
  if kind then
    local ok, info = pcall(core.plugin_info, kind, name)
    if ok then return info.options end
  end
  local rows
  for _, title in ipairs(titles_of(path, environment)) do
    for _, row in ipairs(options.rows(title) or {}) do
      rows = rows or {}
      rows[#rows + 1] = row
    end
  end
  return rows
end

-- The call whose table of options directly contains token `last`, and the open brace.
local function options_call(code, last)
  local open = open_bracket(code, last)
  if not open or code[open].text ~= "{" then return nil end
  return call_at(code, open - 1), open
end

-- Options that may follow token `last`, a "{" or ",": those that are not given yet.
local function option_candidates(code, last, environment)
  local text = code[last] and code[last].text
  if text ~= "{" and text ~= "," and text ~= ";" then return nil end
  local path, open = options_call(code, last)
  local rows = rows_of(path, environment)
  if not rows then return nil end
  local seen, list = {}, {}
  for at = open + 1, last - 1 do
    if code[at].kind == "name" and code[at + 1].text == "=" then seen[code[at].text] = true end
  end
  for _, row in ipairs(rows) do
    if not seen[row.name] then
      list[#list + 1] = { name = row.name, about = row.help or row.takes }
    end
  end
  return list
end

-- The row of the option whose value begins after token `last`, an "=".
local function option_row(code, last, environment)
  if not code[last] or code[last].text ~= "=" or not code[last - 1] then return nil end
  local rows = rows_of(options_call(code, last), environment)
  for _, row in ipairs(rows or {}) do
    if row.name == code[last - 1].text then return row end
  end
end

-- The words that an option takes: those declared, or those in quotes in the text about its values
-- ("a number above 0, "scale" or "median""): a list, perhaps empty.
local function words_of(row)
  local list = {}
  for _, word in ipairs(row and row.words or {}) do
    if word:find("^[%w_.-]+$") then list[#list + 1] = { name = word } end
  end
  if #list > 0 then return list end
  for word in (row and row.takes or ""):gmatch('"([%w_.-]+)"') do
    list[#list + 1] = { name = word }
  end
  return list
end

-- ------------ texts in quotes

local function data_sets()
  local list = {}
  for name, entry in pairs(require "scullery.data.catalog") do
    list[#list + 1] = { name = name, about = entry.about }
  end
  return list
end

local function topics()
  local list = {}
  for name, about in pairs(require("scullery.help").topics()) do
    list[#list + 1] = { name = name, about = about }
  end
  return list
end

-- True if the path is a call of the method with this title ("class:method"), as far as is known.
local function is_method(path, title, environment)
  if not path.method then return false end
  load_declarations()
  for _, one in ipairs(titles_of(path, environment)) do
    if one == title then return true end
  end
  return false
end

-- Lua functions whose first argument is a path.
local takes_path = { ["io.open"] = true, ["io.lines"] = true, dofile = true, loadfile = true,
  ["io.input"] = true, ["io.output"] = true, ["os.remove"] = true, ["os.rename"] = true }

-- True if the help of a function calls its argument a path.
local function is_path_argument(path, place, environment)
  local name = table.concat(path, ".")
  if takes_path[name] then return true end
  if path.method then return place == 1 and (path[#path] == "save" or path[#path] == "report") end
  local f = completion.follow(path, environment)
  local about = f ~= nil and type(f) ~= "string" and require("scullery.help.topics").brief(f)
  local first = about and about:match("^[%w_.:]+[%(%s]*([%w_]+)")
  return about and about:sub(1, #name) == name and place <= 2
    and (first == "path" or first == "images")
end

-- Candidates for a text in quotes after token `last`; quote: the quotation mark; typed: the text so
-- far.
local function quoted_candidates(code, last, quote, typed, environment)
  local before = code[last]
  if not before then return nil end
  if before.text == "=" then
    local row = option_row(code, last, environment)
    local words = words_of(row)
    if #words > 0 then return words end
    local is_path = row and (row.help or row.takes or ""):find("path")
    return is_path and files.matching(typed, quote) or nil
  end
  local path, place
  if before.text == "(" or before.text == "," then
    local open = open_bracket(code, last)
    if not open or code[open].text ~= "(" then
      path, place = options_call(code, last) -- a list of paths
    else
      path, place = call_at(code, last)
    end
    if before.text == "(" then path = path_before(code, last - 1) end
  elseif before.text == "{" then
    path, place = call_at(code, last - 1)
  else
    path, place = path_before(code, last), 1
  end
  if not path or #path == 0 then return nil end
  place = place or 1
  local name = table.concat(path, ".")
  if name == "help" then return topics() end
  if name == "sc.data.load" then
    return place == 1 and data_sets() or { { name = "train" }, { name = "test" } }
  end
  if name == "sc.data.path" then return data_sets() end
  if name == "sc.plugin.info" or name == "sc.plugin.reload" then
    local list = {}
    for i, entry in ipairs(core.plugin_list()) do
      list[i] = { name = entry.kind .. "." .. entry.name }
    end
    return list
  end
  if place == 1 and is_method(path, "pipeline:plot", environment) then
    local list = {}
    for i, kind in ipairs(require("scullery.pictures.model").names) do list[i] = { name = kind } end
    return list
  end
  if is_path_argument(path, place, environment) then
    return files.matching(typed, quote)
  end
end

-- ------------ names

-- The names of the environment and Lua's keywords.
local function name_candidates(environment)
  local names, list = {}, {}
  values.collect(environment, names)
  for name in pairs(tokens.keywords) do names[name] = true end
  names.sc, names.help = true, true
  for name in pairs(names) do list[#list + 1] = { name = name } end
  return list
end

-- The fields (separator ".") or methods (":") of the value at the end of a path. Their descriptions
-- are functions, so that only those that are displayed are looked up.
local function member_candidates(path, separator, environment)
  local value = completion.follow(path, environment)
  if value == nil then return {} end
  local names, list = {}, {}
  values.collect(value, names)
  for name in pairs(names) do
    local member = values.index(value, name)
    if separator == "." or type(member) == "function" then
      local known = path[1] == "sc" or type(member) == "function"
      list[#list + 1] = { name = name, about = known and function()
        return require("scullery.help.topics").brief(member, path[1] == "sc" and name or nil)
      end or nil }
    end
  end
  return list
end

-- Candidates for the name that ends the text; `last` is the token before it.
local function unquoted_candidates(code, last, environment)
  local before = code[last]
  if before and before.kind == "symbol" and (before.text == "." or before.text == ":") then
    local path = path_before(code, last - 1)
    if not path or #path == 0 or path.method then return {} end
    return member_candidates(path, before.text, environment)
  end
  return option_candidates(code, last, environment) or name_candidates(environment)
end

-- ------------ the whole

-- The candidates that begin with the typed text, sorted, each once. Names with a leading "_" are
-- offered only after a typed "_".
local function matching(list, partial)
  local found, seen = {}, {}
  for _, one in ipairs(list) do
    local hidden = one.name:sub(1, 1) == "_" and partial:sub(1, 1) ~= "_"
    if one.name:sub(1, #partial) == partial and not hidden and not seen[one.name] then
      seen[one.name] = true
      found[#found + 1] = one
    end
  end
  table.sort(found, function(a, b) return a.name < b.name end)
  return found
end

-- The same as completion.find for a text such as `:time EXPR`; nil if the text is not a command.
local function at_command(text, environment)
  local partial = text:match("^%s*:(%a*)$")
  if partial then
    return #text - #partial + 1, require("scullery.prompt.session_commands").names()
  end
  local word, argument = text:match("^%s*:(%a+)%s+(.*)$")
  if not word then return nil end
  local begins = #text - #argument + 1
  if word == "load" or word == "save" then return begins, files.matching(argument) end
  if word == "time" or word == "bench" or word == "profile" then
    local place, list = completion.find(argument, environment)
    return place + begins - 1, list
  end
  return begins, {}
end

--- completion.find(text[, environment]): where the replacement begins (a byte of the text), and a
--- list of { name, about }: about is a text or a function that returns one.
function completion.find(text, environment)
  environment = environment or _G
  local place, list = at_command(text, environment)
  if place then return place, matching(list, text:sub(place)) end
  local code = tokens.list(text)
  local last = code[#code]
  if last and last.kind == "comment" and (last.open or last.last == #text) then
    return #text + 1, {}
  end
  for i = #code, 1, -1 do if code[i].kind == "comment" then table.remove(code, i) end end
  if last and last.kind == "string" and last.open and last.text:find("^[\"']") then
    local quote, typed = last.text:sub(1, 1), last.text:sub(2)
    list = quoted_candidates(code, #code - 1, quote, typed, environment) or {}
    return last.first + 1, matching(list, typed)
  end
  if last and last.last == #text and (last.kind == "name" or last.kind == "keyword") then
    return last.first, matching(unquoted_candidates(code, #code - 1, environment), last.text)
  end
  local after_name = last and last.last == #text and (last.text == "." or last.text == ":")
  local options_here = not after_name and option_candidates(code, #code, environment)
  if not after_name and not options_here then return #text + 1, {} end
  return #text + 1, matching(options_here or unquoted_candidates(code, #code, environment), "")
end

--- completion.at(text[, environment]): the text before the cursor -> where the replacement begins
--- (a byte of the text), and the list of possible texts.
function completion.at(text, environment)
  local place, found = completion.find(text, environment)
  local list = {}
  for i, one in ipairs(found) do list[i] = one.name end
  return place, list
end

-- ------------ on a terminal

local function common_prefix(list)
  local prefix = list[1].name
  for _, one in ipairs(list) do
    while one.name:sub(1, #prefix) ~= prefix do prefix = prefix:sub(1, -2) end
  end
  return prefix
end

local MOST_TOLD = 12

-- The names escaped for a terminal, and the width of the widest.
local function clean_names(list)
  local names, widest = {}, 0
  for i, one in ipairs(list) do
    names[i] = shown.clean(one.name)
    widest = math.max(widest, shown.width(names[i]))
  end
  return names, widest
end

local function in_columns(list, width)
  local names, widest = clean_names(list)
  local across = math.max(1, (width - 2) // (widest + 2))
  local lines = {}
  for i, name in ipairs(names) do
    local last = i % across == 0 or i == #names
    lines[i] = last and name .. "\n" or shown.pad(name, widest + 2)
  end
  return table.concat(lines)
end

-- One line for each candidate, with its summary from the help.
local function told(list, width)
  local names, widest = clean_names(list)
  local lines, any = {}, false
  for i, one in ipairs(list) do
    local about = one.about
    if type(about) == "function" then
      local ok, text = pcall(about)
      about = ok and text or nil
    end
    any = any or about ~= nil
    local line = shown.pad(names[i], widest) .. "  " .. (about or ""):gsub("\n.*", "")
    lines[i] = shown.shorten(line, width - 1):gsub("%s+$", "")
  end
  return any and table.concat(lines, "\n") .. "\n" or nil
end

--- completion.add(text[, environment[, width]]): the text that Tab adds before the cursor ("" for
--- none), and if there are several candidates, lines that list them: in columns, or with a summary
--- each if they are few.
function completion.add(text, environment, width)
  local place, list = completion.find(text, environment)
  if #list == 0 then return "", nil end
  width = width or 80
  local more = common_prefix(list):sub(#text - place + 2)
  if #list == 1 then return more, nil end
  local few = #list <= MOST_TOLD and width >= 40 and told(list, width)
  return more, few or in_columns(list, width)
end

return completion
