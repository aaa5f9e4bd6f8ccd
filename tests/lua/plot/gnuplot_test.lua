-- Pictures by gnuplot: whole files of each kind, texts that mean nothing else, and what happens
-- where gnuplot is absent, broken or slow.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile "tests/helpers/support.lua"
local gnuplot = require "scullery.plot.gnuplot"
local compact = require "scullery.plot.compact"
local script = require "scullery.plot.script"

local nan = 0 / 0
local function run(text, seconds, most)
  return core.run_program({ "gnuplot", "--default-settings" }, seconds, text, most)
end
local has_gnuplot = run("print 1\n", 60, 1000) ~= nil
local python = "/usr/bin/python3"
local has_python = os.execute(python .. " -c 'import xml.etree.ElementTree' 2>/dev/null") == true

local function need_gnuplot() lu.skipIf(not has_gnuplot, "gnuplot is not installed") end

local function count(text, word)
  local _, found = text:gsub(word:gsub("%p", "%%%0"), "")
  return found
end

-- A folder with a program gnuplot of these lines of shell, f(PATH that begins with it).
local function with_fake(lines, f)
  local folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir " .. folder)
  support.write(folder .. "/gnuplot", lines)
  os.execute("chmod 755 " .. folder .. "/gnuplot")
  local ok, message = pcall(f, folder)
  os.execute("rm -r " .. folder)
  if not ok then error(message, 0) end
end

-- The command with another PATH: what it prints, and its status.
local function with_path(path, code)
  local status, out, err = support.shell(("PATH=%s %s -e %s"):format(path,
    support.quote(support.binary), support.quote(code)))
  return out .. err, status
end

-- A figure with a panel of each kind and what is hard to draw.
local function everything()
  local many = {}
  for i = 1, 200 do many[i] = "category " .. i end
  local X = sc.randn{ 200, 2, seed = 1 }
  return sc.plot.panels{ title = "Everything", columns = 3,
    sc.plot.line{ series = { { y = { 1, nan, 3 }, error = { 1, 1, nan }, label = "gaps" },
      { y = { 3, 2, 1 }, label = "falling" } }, title = "Lines", x_label = "step", y_label = "time",
      y_unit = "s", y_log = true, marks = true, rules = { { y = 2, label = "goal" } } },
    sc.plot.scatter{ x = X:column(1), y = X:column(2), equal = true, title = "Points" },
    sc.plot.scatter{ y = { 1, 2, 3 }, class = { "a", "b", "a" }, text = { 1, 2, 3 },
      title = "Digits", error = { 0.1, nan, 0.2 } },
    sc.plot.heatmap{ values = { { 1, nan }, { 3, 4 } }, numbers = true, label = "share",
      title = "Cells" },
    sc.plot.heatmap{ values = sc.rand{ 60, 60, seed = 1 }, numbers = true, title = "Image" },
    sc.plot.heatmap{ values = sc.rand{ 20, 20, seed = 1 }, numbers = true, title = "Small" },
    sc.plot.hist{ x = X:column(1), title = "Counts" },
    sc.plot.bars{ names = many, values = sc.rand{ 200, seed = 1 }, title = "Names" },
    sc.plot.bars{ names = { "a", "b" }, values = { 0.001, 10 }, error = { 0.1, 1 }, y_log = true,
      title = "Whiskers" },
    sc.plot.line{ y = { 7 }, title = "One point" },
    sc.plot.line{ y = { 1e-300, 1e300 }, y_log = true, title = "Far" },
    sc.plot.line{ y = { -1e300, 1e300 }, title = "Huge" },
    sc.plot.line{ y = { 5, 5, 5 }, title = "Constant" } }
end

-- Whether Python reads it as XML, with these texts somewhere, once each id.
local check_xml = [[
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
texts = "".join(root.itertext())
ids = [e.get("id") for e in root.iter() if e.get("id")]
assert len(ids) == len(set(ids)), "ids stand twice"
links = [v[1:] for e in root.iter() for k, v in e.attrib.items()
         if k.endswith("href") and v[0] == "#"]
assert set(links) <= set(ids), "links without an id"
for word in sys.argv[2:]:
    assert word in texts, word
]]

