--- A smaller SVG for the same picture: gnuplot repeats every attribute for every mark, writes
--- hundredths of pixels, and defines all its symbols. A picture of many points becomes three to
--- eight times smaller. The functions expect the line structure that gnuplot writes.
local flatten = require "scullery.plot.flatten"
local paths = require "scullery.plot.paths"

local compact = {}

-- Attributes of nearly every group, written once around all groups, or nowhere: SVG's defaults.
local COMMON = { { "fill", "none" }, { "color", "black", true }, { "stroke", "currentColor", true },
  { "stroke-linecap", "butt", true }, { "stroke-linejoin", "miter", true } }

local MOST_TRANSLUCENT = 40 -- marks of one element

-- A number with at most one decimal.
local function short(number)
  return (("%.1f"):format(number):gsub("%.0$", ""):gsub("^%-0$", "0"))
end

local function whole(number) return (("%.0f"):format(number):gsub("^%-0$", "0")) end

local function short_numbers(text) return (text:gsub("%-?%d+%.%d+", short)) end

local function hex(r, g, b) return ("#%02x%02x%02x"):format(r, g, b) end

-- Shortens colours, the numbers of paths, and white space between attributes.
local function shorten(text)
  text = text:gsub("rgb%( *(%d+), *(%d+), *(%d+)%)", hex)
  text = text:gsub(" d='([^']*)'", function(path)
    return " d='" .. short_numbers(path):gsub("%s+%f[%a%z]", ""):gsub("%f[%a]L", " ") .. "'"
  end)
  text = text:gsub(" points *= *'([^']*)'", function(points)
    return " points='" .. short_numbers(points):gsub("%s+$", "") .. "'"
  end)
  text = text:gsub("(%-opacity) *= *'([%d.]+)'", function(name, value)
    return ("%s='%g'"):format(name, value)
  end)
  text = text:gsub("dasharray='[^']*'", short_numbers)
  text = text:gsub('([%w-]+)="(%-?%d+%.%d+)"', function(name, value)
    return name ~= "version" and ('%s="%g"'):format(name, value) or nil -- XML has no version "1"
  end)
  return (text:gsub("fill = '", "fill='"):gsub("([\"'])  +", "%1 "):gsub("\n[\t ]+", "\n")
    :gsub("[\t ]+\n", "\n"):gsub("/>\t+<", "/>\n<"):gsub("'[ \t]*/>", "'/>"):gsub(">\t+<", ">\n<"))
end

-- Removes empty groups.
local function without_empty(text)
  local count
  repeat text, count = text:gsub("<g[^>]*>%s*</g>\n?", "") until count == 0
  return text
end

-- Removes symbols and filters that are not referenced.
local function without_unused(text)
  local count
  local function drop(_, id)
    if text:find("#" .. id:gsub("%p", "%%%0") .. "%f[^%w_]") then return nil end
    count = count + 1
    return ""
  end
  repeat
    count = 0
    text = text:gsub('(<filter id="([^"]+)".-</filter>\n)', drop)
    text = text:gsub('(<%a+ [^>\n]*id="([^"]+_gp[^"]+)"[^>\n]*/>\n)', drop)
  until count == 0
  return text
end

