-- Completion: names, methods, options and their words, and what stands in quotes.
local lu = require "luaunit"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"
local sc = require "scullery"
local completion = require "scullery.prompt.completion"

local environment

-- What can stand at the end of a text, and the place where it begins.
local function at(text)
  local place, list = completion.at(text, environment)
  return list, place
end

local function one(text)
  local list = at(text)
  lu.assertEquals(#list, 1, text .. ": " .. table.concat(list, " "))
  return list[1]
end

TestCompletion = {}

function TestCompletion:setUp()
  environment = setmetatable({ sc = sc, help = require "scullery.help" }, { __index = _G })
end

function TestCompletion:test_names_and_keywords()
  lu.assertEquals(one "sc.sam", "sampler")
  lu.assertEquals(one "x = coroutine.wr", "wrap")
  lu.assertEquals(at "math.m", { "max", "maxinteger", "min", "mininteger", "modf" })
  lu.assertEquals(one "hel", "help")
  lu.assertEquals(one "whi", "while")
  lu.assertEquals({ at "y = sc.sam" }, { { "sampler" }, 8 })
  lu.assertEquals(one "a..sc.samp", "sampler")
end

function TestCompletion:test_plugins_by_kind()
  local found = at "sc.sampler."
  for _, entry in ipairs(require("scullery.core").plugin_list()) do
    if entry.kind == "sampler" then lu.assertTableContains(found, entry.name) end
  end
end

function TestCompletion:test_methods_follow_colons()
  environment.a_matrix = sc.ones(2)
  environment.a_model = sc.pipeline{ sc.standardize() }
  lu.assertEquals(one "a_matrix:sli", "slice")
  lu.assertEquals(one "a_model:pred", "predict")
  lu.assertEquals(at "a_model:row", {}) -- a field, no method
  lu.assertTableContains(at "a_model.", "predict")
end

function TestCompletion:test_nothing_is_called_and_nothing_fails()
  environment.a_trap = setmetatable({}, { __index = function() error("touched") end })
  for _, text in ipairs{ "f().x", "a_trap.b.c", "1.", "'a'.", "nosuch.x", "sc.nosuch.x", ".", "a:",
    "sc..", "t[1].x", "-- sc.sam", "'sc.sam", "[[sc.sam", "--[[ sc.sam", "sc:fit:", "::", "{{{{",
    ")", "x?" } do
    lu.assertEquals({ text, (at(text)) }, { text, {} })
  end
end

function TestCompletion:test_options_of_readers_and_components()
  lu.assertEquals(one 'sc.data.csv("a.csv", { targ', "target")
  lu.assertEquals(one 'sc.data.csv("a.csv", { target = "y", qui', "quiet")
  lu.assertEquals(one 'sc.data.libsvm("a", {\n  feat', "features")
  lu.assertTableContains(at 'sc.data.csv("a.csv", { missing', "missing_values")
  lu.assertEquals(one "sc.solver.ridge{ lam", "lambda")
  lu.assertNotTableContains(at "sc.solver.ridge{ lambda = 1, ", "lambda") -- given already
  lu.assertEquals(one 'sc.data.csv("a.csv", { target = table.conc', "concat") -- a value
  lu.assertEquals(at 'sc.data.csv("a.csv", { target = "y" }); targ', {}) -- after the braces
  lu.assertEquals(at "local t = { targ", {}) -- a table of nothing of ours
end

function TestCompletion:test_options_of_functions_and_methods()
  environment.p = sc.pipeline{ sc.standardize() }
  environment.ds = sc.data.load "wdbc"
  local cases = { ["sc.features{ sam"] = "samples", ["sc.pca{ "] = "k",
    ["sc.pipeline{ sc.standardize(), all"] = "allowance", ["sc.kernel_error{ see"] = "seeds",
    ["sc.dataset{ ta"] = "task", ["p:search(ds, { dra"] = "draws", ["p:cv(ds, { rep"] = "repeats",
    ["ds:split{ strat"] = "stratify", ["ds:folds{ strat"] = "stratify",
    ["p:prune{ eps"] = "epsilon", ["p:bound{ del"] = "delta", ["p:calibrate{ fo"] = "folds",
    ['p:save("f", { par'] = "parameters",
    ["sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, met"] = "method",
    ["sc.data.rows{ tar"] = "targets", ["sc.plot.line{ legend_"] = "legend_title",
    ["sc.plot.panels{ fig, col"] = "columns", ["sc.experiment{ proc"] = "processes",
    ["sc.metrics.f1(a, b, { av"] = "average",
    ["p:plot{ ti"] = "title", ["unknown:report{ ti"] = "title" }
  for text, name in pairs(cases) do lu.assertEquals({ text, (at(text)) }, { text, { name } }) end
  -- the object is not known yet: options of all methods of that name
  lu.assertEquals(one "unknown:search(ds, { dra", "draws")
end

-- What completion offers is what the functions take: each is refused as a value, not as a name.
function TestCompletion:test_each_option_that_is_offered_is_taken()
  local p = sc.pipeline{ sc.standardize() }
  environment.p, environment.ds = p, sc.data.load "wdbc"
  local calls = { ["sc.features{"] = sc.features, ["sc.dataset{"] = sc.dataset,
    ["sc.data.rows{"] = sc.data.rows, ["sc.kernel_error{"] = sc.kernel_error,
    ["ds:split{"] = function(given) environment.ds:split(given) end,
    ["p:search(ds, {"] = function(given) p:search(environment.ds, given) end,
    ["p:cv(ds, {"] = function(given) p:cv(environment.ds, given) end }
  for text, call in pairs(calls) do
    local names = at(text)
    lu.assertTrue(#names > 2, text)
    for _, name in ipairs(names) do
      local _, message = pcall(call, { [name] = function() end })
      lu.assertNotStrContains(tostring(message), "unknown option", false, false)
    end
    lu.assertStrContains(select(2, pcall(call, { nosuch = 1 })), "unknown option")
  end
end

function TestCompletion:test_words_that_an_option_takes()
  lu.assertEquals(at 'sc.features{ dtype = "', { "float32", "float64", "int16", "int8" })
  lu.assertEquals(one "sc.solver.ridge{ penalty = 'r", "rkhs")
  lu.assertEquals(one 'sc.data.csv("a", { categorical = "dr', "drop")
  lu.assertEquals(one 'unknown:search(ds, { rule = "on', "one_se")
  lu.assertEquals(at 'sc.solver.ridge{ lambda = "', {})
  lu.assertEquals(at 'sc.sampler.gaussian{ gamma = "', { "median", "scale" }) -- beside numbers
  lu.assertEquals(at 'unknown:search(ds, { folds = "', { "gcv", "loo", "time" })
  lu.assertEquals(one 'unknown:score(ds, { metric = "pinb', "pinball")
  lu.assertEquals(at 'unknown:cv(ds, { score = "m', { "mae", "mcc", "mse" })
end

function TestCompletion:test_names_in_quotes()
  lu.assertEquals(one 'sc.data.load("wd', "wdbc")
  lu.assertEquals(one 'sc.data.load "wd', "wdbc")
  lu.assertEquals(at 'sc.data.load("mnist", "t', { "test", "train" })
  lu.assertEquals(one 'help "pipeline:fi', "pipeline:fit")
  lu.assertEquals(one 'sc.plugin.info("solver.ri', "solver.ridge")
end

function TestCompletion:test_kinds_of_pictures_in_quotes()
  environment.p = sc.pipeline{ sc.standardize() }
  local all = { "bands", "calibration", "coefficients", "confusion", "dependence", "importance",
    "lift", "pr", "residuals", "roc" }
  lu.assertEquals(at 'p:plot("', all)
  lu.assertEquals(one 'p:plot "res', "residuals")
  lu.assertEquals(at 'unknown:plot("', all)
  environment.text = "a"
  lu.assertEquals(at 'text:plot("', {})
end

function TestCompletion:test_paths_in_quotes()
  local folder = os.tmpname()
  os.remove(folder)
  os.execute(("mkdir -p %s/inner && touch %s/one.csv %s/.hidden"):format(folder, folder, folder))
  for _, text in ipairs{ 'sc.data.csv("', 'sc.data.csv({ "', 'io.open("', 'sc.load "',
    "dofile('", 'environment_unknown:save("', ":load " } do
    lu.assertEquals({ text, (at(text .. folder .. "/o")) }, { text, { folder .. "/one.csv" } })
  end
  lu.assertEquals(at('sc.load("' .. folder .. "/"), { folder .. "/inner/", folder .. "/one.csv" })
  lu.assertEquals(at('sc.load("' .. folder .. "/nosuch/"), {})
  lu.assertEquals(at('string.rep("' .. folder .. "/o"), {}) -- takes no path
  os.execute("rm -r " .. support.quote(folder))
end

function TestCompletion:test_names_of_files_cannot_act_on_the_terminal()
  local folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir " .. folder)
  for _, name in ipairs{ "a\27]0;title\7", "aé.csv", "a\u{9b}2Jb" } do
    assert(io.open(folder .. "/" .. name, "w")):close()
  end
  local typed = 'sc.data.csv("' .. folder .. "/a"
  lu.assertEquals(#at(typed), 2, "that with control characters of ASCII cannot be typed")
  local _, list = completion.add(typed, environment, 80)
  lu.assertStrContains(list, "/aé.csv")
  lu.assertNil(list:find("[\0-\9\11-\31]"), list)
  lu.assertNil(list:find("\u{9b}", 1, true), list)
  os.execute("rm -r " .. support.quote(folder))
end

function TestCompletion:test_names_of_files_are_written_as_lua_writes_them()
  support.in_folder(function(folder)
    for _, name in ipairs{ [[a"b.csv]], [[c\d.csv]], "e'f.csv", "ü.csv" } do
      support.write(folder .. "/" .. name, "")
    end
    for typed, wanted in pairs{ ['"a'] = [[a\"b.csv]], ['"a\\"'] = [[a\"b.csv]],
      ["'a"] = [[a"b.csv]], ['"c'] = [[c\\d.csv]], ['"c\\\\'] = [[c\\d.csv]],
      ["'e"] = [[e\'f.csv]], ['"e'] = "e'f.csv", ['"\\u{fc}'] = [[\u{fc}.csv]] } do
      local text = "io.open(" .. typed:sub(1, 1) .. folder .. "/" .. typed:sub(2)
      lu.assertEquals({ typed, (at(text)) }, { typed, { folder .. "/" .. wanted } })
      local quote = typed:sub(1, 1)
      local name = load("return " .. quote .. at(text)[1] .. quote)()
      lu.assertEquals(type(support.read(name)), "string")
    end
    lu.assertEquals(at('io.open("' .. folder .. "/c\\"), {}) -- within an escape
    lu.assertEquals(at(":load " .. folder .. '/a"'), { folder .. '/a"b.csv' })
  end)
end

function TestCompletion:test_commands()
  lu.assertEquals(one ":wh", "who")
  lu.assertEquals({ at ":time sc.samp" }, { { "sampler" }, 10 })
end

-- What Tab adds, and what it prints.
function TestCompletion:test_candidates_are_told_or_in_columns()
  environment.p = sc.pipeline{ sc.standardize() }
  local add, list = completion.add("sc.sam", environment, 80)
  lu.assertEquals({ add, list }, { "pler", nil })
  add, list = completion.add("p:sa", environment, 80)
  lu.assertEquals({ add, list }, { "ve", nil })
  add, list = completion.add("sc.solver.ridge{ ", environment, 80)
  lu.assertEquals(add, "")
  lu.assertStrContains(list, "lambda     regularisation of the mean loss\n")
  for _, width in ipairs{ 20, 80, 200 } do
    add, list = completion.add("sc.", environment, width)
    lu.assertEquals(add, "")
    for line in list:gmatch("[^\n]+") do lu.assertTrue(#line <= math.max(width, 16), line) end
    lu.assertStrContains(list, "sampler")
  end
end

function TestCompletion:test_no_metamethod_of_a_script_is_called()
  local called = {}
  local function hostile(what)
    return function() called[#called + 1] = what error("called") end
  end
  environment.odd = setmetatable({ aa = setmetatable({}, { __index = hostile "inner" }) },
    { __index = hostile "__index", __pairs = hostile "__pairs", __call = hostile "__call",
      __len = hostile "__len", __tostring = hostile "__tostring", __name = {} })
  for _, text in ipairs{ "odd.", "odd:", "odd.b", "odd.aa.", "odd.bb.cc.", "odd{", "odd:aa{ ",
    "odd{ x = ", "odd '", "odd.bb'", "odd.aa.bb { ", "x = odd.a" } do
    completion.add(text, environment, 80)
  end
  lu.assertEquals(called, {})
  lu.assertEquals(one "odd.a", "aa")
end

os.exit(lu.LuaUnit.run(), true)
