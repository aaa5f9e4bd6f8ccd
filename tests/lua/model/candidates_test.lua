-- Losses of candidates by held-out rows: standard errors of their differences, and the choice.
local lu = require "luaunit"
local candidates = require "scullery.model.candidates"
local sc = require "scullery"

local DRAWS, GROUPS, EACH = 2000, 40, 5

-- The spread of the mean difference over draws, and the root of the mean of the squared standard
-- errors, of rows with weights. shared: the part of the variance that rows of a group share.
local function spread_and_error(shared, groups)
  local n, weights = GROUPS * EACH, sc.zeros(GROUPS * EACH, 1)
  for i = 1, n do weights:set(i, 1, 1 + i % 3) end
  local sum, squares, errors = 0, 0, 0
  for draw = 1, DRAWS do
    local own = sc.randn{ n, 1, seed = draw }
    local of_group = sc.randn{ GROUPS, 1, seed = DRAWS + draw }
    local losses = sc.zeros(n, 2)
    for i = 1, n do
      losses:set(i, 2, 0.1 + math.sqrt(1 - shared) * own:get(i, 1)
        + math.sqrt(shared) * of_group:get((i - 1) // EACH + 1, 1))
    end
    local mean, error = candidates.difference({ losses = losses, weights = weights,
      groups = groups }, 2, 1)
    sum, squares, errors = sum + mean, squares + mean * mean, errors + error * error
  end
  local mean = sum / DRAWS
  return math.sqrt(squares / DRAWS - mean * mean), math.sqrt(errors / DRAWS), mean
end

-- A spread of m draws has a standard error of 1 / sqrt(2 m) of itself: .016 here. Dividing by n
-- where n - 1 is unbiased makes the error smaller by 1 / (2 n): .0025 of rows, .0125 of groups.
function TestStandardErrorsAreTheSpreadOverDraws()
  local spread, error, mean = spread_and_error(0, nil)
  lu.assertAlmostEquals(mean, 0.1, 4 * spread / math.sqrt(DRAWS))
  lu.assertAlmostEquals(error / spread, 1, 4 * 0.016 + 0.0025)
end

function TestRowsOfAGroupAreNotIndependent()
  local groups = sc.zeros(GROUPS * EACH, 1)
  for i = 1, GROUPS * EACH do groups:set(i, 1, (i - 1) // EACH) end
  local spread, error = spread_and_error(0.5, groups)
  lu.assertAlmostEquals(error / spread, 1, 4 * 0.016 + 0.0125)
  local _, row_by_row = spread_and_error(0.5, nil)
  lu.assertTrue(row_by_row < 0.75 * spread) -- about 1 / sqrt(1 + 4 * .5) = .58
end

-- Four rows; the losses of candidate k are its mean plus and minus (k - 1) sign.
local function judged(means, sign)
  local losses = sc.zeros(4, #means)
  for k, mean in ipairs(means) do
    for i = 1, 4 do losses:set(i, k, mean + (k - 1) * (i % 2 * 2 - 1) * sign) end
  end
  return { losses = losses, weights = sc.ones(4, 1) }
end

-- Differences to the first candidate have the error (k - 1) sign / 2.
function TestTheLargestWithinAnErrorIsTaken()
  local values = { 1e-6, 1e-3, 1 }
  local function choice(means, sign)
    return (candidates.largest_of_best(judged(means, sign), values))
  end
  lu.assertEquals(choice({ 1, 1.4, 3 }, 1), 2)
  lu.assertEquals(choice({ 1, 1.6, 3 }, 1), 1)
  lu.assertEquals(choice({ 1, 1.4, 1.9 }, 1), 3)
  lu.assertEquals(choice({ 1, 1.4, 1.9 }, 0), 1)
  lu.assertNil(choice({ 0 / 0, 0 / 0, 1 / 0 }, 0))
  lu.assertEquals({ select(2, candidates.largest_of_best(judged({ 1, 1.4, 3 }, 1), values)) },
    { 1, 1 })
end

os.exit(lu.LuaUnit.run())
