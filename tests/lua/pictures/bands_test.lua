-- The picture "bands", and the section of the report with the rows inside intervals.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"
local fails = support.fails

local X = sc.rand{ 80, 2, seed = 1 }
local ds = sc.dataset{ X = X, y = X:column(1) * 3 + sc.randn{ 80, 1, seed = 2 } * 0.1,
  names = { "a", "b" } }
local train, test = ds:split{ test = 40, seed = 0 }
local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(train, { interval = "loo" })

-- The numbers of the picture are those of p:predict and p:interval along the column.
function TestNumbers()
  support.in_folder(function(folder)
    p:plot("bands", test, { column = "b", level = 0.8 }):data(folder .. "/b.csv")
    local text = support.read(folder .. "/b.csv")
    local middle, low, high = test.X:column(1):totable(), test.X:column(2):min(),
      test.X:column(2):max()
    table.sort(middle, function(a, b) return a[1] < b[1] end)
    middle = (middle[20][1] + middle[21][1]) / 2
    local row = sc.matrix{ { middle, low }, { middle, high } }
    local mean, std = p:predict(row, { std = true })
    local under, over = p:interval(row, { level = 0.8 })
    for i = 1, 2 do
      for _, value in ipairs{ under:get(i, 1), over:get(i, 1),
        mean:get(i, 1) + 2 * std:get(i, 1) } do
        local found = false
        for word in text:gmatch "[^,\n]+" do
          local number = tonumber(word)
          found = found or number and math.abs(number - value) < 1e-6
        end
        lu.assertTrue(found, value)
      end
    end
  end)
  lu.assertStrContains(tostring(p:plot("bands")), "90 % of new rows")
  local plain = sc.pipeline{ sc.solver.huber{ lambda = 1e-3 } }:fit(train)
  lu.assertStrContains(tostring(plain:plot("bands", { column = { "a", "b" } })), "along b")
  fails({ "column", "\"c\"" }, p.plot, p, "bands", { column = "c" })
  fails({ "between 0 and 1" }, p.plot, p, "bands", { level = 1 })
end

-- The median of a column of groups need not be a group: the rows are of the largest.
function TestGroups()
  local G = sc.hcat(X:column(1), sc.rand{ 80, 1, seed = 4 }:map(function(u)
    return u < 0.6 and 3 or 1 end))
  local rows = sc.dataset{ X = G, y = ds.y, names = { "a", "g" } }
  local m = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(rows,
    { interval = { "loo", by = "g" } })
  lu.assertStrContains(tostring(m:plot("bands", rows, { column = "a" })), "90 % of new rows")
  lu.assertNotStrContains(tostring(m:plot("bands", rows, { column = "g" })), "90 %")
end

function TestReport()
  support.in_folder(function(folder)
    local path = folder .. "/r.html"
    p:report(path, { data = test, columns = 0 })
    local low, high = p:interval(test, { level = 0.9 })
    local inside = 0
    for i = 1, 40 do
      if low:get(i, 1) <= test.y:get(i, 1) and test.y:get(i, 1) <= high:get(i, 1) then
        inside = inside + 1
      end
    end
    local text = support.read(path)
    lu.assertStrContains(text, "How sure it is")
    lu.assertStrContains(text, ("%.2f %%"):format(100 * inside / 40))
    -- predictions of transformed targets are on the scale of the data
    local log = sc.pipeline{ sc.solver.ridge{ lambda = 1e-9 }, target = "standardize" }
      :fit(X, X:column(1) * 3 + 100)
    lu.assertStrContains(tostring(log:plot("residuals")), "100")
  end)
end

os.exit(lu.LuaUnit.run(), true)
