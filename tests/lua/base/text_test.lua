-- Texts as a terminal shows them, and tables in columns.
local core = require "scullery.core"
local lu = require "luaunit"
local text = require "scullery.base.text"
local text_table = require "scullery.base.text_table"

function TestWidthsAreThoseOfATerminal()
  for s, columns in pairs{ [""] = 0, abc = 3, ["été"] = 3, ["e\u{301}te\u{301}"] = 3,
    ["日本語"] = 6, ["ｗｉｄｅ"] = 8, ["😀"] = 2, ["⠿█●"] = 3, ["a\u{200b}b"] = 2 } do
    lu.assertEquals(text.width(s), columns, s)
  end
end

function TestPiecesKeepCombiningCharactersWithTheirs()
  local pieces, widths = core.text_pieces("e\u{301}日x")
  lu.assertEquals(pieces, { "e\u{301}", "日", "x" })
  lu.assertEquals(widths, { 1, 2, 1 })
end

function TestWhatActsOnATerminalIsReplaced()
  lu.assertEquals(text.clean("plain ~ text"), "plain ~ text")
  lu.assertEquals(text.clean("a\tb\r\nc"), "a b  c")
  lu.assertEquals(text.clean("\27[31mred\7\0\u{9b}2J"), "�[31mred���2J")
  lu.assertEquals(text.clean("\u{202e}abc\u{2066}\u{61c}"), "�abc��")
  lu.assertEquals(text.clean("\xff\xc3(\xe6\x97"), "��(��", "bytes that are no UTF-8")
  lu.assertEquals(text.clean("\u{301}a"), "�a", "nothing to combine with")
  lu.assertEquals(text.width("\27\0\u{202e}"), 3, "counted as they are shown")
end

function TestValidReplacesBytesOfNoCharacter()
  lu.assertEquals(text.valid("", "?"), "")
  lu.assertEquals(text.valid("é\0日", "?"), "é\0日")
  lu.assertEquals(text.valid("\xff é\xc3", "?"), "? é?")
  lu.assertEquals(text.valid("a\xe6\x97", function(byte) return ("<%x>"):format(byte) end),
    "a<e6><97>")
end

-- Random bytes and characters: pieces are as wide as the text, and clean twice is clean once.
function TestCleanTextsOfAnyBytes()
  local random = 7
  local function draw(n)
    random = (random * 1103515245 + 12345) % 2 ^ 31
    return math.tointeger(random // 65536 % n)
  end
  for _ = 1, 2000 do
    local parts = {}
    for i = 1, draw(12) do
      parts[i] = draw(2) == 0 and string.char(draw(256)) or utf8.char(draw(0x11000))
    end
    local s = table.concat(parts)
    local clean, sum = text.clean(s), 0
    local _, widths = core.text_pieces(s)
    for _, width in ipairs(widths) do sum = sum + width end
    lu.assertEquals(text.width(s), sum)
    lu.assertEquals(text.width(clean), sum)
    lu.assertNotNil(utf8.len(clean), ("%q"):format(s))
    lu.assertNil(clean:find("%c"))
    lu.assertEquals(text.clean(clean), clean)
    for columns = 2, 12 do
      lu.assertTrue(text.width(text.shorten(s, columns)) <= columns)
      for _, line in ipairs(text.wrap(s, columns)) do
        lu.assertTrue(text.width(line) <= columns)
      end
    end
  end
end

function TestShortenedTextsEndWithDots()
  lu.assertEquals(text.shorten("gaussian", 8), "gaussian")
  lu.assertEquals(text.shorten("gaussian", 5), "gaus…")
  lu.assertEquals(text.shorten("日本語", 6), "日本語")
  lu.assertEquals(text.shorten("日本語", 5), "日本…")
  lu.assertEquals(text.shorten("日本語", 4), "日…")
  lu.assertEquals(text.shorten("abc", 1), "…")
end

function TestPaddedAndWrappedTexts()
  lu.assertEquals(text.pad("日", 4), "日  ")
  lu.assertEquals(text.pad("日", 4, "right"), "  日")
  lu.assertEquals(text.pad("日", 4, "centre"), " 日 ")
  lu.assertEquals(text.pad("long", 2), "long")
  lu.assertEquals(text.wrap("one two three", 7), { "one two", "three" })
  lu.assertEquals(text.wrap("  one\n\ttwo", 80), { "one two" })
  lu.assertEquals(text.wrap("abcdefgh ij", 5), { "abcde", "fgh", "ij" })
  lu.assertEquals(text.wrap("", 5), {})
end

function TestColumnsOfNumbersStandOnTheRight()
  lu.assertEquals("\n" .. text_table.text{ { "solver", "error", "n" }, { "ridge", 0.125, 3 },
    { "ハフ", "-", 1000 } }, [[

solver  error     n
ridge   0.125     3
ハフ        -  1000]])
end

function TestTablesTakeSidesGapsAndLeastWidths()
  lu.assertEquals(text_table.lines({ { "a", "b" }, { 1, 2 } },
    { sides = { "left", "right" }, least = { 3, 4 }, gap = 1 }), { "a      b", "1      2" })
  lu.assertEquals(text_table.lines({}), {})
  lu.assertEquals(text_table.lines({ { "ends", "" }, { "with", "nothing behind" } })[1], "ends")
  local long = ("x"):rep(1300000) -- beside it each line ends in as many spaces
  lu.assertTrue(table.concat(text_table.lines{ { long, "y" }, { "a", "" }, { "b", "c" } }, "\n")
    == ("%s  y\na\nb%s  c"):format(long, (" "):rep(#long - 1)))
end

function TestTheWidestColumnsAreShortened()
  local rows = { { "name", "summary" }, { "abc", ("long "):rep(20) }, { "d", "e\27[2J" } }
  local lines = text_table.lines(rows, { width = 24 })
  lu.assertEquals(lines, { "name  summary", "abc   long long long lo…", "d     e�[2J" })
  -- cells keep four columns
  lu.assertEquals(text_table.lines(rows, { width = 3 }),
    { "name  sum…", "abc   lon…", "d     e�[…" })
end

os.exit(lu.LuaUnit.run())
