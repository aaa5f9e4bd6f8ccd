--- Scripts that several processes run.
local lu = require "luaunit"
local support = require "support"

local several = {}

--- several.run(count, code[, behind]): the status, output and messages of a script that `count`
--- processes run; behind: shell words.
function several.run(count, code, behind)
  local script = support.write(nil, code)
  local status, out, err = support.shell(
    ("SCULLERY_PROGRESS=0 timeout 100 %s --processes %d %s %s"):format(
      support.quote(support.binary), count, script, behind or ""))
  os.remove(script)
  return status, out, err
end

--- several.succeeds(count, code): what the script prints, which ends well and without a message.
function several.succeeds(count, code)
  local status, out, err = several.run(count, code)
  lu.assertEquals({ status, err }, { 0, "" })
  return out
end

--- several.fails(words, count, code): the script fails, with a sentence that holds all of the
--- words, which is said once. Returns its output and messages.
function several.fails(words, count, code)
  local status, out, err = several.run(count, code)
  lu.assertNotEquals(status, 0)
  lu.assertNotEquals(status, 124, "it hangs")
  for _, word in ipairs(words) do lu.assertStrContains(err, word) end
  local _, times = err:gsub("scullery: ", "")
  lu.assertEquals(times, 1, err)
  return out, err
end

--- several.fit: the beginning of scripts that fit map(T, dtype) to X, 10,000 rows.
several.fit = [[
  local sc = require "scullery"
  local X = sc.randn{ 10000, 3, seed = 1 }
  local function map(T, dtype) return sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.fourier(), T = T, seed = 1, dtype = dtype } end
]]

return several
