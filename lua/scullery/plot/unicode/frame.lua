--- The parts of a picture around its canvas: title, axes with ticks and labels, legend, notes. A
--- picture is a list of lines { text =, width = columns }.
local ink = require "scullery.plot.unicode.ink"
local scale = require "scullery.plot.unicode.scale"
local text = require "scullery.base.text"
local texts = require "scullery.plot.texts"

local frame = {}

local LEAST_ROWS, LEAST_COLUMNS = 5, 10
local MOST_TICKS = 10
local LEAST_NAME = 4 -- columns of a name that is cut
local GAP = "   " -- between entries of the legend

--- frame.add(lines, s[, side, columns]): appends s as a line, aligned at the "left", "right" or
--- "centre" of that many columns; without spaces at its end.
function frame.add(lines, s, side, columns)
  if side and side ~= "left" then s = text.pad(s, columns, side) end
  s = s:gsub(" +$", "")
  lines[#lines + 1] = { text = s, width = text.width(s) }
end

--- frame.add_wrapped(lines, s, side, columns): the same, wrapped to several lines if necessary.
function frame.add_wrapped(lines, s, side, columns)
  for _, line in ipairs(text.wrap(s or "", columns)) do frame.add(lines, line, side, columns) end
end

--- frame.label(axis, ticks): the label of an axis with the offset and the unit of its ticks, as in
--- "time, less 1000, × 1e6".
function frame.label(axis, ticks)
  local parts = {}
  if axis.label and axis.label ~= "" then parts[1] = axis.label end
  if ticks.less then parts[#parts + 1] = "less " .. ticks.less end
  if ticks.times then parts[#parts + 1] = "× " .. ticks.times end
  return table.concat(parts, ", ")
end

--- frame.layers(panel, kind): the layers of a kind, in order.
function frame.layers(panel, kind)
  local list = {}
  for _, layer in ipairs(panel.layers) do if layer.kind == kind then list[#list + 1] = layer end end
  return list
end

--- frame.notes(panel, ...): a list of the given notes, some of which may be nil, then those of the
--- panel.
function frame.notes(panel, ...)
  local list = {}
  for i = 1, select("#", ...) do list[#list + 1] = (select(i, ...)) end
  return table.move(panel.notes or {}, 1, #(panel.notes or {}), #list + 1, list)
end

-- ------------ legend

--- frame.legend(entries, columns, colour, title): the legend as lines of at most `columns` columns,
--- with several entries { sample =, label =, colour = } in each. colour: true to colour the
--- samples. title: a text before the entries, or nil.
function frame.legend(entries, columns, colour, title)
  local lines, line, used = {}, nil, 0
  if title and #entries > 0 then
    entries = { { sample = text.shorten(title .. ":", columns - 1), label = "" },
      table.unpack(entries) }
  end
  for _, entry in ipairs(entries) do
    local taken = text.width(entry.sample) + 1
    local label = text.shorten(entry.label, math.max(1, columns - taken - 1))
    local width = taken + text.width(label)
    if line and used + #GAP + width > columns then line = nil end
    if not line then
      line, used = ink.spans(), 1
      lines[#lines + 1] = { spans = line }
      line:add(" ")
    else
      line:add(GAP)
      used = used + #GAP
    end
    line:add(entry.sample, colour and entry.colour and ink.series(entry.colour) or nil)
    if label ~= "" then line:add(" " .. label) else width = width - 1 end
    used = used + width
    lines[#lines].width = used
  end
  for i, one in ipairs(lines) do lines[i] = { text = one.spans:text(), width = one.width } end
  return lines
end

-- ------------ axes

--- frame.rows(panel, o, legend): the rows of the canvas: o.rows if given; otherwise as many as make
--- the picture o.height lines high, but at least half of o.height and LEAST_ROWS. legend: its
--- lines.
function frame.rows(panel, o, legend)
  if o.rows then return o.rows end
  local lines = {}
  frame.add_wrapped(lines, panel.title, "left", o.width)
  frame.add_wrapped(lines, panel.x.label, "left", o.width)
  for _, note in ipairs(panel.notes or {}) do frame.add_wrapped(lines, note, "left", o.width) end
  return math.max(LEAST_ROWS, o.height // 2, o.height - #lines - #legend - 3)
end

--- frame.row(share, rows): the row at a share of the axis, 0 at the bottom and 1 at the top.
function frame.row(share, rows) return (math.floor((1 - share) * (4 * rows - 1) + 0.5)) // 4 end

--- frame.column(share, columns): the column at a share of the axis, 0 on the left and 1 on the
--- right.
function frame.column(share, columns) return (math.floor(share * (2 * columns - 1) + 0.5)) // 2 end

-- The ticks of an axis, { share =, text = }: all its categories (category i has the value i), or
-- about `most` numbers.
local function ticks_of(axis, most)
  local share, list = scale.share(axis), {}
  if axis.categories then
    for i, name in ipairs(axis.categories) do
      list[i] = { share = share(i), text = text.clean(tostring(name)) }
    end
    return list
  end
  local ticks = scale.ticks(axis, most)
  for i, tick in ipairs(ticks) do list[i] = { share = share(tick.value), text = tick.text } end
  list.times, list.less = ticks.times, ticks.less
  return list
end

--- frame.short(name, columns): a name cut to at most that many columns. With 6 or more the middle
--- is left out, because names in one list often differ at their ends.
function frame.short(name, columns)
  return (columns >= 6 and texts.short or text.shorten)(name, columns)
end

--- frame.are_numbers(names): true if all names are numbers. Numbers are never cut, and need no note
--- if some are left out, because a reader can infer those.
function frame.are_numbers(names)
  for _, name in ipairs(names) do if not tonumber(name) then return false end end
  return true
end

-- Whether a share of an axis is on it; the margin is for rounding.
local function is_inside(share) return share >= -1e-9 and share <= 1 + 1e-9 end

--- frame.left(axis, rows, width): the labels on the left of the canvas: { [row] = text }, with the
--- fields gutter = the columns of the longest, label = the line above them, note = a sentence if
--- names were left out or cut.
function frame.left(axis, rows, width)
  local ticks = ticks_of(axis, math.max(2, rows // 3))
  local most = math.min(math.max(width // 3, width - LEAST_COLUMNS - 40, 5),
    width - LEAST_COLUMNS - 1)
  local left = { gutter = 0 }
  for _, tick in ipairs(ticks) do
    local row = is_inside(tick.share) and frame.row(scale.clamp(tick.share), rows)
    if row and left[row] then left.dropped = true end
    if row and not left[row] then
      left.cut = left.cut or text.width(tick.text) > most
      left[row] = frame.short(tick.text, most)
      left.gutter = math.max(left.gutter, text.width(left[row]))
    end
  end
  left.label = frame.label(axis, ticks)
  if axis.categories then
    left.note = frame.note_of("y", left.cut and most,
      left.dropped and not frame.are_numbers(axis.categories))
  end
  return left
end

--- frame.note_of(axis, most, dropped): the note that names were cut to `most` columns (nil: they
--- were not) or left out (dropped); nil if neither.
function frame.note_of(axis, most, dropped)
  local parts = {}
  if most then parts[1] = ("are cut to %d columns"):format(most) end
  if dropped then parts[#parts + 1] = "are not all shown" end
  if #parts == 0 then return nil end
  return ("names of the %s axis %s"):format(axis, table.concat(parts, " and "))
end

-- The labels below the canvas as one line, each centred at its column; nil if two would be less
-- than `gap` columns apart.
local function labels_line(ticks, gutter, columns, gap)
  local line, used = {}, 0
  for _, tick in ipairs(ticks) do
    local width = text.width(tick.text)
    local start = gutter + 1 + tick.column - (width - 1) // 2
    start = math.max(0, math.min(start, gutter + 1 + columns - width))
    if used > 0 and start < used + gap then return nil end
    line[#line + 1] = (" "):rep(start - used) .. tick.text
    used = start + width
  end
  return table.concat(line)
end

--- frame.names_below({ { column =, text = }, ... }, gutter, columns[, numbers]): as frame.below,
--- for names: each is cut to the distance between two; if that is too short, each k-th name is
--- shown. numbers: true if the names are numbers, which are not cut.
function frame.names_below(ticks, gutter, columns, numbers)
  if #ticks == 0 then return { line = "", ticks = ticks } end
  local pitch, longest = columns, 0
  for i, tick in ipairs(ticks) do
    if i > 1 then pitch = math.min(pitch, tick.column - ticks[i - 1].column) end
    longest = math.max(longest, text.width(tick.text))
  end
  local stride, least = 1, numbers and longest or math.min(LEAST_NAME, longest)
  pitch = math.max(1, pitch) -- several may share a column
  while pitch * stride - 1 < least do stride = stride + 1 end
  for kept = stride, #ticks + stride do -- at the edges they may need more room
    local list, most = {}, math.max(1, math.min(columns, pitch * kept - 1))
    for i = 1, #ticks, kept do
      list[#list + 1] = { column = ticks[i].column, text = frame.short(ticks[i].text, most) }
    end
    local line = labels_line(list, gutter, columns, 1)
    if line then
      return { line = line, ticks = list,
        note = frame.note_of("x", longest > most and most, kept > 1 and not numbers) }
    end
  end
end

-- The ticks of an axis that are on the canvas, as { text =, column = }, and the label of the axis.
local function placed(axis, columns, most)
  local list = {}
  local ticks = ticks_of(axis, most)
  for _, tick in ipairs(ticks) do
    if is_inside(tick.share) then
      local column = frame.column(scale.clamp(tick.share), columns)
      list[#list + 1] = { text = tick.text, column = column }
    end
  end
  return list, frame.label(axis, ticks)
end

--- frame.below(axis, gutter, columns): the axis below the canvas: { line = the labels of the ticks,
--- ticks = { { column = }, ... }, label =, note = }.
function frame.below(axis, gutter, columns)
  if axis.categories then
    local list, label = placed(axis, columns, 1)
    local below = frame.names_below(list, gutter, columns,
      frame.are_numbers(axis.categories))
    below.label = label
    return below
  end
  local all, label
  for most = math.max(1, math.min(MOST_TICKS, columns // 4)), 1, -1 do
    all, label = placed(axis, columns, most)
    local line = labels_line(all, gutter, columns, 2)
    if line then return { line = line, ticks = all, label = label } end
  end
  for stride = 2, #all + 1 do -- even the fewest overlap: leave some out, and cut long ones
    local list = {}
    for i = 1, #all, stride do
      list[#list + 1] = { column = all[i].column, text = text.shorten(all[i].text, columns) }
    end
    local line = labels_line(list, gutter, columns, 1)
    if line then return { line = line, ticks = list, label = label } end
  end
  return { line = "", ticks = {}, label = label }
end

-- ------------ the whole

-- Appends the rows of the canvas, each with its label on the left and its text on the right.
local function canvas_lines(lines, left, parts)
  local columns, behind = parts.canvas.columns, parts.behind or {}
  for i, row in ipairs(parts.canvas:lines()) do
    local name, value = left[i - 1], behind[i]
    local s = text.pad(name or "", left.gutter, "right") .. (name and "┤" or "│") .. row.text
    local width = left.gutter + 1 + row.width
    if value then
      s = s .. (" "):rep(columns - row.width + 1) .. value
      width = left.gutter + 1 + columns + 1 + #value
    end
    lines[#lines + 1] = { text = s, width = width }
  end
end

-- The line of the axis below the canvas, with a mark for each tick.
local function axis_line(gutter, columns, ticks)
  local marks = {}
  for c = 0, columns - 1 do marks[c + 1] = "─" end
  for _, tick in ipairs(ticks) do marks[tick.column + 1] = "┬" end
  return (" "):rep(gutter) .. "└" .. table.concat(marks)
end

--- frame.assemble(panel, o, { canvas =, left =, below =, legend =, notes =[, behind =] }): the
--- picture of a panel, as a list of lines with the fields title = the number of lines of the title,
--- head = the number of lines above the canvas. behind[i]: a text on the right of row i.
function frame.assemble(panel, o, parts)
  local lines, left, below = {}, parts.left, parts.below
  local columns = parts.canvas.columns
  frame.add_wrapped(lines, panel.title, "centre", o.width)
  lines.title = #lines
  frame.add_wrapped(lines, left.label, "left", o.width)
  lines.head = #lines
  canvas_lines(lines, left, parts)
  frame.add(lines, axis_line(left.gutter, columns, below.ticks))
  if below.line ~= "" then frame.add(lines, below.line) end
  for _, line in ipairs(text.wrap(below.label, o.width)) do
    local free = left.gutter + 1 + math.max(0, columns - text.width(line)) // 2
    frame.add(lines, (" "):rep(math.min(free, o.width - text.width(line))) .. line)
  end
  table.move(parts.legend, 1, #parts.legend, #lines + 1, lines)
  for _, note in ipairs(parts.notes) do frame.add_wrapped(lines, note, "left", o.width) end
  return lines
end

return frame
