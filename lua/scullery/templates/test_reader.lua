-- my_plugin against files whose numbers are known.
-- @start@

sc.plugin.load(plugin_path())
lu.assertEquals(tostring(sc.reader.my_plugin{}):match "my_plugin", "my_plugin")

-- Calls f(path) with a file of n rows of the columns a and b, whose numbers are value(i, j).
local function with_file(n, value, f)
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "wb"))
  file:write("FLT1", string.pack("<I4I4", n, 2), "a\0b\0")
  for i = 1, n do
    for j = 1, 2 do file:write(string.pack("<f", value(i, j))) end
  end
  file:flush()
  local ok, message = pcall(f, path)
  os.remove(path)
  if not ok then error(message, 0) end
end

function TestNumbers()
  with_file(1000, function(i, j) return i + j / 4 end, function(path)
    local ds = sc.data.read(path, { target = "b", task = "regression", quiet = true })
    lu.assertEquals({ ds.X:rows(), ds.X:cols() }, { 1000, 1 })
    for i = 1, 1000 do
      lu.assertEquals({ ds.X:get(i, 1), ds.y:get(i, 1) }, { i + 0.25, i + 0.5 })
    end
    local stream = sc.data.read(path, { target = "b", task = "regression", quiet = true,
      stream = true })
    local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }
    lu.assertAlmostEquals(p:fit(stream):score(ds), p:fit(ds):score(ds), 1e-12)
  end)
end

function TestMissing()
  with_file(3, function(i, j) return i == 2 and j == 1 and 0 / 0 or i end, function(path)
    local ds = sc.data.read(path, { target = false, quiet = true })
    lu.assertEquals(ds.X:column(1), sc.matrix{ { 1 }, { 2 }, { 3 } }) -- filled by the median
  end)
end

function TestDamaged()
  with_file(3, function(i) return i end, function(path)
    local file <close> = assert(io.open(path, "rb"))
    local bytes = file:read "a"
    for size = 12, #bytes - 1 do
      local cut <close> = assert(io.open(path, "wb"))
      cut:write(bytes:sub(1, size))
      cut:flush()
      lu.assertErrorMsgContains(path .. ": it is cut off or damaged", sc.data.read, path)
    end
  end)
end

os.exit(lu.LuaUnit.run())
