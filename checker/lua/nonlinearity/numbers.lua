--- Tests of phi on numbers of all kinds, in both dtypes, and of what it says of its shape.
local core = require "scullery_checker.core"
local phi = require "scullery_checker.nonlinearity.phi"
local options = require "scullery.base.options"

local INFINITY <const> = math.huge
local NAN <const> = 0 / 0
local LARGEST_FLOAT32 <const> = 3.4e38

-- ------------ NaN, infinite, huge, denormal

local odd = { NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e154, -1e154, 5e-324, -5e-324, 1e-310, 0,
  -0.0 }

local function text_of(number) return number ~= number and "NaN" or ("%.17g"):format(number) end

-- phi where one plane holds `number` and the others ordinary numbers: rows of outputs, or nil and a
-- sentence where it refuses it.
local function values_of(p, number, dtype)
  local matrix = core.zeros(1, 5 * p.fan_in)
  for k = 0, p.fan_in - 1 do
    for j = 1, 5 do matrix:set(1, k * 5 + j, j == 3 and k == 0 and number or 0.25 * j) end
  end
  local ok, made = pcall(p.apply, p, p:take(matrix), dtype)
  if not ok and options.is_interrupt(made) then error(made, 0) end
  if not ok then return nil, options.plain(tostring(made)) end
  local list = {}
  for o = 1, p.fan_out do list[o] = made:get(1, (o - 1) * 5 + 3) end
  return list, made
end

-- What the neighbours of the odd number are: those of an ordinary one.
local function expect_neighbours(t, p, number, dtype, made)
  local _, usual = values_of(p, 0.75, dtype)
  for j = 1, made:cols() do
    t:expect((j - 1) % 5 == 2 or made:get(1, j) == usual:get(1, j), "z = %s in column 3 changes \z
      column %d, from %.17g to %.17g", text_of(number), (j - 1) % 5 + 1, usual:get(1, j),
      made:get(1, j))
  end
end

local function expect_odd(t, p, number, dtype, list)
  for o, value in ipairs(list) do
    local what = ("%s, output %d of z = %s is %s"):format(dtype, o, text_of(number), text_of(value))
    if number ~= number and value == value and p.fan_in == 1
      and not core.two_valued(p.instance) then
      t:warn("%s: where NaN becomes a number, nobody notices what went wrong \z
        before (z <= 0 ? 0 : z keeps it, z > 0 ? z : 0 does not)",
        what)
    end
    t:expect(number ~= number or math.abs(number) == INFINITY or value == value,
      "%s, for a finite number; infinity would be right where it overflows", what)
  end
end

local function check_odd(t)
  phi.each(t, function(p)
    for _, dtype in ipairs(p.dtypes) do
      for _, number in ipairs(odd) do
        if dtype == "float64" or number ~= number or math.abs(number) == INFINITY
          or math.abs(number) <= 1 then
          local list, made = values_of(p, number, dtype)
          if list then
            expect_odd(t, p, number, dtype, list)
            expect_neighbours(t, p, number, dtype, made)
          else
            t:expect(number ~= number or math.abs(number) >= 1e100 or number < 0,
              "z = %s is refused: %s", text_of(number), made)
          end
        end
      end
    end
  end)
end

-- ------------ float32

-- Allowed difference of float32: rounding of the output, and the effect of rounded inputs.
local function allowed(p, matrix, want)
  local size = math.max(1e-10, want:abs():mean())
  local up, down = p:apply(matrix * (1 + 3e-7)), p:apply(matrix * (1 - 3e-7))
  local list = {}
  for i = 1, want:rows() do
    list[i] = {}
    for j = 1, want:cols() do
      local value = want:get(i, j)
      list[i][j] = 1e-5 * math.abs(value) + 1e-6 * size
        + 4 * math.max(math.abs(up:get(i, j) - value), math.abs(down:get(i, j) - value))
    end
  end
  return list
end

