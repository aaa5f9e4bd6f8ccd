-- The indentation of the next line of a statement that is typed.
local lu = require "luaunit"
local indentation = require "scullery.prompt.indentation"

local next_line = indentation.next

TestIndentation = {}

function TestIndentation:test_open_blocks_and_brackets_indent()
  for text, indented in pairs{
    ["for i = 1, 2 do"] = "for i = 1, 2 do\n  ",
    ["t = { f(function()"] = "t = { f(function()\n      ",
    ["if x then\n  for i = 1, 2 do"] = "if x then\n  for i = 1, 2 do\n    ",
    ["x = 1"] = "x = 1\n",
    [""] = "\n",
    ["x = }"] = "x = }\n", -- more is closed than was open
    ["if x then -- do"] = "if x then -- do\n  ",
    ["f('do', {"] = "f('do', {\n    ",
  } do
    lu.assertEquals(next_line(text), indented)
  end
end

function TestIndentation:test_what_ends_a_block_moves_to_the_left()
  for text, indented in pairs{
    ["if x then\n  y = 1\n  else"] = "if x then\n  y = 1\nelse\n  ",
    ["do\n  do\n    x = 1\n    end"] = "do\n  do\n    x = 1\n  end\n  ",
    ["t = {\n  {\n    1\n    },"] = "t = {\n  {\n    1\n  },\n  ",
    -- lines that are not indented as these are stay
    ["do\ndo\nx = 1\nend"] = "do\ndo\nx = 1\nend\n  ",
    ["do\n  x = 1\n end"] = "do\n  x = 1\n end\n",
  } do
    lu.assertEquals(next_line(text), indented)
  end
end

function TestIndentation:test_a_whole_statement_ends_on_the_left()
  lu.assertEquals(indentation.ended("do\n  x = 1\n  end"), "do\n  x = 1\nend")
  lu.assertEquals(indentation.ended("do\n  x = 1\nend"), "do\n  x = 1\nend")
  lu.assertEquals(indentation.ended("x = 1"), "x = 1")
end

function TestIndentation:test_texts_over_several_lines_get_no_spaces()
  lu.assertEquals(next_line("t = { [[one"), "t = { [[one\n")
  lu.assertEquals(next_line("do --[[ one"), "do --[[ one\n")
end

os.exit(lu.LuaUnit.run(), true)
