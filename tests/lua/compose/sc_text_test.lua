--- sc.text: rows of texts against a computation in Lua, pipelines on texts from fit to saved file,
--- searches, bad input.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local lu = require "luaunit"
local matching = require "scullery.data.matching"
local recipe = require "scullery.model.recipe"
local sc = require "scullery"

local function temporary(body)
  local path = os.tmpname()
  local ok, message = pcall(body, path)
  os.remove(path)
  if not ok then error(message, 0) end
end

-- Texts of two classes with words of their own among common ones.
local function mails(n, seed)
  local u = sc.rand{ n, 41, seed = seed }
  local own = { { "prize", "winner", "click" }, { "lunch", "report", "Café" } }
  local X, y = {}, {}
  for i = 1, n do
    local class, words = i % 2 + 1, {}
    for k = 1, 10 + i % 11 do
      local v = u:get(i, 2 * k)
      words[k] = u:get(i, 2 * k - 1) < 0.25 and own[class][math.floor(v * 3) + 1]
        or "word" .. math.floor(v * v * 90)
    end
    X[i], y[i] = table.concat(words, i % 3 == 0 and ", " or " "), class == 1 and "spam" or "ham"
  end
  return sc.dataset{ X = X, y = y }
end

-- The words of ASCII text, in lower case, of at least two characters.
local function words_of(text)
  local list = {}
  for word in text:lower():gmatch("[%w_]+") do if #word > 1 then list[#list + 1] = word end end
  return list
end

-- term -> count of the words and pairs of a text.
local function counts_of(text)
  local words, counts = words_of(text), {}
  for i, word in ipairs(words) do
    counts[word] = (counts[word] or 0) + 1
    local pair = words[i + 1] and word .. " " .. words[i + 1]
    if pair then counts[pair] = (counts[pair] or 0) + 1 end
  end
  return counts
end

function TestAVocabularyHasTheCountsOfWordsAndPairs()
  local list = { "One two, two THREE.", "", "x y one-two 42 42", "one two two three" }
  local p = sc.pipeline{ sc.text{ ngrams = { 1, 2 }, weight = "count", vocabulary = true } }
  p:fit(sc.dataset{ X = list, y = { 1, 2, 3, 4 }, task = "regression" })
  local _, terms = core.text_columns(p.fitted.encoder)
  local X = p:transform(list)
  for i, text in ipairs(list) do
    local counts = counts_of(text)
    for j = 1, #terms do
      lu.assertEquals(X:get(i, j), counts[terms[j]] or 0, terms[j])
      if j > 1 then lu.assertTrue(terms[j - 1] < terms[j]) end
    end
    for term in pairs(counts) do
      local found = false
      for j = 1, #terms do found = found or terms[j] == term end
      lu.assertTrue(found, term)
    end
  end
end

function TestHashedColumnsAddTheCountsOfTheirTerms()
  local list = { "one two two three", "three Two" }
  local p = sc.pipeline{ sc.text{ ngrams = { 1, 2 }, weight = "count", bits = 4 } }:fit(
    sc.dataset{ X = list, y = { 1, 2 }, task = "regression" })
  local X = p:transform(list)
  lu.assertEquals(X:cols(), 16)
  for i, text in ipairs(list) do
    local sums = {}
    local terms, columns = core.text_terms(p.fitted.encoder, text)
    for k in ipairs(terms) do sums[columns[k]] = (sums[columns[k]] or 0) + 1 end
    for j = 1, 16 do lu.assertEquals(X:get(i, j), sums[j] or 0) end
  end
end

