--- Parts of work that jobs do apart: i/N, part i of N.
local fail = require "scullery.base.fail"

local part = {}

-- A variable of the environment as a whole number; nil if it is not one.
local function number(name) return math.tointeger(tonumber(os.getenv(name) or "")) end

--- part.of_slurm(): "i/N" for this task of a Slurm array, from variables of Slurm; nil outside of
--- one.
function part.of_slurm()
  local id, first, count = number "SLURM_ARRAY_TASK_ID", number "SLURM_ARRAY_TASK_MIN",
    number "SLURM_ARRAY_TASK_COUNT"
  return id and first and count and ("%d/%d"):format(id - first + 1, count) or nil
end

--- part.of(text): { i, n } for the text "i/n"; an error for others.
function part.of(text)
  local i, n = text:match("^(%d+)/(%d+)$")
  i, n = math.tointeger(tonumber(i)), math.tointeger(tonumber(n))
  if not i or i < 1 or i > n then
    fail("--part takes i/N, part i of N, and got '%s'", text)
  end
  return { i, n }
end

--- part.name(one): "03-of-12", names that sort by i.
function part.name(one)
  return ("%0" .. #tostring(one[2]) .. "d-of-%d"):format(one[1], one[2])
end

return part
