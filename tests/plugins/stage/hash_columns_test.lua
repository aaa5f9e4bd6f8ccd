-- Feature hashing: scalar products are kept in the mean over seeds, with signs; rows of columns are
-- sums of the columns that meet; the same of sparse rows.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

local function hashed(options, rows)
  local stage = core.fit_stage(core.instance("stage", "hash_columns", options), core.source(rows),
    {})
  return core.transform(core.source(rows), { stage })
end

-- Mean and standard error over seeds of <x', y'> - <x, y>.
function TestScalarProductsAreKeptInTheMean()
  local X = sc.randn{ 2, 40, seed = 1 }
  local wanted, sum, square, seeds = (X * X:t()):get(1, 2), 0, 0, 600
  for seed = 1, seeds do
    local Y = hashed({ bits = 4, seed = seed }, X)
    local gap = (Y * Y:t()):get(1, 2) - wanted
    sum, square = sum + gap, square + gap * gap
  end
  local mean = sum / seeds
  local stderr = math.sqrt((square / seeds - mean * mean) / seeds)
  lu.assertTrue(stderr > 0 and math.abs(mean) < 4 * stderr, mean .. " +- " .. stderr)
end

-- Without signs a row keeps its sum, and each column of the data goes to one new column: the rows
-- e_j show where. 2000 columns in 256: a chi-square of 255 degrees of freedom.
function TestColumnsAreSpreadEvenly()
  local many, bits = 2000, 8
  local unit = {}
  for j = 0, many - 1 do unit[j + 1] = j end
  local starts = {}
  for j = 0, many do starts[j + 1] = j end
  local ones = {}
  for j = 1, many do ones[j] = 1 end
  local E = sc.matrix.csr{ rows = many, columns = many, starts = starts, indices = unit,
    values = ones }
  local Y = hashed({ bits = bits, signs = false, seed = 5 }, E)
  lu.assertEquals(Y:cols(), 256)
  local statistic = 0
  for i = 1, many do lu.assertEquals(Y:row(i):sum(), 1) end
  for k = 1, 256 do
    local found = Y:column(k):sum()
    statistic = statistic + (found - many / 256) ^ 2 / (many / 256)
  end
  lu.assertTrue(math.abs(statistic - 255) < 5 * math.sqrt(2 * 255), "chi-square " .. statistic)
  -- half of the signs are -1: binomial
  local signs = hashed({ bits = bits, seed = 5 }, E):sum()
  lu.assertTrue(math.abs(signs) < 5 * math.sqrt(many), "signs " .. signs)
end

function TestSparseRowsAreTheDenseOnes()
  local X = sc.rand{ 200, 90, seed = 3 }:map(function(x) return x < 0.7 and 0 or x - 0.9 end)
  for _, options in ipairs{ { bits = 3 }, { bits = 12, seed = 2 }, { bits = 1, signs = false } } do
    lu.assertEquals(hashed(options, sc.matrix.csr(X)), hashed(options, X))
  end
end

function TestBadOptions()
  for _, bits in ipairs{ 0, 31, 2.5 } do
    lu.assertErrorMsgContains("bits", function() return sc.stage.hash_columns{ bits = bits } end)
  end
end

os.exit(lu.LuaUnit.run(), true)