function TestWeights()
  local list = { "aa bb bb", "bb cc", "bb" }
  local ds = sc.dataset{ X = list, y = { 1, 2, 3 }, task = "regression" }
  local function rows(o)
    o.vocabulary = true
    return sc.pipeline{ sc.text(o) }:fit(ds):transform(list)
  end
  lu.assertTrue(rows{ weight = "count" } == sc.matrix{ { 1, 2, 0 }, { 0, 1, 1 }, { 0, 1, 0 } })
  lu.assertTrue(rows{ weight = "binary" } == sc.matrix{ { 1, 1, 0 }, { 0, 1, 1 }, { 0, 1, 0 } })
  lu.assertTrue(rows{ weight = "tf" }:get(1, 2) == 2 / math.sqrt(5))
  local idf = math.log(4 / 2) + 1 -- of aa and cc; that of bb is 1
  local one = rows{ weight = "tfidf" }
  lu.assertAlmostEquals(one:get(1, 1), idf / math.sqrt(idf ^ 2 + 4), 1e-15)
  lu.assertAlmostEquals(rows{ normalize = false, sublinear = true }:get(1, 2), 1 + math.log(2),
    1e-15)
  lu.assertEquals(rows{ weight = "count", normalize = true }:get(3, 2), 1)
end

function TestMinCountAndMaxTerms()
  local ds = sc.dataset{ X = { "aa bb", "aa cc", "aa bb dd" }, y = { 1, 2, 3 },
    task = "regression" }
  local function terms(o)
    o.vocabulary = true
    local p = sc.pipeline{ sc.text(o) }:fit(ds)
    return table.concat(select(2, core.text_columns(p.fitted.encoder)):totable(), " ")
  end
  lu.assertEquals(terms{}, "aa bb cc dd")
  lu.assertEquals(terms{ min_count = 2 }, "aa bb")
  lu.assertEquals(terms{ max_terms = 3 }, "aa bb cc")
  local p = sc.pipeline{ sc.text{ vocabulary = { "dd", "aa", "zz" }, weight = "count" } }:fit(ds)
  lu.assertTrue(p:transform{ "dd dd bb" } == sc.matrix{ { 0, 2, 0 } })
  local packed = sc.texts{ "dd", "aa", "zz" }
  local q = sc.pipeline{ sc.text{ vocabulary = packed, weight = "count" } }:fit(ds)
  lu.assertTrue(q:transform{ "dd dd bb" } == p:transform{ "dd dd bb" })
end

function TestCharacters()
  local ds = sc.dataset{ X = { "ab é", "b" }, y = { 1, 2 }, task = "regression" }
  local p = sc.pipeline{ sc.text{ unit = "characters", ngrams = 2, vocabulary = true } }:fit(ds)
  local _, terms = core.text_columns(p.fitted.encoder)
  lu.assertEquals(terms:totable(), { " é", "ab", "b " })
end

-- ------------ pipelines

local function pipelines()
  return {
    sc.pipeline{ sc.text{ ngrams = { 1, 2 }, bits = 12 }, sc.solver.ridge{ lambda = 1e-3 } },
    sc.pipeline{ sc.text{ vocabulary = true, weight = "tf", min_count = 2 },
      sc.solver.logistic{ lambda = 1e-3 } },
    sc.pipeline{ sc.text{ bits = 8, weight = "count" }, sc.normalize(),
      sc.features{ p = sc.sampler.gaussian{ gamma = 0.5 }, phi = sc.nonlinearity.fourier(),
        T = 200, seed = 1 }, sc.solver.ridge{ lambda = 1e-3 } },
  }
end

function TestPipelinesLearnTextsAndKeepTheirBitsInAFile()
  local train, test = mails(300, 1):split{ test = 0.3, seed = 0 }
  for _, p in ipairs(pipelines()) do
    p:fit(train)
    lu.assertTrue(p:error(test) < 0.1, tostring(p))
    lu.assertEquals(p:labels{ "prize click winner prize", "lunch report lunch" },
      { "spam", "ham" })
    lu.assertTrue(p:decision(test) == p:decision(test.X))
    lu.assertTrue(p:decision(test) == p:decision(test.X:totable()))
    temporary(function(path)
      p:save(path)
      local loaded = sc.load(path)
      lu.assertTrue(loaded:decision(test) == p:decision(test))
      lu.assertEquals(tostring(loaded.text), tostring(p.text))
    end)
    temporary(function(path)
      p:clone():save(path)
      lu.assertEquals(tostring(sc.load(path)), tostring(p:clone()))
    end)
  end
