-- How values print at the prompt: tables, functions, objects, and nothing by its address.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local display = require "scullery.prompt.display"

local function text(value, width) return display.text(value, { width = width }) end

TestValues = {}

function TestValues:test_texts_are_quoted_with_escapes()
  lu.assertEquals(text "a\n\"b\"\\\t\1\xffé", [["a\n\"b\"\\\t\x01\xffé"]])
  lu.assertEquals(text(("x"):rep(10007)), '"' .. ("x"):rep(10000) .. '" ... 7 more bytes')
  for _, given in ipairs{ "plain", "a\n\"b\"\\\t\1\xff\200é", "" } do
    lu.assertEquals(load("return " .. text(given))(), given)
  end
end

function TestValues:test_numbers_and_the_like()
  lu.assertEquals(text(1), "1")
  lu.assertEquals(text(1.0), "1.0")
  lu.assertEquals({ text(0 / 0), text(1 / 0), text(-1 / 0) }, { "nan", "inf", "-inf" })
  lu.assertEquals({ text(nil), text(true) }, { "nil", "true" })
  lu.assertEquals(text(coroutine.create(print)), "coroutine, suspended")
  lu.assertEquals(text(io.stdout), "file")
end

function TestValues:test_tables_have_lists_first_and_sorted_keys()
  lu.assertEquals(text{}, "{}")
  lu.assertEquals(text{ 1, "b", { c = 2 } }, '{ 1, "b", { c = 2 } }')
  lu.assertEquals(text{ b = 1, a = 2, [2.5] = 3, [true] = 4, ["end"] = 5, 6 },
    '{ 6, [2.5] = 3, a = 2, b = 1, ["end"] = 5, [true] = 4 }')
  lu.assertEquals(text({ alpha = 1, beta = { 1, 2, 3 } }, 20),
    "{\n  alpha = 1,\n  beta = {\n    1, 2, 3\n  }\n}")
end

function TestValues:test_cycles_end()
  local a = { b = { c = {} } }
  a.b.c.d = a.b
  lu.assertEquals(text(a), "{ b = { c = { d = { the table at .b again } } } }")
  a.a = a
  lu.assertStrContains(text(a), "{ the table above again }")
  local shared = {}
  lu.assertEquals(text{ shared, shared }, "{ {}, {} }") -- twice is no cycle
end

function TestValues:test_what_is_left_out_is_counted()
  local list = {}
  for i = 1, 1093 do list[i] = i end
  lu.assertStrContains(text(list), "... 993 more")
  lu.assertStrContains(text{ inner = list }, "... 1073 more")
  local deep = {}
  for _ = 1, 100 do deep = { deep } end
  lu.assertStrContains(text(deep), "{...}")
  lu.assertStrContains(text(sc.data.list()), "wdbc")
end

