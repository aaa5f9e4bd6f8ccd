-- The documentation as a static site (scripts/site): no link leads nowhere, and a browser's search
-- finds a section.
local lu = require "luaunit"
local browser, support = dofile "tests/helpers/browser.lua", dofile "tests/helpers/support.lua"
local source, build = os.getenv "SCULLERY_SOURCE" or ".", os.getenv "SCULLERY_BUILD" or "build"
local quote, shell = support.quote, support.shell

-- The ids of a page; nil where there is none.
local known = {}
local function ids_of(path)
  local file = not known[path] and io.open(path)
  if file and file:read(0) then
    known[path] = {}
    for id in file:read("a"):gmatch '%f[%w]id="([^"]+)"' do known[path][id] = true end
  end
  if file then file:close() end
  return known[path]
end

local function dead_links(site)
  local dead, count = {}, 0
  local _, list = shell(("cd %s && find . -name '*.html' ! -name example_report.html"):format(
    quote(site)))
  for page in list:gmatch "%./([^\n]+)" do
    local text = assert(io.open(site .. "/" .. page)):read "a"
    for link in text:gmatch '%f[%w][hs]re?[fc]="([^"]+)"' do
      if not link:find "^%a+:" then
        local path, id = link:match "^([^#]*)#?(.*)$"
        local to = site .. "/" .. (path == "" and page or (page:match "^(.*/)" or "") .. path)
        local ids = ids_of(to)
        if not ids or id ~= "" and not ids[id] then dead[#dead + 1] = page .. ": " .. link end
        count = count + 1
      end
    end
  end
  lu.assertTrue(count > 5000)
  return dead
end

function TestSite()
  lu.skipIf(shell "command -v pandoc" ~= 0, "there is no pandoc")
  support.in_folder(function(folder)
    local function make(to)
      return support.scullery(("%s %s %s"):format(quote(source .. "/scripts/site/make.lua"),
        quote(build .. "/share/doc/scullery/reference"), quote(to)))
    end
    local site = folder .. "/site"
    local status, _, err = make(folder) -- which is no site
    lu.assertNotEquals(status, 0)
    lu.assertStrContains(err, "name another folder")
    status, _, err = make(site)
    lu.assertEquals({ status, err }, { 0, "" })
    lu.assertEquals(dead_links(site), {})
    if browser.name() then
      local page = browser.dom(site .. "/docs/solvers.html?q=conformal+intervals")
      lu.assertStrContains(page, "docs/uncertainty.html#intervals")
    end
  end)
end

os.exit(lu.LuaUnit.run())
