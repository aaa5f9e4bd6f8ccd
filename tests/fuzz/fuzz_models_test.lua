-- So many mutated files of models; fuzz_models_slow_test.lua goes on for a minute.
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local fuzz, support = require "fuzz_models", require "support"

local sanitized = (os.getenv("SCULLERY_SANITIZE") or "") ~= ""

function TestMutatedModels()
  local path = support.memory_path()
  local tried, loaded = fuzz.run{ seed = 1, count = sanitized and 1000 or 10000, path = path }
  os.remove(path)
  print(("%d mutated models, %d of them loaded"):format(tried, loaded))
  lu.assertTrue(loaded > 0 and loaded < tried / 2)
end

os.exit(lu.LuaUnit.run())