local function assert_xml(text, ...)
  lu.skipIf(not has_python, "there is no " .. python)
  local path, checker = support.write(nil, text), support.write(nil, check_xml)
  local words = {}
  for i, word in ipairs{ ... } do words[i] = support.quote(word) end
  local status, _, err = support.shell(("%s %s %s %s"):format(python, checker, path,
    table.concat(words, " ")))
  os.remove(path)
  os.remove(checker)
  lu.assertEquals(status, 0, err)
end

-- ------------ whole files

function TestSvgIsXmlWithItsTextsAndUniqueIds()
  need_gnuplot()
  local path = support.free_path(".svg")
  everything():save(path)
  local text = support.read(path)
  os.remove(path)
  assert_xml(text, "Everything", "Lines", "time (s)", "goal", "falling", "step", "share", "10⁻³",
    "1 value is not", "the cells are too small", "too many cells")
  lu.assertStrContains(text, "sans-serif")
  lu.assertStrContains(text, "<title>Everything</title>")
end

function TestSeveralPicturesStandOnOnePage()
  need_gnuplot()
  local one, two = sc.plot.line{ y = { 1, 2 } }:svg(), sc.plot.line{ y = { 1, 3 } }:svg()
  lu.assertEquals(one:sub(1, 4), "<svg")
  assert_xml("<div>" .. one .. two .. "</div>")
  lu.assertEquals(sc.plot.line{ y = { 1, 2 } }:svg(), one, "the same picture, the same bytes")
end

