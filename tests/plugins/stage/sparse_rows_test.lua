-- Stages that keep zeros on sparse rows: the rows that they make of dense ones, to the bit.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

local X = sc.rand{ 300, 50, seed = 4 }:map(function(x) return x < 0.8 and 0 or x - 0.9 end)
for j = 1, 50 do X:set(9, j, 0) end

local function both(kind, options)
  local of = {}
  for i, rows in ipairs{ X, sc.matrix.csr(X) } do
    local stage = core.fit_stage(core.instance("stage", kind, options), core.source(rows), {})
    of[i] = core.transform(core.source(rows), { stage })
  end
  return of[1], of[2]
end

function TestNormalize()
  local dense, sparse = both("normalize", {})
  lu.assertEquals(sparse, dense)
  lu.assertAlmostEquals(sparse:row(1):norm(), 1, 1e-12)
  lu.assertEquals(sparse:row(9):norm(), 0)
end

function TestSelect()
  for _, columns in ipairs{ { 3 }, { 1, 4, 9, 50 }, { 50, 2, 30, 31, 1 }, { 2, 1 } } do
    local dense, sparse = both("select", { columns = columns })
    lu.assertEquals(sparse, dense)
    for k, column in ipairs(columns) do
      lu.assertEquals(sparse:column(k):sum(), X:column(column):sum())
    end
  end
end

os.exit(lu.LuaUnit.run(), true)
