-- Some seconds of mutated files of models, other ones each day.
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local fuzz, support = require "fuzz_models", require "support"

function TestMutatedModels()
  local path, seed = support.memory_path(), os.time() // 86400
  local tried, loaded = fuzz.run{ seed = seed, seconds = 20, path = path }
  os.remove(path)
  print(("seed %d: %d mutated models, %d of them loaded"):format(seed, tried, loaded))
  lu.assertTrue(loaded > 0)
end

os.exit(lu.LuaUnit.run())
