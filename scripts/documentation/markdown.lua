--- Texts of help() as Markdown.
local markdown = {}

--- markdown.escaped(text): the text with the characters that Markdown reads as marks escaped.
function markdown.escaped(text)
  return (text:gsub("[\\*`<>%[%]|]", { ["<"] = "&lt;", [">"] = "&gt;", ["\\"] = "\\\\",
    ["*"] = "\\*", ["`"] = "\\`", ["["] = "\\[", ["]"] = "\\]", ["|"] = "\\|" })
    :gsub("%f[%w_]_", "\\_"):gsub("^([-+#])", "\\%1"))
end

-- `code` parts of a text stay as they are.
local function with_code(text)
  local parts, at = {}, 1
  while true do
    local first, last = text:find("`[^`]+`", at)
    if not first then break end
    parts[#parts + 1] = markdown.escaped(text:sub(at, first - 1)) .. text:sub(first, last)
    at = last + 1
  end
  return table.concat(parts) .. markdown.escaped(text:sub(at))
end

local ITEM = "\2" -- in front of a line that is an item of a list

-- Lines such as "x, y: lists of numbers," whose next lines are set in, as items of a list.
local function with_items(text)
  local lines, out, item = {}, {}, false
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
  for i, line in ipairs(lines) do
    local indented = line:find("^%s%s%S") ~= nil
    if item and indented then
      out[#out] = out[#out] .. " " .. line:gsub("^%s+", "")
    else
      local before = item
      item = not indented and line:find("^[%a_][%w_, ]*:%s.*[^:]$") ~= nil
        and (lines[i + 1] or ""):find("^%s%s%S") ~= nil
      if before ~= item and #out > 0 and line ~= "" then out[#out + 1] = "" end
      out[#out + 1] = item and ITEM .. line or line
    end
  end
  return table.concat(out, "\n")
end

--- markdown.body(text): paragraphs; lines that are indented, such as formulas, stay as they are in
--- a block.
function markdown.body(text)
  local out, open = {}, false
  local function fence(wanted)
    if wanted == open then return end
    if wanted and out[#out] ~= "" and #out > 0 then out[#out + 1] = "" end
    out[#out + 1] = wanted and "```" or "```\n"
    open = wanted
  end
  for line in (with_items(text) .. "\n"):gmatch("([^\n]*)\n") do
    if line:find("^%s%s") then
      fence(true)
      out[#out + 1] = line
    else
      fence(false)
      local item = line:match("^" .. ITEM .. "(.*)$")
      out[#out + 1] = item and "- " .. with_code(item) or with_code(line)
    end
  end
  fence(false)
  return (table.concat(out, "\n"):gsub("\n\n\n+", "\n\n"):gsub("%s+$", ""))
end

--- markdown.sentence(text): the text with a capital at its beginning, where that is a plain word.
function markdown.sentence(text)
  local word = text:match("^%l+%f[%s,:]")
  return word and (word == "a" or #word > 1) and text:sub(1, 1):upper() .. text:sub(2) or text
end

--- markdown.code(text): the text as code in a line.
function markdown.code(text)
  if text:find("`", 1, true) then return "`` " .. text .. " ``" end
  return "`" .. text .. "`"
end

--- markdown.table(heads, rows): a table; cells are Markdown already, but for bars.
function markdown.table(heads, rows)
  local function row(cells)
    local list = {}
    for i, cell in ipairs(cells) do
      list[i] = cell:gsub("\\?|", "\\|"):gsub("\n", " ")
    end
    return "| " .. table.concat(list, " | ") .. " |"
  end
  local lines = { row(heads), ("|---"):rep(#heads) .. "|" }
  for _, cells in ipairs(rows) do lines[#lines + 1] = row(cells) end
  return table.concat(lines, "\n")
end

-- The end of the signature in a comment "p:fit(ds) or p:fit(X, y): what it does": the place of the
-- first ": " or " -> " outside of brackets.
local function signature_end(text)
  local depth = 0
  for at = 1, #text do
    local c = text:sub(at, at)
    if c:find("[%(%[{]") then depth = depth + 1 end
    if c:find("[%)%]}]") then depth = depth - 1 end
    if depth == 0 and at > 1 and (text:find("^:%s", at) or text:find("^ %->", at)) then
      return at - 1
    end
  end
end

--- markdown.signed(text): what a comment that begins with a signature says: the signature in one
--- line, and the rest; nil and the text where there is no signature.
function markdown.signed(text)
  local last = signature_end(text)
  local signature = last and text:sub(1, last)
  if not signature or not signature:find("[%w_][%(%{%[]") then return nil, text end
  local rest = text:sub(last + 1):gsub("^:?%s*", ""):gsub("^%->%s*", "")
  return (signature:gsub("%s*\n%s*", " ")), rest
end

return markdown