local function check_float32(t)
  phi.each(t, function(p)
    if not p.shape.float32 then t:skip("it takes float64 alone, and the host converts") end
    local matrix = p:numbers(8, 50):astype("float32"):astype("float64")
    local want, made = p:apply(matrix), p:apply(matrix, "float32")
    local limits = allowed(p, matrix, want)
    for i = 1, want:rows() do
      for j = 1, want:cols() do
        local column = (j - 1) % 50 + 1
        t:expect(math.abs(made:get(i, j) - want:get(i, j)) <= limits[i][j],
          "z = %.9g, output %d: float32 gives %.9g and float64 %.9g, more than %.2g apart",
          matrix:get(i, column), (j - 1) // 50 + 1, made:get(i, j), want:get(i, j), limits[i][j])
      end
    end
  end)
end

-- ------------ large numbers

local large = { 30, -30, 100, -100, 1000, -1000, 3e19, -3e19 }

-- The declaration that keeps phi finite at these numbers; nil where there is none.
local function limit_of(facts)
  if facts.bound < INFINITY then return ("|phi| <= %g"):format(facts.bound) end
  return facts.lipschitz < 1e30 and ("a Lipschitz constant of %g"):format(facts.lipschitz) or nil
end

local function expect_finite(t, p, number, dtype, list)
  local limit = limit_of(core.facts(p.instance))
  for o, value in ipairs(list) do
    t:expect(value == value, "%s, output %d of z = %g is NaN", dtype, o, number)
    t:expect(math.abs(value) < INFINITY or not limit, "%s, output %d of z = %g is %s, and it says \z
      %s: something in between overflows", dtype, o, number, text_of(value), limit)
  end
end

-- What float32 may differ by at a number: rounding of the output and of ordinary ones, and what phi
-- makes of a rounded input.
local function allowed_at(p, number, value, o, size)
  local spread = 0
  for _, factor in ipairs{ 1 + 3e-7, 1 - 3e-7 } do
    spread = math.max(spread, math.abs(values_of(p, number * factor, "float64")[o] - value))
  end
  return 1e-5 * (math.abs(value) + size) + 4 * spread
end

local function expect_rounded(t, p, number, list, single)
  local size = p:apply(p:numbers(4, 25)):abs():mean()
  for o, value in ipairs(list) do
    if math.abs(value) < LARGEST_FLOAT32 then
      t:expect(math.abs(single[o] - value) <= allowed_at(p, number, value, o, size),
        "output %d of z = %g: float32 gives %.9g and float64 %.9g", o, number, single[o], value)
    end
  end
end

local function check_large(t)
  phi.each(t, function(p)
    for _, number in ipairs(large) do
      local list, refusal = values_of(p, number, "float64")
      t:expect(list or number < 0, "z = %g is refused: %s", number, refusal)
      if list then expect_finite(t, p, number, "float64", list) end
      if list and p.shape.float32 then
        local single
        single, refusal = values_of(p, number, "float32")
        t:expect(single, "z = %g is refused in float32 alone: %s", number, refusal)
        expect_finite(t, p, number, "float32", single)
        expect_rounded(t, p, number, list, single)
      end
    end
  end)
end

-- ------------ shape

local function same_shape(a, b)
  for key, value in pairs(a) do
    if type(value) ~= "table" and b[key] ~= value then return false end
  end
  return true
end

local function check_shape(t)
  for component in t:variants() do
    local p = phi.new(t, component)
    local shape = p.shape
    local again = core.shape(p.instance)
    t:expect(same_shape(shape, again) and same_shape(again, shape),
      "slot shape gives something else at its second call")
    t:expect(next(shape.spaces), "it takes no space that this host knows")
    t:expect(not shape.one_hot or t.subject.offers(component, "scullery.categories/1"),
      "its output is the category, and it has no ability \"scullery.categories/1\"")
    t:expect(not shape.one_hot or shape.fan_out == 1,
      "one-hot outputs have fan_out = 1, and it says %d", shape.fan_out)
    t:expect(not (shape.one_hot and shape.phase), "one-hot outputs have no phase")
    for tag in (shape.tags or ""):gmatch("[^|]*") do
      t:expect(shape.tags == nil or tag:find("^[a-z][a-z0-9_]*$"), "tag \"%s\" is not a valid \z
        name", tag)
    end
    local partner = t.subject.partner(component)
    if not partner then t:warn("no sampler that is installed goes with it") end
  end
end

-- ------------ the list

return {
  { name = "shape", about = "the shape is one that a map can have", run = check_shape },
  { name = "odd-numbers", about = "NaN stays NaN; huge, infinite and denormal numbers do no harm",
    run = check_odd },
  { name = "large-numbers", about = "numbers up to 1000 overflow nothing, in float32 as in float64",
    run = check_large },
  { name = "float32", about = "float32 gives the numbers of float64, rounded",
    run = check_float32 },
}
