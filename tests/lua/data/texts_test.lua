--- sc.data.text and columns of text of CSV files: labels, lines, gzip, encodings, bad input.
-- luacheck: globals TestTexts
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local folder

local function put(name, bytes)
  local path = folder .. "/" .. name
  assert(os.execute(("mkdir -p '%s'"):format(path:match("^(.*)/"))))
  local file <close> = assert(io.open(path, "wb"))
  file:write(bytes)
  return path
end

TestTexts = {}

function TestTexts:setUp()
  folder = os.tmpname()
  os.remove(folder)
end

function TestTexts:tearDown()
  os.execute(("rm -rf '%s'"):format(folder))
end

function TestTexts:test_files_of_folders()
  put("mail/ham/2.txt", "lunch\nat noon\n")
  put("mail/ham/10.txt", "report")
  put("mail/spam/1.txt", "prize")
  put("mail/spam/deep/x.txt", "not matched")
  local ds = sc.data.text(folder .. "/mail/*/*.txt", { label = "folder" })
  lu.assertEquals(ds.X:totable(), { "report", "lunch\nat noon\n", "prize" })
  lu.assertEquals(ds:labels(), { "ham", "ham", "spam" })
  lu.assertEquals(ds.classes, { "ham", "spam" })
  local none = sc.data.text{ folder .. "/mail/spam/1.txt", folder .. "/mail/ham/*.txt" }
  lu.assertEquals(#none, 3)
  lu.assertNil(none.y)
  local own = sc.data.text(folder .. "/mail/*/*.txt", { label = function(path)
    return tonumber(path:match("(%d+)%.txt$"))
  end, task = "regression" })
  lu.assertEquals(own.y:t(), sc.matrix{ { 10, 2, 1 } })
end

function TestTexts:test_lines()
  put("pos.txt", "good\nfine\n")
  put("neg.txt", "bad\r\n\r\nworse")
  local ds = sc.data.text(folder .. "/*.txt", { label = "file", lines = true })
  lu.assertEquals(ds.X:totable(), { "bad", "", "worse", "good", "fine" })
  lu.assertEquals(ds:labels(), { "neg", "neg", "neg", "pos", "pos" })
end

function TestTexts:test_labels_before_a_tab_and_gzip()
  local path = put("sms.txt", "ham\tone\ttwo\nspam\t\nham\tthree")
  lu.skipIf(not os.execute("gzip --version > /dev/null 2>&1"), "no gzip here")
  os.execute(("gzip '%s'"):format(path))
  local ds = sc.data.text(path .. ".gz", { label = "tab" })
  lu.assertEquals(ds.X:totable(), { "one\ttwo", "", "three" })
  lu.assertEquals(ds:labels(), { "ham", "spam", "ham" })
end

function TestTexts:test_encodings()
  put("a.txt", "caf\xC3\xA9")
  put("b.txt", "one\ncaf\xE9")
  local said = support.stderr_of(function()
    lu.assertEquals(sc.data.text(folder .. "/*.txt").X[2], "one\ncaf\xE9")
  end)
  lu.assertStrContains(said, "/b.txt:2: 1 of 2 texts have bytes that are not UTF-8")
  local ds = sc.data.text(folder .. "/b.txt", { encoding = "latin1" })
  lu.assertEquals(ds.X[1], "one\ncafé")
end

function TestTexts:test_what_is_not_there_or_not_text()
  local tab = put("tab.txt", "ham\tone\nno label\n")
  local zero = put("zero.txt", "one\ntwo\0three")
  lu.assertErrorMsgContains("tab.txt:2: label = \"tab\" takes lines of a label, a tab",
    sc.data.text, tab, { label = "tab" })
  lu.assertErrorMsgContains("zero.txt", sc.data.text, zero)
  lu.assertErrorMsgContains("no file has such a path", sc.data.text, folder .. "/no/*.txt")
  lu.assertErrorMsgContains("takes a path, a pattern", sc.data.text, 3)
  lu.assertErrorMsgContains("option 'label' got \"x\"", sc.data.text, tab, { label = "x" })
  lu.assertErrorMsgContains("returned nil", sc.data.text, tab, { label = function() end })
  lu.assertErrorMsgContains("have no texts", sc.data.text, put("empty.txt", ""),
    { lines = true })
end

-- ------------ columns of CSV files

local CSV = [[
label,subject,body,n
spam,Free prize,"Click, now",3
ham,Lunch,"Report ""today""
second line",4
spam,,x,5
]]

function TestTexts:test_columns_of_text()
  local path = put("t.csv", CSV)
  local ds = sc.data.csv(path, { text = { "subject", "body" }, target = "label", quiet = true })
  lu.assertEquals(ds.X:totable(), { "Free prize\nClick, now",
    "Lunch\nReport \"today\"\nsecond line", "\nx" })
  lu.assertEquals(ds:labels(), { "spam", "ham", "spam" })
  local said = support.stderr_of(function()
    local other = sc.data.csv(path, { text = { "body", "subject" }, weights = "n" })
    lu.assertEquals({ other.target, other.weights:t() }, { "label", sc.matrix{ { 3, 4, 5 } } })
    sc.data.csv(path, { text = "body", target = "label" })
  end)
  lu.assertStrContains(said, "target 'label' (the last other column), a classification of 2")
  lu.assertStrContains(said, "columns left out, as the rows are texts: subject, n")
end

function TestTexts:test_columns_of_text_like_others()
  local train = put("train.csv", CSV)
  local test = put("test.csv", "body,label\nprize,spam\n")
  local bare = put("bare.csv", "n;body\n1;prize\n")
  local ds = sc.data.csv(train, { text = "body", target = "label", quiet = true })
  local other = sc.data.csv(test, { like = ds })
  lu.assertEquals({ other.X[1], other:labels()[1] }, { "prize", "spam" })
  lu.assertNil(sc.data.csv(bare, { like = ds, quiet = true }).y)
end

function TestTexts:test_columns_that_are_not_there()
  local path = put("t.csv", CSV)
  local numbers = sc.data.csv(put("n.csv", "a,b\n1,2\n2,3\n4,4\n"), { quiet = true })
  for _, one in ipairs{
    { { text = "bodi" }, "option 'text' names 'bodi', which is not a column" },
    { { text = "body", target = "lable" }, "did you mean 'label'?" },
    { { text = "body", weights = "subject" }, "row 1 of option 'weights'" },
    { { text = "body", target = "label", task = "regression" }, "which is not a number" },
    { { text = "body", target = "subject" }, "row 3 has no subject" },
    { { text = "body", stream = true }, "unknown option 'stream'" },
    { { text = "body", like = numbers }, "option 'like' is of rows of numbers" },
  } do
    lu.assertErrorMsgContains(one[2], sc.data.csv, path, one[1])
  end
  lu.assertErrorMsgContains("standard input", sc.data.csv, "-", { text = "a" })
end

function TestTexts:test_parts_and_text()
  local path = put("t.csv", CSV)
  local ds = sc.data.csv(path, { text = "body", target = "label", quiet = true })
  lu.assertEquals(#ds:subset(2, 3), 2)
  lu.assertEquals(ds:filter(function(_, text) return #text > 3 end).X[1], "Click, now")
  lu.assertEquals(tostring(ds), "dataset of 3 texts, 2 classes")
  lu.assertEquals(ds:head(1)[1], { "Click, now", "spam" })
  lu.assertStrContains(tostring(ds:describe()), "3 texts of 1 to 26 bytes")
  lu.assertErrorMsgContains("begins with sc.text{}", ds.discretize, ds)
  lu.assertErrorMsgContains("the rows are texts", ds.save, ds, folder .. "/t.npz")
end

os.exit(lu.LuaUnit.run())