end

function TestPredictionsDoNotDependOnThreads()
  local train, test = mails(400, 2):split{ test = 0.3, seed = 0 }
  local before, known = sc.threads(), nil
  for _, threads in ipairs{ 1, 3 } do
    sc.threads(threads)
    local said = pipelines()[2]:fit(train):decision(test)
    known = known or said
    lu.assertTrue(said == known)
  end
  sc.threads(before)
end

function TestSumsOfTextsAreUpdated()
  local ds = mails(300, 3)
  local p = sc.pipeline{ sc.text{ bits = 8, weight = "count" },
    sc.features{ p = sc.sampler.gaussian{ gamma = 0.01 }, phi = sc.nonlinearity.fourier(), T = 64,
      seed = 1, dtype = "int8" }, sc.solver.ridge{ lambda = 1e-3 } }
  local all = p:clone():fit(ds, { sums = true })
  p:fit(ds:subset(1, 200), { sums = true }):update(ds:subset(201, 300))
  lu.assertTrue(all:decision(ds) == p:decision(ds))
end

function TestFoldsAndSearches()
  local ds = mails(150, 4)
  local p = sc.pipeline{ sc.text{ bits = 10 }, sc.solver.ridge{ lambda = 1e-2 } }
  local cv = p:cv(ds, { folds = 3, seed = 1 })
  lu.assertTrue(cv.mean > 0.85)
  local found = sc.pipeline{ sc.text{ bits = 10, ngrams = sc.choose{ 1, 3 },
    weight = sc.choose{ "tfidf", "binary" } }, sc.solver.ridge{ lambda = sc.choose{ 1e-2, 1 } } }
    :search(ds, { folds = 3, seed = 1 })
  lu.assertEquals(#found.table, 8)
  lu.assertEquals(found.choice["text.ngrams"], 1)
  lu.assertEquals(found.text.given.ngrams, 1)
  for _, cell in ipairs(found.table) do
    if cell.choice["text.ngrams"] == 1 and cell.choice["text.weight"] == "tfidf"
      and cell.choice["solver.lambda"] == 1e-2 then
      lu.assertAlmostEquals(cell.mean, 1 - cv.mean, 1e-12)
    end
  end
  local refitted = sc.pipeline{ found.text, found.solver }:fit(ds)
  lu.assertTrue((refitted:decision(ds) - found:decision(ds)):abs():max() < 1e-10)
  local other = found:clone{ ["text.bits"] = 11 }
  lu.assertEquals(other.text.given.bits, 11)
end

-- Rows that are made again in each pass have the bits of rows that are kept.
function TestTextsOfWhichEachPassMakesRows()
  local train, test = mails(300, 10):split{ test = 0.3, seed = 0 }
  local most, bytes = recipe.texts.most, matching.MOST_BYTES
  for _, p in ipairs(pipelines()) do
    local kept = p:clone():fit(train)
    local said, mean = kept:decision(test), kept:cv(train, { folds = 3 }).mean
    recipe.texts.most, matching.MOST_BYTES = 0, 0
    local fresh = sc.texts(train.X:totable())
    local ok, message = pcall(function()
      p:fit(dataset.with(train, { X = fresh }))
      lu.assertTrue(core.is_texts(p.data.X))
      lu.assertTrue(p:decision(test) == said)
      lu.assertEquals(p:cv(dataset.with(train, { X = sc.texts(train.X:totable()) }),
        { folds = 3 }).mean, mean)
      lu.assertAlmostEquals(p:error(test), kept:error(test), 0)
    end)
    recipe.texts.most, matching.MOST_BYTES = most, bytes
    if not ok then error(message, 0) end
  end
end

function TestPlansAndComparisons()
  local ds = mails(120, 8)
  local function pipeline(o) return sc.pipeline{ sc.text(o), sc.solver.ridge{ lambda = 1e-2 } } end
  lu.assertTrue(pipeline{ bits = 8 }:plan(ds).more > 0)
  lu.assertTrue(pipeline{ bits = sc.choose{ 7, 8 } }:plan(ds, { folds = 3 }).more > 0)
  local found = sc.compare{ hashed = pipeline{ bits = 10 }, named = pipeline{ vocabulary = true },
    on = ds, folds = 3, seed = 1 }
  lu.assertAlmostEquals(found[1].mean, pipeline{ bits = 10 }:cv(ds, { folds = 3, seed = 1 }).mean,
    0.2)
end

function TestImportanceIsOfColumnsWithNames()
  local ds = mails(60, 9)
  local p = sc.pipeline{ sc.text{ bits = 8 }, sc.solver.ridge{ lambda = 1 } }:fit(ds)
  lu.assertErrorMsgContains("hashed terms, which have no names", p.importance, p, ds)
  local q = sc.pipeline{ sc.text{ vocabulary = true, max_terms = 10 },
    sc.solver.ridge{ lambda = 1 } }:fit(ds)
  local names = {}
  for _, name in ipairs(q.fitted.names) do names[name] = true end
  lu.assertTrue(names[q:importance(ds, { repeats = 1 })[1].name])
end

-- ------------ explanations

-- The contributions and the constant add up to the score; a term's weight is what the score loses
-- without it, in rows that are not normalised.
function TestExplanationsAddUp()
  local ds = mails(200, 6)
  local body = "prize winner prize word3 unheard lunch"
  for _, p in ipairs{
    sc.pipeline{ sc.text{ ngrams = { 1, 2 }, bits = 6 }, sc.solver.ridge{ lambda = 1e-2 } },
    sc.pipeline{ sc.text{ vocabulary = true }, sc.solver.ridge{ lambda = 1e-2 } } } do
    p:fit(ds)
    local e = p:explain(body)
    lu.assertEquals({ e.class, e[1].count }, { "spam", 2 })
    lu.assertEquals(e[1].term, "prize")
    local sum = e.constant
    for i, one in ipairs(e) do
      sum = sum + one.contribution
      lu.assertTrue(i == 1 or one.contribution <= e[i - 1].contribution)
    end
    lu.assertAlmostEquals(sum, e.score, 1e-10)
    lu.assertAlmostEquals(math.abs(e.score), math.abs(p:decision{ body }:get(1, 1)), 1e-10)
    lu.assertAlmostEquals(p:explain(body, { class = "ham" }).score, -e.score, 1e-12)
    lu.assertStrContains(tostring(p:explain(body, { count = 1 })), "more")
  end
  local counts = sc.pipeline{ sc.text{ weight = "count", vocabulary = true },
    sc.solver.ridge{ lambda = 1e-2 } }:fit(ds)
  local without = counts:decision{ "prize winner prize word3 unheard" }:get(1, 1)
  for _, one in ipairs(counts:explain(body, { class = "spam" })) do
    if one.term == "lunch" then
      lu.assertAlmostEquals(one.contribution, counts:decision{ body }:get(1, 1) - without, 1e-10)
    end
  end
  lu.assertEquals(counts.fitted.names[1], select(2, core.text_columns(counts.fitted.encoder))[1])
end

function TestExplanationsThatThereAreNot()
  local ds = mails(100, 7)
  local fourier = sc.features{ p = sc.sampler.gaussian{ gamma = 0.5 }, T = 20, seed = 1,
    phi = sc.nonlinearity.fourier() }
  local function message(stages, text, o)
    local p = sc.pipeline(stages):fit(ds)
    local ok, said = pcall(p.explain, p, text, o)
    lu.assertFalse(ok)
    return tostring(said)
  end
  local ridge, text = sc.solver.ridge{ lambda = 1 }, sc.text{ bits = 6 }
  lu.assertStrContains(message({ text, fourier, ridge }, "a text"), "mix the terms")
  lu.assertStrContains(message({ text, sc.solver.knn{} }, "a text"), "not linear in the terms")
  lu.assertStrContains(message({ text, ridge }, { "a text" }), "takes a text, and got")
  lu.assertStrContains(message({ text, ridge }, "a", { class = "eggs" }), "the classes are")
  lu.assertStrContains(message({ text, sc.pca{ k = 3 }, ridge }, "prize"), "change the columns")
end

-- ------------ bad input

function TestOptionsThatDoNotGoTogether()
  for _, one in ipairs{
    { { bit = 3 }, "did you mean 'bits'?" },
    { { ngrams = { 2, 1 } }, "the least and the most" },
    { { ngrams = 0 }, "from 1 to 16" },
    { { bits = 31 }, "option 'bits' got 31" },
    { { vocabulary = true, bits = 3 }, "a vocabulary has a column for each term" },
    { { max_terms = 3 }, "is for vocabulary = true" },
    { { vocabulary = { "a", 3 } }, "option 'vocabulary'" },
    { { vocabulary = sc.texts{} }, "option 'vocabulary'" },
    { { weight = "count", sublinear = true }, "option 'sublinear' is for" },
  } do
    lu.assertErrorMsgContains(one[2], sc.text, one[1])
  end
  lu.assertErrorMsgContains("twice", function()
    sc.pipeline{ sc.text{ vocabulary = { "aa", "aa" } } }:fit(mails(20, 1))
  end)
end

function TestTextsAndNumbersAreNotMixedUp()
  local ds = mails(40, 5)
  local p = sc.pipeline{ sc.text{ bits = 6 }, sc.solver.ridge{ lambda = 1 } }
  lu.assertErrorMsgContains("a pipeline for them begins with sc.text{}", function()
    sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(ds)
  end)
  lu.assertErrorMsgContains("takes texts, and the data set has", p.fit, p, sc.data.load "wdbc")
  lu.assertErrorMsgContains("it is the first stage", function()
    sc.pipeline{ sc.normalize(), sc.text{} }
  end)
  p:fit(ds)
  lu.assertErrorMsgContains("takes texts", p.predict, p, sc.zeros(2, 3))
  lu.assertErrorMsgContains("takes a list of texts, and got one text", p.labels, p, "a text")
  local numbers = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(sc.data.load "wdbc")
  lu.assertErrorMsgContains("takes rows of 30 numbers, and got texts", numbers.predict, numbers,
    { "a text" })
  lu.assertErrorMsgContains("no term of the 2 texts", function()
    sc.pipeline{ sc.text{ vocabulary = true }, sc.solver.ridge{ lambda = 1 } }:fit({ "a", "-" },
      { 1, 2 })
  end)
  lu.assertErrorMsgContains("place 2 of the list is 3", sc.texts, { "a", 3 })
end

function TestTexts()
  local t = sc.texts{ "one", "", "thrée" }
  lu.assertEquals({ #t, t[1], t[2], t[3], t:bytes() }, { 3, "one", "", "thrée", 9 })
  lu.assertEquals(t:select{ 3, 1, 3 }:totable(), { "thrée", "one", "thrée" })
  lu.assertEquals(t:slice(2, 3):totable(), { "", "thrée" })
  lu.assertTrue(t == sc.texts{ "one", "", "thrée" } and t ~= t:slice(1, 2))
  lu.assertErrorMsgContains("text 4 is outside: there are texts 1 to 3", function() return t[4] end)
  lu.assertErrorMsgContains("text 0 is outside", t.select, t, { 0 })
  lu.assertErrorMsgContains("cannot be changed", function() t[1] = "x" end)
  lu.assertErrorMsgContains("has no method 'slize' (did you mean 'slice'?)", function()
    return t.slize
  end)
end

os.exit(lu.LuaUnit.run())
