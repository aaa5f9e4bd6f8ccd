-- Pictures in Unicode, drawn from descriptions made by hand: small ones as a reader sees them, and
-- properties of random ones.
local core = require "scullery.core"
local lu = require "luaunit"
local support = dofile "tests/helpers/support.lua"
local unicode = require "scullery.plot.unicode"

local NAN = 0 / 0

-- ------------ descriptions

local function points(x, y, more)
  local layer = { kind = "points", x = x, y = y, colour = 1 }
  for key, value in pairs(more or {}) do layer[key] = value end
  return layer
end

local function line(x, y, more)
  local layer = points(x, y, more)
  layer.kind = "line"
  return layer
end

-- A figure of one panel, whose axes go from 0 to 4 and from 0 to 2 where it says nothing.
local function figure(panel)
  panel.x, panel.y = panel.x or { low = 0, high = 4 }, panel.y or { low = 0, high = 2 }
  return { title = panel.over, columns = 1, panels = { panel } }
end

local function small(panel) return unicode.text(figure(panel), { width = 40, height = 8 }) end

-- The canvas of a picture: its rows as lists of characters.
local function canvas_of(text)
  local rows = {}
  for one in (text .. "\n"):gmatch("(.-)\n") do
    local pieces = core.text_pieces(one)
    for i, piece in ipairs(pieces) do
      if piece == "│" or piece == "┤" then
        rows[#rows + 1] = table.move(pieces, i + 1, #pieces, 1, {})
        break
      end
    end
  end
  local columns = utf8.len(text:match("└([─┬]+)"))
  return rows, columns
end

-- ------------ small ones, by eye

function TestALineHasGaps()
  lu.assertEquals("\n" .. small{ title = "A line with a gap", x = { low = 0, high = 4,
    label = "time (s)" }, y = { low = 0, high = 2, label = "height (m)" },
    layers = { line({ 0, 1, 2, 3, 4 }, { 0, 2, NAN, 1, 1 }) } }, [[

           A line with a gap
height (m)
2┤        ⡠⠊
 │      ⡠⠊
1┤    ⡠⠊                      ⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤
 │  ⡠⠊
0┤⡠⠊
 └┬────────┬─────────┬────────┬────────┬
  0        1         2        3        4
                 time (s)]])
end

function TestAnErrorBandIsShaded()
  lu.assertEquals("\n" .. small{ legend = true, layers = { line({ 0, 4 }, { 1, 1 },
    { low = { 0.3, 0.3 }, high = { 1.7, 1.7 }, label = "mean" }) } }, [[

2┤
 │░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
1┤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤
 │░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
0┤
 └┬────────┬─────────┬────────┬────────┬
  0        1         2        3        4
 ──░ mean]])
end

function TestLinesAreToldApartByMarks()
  lu.assertEquals("\n" .. small{ legend = true, layers = {
    line({ 0, 4 }, { 0, 2 }, { label = "up" }),
    line({ 0, 4 }, { 2, 0 }, { label = "down", colour = 2 }),
    { kind = "rule", x1 = 0, y1 = 1, x2 = 4, y2 = 1, label = "chance" } } }, [[

2┤⠉⠒⠒⠤⠤⣀⣀                        ⣀⣀⠤⠤⠒⠒⠉
 │       ■⠉⠒⠒⠤⠤⣀⣀        ⣀⣀⠤⠤⠒⠒⠉●
1┤╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌⣉■⠶⠶⠶⠶●⣉╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
 │       ⣀⣀⠤⠤⠒●⠉⠉        ⠉⠉■⠒⠤⠤⣀⣀
0┤⣀⠤⠤●⠒⠉⠉                        ⠉⠉⠒■⠤⠤⣀
 └┬────────┬─────────┬────────┬────────┬
  0        1         2        3        4
 ● up   ■ down   ╌ chance]])
end

function TestClassesOfPointsHaveMarksAndWhiskers()
  lu.assertEquals("\n" .. small{ legend = true, layers = {
    points({ 0, 1, 2 }, { 0, 1, 2 }, { label = "a" }),
    points({ 4, 3 }, { 0, 1 }, { low = { 0, 0.5 }, high = { 0, 1.5 }, label = "b",
      colour = 2 }) } }, [[

2┤                   ●
 │                            ┬
1┤         ●                  ■
 │                            ┴
0┤●                                    ■
 └┬────────┬─────────┬────────┬────────┬
  0        1         2        3        4
 ● a   ■ b]])
end

function TestTextsStandAtTheirPlaces()
  lu.assertEquals("\n" .. small{ layers = { points({ 0, 1, 2, 3, 3 }, { 0, 1, 2, 1, 1 },
    { text = { "7", "3", "seven", "日本", "hidden" } }) } }, [[

2┤                 seven
 │
1┤         3                 日本
 │
0┤7
 └┬────────┬─────────┬────────┬────────┬
  0        1         2        3        4
1 of 3 texts have no room: marks stand
for them]])
end

function TestHistogramsAreFilledByEighths()
  lu.assertEquals("\n" .. small{ y = { low = 0, high = 8, label = "count" }, layers = {
    { kind = "bars", x = { 0.5, 1.5, 2.5, 3.5 }, y = { 1, 8, 4.5, 0 }, width = 1, base = 0,
      colour = 1 } } }, [[

count
 │          █████████
5┤          █████████
 │          █████████▇▇▇▇▇▇▇▇▇▇
 │          ███████████████████
0┤▅▅▅▅▅▅▅▅▅▅███████████████████
 └┬────────┬─────────┬────────┬────────┬
  0        1         2        3        4]])
end

-- Thin bars of two series in 20 bins: each takes its whole bin, the shorter one in front.
function TestThinBarsOfSeveralSeriesOverlap()
  local layers = { { kind = "bars", x = {}, y = {}, width = 0.1, base = 0, colour = 1,
    label = "a" }, { kind = "bars", x = {}, y = {}, width = 0.1, base = 0, colour = 2,
    label = "b" } }
  for i = 1, 20 do
    layers[1].x[i], layers[1].y[i] = 0.2 * i - 0.15, i < 8 and 8 or i < 15 and 3 or 0
    layers[2].x[i], layers[2].y[i] = 0.2 * i - 0.05, i < 8 and 3 or i < 15 and 6 or 0.1
  end
  lu.assertEquals("\n" .. small{ y = { low = 0, high = 8 }, legend = true, layers = layers }, [[

 │█████████████
5┤█████████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒
 │█████████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒
 │▒▒▒▒▒▒▒▒▒▒▒▒▒██████████████
0┤▒▒▒▒▒▒▒▒▒▒▒▒▒██████████████▒▒▒▒▒▒▒▒▒▒▒
 └┬────────┬─────────┬────────┬────────┬
  0        1         2        3        4
 █ a   ▒ b]])
end

function TestBarsByNameLie()
  lu.assertEquals("\n" .. small{ x = { categories = { "ridge", "lasso" }, low = 0.5, high = 2.5 },
    y = { low = 0, high = 1, label = "error" }, layers = { { kind = "bars", x = { 1, 2 },
      y = { 0.5, 0.8 }, low = { 0.4, 0.7 }, high = { 0.6, 0.9 }, width = 0.8, colour = 1 } } }, [[

ridge┤████████████├──┼─┤             0.5
lasso┤████████████████████├──┼──┤    0.8
     └┬─────┬─────┬────┬─────┬─────┬
     0.0   0.2   0.4  0.6   0.8  1.0
                  error]])
end

function TestAHeatmapHasShadesAndNumbers()
  local names = { "cat", "dog" }
  lu.assertEquals("\n" .. small{ x = { categories = names, low = 0.5, high = 2.5,
    label = "predicted" }, y = { categories = names, low = 0.5, high = 2.5, reversed = true,
    label = "true" }, colour_bar = { low = 0, high = 9, label = "count" },
    layers = { { kind = "cells", values = { { 9, 1 }, { 2, NAN } }, numbers = true } } }, [[

true
cat┤█ 9 █  1
dog┤░ 2 ░·····
   └──┬────┬──
     cat  dog
    predicted
 0   ░░▒▒▓▓██ 9  count]])
end

function TestLogAxes()
  lu.assertEquals("\n" .. small{ x = { low = 1, high = 1000, log = true, label = "T" },
    y = { low = 0.01, high = 1, log = true, label = "rms error" },
    layers = { line({ 1, 10, 100, 1000 }, { 1, 0.3, 0.1, 0.03 }, { marks = true }) } }, [[

rms error
   1┤●⠑⠒⠢⠤⠤⣀⣀⡀
    │        ⠈⠉⠑●⠒⠤⠤⣀⣀⡀
 0.1┤                 ⠈⠉⠉⠒⠒⠤●⢄⣀⣀⡀
    │                           ⠈⠉⠉⠑⠒⠒⠢●
0.01┤
    └┬──────────┬───────────┬──────────┬
     1          10         100      1000
                      T]])
end

function TestPanelsStandSideBySideWhereThereIsRoom()
  local panel = figure{ title = "left", layers = { line({ 0, 4 }, { 0, 2 }) } }.panels[1]
  local other = figure{ title = "right", y = { low = 0, high = 2, label = "y" },
    layers = { line({ 0, 4 }, { 2, 0 }) } }.panels[1]
  local both = { title = "Both", columns = 2, panels = { panel, other } }
  lu.assertEquals("\n" .. unicode.text(both, { width = 75, height = 8 }), [[

                                   Both

                left                                  right
                                       y
2┤                           ⢀⣀⡠⠤⠒⠒⠉   2┤⠉⠒⠒⠤⢄⣀⡀
 │                    ⢀⣀⡠⠤⠒⠒⠉⠁          │      ⠈⠉⠒⠒⠤⢄⣀⡀
1┤             ⢀⣀⠤⠤⠒⠒⠉⠁                1┤             ⠈⠉⠒⠒⠤⠤⣀⡀
 │      ⢀⣀⠤⠤⠒⠊⠉⠁                        │                    ⠈⠉⠑⠒⠤⠤⣀⡀
0┤⣀⠤⠤⠒⠊⠉⠁                              0┤                           ⠈⠉⠑⠒⠤⠤⣀
 └┬───────┬────────┬───────┬───────┬    └┬───────┬────────┬───────┬───────┬
  0       1        2       3       4     0       1        2       3       4]])
  local below = unicode.text(both, { width = 74, height = 8 })
  lu.assertStrContains(below, "4.0\n\n", false)
  lu.assertTrue(below:find("left", 1, true) < below:find("4.0\n\n", 1, true))
  lu.assertTrue(below:find("right", 1, true) > below:find("4.0\n\n", 1, true))
end

function TestAsciiWhereThereIsNoUtf8()
  local panel = { legend = true, title = "été", layers = {
    line({ 0, 4 }, { 0, 2 }, { label = "up" }),
    line({ 0, 4 }, { 2, 0 }, { label = "down", colour = 2, low = { 1, 0 }, high = { 2, 1 } }) } }
  lu.assertEquals("\n" .. unicode.text(figure(panel), { width = 40, height = 9, ascii = true }), [[

                  ?t?
2+'----__,,                      __----'
 |,,,,,,,#'----__,,,,,,,,__----'*
1+,,,,,,,,,,,,,,,:#----*:,,,,,,,,,,,,,,,
 |       __---*'',,,,,,,,''#---__,,,,,,,
0+_--*-''                      ,,''-#--_
 ++--------+---------+--------+--------+
  0        1         2        3        4
 * up   #, down]])
end

-- ------------ the locale of the terminal

local function on_terminal(locale)
  lu.skipIf(support.shell("command -v script") ~= 0, "there is no script(1) to make a terminal")
  local command = support.quote(support.binary)
    .. ' -e "sc.plot.line{ x = { 1, 2 }, y = { 1, 2 } }:show()"'
  local status, out = support.shell(("TERM=dumb LC_ALL=%s timeout 180 script -qec %s /dev/null")
    :format(locale, support.quote(command)))
  lu.assertEquals(status, 0, out)
  return out
end

function TestATerminalWithoutUtf8GetsAscii()
  local out = on_terminal "C"
  lu.assertNil(out:find("[\x80-\xff]"), out)
  lu.assertStrContains(out, "2.0+")
  lu.assertStrContains(on_terminal "C.UTF-8", "2.0┤")
end

function TestAPipeGetsUtf8InAnyLocale()
  local _, out = support.shell("LC_ALL=C " .. support.quote(support.binary)
    .. ' -e "sc.plot.line{ x = { 1, 2 }, y = { 1, 2 } }:show()"')
  lu.assertStrContains(out, "2.0┤")
end

-- A browser takes characters that its font lacks from others, of other widths.
function TestEveryCharacterHasAColumnInPages()
  local page = require("scullery.report.html").page{ title = "t" }
  page:figure{ svg = function() return nil, "no gnuplot" end,
    text = function() return "│⠉ e\u{301}日 <a>" end }
  lu.assertStrContains(page:text(),
    '<pre><i>│</i><i>⠉</i> e\u{301}<i class="wide">日</i> &lt;a&gt;</pre>')
end

function TestAxesOfOneScaleHaveDotsOfOneSize()
  for _, sides in ipairs{ { 2, 2 }, { 4, 2 }, { 12, 2 }, { 1, 2 } } do
    local panel = { x = { low = 0, high = sides[1] }, y = { low = 0, high = sides[2] },
      equal = true, layers = { points({ 0 }, { 0 }) } }
    local rows, columns = canvas_of(unicode.text(figure(panel), { width = 80, height = 20 }))
    local wide, high = sides[1] / (2 * columns), sides[2] / (4 * #rows)
    lu.assertTrue(math.abs(wide - high) <= 2 * wide / columns + 2 * high / #rows,
      ("%d x %d cells"):format(columns, #rows))
  end
end

-- ------------ random ones

-- A number of any size, some of them not drawn.
local function any_number()
  local kind = math.random(8)
  if kind == 1 then return NAN end
  if kind == 2 then return math.random() * 10 ^ math.random(-300, 299) end
  if kind == 3 then return 0 end
  return math.random() * 10 - 3
end

local function numbers(n, draw)
  local list = {}
  for i = 1, n do list[i] = draw() end
  return list
end

local LABELS = { "plain", "日本語の長いラベル", "\27[31mred\27[0m\7", "e\u{301}te\u{301}", "",
  ("long "):rep(40), "\u{202e}turned", "\xff\xfe", "tab\there\nline", ("x"):rep(300), "●░" }

local function any_label() return LABELS[math.random(#LABELS)] end

local function any_axis()
  local low = any_number()
  low = low == low and low or 1
  local axis = { label = any_label(), low = low, high = low + math.abs(low) * math.random() + 1e-9 }
  if math.random(4) == 1 then
    axis.log, axis.low = true, 10 ^ math.random(-300, 100)
    axis.high = axis.low * 10 ^ (math.random() * 200 + 0.01)
  end
  if axis.low >= axis.high or axis.high == math.huge then axis.low, axis.high = 0, 1 end
  return axis
end

local function named_axis(n)
  local axis = { label = any_label(), low = 0.5, high = n + 0.5, categories = {} }
  for i = 1, n do axis.categories[i] = any_label() .. i end
  return axis
end

local function places(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

local any_layers = {
  function(n) return { line(numbers(n, any_number), numbers(n, any_number), { label = any_label(),
    marks = math.random(2) == 1 }), line(numbers(n, any_number), numbers(n, any_number),
    { colour = 2, low = numbers(n, any_number), high = numbers(n, any_number) }) } end,
  function(n) return { points(numbers(n, any_number), numbers(n, any_number), { colour = 3,
    label = any_label(), text = math.random(2) == 1 and numbers(n, any_label) or nil }) } end,
  function(n) return { points(numbers(n, any_number), numbers(n, any_number),
    { low = numbers(n, any_number), high = numbers(n, any_number) }),
    { kind = "rule", x1 = -1e300, y1 = 0.5, x2 = 1e300, y2 = 0.7, label = any_label() } } end,
  function(n) return { { kind = "bars", x = places(n), y = numbers(n, any_number), base = 0,
    width = 1, colour = 1, label = any_label() }, { kind = "bars", x = places(n), width = 0.5,
    y = numbers(n, any_number), low = numbers(n, any_number), high = numbers(n, any_number),
    base = 0, colour = 2 } } end,
}

local function any_panel()
  local n = math.random(0, 40)
  local panel = { title = any_label(), legend = true, notes = { any_label() }, x = any_axis(),
    y = any_axis() }
  local kind = math.random(7)
  if kind == 5 then
    panel.x, panel.layers = named_axis(n), any_layers[4](n)
  elseif kind == 7 then
    panel.x, panel.layers = named_axis(10 * n + 1), { points(places(n), numbers(n, any_number)) }
  elseif kind == 6 then
    local down = math.random(30)
    panel.x, panel.y = named_axis(n + 1), named_axis(down)
    local rows = {}
    for i = 1, down do rows[i] = numbers(n + 1, any_number) end
    panel.layers = { { kind = "cells", values = rows, numbers = math.random(2) == 1 } }
  else
    panel.layers = any_layers[kind](n)
  end
  return panel
end

local function any_figure()
  local fig = { title = any_label(), columns = math.random(3), panels = {} }
  for i = 1, math.random(4) do fig.panels[i] = any_panel() end
  return fig
end

function TestNoLineIsWiderThanAskedWhateverIsDrawn()
  for seed = 1, 200 do
    math.randomseed(seed)
    local fig, width = any_figure(), math.random(5) == 1 and 20 or math.random(20, 200)
    local message = ("seed %d, %d columns"):format(seed, width)
    local plain = unicode.text(fig, { width = width, height = math.random(5, 40) })
    for one in (plain .. "\n"):gmatch("(.-)\n") do
      lu.assertTrue(core.text_width(one) <= width, message .. ": " .. one)
    end
    lu.assertNil(plain:find("[%z\1-\9\11-\31\127]"), message)
    lu.assertNotNil(utf8.len(plain), message)
  end
end

function TestColourChangesNothingButColoursAndFills()
  for seed = 1, 100 do
    math.randomseed(seed)
    local fig, width = any_figure(), math.random(20, 120)
    local text = unicode.text(fig, { width = width, colour = true })
    local bare = text:gsub("\27%[[%d;]*m", "")
    lu.assertNil(bare:find("\27", 1, true), "an escape of a label")
    for one in (bare .. "\n"):gmatch("(.-)\n") do
      lu.assertTrue(core.text_width(one) <= width, one)
    end
    for one in (text .. "\n"):gmatch("(.-)\n") do -- each line ends without a colour
      lu.assertEquals(one:match("^.*(\27%[[%d;]*m)") or "\27[0m", "\27[0m")
    end
  end
end

function TestAsciiIsAsWideAndHasNothingElse()
  for seed = 1, 100 do
    math.randomseed(seed)
    local fig = any_figure()
    local text, ascii = unicode.text(fig, { width = 60 }), unicode.text(fig, { width = 60,
      ascii = true })
    lu.assertNil(ascii:find("[^\n -~]"), ascii)
    local widths = {}
    for one in (text .. "\n"):gmatch("(.-)\n") do widths[#widths + 1] = core.text_width(one) end
    for one in (ascii .. "\n"):gmatch("(.-)\n") do
      lu.assertEquals(#one, table.remove(widths, 1))
    end
  end
end

-- ------------ every point in its cell

-- The one of `count` evenly spaced places from 0 to 1 (1, 2, ...) that is nearest to a share.
local function nearest(share, count)
  local best = 1
  for i = 1, count do
    if math.abs((i - 1) / (count - 1) - share) < math.abs((best - 1) / (count - 1) - share) then
      best = i
    end
  end
  return best
end

local DOTS = { { 1, 8 }, { 2, 16 }, { 4, 32 }, { 64, 128 } } -- bits of braille, rows and columns

-- The masks of the cells that a picture shows by dots, and those that it should.
local function compare_dots(text, shares)
  local rows, columns = canvas_of(text)
  local want, have = {}, {}
  for _, share in ipairs(shares) do
    local x, y = nearest(share[1], 2 * columns), nearest(1 - share[2], 4 * #rows)
    local key = (y - 1) // 4 + 1 .. "," .. (x - 1) // 2 + 1
    want[key] = (want[key] or 0) | DOTS[(y - 1) % 4 + 1][(x - 1) % 2 + 1]
  end
  for i, row in ipairs(rows) do
    for j, piece in ipairs(row) do
      if piece ~= " " then have[i .. "," .. j] = utf8.codepoint(piece) - 0x2800 end
    end
  end
  lu.assertEquals(have, want)
end

local function shares_of(xs, ys, x_axis, y_axis)
  local function share(axis, v)
    if axis.log then return math.log(v / axis.low) / math.log(axis.high / axis.low) end
    return (v - axis.low) / (axis.high - axis.low)
  end
  local list = {}
  for i, x in ipairs(xs) do
    local sx, sy = share(x_axis, x), share(y_axis, ys[i])
    if sx >= 0 and sx <= 1 and sy >= 0 and sy <= 1 then list[#list + 1] = { sx, sy } end
  end
  return list
end

function TestEveryPointOfManyIsADotInItsPlace()
  for seed = 1, 30 do
    math.randomseed(seed)
    local x = { low = -math.random(), high = math.random() + 0.1 }
    local y = { low = 1e-3, high = 10 ^ math.random(3), log = seed % 2 == 0 }
    local xs = numbers(150, function()
      return math.random(9) == 1 and NAN or math.random() * 2 - 1
    end)
    local ys = numbers(150, function() return 10 ^ (math.random() * 7 - 4) end)
    local text = unicode.text(figure{ x = x, y = y, layers = { points(xs, ys) } },
      { width = math.random(20, 150), height = math.random(8, 40) })
    compare_dots(text, shares_of(xs, ys, x, y))
  end
end

function TestEveryPointOfFewIsAMarkInItsCell()
  for seed = 1, 30 do
    math.randomseed(seed)
    local x, y = { low = 0, high = 1 }, { low = 0, high = 1 }
    local xs = numbers(30, function() return math.random() * 1.2 - 0.1 end)
    local ys = numbers(30, math.random)
    local rows, columns = canvas_of(unicode.text(figure{ x = x, y = y,
      layers = { points(xs, ys) } }, { width = math.random(20, 150) }))
    local want, have = {}, {}
    for _, share in ipairs(shares_of(xs, ys, x, y)) do
      want[(nearest(1 - share[2], 4 * #rows) - 1) // 4 + 1 .. ","
        .. (nearest(share[1], 2 * columns) - 1) // 2 + 1] = true
    end
    for i, row in ipairs(rows) do
      for j, piece in ipairs(row) do if piece == "●" then have[i .. "," .. j] = true end end
    end
    lu.assertEquals(have, want)
  end
end

-- Dots of each column of a picture: the highest and the lowest, counted from the top.
local function column_dots(text)
  local rows, columns = canvas_of(text)
  local top, bottom = {}, {}
  for i, row in ipairs(rows) do
    for j, piece in ipairs(row) do
      local mask = piece ~= " " and utf8.codepoint(piece) - 0x2800 or 0
      for r = 1, 4 do
        for c = 1, 2 do
          local at = 2 * (j - 1) + c
          if mask & DOTS[r][c] ~= 0 then
            top[at], bottom[at] = top[at] or 4 * (i - 1) + r, 4 * (i - 1) + r
          end
        end
      end
    end
  end
  return top, bottom, columns
end

function TestMonotoneLinesRiseFromColumnToColumnWithoutGaps()
  for seed = 1, 30 do
    math.randomseed(seed)
    local xs, ys, x, y = {}, {}, 0, 0
    for i = 1, math.random(2, 200) do
      xs[i], ys[i] = x, y
      x, y = x + math.random(), y + math.random() ^ 8 * math.random(0, 1)
    end
    ys[#ys] = ys[#ys] + 1
    local text = unicode.text(figure{ x = { low = 0, high = xs[#xs] }, y = { low = 0,
      high = ys[#ys] }, layers = { line(xs, ys) } }, { width = math.random(20, 150) })
    local top, bottom, columns = column_dots(text)
    for c = 2, 2 * columns do
      lu.assertNotNil(top[c], text)
      lu.assertTrue(top[c] <= top[c - 1] and bottom[c] <= bottom[c - 1], text)
      lu.assertTrue(bottom[c] >= top[c - 1] - 1, text) -- neighbours touch
    end
  end
end

-- A segment that leaves the canvas is drawn up to its edge, however far its ends are.
function TestLinesAreCutAtTheEdges()
  local inside = unicode.text(figure{ layers = { line({ 0, 4 }, { 0, 2 }) } }, { width = 60 })
  for _, far in ipairs{ 1, 1e3, 1e9 } do
    local text = unicode.text(figure{ layers = { line({ -4 * far, 4 * far }, { -2 * far,
      2 * far }) } }, { width = 60 })
    lu.assertEquals(text, inside)
  end
end

function TestACellShowsWhatMostOfItsPointsAre()
  local xs, ys, text = {}, {}, {}
  for i = 1, 30 do xs[i], ys[i], text[i] = 2, 1, i % 3 == 0 and "4" or "9" end
  local picture = unicode.text(figure{ layers = { points(xs, ys, { text = text }) } })
  lu.assertStrContains(picture, "9")
  local rows = canvas_of(picture)
  for _, row in ipairs(rows) do lu.assertNotStrContains(table.concat(row), "4") end
end

-- ------------ much

function TestHundredsOfThousandsOfPointsAndManySeries()
  local xs, ys = {}, {}
  for i = 1, 200000 do xs[i], ys[i] = i / 50000, 1 + math.sin(i / 2e4) end
  local text = unicode.text(figure{ layers = { line(xs, ys) } }, { width = 60 })
  lu.assertEquals(select(2, text:gsub("\n", "\n")), 18)
  local layers = {}
  for k = 1, 30 do
    layers[k] = line({ 0, 4 }, { k / 15, k / 15 }, { colour = k, label = "s" .. k })
  end
  local many = unicode.text(figure{ legend = true, layers = layers }, { width = 80, height = 60 })
  for k = 1, 30 do lu.assertStrContains(many, " s" .. k) end
  local marks, seen = {}, 0
  for mark in many:gmatch("([^ ]+) s%d+") do
    lu.assertNil(marks[mark], "30 series have 30 marks")
    marks[mark], seen = true, seen + 1
  end
  lu.assertEquals(seen, 30)
end

function TestTwoHundredNamesHaveALineEach()
  local names, values = {}, {}
  for i = 1, 200 do names[i], values[i] = ("name of category %d"):format(i), i % 7 end
  local text = unicode.text(figure{ x = { categories = names, low = 0.5, high = 200.5 },
    y = { low = 0, high = 7 }, layers = { { kind = "bars", x = places(200), y = values, width = 0.8,
      base = 0, colour = 1 } } }, { width = 30 })
  local rows = canvas_of(text)
  lu.assertEquals(#rows, 200)
  lu.assertStrContains(text, "names of the x axis are cut to")
  lu.assertStrContains(text, "10 columns")
end

os.exit(lu.LuaUnit.run())
