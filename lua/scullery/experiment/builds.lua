--- Builds of Scullery: what cells were run by, and what runs now.
local core = require "scullery.core"

local builds = {}

local function text_of(version, commit, instruction_set, threads)
  return ("%s %s%s, %s, %s"):format(commit and "Scullery" or "an unknown build of Scullery",
    version or "", commit and ", commit " .. commit or "", instruction_set or "-",
    threads == 1 and "1 thread" or ("%s threads"):format(threads or "-"))
end

--- builds.now(): the build of this process, as a text: version, commit, instruction set, threads. A
--- commit that ends in "+" stands for one with changes; of copied sources it is unknown.
function builds.now()
  return text_of(core.version, core.commit ~= "" and core.commit or nil, core.instruction_set(),
    core.threads())
end

--- builds.of(rows): the builds that the rows of an experiment were run by: a list of { text,
--- cells = how many }, those of most cells first. Rows of versions without a recorded commit are of
--- an unknown build.
function builds.of(rows)
  local list, place = {}, {}
  for _, row in ipairs(rows) do
    local about = row.about or {}
    local text = text_of(about.scullery, about.commit, about.instruction_set, about.threads)
    if not place[text] then
      place[text] = { text = text, cells = 0 }
      list[#list + 1] = place[text]
    end
    place[text].cells = place[text].cells + 1
  end
  table.sort(list, function(a, b)
    if a.cells ~= b.cells then return a.cells > b.cells end
    return a.text < b.text
  end)
  return list
end

return builds
