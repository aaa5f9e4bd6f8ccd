-- Keeps the documentation true: runs the code of pages and compares its output with what the page
-- says, and looks whether links lead somewhere and names exist.
--
--   build/scullery scripts/documentation.lua [--write] PAGE.md ...
--
-- Without pages: README.md and docs/. --write puts the output of the code into the pages, where it
-- is another. scripts/documentation/page.lua says which blocks are run.
local source = arg[0]:match("^(.*)/scripts/[^/]*$") or "."
package.path = source .. "/scripts/?.lua;" .. package.path
local page = require "documentation.page"
local session = require "documentation.session"

-- Puts what the blocks printed where their outputs are, from the last block to the first.
local function write_outputs(one)
  local lines, different = one.lines, {}
  for _, sentence in ipairs(session.compare(one)) do
    different[tonumber(sentence:match(":(%d+):"))] = true
  end
  for k = #one.blocks, 1, -1 do
    local block = one.blocks[k]
    if different[block.first] then
      local last = block.last
      if block.output then
        for _ = block.last + 1, block.output.last do table.remove(lines, block.last + 1) end
      end
      local output = { "", "```text" }
      for line in (block.printed:gsub("%s*$", "") .. "\n"):gmatch("([^\n]*)\n") do
        output[#output + 1] = (line:gsub("%s+$", ""))
      end
      output[#output + 1] = "```"
      for i, line in ipairs(output) do table.insert(lines, last + i, line) end
    end
  end
  require("scullery.core").write_text(one.path, table.concat(lines, "\n") .. "\n")
end

local write, pages = false, {}
for _, word in ipairs(arg) do
  if word == "--write" then write = true else pages[#pages + 1] = word end
end

local wrong = 0
local function tell(sentences)
  for _, sentence in ipairs(sentences) do print(sentence) end
  wrong = wrong + #sentences
end

for _, path in ipairs(#pages > 0 and pages or page.all(source)) do
  local one = page.read(path)
  local failures, skipped = session.run(one, { binary = arg[-1], source = source })
  tell(failures)
  for _, sentence in ipairs(skipped) do print("skipped: " .. sentence) end
  if write and #failures == 0 then write_outputs(one) else tell(session.compare(one)) end
  tell(require("documentation.links").check(path))
  tell(require("documentation.names").check(path, source))
end
os.exit(wrong == 0)
