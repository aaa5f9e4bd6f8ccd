-- scullery predict on rows by blocks.
local lu = require "luaunit"
local core = require "scullery.core"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local command = require "predict_command"
local support = require "support"

local path, write, predicted, features, save, set_up, tear_down = command.path, command.write,
  command.predicted, command.features, command.save, command.set_up, command.tear_down

TestStreams = { setUp = set_up, tearDown = tear_down }

function TestStreams:test_stream_has_the_bits_of_rows_in_memory()
  local n, list = 70000, { "u,v,shape" }
  local X = sc.randn{ n, 2, seed = 4 }
  for i = 1, n do
    list[i + 1] = ("%.6f,%.6f,%s"):format(X:get(i, 1), X:get(i, 2), i % 3 == 0 and "round"
      or "square")
  end
  write("large.csv", table.concat(list, "\n") .. "\n")
  local ds = sc.data.csv(path("large.csv"), { like = command.by_colour, quiet = true })
  predicted("colour.model", "large.csv", "--scores -o " .. path("out.npy"))
  lu.assertTrue(sc.data.npy(path("out.npy")) == command.by_colour:decision(ds.X))
  predicted("colour.model", "-", "--scores -o " .. path("pipe.npy"),
    support.read(path("large.csv")))
  lu.assertEquals(support.read(path("pipe.npy")), support.read(path("out.npy")))
end

function TestStreams:test_blocks_of_a_model_are_kept_whole()
  local X = sc.randn{ 5000, 3, seed = 8 }
  X:save(path("X.npy"))
  for _, block in ipairs{ 7, 300, 4999 } do
    local p = sc.pipeline{ features(), sc.solver.ridge{ lambda = 1e-3 }, block = block }:fit(X,
      X:column(1))
    save("block.model", p)
    predicted("block.model", "X.npy", "-o " .. path("out.npy"))
    lu.assertTrue(sc.data.npy(path("out.npy")) == p:predict(X))
  end
end

function TestStreams:test_models_of_their_own_kind()
  local X = sc.randn{ 3000, 3, seed = 8 }
  X:save(path("X.npy"))
  local p = save("knn.model", sc.pipeline{ sc.solver.knn{ k = 3 } }:fit(X:slice(1, 100),
    X:slice(1, 100):column(1)))
  predicted("knn.model", "X.npy", "-o " .. path("out.npy"))
  lu.assertTrue(sc.data.npy(path("out.npy")) == p:predict(X))
end

-- What the engine holds at its peak does not grow with the file.
function TestStreams:test_memory_is_flat()
  local function peak_of(rows)
    write("large.csv", "u,v,shape\n" .. ("4.5,0.5,round\n"):rep(rows))
    collectgarbage()
    collectgarbage()
    local before = core.memory(true)
    require("scullery.model.predict").run{ model = path("colour.model"), data = path("large.csv"),
      output = path("out.csv") }
    local _, peak = core.memory()
    lu.assertEquals(#support.read(path("out.csv")), #"prediction\n" + rows * #"green\n")
    return peak - before
  end
  -- three million rows more would be 96 MB in memory
  local scale = (os.getenv("SCULLERY_SANITIZE") or "") == "" and 1 or 0.05
  local few, many = peak_of(1000000 * scale // 1 | 0), peak_of(4000000 * scale // 1 | 0)
  lu.assertTrue(many - few < 48e6, ("%.0f and %.0f bytes"):format(few, many))
end

os.exit(lu.LuaUnit.run(), true)
