-- scripts/rkhsw/breast_cancer_split.csv is the split and the folds that scikit-learn gives the
-- authors of RKHSW: computed here from the Mersenne twister that its shuffles use.
local lu = require "luaunit"
local sc = require "scullery"

local source = os.getenv "SCULLERY_SOURCE" or "."

-- MT19937 (Matsumoto and Nishimura 1998): a function that returns its 32-bit numbers.
local function twister(seed)
  local state, at = { [0] = seed }, 624
  for i = 1, 623 do
    local last = state[i - 1]
    state[i] = (1812433253 * (last ~ last >> 30) + i) & 0xffffffff
  end
  local function renew()
    for i = 0, 623 do
      local y = state[i] & 0x80000000 | state[(i + 1) % 624] & 0x7fffffff
      state[i] = state[(i + 397) % 624] ~ y >> 1 ~ (y & 1 == 1 and 0x9908b0df or 0)
    end
    at = 0
  end
  return function()
    if at == 624 then renew() end
    local y = state[at]
    at = at + 1
    y = y ~ y >> 11
    y = y ~ y << 7 & 0x9d2c5680
    y = y ~ y << 15 & 0xefc60000
    return y ~ y >> 18
  end
end

-- numpy.random.RandomState(0).permutation(n), counted from 1.
local function permutation(n)
  local draw, list = twister(0), {}
  for i = 1, n do list[i] = i end
  for i = n - 1, 1, -1 do
    local mask, j = 1
    while mask < i do mask = mask << 1 | 1 end
    repeat j = draw() & mask until j <= i
    list[i + 1], list[j + 1] = list[j + 1], list[i + 1]
  end
  return list
end

-- KFold(5, shuffle=True, random_state=0): folds of the rows in this order.
local function shuffled_folds(rows)
  local fold, n, place = {}, #rows, 0
  local order = permutation(n)
  for f = 1, 5 do
    for _ = 1, n // 5 + (f <= n % 5 and 1 or 0) do
      place = place + 1
      fold[rows[order[place]]] = f
    end
  end
  return fold
end

-- StratifiedKFold(5): each class, in the order of the rows, goes to the folds one after another.
-- Its share of fold f is how often it stands at the places f, f + 5, ... of the labels in order.
local function stratified_folds(rows, labels)
  local fold, of, first = {}, {}, {}
  for _, row in ipairs(rows) do
    local label = labels[row]
    if not of[label] then of[label], first[#first + 1] = {}, label end
    table.insert(of[label], row)
  end
  local place = 0
  for _, label in ipairs(first) do
    local share, taken = { 0, 0, 0, 0, 0 }, 0
    for _ = 1, #of[label] do
      share[place % 5 + 1], place = share[place % 5 + 1] + 1, place + 1
    end
    for f = 1, 5 do
      for _ = 1, share[f] do
        taken = taken + 1
        fold[of[label][taken]] = f
      end
    end
  end
  return fold
end

function TestTheTwisterIsNumpys()
  local draw = twister(5489) -- the reference implementation's seed and its first number
  lu.assertEquals(draw(), 3499211612)
end

function TestTheSplitOfTheAuthorsIsThatOfTheirLibrary()
  local order = permutation(569)
  local test, train, labels = {}, table.move(order, 144, 569, 1, {}), sc.data.load("wdbc"):labels()
  for i = 1, 143 do test[order[i]] = true end
  local shuffled, stratified = shuffled_folds(train), stratified_folds(train, labels)
  local path = source .. "/scripts/rkhsw/breast_cancer_split.csv"
  local file = sc.data.csv(path, { target = false, quiet = true })
  lu.assertEquals(#file, 569)
  for i, row in ipairs(file:head(569)) do
    lu.assertEquals(row, test[i] and { 0, 0 } or { shuffled[i], stratified[i] })
  end
end

os.exit(lu.LuaUnit.run())
