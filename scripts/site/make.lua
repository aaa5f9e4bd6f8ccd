--- The documentation as a static site: build/scullery scripts/site/make.lua REFERENCE FOLDER, or
--- cmake --build build --target site. Needs pandoc. REFERENCE is the folder with the pages that the
--- build makes (build/share/doc/scullery/reference); FOLDER is new, or a site, which is replaced.
---
--- README.md becomes index.html. It, the pages of docs/ and what they link to keep their places in
--- the tree: Markdown and notebooks become HTML, sources pages of code, pictures are copied.
--- docs/example_report.html is a model report, made here. No page loads anything from elsewhere.
local sc = require "scullery"
local core = require "scullery.core"
local source = arg[0]:match "^(.*)/scripts/site/[^/]*$" or "."
local places = dofile(source .. "/scripts/site/places.lua")
local reference, out = arg[1], arg[2]

-- pandoc runs in the folder of each page.
local function absolute(path)
  local here = io.popen "pwd":read "l"
  return path:find "^/" and path or here .. "/" .. path
end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function run(...)
  if not os.execute(string.format(...)) then error("failed: " .. string.format(...), 0) end
end

local read, target_of, kind_of, up = places.read, places.target, places.kind, places.up
local function file_of(place) return places.file(source, reference, place) end

-- ------------ what the site has

-- All places that can be reached from the first ones, in the order in which they are met.
local function reached(first)
  local list, seen = {}, {}
  local function add(place)
    if seen[place] or not places.exists(file_of(place)) then return end
    seen[place], list[#list + 1] = true, place
  end
  for _, place in ipairs(first) do add(place) end
  local i = 1
  while list[i] do
    if kind_of(list[i]) == "page" then
      for link in read(file_of(list[i])):gmatch "%]%(([^)#%s]+)" do
        if not link:find "^%a+:" then add(places.resolved(list[i], link)) end
      end
    end
    i = i + 1
  end
  return list
end

-- The pages that the navigation lists, { place, title }, in the order of the overview.
local function listed()
  local list, seen = {}, {}
  local function add(place)
    local title = not seen[place] and places.exists(file_of(place)) and kind_of(place) == "page"
      and places.title(read(file_of(place)))
    if title then list[#list + 1] = { place, title } end
    seen[place] = true
  end
  add "docs/overview.md"
  for link in read(file_of "docs/overview.md"):match("## The pages(.*)"):gmatch "%]%(([^)#]+)" do
    add("docs/" .. link)
  end
  return list
end

-- ------------ pages

local function navigation(pages, place)
  local lines = { ("<a href=\"%sindex.html\">Scullery</a>"):format(up(place)) }
  for _, page in ipairs(pages) do
    lines[#lines + 1] = ("<a href=\"%s%s\"%s>%s</a>"):format(up(place), target_of(page[1]),
      page[1] == place and " aria-current=\"page\"" or "", page[2])
  end
  lines[#lines + 1] = ("<a href=\"%sdocs/example_report.html\">A report</a>"):format(up(place))
  return table.concat(lines, "\n")
end

-- Code as Markdown, fenced by more backticks than it has.
local function fenced(place)
  local language = ({ c = "c", h = "c", cpp = "cpp", hpp = "cpp", lua = "lua", py = "python",
    sh = "bash" })[place:match "%.(%w+)$"] or ""
  return ("# %s\n\n``````%s\n%s\n``````\n"):format(place, language, read(file_of(place)))
end

local function convert(pages, place, scratch)
  local target, input = out .. "/" .. target_of(place), file_of(place)
  run("mkdir -p %s", quote(target:match "^(.*)/"))
  if kind_of(place) == "copy" then return run("cp %s %s", quote(input), quote(target)) end
  if kind_of(place) == "code" then
    input = scratch .. "/code.md"
    core.write_text(input, fenced(place))
  end
  core.write_text(scratch .. "/navigation", navigation(pages, place))
  local site = source .. "/scripts/site/"
  run("cd %s && SITE_PLACE=%s SITE_INDEX=%s SITE_TREE=%s SITE_REFERENCE=%s pandoc -f %s -t html5 \z
    --wrap=none --toc --toc-depth=2 --template=%s --lua-filter=%s -V up=%s \z
    -V navigation=\"$(cat %s)\" -o %s %s", quote(target:match "^(.*)/"), quote(place),
    quote(scratch .. "/index"), quote(source), quote(reference),
    place:find "%.ipynb$" and "ipynb --extract-media=." or "gfm", quote(site .. "page.html"),
    quote(site .. "filter.lua"), quote(up(place)), quote(scratch .. "/navigation"), quote(target),
    quote(input))
end

-- The report of docs/reports.md.
local function write_report(path)
  local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }
  local p = sc.pipeline{
    sc.standardize(),
    sc.features{ p = sc.sampler.gaussian{ gamma = "median" }, phi = sc.nonlinearity.fourier(),
      T = 500, seed = 1 },
    sc.solver.ridge{ lambda = sc.choose.log{ 1e-6, 1e-2, count = 5 } },
  }
  local best = p:search(train, { folds = 5, seed = 0 }):calibrate{}
  best:report(path, { data = test, title = "An example: breast cancer of Wisconsin" })
end

-- ------------ the site

if not (reference and out) then
  error("takes the folder of the reference and that of the site", 0)
end
if not os.execute "command -v pandoc >/dev/null" then
  error("pandoc is not here: apt-get install pandoc", 0)
end
source, reference, out = absolute(source), absolute(reference), absolute(out)
if os.execute(("test -e %s"):format(quote(out))) and not places.exists(out .. "/site.css") then
  error(("%s would be replaced, and holds no site: name another folder"):format(out), 0)
end
local scratch = os.tmpname()
os.remove(scratch)
run("rm -rf %s && mkdir -p %s/docs %s", quote(out), quote(out), quote(scratch))
run("cp %s/scripts/site/site.css %s/scripts/site/site.js %s", quote(source), quote(source),
  quote(out))
write_report(out .. "/docs/example_report.html")
local pages, first = listed(), { "README.md" }
for _, page in ipairs(pages) do first[#first + 1] = page[1] end
local list = reached(first)
for _, place in ipairs(list) do convert(pages, place, scratch) end
core.write_text(out .. "/search_index.js",
  "const SECTIONS = [\n" .. read(scratch .. "/index") .. "];\n")
run("rm -rf %s", quote(scratch))
print(("%d files, from %s/index.html on"):format(#list + 4, out))
