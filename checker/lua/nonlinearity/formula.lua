--- The formula in C of a nonlinearity against its function.
local formulas = require "scullery_checker.formulas"
local phi = require "scullery_checker.nonlinearity.phi"
local settings = require "scullery_checker.settings"

local COLS <const> = 4

local function check(t)
  local any = false
  local function compare(one)
    local text = formulas.of(one.instance)
    if not text then return end
    local X = one:numbers(20, COLS)
    for i = 17, 20 do -- where powers of e overflow
      for j = 1, X:cols() do X:set(i, j, X:get(i, j) * 10.0 ^ (i - 16)) end
    end
    local want = one:apply(X)
    for i = 1, X:rows() do
      for j = 1, COLS do
        local z = {}
        for k = 0, one.fan_in - 1 do z[k] = X:get(i, k * COLS + j) end
        local simple = not text:find(";", 1, true)
        local got = formulas.values(text, one.fan_out, { z = simple and z[0] or z })
        for k, value in ipairs(got or {}) do
          any = true
          formulas.expect(t, value, want:get(i, (k - 1) * COLS + j),
            ("feature %d of z = %.17g"):format(k, z[0]))
        end
      end
    end
  end
  phi.each(t, compare)
  for _, one in ipairs(settings.list(t)) do
    t.label = one.label
    compare(phi.new(t, one.component))
  end
  t.label = nil
  if not any then t:skip("it gives no formula in C") end
end

return { { name = "formula", about = "the formula in C gives the numbers of the function",
  run = check } }