function TestValues:test_large_values_stay_short()
  local rows, long = {}, ("x"):rep(1e6)
  for i = 1, 1000 do rows[i] = { name = long, list = { long } } end
  lu.assertTrue(#text(rows) < 100000)
  local wide = {}
  for i = 1, 1000 do wide["key" .. i] = { { { i } } } end
  local _, lines = text(wide):gsub("\n", "")
  lu.assertTrue(lines <= 401)
end

function TestValues:test_lines_keep_within_the_width()
  local value = { alpha = 1, list = {}, inner = { one = "first", two = { "second", "third" } } }
  for i = 1, 60 do value.list[i] = i * 1000 end
  for _, width in ipairs{ 20, 40, 79 } do
    for line in text(value, width):gmatch("[^\n]+") do lu.assertTrue(#line <= width, line) end
  end
end

function TestValues:test_keys_are_coloured_on_request_alone()
  lu.assertEquals(display.text({ a = 1 }, { colour = true }), "{ \27[36ma\27[0m = 1 }")
  lu.assertEquals(display.text({ a = 1 }), "{ a = 1 }")
  lu.assertStrContains(display.text(sc.sampler, { colour = true }), "\27[1msc.sampler:\27[0m")
  lu.assertNotStrContains(display.text(sc.sampler), "\27")
end

function TestValues:test_several_values_share_a_line_where_they_fit()
  lu.assertEquals(display.values({ 1, nil, "x", n = 3 }), '1\tnil\t"x"')
  local long = ("x"):rep(60)
  lu.assertEquals(display.values({ long, long, n = 2 }), ('"%s"\n"%s"'):format(long, long))
end

TestObjects = {}

function TestObjects:test_functions_say_what_they_take()
  local function user(first, ...) return first, ... end
  local line = debug.getinfo(user, "S").linedefined
  lu.assertStrMatches(text(user), "function%(first, %.%.%.%), .*display_test%.lua:" .. line)
  lu.assertEquals(text(string.rep), "function string.rep")
  lu.assertStrContains(text(sc.data.csv), "sc.data.csv(path[, { ... }]): a data set")
  lu.assertStrContains(text(sc.solver.ridge), "sc.solver.ridge{...}: ")
  lu.assertStrContains(text(sc.zeros), "sc.zeros(n[")
  lu.assertStrContains(text(sc.ones(1).sum), "X:sum([axis])")
  lu.assertStrContains(text(sc.pipeline{ sc.minmax() }.predict), "p:predict(X")
end

function TestObjects:test_namespaces_and_modules_list_their_members()
  lu.assertStrMatches(text(sc.sampler), ".*\n  gaussian +Gaussian rows.*")
  lu.assertStrMatches(text(sc.metrics), ".*\n  accuracy +the share of rows.*")
  lu.assertStrContains(text(sc), "  pipeline  ")
  lu.assertEquals(text{ sc.sampler, sc.metrics, sc }, "{ sc.sampler, sc.metrics, sc }")
end

function TestObjects:test_matrices_have_their_shape()
  lu.assertStrContains(text(sc.zeros(1000, 1000)), "matrix 1000 x 1000 float64")
  lu.assertStrContains(text(sc.zeros(1000, 1000)), "...")
  lu.assertEquals(text{ X = sc.zeros(3, 2) }, "{ X = matrix 3 x 2 float64 }")
end

function TestObjects:test_failing_metamethods_are_told()
  local value = setmetatable({}, { __tostring = function() error("mine", 0) end })
  lu.assertStrContains(text(value), "whose __tostring fails: mine")
  lu.assertStrContains(text(setmetatable({}, { __tostring = function() return {} end })), "fails")
  local trap = setmetatable({ 1, 2 }, { __index = error, __len = error, __pairs = error })
  lu.assertEquals(text(trap), "{ 1, 2 }")
  lu.assertEquals(text(setmetatable({ a = 1 }, { __metatable = "locked" })), "{ a = 1 }")
  lu.assertEquals(text(setmetatable({}, { __name = "mine" })), "mine {}")
end

-- ------------ what is listed can be called

-- A comment that begins with how one calls it stands above each method and function.
function TestObjects:test_every_function_that_is_reached_says_how_it_is_called()
  local help = require "scullery.help"
  local ds = sc.data.load "wdbc"
  local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.fourier(), T = 10 }, sc.solver.ridge() }
  local X = sc.randn{ 20, 3 }
  local objects = { ds, p, p.features, sc.standardize(), sc.choose{ 1 }, sc.solver.ridge(), X,
    sc.matrix.csr(X),
    sc.plot.line{ x = { 1 }, y = { 1 } }, p:cv(ds, { folds = 2 }), sc.space.dense(),
    sc.instantiation{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sign() } }
  for _, object in ipairs(objects) do
    local meta = getmetatable(object)
    local methods = core.is_matrix(object) and core.matrix_methods
      or core.is_sparse(object) and core.sparse_methods or meta.methods
    for name, method in pairs(methods) do
      local about = type(method) == "boolean" and help.topic("matrix:" .. name)
        or help.brief(method)
      lu.assertNotNil(about, name)
      local called = about:find("^[%w]+:" .. name .. "%(") or about:find("[%w]+[.:]" .. name)
      lu.assertNotNil(called, about)
    end
  end
  for module in pairs{ data = 1, codes = 1, choose = 1, plugin = 1, metrics = 1, progress = 1,
    matrix = 1, experiment = 1, plot = 1 } do
    for name, f in pairs(sc[module]) do
      local about = type(f) == "function" and help.brief(f)
      lu.assertTrue(about and about:find("sc." .. module .. "." .. name, 1, true) ~= nil,
        module .. "." .. name .. ": " .. tostring(about))
    end
  end
end

-- ------------ addresses

local visited

-- Everything that is reached from a value by its fields, its methods and calls without arguments.
local function walk(value, path, depth)
  local kind = type(value)
  if kind ~= "table" and kind ~= "userdata" and kind ~= "function" or visited[value] then return end
  visited[value] = true
  lu.assertNil(text(value):match("0x%x%x%x%x%x+"), path)
  if kind == "function" then return end
  local meta = getmetatable(value)
  if meta then lu.assertNil(tostring(value):match("0x%x%x%x%x%x+"), "tostring of " .. path) end
  if depth == 0 then return end
  for key, inner in pairs(kind == "table" and value or {}) do
    walk(inner, path .. "." .. tostring(key), depth - 1)
  end
  for name, method in pairs(type(meta) == "table" and rawget(meta, "methods") or {}) do
    walk(method, path .. ":" .. name, depth - 1)
  end
