--- Tests of what row stages declare by flags.
local core = require "scullery_checker.core"
local rows = require "scullery_checker.stage.rows"

-- f(stage) for each variant with the flag; skips a stage without it.
local function each_with(t, flag, f)
  local any = false
  for stage in t:variants() do
    if core.stage_flags(t:instance(stage))[flag] then
      any = true
      f(stage)
    end
  end
  if not any then t:skip("it does not declare that") end
end

-- What the stage makes of rows times a factor that it was fitted to.
local function scaled(t, stage, factor)
  local X, y = rows.random(t, 200, 4)
  return rows.through(rows.fit(t, stage, X * factor, y), X:slice(1, 50) * factor)
end

local function check_factor(flag, power)
  return function(t)
    each_with(t, flag, function(stage)
      local want = scaled(t, stage, 1)
      local flags = core.stage_flags(t:instance(stage))
      local learns = flags.simple or flags.fits -- squares of what it learns from may overflow
      for _, factor in ipairs{ 3, 1e-4, 1e5, 1e-9, 2.0 ^ (learns and 300 or 530),
        2.0 ^ (learns and -300 or -530) } do
        local far = factor > 1e50 or factor < 1e-50
        local made = rows.try(t, "huge or tiny rows", function()
          return scaled(t, stage, factor)
        end)
        t:expect(made or far, "rows times %g are refused", factor)
        if made and not far then
          rows.expect_near(t, made * factor ^ -power, want, 1e-7 * rows.spread(want),
            ("rows times %g"):format(factor))
        elseif made then -- a tiny number in a denominator shows at such sizes alone
          local back = made * factor ^ -power
          local off = (back - want):abs():max() / rows.spread(want)
          if core.find_nonfinite(back) or off > 1e-7 then
            t:warn("rows times %g change the result by %.3g of the largest", factor, off)
          end
        end
      end
    end)
  end
end

-- Whether an option is a list, which may tell columns apart.
local function has_list(stage)
  for _, value in pairs(stage.given) do
    if type(value) == "table" and not value.kind then return true end
  end
  return false
end

local PERIOD <const> = 13 -- after which columns are the same again

local function check_by_column(t)
  for _, size in ipairs{ { 120, 4, 1 }, { 40, 300, 37 } } do
    local n, d, step = table.unpack(size)
    local X, y = rows.random(t, n, d)
    for j = PERIOD + 1, d do
      for i = 1, n do X:set(i, j, X:get(i, j - PERIOD)) end
    end
    each_with(t, "by_column", function(stage)
      local fitted = rows.fit(t, stage, X, y)
      local want = rows.through(fitted, X)
      t:expect(want:cols() == d, "%d columns become %d", d, want:cols())
      for j = PERIOD + 1, has_list(stage) and 0 or d do
        local i = 1
        while i <= n and want:get(i, j) == want:get(i, j - PERIOD) do i = i + 1 end
        if i <= n then
          t:warn("columns %d and %d of %d have the same numbers, and row %d becomes %.17g and \z
            %.17g", j - PERIOD, j, d, i, want:get(i, j - PERIOD), want:get(i, j))
          break
        end
      end
      for j = 1, d, step do
        local other = X:copy()
        for i = 1, n do other:set(i, j, X:get(n + 1 - i, j) + 0.5) end
        local made = rows.through(fitted, other)
        for i = 1, n do made:set(i, j, want:get(i, j)) end
        local i, k = core.first_difference(made, want)
        t:expect(not i, "column %d changes, and so does column %d of the result (row %d, from \z
          %.17g to %.17g)", j, k or 0, i or 0, i and want:get(i, k) or 0, i and made:get(i, k) or 0)
      end
    end)
  end
end

return {
  { name = "scale-free", about = "a factor of all columns does not change the result, where it \z
    says so", run = check_factor("scale_free", 0) },
  { name = "homogeneous", about = "a factor of all columns is one of the result, where it says so",
    run = check_factor("homogeneous", 1) },
  { name = "by-column", about = "a number depends on its own column alone, where it says so",
    run = check_by_column },
}
