--- The test of options that are declared as widths of a kernel: they scale the rows.
local parameters = require "scullery_checker.parameters"
local core = require "scullery_checker.core"

-- What K with the width g does to rows before K with the width 1 does the rest.
local factors = {
  length = function(g) return 1 / g end,
  frequency = function(g) return g end,
  rate = function(g) return g end,
  gamma = math.sqrt,
}

local function gram(t, given, X)
  local ok, made = pcall(t.subject.make, t.subject, given)
  if not ok then return nil end
  local u = parameters.dense(X)
  local out = parameters.block(X:rows(), X:rows())
  ok = pcall(core.kernel_gram, t:instance(made), u, u, out)
  return ok and core.block_get(out) or nil
end

local function with(given, name, value)
  local copy = {}
  for key, one in pairs(given) do copy[key] = one end
  copy[name] = value
  return copy
end

-- How far K is from the wanted one where another option is a length or a rate too, and scales with
-- the rows: the least of all.
local function off_with_another(t, option, given, Y, want, scale)
  local least = math.huge
  for _, other in ipairs(t.subject.info.options) do
    local usual = tonumber(given[other.name] or other.default)
    for _, factor in ipairs(other ~= option and usual and { scale, 1 / scale } or {}) do
      local made = gram(t, with(given, other.name, usual * factor), Y)
      least = math.min(least, made and (made - want):abs():max() or math.huge)
    end
  end
  return least
end

local function check_option(t, option, given, X)
  local any = false
  for _, g in ipairs{ 1e-3, 0.4, 1.7, 12, 1e3 } do
    local scale = 1 / factors[option.width](g)
    local Y = X * scale
    local made = gram(t, with(given, option.name, g), Y)
    local want = gram(t, with(given, option.name, 1), X)
    if made and want then
      any = true
      local size = math.max(want:abs():max(), 1e-300)
      local off = (made - want):abs():max() / size
      t:expect(off <= 1e-9 or off_with_another(t, option, with(given, option.name, g), Y, want,
        scale) <= 1e-9 * size, "option '%s' is declared as a width (%s): K with %s = %g is not K \z
        with %s = 1 of rows times %.6g; it differs by %.3g of its size", option.name, option.width,
        option.name, g, option.name, 1 / scale, off)
    end
  end
  return any
end

local function run(t)
  local any = false
  for _, option in ipairs(t.subject.info.options) do
    for _, one in ipairs(option.width and t.subject:variants() or {}) do
      t.label = one.label
      any = check_option(t, option, one.given, t:random(30, 4) * 0.7) or any
    end
  end
  t.label = nil
  if not any then t:skip("no option of it is declared as a width") end
end

return {
  { name = "width", about = "K with a width g is K with the width 1 of rows that are scaled",
    run = run },
}
