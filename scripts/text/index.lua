--- The packages of Debian's own index, as `apt-cache dumpavail` lists them: three lists of texts,
--- sections, descriptions and depends (the names of the packages that each depends on).

-- "libc6 (>= 2.34), perl | raku" -> "on_libc6 on_perl on_raku": each name is one word, and another
-- one than the same word of a description.
local function names_of(depends)
  local words = {}
  for name in (depends:gsub("%b()", "") .. ","):gmatch("%s*([^,|%s:]+)[^,|]*[,|]") do
    words[#words + 1] = "on_" .. name:gsub("[^%w]", "_")
  end
  return table.concat(words, " ")
end

-- The fields of each package.
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

local index = { sections = {}, descriptions = {}, depends = {} }
for i, one in ipairs(packages()) do
  index.sections[i], index.descriptions[i] = one.Section, one.Description
  index.depends[i] = names_of(one.Depends or "")
end

--- The descriptions, each with its names on a line of their own.
function index.both()
  local both = {}
  for i, text in ipairs(index.descriptions) do both[i] = text .. "\n" .. index.depends[i] end
  return both
end

return index
