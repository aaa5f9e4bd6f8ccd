--- Fewer elements for the same SVG picture: groups that only name a part or give a width go, the
--- grid of a panel becomes one path, its ticks another, and texts of one style one group. The
--- functions expect the line structure that compact.lua writes.
local flatten = {}

-- Groups as trees { open = tag, line or tree, ... }; nil where they are not balanced.
local function tree_of(text)
  local top = {}
  local path = { top }
  for line in text:gsub("\n*$", "\n"):gmatch "([^\n]*)\n" do
    local node = path[#path]
    if line:find "^<g[ >]" and not line:find "/>$" then
      path[#path + 1] = { open = line }
      table.insert(node, path[#path])
    elseif line == "</g>" then
      path[#path] = nil
      if #path == 0 then return nil end
    else
      table.insert(node, line)
    end
  end
  return #path == 1 and top or nil
end

-- Whether an element has its own colours.
local function is_coloured(one)
  local tag = one.open or one
  return tag:find 'stroke="none" fill="[^c]' ~= nil or tag:find "stroke='[#n]" ~= nil
end

local function all(list, holds)
  for _, one in ipairs(list) do if not holds(one) then return false end end
  return true
end

-- Gives each element of a group the width of lines that the group's tag gave.
local function with_width(lines, width)
  local depth = 0
  for i, line in ipairs(lines) do
    if depth == 0 and not line:find "stroke%-width"
      and not line:find "stroke=['\"]none" and line:find "^<%a+ .*stroke=" then
      lines[i] = line:gsub("^<%a+", ('%%0 stroke-width="%s"'):format(width))
    end
    depth = depth + (line:find "^<g " and 1 or line == "</g>" and -1 or 0)
  end
  return lines
end

-- What stands in place of a group: its elements, if they need no group.
local function without_tag(group, lines)
  local width, colour = group.open:match '^<g stroke%-width="([%d.]+)">$', nil
  if not width then
    colour, width = group.open:match '^<g color="(#%x+)" stroke%-width="([%d.]+)">$'
  end
  if group.open:find '^<g id="[^"]*gnuplot_[^"]*" *>' then
    if lines[1] and lines[1]:find "^<title>" then table.remove(lines, 1) end
    return lines
  elseif width and (not colour or all(group, is_coloured)) then
    return with_width(lines, width)
  end
  table.insert(lines, 1, group.open)
  lines[#lines + 1] = "</g>"
  return lines
end

-- What axes are made of: { kind, style, content } of a grid line, a tick or a text.
local function part_of_axes(line)
  local style, d = line:match "^<path (.*) d='([^']*)'/>$"
  if style and style:find(' class="gridline"', 1, true) then
    return { 1, style:gsub(' class="gridline"', ""), d }
  elseif style and style:find "^stroke%-width=\"[%d.]+\" stroke='#606060'$" then
    return { 2, style, d }
  end
  local place, look, words = line:match '^<text (x="[^"]*" y="[^"]*") ([^<>]*)>([^<]*)</text>$'
  if not place then
    place, look, words = line:match '^<text (transform="[^"]*") ([^<>]*)>([^<]*)</text>$'
  end
  if place then return { 3, look, ("<text %s>%s</text>"):format(place, words) } end
end

-- Writes elements of one style.
local function write(lines, kind, style, contents)
  if kind < 3 then
    lines[#lines + 1] = ("<path %s d='%s'/>"):format(style, table.concat(contents, " "))
  elseif #contents < 2 then
    lines[#lines + 1] = contents[1]:gsub(">", function() return " " .. style .. ">" end, 1)
  else
    lines[#lines + 1] = ("<g %s>"):format(style)
    table.move(contents, 1, #contents, #lines + 1, lines)
    lines[#lines + 1] = "</g>"
  end
end

-- The parts of axes that follow each other: grid lines first, then ticks, then texts, by style.
local function arrange(lines)
  local out, styles, contents = {}, { {}, {}, {} }, {}
  local function close()
    for kind, list in ipairs(styles) do
      for _, style in ipairs(list) do write(out, kind, style, contents[kind .. style]) end
    end
    styles, contents = { {}, {}, {} }, {}
  end
  for _, line in ipairs(lines) do
    local part = part_of_axes(line)
    if part then
      local kind, style = part[1], part[2]
      if not contents[kind .. style] then
        contents[kind .. style] = {}
        table.insert(styles[kind], style)
      end
      table.insert(contents[kind .. style], part[3])
    else
      close()
      out[#out + 1] = line
    end
  end
  close()
  return out
end

local function flat(group)
  local lines = {}
  for _, one in ipairs(group) do
    local part = type(one) == "string" and { one } or flat(one)
    table.move(part, 1, #part, #lines + 1, lines)
  end
  return group.open and without_tag(group, lines) or lines
end

--- flatten.svg(text): the same picture of fewer elements.
function flatten.svg(text)
  text = text:gsub("<polygon ([^<>]*) points='([^']*)'/>", function(style, points)
    return ("<path %s d='M%sz'/>"):format(style, points:gsub("\n", " "))
  end)
  local tree = tree_of((text:gsub("/></g>", "/>\n</g>")))
  if not tree then return text end
  text = table.concat(arrange(flat(tree)), "\n") .. "\n"
  if not text:find("xlink:href", 1, true) then
    text = text:gsub('\nxmlns:xlink="[^"]*"', "")
  end
  return (text:gsub("<defs>%s*</defs>\n", ""):gsub("\n\n+", "\n"))
end

return flatten
