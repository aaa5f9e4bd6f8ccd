--- Streams of random numbers: each use has its own.
-- luacheck: globals TestStreams
-- luacheck: ignore 212/self
local lu = require "luaunit"
local streams = require "scullery.base.streams"

TestStreams = {}

-- The engine's streams, from its header.
local function of_engine()
  local folder = arg[0]:match "^(.*)/tests/lua/base/[^/]*$" or "."
  local file <close> = assert(io.open(folder .. "/core/base/random.h"))
  local found, taken = {}, {}
  for name, number, rest in file:read("a"):gmatch "SCL_STREAM_([%u_]+) = (%d+)([^\n]*)" do
    found[name] = tonumber(number)
    for k = found[name], tonumber(rest:match "%.%. (%d+)") or found[name] do taken[k] = name end
  end
  return found, taken
end

function TestStreams:test_each_use_has_its_own()
  local user, engine, taken = {}, of_engine()
  lu.assertEquals({ engine.SPLIT, engine.FOLDS }, { streams.split, streams.folds })
  for name, number in pairs(streams) do
    lu.assertNil(user[number], name)
    user[number] = name
    local of_folds = name == "split" or name == "folds" or name == "groups"
    lu.assertTrue(of_folds or not taken[number], name .. " has a stream of the engine")
    lu.assertTrue(name == "importance" or number < streams.importance, name)
  end
end

os.exit(lu.LuaUnit.run(), true)
