--- The test of metrics that what leaves the value of some rows leaves that of others: few and many,
--- with equal predictions, of two classes and of twenty, with weights.
local cases = require "scullery_checker.metric.cases"
local reversed = require("scullery_checker.columns").reversed
local core = require "scullery_checker.core"

local function with(case, changes)
  local copy = {}
  for key, value in pairs(case) do copy[key] = value end
  for key, value in pairs(changes) do copy[key] = value end
  return copy
end

-- Each { label, f(case): the changed case, or nil where it does not apply; factor: what the value
-- is times, of rows of usual size, as parts of it may be cut elsewhere }.
local relations = {
  { "targets and predictions + 2", function(case)
    return case.classes == 0 and with(case, { p = case.p + 2, y = case.y + 2 })
  end, far = true },
  { "targets and predictions times -1", function(case)
    return case.classes == 0 and with(case, { p = case.p * -1, y = case.y * -1 })
  end },
  { "targets in another order", function(case)
    return case.classes == 0 and with(case, { p = reversed(case.p), y = reversed(case.y) })
  end },
  { "classes in another order", function(case, needs)
    if case.classes == 0 then return nil end
    local y = case.y:map(function(k) return case.classes - 1 - k end)
    if needs == "labels" then
      return with(case, { y = y, p = case.p:map(function(k) return case.classes - 1 - k end) })
    end
    return with(case, { y = y, p = case.p:cols() == 1 and case.p * -1 or reversed(case.p) })
  end },
  { "scores times 4", function(case, needs)
    return needs == "scores" and with(case, { p = case.p * 4 })
  end },
  { "scores + 2", function(case, needs)
    return needs == "scores" and case.p:cols() > 1 and with(case, { p = case.p + 2 })
  end },
  { "rows in another order", function(case)
    local places, n = {}, case.p:rows()
    for i = 1, n do places[i] = (i * 7 + 3) % n + 1 end
    if n % 7 == 0 then return nil end
    return cases.rows(case, places)
  end },
  { "each row twice", function(case)
    local places, n = {}, case.p:rows()
    for i = 0, 2 * n - 1 do places[i + 1] = i // 2 + 1 end
    return cases.rows(case, places)
  end },
  { "weights times 4", function(case) return with(case, { w = case.w * 4 }) end },
}
for power = 0, 2 do
  relations[#relations + 1] = { ("targets and predictions times 4, and the value times %d")
    :format(4 ^ power), function(case)
      return case.classes == 0 and with(case, { p = case.p * 4, y = case.y * 4 })
    end, factor = 4.0 ^ power }
end

-- How far a relation is from holding, as a share of the value; nil where it does not apply, or a
-- value is refused.
local function off_of(component, relation, case, needs)
  local changed = relation[2](case, needs)
  local ok, a = pcall(cases.value, component, case)
  local fine, b = pcall(cases.value, component, changed or case)
  if not changed or not ok or not fine then return nil end
  a = a * (relation.factor or 1)
  return a == b and 0 or math.abs(a - b) / (math.max(math.abs(a), math.abs(b)) + 1e-3), a, b
end

local function made(t, needs, n, count, of, noise)
  local case = cases.new(needs, n, count, t.seed * 64 + of, noise)
  case.w = of % 2 == 0 and core.rand{ n, 1, seed = t.seed + of } or case.w
  return case
end

-- The rows with numbers so that `by` may be added exactly: at 0, and as far away as `by`.
local function far_away(case, by)
  local function whole(M) return M:map(function(x) return math.floor(x * 64) / 64 end) end
  local near = with(case, { p = whole(case.p), y = whole(case.y) })
  return near, with(near, { p = near.p + by, y = near.y + by })
end

-- Where the same number more in targets and predictions leaves the value of usual rows, a large one
-- leaves all digits but those of the sums: squares less the square of a mean do not.
local function expect_far(t, component, needs, count)
  for of, by in ipairs{ 2.0 ^ 14, 2.0 ^ 20, 2.0 ^ 27, -2.0 ^ 27 } do
    local near, far = far_away(made(t, needs, 60, count, of), by)
    local ok, a = pcall(cases.value, component, near)
    local fine, b = pcall(cases.value, component, far)
    local allowed = ok and 1e-15 * math.abs(by) * (1 + math.abs(a)) + 1e-9
    t:expect(not (ok and fine) or math.abs(a - b) <= allowed, "60 rows, %d targets: targets and \z
      predictions + %g: it is %.12g in place of %.12g", count, by, b or 0, a or 0)
  end
end

-- Rows like those of { label, case }.
local function others(t, needs, count)
  local list = {}
  for of, n in ipairs{ 1, 2, 5, 60, 2000 } do
    list[of] = { ("%d rows"):format(n), made(t, needs, n, count, of) }
  end
  local equal = made(t, needs, 60, count, 8)
  if needs ~= "probabilities" then
    equal.p = equal.p:map(function(x) return math.floor(x) end)
    if needs == "scores" then -- not equal within a row, where the order of classes decides
      for i = 1, 60 do
        for j = 1, equal.p:cols() do equal.p:set(i, j, equal.p:get(i, j) + j / 32) end
      end
    end
    if equal.classes == 0 then -- not 0, by which relative errors are not divided
      equal.y = equal.y:map(function(y) return y >= 0 and math.ceil(y) or math.floor(y) end)
    end
    list[#list + 1] = { "60 rows, many equal", equal }
  end
  for of, noise in ipairs{ 30, 1e-3 } do
    list[#list + 1] = { ("60 rows with noise of size %g"):format(noise), made(t, needs, 60, count,
      8 + of, noise), of_size = true }
  end
  return list
end

-- The counts of classes or targets for which three keep something: one and five targets too.
local function run(t)
  local any
  for component in t:variants() do
    local facts = cases.facts(component)
    local needs, counts = facts.needs, cases.counts(facts)
    local usual_count = needs == "values" and 2 or counts[2] or counts[1]
    for _, relation in ipairs(relations) do
      local usual = off_of(component, relation, made(t, needs, 50, usual_count, 6), needs)
      for _, count in ipairs(usual and usual < 1e-12 and counts or {}) do
        if relation.far then expect_far(t, component, needs, count) end
        for _, one in ipairs(others(t, needs, count)) do
          local off, a, b
          if not (one.of_size and relation.factor) then
            off, a, b = off_of(component, relation, one[2], needs)
          end
          any = any or off ~= nil
          t:expect(not off or off < 1e-9, "%s, %d %s: %s: it is %.12g in place of %.12g, and for \z
            50 rows of %d nothing changes", one[1], count, needs == "values" and "targets"
            or "classes", relation[1], b or 0, a or 0, usual_count)
        end
      end
    end
  end
  if not any then t:skip("it keeps nothing of usual rows") end
end

return { { name = "relations", about = "what changes of usual rows leave, they leave of others",
  run = run } }
