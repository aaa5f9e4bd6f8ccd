--- The test of nonlinearities that what changes of usual numbers leave, they leave of tiny and of
--- large ones: signs, factors, sums with the image, and the order of values.
local phi = require "scullery_checker.nonlinearity.phi"

-- Each { label, f(phi(z), phi of the image, z) -> two numbers that are equal, image }.
local relations = {
  { "phi(-z) = phi(z)", function(a, b) return a, b end, -1 },
  { "phi(-z) = -phi(z)", function(a, b) return -a, b end, -1 },
  { "phi(z) - phi(-z) = z", function(a, b, z) return a - b, z end, -1 },
  { "phi(z) + phi(-z) = 1", function(a, b) return a + b, 1 end, -1 },
}
for power = 0, 2 do
  relations[#relations + 1] = { ("phi(4 z) = %d phi(z)"):format(4 ^ power), function(a, b)
    return 4.0 ^ power * a, b
  end, 4 }
end

local function sorted(t, size, of)
  local draws, list = t:random(1, 24, of), {}
  for j = 1, 24 do list[j] = draws:get(1, j) * size end
  for j = -3, 3 do list[#list + 1] = 2 * j * size end
  table.sort(list)
  return list
end

-- How far the relation is from holding at most, as a share of the numbers, and where.
local function off_of(one, relation, list, o)
  local image = {}
  for j, z in ipairs(list) do image[j] = z * relation[3] end
  local values, others = one:at(list)[o], one:at(image)[o]
  local worst, where = 0, nil
  for j, z in ipairs(list) do
    local a, b = relation[2](values[j], others[j], z)
    local size = math.max(math.abs(a), math.abs(b), math.abs(values[j]))
    local off = a == b and 0 or math.abs(a - b) / size
    if off >= worst then worst, where = off, z end
  end
  return worst, where
end

local SIZES <const> = { 1e-8, 1e-3, 30, 400 }

local function falls(values)
  for j = 2, #values do
    local before, here = values[j - 1], values[j]
    if before < math.huge and here < before - 1e-14 * math.abs(here) then return j end
  end
end

local function check_one(t, one, o)
  local usual, any = sorted(t, 1.5, 21), false
  for _, relation in ipairs(relations) do
    local off = off_of(one, relation, usual, o)
    for of, size in ipairs(off < 1e-12 and SIZES or {}) do
      any = true
      local far, where = off_of(one, relation, sorted(t, size, 21 + of), o)
      t:expect(far < 1e-6, "%s holds for usual numbers, and is off by %.3g of the values at \z
        z = %.9g", relation[1], far, where)
    end
  end
  for _, size in ipairs(not falls(one:at(usual)[o]) and SIZES or {}) do
    any = true
    local list = sorted(t, size, 27)
    local values = one:at(list)[o]
    local j = falls(values)
    if j then
      t:warn("it rises between usual numbers, and falls from %.12g at %.9g to %.12g at %.9g",
        values[j - 1], list[j - 1], values[j], list[j])
    end
  end
  return any
end

local function run(t)
  local any = false
  for component in t:variants() do -- of which numbers of options are usual
    local one = phi.new(t, component)
    local is_function = one.fan_in == 1 and not one.shape.one_hot
    for o = 1, is_function and not one.is_positive and not one.is_bounded and one.fan_out or 0 do
      any = check_one(t, one, o) or any
    end
  end
  if not any then t:skip("it keeps nothing of usual numbers") end
end

return { { name = "relations", about = "what changes of usual numbers leave, they leave of tiny \z
  and large ones", run = run } }
