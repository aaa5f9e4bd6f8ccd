-- Whole-number features: sums of random parts, merged, added and taken out in random orders by
-- random numbers of threads, have the bits of one fit to the rows that are left.
local lu = require "luaunit"
local sc = require "scullery"

local random = math.random

local function shuffle(list)
  for i = #list, 2, -1 do
    local j = random(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

-- n rows of d columns, of which some are equal; weights: none, whole, any.
local function some_rows(n, d, weighted)
  local X, weights, again = sc.randn{ n, d, seed = random(1000) }, {}, {}
  for i = 1, n do
    weights[i] = weighted == "whole" and random(3) or weighted == "any" and 0.1 + 3 * random()
    again[i] = random(8) == 1 and random(n) or i
  end
  local y = X:column(1):map(math.sin) + sc.randn{ n, 1, seed = 2 } * 0.1
  return sc.dataset{ X = X, y = y, weights = weighted and weights or nil }:select(again)
end

-- The places 1 .. n in runs of random lengths.
local function runs(n)
  local list, first = {}, 1
  while first <= n do
    local last = math.min(n, first + random(0, n // 2))
    list[#list + 1] = { first, last }
    first = last + 1
  end
  return shuffle(list)
end

local function pipeline(d, dtype, phi)
  return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 / math.sqrt(d) }, phi = phi,
    T = 40, seed = 1, dtype = dtype }, sc.solver.ridge{ lambda = 1e-3 } }
end

-- Some rows by merged sums, the others by updates, then some taken out, in several goes.
local function history(ds, dtype, phi, out)
  local n, d, some, later = #ds, ds.X:cols(), {}, {}
  for k, run in ipairs(runs(n)) do
    sc.threads(random(4))
    if k == 1 or random(2) == 1 then
      some[#some + 1] = pipeline(d, dtype, phi):sums(ds, { rows = run })
    else
      later[#later + 1] = run
    end
  end
  local p = sc.merge(shuffle(some), { partial = true }):solve()
  for _, run in ipairs(later) do
    sc.threads(random(4))
    p:update(ds:subset(run[1], run[2]), { again = true })
  end
  local half = random(#out - 1)
  p:forget(ds:select{ table.unpack(out, 1, half) })
  return p:forget(ds:select{ table.unpack(out, half + 1) })
end

function TestAnyHistoryIsOneFit()
  local threads, count = sc.threads(), 0
  math.randomseed(27)
  for _, d in ipairs{ 1, 8, 60, 300, 784, 1, 8, 60, 300, 784 } do
    for _, weighted in ipairs{ false, "whole", "any" } do
      local n, dtype = random(40, 300), random(2) == 1 and "int16" or "int8"
      local phi = random(2) == 1 and sc.nonlinearity.fourier() or sc.nonlinearity.sign()
      local ds, out, kept = some_rows(n, d, weighted), {}, {}
      for i = 1, n do table.insert((i <= 2 or random(3) == 1) and out or kept, i) end
      local p = history(ds, dtype, phi, shuffle(out))
      sc.threads(threads)
      local want = pipeline(d, dtype, phi):fit(ds:select(kept), { sums = true })
      lu.assertTrue(p:decision(ds.X) == want:decision(ds.X),
        ("d = %d, %s, weights %s"):format(d, dtype, weighted))
      lu.assertEquals(p.fitted.n, #kept)
      count = count + 1
    end
  end
  lu.assertEquals(count, 30)
end

-- Rows whose weights are no whole numbers leave nothing behind when they are taken out.
function TestRowsOfOtherWeightsLeaveNothing()
  for _, phi in ipairs{ sc.nonlinearity.sign(), sc.nonlinearity.fourier() } do
    local ds, part = some_rows(90, 3, "whole"), some_rows(50, 3, "any")
    local p = pipeline(3, "int16", phi):fit(ds, { sums = true })
    local want = p:decision(ds.X)
    p:update(part, { again = true })
    lu.assertFalse(p:decision(ds.X) == want)
    p:forget(part)
    lu.assertTrue(p:decision(ds.X) == want)
  end
end

-- Counts take weights from 2^-28 on; other fits take smaller ones.
function TestTinyWeightsOfTwoValues()
  local rows = some_rows(60, 3, false)
  local weights = sc.randn{ 60, 1, seed = 4 }:map(function(z) return 1e-12 * math.exp(z) end)
  local ds = sc.dataset{ X = rows.X, y = rows.y, weights = weights }
  local p = pipeline(3, "float64", sc.nonlinearity.sign())
  lu.assertErrorMsgContains("take row weights of 0 and from", p.sums, p, ds)
  lu.assertErrorMsgContains("take row weights of 0 and from", p.fit, p, ds, { sums = true })
  lu.assertEquals(p:fit(ds):info().exact, "blocks")
  lu.assertEquals(p:fit(rows):info().exact, "rows")
  lu.assertEquals(pipeline(3, "int16", sc.nonlinearity.fourier()):fit(ds):info().exact, "rows")
  local classes = sc.dataset{ X = rows.X, task = "classification", y = weights:map(function(w)
    return w > 1e-12 and 1 or 0
  end) }
  for weight, exact in pairs{ [1e-9] = "blocks", [0.5] = "rows" } do
    local of_classes = sc.pipeline{ p.features, p.solver,
      class_weights = { [0] = weight, [1] = 1 } }
    lu.assertEquals(of_classes:fit(classes):info().exact, exact)
  end
end

os.exit(lu.LuaUnit.run(), true)
