-- Debian's own package index as texts: the section of each package from the words of its short
-- description, from the names of the packages that it depends on, and from both; a table in
-- Markdown. The test rows are a quarter of the packages, drawn with seed 0. It needs apt-cache,
-- and takes minutes. Arguments:
--   --save packages.csv  writes section, description and depends of each package, and ends
--   --rows 5000          takes so many packages, drawn at random
local sc = require "scullery"

local given = sc.arguments{ save = "", rows = 0 }

local index = dofile((arg[0]:gsub("[^/]*$", "index.lua")))
local sections, descriptions, depends = index.sections, index.descriptions, index.depends

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

local both = index.both()

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
