-- Words that people bring along: what help "imputation" and help "predict_proba" find.
local lu = require "luaunit"
local help = require "scullery.help"
local familiar = require "scullery.help.familiar"
local objects = require "scullery.base.objects"

local source = os.getenv("SCULLERY_SOURCE") or "."

TestFamiliarWords = {}

function TestFamiliarWords:test_every_word_leads_to_topics_that_exist()
  local topics = help.topics()
  for _, word in ipairs(familiar.words()) do
    lu.assertNil((help.topic(word)), word .. " is a topic itself: its row is never shown")
    for _, one in ipairs(familiar.topics(word)) do lu.assertNotNil(topics[one[1]], one[1]) end
  end
end

TestMethods = {}

-- Methods are in several files: help knows those of all.
function TestMethods:test_every_method_has_a_topic()
  require "scullery" -- loads every file with methods
  local topics, count = help.topics(), 0
  for _, class in ipairs(objects.classes()) do
    local known = class.__name == "pipeline" or class.__name == "dataset"
    for name in pairs(known and class.methods or {}) do
      count = count + 1
      lu.assertNotNil(topics[class.__name .. ":" .. name], class.__name .. ":" .. name)
    end
  end
  lu.assertTrue(count > 40)
end

function TestFamiliarWords:test_what_a_newcomer_asks_for()
  for word, answer in pairs{
    imputation = "missing_values", sep = "separator", shape = "matrix:rows", cv = "pipeline:cv",
    predict_proba = "pipeline:probabilities", coef_ = "pipeline:weights", rbf = "sampler.gaussian",
    n_components = "features", ["Cross-Validation"] = "pipeline:cv", SVC = "solver.svm",
    RBFSampler = "nonlinearity.fourier", fillna = "missing_values", n_jobs = "sc.threads",
    GridSearchCV = "p:search", xyzzy = "There is no help on 'xyzzy'",
  } do
    lu.assertStrContains(help.text(word), answer)
  end
  lu.assertNotStrContains(help.text("imputation"), "did you mean")
end

function TestFamiliarWords:test_rows_of_a_whole_name_come_alone()
  local rows = familiar.rows("Ridge")
  lu.assertTrue(#rows > 0)
  for _, row in ipairs(rows) do lu.assertStrContains(row[1], "Ridge") end
  lu.assertEquals(#familiar.rows("KernelRidge"), 1)
  lu.assertEquals(familiar.rows("nosuchname"), {})
  for _, row in ipairs(rows) do lu.assertNotStrContains(table.concat(row), "`") end
end

function TestFamiliarWords:test_a_name_of_two_topics_leads_to_both()
  local text = help.text("threshold")
  lu.assertStrContains(text, "sc.sampler.threshold")
  lu.assertStrContains(text, "Also called 'threshold':\n  pipeline:threshold")
  lu.assertNotStrContains(help.text("pipeline:threshold"), "Also called")
end

function TestFamiliarWords:test_entries_with_spaces_in_their_names_stay_apart()
  local fold = require("scullery.help.folding").fold
  lu.assertEquals(fold("  Nys(a, b)  one two three\n  PCA(k)     four five six", 26),
    "  Nys(a, b)  one two three\n  PCA(k)     four five six")
  lu.assertEquals(fold("  Nys(a, b)  one two three\n  PCA(k)     four five six", 22),
    "  Nys(a, b)  one two\n    three\n  PCA(k)     four five\n    six")
end

-- Every method of the objects that have a page of methods.
function TestFamiliarWords:test_methods_have_their_texts()
  local count = 0
  for _, class in ipairs(objects.classes()) do
    for name in pairs(help.topic(class.__name .. " methods") and class.methods or {}) do
      count = count + 1
      lu.assertNotNil(help.topic(class.__name .. ":" .. name), class.__name .. ":" .. name)
    end
  end
  lu.assertTrue(count > 100, tostring(count))
end

-- Whatever the page lists is found under its own name.
function TestFamiliarWords:test_every_name_of_the_page_is_found()
  local theirs, count = false, 0
  for line in io.lines(source .. "/docs/from_scikit_learn.md") do
    local first, second = line:match("^| ([^|]*) | ([^|]*) |")
    if second == "Scullery" then theirs = true elseif not line:find("^|") then theirs = false end
    if theirs and first and second ~= "Scullery" then
      for name in first:gmatch("`([%a_][%w_]*)") do
        count = count + 1
        lu.assertTrue(#familiar.rows(name) > 0, name)
      end
    end
  end
  lu.assertTrue(count > 60, tostring(count))
end

os.exit(lu.LuaUnit.run(), true)
