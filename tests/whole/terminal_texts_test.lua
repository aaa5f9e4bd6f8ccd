--- What others wrote (labels, names of columns, paths, messages) reaches a terminal escaped,
--- whichever way it takes; a script's own strings print as Lua prints them.
-- luacheck: globals TestTerminalTexts
-- luacheck: ignore 212/self
local lu = require "luaunit"
local core = require "scullery.core"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local display, text = require "scullery.prompt.display", require "scullery.base.text"

local quote = support.quote

-- An escape sequence, a carriage return, a bell, delete, a C1 control, a mark that turns the
-- direction of writing.
local BAD = "a\27[31mb\rc\7d\127e\u{9b}f\u{202e}g"
local binary = quote(support.binary)

local function assert_harmless(shown, where, without)
  local bad = shown:find("[\0-\8\11-\31\127]") or shown:find("\u{9b}", 1, true)
    or shown:find("\u{202e}", 1, true)
  lu.assertNil(bad, where .. ": " .. ("%q"):format(shown))
  if not without then
    lu.assertNotNil(shown:find("\\x1b", 1, true) or shown:find("\\27", 1, true)
      or shown:find("\u{fffd}", 1, true), where .. " lacks it: " .. shown)
  end
end

TestTerminalTexts = {}

function TestTerminalTexts:test_one_function_escapes_and_keeps_the_rest()
  lu.assertEquals(text.shown("a\27b\0c\r\127"), "a\\x1bb\\x00c\\x0d\\x7f")
  lu.assertEquals(text.shown("\u{9b}\xff"), "\\xc2\\x9b\\xff")
  lu.assertEquals(text.shown("naïve 日本\n\tx e\u{301}"), "naïve 日本\n\tx e\u{301}")
  for code = 1, 0x2100 do
    if code < 0xD800 then assert_harmless(text.shown(utf8.char(code)), "U+" .. code, true) end
  end
  for byte = 0, 255 do assert_harmless(text.shown(string.char(byte)), "byte " .. byte, true) end
end

local function poisoned()
  local X, labels = sc.randn{ 20, 2, seed = 1 }, {}
  for i = 1, 20 do labels[i] = i % 2 == 0 and BAD or "plain" end
  return sc.dataset{ X = X, y = labels, names = { BAD, "other" } }
end

function TestTerminalTexts:test_objects_print_escaped()
  local ds = poisoned()
  local p
  support.stderr_of(function() p = sc.pipeline{ sc.solver.ridge{} }:fit(ds) end)
  assert_harmless(tostring(ds:describe()), "describe")
  local confusion = sc.metrics.confusion(p:labels(ds), ds:labels())
  assert_harmless(tostring(confusion), "confusion")
  for name, value in pairs{ ds = ds, p = p, info = p:info(), confusion = confusion,
    labels = ds:labels(), names = ds.names, keys = { [BAD] = BAD },
    object = setmetatable({}, { __tostring = function() return BAD end }),
    named = setmetatable({}, { __name = BAD }),
    failing = setmetatable({}, { __tostring = function() error(BAD) end }) } do
    assert_harmless(display.text(value), "at the prompt: " .. name, name == "ds" or name == "p"
      or name == "info")
    assert_harmless(display.text({ value }), "in a table: " .. name, true)
    if name == "ds" or name == "p" then assert_harmless(tostring(value), name, true) end
  end
  local figure = sc.plot.bars{ names = { BAD, "b" }, values = { 1, 2 }, title = BAD }
  assert_harmless(figure:text{ width = 80 }, "a picture")
  assert_harmless(tostring(figure), "a printed picture")
end

function TestTerminalTexts:test_warnings()
  assert_harmless(support.stderr_of(function() require("scullery.base.warn")(BAD) end), "warn")
  local path = support.write(nil, ("x,%s,y\n1,2,a\n2,3,b\n"):format((BAD:gsub("\r", ""))))
  assert_harmless(support.stderr_of(function()
    sc.data.csv(path, { like = { format = "csv", header = true, columns = { { name = "x",
      kind = "number" } }, target = { name = "y", kind = "category" } } })
  end), "notes of a reader")
  os.remove(path)
end

-- The error output of a command of the shell.
local function errors_of(line)
  local _, _, err = support.shell(line)
  return err
end

function TestTerminalTexts:test_errors_of_scripts_and_commands()
  local bad = quote(BAD)
  for where, line in pairs{
    raised = binary .. " -e " .. quote("error(" .. ("%q"):format(BAD) .. ")"),
    script = binary .. " " .. bad,
    option = binary .. " " .. quote("-" .. BAD),
    file = binary .. " -e " .. quote(("sc.data.csv(%q, { target = 'y' })"):format(BAD)),
    model = binary .. " -e " .. quote(("sc.load(%q)"):format(BAD)),
    stage = binary .. " -e " .. quote(("sc.pipeline{ [%q] = 1 }"):format(BAD)),
    predict = binary .. " predict " .. bad .. " " .. bad,
    argument = binary .. " data " .. bad,
    log = ("SCULLERY_LOG=%s %s -e %s"):format(quote("/nonexistent/" .. BAD), binary,
      quote("sc.pipeline{ sc.solver.ridge{} }:fit(sc.dataset{ X = sc.randn{ 9, 2, seed = 1 }, \z
        y = sc.ones(9, 1), task = 'regression' })")),
    startup = "SCULLERY_STARTUP=" .. bad .. " " .. binary .. " -e x=1 -i </dev/null" } do
    assert_harmless(errors_of(line), where)
  end
end

function TestTerminalTexts:test_a_scripts_own_strings_print_as_they_are()
  local _, out = support.shell(binary .. " -e " .. quote(("print(%q)"):format(BAD)))
  lu.assertEquals(out, BAD .. "\n")
end

function TestTerminalTexts:test_a_core_call_refuses_what_is_no_text()
  lu.assertFalse((pcall(core.text_shown, {})))
end

os.exit(lu.LuaUnit.run(), true)
