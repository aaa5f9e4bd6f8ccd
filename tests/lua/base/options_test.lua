-- Named options: defaults, what each rule refuses and by which sentence, and how values are shown.
-- luacheck: globals TestOptions
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local options = require "scullery.base.options"

local fails = lu.assertErrorMsgContains

TestOptions = {}

local rules = {
  count = { type = "integer", low = 1, high = 9, default = 3 },
    width = { type = "number", above = 0 }, name = { type = "string" },
  kind = { choices = { "a", "b" } }, flag = { type = "boolean" },
    must = { type = "any", required = true },
}

local function check(given) return options.check("f", given, rules, 0) end

function TestOptions:test_defaults_and_values_come_in_a_fresh_table()
  local given = { must = 1, flag = false }
  local result = check(given)
  lu.assertEquals(result, { must = 1, flag = false, count = 3 })
  lu.assertNil(given.count)
end

function TestOptions:test_whole_floats_become_integers()
  lu.assertEquals(math.type(check{ must = 1, count = 4.0 }.count), "integer")
end

function TestOptions:test_each_rule_refuses_with_a_sentence()
  fails("f: option 'count' got 10; it takes a whole number from 1 to 9", check,
    { must = 1, count = 10 })
  fails("f: option 'count' got 1.5", check, { must = 1, count = 1.5 })
  fails("f: option 'width' got 0; it takes a number above 0", check, { must = 1, width = 0 })
  fails("f: option 'width' got nan", check, { must = 1, width = 0 / 0 })
  fails("f: option 'name' got {1, 2}; it takes a text", check, { must = 1, name = { 1, 2 } })
  fails("f: option 'kind' got \"c\"; it takes one of a, b", check, { must = 1, kind = "c" })
  fails("f: option 'flag' got 1; it takes true or false", check, { must = 1, flag = 1 })
  fails("f: option 'must' is missing", check, {})
  fails("f: unknown option 'cuont' (did you mean 'count'?); it takes count, flag, kind, must, \z
    name, width", check, { must = 1, cuont = 1 })
  fails("f: takes named options, and got 7 without a name; it takes count, flag, kind, must, \z
    name, width", check, { must = 1, 7 })
  fails("f: takes a table of named options, and got \"x\"", check, "x")
end

function TestOptions:test_of_several_mistakes_the_first_by_name_is_told()
  for _ = 1, 20 do fails("'zebra1'", check, { must = 1, zebra1 = 1, zebra2 = 1, zebra3 = 1 }) end
end

function TestOptions:test_nearest_finds_small_slips_only()
  lu.assertEquals(options.nearest("lamda", { "lambda", "sigma" }), "lambda")
  lu.assertEquals(options.nearest("gausian", { "threshold", "gaussian" }), "gaussian")
  lu.assertNil(options.nearest("completely", { "lambda", "sigma" }))
  lu.assertNil(options.nearest("x", {}))
end

function TestOptions:test_any_value_can_be_shown_in_short()
  local loop = {}
  loop[1] = loop
  lu.assertEquals(options.show(loop), "{{{...}}}")
  lu.assertEquals(options.show("a\nb"), "\"a\\nb\"")
  lu.assertEquals({ options.show(0.1), options.show(3), options.show(nil), options.show(0 / 0) },
    { "0.1", "3", "nil", "nan" })
  lu.assertTrue(#options.show(("x"):rep(1000)) < 80)
  lu.assertStrContains(options.show(sc.range(1, 100)), "8, ...")
end

function TestOptions:test_guard_points_at_the_line_of_the_user()
  local _, message = pcall(load("local sc = ...\n\nsc.dataset{ X = { { 1 } }, y = { 1, 2 } }",
    "=script.lua"), sc)
  lu.assertEquals(message, "script.lua:3: dataset: X and y have 1 and 2 rows")
  _, message = pcall(load("local ds = ...\nlocal a = ds:split{ test = -1 }\nreturn a",
    "=script.lua"), sc.dataset{ X = { { 1 }, { 2 }, { 3 }, { 4 } }, y = { 1, 1, 2, 2 } })
  lu.assertStrContains(message, "script.lua:2: dataset:split: option 'test' got -1")
end

os.exit(lu.LuaUnit.run(), true)
