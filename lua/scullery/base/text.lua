--- Text for terminals: East Asian characters occupy two columns, combining characters none, and
--- control and escape sequences are replaced.
local core = require "scullery.core"

local text = {}

--- text.width(s): the number of columns that text.clean(s) occupies on a terminal.
text.width = core.text_width

--- text.clean(s): s on one line, safe for a terminal: white space becomes " ", other control
--- characters and bytes that are not UTF-8 become U+FFFD.
function text.clean(s)
  if not s:find("[^ -~]") then return s end
  return table.concat((core.text_pieces(s)))
end

--- text.shown(s): s, of any number of lines, safe for a terminal: control characters become "\x1b"
--- and the like; newlines and tabs stay.
function text.shown(s)
  if not s:find("[^\n\t -~]") then return s end
  return core.text_shown(s)
end

--- text.valid(s, replacement): s as valid UTF-8: each byte that is not part of a character becomes
--- the replacement, a text or a function of the byte.
function text.valid(s, replacement)
  local parts, from = {}, 1
  while true do
    local _, bad = utf8.len(s, from)
    parts[#parts + 1] = s:sub(from, (bad or #s + 1) - 1)
    if not bad then return table.concat(parts) end
    parts[#parts + 1] = type(replacement) == "function" and replacement(s:byte(bad)) or replacement
    from = bad + 1
  end
end

--- text.shorten(s, columns): text.clean(s) cut to at most `columns` columns (1 or more); a text
--- that was cut ends with "…".
function text.shorten(s, columns)
  local pieces, widths = core.text_pieces(s)
  local used, fits = 0, 0
  for i, width in ipairs(widths) do
    used = used + width
    if used <= columns - 1 then fits = i end
  end
  if used <= columns then return table.concat(pieces) end
  return table.concat(pieces, "", 1, fits) .. "…"
end

--- text.pad(s, columns[, side]): s padded with spaces to `columns` columns; side: where s is,
--- "left" (the default), "right" or "centre".
function text.pad(s, columns, side)
  local free = math.max(0, columns - text.width(s))
  local before = side == "right" and free or side == "centre" and free // 2 or 0
  return (" "):rep(before) .. s .. (" "):rep(free - before)
end

-- Calls add(piece, width) for the pieces of a word, each of at most `columns` columns.
local function broken(word, columns, add)
  local pieces, widths = core.text_pieces(word)
  local line, used = {}, 0
  for i, piece in ipairs(pieces) do
    if used + widths[i] > columns and used > 0 then
      add(table.concat(line), used)
      line, used = {}, 0
    end
    line[#line + 1], used = piece, used + widths[i]
  end
  if used > 0 then add(table.concat(line), used) end
end

--- text.wrap(s, columns): text.clean(s) as a list of lines of at most `columns` columns (2 or
--- more); longer words are broken.
function text.wrap(s, columns)
  local lines, line, used = {}, {}, 0
  local function flush()
    if used > 0 then lines[#lines + 1] = table.concat(line, " ") end
    line, used = {}, 0
  end
  for word in s:gmatch("%S+") do
    broken(word, columns, function(part, width)
      if used > 0 and used + 1 + width > columns then flush() end
      used = used + (used > 0 and 1 or 0) + width
      line[#line + 1] = part
    end)
  end
  flush()
  return lines
end

--- text.bytes(count): "1.5 MB", and "-" for less than 500 bytes.
function text.bytes(bytes)
  for _, unit in ipairs{ { 1e15, "PB" }, { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" } } do
    if bytes >= unit[1] then return ("%.3g %s"):format(bytes / unit[1], unit[2]) end
  end
  return bytes >= 500 and ("%.0f kB"):format(bytes / 1e3) or "-"
end

return text
