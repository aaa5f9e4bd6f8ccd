--- Completion at the prompt: names of globals, and of fields and methods along a dotted path.
local prompt = {}

local keywords = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then",
  "true", "until", "while",
}

local function add(names, name)
  if type(name) == "string" and name:match("^[%a_][%w_]*$") then names[name] = true end
end

-- Names that indexing the value can find: its own (a __pairs metamethod may list more), then those
-- of __index.
local function collect(value, names, depth)
  if depth > 8 then return end
  local meta = debug.getmetatable(value)
  if type(value) == "table" then
    for name in next, value do add(names, name) end
    if type(meta) == "table" and meta.__pairs then
      pcall(function() for name in pairs(value) do add(names, name) end end)
    end
  end
  if type(meta) ~= "table" then return end
  local index = rawget(meta, "__index")
  if type(index) == "table" then collect(index, names, depth + 1) end
  if type(rawget(meta, "methods")) == "table" then collect(meta.methods, names, depth + 1) end
end

-- The value at the end of a path such as {"sc", "sampler"}; nothing is called on the way but
-- __index.
local function follow(path)
  local value = _G
  for _, name in ipairs(path) do
    local ok, inner = pcall(function() return value[name] end)
    if not ok or inner == nil then return nil end
    value = inner
  end
  return value
end

local function common_prefix(list)
  local prefix = list[1]
  for _, name in ipairs(list) do
    while name:sub(1, #prefix) ~= prefix do prefix = prefix:sub(1, -2) end
  end
  return prefix
end

local function matching(names, partial)
  local list = {}
  for name in pairs(names) do
    local hidden = name:sub(1, 1) == "_" and partial:sub(1, 1) ~= "_"
    if name:sub(1, #partial) == partial and not hidden then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end

-- The names in columns, for a terminal of 80.
local function in_columns(list)
  local width = 0
  for _, name in ipairs(list) do width = math.max(width, #name + 2) end
  local across = math.max(1, 78 // width)
  local lines = {}
  for i, name in ipairs(list) do
    local last = i % across == 0 or i == #list
    lines[#lines + 1] = last and name .. "\n" or name .. (" "):rep(width - #name)
  end
  return table.concat(lines)
end

-- The text before the brace that is still open at the end, or nil.
local function before_brace(text)
  local depth = 0
  for at = #text, 1, -1 do
    local c = text:sub(at, at)
    if c == "}" then depth = depth + 1 end
    if c == "{" then
      if depth == 0 then return text:sub(1, at - 1) end
      depth = depth - 1
    end
  end
end

-- Options of the reader or plugin whose braces the cursor is in, where a name may stand: a list of
-- rows, or nil.
local function options_at(text)
  if not text:find("[{,]%s*$") then return nil end
  local before = before_brace(text)
  local path = before and (before:match("([%w_.]+)%s*%([^()]*$") or before:match("([%w_.]+)%s*$"))
  local kind, name = (path or ""):match("^sc%.([%w_]+)%.([%w_]+)$")
  if not kind then return nil end
  local core = require "scullery.core"
  if kind == "data" then return core.reader_options(name) end
  local ok, info = pcall(core.plugin_info, kind, name)
  return ok and info.options or nil
end

--- prompt.complete(text): the text before the cursor -> what to add to it ("" for nothing), and the
--- candidates in columns where there are several.
function prompt.complete(text)
  local word = text:match("[%a_][%w_.:]*$")
  if not word or word:find("[.:][.:]")
    or text:sub(1, #text - #word):match("[%w_%)%]}\"'][.:]$") then
    return "", nil
  end
  local base, separator, partial = word:match("^(.-)([.:])([%w_]*)$")
  local names = {}
  if not base then
    partial = word
    local rows = options_at(text:sub(1, #text - #word))
    for _, row in ipairs(rows or {}) do names[row.name] = true end
    if not rows then
      collect(_G, names, 0)
      for _, name in ipairs(keywords) do names[name] = true end
      names.sc, names.help = true, true
    end
  else
    local path = {}
    for name in base:gmatch("[^.:]+") do path[#path + 1] = name end
    local value = follow(path)
    if value == nil then return "", nil end
    collect(value, names, 0)
    if separator == ":" then
      for name in pairs(names) do
        local ok, method = pcall(function() return value[name] end)
        if not ok or type(method) ~= "function" then names[name] = nil end
      end
    end
  end
  local list = matching(names, partial)
  if #list == 0 then return "", nil end
  local more = common_prefix(list):sub(#partial + 1)
  return more, #list > 1 and in_columns(list) or nil
end

return prompt