-- Moves the attributes that all groups share to one group around them.
local function share(text)
  local shared = {}
  for _, one in ipairs(COMMON) do
    local said = (' %s="%s"'):format(one[1], one[2])
    shared[#shared + 1] = not one[3] and said or nil
    text = text:gsub("(<g fill=[^>]*)" .. said:gsub("%p", "%%%0"), "%1")
  end
  text = text:gsub('<g fill="none"', "<g")
  for _, name in ipairs{ "family", "size" } do -- the first of them
    local font = text:match((' font%%-%s="[^"]*"'):format(name)) or ""
    text = text:gsub(font:gsub("%p", "%%%0"), "")
    shared[#shared + 1] = font
  end
  return text:gsub("</defs>\n", "%0<g" .. table.concat(shared) .. ">\n", 1)
    :gsub("</svg>%s*$", "</g>\n%0")
end

-- Moves texts to their own group.
local function lift_texts(text)
  return (text:gsub("<g transform=\"([^\"]*)\"([^>]*)>\n<text>([^<]*)</text>\n</g>",
    function(place, attributes, words)
      local x, y = place:match "^translate%((%-?[%d.]+),(%-?[%d.]+)%)$"
      local at = x and ('x="%s" y="%s"'):format(whole(x), whole(y))
        or ('transform="%s"'):format(place:gsub("%d+%.%d+", whole))
      return ("<text %s%s>%s</text>"):format(at, attributes, words)
    end))
end

local MARK = "^<use xlink:href=\"#([^\"]+)\" transform='translate%(([%d.-]+),([%d.-]+)%) "
  .. "scale%(([%d.]+)%)' color='([^']+)'([^<>]*)/>$"
local CELL = "^<polygon fill='(#%x+)' points='([%d.]+),([%d.]+) ([%d.]+),([%d.]+) "
  .. "([%d.]+),([%d.]+) ([%d.]+),([%d.]+)'/>$"

-- gnuplot's filled symbols: their corners; gpPt6 is a disc.
local corners = { gpPt4 = { -1, -1, 1, -1, 1, 1, -1, 1 },
  gpPt8 = { -1.33, 0.67, 1.33, 0.67, 0, -1.33 },
  gpPt10 = { -1.33, -0.67, 1.33, -0.67, 0, 1.33 },
  gpPt12 = { 0, -1.414, 1.414, 0, 0, 1.414, -1.414, 0 } }
local EDGE = 0.205 -- width of the line around them, for their size

-- { key, open, part, close } for a mark; following marks with the same key join its element.
local function mark(line)
  local id, x, y, size, colour, more = line:match(MARK)
  if not id then return nil end
  local key = id .. size .. colour .. more
  local symbol = id:match "_(%w+)$"
  local points = corners[symbol]
  if symbol == "gpPt6" then
    return { key,
      ("<path stroke='%s'%s stroke-width='%.2g' stroke-linecap='round' d='"):format(colour, more,
        (2 + EDGE) * size), ("M%s,%sz"):format(whole(x), whole(y)), "'/>" }
  elseif points then
    local left, top, outer, path = math.tointeger(whole(x)), math.tointeger(whole(y)),
      (1 + EDGE / 2) * size, {}
    for i = 1, #points, 2 do
      path[#path + 1] = ("%d,%d"):format(left + whole(points[i] * outer),
        top + whole(points[i + 1] * outer))
    end
    return { key, ("<path fill='%s'%s d='"):format(colour, more),
      "M" .. table.concat(path, " ") .. "z", "'/>" }
  end
  return { key, ("<g color='%s'%s transform='scale(%s)'>\n"):format(colour, more, size),
    ('<use xlink:href="#%s" x="%.5g" y="%.5g"/>\n'):format(id, x / size, y / size), "</g>" }
end

-- The same for a cell of a heatmap: a rectangle with sides along the axes.
local function cell(line)
  local fill, x, y, x2, y2, x3, y3, x4, y4 = line:match(CELL)
  if not fill or y ~= y2 or x2 ~= x3 or y3 ~= y4 or x ~= x4 then return nil end
  return { fill, ("<path fill='%s' d='"):format(fill), ("M%s,%sH%sV%sH%sz"):format(whole(x),
    whole(y), whole(x2), whole(y3), whole(x)), "'/>", box = { tonumber(x), tonumber(y),
    tonumber(x2), tonumber(y3) } }
end

-- ------------ colour bars

local LEAST_STEPS, MOST_STOPS = 64, 24 -- cells of a bar, and stops of its gradient
local NEAR = 4 -- of 255: how far a channel of a step may be from the gradient

local function channels(colour)
  local r, g, b = colour:match "^#(%x%x)(%x%x)(%x%x)$"
  return { tonumber(r, 16), tonumber(g, 16), tonumber(b, 16) }
end

-- Whether the colours of steps a to b lie on the line between the first and the last of them.
local function is_straight(steps, a, b)
  local from, to = steps[a], steps[b]
  for i = a + 1, b - 1 do
    local part = (steps[i].middle - from.middle) / (to.middle - from.middle)
    for c = 1, 3 do
      local line = from.colour[c] + part * (to.colour[c] - from.colour[c])
      if math.abs(line - steps[i].colour[c]) > NEAR then return false end
    end
  end
  return true
end

-- The stops of a gradient through the steps, as numbers of steps; nil if it takes too many.
local function stops_of(steps)
  local stops = { 1 }
  while stops[#stops] < #steps and #stops < MOST_STOPS do
    local at = stops[#stops] + 1
    while at < #steps and is_straight(steps, stops[#stops], at + 1) do at = at + 1 end
    stops[#stops + 1] = at
  end
  return stops[#stops] == #steps and stops or nil
end

-- A column of many cells, one on the other, as a rectangle with a gradient; nil for other cells.
-- cells: list of what `cell` returns; written: set of the gradients that the picture has.
local function bar(cells, written)
  local first, last = cells[1].box, cells[#cells].box
  local steps = {}
  for i, one in ipairs(cells) do
    local box, before = one.box, i > 1 and cells[i - 1].box or nil
    if box[1] ~= first[1] or box[3] ~= first[3] then return nil end
    if before and math.abs(box[2] - before[4]) > 1 then return nil end
    steps[i] = { middle = (box[2] + box[4]) / 2, colour = channels(one[1]) }
  end
  local stops = #cells >= LEAST_STEPS and stops_of(steps)
  if not stops then return nil end
  local top, height = math.min(first[2], last[4]), math.abs(last[4] - first[2])
  local list, name = {}, 0
  for i, at in ipairs(stops) do
    list[i] = ("<stop offset='%.3g' stop-color='%s'/>"):format(
      (steps[at].middle - top) / height, cells[at][1])
  end
  if first[2] > last[4] then
    for i = 1, #list // 2 do list[i], list[#list + 1 - i] = list[#list + 1 - i], list[i] end
  end
  local text = table.concat(list)
  for byte in text:gmatch "." do name = (31 * name + byte:byte()) % 0x1000000 end
  local gradient = written[text] and ""
    or ("<linearGradient id='bar%06x' x2='0' y2='1'>%s</linearGradient>\n"):format(name, text)
  written[text] = true
  return gradient
    .. ("<rect x='%s' y='%s' width='%s' height='%s' stroke='none' fill='url(#bar%06x)'/>\n"):format(
      whole(first[1]), whole(top), whole(first[3] - first[1]), whole(height), name)
end

-- Cells of one colour in a run as one element: they do not overlap.
local function cells_by_colour(cells)
  local parts, order, places = {}, {}, {}
  for _, this in ipairs(cells) do
    if not places[this[1]] then
      order[#order + 1], places[this[1]] = this[1], { this[2], this[4] }
    end
    table.insert(places[this[1]], this[3])
  end
  for i, colour in ipairs(order) do
    parts[i] = places[colour][1] .. table.concat(places[colour], "", 3) .. places[colour][2] .. "\n"
  end
  return table.concat(parts)
end

local function gather_cells(text)
  local parts, run, written = {}, {}, {}
  local function close()
    parts[#parts + 1] = #run > 0 and (bar(run, written) or cells_by_colour(run)) or nil
    run = {}
  end
  for line in text:gsub("\n*$", "\n"):gmatch "([^\n]*)\n" do
    local this = cell(line)
    if this then
      run[#run + 1] = this
    else
      close()
      parts[#parts + 1] = line .. "\n"
    end
  end
  close()
  return table.concat(parts)
end

-- Joins consecutive marks with equal attributes into one element. Marks of one element do not show
-- through each other, so that translucent ones are divided among several elements.
local function gather(text)
  local parts, last, count = {}, nil, 0
  for line in text:gsub("\n*$", "\n"):gmatch "([^\n]*)\n" do
    local this = mark(line)
    count = count + 1
    if this and count > MOST_TRANSLUCENT and this[1]:find("opacity", 1, true) then
      if last then parts[#parts + 1] = last[4] .. "\n" end
      last, count = nil, 0
    end
    if last and (not this or this[1] ~= last[1]) then parts[#parts + 1] = last[4] .. "\n" end
    if this then
      if not last or this[1] ~= last[1] then parts[#parts + 1] = this[2] end
      parts[#parts + 1] = this[3]
    else
      parts[#parts + 1] = line .. "\n"
    end
    last = this
  end
  return table.concat(parts)
end

local MANY = 25 -- texts

-- Joins many texts of one character that follow each other, such as digits that mark the points of
-- a scatter plot, into one text with a list of places.
local function join_characters(text)
  local parts, xs, ys, characters, lines = {}, {}, {}, {}, {}
  local function close()
    if #lines > MANY then
      lines = { ('<text x="%s" y="%s">%s</text>\n'):format(table.concat(xs, " "),
        table.concat(ys, " "), table.concat(characters)) }
    end
    parts[#parts + 1] = table.concat(lines)
    xs, ys, characters, lines = {}, {}, {}, {}
  end
  for line in text:gmatch "[^\n]*\n" do
    local x, y, character = line:match '^<text x="([%d.-]+)" y="([%d.-]+)">(%w)</text>\n$'
    if x then
      xs[#xs + 1], ys[#ys + 1] = x, y
      characters[#characters + 1], lines[#lines + 1] = character, line
    else
      close()
      parts[#parts + 1] = line
    end
  end
  close()
  return table.concat(parts)
end

local CRISP = " shape-rendering='crispEdges'"

-- Joins groups of cells that follow each other; that of one element becomes its attributes.
local function join_groups(text)
  local parts, run, inside, own = {}, {}, false, "<g" .. CRISP .. ">"
  local function close()
    local name, rest = (#run == 1 and run[1] or ""):match "^<(%a+)( .*/>)$"
    if name and not rest:find(" stroke=", 1, true) then
      parts[#parts + 1] = "<" .. name .. CRISP .. rest .. "\n"
    elseif #run > 0 then
      parts[#parts + 1] = own .. "\n" .. table.concat(run, "\n") .. "\n</g>\n"
    end
    run = {}
  end
  for line in text:gmatch "([^\n]*)\n" do
    if line == own then
      inside = true
    elseif inside and line == "</g>" then
      inside = false
    elseif inside then
      run[#run + 1] = line
    else
      close()
      parts[#parts + 1] = line .. "\n"
    end
  end
  close()
  return table.concat(parts)
end

-- Areas and axes are in whole pixels, other lines in tenths.
local function shorten_path(style, d)
  local is_whole = style:find "fill='#" or style:find "stroke='#606060'"
    or style:find "stroke='#dddddd'"
  return ("<path %sd='%s'"):format(style, paths.relative(d, is_whole ~= nil))
end

--- compact.svg(text): a smaller SVG than gnuplot's; lines have coordinates to a tenth of a pixel,
--- everything else has whole pixels. Texts do not change.
function compact.svg(text)
  local words = {} -- the texts, which must not change: \1i\1 stands for the i-th
  text = text:gsub(">([^<]*[^<%s][^<]*)<", function(shown)
    words[#words + 1] = shown
    return (">\1%d\1<"):format(#words)
  end)
  text = lift_texts(gather(gather_cells(share(shorten(text)))))
  text = flatten.svg(without_unused(without_empty(text)))
  text = text:gsub(" text%-anchor=\"start\"", ""):gsub(" stroke=(['\"])none%1", "") -- the defaults
  text = text:gsub("<path ([^<>]*)d='([^']*)'", shorten_path)
  text = join_groups(text:gsub("\n*$", "\n"))
  return join_characters((text:gsub("\1(%d+)\1", function(i) return words[tonumber(i)] end)))
end

return compact
