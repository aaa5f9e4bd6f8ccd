--- Links between pages, to files and to headings.
local page = require "documentation.page"

local links = {}

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

-- "a/b/../c" -> "a/c"
local function shortened(path)
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." and #parts > 0 and parts[#parts] ~= ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return (path:sub(1, 1) == "/" and "/" or "") .. table.concat(parts, "/")
end

--- links.check(path): a list of sentences about links of a page that lead nowhere. Addresses of
--- other sites are not asked for.
function links.check(path)
  local one, list = page.read(path), {}
  local folder = path:match("^(.*/)[^/]*$") or ""
  for _, link in ipairs(page.links(one)) do
    local line, target = table.unpack(link)
    local function wrong(what) list[#list + 1] = ("%s:%d: %s"):format(path, line, what) end
    if not target:find("^%a[%w+.-]*:") then
      local file, anchor = target:match("^([^#]*)#?(.*)$")
      local place = file == "" and path or shortened(folder .. file)
      if not exists(place) then
        wrong(("the link to %s leads to no file"):format(target))
      elseif anchor ~= "" and not page.anchors(page.read(place))[anchor] then
        wrong(("the link to %s: there is no such heading"):format(target))
      end
    end
  end
  return list
end

return links
