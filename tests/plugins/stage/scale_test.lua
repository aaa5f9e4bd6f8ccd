-- Row stage scale: columns over their largest absolute value, of dense and of sparse rows.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

-- The divisors that the stage learns from rows, and the rows that it makes.
local function learn(rows)
  local stage = core.fit_stage(core.instance("stage", "scale", {}), core.source(rows), {})
  return core.stage_save(stage).arrays.divisor, core.transform(core.source(rows), { stage })
end

function TestColumnsAreDividedByTheirLargest()
  local X = sc.matrix{ { 0, -4, 1e300, 0 }, { 3, 2, 5, 0 }, { -1, 0, -1e300, 0 } }
  local divisor, made = learn(X)
  lu.assertEquals(divisor, sc.matrix{ { 3, 4, 1e300, 1 } })
  lu.assertEquals(made, sc.matrix{ { 0, -1, 1, 0 }, { 1, 0.5, 5 / 1e300, 0 },
    { -1 / 3, 0, -1, 0 } })
end

function TestSparseRows()
  local X = sc.rand{ 400, 30, seed = 1 }:map(function(x) return x < 0.9 and 0 or x - 2 end)
  for j = 1, 400 do X:set(j, 7, 0) end
  local divisor, made = learn(X)
  local of_sparse, from_sparse = learn(sc.matrix.csr(X))
  lu.assertEquals(of_sparse, divisor)
  lu.assertEquals(from_sparse, made)
  lu.assertEquals(divisor:get(1, 7), 1)
end

function TestTheUnitOfAColumnDoesNotMatter()
  local A, y = sc.randn{ 60, 3, seed = 3 }, sc.randn{ 60, 1, seed = 2 }
  local B = A:copy()
  for i = 1, 60 do B:set(i, 2, 1024 * A:get(i, 2)) end
  local p = sc.pipeline{ sc.stage.scale(), sc.solver.ridge() }
  lu.assertEquals(p:fit(sc.dataset{ X = A, y = y }):predict(A),
    p:fit(sc.dataset{ X = B, y = y }):predict(B))
end

function TestAFileWithAnotherArrayIsRefused()
  local restore = require "scullery_checker.core".stage_restore
  local scale = core.instance("stage", "scale", {})
  for _, wrong in ipairs{ sc.ones(1, 3), sc.ones(2, 1), sc.matrix{ { 1, 0 } },
    sc.matrix{ { -1, 2 } } } do
    lu.assertErrorMsgContains("divi", restore, scale, 2, { divisor = wrong })
  end
end

-- Columns whose squares are beyond float64.
function TestStandardizeOfExtremeColumns()
  for _, size in ipairs{ 1e200, 1e-200 } do
    local wide = sc.matrix{ { 1, -size }, { 2, 0 }, { 4, size } }
    lu.assertErrorMsgContains("stage.standardize finds no shift and factor for column 2",
      function() sc.pipeline{ sc.standardize() }:fit(wide) end)
    local scaled = sc.pipeline{ sc.stage.scale(), sc.standardize() }:fit(wide):transform(wide)
    lu.assertAlmostEquals(scaled:get(3, 2), math.sqrt(1.5), 1e-12)
  end
end

os.exit(lu.LuaUnit.run(), true)
