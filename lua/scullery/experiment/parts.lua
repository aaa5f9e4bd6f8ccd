--- Parts of an experiment that jobs run apart, on machines that may share no locks: each has its
--- own results, in FOLDER/NAME/parts/i-of-N, which are joined afterwards.
local core = require "scullery.core"
local part = require "scullery.base.part"
local store = require "scullery.experiment.store"

local parts = {}

--- parts.of(arguments): { i, n } of --part i/N among the arguments of a script, --part slurm being
--- the place of the task in a Slurm array; nil without it.
function parts.of(arguments)
  for i, word in ipairs(arguments) do
    if word == "--" then return nil end
    local text = word == "--part" and (arguments[i + 1] or "") or word:match "^%-%-part=(.*)$"
    if text then return part.of(text == "slurm" and part.of_slurm() or text) end
  end
end

--- parts.cells(list, one): every n-th cell or group of cells, from the i-th on, so that parts take
--- about as long.
function parts.cells(list, one)
  local own = {}
  for place, cell in ipairs(list) do
    local number = cell.group and cell.group.number or place
    if (number - one[1]) % one[2] == 0 then own[#own + 1] = cell end
  end
  return own
end

--- parts.path(path, one): the folder of the part's results.
function parts.path(path, one) return path .. "/parts/" .. part.name(one) end

--- parts.there(path): whether there are parts of the experiment at the path.
function parts.there(path) return core.folder(path .. "/parts") ~= nil end

--- parts.join(into): adds the results of all parts to a store that is open: those of cells without
--- a result, and of cells whose last one is a failure. Returns how many were added, and the number
--- of parts.
function parts.join(into)
  local added, found = 0, 0
  local list = core.folder(into.path .. "/parts") or {}
  table.sort(list, function(a, b) return a.name < b.name end)
  for _, entry in ipairs(list) do
    local one = store.read(into.path .. "/parts/" .. entry.name)
    found = found + (one and 1 or 0)
    for _, record in ipairs(one and one.records or {}) do
      local had = into.latest[record.key]
      if not had or had.status ~= "done" and record.status == "done" then
        into:add(record)
        added = added + 1
      end
    end
  end
  return added, found
end

return parts
