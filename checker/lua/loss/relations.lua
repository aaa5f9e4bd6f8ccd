--- The test of losses that what changes of usual scores and targets leave, they leave of small,
--- large and equal ones, for each option.
local loss = require "scullery_checker.loss.function"

-- Each { label, f(score or target), what the slope is times }.
local relations = {
  { "f and y + 2", function(x) return x + 2 end, 1, far = { "f and y + 2^24", function(x)
    return x + 2.0 ^ 24
  end, 1 } },
  { "f and y times -1", function(x) return -x end, -1 },
}
-- How far it is from holding at these points, as a share of the numbers, and where: of slopes
-- without kinks, where they may be any between two. Nil where no point and its image are taken.
local function off_of(one, relation, points)
  local _, f, of_slope = table.unpack(relation)
  local factors, worst, where = { value = 1, slope = of_slope }, nil, nil
  for _, point in ipairs(points) do
    local score, y = point[1], point[2]
    local taken = one:takes(y) and one:takes(f(y))
      and (one.facts.numbers or math.abs(y) == 1 and math.abs(f(y)) == 1)
    for name, factor in pairs(taken and factors or {}) do
      local a, b = one:at(name, score, y) * factor, one:at(name, f(score), f(y))
      local off = a == b and 0 or math.abs(a - b) / (math.abs(a) + math.abs(b) + 1e-300)
      if (name == "value" or not one.facts.kinks) and loss.is_finite(off)
        and off >= (worst or 0) then
        worst, where = off, ("%s at %s"):format(name, loss.shown(score, y))
      end
    end
  end
  return worst, where
end

-- Points around 0, and of another size: dyadic, so that nothing that is added rounds.
local function points(one, size, of)
  local list, draws = {}, one.t:random(40, 2, of)
  for i = 1, 40 do
    local f = math.floor(draws:get(i, 1) * 1024) / 1024 * size
    for _, y in ipairs{ math.floor(draws:get(i, 2) * 1024) / 1024 * size, -1, 1 } do
      list[#list + 1] = { f, y }
    end
    list[#list + 1] = { f, f }
  end
  return list
end

local function run(t)
  local any
  loss.each_far(t, function(one)
    for _, relation in ipairs(relations) do
      local usual = off_of(one, relation, points(one, 1, 11))
      for of, size in ipairs(usual and usual < 1e-12 and { 1, 2.0 ^ -20, 64, 2.0 ^ 12 } or {}) do
        local off, where = off_of(one, relation, points(one, size, 11 + of))
        any = any or off ~= nil
        t:expect(not off or off < 1e-6, "%s: it differs by %.3g (%s), and nowhere for usual ones",
          relation[1], off or 0, where)
        if size == 1 and relation.far then
          off, where = off_of(one, relation.far, points(one, 1, 11))
          t:expect(not off or off < 1e-6, "%s: it differs by %.3g (%s), and nowhere for + 2",
            relation.far[1], off or 0, where)
        end
      end
    end
  end)
  if not any then t:skip("it keeps nothing of usual scores") end
end

return { { name = "relations", about = "what changes of usual scores and targets leave, they \z
  leave of others", run = run } }
