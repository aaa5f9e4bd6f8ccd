-- Pictures, the front end: what back ends get of the options, limits, notes, refusals, and the data
-- behind a picture.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile "tests/helpers/support.lua"
local colours = require "scullery.plot.colours"
local ticks = require "scullery.plot.ticks"

local nan, inf = 0 / 0, math.huge

local function panel_of(figure) return figure.panels[1] end

-- ------------ what back ends get

function TestALineIsDescribed()
  local figure = sc.plot.line{ x = { 1, 2, 4 }, y = sc.matrix{ 3, 2, 1 }, error = { 1, 0.5, 0 },
    label = "ridge", title = "Time", x_label = "T", y_label = "time", y_unit = "s", width = 300 }
  lu.assertEquals({ figure.width, figure.height, figure.columns }, { 300, 480, 1 })
  local panel = panel_of(figure)
  lu.assertEquals(panel.title, "Time")
  lu.assertEquals({ panel.x.label, panel.y.label }, { "T", "time (s)" })
  lu.assertEquals(panel.legend, true)
  lu.assertEquals(panel.notes, {})
  lu.assertEquals(panel.layers, { { kind = "line", x = { 1, 2, 4 }, y = { 3, 2, 1 },
    low = { 2, 1.5, 1 }, high = { 4, 2.5, 1 }, label = "ridge", colour = 1, marks = false } })
  lu.assertAlmostEquals(panel.x.low, 1 - 0.04 * 3, 1e-12)
  lu.assertAlmostEquals(panel.y.high, 4 + 0.04 * 3, 1e-12)
end

function TestSeriesHaveColoursOfTheirOwnAndTheSharedX()
  local layers = panel_of(sc.plot.line{ x = { 1, 2 }, series = { { y = { 1, 2 }, label = "a" },
    { y = { 2, 1 } }, { x = { 5, 6 }, y = { 0, 0 } } } }).layers
  for i, x in ipairs{ { 1, 2 }, { 1, 2 }, { 5, 6 } } do
    lu.assertEquals(layers[i].x, x)
    lu.assertEquals(layers[i].colour, i)
  end
end

function TestClassesAreSeriesInOrder()
  local layers = panel_of(sc.plot.scatter{ x = { 1, 2, 3, 4 }, y = { 5, 6, 7, 8 },
    class = { 10, 9, 10, 9 }, text = { "a", "b", "c", "d" } }).layers
  lu.assertEquals({ layers[1].label, layers[2].label }, { "9", "10" })
  lu.assertEquals({ layers[1].x, layers[1].text }, { { 2, 4 }, { "b", "d" } })
  layers = panel_of(sc.plot.scatter{ y = { 1, 2, 3 }, class = { true, "b", false } }).layers
  lu.assertEquals(layers[1].label, "false")
end

function TestAHeatmapHasItsFirstRowOnTop()
  local panel = panel_of(sc.plot.heatmap{ values = sc.matrix{ { 1, 2, 3 }, { 4, nan, 6 } },
    x = { "a", "b", "c" }, label = "share" })
  lu.assertEquals(panel.x.categories, { "a", "b", "c" })
  lu.assertEquals(panel.y.categories, { "1", "2" })
  lu.assertTrue(panel.y.reversed)
  lu.assertEquals({ panel.x.low, panel.x.high, panel.y.high }, { 0.5, 3.5, 2.5 })
  lu.assertEquals(panel.colour_bar, { label = "share", low = 1, high = 6 })
  lu.assertEquals(panel.layers[1].values[1], { 1, 2, 3 })
  lu.assertStrContains(panel.notes[1], "1 value is not a finite number")
end

function TestEqualCellsHaveANarrowScale()
  local panel = panel_of(sc.plot.heatmap{ values = { { 5, 5 }, { 5, 5 } } })
  lu.assertEquals({ panel.colour_bar.low, panel.colour_bar.high }, { 4.5, 5.5 })
end

