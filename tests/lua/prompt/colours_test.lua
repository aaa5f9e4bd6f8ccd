--- Colours of a statement that is being typed.
-- luacheck: globals TestColours
-- luacheck: ignore 212/self
local lu = require "luaunit"
local colours = require "scullery.prompt.colours"

TestColours = {}

-- Styles as <parameters: text>.
local function shown(text, cursor)
  local coloured = colours.of(text, cursor)
  lu.assertEquals((coloured:gsub("\27%[[%d;]*m", "")), text)
  return (coloured:gsub("\27%[0m", ">"):gsub("\27%[([%d;]+)m", "<%1:"))
end

function TestColours:test_kinds_of_words()
  lu.assertEquals(shown 'local x = f(1.5, "a") -- b',
    '<35:local> x = f(<36:1.5>, <32:"a">) <90:-- b>')
  lu.assertEquals(shown "a = [[b\nc", "a = <32:[[b\nc>")
  lu.assertEquals({ shown "", shown " " }, { "", " " })
end

function TestColours:test_the_bracket_at_the_cursor_and_its_partner()
  lu.assertEquals(shown("f{ (a) }", 8), "f<1;4:{> (a) <1;4:}>")
  lu.assertEquals(shown("f{ (a) }", 6), "f{ <1;4:(>a<1;4:)> }")
  lu.assertEquals(shown("f(a", 2), "f(a") -- not closed yet
  lu.assertEquals(shown("f(a", 1), "f(a")
  lu.assertEquals(shown("(a]", 3), "(a<31:]>")
  lu.assertEquals(shown("')'", 2), "<32:')'>")
end

function TestColours:test_commands_of_the_shell_have_none()
  lu.assertEquals(shown "!for f in *; do echo '$f'; done", "!for f in *; do echo '$f'; done")
end

os.exit(lu.LuaUnit.run())