end

local function plain(value)
  local copy = {}
  for key, inner in pairs(value) do copy[key] = inner end
  return copy
end

function TestObjects:test_figures_print_as_pictures_and_within_tables_by_title()
  local fig = sc.plot.line{ x = { 1, 2 }, y = { 1, 2 }, title = "Squares" }
  lu.assertEquals(display.text(fig, { width = 40 }), fig:text{ width = 40 })
  lu.assertEquals(display.text(fig, { width = 40, colour = true }),
    fig:text{ width = 40, colour = true })
  lu.assertEquals(display.text{ fig, other = fig },
    '{ figure "Squares", other = figure "Squares" }')
end

function TestObjects:test_a_display_of_a_script_that_fails_is_told()
  local function broken() error("broken", 0) end
  lu.assertEquals(text(setmetatable({}, { __display = broken })),
    "a table, whose __display fails: broken")
  lu.assertStrContains(text(setmetatable({}, { __display = 3 })), "whose __display fails")
end

-- Plain tables that a function gives print by their address with Lua's own tostring, as any table;
-- the prompt shows their contents.
function TestObjects:test_nothing_prints_an_address()
  visited = {}
  for name, value in pairs(sc) do walk(value, "sc." .. name, 3) end
  lu.assertNil(tostring(sc):match("0x%x+"))
  local ds = sc.data.load "wdbc"
  local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.fourier(), T = 10 },
    sc.solver.ridge{ lambda = sc.choose{ 1e-3, 1e-2 } } }
  local best = p:search(ds, { folds = 2 })
  local feats = sc.features{ p = sc.sampler.threshold(), phi = sc.nonlinearity.sign(), T = 8 }
  local objects = { ds = ds, p = p, best = best, table = best.table, choose = sc.choose.log{ 1, 2 },
    stage = sc.standardize(), features = feats, space = sc.space.dense(), X = ds.X,
    codes = feats:codes(ds), cv = best:clone():cv(ds, { folds = 2 }), list = sc.data.list(),
    kernel = sc.kernel.gaussian(), confusion = sc.metrics.confusion(best:labels(ds), ds:labels()),
    error = sc.kernel_error{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.fourier(), X = sc.randn{ 20, 3 }, T = { 16 }, seeds = 2 } }
  for name, object in pairs(objects) do
    walk(object, name, getmetatable(object) and 1 or 2)
  end
  for name, value in pairs{ info = best:info(), schema = ds.schema, plugins = sc.plugin.list(),
    plugin = sc.plugin.info "ridge", loaded = plain(core) } do
    lu.assertNil(text(value):match("0x%x%x%x%x%x+"), name)
  end
end

-- ------------ long lines of help

function TestHelpIsFoldedBetweenWords()
  local fold = require("scullery.help.folding").fold
  lu.assertEquals(fold("a line of words", 40), "a line of words")
  lu.assertEquals(fold("a line\n\nof words that", 8), "a line\n\nof words\nthat")
  -- a paragraph goes on, a heading and a list do not
  lu.assertEquals(fold("one two three\nfour five\nsix", 8), "one two\nthree\nfour\nfive six")
  lu.assertEquals(fold("  one two three\n  four", 10), "  one two\n  three\n  four")
  lu.assertEquals(fold("  one two three\n  four", 12), "  one two\n  three four")
  lu.assertEquals(fold("sc.a{...}: b c d\nfour", 14), "sc.a{...}: b c\nd\nfour")
  lu.assertEquals(fold("one two three\nAll:\n  x", 8), "one two\nthree\nAll:\n  x")
  lu.assertEquals(fold("  name  what it does to rows", 16),
    "  name  what it\n        does to\n        rows")
  lu.assertEquals(fold("  a_long_name  what it does", 16), "  a_long_name\n    what it does")
  lu.assertEquals(fold("ä ö ü ä ö ü", 5), "ä ö ü\nä ö ü") -- characters, not bytes
  lu.assertEquals(fold("  " .. ("x"):rep(30) .. " y", 10), "  " .. ("x"):rep(30) .. "\n  y")
  local overview = require("scullery.help").text(sc)
  for columns = 20, 120, 20 do
    local folded = fold(overview, columns)
    lu.assertEquals(folded:gsub("%s+", " "), (overview:gsub("%s+", " ")))
    for line in folded:gmatch "[^\n]+" do
      lu.assertTrue(#line <= columns or not line:find("%S%s+%S"), line)
    end
  end
end

os.exit(lu.LuaUnit.run(), true)
