--- The page docs/gallery.md, made from the scripts of the pictures: the comment at the beginning of
--- each is its caption.
local gallery = {}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

-- The caption of a script and its code, as one would type it.
local function parts_of(text)
  local caption, rest = {}, text
  while rest:find("^%-%-") do
    local line
    line, rest = rest:match("^%-%-%s?([^\n]*)\n(.*)$")
    caption[#caption + 1] = line
  end
  local code = rest:gsub("arg%[1%] or (\"[^\"]+\")", "%1"):gsub("\nreturn fig%s*$", "")
  return table.concat(caption, " "), code
end

local HEAD = [[
<!-- Made by scripts/reference.lua: do not edit. -->

# Gallery

Pictures that Scullery draws, each with the script that makes it. `build/scullery
scripts/gallery/all.lua` makes them all, and the data behind each beside it (`fig:data`; here packed
by gzip). [pictures.md](pictures.md) explains the functions.
]]

--- gallery.page(source): the text of docs/gallery.md.
function gallery.page(source)
  local folder = source .. "/scripts/gallery/"
  local names = assert(load("return " .. read(folder .. "all.lua"):match("local names = (%b{})")))()
  local parts = { HEAD }
  for _, name in ipairs(names) do
    local caption, code = parts_of(read(folder .. name .. ".lua"))
    local title = name:gsub("_", " "):gsub("^%l", string.upper)
    parts[#parts + 1] = ("## %s\n\n%s\n\n![%s](gallery/%s.svg)\n"):format(title, caption,
      caption:gsub("[%[%]]", ""), name)
    parts[#parts + 1] = ("<!-- not run: scripts/gallery/%s.lua is -->\n```lua\n%s\n```\n\n"
      .. "The data: [%s.csv](gallery/%s.csv.gz)\n"):format(name, code:gsub("%s+$", ""), name, name)
  end
  return table.concat(parts, "\n")
end

return gallery
