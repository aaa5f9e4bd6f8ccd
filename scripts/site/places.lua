--- Places of files in the tree and on the site, for make.lua and for filter.lua, which runs in
--- pandoc. A place is a path in the tree, without "..".
local places = {}

--- places.exists(path): whether there is a file, not a folder.
function places.exists(path)
  local file = io.open(path, "rb")
  local text = file and file:read(0) -- nil for a folder
  if file then file:close() end
  return text ~= nil
end

--- places.read(path): the text of a file.
function places.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

--- places.file(tree, reference, place): the file of a place; the reference is in the build.
function places.file(tree, reference, place)
  local name = place:match "^docs/reference/(.*)"
  return name and reference .. "/" .. name or tree .. "/" .. place
end

--- places.resolved(page, link): a link in the page at a place, as a place.
function places.resolved(page, link)
  local parts = {}
  for part in ((page:match "^(.*/)" or "") .. link):gmatch "[^/]+" do
    if part == ".." then table.remove(parts) elseif part ~= "." then parts[#parts + 1] = part end
  end
  return table.concat(parts, "/")
end

--- places.up(place): "../" as often as the place has folders.
function places.up(place) return (place:gsub("[^/]*/", "../"):gsub("[^/]*$", "")) end

local copied = { svg = true, png = true, csv = true, gz = true, html = true }

--- places.kind(place): "page", "copy" or "code".
function places.kind(place)
  local ending = place:match "%.(%w+)$" or ""
  return (ending == "md" or ending == "ipynb") and "page" or copied[ending] and "copy" or "code"
end

--- places.target(place): where it is on the site.
function places.target(place)
  if place == "README.md" then return "index.html" end
  if places.kind(place) == "copy" then return place end
  return place:find "%.md$" and place:gsub("%.md$", ".html") or place .. ".html"
end

--- places.title(text): the first heading of a page of Markdown or a notebook, up to a colon.
function places.title(text)
  local title = text:match "^#%s+([^\n]+)" or text:match "[\n\"]#%s+([^\n]+)"
  return title and (title:gsub('\\n.*', ""):gsub('",?%s*$', ""):gsub("[`*]", ""):gsub(":.*", ""))
end

return places
