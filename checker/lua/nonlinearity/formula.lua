--- The formula in C of a nonlinearity against its function.
local formulas = require "scullery_checker.formulas"
local phi = require "scullery_checker.nonlinearity.phi"
local settings = require "scullery_checker.settings"

local COLS <const> = 4

local function check(t)
  local any = false
  local function compare(one)
    local text = not one.shape.one_hot and formulas.of(one.instance)
    if not text then return end
    local X = one:numbers(20, COLS)
    for i = 17, 20 do -- where powers of e overflow
      for j = 1, X:cols() do X:set(i, j, X:get(i, j) * 10.0 ^ (i - 16)) end
    end
    X = one:take(X)
    -- what large numbers become changes by their rounding
    local want, moved = one:apply(X), one:apply(one.domain and X or X * (1 + 1e-15))
    for i = 1, X:rows() do
      for j = 1, COLS do
        local z = {}
        for k = 0, one.fan_in - 1 do z[k] = X:get(i, k * COLS + j) end
        local simple = not text:find(";", 1, true)
        local got = formulas.values(text, one.fan_out, { z = simple and z[0] or z })
        for k, value in ipairs(got or {}) do
          any = true
          local at = (k - 1) * COLS + j
          local it = want:get(i, at)
          local off = math.abs(value - it)
          if off ~= off or off > 10 * math.abs(moved:get(i, at) - it) then
            formulas.expect(t, value, it, ("feature %d of z = %.17g"):format(k, z[0]))
          end
        end
      end
    end
  end
  phi.each(t, compare)
  local list = settings.list(t)
  for k = #t.subject:variants() + 1, #list do
    t.label = list[k].label
    compare(phi.new(t, list[k].component))
  end
  t.label = nil
  if not any then t:skip("it gives no formula in C") end
end

return { { name = "formula", about = "the formula in C gives the numbers of the function",
  run = check } }
