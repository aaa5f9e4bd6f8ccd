--- A page of documentation: its code blocks, what they print, its links and headings.
---
--- Code blocks of the language lua are run, those of sh where an output follows. The output of a
--- block is the block of the language text right after it. Comments on a line of their own speak
--- of the next block:
---
---     <!-- not run: REASON -->      shown only
---     <!-- needs: SET -->           run where the data set is on this machine
---     <!-- tolerance: 0.05 -->      numbers of its output may be off by 5 percent
---     <!-- output: varies -->       run, its output not compared (times)
---     <!-- file: NAME -->           the text is written to this file before the page runs
---     <!-- new session -->          a new interpreter from here on
local page = {}

--- page.all(source): the paths of all pages of the source tree: README.md and docs/.
function page.all(source)
  local list = { source .. "/README.md", source .. "/scripts/guide.md",
    source .. "/scripts/README.md" }
  local pipe = assert(io.popen(("find '%s/docs' -name '*.md' | sort"):format(source)))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

local function directive(line)
  local text = line:match("^<!%-%- (.-) %-%->$")
  if not text then return nil end
  local name, value = text:match("^([%w ]-): (.*)$")
  return name or text, value or true
end

-- The block that an opening fence begins, or nil. The fence may be indented.
local function opening(line)
  local indent, fence, language = line:match("^(%s*)(```+)([%w]*)%s*$")
  if fence then return { indent = indent, fence = fence, language = language, lines = {} } end
end

--- page.read(path): { path, lines, blocks = { { language, first, last, lines, directives } } },
--- first and last being the lines of the fences. Block k is the output of block k - 1 where its
--- field output_of says so, and that one's field output is block k.
function page.read(path)
  local result = { path = path, lines = {}, blocks = {} }
  local block, directives, last
  for line in io.lines(path) do
    local number = #result.lines + 1
    result.lines[number] = line
    if block then
      if line:match("^%s*(```+)%s*$") == block.fence then
        block.last = number
        last, block = block, nil
      else
        block.lines[#block.lines + 1] = line:gsub("^" .. block.indent, "", 1)
      end
    elseif opening(line) then
      block = opening(line)
      block.first, block.directives = number, directives or {}
      directives = nil
      if last and block.language == "text" then block.output_of, last.output = last, block end
      result.blocks[#result.blocks + 1] = block
    elseif directive(line) then
      local name, value = directive(line)
      directives = directives or {}
      directives[name] = value
    elseif line:find("%S") then
      last = nil
    end
  end
  if block then error(("%s:%d: this block has no end"):format(path, block.first), 0) end
  return result
end

-- GitHub's name of a heading: in lower case, without punctuation, words joined by "-".
local function slug(heading)
  local text = heading:gsub("%[(.-)%]%(.-%)", "%1"):gsub("[`*]", ""):lower()
  return (text:gsub("[^%w%- _\x80-\xff]", ""):gsub(" ", "-"))
end

--- page.prose(one): { { line number, text } }: the lines outside of code blocks.
function page.prose(one)
  local inside, list = {}, {}
  for _, block in ipairs(one.blocks) do
    for number = block.first, block.last do inside[number] = true end
  end
  for number, line in ipairs(one.lines) do
    if not inside[number] then list[#list + 1] = { number, line } end
  end
  return list
end

--- page.anchors(one): a set of the names that links of the form #name may have.
function page.anchors(one)
  local set, seen = {}, {}
  for _, entry in ipairs(page.prose(one)) do
    local heading = entry[2]:match("^#+%s+(.-)%s*$")
    if heading then
      local name = slug(heading)
      local count = seen[name]
      seen[name] = (count or 0) + 1
      set[count and name .. "-" .. count or name] = true
    end
    for name in entry[2]:gmatch('<a name="([^"]+)"') do set[name] = true end
  end
  return set
end

--- page.links(one): { { line number, target } } of the links and pictures of a page. Code in
--- backquotes holds none.
function page.links(one)
  local list, numbers, text = {}, {}, {}
  for _, entry in ipairs(page.prose(one)) do
    numbers[#numbers + 1], text[#text + 1] = entry[1], entry[2]
  end
  -- a link may go on in the next line, so that they are looked for in pairs of lines
  for i, line in ipairs(text) do
    local both = (line .. "\n" .. (text[i + 1] or "")):gsub("`[^`\n]*`", "code")
    local own = line:gsub("`[^`\n]*`", "code")
    for place, target in both:gmatch("()%]%(([^()%s]+)%)") do
      local start = both:sub(1, place):match(".*()%[")
      if start and start <= #own then list[#list + 1] = { numbers[i], target } end
    end
  end
  return list
end

return page
