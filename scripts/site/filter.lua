-- A filter of pandoc for pages of the site: links to files of the tree go to their pages, headings
-- name themselves, and the sections are added to the index of the search.
local place = os.getenv "SITE_PLACE"
local tree, reference = os.getenv "SITE_TREE", os.getenv "SITE_REFERENCE"
local places = dofile(tree .. "/scripts/site/places.lua")
local target = places.target(place)

-- What the site does not have, a folder for one, is no link. A link whose text is its file's name
-- gets the title of the page.
function Link(link)
  local path, fragment = link.target:match "^([^#]*)(.*)$"
  if path == "" or path:find "^%a+:" then return nil end
  local to = places.resolved(place, path)
  local file = places.file(tree, reference, to)
  if not places.exists(file) then return link.content end
  if places.kind(to) == "page" and pandoc.utils.stringify(link.content) == path:match "[^/]*$" then
    link.content = { pandoc.Str(places.title(places.read(file)) or path) }
  end
  link.target = places.up(place) .. places.target(to) .. fragment
  return link
end

local function quoted(text)
  return '"' .. text:gsub('[%c"\\<]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

-- A line of the index for each section: page, anchor, title of the page, heading, text.
function Pandoc(doc)
  local title, heading, anchor, texts, file = nil, nil, "", {}, nil
  local function flush()
    if not heading then return end
    file = file or assert(io.open(os.getenv "SITE_INDEX", "a"))
    file:write(("[%s,%s,%s,%s],\n"):format(quoted(target .. anchor), quoted(title), quoted(heading),
      quoted(table.concat(texts, " "):gsub("%s+", " "))))
    texts = {}
  end
  for _, block in ipairs(doc.blocks) do
    if block.t == "Header" then
      flush()
      heading = pandoc.utils.stringify(block)
      if title then anchor = "#" .. block.identifier else title = heading end
    elseif block.t == "CodeBlock" then
      texts[#texts + 1] = block.text
    else
      texts[#texts + 1] = pandoc.utils.stringify(block)
    end
  end
  flush()
  if file then file:close() end
  doc.meta.pagetitle = title or place
  return doc
end

return { { Link = Link }, { Pandoc = Pandoc } }