function TestMarkersThatAreTheClassesNeedNoLegend()
  local given = { x = { 1, 2, 3 }, y = { 1, 2, 3 }, class = { "0", "1", "0" }, text = { 0, 1, 0 } }
  local panel = panel_of(sc.plot.scatter(given))
  lu.assertEquals({ panel.legend, #panel.layers }, { false, 2 })
  given.text = { 0, 1, 1 }
  lu.assertEquals(panel_of(sc.plot.scatter(given)).legend, true)
end

function TestALargeHeatmapIsAveraged()
  local panel = panel_of(sc.plot.heatmap{ values = sc.ones(1001, 2) * 3 })
  lu.assertEquals({ #panel.layers[1].values, #panel.layers[1].values[1] }, { 334, 2 })
  lu.assertEquals(panel.layers[1].values[334], { 3, 3 })
  lu.assertStrContains(panel.notes[1], "the mean of 3 x 1 values")
end

function TestCountsOfAHistogram()
  local layer = panel_of(sc.plot.hist{ x = { 0, 1, 1.5, 2, 3, 4, nan }, bins = 4 }).layers[1]
  lu.assertEquals(layer.x, { 0.5, 1.5, 2.5, 3.5 })
  lu.assertEquals(layer.y, { 1, 2, 1, 2 })
  local density = panel_of(sc.plot.hist{ x = sc.randn{ 1000, seed = 1 }, density = true }).layers[1]
  local area = 0
  for _, y in ipairs(density.y) do area = area + y * density.width end
  lu.assertAlmostEquals(area, 1, 1e-9)
end

-- Freedman and Diaconis 1981: 2 IQR / n^(1/3).
function TestTheWidthOfBins()
  local x = {}
  for i = 1, 1000 do x[i] = i / 1000 end
  local layer = panel_of(sc.plot.hist{ x = x }).layers[1]
  lu.assertEquals(#layer.x, math.ceil(0.999 / (2 * 0.5 / 10)))
  x[1001] = 1e9
  lu.assertEquals(#panel_of(sc.plot.hist{ x = x }).layers[1].x, 100, "a far value")
  lu.assertEquals(panel_of(sc.plot.hist{ x = { 3, 3, 3 } }).layers[1].y, { 3 })
end

function TestBarsOfSeveralSeriesStandSideBySide()
  local panel = panel_of(sc.plot.bars{ names = { "a", "b" }, series = { { values = { 1, 2 } },
    { values = { 3, -1 }, error = { 1, 1 } } } })
  lu.assertEquals(panel.x.categories, { "a", "b" })
  lu.assertAlmostEquals(panel.layers[2].x[1] - panel.layers[1].x[1], panel.layers[1].width, 1e-12)
  lu.assertEquals(panel.layers[2].low, { 2, -2 })
  lu.assertTrue(panel.y.low < -2 and panel.y.high > 4)
  lu.assertEquals(panel_of(sc.plot.bars{ names = { "a" }, values = { 2 } }).y.low, 0)
end

function TestRulesAreSegmentsBetweenTheAxes()
  local panel = panel_of(sc.plot.line{ y = { 0, 1 }, rules = { { y = 2, label = "goal" },
    { x = 1.5 }, { diagonal = true } } })
  local goal, vertical, diagonal = table.unpack(panel.layers, 2)
  lu.assertEquals({ goal.x1, goal.y1, goal.x2, goal.y2 }, { panel.x.low, 2, panel.x.high, 2 })
  lu.assertTrue(panel.y.high > 2, "a rule is within the limits")
  lu.assertEquals({ vertical.x1, vertical.x2, vertical.y1 }, { 1.5, 1.5, panel.y.low })
  lu.assertEquals({ diagonal.x1, diagonal.x2 }, { diagonal.y1, diagonal.y2 })
  lu.assertEquals(diagonal.x1, math.max(panel.x.low, panel.y.low))
  lu.assertTrue(panel.legend)
end

function TestPanelsJoinFigures()
  local one = sc.plot.line{ y = { 1, 2 }, title = "one" }
  local joined = sc.plot.panels{ one, sc.plot.panels{ one, one }, columns = 3, title = "all" }
  lu.assertEquals({ #joined.panels, joined.columns, joined.title }, { 3, 3, "all" })
  lu.assertEquals(sc.plot.panels{ one }.columns, 1)
end

-- ------------ what cannot be drawn

function TestNumbersThatCannotBeDrawnAreGapsAndNoted()
  local panel = panel_of(sc.plot.line{ x = { 1, 2, 3, nan, 5, 6 },
    y = { 1, nan, inf, 1, 1e305, 2 } })
  local y = panel.layers[1].y
  lu.assertEquals({ y[1], y[6] }, { 1, 2 })
  for i = 2, 5 do lu.assertNotEquals(y[i], y[i], "place " .. i) end
  lu.assertEquals(panel.notes, { "3 values are not numbers and are not drawn",
    "1 value is beyond 1e300 and not drawn" })
  lu.assertTrue(panel.y.high < 3)
end

function TestInfiniteErrorsReachToTheEndsOfTheAxis()
  for _, log in ipairs{ false, true } do
    local panel = panel_of(sc.plot.line{ y = { 1, 2, 3 }, error = { 0.1, inf, 0.1 }, y_log = log })
    lu.assertTrue(panel.y.low > -10 and panel.y.high < 10, "those of the finite ones")
    lu.assertEquals(panel.layers[1].low[2], log and 0 or panel.y.low)
    lu.assertEquals(panel.layers[1].high[2], panel.y.high)
  end
end

function TestALogAxisTakesPositiveNumbers()
  local panel = panel_of(sc.plot.line{ y = { -1, 0, 1, 10 }, error = { 0, 0, 2, 1 }, y_log = true })
  lu.assertEquals(panel.notes, { "2 values are not positive and are not drawn on a log axis" })
  lu.assertEquals(panel.layers[1].low[3], 0, "a band goes down to the axis")
  lu.assertTrue(panel.y.low > 0 and panel.y.low < 1)
end

function TestLimitsAreFiniteWhateverIsDrawn()
  for _, y in ipairs{ { 5 }, { 0, 0 }, { 1e-300, 1e300 }, { -1e300, 1e300 }, { 1e-310, 2e-310 },
    { 1, 1 + 1e-16 } } do
    for _, log in ipairs{ false, true } do
      if y[1] >= 1e-300 or not log then
        local axis = panel_of(sc.plot.line{ y = y, y_log = log }).y
        lu.assertTrue(axis.low < axis.high and axis.high < inf and axis.low > -inf)
        lu.assertTrue(not log or axis.low > 0)
        lu.assertTrue(#ticks.of(axis, 6) <= 13)
      end
    end
  end
end

function TestManyPointsAreThinnedAndNoted()
  local x, y = {}, {}
  for i = 1, 50000 do x[i], y[i] = i, math.sin(i / 1000) end
  y[31234] = 40
  local line = panel_of(sc.plot.line{ x = x, y = y })
  lu.assertTrue(#line.layers[1].x <= 4000)
  lu.assertStrContains(line.notes[1], "of 50000 points")
  lu.assertEquals(math.max(table.unpack(line.layers[1].y)), 40, "the highest point is kept")
  local points = panel_of(sc.plot.scatter{ x = sc.randn{ 50000, seed = 1 },
    y = sc.randn{ 50000, seed = 2 } })
  lu.assertTrue(#points.layers[1].x <= 160 * 120)
  lu.assertStrContains(points.notes[1], "one at each place")
end

function TestTextsAreOneCleanLine()
  local figure = sc.plot.line{ y = { 1, 2 }, title = "a\nb\27[31m\0", label = ("x"):rep(10000),
    x_label = "\xff\u{202e}" }
  local panel = panel_of(figure)
  lu.assertEquals(panel.title, "a b\u{fffd}[31m\u{fffd}")
  lu.assertEquals(panel.x.label, "\u{fffd}\u{fffd}")
  lu.assertEquals(utf8.len(panel.layers[1].label), 200)
end

-- ------------ refusals

local refusals = {
  { "line", {}, "y is needed" }, { "line", { y = {} }, "there is nothing to draw" },
  { "line", { y = { nan } }, "no point can be drawn" },
  { "line", { y = { -1 }, y_log = true }, "positive where an axis is logarithmic" },
  { "line", { y = { 1, "a" } }, "y[2] takes a number, and got \"a\"" },
  { "line", { y = { 1, 2 }, x = { 1 } }, "x has 1 entries, and y has 2" },
  { "line", { y = sc.ones(2, 2) }, "a matrix of one column or one row, and got 2 x 2" },
  { "line", { y = { 1 }, error = { -1 } }, "error[1] is -1" },
  { "line", { y = { 1 }, error = { 1 }, low = { 0 }, high = { 2 } }, "give one of them" },
  { "line", { y = { 1 }, low = { 0 } }, "low and high belong together" },
  { "line", { y = { 1 }, titel = "x" }, "did you mean 'title'?" },
  { "line", { y = { 1 }, x_range = { 2, 1 } }, "ascending" },
  { "line", { y = { 1 }, x_range = { -1, 1 }, x_log = true }, "takes positive numbers" },
  { "line", { y = { 1 }, series = { { y = { 1 } } } }, "y belongs into the series" },
  { "line", { series = {} }, "series takes a list" },
  { "line", { series = { { y = { 1 } }, 3 } }, "series[2] takes a table, and got 3" },
  { "line", { series = { { y = { "b" } } } }, "series[1]: y[1] takes a number" },
  { "line", { y = { 1 }, rules = { 1 } }, "rules[1] takes" },
  { "line", { y = { 1 }, rules = { { x = 1, y = 1 } } }, "rules[1] takes one of x, y" },
  { "line", { y = { 1 }, width = 7 }, "width" },
  { "scatter", { y = { 1 }, class = { "a", "b" } }, "class has 2 entries, and y has 1" },
  { "scatter", { y = { 1 }, text = { {} } }, "text[1] takes a text or a number" },
  { "heatmap", { values = {} }, "values is empty" },
  { "heatmap", { values = { { 1, 2 }, { 1 } } }, "values[2] has 1 numbers, and the first row 2" },
  { "heatmap", { values = { { nan } } }, "none of the values can be drawn" },
  { "heatmap", { values = { { 1 } }, x = { "a", "b" } },
    "x has 2 entries, and values has 1 columns" },
  { "hist", { x = {} }, "x is empty" }, { "hist", { x = { nan, inf } }, "none of the 2 values" },
  { "hist", { x = { 1 }, bins = 0.5 }, "a whole number from 1 to 1000" },
  { "bars", { names = { "a" }, values = { 1, 2 } }, "values has 2 entries, and names has 1" },
  { "bars", { names = { "a" } }, "values is needed" },
  { "panels", {}, "it has no figures" }, { "panels", { 3 }, "[1] takes a figure" },
}

function TestRefusalsAreSentences()
  for _, case in ipairs(refusals) do
    support.fails({ "plot." .. case[1] .. ":", case[3] }, sc.plot[case[1]], case[2])
  end
  support.fails({ "sc.plot has no 'lines'", "line" }, function() return sc.plot.lines end)
  support.fails({ "plot.line", "got 3" }, sc.plot.line, 3)
end

-- ------------ data and help

function TestTheDataBehindAPictureReadBack()
  local path = support.free_path(".csv")
  sc.plot.panels{ sc.plot.line{ x = { 0.1, 0.2, 1 / 3 }, y = { 1, nan, 3 },
    error = { 0.1, 0.1, 0.1 }, label = 'a, "b"', title = "first" },
    sc.plot.bars{ names = { "x", "y" }, values = { 1, 2 } } }:data(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  lu.assertEquals(lines[1], "panel,series,x,y,low,high")
  lu.assertEquals(lines[4], 'first,"a, ""b""",0.33333333333333331,3,2.9,3.1')
  lu.assertEquals(lines[6], "2,1,y,2,,")
  local numbers = support.free_path(".csv")
  local x = {}
  for i = 1, 6000 do x[i] = i / 7 end
  sc.plot.line{ x = x, y = x }:data(numbers)
  local read = sc.data.csv(numbers, { target = "y", task = "regression", header = true })
  lu.assertEquals(#read, 6000, "points that were not drawn, too")
  lu.assertAlmostEquals(read:targets():get(6000, 1), 6000 / 7, 1e-9)
  os.remove(path)
  os.remove(numbers)
  support.fails({ "figure:data", "saved as .csv" }, function()
    sc.plot.line{ y = { 1 } }:data("f.txt")
  end)
end

function TestAFigurePrintsAndSavesAsText()
  local figure = sc.plot.line{ y = { 1, 2, 3 }, title = "A title" }
  lu.assertStrContains(tostring(figure), "A title")
  lu.assertStrContains(figure:text{ width = 40, height = 10 }, "A title")
  local path = support.free_path(".txt")
  figure:save(path)
  lu.assertStrContains(support.read(path), "A title")
  os.remove(path)
  support.fails({ "figure:save", ".svg, .png, .pdf or .txt" }, figure.save, figure, "f.jpg")
  support.fails({ "figure:save", "takes the path" }, figure.save, figure)
  support.fails({ "figure:text", "width" }, figure.text, figure, { width = 1 })
end

function TestEachKindHasHelp()
  local help = require "scullery.help"
  lu.assertStrContains(help.text(sc.plot), "heatmap")
  for _, name in ipairs{ "line", "scatter", "heatmap", "hist", "bars", "panels" } do
    lu.assertStrContains(help.text(sc.plot[name]), "sc.plot." .. name .. "{")
  end
  lu.assertStrContains(help.text "figure:save", ".svg")
end

-- ------------ ticks and colours

local function texts_of(axis, most)
  local list = {}
  for i, tick in ipairs(ticks.of(axis, most)) do list[i] = tick.text end
  return table.concat(list, " ")
end

function TestTicksAreRoundNumbers()
  for want, case in pairs{
    ["0 0.5 1.0 1.5 2.0"] = { { low = 0, high = 2 }, 5 },
    ["-2 0 2"] = { { low = -3, high = 3 }, 3 },
    ["0 1e6 2e6"] = { { low = 0, high = 2e6 }, 3 },
    ["10⁻² 10⁻¹ 10⁰ 10¹"] = { { low = 0.01, high = 10, log = true }, 6 },
    ["10⁻³⁰⁰ 10⁰ 10³⁰⁰"] = { { low = 1e-305, high = 1e302, log = true }, 3 },
    ["1 2 5"] = { { low = 0.9, high = 8, log = true }, 6 },
    ["a c"] = { { low = 0.5, high = 3.5, categories = { "a", "b", "c" } }, 2 },
  } do
    lu.assertEquals(texts_of(case[1], case[2]), want)
  end
  lu.assertEquals(ticks.number(0.12345), "0.123")
  lu.assertEquals(ticks.number(1.5e-7), "1.5e-7")
end

function TestColoursOfAHeatmapGetLighter()
  local last = -1
  for share = 0, 1, 0.01 do
    local red, green, blue = colours.at(share)
    local light = 0.299 * red + 0.587 * green + 0.114 * blue
    lu.assertTrue(light > last - 0.6)
    last = light
  end
  lu.assertTrue(colours.is_dark(colours.at(0)))
  lu.assertFalse(colours.is_dark(colours.at(1)))
  lu.assertEquals({ colours.rgb(1) }, { colours.rgb(#colours.series + 1) })
end

-- ------------ legends, notes, fonts, colours

local legend = require "scullery.plot.legend"
local script = require "scullery.plot.script"

local size = { width = 720, height = 480, point = 1 }

function TestALegendIsInAFreeCorner()
  local function place(y, given)
    local o = { y = y, label = "a" }
    for name, value in pairs(given or {}) do o[name] = value end
    return legend.of(panel_of(sc.plot.line(o)), size)
  end
  lu.assertStrContains(place{ 1, 0.9, 0.8, 0.1, 0 }, "inside right top")
  lu.assertStrContains(place{ 0, 0.1, 0.2, 0.8, 1 }, "inside left top")
  lu.assertStrContains(place{ 1, 0, 1 }, "inside right bottom")
  local zigzag = {}
  for i = 1, 60 do zigzag[i] = i % 2 end
  lu.assertEquals(select(2, legend.of(panel_of(sc.plot.line{ y = zigzag, label = "a" }), size)),
    "below")
  lu.assertEquals(place({ 1, 0 }, { legend = "none" }), "unset key")
  lu.assertStrContains(place({ 1, 0 }, { legend = "right" }), "outside right top")
  lu.assertStrContains(place({ 1, 0 }, { legend = "below" }), "outside bottom")
  lu.assertStrContains(place(zigzag, { legend = "inside" }), "inside right top")
  lu.assertStrContains(place({ 1, 0 }, { legend_title = "q" }), 'title "q" left')
  lu.assertErrorMsgContains("plot.line: option 'legend' got \"top\"", place, { 1, 0 },
    { legend = "top" })
end

function TestPanelsWithTheSameLegendShareOne()
  local function one(labels)
    local series = {}
    for i, label in ipairs(labels) do series[i] = { y = { i, 2, 1 }, label = label } end
    return sc.plot.line{ series = series, legend_title = "q" }
  end
  local function shared(list) return legend.shared(sc.plot.panels(list).panels) end
  lu.assertEquals(#shared{ one{ "a", "b" }, one{ "a", "b" } }, 2)
  lu.assertEquals(#shared{ one{ "a" }, one{ "a", "b" } }, 2)
  lu.assertNil(shared{ one{ "a", "b" }, one{ "b", "a" } }) -- of other colours
  lu.assertNil(shared{ one{ "a", "b" }, sc.plot.line{ y = { 1, 2 } } })
  local function keys(given)
    local text = script.of(sc.plot.panels{ one{ "a", "b" }, one{ "a", "b" }, legend = given },
      "svg")
    local _, own = text:gsub("\nset key", "")
    local _, of_strip = text:gsub("keyentry", "")
    return own, of_strip
  end
  lu.assertEquals({ keys() }, { 1, 2 })
  lu.assertEquals({ keys "each" }, { 2, 0 })
  local both = sc.plot.panels{ one{ "a", "b" }, one{ "a", "b" } }
  for _, panel in ipairs(both.panels) do panel.layers[2].faint = true end
  lu.assertStrMatches(script.of(both, "svg"), ".*keyentry with lines linecolor rgb \"#a0a8b0\".*")
end

function TestNotesFontsAndColoursAreOptions()
  local given = { y = { 1, 0 / 0, 2 }, x_label = "x" }
  local function with(name, value)
    given[name] = value
    local figure = sc.plot.line(given)
    given[name] = nil
    return figure
  end
  lu.assertEquals(panel_of(with("notes", "Mine.")).notes,
    { "1 value is not a number and is not drawn", "Mine." })
  lu.assertEquals(panel_of(with("notes", { "a", "b" })).notes[3], "b")
  lu.assertEquals(panel_of(with("notes", "none")).notes, {})
  lu.assertStrContains(script.of(with("colours", { "#FF0000" }), "svg"), 'rgb "#ff0000"')
  lu.assertStrContains(script.of(with("font", "DejaVu Serif"), "svg"), 'font "DejaVu Serif,13"')
  lu.assertStrContains(script.of(with("font_size", 26), "png"), 'font "DejaVu Sans,19.5"')
  for name, value in pairs{ colours = { "red" }, font = 'x" ; !ls', notes = 1, font_size = 2 } do
    local ok, message = pcall(sc.plot.line, { y = { 1 }, [name] = value })
    lu.assertFalse(ok)
    lu.assertStrContains(message, "plot.line: option '" .. name .. "'")
  end
  lu.assertErrorMsgContains("plot.heatmap: unknown option 'colours'", sc.plot.heatmap,
    { values = { { 1 } }, colours = { "#000000" } })
end

-- ------------ order, years, levels, overlays

function TestClassesAreInTheirNaturalOrder()
  local layers = panel_of(sc.plot.scatter{ y = { 1, 2, 3, 4, 5 },
    class = { "c10", "c2", "10", "2", "b" } }).layers
  local labels = {}
  for i, layer in ipairs(layers) do labels[i] = layer.label end
  lu.assertEquals(labels, { "2", "10", "b", "c2", "c10" })
end

function TestYearsAreWholeNumbers()
  local function years_of(label, x, most)
    local list = {}
    for i, tick in ipairs(ticks.of(panel_of(sc.plot.line{ x = x, y = x, x_label = label }).x, most))
      do list[i] = tick.text end
    return list
  end
  lu.assertEquals(years_of("year", { 2015, 2018 }, 10), { "2015", "2016", "2017", "2018" })
  lu.assertEquals(years_of("T", { 2015, 2018 }, 10)[2], "2015.5")
  lu.assertEquals(years_of("year", { 2015.5, 2018 }, 10)[1], "2015.5")
end

function TestLogAxesHaveAtLeastThreeLabels()
  for _, axis in ipairs{ { 1, 12 }, { 11, 95 }, { 3, 4 }, { 1e-3, 1e5 }, { 9, 1100 }, { 0.5, 60 },
    { 1, 1e12 }, { 0.11, 0.15 } } do
    for most = 1, 12 do
      local list = ticks.of({ log = true, low = axis[1], high = axis[2] }, most)
      lu.assertTrue(#list >= 3, ("%g to %g, %d"):format(axis[1], axis[2], most))
      for i = 2, #list do lu.assertTrue(list[i].value > list[i - 1].value) end
    end
  end
end

function TestOneTickAloneStandsOnNoAxis()
  lu.assertEquals(texts_of({ low = -2.7, high = 2.7 }, 2), "-2 0 2")
  for _, axis in ipairs{ { -2.7, 2.7 }, { 1, 20 }, { 0.3, 0.4 }, { -1e5, 9 }, { 4.9, 5.1 } } do
    for most = 2, 12 do
      lu.assertTrue(#ticks.of({ low = axis[1], high = axis[2] }, most) >= 2)
    end
  end
end

function TestALevelOfAHeatmap()
  local values = { { -1, 1 }, { -1, 3 } }
  local layer = panel_of(sc.plot.heatmap{ values = values, contour = 0 }).layers[2]
  lu.assertEquals({ layer.places_x[1], layer.places_y[1] }, { 1.5, 1 })
  lu.assertEquals({ layer.places_x[2], layer.places_y[2] }, { 1.25, 2 })
  lu.assertEquals(#layer.places_x, 3)
  lu.assertEquals(#panel_of(sc.plot.heatmap{ values = { { 1, 2 }, { 3, 0 / 0 } }, contour = 0 })
    .layers[2].places_x, 0)
  lu.assertStrContains(script.of(sc.plot.heatmap{ values = values, contour = 0 }, "svg"),
    "with lines")
end

function TestHistogramsLieOverEachOther()
  local given = { series = { { x = { 1, 2, 3 } }, { x = { 2, 3, 4 } } }, bins = 3 }
  local layers = panel_of(sc.plot.hist(given)).layers
  lu.assertEquals({ layers[1].overlaid, layers[1].width }, { true, 1 })
  lu.assertEquals(layers[1].x, layers[2].x)
  given.beside = true
  layers = panel_of(sc.plot.hist(given)).layers
  lu.assertEquals({ layers[1].overlaid, layers[1].width }, { nil, 0.5 })
end

function TestManyPointsAreTranslucent()
  local few, many = {}, {}
  for i = 1, 250 do few[i], many[i] = i <= 100 and i or nil, i end
  lu.assertStrContains(script.of(sc.plot.scatter{ y = many }, "svg"), 'rgb "#700072b2"')
  lu.assertStrContains(script.of(sc.plot.scatter{ y = few }, "svg"), 'rgb "#0072b2"')
end

os.exit(lu.LuaUnit.run())