-- What gnuplot writes of two discs, a triangle, a heat map's cells, a line and a text.
function TestSvgIsCompact()
  local group = '<g fill="none" color="black" stroke="currentColor" stroke-width="0.80" \z
    stroke-linecap="butt" stroke-linejoin="miter">\n'
  local function use(symbol, x, colour)
    return ("\t<use xlink:href=\"#a_%s\" transform='translate(%s,20.04) scale(2.00)' \z
      color='%s'/>\n"):format(symbol, x, colour)
  end
  local text = compact.svg("<svg>\n<defs>\n\t<circle id=\"a_gpDot\" r='0.5'/>\n"
    .. "\t<circle id=\"a_gpPt5\" r='1'/>\n\t<use xlink:href=\"#a_gpPt5\" id=\"a_gpPt6\"/>\n"
    .. "\t<path id=\"a_gpPt1\" d='M-1,-1 L1,1'/>\n</defs>\n" .. group .. "</g>\n" .. group
    .. "\t<path stroke='rgb(  0, 114, 178)'  d='M1.00,2.06 L3.50,4.00 M5.00,6.00 L7.00,8.00  '/>"
    .. "\t<g transform=\"translate(1.26,2.00)\" fill=\"black\">\n\t\t"
    .. "<text>a  rgb(1,2,3) d='1.06'</text>\n\t</g>\n"
    .. use("gpPt6", "10.00", "rgb(1,2,3)") .. use("gpPt6", "11.04", "rgb(1,2,3)")
    .. use("gpPt4", "10.00", "rgb(1,2,3)") .. use("gpPt1", "10.00", "rgb(1,2,3)") .. "</g>\n"
    .. "<polygon fill = 'rgb(9, 9, 9)' points = '1.00,2.00 3.00,2.00 3.00,4.00 1.00,4.00 '/>\n"
    .. "<polygon fill = 'rgb(9, 9, 9)' points = '3.00,2.00 5.00,2.00 5.00,4.00 3.00,4.00 '/>\n"
    .. "</svg>\n")
  lu.assertEquals(text, [[
<svg>
<defs>
<path id="a_gpPt1" d='M-1-1l2 2'/>
</defs>
<g fill="none">
<path stroke-width="0.8" stroke='#0072b2' d='M1,2.1 3.5,4M5,6 7,8'/>
<text x="1" y="2" fill="black">a  rgb(1,2,3) d='1.06'</text>
<path stroke='#010203' stroke-width='4.4' stroke-linecap='round' d='M10 20zm1 0z'/>
<path fill='#010203' d='M8 18h4v4h-4z'/>
<g color='#010203' transform='scale(2.00)'>
<use xlink:href="#a_gpPt1" x="5" y="10.02"/>
</g>
<path fill='#090909' d='M1,2H3V4H1zM3,2H5V4H3z'/>
</g>
</svg>
]])
end

-- Marks that are characters are one element with a list of places, where there are many.
function TestManyCharactersAreOneElement()
  local function drawn(n)
    local lines = {}
    for i = 1, n do
      lines[i] = ('<g transform="translate(%d.00,%d.00)" fill="#202020">\n<text>%d</text>\n</g>\n')
        :format(i, 2 * i, i % 10)
    end
    return compact.svg("<svg>\n<defs>\n</defs>\n" .. table.concat(lines) .. "</svg>\n")
  end
  lu.assertStrContains(drawn(3), '<text x="3" y="6">3</text>')
  assert_xml(drawn(40), "12345")
  local xs, ys, digits = drawn(40):match '<text x="([^"]*)" y="([^"]*)">(%d+)</text>'
  lu.assertEquals({ xs:match "^1 2 3 4 ", ys:match "^2 4 6 8 ", #digits },
    { "1 2 3 4 ", "2 4 6 8 ", 40 })
end

-- Two ticks of an axis with their grid lines and numbers, as gnuplot writes them.
function TestAxesAreFewElements()
  local tick = "<path stroke-width=\"0.60\" stroke='#dddddd' class=\"gridline\" \z
    d='M9.00,%d.00 L7.00,%d.00  '/>\n<g stroke-width=\"0.80\">\n\z
    <path stroke='#606060' d='M9.00,%d.00 L8.00,%d.00  '/>\t\z
    <g transform=\"translate(1.00,%d.00)\" stroke=\"none\" fill=\"#202020\">\n\z
    <text>%d</text>\n</g>\n</g>\n"
  local ticks = {}
  for i = 1, 3 do ticks[i] = tick:format(i, i, i, i, i, 10 - i) end
  local text = compact.svg('<svg>\n<defs>\n</defs>\n<g id="a_gnuplot_plot_1" ><title>x</title>\n'
    .. table.concat(ticks) .. "</g>\n</svg>\n")
  lu.assertEquals(text:match "<path.*$", [[
<path stroke-width="0.6" stroke='#dddddd' d='M9 1h-2m2 1h-2m2 1h-2'/>
<path stroke-width="0.8" stroke='#606060' d='M9 1h-1m1 1h-1m1 1h-1'/>
<g fill="#202020">
<text x="1" y="1">9</text>
<text x="1" y="2">8</text>
<text x="1" y="3">7</text>
</g>
</g>
</svg>
]])
end

function TestPngAndPdfAreWhole()
  need_gnuplot()
  local path = os.tmpname()
  local figure = everything()
  for ending, first in pairs{ [".png"] = "\x89PNG\r\n", [".pdf"] = "%PDF-" } do
    figure:save(path .. ending)
    local bytes = support.read(path .. ending)
    lu.assertEquals(bytes:sub(1, #first), first)
    lu.assertTrue(#bytes > 10000)
    os.remove(path .. ending)
  end
  os.remove(path)
end

-- The size stands at bytes 17 to 24.
function TestPngHasTwiceTheSize()
  need_gnuplot()
  local bytes = gnuplot.draw(sc.plot.line{ y = { 1, 2 }, width = 300, height = 200 }, "png")
  lu.assertEquals({ (">I4I4"):unpack(bytes, 17) }, { 600, 400, 25 })
end

function TestSixelIsDrawn()
  need_gnuplot()
  local drawn = gnuplot.draw(sc.plot.line{ y = { 1, 2 } }, "sixel")
  lu.assertEquals(drawn:sub(1, 2), "\27P")
end

-- ------------ texts

local attack = [["; system "touch %s"; print "`touch %s` @x _a^b {/Bold c} $d \n \ ' %% & <b> é]]

function TestTextsAreNoCommands()
  need_gnuplot()
  local proof = os.tmpname()
  os.remove(proof)
  local text = attack:format(proof, proof)
  local figure = sc.plot.panels{ title = text,
    sc.plot.line{ series = { { y = { 1, 2 }, label = text }, { y = { 2, 1 }, label = "b" } },
      title = text, x_label = text, y_label = text, y_unit = text,
      rules = { { y = 1, label = text } } },
    sc.plot.bars{ names = { text, "EOD", "`touch " .. proof .. "`" }, values = { 1, 2, 3 } },
    sc.plot.scatter{ y = { 1, 2, 3 }, text = { '"`a', "EOD", "@b" },
      class = { text, "\n\n", "e" } },
    sc.plot.heatmap{ values = { { 1, 2 } }, x = { text, "EOD" }, label = text, numbers = true } }
  local drawn = figure:svg()
  lu.assertNil(io.open(proof), "a title was run")
  assert_xml(drawn, '"; system "touch', "{/Bold", "@b")
  gnuplot.draw(figure, "png")
end

function TestAScriptHoldsNoTextButQuoted()
  local figure = sc.plot.line{ y = { 1, 2 }, title = 'a"b`c@d$e\\f', label = "x1" }
  local text = script.of(figure, "svg")
  for _, byte in ipairs{ "`", "@" } do lu.assertEquals(count(text, byte), 0, byte) end
  lu.assertStrContains(text, [["a\042b\140c\100d\044e\134f"]])
end

function TestEveryBarHasItsName()
  local names, values = {}, {}
  for i = 1, 20 do names[i], values[i] = ("%d"):format(400 + i), i end
  for width, turned in pairs{ [560] = true, [1200] = false } do
    local text = script.of(sc.plot.bars{ names = names, values = values, width = width }, "svg")
    local line = text:match("set xtics[^\n]*")
    lu.assertEquals(count(line, ", "), 19)
    lu.assertEquals(line:find("rotate by 45", 1, true) ~= nil, turned)
  end
end

-- A line through one point alone cannot be seen.
function TestPointsOfALineWithoutNeighboursAreDrawn()
  local function points(given)
    return count(script.of(sc.plot.line(given), "svg"), "with points")
  end
  lu.assertEquals(points{ y = { 1, nan, 3, nan, 2 } }, 1)
  lu.assertEquals(points{ y = { 1, 2, nan, 3 } }, 1)
  lu.assertEquals(points{ y = { 1, 2, nan, 3, 4 } }, 0)
  lu.assertEquals(points{ y = { 1, nan, 3 }, marks = true }, 0)
  lu.assertEquals(points{ y = { 1, 0, 3 }, y_log = true }, 1)
end

function TestHardTextsAreDrawn()
  need_gnuplot()
  for _, text in ipairs{ ("x"):rep(10000), ("word "):rep(2000), "日本語 \u{1f600} עברית", "\0\1\27",
    "\u{fffe}\u{ffff}\xff", "", " ", "\n", ("e" .. ("\u{301}"):rep(3000)) } do
    local figure = sc.plot.line{ y = { 1, 2 }, title = text, x_label = text, label = text }
    assert_xml(figure:svg())
    lu.assertTrue(#gnuplot.draw(figure, "png") > 5000)
  end
end

-- Markup within texts, everywhere a picture has one, is text.
function TestTextsThatLookLikeMarkupAreTexts()
  need_gnuplot()
  for _, text in ipairs{ "a]]>b", "<![CDATA[x]]>", "<!-- -->", "</text>&#0;&amp;", "'>\"<b>",
    ' id="u" url(#z) href="#q"' } do
    local figure = sc.plot.panels{ title = text,
      sc.plot.line{ series = { { y = { 1, 2 }, label = text }, { y = { 2, 1 }, label = "b" } },
        title = text, x_label = text, y_label = text, y_unit = text,
        rules = { { y = 1, label = text } } },
      sc.plot.bars{ names = { text, "b" }, values = { 1, 2 }, title = text },
      sc.plot.scatter{ y = { 1, 2 }, text = { text, "b" }, class = { text, "c" } },
      sc.plot.heatmap{ values = { { 1, 2 } }, x = { text, "b" }, label = text, numbers = true } }
    assert_xml(figure:svg(), text)
  end
end

-- gnuplot's cairo terminals draw characters without a glyph as black patches over the picture.
function TestCharactersWithoutAGlyphAreReplaced()
  local figure = sc.plot.line{ y = { 1, 2 }, title = "日 α" }
  lu.assertStrContains(script.of(figure, "png"), "□ α")
  lu.assertStrContains(script.of(figure, "svg"), "日 α")
end

-- ------------ what goes wrong

local code = [[
  local f = sc.plot.line{ y = { 1, 2 }, title = "a title" }
  print(pcall(f.save, f, "%s")); print(f:svg()); print(f)]]

function TestWithoutGnuplotTheRestWorks()
  local path = support.free_path(".svg")
  local said, status = with_path("/nonexistent", code:format(path))
  lu.assertEquals(status, 0)
  lu.assertEquals(count(said, "apt-get install gnuplot-nox"), 2)
  lu.assertStrContains(said, "nil\tgnuplot is not installed")
  lu.assertStrContains(said, "a title")
  lu.assertNil(io.open(path))
end

local broken = {
  ["exit 3"] = "gnuplot failed: it gives no reason",
  ["echo '\"-\", line 3: out of memory' >&2; exit 1"] = "gnuplot failed: out of memory",
  ["echo 'line 0: unknown or ambiguous terminal type; type just x' >&2; exit 1"] =
    "cannot write svg: apt-get install gnuplot-nox",
  ["exit 0"] = "wrote no whole svg file",
  ["echo '<svg>half of it'"] = "wrote no whole svg file",
  ["kill -9 $$"] = "ended by a signal: Killed",
}

function TestABrokenGnuplotIsToldAndLeavesNothing()
  for lines, words in pairs(broken) do
    with_fake("#!/bin/sh\n" .. lines .. "\n", function(folder)
      local path = support.write(folder .. "/f.svg", "as it was")
      local said = with_path(folder, code:format(path))
      lu.assertStrContains(said, words)
      lu.assertStrContains(said, "a title")
      lu.assertEquals(support.read(path), "as it was")
      lu.assertEquals(select(2, support.shell("ls " .. folder)), "f.svg\ngnuplot\n")
    end)
  end
end

function TestAGnuplotThatIsNoProgramIsTold()
  with_fake("no program", function(folder)
    lu.assertStrContains(with_path(folder, code:format "/tmp/f.svg"),
      "gnuplot cannot be started: Exec format error")
  end)
end

function TestGnuplotIsStoppedInTimeAndAtItsMost()
  need_gnuplot()
  support.fails({ "gnuplot was stopped: it did not end in 1 s" }, run, "pause 60\n", 1, 100)
  support.fails({ "gnuplot was stopped: it wrote more than 100 bytes" }, run,
    "set terminal svg\nplot x\n", 60, 100)
end

-- The program that runs in its place is gone too.
function TestCtrlCEndsGnuplot()
  with_fake("#!/bin/sh\nexec /bin/sleep 50\n", function(folder)
    local began = os.time()
    local status, _, err = support.shell(("PATH=%s timeout -s INT 2 %s -e %s"):format(
      folder .. ":$PATH", support.quote(support.binary),
      support.quote(("sc.plot.line{ y = { 1, 2 } }:save %q"):format(folder .. "/f.svg"))))
    lu.assertStrContains(err, "interrupted!")
    lu.assertTrue(os.time() - began < 40)
    lu.assertNotEquals(status, 0)
  end)
end

function TestAFolderThatIsNotThereIsTold()
  need_gnuplot()
  local figure = sc.plot.line{ y = { 1, 2 } }
  for _, name in ipairs{ "f.svg", "f.png", "f.pdf", "f.txt" } do
    support.fails({ "figure:save", "/nonexistent/" }, figure.save, figure, "/nonexistent/" .. name)
  end
  support.fails({ "figure:data", "/nonexistent/" }, figure.data, figure, "/nonexistent/f.csv")
end

-- ------------ the terminal

function TestSixelIsDrawnWhereTheTerminalTakesIt()
  for environment, taken in pairs{ ["SCULLERY_SIXEL=1 TERM=xterm"] = "true",
    ["SCULLERY_SIXEL=0 TERM=foot"] = "false", ["TERM=foot"] = "true", ["TERM=xterm"] = "false",
    ["TERM=mlterm-256color"] = "true", ["TERM=dumb"] = "false" } do
    local _, out = support.shell(("env -u SCULLERY_SIXEL -u TERM_PROGRAM %s %s -e %s"):format(
      environment, support.quote(support.binary),
      support.quote [[print(require("scullery.plot.sixel").is_taken())]]))
    lu.assertEquals(out, taken .. "\n", environment)
  end
end

function TestShowWritesTextToAPipe()
  local _, out = support.shell("SCULLERY_SIXEL=1 " .. support.quote(support.binary) .. " -e "
    .. support.quote [[sc.plot.line{ y = { 1, 2 }, title = "a title" }:show()]])
  lu.assertStrContains(out, "a title")
  lu.assertNil(out:find("\27", 1, true))
end

function TestTheSizeOfTheTerminal()
  local said = core.terminal()
  lu.assertTrue(said.columns >= 1 and said.rows >= 1)
  local _, out = support.shell("COLUMNS=33 " .. support.quote(support.binary) .. " -e "
    .. support.quote [[local t = require("scullery.core").terminal() print(t.columns, t.colour)]])
  lu.assertEquals(out, "33\tfalse\n")
end

os.exit(lu.LuaUnit.run())
