-- Debian's own package index as texts: the section of each package from the words of its short
-- description, from the names of the packages that it depends on, and from both; a table in
-- Markdown. The test rows are a quarter of the packages, drawn with seed 0. It needs apt-cache,
-- and takes minutes. Arguments:
--   --save packages.csv  writes section, description and depends of each package, and ends
--   --rows 5000          takes so many packages, drawn at random
local sc = require "scullery"

local given = sc.arguments{ save = "", rows = 0 }

-- "libc6 (>= 2.34), perl | raku" -> "on_libc6 on_perl on_raku": each name is one word, and another
-- one than the same word of a description.
local function names_of(depends)
  local words = {}
  for name in (depends:gsub("%b()", "") .. ","):gmatch("%s*([^,|%s:]+)[^,|]*[,|]") do
    words[#words + 1] = "on_" .. name:gsub("[^%w]", "_")
  end
  return table.concat(words, " ")
end

-- The fields of each package of `apt-cache dumpavail`.
local function packages()
  local list, one = {}, {}
  local pipe = assert(io.popen("apt-cache dumpavail 2>/dev/null"))
  for line in pipe:lines() do
    local key, value = line:match("^([%w-]+): (.*)$")
    if line == "" then
      if one.Section and one.Description then list[#list + 1] = one end
      one = {}
    elseif key then
      one[key] = value
    end
  end
  pipe:close()
  if #list == 0 then error("apt-cache lists no packages: run `apt-get update` first", 0) end
  return list
end

local sections, descriptions, depends = {}, {}, {}
for i, one in ipairs(packages()) do
  sections[i], descriptions[i] = one.Section, one.Description
  depends[i] = names_of(one.Depends or "")
end

local function quoted(field) return '"' .. field:gsub('"', '""') .. '"' end

if given.save ~= "" then
  local file <close> = assert(io.open(given.save, "w"))
  file:write("section,description,depends\n")
  for i, section in ipairs(sections) do
    file:write(section, ",", quoted(descriptions[i]), ",", depends[i], "\n")
  end
  print(("%d packages in %s"):format(#sections, given.save))
  return
end

local both = {}
for i, text in ipairs(descriptions) do both[i] = text .. "\n" .. depends[i] end

-- The error on the test rows, its binomial standard error, and the seconds of the fit.
local function judged(texts, pipeline)
  local ds = sc.dataset{ X = texts, y = sections }
  if given.rows > 0 then ds = ds:sample{ rows = given.rows, stratify = false } end
  local train, test = ds:split{ test = 0.25, seed = 0, stratify = false }
  local began = sc.clock()
  pipeline:fit(train)
  local seconds, wrong = sc.clock() - began, pipeline:error(test)
  return wrong, math.sqrt(wrong * (1 - wrong) / #test), seconds, pipeline
end

print("| terms | error | std. error | seconds |")
print("|---|---|---|---|")
local last
for _, row in ipairs{ { "words of descriptions", descriptions }, { "dependencies", depends },
  { "both", both }, { "both, pairs too", both, { 1, 2 } } } do
  local wrong, stderr, seconds, p = judged(row[2], sc.pipeline{
    sc.text{ ngrams = row[3] or 1, bits = 18, single = true },
    sc.solver.hinge{ lambda = 2e-5, tolerance = 0.1 } })
  print(("| %s | %.4f | %.4f | %.1f |"):format(row[1], wrong, stderr, seconds))
  last = p
end
print()
print(last:explain("fast web server written in Go", { count = 8 }))
