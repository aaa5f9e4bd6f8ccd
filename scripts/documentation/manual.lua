--- The manual page scullery(1), from what the command prints about itself.
local manual = {}

-- ------------ what the command prints

local function printed(binary, words)
  local pipe = assert(io.popen(("COLUMNS=100 '%s' %s --help 2>&1"):format(binary, words)))
  local text = pipe:read("a")
  assert(pipe:close(), text)
  return text
end

local function trimmed(text) return (text:gsub("^%s+", ""):gsub("%s+$", "")) end

local function one_line(text) return trimmed(text:gsub("%s+", " ")) end

-- argparse writes labels from the fourth column and descriptions from the 26th; a label that is
-- longer has a line of its own, and one of two lines ends in a comma after the first.
local MARGIN = 25

local function is_whole(label)
  local _, open = label:gsub("[<%[{]", "")
  local _, closed = label:gsub("[>%]}]", "")
  return open == closed
end

local function columns(line)
  local label, text = line:sub(1, MARGIN), line:sub(MARGIN + 1)
  if text ~= "" and label:sub(-1) == " " and is_whole(label) then return trimmed(label), text end
  return trimmed(line), ""
end

-- The items { label, text } of a block, from its lines.
local function items_of(lines)
  local items, open = {}, false
  for _, line in ipairs(lines) do
    local label, text = columns(line)
    local last = items[#items]
    if open then
      last[1], last[2] = last[1] .. " " .. label, last[2] .. " " .. text
    elseif line:find("^%s*$") or line:sub(1, MARGIN):find("^%s*$") then
      last[2] = last[2] .. " " .. text
    else
      items[#items + 1] = { label, text }
    end
    open = label:sub(-1) == ","
  end
  for _, item in ipairs(items) do item[2] = one_line(item[2]) end
  return items
end

-- The parts of a subcommand's help: usage, about, and the items of arguments, options, commands.
local function parsed(text)
  local parts = { usage = one_line(text:match("^Usage: (.-)\n\n")) }
  for block in (text:gsub("^Usage: .-\n\n", "") .. "\n"):gmatch("(.-)\n\n+") do
    local title, rest = block:match("^(%u%l+):\n(.*)$")
    if title then
      local lines = {}
      for line in (rest .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line end
      parts[title:lower()] = items_of(lines)
    else
      parts.about = (parts.about and parts.about .. "\n" or "") .. one_line(block)
    end
  end
  return parts
end

-- The parts of `scullery --help`: the lines of usage, paragraphs, and the items of options.
local function parsed_main(text)
  local head, body, options = text:match("^usage: (.-)\n\n(.-)\n(  %-.-)\nEnvironment:\n")
  local parts = { usage = {}, about = one_line(body), options = {}, commands = {} }
  for line in (head .. "\n"):gmatch("%s*(.-)\n") do
    parts.usage[#parts.usage + 1] = line
    local command = line:match("^scullery (%l+)")
    if command and not parts.commands[command] then
      parts.commands[command] = true
      table.insert(parts.commands, command)
    end
  end
  for line in (options .. "\n"):gmatch("(.-)\n") do
    local label, what = line:match("^  (%S.-)  +(%S.*)$")
    if label then
      parts.options[#parts.options + 1] = { label, what }
    else
      local last = parts.options[#parts.options]
      last[2] = last[2] .. " " .. trimmed(line)
    end
  end
  return parts
end

-- ------------ the page

-- Text as roff takes it.
local function roff(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("^([.'])", "\\&%1"))
end

local function bold(text) return ".B " .. roff(text):gsub('"', "\\(dq") end

local function item_lines(lines, items)
  for _, item in ipairs(items or {}) do
    if not item[1]:find("^%-h") then
      lines[#lines + 1] = ".TP\n" .. bold(item[1])
      lines[#lines + 1] = roff(item[2])
    end
  end
end

-- A subcommand and its verbs, each with its own arguments and options.
local function command_lines(lines, binary, words)
  local parts = parsed(printed(binary, words))
  lines[#lines + 1] = ".SS scullery " .. words
  lines[#lines + 1] = bold(parts.usage)
  lines[#lines + 1] = ".PP\n" .. roff(parts.about or "")
  item_lines(lines, parts.arguments)
  item_lines(lines, parts.options)
  for _, verb in ipairs(parts.commands or {}) do
    command_lines(lines, binary, words .. " " .. verb[1])
  end
end

local FILES = {
  { "~/.local/state/scullery", "the history of the prompt (XDG_STATE_HOME)" },
  { "~/.cache/scullery", "fetched data sets (XDG_CACHE_HOME)" },
  { "share/doc/scullery", "below the prefix of the installation: the documentation" },
}

local STATUS = [[
0: done. 1: an error, which the standard error tells in a sentence. 130: ended by Ctrl\-C.
A script ends with the status that it gives os.exit.]]

local EXAMPLES = {
  { "scullery", "the prompt; help() there leads on" },
  { "scullery example.lua", "run a script" },
  { "scullery -e 'print(sc.data.load(\"wdbc\"))'", "run a line" },
  { "scullery predict model.safetensors new.csv -o out.csv", "predictions of a saved model" },
  { "cc -O2 -fPIC -shared $(scullery --cflags) -o name.so name.c", "build a plugin" },
}

--- manual.page(binary, version): the text of the page.
function manual.page(binary, version)
  local main = parsed_main(printed(binary, ""))
  local lines = { '.\\" Made by scripts/reference.lua: do not edit.',
    (".TH SCULLERY 1 \"\" \"Scullery %s\" \"User Commands\""):format(version),
    ".SH NAME\nscullery \\- machine learning with random features\n.SH SYNOPSIS" }
  for i, usage in ipairs(main.usage) do
    lines[#lines + 1] = (i > 1 and ".br\n" or "") .. bold(usage)
  end
  lines[#lines + 1] = ".SH DESCRIPTION\n" .. roff(main.about)
  lines[#lines + 1] = ".SH OPTIONS"
  item_lines(lines, main.options)
  lines[#lines + 1] = ".SH COMMANDS\n.B \\-h\nor\n.B \\-\\-help\nafter a command prints its help."
  for _, command in ipairs(main.commands) do command_lines(lines, binary, command) end
  lines[#lines + 1] = ".SH ENVIRONMENT"
  for _, one in ipairs(require "scullery.help.environment") do
    item_lines(lines, { { one[1], ("(%s) %s"):format(one[2], one[3]) } })
  end
  lines[#lines + 1] = ".SH FILES"
  item_lines(lines, FILES)
  lines[#lines + 1] = ".SH EXIT STATUS\n" .. STATUS .. "\n.SH EXAMPLES"
  item_lines(lines, EXAMPLES)
  lines[#lines + 1] = ".SH SEE ALSO\n.BR lua5.4 (1),\n.BR gnuplot (1)"
  return table.concat(lines, "\n") .. "\n"
end

return manual
