--- Breaks long lines of help between words, to the width of a terminal.
local folding = {}

local entry = "^%s+%S.-%s%s+" -- an entry of a list, up to its text

local function columns_of(text) return utf8.len(text) or #text end

-- The indentation of continuation lines: below the text of a list's entry ("  name   text"), two
-- more than the line's for a long name, or else that of the line.
local function indent_of(line, columns)
  local name = line:match(entry)
  if name and columns_of(name) <= columns // 2 then return columns_of(name) end
  return math.min(#line:match("^%s*") + (name and 2 or 0), columns // 2)
end

-- The lines of at most `columns` columns into which one line breaks.
local function fold_line(line, columns)
  if columns_of(line) <= columns then return { line } end
  local indent, lines, current, empty = indent_of(line, columns), {}, "", true
  for gap, word in line:gmatch("(%s*)(%S+)") do
    if not empty and columns_of(current .. gap .. word) > columns then
      lines[#lines + 1] = current
      current = (" "):rep(indent) .. word
    else
      current = current .. gap .. word
    end
    empty = false
  end
  lines[#lines + 1] = current
  return lines
end

-- True if a line continues the paragraph of the line before it, which is not its heading.
local function goes_on(before, line)
  return before:match("^%s*") == line:match("^%s*") and line:find("^%s*[^%s/]")
    and not before:find(entry) and not line:find(entry)
    and not before:find("{%.%.%.}: ") and not before:find(":$") and not line:find(":$")
end

--- folding.fold(text, columns): the text with lines of at most `columns` columns; only longer words
--- exceed it. The rest of a broken line is joined with the next line of its paragraph.
function folding.fold(text, columns)
  local lines, before, carried = {}, nil, nil
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    local whole = line
    if carried and goes_on(before, line) then
      lines[#lines], whole = nil, carried .. " " .. line:match("%S.*")
    end
    local folded = fold_line(whole, columns)
    table.move(folded, 1, #folded, #lines + 1, lines)
    carried, before = #folded > 1 and folded[#folded] or nil, line
  end
  return table.concat(lines, "\n")
end

return folding
