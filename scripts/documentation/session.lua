--- Runs the code blocks of a page, in order, as one script in a folder of its own.
local session = {}

local MARK = "\1" -- stands around the number of a block in what is printed

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- A path from the root.
local function absolute(path)
  if path:sub(1, 1) == "/" then return path end
  local pipe = assert(io.popen("pwd"))
  local here = pipe:read("l")
  pipe:close()
  return here .. "/" .. path
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function has_data(name)
  local known, paths = pcall(require("scullery").data.path, name)
  return known and paths ~= nil
end

-- Why a block is not run, or nil.
local function reason(block)
  local directives = block.directives
  if directives["not run"] then return "not run: " .. tostring(directives["not run"]) end
  if directives.needs and not has_data(directives.needs) then
    return "needs the data set " .. directives.needs
  end
  if block.language == "sh" and not block.output then return "a shell block without an output" end
  if block.language ~= "lua" and block.language ~= "sh" then return "not code" end
end

-- The scripts of a page, one a session. Line n of a script is line n of the page, so that errors
-- name the page's lines.
local function scripts(page, folder)
  local list, lines = {}, {}
  local function close()
    for number = 1, #page.lines do lines[number] = lines[number] or "" end
    list[#list + 1] = table.concat(lines, "\n") .. "\n"
    lines = {}
  end
  for k, block in ipairs(page.blocks) do
    if block.directives["new session"] then close() end
    if not reason(block) then
      block.ran = true
      lines[block.first] = ("io.stderr:write('%s%d%s')"):format(MARK, k, MARK)
      if block.language == "lua" then
        for i, line in ipairs(block.lines) do lines[block.first + i] = line end
      else
        local path = ("%s/block-%d.sh"):format(folder, k)
        write(path, "set -e\n" .. table.concat(block.lines, "\n") .. "\n")
        lines[block.first + 1] = ("assert(os.execute(%q))"):format("sh " .. quote(path))
      end
      lines[block.last] = ("io.stderr:write('%s0%s')"):format(MARK, MARK)
    end
  end
  close()
  return list
end

-- A cache of its own, with the data sets that are in the user's.
local function make_cache(folder)
  local cache = require("scullery.data").cache()
  local line = "mkdir -p %s/cache/scullery && for f in %s*; do [ -f \"$f\" ] || continue; \z
    ln -s \"$f\" %s/cache/scullery/; done"
  assert(os.execute(line:format(folder, quote(cache), folder)))
end

-- A folder as a page's commands expect it: scullery and build/scullery, and the scripts.
local function make_folder(options)
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute(("mkdir -p %s/build %s/docs && ln -s %s %s/scripts"):format(folder, folder,
    quote(absolute(options.source .. "/scripts")), folder)))
  write(folder .. "/build/scullery", ("#!/bin/sh\nexec %s \"$@\"\n"):format(
    quote(absolute(options.binary))))
  assert(os.execute(("chmod +x %s/build/scullery"):format(folder)))
  make_cache(folder)
  return folder
end

local function collect(page, printed)
  for number, text in printed:gmatch(MARK .. "(%d+)" .. MARK .. "([^" .. MARK .. "]*)") do
    local block = page.blocks[tonumber(number)]
    if block then block.printed = text end
  end
end

--- session.run(page, { binary =, source =, limit = }): runs the blocks; each that ran has then
--- `printed`, what it wrote to standard output and error. Returns a list of sentences about what
--- failed, and one of what was not run and why. limit: seconds for a page (300).
function session.run(page, options)
  local folder, failures, skipped = make_folder(options), {}, {}
  for _, block in ipairs(page.blocks) do
    local name = block.directives.file
    if name then write(folder .. "/" .. name, table.concat(block.lines, "\n") .. "\n") end
  end
  local all = scripts(page, folder)
  local name = page.path:match("([^/]+)%.md$")
  for _, text in ipairs(all) do
    write(("%s/%s.lua"):format(folder, name), "io.stdout:setvbuf('no') " .. text)
    local command = ("cd %s && PATH=$PWD/build:$PATH NO_COLOR=1 XDG_CACHE_HOME=$PWD/cache \z
      XDG_DATA_HOME=$PWD/data timeout %d build/scullery %s.lua \z
      >printed 2>&1 </dev/null"):format(folder, options.limit or 300, name)
    local ok, _, status = os.execute(command)
    local printed = read(folder .. "/printed")
    collect(page, printed)
    if not ok then
      failures[#failures + 1] = ("%s: its code ended with status %s: %s"):format(page.path, status,
        printed:sub(-800):gsub(MARK .. "%d+" .. MARK, "\n"))
    end
  end
  os.execute("rm -rf " .. quote(folder))
  for _, block in ipairs(page.blocks) do
    local why = (block.language == "lua" or block.output and block.language == "sh")
      and reason(block)
    if why then
      skipped[#skipped + 1] = ("%s:%d: %s"):format(page.path, block.first, why)
    end
  end
  return failures, skipped
end

--- session.compare(page): a list of sentences about blocks that printed other than the page says.
function session.compare(page)
  local compare, list = require "documentation.compare", {}
  for _, block in ipairs(page.blocks) do
    if block.ran and block.printed and block.directives.output ~= "varies" then
      local want = block.output and table.concat(block.output.lines, "\n") or ""
      local tolerance = tonumber(block.directives.tolerance)
      local difference = compare.texts(want, block.printed, tolerance)
      if difference then
        list[#list + 1] = ("%s:%d: %s"):format(page.path, block.first, difference)
      end
    end
  end
  return list
end

return session
